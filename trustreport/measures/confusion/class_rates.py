"""Sensitivity and specificity in one number, free of the prevalence: Youden's J and balanced accuracy."""

from dataclasses import replace

from trustreport.estimate import Estimate, undefined
from trustreport.measures.confusion import notes
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.formulas import FORMULAS
from trustreport.measures.two_arm.difference import newcombe


def youden_j(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Sensitivity + specificity - 1: share called positive among positives minus that among negatives.

    Estimand: the same in the population; cases of the two classes independent, hence Newcombe's interval
    for a difference.

    References
    ----------
    Youden (1950), Cancer 3, 32-35.

    Examples
    --------
    >>> print(youden_j(ConfusionCounts(97, 12, 46, 55)))
    0.50 (95% CI 0.36 to 0.60; n = 210)
    """
    missing = one_class(counts)
    if missing:
        return undefined(counts.n, missing, level=level, method="newcombe")
    estimate = newcombe(counts.tp, counts.positives, counts.fp, counts.negatives, level)
    return replace(estimate, value=FORMULAS["youden_j"](counts.tp, counts.fp, counts.fn, counts.tn))


def balanced_accuracy(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Mean of sensitivity and specificity, (J + 1) / 2 with J of `youden_j`.

    >>> print(balanced_accuracy(ConfusionCounts(97, 12, 46, 55)))
    0.75 (95% CI 0.68 to 0.80; n = 210)
    """
    j = youden_j(counts, level=level)
    if j.note:
        return j
    value = FORMULAS["balanced_accuracy"](counts.tp, counts.fp, counts.fn, counts.tn)
    return replace(j, value=value, low=(1 + j.low) / 2, high=(1 + j.high) / 2)


def one_class(counts: ConfusionCounts) -> str:
    """Which class is absent, or nothing."""
    if counts.n == 0:
        return notes.NO_CASE
    return (
        ""
        if counts.positives and counts.negatives
        else (notes.NO_NEGATIVE if counts.positives else notes.NO_POSITIVE)
    )
