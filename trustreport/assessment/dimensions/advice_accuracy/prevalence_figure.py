"""The figures of the measures that depend on the prevalence, over the prevalence."""

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np

from trustreport.assessment.dimensions.advice_accuracy.results import (
    CELLS,
    ID,
    ResultView,
    declared_prevalences,
)
from trustreport.assessment.finding import Figure
from trustreport.assessment.narrative.texts import Texts, heading
from trustreport.figures import numbers
from trustreport.figures.curves import LineOver, LinePoint, LinesChart, LinesPanel
from trustreport.figures.panels import MOST_PANELS
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import weighed
from trustreport.measures.confusion.table import MEASURES
from trustreport.study.plan import Plan

# Each figure: its id, its measures, the key of its texts, and the least value that they can have.
FIGURES = (
    ("measures_over_prevalence", ("ppv", "npv"), "mixes", 0.0),
    ("whole_measures_over_prevalence", ("accuracy", "f1", "mcc"), "whole_mixes", -1.0),
)
POINTS = 30

text = Texts(ID)


def prevalence_figures(all_views: Sequence[ResultView], plan: Plan) -> Iterator[Figure]:
    """The predictive values, then accuracy, F1 and MCC, over the declared prevalences or all of them."""
    if not declared_prevalences(plan):
        return
    low, high = plan.utility.prevalence_range or (0.01, 0.99)
    shares = [*declared_prevalences(plan)]
    low, high = min(low, *shares), max(high, *shares)
    if high - low < 0.02:
        low, high = max(low - 0.05, 0.001), min(high + 0.05, 0.999)
    grid = np.linspace(max(low, 0.001), min(high, 0.999), POINTS).tolist()
    for id, names, key, possible in FIGURES:
        drawn = [_panel(view, names, grid, plan, len(all_views) > 1) for view in all_views[:MOST_PANELS]]
        panels = tuple(panel for panel in drawn if panel is not None)
        if not panels:
            continue
        points = [p for panel in panels for line in panel.lines for p in (*line.points, *line.marked)]
        least, most = numbers.axis_ends((x for p in points for x in (p.y, p.low, p.high)), possible, 1.0)
        drawing = LinesChart(
            panels,
            text("axis.prevalence"),
            text("axis.value"),
            (grid[0], grid[-1]),
            (least, most),
            text("marked_prevalence", level=plan.report.confidence_level),
            percent=True,
        )
        yield text.figure(id, drawing, key, low=grid[0], high=grid[-1], n=len(panels))


def _panel(
    view: ResultView, names: Sequence[str], grid: Sequence[float], plan: Plan, named: bool
) -> LinesPanel | None:
    found = [view.estimate(cell) for cell in CELLS]
    cells = [int(e.value) for e in found if e is not None]
    if len(cells) < len(CELLS):
        return None
    counts = ConfusionCounts(*cells)
    if not counts.positives or not counts.negatives:
        return None
    lines = []
    for name in names:
        points = tuple(LinePoint(q, _at_prevalence(name, counts, q)) for q in grid)
        if all(isnan(p.y) for p in points):
            continue
        marked = []
        for share in declared_prevalences(plan):
            e = view.estimate(name, parameters={"prevalence": share})
            if e is not None:
                marked.append(LinePoint(share, e.value, e.low, e.high))
        lines.append(LineOver(heading(name), points, tuple(marked)))
    return LinesPanel(view.name if named else "", tuple(lines)) if lines else None


def _at_prevalence(name: str, counts: ConfusionCounts, share: float) -> float:
    try:
        return float(MEASURES[name].formula(*weighed(counts, share)))
    except ZeroDivisionError:
        return float("nan")
