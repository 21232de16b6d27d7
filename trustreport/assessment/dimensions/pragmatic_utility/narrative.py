"""Pragmatic utility: sentences, tables and figures of the comparisons."""

from collections.abc import Iterable
from math import isfinite, isnan

from trustreport.assessment.dimensions.pragmatic_utility.comparison import ArmComparison, crosses
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import numbers
from trustreport.figures.effect import EffectPlot, EffectRow, ErrorRateRow, ErrorRates
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

QUANTITIES = ("arr", "nnd", "rr", "rrr", "odds_ratio")
# Rows that a figure holds on one page.
ROWS_A_FIGURE = 30


def part(comparison: ArmComparison, number: int, *, alone: bool) -> Part:
    """One comparison in full."""
    return Part(
        title=None if alone else say("word.name", name=_title(comparison)),
        finding=tuple(sentences(comparison)),
        tables=(_table(comparison, number),),
        figures=(_rates_figure([comparison], number), _effect_figure(comparison, number)),
        place=comparison.place,
    )


def overview(comparisons: list[ArmComparison]) -> tuple[Part, ...]:
    """Many comparisons: how many went which way, a row each, and a figure of every odds ratio."""
    ways = [_direction(c.lead("odds_ratio")) for c in comparisons]
    counts = {way: ways.count(way) for way in ("fewer", "more", "either")}
    finding = [say("pragmatic_utility.overview", n=len(comparisons), **counts)]
    if "" in ways:
        finding.append(say("pragmatic_utility.overview_open", n=ways.count("")))
    figures = [_overview_figure(rows, i) for i, rows in enumerate(_batches(comparisons), 1)]
    return (Part(finding=tuple(finding), tables=(_overview_table(comparisons),), figures=tuple(figures)),)


def sentences(comparison: ArmComparison) -> Iterable[Message]:
    """What the comparison shows, never more than its interval."""
    aided, unaided = (comparison.lead("error_rate", arm) for arm in (comparison.aided, comparison.unaided))
    if isnan(aided.estimate.value) or isnan(unaided.estimate.value):
        yield say(
            "pragmatic_utility.no_rates",
            arm=(comparison.aided if isnan(aided.estimate.value) else comparison.unaided),
        )
        return
    rates = say("pragmatic_utility.rates", aided=aided.estimate.value, unaided=unaided.estimate.value)
    elsewhere = _at_prevalence(comparison)
    turns = elsewhere is not None and elsewhere.key.endswith("_turns")
    # The first sentence stands on the summary page: it must not leave out that the sign changes.
    yield say("pragmatic_utility.rates_but", rates=rates, turn=elsewhere) if turns else rates
    ratio = comparison.lead("odds_ratio")
    e = ratio.estimate
    way = _direction(ratio)
    if not way:
        yield say("pragmatic_utility.no_interval", reason=e.note)
    else:
        yield say(f"pragmatic_utility.{way}", **numbers(e))
    yield from _number_needed(comparison)
    if elsewhere is not None and not turns:
        yield elsewhere


def _number_needed(comparison: ArmComparison) -> Iterable[Message]:
    e = comparison.lead("nnd").estimate
    if {"benefit_from", "harm_from"} <= set(e.details):
        yield say("nnd_infinite", a=e.details["benefit_from"], b=e.details["harm_from"])
    elif isfinite(e.value) and isfinite(e.low) and isfinite(e.high):
        way = "nnd" if e.value > 0 else "nnd_harm"
        ends = sorted((abs(e.low), abs(e.high)))
        yield say(f"pragmatic_utility.{way}", value=abs(e.value), low=ends[0], high=ends[1], level=e.level)


def _at_prevalence(comparison: ArmComparison) -> Message | None:
    """The difference at the declared prevalence, and whether its sign changes there."""
    shifted = _shifted(comparison)
    if shifted is None or isnan(shifted.estimate.value):
        return None
    here, there = comparison.lead("arr").estimate.value, shifted.estimate.value
    key = "pragmatic_utility.prevalence_turns" if here * there < 0 else "pragmatic_utility.prevalence"
    return say(
        key,
        prevalence=shifted.parameters["prevalence"],
        **numbers(shifted.estimate),
    )


def _shifted(comparison: ArmComparison) -> Result | None:
    found = [r for r in comparison.all("arr") if r.primary and r.parameters]
    return found[0] if found else None


