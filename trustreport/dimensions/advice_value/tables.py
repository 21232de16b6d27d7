"""The tables of advice value: of one data set in full, of several side by side."""

from collections.abc import Iterator, Sequence
from typing import Any

from trustreport.dimensions.advice_value.information import Informed
from trustreport.dimensions.advice_value.measured import BINS, ID, OTHER_BINS, Calibrated
from trustreport.estimate import Estimate
from trustreport.finding import Column, EstimateTable, PlainTable, Row
from trustreport.messages import Message, say
from trustreport.results import Result

WIDTH: dict[str, Any] = {"bins": BINS, "binning": "equal_width"}
MASS: dict[str, Any] = {"bins": BINS, "binning": "equal_mass"}
ADVICE: dict[str, Any] = {"bins": BINS, "local_calibration": "absolute_gap"}
ADVICE_GICI: dict[str, Any] = {"bins": BINS, "local_calibration": "gici"}
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
    ("e50", {}, "e50"),
    ("e90", {}, "e90"),
    ("eci", {}, "eci"),
    ("advisory_value", ADVICE, "advisory_value"),
    ("advisory_value", ADVICE_GICI, "advisory_value_gici"),
)
LEADS = ("oe_ratio", "calibration_slope")
# Labels of the rows that are enough for advice that readers were shown.
OF_SHOWN = (
    "oe_ratio",
    "calibration_intercept",
    "calibration_slope",
    "brier",
    "gici",
    "advisory_value",
)
# What the Brier score is made of, in the order in which it adds up.
PARTS_OF_BRIER = ("uncertainty", "resolution", "reliability", "within_bins")
# Quantity, its parameters, whether the overview of many sets has room for its interval.
OVERVIEW: tuple[tuple[str, dict[str, Any], bool], ...] = (
    ("oe_ratio", {}, True),
    ("calibration_slope", {}, True),
    ("brier", {}, False),
    ("ece", WIDTH, False),
    ("gici", WIDTH, False),
    ("advisory_value", ADVICE, False),
)


def of_one(told: Calibrated) -> Iterator[EstimateTable | PlainTable]:
    """Everything of a data set that is the only one; less of advice that was shown to readers."""
    shown = "dataset" not in told.scope
    rows = [
        Row(say(f"{ID}.label.{label}"), found, leads=name in LEADS)
        for name, parameters, label in ROWS
        if (found := told.lead(name, **parameters) or told.lead(name)) and (label in OF_SHOWN or not shown)
    ]
    unlike = {id(row.result): row for row in rows}  # without probabilities ECE stands once, not twice
    yield EstimateTable("advice_value", say(f"{ID}.table", bins=BINS), tuple(unlike.values()))
    if shown:  # it stands beside the questions of its reader study, which are the matter there
        yield from _parts((told,))
        return
    yield from _brier((told,))
    yield from _numbers_of_bins((told,))
    if told.advice:
        columns = (
            Column(say(f"{ID}.column.confidence")),
            Column(say(f"{ID}.column.n"), "count"),
            Column(say(f"{ID}.column.mean"), "number.3"),
            Column(say(f"{ID}.column.right"), "number.3"),
            Column(say(f"{ID}.column.local"), "number.3"),
            Column(say(f"{ID}.column.value"), "number"),
            Column(say(f"{ID}.column.value_gici"), "number"),
        )
        by_gici = _values_by_bin(told, "gici")
        lines = tuple(
            (
                say(f"{ID}.between", low=b.low, high=b.high),
                b.share_right.n,
                b.confidence,
                b.share_right.value,
                b.local_calibration.value,
                b.advice_value,
                by_gici[b.low, b.high].value,
            )
            for b in told.advice
        )
        yield PlainTable("advice_value_bins", say(f"{ID}.table_bins"), columns, lines)
    yield from _parts((told,))


