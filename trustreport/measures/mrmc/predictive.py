"""Predictive values of each reader: a ratio whose denominator is drawn too, hence the jackknife."""

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, obuchowski_rockette


def fit_ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> ObuchowskiRockette | None:
    """Obuchowski-Rockette fit of ratios of sums, such as a PPV: true positives over all called positive.

    With N and D the sums over cases, n_k and d_k those of case k, c cases::

        theta = N / D,  theta(-k) = (N - n_k) / (D - d_k)
        Cov = (c-1)/c sum_k (theta(-k) - mean)(theta'(-k) - mean')

    Estimand: the mean of the readers' ratios; over all readings together, readers who call more count more.

    Parameters
    ----------
    numerator, denominator : float array, shape (n_arms, n_readers, n_cases)
        What each reading adds; no NaN.

    Returns
    -------
    ObuchowskiRockette, or None where a reader has no ratio with all cases, or with all but one.

    Examples
    --------
    >>> called = np.array([[[1.0, 1, 1, 0, 1, 0]]])
    >>> print(fit_ratio(called * np.array([1.0, 1, 0, 0, 1, 1]), called).theta)
    [[0.75]]
    """
    arms, readers, n_cases = numerator.shape
    above, below = (part.reshape(arms * readers, n_cases) for part in (numerator, denominator))
    rest = below.sum(axis=1, keepdims=True) - below
    if n_cases < 2 or not (rest > 0).all():
        return None
    without = (above.sum(axis=1, keepdims=True) - above) / rest
    centred = without - without.mean(axis=1, keepdims=True)
    covariance = (n_cases - 1) / n_cases * centred @ centred.T
    theta = (above.sum(axis=1) / below.sum(axis=1)).reshape(arms, readers)
    return obuchowski_rockette(theta, covariance, n_cases)
