"""A proportion over sites in one model: cases of a site are binomial, the logits of the sites normal."""

from collections.abc import Callable
from functools import cache
from math import copysign, exp, inf, isinf, log, log1p, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize
from scipy.special import chdtrc, chdtri, expit, logit

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.sites.heterogeneity import (
    CHANCES,
    NO_PREDICTION,
    NO_SPREAD_FOUND,
    ONE_SITE,
    Heterogeneity,
    new_site,
    sites_df,
)

Floats = NDArray[np.float64]

METHOD, PREDICTION = "binomial_normal", "binomial_normal_prediction"
ONLY_ENDS = note("every_site_at_0_or_100")
NO_UPPER_LIMIT = note("spread_between_sites_has_no_upper")

NODE = np.linspace(-1, 1, 121)
REACH = 9.0  # standard deviations on either side of the mode; beyond lies less than 1e-17
LEAST_TAU, MOST_TAU = 1e-3, 30.0  # below, the sites count as equal; above, the spread as without limit
LEAST_LOOKED, MOST_LOOKED, LOOKED = 0.02, 8.0, 20  # of tau, where a new site is predicted
LARGE = 1e6  # cases of a site, from which on likelihoods lose digits to their size
MOST_LOGIT = 40.0  # 4e-18 from 0% or 100%


def binomial_normal(events: ArrayLike, cases: ArrayLike, *, level: float = 0.95) -> Heterogeneity:
    """The proportion at the median site and how far sites differ; sites at 0% or 100% are part of it.

    Site i has x_i events among n_i cases, k sites::

        x_i ~ Binomial(n_i, p_i),   logit p_i ~ Normal(mu, tau^2),   median site = expit(mu)

    by maximum likelihood, each site's integral by the trapezoidal rule in v, logit = mode + scale sinh(v):
    Gauss-Hermite nodes miss the step of a site at 0% or 100% where sites differ much. With l_p the likelihood
    maximised over the other parameter and t the quantile of f degrees of freedom (`sites_df`; k - 1 where all
    sites weigh alike)::

        median:    2 (l_p(mu^) - l_p(mu)) <= (f + 1) log(1 + t^2 / f)
        tau^2:     2 (l_p(tau^) - l_p(tau)) <= k (c / k - 1 - log(c / k)),   c: chi-square quantile, k - 1 df
        I^2 = tau^2 / (tau^2 + s^2),   s^2 = (k - 1) sum w / ((sum w)^2 - sum w^2)

    with w_i = n_i p (1 - p) at the median site. A new site is predicted over the values of tau at which the
    bound of tau^2 is reached at chances alike (`robustness.new_site`), mu being the best at each.
    Both bounds are those at which the interval is Student's, and the chi-square interval of a variance, where
    sites are so large that their logits are known. The lower limit of tau^2 takes at least the quantile of
    chi-square with 1 df, for sites that do not differ.

    Estimand: the proportion at the median site of those from which these were sampled, not that of all cases
    together: a small site weighs nearly as much as a large one where sites differ.

    Parameters
    ----------
    events, cases : array, shape (n_sites,)
        Counts, 0 <= events <= cases, at least one case a site.

    Returns
    -------
    `n` counts sites. The mean is the median site; its `se` is that of mu, its `details` hold mu, and the
    chi-square test of equal proportions (`q`, `q_df`, `q_p`). NaN with a note under two sites, or where
    every site is at 0% or 100%; the prediction interval also with two sites.

    Notes
    -----
    Cases of a site are taken as independent, given their site. Simulated with 3 to 20 sites of 20 to 200
    cases, a median of .5 to .98 and tau of 0, .5 and 1 (90 designs of 400 studies, Monte Carlo error .011 at
    .95), 95% intervals of the median cover in .920 to 1.000 of the studies that have one, on average .974,
    and those of tau^2 in .948 to 1.000. With three sites of 20 cases at .98 every site is at 100% in a third
    of studies.
    `benchmarks/results/coverage.csv` has the designs that are simulated again.

    References
    ----------
    Stijnen, Hamza, Ozdemir (2010), Stat. Med. 29, 3046-3067 (the model).
    Louis (1982), J. R. Stat. Soc. B 44, 226-233 (information of an integrated likelihood).
    Trefethen, Weideman (2014), SIAM Rev. 56, 385-458 (the trapezoidal rule).
    Tipton (2015), Psychol. Methods 20, 375-393 (degrees of freedom).
    Nagashima, Noma, Furukawa (2019), Stat. Methods Med. Res. 28, 1689-1702 (prediction interval).
    """
    check_level(level)
    x, n = np.asarray(events, dtype=np.float64), np.asarray(cases, dtype=np.float64)
    if x.ndim != 1 or x.shape != n.shape:
        raise ValueError(f"events and cases need one entry a site each, got shapes {x.shape} and {n.shape}.")
    if not ((n > 0) & (x >= 0) & (x <= n)).all():
        raise ValueError("each site needs at least one case and between 0 and all of them as events.")
    k = len(x)
    why = ONE_SITE if k < 2 else ONLY_ENDS if ((x == 0) | (x == n)).all() else NO_NOTE
    if why:
        none = undefined(k, why, level=level, method=METHOD)
        return Heterogeneity(none, none, none, none)
    order = np.lexsort((x, n))  # no digit depends on the order of the sites
    x, n = x[order], n[order]
    likelihood = _Likelihood(x, n)
    top, mu, tau = likelihood.maximum()
    se = likelihood.standard_error(mu, tau)
    df = sites_df(1 / (n * expit(mu) * expit(-mu)), tau * tau)
    t = quantile(df, level)
    bound = sqrt((df + 1) * log1p(t * t / df))

    def beyond(at: float) -> float:
        return _root(top - likelihood.at_mu(at, max(tau, abs(at - mu)))) - bound

    low, high = (_limit(beyond, mu, side * t * se, side * MOST_LOGIT) for side in (-1, 1))
    together = x.sum() / n.sum()
    q = float(((x - n * together) ** 2 / (n * together * (1 - together))).sum())
    details = {"q": q, "q_df": k - 1.0, "q_p": float(chdtrc(k - 1, q)), "scale_value": mu}
    back = [float(expit(limit)) for limit in (mu, low, high)]
    median = Estimate(back[0], back[1], back[2], k, level, METHOD, se=se, df=df, details=details)
    spread, of_all = _spread(likelihood, top, mu, tau, level)
    if k < 3:
        new = undefined(k, NO_PREDICTION, level=level, method=PREDICTION)
    else:
        ends = new_site(*_by_chance(likelihood, top, mu, tau), k - 1.0, level)
        ends = min(ends[0], low), max(ends[1], high)  # a new site is no surer than the median one
        new = Estimate(
            back[0], float(expit(ends[0])), float(expit(ends[1])), k, level, PREDICTION, df=k - 1.0
        )
    return Heterogeneity(median, spread, of_all, new)


