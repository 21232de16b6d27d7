"""How alike two runs on the same case are: limits of agreement, within-case SD, decisions that flip."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import atanh, inf, isnan, sqrt, tanh
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from trustreport.measures.agreement.interval import coefficient_interval, why_none, without
from trustreport.measures.agreement.kappa import cohen_kappa, kappa_influence
from trustreport.measures.cluster import Clusters, cluster_sums
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.means import mean_of_clusters
from trustreport.measures.mrmc.interval import no_interval, quantile
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.notes import OFTEN_BELOW

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LIMITS_AT = 1.96  # standard deviations from the mean difference: what 95 of 100 differences do not exceed
MEAN, LIMITS, SPREAD, KAPPA = "paired_t", "donner_zou", "chi_square_sd", "gwet_fisher_z"
CLUSTERED, CLUSTERED_SPREAD, CLUSTERED_KAPPA = (
    "cluster_linearised",
    "cluster_chi_square_sd",
    "cluster_fisher_z",
)
LEAST_DF = 1.0  # of a standard deviation: below it the upper limit is beyond any use
NO_REPEAT = note("no_case_has_result_both_runs")
ONE_REPEAT = note("one_case_has_result_both_runs")
FEW_DECISIONS = note("rarer_decision_was_made_in_fewer")
ALL_ALIKE = note("both_runs_gave_same_scores_no")

OfDifferences = Literal[
    "repeat_bias",
    "within_case_sd",
    "agreement_limit_low",
    "agreement_limit_high",
    "repeatability_coefficient",
]


@dataclass(frozen=True, slots=True)
class _Deviation:
    """The mean of differences plus `side` standard deviations of them, or `times` the within-case one."""

    method: str
    clustered: str = CLUSTERED_SPREAD
    side: float = 0.0
    times: float = 0.0

    @property
    def is_spread(self) -> bool:
        """Whether it is a within-case standard deviation."""
        return self.times > 0


_DEVIATIONS: dict[OfDifferences, _Deviation] = {
    "repeat_bias": _Deviation(MEAN, CLUSTERED),
    "agreement_limit_low": _Deviation(LIMITS, side=-LIMITS_AT),
    "agreement_limit_high": _Deviation(LIMITS, side=LIMITS_AT),
    "within_case_sd": _Deviation(SPREAD, times=1.0),
    "repeatability_coefficient": _Deviation(SPREAD, times=LIMITS_AT * sqrt(2)),
}
OF_DIFFERENCES: tuple[OfDifferences, ...] = tuple(_DEVIATIONS)

Summed = Callable[[Floats], Estimate]
"""From what each case adds to a deviation, in sum 0, to an estimate of 0 with `se` and `df` of a design."""


def value_of(name: OfDifferences, difference: Floats) -> float:
    """The value of `repeated`.

    >>> value_of("within_case_sd", np.array([1.0, -1.0, 1.0, -1.0]))
    0.7071067811865476
    """
    of = _DEVIATIONS[name]
    if of.is_spread:
        return of.times * sqrt(float((difference**2).mean()) / 2)
    mean = float(difference.mean())
    return mean + of.side * float(difference.std(ddof=1)) if of.side else mean


def repeated(
    name: OfDifferences,
    difference: Floats,
    *,
    cluster: Clusters | None = None,
    summed: Summed | None = None,
    level: float = 0.95,
) -> Estimate:
    """What the differences of the scores of two runs on the same cases say of repeatability.

    With d the second score less the first, m their mean and s their standard deviation::

        repeat_bias                 m,                         m -+ t s / sqrt(n)
        within_case_sd              w = sqrt(sum d^2 / (2 n)), w sqrt(f / chi^2 quantiles of f df)
        repeatability_coefficient   1.96 sqrt(2) w,            the same
        agreement_limit_low, _high  L = m -+ 1.96 s,           L - sqrt((m - m_l)^2 + (1.96 (s - s_l))^2) to
                                                               L + sqrt((m - m_u)^2 + (1.96 (s - s_u))^2)

    with m_l, m_u the limits of m, and s_l, s_u those of s, as of w with n - 1 for n (of the lower limit of
    agreement s_u before s_l). For normal differences f is n. Others spread more, so that::

        f = min(n, 1 / (2 V)),   V = variance of ln w (of ln s) x (t / z)^2

    by the linearisation of the logarithm: the kurtosis of the differences.

    Estimand: of cases from the same population, each run twice under the conditions of the study.

    Parameters
    ----------
    name : which of them
    difference : float array, shape (n_cases,)
        Second minus first score of each case with both; no NaN.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together: then variances are those of the clusters' sums of linearised
        contributions, with Student's t of the clusters.
    summed : function of an array (n_cases,), optional
        The same for designs of other kinds (readers and cases).
    level : float in (0, 1)
        Of the intervals. The limits themselves are for 95% of differences whatever the level.

    Returns
    -------
    In the unit of the scores; NaN with a note without cases, and for limits with a single one. No
    interval where the runs are all alike.

    Notes
    -----
    Simulated, 20 to 200 cases and 20 and 50 clusters of 3 and 10, errors normal on the scale of the scores or
    on that of log odds: covers .93 to .97, readers and cases .94 to .99. With f = n, and with the t interval
    of Bland and Altman (1999) for the limits, .88 to .97.
    A within-case SD that grows with the score is not constant: then the limits are too wide for low scores
    and too narrow for high ones.

    References
    ----------
    Bland, Altman (1986), Lancet 327, 307-310 (limits); (1996), BMJ 313, 744 (within-subject SD).
    Donner, Zou (2012), Stat. Methods Med. Res. 21, 347-359 (intervals of the limits).
    Shoemaker (2003), Am. Stat. 57, 243-249 (degrees of freedom by the kurtosis).

    Examples
    --------
    >>> difference = np.array([0.02, -0.01, 0.00, 0.03, -0.04, 0.01, 0.02, -0.02])
    >>> print(repeated("agreement_limit_high", difference))
    0.05 (95% CI 0.02 to 0.10; n = 8)
    """
    check_level(level)
    n, apart, of = len(difference), cluster is None and summed is None, _DEVIATIONS[name]
    method = of.method if apart else of.clustered
    if n < 2 and not (n and of.is_spread):
        return undefined(n, ONE_REPEAT if n else NO_REPEAT, level=level, method=method)
    value = value_of(name, difference)
    if not difference.any() or (np.ptp(difference) == 0 and not of.is_spread):
        return no_interval(value, n, ALL_ALIKE, level=level, method=method)
    if summed is None:
        summed = _alone if cluster is None else partial(_of_clusters, cluster)
    mean = summed((difference - difference.mean()) / n)
    if not apart and isnan(mean.low):
        return no_interval(value, n, mean.note, level=level, method=method)
    half = quantile(mean.df, level) * mean.se
    if not (of.is_spread or of.side):
        return Estimate(
            value, value - half, value + half, n, level, mean.method or method, mean.note,
            se=mean.se, df=mean.df, details=mean.details,
        )  # fmt: skip
    about = 0.0 if of.is_spread else float(difference.mean())
    square = (difference - about) ** 2
    of_log = summed((square / square.mean() - 1) / (2 * n))
    df = _df_of_spread(of_log, n if of.is_spread else n - 1, level)
    tail = (1 - level) / 2
    shorter, longer = (sqrt(df / chdtri(df, p)) for p in (tail, 1 - tail))
    note = mean.note + of_log.note
    if of.is_spread:
        often = OFTEN_BELOW if cluster is None and not apart else NO_NOTE  # readers and cases
        return Estimate(
            value, value * shorter, value * longer, n, level, method, often or of_log.note,
            df=df, details=mean.details,
        )  # fmt: skip
    sd = float(difference.std(ddof=1))
    ends = [LIMITS_AT * sd * (1 - shorter), LIMITS_AT * sd * (longer - 1)]
    inner, outer = (sqrt(half**2 + end**2) for end in ends)
    below, above = (inner, outer) if of.side > 0 else (outer, inner)
    return Estimate(value, value - below, value + above, n, level, method, note, details=mean.details)


def within_case(
    name: OfDifferences,
    value: Floats,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """The within-case SD, or the repeatability coefficient, of any number of measurements of a case.

    With m_i measurements of case i, the SD is that of a one-way analysis of variance::

        w^2 = sum over cases and measurements of (x - mean of the case)^2 / sum of (m_i - 1)

    The m_i - 1 Helmert contrasts of a case are differences of two whose squares sum to twice its sum of
    squares; they are given to `repeated`, with the case, or its cluster, as what belongs together. Of two
    measurements a case the contrast is their difference, and the result is that of `repeated`.

    Parameters
    ----------
    name : "within_case_sd" or "repeatability_coefficient"
    value : float array, shape (n_cases, n_repeats)
        NaN where a measurement is missing.

    Returns
    -------
    In the unit of the values; `n` counts the cases that were measured more than once.

    References
    ----------
    Bland, Altman (1996), BMJ 313, 744; (1999), Stat. Methods Med. Res. 8, 135-160.

    Examples
    --------
    >>> print(
    ...     within_case(
    ...         "within_case_sd", np.array([[3.0, 4.0, 5.0], [1.0, 1.0, np.nan], [7.0, 9.0, 8.0]])
    ...     )
    ... )
    0.89 (95% CI 0.55 to 2.31; n = 3)
    """
    contrasts, case = helmert(value)
    several = len(np.unique(case))
    if several == len(case):
        return repeated(name, contrasts, cluster=None if cluster is None else cluster[case], level=level)
    e = repeated(name, contrasts, cluster=case if cluster is None else cluster[case], level=level)
    return replace(e, n=several)


def helmert(value: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Each measurement less the mean of those before it, scaled to the variance of a difference of two.

    The j-th of a case (from 1) less the mean of the j - 1 before it, times sqrt(2 (j - 1) / j); and the case
    of each. `value` is (n_cases, n_repeats), NaN where a measurement is missing.
    """
    given = ~np.isnan(value)
    before = given.cumsum(axis=1) - given
    total = np.cumsum(np.where(given, value, 0.0), axis=1) - np.where(given, value, 0.0)
    case, at = np.nonzero(given & (before > 0))
    j = before[case, at]
    apart = value[case, at] - total[case, at] / j
    return apart * np.sqrt(2 * j / (j + 1)), case


