"""Rows that occur twice, in two sets of cases or in one: copies, and near copies."""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]

# Odd constants of splitmix64 (Steele, Lea, Flood 2014): every bit of a row reaches every bit of its key.
STEP = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def row_keys(features: Floats) -> Keys:
    """A number of 64 bits for each row, equal for equal rows.

    Two different rows share one by chance only: among n and m rows about n m / 2^64 times, that is once in
    two thousand million comparisons of sets of 100,000 rows. Missing values are alike, and 0 equals -0.

    Parameters
    ----------
    features : float array, shape (n_cases, n_features)
    """
    keys = np.zeros(len(features), np.uint64)
    with np.errstate(over="ignore"):
        for column in np.asarray(features, np.float64).T:
            plain = np.where(np.isnan(column), np.nan, column + 0.0)  # one pattern of bits for all
            keys = _mixed((keys + STEP) ^ np.ascontiguousarray(plain).view(np.uint64))
    return keys


def _mixed(x: Keys) -> Keys:
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    mixed: Keys = x ^ (x >> np.uint64(31))
    return mixed


def copies(tested: Floats, training: Floats) -> tuple[NDArray[np.bool_], float]:
    """Which tested cases equal a training case in every feature, and how many would do so by chance alone.

    Cases of few or coarse features agree by chance. How often is judged by the training cases themselves: the
    share of them that equal another training case, times the tested cases.

    Parameters
    ----------
    tested, training : float arrays, shapes (n_tested, n_features) and (n_training, n_features)
        The same features in the same order; a row without any value is no copy of another.

    Returns
    -------
    copied : bool array, shape (n_tested,)
    expected : float
    """
    known = ~np.isnan(training).all(axis=1)
    keys = row_keys(training[known])
    copied = np.isin(row_keys(tested), keys) & ~np.isnan(tested).all(axis=1)
    _, counts = np.unique(keys, return_counts=True)
    twins = int(counts[counts > 1].sum())
    return copied, len(tested) * twins / len(keys) if len(keys) else 0.0


def repeats(features: Floats, also: Floats) -> tuple[NDArray[np.bool_], float]:
    """Which cases equal an earlier one in every feature and all else, and how many would by chance alone.

    Cases of few or coarse features agree by chance. Then pairs that agree in all features but one are many
    more; by chance, one in 1 / c of them agrees in that one too, c being the share of all pairs that do::

        expected pairs = largest over features of (pairs in all others - pairs in all) c / (1 - c)

    Copies agree in all features or in none in particular: dropping one adds no pairs.

    Parameters
    ----------
    features : float array, shape (n_cases, n_features)
    also : float array, shape (n_cases, n)
        What follows from the features (scores): copies agree in it, and chance is not judged by it.

    Returns
    -------
    repeated : bool array, shape (n_cases,)
        Without the first of equal cases; a case without any feature repeats no other.
    expected : float
        At most the number found.
    """
    known = np.flatnonzero(~np.isnan(features).all(axis=1))
    rows = features[known]
    repeated = np.zeros(len(features), bool)
    _, first = np.unique(row_keys(np.column_stack([rows, also[known]])), return_index=True)
    repeated[np.delete(known, first)] = True
    found = int(repeated.sum())
    if not found:
        return repeated, 0.0
    # A key for each cell, that of a row their sum, so that a column is taken out by subtraction.
    cells = [row_keys(np.column_stack([np.full(len(rows), float(j)), x])) for j, x in enumerate(rows.T)]
    whole: Keys = np.sum(cells, axis=0, dtype=np.uint64)
    equal, all_pairs = _pairs(whole), len(rows) * (len(rows) - 1) / 2
    expected = 0.0
    for cell in cells:
        share = _pairs(cell) / all_pairs
        if share < 1:
            expected = max(expected, (_pairs(whole - cell) - equal) * share / (1 - share))
    return repeated, found * min(1.0, expected / equal)


def _pairs(keys: Keys) -> float:
    """How many pairs are equal."""
    _, counts = np.unique(keys, return_counts=True)
    return float((counts * (counts - 1.0) / 2).sum())


@dataclass(frozen=True, slots=True)
class Multiples:
    """How often values occur in a set, where that is least like chance.

    `found` values occur exactly `times` times, `fewer` and `more` values once less and once more often. `p`
    is of a test that they do so by chance, adjusted for the number of tests. `even`: whether every value
    occurs a multiple of `times` times, and some of them more often.
    """

    times: int
    found: int
    fewer: int
    more: int
    p: float
    even: bool


