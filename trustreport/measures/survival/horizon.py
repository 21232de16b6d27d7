"""State of each case at a horizon, and weights for those who were censored before."""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters, clustered_variance, clusters_of_scarcer_class
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.survival import notes

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
CENSORED, EVENT = 0, 1  # of the codes of events; every other one is a competing event


@dataclass(frozen=True, eq=False)
class AtHorizon:
    """Whether each case had the event by the horizon, (n,), with inverse-probability-of-censoring weights.

    With T follow-up, tau the horizon and G(t-) the Kaplan-Meier estimate of the chance of not being censored
    before t::

        weight = 1 / G(T-)       the event, or a competing one, at T <= tau
        weight = 1 / G(tau-)     followed to tau without either
        weight = 0               censored before tau: the state at tau is not known

    At equal times events come before censoring: a case censored at t was at risk of an event at t, and a case
    with an event at t was not at risk of censoring at t. A case censored at tau itself was therefore followed
    to tau. So the weights sum to n, and the weighted share of events is the Kaplan-Meier estimate, with
    competing events that of Aalen and Johansen.

    Parameters
    ----------
    event : by the horizon; a case with a competing event does not have it
    known : whether the state at the horizon is known
    weight : 0 where it is not

    References
    ----------
    Graf, Schmoor, Sauerbrei, Schumacher (1999), Stat. Med. 18, 2529-2545.
    Satten, Datta (2001), Am. Stat. 55, 207-210 (weights and Kaplan-Meier).
    """

    event: Mask
    known: Mask
    weight: Floats
    time: Floats
    n_competing: int
    _censored_at: Floats  # distinct times of censoring before the horizon, ascending
    _n_censored: Floats  # cases censored at each
    _n_later: Floats  # cases followed beyond each

    def __len__(self) -> int:
        return len(self.event)

    @property
    def n_events(self) -> int:
        """Cases seen to have the event by the horizon."""
        return int(np.count_nonzero(self.event))

    @property
    def n_censored(self) -> int:
        """Cases whose follow-up ended before the horizon without any event."""
        return int(np.count_nonzero(~self.known))

    @cached_property
    def risk(self) -> float:
        """The share with the event by the horizon: Kaplan-Meier's, or Aalen and Johansen's."""
        return float(self.weight @ self.event) / len(self)

    @property
    def followed(self) -> float:
        """G(tau-): the chance of not being censored before the horizon."""
        left = self._n_later / (self._n_later + self._n_censored)
        return float(left.prod())

    @property
    def why_not(self) -> Note:
        """Why no measure of those with and without the event can be made, or nothing."""
        if not len(self):
            return notes.NO_CASE
        if not self.weight.any() or abs(self.weight.sum() - len(self)) > 1e-6 * len(self):
            return notes.NOT_REACHED
        if not self.n_events:
            return notes.NO_EVENT
        return NO_NOTE if (self.known & ~self.event).any() else notes.ALL_EVENTS

    @property
    def details(self) -> dict[str, float]:
        """Counts behind an estimate."""
        counted = {
            "events": self.n_events,
            "competing": self.n_competing,
            "free": int(np.count_nonzero(self.known)) - self.n_events - self.n_competing,
            "censored": self.n_censored,
        }
        return {name: float(n) for name, n in counted.items() if n or name != "competing"}

    def mean(self, value: Floats) -> float:
        """The mean of a value that depends on the state at the horizon, (n,), over all cases."""
        return float(self.weight @ value) / len(self)

    def influence(self, value: Floats) -> Floats:
        """What each case contributes to the weighted mean of `value`, (n,); sums to 0.

        With M the martingale of censoring, R(u) the cases at risk of it at u and d(u) those censored::

            I_i = w_i v_i - m + a(u_i) [i censored at u_i < tau]
                  - sum of a(u) d(u) / R(u) over u < tau at which i is at risk
            a(u) = sum of w_j v_j over cases followed beyond u, over their number

        so that the estimation of G is allowed for. Divided by n.

        Parameters
        ----------
        value : float array, shape (n,)
            Ignored where the state is not known.

        References
        ----------
        Robins, Rotnitzky (1992), in AIDS Epidemiology, 297-331; Hung, Chiang (2010), Can. J. Stat. 38, 8-26.
        """
        n = len(self)
        own = np.where(self.known, self.weight * np.where(self.known, value, 0.0), 0.0)
        found: Floats = own - own.sum() / n
        if len(self._censored_at):
            order = np.argsort(self.time, kind="stable")
            beyond = np.append(np.cumsum(own[order][::-1])[::-1], 0.0)
            later = beyond[np.searchsorted(self.time[order], self._censored_at, "right")]
            gain = later / self._n_later
            hazard = self._n_censored / (self._n_later + self._n_censored)
            paid = np.concatenate(([0.0], np.cumsum(gain * hazard)))
            before = np.searchsorted(self._censored_at, self.time, "left")
            lost = ~self.known
            found[lost] += gain[before[lost]]
            found -= paid[np.where(lost, before + 1, before)]
        return found / n

    def variance(self, influence: Floats, cluster: Clusters | None) -> tuple[float, float]:
        """Variance of an estimate from the contributions of the cases, and degrees of freedom.

        Degrees of freedom: the effective number of cases of the rarer state (`size`) less one; with clusters,
        those that hold one of its cases, less one. The variance is NaN with fewer than two.
        """
        n = len(self)
        if cluster is None:
            held = min(self.size(self.event), self.size(self.known & ~self.event))
            return (float(influence @ influence) * n / (n - 1) if held >= 2 else np.nan), held - 1.0
        variance, _ = clustered_variance(influence, cluster)
        in_clusters = clusters_of_scarcer_class(self.event[self.known], cluster[self.known])
        return (variance if in_clusters > 1 else np.nan), in_clusters - 1.0

    def size(self, of: Mask) -> float:
        """How many cases of equal weight would vary as much as these do, of those whose state is known."""
        weight = self.weight[of]
        squares = float(weight @ weight)
        return float(weight.sum()) ** 2 / squares if squares else 0.0


