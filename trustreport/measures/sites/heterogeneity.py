"""Spread of a measure between sites beyond chance, and what to expect at a new site."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, inf, sqrt
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, expit, logit, stdtr

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.sites.robustness import Floats

Scale = Literal["identity", "log", "logit", "log_shortfall"]
TauMethod = Literal["reml", "dl"]
ONE_SITE = note("fewer_than_two_sites_no_heterogeneity")
NO_PREDICTION = note("prediction_interval_needs_at_least_three")
NO_SITE_VARIANCE = note("site_without_variance_cannot_be_weighed")
NO_VALUE = note("site_without_value_cannot_be_weighed")
AT_THE_END = note("site_at_end_scale_cannot_be")
NO_SPREAD_FOUND = note("no_spread_between_sites_beyond_chance")
PREDICTION = "q_profile_prediction"
CHANCES = (np.arange(200) + 0.5) / 200  # at which the confidence distribution of tau^2 is looked at
NODES, SHARES = np.polynomial.hermite_e.hermegauss(41)  # of a standard normal variable


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """A measure over sites: its mean, the spread between sites, its share of all spread, a new site."""

    mean: Estimate
    tau2: Estimate
    i2: Estimate
    prediction_interval: Estimate


def heterogeneity(
    value: Floats,
    variance: Floats,
    *,
    scale: Scale = "identity",
    tau_method: TauMethod = "reml",
    level: float = 0.95,
) -> Heterogeneity:
    """How far a measure differs between sites beyond chance, and what to expect at a new site.

    Site i has value y_i with variance v_i; true values spread about their mean with variance tau^2. Weights
    w_i = 1 / (v_i + tau^2), k sites::

        mean = sum w y / sum w
        SE^2 = max(1, q) / sum w,   q = sum w (y - mean)^2 / (k - 1)   (Hartung-Knapp),   t with `sites_df` df
        I^2 = tau^2 / (tau^2 + s^2),   s^2 = (k - 1) sum 1/v / ((sum 1/v)^2 - sum 1/v^2)

    Sites of unequal size have fewer than k - 1 degrees of freedom, since where tau^2 is found too small
    nearly all weight lies with the large ones. A new site is predicted over the confidence distribution of
    tau^2 (`new_site`), not at its estimate, which is 0 in many studies of sites that do differ.

    tau^2 by restricted maximum likelihood or DerSimonian-Laird, its interval by the Q profile. On another
    scale than the measure's own values and variances are carried there (delta method), and mean and
    prediction interval back; tau^2 stays on the scale.

    Estimand: mean and spread over the sites from which these were sampled, each weighing alike but for its
    precision.

    Parameters
    ----------
    value, variance : float array, shape (n_sites,)
        The measure at each site and the square of its standard error, independent sites.
    scale : {"identity", "log", "logit", "log_shortfall"}
        Where sites are taken as normal: logit for areas and proportions, log for ratios, -log(1 - x) for what
        has an upper limit of 1 and no lower one.
    tau_method : {"reml", "dl"}

    Returns
    -------
    `n` counts sites; the mean's `details` hold Q, its df and p. NaN with a note under two sites, with a
    site without value or positive variance, or at the end of the scale; the prediction interval also with
    two.

    Notes
    -----
    With few sites tau^2 is hardly known: a value of 0 is no evidence of equal sites; see its interval.
    Areas of sites of 30, 60, 200 and 1,500 cases and a spread of .5: t with k - 1 df covers .88, of 24, 24,
    30 and 2,000 .75; mean +- t_{k-2} sqrt(tau^2 + SE^2) has .73 to .87 of new sites.

    References
    ----------
    Viechtbauer (2005), J. Educ. Behav. Stat. 30, 261-293 (REML); (2007), Stat. Med. 26, 37-52 (Q profile).
    DerSimonian, Laird (1986), Control. Clin. Trials 7, 177-188.
    Hartung, Knapp (2001), Stat. Med. 20, 3875-3889.
    Röver, Knapp, Friede (2015), BMC Med. Res. Methodol. 15, 99 (max).
    Tipton (2015), Psychol. Methods 20, 375-393 (degrees of freedom).
    Nagashima, Noma, Furukawa (2019), Stat. Methods Med. Res. 28, 1689-1702 (prediction interval).
    Snell, Ensor, Debray, Moons, Riley (2018), Stat. Methods Med. Res. 27, 3505-3522 (scales).
    """
    check_level(level)
    value, variance = (np.asarray(x, dtype=np.float64) for x in (value, variance))
    if value.ndim != 1 or value.shape != variance.shape:
        raise ValueError(
            f"value and variance need one entry a site each, got shapes {value.shape} and {variance.shape}."
        )
    k, method = len(value), f"{tau_method}_hartung_knapp"
    why = NO_NOTE
    if k < 2:
        why = ONE_SITE
    elif np.isnan(value).any():
        why = NO_VALUE
    elif not (variance > 0).all():
        why = NO_SITE_VARIANCE
    elif not _inside(value, scale):
        why = AT_THE_END
    if why:
        none = undefined(k, why, level=level, method=method)
        return Heterogeneity(none, *(undefined(k, why, level=level, method=tau_method),) * 2, none)
    y, v = _onto(value, variance, scale)
    back = ON[scale].back
    tau2 = _reml(y, v) if tau_method == "reml" else _dersimonian_laird(y, v)
    weight = 1 / (v + tau2)
    mean = float(weight @ y / weight.sum())
    excess = float(weight @ (y - mean) ** 2) / (k - 1)
    se = sqrt(max(1.0, excess) / float(weight.sum()))
    df = sites_df(v, tau2)
    half = quantile(df, level) * se
    q = _q(0.0, y, v)
    details = {"q": q, "q_df": k - 1.0, "q_p": float(chdtrc(k - 1, q)), "scale_value": mean}
    pooled = Estimate(
        back(mean), back(mean - half), back(mean + half), k, level, method, se=se, df=df, details=details
    )
    typical = (k - 1) * (1 / v).sum() / ((1 / v).sum() ** 2 - (1 / v**2).sum())
    low, high = (_q_profile(tail, y, v) for tail in ((1 - level) / 2, (1 + level) / 2))
    note = NO_NOTE if tau2 else NO_SPREAD_FOUND
    spread = Estimate(tau2, min(low, tau2), max(high, tau2), k, level, tau_method, note)
    share = [float(t / (t + typical)) for t in (spread.value, spread.low, spread.high)]
    of_all = Estimate(share[0], share[1], share[2], k, level, tau_method, note)
    if k < 3:
        new = undefined(k, NO_PREDICTION, level=level, method=PREDICTION)
    else:
        low, high = new_site(*_by_chance(y, v), k - 1.0, level)
        low, high = min(low, mean - half), max(high, mean + half)  # a new site is no surer than the mean
        new = Estimate(back(mean), back(low), back(high), k, level, PREDICTION, df=k - 1.0)
    return Heterogeneity(pooled, spread, of_all, new)


def sites_df(variance: Floats, tau2: float) -> float:
    """Degrees of freedom of the mean over sites, weighed by 1 / (v + tau^2).

    With p the weights as shares of 1 and y - mean the residuals, those of Satterthwaite for the robust
    variance (Bell, McCaffrey)::

        sum p^2 (y - mean)^2 / (1 - p),   df = 2 E^2 / Var under the model

    k - 1 where all sites weigh alike.

    Parameters
    ----------
    variance : float array, shape (n_sites,)

    References
    ----------
    Bell, McCaffrey (2002), Surv. Methodol. 28, 169-181. Tipton (2015), Psychol. Methods 20, 375-393.

    Examples
    --------
    >>> round(sites_df(np.array([0.1, 0.1, 0.1, 0.1]), 0.2), 2)
    3.0
    >>> round(sites_df(np.array([0.9, 0.9, 0.9, 0.01]), 0.0), 2)
    1.04
    """
    total = variance + tau2
    share = (1 / total) / (1 / total).sum()
    # Residuals have covariance total_i [i = j] - 1 / sum w, which the quadratic form weighs by p^2 / (1 - p).
    spread = np.diag(total) - 1 / (1 / total).sum()
    form = (share**2 / (1 - share))[:, None] * spread
    return float(np.trace(form) ** 2 / (form * form.T).sum())


def new_site(mean: Floats, se: Floats, tau: Floats, df: float, level: float) -> tuple[float, float]:
    """Where a new site lies, over values of tau that are alike in confidence, (n_values,) each.

    Limits at which the mean over the values of

        P(mean + tau Z + SE T <= x),   Z standard normal, T Student's with `df`

    is (1 - level) / 2 and (1 + level) / 2.
    """
    at = mean[:, None] + tau[:, None] * NODES
    weight = SHARES / SHARES.sum() / len(tau)

    def beyond(x: float, chance: float) -> float:
        return float((stdtr(df, (x - at) / se[:, None]) @ weight).sum()) - chance

    ends = []
    for side in (-1, 1):
        chance, reach = (1 + side * level) / 2, float(se.max() + tau.max())
        while beyond(float(np.median(mean)) + side * reach, chance) * side < 0:
            reach *= 2
        bracket = sorted([float(np.median(mean)), float(np.median(mean)) + side * reach])
        ends.append(float(brentq(beyond, bracket[0], bracket[1], args=(chance,), xtol=1e-10)))
    return ends[0], ends[1]


@dataclass(frozen=True, slots=True)
class _Carried:
    """A scale: what it takes (open range), values onto it, its slope there, and the way back."""

    low: float
    high: float
    onto: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    back: Callable[[float], float]


ON: dict[str, _Carried] = {
    "identity": _Carried(-inf, inf, lambda x: x, np.ones_like, float),
    "log": _Carried(0.0, inf, np.log, lambda x: 1 / x, exp),
    "logit": _Carried(0.0, 1.0, logit, lambda x: 1 / (x * (1 - x)), lambda y: float(expit(y))),
    "log_shortfall": _Carried(
        -inf, 1.0, lambda x: -np.log1p(-x), lambda x: 1 / (1 - x), lambda y: -expm1(-y)
    ),
}


def _inside(value: Floats, scale: Scale) -> bool:
    on = ON[scale]
    return bool(((value > on.low) & (value < on.high)).all())


def _onto(value: Floats, variance: Floats, scale: Scale) -> tuple[Floats, Floats]:
    on = ON[scale]
    return on.onto(value), variance * on.slope(value) ** 2


def _q(tau2: float, y: Floats, v: Floats) -> float:
    """Weighted squares about the mean, with weights for this tau^2: falls as tau^2 grows."""
    weight = 1 / (v + tau2)
    return float(weight @ (y - weight @ y / weight.sum()) ** 2)


def _dersimonian_laird(y: Floats, v: Floats) -> float:
    weight = 1 / v
    c = float(weight.sum() - (weight**2).sum() / weight.sum())
    return max(0.0, (_q(0.0, y, v) - (len(y) - 1)) / c)


def _reml(y: Floats, v: Floats) -> float:
    """Where the restricted likelihood is highest: the best of its stationary points and 0."""

    def slope(tau2: float) -> float:
        weight = 1 / (v + tau2)
        residual = y - weight @ y / weight.sum()
        return float(weight**2 @ residual**2 - weight.sum() + (weight**2).sum() / weight.sum())

    def likelihood(tau2: float) -> float:
        weight = 1 / (v + tau2)
        return float(np.log(weight).sum() - np.log(weight.sum()) - _q(tau2, y, v))

    top = float(y.var(ddof=1)) + float(v.max())
    grid = np.concatenate([[0.0], np.geomspace(1e-8, 10, 200) * top])
    slopes = np.array([slope(t) for t in grid])
    found = [0.0] + [
        float(brentq(slope, grid[i], grid[i + 1], xtol=1e-15 * top, rtol=1e-13))
        for i in np.flatnonzero((slopes[:-1] > 0) & (slopes[1:] <= 0))
    ]
    return max(found, key=likelihood)


def _by_chance(y: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, its standard error and tau at each of `CHANCES` of the confidence distribution of tau^2.

    That is P(tau^2 <= x) = P(chi-square with k - 1 df >= Q(x)), the Q profile at every level.
    """
    k, wanted = len(y), chdtri(len(y) - 1, CHANCES)

    def weighed(tau2: Floats) -> tuple[Floats, Floats, Floats]:
        weight = 1 / (v + tau2[:, None])
        total = weight.sum(axis=1)
        mean = weight @ y / total
        return mean, (weight * (y - mean[:, None]) ** 2).sum(axis=1), total

    low, high = np.zeros(len(wanted)), np.full(len(wanted), float(y.var(ddof=1)) + float(v.max()))
    while (short := weighed(high)[1] > wanted).any():
        high = np.where(short, 4 * high, high)
    high = np.where(weighed(low)[1] <= wanted, 0.0, high)
    for _ in range(60):
        middle = (low + high) / 2
        above = weighed(middle)[1] > wanted
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    mean, q, total = weighed(high)
    return mean, np.sqrt(np.maximum(1.0, q / (k - 1)) / total), np.sqrt(high)


def _q_profile(tail: float, y: Floats, v: Floats) -> float:
    """The tau^2 at which Q would be at this point of its chi-square distribution, 0 where none is."""
    wanted = float(chdtri(len(y) - 1, tail))  # tail = share above

    def excess(tau2: float) -> float:
        return _q(tau2, y, v) - wanted

    if excess(0.0) <= 0:
        return 0.0
    high = float(y.var(ddof=1)) + float(v.max())
    while excess(high) > 0:
        high *= 4
    return float(brentq(excess, 0.0, high, xtol=1e-15 * high, rtol=1e-13))
