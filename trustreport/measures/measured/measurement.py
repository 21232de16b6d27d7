"""How a measurement agrees with a reference: size of the error, concordance, and the line between them.

Bias, limits of agreement and repeatability are in `repeatability`: they are of differences, whatever was
measured. Where several readers measured the same cases, each reading is one value, and `summed` says what
variance a sum over readings has (`repeatability.Summed`).
"""

from dataclasses import dataclass, replace
from math import atanh, exp, inf, isfinite, isnan, log, nan, sqrt, tanh

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, kolmogorov

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, cluster_sums
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.means import mean_of_clusters
from trustreport.measures.mrmc.interval import df_by_kurtosis, no_interval, quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.notes import OFTEN_BELOW
from trustreport.measures.repeatability import Summed, repeated

Floats = NDArray[np.float64]

LOG_MEAN, CLUSTER_LOG_MEAN = "log_t", "cluster_log_t"
ORDER, WOODRUFF = "quantile_order", "cluster_woodruff"
CONCORDANCE, CLUSTER_CONCORDANCE = "fisher_z_t", "cluster_fisher_z"
RATE_RATIO, CLUSTER_RATE_RATIO = "log_rate_ratio", "cluster_log_rate_ratio"
JACKKNIFE, CLUSTER_JACKKNIFE, RANKS = "jackknife_t", "cluster_jackknife_t", "passing_bablok"

NO_VALUE = note("no_case_has_both_values")
ONE_VALUE = note("one_case_has_both_values")
NO_EVENT = note("one_of_two_has_no_event")
NO_ERROR = note("every_value_equals_its_reference")
TOO_FEW_FOR_A_TAIL = note("too_few_cases_for_a_limit_of_this_quantile")
ALL_EQUAL = note("all_values_are_the_same")
NO_SPREAD = note("values_of_one_side_are_the_same")
NO_RELATION = note("two_values_are_not_correlated")
FALLING = note("one_value_falls_as_the_other_rises")
FEW_DIFFERENT = note("too_few_different_values_for_limits")
NOTHING_VARIES = note("nothing_varies_between_cases_or_clusters")
NO_WIDTH = note("nothing_varies_from_sample_to_sample")
TOO_FEW_FOR_A_LINE = note("fewer_than_5_cases_no_line")
TOO_MANY_FOR_RANKS = note("more_than_5000_cases_no_ranks")
RESTS_ON_ONE = note("without_one_case_there_is_no_line")
RANKS_ALONE = note("clusters_this_method_has_no_interval")
MOST_FOR_RANKS, LEAST_FOR_A_LINE = 5000, 5
FEW_FOR_CONCORDANCE = 50  # cases; with fewer the limits were too low when simulated
ROUNDING = 1e-12  # of the largest value: what is nearer to the line is on it


