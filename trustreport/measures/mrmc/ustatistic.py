"""Unbiased variance of reader-averaged endpoints for any design: crossed, split-plot, unlinked, with gaps."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import floor, inf, nan

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, symmetric

METHOD = "ustatistic_bdg"


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
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
    source s, `counts` the effective number of readers and cases less one, `shared` whether two arms have
    any of that source in common.

    Estimand: mean over readers and cases, weighed by readings; equal to the mean of readers in a crossed
    design.

    References
    ----------
    Gallas (2006), Acad. Radiol. 13, 353-362. Gallas, Pennello, Myers (2007), J. Opt. Soc. Am. A 24, B70-B80.
    Gallas, Bandos, Samuelson, Wagner (2009), Commun. Stat. Theory Methods 38, 2586-2603.
    Obuchowski, Gallas, Hillis (2012), Acad. Radiol. 19, 1508-1517 (degrees of freedom).
    """

    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    sources: NDArray[np.float64]
    counts: NDArray[np.float64]
    shared: NDArray[np.bool_]
    n: NDArray[np.int64]

    def arm_mean(self, arm: int, *, level: float = 0.95) -> Estimate:
        """Mean of one arm, readers and cases sampled; Student's t with the degrees of freedom of `df`."""
        return self._estimate(
            float(self.means[arm]), float(self.covariance[arm, arm]), int(self.n[arm]), (arm,), level, nan
        )

    def difference(self, compared: int = 1, baseline: int = 0, *, level: float = 0.95) -> Estimate:
        """Difference of two arms, compared minus baseline; variance V + V' - 2 Cov.

        Returns
        -------
        Estimate
            `n` counts the readings of both arms' smaller. No limits, and a note, where the variance is
            negative or nothing varies.
        """
        first, second = self.covariance[compared, compared], self.covariance[baseline, baseline]
        variance = float(first + second - 2 * self.covariance[compared, baseline])
        value = float(self.means[compared] - self.means[baseline])
        n = int(min(self.n[compared], self.n[baseline]))
        return self._estimate(value, variance, n, (compared, baseline), level, 0.0)

    def mean_covariance(self, compared: int = 1, baseline: int = 0) -> NDArray[np.float64]:
        """Covariance of two arms' means, compared arm first, for functions of both such as an odds ratio."""
        pair = [compared, baseline]
        return self.covariance[np.ix_(pair, pair)]

    def reference_df(self, compared: int = 1, baseline: int = 0) -> float:
        """What the quantile of a difference uses: df rounded down, above 50 infinite; NaN: none."""
        variance = float(np.array([1, -1]) @ self.mean_covariance(compared, baseline) @ np.array([1, -1]))
        return rounded_down(self.df(variance, compared, baseline)[0]) if variance > NEGLIGIBLE else nan

    def df(self, variance: float, compared: int, baseline: int | None = None) -> tuple[float, bool]:
        """Degrees of freedom of a mean or a difference, and whether they were raised to their minimum.

        ::

            df = V^2 / sum over s of (C_s / m_s)^2 / m_s

        C_s the plug-in component of source s (of the difference, where both arms have readers or cases in
        common; else one term an arm) and m_s its effective count less one (the smaller of both arms); at
        least min m_s.
        """
        floor_df, total = inf, 0.0
        for component, m, shared in zip(self.sources, self.counts, self.shared):
            if baseline is None:
                terms = [(component[compared, compared], m[compared])]
            elif shared[compared, baseline]:
                between = component[compared, compared] + component[baseline, baseline]
                terms = [(between - 2 * component[compared, baseline], min(m[compared], m[baseline]))]
            else:
                terms = [(component[arm, arm], m[arm]) for arm in (compared, baseline)]
            for part, count in terms:
                floor_df = min(floor_df, count)
                total += (part / count) ** 2 / count if count > 0 else inf
        df = variance**2 / total if total > 0 else inf
        return max(df, floor_df), df < floor_df

    def _estimate(
        self, value: float, variance: float, n: int, arms: tuple[int, ...], level: float, null: float
    ) -> Estimate:
        counts = {
            name: float(self.counts[:, list(arms)].min(axis=1)[s]) for s, name in enumerate(self._names())
        }
        if np.isnan(value):
            return no_interval(value, n, notes.NO_READING, level=level, method=METHOD)
        if np.isnan(variance):
            note = notes.ONE_READER if counts["readers_less_one"] < 1 else notes.NO_DIFFERENT_PAIR
            return no_interval(value, n, note, level=level, method=METHOD, details=counts)
        if variance < -NEGLIGIBLE:
            shown = {**counts, "variance": variance}
            return no_interval(value, n, notes.NEGATIVE_VARIANCE, level=level, method=METHOD, details=shown)
        if variance <= NEGLIGIBLE:
            return no_interval(value, n, notes.NO_VARIATION, level=level, method=METHOD, details=counts)
        df, raised = self.df(variance, *arms)
        if df < 1:
            return no_interval(value, n, notes.ONE_DOMINATES, level=level, method=METHOD, details=counts)
        return symmetric(
            value,
            variance,
            n,
            df=rounded_down(df),
            shown_df=df,
            level=level,
            method=METHOD,
            note=notes.LOW_DF if raised else "",
            null=null,
            details=counts,
        )

    def _names(self) -> tuple[str, ...]:
        if len(self.sources) == 2:
            return ("readers_less_one", "cases_less_one")
        return ("readers_less_one", "positives_less_one", "negatives_less_one")


