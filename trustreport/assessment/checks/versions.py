"""Pitfalls of versions: several versions or thresholds in one set, or another version than declared."""

from collections.abc import Iterator

import numpy as np

from trustreport.assessment.checks.check import Check, Evidence, Remark
from trustreport.assessment.performance.cases import place_of_set
from trustreport.assessment.performance.readers import place_of_task
from trustreport.study.study import Scores
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place

DIMENSION = "vigilance"


def _scored(evidence: Evidence) -> Iterator[tuple[Place, Scores]]:
    """Every data set and candidate with its place."""
    for dataset in evidence.study.datasets:
        for candidate, scores in dataset.scores.items():
            yield place_of_set(dataset, candidate if len(dataset.scores) > 1 else None), scores


def versions_of(scores: Scores) -> list[str]:
    """The versions that the scores of a set name, in order of name."""
    if scores.version is None:
        return []
    codes = np.unique(scores.version.codes[scores.version.codes >= 0])
    return sorted(scores.version.labels[int(code)] for code in codes)


def mixture(evidence: Evidence) -> Iterator[Remark]:
    """P48: more than one software version, or decisions that no single threshold gives, in one set."""
    below = evidence.plan.operating_point.score_direction == "lower_is_positive"
    for place, scores in _scored(evidence):
        versions = versions_of(scores)
        both = scores.score is not None and scores.decision is not None
        if not versions and not both:
            continue
        message = say("checks.P48.fired", versions=versions) if len(versions) > 1 else None
        yield Remark(place, message or _thresholds(scores, below=below))


def _thresholds(scores: Scores, *, below: bool) -> Message | None:
    """What is wrong where positive and negative decisions overlap in their scores."""
    if scores.score is None or scores.decision is None:
        return None
    known = ~np.isnan(scores.score)
    called = [scores.score[known & (scores.decision == d)] for d in (1, 0)]
    if not all(part.size for part in called):
        return None
    positive, negative = called if not below else called[::-1]
    low, high = float(positive.min()), float(negative.max())
    return say("checks.P48.thresholds", low=low, high=high) if low <= high else None


def other_version(evidence: Evidence) -> Iterator[Remark]:
    """P49: scores, or readings with the aid, of another version than the manifest declares."""
    declared = evidence.plan.device.software_version
    vigilance = evidence.plan.vigilance
    known = {v for v in (declared, *((vigilance.versions_in_use if vigilance else None) or ())) if v}
    if not declared:
        return
    for place, scores in _scored(evidence):
        versions = versions_of(scores)
        if versions:
            other = [v for v in versions if v not in known]
            message = say("checks.P49.fired", versions=other, declared=sorted(known)) if other else None
            yield Remark(place, message)
    for arm in evidence.plan.arms:
        if arm.software_version and arm.is_aided:
            fires = arm.software_version not in known
            values = {"versions": [arm.software_version], "declared": sorted(known)}
            for place in _read_in(arm.arm, evidence):
                yield Remark(place, say("checks.P49.fired", **values) if fires else None)


def _read_in(arm: str, evidence: Evidence) -> Iterator[Place]:
    """The tasks and published tables that hold decisions of an arm."""
    study = evidence.study
    for readings in study.readings:
        if arm in readings.arms:
            yield place_of_task(readings, study).at(arm=arm)
    for counts in study.counts:
        if arm in counts.arms:
            yield Place(set=counts.name, arm=arm)
    for paired in study.paired_counts:
        yield Place(set=paired.set, arm=arm)


CHECKS = (
    Check("P48", DIMENSION, "B", mixture),
    Check("P49", DIMENSION, "B", other_version),
)
