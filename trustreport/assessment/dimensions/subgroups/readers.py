"""How much readers gain from the aid on the cases of each declared group, and whether groups differ in it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.subgroups.groups import (
    BENEFIT,
    CHANGE,
    GroupedCases,
    Least,
    Measured,
    with_few,
    without_value,
)
from trustreport.assessment.dimensions.subgroups.results import class_counts, difference_entry, unknown_entry
from trustreport.assessment.narrative.texts import title_of
from trustreport.assessment.performance.case_groups import (
    TOO_FEW_TO_COMPARE,
    CaseGroup,
    Division,
    Mask,
    closed_groups,
    divisions,
)
from trustreport.assessment.performance.keys import public_cell, suppressed
from trustreport.assessment.performance.reader_analysis import FIRST_COVARIANCE, ReaderEndpoint
from trustreport.assessment.performance.reader_endpoints import (
    INTERACTION,
    difference_of_changes,
    of_two_groups,
)
from trustreport.assessment.performance.readers import (
    endpoints,
    patients_of,
    place_of_task,
    primary_first,
    reading_key,
    same_order,
)
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.auc import auc_covariance, auc_ustatistic, reader_auc
from trustreport.measures.mrmc.crossed_clusters import areas_of_patients
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.note import note
from trustreport.measures.subgroups import effect_differences, leading_mode
from trustreport.study.clusters import of_part
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Floats, Labels, Readings, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

GREATEST = 2.0  # all readers gain everything in one group and lose everything in the other


def effects(study: Study, plan: Plan) -> Iterator[GroupedCases]:
    """Every task and contrast whose arms were both read."""
    for readings in study.readings:
        place = place_of_task(readings, study)
        for arms in plan.contrasts:
            if set(arms) <= set(readings.arms):
                yield _effect(readings, arms, plan, place)


def _effect(readings: Readings, arms: tuple[str, str], plan: Plan, place: Place) -> GroupedCases:
    level, found, truth = plan.report.confidence_level, divisions(plan, readings.cases), readings.cases.truth
    overall = {}
    if any(d.groups for d in found):
        for endpoint in primary_first(endpoints(readings, arms, level), readings, arms, plan):
            overall[endpoint.name] = endpoint.whole.lead_difference(level)
    unknown = {}
    for d in found:
        n, chosen = int(np.count_nonzero(d.unknown)), {"attribute": d.attribute, "of": "readings"}
        unknown[d.attribute] = unknown_entry(n, len(readings.cases), place, plan, chosen)
    return GroupedCases(
        name=title_of(readings, arms),
        place=place,
        level=level,
        divisions=tuple(found),
        groups={d.attribute: tuple(_measured(readings, arms, d, plan, place)) for d in found},
        overall=overall,
        unknown=unknown,
        n=int((truth >= 0).sum()),
        positives=int((truth == 1).sum()),
    )


def _measured(
    readings: Readings, arms: tuple[str, str], division: Division, plan: Plan, place: Place
) -> Iterator[Measured]:
    truth = readings.cases.truth
    shut = closed_groups(
        division, public_cell(plan), lambda mask: class_counts(truth[mask]), lambda mask: int(mask.sum())
    )
    for group in division.groups:
        there = place.narrowed(subgroup=group.name)
        yield _measured_group(readings, arms, group, plan, there, shut=group.name in shut)


def _measured_group(
    readings: Readings, arms: tuple[str, str], group: CaseGroup, plan: Plan, place: Place, *, shut: bool
) -> Measured:
    level, least = plan.report.confidence_level, Least.of_group(plan, group)
    positives, negatives = class_counts(readings.cases.truth[group.mask])
    own, others = (_with_endpoints(readings, mask, arms, level) for mask in (group.mask, group.against))
    facts = {"positives": positives, "negatives": negatives, "prespecified": not group.exploratory}
    cases = reading_key(of_cases(readings, group.mask)) if own else ""
    results: list[Result] = []
    for name, endpoint in own.items():
        short = least.short(name, positives, negatives)
        for r in _entries(endpoint, place, arms, level, cases):
            e = r.estimate
            if shut:
                e = suppressed(e, least.cell)
            elif short:
                e = without_value(
                    e, note("positives_and_negatives_too_few_for", positives=positives, negatives=negatives)
                )
            else:
                e = with_few(e, name, positives, negatives)
            results.append(replace(r, estimate=e, details={} if shut else {**facts, "too_few": short}))
        if name in others:
            analysis, e = _difference(endpoint, others[name], readings, group, level)
            if shut:
                e = suppressed(e, least.cell)
            elif short or least.short(name, *class_counts(readings.cases.truth[group.against])):
                e = without_value(e, TOO_FEW_TO_COMPARE)
            results.append(difference_entry(e, place.narrowed(arms=arms), name, group, analysis=analysis))
    if shut:
        positives = negatives = 0
    return Measured(group, tuple(results), positives, negatives, shut)


def _entries(
    endpoint: ReaderEndpoint, place: Place, arms: tuple[str, str], level: float, cases: str
) -> Iterator[Result]:
    """Both arm means and their difference, each by the primary analysis."""
    analysis = endpoint.whole
    found = [
        (f"{BENEFIT}.arm_mean", place.narrowed(arm=arm), analysis.arm_means(i, level))
        for i, arm in enumerate(arms)
    ]
    for id, there, estimates in (*found, (CHANGE, place.narrowed(arms=arms), analysis.differences(level))):
        first = analysis.first(estimates)
        more: dict[str, Any] = {"endpoint": endpoint.name, "analysis": first, "cases": cases}
        yield Result(id, there, estimates[first], primary=True, **more)


def _difference(
    endpoint: ReaderEndpoint, other: ReaderEndpoint, readings: Readings, group: CaseGroup, level: float
) -> tuple[str, Estimate]:
    """Gain in the group less gain in the others: the interaction of group and aid, and its analysis."""
    outcomes, patients = (endpoint.outcome, other.outcome), patients_of(readings)
    balanced = patients is None and not any(np.isnan(of).any() for of in outcomes)
    truth = readings.cases.truth
    own, rest = (np.flatnonzero(mask & (truth >= 0)) for mask in (group.mask, group.against))
    if endpoint.name in MEASURES:
        own, rest = (rows[MEASURES[endpoint.name].cases(truth[rows])] for rows in (own, rest))
    rows = np.concatenate([own, rest])
    cluster = None if patients is None else patients[rows]
    if endpoint.name != "auc":
        e = difference_of_changes(*outcomes, cluster, level)
    elif balanced:
        theta, covariance, n_cases = zip(
            *(_areas(of, truth[at] == 1) for of, at in zip(outcomes, (own, rest)))
        )
        found = effect_differences(theta, covariance, n_cases, level=level)
        e = found[leading_mode(found, endpoint.outcome.shape[1])]
    else:
        outcome, positive = of_two_groups(*outcomes), truth[rows] == 1
        gaps = any(np.isnan(of).any() for of in outcomes)
        made = (
            auc_ustatistic(outcome, positive, centred=True)
            if cluster is None
            else areas_of_patients(outcome, positive, cluster, gaps=gaps)
        )
        e = made.contrast(INTERACTION, level=level)
    e = difference_in_range(e, GREATEST)
    return f"{e.method}_{FIRST_COVARIANCE}" if balanced else e.method, e


def _areas(outcome: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, Floats, int]:
    """Every reader's area in both arms, their covariance over cases, and the cases."""
    return reader_auc(outcome, positive), auc_covariance(outcome, positive, "jackknife"), outcome.shape[2]


def _with_endpoints(
    readings: Readings, mask: Mask, arms: tuple[str, str], level: float
) -> dict[str, ReaderEndpoint]:
    """The endpoints of the readings of some cases, by name."""
    if not mask.any():
        return {}
    part = of_cases(readings, mask)
    same_order(part, readings, arms)
    return {one.name: one for one in endpoints(part, arms, level)}


def of_cases(readings: Readings, mask: Mask) -> Readings:
    """The readings of some cases, which are then counted from 1; what the endpoints need of them."""
    rows = mask[readings.case]
    place = np.cumsum(mask) - 1
    return Readings(
        readings.task,
        readings.arms,
        readings.readers,
        Cases(
            Labels(n=int(mask.sum())),
            readings.cases.truth[mask],
            readings.cases.classes,
            clustering=of_part(readings.cases, mask),
        ),
        readings.arm[rows],
        readings.reader[rows],
        place[readings.case[rows]].astype(np.int32),
        None if readings.decision is None else readings.decision[rows],
        None if readings.score is None else readings.score[rows],
        positive_from=readings.positive_from,
        sequential=readings.sequential,
    )
