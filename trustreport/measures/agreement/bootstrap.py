"""Bootstrap of the coefficients of agreement, over cases or over raters and cases, all in one go."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement import notes
from trustreport.measures.agreement.labels import check_codes, ordinal
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE

Floats = NDArray[np.float64]
Scale = Literal["nominal", "ordinal"]
OVER_CASES, OVER_RATERS_AND_CASES = "bootstrap_cases", "bootstrap_raters_cases"
CELLS = 2_000_000  # numbers held at once in each array
WORTH_A_WORD = 0.01  # share of resamples without a value from which the note says so


def bootstrap(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    rng: np.random.Generator,
    resamples: int = 2000,
    raters: bool = False,
    scale: Scale = "nominal",
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """Every coefficient with a percentile interval, cases drawn anew, and raters too if asked.

    Estimand: the coefficient for all cases of the population; with `raters`, also for raters in general, of
    whom these are a sample.

    Parameters
    ----------
    n_categories : int, at least 2
    raters : bool
        Draw raters too. Two draws of one rater are no pair, or agreement would be overstated.
    scale : {"nominal", "ordinal"}
        Ordinal: alpha of ranks, and AC2 with Gwet's ordinal weights.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together: they are drawn together.

    Returns
    -------
    dict of Estimate
        ``percent_agreement krippendorff_alpha fleiss_kappa conger_kappa gwet_ac1``; ordinal:
        ``krippendorff_alpha gwet_ac2``. Resamples in which a coefficient is undefined are left out and
        counted in `details`; no limits, with a note, where that is more than half of them.

    Notes
    -----
    Drawing raters and cases both takes the spread too large rather than too small. Cases that were labelled
    alike are held once, so that a hundred thousand cases cost little more than a thousand.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.
    Owen (2007), Ann. Appl. Stat. 1, 386-411 (raters and cases).

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1]] * 5)
    >>> print(bootstrap(codes, 2, rng=np.random.default_rng(1))["fleiss_kappa"])
    0.78 (95% CI 0.59 to 0.95; n = 30)
    """
    check_level(level)
    if n_categories < 2:
        raise ValueError(f"n_categories must be at least 2, got {n_categories}.")
    codes = check_codes(codes, n_categories)
    rated = np.asarray((codes >= 0).any(axis=1))
    codes, unit = codes[rated], units(cluster, rated)
    method = OVER_RATERS_AND_CASES if raters else OVER_CASES
    patterns, pattern, cases = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    labels = _GivenLabels.of_patterns(patterns, n_categories, scale)
    everybody = np.ones((1, codes.shape[1]))
    n = int(cases[(patterns >= 0).sum(axis=1) > 1].sum())
    if not n:
        return {name: undefined(0, notes.NO_PAIR, level=level, method=method) for name in NAMES[scale]}
    whole = labels.coefficients(everybody, cases[None].astype(float))
    found: dict[str, list[Floats]] = {name: [] for name in NAMES[scale]}
    for times, drawn in _draws(pattern.reshape(-1), unit, codes.shape[1], rng, resamples, labels.at_once):
        some = labels.coefficients(times if raters else everybody, drawn)
        for name, values in some.items():
            found[name].append(values)
    return {
        name: percentile(float(whole[name][0]), np.concatenate(values), n, level=level, method=method)
        if not np.isnan(whole[name][0])
        else undefined(n, notes.ONE_CATEGORY, level=level, method=method)
        for name, values in found.items()
    }


NAMES: Mapping[Scale, tuple[str, ...]] = {
    "nominal": ("percent_agreement", "krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac1"),
    "ordinal": ("krippendorff_alpha", "gwet_ac2"),
}


def units(cluster: Clusters | None, of: NDArray[Any]) -> Clusters | None:
    """What is drawn anew: the cluster of each of some cases, numbered from 0; None where each is alone."""
    return None if cluster is None else np.unique(cluster[of], return_inverse=True)[1].reshape(-1)


def drawn_rows(rng: np.random.Generator, n: int, unit: Clusters | None) -> NDArray[np.int64]:
    """Rows of `n` cases drawn with replacement, or of clusters that `unit` (n,) numbers from 0."""
    if unit is None:
        return rng.integers(n, size=n)
    n_units = int(unit.max(initial=-1)) + 1
    times = np.bincount(rng.integers(n_units, size=n_units), minlength=n_units)
    return np.repeat(np.arange(n), times[unit])


def _draws(
    pattern: NDArray[np.int64],
    unit: Clusters | None,
    n_raters: int,
    rng: np.random.Generator,
    resamples: int,
    at_once: int,
) -> Iterator[tuple[Floats, Floats]]:
    """How often each rater (n_draws, n_raters) and each pattern (n_draws, n_patterns) was drawn."""
    order = np.argsort(pattern, kind="stable")  # so that the order of the cases does not decide what is drawn
    pattern, unit = pattern[order], None if unit is None else unit[order]
    n, n_patterns = len(pattern), int(pattern.max()) + 1
    for start in range(0, resamples, at_once):
        some = range(start, min(start + at_once, resamples))
        times, drawn = np.empty((len(some), n_raters)), np.empty((len(some), n_patterns))
        for b in range(len(some)):
            times[b] = np.bincount(rng.integers(n_raters, size=n_raters), minlength=n_raters)
            drawn[b] = np.bincount(pattern[drawn_rows(rng, n, unit)], minlength=n_patterns)
        yield times, drawn


@dataclass(frozen=True, slots=True, eq=False)
class _GivenLabels:
    """Which label each rater gave (n_raters, n_patterns, n_categories), 1 or 0; the scale."""

    given: Floats
    scale: Scale

    @classmethod
    def of_patterns(
        cls, patterns: NDArray[np.integer[Any]], n_categories: int, scale: Scale
    ) -> "_GivenLabels":
        return cls((patterns.T[:, :, None] == np.arange(n_categories)).astype(float), scale)

    @property
    def at_once(self) -> int:
        """Draws whose counts of labels are held together."""
        _, n_patterns, n_categories = self.given.shape
        return max(1, CELLS // int(n_patterns * n_categories))

    def coefficients(self, times: Floats, cases: Floats) -> dict[str, Floats]:
        """Each coefficient of `NAMES` for each draw, (n_draws,).

        `times` (n_draws or 1, n_raters) says how often a rater counts, `cases` (n_draws, n_patterns) how
        often a pattern does. The formulas are those of the coefficients' own functions.
        """
        counts = np.tensordot(times, self.given, 1)
        raters = counts.sum(axis=2)
        same = np.tensordot(times**2, self.given.sum(axis=2), 1)
        pairs = raters**2 - same
        paired = cases * (pairs > 0)
        if self.scale == "ordinal":
            ranks = _rank_weights(_sums(paired, counts))
            alpha = _alpha(paired, counts, raters, _agreement(counts, same, pairs, ranks), ranks)
            ac2 = self._ac(counts, raters, same, pairs, cases, paired, ordinal(self.given.shape[2]))
            return dict(zip(NAMES[self.scale], (alpha, ac2), strict=True))
        identity = np.eye(self.given.shape[2])
        agreement = _agreement(counts, same, pairs, identity)
        observed = _mean(paired, agreement)
        use = _use(counts, raters, cases)
        found = (
            observed,
            _alpha(paired, counts, raters, agreement, identity[None]),
            _beyond(observed, (use**2).sum(axis=1)),
            _beyond(observed, self._by_rater(times, cases)),
            self._ac(counts, raters, same, pairs, cases, paired, identity),
        )
        return dict(zip(NAMES[self.scale], found, strict=True))

    def _ac(
        self,
        counts: Floats,
        raters: Floats,
        same: Floats,
        pairs: Floats,
        cases: Floats,
        paired: Floats,
        weights: Floats,
    ) -> Floats:
        q = len(weights)
        use = _use(counts, raters, cases)
        chance = weights.sum() / (q * (q - 1)) * (use * (1 - use)).sum(axis=1)
        return _beyond(_mean(paired, _agreement(counts, same, pairs, weights)), chance)

    def _by_rater(self, times: Floats, cases: Floats) -> Floats:
        """Agreement by chance of two different raters, each by his own use of the categories."""
        use = np.einsum("bn,mnk->bmk", cases, self.given, optimize=True)
        labelled = use.sum(axis=2)
        np.divide(use, labelled[:, :, None], out=use, where=labelled[:, :, None] > 0)
        weight = times * (labelled > 0)
        together = (weight[:, :, None] * use).sum(axis=1)
        alone = (weight**2 * (use**2).sum(axis=2)).sum(axis=1)
        return _divide((together**2).sum(axis=1) - alone, weight.sum(axis=1) ** 2 - (weight**2).sum(axis=1))


def _agreement(counts: Floats, same: Floats, pairs: Floats, weights: Floats) -> Floats:
    """The weighted share of the pairs of each pattern that agree, 0 where there is no pair."""
    agreeing = ((counts @ weights) * counts).sum(axis=2) - same
    return np.asarray(np.divide(agreeing, pairs, out=np.zeros_like(agreeing), where=pairs > 0))


def _use(counts: Floats, raters: Floats, cases: Floats) -> Floats:
    """Mean over the labelled cases of the share of labels in each category, (n_draws, n_categories)."""
    shares = np.divide(counts, raters[:, :, None], out=np.zeros_like(counts), where=raters[:, :, None] > 0)
    return _divide(_sums(cases, shares), (cases * (raters > 0)).sum(axis=1)[:, None])


def _alpha(paired: Floats, counts: Floats, raters: Floats, agreement: Floats, weights: Floats) -> Floats:
    """`weights` (n_draws or 1, n_categories, n_categories)."""
    labels = (paired * raters).sum(axis=1)
    use = _divide(_sums(paired, counts), labels[:, None])
    expected = np.einsum("bk,bkl,bl->b", use, np.broadcast_to(weights, (len(use), *weights.shape[1:])), use)
    observed = _divide((paired * raters * agreement).sum(axis=1), labels)
    uncorrected = _beyond(observed, expected)
    return uncorrected + _divide(1 - uncorrected, labels)


def _rank_weights(totals: Floats) -> Floats:
    """1 - squared distance of the ranks of the categories, the largest scaled to 1, for each draw."""
    rank = np.cumsum(totals, axis=1) - totals / 2
    distance = (rank[:, :, None] - rank[:, None, :]) ** 2
    return np.asarray(1 - distance / np.maximum(distance.max(axis=(1, 2), keepdims=True), 1e-300))


def _sums(cases: Floats, values: Floats) -> Floats:
    """Sums over patterns of values (n_draws or 1, n_patterns, k), each as often as it was drawn."""
    if len(values) == 1:
        return np.asarray(cases @ values[0])
    return np.asarray((cases[:, None] @ values)[:, 0])


def _mean(cases: Floats, values: Floats) -> Floats:
    return _divide((cases * values).sum(axis=1), cases.sum(axis=1))


def _beyond(observed: Floats, expected: Floats) -> Floats:
    room = 1 - expected
    return _divide(observed - expected, np.where(room > 1e-12, room, 0.0))


def _divide(above: Floats, below: Floats) -> Floats:
    """NaN where nothing is below."""
    above, below = np.broadcast_arrays(above, below)
    return np.asarray(np.divide(above, below, out=np.full(above.shape, np.nan), where=below > 0))


def percentile(value: float, found: NDArray[np.float64], n: int, *, level: float, method: str) -> Estimate:
    """The middle `level` of what resamples gave; those without a value are left out."""
    defined = found[~np.isnan(found)]
    details = {"resamples": float(len(found)), "undefined": float(len(found) - len(defined))}
    if len(defined) < len(found) / 2:
        return Estimate(
            value, float("nan"), float("nan"), n, level, method, notes.NO_RESAMPLE, details=details
        )
    low, high = (float(x) for x in np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]))
    if not high > low:
        return Estimate(
            value, float("nan"), float("nan"), n, level, method, notes.NO_VARIATION, details=details
        )
    note = notes.SOME_RESAMPLES if len(defined) < (1 - WORTH_A_WORD) * len(found) else NO_NOTE
    return Estimate(
        value, low, high, n, level, method, note, se=float(np.std(defined, ddof=1)), details=details
    )
