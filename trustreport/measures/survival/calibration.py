"""Calibration of a predicted risk at a horizon: Brier score, observed over expected, slope, groups."""

from dataclasses import dataclass
from math import exp, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.survival import notes
from trustreport.measures.survival.horizon import AtHorizon, Floats, at_horizon
from trustreport.measures.survival.shares import risk_at_horizon

BRIER, SCALED, OE, LINE = "ipcw_logit_t", "ipcw_log_t", "ipcw_log_t", "ipcw_sandwich"
INWARDS = 1e-8
STEPS = 100


def brier_at_horizon(
    state: AtHorizon, score: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Mean squared distance of the predicted risk from what was the case at the horizon.

    With w the weights, y the event by the horizon::

        BS = sum w (y - s)^2 / n,   logit BS +- t sqrt(V) / (BS (1 - BS)),   V from the influences

    Estimand: the same mean in the population, had everybody been followed to the horizon. Assumes that
    censoring depends on neither outcome nor score.

    Parameters
    ----------
    state : of the same cases
    score : float array, shape (n,)
        Probability of the event by the horizon.
    cluster : int array, shape (n,), optional

    Returns
    -------
    In [0, 1]; in `details` the score of predicting the observed risk for everybody. NaN with a note where
    nobody was followed to the horizon.

    References
    ----------
    Graf, Schmoor, Sauerbrei, Schumacher (1999), Stat. Med. 18, 2529-2545.
    Gerds, Schumacher (2006), Biom. J. 48, 1029-1040.

    Examples
    --------
    >>> state = at_horizon(np.array([1.0, 2, 3, 4]), np.array([1, 0, 1, 0]), 3.5)
    >>> round(brier_at_horizon(state, np.array([0.9, 0.5, 0.6, 0.2])).value, 4)
    0.0775
    """
    check_level(level)
    n = len(state)
    if (why := state.why_not) and why not in (notes.NO_EVENT, notes.ALL_EVENTS):
        return undefined(n, why, level=level, method=BRIER)
    squared = (state.event - score) ** 2
    value = state.mean(squared)
    details = {**state.details, "of_the_observed_risk": state.risk * (1 - state.risk)}
    variance, df = state.variance(state.influence(squared), cluster)
    if not variance > 0 or not 0 < value < 1:
        return Estimate(value, nan, nan, n, level, BRIER, notes.NO_NOISE, details=details)
    half = quantile(df, level) * sqrt(variance) / (value * (1 - value))
    low, high = (float(expit(logit(value) + end)) for end in (-half, half))
    return Estimate(value, low, high, n, level, BRIER, se=sqrt(variance), df=df, details=details)


def scaled_brier_at_horizon(
    state: AtHorizon, score: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """By what share the Brier score is below that of predicting the observed risk for everybody.

    ::

        1 - BS / (O (1 - O)),   O the observed risk

    interval of the logarithm of the ratio, turned back. Also known as index of prediction accuracy.

    Parameters as in `brier_at_horizon`. 1 = always right and sure, 0 = no better than the observed risk.

    References
    ----------
    Kattan, Gerds (2018), Diagn. Progn. Res. 2, 7.

    Examples
    --------
    >>> state = at_horizon(np.array([1.0, 2, 3, 4]), np.array([1, 0, 1, 0]), 3.5)
    >>> round(scaled_brier_at_horizon(state, np.array([0.9, 0.5, 0.6, 0.2])).value, 4)
    0.6693
    """
    check_level(level)
    n = len(state)
    if why := state.why_not:
        return undefined(n, why, level=level, method=SCALED)
    risk, squared = state.risk, (state.event - score) ** 2
    value = state.mean(squared)
    if not value > 0:
        return Estimate(1.0, nan, nan, n, level, SCALED, notes.NO_NOISE, details=state.details)
    worst = risk * (1 - risk)
    influence = state.influence(squared / value - (1 - 2 * risk) * (state.event - risk) / worst)
    variance, df = state.variance(influence, cluster)
    if not variance > 0:
        return Estimate(1 - value / worst, nan, nan, n, level, SCALED, notes.NO_NOISE, details=state.details)
    factor = exp(quantile(df, level) * sqrt(variance))
    limits = 1 - value / worst * factor, 1 - value / worst / factor
    se = sqrt(variance) * value / worst
    return Estimate(1 - value / worst, *limits, n, level, SCALED, se=se, df=df, details=state.details)


def oe_at_horizon(
    state: AtHorizon, score: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Events observed by the horizon for each event that the predicted risks expect.

    With O the observed risk (Kaplan-Meier, or Aalen-Johansen)::

        O/E = O / mean s,   ln O/E +- t sqrt(V),   V from the influences, the scores sampled too

    Estimand: risk by the horizon over mean score in the population. Assumes that censoring does not depend on
    the outcome.

    Parameters and edges as in `brier_at_horizon`; no value without an event on the logarithmic scale.

    References
    ----------
    McLernon et al. (2023), Ann. Intern. Med. 176, 105-114 (calibration in the large at a horizon).

    Examples
    --------
    >>> state = at_horizon(np.array([1.0, 2, 3, 4]), np.array([1, 0, 1, 0]), 3.5)
    >>> round(oe_at_horizon(state, np.array([0.9, 0.5, 0.6, 0.2])).value, 4)
    1.1364
    """
    check_level(level)
    n = len(state)
    if (why := state.why_not) and why != notes.ALL_EVENTS:
        return undefined(n, why, level=level, method=OE)
    expected, risk = float(score.mean()), state.risk
    details = {**state.details, "observed_risk": risk, "expected_risk": expected}
    if not expected > 0:
        return undefined(n, notes.NOTHING_EXPECTED, level=level, method=OE)
    value = risk / expected
    influence = state.influence(state.event / risk) - (score / expected - 1) / n
    variance, df = state.variance(influence, cluster)
    if not variance > 0:
        return Estimate(value, nan, nan, n, level, OE, notes.NO_NOISE, details=details)
    se = sqrt(variance)
    factor = exp(quantile(df, level) * se)
    p = two_sided_p(log(value) / se, df)
    return Estimate(value, value / factor, value * factor, n, level, OE, se=se, df=df, p=p, details=details)


def slope_at_horizon(
    state: AtHorizon, score: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """By how much the log odds of the predicted risks would have to be stretched to match what was observed.

    ::

        logit P(event by the horizon) = a + b logit(s),   a and b from the weighted cases

    with the variance of the weighted score equations (the estimated G allowed for).

    Parameters as in `brier_at_horizon`; scores of 0 and 1 move inwards by 1e-8, which the note says.

    Returns
    -------
    1 = right, under 1 the predicted risks are too extreme; the intercept of the same fit in `details`.
    NaN with a note where all scores are alike or separate the two states.

    References
    ----------
    Cox (1958), Biometrika 45, 562-565; McLernon et al. (2023), Ann. Intern. Med. 176, 105-114.

    Examples
    --------
    >>> state = at_horizon(np.arange(1.0, 9), np.array([1, 0, 1, 0, 1, 0, 0, 0]), 6.5)
    >>> round(slope_at_horizon(state, np.array([0.9, 0.5, 0.2, 0.4, 0.5, 0.6, 0.3, 0.4])).value, 4)
    0.9304
    """
    check_level(level)
    n = len(state)
    why = state.why_not
    present, absent = score[state.event], score[state.known & ~state.event]
    if not why and score[state.known].min() == score[state.known].max():
        why = notes.CONSTANT_SCORE
    if not why and (absent.max() <= present.min() or present.max() <= absent.min()):
        why = notes.SEPARATED
    if why:
        return undefined(n, why, level=level, method=LINE)
    predictor, note = _logits(score)
    fit = _line(state, predictor)
    if fit is None:
        return undefined(n, notes.NO_CONVERGENCE, level=level, method=LINE)
    intercept, slope = fit
    p = expit(intercept + slope * predictor)
    spread = state.weight * p * (1 - p)
    away = predictor - float(spread @ predictor / spread.sum())
    influence = state.influence((state.event - p) * away * (n / float(spread @ away**2)))
    return _of_line(state, slope, influence, cluster, 1.0, level, note, {"intercept": intercept})


def intercept_at_horizon(
    state: AtHorizon, score: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """By how much the log odds of all risks must move for the expected events to match the observed.

    As `slope_at_horizon` with b = 1; 0 = right on average, positive: the predicted risks are too low.

    Examples
    --------
    >>> state = at_horizon(np.array([1.0, 2, 3, 4]), np.array([1, 1, 1, 0]), 3.5)
    >>> round(intercept_at_horizon(state, np.full(4, 0.5)).value, 6)  # ln 3
    1.098612
    """
    check_level(level)
    n = len(state)
    if why := state.why_not:
        return undefined(n, why, level=level, method=LINE)
    predictor, note = _logits(score)
    value = 0.0
    for _ in range(STEPS):
        p = expit(value + predictor)
        information = float(state.weight @ (p * (1 - p)))
        step = float(state.weight @ (state.event - p)) / max(information, 1e-300)
        value += min(max(step, -2.0), 2.0)
        if abs(step) < 1e-11 * max(1.0, abs(value)):
            break
    else:
        return undefined(n, notes.NO_CONVERGENCE, level=level, method=LINE)
    influence = state.influence((state.event - p) * (n / information))
    return _of_line(state, value, influence, cluster, 0.0, level, note, {})


def _of_line(
    state: AtHorizon,
    value: float,
    influence: Floats,
    cluster: Clusters | None,
    null: float,
    level: float,
    note: Note,
    details: dict[str, float],
) -> Estimate:
    n, details = len(state), {**state.details, **details}
    variance, df = state.variance(influence, cluster)
    if not variance > 0:
        return Estimate(value, nan, nan, n, level, LINE, notes.NO_NOISE, details=details)
    se = sqrt(variance)
    half = quantile(df, level) * se
    p = two_sided_p((value - null) / se, df)
    limits = value - half, value + half
    return Estimate(value, *limits, n, level, LINE, note, se=se, df=df, p=p, details=details)


def _logits(score: Floats) -> tuple[Floats, Note]:
    inside = np.clip(score, INWARDS, 1 - INWARDS)
    return logit(inside), notes.CLIPPED if score.min() < INWARDS or score.max() > 1 - INWARDS else NO_NOTE


def _line(state: AtHorizon, predictor: Floats) -> tuple[float, float] | None:
    """Intercept and slope of the weighted cases, by Newton's method with halved steps."""
    weight, event = state.weight, state.event
    centre, scale = float(predictor.mean()), float(predictor.std())
    x = (predictor - centre) / scale
    a, b = float(logit(state.risk)), 0.0

    def likelihood(a: float, b: float) -> float:
        line = a + b * x
        return -float(weight @ np.logaddexp(0.0, np.where(event, -line, line)))

    reached = likelihood(a, b)
    for _ in range(STEPS):
        p = expit(a + b * x)
        spread, gap = weight * p * (1 - p), weight * (event - p)
        i0, i1, i2 = float(spread.sum()), float(spread @ x), float(spread @ x**2)
        determinant = i0 * i2 - i1 * i1
        if not determinant > 0:
            return None
        g0, g1 = float(gap.sum()), float(gap @ x)
        da, db = (i2 * g0 - i1 * g1) / determinant, (i0 * g1 - i1 * g0) / determinant
        if max(abs(da), abs(db)) <= 1e-9 * max(1.0, abs(a), abs(b)):
            slope = b / scale
            return a - slope * centre, slope
        for _ in range(STEPS):
            if likelihood(a + da, b + db) >= reached - 1e-12 * abs(reached):
                break
            da, db = da / 2, db / 2
        a, b = a + da, b + db
        reached = likelihood(a, b)
    return None


@dataclass(frozen=True, slots=True)
class RiskGroup:
    """Cases with predicted risks from `low` to `high`: their mean, and the risk observed by the horizon."""

    low: float
    high: float
    mean_score: float
    observed: Estimate


def risk_groups(
    time: Floats,
    codes: NDArray[np.int64],
    score: Floats,
    horizon: float,
    *,
    groups: int = 10,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> tuple[RiskGroup, ...]:
    """The risk observed by the horizon in groups of similar predicted risk, each with weights of its own.

    Groups are as even in size as ties of the scores allow. In each the observed risk is that of
    `risk_at_horizon`, so that within a group censoring may depend on the score.

    Parameters
    ----------
    time, codes, horizon : as `at_horizon`
    score : float array, shape (n,)
        Probability of the event by the horizon.
    """
    edges = np.unique(np.quantile(score, np.linspace(0, 1, groups + 1)[1:-1])) if score.size else np.empty(0)
    of = np.searchsorted(edges, score, "left")
    found = []
    for g in np.unique(of):
        own = of == g
        state = at_horizon(time[own], codes[own], horizon)
        observed = risk_at_horizon(state, cluster=None if cluster is None else cluster[own], level=level)
        low, high = float(score[own].min()), float(score[own].max())
        found.append(RiskGroup(low, high, float(score[own].mean()), observed))
    return tuple(found)
