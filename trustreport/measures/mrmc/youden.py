"""Youden's index of readers: sensitivity + specificity - 1, with the inference of both classes together."""

from collections.abc import Sequence
from dataclasses import replace
from math import copysign, hypot, isnan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.crossed_clusters import SumOfClasses, independent_readings
from trustreport.measures.mrmc.in_range import by_score
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, obuchowski_rockette
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.note import NO_NOTE

MOVER = "mover"


def fit_youden(
    correct: NDArray[np.float64], truth: NDArray[np.bool_], less: float = 1.0
) -> ObuchowskiRockette:
    """Obuchowski-Rockette fit of J = sensitivity + specificity - 1, or of another sum of two classes.

    Positive and negative cases are drawn independently, so that the covariances of the two classes add up::

        Cov(J, J') = Cov(sensitivity, sensitivity') + Cov(specificity, specificity')

    Parameters
    ----------
    correct : float array, shape (n_arms, n_readers, n_cases)
        1.0 right, 0.0 wrong; no NaN. Times what a class weighs, for accuracy at a prevalence.
    truth : bool array, shape (n_cases,)
        Both classes occur.
    less : float
        What is taken off the sum of the classes' means: 1 for J, 0 for accuracy.

    Returns
    -------
    `theta` in [-1, 1].

    References
    ----------
    Youden (1950), Cancer 3, 32-35. Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput. 24, 285-308.
    """
    parts = [correct[:, :, of] for of in (truth, ~truth)]
    theta = proportions(parts[0]) + proportions(parts[1]) - less
    covariance = proportion_covariance(parts[0]) + proportion_covariance(parts[1])
    return obuchowski_rockette(theta, covariance, len(truth))


def youden_ustatistic(
    correct: NDArray[np.float64],
    truth: NDArray[np.bool_],
    *,
    centred: bool = False,
    cluster: Clusters | None = None,
    less: float = 1.0,
) -> SumOfClasses:
    """The U-statistic of J; parameters as in `fit_youden`, with NaN where there is no reading."""
    stacked = np.concatenate([np.where(of, correct, np.nan) for of in (truth, ~truth)])
    return SumOfClasses(ustatistic(stacked, centred=centred, cluster=cluster), len(correct), less)


def range_of_sum(weights: tuple[float, float], less: float) -> tuple[float, float]:
    """The least and the greatest of a weighted sum of two shares, less a constant.

    >>> range_of_sum((1.0, 1.0), 1.0), range_of_sum((-0.5, -0.5), -1.0)
    ((-1.0, 1.0), (0.0, 1.0))
    """
    return sum(min(of, 0.0) for of in weights) - less, sum(max(of, 0.0) for of in weights) - less


def youden_in_range(
    e: Estimate,
    classes: Sequence[NDArray[np.float64]],
    cases: Sequence[int],
    clusters: Sequence[Clusters | None] = (None, None),
    weights: tuple[float, float] = (1.0, 1.0),
    less: float = 1.0,
) -> Estimate:
    """J of one arm with limits from -1 to 1: `by_score`, and where nothing varies MOVER of both classes.

    (J + 1) / 2 is the mean of sensitivity and specificity; of n1 and n0 independent readings it has the
    variance of a share of 4 / (1 / n1 + 1 / n0), where both are alike; where the classes have the parts v and
    w of the sum, that of 1 / (v^2 / n1 + w^2 / n0).

    Parameters
    ----------
    e : Estimate
        J with its symmetric limits.
    classes : two float arrays, shape (n_readers, n_cases)
        What was right (1.0) and wrong (0.0) of the positive and of the negative cases, NaN no reading.
    cases : two int
        How many of each anybody read, of how many patients where several are of one.
    clusters : two int arrays, shape (n_cases,), optional
        Which of each are of one patient.
    weights, less : float
        What each class weighs in the sum, and what is taken off it: of accuracy at prevalence q (q, 1 - q)
        and 0.
    """
    low, high = range_of_sum(weights, less)
    n1, n0 = (
        float(np.count_nonzero(~np.isnan(of))) if own is None else independent_readings(of, own)
        for of, own in zip(classes, clusters)
    )
    if notes.NO_VARIATION not in e.note or not n1 * n0:
        v, w = (of / (high - low) for of in weights)
        most = 1 / (v * v / n1 + w * w / n0) if n1 * n0 else None
        return by_score(e, min(cases), low=low, high=high, most=most)
    of_class = [
        by_score(replace(e, value=float(np.nanmean(of)), n=of.size), n) for of, n in zip(classes, cases)
    ]
    return replace(sum_of(*of_class, less=less, weights=weights), n=e.n, note=notes.CASES_ONCE)


def sum_of(
    one: Estimate,
    other: Estimate,
    *,
    less: float = 0.0,
    weights: tuple[float, float] = (1.0, 1.0),
    correlation: float = 0.0,
) -> Estimate:
    """Weighted sum of the estimates of the two classes, less a constant, with the MOVER interval.

    With weights v and w, l and u the distances to lower and upper limits (to the other one where a weight is
    negative), and r the correlation of the two, 0 where no patient has cases of both::

        low  = sum - sqrt(v^2 l_a^2 + w^2 l_b^2 + 2 r v w l_a l_b)
        high = sum + sqrt(v^2 u_a^2 + w^2 u_b^2 + 2 r v w u_a u_b)

    The limits stay where those of the two do: |x| + |y| is never less than the root.

    Returns
    -------
    `n` counts both. NaN, or no limits, with the reason where one of the two has none.

    References
    ----------
    Zou, Donner (2008), Stat. Med. 27, 1693-1702.

    Examples
    --------
    >>> from trustreport.measures.proportion import wilson
    >>> print(sum_of(wilson(40, 50), wilson(45, 50), less=1))
    0.70 (95% CI 0.53 to 0.80; n = 100)
    """
    v, w = weights
    value = v * one.value + w * other.value
    reasons = sum((e.note for e in (one, other) if isnan(e.low)), NO_NOTE)
    clusters = [e.details["clusters"] for e in (one, other) if "clusters" in e.details]
    at_low = [e.low if of >= 0 else e.high for e, of in ((one, v), (other, w))]
    at_high = [e.high if of >= 0 else e.low for e, of in ((one, v), (other, w))]
    r = copysign(correlation, correlation * v * w)
    below, above = (
        hypot(a, b) if not correlation else sqrt(max(a * a + b * b + 2 * r * a * b, 0.0))
        for a, b in (
            (v * (one.value - at_low[0]), w * (other.value - at_low[1])),
            (v * (at_high[0] - one.value), w * (at_high[1] - other.value)),
        )
    )
    return Estimate(
        value - less,
        value - below - less,
        value + above - less,
        one.n + other.n,
        one.level,
        MOVER,
        reasons,
        details={"clusters": min(clusters)} if clusters else {},
    )
