"""Area under the ROC curve of each reader and arm: estimates, covariances over cases, and U-statistic."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, obuchowski_rockette
from trustreport.measures.mrmc.ustatistic import Sums, UStatistic, from_sums

CovarianceMethod = Literal["jackknife", "delong", "unbiased"]
COVARIANCE_METHODS: tuple[CovarianceMethod, ...] = ("jackknife", "delong", "unbiased")
BLOCK = 4_000_000  # comparisons held at once


def reader_auc(rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Area under the ROC curve, per arm and reader, over the cases that the reader rated in that arm.

    ::

        AUC = share of pairs of a positive and a negative case in which the positive is rated higher,
              equal ratings counting half

    Parameters
    ----------
    rating : float array, shape (n_arms, n_readers, n_cases)
        Higher = more suspicious; NaN no reading.
    truth : bool array, shape (n_cases,)
        True = condition present.

    Returns
    -------
    float array, shape (n_arms, n_readers)
        Each in [0, 1]; NaN where a reader rated no case of one class.

    Examples
    --------
    >>> reader_auc(np.array([[[1.0, 2, 2, 5]]]), np.array([False, False, True, True]))
    array([[0.875]])
    """
    areas = np.full(rating.shape[:2], np.nan)
    for arm, reader in np.ndindex(areas.shape):
        one = rating[arm, reader]
        rated = ~np.isnan(one)
        if (rated & truth).any() and (rated & ~truth).any():
            areas[arm, reader] = _placements(one[truth], one[~truth])[0].mean()
    return areas


def auc_covariance(
    rating: NDArray[np.float64], truth: NDArray[np.bool_], method: CovarianceMethod = "jackknife"
) -> NDArray[np.float64]:
    """Covariance, over cases, of the areas of all arms and readers; no reading may be missing.

    With A(-k) the area without case k, c cases, and psi the outcome of a pair (1, 1/2 or 0)::

        jackknife: (c-1)/c sum_k (A(-k) - mean)(A'(-k) - mean')
        delong:    Cov of the positives' mean psi / n1 + Cov of the negatives' mean psi / n0, divisors n - 1
        unbiased:  A A' - mean of psi psi' over pairs that share neither the positive nor the negative case

    Parameters
    ----------
    rating, truth
        As in `reader_auc`, without NaN.

    Returns
    -------
    float array, shape (n_arms * n_readers, n_arms * n_readers)
        Readers of the first arm first; NaN where a class has one case and the method needs two.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.
    Gallas, Bandos, Samuelson, Wagner (2009), Commun. Stat. Theory Methods 38, 2586-2603 (unbiased).
    """
    rows = rating.reshape(-1, rating.shape[-1])
    of_positives, of_negatives = (
        np.array(part) for part in zip(*(_placements(one[truth], one[~truth]) for one in rows))
    )
    n1, n0 = of_positives.shape[1], of_negatives.shape[1]
    if min(n1, n0) < 2:
        return np.full((len(rows), len(rows)), np.nan)
    area = of_positives.mean(axis=1, keepdims=True)
    if method == "delong":
        covariance = np.cov(of_positives) / n1 + np.cov(of_negatives) / n0
    elif method == "jackknife":
        without = np.hstack([(n1 * area - of_positives) / (n1 - 1), (n0 * area - of_negatives) / (n0 - 1)])
        centred = without - without.mean(axis=1, keepdims=True)
        covariance = (n1 + n0 - 1) / (n1 + n0) * centred @ centred.T
    else:
        both = _same_pair(rows[:, truth], rows[:, ~truth])
        same_positive = of_positives @ of_positives.T * n0**2
        same_negative = of_negatives @ of_negatives.T * n1**2
        product = area @ area.T
        apart = product * (n1 * n0) ** 2 - same_positive - same_negative + both
        covariance = product - apart / (n1 * (n1 - 1) * n0 * (n0 - 1))
    return np.atleast_2d(np.asarray(covariance, dtype=np.float64))


def fit_auc(
    rating: NDArray[np.float64], truth: NDArray[np.bool_], method: CovarianceMethod = "jackknife"
) -> ObuchowskiRockette:
    """Obuchowski-Rockette fit of the areas under the readers' ROC curves.

    A missing reading or an absent class is refused; parameters as in `auc_covariance`.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> truth = np.arange(80) < 40
    >>> rating = rng.normal(truth * np.array([1.0, 1.6])[:, None, None], 1, (2, 6, 80))
    >>> print(fit_auc(rating, truth).difference(1, 0))
    0.07 (95% CI 0.01 to 0.13; n = 480)
    """
    missing = int(np.isnan(rating).sum())
    if missing:
        raise ValueError(
            "Obuchowski-Rockette needs every reader to read every case in every arm; "
            f"{missing} of {rating.size} readings are missing. Use the U-statistic."
        )
    if truth.all() or not truth.any():
        raise ValueError(f"{notes.ONE_CLASS}; all {truth.size} cases have truth {bool(truth.all()):d}.")
    return obuchowski_rockette(reader_auc(rating, truth), auc_covariance(rating, truth, method), truth.size)


