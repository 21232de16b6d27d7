"""Two decisions on the same cases: their table, and the difference of two shares, also in clusters."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr

from trustreport.measures import notes
from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.proportion import normal_quantile, wilson
from trustreport.measures.two_arm.difference import score_distance


@dataclass(frozen=True, slots=True)
class PairedTable:
    """How often a case was decided right with and without the aid.

    Each field counts pairs: one reader and one case, decided in both arms.
    """

    both_right: int
    aided_right_unaided_wrong: int
    aided_wrong_unaided_right: int
    both_wrong: int

    def __post_init__(self) -> None:
        for field in fields(self):
            count = getattr(self, field.name)
            if not (count >= 0 and count == int(count)):
                raise ValueError(f"{field.name} must be a count (0, 1, 2, ...), got {count}.")
            object.__setattr__(self, field.name, int(count))

    @property
    def n(self) -> int:
        """All pairs."""
        return self.both_right + self.discordant + self.both_wrong

    @property
    def discordant(self) -> int:
        """Pairs in which exactly one of the two decisions is right."""
        return self.aided_right_unaided_wrong + self.aided_wrong_unaided_right

    @property
    def errors_aided(self) -> int:
        """Wrong decisions with the aid."""
        return self.aided_wrong_unaided_right + self.both_wrong

    @property
    def errors_unaided(self) -> int:
        """Wrong decisions without the aid."""
        return self.aided_right_unaided_wrong + self.both_wrong


def wald_paired(table: PairedTable, level: float = 0.95) -> Estimate:
    """Errors avoided with the aid, per case, with the textbook interval for pairs.

    With b errors corrected and c errors introduced among n pairs::

        (b - c) / n +- z sqrt(b + c - (b - c)^2 / n) / n

    Estimand: P(unaided wrong) - P(aided wrong), pairs independent; positive = fewer errors with the aid.

    Returns
    -------
    In [-1, 1], limits not cut; `n` counts pairs. Width 0 with a note when all pairs agree or all change
    alike; NaN with a note when there is no pair.

    Notes
    -----
    Covers less often than it says for few discordant pairs; prefer `tango`.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 2635-2650, method 1.

    Examples
    --------
    >>> est = wald_paired(PairedTable(30, 12, 4, 9))
    >>> print(f"{est.value:.3f} [{est.low:.3f}, {est.high:.3f}]")
    0.145 [0.008, 0.283]
    """
    z, n = normal_quantile(level), table.n
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method="wald_paired")
    gain = table.aided_right_unaided_wrong - table.aided_wrong_unaided_right
    value = gain / n
    se = sqrt((n * table.discordant - gain * gain) / n) / n
    note = NO_NOTE if se else notes.NO_WIDTH
    return Estimate(value, value - z * se, value + z * se, n, level, "wald_paired", note, se=se)


def tango(table: PairedTable, level: float = 0.95) -> Estimate:
    """Errors avoided with the aid, per case, with the score interval, the default for pairs.

    The limits are the two d that solve, with q(d) the most likely share of introduced errors at that d::

        |(b - c) / n - d| = z sqrt((2 q(d) + d (1 - d)) / n)

    Estimand: P(unaided wrong) - P(aided wrong), pairs independent; positive = fewer errors with the aid.

    Returns
    -------
    In [-1, 1]; `n` counts pairs; of positive width also without a discordant pair; NaN with a note when
    there is no pair.

    References
    ----------
    Tango (1998), Stat. Med. 17, 891-908.

    Examples
    --------
    >>> est = tango(PairedTable(30, 12, 4, 9))
    >>> print(f"{est.value:.3f} [{est.low:.3f}, {est.high:.3f}]")
    0.145 [0.003, 0.289]
    """
    z, n = normal_quantile(level), table.n
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method="tango")
    b, c = table.aided_right_unaided_wrong, table.aided_wrong_unaided_right
    low, high = score_limits(b, c, n, z)
    return Estimate((b - c) / n, low, high, n, level, "tango")


def score_limits(b: float, c: float, n: float, z: float) -> tuple[float, float]:
    """Tango's limits of (b - c) / n; the counts need not be whole."""
    value = (b - c) / n

    def above(h: float) -> float:
        return score_variance(value + h, b, c, n)

    def below(h: float) -> float:
        return score_variance(value - h, b, c, n)

    return value - score_distance(below, z, 1 + value), value + score_distance(above, z, 1 - value)


