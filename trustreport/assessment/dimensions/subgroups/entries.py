"""How well the device does in each declared group of a data set, and how the groups compare."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.subgroups.groups import CaseGroup, Division, Mask, divisions
from trustreport.assessment.dimensions.subgroups.odds import equalised_odds
from trustreport.assessment.dimensions.subgroups.small import (
    TOO_FEW_TO_COMPARE,
    Least,
    too_few,
    with_few,
    without_value,
)
from trustreport.assessment.performance.cases import ScoredCases, scored_cases
from trustreport.assessment.performance.keys import closed, public_cell, suppressed
from trustreport.assessment.performance.measures import each_alone, lead, worst_of
from trustreport.measures.association import equal_shares
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.roc.difference import unpaired_difference
from trustreport.measures.subgroups import (
    areas_alike,
    clustered_auc_difference,
    clustered_share_difference,
    share_difference,
)
from trustreport.study.plan import Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

NAME = "subgroups"
VALUE, DIFFERENCE = f"{NAME}.group_performance", f"{NAME}.subgroup_difference"
CELLS = ("tp", "fp", "fn", "tn")
WORST = ("accuracy", "sensitivity", "specificity", "auc")
COMPARED = ("accuracy", "sensitivity", "specificity", "ppv", "npv")


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
    """All groups of a data set and candidate.

    `tests` hold every group of an attribute against the others, `odds` how far apart they are in both rates,
    `worst` the worst of all groups by measure.
    """

    case: ScoredCases
    level: float
    divisions: tuple[Division, ...]
    groups: Mapping[str, tuple[Measured, ...]]
    tests: tuple[Result, ...] = ()
    unknown: Mapping[str, Result] = field(default_factory=dict)
    worst: Mapping[str, Result] = field(default_factory=dict)
    odds: tuple[Result, ...] = ()

    def overall(self, name: str) -> Estimate | None:
        """A measure of all cases; None where they do not hold it."""
        return lead(self.case, name, self.level) if name in measures_of(self.case) else None

    @property
    def results(self) -> list[Result]:
        """Every entry, in the order reported."""
        found = [r for groups in self.groups.values() for one in groups for r in one.results]
        return [*found, *self.tests, *self.odds, *self.worst.values(), *self.unknown.values()]


def measures_of(case: ScoredCases) -> list[str]:
    """What is measured in each group: shares where there are decisions, the area where there are scores."""
    shares = ("prevalence", *COMPARED) if case.decision is not None else ()
    return [*shares, *(("auc",) if case.score is not None else ())]


def measurements(study: Study, plan: Plan) -> Iterator[Measurement]:
    """Every data set of use, and every candidate."""
    for case in scored_cases(study, plan):
        if case.dataset.role not in DEVELOPMENT_ROLES:
            yield _measurement(case, plan)


def _measurement(case: ScoredCases, plan: Plan) -> Measurement:
    found = divisions(plan, case.dataset.cases, case.dataset)
    by_attribute = {d.attribute: _measured(case, d, plan) for d in found}
    unknown = {d.attribute: _unknown(case, d, plan) for d in found}
    tests = [r for d in found for r in _tests(case, d, by_attribute[d.attribute], plan)]
    level = plan.report.confidence_level
    worst = {r.endpoint: r for r in _worst(case, by_attribute, level)}
    public = [d for d in found if not any(one.closed for one in by_attribute[d.attribute])]
    odds = tuple(r for d in public if (r := equalised_odds(case, d, plan)))
    return Measurement(case, level, tuple(found), by_attribute, tuple(tests), unknown, worst, odds)


def _worst(
    case: ScoredCases, by_attribute: Mapping[str, Sequence[Measured]], level: float
) -> Iterator[Result]:
    """The group in which each main measure is worst, of all groups of which a report shows it."""
    every = [one for groups in by_attribute.values() for one in groups if not one.closed]
    for name in WORST:
        shown = [one for one in every if _shows(one, name)]
        parts = [(one.group.name, case.part(case.among(one.group.mask))) for one in shown]
        found = worst_of(parts, name, level)
        if found is not None:
            group, part, e = found
            yield Result(
                f"{NAME}.worst_group",
                case.place,
                e,
                endpoint=name,
                parameters={"groups": len(shown)},
                details={"group": group, **each_alone(case, part)},
                cases=part.key,
                primary=True,
            )


def _shows(one: Measured, name: str) -> bool:
    return any(r.id == VALUE and r.endpoint == name and isfinite(r.estimate.value) for r in one.results)


# ---------------------------------------------------------------- one group


def _measured(case: ScoredCases, division: Division, plan: Plan) -> tuple[Measured, ...]:
    """Each group of an attribute: its numbers where it is large enough, and its differences."""
    shut = _closed(case, division, public_cell(plan))
    return tuple(_one(case, group, plan, shut=group.name in shut) for group in division.groups)


def _one(case: ScoredCases, group: CaseGroup, plan: Plan, *, shut: bool) -> Measured:
    level, least = plan.report.confidence_level, Least.of(plan, group)
    part = case.part(case.among(group.mask), case.place.at(subgroup=group.name))
    positives, negatives = _classes(part.truth)
    prespecified = group.declared.prespecified is True
    facts = {
        "positives": positives,
        "negatives": negatives,
        "prespecified": prespecified,
        **each_alone(case, part),
    }

    def entry(name: str, e: Estimate, *, short: bool = False) -> Result:
        details = {} if shut else {**facts, "too_few": short}
        shown = suppressed(e, least.cell) if shut else e
        more: dict[str, Any] = {"details": details, "cases": part.key, "primary": True}
        return Result(VALUE, part.place, shown, endpoint=name, **more)

    results, counts = [], part.counts
    for cell in CELLS if counts is not None else ():
        n = getattr(counts, cell)
        results.append(entry(cell, Estimate(n, n, n, len(part), level, "count")))
    for name in measures_of(case):
        e, short = lead(part, name, level), least.short(name, positives, negatives)
        if short:
            shown = counts or ConfusionCounts(positives, 0, 0, negatives)
            e = without_value(e, too_few(name if counts else "", shown))
        results.append(entry(name, e if short else with_few(e, name, positives, negatives), short=short))
    results += _differences(case, group, plan, least, shut=shut)
    if shut:
        positives = negatives = 0
    return Measured(group, tuple(results), positives, negatives, shut)


def _classes(truth: NDArray[np.bool_]) -> tuple[int, int]:
    return int(truth.sum()), int((~truth).sum())


# ---------------------------------------------------------------- compared with the others


def _differences(
    case: ScoredCases, group: CaseGroup, plan: Plan, least: Least, *, shut: bool
) -> Iterator[Result]:
    """The difference between a group and those that it is compared with, endpoint by endpoint."""
    first, second = case.among(group.mask), case.among(group.against)
    if not second.any():
        return
    level = plan.report.confidence_level
    for name in measures_of(case):
        if name == "prevalence":
            continue
        of_areas = name == "auc"
        e = (
            _area_difference(case, first, second, level)
            if of_areas
            else _difference(case, first, second, name, level)
        )
        if shut:
            e = suppressed(e, least.cell)
        elif any(least.short(name, *_classes(case.truth[of])) for of in (first, second)):
            e = without_value(e, TOO_FEW_TO_COMPARE)
        key = case.part(first | second).key
        yield difference_entry(e, case.place.at(subgroup=group.name), name, group, cases=key)


def difference_entry(e: Estimate, place: Place, endpoint: str, group: CaseGroup, **more: Any) -> Result:
    """A comparison of a group; one of a group that was not fixed in advance says so."""
    if group.exploratory:
        e = replace(e, note="; ".join(filter(None, (e.note, "exploratory: not fixed in advance"))))
    chosen = {"against": group.against_name}
    details = {"prespecified": not group.exploratory}
    return Result(
        DIFFERENCE, place, e, endpoint=endpoint, parameters=chosen, details=details, primary=True, **more
    )


def _event_of(case: ScoredCases, name: str) -> tuple[Mask, Mask]:
    """What an endpoint counts, and among which cases."""
    truth, decision = case.truth, case.decision
    assert decision is not None
    among = {
        "accuracy": np.ones(truth.shape, bool),
        "sensitivity": truth,
        "specificity": ~truth,
        "ppv": decision,
        "npv": ~decision,
    }[name]
    return truth == decision, among


def _difference(case: ScoredCases, group: Mask, against: Mask, name: str, level: float) -> Estimate:
    event, among = _event_of(case, name)
    first, second = group & among, against & among
    if case.cluster is not None:
        return clustered_share_difference(event, first, second, case.cluster, level=level)
    x1, x2 = int((event & first).sum()), int((event & second).sum())
    return share_difference(x1, int(first.sum()), x2, int(second.sum()), level=level)


def _area_difference(case: ScoredCases, group: Mask, against: Mask, level: float) -> Estimate:
    truth, score, cluster = case.ranked
    of = case.scored | case.failed
    first, second = group[of], against[of]
    if cluster is not None:
        found = clustered_auc_difference(truth, score, first, second, cluster, level=level)
    else:
        found = unpaired_difference(truth[first], score[first], truth[second], score[second], level=level)
    return difference_in_range(found)


def _tests(
    case: ScoredCases, division: Division, measured: Sequence[Measured], plan: Plan
) -> Iterator[Result]:
    """Whether an endpoint is the same in all groups of an attribute (independent cases, groups apart)."""
    whole = not any(one.closed for one in measured)
    if not division.disjoint or case.cluster is not None or not whole:
        return
    level, kept = plan.report.confidence_level, len(division.groups)
    codes = division.codes[case.rows]
    more: dict[str, Any] = {
        "parameters": {"attribute": division.attribute},
        "cases": case.part(codes >= 0).key,
        "primary": True,
    }
    for name in COMPARED if case.decision is not None else ():
        event, among = _event_of(case, name)
        n = np.bincount(codes[among & (codes >= 0)], minlength=kept)
        x = np.bincount(codes[event & among & (codes >= 0)], minlength=kept)
        yield Result(
            f"{NAME}.interaction", case.place, equal_shares(x, n, level=level), endpoint=name, **more
        )
    if case.score is not None:
        truth, score, _ = case.ranked
        e = areas_alike(truth, score, codes[case.scored | case.failed], level=level)
        yield Result(f"{NAME}.interaction", case.place, e, endpoint="auc", **more)


# ---------------------------------------------------------------- what is not known


def _unknown(case: ScoredCases, division: Division, plan: Plan) -> Result:
    """How many cases have no value of an attribute."""
    n = int(np.count_nonzero(case.among(division.unknown)))
    return unknown_entry(n, len(case), case.place, plan, {"attribute": division.attribute}, case.key)


def unknown_entry(
    n: int, of: int, place: Place, plan: Plan, parameters: Mapping[str, Any], cases: str = ""
) -> Result:
    """How many of so many cases have no value of an attribute."""
    e, least = Estimate(n, n, n, of, plan.report.confidence_level, "count"), public_cell(plan)
    if closed((n,), least):
        e = suppressed(e, least)
    return Result(f"{NAME}.unknown", place, e, parameters=parameters, primary=True, cases=cases)


def _closed(case: ScoredCases, division: Division, least: int) -> set[str]:
    """The groups of which a public report shows nothing.

    One with a cell too small, or whose complement has one, since both are beside the total. Where a single
    group would be left out, what is left of the total would give it away: the smallest other one goes too.
    """
    if not least:
        return set()
    known = ~division.unknown
    shut = set()
    for group in division.groups:
        own, rest = (_cells(case, mask) for mask in (group.mask, known & ~group.mask))
        if closed((*own, *rest), least):
            shut.add(group.name)
    if len(shut) == 1 and len(division.groups) > 1:
        others = [g for g in division.groups if g.name not in shut]
        shut.add(min(others, key=lambda g: (int(case.among(g.mask).sum()), g.name)).name)
    return shut


def _cells(case: ScoredCases, mask: Mask) -> tuple[int, ...]:
    part = case.part(case.among(mask))
    counts = part.counts
    if counts is not None:
        return (counts.tp, counts.fp, counts.fn, counts.tn, counts.positives, counts.negatives)
    return _classes(part.truth)
