"""Labels counted case by case, and the weights of disagreement."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb, inf, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from trustreport.measures.agreement import notes
from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE, Note

Floats = NDArray[np.float64]


def linear(n_categories: int) -> Floats:
    """1 - |k - l| / (n_categories - 1): each step costs the same."""
    return 1 - _steps(n_categories) / max(n_categories - 1, 1)


def quadratic(n_categories: int) -> Floats:
    """1 - (k - l)^2 / (n_categories - 1)^2: far disagreements cost most."""
    return 1 - (_steps(n_categories) / max(n_categories - 1, 1)) ** 2


def ordinal(n_categories: int) -> Floats:
    """Gwet's weights for ranks: 1 - C(|k - l| + 1, 2) / C(n_categories, 2), C the binomial coefficient."""
    spans = _steps(n_categories).astype(int)
    pairs = np.array([comb(span + 1, 2) for span in range(n_categories)], float)
    return np.asarray(1 - pairs[spans] / max(pairs[-1], 1.0), np.float64)


def _steps(n_categories: int) -> Floats:
    k = np.arange(n_categories, dtype=float)
    return np.abs(k[:, None] - k)


def check_weights(weights: NDArray[Any], n_categories: int) -> Floats:
    """Refuse weights that are not symmetric in [0, 1] with 1 for the same category."""
    weights = np.asarray(weights, float)
    if weights.shape != (n_categories, n_categories):
        raise ValueError(f"weights must have shape {(n_categories, n_categories)}, got {weights.shape}.")
    if not (weights == weights.T).all() or not (np.diag(weights) == 1).all():
        raise ValueError("weights must be symmetric, with 1 for two labels that are the same.")
    if weights.min() < 0 or weights.max() > 1:
        raise ValueError(f"weights must lie in [0, 1], got {weights.min():g} to {weights.max():g}.")
    return weights


