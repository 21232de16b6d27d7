"""Candidates ranked by utility yield: how sure the cases make the ranking, and how sure the utilities do."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import hypot, isfinite, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustreport.measures import notes
from trustreport.measures.cluster import Clusters, cluster_sums
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.means import case_mean
from trustreport.measures.note import NO_NOTE
from trustreport.measures.utility.matrices import Floats, as_matrix, expected_matrix, weights
from trustreport.measures.utility.utility_yield import utility_yield

FEW_OF_A_CLASS = 20
UNPAIRED = "yield_mover_difference"
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
    cluster: Clusters | None = None,
    resamples: int = 2000,
) -> Ranking:
    """Order candidates by their yield under the expected utilities, on the same cases.

    Parameters
    ----------
    truth : int array, shape (n_cases,)
        Class of each case, 0 to k - 1.
    decisions : int array, shape (n_candidates, n_cases)
        Class that each candidate decides for.
    utilities : matrices, shape (n_decisions, k) each, or (n_cases, n_decisions, k) where each case has one
        What may be right; one is enough.
    probability : one for each, optional
    resamples : int
        Cases, or whole clusters, are drawn again, the same for all candidates.
    """
    share = weights(len(utilities), probability)
    if decisions.ndim != 2 or decisions.shape[1:] != truth.shape or not truth.size:
        raise ValueError(
            f"decisions must be candidates by cases, got shape {decisions.shape} for {truth.size} cases."
        )
    worths = [worth_of(u, decisions, truth) for u in utilities]
    worth = sum(p * w for p, w in zip(share.tolist(), worths)) if len(worths) > 1 else worths[0]
    assert not isinstance(worth, int)
    spans = [max(float(np.ptp(u)), 1e-300) for u in utilities]
    each = [w.mean(axis=1) for w in worths]
    return _ranking(worth.mean(axis=1), _resampled(worth, resamples, rng, cluster), each, spans, share)


def rank_tables(
    cells: NDArray[np.int64],
    utilities: Sequence[ArrayLike],
    probability: Sequence[float] | None = None,
    *,
    rng: np.random.Generator,
    resamples: int = 2000,
) -> Ranking:
    """Order candidates by their yield, each known by a table of counts: cases are drawn for each by itself.

    Of candidates that decided on the same cases, shares of resamples are then less sure than they are:
    `rank` takes the cases, or a joint table of the decisions.

    Parameters
    ----------
    cells : int array, shape (n_candidates, n_decisions, n_classes)
        Cases by decision and truth.
    utilities, probability, rng, resamples : as in `rank`, a matrix of shape (n_decisions, n_classes) each
    """
    share, matrices = weights(len(utilities), probability), [as_matrix(u) for u in utilities]
    sizes = cells.sum(axis=(1, 2))
    if cells.ndim != 3 or cells.shape[1:] != matrices[0].shape or not (sizes > 0).all():
        raise ValueError(f"cells must be candidates by {matrices[0].shape}, each with cases: {cells.shape}.")
    per_case = cells / sizes[:, None, None]
    expected = expected_matrix(matrices, share.tolist())
    drawn = np.stack(
        [
            rng.multinomial(n, one.ravel(), resamples) @ expected.ravel() / n
            for n, one in zip(sizes.tolist(), per_case)
        ],
        axis=1,
    )
    each = [np.tensordot(per_case, u) for u in matrices]
    spans = [max(float(np.ptp(u)), 1e-300) for u in matrices]
    return _ranking(np.tensordot(per_case, expected), drawn, each, spans, share)


def _ranking(
    yields: Floats, drawn: Floats, each: Sequence[Floats], spans: Sequence[float], share: Floats
) -> Ranking:
    """The ranking from yields, those of resamples (n_resamples, n_candidates) and those of each utility."""
    span = max(spans)
    order = _order(yields, span)
    close = TIE * span
    ahead = drawn[:, :, None] - drawn[:, None, :]
    above: Floats = np.mean((ahead > close) + 0.5 * (np.abs(ahead) <= close), axis=0)
    leaders = drawn >= drawn.max(axis=1, keepdims=True) - close
    first: Floats = np.mean(leaders / leaders.sum(axis=1, keepdims=True), axis=0)
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


def worth_of(utility: ArrayLike, decisions: NDArray[np.int64], truth: NDArray[np.int64]) -> Floats:
    """What each decision is worth on each case, shape of `decisions`.

    Parameters
    ----------
    utility : array, shape (k, k), or (n_cases, k, k) where each case has utilities of its own
        Rows decisions, columns truths.
    decisions : int array, shape (..., n_cases)
    truth : int array, shape (n_cases,)

    Examples
    --------
    >>> worth_of([[1, -4], [0, 5]], np.array([[0, 1], [0, 0]]), np.array([0, 1]))
    array([[ 1.,  5.],
           [ 1., -4.]])
    """
    of_cases = np.asarray(utility, dtype=np.float64)
    if of_cases.ndim == 3:
        if len(of_cases) != truth.size or not np.isfinite(of_cases).all():
            raise ValueError(f"utilities of cases must be one matrix for each, got shape {of_cases.shape}.")
        worth: Floats = of_cases[np.arange(truth.size), decisions, truth]
        return worth
    return as_matrix(utility)[decisions, truth]


def share_of_ranges(
    cells: NDArray[np.int64],
    ranges: Sequence[tuple[ArrayLike, ArrayLike]],
    probability: Sequence[float] | None = None,
    *,
    rng: np.random.Generator,
    sd: Sequence[ArrayLike] | None = None,
    draws: int = 5000,
) -> tuple[float, float, Floats]:
    """How much of the declared uncertainty leaves the ranking by the expected matrix as it is.

    Each utility is uniform between its two ends, independently, with a Gaussian error of its own added; the
    expected matrix holds the middles. Errors are not cut: a matrix that is drawn may prefer a wrong decision.

    Parameters
    ----------
    cells : int array, shape (n_candidates, n_decisions, n_classes)
        Cases by decision and truth.
    ranges : pairs of matrices, least and greatest utilities; equal where a utility is certain
    probability : one for each pair, optional
    sd : standard deviations of the errors of each pair, numbers or matrices, optional
    draws : int
        Of utilities, in all.

    Returns
    -------
    order_holds, best_holds, first
        Shares of the declared probability in which the whole order, and the best candidate, stay; `first`
        (n_candidates,) that in which each comes first, ties shared.
    """
    ends = [(as_matrix(low), as_matrix(high)) for low, high in ranges]
    if any((low > high).any() for low, high in ends):
        raise ValueError("the least utility of a range must not exceed its greatest.")
    errors = [np.broadcast_to(np.asarray(e, float), ends[0][0].shape) for e in sd or [0.0] * len(ends)]
    if any((e < 0).any() for e in errors):
        raise ValueError("the standard deviation of an error is 0 or more.")
    share = weights(len(ends), probability)
    per_case = cells / cells.sum(axis=(1, 2), keepdims=True)
    expected = expected_matrix([(low + high) / 2 for low, high in ends], probability)
    order = _order((per_case * expected).sum(axis=(1, 2)), float(np.ptp(expected)))
    holds, best, first = 0.0, 0.0, np.zeros(len(cells))
    for p, (low, high), error in zip(share.tolist(), ends, errors):
        n = 1 if (low == high).all() and not error.any() else draws
        utilities = low + (high - low) * rng.random((n, *low.shape))
        if error.any():
            utilities = utilities + error * rng.standard_normal((n, *low.shape))
        yields = np.tensordot(utilities, per_case, ((1, 2), (1, 2)))
        close = TIE * max(float(np.ptp(utilities)), 1e-300)
        leaders = yields >= yields.max(axis=1, keepdims=True) - close
        holds += p * float(np.mean((np.diff(yields[:, list(order)], axis=1) <= close).all(axis=1)))
        best += p * float(np.mean(leaders[:, order[0]]))
        first += p * np.mean(leaders / leaders.sum(axis=1, keepdims=True), axis=0)
    return holds, best, first


def yield_difference(
    truth: NDArray[np.int64],
    compared: NDArray[np.int64],
    baseline: NDArray[np.int64],
    utility: ArrayLike,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Yield of one candidate minus that of another on the same cases: mean of the paired differences.

    `utility` as in `worth_of`.

    >>> truth = np.array([0, 0, 0, 1, 1, 1])
    >>> one, other = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 0, 1, 0])
    >>> print(yield_difference(truth, one, other, [[1, -4], [0, 5]]))
    2.83 (95% CI -1.76 to 7.42; n = 6)
    """
    if compared.shape != truth.shape or baseline.shape != truth.shape or truth.size == 0:
        raise ValueError("truth and both decisions must have one entry per case, and there must be cases.")
    gap = worth_of(utility, compared, truth) - worth_of(utility, baseline, truth)
    e = case_mean(gap, level, cluster, tested=True)
    few = min(np.count_nonzero(truth), np.count_nonzero(truth == 0)) < FEW_OF_A_CLASS
    return replace(e, note=notes.OFTEN_BELOW) if few and not e.note and e.se > 0 else e


