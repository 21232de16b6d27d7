"""Limits of agreement of measurements by several readers, with readers and cases random."""

from collections.abc import Callable
from math import inf, isfinite, isnan, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from trustreport.measures.cluster import ONE_CLUSTER, Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, quantile
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.repeatability import LIMITS_AT

Floats = NDArray[np.float64]
Statistic = Callable[..., float]

METHOD, MEAN, COMBINED = "graybill_wang", "two_way_t", "two_way_mover"
FEW_READERS = note("fewer_than_two_readers_no_difference")
FEW_CASES = note("fewer_than_two_cases_that_these_readers_measured")
NO_DIFFERENCE = note("values_never_differ")
NO_VARIANCE = note("variance_of_differences_not_positive")
RESTS_ON_ONE = note("without_one_it_cannot_be_estimated")


def between_readers(values: Floats, *, cluster: Clusters | None = None, level: float = 0.95) -> Estimate:
    """How far apart two readers of the same case are at most, in 95 of 100 such pairs.

    1.96 times the root of the mean squared difference of two different readers, over all cases and pairs of
    readers (each case with as many pairs as it has). Their mean difference is 0: readers are exchangeable.

    Estimand: two readers and a case drawn at random.

    Parameters
    ----------
    values : float array, shape (n_readers, n_cases)
        NaN where a reader did not measure a case.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together: these are left out together.

    Returns
    -------
    In the unit of the values; the limits of agreement are this number to either side of 0. `n` counts
    cases with two values. Of the variance the part between readers has readers - 1 degrees of freedom,
    the rest those of its jackknife variance over cases; limits of the sum by Graybill and Wang. NaN with
    a note with fewer than two readers or two such cases; no limits with a note where nothing differs, or
    where the variance does not exist without one case.

    References
    ----------
    Gallas et al., iMRMC 2.1.0, `laBRWM` (the same variance, with 2 for 1.96). Graybill, Wang (1980), J. Am.
    Stat. Assoc. 75, 869-873.

    Examples
    --------
    >>> values = np.array([[10.0, 20, 30, 40], [11, 19, 32, 41], [9, 22, 31, 38]])
    >>> print(between_readers(values))
    3.58 (95% CI 2.56 to 8.72; n = 4)
    """
    return _limit(_between, values, None, cluster, level, times=2.0)


def with_the_mean(values: Floats, *, cluster: Clusters | None = None, level: float = 0.95) -> Estimate:
    """How far a reader is from the mean of all readers of the case, in 95 of 100 readings (LOAM).

    With a readers, b cases, and SS the sums of squares between readers and of the residual::

        1.96 sqrt((SS readers + SS residual) / (a b))

    Only cases count that every reader measured who measured any.

    Parameters and return as `between_readers`.

    References
    ----------
    Christensen, Borgbjerg, Børty, Bøgsted (2020), BMC Med. Res. Methodol. 20, 304.
    Jones, Dobson, O'Brian (2011), J. Clin. Epidemiol. 64, 1298-1303.

    Examples
    --------
    >>> values = np.array([[10.0, 20, 30, 40], [11, 19, 32, 41], [9, 22, 31, 38]])
    >>> print(with_the_mean(values))
    2.07 (95% CI 1.48 to 5.03; n = 4)
    """
    values = values[~np.isnan(values).all(axis=1)]
    whole = ~np.isnan(values).any(axis=0)
    some = None if cluster is None else cluster[whole]
    return _limit(_from_mean, values[:, whole], None, some, level, times=1 - 1 / max(len(values), 1))


