"""Readers whose cases come in clusters: areas, estimating equations, and ratios of marginal shares."""

import warnings
from math import exp, inf, isinf, log, nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from trustreport.measures.cluster import Clusters, grouped
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, quantile, symmetric, two_sided_p
from trustreport.measures.note import NO_NOTE, Note

Clustering = Literal["cluster_case", "cluster_reader", "cluster_twoway_z", "cluster_twoway_t"]
CLUSTERINGS: tuple[Clustering, ...] = (
    "cluster_case",
    "cluster_reader",
    "cluster_twoway_z",
    "cluster_twoway_t",
)


def clustered_difference(
    outcome: NDArray[np.float64],
    clustering: Clustering = "cluster_case",
    *,
    compared: int = 1,
    baseline: int = 0,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean difference of two arms over all pairs of readings, by the robust variance of its clusters.

    A pair is one reader and case read in both arms; d its difference, n the pairs, G the clusters::

        V = sum over clusters of (sum of (d - mean d))^2 / n^2 x G / (G - 1)
        two-way: V_case + V_reader - V_pair, each with its own factor

    ``cluster_case`` takes readers as fixed, ``cluster_reader`` cases as fixed, both with the normal quantile;
    ``cluster_twoway_z`` samples both, ``cluster_twoway_t`` with t and min(cases, readers) - 1 df.

    Estimand: mean over the pairs, so that a reader who read more weighs more.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted, 0.0 not, NaN no reading. With correct decisions the result is the absolute risk
        reduction.
    cluster : int array, shape (n_cases,), optional
        Which cases are of one patient: patients then stand in for cases.

    Returns
    -------
    In [-1, 1]; `n` counts pairs. No limits, and a note, with fewer than two clusters or no positive
    variance.

    Notes
    -----
    Clustering by one of both covers too rarely; two-way with z also, with t it is cautious.

    References
    ----------
    Cameron, Gelbach, Miller (2011), J. Bus. Econ. Stat. 29, 238-249.

    Examples
    --------
    >>> outcome = np.array([[[0.0, 0, 1], [0, 1, 1]], [[1.0, 0, 1], [1, 1, 0]]])
    >>> print(clustered_difference(outcome))
    0.17 (95% CI -0.70 to 1.03; n = 6)
    """
    change = outcome[compared] - outcome[baseline]
    paired = ~np.isnan(change)
    n = int(paired.sum())
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method=clustering)
    value = float(np.where(paired, change, 0.0).sum() / n)
    residual = np.where(paired, change - value, 0.0)
    residual, held = grouped(residual, cluster), grouped(paired.astype(float), cluster) > 0
    by_case, cases = residual.sum(axis=0), int(held.any(axis=0).sum())
    by_reader, readers = residual.sum(axis=1), int(held.any(axis=1).sum())
    details = {"n_readers": float(readers), "n_cases": float(cases)}
    needed = {"cluster_case": cases, "cluster_reader": readers}.get(clustering, min(cases, readers))
    if needed < 2:
        return no_interval(value, n, notes.ONE_CLUSTER, level=level, method=clustering, details=details)
    variance = {
        "cluster_case": lambda: _variance(by_case, cases, n),
        "cluster_reader": lambda: _variance(by_reader, readers, n),
    }.get(
        clustering,
        lambda: (
            _variance(by_case, cases, n)
            + _variance(by_reader, readers, n)
            - _variance(residual, int(held.sum()), n)
        ),
    )()
    if variance <= NEGLIGIBLE:
        note = notes.TWOWAY_NOT_POSITIVE if abs(residual).max() > NEGLIGIBLE else notes.NO_VARIATION
        details["variance"] = variance
        return no_interval(value, n, note, level=level, method=clustering, details=details)
    df = float(needed - 1) if clustering == "cluster_twoway_t" else inf
    return symmetric(value, variance, n, df=df, level=level, method=clustering, null=0.0, details=details)


def mcnemar_clustered_case(
    outcome: NDArray[np.float64],
    *,
    compared: int = 1,
    baseline: int = 0,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """McNemar's test of two arms where each case was judged by several readers, cases as clusters.

    With S_k the sum over readers of the difference in case k (in the cases of patient k, where a `cluster` is
    given), and K cases::

        chi-square = (sum S_k)^2 / sum S_k^2 x (K - 1) / K, 1 df

    Returns
    -------
    `value` is the chi-square and `p` its tail; no limits. Where no case favours an arm, 0 with p = 1.

    References
    ----------
    Obuchowski (1998), Stat. Med. 17, 1495-1507.

    Examples
    --------
    >>> outcome = np.array([[[0.0, 0, 1], [0, 1, 1]], [[1.0, 0, 1], [1, 1, 0]]])
    >>> round(mcnemar_clustered_case(outcome).value, 3)
    0.133
    """
    method = "mcnemar_clustered_case"
    change = outcome[compared] - outcome[baseline]
    paired = ~np.isnan(change)
    n, held = int(paired.sum()), grouped(paired.sum(axis=0).astype(float), cluster)
    cases = int((held > 0).sum())
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method=method)
    if cases < 2:
        return undefined(n, notes.ONE_CLUSTER, level=level, method=method)
    s = grouped(np.where(paired, change, 0.0).sum(axis=0), cluster)
    squares = float(s @ s)
    chi2 = float(s.sum() ** 2 / squares * (cases - 1) / cases) if squares > 0 else 0.0
    return Estimate(
        chi2,
        float("nan"),
        float("nan"),
        n,
        level,
        method,
        notes.TEST_ONLY if squares > 0 else notes.NO_DISCORDANT,
        df=1.0,
        p=float(chdtrc(1, chi2)),
        details={"n_cases": float(cases), "z": sqrt(chi2)},
    )


def _variance(sums: NDArray[np.float64], clusters: int, n: int) -> float:
    return float((sums**2).sum() / n**2 * clusters / (clusters - 1))


METHOD = "gee_case_exchangeable"
MOST_STEPS = 100
CONVERGED = 1e-12  # norm of the scores, for each reading, that counts as none
FARTHEST = 30.0  # a logit beyond this is on its way to infinity


def gee_odds_ratio(
    outcome: NDArray[np.float64], *, compared: int = 1, baseline: int = 0, level: float = 0.95
) -> Estimate:
    """Marginal odds ratio of two arms, by a logit model of all readings with cases as clusters.

    ::

        logit P(event) = a + b [compared arm], exchangeable correlation within a case, sandwich variance
        value exp(b), interval exp(b +- z se)

    Estimand: as `or_delta`, but for these readers: only cases count as sampled.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 event (an error, for the odds ratio of a report), 0.0 none, NaN no reading; unpaired readings
        count.

    Returns
    -------
    `n` counts the readings of both arms. No limits, and a note, with an empty cell, a single case, where
    nothing varies, or where the equations do not converge.

    References
    ----------
    Liang, Zeger (1986), Biometrika 73, 13-22.

    Examples
    --------
    >>> wrong = np.array([[[1.0, 1, 0, 0, 1], [1, 0, 0, 1, 0]], [[0.0, 1, 0, 0, 1], [0, 0, 0, 1, 0]]])
    >>> print(gee_odds_ratio(wrong))
    0.43 (95% CI 0.09 to 1.94; n = 20)
    """
    check_level(level)
    pair = outcome[[baseline, compared]]
    read = ~np.isnan(pair)
    readings = read.sum(axis=1)  # (2, n_cases)
    n = int(readings.sum())
    if not readings.any(axis=1).all():
        return undefined(n, notes.NO_READING, level=level, method=METHOD)
    rates = [float(arm[known].mean()) for arm, known in zip(pair, read)]
    if set(rates) & {0.0, 1.0}:
        return undefined(n, notes.ZERO_CELL, level=level, method=METHOD)
    sizes = readings.sum(axis=0)
    cases = int(np.count_nonzero(sizes))
    if cases < 2:
        return undefined(n, notes.ONE_CLUSTER, level=level, method=METHOD)
    solved = _solve(pair, read, rates, sizes)
    if solved is None:
        return undefined(n, notes.GEE_FAILED, level=level, method=METHOD)
    b, variance, correlation = solved
    if not variance > NEGLIGIBLE:
        return no_interval(exp(b), n, notes.NO_LOG_VARIANCE, level=level, method=METHOD)
    se = sqrt(variance)
    half = quantile(np.inf, level) * se
    return Estimate(
        exp(b),
        exp(b - half),
        exp(b + half),
        n,
        level,
        METHOD,
        p=two_sided_p(b / se),
        details={"log_se": se, "n_cases": float(cases), "correlation": correlation},
    )


def _solve(
    pair: NDArray[np.float64], read: NDArray[np.bool_], rates: list[float], sizes: NDArray[np.int64]
) -> tuple[float, float, float] | None:
    """Log odds ratio, its sandwich variance and the working correlation; None where there is no solution.

    The correlation is 0 where there are no more pairs of readings than rates, which leaves none to estimate.
    """
    # Imported here: they take most of a second, and only studies of readings need them.
    from statsmodels.genmod.cov_struct import Exchangeable, Independence
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_estimating_equations import GEE

    arm, _, case = np.nonzero(read)
    related = (sizes * (sizes - 1)).sum() / 2 > len(rates)
    model = GEE(
        pair[read],
        np.column_stack([np.ones(arm.size), arm]),
        groups=case,
        family=Binomial(),
        cov_struct=Exchangeable() if related else Independence(),
    )
    first, second = (log(p / (1 - p)) for p in rates)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # what is returned says whether the equations were solved
        fit = model.fit(maxiter=MOST_STEPS, ctol=CONVERGED * arm.size, start_params=[first, second - first])
    if fit is None or not fit.converged or not np.abs(np.cumsum(fit.params)).max() < FARTHEST:
        return None
    correlation = float(fit.cov_struct.dep_params) if related else 0.0
    if not -1 / max(int(sizes.max()) - 1, 1) < correlation < 1:
        return None
    return float(fit.params[1]), float(fit.cov_params()[1, 1]), correlation


def or_delta(
    compared: float,
    baseline: float,
    covariance: NDArray[np.float64],
    n: int,
    *,
    df: float = inf,
    level: float = 0.95,
    note: Note = NO_NOTE,
) -> Estimate:
    """Marginal odds ratio of two arms, odds(compared) / odds(baseline), with a delta-method interval.

    With p, q the rates of the two arms and V their covariance matrix::

        log OR = logit p - logit q
        Var = V_pp / (p (1-p))^2 + V_qq / (q (1-q))^2 - 2 V_pq / (p (1-p) q (1-q))
        interval: exp(log OR +- quantile x sqrt(Var))

    Estimand: ratio of the odds of an event in the two arms over all readers and cases; neither the odds
    ratio within one pair of readings (matched) nor within one reader and case (mixed model), which are
    farther from 1.

    Parameters
    ----------
    compared, baseline : float in [0, 1]
        Rates of the event: of error, for the odds ratio of a report.
    covariance : float array, shape (2, 2)
        Of both rates, compared first: `mean_covariance` of an Obuchowski-Rockette fit or of a U-statistic.
    n : int
        Readings of one arm.
    df : float
        Degrees of freedom of the difference (`reference_df`); infinite: normal.
    note : str
        What to carry along, such as that of the difference.

    Returns
    -------
    In (0, inf); 0 or infinite without limits where one cell is empty, NaN where both arms are; each
    with a note.

    References
    ----------
    Agresti (2013), Categorical Data Analysis, 3rd ed., section 16.1 (delta method).

    Examples
    --------
    >>> print(or_delta(0.2, 0.3, np.array([[4e-4, 2e-4], [2e-4, 5e-4]]), 500))
    0.58 (95% CI 0.46 to 0.74; n = 500)
    """
    check_level(level)
    if compared == baseline and compared in (0.0, 1.0):
        why = notes.NO_EVENT_EITHER if compared == 0 else notes.ALL_EVENTS_EITHER
        return undefined(n, why, level=level, method="or_delta")
    if {compared, baseline} & {0.0, 1.0}:
        value = 0.0 if compared == 0 or baseline == 1 else inf
        return no_interval(value, n, notes.ZERO_CELL, level=level, method="or_delta")
    value = log(compared / (1 - compared)) - log(baseline / (1 - baseline))
    slope = np.array([1 / (compared * (1 - compared)), -1 / (baseline * (1 - baseline))])
    return _log_scale(value, float(slope @ covariance @ slope), n, df, level, "or_delta", note)


def rr_delta(
    compared: float,
    baseline: float,
    covariance: NDArray[np.float64],
    n: int,
    *,
    df: float = inf,
    level: float = 0.95,
    note: Note = NO_NOTE,
) -> Estimate:
    """Ratio of two arms' rates, compared / baseline, with a delta-method interval on the log scale.

    ::

        Var log RR = V_pp / p^2 + V_qq / q^2 - 2 V_pq / (p q)

    Parameters, result and source as in `or_delta`.

    Examples
    --------
    >>> print(rr_delta(0.2, 0.3, np.array([[4e-4, 2e-4], [2e-4, 5e-4]]), 500))
    0.67 (95% CI 0.55 to 0.80; n = 500)
    """
    check_level(level)
    if compared == baseline == 0:
        return undefined(n, notes.NO_EVENT_EITHER, level=level, method="rr_delta")
    if compared == 0 or baseline == 0:
        value = 0.0 if compared == 0 else inf
        return no_interval(value, n, notes.ZERO_CELL, level=level, method="rr_delta")
    slope = np.array([1 / compared, -1 / baseline])
    return _log_scale(
        log(compared / baseline), float(slope @ covariance @ slope), n, df, level, "rr_delta", note
    )


def _log_scale(
    value: float, variance: float, n: int, df: float, level: float, method: str, note: Note
) -> Estimate:
    if not variance > NEGLIGIBLE:
        why = note + notes.NO_LOG_VARIANCE
        return no_interval(exp(value), n, why, level=level, method=method)
    if not df >= 1:
        return no_interval(exp(value), n, note + notes.NO_DF, level=level, method=method)
    se = sqrt(variance)
    half = quantile(df, level) * se
    return Estimate(
        exp(value),
        exp(value - half),
        exp(value + half),
        n,
        level,
        method,
        note,
        se=nan,
        df=nan if isinf(df) else df,
        p=two_sided_p(value / se, df),
        details={"log_se": se},
    )
