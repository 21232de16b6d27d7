"""The operating point that a utility calls for."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from trustreport.measures.roc.curve import RocCurve
from trustreport.measures.utility.matrices import as_matrix, right_decisions_pay


@dataclass(frozen=True, slots=True)
class BestPoint:
    """The point of an ROC curve with the greatest yield at a prevalence.

    `slope` is that of the lines of equal yield, `intercept` the height at which the best one meets the
    sensitivity axis (NaN when the slope is infinite).
    """

    threshold: float
    fpr: float
    tpr: float
    expected_yield: float
    slope: float
    intercept: float


def equal_yield_slope(utility: ArrayLike, prevalence: float) -> float:
    """Sensitivity that must be gained for a unit of false positive rate to leave the yield unchanged.

    With the negative class first and q the prevalence of the positive one::

        slope = (U_00 - U_10) (1 - q) / ((U_11 - U_01) q)

    which is (U_11 - U_01)(1 - B) / ((U_00 - U_10) B) where class 0 is the one looked for, with share B.

    References
    ----------
    Metz (1978), Semin. Nucl. Med. 8, 283-298, p. 295.
    Dyrland, Lundervold, Porta Mana, "Does the evaluation stand up to evaluation?", eqs 23 and 24.
    """
    of_negatives, of_positives = _stakes(utility, prevalence)
    return of_negatives / of_positives if of_positives > 0 else inf


def best_point(curve: RocCurve, utility: ArrayLike, prevalence: float) -> BestPoint:
    """The threshold whose decisions are worth most; of several the highest.

    A corner of the upper convex hull, where a line of that slope touches the curve. The yield there is
    optimistic if the threshold is chosen on the cases on which it is measured.

    Parameters
    ----------
    utility : array, shape (2, 2)
        Rows decisions, columns truths, negative class first; in either truth the right decision must be worth
        at least as much as the wrong one.
    prevalence : float in (0, 1)
        That of the population in which the model is to be used.
    """
    of_negatives, of_positives = _stakes(utility, prevalence)
    matrix = as_matrix(utility)
    gained = of_positives * curve.tpr - of_negatives * curve.fpr
    at = int(np.argmax(np.round(gained / max(of_positives, of_negatives), 12)))
    base = matrix[0, 0] * (1 - prevalence) + matrix[0, 1] * prevalence
    slope = equal_yield_slope(utility, prevalence)
    fpr, tpr = float(curve.fpr[at]), float(curve.tpr[at])
    intercept = tpr - slope * fpr if slope < inf else float("nan")
    return BestPoint(float(curve.threshold[at]), fpr, tpr, float(base + gained[at]), slope, intercept)


def dominates(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether decisions with this (sensitivity, specificity) are worth more whatever the utilities.

    True when neither rate is lower and one is higher: then the yield is at least as high for every matrix in
    which right decisions pay, at any prevalence.
    """
    return all(a >= b for a, b in zip(one, other)) and one != other


def not_dominated(rates: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Candidates (sensitivity, specificity) that no other candidate dominates."""
    return tuple(i for i, own in enumerate(rates) if not any(dominates(other, own) for other in rates))


def _stakes(utility: ArrayLike, prevalence: float) -> tuple[float, float]:
    """What a right decision adds in the negatives and in the positives, weighed by their shares."""
    matrix = as_matrix(utility)
    if matrix.shape != (2, 2):
        raise ValueError(f"an operating point needs two classes, got a matrix of shape {matrix.shape}.")
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence must lie in (0, 1), got {prevalence:g}.")
    of_negatives = float(matrix[0, 0] - matrix[1, 0]) * (1 - prevalence)
    of_positives = float(matrix[1, 1] - matrix[0, 1]) * prevalence
    if not right_decisions_pay(matrix) or of_negatives == of_positives == 0:
        raise ValueError("a wrong decision is worth more than the right one, or all are worth the same.")
    return of_negatives, of_positives
