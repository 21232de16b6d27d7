"""How well the device does in each declared group of a data set, and how the groups compare."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.advice_accuracy.measured import FEW_OF_A_CLASS, Judged, judged
from trustreport.dimensions.small_cells import closed, public_cell, suppressed
from trustreport.dimensions.subgroups.groups import CaseGroup, Division, Mask, divisions
from trustreport.dimensions.subgroups.small import (
    TOO_FEW_TO_COMPARE,
    Least,
    too_few,
    with_few,
    without_value,
)
from trustreport.estimate import Estimate
from trustreport.measures.association import equal_shares
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.roc.auc import delong, logit_delong
from trustreport.measures.roc.clustered import clustered_auc
from trustreport.measures.roc.difference import unpaired_difference
from trustreport.measures.subgroup_difference import (
    areas_alike,
    clustered_auc_difference,
    clustered_share_difference,
    share_difference,
)
from trustreport.plan import Plan
from trustreport.results import Result, Unit, answers
from trustreport.study import Dataset, Study

NAME = "subgroups"
ACCURACY = "advice_accuracy"
CELLS = ("tp", "fp", "fn", "tn")
SHARES = ("accuracy", "sensitivity", "specificity", "ppv", "npv")
# Data from which the device was made say nothing of how it does in a group.
OF_MAKING = ("training", "tuning")


@dataclass(frozen=True, eq=False)
class Cohort:
    """The judged cases of a data set and candidate: `cluster` says which belong together, `where` (n,) where
    they stand in the data set.
    """

    case: Judged
    truth: NDArray[np.bool_]
    decision: NDArray[np.bool_] | None
    cluster: NDArray[np.int64] | None
    where: NDArray[np.intp]

    def inside(self, mask: Mask) -> Mask:
        """A group of the data set among the judged cases."""
        return mask[self.where]


@dataclass(frozen=True, eq=False)
class Measured:
    """One group with its results, those of the comparison among them."""

    group: CaseGroup
    results: tuple[Result, ...]
    positives: int
    negatives: int
    closed: bool = False


@dataclass(frozen=True, eq=False)
class Measurement:
    """All groups of a data set and candidate; `tests` hold every group of an attribute against the others."""

    case: Judged
    divisions: tuple[Division, ...]
    groups: Mapping[str, tuple[Measured, ...]]
    overall: tuple[Result, ...]
    tests: tuple[Result, ...] = ()
    unknown: Mapping[str, Result] = field(default_factory=dict)

    @property
    def level(self) -> float:
        """The confidence level of the intervals."""
        return self.overall[0].estimate.level

    @property
    def results(self) -> list[Result]:
        """Every entry, in the order told."""
        found = [r for groups in self.groups.values() for one in groups for r in one.results]
        return [*found, *self.tests, *self.unknown.values()]


def measurements(study: Study, plan: Plan) -> Iterator[Measurement]:
    """Every data set of use, and every candidate."""
    for dataset in study.datasets:
        if dataset.role in OF_MAKING:
            continue
        for case in judged(dataset, study, plan):
            yield _measurement(case, dataset, plan)


def _measurement(case: Judged, dataset: Dataset, plan: Plan) -> Measurement:
    cohort = _cohort(case)
    found = divisions(plan, dataset.cases, dataset)
    by_attribute = {d.attribute: _measured(cohort, d, plan) for d in found}
    overall = _of_cases(cohort, np.ones(len(dataset.cases), bool), case.scope, plan.report.confidence_level)
    unknown = {d.attribute: _unknown(cohort, d, plan) for d in found}
    tests = [r for d in found for r in _tests(cohort, d, by_attribute[d.attribute], plan)]
    return Measurement(case, tuple(found), by_attribute, tuple(overall), tuple(tests), unknown)


def _cohort(case: Judged) -> Cohort:
    """The judged cases, and those without an output as the declared rule counts them."""
    truth, decision, cluster, where = case.truth, case.decision, case.cluster, np.flatnonzero(case.known)
    more = case.undecided
    if more is not None and decision is not None:
        silent = np.flatnonzero(case.silent)
        truth, decision = np.concatenate([truth, more.truth]), np.concatenate([decision, more.decision])
        where = np.concatenate([where, silent])
        if cluster is not None and more.cluster is not None:
            cluster = np.concatenate([cluster, more.cluster])
    return Cohort(case, truth, decision, cluster, where)


# ---------------------------------------------------------------- one group


def _counts(cohort: Cohort, inside: Mask) -> ConfusionCounts | None:
    if cohort.decision is None:
        return None
    cells = np.bincount(2 * cohort.truth[inside] + cohort.decision[inside], minlength=4)
    return ConfusionCounts(tp=int(cells[3]), fp=int(cells[1]), fn=int(cells[2]), tn=int(cells[0]))


def _of_cases(cohort: Cohort, mask: Mask, scope: Mapping[str, Any], level: float) -> list[Result]:
    """Counts, shares and area of the cases of a mask, whatever their number."""
    inside = cohort.inside(mask)
    results: list[Result] = []
    counts = _counts(cohort, inside)
    if counts is not None:
        for cell in CELLS:
            n = getattr(counts, cell)
            one = Estimate(n, n, n, counts.n, level, "count")
            results += answers(f"{ACCURACY}.{cell}", scope, [one], leads="count", unit="count")
        for name in ("prevalence", *SHARES):
            one = _share(cohort, inside, counts, name, level)
            results += answers(f"{ACCURACY}.{name}", scope, [one], leads=one.method)
    return results + _area(cohort, mask, scope, level)


def _share(cohort: Cohort, inside: Mask, counts: ConfusionCounts, name: str, level: float) -> Estimate:
    cluster = cohort.cluster
    if cluster is None or cohort.decision is None or not inside.any():
        return MEASURES[name](counts, level=level)
    cells = cluster_cells(cohort.truth[inside], cohort.decision[inside], cluster[inside])
    return clustered(name, cells, level=level)


def _area(cohort: Cohort, mask: Mask, scope: Mapping[str, Any], level: float) -> list[Result]:
    """The area under the ROC curve of the cases that have a score."""
    case = cohort.case
    score = case.suspicion
    if score is None:
        return []
    inside = mask[np.flatnonzero(case.known)]
    truth, own = case.truth[inside], score[inside]
    if case.cluster is not None:
        one = clustered_auc(truth, own, case.cluster[inside], level=level)
    elif min(int(truth.sum()), int((~truth).sum())) < FEW_OF_A_CLASS:
        one = logit_delong(truth, own, level=level)
    else:
        one = delong(truth, own, level=level)
    return answers(f"{ACCURACY}.auc", scope, [one], leads=one.method)


def _measured(cohort: Cohort, division: Division, plan: Plan) -> tuple[Measured, ...]:
    """Each group of an attribute: its numbers where it is large enough, and its differences."""
    shut = _closed(cohort, division, public_cell(plan))
    return tuple(_one(cohort, group, plan, shut=group.name in shut) for group in division.groups)


def _one(cohort: Cohort, group: CaseGroup, plan: Plan, *, shut: bool) -> Measured:
    level, least = plan.report.confidence_level, Least.of(plan, group)
    scope = {**cohort.case.scope, "subgroup": group.name}
    inside = cohort.inside(group.mask)
    truth = cohort.truth[inside]
    positives, negatives = int(truth.sum()), int((~truth).sum())
    counts = _counts(cohort, inside)
    results = []
    for r in _of_cases(cohort, group.mask, scope, level):
        name = r.id.rpartition(".")[2]
        e = r.estimate
        short = r.unit != "count" and least.short(name, positives, negatives)
        if shut:
            e = suppressed(e, least.cell)
        elif short:
            shown = counts or ConfusionCounts(positives, 0, 0, negatives)
            e = without_value(e, too_few(name if counts else "", shown))
        elif r.unit != "count":
            e = with_few(e, name, positives, negatives)
        facts = {} if shut else {**_facts(group, positives, negatives), "too_few": short}
        results.append(replace(r, estimate=e, details=facts))
    results += _differences(cohort, group, plan, least, shut=shut)
    if shut:
        positives = negatives = 0
    return Measured(group, tuple(results), positives, negatives, shut)


def _facts(group: CaseGroup, positives: int, negatives: int) -> dict[str, Any]:
    facts: dict[str, Any] = {"positives": positives, "negatives": negatives}
    return {**facts, "prespecified": group.declared.prespecified is True}


# ---------------------------------------------------------------- against the others


def _differences(
    cohort: Cohort, group: CaseGroup, plan: Plan, least: Least, *, shut: bool
) -> Iterator[Result]:
    """The group less those that it is held against, endpoint by endpoint."""
    if not cohort.inside(group.against).any():
        return
    level = plan.report.confidence_level
    endpoints = SHARES if cohort.decision is not None else ()
    for name in (*endpoints, *(("auc",) if cohort.case.score is not None else ())):
        of_areas = name == "auc"
        e = _area_difference(cohort, group, level) if of_areas else _difference(cohort, group, name, level)
        if shut:
            e = suppressed(e, least.cell)
        else:
            sizes = [_classes(cohort, mask) for mask in (group.mask, group.against)]
            if any(least.short(name, *size) for size in sizes):
                e = without_value(e, TOO_FEW_TO_COMPARE)
        yield difference_entry(e, {**cohort.case.scope, "subgroup": group.name}, name, group)


def difference_entry(e: Estimate, scope: Mapping[str, Any], endpoint: str, group: CaseGroup) -> Result:
    """A comparison of a group; one of a group that was not fixed in advance says so."""
    if group.exploratory:
        e = replace(e, note="; ".join(filter(None, (e.note, "exploratory: not fixed in advance"))))
    here = {**scope, "endpoint": endpoint, "parameters": {"against": group.against_name}}
    details = {"prespecified": not group.exploratory}
    return Result(f"{NAME}.subgroup_difference", here, e, "difference", True, details)


def _classes(cohort: Cohort, mask: Mask) -> tuple[int, int]:
    truth = cohort.truth[cohort.inside(mask)]
    return int(truth.sum()), int((~truth).sum())


def _event_of(cohort: Cohort, name: str) -> tuple[Mask, Mask]:
    """What an endpoint counts, and among which cases."""
    truth, decision = cohort.truth, cohort.decision
    assert decision is not None
    among = {
        "accuracy": np.ones(truth.shape, bool),
        "sensitivity": truth,
        "specificity": ~truth,
        "ppv": decision,
        "npv": ~decision,
    }[name]
    return truth == decision, among


def _difference(cohort: Cohort, group: CaseGroup, name: str, level: float) -> Estimate:
    event, among = _event_of(cohort, name)
    first, second = (cohort.inside(mask) & among for mask in (group.mask, group.against))
    if cohort.cluster is not None:
        return clustered_share_difference(event, first, second, cohort.cluster, level=level)
    x1, x2 = int((event & first).sum()), int((event & second).sum())
    return share_difference(x1, int(first.sum()), x2, int(second.sum()), level=level)


def _area_difference(cohort: Cohort, group: CaseGroup, level: float) -> Estimate:
    case = cohort.case
    score = case.suspicion
    assert score is not None
    known = np.flatnonzero(case.known)
    first, second = group.mask[known], group.against[known]
    if case.cluster is not None:
        return clustered_auc_difference(case.truth, score, first, second, case.cluster, level=level)
    truth = case.truth
    return unpaired_difference(truth[first], score[first], truth[second], score[second], level=level)


def _tests(cohort: Cohort, division: Division, measured: Sequence[Measured], plan: Plan) -> Iterator[Result]:
    """Whether an endpoint is the same in all groups of an attribute (independent cases, groups apart)."""
    whole = not any(one.closed for one in measured)
    if not division.apart or cohort.cluster is not None or not whole:
        return
    level, codes = plan.report.confidence_level, division.codes
    scope = {**cohort.case.scope, "parameters": {"attribute": division.attribute}}
    own = codes[cohort.where]
    kept = len(division.groups)
    for name in SHARES if cohort.decision is not None else ():
        event, among = _event_of(cohort, name)
        n = np.bincount(own[among & (own >= 0)], minlength=kept)
        x = np.bincount(own[event & among & (own >= 0)], minlength=kept)
        yield _test_entry(equal_shares(x, n, level=level), scope, name)
    score = cohort.case.suspicion
    if score is not None:
        known = np.flatnonzero(cohort.case.known)
        yield _test_entry(areas_alike(cohort.case.truth, score, codes[known], level=level), scope, "auc")


def _test_entry(e: Estimate, scope: Mapping[str, Any], endpoint: str) -> Result:
    unit: Unit = "difference"
    return Result(f"{NAME}.interaction", {**scope, "endpoint": endpoint}, e, unit, True)


# ---------------------------------------------------------------- what cannot be told


def _unknown(cohort: Cohort, division: Division, plan: Plan) -> Result:
    """How many judged cases have no value of an attribute."""
    level, least = plan.report.confidence_level, public_cell(plan)
    n = int(np.count_nonzero(cohort.inside(division.unknown)))
    e = Estimate(n, n, n, len(cohort.where), level, "count")
    if closed((n,), least):
        e = suppressed(e, least)
    scope = {**cohort.case.scope, "parameters": {"attribute": division.attribute}}
    return Result(f"{NAME}.unknown", scope, e, "count", True)


def _closed(cohort: Cohort, division: Division, least: int) -> set[str]:
    """The groups of which a public report tells nothing.

    One with a cell too small, or whose complement has one, since both stand beside the total. Where a single
    group would be left out, what is left of the total would tell of it: the smallest other one goes too.
    """
    if not least:
        return set()
    known = ~division.unknown
    shut = set()
    for group in division.groups:
        own, rest = (_cells(cohort, mask) for mask in (group.mask, known & ~group.mask))
        if closed((*own, *rest), least):
            shut.add(group.name)
    if len(shut) == 1 and len(division.groups) > 1:
        others = [g for g in division.groups if g.name not in shut]
        shut.add(min(others, key=lambda g: (int(cohort.inside(g.mask).sum()), g.name)).name)
    return shut


def _cells(cohort: Cohort, mask: Mask) -> tuple[int, ...]:
    inside = cohort.inside(mask)
    counts = _counts(cohort, inside)
    if counts is not None:
        return (counts.tp, counts.fp, counts.fn, counts.tn, counts.positives, counts.negatives)
    return _classes(cohort, mask)
