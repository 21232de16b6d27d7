"""Studies to draw: as few and as many rows as a report meets, long names, extreme values."""

from dataclasses import replace
from math import inf, nan

import numpy as np

from trustreport.figures.benefit import BenefitDiagram, ReaderBenefit, ReaderSlope, SlopePlot
from trustreport.figures.effect import EffectPlot, EffectRow, ErrorRateRow, ErrorRates
from trustreport.figures.field import PlaneAxis, PlaneChart, PlanePoint
from trustreport.figures.flow import FlowFigure, Step
from trustreport.measures import notes
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.vocabulary.messages import Message

LONG = (
    "Radiographs of the chest in the emergency departments of four hospitals, second sitting, readers "
    "with less than 5 years"
)
REASON = notes.ODDS_INFINITE_NO_INTERVAL


def estimate(value: float, low: float, high: float, n: int = 114, note: Note = NO_NOTE) -> Estimate:
    return Estimate(float(value), float(low), float(high), n, note=note)


EXTREME_RATIOS = (
    estimate(0.001, 0.0002, 0.004),
    estimate(0.0, 0.0, 0.8),
    estimate(inf, 2.1, inf),
    estimate(nan, nan, nan, note=REASON),
    estimate(nan, 0.0, inf, note=REASON),
    estimate(1.4, nan, nan, note=note("count_zero_this_method_has_no")),
    estimate(3.0, 1e-3, 1e6),
    estimate(1e6, 2e4, 4e7),
    estimate(1e-9, 0.0, 1e-8),
    estimate(2.0, 2.0, 2.0),
)