def _alone(influence: Floats) -> Estimate:
    """Of cases that have nothing to do with each other."""
    n = len(influence)
    se = sqrt(float(influence @ influence) * n / (n - 1)) if n > 1 else 0.0
    return Estimate(0.0, -se, se, n, se=se, df=max(n - 1.0, 1.0))


def _of_clusters(cluster: Clusters, influence: Floats) -> Estimate:
    e = mean_of_clusters(0.0, cluster_sums(influence, cluster), len(influence), 0.95)
    return replace(e, method=CLUSTERED, note=e.note if e.se != 0 else NO_NOTE)


def _df_of_spread(of_log: Estimate, most: int, level: float) -> float:
    """Degrees of freedom of a standard deviation from the variance of its logarithm, at most `most`."""
    wider = quantile(of_log.df, level) / quantile(inf, level)
    variance = (of_log.se * wider) ** 2
    return min(float(most), max(LEAST_DF, 1 / (2 * variance))) if variance > 0 else float(most)


def repeat_kappa(
    first: Mask,
    second: Mask,
    *,
    cluster: Clusters | None = None,
    summed: Summed | None = None,
    level: float = 0.95,
) -> Estimate:
    """Cohen's kappa of the decisions of two runs on the same cases.

    As `cohen_kappa`, with the interval of `coefficient_interval`; with clusters it has the standard error of
    the clusters' sums of what each case contributes, and their t.

    Parameters
    ----------
    first, second : bool array, shape (n_cases,)
    summed : function of an array (n_cases,), optional
        As in `repeated`.

    Returns
    -------
    No limits, with a note, where either decision is as rare as in `coefficient_interval`.

    Notes
    -----
    Simulated as `repeated`: covers .95 to .99; the t interval on the scale of kappa .91 to .94 from 50 cases
    on.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46.

    Examples
    --------
    >>> first = np.repeat([True, True, False, False], [20, 5, 10, 15])
    >>> second = np.repeat([True, False, True, False], [20, 5, 10, 15])
    >>> print(repeat_kappa(first, second))
    0.40 (95% CI 0.12 to 0.62; n = 50)
    """
    pair = np.stack([first, second], axis=1).astype(np.int64)
    alone = cohen_kappa(pair[:, 0], pair[:, 1], 2, level=level)
    by_sums = summed or (None if cluster is None else partial(_of_clusters, cluster))
    method = KAPPA if by_sums is None else CLUSTERED_KAPPA
    if not isnan(alone.value) and why_none(pair, 2):
        return replace(without(alone, FEW_DECISIONS), method=method)
    found = coefficient_interval(alone, pair, 2)
    if by_sums is None or isnan(found.low) or not alone.se > 0:
        return replace(found, method=method)
    e = by_sums(kappa_of(first, second)[1])
    value, n = found.value, len(first)
    if isnan(e.low) or not e.se > 0:
        return no_interval(value, n, e.note, level=level, method=method)
    half = quantile(e.df, level) * e.se / (1 - value**2)
    low, high = (tanh(atanh(value) + end) for end in (-half, half))
    details = {**found.details, **e.details}
    return Estimate(value, low, high, n, level, method, e.note, se=e.se, df=e.df, details=details)


def kappa_of(first: Mask, second: Mask) -> tuple[float, Floats]:
    """Kappa, and what each case adds to its deviation, in sum 0, (n_cases,): for clusters of any kind.

    >>> value, influence = kappa_of(np.array([False, False, True]), np.array([False, True, True]))
    >>> round(value, 3), abs(round(influence.sum(), 9))
    (0.4, np.float64(0.0))
    """
    value, parts = kappa_influence(first.astype(np.int64), second.astype(np.int64), 2)
    return value, parts / len(parts)