def _direction(ratio: Result) -> str:
    """fewer, more, either, or nothing where no interval says."""
    crossed = crosses(ratio.estimate, 1)
    if crossed is None:
        return ""
    return "either" if crossed else "fewer" if ratio.estimate.high < 1 else "more"


def _title(comparison: ArmComparison) -> Message | str:
    arms = say("report.tested.contrast", aided=comparison.aided, unaided=comparison.unaided)
    return comparison.name or arms


def _table(comparison: ArmComparison, number: int) -> EstimateTable:
    rows = [
        EstimateRow(say(f"pragmatic_utility.label.{key}", arm=arm), comparison.lead("error_rate", arm))
        for key, arm in (("unaided_rate", comparison.unaided), ("aided_rate", comparison.aided))
    ]
    rows += [
        EstimateRow(say(f"pragmatic_utility.label.{q}"), comparison.lead(q), leads=q == "arr")
        for q in QUANTITIES
    ]
    for result in comparison.results:
        if result.primary and result.parameters and result.name in ("arr", "nnd"):
            label = f"pragmatic_utility.label.{result.name}_at_prevalence"
            rows.append(EstimateRow(say(label, prevalence=result.parameters["prevalence"]), result))
    return EstimateTable(f"pragmatic_utility_{number}", say("pragmatic_utility.table"), tuple(rows))


def _rates_figure(comparisons: list[ArmComparison], number: int) -> Figure:
    rows = [
        ErrorRateRow(
            say("pragmatic_utility.label.arm", arm=arm),
            c.lead("error_rate", arm).estimate,
            aided=arm == c.aided,
        )
        for c in comparisons
        for arm in (c.unaided, c.aided)
    ]
    values = [row.estimate.value for row in rows]
    return Figure(
        f"error_rates_{number}",
        ErrorRates(tuple(rows)),
        say("pragmatic_utility.figure.rates", level=rows[0].estimate.level),
        say("pragmatic_utility.figure.rates_alt", unaided=values[0], aided=values[1]),
    )


def _effect_figure(comparison: ArmComparison, number: int) -> Figure:
    """Every analysis of the odds ratio; the primary one is last and heavier."""
    results = sorted(comparison.all("odds_ratio"), key=lambda r: r.primary)
    rows = tuple(
        EffectRow(
            say(
                "pragmatic_utility.analysis_row",
                analysis=say(f"analysis.{r.analysis}"),
                method=say(f"method.{r.method}.text"),
            ),
            r.estimate,
            leads=r.primary,
        )
        for r in results
    )
    lead = results[-1].estimate
    return Figure(
        f"odds_ratio_{number}",
        EffectPlot(rows, say("pragmatic_utility.label.odds_ratio")),
        say("pragmatic_utility.figure.odds_ratio"),
        say(
            "pragmatic_utility.figure.odds_ratio_alt",
            n=len(rows),
            value=lead.value,
            low=lead.low,
            high=lead.high,
        ),
    )


def _overview_figure(comparisons: list[ArmComparison], number: int) -> Figure:
    rows = tuple(EffectRow(c.name, c.lead("odds_ratio").estimate) for c in comparisons)
    return Figure(
        f"odds_ratios_{number}",
        EffectPlot(rows, say("pragmatic_utility.label.odds_ratio")),
        say("pragmatic_utility.figure.odds_ratios"),
        say("pragmatic_utility.figure.odds_ratios_alt", n=len(rows)),
    )


def _overview_table(comparisons: list[ArmComparison]) -> PlainTable:
    return table(
        "pragmatic_utility_sets",
        say("pragmatic_utility.table_sets"),
        comparisons,
        [
            ("pragmatic_utility.column.set", "name"),
            (
                "pragmatic_utility.column.unaided",
                lambda c: c.lead("error_rate", c.unaided).estimate.value,
                "percent",
            ),
            (
                "pragmatic_utility.column.aided",
                lambda c: c.lead("error_rate", c.aided).estimate.value,
                "percent",
            ),
            ("pragmatic_utility.label.arr", lambda c: c.lead("arr").estimate, "estimate"),
            ("pragmatic_utility.label.odds_ratio", lambda c: c.lead("odds_ratio").estimate, "estimate"),
            ("pragmatic_utility.column.n", lambda c: c.lead("arr").estimate.n, "count"),
        ],
    )


def _batches(comparisons: list[ArmComparison]) -> Iterable[list[ArmComparison]]:
    return (comparisons[i : i + ROWS_A_FIGURE] for i in range(0, len(comparisons), ROWS_A_FIGURE))
