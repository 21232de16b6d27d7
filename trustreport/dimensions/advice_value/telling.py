"""How advice value is told: sentences and figures of one data set, of several together, of contrasts."""

from collections.abc import Iterator, Sequence
from math import isnan

from trustreport.dimensions.advice_value import tables
from trustreport.dimensions.advice_value.information import Informed
from trustreport.dimensions.advice_value.measured import BINS, HISTOGRAM_BINS, ID, Calibrated
from trustreport.dimensions.advice_value.tables import ADVICE, WIDTH
from trustreport.estimate import Estimate
from trustreport.figures.calibration import MOST_PANELS, CalibrationFigure, CalibrationPanel, Histogram
from trustreport.finding import Figure, Part
from trustreport.messages import Message, say
from trustreport.results import Result

# With more sets than this an overview stands for what would be said of each.
EACH_UP_TO = 4
# Utilities told one by one; the table has the others.
MOST_TOLD = 3


def part(told: Calibrated, *, single: bool, alone: bool) -> Part:
    """One data set; its figure and tables only where it is the single one."""
    return Part(
        title=None if alone else say("word.name", name=told.name),
        finding=tuple(_sentences(told, brief=not single)),
        tables=tuple(tables.of_one(told)) if single else (),
        figures=tuple(_figures([told])) if single else (),
        scope=told.scope,
    )


def overview(told: Sequence[Calibrated], drawn: Sequence[Calibrated]) -> Iterator[Part]:
    """The data sets side by side: a row or a column of the tables each; a panel each of those to be drawn."""
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
    few = len(told) <= EACH_UP_TO
    shown = tuple(tables.side_by_side(told)) if few else (tables.overview_of_many(told),)
    left_out = len(told) - len(drawn)
    said = (sentence, say("undrawn", n=left_out)) if left_out else (sentence,)
    yield Part(finding=said, tables=shown, figures=tuple(_figures(drawn, named=True)))


def information_part(informed: Sequence[Informed], *, alone: bool) -> Part:
    """What the advice adds to the utility of decisions."""
    leading = [(one, result) for one in informed for result in one.leads]
    told = [pair for pair in leading if pair[0].readers] or leading
    return Part(
        title=None if alone else say(f"{ID}.voi.title"),
        finding=tuple(_worth(*pair) for pair in told[:MOST_TOLD]),
        tables=(tables.of_information(informed),),
    )


def _worth(one: Informed, result: Result) -> Message:
    """Both expected utilities and their difference, in the words for where its interval lies."""
    e, parameters = result.estimate, result.scope["parameters"]
    known = {"utility": parameters["utility"], "name": one.name}
    if isnan(e.value):
        return say(f"{ID}.voi.undefined", reason=e.note, **known)
    who = "told" if one.readers else "told_advice"
    at = "_at" if "prevalence" in parameters else ""
    numbers = {"value": e.value, "low": e.low, "high": e.high, "level": e.level}
    if one.readers:
        known |= {"first": e.details["aided"], "second": e.details["unaided"]}
    else:
        known |= {"first": e.details["advice"], "second": e.details["rule"]}
    if at:
        known["prevalence"] = parameters["prevalence"]
    expected = say(f"{ID}.voi.{who}{at}", **known)
    if isnan(e.low):
        return say(f"{ID}.voi.no_interval", expected=expected, value=e.value, reason=e.note)
    where = "more" if e.low > 0 else "less" if e.high < 0 else "either"
    return say(f"{ID}.voi.{where}", expected=expected, **numbers)


def _sentences(told: Calibrated, *, brief: bool) -> Iterator[Message]:
    """Whether the scores mean what they say; in full also what bins make of them."""
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
    for name, parameters in () if brief else (("gici", WIDTH), ("advisory_value", ADVICE)):
        e = told.estimate(name, **parameters)
        if not isnan(e.low):
            yield say(f"{ID}.{name}", value=e.value, low=e.low, high=e.high, level=e.level)


def _compared(name: str, e: Estimate, **also: float) -> Message:
    """An estimate against 1, in the words for where its interval lies."""
    if isnan(e.low):
        return say(f"{ID}.{name}.no_interval", value=e.value, reason=e.note, **also)
    where = "above" if e.low > 1 else "below" if e.high < 1 else "either"
    return say(f"{ID}.{name}.{where}", value=e.value, low=e.low, high=e.high, level=e.level, **also)


def _figures(told: Sequence[Calibrated], *, named: bool = False) -> Iterator[Figure]:
    drawn = [one for one in told if one.curve]
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
