"""Candidates ranked by utility yield: how sure the cases make the ranking, and how sure the utilities do."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustreport.estimate import Estimate
from trustreport.measures import notes
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.utility.matrices import Floats, as_matrix, expected_matrix, weights
from trustreport.measures.utility.utility_yield import METHOD

TIE = 1e-12  # yields closer than this share of the utilities' span are equal


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates in the order of their yields, and the shares that bear the order out.

    `order` lists candidates, best first; `yields` their yields, in the order given. `first` is the share of
    resampled case sets in which each candidate comes first (ties shared), `above` that in which the row's
    candidate comes above the column's (ties half). `order_holds` and `best_holds` are the probability of the
    declared utilities under which the whole order, and the best candidate, stay; `by_utility` names the best
    candidate for each of them.
    """

    order: tuple[int, ...]
    yields: Floats
    first: Floats
    above: Floats
    order_holds: float
    best_holds: float
    by_utility: tuple[int, ...]


def rank(
    truth: NDArray[np.int64],
    decisions: NDArray[np.int64],
    utilities: Sequence[ArrayLike],
    probability: Sequence[float] | None = None,
    *,
    rng: np.random.Generator,
    resamples: int = 2000,
) -> Ranking:
    """Order candidates by their yield under the expected utilities, on the same cases.

    Parameters
    ----------
    truth : int array, shape (n_cases,)
        Class of each case, 0 to k - 1.
    decisions : int array, shape (n_candidates, n_cases)
        Class that each candidate decides for.
    utilities : matrices, shape (k, k) each
        What may be right; one is enough.
    probability : one for each, optional
    rng : numpy Generator
    resamples : int
        Cases are drawn again, the same for all candidates.

    Examples
    --------
    >>> truth = np.array([0, 0, 0, 1, 1])
    >>> decisions = np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 1]])
    >>> found = rank(truth, decisions, [[[1, 0], [0, 1]]], rng=np.random.default_rng(1))
    >>> found.order, found.yields
    ((0, 1), array([0.8, 0.8]))
    """
    matrices = [as_matrix(u) for u in utilities]
    share = weights(len(matrices), probability)
    mean = expected_matrix(matrices, probability)
    if decisions.ndim != 2 or decisions.shape[1:] != truth.shape or not truth.size:
        raise ValueError(
            f"decisions must be candidates by cases, got shape {decisions.shape} for {truth.size} cases."
        )
    worth = mean[decisions, truth]
    yields: Floats = worth.mean(axis=1)
    order = _order(yields, np.ptp(mean))
    drawn = _resampled(worth, resamples, rng)
    close = TIE * max(float(np.ptp(mean)), 1e-300)
    ahead = drawn[:, :, None] - drawn[:, None, :]
    above: Floats = np.mean((ahead > close) + 0.5 * (np.abs(ahead) <= close), axis=0)
    leaders = drawn >= drawn.max(axis=1, keepdims=True) - close
    first: Floats = np.mean(leaders / leaders.sum(axis=1, keepdims=True), axis=0)
    each = [u[decisions, truth].mean(axis=1) for u in matrices]
    spans = [float(np.ptp(u)) for u in matrices]
    orders = [_order(found, span) for found, span in zip(each, spans)]
    kept = [_agrees(found, order, span) for found, span in zip(each, spans)]
    best = [found[order[0]] >= found.max() - TIE * span for found, span in zip(each, spans)]
    return Ranking(
        order,
        yields,
        first,
        above,
        float(share @ np.array(kept, dtype=np.float64)),
        float(share @ np.array(best, dtype=np.float64)),
        tuple(found[0] for found in orders),
    )


def yield_difference(
    truth: NDArray[np.int64],
    compared: NDArray[np.int64],
    baseline: NDArray[np.int64],
    utility: ArrayLike,
    *,
    level: float = 0.95,
) -> Estimate:
    """Yield of one candidate minus that of another on the same cases: mean of the paired differences.

    >>> truth = np.array([0, 0, 0, 1, 1, 1])
    >>> one, other = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 0])
    >>> print(yield_difference(truth, one, other, [[1, -4], [0, 5]]))
    2.83 (95% CI -0.67 to 6.33; n = 6)
    """
    z, n = normal_quantile(level), truth.size
    if compared.shape != truth.shape or baseline.shape != truth.shape or n == 0:
        raise ValueError("truth and both decisions must have one entry per case, and there must be cases.")
    matrix = as_matrix(utility)
    gap = matrix[compared, truth] - matrix[baseline, truth]
    value, se = float(gap.mean()), sqrt(float(gap.var()) / n)
    p, note = (two_sided_p(value / se), "") if se else (nan, notes.NO_WIDTH)
    return Estimate(value, value - z * se, value + z * se, n, level, METHOD, note, se=se, p=p)


def _resampled(worth: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Yields in resampled case sets, shape (resamples, n_candidates); alike cases are drawn together."""
    patterns, counts = np.unique(worth, axis=1, return_counts=True)
    n = worth.shape[1]
    drawn: Floats = rng.multinomial(n, counts / n, resamples) @ patterns.T / n
    return drawn


def _order(yields: Floats, span: float) -> tuple[int, ...]:
    """Candidates, best first; equal ones in the order given."""
    step = TIE * max(span, 1e-300)
    behind = np.round((yields.max() - yields) / step)
    return tuple(int(i) for i in np.argsort(behind, kind="stable"))


def _agrees(yields: Floats, order: tuple[int, ...], span: float) -> bool:
    """Whether no candidate comes above one that is placed before it."""
    return bool((np.diff(yields[list(order)]) <= TIE * span).all())
