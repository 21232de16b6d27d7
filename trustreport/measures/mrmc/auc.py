"""Area under the ROC curve of each reader and arm: estimates, covariances over cases, and U-statistic."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, obuchowski_rockette

CovarianceMethod = Literal["jackknife", "delong", "unbiased"]
COVARIANCE_METHODS: tuple[CovarianceMethod, ...] = ("jackknife", "delong", "unbiased")
BLOCK = 1_000_000  # outcomes of comparisons held at once
EXACT = 2**22  # so many products of 0, 1 and 2 add up without rounding in single precision


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
            areas[arm, reader] = placements(one[truth], one[~truth])[0].mean()
    return areas


def auc_covariance(
    rating: NDArray[np.float64],
    truth: NDArray[np.bool_],
    method: CovarianceMethod = "jackknife",
    *,
    alike: NDArray[np.float64] | None = None,
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
    alike : float array, optional
        `same_pair` of these ratings, where it is known; used by "unbiased".

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
        np.array(part) for part in zip(*(placements(one[truth], one[~truth]) for one in rows))
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
        both = same_pair(rating, truth) if alike is None else alike
        same_positive = of_positives @ of_positives.T * n0**2
        same_negative = of_negatives @ of_negatives.T * n1**2
        product = area @ area.T
        apart = product * (n1 * n0) ** 2 - same_positive - same_negative + both
        covariance = product - apart / (n1 * (n1 - 1) * n0 * (n0 - 1))
    return np.atleast_2d(np.asarray(covariance, dtype=np.float64))


def won_by_case(
    rating: NDArray[np.float64], truth: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Comparisons of each case: how many of them the positive case won, and how many there are.

    Parameters
    ----------
    rating, truth
        As in `reader_auc`.

    Returns
    -------
    won, made : float arrays, shape (n_arms, n_readers, n_cases)
        A tie is won by half; 0 for a case that was not rated.

    Examples
    --------
    >>> won, made = won_by_case(np.array([[[1.0, 2, 2, 5]]]), np.array([False, False, True, True]))
    >>> won, made
    (array([[[2. , 1.5, 1.5, 2. ]]]), array([[[2., 2., 2., 2.]]]))
    """
    rated = ~np.isnan(rating)
    won = np.zeros(rating.shape)
    positives, negatives = (np.count_nonzero(rated & of, axis=2)[..., None] for of in (truth, ~truth))
    made = np.where(rated, np.where(truth, negatives, positives), 0.0)
    for arm, reader in np.ndindex(rating.shape[:2]):
        one, known = rating[arm, reader], rated[arm, reader]
        if (known & truth).any() and (known & ~truth).any():
            of_positive, of_negative = placements(one[truth], one[~truth])
            won[arm, reader, known & truth] = of_positive
            won[arm, reader, known & ~truth] = of_negative
    return won * made, made