def ratios(n: int, *, extreme: bool = False) -> tuple[EffectRow, ...]:
    draw = np.random.default_rng(7)
    rows = []
    for i in range(n):
        value = 10 ** draw.uniform(-0.3, 0.3)
        shown = estimate(value, value / draw.uniform(1.1, 2), value * draw.uniform(1.1, 2))
        if extreme and i % 2:
            shown = EXTREME_RATIOS[i // 2 % len(EXTREME_RATIOS)]
        label = LONG[: (8, 30, 70, len(LONG))[draw.integers(4)]] if n > 1 else LONG
        rows.append(EffectRow(label, shown, leads=i == n // 2))
    return tuple(rows)


def differences(n: int) -> tuple[EffectRow, ...]:
    draw = np.random.default_rng(8)
    values = [draw.normal(0.02, 0.05) for _ in range(n)]
    return tuple(EffectRow(f"Reader {i}", estimate(v, v - 0.06, v + 0.07)) for i, v in enumerate(values))


def rates(n: int) -> tuple[ErrorRateRow, ...]:
    draw = np.random.default_rng(9)
    rows = []
    for i in range(n):
        value = draw.uniform(0.05, 0.4)
        shown = estimate(nan, nan, nan, note=REASON) if i == 3 else estimate(value, value / 2, value * 1.6)
        group = LONG[: 12 + 3 * i] if n > 2 else ""
        rows.append(
            ErrorRateRow("with the aid" if i % 2 else LONG[:40], shown, aided=bool(i % 2), group=group)
        )
    return tuple(rows)


def benefits(n: int, strata: int) -> tuple[ReaderBenefit, ...]:
    draw = np.random.default_rng(10)
    rows = []
    for i in range(n):
        baseline, value = round(draw.uniform(0.6, 1), 2), round(draw.normal(0.02, 0.04), 2)
        value = min(value, 1 - baseline)
        shown = estimate(value, value - 0.05, value + 0.06)
        stratum = f"stratum {i % strata} {LONG[:60]}" if strata > 1 else ""
        rows.append(ReaderBenefit(f"Reader {i}", float(baseline), shown, stratum))
    return tuple(rows)


def slopes(n: int, name: str = "Reader {}") -> tuple[ReaderSlope, ...]:
    draw = np.random.default_rng(11)
    rows = []
    for i in range(n):
        before = draw.uniform(0.6, 0.9)
        after = before if i == 1 else before + draw.normal(0.02, 0.04)
        arms = [estimate(x, x - 0.07, x + 0.06) for x in (before, after)]
        rows.append(ReaderSlope(name.format(i), *arms))
    return tuple(rows)


MEAN = estimate(0.025, 0.004, 0.046, 1500)
MEAN_SLOPE = ReaderSlope("mean of the readers", estimate(0.74, 0.7, 0.78), estimate(0.77, 0.73, 0.81))
COUNTS = (("decision empty", 7), (LONG, 1234567))
FLOW = (
    Step("Rows of readings.csv", 1152, COUNTS),
    Step("Readers", 5),
    Step(LONG, 1234567, (("out of range", 3),)),
)


def plane(n: int) -> PlaneChart:
    """Points that lie apart and together, one hollow, one without an interval, one without a place."""
    draw = np.random.default_rng(9)
    points = []
    for i in range(n):
        x, y = draw.uniform(-0.6, 0.6), draw.uniform(0.05, 0.4)
        across = estimate(x, nan if i == 2 else x - 0.3, x + 0.3)
        if i == 3:
            across = estimate(nan, nan, nan, note=REASON)
        label = LONG[: (12, 30, 60)[i % 3]]
        points.append(PlanePoint(label, across, estimate(y, y - 0.04, y + 0.05), hollow=i == 1))
    text = Message("figure.benefit.accuracy")
    x_axis = PlaneAxis(text, text, "number", -1.0, 1.0, 0.0)
    return PlaneChart(tuple(points), x_axis, PlaneAxis(text, text, "percent", 0.0, 1.0))


DRAWINGS = {
    **{f"plane-{n}": plane(n) for n in (1, 3, 8)},
    **{f"effect-{n}": EffectPlot(ratios(n), "Odds ratio of an error") for n in (1, 5, 12, 40)},
    **{f"effect-extreme-{n}": EffectPlot(ratios(n, extreme=True), "Odds ratio") for n in (2, 5, 12, 40)},
    **{f"effect-all-{e.value}": EffectPlot((EffectRow("row", e, True),), "OR") for e in EXTREME_RATIOS[:6]},
    **{
        f"difference-{n}": EffectPlot(differences(n), LONG, "points", LONG, LONG, benefit="right")
        for n in (1, 5, 12, 40)
    },
    "difference-far": EffectPlot((EffectRow("a", estimate(0.9, 0.8, 0.95)),), "AUC", "difference"),
    **{f"rates-{n}": ErrorRates(rates(n)) for n in (1, 2, 5, 12, 24, 40)},
    "rates-noted": ErrorRates(
        tuple(replace(row, aided=True, note=LONG[: 20 * i]) for i, row in enumerate(rates(5))),
        "Accuracy",
        "accuracy",
        asked=0.3,
        asked_label=LONG[:40],
    ),
    "rates-none": ErrorRates((ErrorRateRow("a", estimate(0.0, 0.0, 0.0)),)),
    "rates-rare": ErrorRates((ErrorRateRow("a", estimate(2e-5, 1e-6, 1e-4)),)),
    "rates-narrow": ErrorRates((ErrorRateRow("a", estimate(0.912, 0.910, 0.914)),)),
    **{
        f"benefit-{n}-{strata}": BenefitDiagram(benefits(n, strata), MEAN, "readers and cases random")
        for n in (1, 5, 12, 40)
        for strata in (1, 2, 12)
    },
    "benefit-one-reader": BenefitDiagram(benefits(1, 1), estimate(nan, nan, nan, note=REASON)),
    "benefit-high-mean": BenefitDiagram(benefits(9, 9), estimate(0.3, 0.2, 0.4), LONG, intervals=False),
    "benefit-same-place": BenefitDiagram(benefits(1, 1) * 3 + benefits(4, 1) * 2, MEAN, unit="number"),
    "benefit-none": BenefitDiagram((ReaderBenefit("a", nan, estimate(nan, nan, nan, note=REASON)),)),
    **{f"slope-{n}": SlopePlot(slopes(n), MEAN_SLOPE) for n in (1, 5, 12, 40)},
    "slope-long": SlopePlot(slopes(40, LONG + " {}"), MEAN_SLOPE, "AUC", "number"),
    "slope-none": SlopePlot((ReaderSlope("a", estimate(nan, nan, nan), estimate(0.5, 0.4, 0.6)),)),
    "flow-1": FlowFigure(FLOW[:1]),
    **{
        f"flow-{n}-arms": FlowFigure(
            FLOW, tuple(Step(f"Readings {LONG[:30]}", 570, COUNTS) for _ in range(n))
        )
        for n in (1, 2, 3, 4, 7)
    },
    "dollars": EffectPlot((EffectRow("costs $5 to $6_7^8, 100 % of {all}", MEAN),), "OR", "points"),
}
