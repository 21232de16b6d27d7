"""Measures that are a share of counted cases: Wilson intervals."""

from dataclasses import replace

from trustreport.estimate import Estimate
from trustreport.measures.confusion import notes
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.proportion import wilson


def _share(x: int, n: int, level: float, none: str) -> Estimate:
    estimate = wilson(x, n, level)
    return estimate if n else replace(estimate, note=none)


def prevalence(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Share of cases that have the condition, (tp + fn) / n; Wilson interval.

    >>> print(prevalence(ConfusionCounts(97, 12, 46, 55)))
    0.68 (95% CI 0.62 to 0.74; n = 210)
    """
    return _share(counts.positives, counts.n, level, notes.NO_CASE)


def accuracy(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Share of right decisions, (tp + tn) / n; Wilson interval. Depends on the prevalence.

    >>> print(accuracy(ConfusionCounts(97, 12, 46, 55)))
    0.72 (95% CI 0.66 to 0.78; n = 210)
    """
    return _share(counts.tp + counts.tn, counts.n, level, notes.NO_CASE)


def sensitivity(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Share of cases with the condition that were called positive, tp / (tp + fn); Wilson interval.

    >>> print(sensitivity(ConfusionCounts(97, 12, 46, 55)))
    0.68 (95% CI 0.60 to 0.75; n = 143)
    """
    return _share(counts.tp, counts.positives, level, notes.NO_POSITIVE)


def specificity(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Share of cases without the condition that were called negative, tn / (fp + tn); Wilson interval.

    >>> print(specificity(ConfusionCounts(97, 12, 46, 55)))
    0.82 (95% CI 0.71 to 0.89; n = 67)
    """
    return _share(counts.tn, counts.negatives, level, notes.NO_NEGATIVE)


def ppv(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Share of positive decisions that are right, tp / (tp + fp); Wilson interval. Depends on the prevalence.

    >>> print(ppv(ConfusionCounts(97, 12, 46, 55)))
    0.89 (95% CI 0.82 to 0.94; n = 109)
    """
    return _share(counts.tp, counts.called_positive, level, notes.NONE_CALLED_POSITIVE)


def npv(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Share of negative decisions that are right, tn / (fn + tn); Wilson interval. Depends on the prevalence.

    >>> print(npv(ConfusionCounts(97, 12, 46, 55)))
    0.54 (95% CI 0.45 to 0.64; n = 101)
    """
    return _share(counts.tn, counts.called_negative, level, notes.NONE_CALLED_NEGATIVE)