def won_within(
    rating: NDArray[np.float64], truth: NDArray[np.bool_], cluster: Clusters
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Comparisons within clusters: how many of them the positive case won, and how many there are.

    Parameters
    ----------
    cluster : int array, shape (n_cases,)

    Returns
    -------
    won, made : float arrays, shape (n_arms, n_readers, n_clusters), clusters in ascending order
    """
    names, index = np.unique(cluster, return_inverse=True)
    of_cluster = np.argsort(index, kind="stable")
    ends = np.cumsum(np.bincount(index))
    pairs = [
        (own[truth[own]][:, None] + 0 * own[~truth[own]], own[~truth[own]] + 0 * own[truth[own]][:, None])
        for own in np.split(of_cluster, ends[:-1])
    ]
    positive, negative = (np.concatenate([pair[i].ravel() for pair in pairs]) for i in (0, 1))
    won, made = (np.zeros((*rating.shape[:2], len(names))) for _ in range(2))
    for arm, reader in np.ndindex(rating.shape[:2]):
        first, second = rating[arm, reader, positive], rating[arm, reader, negative]
        rated = ~(np.isnan(first) | np.isnan(second))
        psi = np.where(rated, (first > second) + 0.5 * (first == second), 0.0)
        won[arm, reader] = np.bincount(index[positive], psi, len(names))
        made[arm, reader] = np.bincount(index[positive], rated, len(names))
    return won, made


def fit_auc(
    rating: NDArray[np.float64],
    truth: NDArray[np.bool_],
    method: CovarianceMethod = "jackknife",
    *,
    alike: NDArray[np.float64] | None = None,
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
    covariance = auc_covariance(rating, truth, method, alike=alike)
    return obuchowski_rockette(reader_auc(rating, truth), covariance, truth.size)


def same_pair(rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Sums of psi psi' over all pairs of a positive and a negative case, for all pairs of arms and readers.

    Both the unbiased covariance and the U-statistic need it: the one part of theirs that placements do not
    hold. Whichever way is shorter: by comparison of cases, or by pairs of ratings where there are few
    different ones. In single precision and by blocks, exact all the same: each block adds up whole numbers.

    Parameters
    ----------
    rating, truth
        As in `reader_auc`; a case that was not rated adds 0.

    Returns
    -------
    float array, shape (n_arms * n_readers, n_arms * n_readers)
        Readers of the first arm first.

    Examples
    --------
    >>> same_pair(np.array([[[1.0, 2, 2, 5]], [[1, 1, 2, 3]]]), np.array([False, False, True, True]))
    array([[3.25, 3.5 ],
           [3.5 , 4.  ]])
    """
    rows = rating.reshape(-1, rating.shape[-1])
    n1 = int(np.count_nonzero(truth))
    n0 = len(truth) - n1
    levels = [np.unique(one[truth & ~np.isnan(one)]) for one in rows]
    if sum(map(len, levels)) ** 2 * (n1 + n0) < len(rows) ** 2 * n1 * n0 and max(n1, n0) < EXACT:
        return _by_level(rows, truth, levels)
    return _by_comparison(rating, truth)


def _by_comparison(rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """`same_pair` from the outcome of every comparison."""
    n_rows = rating.shape[0] * rating.shape[1]
    total = np.zeros((n_rows, n_rows))
    for _, twice in twice_psi(rating, truth):
        total += twice @ twice.T
    return total / 4


def _by_level(
    rows: NDArray[np.float64], truth: NDArray[np.bool_], levels: list[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """`same_pair` from how often two rows give two ratings; `levels` are those of each row's positives::

    sum over ratings k, l of #(positives rated k and l) x sum over negatives of psi(k) psi'(l)
    """
    of_row = np.repeat(np.eye(len(rows)), [len(of) for of in levels], axis=0)
    rated, twice = [], []
    for one, of in zip(rows, levels):
        negative, level = one[~truth], of[:, None]
        rated.append((one[truth] == level).astype(np.float32))
        twice.append((negative < level).astype(np.float32) + (negative <= level))
    positives, negatives = np.concatenate(rated), np.concatenate(twice)
    total = np.zeros((len(rows), len(rows)))
    step = max(1, BLOCK // max(len(of_row), 1))
    for start in range(0, len(of_row), step):
        some = slice(start, start + step)
        often = (positives[some] @ positives.T).astype(np.float64)
        often *= negatives[some] @ negatives.T
        total += of_row[some].T @ (often @ of_row)
    return total / 4


def twice_psi(
    rating: NDArray[np.float64], truth: NDArray[np.bool_]
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """2 psi of every row, (n_rows, positives of the block x negatives), a block of positives at a time."""
    rows = rating.reshape(-1, rating.shape[-1])
    # Ranks compare as ratings do, in a quarter of the time; 0 is a positive, and the highest a negative, that
    # was not rated, so that neither is ever above the other.
    ranks = np.array([np.unique(one, return_inverse=True)[1] for one in rows]).reshape(rows.shape) + 1
    highest = rows.shape[1] + 1
    kind = np.uint16 if highest < 2**16 else np.uint32
    unrated = np.isnan(rows)
    positive = np.where(unrated, 0, ranks)[:, truth].astype(kind)
    negative = np.where(unrated, highest, ranks)[:, ~truth].astype(kind)[:, None]
    n_rows, n1, n0 = len(rows), positive.shape[1], negative.shape[2]
    step = max(1, min(BLOCK // max(n_rows, 1), EXACT) // max(n0, 1))
    for start in range(0, n1, step):
        block = slice(start, start + step)
        some = positive[:, block, None]
        above, level = np.greater(some, negative), np.greater_equal(some, negative)
        twice = above.view(np.uint8) + level.view(np.uint8)
        yield block, twice.reshape(n_rows, -1).astype(np.float32)


def placements(
    positive: NDArray[np.float64], negative: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean psi of each rated positive case over the negatives, and of each negative over the positives."""
    positive, negative = (part[~np.isnan(part)] for part in (positive, negative))
    above, below = np.argsort(positive), np.argsort(negative)
    up, down = positive[above], negative[below]
    of_positive, of_negative = np.empty(len(up)), np.empty(len(down))
    of_positive[above] = np.searchsorted(down, up, "left") + np.searchsorted(down, up, "right")
    of_negative[below] = np.searchsorted(up, down, "left") + np.searchsorted(up, down, "right")
    return of_positive / 2 / len(negative), 1 - of_negative / 2 / len(positive)