def newcombe_paired(table: PairedTable, level: float = 0.95) -> Estimate:
    """Errors avoided with the aid, per case, with limits put together from the Wilson limits of each arm.

    With (l1, u1), (l2, u2) the Wilson limits of the unaided and aided error rates p1 and p2, and phi their
    correlation (its numerator less n/2, not below 0, where it is positive)::

        low  = p1 - p2 - sqrt((p1 - l1)^2 - 2 phi (p1 - l1) (u2 - p2) + (u2 - p2)^2)
        high = p1 - p2 + sqrt((u1 - p1)^2 - 2 phi (u1 - p1) (p2 - l2) + (p2 - l2)^2)

    Estimand: P(unaided wrong) - P(aided wrong), pairs independent; positive = fewer errors with the aid.

    Returns
    -------
    In [-1, 1]; `n` counts pairs; phi, in `details`, is 0 where an arm is all right or all wrong; NaN
    with a note when there is no pair.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 2635-2650, method 10.

    Examples
    --------
    >>> est = newcombe_paired(PairedTable(30, 12, 4, 9))
    >>> print(f"{est.value:.3f} [{est.low:.3f}, {est.high:.3f}]")
    0.145 [0.002, 0.281]
    """
    n, wrong1, wrong2 = table.n, table.errors_unaided, table.errors_aided
    one, two = wilson(wrong1, n, level), wilson(wrong2, n, level)
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method="newcombe_paired")
    phi = correlation(table)
    value = (table.aided_right_unaided_wrong - table.aided_wrong_unaided_right) / n
    low = value - third_side(one.value - one.low, two.high - two.value, phi)
    high = value + third_side(one.high - one.value, two.value - two.low, phi)
    return Estimate(value, low, high, n, level, "newcombe_paired", details={"phi": phi})


def score_variance(d: float, b: float, c: float, n: float) -> float:
    """Variance of (b - c) / n under the hypothesis that the difference is d (Tango 1998)."""
    if d < 0:
        b, c, d = c, b, -d
    linear, constant = d * (2 * n - b + c) - b - c, c * d * (1 - d)
    root = sqrt(max(linear * linear + 8 * n * constant, 0.0))
    if linear > 0:  # the same root of 2n q^2 + linear q - constant, without cancellation
        q = 2 * constant / (root + linear)
    else:
        q = (root - linear) / (4 * n)
    return (2 * q + d * max(1 - d, 0.0)) / n


def correlation(table: PairedTable) -> float:
    """phi of the pairs, its numerator less n/2 where that leaves it positive; 0 where an arm is all alike."""
    n, wrong1, wrong2 = table.n, table.errors_unaided, table.errors_aided
    b, c = table.aided_right_unaided_wrong, table.aided_wrong_unaided_right
    product = table.both_right * table.both_wrong - b * c
    margins = wrong1 * (n - wrong1) * wrong2 * (n - wrong2)
    return (max(product - n / 2, 0.0) if product > 0 else product) / sqrt(margins) if margins else 0.0


def third_side(one: float, two: float, phi: float) -> float:
    """Length of one - two, where phi is the cosine between them."""
    return sqrt(max((one - two) ** 2 + 2 * (1 - phi) * one * two, 0.0))


METHOD = "newcombe_overlap"
FARTHEST = 8.0  # standard errors: a p below 2e-15 has no digits left in 1 - p


