"""Marginal odds ratio by generalised estimating equations, cases as clusters."""

import warnings
from math import exp, nan

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import no_interval, quantile, two_sided_p

METHOD = "gee_case_exchangeable"


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
    Estimate
        `n` counts the readings of both arms. No limits, and a note, with an empty cell, a single case, or
        where the equations do not converge.

    References
    ----------
    Liang, Zeger (1986), Biometrika 73, 13-22. Computed by statsmodels.
    """
    check_level(level)
    pair = outcome[[compared, baseline]]
    arm, _, case = np.nonzero(~np.isnan(pair))
    event = pair[~np.isnan(pair)]
    n = len(event)
    rates = [float(event[arm == side].mean()) if (arm == side).any() else nan for side in (0, 1)]
    if np.isnan(rates).any():
        return undefined(n, notes.NO_READING, level=level, method=METHOD)
    if {*rates} & {0.0, 1.0}:
        return undefined(n, notes.ZERO_CELL, level=level, method=METHOD)
    cases = len(np.unique(case))
    if cases < 2:
        return undefined(n, notes.ONE_CLUSTER, level=level, method=METHOD)
    from statsmodels.genmod.cov_struct import Exchangeable
    from statsmodels.genmod.families import Binomial
    from statsmodels.genmod.generalized_estimating_equations import GEE

    design = np.column_stack([np.ones(n), arm == 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say is judged below, from the result
        try:
            fit = GEE(event, design, groups=case, family=Binomial(), cov_struct=Exchangeable()).fit()
            b, se = float(fit.params[1]), float(fit.bse[1])
        except (np.linalg.LinAlgError, ValueError):
            return undefined(n, notes.GEE_FAILED, level=level, method=METHOD)
    if not (fit.converged and np.isfinite(b) and se > 0):
        return no_interval(exp(b) if np.isfinite(b) else nan, n, notes.GEE_FAILED, level=level, method=METHOD)
    half = quantile(np.inf, level) * se
    return Estimate(
        exp(b),
        exp(b - half),
        exp(b + half),
        n,
        level,
        METHOD,
        p=two_sided_p(b / se),
        details={"log_se": se, "n_cases": float(cases), "correlation": float(fit.cov_struct.dep_params)},
    )
