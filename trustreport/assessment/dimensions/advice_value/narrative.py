"""Sentences and figures of advice value: of one data set, of several together, of contrasts."""

from collections.abc import Iterator, Sequence
from math import inf, isnan, log

from trustreport.assessment.dimensions.advice_value import tables
from trustreport.assessment.dimensions.advice_value.entries import BINS, HISTOGRAM_BINS, ID, Calibrated
from trustreport.assessment.dimensions.advice_value.information import Informed
from trustreport.assessment.dimensions.advice_value.tables import ADVICE, WIDTH
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import numbers, side_of
from trustreport.figures.calibration import CalibrationFigure, CalibrationPanel, Histogram
from trustreport.figures.panels import MOST_PANELS
from trustreport.measures.calibration.advice import MIDDLE
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

# With more sets than this an overview stands for what would be said of each.
EACH_UP_TO = 4
# Utilities that have a sentence each; the table has the others.
MOST_SENTENCES = 3


def part(one: Calibrated, *, single: bool, alone: bool, named: bool) -> Part:
    """One data set; its figure and tables only where it is the single one."""
    return Part(
        title=None if alone else say("word.name", name=one.name),
        finding=tuple(_sentences(one, brief=not single)),
        tables=tuple(tables.of_one(one)) if single else (),
        figures=tuple(_figures([one], named=named)) if single else (),
        place=one.place,
    )


def overview(sets: Sequence[Calibrated], drawn: Sequence[Calibrated]) -> Iterator[Part]:
    """The data sets side by side: a row or a column of the tables each; a panel each of those to be drawn."""
    few = len(sets) <= EACH_UP_TO
    shown = tuple(tables.side_by_side(sets) if few else tables.overview_of_many(sets))
    by_confidence = tuple(table for table in shown if table.id == tables.BY_CONFIDENCE)
    yield Part(finding=tuple(_least(sets)), tables=by_confidence)
    left_out = len(sets) - len(drawn)
    finding = [*_across(sets), *([say("undrawn", n=left_out)] if left_out else [])]
    yield Part(
        title=say(f"{ID}.calibration"),
        finding=tuple(finding),
        tables=tuple(table for table in shown if table.id != tables.BY_CONFIDENCE),
        figures=tuple(_figures(drawn, named=True)),
    )


def _least(sets: Sequence[Calibrated]) -> Iterator[Message]:
    """The set where the advisory value is lowest."""
    found = [(one.name, e) for one in sets if not isnan((e := one.estimate("advisory_value", **ADVICE)).low)]
    if found:
        name, e = min(found, key=lambda pair: pair[1].value)
        yield say(f"{ID}.across.advisory_value", name=name, **numbers(e))


def _across(sets: Sequence[Calibrated]) -> Iterator[Message]:
    """In how many sets O/E and slope are compatible with 1, and the set that is farthest from it."""
    for name, quantity in (("oe", "oe_ratio"), ("slope", "calibration_slope")):
        found = [(one.name, e) for one in sets if not isnan((e := one.estimate(quantity)).low)]
        off = [pair for pair in found if not pair[1].low <= 1 <= pair[1].high]
        if found:
            yield say(f"{ID}.across.{name}", n=len(found), agree=len(found) - len(off))
        if off:
            farthest, e = max(off, key=lambda pair: _distance(name, pair[1].value))
            yield say(f"{ID}.across.{name}_farthest", name=farthest, **numbers(e))


def _distance(name: str, value: float) -> float:
    """How far from 1: a ratio by its factor, a slope by its difference."""
    return abs(value - 1) if name == "slope" else abs(log(value)) if value > 0 else inf


def not_assessed(sets: Sequence[Calibrated], *, all_of_them: bool) -> Iterator[Part]:
    """In a sentence for each reason, which sets have scores whose calibration cannot be assessed."""
    by_reason: dict[tuple[Note, tuple[float, float] | None], list[Calibrated]] = {}
    for one in sets:
        by_reason.setdefault((one.why_not, one.score_range), []).append(one)
    for (why, ends), own in by_reason.items():
        of = say(f"{ID}.calibration") if all_of_them else say(f"{ID}.calibration_of", names=_names(own))
        if ends is None:
            yield Part((say(f"{ID}.not_assessed", of=of, reason=why),))
        else:
            yield Part((say(f"{ID}.not_probabilities", of=of, **_six_digits(ends)),))


