"""How alike two runs on the same case are: limits of agreement, within-case SD, decisions that flip."""

from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures.agreement.cohen import cohen_kappa, kappa_influence
from trustreport.measures.case_mean import mean_of_clusters
from trustreport.measures.cluster import Clusters, cluster_sums
from trustreport.measures.mrmc.interval import no_interval, quantile

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LIMITS_AT = 1.96  # standard deviations from the mean difference: what 95 of 100 differences do not exceed
MEAN, LIMITS, SPREAD = "paired_t", "bland_altman", "chi_square_sd"
CLUSTERED = "cluster_linearised"
NO_REPEAT = "no case has a result of both runs"
ONE_REPEAT = "one case has a result of both runs: no spread"
ALL_ALIKE = "both runs gave the same scores: no interval"

OfDifferences = Literal[
    "repeat_bias",
    "within_case_sd",
    "agreement_limit_low",
    "agreement_limit_high",
    "repeatability_coefficient",
]
OF_DIFFERENCES: tuple[OfDifferences, ...] = (
    *("repeat_bias", "agreement_limit_low", "agreement_limit_high"),
    *("within_case_sd", "repeatability_coefficient"),
)


@dataclass(frozen=True, eq=False)
class LinearValue:
    """A value made of differences, and what each difference adds to it, in sum 0, (n_cases,).

    Of the logarithm of the value where `scale` is "log".
    """

    value: float
    influence: Floats
    scale: Literal["identity", "log"]


def of_differences(name: OfDifferences, difference: Floats) -> LinearValue:
    """The value of `repeated` and its linearisation, for designs with clusters of whatever kind.

    >>> of_differences("within_case_sd", np.array([1.0, -1.0, 1.0, -1.0])).value
    0.7071067811865476
    """
    n, mean = len(difference), float(difference.mean())
    if name == "repeat_bias":
        return LinearValue(mean, (difference - mean) / n, "identity")
    if name in ("within_case_sd", "repeatability_coefficient"):
        square = difference**2
        sd = sqrt(float(square.mean()) / 2)
        times = 1.0 if name == "within_case_sd" else LIMITS_AT * sqrt(2)
        share = (square / square.mean() - 1) / (2 * n) if sd else np.zeros(n)
        return LinearValue(times * sd, share, "log")
    side = -LIMITS_AT if name == "agreement_limit_low" else LIMITS_AT
    sd = float(difference.std(ddof=1))
    of_sd = ((difference - mean) ** 2 - difference.var()) / (2 * n * sd) if sd else np.zeros(n)
    return LinearValue(mean + side * sd, (difference - mean) / n + side * of_sd, "identity")