def side_by_side(told: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """A few data sets, a column each: every measure; the value of advice by its confidence."""
    names = tuple(Column(say("word.name", name=one.name), "number") for one in told)
    columns = (Column(say("table.measure")), *names)
    rows: list[tuple[Any, ...]] = [
        (
            say(f"{ID}.label.{label}"),
            *(_cell(one.estimate(name, **parameters)) for one in told),
        )
        for name, parameters, label in ROWS
        if any(one.lead(name, **parameters) for one in told)
    ]
    yield PlainTable("advice_value_measures", say(f"{ID}.table_measures", bins=BINS), columns, tuple(rows))
    yield from _brier(told)
    yield from _numbers_of_bins(told)
    named = {(b.low, b.high) for one in told for b in one.advice}
    if named:
        columns = (Column(say(f"{ID}.column.confidence")), *names)
        of_set = [_values_by_bin(one, "absolute_gap") for one in told]
        lines = tuple(
            (say(f"{ID}.between", low=low, high=high), *(values.get((low, high)) for values in of_set))
            for low, high in sorted(named)
        )
        yield PlainTable("advice_value_bins", say(f"{ID}.table_bins"), columns, lines)
    yield from _parts(told)


def overview_of_many(told: Sequence[Calibrated]) -> PlainTable:
    """A row for each data set."""
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
    return PlainTable("advice_value_sets", say(f"{ID}.table_sets"), columns, rows)


def of_information(informed: Sequence[Informed]) -> EstimateTable:
    """The value of information of every contrast and data set under every utility."""
    rows = tuple(
        Row(_label(one, result), result, leads=one.readers and "prevalence" not in result.scope["parameters"])
        for one in informed
        for result in one.leads
    )
    return EstimateTable("advice_value_voi", say(f"{ID}.table_voi"), rows)


def _label(one: Informed, result: Result) -> Message:
    parameters = result.scope["parameters"]
    name = say(f"{ID}.voi.{'readers' if one.readers else 'advice'}", name=one.name)
    if one.readers and not one.name:
        name = say(f"{ID}.voi.readers_alone")
    if "prevalence" in parameters:
        return say(
            f"{ID}.voi.label_at",
            name=name,
            utility=parameters["utility"],
            prevalence=parameters["prevalence"],
        )
    return say(f"{ID}.voi.label", name=name, utility=parameters["utility"])


def _brier(told: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """What the Brier score of each set is made of."""
    known = [(one, one.estimate("brier").details) for one in told]
    rows = tuple(
        (one.name, one.estimate("brier").value, *(details[name] for name in PARTS_OF_BRIER))[len(told) == 1 :]
        for one, details in known
        if details
    )
    if rows:
        columns = (
            Column(say(f"{ID}.column.set")),
            Column(say(f"{ID}.heading.brier"), "number.3"),
            *(Column(say(f"{ID}.brier.{name}"), "number.3") for name in PARTS_OF_BRIER),
        )[len(told) == 1 :]
        yield PlainTable("advice_value_brier", say(f"{ID}.table_brier", bins=BINS), columns, rows)


def _numbers_of_bins(told: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """ECE and GICI of each set with other numbers of bins."""
    numbers = sorted((*OTHER_BINS, BINS))
    rows = tuple(
        (
            one.name,
            *(
                one.estimate(name, bins=bins, binning="equal_width").value
                for name in ("ece", "gici")
                for bins in numbers
            ),
        )[len(told) == 1 :]
        for one in told
        if one.curve
    )
    if rows:
        columns = (
            Column(say(f"{ID}.column.set")),
            *(
                Column(say(f"{ID}.column.{name}_with", n=bins), "number")
                for name in ("ece", "gici")
                for bins in numbers
            ),
        )[len(told) == 1 :]
        yield PlainTable("advice_value_numbers_of_bins", say(f"{ID}.table_numbers"), columns, rows)


def _parts(told: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """The advisory value by class of the advice and by group of cases."""
    rows = []
    for one in told:
        for result in one.of_parts:
            e = result.estimate
            name = result.scope.get("subgroup") or say(f"{ID}.advised.{result.scope['class']}")
            known = e.details
            row: tuple[Any, ...] = (
                one.name,
                name,
                e.n,
                known.get("mean_confidence"),
                known.get("share_right"),
                e,
            )
            rows.append(row[len(told) == 1 :])
    if rows:
        columns = (
            Column(say(f"{ID}.column.set")),
            Column(say(f"{ID}.column.part")),
            Column(say(f"{ID}.column.n"), "count"),
            Column(say(f"{ID}.column.mean"), "number.3"),
            Column(say(f"{ID}.column.right"), "number.3"),
            Column(say(f"{ID}.label.advisory_value"), "number"),
        )[len(told) == 1 :]
        yield PlainTable("advice_value_parts", say(f"{ID}.table_parts"), columns, tuple(rows))


def _values_by_bin(told: Calibrated, local: str) -> dict[tuple[float, float], Estimate]:
    found = {}
    for result in told.results:
        if result.id == f"{ID}.advice_value":
            parameters = result.scope["parameters"]
            if parameters.get("local_calibration", "absolute_gap") == local:
                found[parameters["low"], parameters["high"]] = result.estimate
    return found


def _cell(e: Estimate) -> Estimate | float:
    """What has a value without an interval stands by itself; the note is in results.json."""
    return e.value if e.value == e.value and e.low != e.low else e
