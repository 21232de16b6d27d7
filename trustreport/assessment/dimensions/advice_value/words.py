"""Advice value in sentences, tables and figures: of one data set, of several together, of contrasts."""

from collections.abc import Iterator, Sequence
from math import inf, isnan, log
from typing import Any

from trustreport.assessment.dimensions.advice_value.information import Informed
from trustreport.assessment.dimensions.advice_value.results import (
    BINS,
    HISTOGRAM_BINS,
    ID,
    OTHER_BINS,
    Calibrated,
)
from trustreport.assessment.finding import Column, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, as_cell, if_known, quantity_name, side_of
from trustreport.figures.calibration import CalibrationFigure, CalibrationPanel, Histogram
from trustreport.figures.panels import MOST_PANELS
from trustreport.measures.calibration.advice import MIDDLE
from trustreport.measures.calibration.bins import Bins
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

# With more sets than this an overview stands for what would be said of each.
EACH_UP_TO = 4
# Utilities that have a sentence each; the table has the others.
MOST_SENTENCES = 3
BY_CONFIDENCE, BY_CONFIDENCE_SHOWN = "advice_value_bins", "advice_value_bins_shown"
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
OVERVIEW: tuple[tuple[str, dict[str, Any]], ...] = (
    ("oe_ratio", {}),
    ("calibration_slope", {}),
    ("brier", {}),
    ("ece", WIDTH),
    ("gici", WIDTH),
    ("advisory_value", ADVICE),
)

text = Texts(ID)


def part(one: Calibrated, *, single: bool, alone: bool, named: bool) -> Part:
    """One data set; its figure and tables only where it is the single one."""
    shown = (*_of_one(one), *_figures([one], named=named)) if single else ()
    title = None if alone else say("word.name", name=one.name)
    return text.part((*_sentences(one, brief=not single), *shown), title, one.place)


def overview(sets: Sequence[Calibrated], drawn: Sequence[Calibrated]) -> Iterator[Part]:
    """The data sets side by side: a row or a column of the tables each; a panel each of those to be drawn."""
    shown = list(_side_by_side(sets) if len(sets) <= EACH_UP_TO else _of_many(sets))
    yield text.part((*_least(sets), *(table for table in shown if table.id == BY_CONFIDENCE)))
    items: list[Item] = [*_across(sets), *(table for table in shown if table.id != BY_CONFIDENCE)]
    if len(sets) > len(drawn):
        items.append(say("undrawn", n=len(sets) - len(drawn)))
    yield text.part((*items, *_figures(drawn, named=True)), text("calibration"))


def _least(sets: Sequence[Calibrated]) -> Iterator[Message]:
    """The set where the advisory value is lowest."""
    found = [(one.name, e) for one in sets if not isnan((e := one.estimate("advisory_value", **ADVICE)).low)]
    if found:
        name, e = min(found, key=lambda pair: pair[1].value)
        yield text("across.advisory_value", e, name=name)


def _across(sets: Sequence[Calibrated]) -> Iterator[Message]:
    """In how many sets O/E and slope are compatible with 1, and the set that is farthest from it."""
    for name, quantity in (("oe", "oe_ratio"), ("slope", "calibration_slope")):
        found = [(one.name, e) for one in sets if not isnan((e := one.estimate(quantity)).low)]
        off = [pair for pair in found if not pair[1].low <= 1 <= pair[1].high]
        if found and len(off) == len(found):
            yield text(f"across.{name}_none", n=len(found))
        elif found:
            yield text(f"across.{name}", n=len(found), agree=len(found) - len(off))
        if off:
            farthest, e = max(off, key=lambda pair: _distance(name, pair[1].value))
            yield text(f"across.{name}_farthest", e, name=farthest)


def _distance(name: str, value: float) -> float:
    """How far from 1: a ratio by its factor, a slope by its difference."""
    return abs(value - 1) if name == "slope" else abs(log(value)) if value > 0 else inf


