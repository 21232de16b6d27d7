"""Unbiased variance of reader-averaged endpoints for any design: crossed, split-plot, unlinked, with gaps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import floor, inf, nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters, grouped
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, symmetric
from trustreport.measures.note import NO_NOTE

METHOD, CENTRED, PLUGIN = "ustatistic_bdg", "ustatistic_centred", "ustatistic_plugin"


@dataclass(frozen=True, slots=True, eq=False)
class PairSums:
    """Products of comparisons of two arms, summed over pairs that agree in some of their sources.

    A *source* is what was sampled: the reader first, then the case (or the positive and the negative case).
    Axis s of both arrays is 1 where the pair must have source s in common and 0 where anything goes:
    `inclusive[0, 0]` sums over all pairs, `inclusive[1, 0]` over pairs by one reader. `weight` counts the
    pairs themselves.
    """

    inclusive: NDArray[np.float64]
    weight: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class UStatistic:
    """Arm means that weigh every comparison alike, and their covariance over readers and cases.

    With psi the outcome of a comparison (for a proportion the 0/1 outcome of a reading) and W, W' the
    comparisons made in two arms::

        Cov(mean, mean') = mean x mean' - M
        M = mean of psi psi' over all pairs of comparisons that share no reader and no case

    which is the sum over all kinds of pairs, coefficient x moment, less the moment of unrelated pairs, in
    one line. It is unbiased, hence can be negative. `sources[s, i, k]` is the plug-in (biased) component of
    source s, `squares[s, i, k]` its part of a sum of squares by source, `counts` the effective number of
    readers and cases less one, `shared` whether two arms have any of that source in common.

    Estimand: mean over readers and cases, weighed by readings; equal to the mean of readers in a crossed
    design.

    With gaps the related pairs do not weigh as the means do, so that a constant added to all outcomes changes
    the variance: it then depends on whether right or wrong decisions are counted, and is often not positive.
    *Centred*, the outcomes are taken about the mean of their arm first, which a constant leaves alone; where
    every reader read every case, both are one.

    Where the unbiased variance of a centred statistic is not positive, its plug-in components are taken,
    which are sums of squares. With u_si what reader (or case) i adds to the weighted sum of arm means, over
    all of its comparisons, and m_s as in `df`::

        V = sum over sources s of (m_s + 1) / m_s sum over i of u_si^2,  Student's t with the smallest m_s df

    What readers and cases both add to is counted in each source, so that V is rather too large.

    Where several cases are of one patient, patients are the second source in place of cases: two readings of
    a patient are a pair that shares it. `clusters` counts them.

    References
    ----------
    Gallas (2006), Acad. Radiol. 13, 353-362. Gallas, Pennello, Myers (2007), J. Opt. Soc. Am. A 24, B70-B80.
    Gallas, Bandos, Samuelson, Wagner (2009), Commun. Stat. Theory Methods 38, 2586-2603.
    Obuchowski, Gallas, Hillis (2012), Acad. Radiol. 19, 1508-1517 (degrees of freedom).
    Cameron, Gelbach, Miller (2011), J. Bus. Econ. Stat. 29, 238-249 (sums of squares by source).
    """

    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    sources: NDArray[np.float64]
    counts: NDArray[np.float64]
    shared: NDArray[np.bool_]
    n: NDArray[np.int64]
    squares: NDArray[np.float64]
    method: str = METHOD
    pairs: Mapping[tuple[int, int], PairSums] = field(default_factory=dict)
    clusters: int | None = None

    def arm_mean(self, arm: int, *, level: float = 0.95) -> Estimate:
        """Mean of one arm, readers and cases sampled; Student's t with the degrees of freedom of `df`."""
        return self._estimate(self._unit(arm), level, nan)

    def difference(self, compared: int = 1, baseline: int = 0, *, level: float = 0.95) -> Estimate:
        """Difference of two arms, compared minus baseline; variance V + V' - 2 Cov.

        Returns
        -------
        `n` counts the readings of the arm with fewer. No limits, and a note, where nothing varies, or
        where the variance is negative; centred, the plug-in components are taken then
        (``ustatistic_plugin``).
        """
        return self.contrast(self._unit(compared) - self._unit(baseline), level=level)

    def contrast(self, weights: NDArray[np.float64], *, level: float = 0.95) -> Estimate:
        """Weighted sum of arm means, tested against 0.

        An *arm* may be any part of the readings: with positive and negative cases as arms of their own (NaN
        in the other class), weights pi and 1 - pi give accuracy at the share pi of positives.

        Parameters
        ----------
        weights : float array, shape (n_arms,)
        """
        return self._estimate(np.asarray(weights, dtype=np.float64), level, 0.0)

    def components(self, compared: int = 1, baseline: int = 0) -> dict[str, float]:
        """Plug-in (biased) components of a difference by source, and its unbiased variance as it is."""
        return self.components_of(self._unit(compared) - self._unit(baseline))

    def components_of(self, weights: NDArray[np.float64]) -> dict[str, float]:
        """`components` of a weighted sum of arm means."""
        arms = np.flatnonzero(weights)
        sources = ("readers", "cases") if len(self.sources) == 2 else ("readers", "positives", "negatives")
        found = {
            name: _quadratic(weights[arms], component[np.ix_(arms, arms)])
            for name, component in zip(sources, self.sources, strict=True)
        }
        return {**found, "variance": self._variance(weights)}

    def moments(self, compared: int = 1, baseline: int = 0) -> NDArray[np.float64]:
        """Mean product of two comparisons' differences between arms, by what exactly the two share.

        Axis s is 1 where source s is shared, 0 where not; those that share nothing are taken off, so that
        ``moments[0, 0]`` is 0. NaN where no two comparisons share just that.
        """
        signs = (
            (compared, compared, 1),
            (baseline, baseline, 1),
            (min(compared, baseline), max(compared, baseline), -2),
        )
        found: NDArray[np.float64] = np.zeros(self.pairs[0, 0].inclusive.shape)
        for i, k, sign in signs:
            of, pairs = _exact(self.pairs[i, k].inclusive), _exact(self.pairs[i, k].weight)
            found += sign * of / np.where(pairs > 0.5, pairs, nan)
        found -= found[(0,) * found.ndim]
        return found

    def mean_covariance(self, compared: int = 1, baseline: int = 0) -> NDArray[np.float64]:
        """Covariance of two arms' means, compared arm first, for functions of both such as an odds ratio."""
        pair = [compared, baseline]
        return self.covariance[np.ix_(pair, pair)]

    def plugged_in(self) -> "UStatistic":
        """The same statistic with the covariance of its plug-in components; only of a centred one."""
        spread = np.nan_to_num(np.sqrt((self.counts + 1) / np.where(self.counts > 0, self.counts, np.nan)))
        covariance = (self.squares * spread[:, :, None] * spread[:, None, :]).sum(axis=0)
        return replace(self, covariance=covariance, method=PLUGIN)

    def for_difference(self, compared: int = 1, baseline: int = 0) -> "UStatistic":
        """What `difference` uses: this, or the one plugged in where the variance is not positive."""
        same = self.difference(compared, baseline).method == self.method
        return self if same else self.plugged_in()

    def reference_df(self, compared: int = 1, baseline: int = 0) -> float:
        """What the quantile of a difference uses: df rounded down, above 50 infinite; NaN: none."""
        weights = self._unit(compared) - self._unit(baseline)
        return rounded_down(self.df(weights)[0]) if self._variance(weights) > NEGLIGIBLE else nan

    def df(self, weights: NDArray[np.float64]) -> tuple[float, bool]:
        """Degrees of freedom of a weighted sum of arm means, and whether they were raised to their minimum.

        ::

            df = V^2 / sum over s of (C_s / m_s)^2 / m_s, at least the smallest m_s

        C_s is the plug-in component of source s in the weighted sum and m_s the effective count less one, the
        smallest of the arms; arms with no reader (no case) in common have a term each.
        """
        parts = self._parts(weights)
        least = min(m for _, m in parts)
        if self.method == PLUGIN:
            return least, False
        total = sum((part / m) ** 2 / m if m > 0 else inf for part, m in parts)
        df = self._variance(weights) ** 2 / total if total > 0 else inf
        return max(df, least), df < least

    def _estimate(self, weights: NDArray[np.float64], level: float, null: float) -> Estimate:
        arms = np.flatnonzero(weights)
        value, n = float(weights[arms] @ self.means[arms]), int(self.n[arms].min())
        if np.isnan(value):
            return no_interval(value, n, notes.NO_READING, level=level, method=self.method)
        details = {name: float(counts[arms].min()) for name, counts in zip(self._names(), self.counts)}
        if self.clusters is not None:
            details["clusters"] = float(self.clusters)
        variance, why = self._variance(weights), NO_NOTE
        df, raised = self.df(weights) if variance > NEGLIGIBLE else (nan, False)
        if np.isnan(variance):
            why = notes.ONE_READER if details["readers_less_one"] < 1 else notes.NO_DIFFERENT_PAIR
        elif variance <= NEGLIGIBLE:
            varies = max(-variance, *(part for part, _ in self._parts(weights))) > NEGLIGIBLE
            if varies and self.method == CENTRED and details["readers_less_one"] >= 1:
                e = self.plugged_in()._estimate(weights, level, null)
                return replace(e, details={**e.details, "unbiased_variance": variance})
            why = notes.NOT_POSITIVE if varies else notes.NO_VARIATION
            details["variance"] = variance
        elif df < 1:
            why = notes.ONE_DOMINATES
        if why:
            return no_interval(value, n, why, level=level, method=self.method, details=details)
        return symmetric(
            value,
            variance,
            n,
            df=rounded_down(df),
            shown_df=df,
            level=level,
            method=self.method,
            note=notes.LOW_DF if raised else notes.PLUGGED_IN if self.method == PLUGIN else NO_NOTE,
            null=null,
            details=details,
        )

    def _parts(self, weights: NDArray[np.float64]) -> list[tuple[float, float]]:
        """Plug-in component and effective count less one, of each source and group of linked arms."""
        return [
            (_quadratic(weights[arms], component[np.ix_(arms, arms)]), float(counts[arms].min()))
            for component, counts, shared in zip(self.sources, self.counts, self.shared)
            for arms in _linked(shared, np.flatnonzero(weights))
        ]

    def _variance(self, weights: NDArray[np.float64]) -> float:
        arms = np.flatnonzero(weights)
        return float(weights[arms] @ self.covariance[np.ix_(arms, arms)] @ weights[arms])

    def _unit(self, arm: int) -> NDArray[np.float64]:
        unit: NDArray[np.float64] = np.eye(len(self.means))[arm]
        return unit

    def _names(self) -> tuple[str, ...]:
        if len(self.sources) == 2:
            return ("readers_less_one", "cases_less_one")
        return ("readers_less_one", "positives_less_one", "negatives_less_one")


def rounded_down(df: float) -> float:
    """Degrees of freedom that the quantile uses: whole up to 50, above that infinite (the normal)."""
    return inf if df > 50 else float(floor(df + 1e-9))  # 3.9999999999 is 4 by rounding


def ustatistic(
    outcome: NDArray[np.float64], *, centred: bool = False, cluster: Clusters | None = None
) -> UStatistic:
    """U-statistic of a proportion: accuracy, error rate, sensitivity or specificity over their class.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted, 0.0 not, NaN no reading. Any pattern of gaps; the same index is the same reader, the
        same case.
    centred : bool
        Take the outcomes about the mean of their arm.
    cluster : int array, shape (n_cases,), optional
        Which cases are of one patient.

    Returns
    -------
    NaN covariance where an arm has no two readings by different readers of different cases.
    """
    read = ~np.isnan(outcome)
    scored, weight = np.where(read, outcome, 0.0), read.astype(float)
    arms, n = len(outcome), read.sum(axis=(1, 2))
    means = np.where(n > 0, scored.sum(axis=(1, 2)) / np.maximum(n, 1), np.nan)
    if centred:
        scored = scored - np.nan_to_num(means)[:, None, None] * weight
    scored, weight = grouped(scored, cluster), grouped(weight, cluster)
    pairs = {
        (i, k): PairSums(_inclusive(scored[i], scored[k]), _inclusive(weight[i], weight[k]))
        for i in range(arms)
        for k in range(i, arms)
    }
    clusters = None if cluster is None else int(weight.any(axis=(0, 1)).sum())
    return replace(from_sums(means, pairs, n, centred=centred), clusters=clusters)


def from_sums(
    means: NDArray[np.float64],
    pairs: dict[tuple[int, int], PairSums],
    n: NDArray[np.int64],
    *,
    centred: bool = False,
) -> UStatistic:
    """U-statistic from the mean and the readings of each arm, and the sums of every pair of arms (i <= k).

    `centred` says that the sums are those of outcomes about the means.
    """
    about = 0.0 * means if centred else means
    arms = len(n)
    sources = next(iter(pairs.values())).inclusive.ndim
    nothing = (0,) * sources
    counts = np.full((sources, arms), np.nan)
    covariance = np.full((arms, arms), np.nan)
    component = np.full((sources, arms, arms), np.nan)
    squares = np.zeros((sources, arms, arms))
    shared = np.zeros((sources, arms, arms), bool)
    for i in range(arms):
        own = pairs[i, i]
        if own.weight[nothing] > 0:
            for s, one in enumerate(_single(sources)):
                counts[s, i] = floor(own.weight[nothing] / own.weight[one] - 1 + 0.5)
    for (i, k), sums in pairs.items():
        apart, pairs_apart = _unrelated(sums.inclusive), _unrelated(sums.weight)
        if pairs_apart > 0.5:
            covariance[i, k] = covariance[k, i] = about[i] * about[k] - apart / pairs_apart
        for s, one in enumerate(_single(sources)):
            if sums.weight[one] > 0:
                shared[s, i, k] = shared[s, k, i] = True
                moment = sums.inclusive[one] / sums.weight[one] - about[i] * about[k]
                component[s, i, k] = component[s, k, i] = moment
                squares[s, i, k] = squares[s, k, i] = sums.inclusive[one] / sums.weight[nothing]
    method = CENTRED if centred else METHOD
    return UStatistic(means, covariance, component, counts, shared, n, squares, method, pairs)


def _inclusive(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over pairs of readings (readers x cases), by what the pair must share: reader, case."""
    return np.array(
        [
            [first.sum() * second.sum(), first.sum(axis=0) @ second.sum(axis=0)],
            [first.sum(axis=1) @ second.sum(axis=1), (first * second).sum()],
        ]
    )


def _unrelated(inclusive: NDArray[np.float64]) -> float:
    """Sum over pairs that share nothing, by inclusion and exclusion."""
    return float(_exact(inclusive)[(0,) * inclusive.ndim])


def _exact(inclusive: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums over pairs that share just these sources, from those over pairs that share at least these."""
    found = inclusive.copy()
    for axis in range(found.ndim):
        whole, part = (np.take(found, i, axis) for i in (0, 1))
        found = np.stack([whole - part, part], axis)
    return found


def _single(sources: int) -> Iterator[tuple[int, ...]]:
    """Masks of one shared source each, in order."""
    for s in range(sources):
        yield tuple(int(s == other) for other in range(sources))


def _linked(shared: NDArray[np.bool_], arms: NDArray[np.intp]) -> list[list[int]]:
    """The arms in groups: in one group if they have a source in common, directly or through others."""
    groups: list[list[int]] = []
    for arm in arms:
        touching = [group for group in groups if shared[arm, group].any()]
        groups = [group for group in groups if group not in touching]
        groups.append([*(other for group in touching for other in group), int(arm)])
    return groups


def _quadratic(weights: NDArray[np.float64], component: NDArray[np.float64]) -> float:
    """w' C w, where a pair of arms with nothing in common (NaN) adds nothing."""
    return float(weights @ np.nan_to_num(component) @ weights)
