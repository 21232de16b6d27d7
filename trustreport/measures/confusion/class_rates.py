"""Sensitivity and specificity in one number, free of the prevalence: Youden's J and balanced accuracy."""

from typing import Any

from trustreport.measures.confusion.measure import OfClasses, measured


@measured(
    OfClasses(-1.0, 1.0, 1.0, scale="atanh"),
    "positives",
    "negatives",
    unit="score",
    low=-1.0,
    decimals=2,
    of_readers=True,
)
def youden_j(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Sensitivity + specificity - 1: share called positive among positives minus that among negatives.

    Estimand: the same in the population; cases of the two classes independent, hence Newcombe's interval
    for a difference.

    References
    ----------
    Youden (1950), Cancer 3, 32-35.

    Examples
    --------
    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["youden_j"](ConfusionCounts(97, 12, 46, 55)))
    0.50 (95% CI 0.36 to 0.60; n = 210)
    """
    return (tp * tn - fp * fn) / ((tp + fn) * (fp + tn))


@measured(OfClasses(0.0, 0.5, 0.5), "positives", "negatives")
def balanced_accuracy(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Mean of sensitivity and specificity.

    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["balanced_accuracy"](ConfusionCounts(97, 12, 46, 55)))
    0.75 (95% CI 0.68 to 0.80; n = 210)
    """
    return (tp * (fp + tn) + tn * (tp + fn)) / (2 * (tp + fn) * (fp + tn))