def not_assessed(sets: Sequence[Calibrated], *, all_of_them: bool) -> Iterator[Part]:
    """In a sentence for each reason, which sets have scores whose calibration cannot be assessed."""
    by_reason: dict[tuple[Note, tuple[float, float] | None], list[Calibrated]] = {}
    for one in sets:
        by_reason.setdefault((one.why_not, one.score_range), []).append(one)
    for (why, ends), own in by_reason.items():
        of = text("calibration") if all_of_them else text("calibration_of", names=[one.name for one in own])
        if ends is None:
            yield text.part((text("not_assessed", of=of, reason=why),))
        else:
            low, high = (float(f"{end:g}") for end in ends)  # six digits
            yield text.part((text("not_probabilities", of=of, low=low, high=high),))


def shared_part(name: Message | str, results: Sequence[Result], number: int) -> Part:
    """A set of which the scores stay at their sites: what is known over all cases, and why no more."""
    known = [r for r in results if r.primary and not isnan(r.estimate.value)]
    why = [r for r in results if r.primary and isnan(r.estimate.value)]
    labelled = [(text(f"label.{r.name}"), r) for r in known]
    table = text.labelled(
        f"shared_calibration_{number}", text("table_shared"), labelled, lambda r: r.name in LEADS
    )
    said = [text("shared_unknown", measures=[quantity_name(r.name) for r in why])] if why else []
    return text.part((text("shared", name=name), *said, *([table] if known else [])))


def information_part(informed: Sequence[Informed], *, alone: bool) -> Part:
    """What the advice adds to the utility of decisions."""
    leading = [(one, result) for one in informed for result in one.leads]
    first = [pair for pair in leading if pair[0].readers] or leading
    shown = text.labelled(
        "advice_value_voi",
        text("table_voi"),
        [(_label(one, r), r) for one, r in leading],
        lambda r: "prevalence" not in r.parameters and any(one.readers for one, own in leading if own is r),
    )
    sentences = (_worth(*pair) for pair in first[:MOST_SENTENCES])
    return text.part((*sentences, shown), None if alone else text("voi.title"))


def _worth(one: Informed, result: Result) -> Message:
    """Both expected utilities and their difference, in the words for where its interval lies."""
    e, parameters = result.estimate, result.parameters
    known = {"utility": parameters["utility"], "name": one.name}
    if isnan(e.value):
        return text("voi.undefined", reason=e.note, **known)
    if not one.readers:
        known |= {"first": e.details["advice"], "second": e.details["rule"]}
        expected = text("voi.told_advice", **known)
    else:
        known |= {"first": e.details["aided"], "second": e.details["unaided"]}
        if "prevalence" in parameters:
            expected = text("voi.told_at", prevalence=parameters["prevalence"], **known)
        else:
            expected = text("voi.told", **known)
    if isnan(e.low):
        return text("voi.no_interval", expected=expected, value=e.value, reason=e.note)
    return text(f"voi.{side_of(e, 0, 'more', 'less')}", e, expected=expected)


def _sentences(one: Calibrated, *, brief: bool) -> Iterator[Message]:
    """Whether the scores mean what they say; in full also what bins make of them."""
    ratio, slope = one.estimate("oe_ratio"), one.estimate("calibration_slope")
    if isnan(ratio.value):
        yield text("undefined", measure=text("label.oe_ratio"), reason=ratio.note)
    else:
        yield _compared("oe", ratio, **ratio.details)
    if isnan(slope.value):
        if slope.note != ratio.note:
            yield text("undefined", measure=text("label.calibration_slope"), reason=slope.note)
    else:
        yield _compared("slope", slope)
    for name, parameters in () if brief else (("gici", WIDTH), ("advisory_value", ADVICE)):
        e = one.estimate(name, **parameters)
        if not isnan(e.low):
            yield text(name, e)
    if not brief and one.advice and one.threshold != MIDDLE:
        yield _advice_rule((one,))


def _compared(name: str, e: Estimate, **also: float) -> Message:
    """An estimate against 1, in the words for where its interval lies."""
    if isnan(e.low):
        return text(f"{name}.no_interval", value=e.value, reason=e.note, **also)
    return text(f"{name}.{side_of(e, 1)}", e, **also)


def _figures(sets: Sequence[Calibrated], *, named: bool = False) -> Iterator[Figure]:
    drawn = sorted((one for one in sets if one.curve), key=lambda one: one.dataset.role == "training")
    for start in range(0, len(drawn), MOST_PANELS):
        some = drawn[start : start + MOST_PANELS]
        panels = tuple(_panel(one, named=named) for one in some)
        yield text.figure(
            f"calibration_{start // MOST_PANELS + 1}",
            CalibrationFigure(panels),
            "calibration",
            n=len(some),
            level=some[0].curve[0].observed.level,
            bins=_bins_drawn(some[0]),
            names=[one.name for one in some],
        )


