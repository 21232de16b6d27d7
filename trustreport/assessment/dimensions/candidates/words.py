"""The candidates side by side, per 1000 local patients, claimed and observed; versions of a device."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from trustreport.assessment.claims import as_observed, elsewhere, observed
from trustreport.assessment.dimensions.candidates.results import (
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
from trustreport.assessment.dimensions.candidates.versions import VersionChange, Versions
from trustreport.assessment.finding import Column, Part
from trustreport.assessment.narrative.texts import (
    Item,
    Texts,
    failed_cases,
    heading,
    quantity_name,
    side_of,
)
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.measures.estimate import Estimate
from trustreport.measures.reported.printed import metric_named
from trustreport.study.plan import Plan
from trustreport.vocabulary.digits import per
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

RATES = ("alarm_rate", "false_alarm_rate", "missed_rate", "failure_rate", "recall_rate", "net_benefit")
PATIENTS = 1000
ELEMENT = "versions"

text = Texts(ID)
version = Texts(f"{ID}.version")


def parts_of(common: Common, results: Sequence[Result], plan: Plan, n_sets: int) -> Iterator[Part]:
    """Everything that is said of one data set."""
    title = say("word.name", name=common.dataset) if n_sets > 1 else text("title_side_by_side")
    yield text.part(_side_by_side(common, results, plan), title, common.place)
    if local_prevalences(plan):
        yield text.part(_per_patients(common, results, plan), text("title_rates"), common.place, "E35")
    claimed = list(_claimed(common, results, plan))
    if claimed:
        yield text.part(claimed, text("title_claims"), common.place, "E34")


def _shown(name: str) -> Message:
    return say("word.name", name=name) if name else text("the_device")


def _lead(results: Sequence[Result], name: str, candidate: str, **scope: Any) -> Result | None:
    where = {"candidate": candidate or None, "parameters": None, **scope}
    return leading(results, f"{ID}.{name}", **where)


def _level(results: Sequence[Result]) -> float:
    return next(r.estimate.level for r in results)


def _side_by_side(common: Common, results: Sequence[Result], plan: Plan) -> Iterator[Item]:
    names, level, failed = common.names, _level(results), failed_cases(plan)
    yield text("common", n=len(common.truth), known=common.n_known, positive=int(common.truth.sum()))
    items = [text("failed_of", name=_shown(r.candidate), n=r.n_failed) for r in common.runs if r.n_failed]
    if items:
        yield text("failed", items=items, n=sum(r.n_failed for r in common.runs), rule=failed)
    every = (*measures(plan), "failure_rate")
    yield text.table(
        f"candidates_each_{common.dataset}",
        text("table_each", level=level, failed=failed),
        ("measure", *(Column(_shown(one), "number.3") for one in names)),
        [
            (heading(name), *(_lead(results, name, one) for one in names))
            for name in every
            if any(_lead(results, name, one) for one in names)
        ],
    )
    if len(names) < 2:
        return
    found = [
        (_of_pair(name, pair), name, r)
        for pair in _pairs(common)
        for name in every
        if (r := leading(results, f"{ID}.{name}_difference", candidates=list(pair)))
    ]
    first = leading_measure(plan)
    yield text.labelled(
        f"candidates_pairs_{common.dataset}",
        text("table_pairs"),
        [(label, r) for label, _, r in found],
        lambda r: r.name == f"{first}_difference",
    )
    groups = _all_groups(common, results, plan)
    yield text.table(
        f"candidates_groups_{common.dataset}",
        text("table_groups", n=len(_pairs(common))),
        "measure .groups .all_alike",
        [
            (
                heading(name),
                text("groups", items=[say("word.braced", items=list(group)) for group in own]),
                len(own) == 1,
            )
            for name, own in groups.items()
        ],
    )
    yield from _distinguishable(groups)
    rows = [
        EffectRow(label, r.estimate, leads=name == first)
        for label, name, r in found
        if name not in ("auc", "failure_rate")
    ]
    plot = EffectPlot(
        tuple(rows),
        text("figure.quantity"),
        "points",
        left=text("figure.second"),
        right=text("figure.first"),
        benefit="right",
    )
    of: dict[str, Any] = {"n": len(rows), "dataset": common.dataset}
    yield text.figure(f"candidates_{common.dataset}", plot, "differences", **of)


def _pairs(common: Common) -> list[tuple[str, str]]:
    return [(compared.candidate, baseline.candidate) for compared, baseline in common.pairs]


def _of_pair(name: str, pair: tuple[str, str]) -> Message:
    return text("pair", measure=heading(name), compared=pair[0], baseline=pair[1])


def _adjusted(common: Common, plan: Plan) -> list[Result]:
    """The differences at the level at which all pairs of a measure hold together (Bonferroni)."""
    pairs = common.pairs
    level = 1 - (1 - plan.report.confidence_level) / len(pairs)
    return [r for pair in pairs for r in pair_differences(*pair, level)]


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
            yield text("alike", measure=measure, n=len(first))
        elif len(first) == 1:
            yield text("one_first", measure=measure, name=first[0])
        else:
            yield text("some_first", measure=measure, names=list(first))


def _per_patients(common: Common, results: Sequence[Result], plan: Plan) -> Iterator[Item]:
    (share,) = local_prevalences(plan)
    names = common.names
    rates = {rate: [_at_share(results, rate, one, share) for one in names] for rate in RATES}
    local = plan.site_context is not None and plan.site_context.local_prevalence is not None
    yield text("rates_local" if local else "rates", prevalence=share, positive=PATIENTS * share)
    yield from _missed(common, results, share, plan.site_context.annual_volume if plan.site_context else None)
    if any(run.n_failed for run in common.runs):
        yield text("alarms_alone")
    weight = exchange(plan)
    if weight is not None:
        yield text(f"weight_{weight[1]}", weight=1 / weight[0] if weight[0] else 0.0)
    yield text.table(
        f"candidates_rates_{common.dataset}",
        text("table_rates", prevalence=share, level=_level(results)),
        (".rate", *(Column(_shown(one), "number.1") for one in names)),
        [
            (text(f"rate.{rate}"), *(e and per(e, PATIENTS) for e in found))
            for rate, found in rates.items()
            if any(found)
        ],
    )


def _at_share(results: Sequence[Result], name: str, candidate: str, share: float) -> Estimate | None:
    """A rate at the local prevalence."""
    for r in results:
        here = r.place.candidate == (candidate or None) and r.parameters.get("prevalence") == share
        if r.id == f"{ID}.{name}" and r.primary and here:
            return r.estimate
    return None


def _missed(common: Common, results: Sequence[Result], share: float, volume: int | None) -> Iterator[Message]:
    for name in common.names:
        missed, look = (_at_share(results, rate, name, share) for rate in ("missed_rate", "recall_rate"))
        if missed is None or look is None or isnan(missed.low):
            continue
        values: dict[str, Any] = {"name": _shown(name), "missed": per(missed, PATIENTS)}
        values["look"] = per(look, PATIENTS).value
        if volume:
            yield text("missed_a_year", **values, a_year=volume * missed.value, volume=volume)
        else:
            yield text("missed", **values)


def _claimed(common: Common, results: Sequence[Result], plan: Plan) -> Iterator[Item]:
    rows, off = [], []
    for claim in plan.performance_claims or ():
        metric = metric_named(claim.measure.rpartition(".")[2])
        named = claim.candidate or (common.names[0] if len(common.runs) == 1 else None)
        if not elsewhere(claim, plan) or metric is None or named is None:
            continue
        found = _lead(results, metric, named)
        how = None if found is None else observed(claim, found.estimate)
        if found is None or how is None:
            continue
        name, measure, printed = _shown(named), quantity_name(metric), as_observed(claim.value, found)
        if how == "below":
            off.append(text("below_claim", name=name, measure=measure, printed=printed))
        ends = (as_observed(end, found) for end in claim.ci or ())
        shown = text("with_ci", value=printed, low=next(ends), high=next(ends)) if claim.ci else printed
        source = ", ".join(filter(None, (claim.source_document, claim.section)))
        rows.append((name, measure, shown, claim.population or "", source, found, text(f"held.{how}")))
    if rows:
        yield text("claims", n=len(rows), off=len(off))
        yield from off
        yield text.table(
            f"candidates_claims_{common.dataset}",
            text("table_claims", level=_level(results)),
            "candidate measure .claimed .population .source .observed:number .held",
            rows,
        )


def versions_part(found: Versions) -> Part:
    """The sentences of each new version, then values and changes by data set."""
    return text.part(_versions(found), element=ELEMENT)


def _versions(found: Versions) -> Iterator[Item]:
    yield from _version_sentences(found)
    shown = [m for m in found.measures if any(r.endpoint == m for _, own in found.values for r in own)]
    estimates = [{r.endpoint: r.estimate for r in reversed(own)} for _, own in found.values]
    yield version.table(
        "versions_values",
        version("table_values", level=found.values[0][1][0].estimate.level),
        (".dataset .version cases", *shown),
        [
            (case.dataset.name, case.candidate, len(case), *map(own.get, shown))
            for (case, _), own in zip(found.values, estimates)
        ],
    )
    yield version.table(
        "versions_changes",
        version("table_changes"),
        (
            ".dataset .pair .kind .common:count",
            # Shares change by points, areas by a number.
            *("auc" if m == "auc" else version.column(f"{m}_points", "points") for m in shown),
        ),
        [
            (
                c.now.dataset.name,
                version("pair", **_known(c)),
                version(f"kind.{c.kind}"),
                c.common or version("no_common"),
                *(r and r.estimate for r in map(c.change, shown)),
            )
            for c in found.changes
        ],
    )


def _version_sentences(found: Versions) -> Iterator[Message]:
    first = next(name for name in found.measures if name != "auc")
    for pair in dict.fromkeys((c.now.candidate, c.before.candidate) for c in found.changes):
        own = [c for c in found.changes if (c.now.candidate, c.before.candidate) == pair]
        for change in own:
            if change.kind == "learning":
                yield from _learning(change, first)
        older = [c for c in own if c.kind == "retention" and _has_interval(c, first)]
        if older:
            yield _retention(older, first, pair)
        if all(c.kind == "undeclared" for c in own):
            yield version("undeclared", now=pair[0])
    apart = [c for c in found.changes if not c.common]
    if apart:
        names = list(dict.fromkeys(c.now.dataset.name for c in apart))
        yield version("unpaired", n=len(names), names=names)


def _has_interval(change: VersionChange, name: str) -> bool:
    found = change.change(name)
    return found is not None and not isnan(found.estimate.low)


def _known(change: VersionChange) -> dict[str, Any]:
    return {
        "now": change.now.candidate,
        "before": change.before.candidate,
        "dataset": change.now.dataset.name,
    }


def _learning(change: VersionChange, first: str) -> Iterator[Message]:
    r = change.change(first)
    if r is None:
        return
    known = {**_known(change), "measure": quantity_name(first)}
    if isnan(r.estimate.low):
        yield version("learning_undefined", reason=r.estimate.note, **known)
        return
    side = side_of(r.estimate, 0)
    yield version(f"learning_{side}", r, n=r.estimate.n, **known)


def _retention(older: list[VersionChange], first: str, pair: tuple[str, str]) -> Message:
    """The data set with the largest fall; where none is beyond chance, the largest that the data allow."""
    changes = [(c, r) for c in older if (r := c.change(first)) is not None]
    fallen = [(c, r) for c, r in changes if r.estimate.high < 0]
    known: dict[str, Any] = {"now": pair[0], "before": pair[1], "k": len(changes)}
    if fallen:
        known["measure"] = heading(first)
        worst, r = min(fallen, key=lambda one: one[1].estimate.value)
        known |= {"dataset": worst.now.dataset.name, "n": len(fallen)}
        return version("lost", r, **known)
    worst, r = min(changes, key=lambda one: one[1].estimate.low)
    known |= {"dataset": worst.now.dataset.name, "n": len(changes), "measure": quantity_name(first)}
    return version("kept", r, **known)
