"""The four cells of decisions against the truth, and what a test must achieve to move a risk far enough."""

from dataclasses import dataclass, fields
from math import nan
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate
from trustreport.measures.proportion import wilson

Treatment = Literal["wrong", "positive", "negative", "excluded"]


def _check(counts: "ConfusionCounts | ThreeWayCounts") -> None:
    for field in fields(counts):
        count = getattr(counts, field.name)
        if not (count >= 0 and count == int(count)):
            raise ValueError(f"{field.name} must be a count (0, 1, 2, ...), got {count}.")
        object.__setattr__(counts, field.name, int(count))


@dataclass(frozen=True, slots=True)
class ConfusionCounts:
    """Cases by decision and truth: true and false positives, false and true negatives.

    Whole numbers of any size, kept exactly.
    """

    tp: int
    fp: int
    fn: int
    tn: int

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    def of_decisions(cls, truth: NDArray[np.bool_], decision: NDArray[np.bool_]) -> Self:
        """Count the cases of two arrays, shape (n_cases,) each."""
        if truth.shape != decision.shape:
            raise ValueError(
                f"truth and decision must have one entry per case each, "
                f"got shapes {truth.shape} and {decision.shape}."
            )
        tp, called, present = (int(np.count_nonzero(x)) for x in (truth & decision, decision, truth))
        return cls(tp, called - tp, present - tp, truth.size - called - present + tp)

    @property
    def n(self) -> int:
        return self.positives + self.negatives

    @property
    def positives(self) -> int:
        """Cases with the condition."""
        return self.tp + self.fn

    @property
    def negatives(self) -> int:
        """Cases without the condition."""
        return self.fp + self.tn

    @property
    def called_positive(self) -> int:
        return self.tp + self.fp

    @property
    def called_negative(self) -> int:
        return self.fn + self.tn

    def swapped(self) -> "ConfusionCounts":
        """The same cases with the absence of the condition as what is looked for."""
        return ConfusionCounts(self.tn, self.fn, self.fp, self.tp)


@dataclass(frozen=True, slots=True)
class ThreeWayCounts:
    """Cases by decision and truth where the output may also be indeterminate (failed, rejected, unsure).

    Leaving indeterminate cases out flatters: `counted_as("wrong")` keeps them in every denominator.
    """

    tp: int
    fp: int
    fn: int
    tn: int
    indeterminate_positives: int = 0
    indeterminate_negatives: int = 0

    def __post_init__(self) -> None:
        _check(self)

    def counted_as(self, treatment: Treatment) -> ConfusionCounts:
        """Four cells from six.

        ::

            wrong     a positive case is analysed as fn, a negative one as fp (intention to diagnose)
            positive  as called positive, where the rule of use sends such cases on
            negative  as called negative
            excluded  left out; shown beside the others, never alone

        References
        ----------
        Schuetz, Schlattmann, Dewey (2012), BMJ 345, e6717 (intention to diagnose).
        Shinkins, Thompson, Mallett, Perera (2013), BMJ 346, f2778.
        """
        p, q = self.indeterminate_positives, self.indeterminate_negatives
        added = {
            "wrong": (0, q, p, 0),
            "positive": (p, q, 0, 0),
            "negative": (0, 0, p, q),
            "excluded": (0, 0, 0, 0),
        }
        if treatment not in added:
            raise ValueError(f"treatment must be one of {', '.join(added)}, got {treatment!r}.")
        tp, fp, fn, tn = added[treatment]
        return ConfusionCounts(self.tp + tp, self.fp + fp, self.fn + fn, self.tn + tn)

    def indeterminate(self, *, level: float = 0.95) -> Estimate:
        """Share of all cases with an indeterminate output, Wilson interval.

        >>> print(ThreeWayCounts(90, 10, 5, 80, 5, 10).indeterminate())
        0.07 (95% CI 0.05 to 0.12; n = 200)
        """
        x = self.indeterminate_positives + self.indeterminate_negatives
        return wilson(x, x + self.tp + self.fp + self.fn + self.tn, level)


def ratio_needed(before: float, after: float) -> float:
    """Likelihood ratio at which a result moves the risk from `before` to `after`.

    Odds after a result are the odds before it times the likelihood ratio::

        (after / (1 - after)) / (before / (1 - before))

    Of a positive result it is the least, of a negative result the greatest that is enough.

    Parameters
    ----------
    before, after : float in (0, 1)

    References
    ----------
    Deeks and Altman (2004), BMJ 329, 168-169.

    Examples
    --------
    Of 1,000 people with 100 ill, 90 ill and 180 healthy test positive: a risk of 90 in 270 after it.
    """
    for risk in (before, after):
        if not 0 < risk < 1:
            raise ValueError(f"a risk must lie in (0, 1), got {risk}")
    return after / (1 - after) / (before / (1 - before))


def sensitivity_needed(specificity: float, lr_positive: float = nan, lr_negative: float = nan) -> float:
    """Least sensitivity with which a test of this specificity has both likelihood ratios.

    ::

        max(lr_positive (1 - specificity), 1 - lr_negative specificity)

    Above 1 no sensitivity is enough. A ratio that is NaN is not asked for.
    """
    return _largest(lr_positive * (1 - specificity), 1 - lr_negative * specificity)


def specificity_needed(sensitivity: float, lr_positive: float = nan, lr_negative: float = nan) -> float:
    """Least specificity with which a test of this sensitivity has both likelihood ratios.

    ::

        max(1 - sensitivity / lr_positive, (1 - sensitivity) / lr_negative)

    Above 1 no specificity is enough. A ratio that is NaN is not asked for.
    """
    return _largest(1 - sensitivity / lr_positive, (1 - sensitivity) / lr_negative)


def least_pair(lr_positive: float, lr_negative: float) -> tuple[float, float]:
    """Sensitivity and specificity at which both likelihood ratios are just reached."""
    apart = lr_positive - lr_negative
    return lr_positive * (1 - lr_negative) / apart, (lr_positive - 1) / apart


def _largest(*asked: float) -> float:
    """The largest of what is asked for; NaN where nothing is."""
    return max((x for x in asked if x == x), default=nan)
