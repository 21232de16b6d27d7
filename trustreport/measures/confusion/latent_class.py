"""Accuracy of a device and of several imperfect tests when none of them is taken as right."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import chdtrc, expit, logit, xlogy

from trustreport.measures.cluster import ONE_CLUSTER, Clusters
from trustreport.measures.confusion import notes
from trustreport.measures.confusion.label_error import FEW, HIGH, NAMES, Name
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.notes import OFTEN_ABOVE

Floats = NDArray[np.float64]
METHOD, CLUSTERED = "latent_class", "latent_class_clusters"
FEWEST, MOST = 3, 6  # tests, the device among them
RESAMPLES = 1000
ADDED = 4  # cases spread evenly over the patterns, so that one that was never seen can be drawn
ENOUGH, DRAWN = 1e-8, 1e-5  # change of every number at which the iteration stops: of the data, of a resample
STEPS = 20_000
END = 1e-4  # a rate as near to 0 or 1 as this is at the end of its range
CLEAR = 4.0  # standard errors by which two tests must agree beyond chance
MISFIT = 0.01  # p of the test of fit below which there are no limits
AT_THE_END = note("latent_class_at_end_of_range")
NOT_IDENTIFIED = note("latent_class_not_identified")


@dataclass(frozen=True, slots=True)
class LatentClasses:
    """The measures of the device, and sensitivity and specificity of each reference test in their order."""

    device: Mapping[Name, Estimate]
    references: tuple[tuple[Estimate, Estimate], ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Rates:
    """Of each fit the prevalence (n,), and how often tests are positive in both classes (n, n_tests)."""

    share: Floats
    ill: Floats
    well: Floats

    @property
    def parts(self) -> tuple[Floats, Floats, Floats]:
        """Prevalence and both kinds of rates."""
        return self.share, self.ill, self.well

    def joined(self, others: Sequence["_Rates"]) -> "_Rates":
        """These fits and others below them."""
        return _Rates(*(np.concatenate(some) for some in zip(self.parts, *(o.parts for o in others))))

    def turned(self) -> "_Rates":
        """The same fits; the class in which tests are positive more often has the condition."""
        swap = self.ill.sum(axis=1) < self.well.sum(axis=1)
        share = np.where(swap, 1 - self.share, self.share)
        ill = np.where(swap[:, None], self.well, self.ill)
        return _Rates(share, ill, np.where(swap[:, None], self.ill, self.well))

    def measures(self) -> dict[Name, Floats]:
        """The measures of the first test, (n,) each."""
        p, se, sp = self.share, self.ill[:, 0], 1 - self.well[:, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            ppv = p * se / (p * se + (1 - p) * (1 - sp))
            npv = (1 - p) * sp / ((1 - p) * sp + p * (1 - se))
        return dict(zip(NAMES, (se, sp, ppv, npv, p), strict=True))


def latent_classes(
    tests: NDArray[np.bool_],
    *,
    rng: np.random.Generator,
    dependence: float = 0.0,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> LatentClasses:
    """Accuracy of each of several tests, from how often each pattern of their results occurs.

    The condition is present in a share p of the cases; test j is positive in a share se_j of them and
    1 - sp_j of the others, independently of the other tests in either class::

        P(x) = p prod se_j^x_j (1 - se_j)^(1 - x_j) + (1 - p) prod (1 - sp_j)^x_j sp_j^(1 - x_j)

    Maximum likelihood by expectation and maximisation, from several starting points.

    Estimand: the measures against the condition itself, in the population of these cases, if the assumption
    holds. These data cannot show that it does where there are three tests.

    Parameters
    ----------
    tests : bool array, shape (n_tests, n_cases)
        The device first; at least three tests.
    dependence : float in [0, 1]
        Up to which share of the largest possible covariance two tests may err together, in one class or in
        both. Limits are moved by what the value changes when any two of them do.

    Returns
    -------
    In [0, 1], limits from resampled cases, of clusters where they come in some. `details` has `lowest` and
    `highest` over the declared dependence, the degrees of freedom left (`df`) and, where there are some, the
    p of the test of fit (`p_fit`). NaN with a note where the tests do not agree clearly beyond
    chance; no limits where the data refute the assumption.

    References
    ----------
    Dawid, Skene (1979), Appl. Stat. 28, 20-28. Hui, Walter (1980), Biometrics 36, 167-171. Vacek (1985),
    Biometrics 41, 959-968 (dependence). Pepe, Janes (2007), Biostatistics 8, 474-484 (what it rests on).

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> ill = rng.random(2000) < 0.3
    >>> tests = rng.random((3, 2000)) < np.where(ill, [[0.9], [0.85], [0.8]], [[0.05], [0.05], [0.1]])
    >>> print(latent_classes(tests, rng=rng).device["sensitivity"])
    0.90 (95% CI 0.86 to 0.93; n = 2000)
    """
    check_level(level)
    n_tests, n = tests.shape
    if not FEWEST <= n_tests <= MOST:
        raise ValueError(f"a latent class needs {FEWEST} to {MOST} tests, got {n_tests}.")
    if not 0 <= dependence <= 1:
        raise ValueError(f"dependence must lie in [0, 1], got {dependence:g}.")
    method = METHOD if cluster is None else CLUSTERED
    patterns = _patterns(n_tests)
    code = (2 ** np.arange(n_tests)) @ tests
    counts = np.bincount(code, minlength=len(patterns)).astype(np.float64)
    units = None if cluster is None else _of_clusters(code, len(patterns), cluster)
    few = units is not None and len(units) < 2
    fit = _fit(counts, patterns) if n and not few else None
    if fit is None or not _is_identified(counts, patterns):
        why = notes.NO_CASE if not n else ONE_CLUSTER if few else NOT_IDENTIFIED
        none = undefined(n, why, level=level, method=method)
        return LatentClasses(dict.fromkeys(NAMES, none), ((none, none),) * (n_tests - 1))
    drawn = _resampled(counts, units, patterns, fit, rng)
    ranges = fit.joined([_dependent(counts, patterns, fit, *how) for how in _ways(n_tests, dependence)])
    p_fit = _p_of_fit(counts, patterns, fit)
    df = 2.0**n_tests - 2 * n_tests - 2

    def estimate(value: Floats, found: Floats, allowed: Floats, cases: float) -> Estimate:
        """One measure: of the data, of resamples and of dependent tests; `cases` of its class."""
        at = float(value[0])
        low, high = (float(x) for x in np.nanquantile(found, [(1 - level) / 2, (1 + level) / 2]))
        lowest, highest = float(np.nanmin(allowed)), float(np.nanmax(allowed))
        details = {"lowest": lowest, "highest": highest, "df": df}
        details |= {"p_fit": p_fit} if df else {}
        details |= {} if units is None else {"clusters": float(len(units))}
        if p_fit < MISFIT:
            said = note("latent_class_does_not_fit", p=p_fit)
            return Estimate(at, nan, nan, n, level, method, said, details=details)
        low, high = max(0.0, min(low, at) - (at - lowest)), min(1.0, max(high, at) + (highest - at))
        said = AT_THE_END if min(at, 1 - at) < END else NO_NOTE
        said += OFTEN_ABOVE if at >= HIGH and cases < FEW else NO_NOTE
        return Estimate(at, low, high, n, level, method, said, details=details)

    smaller = n * min(float(fit.share[0]), 1 - float(fit.share[0]))
    values, resamples, allowed = fit.measures(), drawn.measures(), ranges.measures()
    device = {name: estimate(values[name], resamples[name], allowed[name], smaller) for name in NAMES}
    references = tuple(
        (
            estimate(fit.ill[:, j], drawn.ill[:, j], ranges.ill[:, j], smaller),
            estimate(1 - fit.well[:, j], 1 - drawn.well[:, j], 1 - ranges.well[:, j], smaller),
        )
        for j in range(1, n_tests)
    )
    return LatentClasses(device, references)


def _patterns(n_tests: int) -> Floats:
    """Every pattern of results, (2^n_tests, n_tests); the results of the first test change fastest."""
    return ((np.arange(2**n_tests)[:, None] >> np.arange(n_tests)) & 1).astype(np.float64)


def _of_clusters(code: NDArray[np.intp], n_patterns: int, cluster: Clusters) -> Floats:
    """How often each pattern occurs in each cluster, (n_clusters, n_patterns)."""
    unit = np.unique(cluster, return_inverse=True)[1].reshape(-1)
    found = np.zeros((int(unit.max(initial=-1)) + 1, n_patterns))
    np.add.at(found, (unit, code), 1.0)
    return found


def _chances(rates: Floats, patterns: Floats) -> Floats:
    """How likely each pattern is in a class, (n, n_patterns), tests independent of each other."""
    sure = np.clip(rates, 1e-12, 1 - 1e-12)
    return np.asarray(np.exp(np.log(sure) @ patterns.T + np.log1p(-sure) @ (1 - patterns).T))


def _maximised(counts: Floats, patterns: Floats, start: _Rates, stop: float) -> _Rates:
    """Fits of `counts` (n, n_patterns), each from its starting point until nothing changes by more."""
    share, ill, well = start.share.copy(), start.ill.copy(), start.well.copy()
    n, left = counts.sum(axis=1), np.arange(len(counts))
    for _ in range(STEPS):
        some, seen = _Rates(share[left], ill[left], well[left]), counts[left]
        of_ill = some.share[:, None] * _chances(some.ill, patterns)
        of_well = (1 - some.share)[:, None] * _chances(some.well, patterns)
        expected = seen * of_ill / np.maximum(of_ill + of_well, 1e-300)
        rest, cases = seen - expected, expected.sum(axis=1)
        share[left] = cases / n[left]
        ill[left] = expected @ patterns / np.maximum(cases, 1e-9)[:, None]
        well[left] = rest @ patterns / np.maximum(n[left] - cases, 1e-9)[:, None]
        changes = np.abs(
            np.column_stack([share[left] - some.share, ill[left] - some.ill, well[left] - some.well])
        )
        left = left[changes.max(axis=1) > stop]
        if not left.size:
            break
    return _Rates(share, ill, well).turned()


def _fit(counts: Floats, patterns: Floats) -> _Rates:
    """The most likely rates, of several starting points: all tests alike, and each test in turn the best."""
    n_tests = patterns.shape[1]
    shares = [0.1, 0.3, 0.5, 0.7, 0.9, *(counts @ patterns / counts.sum())]
    ill, well = np.full((len(shares), n_tests), 0.8), np.full((len(shares), n_tests), 0.2)
    best = np.arange(n_tests)
    ill[5 + best, best], well[5 + best, best] = 0.95, 0.05
    start = _Rates(np.clip(np.array(shares), 0.02, 0.98), ill, well)
    found = _maximised(np.repeat(counts[None], len(shares), axis=0), patterns, start, ENOUGH)
    best_of = int(np.argmax(_log_likelihood(counts, patterns, found)))
    return _Rates(*(one[[best_of]] for one in found.parts))


def _expected(patterns: Floats, rates: _Rates) -> Floats:
    """The share of each pattern, (n, n_patterns)."""
    of_ill = rates.share[:, None] * _chances(rates.ill, patterns)
    return np.asarray(of_ill + (1 - rates.share)[:, None] * _chances(rates.well, patterns))


def _log_likelihood(counts: Floats, patterns: Floats, rates: _Rates) -> Floats:
    return np.asarray(xlogy(counts, np.maximum(_expected(patterns, rates), 1e-300)).sum(axis=1))


def _p_of_fit(counts: Floats, patterns: Floats, fit: _Rates) -> float:
    """p of the likelihood ratio test against any shares of the patterns; 1 where every share can be met."""
    df = len(counts) - 2 - 2 * patterns.shape[1]
    if not df:
        return 1.0
    n = counts.sum()
    deviance = 2 * float(xlogy(counts, counts / n).sum() - _log_likelihood(counts, patterns, fit)[0])
    return float(chdtrc(df, max(deviance, 0.0)))


def _is_identified(counts: Floats, patterns: Floats) -> bool:
    """Whether the device and two references each agree with the other two beyond chance, clearly."""
    share = counts / counts.sum()
    each = share @ patterns
    covariance = (patterns * share[:, None]).T @ patterns - np.outer(each, each)
    spread = np.sqrt(np.maximum(np.outer(each * (1 - each), each * (1 - each)), 1e-300) / counts.sum())
    clear = covariance > CLEAR * spread
    return any(clear[0, j] and clear[0, k] and clear[j, k] for j, k in combinations(range(1, len(each)), 2))


def _resampled(
    counts: Floats, units: Floats | None, patterns: Floats, fit: _Rates, rng: np.random.Generator
) -> _Rates:
    """The rates of resampled cases, or of resampled clusters with `units` (n_clusters, n_patterns)."""
    drawn: Floats = rng.multinomial(ADDED, np.full(len(counts), 1 / len(counts)), RESAMPLES).astype(
        np.float64
    )
    if units is None:
        drawn += rng.multinomial(int(counts.sum()), counts / counts.sum(), RESAMPLES)
    else:
        drawn += rng.multinomial(len(units), np.full(len(units), 1 / len(units)), RESAMPLES) @ units
    share, ill, well = (np.clip(one, 0.03, 0.97).repeat(RESAMPLES, axis=0) for one in fit.parts)
    start = _Rates(share, ill, well)
    return _maximised(drawn, patterns, start, DRAWN)


def _ways(n_tests: int, dependence: float) -> Iterator[tuple[tuple[int, int], tuple[float, float]]]:
    """Which two tests may err together, and by how much in cases with the condition and in the others."""
    for pair in combinations(range(n_tests), 2) if dependence else ():
        for way in ((dependence, 0.0), (0.0, dependence), (dependence, dependence)):
            yield pair, way


def _dependent(
    counts: Floats, patterns: Floats, fit: _Rates, pair: tuple[int, int], way: tuple[float, float]
) -> _Rates:
    """The most likely rates where two tests err together, from those where they do not."""
    n_tests, (j, k) = patterns.shape[1], pair
    same = np.where(patterns[:, j] == patterns[:, k], 1.0, -1.0)
    others = np.delete(np.arange(n_tests), pair)

    def chances(rates: Floats, part: float) -> Floats:
        a, b = rates[j], rates[k]
        both = np.where(patterns[:, j] == 1, a, 1 - a) * np.where(patterns[:, k] == 1, b, 1 - b)
        both = both + same * part * min(a * (1 - b), b * (1 - a))
        return np.asarray(both * _chances(rates[None, others], patterns[:, others])[0])

    def unlikely(at: Floats) -> float:
        rates = expit(at)
        ill, well = rates[1 : n_tests + 1], rates[n_tests + 1 :]
        shares = rates[0] * chances(ill, way[0]) + (1 - rates[0]) * chances(well, way[1])
        return -float(xlogy(counts, np.maximum(shares, 1e-300)).sum()) / float(counts.sum())

    start = logit(np.clip(np.concatenate([one.ravel() for one in fit.parts]), 0.01, 0.99))
    found = expit(minimize(unlikely, start, method="L-BFGS-B", bounds=[(-12, 12)] * len(start)).x)
    return _Rates(found[:1], found[None, 1 : n_tests + 1], found[None, n_tests + 1 :])