class _Likelihood:
    """The logarithm of the likelihood, with the slopes by mu and tau."""

    def __init__(self, x: Floats, n: Floats) -> None:
        self.x, self.n = x, n
        self.inside = (x > 0) & (x < n)
        self.own = np.log(np.where(self.inside, x, 1.0)) - np.log(np.where(self.inside, n - x, 1.0))  # logits
        self.equal = float(logit(x.sum() / n.sum()))  # mu where sites do not differ
        self.mode = np.zeros_like(x)  # of each site, in units of tau about mu: where the last search ended

    def __call__(self, mu: float, tau: float) -> tuple[float, Floats]:
        x, n = self.x, self.n
        if not tau:
            return float(self._below(mu).sum()), np.array([(x - n * expit(mu)).sum(), 0.0])
        share, u, logs = self._posterior(mu, tau)
        first, second = ((share * u**power).sum(axis=1) for power in (1, 2))
        return float(logs.sum()), np.array([first.sum(), (second - 1).sum()]) / tau

    def _below(self, theta: float | Floats) -> Floats:
        """By how much the likelihood of each site at a logit is below its highest."""
        x, n = self.x, self.n
        ends = np.where(x > 0, -n * np.logaddexp(0, -theta), -n * np.logaddexp(0, theta))
        return np.where(self.inside, _gain(x, n, self.own, theta - self.own), ends)

    def _posterior(self, mu: float, tau: float) -> tuple[Floats, Floats, Floats]:
        """What each site says of its u = (logit - mu) / tau: weights, nodes, the integral's logarithm."""
        x, n = self.x, self.n
        self._find_modes(mu, tau)
        mode = mu + tau * self.mode
        p = expit(mode)
        # Dense about the mode, where a site at 0% or 100% has a step, and beyond it as wide as the normal.
        scale = 1 / np.sqrt(tau * tau * np.maximum(n * p * (1 - p), 1) + 1)
        reach = np.arcsinh(REACH / scale)
        v = reach[:, None] * NODE
        u = self.mode[:, None] + scale[:, None] * np.sinh(v)
        away = tau * scale[:, None] * np.sinh(v)
        gain = _gain(x[:, None], n[:, None], mode[:, None], away)
        terms = gain - u * u / 2 + np.log(np.cosh(v))
        largest = terms.max(axis=1)
        share = np.exp(terms - largest[:, None])
        total = share.sum(axis=1)
        step = scale * reach * (NODE[1] - NODE[0]) / sqrt(2 * np.pi)
        return share / total[:, None], u, largest + np.log(total * step) + self._below(mode)

    def _find_modes(self, mu: float, tau: float) -> None:
        """Newton's steps, bisection where one leaves the bracket: the integrand's logarithm is concave."""
        x, n = self.x, self.n
        low, high = -tau * (n - x), tau * x
        u = np.clip(self.mode, low, high)
        for _ in range(200):
            p = expit(mu + tau * u)
            slope = tau * (x - n * p) - u
            low, high = np.where(slope > 0, u, low), np.where(slope > 0, high, u)
            width = 1 / np.sqrt(tau * tau * n * p * (1 - p) + 1)
            step = u + slope * width**2
            step = np.where((step > low) & (step < high), step, (low + high) / 2)
            done = bool((np.abs(step - u) <= np.minimum(1e-6 * (1 + np.abs(u)), width)).all())
            u = step
            if done:
                break
        self.mode = u

    def _climb(self, mu: float, tau: float, free: tuple[bool, bool]) -> tuple[float, float, float]:
        """The highest value that is reached from here, `free` saying what may move: value, mu, tau."""
        start = np.array([mu, log(min(max(tau, LEAST_TAU), MOST_TAU))])
        moved = np.array(free)

        def loss(free_values: Floats) -> tuple[float, Floats]:
            at = start.copy()
            at[moved] = free_values
            value, slope = self(at[0], exp(at[1]))
            return -value, -(slope * [1.0, exp(at[1])])[moved]

        bounds = np.array([(-2 * MOST_LOGIT, 2 * MOST_LOGIT), (log(LEAST_TAU), log(MOST_TAU))])[moved]
        options = {"ftol": 1e-13, "gtol": 1e-7}
        found = minimize(loss, start[moved], jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        start[moved] = found.x
        return -float(found.fun), float(start[0]), exp(start[1])

    def maximum(self) -> tuple[float, float, float]:
        """Value, mu and tau of the highest likelihood; tau of 0 where no spread makes it higher."""
        x, n = self.x, self.n
        rough = np.log((x + 0.5) / (n - x + 0.5))
        best = self._climb(float(rough.mean()), max(float(rough.std()), 0.2), (True, True))
        none = self(self.equal, 0.0)[0]
        return best if best[0] > none + 1e-8 else (none, self.equal, 0.0)

    def at_mu(self, mu: float, start: float) -> float:
        """The highest value at this mu, sought from a tau on."""
        return max(self._climb(mu, start, (False, True))[0], self(mu, 0.0)[0])

    def at_tau(self, tau: float, start: float) -> tuple[float, float]:
        """The highest value at this tau, sought from a mu on, and the mu."""
        return self._climb(start, tau, (True, False))[:2] if tau else (self(self.equal, 0.0)[0], self.equal)

    def standard_error(self, mu: float, tau: float) -> float:
        """Of mu, from the information on mu and tau."""
        if not tau:
            return 1 / sqrt(float((self.n * expit(mu) * expit(-mu)).sum()))
        # Louis: what known logits would give, less what each site leaves open. No large numbers differ.
        share, u, _ = self._posterior(mu, tau)
        first, second, third, fourth = ((share * u**power).sum(axis=1) for power in (1, 2, 3, 4))
        by_mu = float((1 - (second - first**2)).sum())
        both = float((2 * first - (third - first * second)).sum())
        by_tau = float((3 * second - 1 - (fourth - second**2)).sum())
        return tau / sqrt(by_mu - (both**2 / by_tau if by_tau > 0 else 0.0))


def _gain(x: Floats, n: Floats, start: Floats, away: Floats) -> Floats:
    """By how much the binomial log likelihood rises from a logit to one that is `away`.

    ::

        x d - n log((1 + exp(t + d)) / (1 + exp(t)))

    for the rarer of the two outcomes, and in large sites without the difference of near logarithms.
    """
    mirrored = start > 0
    t, d, rarer = -np.abs(start), np.where(mirrored, -away, away), np.where(mirrored, n - x, x)
    rise = np.logaddexp(0, t + d) - np.logaddexp(0, t)
    if n.max() > LARGE:
        near = np.log1p(expit(t) * np.expm1(np.clip(d, -1, 1)))
        rise = np.where(np.abs(d) < 1, near, rise)
    return np.asarray(rarer * d - n * rise)


def _spread(
    likelihood: _Likelihood, top: float, mu: float, tau: float, level: float
) -> tuple[Estimate, Estimate]:
    """tau^2, and its share of all spread, each with its interval."""
    k = len(likelihood.n)

    def bound(tail: float) -> float:
        ratio = float(chdtri(k - 1, tail)) / k  # tail = share above
        return sqrt(k * (ratio - 1 - log(ratio)))

    def beyond(limit: float, at: float) -> float:
        return _root(top - likelihood.at_tau(at, mu)[0]) - limit

    least = max(bound((1 - level) / 2), sqrt(float(chdtri(1, 1 - level))))
    low = high = 0.0
    if beyond(least, 0.0) > 0:
        low = exp(_limit(lambda at: beyond(least, exp(at)), log(tau), -1.0, log(LEAST_TAU)))
    most = bound((1 + level) / 2)
    high = exp(_limit(lambda at: beyond(most, exp(at)), log(max(tau, LEAST_TAU)), 1.0, log(MOST_TAU)))
    weight = likelihood.n * expit(mu) * expit(-mu)
    typical = float((k - 1) * weight.sum() / (weight.sum() ** 2 - (weight**2).sum()))
    note = (NO_NOTE if tau else NO_SPREAD_FOUND) + (NO_UPPER_LIMIT if isinf(high) else NO_NOTE)
    squares = [tau * tau, low * low, high * high]
    spread = Estimate(squares[0], squares[1], squares[2], k, level, METHOD, note)
    share = [1.0 if isinf(square) else square / (square + typical) for square in squares]
    return spread, Estimate(
        share[0], share[1], share[2], k, level, METHOD, NO_NOTE if tau else NO_SPREAD_FOUND
    )


def _by_chance(likelihood: _Likelihood, top: float, mu: float, tau: float) -> tuple[Floats, Floats, Floats]:
    """mu, its standard error and tau at each of `CHANCES` of the confidence distribution of tau."""
    k, n = len(likelihood.n), likelihood.n
    looked = np.concatenate([[0.0], np.geomspace(LEAST_LOOKED, MOST_LOOKED, LOOKED)])
    found = [likelihood.at_tau(float(t), mu) for t in looked]
    drop = np.maximum(top - np.array([value for value, _ in found]), 0) / k * 2
    # Where tau is too small for its likelihood the chi-square quantile c is above k, else below.
    c = np.array([k * _excess(d, above=t > tau) for t, d in zip(looked, drop)])
    below = np.maximum.accumulate(chdtrc(k - 1, c))
    taus = np.interp(CHANCES, below, looked)
    at = np.interp(taus, looked, [m for _, m in found])
    known = n * expit(at)[:, None] * expit(-at)[:, None]
    return at, 1 / np.sqrt((1 / (taus[:, None] ** 2 + 1 / known)).sum(axis=1)), taus


def _excess(drop: float, *, above: bool) -> float:
    """The r below 1, or above it, of which r - 1 - log(r) is `drop`."""
    if drop < 1e-12:
        return 1.0
    ends = (1e-300, 1.0) if above else (1.0, 2 * drop + 10)
    return float(brentq(lambda r: r - 1 - log(r) - drop, ends[0], ends[1], xtol=1e-12))


def _root(drop: float) -> float:
    """Square root of twice what a likelihood is below the highest: nearly linear in a parameter."""
    return sqrt(2 * max(drop, 0.0))


def _limit(beyond: Callable[[float], float], start: float, step: float, end: float) -> float:
    """Where, outwards from `start`, `beyond` turns positive; infinite where it does not before `end`."""
    beyond = cache(beyond)  # the ends of the bracket keep their signs
    inside, nearer = start, min if step > 0 else max
    if beyond(inside) > 0:  # sites so large that the least spread looked at is too much
        return inside
    while inside != end:
        outside = nearer(inside + step, end)
        if beyond(outside) > 0:
            return float(brentq(beyond, inside, outside, xtol=1e-8))
        inside, step = outside, 2 * step
    return copysign(inf, step)
