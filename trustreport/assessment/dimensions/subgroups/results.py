"""How well the device does in each declared group of a data set, and how the groups compare.

Comparisons form families, of which the p-values are adjusted after Holm. What was fixed in advance is one
family, everything else another: looking further does not weaken what was planned, and is called exploratory.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.subgroups.groups import (
    DIFFERENCE,
    MAIN,
    NAME,
    VALUE,
    GroupedCases,
    Least,
    Measured,
    with_few,
    with_note,
    without_value,
)
from trustreport.assessment.performance.case_groups import (
    EXPLORATORY,
    NOT_FIXED,
    PRESPECIFIED,
    TOO_FEW_TO_COMPARE,
    CaseGroup,
    Division,
    Mask,
    closed_groups,
    divisions,
    families,
)
from trustreport.assessment.performance.cases import ScoredCases, scored_cases
from trustreport.assessment.performance.keys import case_key, closed, public_cell, suppressed
from trustreport.assessment.performance.measures import each_alone, lead, worst_of
from trustreport.assessment.performance.sites import EVENTS, Comparison
from trustreport.measures.association import equal_shares
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.note import Note, note
from trustreport.measures.roc.difference import unpaired_difference
from trustreport.measures.subgroups import (
    areas_alike,
    clustered_auc_difference,
    clustered_share_difference,
    equalised_odds_difference,
    share_difference,
)
from trustreport.study.plan import Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result

ODDS, TEST, WORST = (f"{NAME}.{name}" for name in ("equalised_odds_difference", "interaction", "worst_group"))
CELLS = ("tp", "fp", "fn", "tn")
COMPARED = ("accuracy", "sensitivity", "specificity", "ppv", "npv")
# What is planned for a group that was fixed in advance; the other measures follow from these.
PLANNED = MAIN
# A rate of errors is what is left of a share of right decisions: a comparison of one is that of the other.
ERRORS = {quantity(error).left_of: error for error in EVENTS.values()}


def measurements(study: Study, plan: Plan) -> Iterator[GroupedCases]:
    """Every data set of use, and every candidate."""
    for case in scored_cases(study, plan):
        if case.dataset.role not in DEVELOPMENT_ROLES:
            yield _measurement(case, plan)


def _measurement(case: ScoredCases, plan: Plan) -> GroupedCases:
    level, found = plan.report.confidence_level, divisions(plan, case.dataset.cases, case.dataset)
    groups = {d.attribute: tuple(_measured(case, d, plan)) for d in found}
    public = [d for d in found if not any(one.closed for one in groups[d.attribute])]
    further = [r for d in public for r in _tests(case, d, level)]
    further += [r for d in public if (r := equalised_odds(case, d, plan))]
    every = [one for measured in groups.values() for one in measured if not one.closed]
    unknown = {}
    for d in found:
        n = int(np.count_nonzero(case.among(d.unknown)))
        chosen = {"attribute": d.attribute}
        entry = unknown_entry(n, len(case), case.place, plan, chosen, case.key)
        if case.shared is not None and any(one.closed for one in groups[d.attribute]):
            entry = replace(entry, estimate=suppressed(entry.estimate, case.shared.fewest))
        unknown[d.attribute] = entry
    return GroupedCases(
        name=case.name,
        place=case.place,
        level=level,
        divisions=tuple(found),
        groups=groups,
        overall={name: lead(case, name, level) for name in MAIN if name in measures_of(case)},
        unknown=unknown,
        n=len(case),
        positives=int(case.truth.sum()),
        further=(*further, *_worst(case, every, level)),
        case=case,
    )


def measures_of(case: ScoredCases) -> list[str]:
    """What is measured in each group: shares where there are decisions, the area where there are scores."""
    shares = ("prevalence", *COMPARED) if case.decision is not None else ()
    return [*shares, *(("auc",) if case.score is not None else ())]


def _measured(case: ScoredCases, division: Division, plan: Plan) -> Iterator[Measured]:
    """Each group of an attribute: its numbers where it is large enough, and its differences."""

    def size(mask: Mask) -> int:
        """The number of cases behind a mask."""
        return int(case.among(mask).sum())

    def counts(mask: Mask) -> tuple[int, ...]:
        """The cells of the decisions where there are any, and the sizes of both classes."""
        part = case.part(case.among(mask))
        cells = part.counts
        own = () if cells is None else (cells.tp, cells.fp, cells.fn, cells.tn)
        return *own, *class_counts(part.truth)

    shut = closed_groups(division, public_cell(plan), counts, size)
    if case.shared is not None and any(g.name in case.shared.withheld_groups for g in division.groups):
        shut = {group.name for group in division.groups}  # what they are compared with is not known either
    for group in division.groups:
        yield _measured_group(case, group, plan, shut=group.name in shut)


def _measured_group(case: ScoredCases, group: CaseGroup, plan: Plan, *, shut: bool) -> Measured:
    level, least = plan.report.confidence_level, Least.of_group(plan, group)
    if shut and case.shared is not None:
        least = replace(least, cell=max(least.cell, case.shared.fewest))
    part = case.part(case.among(group.mask), case.place.narrowed(subgroup=group.name))
    positives, negatives = class_counts(part.truth)
    facts = {
        "positives": positives,
        "negatives": negatives,
        "prespecified": not group.exploratory,
        **each_alone(case, part),
    }

    def entry(name: str, e: Estimate, *, short: bool = False) -> Result:
        """A measure of the group; suppressed where the group is too small to be shown."""
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


def class_counts(truth: NDArray[Any]) -> tuple[int, int]:
    """How many cases have the condition, and how many have not."""
    return int((truth == 1).sum()), int((truth == 0).sum())


def too_few(endpoint: str, counts: ConfusionCounts) -> Note:
    """What is said of a group in place of a percentage."""
    if endpoint == "sensitivity":
        return note("too_few_positives_detected", k=counts.tp, n=counts.positives)
    if endpoint == "specificity":
        return note("too_few_negatives_cleared", k=counts.tn, n=counts.negatives)
    return note("too_few_of_both_classes", positives=counts.positives, negatives=counts.negatives)


def unknown_entry(
    n: int, of: int, place: Place, plan: Plan, parameters: Mapping[str, Any], cases: str = ""
) -> Result:
    """How many of so many cases have no value of an attribute."""
    e, least = Estimate(n, n, n, of, plan.report.confidence_level, "count"), public_cell(plan)
    if closed((n,), least):
        e = suppressed(e, least)
    return Result(f"{NAME}.unknown", place, e, parameters=parameters, primary=True, cases=cases)


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
        if name == "auc":
            e = _area_difference(case, first, second, level)
        else:
            e = _share_difference(case, first, second, name, level)
        if shut:
            e = suppressed(e, least.cell)
        elif any(least.short(name, *class_counts(case.truth[of])) for of in (first, second)):
            e = without_value(e, TOO_FEW_TO_COMPARE)
        key = case.part(first | second).key
        yield difference_entry(e, case.place.narrowed(subgroup=group.name), name, group, cases=key)


def difference_entry(e: Estimate, place: Place, endpoint: str, group: CaseGroup, **more: Any) -> Result:
    """A comparison of a group; one of a group that was not fixed in advance says so."""
    if group.exploratory:
        e = with_note(e, note=NOT_FIXED)
    more |= {
        "parameters": {"against": group.against_name},
        "details": {"prespecified": not group.exploratory},
    }
    return Result(DIFFERENCE, place, e, endpoint=endpoint, primary=True, **more)


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


def _share_difference(case: ScoredCases, group: Mask, against: Mask, name: str, level: float) -> Estimate:
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


def _tests(case: ScoredCases, division: Division, level: float) -> Iterator[Result]:
    """Whether an endpoint is the same in all groups of an attribute (independent cases, groups apart)."""
    if not division.disjoint or case.cluster is not None:
        return
    codes, kept = division.codes[case.rows], len(division.groups)

    def entry(name: str, e: Estimate) -> Result:
        """A test of whether the groups of the attribute differ."""
        chosen, key = {"attribute": division.attribute}, case.part(codes >= 0).key
        return Result(TEST, case.place, e, endpoint=name, parameters=chosen, cases=key, primary=True)

    for name in COMPARED if case.decision is not None else ():
        event, among = _event_of(case, name)
        n, x = (np.bincount(codes[of & (codes >= 0)], minlength=kept) for of in (among, event & among))
        yield entry(name, equal_shares(x, n, level=level))
    if case.score is not None:
        truth, score, _ = case.ranked
        yield entry("auc", areas_alike(truth, score, codes[case.scored | case.failed], level=level))


def equalised_odds(case: ScoredCases, division: Division, plan: Plan) -> Result | None:
    """The largest difference between groups in either rate; None without decisions or where groups overlap.

    A group too small for a percentage of its own is left out, and the note names it.
    """
    if case.decision is None or not division.disjoint:
        return None
    codes, left_out = division.codes[case.rows], []
    for i, group in enumerate(division.groups):
        own, least = codes == i, Least.of_group(plan, group)
        if any(least.short(name, *class_counts(case.truth[own])) for name in ("sensitivity", "specificity")):
            codes = np.where(own, -1, codes)
            left_out.append(group.name)
    level = plan.report.confidence_level
    e = equalised_odds_difference(case.truth, case.decision, codes, case.cluster, level=level)
    if left_out:
        e = with_note(e, note=note("left_out_too_few_cases", names=", ".join(left_out)))
    return Result(
        ODDS,
        case.place,
        e,
        parameters={"attribute": division.attribute},
        details={"prespecified": not any(group.exploratory for group in division.groups)},
        cases=case.part(codes >= 0).key,
        primary=True,
    )


def _worst(case: ScoredCases, every: Sequence[Measured], level: float) -> Iterator[Result]:
    """The group in which each main measure is worst, of all groups of which a report shows it."""
    for name in ("accuracy", *MAIN):
        shown = [one for one in every if (e := one.value(name)) and isfinite(e.value)]
        found = worst_of([(one.name, case.part(case.among(one.group.mask))) for one in shown], name, level)
        if found is not None:
            group, part, e = found
            yield Result(
                WORST,
                case.place,
                e,
                endpoint=name,
                parameters={"groups": len(shown)},
                details={"group": group, **each_alone(case, part)},
                cases=part.key,
                primary=True,
            )


def adjusted(found: GroupedCases) -> GroupedCases:
    """The same groups; each comparison says its family, the size of it, and its adjusted p-value.

    Two comparisons that are each other's mirror (women against the rest, men against the rest) are one test,
    and count once. One that was planned is not tested again where somebody looked further.
    """
    pairs = found.comparisons
    tests = [(test_of(one, r), family_of(one, r) == PRESPECIFIED, r.estimate.p) for one, r in pairs]
    known = {id(r): more for (_, r), more in zip(pairs, families(tests))}

    def with_family(r: Result) -> Result:
        """A difference with its p-value adjusted within its family; any other result as it is."""
        return replace(r, details={**r.details, **known[id(r)]}) if id(r) in known else r

    groups = {
        attribute: tuple(replace(m, results=tuple(map(with_family, m.results))) for m in measured)
        for attribute, measured in found.groups.items()
    }
    return replace(found, groups=groups)


def family_of(one: Measured, r: Result) -> str:
    """The family that a comparison was declared for; of readers every endpoint is planned."""
    planned = r.place.arms or r.endpoint in PLANNED
    return PRESPECIFIED if planned and not one.group.exploratory else EXPLORATORY


def test_of(one: Measured, r: Result) -> Any:
    """What makes two comparisons one test: the endpoint, and the two groups of cases in either order."""
    return r.endpoint, frozenset((one.group.mask.tobytes(), one.group.against.tobytes()))


def tested(found: Iterable[GroupedCases]) -> dict[Comparison, Result]:
    """The comparisons of shares of errors within a data set, by what makes another one the same."""
    known: dict[Comparison, Result] = {}
    for grouped in found:
        case = grouped.case
        for one, r in grouped.comparisons if case is not None else ():
            error = ERRORS.get(r.endpoint)
            if case is not None and error is not None and not isnan(r.estimate.p):
                masks = (one.group.mask, one.group.against)
                sides = frozenset(_class_key(case, mask, r.endpoint) for mask in masks)
                known[case.place.candidate or "", error, sides] = r
    return known


def _class_key(case: ScoredCases, group: Mask, endpoint: str) -> str:
    """Which cases of a group a share of its class is of."""
    among = case.truth if endpoint == "sensitivity" else ~case.truth
    return case_key(case.dataset.name, case.dataset.cases.labels, case.rows[case.among(group) & among])
