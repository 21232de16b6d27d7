"""Direct standardisation: what a share would have changed by if the mix of cases had stayed as it was."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring.rates import shared
from trustreport.measures.monitoring.weights import (
    FEW_EXPECTED,
    FEW_UNITS,
    NO_CASE,
    NO_COMMON_STRATUM,
    NO_INTERVAL,
    NO_SPREAD,
    NOT_ALL_STRATA,
    ONE_UNIT,
    SHARED,
    Z_SCORE,
)
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.mrmc.notes import join
from trustreport.measures.proportion import normal_quantile

METHOD, CLUSTERED = "direct_standardisation", "cluster_standardisation"


def standardised_change(
    events: ArrayLike,
    n: ArrayLike,
    baseline_events: ArrayLike,
    baseline_n: ArrayLike,
    *,
    level: float = 0.95,
) -> Estimate:
    """Change of a share since the baseline with the case mix held at that of the baseline.

    Over the strata j that hold cases of both sets, with W_j the stratum's share of these baseline cases::

        change = sum W_j (p_j - b_j),   V = sum W_j^2 (p~_j (1 - p~_j) / n_j + b~_j (1 - b~_j) / m_j)
        change +- z sqrt(V)

    where p~ and b~ are the shares with one half added to events and non-events, so that a stratum without
    events does not count as certain.

    Estimand: the change in a population with the case mix of the baseline, cases independent.

    Parameters
    ----------
    events, n : int arrays, shape (n_strata,)
        Of the period.
    baseline_events, baseline_n : int arrays, shape (n_strata,)
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [-1, 1]; `n` counts both sets; `details` hold the crude change, both standardised shares and the
        shares of baseline and of present cases in the strata compared. NaN with a note where no stratum holds
        cases of both.

    References
    ----------
    Fleiss, Levin, Paik (2003), Statistical Methods for Rates and Proportions, 3rd ed., chapter 19.

    Examples
    --------
    Half as many hard cases, the same share right in either stratum: nothing has changed.

    >>> found = standardised_change([30, 40], [100, 50], [15, 80], [50, 100])
    >>> abs(round(found.value, 12)), round(found.details["crude"], 4)
    (0.0, -0.1667)
    """
    x, m = np.asarray(events, np.float64), np.asarray(n, np.float64)
    y, k = np.asarray(baseline_events, np.float64), np.asarray(baseline_n, np.float64)
    if not x.shape == m.shape == y.shape == k.shape:
        raise ValueError("events and cases of both sets must have one entry for each stratum.")
    z = normal_quantile(level)
    total = int(m.sum() + k.sum())
    both = (m > 0) & (k > 0)
    if not both.any():
        return undefined(total, NO_COMMON_STRATUM, level=level, method=METHOD)
    crude = float(x.sum() / m.sum() - y.sum() / k.sum())
    covered = float(k[both].sum() / k.sum())
    covered_now = float(m[both].sum() / m.sum())
    note = "" if both.sum() == ((m > 0) | (k > 0)).sum() else NOT_ALL_STRATA
    x, m, y, k = (column[both] for column in (x, m, y, k))
    weight = k / k.sum()
    now, then = x / m, y / k
    smooth = [(events + 0.5) / (cases + 1) for events, cases in ((x, m), (y, k))]
    variance = sum(
        float((weight**2 * share * (1 - share) / cases).sum()) for share, cases in zip(smooth, (m, k))
    )
    value, se = float(weight @ (now - then)), sqrt(variance)
    details = {
        "crude": crude,
        "standardised": float(weight @ now),
        "baseline": float(weight @ then),
        "strata": float(both.sum()),
        "covered": covered,
        "covered_now": covered_now,
    }
    p = two_sided_p(value / se) if se else nan
    low, high = max(-1.0, value - z * se), min(1.0, value + z * se)
    return Estimate(value, low, high, total, level, METHOD, note, se=se, p=p, details=details)


def clustered_standardised_change(
    event: NDArray[np.bool_],
    stratum: NDArray[np.int64],
    cluster: Clusters,
    baseline_event: NDArray[np.bool_],
    baseline_stratum: NDArray[np.int64],
    baseline_cluster: Clusters,
    *,
    level: float = 0.95,
) -> Estimate:
    """`standardised_change` where cases come in clusters, with the t interval from what each cluster adds.

    The variance of either set is that of its sum over cases of W_j (event - p_j) / n_j, clusters sampled
    (`measures.cluster`), both together at least that of independent cases. Clusters in both sets take off
    twice the covariance of the sums, as a share of it (`measures.monitoring.shared`). Degrees of freedom are
    those of the set of fewer clusters.

    Parameters
    ----------
    event : bool array, shape (n_cases,)
        Of the cases that count.
    stratum : int array, shape (n_cases,)
        The same numbers for the same strata in both sets.
    cluster : int array, shape (n_cases,)
        The same number for the same cluster in both sets.

    Returns
    -------
    Estimate
        ``cluster_standardisation``; no interval, with a note, where a set has fewer than two clusters.

    References
    ----------
    Rao, Scott (1992), Biometrics 48, 577-585.

    Examples
    --------
    Each case a cluster of its own:

    >>> hard = np.repeat([0, 1, 0, 1], [100, 50, 50, 100])
    >>> right = np.concatenate(
    ...     [np.arange(n) < x for x, n in ((30, 100), (40, 50), (15, 50), (80, 100))]
    ... )
    >>> alone = np.arange(300)
    >>> found = clustered_standardised_change(
    ...     right[:150], hard[:150], alone[:150], right[150:], hard[150:], alone[150:]
    ... )
    >>> abs(round(found.value, 12)), round(found.se, 3)
    (0.0, 0.054)
    """
    sets = ((event, stratum, cluster), (baseline_event, baseline_stratum, baseline_cluster))
    n_strata = 1 + max((int(codes.max()) for _, codes, _ in sets if codes.size), default=0)
    tallies = [
        (np.bincount(codes, weights=happened, minlength=n_strata), np.bincount(codes, minlength=n_strata))
        for happened, codes, _ in sets
    ]
    found = standardised_change(*tallies[0], *tallies[1], level=level)
    found = replace(found, method=CLUSTERED)
    if isnan(found.value):
        return found
    both = (tallies[0][1] > 0) & (tallies[1][1] > 0)
    weight = np.where(both, tallies[1][1], 0) / tallies[1][1][both].sum()
    variances, fewest, sums = [], inf, []
    for (happened, codes, groups), (x, n) in zip(sets, tallies):
        held = both[codes]
        share = x / np.maximum(n, 1)
        influence = (weight / np.maximum(n, 1))[codes] * (happened - share[codes])
        of_set, clusters = clustered_variance(influence[held], groups[held])
        variances.append(of_set)
        sums += [influence[held], groups[held]]
        fewest = min(fewest, clusters)
    if fewest < 2:
        return replace(found, low=nan, high=nan, se=nan, p=nan, note=join(found.note, ONE_CLUSTER))
    both_sets = shared(sums[0], sums[1], sums[2], sums[3])
    covariance = both_sets.correlation * sqrt(variances[0] * variances[1])
    independent = sum(variances)
    kept = max(0.0, 1 - 2 * covariance / independent) if both_sets.both and independent > 0 else 1.0
    se, df = sqrt(max(independent, found.se**2) * kept), fewest - 1.0
    if not se > 0:
        return replace(found, low=nan, high=nan, se=nan, p=nan, note=join(found.note, NO_INTERVAL))
    if both_sets.both:
        details = {"shared_clusters": float(both_sets.both), "correlation": both_sets.correlation}
        found = replace(found, note=join(found.note, SHARED), details={**found.details, **details})
    half = quantile(df, level) * se
    low, high = max(-1.0, found.value - half), min(1.0, found.value + half)
    return replace(found, low=low, high=high, se=se, df=df, p=two_sided_p(found.value / se, df))


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
    Funnel
        Each z-score with its two-sided p. NaN with a note: a unit without cases, one unit only, a target of 0
        or 1. With fewer than three units phi is NaN and only the naive score is defined.

    References
    ----------
    Spiegelhalter (2005), Stat. Med. 24, 1185-1202 (funnel plots).
    Spiegelhalter (2005), Qual. Saf. Health Care 14, 347-351 (over-dispersion).

    Examples
    --------
    >>> found = funnel([12, 8, 30, 9], [100, 100, 100, 100])
    >>> [round(z.value, 2) for z in found.z["funnel_naive"]]
    [-0.78, -1.9, 4.3, -1.62]
    >>> [round(z.value, 2) for z in found.z["funnel_additive"]]
    [-0.36, -0.87, 1.97, -0.74]
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


def _why(units: int, target: float, of_units: bool) -> str:
    if units == 0:
        return NO_CASE
    if units == 1 and of_units:
        return ONE_UNIT
    return "" if 0 < target < 1 else NO_SPREAD


def _over_dispersion(z: Floats, variance: Floats) -> tuple[float, float]:
    units = len(z)
    if units < 3:
        return nan, nan
    low, high = np.quantile(z, (TRIMMED, 1 - TRIMMED))
    phi = float((np.clip(z, low, high) ** 2).mean())
    return phi, between(phi * units, variance)


def between(q: float, variance: Floats) -> float:
    """Variance between units from the sum of their squared z-scores, by moments (DerSimonian and Laird).

    >>> round(between(9.0, np.array([0.01, 0.01, 0.02])), 6)
    0.04375
    """
    w = 1 / variance
    return max(0.0, (q - (len(w) - 1)) / float(w.sum() - (w**2).sum() / w.sum()))


def _estimate(
    z: float, n: int, target: float, method: str, why: str, phi: float, tau2: float, level: float
) -> Estimate:
    if why or n == 0:
        return undefined(n, why or NO_CASE, level=level, method=method)
    if z != z:
        return undefined(n, FEW_UNITS, level=level, method=method)
    rough = n * min(target, 1 - target) < FEW
    details = {"target": target}
    if phi == phi:
        details |= {"phi": phi, "tau": sqrt(tau2)}
    note = f"{Z_SCORE}; {FEW_EXPECTED}" if rough else Z_SCORE
    return Estimate(z, nan, nan, n, level, method, note, p=float(2 * ndtr(-abs(z))), details=details)
