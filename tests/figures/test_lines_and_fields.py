"""Lines, fields, maps and half discs: what is drawn, nothing over anything else, the same bytes."""

from math import nan
from typing import Any

import numpy as np
import pytest
from drawn_studies import LONG

from trustreport.figures.calibration import HistogramChart, HistogramMark, HistogramPanel
from trustreport.figures.curves import LineOver, LinePoint, LinesChart, LinesPanel
from trustreport.figures.field import (
    Bubble,
    BubblesChart,
    BubblesPanel,
    FieldChart,
    FieldPanel,
    MapPlace,
    RegionChart,
)
from trustreport.measures.utility.matrices import utility_map
from trustreport.vocabulary.messages import Catalogue, say

X = say("advice_accuracy.axis.tau")
Y = say("advice_accuracy.axis.value")
GRID = np.linspace(0, 1, 21)
STORY = np.array([[[27, 15], [23, 35]], [[43, 18], [7, 32]]])


def line(name: str, slope: float, *, band: bool = False) -> LineOver:
    points = tuple(
        LinePoint(float(x), 1 - slope * x, *((0.9 - slope * x, 1.05 - slope * x) if band else ()))
        for x in GRID
    )
    return LineOver(name, points, (LinePoint(0.5, 1 - slope / 2, 0.9 - slope / 2, 1.1 - slope / 2),))


def lines(n: int, of: int, **more: Any) -> LinesChart:
    drawn = tuple(line(f"measure {k}", k / 2, band=k == 0) for k in range(of))
    panels = tuple(LinesPanel(f"site {i} {LONG[: 9 * i]}" if n > 1 else "", drawn) for i in range(n))
    return LinesChart(panels, X, Y, (0.0, 1.0), **more)


def field(n: int) -> FieldChart:
    x, y = np.linspace(0, 1, 21), np.linspace(0.05, 1, 20)
    grid = 0.5 + 0.3 * x[None, :] * y[:, None]
    grid[0, :3] = nan
    rows = tuple(map(tuple, grid.tolist()))
    panels = tuple(FieldPanel(f"site {i}" if n > 1 else "", tuple(x), tuple(y), rows) for i in range(n))
    return FieldChart(panels, X, Y, Y)


def regions(cells: Any, places: int = 2) -> RegionChart:
    found = utility_map(cells, steps=61)
    names = tuple(f"candidate {i}" for i in range(len(cells)))
    marked = tuple(MapPlace(0.3 - 0.1 * i, -0.6 + 0.1 * i, f"utility {i}") for i in range(places))
    best = tuple(map(tuple, found.best.tolist()))
    x, y = tuple(found.x.tolist()), tuple(found.y.tolist())
    return RegionChart(x, y, best, names, tuple(found.area.tolist()), marked, X, Y)


def bubbles(n: int) -> BubblesChart:
    some = tuple(Bubble(x, y, int(40 * x), int(10 * y)) for x in (0.5, 0.75, 1.0) for y in (1.0, 3.0, 5.0))
    panels = tuple(BubblesPanel(f"site {i}" if n > 1 else "the device", some) for i in range(n))
    return BubblesChart(panels, X, Y, (0.5, 1.0), (1.0, 5.0))


def bars(n: int, values: Any) -> HistogramChart:
    marks = tuple(HistogramMark(float(np.quantile(values, q)), f"{q:.0%}") for q in (0.5, 0.66, 0.8))
    panels = tuple(
        HistogramPanel.of_values(f"site {i}" if n > 1 else "", np.asarray(values, float), marks)
        for i in range(n)
    )
    return HistogramChart(panels, X, Y, "from here on, the most complex")


DRAWN = {
    "few values": bars(1, [1, 1, 2, 3, 3, 3, 4]),
    "uneven values": bars(2, [0.4] * 20 + [0.6] * 70 + [0.75] * 30 + [0.8] * 55 + [1.0] * 9),
    "many values": bars(3, np.random.default_rng(1).normal(size=500)),
    "one value": bars(1, [2.0, 2.0]),
    "one set": lines(1, 2, asked=0.7, asked_label=say("advice_accuracy.asked", least=0.7)),
    "three sets": lines(3, 5, y_range=(-0.5, 1.0), marked=say("advice_accuracy.marked", level=0.95)),
    "twelve sets": lines(12, 3, percent=True),
    "one field": field(1),
    "two fields": field(2),
    "two candidates": regions(STORY),
    "six candidates": regions(np.concatenate([STORY, STORY[:, ::-1], STORY]), places=8),
    "half discs": bubbles(1),
    "four panels of half discs": bubbles(4),
}


def test_lines_stand_where_they_are_and_what_lies_below_is_cut(say: Catalogue) -> None:
    chart = lines(1, 3, y_range=(0.25, 1.0), asked=0.8, asked_label="asked")
    (plot,) = (axes for axes in chart.draw(say).axes if axes.get_label() != "sheet")
    found = {drawn.get_gid(): drawn for drawn in plot.lines}
    assert found["line-0-1"].get_ydata()[-1] == pytest.approx(0.5)
    assert min(found["line-0-2"].get_ydata()) == pytest.approx(0.25)
    assert found["asked-0"].get_ydata()[0] == 0.8
    marks = [found[f"marked-0-{k}-0"] for k in range(3)]
    assert [m.get_ydata()[0] for m in marks] == pytest.approx([1.0, 0.75, 0.5])
    assert len({m.get_xdata()[0] for m in marks}) == 3  # aside of each other, about .5
    rows = chart.values(say)
    assert len([r for r in rows if r["declared"] and "at" in r]) == 3
    assert rows[-1] == {"label": "asked", "value": 0.8, "declared": True}


def test_a_map_names_each_region_and_lists_each_share(say: Catalogue) -> None:
    chart = regions(STORY)
    rows = chart.values(say)
    assert [r["value"] for r in rows[:2]] == pytest.approx(list(chart.area))
    assert sum(chart.area) == pytest.approx(1, abs=0.02)
    # Candidate 0 wins where eq 4 of the paper lies, candidate 1 in the middle, where accuracy decides.
    of_map = [r for r in rows if "at" in r and "declared" not in r]
    by_place = {(round(r["at"], 6), round(r["at_y"], 6)): r["label"] for r in of_map}
    assert by_place[0.0, 0.0] == "candidate 1"
    assert by_place[0.4, -0.6] == "candidate 0"
    assert (1.0, -1.0) not in by_place


def test_values_of_fields_and_half_discs(say: Catalogue) -> None:
    rows = field(2).values(say)
    assert len(rows) == 2 * 20 * 21
    assert sum(np.isnan(r["value"]) for r in rows) == 6
    assert [r["right"] for r in bubbles(1).values(say)][:3] == [20, 20, 20]
