"""The candidates side by side, per 1000 local patients, claimed and observed."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isnan
from typing import Any

from trustreport.assessment.claims import elsewhere, observed
from trustreport.assessment.dimensions.candidates.entries import (
    ID,
    Common,
    exchange,
    indistinguishable,
    leading_measure,
    local_prevalences,
    measures,
    pair_differences,
    ranked,
)
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import Spec, table
from trustreport.assessment.narrative.texts import failed_cases, heading, quantity_name
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.measures.estimate import Estimate
from trustreport.measures.reported.printed import metric_named
from trustreport.study.plan import Plan
from trustreport.vocabulary.digits import per
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

RATES = ("alarm_rate", "false_alarm_rate", "missed_rate", "failure_rate", "recall_rate", "net_benefit")
PATIENTS = 1000


def parts_of(common: Common, results: Sequence[Result], plan: Plan, n_sets: int) -> Iterator[Part]:
    """Everything that is said of one data set."""
    yield _side_by_side(common, results, plan, n_sets)
    if local_prevalences(plan):
        yield _per_patients(common, results, plan)
    claimed = _claimed(common, results, plan)
    if claimed is not None:
        yield claimed


def _shown(name: str) -> Message:
    return say("word.name", name=name) if name else say(f"{ID}.the_device")


def _lead(results: Sequence[Result], name: str, candidate: str, **scope: Any) -> Result | None:
    where = {"candidate": candidate or None, "parameters": None, **scope}
    return leading(results, f"{ID}.{name}", **where)


def _estimate(results: Sequence[Result], name: str, candidate: str, **scope: Any) -> Estimate | None:
    found = _lead(results, name, candidate, **scope)
    return found.estimate if found else None


# ---------------------------------------------------------------- side by side


def _side_by_side(common: Common, results: Sequence[Result], plan: Plan, n_sets: int) -> Part:
    names = common.names
    several = len(names) > 1
    tables: list[EstimateTable | PlainTable] = [_of_each(common, results, plan)]
    finding = [
        say(f"{ID}.common", n=len(common.truth), known=common.n_known, positive=int(common.truth.sum()))
    ]
    failed = [
        say(f"{ID}.failed_of", name=_shown(r.candidate), n=r.n_failed) for r in common.runs if r.n_failed
    ]
    if failed:
        finding.append(
            say(f"{ID}.failed", items=failed, n=sum(r.n_failed for r in common.runs), rule=failed_cases(plan))
        )
    if several:
        groups = _all_groups(common, results, plan)
        tables += [_differences(common, results, plan), _groups(common, groups)]
        finding += _distinguishable(groups)
    title = say("word.name", name=common.dataset) if n_sets > 1 else say(f"{ID}.title_side_by_side")
    figures = (_figure(common, results, plan),) if several else ()
    return Part(tuple(finding), title, tuple(tables), figures, common.place)


def _of_each(common: Common, results: Sequence[Result], plan: Plan) -> PlainTable:
    names = common.names
    every = (*measures(plan), "failure_rate")
    shown = [name for name in every if any(_lead(results, name, one) for one in names)]
    return table(
        f"candidates_each_{common.dataset}",
        say(f"{ID}.table_each", level=_level(results), failed=failed_cases(plan)),
        shown,
        [
            (f"{ID}.column.measure", heading),
            *((_shown(one), partial(_estimate, results, candidate=one), "number.3") for one in names),
        ],
    )


def _level(results: Sequence[Result]) -> float:
    return next(r.estimate.level for r in results)


def _pairs(common: Common) -> list[tuple[str, str]]:
    return [(compared.candidate, baseline.candidate) for compared, baseline in common.pairs]


def _differences(common: Common, results: Sequence[Result], plan: Plan) -> EstimateTable:
    rows = []
    first = leading_measure(plan)
    for pair in _pairs(common):
        for name in (*measures(plan), "failure_rate"):
            found = leading(results, f"{ID}.{name}_difference", candidates=list(pair))
            if found is not None:
                rows.append(EstimateRow(_of_pair(name, pair), found, leads=name == first))
    return EstimateTable(f"candidates_pairs_{common.dataset}", say(f"{ID}.table_pairs"), tuple(rows))


def _of_pair(name: str, pair: tuple[str, str]) -> Message:
    return say(f"{ID}.pair", measure=heading(name), compared=pair[0], baseline=pair[1])


def _adjusted(common: Common, plan: Plan) -> list[Result]:
    """The differences at the level at which all pairs of a measure hold together (Bonferroni)."""
    pairs = common.pairs
    level = 1 - (1 - plan.report.confidence_level) / len(pairs)
    return [r for pair in pairs for r in pair_differences(*pair, level)]


def _groups(common: Common, found: Mapping[str, list[tuple[str, ...]]]) -> PlainTable:
    return table(
        f"candidates_groups_{common.dataset}",
        say(f"{ID}.table_groups", n=len(_pairs(common))),
        found.items(),
        [
            (f"{ID}.column.measure", lambda row: heading(row[0])),
            (f"{ID}.column.groups", lambda row: _braced(row[1])),
            (f"{ID}.column.all_alike", lambda row: len(row[1]) == 1),
        ],
    )


def _braced(groups: Sequence[tuple[str, ...]]) -> Message:
    return say(f"{ID}.groups", items=[say("word.braced", items=list(group)) for group in groups])


def _all_groups(common: Common, results: Sequence[Result], plan: Plan) -> dict[str, list[tuple[str, ...]]]:
    adjusted, names = _adjusted(common, plan), common.names
    known = [name for name in measures(plan) if any(r.id == f"{ID}.{name}_difference" for r in adjusted)]
    return {name: indistinguishable(adjusted, ranked(results, names, name), name) for name in known}


def _distinguishable(found: Mapping[str, list[tuple[str, ...]]]) -> Iterator[Message]:
    """For each measure, whether the best one differs from any."""
    for name, groups in found.items():
        if name == "auc":
            continue
        measure, first = heading(name), groups[0]
        if len(groups) == 1:
            yield say(f"{ID}.alike", measure=measure, n=len(first))
        elif len(first) == 1:
            yield say(f"{ID}.one_first", measure=measure, name=first[0])
        else:
            yield say(f"{ID}.some_first", measure=measure, names=list(first))


def _figure(common: Common, results: Sequence[Result], plan: Plan) -> Figure:
    rows = []
    drawn, first = [name for name in measures(plan) if name != "auc"], leading_measure(plan)
    for pair in _pairs(common):
        for name in drawn:
            found = leading(results, f"{ID}.{name}_difference", candidates=list(pair))
            if found is not None:
                rows.append(EffectRow(_of_pair(name, pair), found.estimate, leads=name == first))
    plot = EffectPlot(
        tuple(rows),
        say(f"{ID}.figure.quantity"),
        "points",
        left=say(f"{ID}.figure.second"),
        right=say(f"{ID}.figure.first"),
        benefit="right",
    )
    caption = say(f"{ID}.figure.caption", dataset=common.dataset)
    alt = say(f"{ID}.figure.alt", n=len(rows), dataset=common.dataset)
    return Figure(f"candidates_{common.dataset}", plot, caption, alt)


# ---------------------------------------------------------------- per 1000 local patients


def _per_patients(common: Common, results: Sequence[Result], plan: Plan) -> Part:
    (share,) = local_prevalences(plan)
    names = common.names

    def of(candidate: str) -> Spec[str]:
        def rate_of(rate: str) -> Estimate | None:
            found = _at(results, rate, candidate, share)
            return None if found is None else per(found, PATIENTS)

        return _shown(candidate), rate_of, "number.1"

    rates = table(
        f"candidates_rates_{common.dataset}",
        say(f"{ID}.table_rates", prevalence=share, level=_level(results)),
        [rate for rate in RATES if any(_at(results, rate, one, share) for one in names)],
        [(f"{ID}.column.rate", lambda rate: say(f"{ID}.rate.{rate}")), *map(of, names)],
    )
    volume = plan.site_context.annual_volume if plan.site_context else None
    finding = [say(f"{ID}.rates", prevalence=share, positive=PATIENTS * share)]
    finding += _missed(common, results, share, volume)
    if any(run.n_failed for run in common.runs):
        finding.append(say(f"{ID}.alarms_alone"))
    weight = exchange(plan)
    if weight is not None:
        finding.append(say(f"{ID}.weight_{weight[1]}", weight=1 / weight[0] if weight[0] else 0.0))
    return Part(tuple(finding), say(f"{ID}.title_rates"), (rates,), (), common.place, "E35")


def _at(results: Sequence[Result], name: str, candidate: str, share: float) -> Estimate | None:
    """A rate at the local prevalence."""
    for r in results:
        here = r.place.candidate == (candidate or None) and r.parameters.get("prevalence") == share
        if r.id == f"{ID}.{name}" and r.primary and here:
            return r.estimate
    return None


def _scaled(e: Estimate | None) -> Estimate | None:
    """Per so many patients."""
    return None if e is None else per(e, PATIENTS)


def _missed(common: Common, results: Sequence[Result], share: float, volume: int | None) -> Iterator[Message]:
    for name in common.names:
        missed, look = (_at(results, rate, name, share) for rate in ("missed_rate", "recall_rate"))
        if missed is None or look is None or isnan(missed.low):
            continue
        of_patients = per(missed, PATIENTS)
        values = {
            "name": _shown(name),
            "missed": of_patients.value,
            "missed_low": of_patients.low,
            "missed_high": of_patients.high,
            "look": per(look, PATIENTS).value,
        }
        if volume:
            yield say(f"{ID}.missed_a_year", **values, a_year=volume * missed.value, volume=volume)
        else:
            yield say(f"{ID}.missed", **values)


# ---------------------------------------------------------------- claimed and observed


def _claimed(common: Common, results: Sequence[Result], plan: Plan) -> Part | None:
    rows, off = [], []
    for claim in plan.performance_claims or ():
        metric = metric_named(claim.measure.rpartition(".")[2])
        named = claim.candidate or (common.names[0] if len(common.runs) == 1 else None)
        if not elsewhere(claim, plan) or metric is None or named is None:
            continue
        e = _estimate(results, metric, named)
        how = None if e is None else observed(claim, e)
        if how is None:
            continue
        measure = quantity_name(metric)
        if how == "below":
            off.append(say(f"{ID}.below_claim", name=_shown(named), measure=measure, printed=claim.value))
        printed = (
            say(f"{ID}.with_ci", value=claim.value, low=claim.ci[0], high=claim.ci[1])
            if claim.ci
            else claim.value
        )
        source = ", ".join(filter(None, (claim.source_document, claim.section)))
        rows.append(
            (_shown(named), measure, printed, claim.population or "", source, e, say(f"{ID}.held.{how}"))
        )
    if not rows:
        return None
    claims = table(
        f"candidates_claims_{common.dataset}",
        say(f"{ID}.table_claims", level=_level(results)),
        rows,
        [
            (f"{ID}.column.candidate", 0),
            (f"{ID}.column.measure", 1),
            (f"{ID}.column.claimed", 2),
            (f"{ID}.column.population", 3),
            (f"{ID}.column.source", 4),
            (f"{ID}.column.observed", 5, "number.3"),
            (f"{ID}.column.held", 6),
        ],
    )
    finding = (say(f"{ID}.claims", n=len(rows), off=len(off)), *off)
    return Part(finding, say(f"{ID}.title_claims"), (claims,), (), common.place, "E34")
