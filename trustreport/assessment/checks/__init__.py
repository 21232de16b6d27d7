"""The pitfall register: every check, grouped by dimension, in the order of its number."""

from trustreport.assessment.checks import (
    advice_accuracy,
    candidates,
    contradictions,
    data,
    decision_benefit,
    localisation,
    population,
    potential_robustness,
    pragmatic_utility,
    prespecification,
    reader_study,
    release,
    reliance,
    source_reliability,
    subgroups,
    time_to_event,
    versions,
    vigilance,
)
from trustreport.assessment.checks.check import Check, Evidence

__all__ = ["CHECKS", "Check", "Evidence"]

GROUPS = (
    advice_accuracy.CHECKS,
    time_to_event.CHECKS,
    pragmatic_utility.CHECKS,
    decision_benefit.CHECKS,
    reader_study.CHECKS,
    reliance.CHECKS,
    source_reliability.CHECKS,
    potential_robustness.CHECKS,
    versions.CHECKS,
    vigilance.CHECKS,
    prespecification.CHECKS,
    candidates.CHECKS,
    localisation.CHECKS,
    data.CHECKS,
    contradictions.CHECKS,
    population.CHECKS,
    subgroups.CHECKS,
    release.CHECKS,
)
CHECKS: tuple[Check, ...] = tuple(sorted((c for group in GROUPS for c in group), key=lambda check: check.id))