def rounded_down(df: float) -> float:
    """Degrees of freedom that the quantile uses: whole up to 50, above that infinite (the normal)."""
    return inf if df > 50 else float(floor(df))


def ustatistic(outcome: NDArray[np.float64]) -> UStatistic:
    """U-statistic of a proportion: accuracy, error rate, sensitivity or specificity over their class.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted, 0.0 not, NaN no reading. Any pattern of gaps; the same index is the same reader, the
        same case.

    Returns
    -------
    UStatistic
        NaN covariance where an arm has no two readings by different readers of different cases.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> correct = (rng.random((2, 6, 90)) < np.array([0.7, 0.8])[:, None, None]).astype(float)
    >>> correct[rng.random(correct.shape) < 0.1] = np.nan
    >>> print(ustatistic(correct).difference(1, 0))
    0.10 (95% CI 0.06 to 0.15; n = 468)
    """
    read = ~np.isnan(outcome)
    scored, weight = np.where(read, outcome, 0.0), read.astype(float)
    arms = len(outcome)
    pairs = {
        (i, k): Sums(_inclusive(scored[i], scored[k]), _inclusive(weight[i], weight[k]))
        for i in range(arms)
        for k in range(i, arms)
    }
    n = read.sum(axis=(1, 2))
    means = np.where(n > 0, scored.sum(axis=(1, 2)) / np.maximum(n, 1), np.nan)
    return from_sums(means, pairs, n)


def from_sums(
    means: NDArray[np.float64], pairs: dict[tuple[int, int], Sums], n: NDArray[np.int64]
) -> UStatistic:
    """U-statistic from the mean and the readings of each arm, and the sums of every pair of arms (i <= k)."""
    arms = len(n)
    sources = next(iter(pairs.values())).inclusive.ndim
    nothing = (0,) * sources
    counts = np.full((sources, arms), np.nan)
    covariance = np.full((arms, arms), np.nan)
    component = np.full((sources, arms, arms), np.nan)
    shared = np.zeros((sources, arms, arms), bool)
    for i in range(arms):
        own = pairs[i, i]
        if own.weight[nothing] > 0:
            for s, one in enumerate(_single(sources)):
                counts[s, i] = floor(own.weight[nothing] / own.weight[one] - 1 + 0.5)
    for (i, k), sums in pairs.items():
        apart, pairs_apart = _unrelated(sums.inclusive), _unrelated(sums.weight)
        if pairs_apart > 0.5:
            covariance[i, k] = covariance[k, i] = means[i] * means[k] - apart / pairs_apart
        for s, one in enumerate(_single(sources)):
            if sums.weight[one] > 0:
                shared[s, i, k] = shared[s, k, i] = True
                moment = sums.inclusive[one] / sums.weight[one] - means[i] * means[k]
                component[s, i, k] = component[s, k, i] = moment
    return UStatistic(means, covariance, component, counts, shared, n)


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
    return float(sum((-1) ** sum(mask) * inclusive[mask] for mask in product((0, 1), repeat=inclusive.ndim)))


def _single(sources: int) -> Iterator[tuple[int, ...]]:
    """Masks of one shared source each, in order."""
    for s in range(sources):
        yield tuple(int(s == other) for other in range(sources))