def auc_ustatistic(rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> UStatistic:
    """U-statistic of the area under the ROC curve, for any pattern of readings.

    A *comparison* is one reader's ratings of one positive and one negative case in one arm; all weigh alike.
    Parameters as in `reader_auc`. In a crossed design the mean is the mean of the readers' areas.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> truth = np.arange(80) < 40
    >>> rating = rng.normal(truth * np.array([1.0, 1.6])[:, None, None], 1, (2, 6, 80))
    >>> rating[rng.random(rating.shape) < 0.1] = np.nan
    >>> print(auc_ustatistic(rating, truth).difference(1, 0))
    0.06 (95% CI -0.02 to 0.13; n = 419)
    """
    arms, readers, _ = rating.shape
    positive, negative = rating[..., truth], rating[..., ~truth]
    rated_positive, rated_negative = (~np.isnan(part) for part in (positive, negative))
    won = np.zeros((arms, positive.shape[2], negative.shape[2]))
    inclusive, weight = np.zeros((2, arms, arms, 2, 2, 2))
    for j in range(readers):
        psi = np.stack([_kernel(positive[i, j], negative[i, j]) for i in range(arms)])
        won += psi
        inclusive[..., 1, :, :] += _by_cases(psi)
        weight[..., 1, :, :] += _weights(rated_positive[:, j] * 1.0, rated_negative[:, j] * 1.0)
    made = np.einsum("ija,ijb->iab", rated_positive * 1.0, rated_negative * 1.0, optimize=True)
    inclusive[..., 0, :, :] = _by_cases(won)
    weight[..., 0, :, :] = _by_cases(made)
    comparisons = made.sum(axis=(1, 2))
    means = np.where(comparisons > 0, won.sum(axis=(1, 2)) / np.maximum(comparisons, 1), np.nan)
    pairs = {(i, k): Sums(inclusive[i, k], weight[i, k]) for i in range(arms) for k in range(i, arms)}
    return from_sums(means, pairs, (~np.isnan(rating)).sum(axis=(1, 2)))


def _kernel(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> NDArray[np.float64]:
    """psi of every positive (rows) against every negative case; 0 where either was not rated."""
    above = np.greater.outer(positive, negative)
    return (above + 0.5 * np.equal.outer(positive, negative)).astype(np.float64, copy=False)


def _by_cases(psi: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of psi psi' for all pairs of arms; the last two axes: same positive case, same negative case."""
    arms = len(psi)
    of_positive, of_negative, flat = psi.sum(axis=2), psi.sum(axis=1), psi.reshape(arms, -1)
    total = of_positive.sum(axis=1)
    sums = np.empty((arms, arms, 2, 2))
    sums[..., 0, 0] = np.outer(total, total)
    sums[..., 1, 0] = of_positive @ of_positive.T
    sums[..., 0, 1] = of_negative @ of_negative.T
    sums[..., 1, 1] = flat @ flat.T
    return sums


def _weights(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> NDArray[np.float64]:
    """`_by_cases` of the comparisons one reader made: products of what that reader rated of each class."""
    n1, n0 = positive.sum(axis=1), negative.sum(axis=1)
    shared_positive, shared_negative = positive @ positive.T, negative @ negative.T
    sums = np.empty((len(n1), len(n1), 2, 2))
    sums[..., 0, 0] = np.outer(n1 * n0, n1 * n0)
    sums[..., 1, 0] = shared_positive * np.outer(n0, n0)
    sums[..., 0, 1] = shared_negative * np.outer(n1, n1)
    sums[..., 1, 1] = shared_positive * shared_negative
    return sums


def _placements(
    positive: NDArray[np.float64], negative: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean psi of each rated positive case over the negatives, and of each negative over the positives."""
    positive, negative = (part[~np.isnan(part)] for part in (positive, negative))
    up, down = np.sort(positive), np.sort(negative)
    of_positive = (np.searchsorted(down, positive, "left") + np.searchsorted(down, positive, "right")) / 2
    below = (np.searchsorted(up, negative, "left") + np.searchsorted(up, negative, "right")) / 2
    return of_positive / len(negative), 1 - below / len(positive)


def _same_pair(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of psi psi' over all pairs of cases, for all pairs of rows; in blocks of positive cases."""
    rows, n1 = positive.shape
    step = max(1, BLOCK // (rows * negative.shape[1]))
    total = np.zeros((rows, rows))
    for start in range(0, n1, step):
        some = positive[:, start : start + step, None]
        psi = ((some > negative[:, None]) + 0.5 * (some == negative[:, None])).reshape(rows, -1)
        total += psi @ psi.T
    return total
