"""Pragmatic utility: sentences, tables and figures of the comparisons."""

from collections.abc import Iterator
from math import isfinite, isnan
from typing import Any

from trustreport.assessment.dimensions.pragmatic_utility.results import ID, ArmComparison, crosses
from trustreport.assessment.finding import Column, Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts, numbers
from trustreport.assessment.performance.readers import printed_alike
from trustreport.figures.effect import EffectPlot, EffectRow, ErrorRateRow, ErrorRates
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

QUANTITIES = ("arr", "nnd", "rr", "rrr", "odds_ratio")
# Rows that a figure holds on one page.
ROWS_A_FIGURE = 30

text = Texts(ID)


def part(comparison: ArmComparison, number: int, *, alone: bool) -> Part:
    """One comparison in full."""
    title = None if alone else say("word.name", name=_title(comparison))
    return text.part(_items(comparison, number), title, comparison.place)


def _items(comparison: ArmComparison, number: int) -> Iterator[Item]:
    yield from _sentences(comparison)
    rows = list(_rows(comparison))
    leads = next(r for _, r in rows if r.name == "arr")
    yield text.labelled(f"pragmatic_utility_{number}", text("table"), rows, lambda r: r is leads)
    yield _rates_figure(comparison, number)
    yield _effect_figure(comparison, number)


def overview(comparisons: list[ArmComparison]) -> tuple[Part, ...]:
    """Many comparisons: how many went which way, a row each, and a figure of every odds ratio."""
    return (text.part(_overview(comparisons)),)


def _overview(comparisons: list[ArmComparison]) -> Iterator[Item]:
    ways = [_direction(c.lead("odds_ratio")) for c in comparisons]
    counts = {way: ways.count(way) for way in ("fewer", "more", "either")}
    yield text("overview", n=len(comparisons), **counts)
    if "" in ways:
        yield text("overview_open", n=ways.count(""))
    yield text.table(
        "pragmatic_utility_sets",
        text("table_sets"),
        (
            "set .unaided:percent .aided:percent",
            *(Column(text(f"label.{name}"), "estimate") for name in ("arr", "odds_ratio")),
            "n",
        ),
        [
            (
                c.name,
                *(c.lead("error_rate", arm).estimate.value for arm in (c.unaided, c.aided)),
                *(c.lead(name).estimate for name in ("arr", "odds_ratio")),
                c.lead("arr").estimate.n,
            )
            for c in comparisons
        ],
    )
    for start in range(0, len(comparisons), ROWS_A_FIGURE):
        some = comparisons[start : start + ROWS_A_FIGURE]
        rows = tuple(EffectRow(c.name, c.lead("odds_ratio").estimate) for c in some)
        plot = EffectPlot(rows, text("label.odds_ratio"))
        yield text.figure(f"odds_ratios_{start // ROWS_A_FIGURE + 1}", plot, "odds_ratios", n=len(rows))


def _sentences(comparison: ArmComparison) -> Iterator[Message]:
    """What the comparison shows, never more than its interval."""
    aided, unaided = (comparison.lead("error_rate", arm) for arm in (comparison.aided, comparison.unaided))
    if isnan(aided.estimate.value) or isnan(unaided.estimate.value):
        arm = comparison.aided if isnan(aided.estimate.value) else comparison.unaided
        yield text("no_rates", arm=arm)
        return
    values = {"aided": aided.estimate.value, "unaided": unaided.estimate.value}
    # The first sentence stands on the summary page: that of the prevalence where the device is to be used.
    there = _at_prevalence(comparison)
    if there is None:
        yield text("rates", **values)
    else:
        yield from there
        yield text("rates_sample", share=comparison.prevalence, **values)
    ratio = comparison.lead("odds_ratio")
    e = ratio.estimate
    way = _direction(ratio)
    if not way:
        yield say("pragmatic_utility.no_interval", reason=e.note)
    else:
        yield text(way, e)
    needed, elsewhere = comparison.lead("nnd").estimate, _shifted(comparison, "nnd")
    # Of the sample only where it is not said of the intended use already, number by number or in kind.
    if elsewhere is None or not (
        _is_of_sample(comparison, elsewhere) or (_no_single(needed) and _no_single(elsewhere.estimate))
    ):
        yield from _number_needed(needed, sampled=there is not None)


def _no_single(e: Estimate) -> bool:
    """Whether the interval runs through infinity, so that no single number of decisions can be given."""
    return {"benefit_from", "harm_from"} <= set(e.details)


