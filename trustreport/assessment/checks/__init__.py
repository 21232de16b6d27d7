"""The pitfall register: every check, grouped by dimension, in the order of its number."""

from trustreport.assessment.checks import (
    advice_accuracy,
    candidates,
    contradictions,
    independence,
    other_truths,
    population,
    potential_robustness,
    pragmatic_utility,
    prespecification,
    reader_study,
    reference,
    release,
    reliance,
    sites,
    vigilance,
)
from trustreport.assessment.checks.check import Check, Evidence

__all__ = ["CHECKS", "Check", "Evidence"]

GROUPS = (
    *(advice_accuracy, candidates, contradictions, independence, other_truths, population),
    *(potential_robustness, pragmatic_utility, prespecification, reader_study, reference),
    *(release, reliance, sites, vigilance),
)
CHECKS: tuple[Check, ...] = tuple(sorted((c for group in GROUPS for c in group.CHECKS), key=lambda c: c.id))