def at_horizon(time: Floats, codes: NDArray[np.int64], horizon: float) -> AtHorizon:
    """The state of each case at the horizon, with its weight.

    Parameters
    ----------
    time : float array, shape (n,)
        Follow-up to the event or to its end, 0 or more, in the unit of `horizon`.
    codes : int array, shape (n,)
        How it ended: 0 censored, 1 the event, any other a competing event.
    horizon : float
        Above 0.
    """
    if time.shape != codes.shape or time.ndim != 1:
        raise ValueError(f"time and codes must have one entry per case, got {time.shape} and {codes.shape}.")
    if not horizon > 0 or (time.size and not time.min() >= 0):
        raise ValueError("the horizon must be above 0 and follow-up 0 or more, without missing values.")
    ended = (codes != CENSORED) & (time <= horizon)
    lost = (codes == CENSORED) & (time < horizon)
    at, n_censored = np.unique(time[lost], return_counts=True)
    # Whoever has an event beyond the horizon, or ends there without one, is followed to the horizon.
    until = np.where(ended | lost, time, np.inf)
    later = len(time) - np.searchsorted(np.sort(until), at, "right")
    with np.errstate(divide="ignore"):
        kept = np.concatenate(([1.0], np.cumprod(later / (later + n_censored))))
        weight = np.where(lost, 0.0, 1 / kept[np.searchsorted(at, until, "left")])
    weight[~np.isfinite(weight)] = 0.0
    return AtHorizon(
        ended & (codes == EVENT),
        ~lost,
        weight,
        until,
        int(np.count_nonzero(ended & (codes != EVENT))),
        at,
        n_censored.astype(np.float64),
        later.astype(np.float64),
    )


@dataclass(frozen=True, slots=True)
class CensoringTest:
    """A test that follow-up ends independently of the score; `note` says why there is none.

    `z` is above 0 where cases with higher scores are censored sooner. `lower`, `upper`: the chance of not
    being censored before the horizon, in the lower and the upper half of the scores.
    """

    z: float
    p: float
    lower: float
    upper: float
    note: Note = NO_NOTE


def censoring_by_score(
    time: Floats, codes: NDArray[np.int64], score: Floats, horizon: float
) -> CensoringTest:
    """Score test of Cox's model for censoring before the horizon, by the ranks of the scores.

    With x the ranks, R(u) those at risk of censoring at u, d(u) the number censored there::

        U = sum over u of (sum of x censored at u - d(u) mean of x in R(u))
        V = sum over u of d(u) var of x in R(u)
        z = U / sqrt(V)

    Parameters
    ----------
    time, codes, horizon : as `at_horizon`
    score : float array, shape (n,)

    References
    ----------
    Cox (1972), J. R. Stat. Soc. B 34, 187-220.
    """
    state = at_horizon(time, codes, horizon)
    halves = score <= np.median(score)
    lower, upper = (at_horizon(time[of], codes[of], horizon).followed for of in (halves, ~halves))
    if not state.n_censored:
        return CensoringTest(np.nan, np.nan, lower, upper, notes.NO_CENSORING)
    u, v = _score_test(state, _ranks(score))
    if not v > 0:
        return CensoringTest(np.nan, np.nan, lower, upper, notes.NO_SPREAD_AT_RISK)
    z = u / sqrt(v)
    return CensoringTest(z, two_sided_p(z), lower, upper)


def _ranks(score: Floats) -> Floats:
    """Mean ranks over n, less one half."""
    _, index, counts = np.unique(score, return_inverse=True, return_counts=True)
    upto = np.cumsum(counts)
    found: Floats = ((upto - (counts - 1) / 2)[index]) / len(score) - 0.5
    return found


def _score_test(state: AtHorizon, x: Floats) -> tuple[float, float]:
    """The statistic and its variance."""
    time, lost = state.time, ~state.known
    at = np.unique(time[lost])
    order = np.argsort(time, kind="stable")
    beyond = np.searchsorted(time[order], at, "right")
    place = np.searchsorted(at, time[lost])

    def over_risk_set(of: Floats) -> Floats:
        """The sum over those at risk at each time of censoring: later ones, and those censored then."""
        upto = np.append(np.cumsum(of[order][::-1])[::-1], 0.0)
        found: Floats = upto[beyond] + np.bincount(place, of[lost], minlength=len(at))
        return found

    n, d = over_risk_set(np.ones(len(x))), np.bincount(place, minlength=len(at))
    mean = over_risk_set(x) / n
    variance = np.maximum(over_risk_set(x * x) / n - mean**2, 0.0)
    correction = np.where(n > 1, (n - d) / np.maximum(n - 1, 1), 0.0)  # of several censored at one time
    return float(x[lost].sum() - d @ mean), float(d @ (variance * correction))
