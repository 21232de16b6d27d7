"""Shares of cases at a horizon, weighted for censoring: how many have the event, and how many are called."""

from dataclasses import replace
from math import nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.notes import OFTEN_ABOVE
from trustreport.measures.survival import notes
from trustreport.measures.survival.horizon import AtHorizon

SHARE_METHOD = "ipcw_wilson"
FEW_CALLED = 15
Share = Literal["sensitivity", "specificity", "ppv", "npv"]


def risk_at_horizon(state: AtHorizon, *, cluster: Clusters | None = None, level: float = 0.95) -> Estimate:
    """The share of cases with the event by the horizon: Kaplan-Meier, or Aalen-Johansen.

    Estimand and interval: as `share_at_horizon`, of all cases.

    References
    ----------
    Kaplan, Meier (1958), J. Am. Stat. Assoc. 53, 457-481; Aalen, Johansen (1978), Scand. J. Stat. 5, 141-150.
    Dorey, Korn (1987), Stat. Med. 6, 679-687 (effective number of cases).

    Examples
    --------
    >>> from trustreport.measures.survival.horizon import at_horizon
    >>> print(risk_at_horizon(at_horizon(np.array([1.0, 2, 3, 4]), np.array([1, 0, 1, 0]), 3.5)))
    0.62 (95% CI 0.18 to 0.93; n = 4)
    """
    why = "" if state.why_not in (notes.NO_EVENT, notes.ALL_EVENTS) else state.why_not
    every = np.ones(len(state), bool)
    e = _share(state, state.event, every, cluster, level, why, censored_count=True)
    return replace(e, n=len(state))


def share_at_horizon(
    name: Share,
    state: AtHorizon,
    called: NDArray[np.bool_],
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Sensitivity, specificity or a predictive value of calls for the event by a horizon.

    With w the weights, y the event by the horizon and c the call, sensitivity for instance::

        sum w y c / sum w y

    Wilson's interval with the number of cases at which a binomial share would vary as the influences do (the
    estimated G allowed for), at most the effective number (sum w)^2 / sum w^2 of the denominator. The
    negative predictive value, like the observed risk, may reach the whole denominator: cases censored before
    the horizon were free of the event until then, and such cases are nearly all of it. Cases in clusters:
    Student's t.

    Estimand: the share in the population from which the cases, or clusters, were sampled. Assumes that
    censoring depends on neither outcome nor call.

    Parameters
    ----------
    state : of the same cases
    called : bool array, shape (n,)
    cluster : int array, shape (n,), optional

    Returns
    -------
    Estimate
        ``ipcw_wilson``; `n` counts the cases of the denominator whose state is known; NaN with a note where
        there is none.

    References
    ----------
    Uno, Cai, Tian, Wei (2007), J. Am. Stat. Assoc. 102, 527-537.
    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.

    Examples
    --------
    >>> from trustreport.measures.survival.horizon import at_horizon
    >>> state = at_horizon(np.array([1.0, 2, 3, 4]), np.array([1, 0, 1, 0]), 3.5)
    >>> print(share_at_horizon("sensitivity", state, np.array([True, True, False, False])))
    0.40 (95% CI 0.06 to 0.87; n = 2)
    """
    among = {"sensitivity": state.event, "specificity": ~state.event, "ppv": called, "npv": ~called}[name]
    right = state.event == called
    why = state.why_not
    if not why and not (state.known & among).any():
        why = notes.NONE_CALLED if name == "ppv" else notes.ALL_CALLED
    e = _share(state, right, among, cluster, level, why, censored_count=name == "npv")
    return replace(e, note=OFTEN_ABOVE) if name == "ppv" and e.n < FEW_CALLED and not e.note else e


def _share(
    state: AtHorizon,
    of: NDArray[np.bool_],
    among: NDArray[np.bool_],
    cluster: Clusters | None,
    level: float,
    why: str,
    *,
    censored_count: bool,
) -> Estimate:
    check_level(level)
    denominator = among & state.known
    n = int(np.count_nonzero(denominator))
    if why:
        return undefined(n, why, level=level, method=SHARE_METHOD)
    weight = state.weight * denominator
    total = float(weight.sum())
    value = min(max(float(weight @ of) / total, 0.0), 1.0)
    variance, df = state.variance(state.influence(denominator * (of - value) * (len(state) / total)), cluster)
    details = state.details
    if cluster is not None and not df > 0:
        return Estimate(value, nan, nan, n, level, SHARE_METHOD, notes.ONE_CLUSTER, details=details)
    alone = state.size(denominator)
    size = _size(value, variance, total if censored_count else alone, alone)
    t = quantile(np.inf if cluster is None else df, level)
    middle = (value + t * t / (2 * size)) / (1 + t * t / size)
    half = t * sqrt(value * (1 - value) / size + t * t / (4 * size * size)) / (1 + t * t / size)
    low = 0.0 if value == 0 else max(0.0, middle - half)
    high = 1.0 if value == 1 else min(1.0, middle + half)
    se = sqrt(variance) if variance > 0 else nan
    return Estimate(value, low, high, n, level, SHARE_METHOD, se=se, details={**details, "effective_n": size})


def _size(value: float, variance: float, most: float, alone: float) -> float:
    """How many independent cases would give a share this variance; `alone` where it has none."""
    binomial = value * (1 - value)
    return min(binomial / variance, most) if variance > 0 and binomial > 1e-12 else alone
