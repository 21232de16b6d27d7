"""How far the distribution of a score or of a group has moved: PSI, Kolmogorov-Smirnov, energy, group shares.

None of these looks at the truth: what moves here need not have changed the performance.
"""

from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, kolmogorov

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.note import NO_NOTE, Note

Floats = NDArray[np.float64]
BINS = 10


def psi(baseline: Floats, current: Floats, *, bins: int = BINS, level: float = 0.95) -> Estimate:
    """Population stability index of a score against its baseline.

    Over bins with edges at the deciles of the baseline, a and b the shares of current and baseline cases::

        PSI = sum (a - b) ln(a / b),   n m / (n + m) PSI about chi-square with bins - 1 df if nothing moved

    An empty bin counts half a case, so that one new value does not make the index infinite.

    Estimand: the symmetrised Kullback-Leibler divergence of the binned distributions.

    Parameters
    ----------
    baseline, current : float arrays, shape (n,) and (m,)
        No NaN.
    bins : int
        Ties may leave fewer.

    Returns
    -------
    0 or more, without interval; `p` tests that nothing moved; `details` hold the bins used. NaN with a
    note with fewer than two values in a set, or with one value only.

    Notes
    -----
    The usual limits .1 and .25 take no account of the number of cases; the p-value does.

    References
    ----------
    Yurdakul, Naranjo (2020), J. Risk Model Valid. 14, 89-100 (chi-square).

    Examples
    --------
    >>> print(round(psi(np.arange(100.0), np.arange(50.0, 150.0)).value, 2))
    2.32
    """
    if why := _why(baseline, current, level):
        return undefined(len(current), why, level=level, method="psi")
    edges = np.unique(np.quantile(baseline, np.arange(1, bins) / bins))
    counts = [
        np.bincount(np.searchsorted(edges, values, "right"), minlength=len(edges) + 1)
        for values in (baseline, current)
    ]
    b, a = (np.where(c == 0, 0.5, c) / c.sum() for c in counts)
    value = float(((a - b) * np.log(a / b)).sum())
    n, m, df = len(baseline), len(current), len(edges)
    p = float(chdtrc(df, value * n * m / (n + m)))
    details = {"bins": float(df + 1)}
    return Estimate(value, nan, nan, m, level, "psi", notes.A_TEST, p=p, df=float(df), details=details)


def kolmogorov_smirnov(baseline: Floats, current: Floats, *, level: float = 0.95) -> Estimate:
    """Largest distance between the cumulative distributions of a score now and at the baseline.

    ::

        D = max |F(x) - G(x)|,   p by Kolmogorov's limit at sqrt(n m / (n + m)) D

    Returns
    -------
    In [0, 1], without interval; `p` tests one distribution (conservative with ties). NaN with a note as
    in `psi`.

    References
    ----------
    Smirnov (1948), Ann. Math. Stat. 19, 279-281.

    Examples
    --------
    >>> print(kolmogorov_smirnov(np.arange(100.0), np.arange(50.0, 150.0)).value)
    0.5
    """
    method = "kolmogorov_smirnov"
    if why := _why(baseline, current, level):
        return undefined(len(current), why, level=level, method=method)
    n, m = len(baseline), len(current)
    one, other = np.sort(baseline), np.sort(current)
    every = np.concatenate([one, other])
    gap = np.searchsorted(one, every, "right") / n - np.searchsorted(other, every, "right") / m
    value = float(np.abs(gap).max())
    p = float(kolmogorov(sqrt(n * m / (n + m)) * value))
    return Estimate(value, nan, nan, m, level, method, notes.A_TEST, p=p)


def energy(baseline: Floats, current: Floats, *, level: float = 0.95) -> Estimate:
    """Energy distance of a score now from the baseline, as a share of the distance between the sets.

    ::

        H = (2 E|X-Y| - E|X-X'| - E|Y-Y'|) / (2 E|X-Y|)

    with every pair of cases, by sorting. 0: one distribution; 1: two single points.

    Returns
    -------
    In [0, 1], without interval or test; `details` hold the distance in the unit of the score, the root
    of the numerator. NaN with a note as in `psi`.

    References
    ----------
    Székely, Rizzo (2013), J. Stat. Plan. Inference 143, 1249-1272.

    Examples
    --------
    >>> print(energy(np.array([0.0, 1.0]), np.array([2.0, 3.0])).value)
    0.75
    """
    method = "energy_1d"
    if why := _why(baseline, current, level):
        return undefined(len(current), why, level=level, method=method)
    between = _mean_gap(np.concatenate([baseline, current]))
    n, m = len(baseline), len(current)
    within = [_mean_gap(values) for values in (baseline, current)]
    # The mean over all pairs of the pooled cases holds those within either set.
    across = (between * (n + m) ** 2 - within[0] * n * n - within[1] * m * m) / (2 * n * m)
    squared = max(0.0, 2 * across - within[0] - within[1])
    details = {"distance": sqrt(squared)}
    value = squared / (2 * across)
    return Estimate(value, nan, nan, m, level, method, notes.A_TEST, details=details)


def _mean_gap(values: Floats) -> float:
    """Mean distance of all pairs, a value with itself included."""
    x = np.sort(values)
    n = len(x)
    return float(2 * ((2 * np.arange(1, n + 1) - n - 1) @ x) / n**2)


def mix_change(baseline: NDArray[np.int64], current: NDArray[np.int64], *, level: float = 0.95) -> Estimate:
    """How much of the case mix has moved to other groups.

    With a and b the shares of each group now and at the baseline::

        D = sum |a - b| / 2,   p by chi-square over groups

    Parameters
    ----------
    baseline, current : int arrays, shape (n_groups,)
        Cases of each group; a group without any case does not count.

    Returns
    -------
    In [0, 1]: the share of cases that would have to change group; `p` tests equal shares. NaN with a note
    with no case in a set, or with one group.

    References
    ----------
    Pearson (1900), Philos. Mag. 50, 157-175.

    Examples
    --------
    >>> found = mix_change(np.array([60, 40]), np.array([40, 60]))
    >>> (
    ...     round(found.value, 3),
    ...     round(found.p, 4),
    ... )  # R: chisq.test(matrix(c(60,40,40,60),2), correct=FALSE)
    (0.2, 0.0047)
    """
    check_level(level)
    held = (baseline + current) > 0
    b, a = baseline[held].astype(np.float64), current[held].astype(np.float64)
    n, m = float(b.sum()), float(a.sum())
    if not n or not m:
        return undefined(int(m), notes.NO_CASE, level=level, method="chi_square")
    if len(a) < 2:
        return undefined(int(m), notes.ONE_VALUE, level=level, method="chi_square")
    value = float(np.abs(a / m - b / n).sum() / 2)
    share = (a + b) / (n + m)
    chi2 = float(((a - m * share) ** 2 / (m * share) + (b - n * share) ** 2 / (n * share)).sum())
    df = len(a) - 1
    details = {"statistic": chi2}
    tail = float(chdtrc(df, chi2))
    return Estimate(
        value, nan, nan, int(m), level, "chi_square", notes.A_TEST, df=float(df), p=tail, details=details
    )


def _why(baseline: Floats, current: Floats, level: float) -> Note:
    check_level(level)
    if min(len(baseline), len(current)) < 2:
        return notes.TOO_FEW
    first = baseline[0]
    return notes.ONE_VALUE if (baseline == first).all() and (current == first).all() else NO_NOTE
