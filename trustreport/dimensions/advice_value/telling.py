"""How advice value is told: sentences, tables and figures of one data set, and of several together."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from trustreport.dimensions.advice_value.measured import BINS, HISTOGRAM_BINS, ID, Calibrated
from trustreport.estimate import Estimate
from trustreport.figures.calibration import MOST_PANELS, CalibrationFigure, CalibrationPanel, Histogram
from trustreport.finding import Column, EstimateTable, Figure, Part, PlainTable, Row
from trustreport.messages import Message, say

# With more sets than this an overview stands for the page that each would need.
EACH_UP_TO = 4
WIDTH: dict[str, Any] = {"bins": BINS, "binning": "equal_width"}
MASS: dict[str, Any] = {"bins": BINS, "binning": "equal_mass"}
ADVICE: dict[str, Any] = {"bins": BINS, "local_calibration": "absolute_gap"}
# Quantity, its parameters, its label.
ROWS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("oe_ratio", {}, "oe_ratio"),
    ("calibration_intercept", {}, "calibration_intercept"),
    ("calibration_slope", {}, "calibration_slope"),
    ("brier", {}, "brier"),
    ("ece", WIDTH, "ece_width"),
    ("ece", MASS, "ece_mass"),
    ("gici", WIDTH, "gici"),
    ("gici_over", WIDTH, "gici_over"),
    ("gici_under", WIDTH, "gici_under"),
    ("ici", {}, "ici"),
    ("emax", {}, "emax"),
    ("advisory_value", ADVICE, "advisory_value"),
)
LEADS = ("oe_ratio", "calibration_slope")
# Quantity, its parameters, whether the overview has room for its interval.
OVERVIEW: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("oe_ratio", {}, True),
    ("calibration_slope", {}, True),
    ("brier", {}, False),
    ("ece", WIDTH, False),
    ("gici", WIDTH, False),
    ("advisory_value", ADVICE, False),
)


def part(told: Calibrated, number: int, *, alone: bool) -> Part:
    """One data set in full; its figure only where it is the only one."""
    return Part(
        title=None if alone else say("word.name", name=told.name),
        finding=tuple(_sentences(told)),
        tables=tuple(_tables(told, number, alone=alone)),
        figures=tuple(_figures([told])) if alone else (),
        scope=told.scope,
    )


def overview(told: Sequence[Calibrated]) -> Iterator[Part]:
    """The data sets side by side: a row of the table and a panel of the figure each."""
    columns = (
        Column(say(f"{ID}.column.set")),
        Column(say(f"{ID}.column.n"), "count"),
        *(Column(say(f"{ID}.heading.{name}"), "number") for name, *_ in OVERVIEW),
    )
    rows = tuple(
        (
            one.name,
            one.estimate("brier").n,
            *(
                one.estimate(name, **parameters) if whole else one.estimate(name, **parameters).value
                for name, parameters, whole in OVERVIEW
            ),
        )
        for one in told
    )
    table = PlainTable("advice_value_sets", say(f"{ID}.table_sets"), columns, rows)
    slopes, ratios = (
        [e for one in told if not isnan((e := one.estimate(name)).low)]
        for name in ("calibration_slope", "oe_ratio")
    )
    sentence = say(
        f"{ID}.overview",
        n=len(told),
        slopes=len(slopes),
        slope=sum(e.low <= 1 <= e.high for e in slopes),
        ratios=len(ratios),
        ratio=sum(e.low <= 1 <= e.high for e in ratios),
    )
    tables = (table, *_side_by_side(told)) if len(told) <= EACH_UP_TO else (table,)
    yield Part(finding=(sentence,), tables=tables, figures=tuple(_figures(told)))


def _side_by_side(told: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """The value of advice by its confidence, a column each."""
    named = {(b.low, b.high) for one in told for b in one.advice}
    if named:
        columns = (
            Column(say(f"{ID}.column.confidence")),
            *(Column(say("word.name", name=one.name), "number") for one in told),
        )
        of_set = [{(b.low, b.high): b.advice_value for b in one.advice} for one in told]
        rows = tuple(
            (say(f"{ID}.between", low=low, high=high), *(values.get((low, high)) for values in of_set))
            for low, high in sorted(named)
        )
        yield PlainTable(f"{ID}_bins", say(f"{ID}.table_bins"), columns, rows)


def _sentences(told: Calibrated) -> Iterator[Message]:
    ratio, slope = told.estimate("oe_ratio"), told.estimate("calibration_slope")
    if isnan(ratio.value):
        yield say(f"{ID}.undefined", measure=say(f"{ID}.label.oe_ratio"), reason=ratio.note)
    else:
        yield _compared("oe", ratio, **ratio.details)
    if isnan(slope.value):
        if slope.note != ratio.note:
            yield say(f"{ID}.undefined", measure=say(f"{ID}.label.calibration_slope"), reason=slope.note)
    else:
        yield _compared("slope", slope)
    for name, parameters in (("gici", WIDTH), ("advisory_value", ADVICE)):
        e = told.estimate(name, **parameters)
        if not isnan(e.low):
            yield say(f"{ID}.{name}", value=e.value, low=e.low, high=e.high, level=e.level)


def _compared(name: str, e: Estimate, **also: float) -> Message:
    """An estimate against 1, in the words for where its interval lies."""
    if isnan(e.low):
        return say(f"{ID}.{name}.no_interval", value=e.value, reason=e.note, **also)
    where = "above" if e.low > 1 else "below" if e.high < 1 else "either"
    return say(f"{ID}.{name}.{where}", value=e.value, low=e.low, high=e.high, level=e.level, **also)


def _tables(told: Calibrated, number: int, *, alone: bool) -> Iterator[EstimateTable | PlainTable]:
    rows = [
        Row(say(f"{ID}.label.{label}"), found, leads=name in LEADS)
        for name, parameters, label in ROWS
        if (found := told.lead(name, **parameters) or told.lead(name))
    ]
    unlike = {id(row.result): row for row in rows}  # without probabilities ECE stands once, not twice
    yield EstimateTable(f"advice_value_{number}", say(f"{ID}.table", bins=BINS), tuple(unlike.values()))
    if alone and told.advice:
        columns = (
            Column(say(f"{ID}.column.confidence")),
            Column(say(f"{ID}.column.n"), "count"),
            Column(say(f"{ID}.column.mean"), "number.3"),
            Column(say(f"{ID}.column.right"), "number.3"),
            Column(say(f"{ID}.column.local"), "number.3"),
            Column(say(f"{ID}.column.value"), "number"),
        )
        lines = tuple(
            (
                say(f"{ID}.between", low=b.low, high=b.high),
                b.share_right.n,
                b.confidence,
                b.share_right.value,
                b.local_calibration.value,
                b.advice_value,
            )
            for b in told.advice
        )
        yield PlainTable(f"advice_value_bins_{number}", say(f"{ID}.table_bins"), columns, lines)


def _figures(told: Sequence[Calibrated]) -> Iterator[Figure]:
    drawn = [one for one in told if one.curve]
    for start in range(0, len(drawn), MOST_PANELS):
        some = drawn[start : start + MOST_PANELS]
        panels = tuple(_panel(one, named=len(told) > 1) for one in some)
        values = {"n": len(some), "level": some[0].curve[0].observed.level, "bins": BINS}
        yield Figure(
            f"calibration_{start // MOST_PANELS + 1}",
            CalibrationFigure(panels),
            say(f"{ID}.figure.calibration", **values),
            say(f"{ID}.figure.calibration_alt", names=[one.name for one in some], **values),
        )


def _panel(told: Calibrated, *, named: bool) -> CalibrationPanel:
    bins = told.histogram
    assert bins is not None
    histogram = Histogram(
        tuple(i / HISTOGRAM_BINS for i in range(HISTOGRAM_BINS + 1)),
        tuple(int(x) for x in bins.events),
        tuple(int(x) for x in bins.n - bins.events),
    )
    return CalibrationPanel(
        told.name if named else "",
        told.curve,
        histogram,
        told.smooth,
        told.estimate("calibration_slope"),
        told.estimate("oe_ratio"),
    )