def _bins_drawn(one: Calibrated) -> int:
    """How many bins a panel has; a public report may show fewer than usual."""
    return BINS if one.histogram is not None and _is_usual(one.histogram) else len(one.curve)


def _is_usual(bins: Bins) -> bool:
    n = len(bins.low)
    return n == HISTOGRAM_BINS and all(abs(low - i / n) < 1e-9 for i, low in enumerate(bins.low))


def _panel(one: Calibrated, *, named: bool) -> CalibrationPanel:
    bins = one.histogram
    assert bins is not None
    even = _is_usual(bins)
    histogram = Histogram(
        tuple(i / HISTOGRAM_BINS for i in range(HISTOGRAM_BINS + 1)) if even else (*bins.low, bins.high[-1]),
        tuple(int(x) for x in bins.events),
        tuple(int(x) for x in bins.n - bins.events),
    )
    return CalibrationPanel(
        one.label if named else "",
        one.curve,
        histogram,
        one.smooth,
        one.estimate("calibration_slope"),
        one.estimate("oe_ratio"),
    )


def _of_one(one: Calibrated) -> Iterator[EstimateTable | PlainTable]:
    """Everything of a data set that is the only one; less of advice that was shown to readers."""
    shown = one.place.dataset is None
    found = [
        (text(f"label.{label}"), r)
        for name, parameters, label in ROWS
        if (r := one.lead(name, **parameters) or one.lead(name)) and (label in OF_SHOWN or not shown)
    ]
    unlike = {id(r): (label, r) for label, r in found}  # without probabilities ECE has one row, not two
    yield text.labelled("advice_value", text("table", bins=BINS), unlike.values(), lambda r: r.name in LEADS)
    if not shown:  # what readers were shown is beside the questions of its reader study, the matter there
        yield from _brier((one,))
        yield from _numbers_of_bins((one,))
    if one.advice:
        by_gici = _values_by_bin(one, "gici")
        own = one.threshold != MIDDLE
        yield text.table(
            BY_CONFIDENCE_SHOWN if shown else BY_CONFIDENCE,
            text("table_bins_gici", table=text("table_bins", rule=_advice_rule((one,)))),
            ".confidence cases .mean:number.3 .predicted:number.3? .right:number.3 .local:number.3"
            " .value:number .value_gici:number",
            [
                (
                    text("between", low=b.low, high=b.high),
                    b.share_right.n,
                    b.confidence,
                    b.predicted if own else None,
                    b.share_right.value,
                    b.local_calibration.value,
                    b.advice_value,
                    by_gici[b.low, b.high].value,
                )
                for b in one.advice
            ],
        )
    yield from _parts((one,))


def _advice_rule(sets: Sequence[Calibrated]) -> Message:
    """From which score the advice of these sets is positive, and how its confidence is measured."""
    known = {one.threshold for one in sets if one.advice}
    if len(known) > 1:
        return text("rule.own")
    if not any(one.declared for one in sets):
        return text("rule.undeclared")
    at = next(iter(known), MIDDLE)
    return text("rule.middle") if at == MIDDLE else text("rule.declared", threshold=float(f"{at:g}"))


