"""Curves to draw: one data set and twelve, one candidate and three, many cases, few, and unlikely ones."""

from collections.abc import Callable
from functools import cache
from math import nan
from typing import Any

import numpy as np
from drawn_studies import LONG, estimate

from trustreport.figures.curves import DecisionCurves, DecisionPanel, LineOver, LinePoint
from trustreport.figures.measure_rows import (
    GroupBlock,
    GroupRow,
    GroupRows,
    MeasureCell,
    MeasureColumn,
    MeasureRow,
    MeasuresChart,
)
from trustreport.figures.roc import DevicePoint, ReaderPoint, RocFigure, RocLine, RocPanel
from trustreport.measures.net_benefit import decision_curve
from trustreport.measures.note import note
from trustreport.measures.roc.auc import delong
from trustreport.measures.roc.curve import roc_curve

NOTHING = estimate(nan, nan, nan, note=note("no_case_has_condition"))


def cases(n: int, apart: float, seed: int = 5):
    """Truth, and scores of cases that lie this far apart."""
    draw = np.random.default_rng(seed)
    truth = draw.random(n) < 0.3
    truth[:2] = True, False
    return truth, 1 / (1 + np.exp(-draw.normal(apart * truth - 1, 1)))


def roc_line(n: int, apart: float, label: str = "", *, point: bool = True, most: int = 400) -> RocLine:
    truth, score = cases(n, apart)
    curve = roc_curve(truth, score).corners()
    at = DevicePoint(estimate(0.81, 0.74, 0.87), estimate(0.72, 0.66, 0.78), "at threshold 0.5:")
    return RocLine.of_curve(
        label, curve.fpr, curve.tpr, delong(truth, score), at if point else None, most=most
    )


def roc_panels(n: int, candidates: int = 1) -> tuple[RocPanel, ...]:
    names = ("", "vendor B", "vendor C, second version of the year")[:candidates]
    return tuple(
        RocPanel(
            f"site {i} {LONG[: 12 * i]}" if n > 1 else "",
            tuple(roc_line(150 + 40 * i, 1.7 - 0.5 * k, name, most=120) for k, name in enumerate(names)),
        )
        for i in range(n)
    )


def some_readers(n: int) -> tuple[ReaderPoint, ...]:
    draw = np.random.default_rng(6)
    found = []
    for i in range(n):
        for aided in (False, True):
            shares = draw.uniform(0.5, 0.9, 2)
            se, sp = (estimate(x, x - 0.1, x + 0.1) for x in shares)
            found.append(ReaderPoint(f"R{i}", se, sp, aided))
    return tuple(found)


def decision_line(n: int, apart: float, label: str = "", declared: tuple[float, ...] = (0.1, 0.2)):
    truth, score = cases(n, apart)
    grid = np.linspace(0.01, 0.6, 60)

    def points(at):
        c = decision_curve(truth, score, at)
        return tuple(LinePoint(*map(float, row)) for row in zip(c.threshold, c.value, c.low, c.high))

    found = decision_curve(truth, score, grid)
    treat_all = tuple(zip(map(float, found.threshold), map(float, found.treat_all)))
    return LineOver(label, points(grid), points(np.array(declared))), treat_all


def decision_panels(n: int, candidates: int = 1) -> tuple[DecisionPanel, ...]:
    names = ("", "vendor B", "vendor C")[:candidates]
    panels = []
    for i in range(n):
        found = [decision_line(150 + 40 * i, 1.7 - 0.6 * k, name) for k, name in enumerate(names)]
        panels.append(DecisionPanel(f"site {i}" if n > 1 else "", tuple(f[0] for f in found), found[0][1]))
    return tuple(panels)


MEASURES = ("accuracy", "sensitivity", "specificity", "predictive value, positive", "NPV")


def chart(n: int, names: tuple[str, ...] = MEASURES) -> MeasuresChart:
    draw = np.random.default_rng(12)
    columns = (*(MeasureColumn(name) for name in names), MeasureColumn("MCC", -1.0, 1.0))
    rows = []
    for i in range(n):
        found: list[MeasureCell | None] = []
        for k in range(len(columns)):
            value = draw.uniform(0.3, 0.95)
            shown = NOTHING if (i + k) % 11 == 10 else estimate(value, value - 0.2, value + 0.05)
            found.append(None if (i, k) == (1, 1) else MeasureCell(shown, value - 0.1 if k == 0 else nan))
        rows.append(MeasureRow(f"set {i} {LONG[: (5, 20, 60)[i % 3]]}", tuple(found)))
    return MeasuresChart(columns, tuple(rows), "what a rule would reach that always says the same")


def group_rows(n_sets: int, *n_groups: int, measures: int = 3) -> GroupRows:
    draw = np.random.default_rng(14)

    def some() -> tuple:
        values = draw.uniform(0.6, 0.95, measures)
        return tuple(estimate(v, v - 0.1, v + 0.04) for v in values)

    def row(i: int, n: int) -> GroupRow:
        groups = [some() for _ in range(n)]
        if i == 1:
            groups[0] = (None,) * measures
        return GroupRow(f"set {i} {LONG[: (5, 20, 40)[i % 3]]}", tuple(groups), some())

    blocks = [
        GroupBlock(
            f"attribute {a}", tuple(f"group {g}" for g in range(n)), tuple(row(i, n) for i in range(n_sets))
        )
        for a, n in enumerate(n_groups)
    ]
    heads = tuple(MeasureColumn(name) for name in ("Sensitivity", "Specificity", "AUC")[:measures])
    return GroupRows(heads, tuple(blocks), "all cases together")


def readers_beside() -> RocFigure:
    return RocFigure((RocPanel("", roc_panels(1)[0].lines, some_readers(13)),))


def upside_down() -> RocFigure:
    return RocFigure((RocPanel("a", (roc_line(80, -1.5),)), RocPanel("b", (roc_line(80, -1.5),))))


# Made when a test asks for one: whoever only lists the tests need not wait for them.
CURVES: dict[str, Callable[[], Any]] = {
    **{f"roc-{n}": lambda n=n: RocFigure(roc_panels(n)) for n in (1, 2, 3, 4, 5, 9, 12)},
    "roc-3-candidates": lambda: RocFigure(roc_panels(1, 3)),
    "roc-6-sets-3-candidates": lambda: RocFigure(roc_panels(6, 3)),
    "roc-readers": readers_beside,
    "roc-large": lambda: RocFigure((RocPanel("", (roc_line(60_000, 1.0),)),)),
    "roc-no-point": lambda: RocFigure((RocPanel("", (roc_line(80, 1.0, point=False),)),)),
    "roc-upside-down": upside_down,
    **{f"decision-{n}": lambda n=n: DecisionCurves(decision_panels(n)) for n in (1, 2, 3, 5, 9, 12)},
    "decision-3-candidates": lambda: DecisionCurves(decision_panels(1, 3)),
    "decision-4-sets-3-candidates": lambda: DecisionCurves(decision_panels(4, 3)),
    "groups-one": lambda: group_rows(1, 2, measures=1),
    "groups-many": lambda: group_rows(4, 2, 3, 5),
    "groups-twelve": lambda: group_rows(3, 12),
    **{f"measures-{n}": lambda n=n: chart(n) for n in (1, 5, 12, 20, 40)},
    "measures-two": lambda: chart(20, ("accuracy",)),
}


@cache
def curve(name: str) -> Any:
    return CURVES[name]()