def _six_digits(ends: tuple[float, float]) -> dict[str, float]:
    return {name: float(f"{end:g}") for name, end in zip(("low", "high"), ends, strict=True)}


def _names(sets: Sequence[Calibrated]) -> list[Message | str]:
    return [one.name for one in sets]


def information_part(informed: Sequence[Informed], *, alone: bool) -> Part:
    """What the advice adds to the utility of decisions."""
    leading = [(one, result) for one in informed for result in one.leads]
    first = [pair for pair in leading if pair[0].readers] or leading
    return Part(
        title=None if alone else say(f"{ID}.voi.title"),
        finding=tuple(_worth(*pair) for pair in first[:MOST_SENTENCES]),
        tables=(tables.of_information(informed),),
    )


def _worth(one: Informed, result: Result) -> Message:
    """Both expected utilities and their difference, in the words for where its interval lies."""
    e, parameters = result.estimate, result.parameters
    known = {"utility": parameters["utility"], "name": one.name}
    if isnan(e.value):
        return say(f"{ID}.voi.undefined", reason=e.note, **known)
    if not one.readers:
        known |= {"first": e.details["advice"], "second": e.details["rule"]}
        expected = say(f"{ID}.voi.told_advice", **known)
    else:
        known |= {"first": e.details["aided"], "second": e.details["unaided"]}
        if "prevalence" in parameters:
            expected = say(f"{ID}.voi.told_at", prevalence=parameters["prevalence"], **known)
        else:
            expected = say(f"{ID}.voi.told", **known)
    if isnan(e.low):
        return say(f"{ID}.voi.no_interval", expected=expected, value=e.value, reason=e.note)
    return say(f"{ID}.voi.{side_of(e, 0, 'more', 'less')}", expected=expected, **numbers(e))


def _sentences(one: Calibrated, *, brief: bool) -> Iterator[Message]:
    """Whether the scores mean what they say; in full also what bins make of them."""
    ratio, slope = one.estimate("oe_ratio"), one.estimate("calibration_slope")
    if isnan(ratio.value):
        yield say(f"{ID}.undefined", measure=say(f"{ID}.label.oe_ratio"), reason=ratio.note)
    else:
        yield _compared("oe", ratio, **ratio.details)
    if isnan(slope.value):
        if slope.note != ratio.note:
            yield say(f"{ID}.undefined", measure=say(f"{ID}.label.calibration_slope"), reason=slope.note)
    else:
        yield _compared("slope", slope)
    for name, parameters in () if brief else (("gici", WIDTH), ("advisory_value", ADVICE)):
        e = one.estimate(name, **parameters)
        if not isnan(e.low):
            yield say(f"{ID}.{name}", **numbers(e))
    if not brief and one.advice and one.threshold != MIDDLE:
        yield tables.advice_rule((one,))


def _compared(name: str, e: Estimate, **also: float) -> Message:
    """An estimate against 1, in the words for where its interval lies."""
    if isnan(e.low):
        return say(f"{ID}.{name}.no_interval", value=e.value, reason=e.note, **also)
    return say(f"{ID}.{name}.{side_of(e, 1)}", **numbers(e), **also)


def _figures(sets: Sequence[Calibrated], *, named: bool = False) -> Iterator[Figure]:
    drawn = [one for one in sets if one.curve]
    for start in range(0, len(drawn), MOST_PANELS):
        some = drawn[start : start + MOST_PANELS]
        panels = tuple(_panel(one, named=named) for one in some)
        values = {"n": len(some), "level": some[0].curve[0].observed.level, "bins": BINS}
        yield Figure(
            f"calibration_{start // MOST_PANELS + 1}",
            CalibrationFigure(panels),
            say(f"{ID}.figure.calibration", **values),
            say(f"{ID}.figure.calibration_alt", names=[one.name for one in some], **values),
        )


def _panel(one: Calibrated, *, named: bool) -> CalibrationPanel:
    bins = one.histogram
    assert bins is not None
    histogram = Histogram(
        tuple(i / HISTOGRAM_BINS for i in range(HISTOGRAM_BINS + 1)),
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