METHOD = "gwet_variance"
NEGLIGIBLE = 1e-24  # a variance below this is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The labels of the cases that anybody labelled.

    `codes` (n_cases, n_raters); `counts` (n_cases, n_categories) raters per category; `raters` (n_cases,)
    their sum; `paired` (n_cases,) whether two different raters labelled the case; `agreement` (n_cases,) the
    weighted share of its pairs that agree, 0 where there is no pair; `weights` (n_categories, n_categories);
    `cluster` (n_cases,) which cases belong together, None where each is alone.
    """

    codes: NDArray[np.integer[Any]]
    counts: Floats
    raters: Floats
    paired: NDArray[np.bool_]
    agreement: Floats
    weights: Floats
    cluster: Clusters | None = None

    @property
    def n(self) -> int:
        """Cases with a pair of labels."""
        return int(np.count_nonzero(self.paired))

    @property
    def observed(self) -> float:
        """Mean agreement of the cases with a pair; there must be one."""
        return float(self.agreement.sum() / self.n)


def check_codes(codes: NDArray[np.integer[Any]], n_categories: int) -> NDArray[np.integer[Any]]:
    """Refuse what is no table of codes."""
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise ValueError(
            f"codes must be whole numbers, shape (n_cases, n_raters), got {codes.dtype} {codes.shape}."
        )
    if codes.size and not (codes.min() >= -1 and codes.max() < n_categories):
        raise ValueError(
            f"codes must lie from 0 to {n_categories - 1}, or be -1 where a rater gave no label; "
            f"got {codes.min()} to {codes.max()}."
        )
    return codes


def tally(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    weights: Floats | None = None,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
) -> Tally:
    """Count the labels of each case and the pairs that agree.

    `multiplicity` (n_raters,) says how often each rater counts: a bootstrap draws raters more than once. A
    rater and the same rater again are no pair.
    """
    codes = check_codes(codes, n_categories)
    weights = np.eye(n_categories) if weights is None else check_weights(weights, n_categories)
    times = np.ones(codes.shape[1]) if multiplicity is None else np.asarray(multiplicity, float)
    if (times == 0).any():
        codes, times = codes[:, times > 0], times[times > 0]
    rated = (codes >= 0).any(axis=1)
    if not rated.all():
        codes = codes[rated]
        cluster = None if cluster is None else cluster[rated]
    counts = np.stack([(codes == k) @ times for k in range(n_categories)], axis=1)
    raters = counts.sum(axis=1)
    same = (codes >= 0) @ times**2
    pairs = raters**2 - same
    paired = pairs > 0
    agreeing = np.einsum("ij,ij->i", counts @ weights, counts) - same
    agreement = np.divide(agreeing, pairs, out=np.zeros(len(codes)), where=paired)
    return Tally(codes, counts, raters, paired, agreement, weights, cluster)


def lacking(t: Tally, level: float) -> Estimate | None:
    """Why no coefficient can be computed, where no case has a pair of labels."""
    check_level(level)
    return None if t.n else undefined(0, notes.NO_PAIR, level=level, method=METHOD)


def chance_corrected(t: Tally, chance: float, chance_of_case: Floats, *, level: float) -> Estimate:
    """(observed - chance) / (1 - chance), with Gwet's variance.

    ::

        (1 - chance) L_i = (n / n') (a_i - [paired] chance) - 2 (1 - coefficient) (e_i - chance)
        variance = sum of (L_i - mean L)^2 / (n (n - 1))

    with n cases, n' of them paired, a_i the agreement of a case and e_i its share in the agreement by chance
    (`chance_of_case`, mean `chance`).
    """
    details = {"observed": t.observed, "expected": chance}
    if 1 - chance < 1e-12:
        return undefined(t.n, notes.ONE_CATEGORY, level=level, method=METHOD)
    value = (t.observed - chance) / (1 - chance)
    share = len(t.codes) / t.n
    parts = share * (t.agreement - chance * t.paired) - 2 * (1 - value) * (chance_of_case - chance)
    parts = parts / (1 - chance)
    return linearised(value, parts, n=t.n, cluster=t.cluster, level=level, details=details)


def linearised(
    value: float,
    parts: Floats,
    *,
    n: int,
    cluster: Clusters | None = None,
    level: float,
    least: float = -inf,
    note: Note = NO_NOTE,
    details: Mapping[str, float] | None = None,
) -> Estimate:
    """value +- t x standard error of the mean of `parts` (n_cases,), with cases - 1 df, cut to the range.

    Of cases that belong together the sums count, and clusters - 1 df (`variance_of_mean`).
    """
    details = dict(details or {})
    if n < 2:
        return _bare(value, n, notes.ONE_CASE, level, details)
    variance, size = variance_of_mean(parts, cluster)
    if cluster is not None:
        details["clusters"] = float(size)
    if size < 2:
        return _bare(value, n, ONE_CLUSTER, level, details)
    if variance < NEGLIGIBLE:
        return _bare(value, n, notes.NO_VARIATION, level, details)
    se = sqrt(variance)
    half = float(-stdtrit(size - 1, (1 - level) / 2)) * se
    low, high = max(value - half, least), min(value + half, 1.0)
    return Estimate(value, low, high, n, level, METHOD, note, se=se, df=size - 1, details=details)


def variance_of_mean(parts: Floats, cluster: Clusters | None) -> tuple[float, int]:
    """The variance of the mean of what cases add, and of how many units: cases, or clusters of them."""
    if cluster is not None:
        return clustered_variance((parts - parts.mean()) / len(parts), cluster)
    size = len(parts)
    spread = float(np.sum((parts - parts.mean()) ** 2))
    return (spread / (size * (size - 1)) if size > 1 else nan), size


def _bare(value: float, n: int, note: Note, level: float, details: Mapping[str, float]) -> Estimate:
    return Estimate(value, float("nan"), float("nan"), n, level, METHOD, note, details=details)
