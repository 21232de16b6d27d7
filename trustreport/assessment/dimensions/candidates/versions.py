"""Versions of one device by data set: what each gained where it was meant to, and kept elsewhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.candidates.results import ID, leading_measure, measures
from trustreport.assessment.performance.cases import ScoredCases, by_set, in_common, scored_cases
from trustreport.assessment.performance.decision_table import difference
from trustreport.assessment.performance.measures import lead
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.roc.difference import unpaired_difference
from trustreport.measures.subgroups import (
    clustered_auc_difference,
    clustered_share_difference,
    share_difference,
)
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

ChangeKind = Literal["learning", "retention", "later", "undeclared"]
NOT_PAIRED = note("versions_have_no_case_in_common")


@dataclass(frozen=True, eq=False)
class VersionChange:
    """A version and the one that it replaces on one data set.

    `kind`: the version was changed for these data (learning), for others (retention), or a still newer one
    was (later). `common` are the cases that both were given, 0 where the comparison is unpaired.
    """

    now: ScoredCases
    before: ScoredCases
    kind: ChangeKind
    common: int
    results: tuple[Result, ...]

    def change(self, name: str) -> Result | None:
        """The change of a measure, where both versions have it."""
        return next((r for r in self.results if r.endpoint == name), None)


@dataclass(frozen=True, eq=False)
class Versions:
    """The versions of a device, oldest first, on every data set: values and changes."""

    measures: tuple[str, ...]
    values: tuple[tuple[ScoredCases, tuple[Result, ...]], ...]
    changes: tuple[VersionChange, ...]

    @property
    def results(self) -> Iterator[Result]:
        """Every entry."""
        for _, own in self.values:
            yield from own
        for change in self.changes:
            yield from change.results


def succession(plan: Plan) -> list[str]:
    """The candidates that are versions of one device, each after the one that it follows."""
    follows = {c.candidate: c.follows for c in plan.candidates if c.follows}
    found: list[str] = []

    def add(name: str) -> None:
        """Append a version after the one that it follows, once."""
        if name not in found:
            if name in follows:
                add(follows[name])
            found.append(name)

    for name in follows:
        add(name)
    return found


def versions_of(study: Study, plan: Plan) -> Versions | None:
    """The versions that the manifest declares, on the data sets that are no part of development."""
    order, level = succession(plan), plan.report.confidence_level
    shown = tuple(m for m in measures(plan) if m != "accuracy" or leading_measure(plan) == m)
    cases = [one for one in scored_cases(study, plan) if one.dataset.role not in DEVELOPMENT_ROLES]
    values: list[tuple[ScoredCases, tuple[Result, ...]]] = []
    changes = []
    for candidates in by_set(cases).values():
        named = {one.candidate: one for one in candidates if one.candidate in order}
        present = [named[name] for name in order if name in named]
        values += [(one, tuple(_values(one, shown, level))) for one in present]
        for now, before in _successors(order, plan):
            if now in named and before in named:
                changes.append(_change(named[now], named[before], shown, plan))
    return Versions(shown, tuple(values), tuple(changes)) if changes else None


def _successors(order: Sequence[str], plan: Plan) -> list[tuple[str, str]]:
    follows = {c.candidate: c.follows for c in plan.candidates}
    return [(name, before) for name in order if (before := follows.get(name))]


def _has(name: str, *cases: ScoredCases) -> bool:
    return all((one.score if name == "auc" else one.decision) is not None for one in cases)


def _values(case: ScoredCases, names: Sequence[str], level: float) -> Iterator[Result]:
    place = Place(dataset=case.dataset.name, version=case.candidate)
    for name in names:
        if _has(name, case):
            e = lead(case, name, level)
            yield Result(f"{ID}.version_value", place, e, endpoint=name, primary=True, cases=case.key)


def _change(now: ScoredCases, before: ScoredCases, names: Sequence[str], plan: Plan) -> VersionChange:
    kind, level = kind_of(now.candidate, now.dataset.name, plan), plan.report.confidence_level
    ours, theirs = in_common((now, before))
    common = len(ours)
    place = Place(dataset=now.dataset.name, candidates=(now.candidate, before.candidate))
    alone = len(now) + len(before) - 2 * common
    said = (
        note("cases_in_common_one_version_alone", n=common, alone=alone)
        if common and alone
        else NO_NOTE
        if common
        else NOT_PAIRED
    )
    results = []
    for name in names:
        if not _has(name, now, before):
            continue
        e = difference(ours, theirs, name, level) if common else unpaired(now, before, name, plan)
        more: dict[str, Any] = {"endpoint": name, "primary": True, "parameters": {"change": kind}}
        e = replace(e, note=e.note + said)
        analysis = "paired" if common else "two_sample"
        key = ours.key if common else now.key
        results.append(Result(f"{ID}.version_change", place, e, analysis=analysis, cases=key, **more))
    return VersionChange(now, before, kind, common, tuple(results))


def kind_of(version: str, dataset: str, plan: Plan) -> ChangeKind:
    """Whether a version was changed for a data set, for others, or a later version was.

    Where it is not declared the newest version is taken as changed for the newest data set: the one that
    starts last, else the last declared.
    """
    order = succession(plan)
    declared = {c.candidate: c.updated_for for c in plan.candidates if c.updated_for}
    own = declared.get(version, _newest(plan) if version == order[-1] and not declared else ())
    if not own:
        return "undeclared"
    if dataset in own:
        return "learning"
    after = order[order.index(version) + 1 :]
    return "later" if any(dataset in declared.get(name, ()) for name in after) else "retention"


def _newest(plan: Plan) -> tuple[str, ...]:
    tested = [d for d in plan.datasets if d.role not in DEVELOPMENT_ROLES]
    if not tested:
        return ()
    if all(d.start_date is not None for d in tested):
        return (max(tested, key=lambda d: str(d.start_date)).dataset,)
    return (tested[-1].dataset,)


def unpaired(now: ScoredCases, before: ScoredCases, name: str, plan: Plan) -> Estimate:
    """The difference of two versions that were given different cases of one data set."""
    level, of_case = plan.report.confidence_level, clusters_of(now.dataset, plan).of_case
    if name == "auc":
        parts = [(one.ranked[0], one.ranked[1], one.rows[one.scored | one.failed]) for one in (now, before)]
    else:
        parts = [_decided(one, name) for one in (now, before)]
    (first, x, rows), (second, y, others) = parts
    if of_case is None:
        if name == "auc":
            return difference_in_range(unpaired_difference(first, x, second, y, level=level))
        return share_difference(int(x.sum()), len(x), int(y.sum()), len(y), level=level)
    group = np.arange(len(x) + len(y)) < len(x)
    cluster: NDArray[Any] = of_case[np.concatenate([rows, others])]
    both = np.concatenate([x, y])
    if name == "auc":
        truth = np.concatenate([first, second])
        return difference_in_range(clustered_auc_difference(truth, both, group, ~group, cluster, level=level))
    return clustered_share_difference(both, group, ~group, cluster, level=level)


def _decided(case: ScoredCases, name: str) -> tuple[Any, Any, Any]:
    """Truth of the cases that a share counts, whether each was decided right, and their rows."""
    assert case.decision is not None
    of = MEASURES[name].cases(case.truth)
    return case.truth[of], (case.decision == case.truth)[of], case.rows[of]