def independent_difference(
    compared: ArrayLike, baseline: ArrayLike, utility: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Yield of one candidate minus that of another, each on cases of its own.

    With y the yields and l, u their limits (`utility_yield`)::

        low = y1 - y2 - sqrt((y1 - l1) ^ 2 + (u2 - y2) ^ 2)
        high = y1 - y2 + sqrt((u1 - y1) ^ 2 + (y2 - l2) ^ 2)

    Parameters
    ----------
    compared, baseline : arrays of counts, shape (n_decisions, n_classes)
        Rows decisions, columns truths.
    utility : array, same shape

    Returns
    -------
    In the unit of the utilities; NaN with a note where a table is empty.

    Notes
    -----
    Of two candidates on the same cases the interval is too wide where their decisions go together.

    References
    ----------
    Zou, Donner (2008), Stat. Med. 27, 1693-1702.

    Examples
    --------
    >>> a, b = [[27, 15], [23, 35]], [[43, 18], [7, 32]]
    >>> print(independent_difference(a, b, [[15, -335], [-35, 165]]))
    7.00 (95% CI -39.42 to 53.05; n = 200)
    """
    one, other = (utility_yield(counts, utility, level=level) for counts in (compared, baseline))
    n = one.n + other.n
    if not one.n or not other.n:
        return undefined(n, notes.NO_CASE, level=level, method=UNPAIRED)
    value = one.value - other.value
    below = hypot(one.value - one.low, other.high - other.value)
    above = hypot(one.high - one.value, other.value - other.low)
    note = NO_NOTE if below + above else notes.NO_WIDTH
    se = hypot(*(e.se if isfinite(e.se) else 0.0 for e in (one, other)))
    return Estimate(value, value - below, value + above, n, level, UNPAIRED, note, se=se or nan)


def _resampled(
    worth: Floats, resamples: int, rng: np.random.Generator, cluster: Clusters | None = None
) -> Floats:
    """Yields in resampled case sets, shape (resamples, n_candidates); alike cases are drawn together."""
    n = worth.shape[1]
    if cluster is not None:
        sums = np.stack([cluster_sums(row, cluster) for row in worth])
        sizes = cluster_sums(np.ones(n), cluster)
        times = rng.multinomial(len(sizes), np.full(len(sizes), 1 / len(sizes)), resamples)
        of_clusters: Floats = (times @ sums.T) / (times @ sizes)[:, None]
        return of_clusters
    patterns, counts = np.unique(worth, axis=1, return_counts=True)
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
