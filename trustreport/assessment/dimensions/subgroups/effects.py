"""How much readers gain from the aid on the cases of each declared group, and whether groups differ in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.subgroups.entries import Measured, difference_entry, unknown_entry
from trustreport.assessment.dimensions.subgroups.groups import CaseGroup, Division, Mask, divisions
from trustreport.assessment.dimensions.subgroups.small import (
    TOO_FEW_TO_COMPARE,
    Least,
    with_few,
    without_value,
)
from trustreport.assessment.performance.keys import closed, public_cell, suppressed
from trustreport.assessment.performance.reader_analysis import FIRST_COVARIANCE, ReaderEndpoint
from trustreport.assessment.performance.readers import (
    endpoints,
    patients_of,
    place_of_task,
    primary_first,
    reading_key,
    same_order,
)
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.auc import auc_covariance, auc_ustatistic, reader_auc
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.crossed_clusters import areas_of_patients, means_of_patients
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.subgroups import effect_differences, leading_mode
from trustreport.study.clusters import of_part
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Floats, Labels, Readings, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

BENEFIT = "decision_benefit"
NAME = "subgroups"
# Gain in the first group less gain in the second, as arms: compared and baseline of either group.
INTERACTION = np.array([1.0, -1.0, -1.0, 1.0])
CLASSES = {"sensitivity": 1, "specificity": 0}
GREATEST = 2.0  # all readers gain everything in one group and lose everything in the other
TOO_FEW_FOR_EFFECT = "{positives} positives and {negatives} negatives; too few for an effect"


@dataclass(frozen=True, eq=False)
class Effect:
    """The groups of the cases of a task and contrast, with their results."""

    readings: Readings
    arms: tuple[str, str]
    place: Place
    divisions: tuple[Division, ...]
    groups: Mapping[str, tuple[Measured, ...]]
    overall: Mapping[str, Estimate]
    unknown: Mapping[str, Result] = field(default_factory=dict)

    @property
    def results(self) -> list[Result]:
        """Every entry, in the order reported."""
        found = [r for groups in self.groups.values() for one in groups for r in one.results]
        return [*found, *self.unknown.values()]


def effects(study: Study, plan: Plan) -> Iterator[Effect]:
    """Every task and contrast whose arms were both read."""
    for readings in study.readings:
        place = place_of_task(readings, study)
        for arms in plan.contrasts:
            if set(arms) <= set(readings.arms):
                yield _effect(readings, arms, plan, place)


def _effect(readings: Readings, arms: tuple[str, str], plan: Plan, place: Place) -> Effect:
    level = plan.report.confidence_level
    found = divisions(plan, readings.cases)
    by_attribute = {d.attribute: _measured(readings, arms, d, plan, place) for d in found}
    overall = {}
    if any(d.groups for d in found):
        for endpoint in primary_first(endpoints(readings, arms, level), readings, arms, plan):
            overall[endpoint.name] = endpoint.whole.lead_difference(level)
    unknown = {d.attribute: _unknown(readings.cases, d, plan, place) for d in found}
    return Effect(readings, arms, place, tuple(found), by_attribute, overall, unknown)


def _measured(
    readings: Readings, arms: tuple[str, str], division: Division, plan: Plan, place: Place
) -> tuple[Measured, ...]:
    shut = _closed(readings.cases.truth, division, public_cell(plan))
    return tuple(
        _one(readings, arms, group, plan, place, shut=group.name in shut) for group in division.groups
    )


def _one(
    readings: Readings,
    arms: tuple[str, str],
    group: CaseGroup,
    plan: Plan,
    place: Place,
    *,
    shut: bool,
) -> Measured:
    level, least = plan.report.confidence_level, Least.of(plan, group)
    truth = readings.cases.truth[group.mask]
    positives, negatives = int((truth == 1).sum()), int((truth == 0).sum())
    facts = {"positives": positives, "negatives": negatives, "prespecified": not group.exploratory}
    there, inside = place.at(subgroup=group.name), of_cases(readings, group.mask)
    own = _with_endpoints(readings, group.mask, arms, level)
    others = _with_endpoints(readings, group.against, arms, level)
    few = _classes(readings.cases.truth[group.against])
    results: list[Result] = []
    for name, endpoint in own.items():
        short = least.short(name, positives, negatives)
        for r in _entries(endpoint, there, arms, level, reading_key(inside)):
            e = r.estimate
            if shut:
                e = suppressed(e, least.cell)
            elif short:
                e = without_value(e, TOO_FEW_FOR_EFFECT.format(positives=positives, negatives=negatives))
            else:
                e = with_few(e, name, positives, negatives)
            results.append(replace(r, estimate=e, details={} if shut else {**facts, "too_few": short}))
        if name in others:
            analysis, e = _difference(endpoint, others[name], readings, group, level)
            if shut:
                e = suppressed(e, least.cell)
            elif short or least.short(name, *few):
                e = without_value(e, TOO_FEW_TO_COMPARE)
            results.append(difference_entry(e, there.at(arms=arms), name, group, analysis=analysis))
    if shut:
        positives = negatives = 0
    return Measured(group, tuple(results), positives, negatives, shut)


def _classes(truth: NDArray[np.int8]) -> tuple[int, int]:
    return int((truth == 1).sum()), int((truth == 0).sum())


def _entries(
    endpoint: ReaderEndpoint, place: Place, arms: tuple[str, str], level: float, cases: str
) -> Iterator[Result]:
    """Both arm means and their difference, each by the primary analysis."""
    analysis = endpoint.whole
    of: dict[str, Any] = {"endpoint": endpoint.name, "primary": True, "cases": cases}
    for i, arm in enumerate(arms):
        means = analysis.arm_means(i, level)
        first = analysis.first(means)
        yield Result(f"{BENEFIT}.arm_mean", place.at(arm=arm), means[first], analysis=first, **of)
    differences = analysis.differences(level)
    first = analysis.first(differences)
    contrast = place.at(arms=arms)
    yield Result(f"{BENEFIT}.arm_difference", contrast, differences[first], analysis=first, **of)


def _difference(
    endpoint: ReaderEndpoint, other: ReaderEndpoint, readings: Readings, group: CaseGroup, level: float
) -> tuple[str, Estimate]:
    """Gain in the group less gain in the others: the interaction of group and aid, and its analysis."""
    if patients_of(readings) is not None or np.isnan(endpoint.outcome).any() or np.isnan(other.outcome).any():
        e = _unbalanced(endpoint, other, readings, group, level)
        return e.method, e
    parts = [
        _fitted(one, readings.cases.truth[mask])
        for one, mask in ((endpoint, group.mask), (other, group.against))
    ]
    theta, covariance, n_cases = zip(*parts)
    found = effect_differences(theta, covariance, n_cases, level=level)
    e = difference_in_range(found[leading_mode(found, endpoint.outcome.shape[1])], GREATEST)
    return f"{e.method}_{FIRST_COVARIANCE}", e


def _fitted(endpoint: ReaderEndpoint, truth: NDArray[np.int8]) -> tuple[Floats, Floats, int]:
    """Every reader's endpoint in both arms, their covariance over cases, and the cases."""
    outcome = endpoint.outcome
    if endpoint.name != "auc":
        return proportions(outcome), proportion_covariance(outcome), outcome.shape[2]
    positive = truth[truth >= 0] == 1
    return reader_auc(outcome, positive), auc_covariance(outcome, positive, "jackknife"), outcome.shape[2]