def within_reader_between_arms(
    first: Floats, second: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """Mean difference of two arms by the same reader on the same case, and the half width of its limits.

    The half width is 1.96 times the standard deviation of second minus first for a reader and a case drawn
    at random, from unbiased moments: the square of a mean difference is estimated from pairs of different
    readers and cases.

    Parameters
    ----------
    first, second : float array, shape (n_readers, n_cases)
        NaN where there is no value.

    Returns
    -------
    mean : Estimate
        Student's t with the variance over readers and that over cases, added.
    half : Estimate
        As `between_readers`; the limits of agreement are mean -+ half.

    References
    ----------
    Gallas et al., iMRMC 2.1.0, `laWRBM` (the same moments, with 2 for 1.96).
    """
    change = second - first
    return _mean(change, cluster, level), _limit(_total, change, None, cluster, level)


def from_the_reference(
    error: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """Between which differences from the reference 95 of 100 readings are, with readers and cases random.

    Mean -+ half of `within_reader_between_arms`, the reference in place of the first arm; the limits of
    both are combined as those of independent estimates.

    Parameters
    ----------
    error : float array, shape (n_readers, n_cases)
        Value less reference; NaN where there is none.
    cluster : int array, shape (n_cases,), optional

    Returns
    -------
    lower, upper : Estimate
        NaN, or no limits, with the note of the mean or of the half width.

    References
    ----------
    Bland, Altman (1986), Lancet 327, 307-310. Donner, Zou (2012), Stat. Methods Med. Res. 21, 347-359.

    Examples
    --------
    >>> error = np.array([[1.0, -2, 0, 3], [2, -1, 1, 2], [0, -3, 1, 1]])
    >>> print(from_the_reference(error)[1])
    4.11 (95% CI 1.16 to 16.84; n = 4)
    """
    mean, half = _mean(error, cluster, level), _limit(_total, error, None, cluster, level)
    ends = []
    for sign, near, far in ((-1.0, mean.low, mean.high), (1.0, mean.high, mean.low)):
        value = mean.value + sign * half.value
        out = sqrt((near - mean.value) ** 2 + (half.high - half.value) ** 2)
        back = sqrt((far - mean.value) ** 2 + (half.value - half.low) ** 2)
        low, high = sorted((value + sign * out, value - sign * back))
        why = half.note or mean.note
        ends.append(Estimate(value, low, high, half.n, level, COMBINED, why))
    return ends[0], ends[1]


def between_readers_and_arms(
    first: Floats, second: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """The same of two different readers, one in each arm, on the same case.

    The variance is that of either arm less twice the covariance of two readers across the arms, from unbiased
    moments.

    Parameters and return as `within_reader_between_arms`.

    References
    ----------
    Gallas et al., iMRMC 2.1.0, `laBRBM` (the same moments, with 2 for 1.96).
    """
    both = np.where(np.isnan(first) | np.isnan(second), nan, 0.0)
    return (
        _mean(second - first, cluster, level),
        _limit(_across, first + both, second + both, cluster, level),
    )


def _given(values: Floats) -> tuple[Floats, Floats]:
    """Values with 0 for what is missing, and 1 where there is one."""
    there = ~np.isnan(values)
    return np.where(there, values, 0.0), there.astype(np.float64)


def _same_case(p: Floats, q: Floats) -> float:
    """Sum of p q over pairs of different readers of a case."""
    return float(p.sum(axis=0) @ q.sum(axis=0) - (p * q).sum())


def _different_pairs(p: Floats, q: Floats) -> float:
    """Sum of p q over pairs of different readers and different cases."""
    rows, columns = p.sum(axis=1) @ q.sum(axis=1), p.sum(axis=0) @ q.sum(axis=0)
    return float(p.sum() * q.sum() - rows - columns + (p * q).sum())


def _ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom > 0 else nan


def _between(values: Floats, _: Floats | None = None) -> float:
    """Mean squared difference of two readers of a case."""
    v, w = _given(values)
    pairs = _same_case(w, w)
    squares = float(((v * v).sum(axis=0) * (w.sum(axis=0) - 1)).sum())  # each square in n - 1 ordered pairs
    return _ratio(2 * squares - 2 * _same_case(v, v), pairs)


def _from_mean(values: Floats, _: Floats | None = None) -> float:
    """Mean squared distance from the mean of the case."""
    return float(((values - values.mean(axis=0)) ** 2).mean()) if values.shape[0] > 1 else nan


def _total(values: Floats, _: Floats | None = None) -> float:
    """Variance of a single value, of any reader and case."""
    v, w = _given(values)
    return _ratio(float((v * v).sum()), float(w.sum())) - _ratio(
        _different_pairs(v, v), _different_pairs(w, w)
    )


def _across(first: Floats, second: Floats | None) -> float:
    """Variance of the difference of two readers of a case, one in each arm."""
    assert second is not None
    (a, w), (b, u) = _given(first), _given(second)
    shared = _ratio(_same_case(a, b), _same_case(w, u)) - _ratio(
        _different_pairs(a, b), _different_pairs(w, u)
    )
    return _total(first) + _total(second) - 2 * shared


def _centre(values: Floats, _: Floats | None = None) -> float:
    v, w = _given(values)
    return _ratio(float(v.sum()), float(w.sum()))


def _over_cases(
    statistic: Statistic, first: Floats, second: Floats | None, cluster: Clusters | None
) -> tuple[float, int]:
    """Jackknife variance of a statistic over cases or clusters, and how many of these there are."""
    _, label = np.unique(np.arange(first.shape[1]) if cluster is None else cluster, return_inverse=True)
    units = int(label.max()) + 1
    if units < 2:
        return nan, units
    left = np.array(
        [
            statistic(first[:, keep], None if second is None else second[:, keep])
            for unit in range(units)
            for keep in [label != unit]
        ]
    )
    return (units - 1) / units * float(((left - left.mean()) ** 2).sum()), units


def _of_readers(values: Floats) -> Floats:
    """How far each reader is from the others on average over cases, so that other cases are no difference."""
    distance: Floats = np.nanmean(values - np.nanmean(values, axis=0), axis=1)
    return distance


class _Readings(NamedTuple):
    """The readers and cases that have values, `n` of these cases with two, and why nothing can be said.

    `size` is the mean square of all values: variances that are rounding beside it are 0.
    """

    first: Floats
    second: Floats | None
    cluster: Clusters | None
    n: int
    why: Note
    size: float


def _given_readings(first: Floats, second: Floats | None, cluster: Clusters | None) -> _Readings:
    """Leave out readers and cases without a value."""
    if first.ndim != 2:
        raise ValueError(f"values must have shape (n_readers, n_cases), got {first.shape}.")
    there = ~np.isnan(first)
    reader, case = there.any(axis=1), there.any(axis=0)
    n = int((there.sum(axis=0) > 1).sum())
    why = FEW_READERS if reader.sum() < 2 else FEW_CASES if n < 2 else NO_NOTE
    kept = [None if x is None else x[reader][:, case] for x in (first, second)]
    assert kept[0] is not None
    size = max(float(np.nanmean(x**2)) for x in kept if x is not None) if n else nan
    return _Readings(kept[0], kept[1], None if cluster is None else cluster[case], n, why, size)


def _limit(
    statistic: Statistic,
    first: Floats,
    second: Floats | None,
    cluster: Clusters | None,
    level: float,
    times: float = 1.0,
) -> Estimate:
    """1.96 times the root of a variance, of which `times` that of the readers' means is between readers."""
    check_level(level)
    x = _given_readings(first, second, cluster)
    if x.why:
        return undefined(x.n, x.why, level=level, method=METHOD)
    square, negligible = statistic(x.first, x.second), NEGLIGIBLE * x.size
    if abs(square) <= negligible:
        return no_interval(0.0, x.n, NO_DIFFERENCE, level=level, method=METHOD)
    if not square > 0:
        return undefined(x.n, NO_VARIANCE, level=level, method=METHOD)
    value = LIMITS_AT * sqrt(square)
    variance, units = _over_cases(statistic, x.first, x.second, x.cluster)
    if units < 2 or isnan(variance):
        why = ONE_CLUSTER if units < 2 else RESTS_ON_ONE
        return no_interval(value, x.n, why, level=level, method=METHOD)
    more = len(x.first) - 1.0
    means = [_of_readers(values) for values in (x.first, x.second) if values is not None]
    spread = np.atleast_2d(np.cov(np.stack(means)))
    among = times * float(np.trace(spread))
    known = float((spread**2).sum())
    df_among = more * float(np.trace(spread)) ** 2 / known if among > negligible else inf
    within = max(square - among, 0.0)
    df_within = min(units, x.n) * more  # where cases or clusters do not differ in their squares
    if variance > negligible**2:
        df_within = min(2 * within**2 / variance, x.n * more)
    tail, ends = (1 - level) / 2, []
    for p in (1 - tail, tail):
        factors = [1 - df / chdtri(df, p) if isfinite(df) else 0.0 for df in (df_among, max(df_within, 1.0))]
        ends.append(sqrt((factors[0] * among) ** 2 + (factors[1] * within) ** 2))
    low, high = sqrt(max(square - ends[1], 0.0)), sqrt(square + ends[0])
    return Estimate(value, LIMITS_AT * low, LIMITS_AT * high, x.n, level, METHOD)


def _mean(values: Floats, cluster: Clusters | None, level: float) -> Estimate:
    """Mean over readers and cases, with the variance over readers and that over cases, added."""
    check_level(level)
    x = _given_readings(values, None, cluster)
    if x.why:
        return undefined(x.n, x.why, level=level, method=MEAN)
    value, n_readers = _centre(x.first), len(x.first)
    over_cases, units = _over_cases(_centre, x.first, None, x.cluster)
    if units < 2:
        return no_interval(value, x.n, ONE_CLUSTER, level=level, method=MEAN)
    over_readers = float(np.nanmean(x.first, axis=1).var(ddof=1)) / n_readers
    variance = over_cases + over_readers
    if not variance > NEGLIGIBLE * x.size:
        return no_interval(value, x.n, NO_DIFFERENCE, level=level, method=MEAN)
    df = variance**2 / (over_cases**2 / (units - 1) + over_readers**2 / (n_readers - 1))
    half = quantile(df, level) * sqrt(variance)
    return Estimate(value, value - half, value + half, x.n, level, MEAN, se=sqrt(variance), df=df)
