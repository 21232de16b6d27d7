"""Area under the ROC curve of each reader and arm: estimates, covariances over cases, and U-statistic."""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters, grouped
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, obuchowski_rockette
from trustreport.measures.mrmc.same_pair import same_pair, won_where_made
from trustreport.measures.mrmc.ustatistic import PairSums, UStatistic, from_sums

CovarianceMethod = Literal["jackknife", "delong", "unbiased"]
COVARIANCE_METHODS: tuple[CovarianceMethod, ...] = ("jackknife", "delong", "unbiased")


def reader_auc(rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Area under the ROC curve, per arm and reader, over the cases that the reader rated in that arm.

    ::

        AUC = share of pairs of a positive and a negative case in which the positive is rated higher,
              equal ratings counting half

    Parameters
    ----------
    rating : float array, shape (n_arms, n_readers, n_cases)
        Higher = more suspicious; NaN no reading.

    Returns
    -------
    float array, shape (n_arms, n_readers)
        Each in [0, 1]; NaN where a reader rated no case of one class.
    """
    areas = np.full(rating.shape[:2], np.nan)
    for arm, reader in np.ndindex(areas.shape):
        one = rating[arm, reader]
        rated = ~np.isnan(one)
        if (rated & truth).any() and (rated & ~truth).any():
            areas[arm, reader] = _placements(one[truth], one[~truth])[0].mean()
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
            of_positive, of_negative = _placements(one[truth], one[~truth])
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
    """
    missing = int(np.isnan(rating).sum())
    if missing:
        raise ValueError(
            "Obuchowski-Rockette needs every reader to read every case in every arm; "
            f"{missing} of {rating.size} readings are missing. Use the U-statistic."
        )
    if truth.all() or not truth.any():
        raise ValueError(
            f"Cases of both classes are needed; all {truth.size} cases have truth {bool(truth.all()):d}."
        )
    covariance = auc_covariance(rating, truth, method, alike=alike)
    return obuchowski_rockette(reader_auc(rating, truth), covariance, truth.size)


def auc_ustatistic(
    rating: NDArray[np.float64],
    truth: NDArray[np.bool_],
    *,
    alike: NDArray[np.float64] | None = None,
    centred: bool = False,
    cluster: Clusters | None = None,
) -> UStatistic:
    """U-statistic of the area under the ROC curve, for any pattern of readings.

    A *comparison* is one reader's ratings of one positive and one negative case in one arm; all weigh alike.
    Parameters as in `auc_covariance`, with NaN where there is no reading; `centred` takes the outcomes of
    comparisons about the mean of their arm. In a crossed design the mean is the mean of the readers' areas.
    With `cluster`, int array of shape (n_cases,), two comparisons share a source where they share a patient,
    who may have cases of both classes.
    """
    if cluster is not None:
        return _of_patients(rating, truth, cluster, centred)
    arms, readers, _ = rating.shape
    rated = ~np.isnan(rating)
    won = [np.zeros((arms, readers, int(of.sum()))) for of in (truth, ~truth)]
    for arm, reader in np.ndindex(arms, readers):
        one, known = rating[arm, reader], rated[arm, reader]
        n1, n0 = int((known & truth).sum()), int((known & ~truth).sum())
        if n1 and n0:
            of_positive, of_negative = _placements(one[truth], one[~truth])
            won[0][arm, reader, known[truth]] = of_positive * n0
            won[1][arm, reader, known[~truth]] = of_negative * n1
    if alike is None:
        alike = same_pair(rating, truth)
    read = rated.astype(np.float64)
    positive, negative = (read[..., of].reshape(arms * readers, -1) for of in (truth, ~truth))
    shared = (positive @ positive.T) * (negative @ negative.T)
    made = (
        read[..., truth] * read[..., ~truth].sum(axis=2, keepdims=True),
        read[..., ~truth] * read[..., truth].sum(axis=2, keepdims=True),
    )
    comparisons = made[0].sum(axis=(1, 2))
    means = np.where(comparisons > 0, won[0].sum(axis=(1, 2)) / np.maximum(comparisons, 1), np.nan)
    if centred:
        of_row = np.repeat(np.nan_to_num(means), readers)
        crossed = of_row * won_where_made(rating, truth)
        alike = alike - crossed - crossed.T + np.outer(of_row, of_row) * shared
        won = [one - np.nan_to_num(means)[:, None, None] * count for one, count in zip(won, made)]
    inclusive, weight = _sums(won[0], won[1], alike), _sums(made[0], made[1], shared)
    pairs = {(i, k): PairSums(inclusive[i, k], weight[i, k]) for i in range(arms) for k in range(i, arms)}
    return from_sums(means, pairs, rated.sum(axis=(1, 2)), centred=centred)


def _of_patients(
    rating: NDArray[np.float64], truth: NDArray[np.bool_], cluster: Clusters, centred: bool
) -> UStatistic:
    """`auc_ustatistic` with patients in place of cases.

    With S[g, h] the sum of psi over a reader's comparisons of positives of patient g with negatives of h, u_g
    and v_g the sums of its rows and columns and w_g = u_g + v_g - S[g, g] that over all comparisons with a
    case of g, the comparisons of S and S' that share a patient sum to::

        sum over g of w_g w'_g  -  sum over g < h of (S[g, h] + S[h, g]) (S'[g, h] + S'[h, g])

    The first part goes to the positives by u - S[g, g] / 2 and to the negatives by v - S[g, g] / 2. Where no
    patient has cases of both classes these are the sums of comparisons that share the patient of the positive
    case, or that of the negative.
    """
    arms, readers, _ = rating.shape
    patients, index = np.unique(cluster, return_inverse=True)
    with_positive, with_negative = (np.unique(index[of]) for of in (truth, ~truth))
    rows = rating.reshape(arms * readers, -1)
    won, made = (np.zeros((len(rows), len(with_positive), len(with_negative))) for _ in range(2))
    for row, one in enumerate(rows):
        first, second = one[truth][:, None], one[~truth]
        rated = (~np.isnan(first) & ~np.isnan(second)).astype(np.float64)
        psi = np.where(rated > 0, (first > second) + 0.5 * (first == second), 0.0)
        for whole, part in ((won, psi), (made, rated)):
            whole[row] = grouped(grouped(part, index[~truth]).T, index[truth]).T
    comparisons = made.reshape(arms, -1).sum(axis=1)
    means = np.where(comparisons > 0, won.reshape(arms, -1).sum(axis=1) / np.maximum(comparisons, 1), np.nan)
    if centred:
        won -= np.repeat(np.nan_to_num(means), readers)[:, None, None] * made
    inclusive, weight = (
        _shared_patients(part, with_positive, with_negative, (arms, readers, len(patients)))
        for part in (won, made)
    )
    pairs = {(i, k): PairSums(inclusive[i, k], weight[i, k]) for i in range(arms) for k in range(i, arms)}
    found = from_sums(means, pairs, (~np.isnan(rating)).sum(axis=(1, 2)), centred=centred)
    return replace(found, clusters=len(np.unique(index[~np.isnan(rows).all(axis=0)])))


def _shared_patients(
    part: NDArray[np.float64],
    with_positive: NDArray[np.intp],
    with_negative: NDArray[np.intp],
    shape: tuple[int, int, int],
) -> NDArray[np.float64]:
    """The sums of `_sums` by patient; `part` (arms x readers, patients with a positive, with a negative)."""
    both, i, k = np.intersect1d(with_positive, with_negative, return_indices=True)
    own, of_positive, of_negative = (np.zeros((len(part), shape[2])) for _ in range(3))
    own[:, both] = part[:, i, k]
    of_positive[:, with_positive] = part.sum(axis=2)
    of_negative[:, with_negative] = part.sum(axis=1)
    apart = part.copy()
    apart[:, i, k] = 0.0
    crossed = apart[:, i][:, :, k]
    flat, turned = (one.reshape(len(part), -1) for one in (crossed, crossed.transpose(0, 2, 1)))
    alike = apart.reshape(len(part), -1) @ apart.reshape(len(part), -1).T + flat @ turned.T
    whole = of_positive + of_negative - own
    by_class = (of_positive - own / 2, of_negative - own / 2)
    arms, readers, _ = shape
    sums = np.empty((arms, arms, 2, 2, 2))
    total = part.sum(axis=(1, 2)).reshape(arms, readers)
    sums[..., 0, 0, 0] = np.outer(total.sum(axis=1), total.sum(axis=1))
    sums[..., 1, 0, 0] = total @ total.T
    products = [(one @ whole.T + whole @ one.T) / 2 for one in by_class]
    for place, product in zip(((1, 0), (0, 1), (1, 1)), (*products, alike), strict=True):
        four = product.reshape(arms, readers, arms, readers)
        sums[:, :, 0, place[0], place[1]] = four.sum(axis=(1, 3))
        sums[:, :, 1, place[0], place[1]] = np.einsum("ijkj->ik", four)
    return sums


def _sums(
    of_positive: NDArray[np.float64], of_negative: NDArray[np.float64], alike: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sums of psi psi' for all pairs of arms; the last three axes: same reader, same positive, same negative.

    `of_positive` and `of_negative` (n_arms, n_readers, cases of the class) hold sums of psi by case.
    """
    arms, readers, _ = of_positive.shape
    four = alike.reshape(arms, readers, arms, readers)
    total = of_positive.sum(axis=2)
    sums = np.empty((arms, arms, 2, 2, 2))
    sums[..., 0, 0, 0] = np.outer(total.sum(axis=1), total.sum(axis=1))
    sums[..., 1, 0, 0] = total @ total.T
    for place, part in (((1, 0), of_positive), ((0, 1), of_negative)):
        pooled, flat = part.sum(axis=1), part.reshape(arms, -1)
        sums[:, :, 0, place[0], place[1]] = pooled @ pooled.T
        sums[:, :, 1, place[0], place[1]] = flat @ flat.T
    sums[..., 0, 1, 1] = four.sum(axis=(1, 3))
    sums[..., 1, 1, 1] = np.einsum("ijkj->ik", four)
    return sums


def _placements(
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
