"""Nomogram and joyplot: the values drawn, nothing over anything else, the same bytes each time."""

from functools import cache
from io import BytesIO
from itertools import combinations
from typing import Any

import pytest
from drawn_reliability import BINS, LABEL, RELIABILITY, RHO, STEPS, lines, points, ridges
from test_drawings import boxes, texts
from test_drawn_values import drawn, written

from trustreport.figures import style
from trustreport.figures.reliability import Joyplot, NomogramFigure
from trustreport.messages import Catalogue, catalogue


@cache
def figure_of(name: str) -> Any:
    return RELIABILITY[name].draw(catalogue("en"))


@pytest.mark.parametrize("name", RELIABILITY)
def test_no_text_lies_over_another_or_outside(name: str) -> None:
    figure = figure_of(name)
    with style.settings():
        found = boxes(figure)
    sheet = figure.bbox
    for text, box in found:
        assert box.x0 >= sheet.x0 - 0.5, text
        assert box.y0 >= sheet.y0 - 0.5, text
        assert box.x1 <= sheet.x1 + 1.0, text
        assert box.y1 <= sheet.y1 + 0.5, text
    for (a, one), (b, other) in combinations(found, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert wide < 0.5 or high < 0.8, (a, b)


@pytest.mark.parametrize("name", RELIABILITY)
def test_type_is_large_enough_and_the_page_holds_it(name: str) -> None:
    figure = figure_of(name)
    width, height = (side * 25.4 for side in figure.get_size_inches())
    assert width == pytest.approx(170)
    assert height <= style.PAGE_HEIGHT
    assert all(text.get_size() >= 7.0 for text in texts(figure))
    for axes in figure.axes:
        (left, right), (low, high) = sorted(axes.get_xlim()), sorted(axes.get_ylim())
        for line in axes.lines:
            if line.get_transform() == axes.transData and not str(line.get_gid()).startswith("ridge"):
                x, y = line.get_data()
                assert left - 1e-9 <= min(x) <= max(x) <= right + 1e-9, line.get_gid()
                assert low - 1e-9 <= min(y) <= max(y) <= high + 1e-9, line.get_gid()


@pytest.mark.parametrize("name", RELIABILITY)
def test_values_are_plain_rows(name: str, say: Catalogue) -> None:
    rows = RELIABILITY[name].values(say)
    assert rows
    for row in rows:
        assert {"label", "value"} <= set(row)
        assert all(isinstance(v, (str, int, float, bool)) for v in row.values())


@pytest.mark.parametrize("name", ["nomogram-5", "nomogram-raters", "joyplot-8", "joyplot-bins-8"])
def test_a_second_drawing_gives_the_same_bytes(name: str, say: Catalogue) -> None:
    def svg() -> bytes:
        file = BytesIO()
        with style.settings():
            RELIABILITY[name].draw(say).savefig(file, format="svg", metadata={"Date": None})
        return file.getvalue()

    assert svg() == svg()


def test_points_of_the_nomogram_stand_where_they_are_with_their_bounds(say: Catalogue) -> None:
    shown = points(5)
    found = drawn(NomogramFigure(lines(), ((0.0, 0.5), (1.0, 1.0)), shown).draw(say))
    for i, p in enumerate(shown):
        assert found[f"mark-{i}"].get_xydata().tolist() == [[p.label_accuracy, p.actual]]
        assert list(found[f"bounds-{i}"].get_ydata()) == [p.low_bound, p.high_bound]
        # Up from the axis to the point, then left to the axis of actual accuracy: and back again.
        assert list(found[f"way-{i}"].get_xdata()) == [p.label_accuracy, p.label_accuracy, 0.5]
        assert list(found[f"way-{i}"].get_ydata())[1:] == [p.actual, p.actual]


def test_lines_of_the_nomogram_carry_their_measured_accuracy(say: Catalogue) -> None:
    figure = NomogramFigure(lines(), ((0.0, 0.5), (1.0, 1.0))).draw(say)
    found = drawn(figure)
    for line in lines():
        assert found[f"line-{line.measured:g}"].get_xydata().tolist() == [list(p) for p in line.places]
    assert {"60%", "95%", "100%", "measured"} <= set(written(figure))


def test_many_points_are_drawn_without_names_or_ways(say: Catalogue) -> None:
    found = drawn(figure_of("nomogram-42"))
    assert sum(name.startswith("mark-") for name in found) == 42
    assert not any(name.startswith(("bounds-", "way-")) for name in found)


def test_the_raters_are_a_line_with_its_interval(say: Catalogue) -> None:
    figure = figure_of("nomogram-raters")
    assert set(drawn(figure)["raters"].get_xdata()) == {LABEL.value}
    band = next(p for axes in figure.axes for p in axes.patches if p.get_gid() == "raters-interval")
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx((LABEL.low, LABEL.high))
    assert any("0.585 (0.568 to 0.600)" in text for text in written(figure))
    rows = RELIABILITY["nomogram-raters"].values(say)
    assert (rows[0]["value"], rows[0]["concordance"]) == (LABEL.value, RHO.value)
    assert "raters" not in drawn(figure_of("nomogram-undefined"))


def test_bars_are_as_high_as_their_shares(say: Catalogue) -> None:
    rows = ridges(3, STEPS)
    figure = Joyplot(rows, STEPS).draw(say)
    bars = {
        p.get_gid(): p for axes in figure.axes for p in axes.patches if str(p.get_gid()).startswith("bar")
    }
    found = drawn(figure)
    heights = []
    for i, row in enumerate(rows):
        assert found[f"mean-{i}"].get_xdata()[0] == row.mean
        for at, share in zip(STEPS, row.shares):
            y = [corner[1] for corner in bars[f"bar-{i}-{at:g}"].get_xy()]
            x = [corner[0] for corner in bars[f"bar-{i}-{at:g}"].get_xy()]
            assert (min(x) + max(x)) / 2 == pytest.approx(at)
            heights.append((max(y) - min(y)) / share)
    assert max(heights) == pytest.approx(min(heights))


def test_ridges_rise_with_their_shares(say: Catalogue) -> None:
    rows = ridges(4, BINS)
    found = drawn(Joyplot(rows, BINS, discrete=False).draw(say))
    for i, row in enumerate(rows):
        x, y = found[f"ridge-{i}"].get_data()
        assert list(x) == list(BINS)
        rise = (max(y) - y) / (max(y) - min(y))
        span = max(row.shares) - min(row.shares)
        assert list(rise) == pytest.approx([(s - min(row.shares)) / span for s in row.shares])


def test_a_rater_is_named_directly_with_the_mean(say: Catalogue) -> None:
    found = written(figure_of("joyplot-8"))
    assert {f"Rater {i}" for i in range(8)} <= set(found)
    assert f"{ridges(8, STEPS)[0].mean:.2f}" in found