def _unbalanced(
    endpoint: ReaderEndpoint, other: ReaderEndpoint, readings: Readings, group: CaseGroup, level: float
) -> Estimate:
    """The same with gaps, or with several cases of a patient.

    Both arms of either group are four arms, empty on the cases of the other group.
    """
    n, m = endpoint.outcome.shape[2], other.outcome.shape[2]
    outcome = np.full((4, endpoint.outcome.shape[1], n + m), np.nan)
    outcome[:2, :, :n] = endpoint.outcome
    outcome[2:, :, n:] = other.outcome
    truth = readings.cases.truth
    own, rest = (np.flatnonzero(mask & (truth >= 0)) for mask in (group.mask, group.against))
    if endpoint.name in CLASSES:
        own, rest = (rows[truth[rows] == CLASSES[endpoint.name]] for rows in (own, rest))
    rows = np.concatenate([own, rest])
    positive, cluster = truth[rows] == 1, patients_of(readings)
    if cluster is not None:
        gaps = bool(np.isnan(endpoint.outcome).any() or np.isnan(other.outcome).any())
        made = (
            areas_of_patients(outcome, positive, cluster[rows], gaps=gaps)
            if endpoint.name == "auc"
            else means_of_patients(outcome, cluster[rows], gaps=gaps)
        )
        return difference_in_range(made.contrast(INTERACTION, level=level), GREATEST)
    if endpoint.name != "auc":
        found = ustatistic(outcome, centred=True).contrast(INTERACTION, level=level)
        return difference_in_range(found, GREATEST)
    found = auc_ustatistic(outcome, positive, centred=True).contrast(INTERACTION, level=level)
    return difference_in_range(found, GREATEST)


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


def _unknown(cases: Cases, division: Division, plan: Plan, place: Place) -> Result:
    n = int(np.count_nonzero(division.unknown))
    return unknown_entry(n, len(cases), place, plan, {"attribute": division.attribute, "of": "readings"})


def _closed(truth: NDArray[np.int8], division: Division, least: int) -> set[str]:
    """The groups of which a public report shows nothing, by their positives and negatives."""
    if not least:
        return set()
    known = ~division.unknown
    shut = {
        group.name
        for group in division.groups
        if closed((*_classes(truth[group.mask]), *_classes(truth[known & ~group.mask])), least)
    }
    if len(shut) == 1 and len(division.groups) > 1:
        others = [g for g in division.groups if g.name not in shut]
        shut.add(min(others, key=lambda g: (int(g.mask.sum()), g.name)).name)
    return shut
