"""The tables of advice value: of one data set in full, of several side by side."""

from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

from trustreport.assessment.dimensions.advice_value.entries import BINS, ID, OTHER_BINS, Calibrated
from trustreport.assessment.dimensions.advice_value.information import Informed
from trustreport.assessment.finding import EstimateRow, EstimateTable, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.measures.calibration.advice import MIDDLE, AdviceBin
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

BY_CONFIDENCE, BY_CONFIDENCE_SHOWN = "advice_value_bins", "advice_value_bins_shown"
NONE = Estimate(nan, nan, nan, 0)  # of a bin without advice
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
    ("weighted_oe_ratio", {}, "weighted_oe_ratio"),
    ("weighted_brier", {}, "weighted_brier"),
)
LEADS = ("oe_ratio", "calibration_slope")
# Labels of the rows that are enough for advice that readers were shown.
OF_SHOWN = ("oe_ratio", "calibration_intercept", "calibration_slope", "brier", "gici", "advisory_value")
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


def of_one(one: Calibrated) -> Iterator[EstimateTable | PlainTable]:
    """Everything of a data set that is the only one; less of advice that was shown to readers."""
    shown = one.place.dataset is None
    rows = [
        EstimateRow(say(f"{ID}.label.{label}"), found, leads=name in LEADS)
        for name, parameters, label in ROWS
        if (found := one.lead(name, **parameters) or one.lead(name)) and (label in OF_SHOWN or not shown)
    ]
    unlike = {id(row.result): row for row in rows}  # without probabilities ECE has one row, not two
    yield EstimateTable("advice_value", say(f"{ID}.table", bins=BINS), tuple(unlike.values()))
    if not shown:  # what readers were shown is beside the questions of its reader study, the matter there
        yield from _brier((one,))
        yield from _numbers_of_bins((one,))
    if one.advice:
        by_gici = _values_by_bin(one, "gici")
        yield table(
            BY_CONFIDENCE_SHOWN if shown else BY_CONFIDENCE,
            say(f"{ID}.table_bins_gici", table=say(f"{ID}.table_bins", rule=advice_rule((one,)))),
            one.advice,
            [
                (f"{ID}.column.confidence", _between),
                (f"{ID}.column.n", "share_right.n", "count"),
                (f"{ID}.column.mean", "confidence", "number.3"),
                (f"{ID}.column.predicted", "predicted", "number.3") if one.threshold != MIDDLE else None,
                (f"{ID}.column.right", "share_right.value", "number.3"),
                (f"{ID}.column.local", "local_calibration.value", "number.3"),
                (f"{ID}.column.value", "advice_value", "number"),
                (f"{ID}.column.value_gici", lambda b: by_gici[b.low, b.high].value, "number"),
            ],
        )
    yield from _parts((one,))


def advice_rule(sets: Sequence[Calibrated]) -> Message:
    """From which score the advice of these sets is positive, and how its confidence is measured."""
    known = {one.threshold for one in sets if one.advice}
    if len(known) > 1:
        return say(f"{ID}.rule.own")
    if not any(one.declared for one in sets):
        return say(f"{ID}.rule.undeclared")
    at = next(iter(known), MIDDLE)
    return (
        say(f"{ID}.rule.middle") if at == MIDDLE else say(f"{ID}.rule.declared", threshold=float(f"{at:g}"))
    )


