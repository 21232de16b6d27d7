"""Area under the time-dependent ROC curve at a horizon, weighted for censoring."""

from math import inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.roc.auc import exponential_variance, newcombe_limits, on_logit_scale
from trustreport.measures.survival import notes
from trustreport.measures.survival.horizon import AtHorizon, Floats

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
    Estimate
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