def newcombe_overlap(
    compared: tuple[int, int], baseline: tuple[int, int], pairs: PairedTable, level: float = 0.95
) -> Estimate:
    """Change in the share of right decisions over all readings of each arm, some of them pairs.

    With p1 of n1 right in the compared arm and p2 of n2 in the baseline, (l, u) their Wilson limits, m pairs
    and phi the correlation within them as in `newcombe_paired`::

        rho  = phi m / sqrt(n1 n2)
        low  = p1 - p2 - sqrt((p1 - l1)^2 - 2 rho (p1 - l1) (u2 - p2) + (u2 - p2)^2)
        high = p1 - p2 + sqrt((u1 - p1)^2 - 2 rho (u1 - p1) (p2 - l2) + (p2 - l2)^2)

    rho is the correlation of the two shares. Where every case is a pair these are the limits of
    `newcombe_paired`, without pairs those of two independent groups.

    Estimand: P(right, compared) - P(right, baseline) of one reader, cases independent.

    Parameters
    ----------
    compared, baseline : (right, read)
    pairs : PairedTable
        Of the cases read in both arms, which are among those of either.

    Returns
    -------
    In [-1, 1]; `n` counts the readings of the arm with fewer; `p` is 1 less the level at which an
    interval ends at 0. NaN with a note where an arm has none.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 2635-2650, method 10. Zou, Donner (2008), Stat. Med. 27, 1693-1702.
    Derrick, Dobson-McKittrick, Toher, White (2015), J. Appl. Quant. Methods 10 (3), 1-14 (correlation of the
    shares).

    Examples
    --------
    >>> print(newcombe_overlap((45, 55), (34, 50), PairedTable(28, 10, 3, 4)))
    0.14 (95% CI -0.01 to 0.29; n = 50)
    """
    check_level(level)
    (x1, n1), (x2, n2) = compared, baseline
    n = min(n1, n2)
    if not n:
        return undefined(0, notes.NO_CASE, level=level, method=METHOD)
    rho = correlation(pairs) * pairs.n / sqrt(n1 * n2)
    value = x1 / n1 - x2 / n2

    def limits(level: float) -> tuple[float, float]:
        one, two = wilson(x1, n1, level), wilson(x2, n2, level)
        below, above = one.value - one.low, one.high - one.value
        up, down = two.high - two.value, two.value - two.low
        return value - third_side(below, up, rho), value + third_side(above, down, rho)

    low, high = limits(level)
    return Estimate(value, low, high, n, level, METHOD, p=_p(value, limits), details={"rho": rho})


def _p(value: float, limits: Callable[[float], tuple[float, float]]) -> float:
    """1 less the level of the interval that ends at 0."""
    if not value:
        return 1.0
    end = 0 if value > 0 else 1

    def beyond(z: float) -> float:
        return limits(1 - 2 * float(ndtr(-z)))[end]

    nearest = 1e-6
    if beyond(FARTHEST) * value > 0:
        return 2 * float(ndtr(-FARTHEST))
    return 2 * float(ndtr(-brentq(beyond, nearest, FARTHEST)))