def _side_by_side(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """A few data sets, a column each: every measure; the value of advice by its confidence."""
    names = [Column(say("word.name", name=one.name), "number") for one in sets]
    yield text.table(
        "advice_value_measures",
        text("table_measures", bins=BINS),
        ("measure", *names),
        [
            (text(f"label.{label}"), *(_cell(one.estimate(name, **parameters)) for one in sets))
            for name, parameters, label in ROWS
            if any(one.lead(name, **parameters) for one in sets)
        ],
    )
    yield from _brier(sets)
    yield from _numbers_of_bins(sets)
    of_set = [_values_by_bin(one, "absolute_gap") for one in sets]
    if bins := _bins_of(sets):
        yield text.table(
            BY_CONFIDENCE,
            text("table_bins", rule=_advice_rule(sets)),
            (".confidence", *names),
            [
                (text("between", low=low, high=high), *(values.get((low, high)) for values in of_set))
                for low, high in bins
            ],
        )
    yield from _parts(sets)


def _cell(e: Estimate) -> Estimate | float | None:
    """What has a value without an interval by itself; what has no value is said to have none."""
    return e if isnan(e.value) else as_cell(e)


def _bins_of(sets: Sequence[Calibrated]) -> list[tuple[float, float]]:
    """The bins of confidence that hold advice of any of these sets."""
    return sorted({(b.low, b.high) for one in sets for b in one.advice})


def _of_many(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """A row for each data set: calibration, then the value of advice by its confidence."""

    def row(one: Calibrated) -> Iterator[Any]:
        """A data set: its cases and its measures, each with its interval."""
        yield from (one.label, one.estimate("brier").n)
        for name, parameters in OVERVIEW:
            e = one.estimate(name, **parameters)
            yield if_known(e)

    yield text.table(
        "advice_value_sets",
        text("table_sets"),
        ("data_set cases", *(Column(text(f"heading.{name}"), "number") for name, _ in OVERVIEW)),
        map(row, sets),
    )
    advising = [one for one in sets if one.advice]
    if advising:
        bins, values = _bins_of(advising), [_values_by_bin(one, "absolute_gap") for one in advising]
        yield text.table(
            BY_CONFIDENCE,
            text("table_bins", rule=_advice_rule(advising)),
            (".set_from", *(Column(text("from", low=low), "number") for low, _ in bins)),
            [
                (one.label, *(of[ends].value if ends in of else None for ends in bins))
                for one, of in zip(advising, values)
            ],
        )


def _label(one: Informed, result: Result) -> Message:
    chosen = result.parameters
    name = text(f"voi.{'readers' if one.readers else 'advice'}", name=one.name)
    if one.readers and not one.name:
        name = text("voi.readers_alone")
    if "prevalence" in chosen:
        prevalence = chosen["prevalence"]
        return text("voi.label_at", name=name, utility=chosen["utility"], prevalence=prevalence)
    return text("voi.label", name=name, utility=chosen["utility"])


def _brier(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """What the Brier score of each set is made of."""
    known = [(one, e) for one in sets if (e := one.estimate("brier")).details]
    several = len(sets) > 1
    if known:
        score = Column(text("heading.brier"), "number.3")
        yield text.table(
            "advice_value_brier",
            text("table_brier", bins=BINS),
            (
                *(("data_set", score) if several else ()),
                *(Column(text(f"brier.{name}"), "number.3") for name in PARTS_OF_BRIER),
            ),
            [
                (*((one.name, e.value) if several else ()), *(e.details[name] for name in PARTS_OF_BRIER))
                for one, e in known
            ],
        )


def _numbers_of_bins(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """ECE and GICI of each set with other numbers of bins."""
    drawn = [one for one in sets if one.curve]
    every = [(name, bins) for name in ("ece", "gici") for bins in sorted((*OTHER_BINS, BINS))]
    if drawn:
        yield text.table(
            "advice_value_numbers_of_bins",
            text("table_numbers"),
            ("data_set?", *(text.column(f"{name}_with", "number", n=bins) for name, bins in every)),
            [
                (
                    one.name if len(sets) > 1 else None,
                    *(one.estimate(name, bins=n, binning="equal_width").value for name, n in every),
                )
                for one in drawn
            ],
        )


def _parts(sets: Sequence[Calibrated]) -> Iterator[PlainTable]:
    """The advisory value by class of the advice and by group of cases."""
    rows = [
        (
            one.name if len(sets) > 1 else None,
            r.place.subgroup or text(f"advised.{r.place.class_}"),
            r.estimate.n,
            r.estimate.details.get("mean_confidence"),
            r.estimate.details.get("share_right"),
            r.estimate,
        )
        for one in sets
        for r in one.of_parts
    ]
    if rows:
        value = Column(text("label.advisory_value"), "number")
        columns = ("data_set? .part cases .mean:number.3 .right:number.3", value)
        yield text.table("advice_value_parts", text("table_parts"), columns, rows)


def _values_by_bin(one: Calibrated, local: str) -> dict[tuple[float, float], Estimate]:
    return {
        (r.parameters["low"], r.parameters["high"]): r.estimate
        for r in one.results
        if r.id == f"{ID}.advice_value" and r.parameters.get("local_calibration", "absolute_gap") == local
    }