def side_by_side(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """A few data sets, a column each: every measure; the value of advice by its confidence."""
    yield table(
        "advice_value_measures",
        say(f"{ID}.table_measures", bins=BINS),
        [row for row in ROWS if any(one.lead(row[0], **row[1]) for one in sets)],
        [
            ("table.measure", lambda row: say(f"{ID}.label.{row[2]}")),
            *(
                (_name(one), lambda row, one=one: _cell(one.estimate(row[0], **row[1])), "number")
                for one in sets
            ),
        ],
    )
    yield from _brier(sets)
    yield from _numbers_of_bins(sets)
    bins = _bins_of(sets)
    if bins:
        of_set = [_values_by_bin(one, "absolute_gap") for one in sets]
        yield table(
            BY_CONFIDENCE,
            say(f"{ID}.table_bins", rule=advice_rule(sets)),
            bins,
            [
                (f"{ID}.column.confidence", _between),
                *((_name(one), values.get, "number") for one, values in zip(sets, of_set)),
            ],
        )
    yield from _parts(sets)


def _bins_of(sets: Sequence[Calibrated]) -> list[tuple[float, float]]:
    """The bins of confidence that hold advice of any of these sets."""
    return sorted({(b.low, b.high) for one in sets for b in one.advice})


def _between(ends: tuple[float, float] | AdviceBin) -> Message:
    low, high = (ends.low, ends.high) if isinstance(ends, AdviceBin) else ends
    return say(f"{ID}.between", low=low, high=high)


def _name(one: Calibrated) -> Message:
    return say("word.name", name=one.name)


def overview_of_many(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """A row for each data set: calibration, then the value of advice by its confidence."""

    def value(one: Calibrated, name: str, parameters: dict[str, Any], whole: bool) -> Estimate | float:
        e = one.estimate(name, **parameters)
        return e if whole else e.value

    yield table(
        "advice_value_sets",
        say(f"{ID}.table_sets"),
        sets,
        [
            (f"{ID}.column.set", "label"),
            (f"{ID}.column.n", lambda one: one.estimate("brier").n, "count"),
            *(
                (f"{ID}.heading.{spec[0]}", lambda one, spec=spec: value(one, *spec), "number")
                for spec in OVERVIEW
            ),
        ],
    )
    advising = [one for one in sets if one.advice]
    if advising:
        yield table(
            BY_CONFIDENCE,
            say(f"{ID}.table_bins", rule=advice_rule(advising)),
            advising,
            [
                (f"{ID}.column.set_from", "label"),
                *(
                    (
                        say(f"{ID}.from", low=ends[0]),
                        lambda one, ends=ends: _values_by_bin(one, "absolute_gap").get(ends, NONE).value,
                        "number",
                    )
                    for ends in _bins_of(advising)
                ),
            ],
        )


def of_information(informed: Sequence[Informed]) -> EstimateTable:
    """The value of information of every contrast and data set under every utility."""
    rows = tuple(
        EstimateRow(_label(one, result), result, leads=one.readers and "prevalence" not in result.parameters)
        for one in informed
        for result in one.leads
    )
    return EstimateTable("advice_value_voi", say(f"{ID}.table_voi"), rows)


def _label(one: Informed, result: Result) -> Message:
    chosen = result.parameters
    name = say(f"{ID}.voi.{'readers' if one.readers else 'advice'}", name=one.name)
    if one.readers and not one.name:
        name = say(f"{ID}.voi.readers_alone")
    if "prevalence" in chosen:
        return say(
            f"{ID}.voi.label_at", name=name, utility=chosen["utility"], prevalence=chosen["prevalence"]
        )
    return say(f"{ID}.voi.label", name=name, utility=chosen["utility"])


def _brier(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """What the Brier score of each set is made of."""
    known = [(one, e) for one in sets if (e := one.estimate("brier")).details]
    if known:
        several = len(sets) > 1
        yield table(
            "advice_value_brier",
            say(f"{ID}.table_brier", bins=BINS),
            known,
            [
                (f"{ID}.column.set", lambda pair: pair[0].name) if several else None,
                (f"{ID}.heading.brier", lambda pair: pair[1].value, "number.3") if several else None,
                *(
                    (f"{ID}.brier.{name}", lambda pair, name=name: pair[1].details[name], "number.3")
                    for name in PARTS_OF_BRIER
                ),
            ],
        )


def _numbers_of_bins(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """ECE and GICI of each set with other numbers of bins."""
    drawn = [one for one in sets if one.curve]

    def value(one: Calibrated, name: str, bins: int) -> float:
        return one.estimate(name, bins=bins, binning="equal_width").value

    if drawn:
        yield table(
            "advice_value_numbers_of_bins",
            say(f"{ID}.table_numbers"),
            drawn,
            [
                (f"{ID}.column.set", "name") if len(sets) > 1 else None,
                *(
                    (
                        say(f"{ID}.column.{name}_with", n=bins),
                        lambda one, name=name, bins=bins: value(one, name, bins),
                        "number",
                    )
                    for name in ("ece", "gici")
                    for bins in sorted((*OTHER_BINS, BINS))
                ),
            ],
        )


def _parts(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """The advisory value by class of the advice and by group of cases."""
    parts = [(one.name, r.place, r.estimate) for one in sets for r in one.of_parts]
    if parts:
        yield table(
            "advice_value_parts",
            say(f"{ID}.table_parts"),
            parts,
            [
                (f"{ID}.column.set", 0) if len(sets) > 1 else None,
                (f"{ID}.column.part", lambda p: p[1].subgroup or say(f"{ID}.advised.{p[1].class_}")),
                (f"{ID}.column.n", lambda p: p[2].n, "count"),
                (f"{ID}.column.mean", lambda p: p[2].details.get("mean_confidence"), "number.3"),
                (f"{ID}.column.right", lambda p: p[2].details.get("share_right"), "number.3"),
                (f"{ID}.label.advisory_value", 2, "number"),
            ],
        )


def _values_by_bin(one: Calibrated, local: str) -> dict[tuple[float, float], Estimate]:
    return {
        (r.parameters["low"], r.parameters["high"]): r.estimate
        for r in one.results
        if r.id == f"{ID}.advice_value" and r.parameters.get("local_calibration", "absolute_gap") == local
    }


def _cell(e: Estimate) -> Estimate | float:
    """What has a value without an interval is shown by itself; the note is in results.json."""
    return e.value if e.value == e.value and e.low != e.low else e
