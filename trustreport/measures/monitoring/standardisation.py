"""Change of performance with the mix of cases held constant, and the weights that hold it."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, isnan, log, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.monitoring.change import shared
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.proportion import normal_quantile

# The ratio of the two scores may differ from that of the likelihood by this share.
TOLERANCE = 0.005
LARGEST = 400


@dataclass(frozen=True, slots=True)
class Weights:
    """Log-likelihood ratio of one case on a lattice: `up` steps for an event, `down` steps for none.

    `unit` is the size of a step in natural logarithms. An event is what speaks for the rate
    to detect; `falling` says that this is the absence of what is counted, because that rate is the lower one.
    `tuned` is the rate to detect for which the whole-number scores are the exact likelihood ratio.
    """

    in_control: float
    to_detect: float
    up: int
    down: int
    unit: float
    falling: bool
    tuned: float

    def event_rate(self, rate: float) -> float:
        """The chance of a step up when the counted rate is `rate`."""
        return 1 - rate if self.falling else rate

    def log_ratio(self, steps: int) -> float:
        """A number of steps as a log-likelihood ratio."""
        return steps * self.unit


def why_not(in_control: float, to_detect: float) -> Note:
    """Why two rates give no chart, or nothing.

    >>> print(why_not(0.1, 0.1))
    rate_in_control_and_rate_to
    """
    if in_control == to_detect:
        return notes.EQUAL_RATES
    if not (0 < in_control < 1 and 0 < to_detect < 1):
        return notes.RATE_AT_END
    return NO_NOTE


def log_ratios(in_control: float, to_detect: float) -> tuple[float, float]:
    """What an event adds to the log-likelihood ratio, and what its absence takes away (both positive).

    ::

        ln(p1 / p0),   ln((1 - p0) / (1 - p1))   for p1 > p0
    """
    return log(to_detect / in_control), log((1 - in_control) / (1 - to_detect))


def weights(in_control: float, to_detect: float) -> Weights:
    """Scores of the two rates in whole numbers.

    The ratio of the scores is the simplest fraction within 0.5 % of that of the likelihood; the rate to
    detect moves by a little, so that the scores are the exact likelihood ratio again (Reynolds and Stoumbos
    tune a Bernoulli chart in the same way).

    Parameters
    ----------
    in_control, to_detect : float in (0, 1)
        Different; see `why_not`.

    Raises
    ------
    ValueError : rates that give no chart

    References
    ----------
    Reynolds, Stoumbos (1999), J. Qual. Technol. 31, 87-108.
    """
    if why := why_not(in_control, to_detect):
        raise ValueError(
            f"These rates give no chart: {why} (in_control {in_control:g}, to_detect {to_detect:g})."
        )
    falling = to_detect < in_control
    p0, p1 = (1 - in_control, 1 - to_detect) if falling else (in_control, to_detect)
    up, down = log_ratios(p0, p1)
    ratio = _simplest(up / down)
    tuned = _tuned(p0, p1, float(ratio))
    unit = log_ratios(p0, tuned)[1] / ratio.denominator
    return Weights(
        in_control,
        to_detect,
        ratio.numerator,
        ratio.denominator,
        unit,
        falling,
        1 - tuned if falling else tuned,
    )


def _simplest(ratio: float) -> Fraction:
    """The fraction of smallest terms near the ratio."""
    turned = ratio < 1
    exact = Fraction(1 / ratio if turned else ratio)
    found = Fraction(1)
    for most in range(1, LARGEST):
        found = max(exact.limit_denominator(most), Fraction(1))
        if abs(float(found / exact) - 1) <= TOLERANCE:
            break
    return 1 / found if turned else found


def _tuned(p0: float, p1: float, ratio: float) -> float:
    """The rate to detect near p1 at which the likelihood's scores have exactly this ratio."""

    def excess(p: float) -> float:
        up, down = log_ratios(p0, p)
        return up - ratio * down

    low, high = p0 + (p1 - p0) * 0.5, p1 + (1 - p1) * 0.5
    return float(brentq(excess, low, high, xtol=1e-15, rtol=1e-14))


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

    Returns
    -------
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
        return undefined(total, notes.NO_COMMON_STRATUM, level=level, method=METHOD)
    crude = float(x.sum() / m.sum() - y.sum() / k.sum())
    covered = float(k[both].sum() / k.sum())
    covered_now = float(m[both].sum() / m.sum())
    note = NO_NOTE if both.sum() == ((m > 0) | (k > 0)).sum() else notes.NOT_ALL_STRATA
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
        return replace(found, low=nan, high=nan, se=nan, p=nan, note=found.note + ONE_CLUSTER)
    both_sets = shared(sums[0], sums[1], sums[2], sums[3])
    covariance = both_sets.correlation * sqrt(variances[0] * variances[1])
    independent = sum(variances)
    kept = max(0.0, 1 - 2 * covariance / independent) if both_sets.both and independent > 0 else 1.0
    se, df = sqrt(max(independent, found.se**2) * kept), fewest - 1.0
    if not se > 0:
        return replace(found, low=nan, high=nan, se=nan, p=nan, note=found.note + notes.NO_INTERVAL)
    if both_sets.both:
        details = {"shared_clusters": float(both_sets.both), "correlation": both_sets.correlation}
        found = replace(found, note=found.note + notes.SHARED, details={**found.details, **details})
    half = quantile(df, level) * se
    low, high = max(-1.0, found.value - half), min(1.0, found.value + half)
    return replace(found, low=low, high=high, se=se, df=df, p=two_sided_p(found.value / se, df))
