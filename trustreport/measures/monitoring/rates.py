"""Rates of rare events, and the limits of a funnel over units."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, chdtri, ndtr, ndtri

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.note import NO_NOTE, Note


def event_rate(events: int, exposure: int, *, level: float = 0.95) -> Estimate:
    """Events per case processed; without any event, what rate is still compatible with that.

    Events are Poisson with mean rate x exposure. The limits are the rates with tail probability
    (1 - level) / 2 each, also without an event, so that either is a one-sided limit at (1 + level) / 2::

        chi2(lower tail; 2 events) / 2n, 0 without an event,  to  chi2(upper tail; 2 events + 2) / 2n

    Without an event the upper limit is -ln((1 - level) / 2) / n, 3.7 / n at 95 %; the rule of three (3 / n)
    is the one-sided limit at 95 %.

    Estimand: the rate of events per case, constant over the time counted.

    Parameters
    ----------
    events, exposure : int
        Events, and cases processed; a case may have several events.

    Returns
    -------
    0 or more; `n` is the exposure; NaN with a note without exposure.

    References
    ----------
    Garwood (1936), Biometrika 28, 437-442.
    Hanley, Lippman-Hand (1983), JAMA 249, 1743-1745 (the rule of three).

    Examples
    --------
    >>> round(event_rate(0, 300).high, 4)
    0.0123
    >>> found = event_rate(10, 1)  # R: poisson.test(10)
    >>> round(found.low, 4), round(found.high, 4)
    (4.7954, 18.3904)
    """
    check_level(level)
    if events < 0 or exposure < 0:
        raise ValueError(f"events and exposure must be counts, got {events} and {exposure}.")
    if exposure == 0:
        return undefined(0, notes.NO_EXPOSURE, level=level, method="poisson_exact")
    tail = (1 - level) / 2
    low = float(chdtri(2 * events, 1 - tail)) / 2 / exposure if events else 0.0
    high = float(chdtri(2 * events + 2, tail)) / 2 / exposure
    note = NO_NOTE if events else notes.NO_EVENT
    return Estimate(events / exposure, low, high, exposure, level, "poisson_exact", note)


def median(values: NDArray[np.float64], *, cluster: Clusters | None = None, level: float = 0.95) -> Estimate:
    """The middle value, with limits at order statistics that need no distribution.

    ::

        x(j) to x(n + 1 - j),   j the largest with P(Binomial(n, 1/2) < j) <= (1 - level) / 2

    Of values that belong together the limits are those of m = n / D values, D >= 1 the design effect of the
    share below the middle, at the same part of the order.

    Parameters
    ----------
    values : float array, shape (n,)
        No NaN.
    cluster : int array, shape (n,), optional
        Which values belong together; each is independent where absent.

    Returns
    -------
    Covers at least as often as it says; no limits with so few values that none would; NaN with a note
    without values.

    References
    ----------
    Conover (1999), Practical Nonparametric Statistics, 3rd ed., section 3.2.
    Woodruff (1952), J. Am. Stat. Assoc. 47, 635-646 (limits of a quantile from those of a share).

    Examples
    --------
    >>> print(median(np.arange(1.0, 21.0)))
    10.50 (95% CI 6.00 to 15.00; n = 20)
    """
    check_level(level)
    n = len(values)
    if not n:
        return undefined(0, notes.NO_VALUE, level=level, method="order_statistics")
    x = np.sort(values)
    middle = float(np.median(x))
    worth, details = n, {}
    if cluster is not None:
        below_middle = (values <= middle) - np.mean(values <= middle)
        variance, clusters = clustered_variance(below_middle / n, cluster)
        details["clusters"] = float(clusters)
        if clusters < 2:
            return Estimate(middle, nan, nan, n, level, "order_statistics", ONE_CLUSTER, details=details)
        alone = clustered_variance(below_middle / n, np.arange(n))[0]
        worth = int(n / max(1.0, variance / alone)) if alone > 0 else clusters
    ranks = np.arange(0, worth // 2 + 1)
    below = bdtr(ranks - 1, worth, 0.5)
    below = np.where(ranks == 0, 0.0, below)
    j = int(ranks[below <= (1 - level) / 2].max())
    if j == 0:
        return Estimate(
            middle, nan, nan, n, level, "order_statistics", notes.TOO_FEW_FOR_MEDIAN, details=details
        )
    from_end = (j - 1) * n // worth
    low, high = float(x[from_end]), float(x[n - 1 - from_end])
    return Estimate(middle, low, high, n, level, "order_statistics", details=details)


def any_false_alert(looks: int, each: float) -> float:
    """The chance of at least one false alert when every look is tested by itself, independently.

    ::

        1 - (1 - each) ^ looks
    """
    if looks < 0 or not 0 <= each <= 1:
        raise ValueError(f"looks must be a count and each a share, got {looks} and {each:g}.")
    return 1 - (1 - each) ** looks if looks < inf else 1.0


Floats = NDArray[np.float64]
TRIMMED = 0.1
METHODS = ("funnel_naive", "funnel_multiplicative", "funnel_additive")
FEW = 5.0


@dataclass(frozen=True, slots=True)
class Funnel:
    """Units against a target. `z` holds for each method an Estimate for each unit.

    `phi` is the over-dispersion of the winsorised z-scores (1 = none, NaN where it cannot be judged), `tau`
    the standard deviation between units beyond chance that goes with it.
    """

    target: float
    phi: float
    tau: float
    n: tuple[int, ...]
    z: dict[str, tuple[Estimate, ...]]

    def limits(self, cases: Floats, share: float, method: str = "funnel_additive") -> tuple[Floats, Floats]:
        """Where `share` of the units in control lie, by number of cases; cut at 0 and 1."""
        z = float(-ndtri((1 - share) / 2))
        variance = self.target * (1 - self.target) / cases
        if method == "funnel_multiplicative" and self.phi > 1:
            variance = variance * self.phi
        if method == "funnel_additive" and self.tau > 0:
            variance = variance + self.tau**2
        half = z * np.sqrt(variance)
        return np.clip(self.target - half, 0, 1), np.clip(self.target + half, 0, 1)


def funnel(
    events: Sequence[int], n: Sequence[int], *, target: float | None = None, level: float = 0.95
) -> Funnel:
    """z-scores of units against a target, as they are and with over-dispersion allowed for.

    With y the share of a unit, s^2 = target (1 - target) / n, I units, and the z-scores winsorised at their
    10th and 90th percentile for the estimate of phi only::

        naive            z = (y - target) / s
        multiplicative   z / sqrt(max(1, phi)),   phi = mean of winsorised z^2
        additive         (y - target) / sqrt(s^2 + tau^2)
                         tau^2 = max(0, I phi - (I - 1)) / (sum w - sum w^2 / sum w),   w = 1 / s^2

    Parameters
    ----------
    events, n : sequences of int, one entry a unit
        Counted events and cases; units without cases have no z-score.
    target : float in (0, 1), optional
        What is expected; the share over all units where none is given.
    level : float in (0, 1)
        Carried along.

    Returns
    -------
    Each z-score with its two-sided p. NaN with a note: a unit without cases, one unit only, a target of 0
    or 1. With fewer than three units phi is NaN and only the naive score is defined.

    References
    ----------
    Spiegelhalter (2005), Stat. Med. 24, 1185-1202 (funnel plots).
    Spiegelhalter (2005), Qual. Saf. Health Care 14, 347-351 (over-dispersion).
    """
    check_level(level)
    x, size = np.asarray(events, np.float64), np.asarray(n, np.float64)
    if ((x < 0) | (x > size)).any():
        raise ValueError("events must lie between 0 and n in every unit.")
    held = size > 0
    total = float(size.sum())
    aim = (float(x.sum()) / total if total else nan) if target is None else target
    why = _why(int(held.sum()), aim, target is None)
    variance = np.where(held, aim * (1 - aim) / np.maximum(size, 1), nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        y = x / size
        naive = (y - aim) / np.sqrt(variance)
    phi, tau2 = _over_dispersion(naive[held], variance[held]) if not why else (nan, nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = {
            METHODS[0]: naive,
            METHODS[1]: naive / sqrt(max(1.0, phi)) if phi == phi else np.full_like(naive, nan),
            METHODS[2]: (y - aim) / np.sqrt(variance + tau2),
        }
    z = {
        method: tuple(
            _estimate(float(score), int(m), aim, method, why, phi, tau2, level)
            for score, m in zip(found, size)
        )
        for method, found in scores.items()
    }
    return Funnel(aim, phi, sqrt(tau2) if tau2 == tau2 else nan, tuple(int(m) for m in size), z)


def _why(units: int, target: float, of_units: bool) -> Note:
    if units == 0:
        return notes.NO_CASE
    if units == 1 and of_units:
        return notes.ONE_UNIT
    return NO_NOTE if 0 < target < 1 else notes.NO_SPREAD


def _over_dispersion(z: Floats, variance: Floats) -> tuple[float, float]:
    units = len(z)
    if units < 3:
        return nan, nan
    low, high = np.quantile(z, (TRIMMED, 1 - TRIMMED))
    phi = float((np.clip(z, low, high) ** 2).mean())
    return phi, between(phi * units, variance)


def between(q: float, variance: Floats) -> float:
    """Variance between units from the sum of their squared z-scores, by moments (DerSimonian and Laird)."""
    w = 1 / variance
    return max(0.0, (q - (len(w) - 1)) / float(w.sum() - (w**2).sum() / w.sum()))


def _estimate(
    z: float, n: int, target: float, method: str, why: Note, phi: float, tau2: float, level: float
) -> Estimate:
    if why or n == 0:
        return undefined(n, why or notes.NO_CASE, level=level, method=method)
    if z != z:
        return undefined(n, notes.FEW_UNITS, level=level, method=method)
    rough = n * min(target, 1 - target) < FEW
    details = {"target": target}
    if phi == phi:
        details |= {"phi": phi, "tau": sqrt(tau2)}
    note = notes.Z_SCORE + (notes.FEW_EXPECTED if rough else NO_NOTE)
    return Estimate(z, nan, nan, n, level, method, note, p=float(2 * ndtr(-abs(z))), details=details)
