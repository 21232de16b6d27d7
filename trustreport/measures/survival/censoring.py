"""Whether the end of follow-up depends on the score: what the weights assume that it does not."""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.survival import notes
from trustreport.measures.survival.horizon import AtHorizon, Floats, at_horizon


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
    note: str = ""


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

    Examples
    --------
    >>> found = censoring_by_score(np.arange(1.0, 9), np.array([0] * 4 + [1] * 4), np.arange(8.0), 8.0)
    >>> round(found.z, 2)  # the lowest scores are censored first
    -2.92
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