def repeated(
    name: OfDifferences, difference: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """What the differences of the scores of two runs on the same cases say of repeatability.

    With d the second score less the first, m their mean and s their standard deviation::

        repeat_bias                 m,                         m -+ t s / sqrt(n)
        agreement_limit_low, _high  L = m -+ 1.96 s,           L -+ t s sqrt(1 / n + 1.96^2 / (2 (n - 1)))
        within_case_sd              w = sqrt(sum d^2 / (2 n)), w sqrt(n / chi^2 quantiles), n df
        repeatability_coefficient   1.96 sqrt(2) w,            the same

    Estimand: of cases from the same population, each run twice under the conditions of the study.

    Parameters
    ----------
    name : which of them
    difference : float array, shape (n_cases,)
        Second minus first score of each case with both; no NaN.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together: then t intervals from the clusters' sums of linearised contributions, of
        the SD and the coefficient on the logarithmic scale.
    level : float in (0, 1)
        Of the intervals. The limits themselves are for 95% of differences whatever the level.

    Returns
    -------
    Estimate
        In the unit of the scores; NaN with a note without cases, and for limits with a single one. No
        interval where the runs are all alike.

    Notes
    -----
    The intervals without clusters take differences as normal. A within-case SD that grows with the score is
    not constant: then the limits are too wide for low scores and too narrow for high ones.

    References
    ----------
    Bland, Altman (1986), Lancet 327, 307-310; (1999), Stat. Methods Med. Res. 8, 135-160 (limits).
    Bland, Altman (1996), BMJ 313, 744 (within-subject standard deviation).

    Examples
    --------
    >>> difference = np.array([0.02, -0.01, 0.00, 0.03, -0.04, 0.01, 0.02, -0.02])
    >>> print(repeated("agreement_limit_high", difference))
    0.05 (95% CI 0.01 to 0.08; n = 8)
    """
    check_level(level)
    n, method = len(difference), METHODS[name] if cluster is None else CLUSTERED
    spread = name in ("within_case_sd", "repeatability_coefficient")
    if n < 2 and not (n and spread):
        return undefined(n, ONE_REPEAT if n else NO_REPEAT, level=level, method=method)
    found = of_differences(name, difference)
    if not difference.any() or (np.ptp(difference) == 0 and not spread):
        return no_interval(found.value, n, ALL_ALIKE, level=level, method=method)
    if cluster is not None:
        return _clustered(found, n, cluster, level)
    if spread:
        tail = (1 - level) / 2
        low, high = (found.value * sqrt(n / chdtri(n, p)) for p in (tail, 1 - tail))
        return Estimate(found.value, low, high, n, level, method, df=float(n))
    more = 0.0 if name == "repeat_bias" else LIMITS_AT**2 / (2 * (n - 1))
    se = float(difference.std(ddof=1)) * sqrt(1 / n + more)
    half = quantile(n - 1, level) * se
    return Estimate(
        found.value, found.value - half, found.value + half, n, level, method, se=se, df=float(n - 1)
    )


METHODS: dict[str, str] = {
    "repeat_bias": MEAN,
    "agreement_limit_low": LIMITS,
    "agreement_limit_high": LIMITS,
    "within_case_sd": SPREAD,
    "repeatability_coefficient": SPREAD,
}


def _clustered(found: LinearValue, n: int, cluster: Clusters, level: float) -> Estimate:
    """The t interval from the clusters' sums, turned back where they are of the logarithm."""
    sums = cluster_sums(found.influence, cluster)
    on_log = found.scale == "log"
    e = mean_of_clusters(log(found.value) if on_log else found.value, sums, n, level)
    low, high = (exp(x) if on_log else x for x in (e.low, e.high))
    se = e.se * found.value if on_log else e.se
    return Estimate(found.value, low, high, n, level, CLUSTERED, e.note, se=se, df=e.df, details=e.details)


def repeat_kappa(
    first: Mask, second: Mask, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Cohen's kappa of the decisions of two runs on the same cases.

    As `cohen_kappa`; with clusters the t interval from the clusters' sums of what each case contributes.

    Parameters
    ----------
    first, second : bool array, shape (n_cases,)
    cluster : int array, shape (n_cases,), optional

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46.

    Examples
    --------
    >>> first = np.repeat([True, True, False, False], [20, 5, 10, 15])
    >>> second = np.repeat([True, False, True, False], [20, 5, 10, 15])
    >>> print(repeat_kappa(first, second))
    0.40 (95% CI 0.14 to 0.66; n = 50)
    """
    alone = cohen_kappa(first.astype(np.int64), second.astype(np.int64), 2, level=level)
    if cluster is None or alone.value != alone.value:
        return alone
    value, influence = kappa_of(first, second)
    e = _clustered(LinearValue(value, influence, "identity"), len(first), cluster, level)
    high = min(e.high, 1.0)
    return Estimate(value, e.low, high, e.n, level, CLUSTERED, e.note, se=e.se, df=e.df, details=e.details)


def kappa_of(first: Mask, second: Mask) -> tuple[float, Floats]:
    """Kappa, and what each case adds to its deviation, in sum 0, (n_cases,): for clusters of any kind.

    >>> value, influence = kappa_of(np.array([False, False, True]), np.array([False, True, True]))
    >>> round(value, 3), abs(round(influence.sum(), 9))
    (0.4, np.float64(0.0))
    """
    value, parts = kappa_influence(first.astype(np.int64), second.astype(np.int64), 2)
    return value, parts / len(parts)
