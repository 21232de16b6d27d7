"""The area under the ROC curve of readers as a U-statistic, also where patients have several cases."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters, grouped
from trustreport.measures.mrmc.auc import placements, same_pair, twice_psi
from trustreport.measures.mrmc.ustatistic import PairSums, UStatistic, from_sums


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

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> truth = np.arange(80) < 40
    >>> rating = rng.normal(truth * np.array([1.0, 1.6])[:, None, None], 1, (2, 6, 80))
    >>> rating[rng.random(rating.shape) < 0.1] = np.nan
    >>> print(auc_ustatistic(rating, truth).difference(1, 0))
    0.06 (95% CI -0.02 to 0.13; n = 419)
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
            of_positive, of_negative = placements(one[truth], one[~truth])
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
        crossed = of_row * _won_where_made(rating, truth)
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


def _won_where_made(rating: NDArray[np.float64], truth: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Sums of one row's psi over the comparisons that another row made too; as `same_pair`."""
    rated = ~np.isnan(rating.reshape(-1, rating.shape[-1]))
    designs, of_row = np.unique(rated, axis=0, return_inverse=True)  # rows that rated the same cases
    positive, negative = (designs[:, of].astype(np.float32) for of in (truth, ~truth))
    total = np.zeros((len(rated), len(designs)))
    for block, twice in twice_psi(rating, truth):
        made = (positive[:, block, None] * negative[:, None]).reshape(len(designs), -1)
        total += twice @ made.T
    return total[:, of_row.reshape(-1)] / 2
