"""Pitfalls of pragmatic utility: missing readings, clustering, pairing, effects that cross no effect."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from trustreport.assessment.checks.check import Check, Evidence, Remark, data_of
from trustreport.assessment.checks.reader_study import PARTIAL_DESIGNS
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.performance.cases import ScoredCases, by_set, in_common, scored_cases
from trustreport.assessment.performance.readers import place_of_task
from trustreport.assessment.performance.sites import sites_in
from trustreport.study.clusters import clustering
from trustreport.vocabulary.digits import share
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

DIMENSION = "pragmatic_utility"
# What the words of methods hold that take cases of one cluster together.
CLUSTERED = ("cluster", "obuchowski")
OF_READINGS = ("pragmatic_utility", "decision_benefit", "reliance")
# Of which readers are the sample, or nothing is.
NOT_OF_CASES = ("baseline_slope", "arr_missing_bounds")


def _leading(evidence: Evidence, quantity: str) -> Iterator[Result]:
    """The entries that lead for a quantity at the case mix of the study."""
    return (r for r in evidence.leading(f"{DIMENSION}.{quantity}") if not r.parameters)


def missing_readings(evidence: Evidence) -> Iterator[Remark]:
    """P19: readers x cases x arms incomplete, with what the missing readings could do to the result."""
    for r in _leading(evidence, "arr_missing_bounds"):
        d = r.estimate.details
        missing = int(d["missing_aided"] + d["missing_unaided"])
        total = int(2 * d["expected"])
        arms = {"unaided": int(d["missing_unaided"]), "aided": int(d["missing_aided"])}
        limits = {"low": r.estimate.low, "high": r.estimate.high}
        message = say(
            "checks.P19.fired", n=missing, total=total, share=share(missing, total), **arms, **limits
        )
        yield Remark(data_of(r), message if missing else None)
    yield from map(Remark, _complete(evidence))


def _complete(evidence: Evidence) -> Iterator[Place]:
    """Where every reader read every case in every arm that is compared."""
    study, arms = evidence.study, {arm for pair in evidence.plan.contrasts for arm in pair}
    for counts in study.counts:
        if counts.readers and counts.cases:
            each = {counts.arms[arm].n for arm in arms & counts.arms.keys()}
            if each == {counts.readers * counts.cases}:
                yield Place(set=counts.name)
    if evidence.plan.reading.design in PARTIAL_DESIGNS:
        return
    for one in study.readings:
        decided = one.decision is not None and one.decision >= 0
        rows = [np.count_nonzero(decided & (one.arm == one.arms.index(a))) for a in arms & set(one.arms)]
        if len(rows) > 1 and set(rows) == {len(one.readers) * len(one.cases)}:
            yield place_of_task(one, study)


def clustered_data(evidence: Evidence) -> Iterator[Remark]:
    """P22: a primary interval takes decisions, or cases, as independent that belong together."""
    for counts in (*evidence.study.counts, *evidence.study.paired_counts):
        name = getattr(counts, "set", None) or counts.name
        yield Remark(Place(set=name), _clustered(counts))
    for r in _leading(evidence, "arr"):
        if r.place.set is None:
            independent = r.analysis in ("two_sample", "paired")
            yield Remark(data_of(r), say("checks.P22.independent", n=r.estimate.n) if independent else None)
    yield from _cases_in_clusters(evidence)
    yield from _readings_of_patients(evidence)


def _cases_in_clusters(evidence: Evidence) -> Iterator[Remark]:
    """Sets whose cases belong together, and the quantities whose primary interval does not allow for it.

    Of all primary numbers of cases of the set: values, differences, groups, sites, periods, and over sets.
    """
    scored = scored_cases(evidence.study, evidence.plan)
    alone = _each_alone(scored, evidence)
    of_set: dict[str, list[Result]] = {}
    for r in evidence.results:
        counts = r.primary and r.cases and r.cases not in alone
        if counts and _samples_cases(r) and not _allows_for_clusters(r):
            for name in {r.place.dataset, r.place.period, *r.place.datasets} - {None}:
                of_set.setdefault(str(name), []).append(r)
    for case in scored:
        if case.cluster is not None:
            found = of_set.get(case.dataset.name, ())
            own = (r for r in found if r.place.candidate in (None, case.place.candidate))
            names = dict.fromkeys(r.quantity.id for r in own)
            measures = [quantity_name(name) for name in names]
            said = say("checks.P22.cases", name=case.name, measures=measures) if names else None
            yield Remark(case.place, said, tuple(names))


def _readings_of_patients(evidence: Evidence) -> Iterator[Remark]:
    """Tasks with several cases of a patient, and the quantities whose interval does not allow for it."""
    for readings, place in evidence.tasks():
        if clustering(readings.cases).of_case is None:
            continue
        names = dict.fromkeys(
            r.quantity.id
            for r in evidence.results
            if r.primary
            and r.dimension in OF_READINGS
            and r.name not in NOT_OF_CASES
            and r.place.task == place.task
            and not (r.place.dataset or r.place.set or r.place.datasets)
            and _samples_cases(r)
            and not _allows_for_clusters(r)
        )
        measures = [quantity_name(name) for name in names]
        said = say("checks.P22.readings", measures=measures) if names else None
        yield Remark(place, said, tuple(names))


def _each_alone(scored: Sequence[ScoredCases], evidence: Evidence) -> set[str]:
    """Parts of clustered sets in which every case is a cluster of its own: sites, and common cases."""
    parts = [one for candidates in by_set(scored).values() for one in in_common(candidates)]
    parts += [
        site.case for case in scored if case.cluster is not None for site in sites_in(case, evidence.plan)
    ]
    return {part.key for part in parts if part.cluster is None}


def _samples_cases(r: Result) -> bool:
    """Whether an entry has an interval that rests on a sample of cases."""
    return r.estimate.low < r.estimate.high and r.unit not in ("p", "count")


def _allows_for_clusters(r: Result) -> bool:
    by_method = any(word in r.method for word in CLUSTERED) or "clusters" in r.estimate.details
    return by_method or r.analysis == "clustered" or bool(r.details.get("each_case_a_cluster"))


def _clustered(counts: Any) -> Message | None:
    if counts.readers is None or counts.cases is None:
        return say("checks.P22.undeclared")
    n = sum(arm.n for arm in counts.arms.values()) if hasattr(counts, "arms") else None
    if counts.readers > 1:
        key = "checks.P22.fired" if n is not None else "checks.P22.fired_paired"
        if n is not None and counts.paired:
            key = "checks.P22.fired_marginal"
        return say(key, n=n, readers=counts.readers, cases=counts.cases)
    return None


def pairing(evidence: Evidence) -> Iterator[Remark]:
    """P23: an unpaired contrast of arms that are paired."""
    for counts in evidence.study.counts:
        if counts.paired is not None:
            # Of repeated readers the check on clustering says that the width of the interval is not known.
            repeated = counts.readers is not None and counts.cases is not None and counts.readers > 1
            said = say(f"checks.P23.fired{'_clustered' if repeated else ''}")
            yield Remark(Place(set=counts.name), said if counts.paired else None)
    for r in _leading(evidence, "arr"):
        if r.place.set is None:
            unpaired = r.analysis == "two_sample"
            yield Remark(data_of(r), say("checks.P23.fired_readings") if unpaired else None)


def through_infinity(evidence: Evidence) -> Iterator[Remark]:
    """P24: the interval of the number of decisions needed runs through infinity.

    At the declared prevalence of the intended use, where the number is known for it.
    """
    share, every = evidence.plan.declared_prevalence, evidence.leading(f"{DIMENSION}.nnd")
    there = {r.place: r for r in every if r.parameters == {"prevalence": share}}
    for sample in _leading(evidence, "nnd"):
        r = there.get(sample.place, sample)
        d, where = r.estimate.details, data_of(r)
        if "benefit_from" not in d or "harm_from" not in d:
            yield Remark(where)
            continue
        key = "nnd_infinite" if r is sample else "checks.P24.at"
        yield Remark(where, say(key, a=d["benefit_from"], b=d["harm_from"], prevalence=share))


def claim_beyond_interval(evidence: Evidence) -> Iterator[Remark]:
    """P25: a benefit is claimed although the interval of the effect includes no effect."""
    if not _benefit_claimed(evidence):
        return
    for r in _leading(evidence, "odds_ratio"):
        e = r.estimate
        message = say("checks.P25.fired", contrast=say("pragmatic_utility.contrast"), null=1)
        yield Remark(data_of(r), message if e.low <= 1 <= e.high else None)


def _benefit_claimed(evidence: Evidence) -> bool:
    claims = evidence.plan.intended_use.claimed_benefits
    superiority = any(e.hypothesis == "superiority" for e in evidence.plan.endpoints)
    return bool(claims) or superiority


def analyses_disagree(evidence: Evidence) -> Iterator[Remark]:
    """P26: two analyses of the same difference disagree on its sign or on whether it includes zero."""
    for lead in _leading(evidence, "arr"):
        rivals = [
            r
            for r in evidence.results
            if r.id == lead.id
            and (r.place, r.endpoint, r.parameters) == (lead.place, lead.endpoint, lead.parameters)
            and r.analysis != lead.analysis
        ]
        if rivals:
            yield Remark(data_of(lead), _disagreement(lead, rivals))


def _disagreement(lead: Result, rivals: list[Result]) -> Message | None:
    for rival in rivals:
        if _reading(rival) and _reading(lead) and _reading(rival) != _reading(lead):
            return say(
                "two_analyses_disagree",
                a=say(f"method.{lead.method}.text"),
                b=say(f"method.{rival.method}.text"),
                reason=say(f"checks.P26.reason.{rival.analysis}"),
            )
    return None


def _reading(result: Result) -> str:
    """What an interval says of a difference: above zero, below, either; nothing without an interval."""
    e = result.estimate
    return "above" if e.low > 0 else "below" if e.high < 0 else "either" if e.low <= 0 <= e.high else ""


CHECKS = (
    Check("P19", DIMENSION, "W", missing_readings),
    Check("P22", DIMENSION, "B", clustered_data),
    Check("P23", DIMENSION, "B", pairing),
    Check("P24", DIMENSION, "W", through_infinity),
    Check("P25", DIMENSION, "W", claim_beyond_interval),
    Check("P26", DIMENSION, "W", analyses_disagree),
)