def _number_needed(e: Estimate, *, sampled: bool = False) -> Iterator[Message]:
    """For how many decisions one error is avoided or added, where the limits say the same."""
    if _no_single(e):
        yield say("nnd_infinite", a=e.details["benefit_from"], b=e.details["harm_from"])
    elif isfinite(e.value) and isfinite(e.low) and isfinite(e.high):
        way = "nnd" if e.value > 0 else "nnd_harm"
        ends = sorted((abs(e.low), abs(e.high)))
        values = {"value": abs(e.value), "low": ends[0], "high": ends[1], "level": e.level}
        yield text(f"sample_{way}" if sampled else way, **values)


def _at_prevalence(comparison: ArmComparison) -> list[Message] | None:
    """The difference at the declared prevalence, the number needed, and whether the sign changes there."""
    shifted, needed = _shifted(comparison, "arr"), _shifted(comparison, "nnd")
    if shifted is None or needed is None or isnan(shifted.estimate.value) or isnan(comparison.prevalence):
        return None
    here, there = comparison.lead("arr").estimate.value, shifted.estimate.value
    key = "prevalence_turns" if here * there < 0 else "prevalence"
    said = text(key, shifted, prevalence=shifted.parameters["prevalence"])
    number = [*_number_needed(needed.estimate)]
    return [text("both", first=said, second=number[0]) if number else said]


def _shifted(comparison: ArmComparison, quantity: str) -> Result | None:
    found = [r for r in comparison.entries(quantity) if r.primary and r.parameters]
    return found[0] if found else None


def _is_of_sample(comparison: ArmComparison, shifted: Result | None) -> bool:
    """Whether a number is of a prevalence that is that of the sample, as both are printed."""
    return shifted is not None and printed_alike(shifted.parameters["prevalence"], comparison.prevalence)


def _direction(ratio: Result) -> str:
    """fewer, more, either, or nothing where no interval says."""
    crossed = crosses(ratio.estimate, 1)
    if crossed is None:
        return ""
    return "either" if crossed else "fewer" if ratio.estimate.high < 1 else "more"


def _title(comparison: ArmComparison) -> Message | str:
    arms = say("report.tested.contrast", aided=comparison.aided, unaided=comparison.unaided)
    return comparison.name or arms


def _rows(comparison: ArmComparison) -> Iterator[tuple[Message, Result]]:
    for key, arm in (("unaided_rate", comparison.unaided), ("aided_rate", comparison.aided)):
        yield text(f"label.{key}", arm=arm), comparison.lead("error_rate", arm)
    for quantity in QUANTITIES:
        own, shifted = comparison.lead(quantity), _shifted(comparison, quantity)
        # One number of one prevalence: that which the criteria and the summary have.
        yield text(f"label.{quantity}"), shifted if shifted and _is_of_sample(comparison, shifted) else own
    for r in comparison.results:
        if r.primary and r.parameters and r.name in ("arr", "nnd") and not _is_of_sample(comparison, r):
            yield text(f"label.{r.name}_at_prevalence", prevalence=r.parameters["prevalence"]), r


def _rates_figure(comparison: ArmComparison, number: int) -> Figure:
    unaided, aided = (
        comparison.lead("error_rate", arm).estimate for arm in (comparison.unaided, comparison.aided)
    )
    rows = (
        ErrorRateRow(text("label.arm", arm=comparison.unaided), unaided, aided=False),
        ErrorRateRow(text("label.arm", arm=comparison.aided), aided, aided=True),
    )
    values: dict[str, Any] = {"unaided": unaided.value, "aided": aided.value}
    return text.figure(f"error_rates_{number}", ErrorRates(rows), "rates", level=unaided.level, **values)


def _effect_figure(comparison: ArmComparison, number: int) -> Figure:
    """Every analysis of the odds ratio; the primary one is last and heavier."""
    results = sorted(comparison.entries("odds_ratio"), key=lambda r: r.primary)
    rows = [EffectRow(_analysis(r), r.estimate, leads=r.primary) for r in results]
    drawing = EffectPlot(tuple(rows), text("label.odds_ratio"))
    values: dict[str, Any] = {"n": len(rows), **numbers(results[-1].estimate)}
    return text.figure(f"odds_ratio_{number}", drawing, "odds_ratio", **values)


def _analysis(r: Result) -> Message:
    words = {"analysis": say(f"analysis.{r.analysis}"), "method": say(f"method.{r.method}.text")}
    return text("analysis_row", **words)