def mean_absolute_error(
    difference: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Mean size of the difference, with Student's t on the scale of its logarithm.

    With m the mean of |d| and s its standard error, the limits are m exp(-+ t s / m); degrees of freedom by
    the kurtosis of |d| (`df_by_kurtosis`), of clusters by that of their sums.

    Estimand: the mean over cases from the same population.

    Parameters
    ----------
    difference : float array, shape (n_cases,)
        Measured minus reference, in their unit; no NaN.

    Returns
    -------
    In the unit of the values, 0 or more. NaN with a note without cases; no limits with a note where one
    case or one cluster is there, or where all errors are of one size.

    Examples
    --------
    >>> print(mean_absolute_error(np.array([1.0, -2.0, 0.5, 1.5, -1.0])))
    1.20 (95% CI 0.67 to 2.16; n = 5)
    """
    check_level(level)
    method, n = LOG_MEAN if cluster is None else CLUSTER_LOG_MEAN, len(difference)
    if not n:
        return undefined(0, NO_VALUE, level=level, method=method)
    size = np.abs(difference)
    value = float(size.mean())
    if not value:
        return no_interval(value, n, NO_ERROR, level=level, method=method)
    e = _spread((size / value - 1) / n, cluster)
    if isnan(e.se):
        return no_interval(value, n, e.note, level=level, method=method, details=e.details)
    factor = exp(quantile(e.df, level) * e.se)
    return Estimate(
        value, value / factor, value * factor, n, level, method, se=e.se * value, df=e.df, details=e.details
    )  # fmt: skip


def root_mean_square_error(
    difference: Floats,
    *,
    cluster: Clusters | None = None,
    summed: Summed | None = None,
    level: float = 0.95,
) -> Estimate:
    """Root of the mean squared difference, with the chi-square interval of a standard deviation.

    The differences are not centred, so that bias counts. Degrees of freedom by their kurtosis, as in
    `repeatability.repeated`, whose within-case SD this is, times the root of 2.

    Parameters and return as `mean_absolute_error`.

    Examples
    --------
    >>> print(root_mean_square_error(np.array([1.0, -2.0, 0.5, 1.5, -1.0])))
    1.30 (95% CI 0.81 to 3.20; n = 5)
    """
    e = repeated("within_case_sd", difference, cluster=cluster, summed=summed, level=level)
    if not len(difference):
        return replace(e, note=NO_VALUE)
    if len(difference) < 2:
        return no_interval(sqrt(2) * e.value, 1, ONE_VALUE, level=level, method=e.method)
    note = NO_ERROR if not difference.any() else e.note
    return replace(e, value=sqrt(2) * e.value, low=sqrt(2) * e.low, high=sqrt(2) * e.high, note=note)


def total_deviation_index(
    difference: Floats,
    share: float = 0.95,
    *,
    cluster: Clusters | None = None,
    summed: Summed | None = None,
    level: float = 0.95,
) -> Estimate:
    """The size of difference that a share of cases does not exceed, without any assumed distribution.

    The value is the smallest |d| that at least `share` of the cases do not exceed. Limits are order
    statistics of |d| that hold the quantile with at least `level`, each side with half of the rest
    (binomial). In clusters, and of readers, they are the quantiles at the limits of the share itself
    (Woodruff), with the t interval of the clusters or readings.

    Parameters
    ----------
    difference : float array, shape (n_cases,)
    share : float in (0, 1)

    Returns
    -------
    In the unit of the values. The upper limit is infinite with a note where there are too few cases for
    one: below 72 of the .95 quantile at a level of .95.

    References
    ----------
    Lin (2000), Stat. Med. 19, 255-270 (the index). Conover (1999), Practical Nonparametric Statistics, 3.2
    (order statistics). Woodruff (1952), J. Am. Stat. Assoc. 47, 635-646.

    Examples
    --------
    >>> print(total_deviation_index(np.arange(1.0, 101.0), 0.5))
    50.00 (95% CI 40.00 to 61.00; n = 100)
    """
    check_level(level)
    if not 0 < share < 1:
        raise ValueError(f"share must lie in (0, 1), got {share:g}.")
    alone = cluster is None and summed is None
    n, method = len(difference), ORDER if alone else WOODRUFF
    if not n:
        return undefined(0, NO_VALUE, level=level, method=method)
    size, tail = np.sort(np.abs(difference)), (1 - level) / 2

    def reached(wanted: float) -> float:
        return float(size[min(max(int(np.ceil(wanted * n - 1e-9)), 1), n) - 1])

    value = reached(share)
    if not alone:
        within = (np.abs(difference) <= value).astype(np.float64)
        own = float(within.mean())
        if cluster is not None:
            e = mean_of_clusters(own, cluster_sums((within - own) / n, cluster), n, level)
        else:
            e = _spread((within - own) / n, None, summed)
        if not e.se > 0:
            few = TOO_FEW_FOR_A_TAIL if own == 1 else e.note or TOO_FEW_FOR_A_TAIL
            return no_interval(value, n, few, level=level, method=method, details=e.details)
        half = quantile(e.df, level) * e.se
        low, high = share - half, share + half
        note = NO_NOTE if high < 1 else TOO_FEW_FOR_A_TAIL
        return Estimate(
            value, reached(low) if low > 0 else 0.0, reached(high) if high < 1 else inf,
            n, level, method, e.note + note, details=e.details,
        )  # fmt: skip
    # P(order statistic r <= quantile) = P(at least r of n below it).
    ranks = np.arange(n + 1)
    below = bdtr(ranks, n, share)  # of at most r cases below the quantile
    lower = int(np.searchsorted(below, tail, side="right"))  # rank of the lower limit; 0: none
    upper = int(np.searchsorted(below, 1 - tail)) + 1
    low = float(size[lower - 1]) if lower else 0.0
    high = float(size[upper - 1]) if upper <= n else inf
    note = NO_NOTE if lower and upper <= n else TOO_FEW_FOR_A_TAIL
    return Estimate(value, low, high, n, level, method, note)


def concordance_correlation(
    first: Floats,
    second: Floats,
    *,
    cluster: Clusters | None = None,
    summed: Summed | None = None,
    level: float = 0.95,
) -> Estimate:
    """Lin's concordance correlation coefficient: correlation, less what bias and unequal spread take away.

    With variances and covariance of divisor n::

        2 cov(x, y) / (var x + var y + (mean x - mean y)^2)

    The standard error is of the linearised coefficient, the limits are on the scale of Fisher's z with
    Student's t; degrees of freedom by the kurtosis of what each case (in clusters: each cluster) contributes.

    Estimand: 1 less the mean squared difference over that of independent values, for cases from the same
    population. It depends on how much the cases differ: not comparable between populations.

    Parameters
    ----------
    first, second : float array, shape (n_cases,)

    Returns
    -------
    Between -1 and 1; NaN with a note with fewer than two cases or where nothing varies.

    References
    ----------
    Lin (1989), Biometrics 45, 255-268; (2000), Biometrics 56, 324-325.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    >>> print(concordance_correlation(x, x + np.array([0.5, -0.5, 0.5, 0.5, -0.5, 0.5])))
    0.96 (95% CI 0.89 to 0.98; n = 6)
    """
    check_level(level)
    alone = cluster is None and summed is None
    n, method = len(first), CONCORDANCE if alone else CLUSTER_CONCORDANCE
    if n < 2:
        return undefined(n, ONE_VALUE if n else NO_VALUE, level=level, method=method)
    x, y = first - first.mean(), second - second.mean()
    apart = float(first.mean() - second.mean())
    bottom = float((x * x).mean() + (y * y).mean() + apart**2)
    if not bottom > 0:
        return undefined(n, ALL_EQUAL, level=level, method=method)
    top = 2 * float((x * y).mean())
    value = top / bottom
    change = x * x + y * y + 2 * apart * (x - y)  # of the bottom, by each case
    influence = (2 * x * y - top - value * (change - change.mean())) / (n * bottom)
    e = _spread(influence, cluster, summed)
    if isnan(e.se) or abs(value) >= 1:
        why = NO_ERROR if np.array_equal(first, second) else e.note or NOTHING_VARIES
        return no_interval(value, n, why, level=level, method=method, details=e.details)
    half = quantile(e.df, level) * e.se / (1 - value**2)
    low, high = (tanh(atanh(value) + end) for end in (-half, half))
    few = OFTEN_BELOW if n < FEW_FOR_CONCORDANCE else NO_NOTE
    return Estimate(value, low, high, n, level, method, e.note + few, se=e.se, df=e.df, details=e.details)


@dataclass(frozen=True, slots=True)
class FittedLine:
    """The line second = intercept + slope x first, both with intervals."""

    slope: Estimate
    intercept: Estimate

    def value_at(self, first: float) -> float:
        """The second value that belongs to a first one."""
        return self.intercept.value + self.slope.value * first


def deming_line(
    first: Floats,
    second: Floats,
    *,
    ratio: float = 1.0,
    cluster: Clusters | None = None,
    summed: Summed | None = None,
    level: float = 0.95,
) -> FittedLine:
    """The line between two measurements that both have error (Deming), with jackknife intervals.

    With mean squares u of `first`, w of `second`, p of their product about their means, and L the `ratio`::

        slope = (L w - u + sqrt((u - L w)^2 + 4 L p^2)) / (2 L p),   intercept = mean y - slope mean x

    Limits: Student's t with n - 2 degrees of freedom and the standard error of pseudo-values, each leaving
    out one case; in clusters one cluster, with G - 1. Of readers each pseudo-value leaves out one reading.
    `p` is of a slope of 1, of an intercept of 0.

    Parameters
    ----------
    first, second : float array, shape (n_cases,)
    ratio : float above 0
        Variance of the error of `first` over that of `second`; 1: equally precise.

    Returns
    -------
    Both NaN with a note with fewer than 5 cases, where a side does not vary, or without correlation.

    References
    ----------
    Linnet (1990), Stat. Med. 9, 1463-1473; (1993), Clin. Chem. 39, 424-432.
    """
    check_level(level)
    if not (ratio > 0 and isfinite(ratio)):
        raise ValueError(f"ratio must be above 0, got {ratio:g}.")
    n, method = len(first), JACKKNIFE if cluster is None and summed is None else CLUSTER_JACKKNIFE
    if why := _no_line(first, second):
        return FittedLine(*[undefined(n, why, level=level, method=method)] * 2)
    x, y = first - first.mean(), second - second.mean()  # about the means, so that sums lose no digits
    parts = np.stack([np.ones(n), x, y, x * x, y * y, x * y])
    units = parts if cluster is None else np.stack([cluster_sums(part, cluster) for part in parts])
    slope, intercept = map(float, _deming(parts.sum(axis=1), ratio))
    if not isfinite(slope):
        return FittedLine(*[undefined(n, NO_RELATION, level=level, method=method)] * 2)
    shift = float(second.mean() - slope * first.mean())
    g = units.shape[1]
    slopes, intercepts = _deming(parts.sum(axis=1)[:, None] - units, ratio)
    why = NO_NOTE if np.isfinite(slopes).all() else RESTS_ON_ONE if g > 1 else ONE_CLUSTER
    if float(np.abs(y - slope * x).max()) < ROUNDING * float(np.abs(second).max()):
        why = NO_ERROR
    if why:
        bare = [no_interval(v, n, why, level=level, method=method) for v in (slope, intercept + shift)]
        return FittedLine(*bare)
    intercepts = intercepts + second.mean() - slopes * first.mean()
    df = float(n - 2 if cluster is None else g - 1)
    details = {} if cluster is None else {"clusters": float(g)}

    def found(value: float, left_out: Floats, null: float) -> Estimate:
        apart = left_out.mean() - left_out
        se = sqrt((g - 1) / g * float((apart**2).sum()))
        e = Estimate(0.0, nan, nan, n, se=se, df=df, details=details)
        if summed is not None:
            e = summed((n - 1) / n * apart)
        if not e.se > ROUNDING * float(np.abs(left_out).max()):
            why = e.note or NOTHING_VARIES
            return no_interval(value, n, why, level=level, method=method, details=e.details)
        half = quantile(e.df, level) * e.se
        p = two_sided_p((value - null) / e.se, e.df)
        return Estimate(
            value, value - half, value + half, n, level, method, e.note,
            se=e.se, df=e.df, p=p, details=e.details,
        )  # fmt: skip

    return FittedLine(found(slope, slopes, 1.0), found(intercept + shift, intercepts, 0.0))


def _deming(sums: Floats, ratio: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Slope and intercept from n and the sums of x, y, x^2, y^2 and x y, (6,) or (6, n_sets)."""
    n, x, y, xx, yy, xy = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        u, w, p = xx - x * x / n, yy - y * y / n, xy - x * y / n
        apart = ratio * w - u
        root = np.sqrt(apart**2 + 4 * ratio * p**2)
        # Of two equal forms the one that subtracts nothing.
        slope = np.where(apart >= 0, (apart + root) / (2 * ratio * p), 2 * p / (root - apart))
        return slope, y / n - slope * x / n


def passing_bablok_line(
    first: Floats, second: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> FittedLine:
    """The line between two measurements by the ranks of the slopes between all pairs of cases.

    The slope is the median of all slopes but those of -1, shifted by the number below -1; the intercept is
    the median of second - slope x first. Limits by the variance of Kendall's score. A few gross errors move
    neither. More pairs must rise than fall.

    Parameters
    ----------
    first, second : float array, shape (n_cases,)
    cluster : int array, shape (n_cases,), optional
        Which cases belong together: then the line has no limits, with a note.

    Returns
    -------
    NaN with a note as `deming_line`, where no more pairs rise than fall, and with more than 5,000 cases.
    No limits with a note where too few slopes differ, or too many cases have the same first value.

    References
    ----------
    Passing, Bablok (1983), J. Clin. Chem. Clin. Biochem. 21, 709-720.
    """
    check_level(level)
    n = len(first)
    why = _no_line(first, second) or (TOO_MANY_FOR_RANKS if n > MOST_FOR_RANKS else NO_NOTE)
    if why:
        return FittedLine(*[undefined(n, why, level=level, method=RANKS)] * 2)
    i, j = np.triu_indices(n, 1)
    dx, dy = first[j] - first[i], second[j] - second[i]
    rising = int((np.sign(dx) * np.sign(dy)).sum())  # pairs that rise, less those that fall
    if rising <= 0:
        why = FALLING if rising else NO_RELATION
        return FittedLine(*[undefined(n, why, level=level, method=RANKS)] * 2)
    apart = (dx != 0) | (dy != 0)
    with np.errstate(divide="ignore"):
        slopes = np.where(dx[apart] == 0, np.copysign(inf, dy[apart]), dy[apart] / dx[apart])
    slopes = np.sort(slopes[slopes != -1])
    count, shift = len(slopes), int((slopes < -1).sum())

    def ranked(rank: int) -> float:
        return float(slopes[rank + shift - 1])

    half = (count + 1) // 2
    slope = ranked(half) if count % 2 else (ranked(half) + ranked(half + 1)) / 2
    if not isfinite(slope):
        return FittedLine(*[undefined(n, NO_RELATION, level=level, method=RANKS)] * 2)
    start = float(np.median(second - slope * first))
    wide = quantile(inf, level) * sqrt(n * (n - 1) * (2 * n + 5) / 18)
    lower = round((count - wide) / 2)
    upper = count - lower + 1
    known = cluster is None and lower + shift >= 1 and upper + shift <= count
    low, high = (ranked(lower), ranked(upper)) if known else (nan, nan)
    if not (isfinite(low) and isfinite(high)):
        why = FEW_DIFFERENT if cluster is None else RANKS_ALONE
        return FittedLine(*[no_interval(v, n, why, level=level, method=RANKS) for v in (slope, start)])
    least, most = (float(np.median(second - b * first)) for b in (high, low))
    why = NO_NOTE if low < high else NO_WIDTH
    return FittedLine(
        Estimate(slope, low, high, n, level, RANKS, why), Estimate(start, least, most, n, level, RANKS, why)
    )


def linearity(first: Floats, second: Floats, line: FittedLine) -> float:
    """Chance of a departure from a line at least as large as this one, if there is none (cusum test).

    Cases above and below the line, in order of their place along it, add to a running sum with weights that
    balance them; its largest size has Kolmogorov's distribution.

    Parameters
    ----------
    first, second : float array, shape (n_cases,)
    line : of `passing_bablok_line`

    Returns
    -------
    float in [0, 1]; NaN without a line, or with all cases on one side of it

    References
    ----------
    Passing, Bablok (1983), J. Clin. Chem. Clin. Biochem. 21, 709-720, section 4.
    """
    slope, start = line.slope.value, line.intercept.value
    residual = second - start - slope * first
    residual[np.abs(residual) < ROUNDING * np.abs(second).max(initial=0.0)] = 0.0  # on the line
    above, below = int((residual > 0).sum()), int((residual < 0).sum())
    if not (isfinite(slope) and above and below):
        return nan
    along = (second - start) * slope + first  # in units of the line's own length
    step = np.where(residual > 0, sqrt(below / above), np.where(residual < 0, -sqrt(above / below), 0.0))
    largest = float(np.abs(np.cumsum(step[np.argsort(along, kind="stable")])).max())
    return float(kolmogorov(largest / sqrt(below + 1)))


def rate_ratio(
    first: Floats, second: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Ratio of two means of counts of the same cases, with Student's t on the scale of its logarithm.

    Parameters
    ----------
    first, second : float array, shape (n_cases,)
        0 or more.

    Returns
    -------
    NaN with a note where one of the sums is 0, or without cases; no limits with a note of a single case
    or cluster, or where the counts of every case have the same ratio.

    Examples
    --------
    >>> print(rate_ratio(np.array([2.0, 0, 1, 3, 1, 2]), np.array([1.0, 1, 0, 1, 1, 1])))
    1.80 (95% CI 0.82 to 3.97; n = 6)
    """
    check_level(level)
    n, method = len(first), RATE_RATIO if cluster is None else CLUSTER_RATE_RATIO
    if not n:
        return undefined(0, NO_VALUE, level=level, method=method)
    one, other = float(first.mean()), float(second.mean())
    if not (one > 0 and other > 0):
        return undefined(n, NO_EVENT, level=level, method=method)
    value = one / other
    e = _spread((first / one - second / other) / n, cluster)
    if isnan(e.se):
        return no_interval(value, n, e.note, level=level, method=method, details=e.details)
    factor = exp(quantile(e.df, level) * e.se)
    p = two_sided_p(log(value) / e.se, e.df)
    return Estimate(
        value, value / factor, value * factor, n, level, method, se=e.se, df=e.df, p=p, details=e.details
    )  # fmt: skip


def _no_line(first: Floats, second: Floats) -> Note:
    """Why no line is drawn through these cases; empty where one is."""
    if len(first) < LEAST_FOR_A_LINE:
        return TOO_FEW_FOR_A_LINE if len(first) else NO_VALUE
    return NO_SPREAD if np.ptp(first) == 0 or np.ptp(second) == 0 else NO_NOTE


def _spread(influence: Floats, cluster: Clusters | None, summed: Summed | None = None) -> Estimate:
    """An estimate of 0 with the standard error and degrees of freedom of contributions in sum 0.

    Contributions are to a number without a unit, of a size about 1. Without a standard error the note says
    why there is none.
    """
    details: dict[str, float] = {}
    if summed is not None:
        e = summed(influence)
        return e if e.se > ROUNDING else replace(e, se=nan, note=e.note or NOTHING_VARIES)
    if cluster is not None:
        influence = cluster_sums(influence, cluster)
        details = {"clusters": float(len(influence))}
    n = len(influence)
    if n < 2:
        return Estimate(0.0, nan, nan, n, note=ONE_VALUE if cluster is None else ONE_CLUSTER, details=details)
    se = sqrt(float(influence @ influence) * n / (n - 1))
    if not se > ROUNDING:
        return Estimate(0.0, nan, nan, n, note=NOTHING_VARIES, details=details)
    return Estimate(0.0, nan, nan, n, se=se, df=df_by_kurtosis(influence), details=details)
