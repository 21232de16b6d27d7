"""Shares and areas of cases at a horizon."""

from dataclasses import replace
from math import inf, nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.notes import OFTEN_ABOVE
from trustreport.measures.roc.auc import exponential_variance, newcombe_limits, on_logit_scale
from trustreport.measures.survival import notes
from trustreport.measures.survival.horizon import AtHorizon, Floats

METHOD = "ipcw_wilson"
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
    why = NO_NOTE if state.why_not in (notes.NO_EVENT, notes.ALL_EVENTS) else state.why_not
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
    among = MEASURES[name].cases(state.event, called)
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
    why: Note,
    *,
    censored_count: bool,
) -> Estimate:
    check_level(level)
    denominator = among & state.known
    n = int(np.count_nonzero(denominator))
    if why:
        return undefined(n, why, level=level, method=METHOD)
    weight = state.weight * denominator
    total = float(weight.sum())
    value = min(max(float(weight @ of) / total, 0.0), 1.0)
    variance, df = state.variance(state.influence(denominator * (of - value) * (len(state) / total)), cluster)
    details = state.details
    if cluster is not None and not df > 0:
        return Estimate(value, nan, nan, n, level, METHOD, notes.ONE_CLUSTER, details=details)
    alone = state.size(denominator)
    size = _size(value, variance, total if censored_count else alone, alone)
    t = quantile(np.inf if cluster is None else df, level)
    middle = (value + t * t / (2 * size)) / (1 + t * t / size)
    half = t * sqrt(value * (1 - value) / size + t * t / (4 * size * size)) / (1 + t * t / size)
    low = 0.0 if value == 0 else max(0.0, middle - half)
    high = 1.0 if value == 1 else min(1.0, middle + half)
    se = sqrt(variance) if variance > 0 else nan
    return Estimate(value, low, high, n, level, METHOD, se=se, details={**details, "effective_n": size})


def _size(value: float, variance: float, most: float, alone: float) -> float:
    """How many independent cases would give a share this variance; `alone` where it has none."""
    binomial = value * (1 - value)
    return min(binomial / variance, most) if variance > 0 and binomial > 1e-12 else alone


AUC_METHOD, AT_THE_END = "ipcw_logit", "ipcw_newcombe"


def auc_at_horizon(
    state: AtHorizon, score: NDArray[np.float64], *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Chance that a case with the event by the horizon scores higher than one without it by then.

    With w the weights, y the event by the horizon, ties counting half::

        A = sum_ij w_i y_i w_j (1 - y_j) [s_i > s_j] / (sum_i w_i y_i  sum_j w_j (1 - y_j))

    cumulative cases, dynamic controls; a case with a competing event before the horizon is a control, as it
    does not have the event by then. The variance is that of the influences (the estimated G allowed for), or
    Hanley and McNeil's with the effective numbers of cases, (sum w)^2 / sum w^2, where that is larger; the
    interval is made on the logit scale. Cases in clusters: the influences summed within them, Student's t.

    Estimand: P(score of a case with T <= tau > score of one without) + P(equal) / 2. Assumes that censoring
    depends on neither outcome nor score.

    Parameters
    ----------
    state : of the same cases (`trustreport.measures.survival.horizon.at_horizon`)
    score : float array, shape (n,)
        Higher = earlier event.
    cluster : int array, shape (n,), optional

    Returns
    -------
    ``ipcw_logit``, at 0 and 1 ``ipcw_newcombe``; NaN with a note without events or without cases free of
    them; `n` counts all cases, those censored too.

    References
    ----------
    Uno, Cai, Tian, Wei (2007), J. Am. Stat. Assoc. 102, 527-537; Hung, Chiang (2010), Can. J. Stat. 38, 8-26;
    Blanche, Dartigues, Jacqmin-Gadda (2013), Stat. Med. 32, 5381-5397 (competing events).

    Examples
    --------
    >>> from trustreport.measures.survival.horizon import at_horizon
    >>> state = at_horizon(np.array([1.0, 2, 3, 4, 5, 6]), np.array([1, 0, 1, 0, 0, 1]), 3.5)
    >>> round(
    ...     auc_at_horizon(state, np.array([0.9, 0.5, 0.3, 0.4, 0.2, 0.1])).value, 6
    ... )  # of weights 1, 1.25
    0.814815
    """
    check_level(level)
    n = len(state)
    if why := state.why_not:
        return undefined(n, why, level=level, method=AUC_METHOD)
    case, control = state.event, state.known & ~state.event
    w1, w0 = state.weight[case], state.weight[control]
    of_case = _outscored(score[case], score[control], w0)
    of_control = 1 - _outscored(score[control], score[case], w1)
    area = float(w1 @ of_case / w1.sum())
    area = min(max(area, 0.0), 1.0)
    k1, k0 = state.size(case), state.size(control)
    details = {**state.details, "effective_events": k1, "effective_free": k0}
    if min(w1.size, w0.size) < 2:
        return Estimate(area, nan, nan, n, level, AUC_METHOD, notes.ONE_EVENT, details=details)
    if min(area, 1 - area) < 1e-12:
        if cluster is not None:
            return Estimate(round(area), nan, nan, n, level, AUC_METHOD, notes.PERFECT, details=details)
        low, high, p = newcombe_limits(round(area), k1, k0, inf, level)
        return Estimate(round(area), low, high, n, level, AT_THE_END, p=p, details=details)
    value = np.zeros(n)
    value[case] = (of_case - area) * (n / w1.sum())
    value[control] = (of_control - area) * (n / w0.sum())
    variance, df = state.variance(state.influence(value), cluster)
    if not variance > 0:
        return Estimate(area, nan, nan, n, level, AUC_METHOD, notes.NO_NOISE, details=details)
    se = sqrt(max(variance, exponential_variance(area, k1, k0)))
    low, high, p = on_logit_scale(area, se, inf if cluster is None else df, level)
    return Estimate(area, low, high, n, level, AUC_METHOD, se=se, p=p, details=details)


def _outscored(of: Floats, others: Floats, weight: Floats) -> Floats:
    """The weighted share of the others that each outscores, ties counting half."""
    order = np.argsort(others, kind="stable")
    beside = others[order]
    upto = np.concatenate(([0.0], np.cumsum(weight[order])))
    below, with_ties = (upto[np.searchsorted(beside, of, side)] for side in ("left", "right"))
    found: Floats = (below + with_ties) / (2 * upto[-1])
    return found
