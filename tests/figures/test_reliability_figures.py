"""Nomogram and joyplot: the values drawn, nothing over anything else, the same bytes each time."""

from functools import cache
from typing import Any

import pytest
from drawn_reliability import BINS, LABEL, RELIABILITY, RHO, STEPS, lines, points, ridges
from looked_at import lines as drawn
from looked_at import written

from trustreport.figures.reliability import Joyplot, NomogramFigure
from trustreport.vocabulary.messages import Catalogue, catalogue


@cache
def figure_of(name: str) -> Any:
    return RELIABILITY[name].draw(catalogue("en"))


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