def multiples(keys: Keys) -> Multiples | None:
    """Whether values of independent cases would occur as often as these do; None where each occurs once.

    Let N_k be how many values occur exactly k times. Whatever the distribution of the values, the counts of
    independent cases are mixtures of Poisson counts, so that k! E(N_k) is log-convex in k::

        E(N_k-1) E(N_k+1) >= k / (k + 1) E(N_k)^2

    Scores that agree by chance, because they are rounded, saturated or made of few features, occur once,
    twice and three times. Where cases were copied, many occur twice and hardly any three times.

    Parameters
    ----------
    keys : uint64 array, shape (n_cases,)
        Equal where cases agree, as of `row_keys`.

    References
    ----------
    Chao (1984), Scand. J. Stat. 11, 265-270: the same inequality, of k = 0, 1 and 2, bounds unseen values.
    """
    _, counts = np.unique(keys, return_counts=True)
    occur = np.bincount(counts, minlength=3)
    tested = [k for k in range(2, len(occur)) if occur[k]]
    if not tested:
        return None
    padded = np.append(occur, 0)
    found = []
    for k in tested:
        fewer, own, more = (int(n) for n in padded[k - 1 : k + 2])
        p = min(1.0, len(tested) * unlike_chance(fewer, own, more, k / (k + 1)))
        found.append(Multiples(k, own, fewer, more, p, bool((counts % k == 0).all() and len(tested) > 1)))
    return min(found, key=lambda one: one.p)


def in_both(tested: Keys, training: Keys) -> tuple[int, float]:
    """How many values occur once in each of two sets, and p of a test that independent cases do so.

    With M_ab the number of values that occur a times in the one set and b times in the other, whatever the
    distributions, by the inequality of Cauchy and Schwarz::

        E(M_20) E(M_02) >= 1 / 4 E(M_11)^2
    """
    values, index = np.unique(np.concatenate([tested, training]), return_inverse=True)
    own = np.bincount(index[: len(tested)], minlength=len(values))
    other = np.bincount(index[len(tested) :], minlength=len(values))
    once = int(np.count_nonzero((own == 1) & (other == 1)))
    twice = [int(np.count_nonzero((a == 2) & (b == 0))) for a, b in ((own, other), (other, own))]
    return once, unlike_chance(twice[0], once, twice[1], 0.25)


def unlike_chance(one: int, middle: int, other: int, least: float) -> float:
    """p of the likelihood ratio test that three Poisson counts have E(one) E(other) >= least E(middle)^2.

    At the border the expected counts are one + x, middle - 2 x and other + x::

        (one + x) (other + x) = least (middle - 2 x)^2
    """
    lacking = least * middle**2 - one * other
    if lacking <= 0:
        return 1.0
    slope = one + other + 4 * least * middle
    x = 2 * lacking / (slope + sqrt(slope**2 + 4 * (1 - 4 * least) * lacking))
    pairs = ((one, one + x), (middle, middle - 2 * x), (other, other + x))
    ratio = 2 * sum(n * log(n / expected) for n, expected in pairs if n)
    return float(ndtr(-sqrt(max(ratio, 0.0))))


def is_sparse(score: Floats) -> bool:
    """Whether scores are far fewer than the steps in which they are written, so that few agree by chance.

    Scores that were spread evenly over coarse steps can occur equally often without any copy.
    """
    values = np.unique(score)
    if len(values) < 3:
        return False
    steps = (values[-1] - values[0]) / np.diff(values).min()
    return bool(4 * len(values) <= steps + 1)


def nearest(tested: Floats, training: Floats) -> Floats:
    """Distance of each tested case to the nearest training case, in standard deviations of the training set.

    A feature that does not vary in the training set is measured as it is. Cases with a missing value have no
    distance (NaN).

    Parameters
    ----------
    tested, training : float arrays, shapes (n_tested, n_features) and (n_training, n_features)
    """
    from scipy.spatial import cKDTree

    complete = ~np.isnan(training).any(axis=1)
    kept = training[complete]
    distances = np.full(len(tested), np.nan)
    if not len(kept):
        return distances
    spread = kept.std(axis=0)
    scale = np.where(spread > 0, spread, 1.0)
    known = ~np.isnan(tested).any(axis=1)
    if known.any():
        distances[known] = cKDTree(kept / scale).query(tested[known] / scale)[0]
    return distances