def paired_shares(
    compared: NDArray[np.bool_],
    baseline: NDArray[np.bool_],
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """The share of cases with an event for the one, less that for the other: `tango`, or `tango_clustered`.

    Parameters
    ----------
    compared, baseline : bool array, shape (n_cases,)
        Whether the event happened, for the same cases.

    Examples
    --------
    >>> print(paired_shares(np.array([True, True, True, False]), np.array([True, False, False, False])))
    0.50 (95% CI -0.23 to 0.85; n = 4)
    """
    if cluster is not None:
        return tango_clustered(compared.astype(np.float64) - baseline, cluster, level=level)
    pairs = ((compared, baseline), (compared, ~baseline), (~compared, baseline), (~compared, ~baseline))
    return tango(PairedTable(*(int((a & b).sum()) for a, b in pairs)), level)


IN_CLUSTERS_METHOD = "tango_clustered"
CLUSTERS_AS_CASES = note("no_pair_differs_interval_counts_clusters")


def tango_clustered(
    change: NDArray[np.float64], cluster: Clusters, *, within: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Mean of what changes in each case, with the score interval of as many independent pairs as it is worth.

    With V the variance of the mean over clusters, V_1 that over single cases, D = max(1, V / V_1), b gained
    and c lost among n pairs, G clusters: the limits of `tango` for b / D, c / D and n / D, with Student's t
    of G - 1 degrees of freedom. Where no pair differs D is n / G: a cluster is worth one case. Where clusters
    are made of smaller ones, such as a patient's cases by reader, D is not below that of the smaller ones.

    Estimand: that of `tango`, clusters sampled, every case weighing alike.

    Parameters
    ----------
    change : float array, shape (n_cases,)
        1 gained, -1 lost, 0 neither.
    cluster : int array, shape (n_cases,)
    within : int array, shape (n_cases,), optional
        The smaller clusters.

    Returns
    -------
    In [-1, 1]; `n` counts cases, `details` the clusters, the design effect D and the effective counts;
    p of no difference on the same scale. No limits with one cluster; NaN with a note without cases.

    References
    ----------
    Tango (1998), Stat. Med. 17, 891-908. Rao, Scott (1992), Biometrics 48, 577-585 (design effect).

    Examples
    --------
    >>> change = np.repeat([1.0, -1.0, 0.0, 0.0, 1.0, 0.0], 5)
    >>> print(tango_clustered(change, np.arange(30) // 5))  # six patients, whose cases are all alike
    0.17 (95% CI -0.57 to 0.74; n = 30)
    """
    n = len(change)
    if not n:
        return undefined(0, notes.NO_PAIR, level=level, method=IN_CLUSTERS_METHOD)
    value = float(change.mean())
    variance, clusters = clustered_variance((change - value) / n, cluster)
    alone = clustered_variance((change - value) / n, np.arange(n))[0]
    if within is not None:
        variance = max(variance, clustered_variance((change - value) / n, within)[0])
    details = {"clusters": float(clusters)}
    if clusters < 2:
        return replace(
            undefined(n, ONE_CLUSTER, level=level, method=IN_CLUSTERS_METHOD), value=value, details=details
        )
    effect = max(1.0, variance / alone) if alone > 0 else n / clusters
    gained, lost = (float(np.count_nonzero(change == sign)) / effect for sign in (1, -1))
    details |= {"design_effect": effect, "gained": gained, "lost": lost, "pairs": n / effect}
    low, high = score_limits(gained, lost, n / effect, quantile(clusters - 1.0, level))
    found = Estimate(
        value, low, high, n, level, IN_CLUSTERS_METHOD, NO_NOTE if alone > 0 else CLUSTERS_AS_CASES,
        df=clusters - 1.0, details=details,
    )  # fmt: skip
    at_none = score_variance(0.0, gained, lost, n / effect)
    p = two_sided_p(value / at_none**0.5, found.df) if at_none > 0 else 1.0
    return replace(found, p=p)


def correlation_of_sums(
    one: NDArray[np.float64], of_one: Clusters, other: NDArray[np.float64], of_other: Clusters
) -> float:
    """Correlation over clusters of two means of different cases, such as both classes of the same patients.

    Parameters
    ----------
    one, other : float array, shape (n_cases,) each
        What each case adds to its mean, summing to 0.
    of_one, of_other : int array, shape (n_cases,) each
        The cluster of each, numbered alike.
    """
    codes, index = np.unique(np.concatenate([of_one, of_other]), return_inverse=True)
    first = np.bincount(index[: len(one)], one, len(codes))
    second = np.bincount(index[len(one) :], other, len(codes))
    squares = float(first @ first) * float(second @ second)
    return float(first @ second) / sqrt(squares) if squares > 0 else 0.0
