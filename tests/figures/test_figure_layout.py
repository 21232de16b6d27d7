"""Ticks, broken lines and labels that keep clear of each other, for whatever comes."""

from itertools import pairwise
from math import log10, nan
from typing import Any

import pytest
from drawn_studies import DRAWINGS, estimate
from hypothesis import given
from hypothesis import strategies as st
from looked_at import boxes

from trustreport.figures import numbers, style
from trustreport.figures.curves import LineOver, LinePoint, LinesChart, LinesPanel
from trustreport.figures.layout import spread
from trustreport.figures.sites import Forest, ForestColumn, SampleSizes, SizeRow
from trustreport.vocabulary.messages import Catalogue, Message

ENDS = st.tuples(st.floats(-7, -0.02), st.floats(0.02, 7)).map(lambda e: (10 ** e[0], 10 ** e[1]))


@pytest.mark.parametrize(
    "low, high, expected",
    [
        (0.78, 1.13, (0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1)),
        (0.45, 2.2, (0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0)),
        (0.08, 30.0, (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)),
        (0.02, 300.0, (0.1, 1.0, 10.0, 100.0)),
        (1e-3, 1e6, (0.01, 1.0, 100.0, 1e4, 1e6)),
    ],
)
def test_ticks_of_ratios_are_round(low: float, high: float, expected: tuple[float, ...]) -> None:
    assert numbers.ratio_ticks(low, high, 80.0, lambda x: f"{x:,g}")[0] == pytest.approx(expected)


@given(ENDS, st.floats(30, 100))
def test_ticks_of_ratios_lie_on_the_axis_and_hold_one(ends: tuple[float, float], width: float) -> None:
    low, high = ends
    values, labels = numbers.ratio_ticks(low, high, width, lambda x: f"{x:.4g}")
    assert len(values) == len(labels) >= 2
    assert list(values) == sorted(values)
    assert any(abs(log10(value)) < 1e-9 for value in values)
    assert low * 0.999 <= values[0] <= values[-1] <= high * 1.001


@given(st.floats(-1e3, 1e3), st.floats(1e-4, 1e3), st.floats(30, 120))
def test_linear_ticks_lie_on_the_axis(low: float, span: float, length: float) -> None:
    values, _ = numbers.linear_ticks(low, low + span, length, lambda x: f"{x:.4g}")
    assert 1 <= len(values) <= numbers.MOST
    hair = 1e-9 * max(span, 100.0)
    assert low - hair <= values[0] <= values[-1] <= low + span + hair


@given(
    st.text(st.characters(codec="latin-1", categories=("L", "N", "P", "Zs")), max_size=150), st.floats(8, 80)
)
def test_broken_lines_fit_and_lose_nothing(text: str, width: float) -> None:
    with style.settings():
        broken = style.wrap(text, width)
        assert broken.replace("\n", "").replace(" ", "") == text.replace(" ", "")
        for line in broken.split("\n"):
            assert len(line) <= 1 or style.width_of(line) <= width


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(1, 6)), min_size=1, max_size=20))
def test_labels_keep_clear_of_each_other_and_stay_in_order(labels: list[tuple[float, float]]) -> None:
    wanted, tall = [y for y, _ in labels], [height for _, height in labels]
    bottom = max(100.0, sum(tall))
    placed = spread(wanted, tall, 0.0, bottom)
    order = sorted(range(len(labels)), key=lambda k: placed[k])
    for a, b in pairwise(order):
        assert placed[b] - placed[a] >= (tall[a] + tall[b]) / 2 - 1e-6
        assert wanted[a] <= wanted[b]
    assert placed[order[0]] - tall[order[0]] / 2 >= -1e-6
    assert placed[order[-1]] + tall[order[-1]] / 2 <= bottom + 1e-6


def test_labels_with_room_stay_where_they_are_wanted() -> None:
    assert spread([10.0, 50.0, 30.0], [4.0, 4.0, 4.0], 0.0, 100.0) == pytest.approx([10.0, 50.0, 30.0])


# Estimates all around the line of no effect, and bars all around the minimum.
AROUND = tuple(estimate(0.9 + 0.02 * i, 0.7 + 0.02 * i, 1.1 + 0.02 * i) for i in range(10))
NEEDED = [(40, 80, 120, 160, 200, 240, 280, 320, 360, 999)[i:] + (100,) * i for i in range(10)]
LINED: dict[str, Any] = {
    # (Where a reason stands in the place of a mark, its paper covers the line.)
    **{name: DRAWINGS[name] for name in ("effect-5", "difference-5")},
    "forest": Forest(
        tuple(f"site {i}" for i in range(10)),
        tuple(ForestColumn(name, AROUND, AROUND[5], AROUND[7], 1.0) for name in "abcd"),
    ),
    "sizes": SampleSizes(
        tuple("abcde"),
        tuple(
            SizeRow(f"site {i}", 200, tuple(estimate(n, nan, nan) for n in NEEDED[i][:5])) for i in range(10)
        ),
    ),
}


@pytest.mark.parametrize("name", LINED)
def test_no_line_down_the_figure_runs_through_a_number(name: str, say: Catalogue) -> None:
    figure = LINED[name].draw(say)
    with style.settings():
        found = boxes(figure)
    upright = 0
    for axes in figure.axes:
        for line in axes.lines:
            across, up = zip(*line.get_transform().transform(line.get_xydata()))
            if len(across) < 2 or max(across) - min(across) > 0.1:
                continue
            upright += 1
            for text, box in found:
                beside = not box.x0 - 0.5 < across[0] < box.x1 + 0.5
                assert beside or max(up) < box.y0 + 0.8 or min(up) > box.y1 - 0.8, (text, line.get_gid())
    assert upright


def test_marks_at_the_ends_of_an_axis_keep_clear_of_its_labels(say: Catalogue) -> None:
    ends = tuple(LinePoint(x, 0.4, 0.3, 0.5) for x in (0.15, 0.4))
    panel = LinesPanel("a", tuple(LineOver(f"line {k}", ends, ends) for k in range(6)))
    words = Message("word.name", {"name": "x"})
    figure = LinesChart((panel,), words, words, (0.15, 0.4)).draw(say)
    with style.settings():
        found = [box for text, box in boxes(figure) if text == "0.4"]
    for axes in figure.axes:
        for line in axes.lines:
            if str(line.get_gid()).startswith("marked"):
                x, y = line.get_transform().transform(line.get_xydata())[0]
                radius = line.get_markersize() / 2 * figure.dpi / 72
                left, right = axes.bbox.x0, axes.bbox.x1
                assert left + radius <= x <= right - radius
                assert not any(box.y0 < y < box.y1 and x - radius < box.x1 < x for box in found)
