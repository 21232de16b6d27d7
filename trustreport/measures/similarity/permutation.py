"""Permutations of cases between two sets, spread over threads.

A division says which of the N pooled cases count as training. With D all distances and s a division as 0/1,
D s holds each case's summed distance to the training cases: one matrix product serves all divisions of a
block and every statistic that is built of such sums.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.similarity.features import Distances, Run, as_ties, in_threads, one_by_one

BLOCK = 256  # divisions drawn by one random generator; another number gives other divisions
HELD = 55_000_000  # divisions times cases in work at once where distances are made anew
ROWS = 5_000  # rows of distances that one task makes anew
SHARED = 500  # cases from which on the blocks of divisions are worth threads of their own
CHOSEN_BY_STEPS = 10_000  # cases up to which `rng.choice` draws step by step, whatever the size
SEARCHED = 2_000_000  # divisions times cases whose nearest training cases are looked up at once


@dataclass(frozen=True, slots=True)
class DistanceSums:
    """Per division: summed distances within training (both directions) and from training to external cases.

    `correspondence` is the statistic of the degree of correspondence, NaN where no neighbours were given.
    """

    within: NDArray[np.float64]
    between: NDArray[np.float64]
    correspondence: NDArray[np.float64]

    def __getitem__(self, some: slice) -> "DistanceSums":
        return DistanceSums(self.within[some], self.between[some], self.correspondence[some])


@dataclass(frozen=True, slots=True)
class Tail:
    """An observed statistic among those of random divisions: large values speak against one source."""

    observed: float
    p: float
    null_mean: float
    null_sd: float
    permutations: int

    @property
    def details(self) -> dict[str, float]:
        """What a report shows beside the p-value."""
        return {
            "statistic": self.observed,
            "null_mean": self.null_mean,
            "null_sd": self.null_sd,
            "standardised": (self.observed - self.null_mean) / self.null_sd if self.null_sd else nan,
            "monte_carlo_se": sqrt(self.p * (1 - self.p) / self.permutations),
            "permutations": float(self.permutations),
        }


def upper_tail(observed: float, permuted: NDArray[np.float64]) -> Tail:
    """p = (permuted statistics as large as the observed one, and 1) / (permutations + 1).

    Equal up to a relative 1e-9 is treated as equal: sums in another order differ by rounding.

    References
    ----------
    Phipson, Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9, 39.
    """
    slack = 1e-9 * max(abs(observed), float(np.abs(permuted).max()))
    p = (int((permuted >= observed - slack).sum()) + 1) / (len(permuted) + 1)
    sd = float(permuted.std(ddof=1))
    return Tail(observed, p, float(permuted.mean()), sd if sd > slack else 0.0, len(permuted))


def check_permutations(permutations: int) -> None:
    """Refuse fewer than 19, with which no p-value reaches .05."""
    if permutations < 19 or permutations != int(permutations):
        raise ValueError(f"permutations must be a whole number from 19 on, got {permutations}.")


def observed_and_random(
    distances: Distances,
    n_training: int,
    permutations: int,
    rng: np.random.Generator,
    *,
    order: NDArray[np.int32] | None = None,
    run: Run = one_by_one,
) -> tuple[DistanceSums, float, DistanceSums]:
    """Sums of the division that was observed (the first cases are training), the sum of all distances, and
    sums of random divisions with as many training cases, all in one pass where the distances are made anew.

    Blocks of divisions have generators spawned from `rng`, so the sums do not depend on who computes what.
    `order` holds the `neighbours`, without which no degree of correspondence comes out.
    """
    n = len(distances)
    counts = [min(BLOCK, permutations - start) for start in range(0, permutations, BLOCK)]
    blocks = list(zip(rng.spawn(len(counts)), counts))
    held = distances.matrix is not None
    together = 1 if held else max(1, HELD // (BLOCK * n))
    parts = [(start, blocks[start : start + together]) for start in range(0, len(blocks), together)]

    def sums(start: int, some: list[tuple[np.random.Generator, int]]) -> DistanceSums:
        drawn = _drawn(n, n_training, some)
        if start == 0:
            drawn = np.hstack([np.arange(n)[:, None] < [n_training, n], drawn])
        return divisions(distances, drawn, order, run)

    shared = held and n >= SHARED
    both = _joined((in_threads if shared else one_by_one)(sums, parts))
    return both[:1], float(both.within[1]), both[2:]  # with all cases as training, everything lies within


def divisions(
    distances: Distances,
    inside: NDArray[np.bool_],
    order: NDArray[np.int32] | None = None,
    run: Run = one_by_one,
) -> DistanceSums:
    """Sums of given divisions: `inside`, shape (N, divisions), is True where a case counts as training.

    Where the distances are made anew, `run` shares out the rows, always the same ones together: whoever
    computes them, the parts are added in one order.
    """
    n, width = inside.shape
    weight = None
    if order is not None:
        weight = np.empty(inside.shape, dtype=np.int32)
        step = max(1, SEARCHED // n)
        for start in range(0, width, step):
            some = np.ascontiguousarray(inside[:, start : start + step])
            weight[:, start : start + step] = _external_less_nearest(distances, some, order)
    if distances.matrix is not None:
        within, towards, weighted = _of_rows(distances, 0, n, inside, weight)
    else:
        tasks = [(distances, start, min(start + ROWS, n), inside, weight) for start in range(0, n, ROWS)]
        whole = (in_threads if run is one_by_one else run)(_of_rows, tasks)
        within, towards, weighted = sum(whole, np.zeros((3, width)))
    correspondence = (
        weighted / np.maximum((~inside).sum(axis=0), 1) if weight is not None else np.full(width, nan)
    )
    return DistanceSums(within, towards - within, correspondence)


def _of_rows(
    distances: Distances,
    first: int,
    last: int,
    inside: NDArray[np.bool_],
    weight: NDArray[np.int32] | None,
) -> NDArray[np.float64]:
    """What some rows add to the sums of each division, shape (3, divisions): within, towards, weighted."""
    member = inside.astype(np.float64)
    sums = np.zeros((3, inside.shape[1]))
    for rows, distance in distances.every_block(first, last):
        to_training = distance @ member
        sums[0] += np.einsum("rb,rb->b", member[rows], to_training)
        sums[1] += to_training.sum(axis=0)
        if weight is not None:
            sums[2] += np.einsum("rb,rb->b", weight[rows], to_training)
    return sums


def _drawn(n: int, n_training: int, blocks: list[tuple[np.random.Generator, int]]) -> NDArray[np.bool_]:
    """Random divisions as columns; each block of them by its own generator."""
    fewer = min(n_training, n - n_training)
    drawn = np.hstack([subsets(n, fewer, rng, count) for rng, count in blocks])
    return np.ascontiguousarray(drawn if fewer == n_training else ~drawn)


def subsets(n: int, size: int, rng: np.random.Generator, count: int) -> NDArray[np.bool_]:
    """Random subsets of n cases as columns: those that `rng.choice` gives one after the other.

    References
    ----------
    Bentley, Floyd (1987), Commun. ACM 30, 754-757: each step draws up to its own number, and takes that where
    the one drawn is taken already.
    """
    if size > count or n > CHOSEN_BY_STEPS:
        chosen = np.zeros((count, n), dtype=bool)
        for one in chosen:
            one[rng.choice(n, size, replace=False, shuffle=False)] = True
        return chosen.T
    steps, subset = np.arange(n - size, n), np.arange(count)
    picks = rng.integers(0, np.broadcast_to(steps, (count, size)), endpoint=True).T
    found = np.zeros(n * count, dtype=bool)  # case and subset as one index: case * count + subset
    for last, pick in zip(steps.tolist(), picks * count + subset):
        found[np.where(found[pick], last * count + subset, pick)] = True
    return found.reshape(n, count)


def _joined(parts: Iterable[DistanceSums]) -> DistanceSums:
    whole = list(parts)
    return DistanceSums(
        np.concatenate([part.within for part in whole]),
        np.concatenate([part.between for part in whole]),
        np.concatenate([part.correspondence for part in whole]),
    )


def _external_less_nearest(
    distances: Distances, inside: NDArray[np.bool_], order: NDArray[np.int32]
) -> NDArray[np.intp]:
    """1 for an external case, less the number of those whose nearest training case it is; per division."""
    n, width = inside.shape
    flat = inside.reshape(-1)  # case and division as one index: case * width + division
    left = np.flatnonzero(~flat)
    case = left // width
    nearest = []
    for neighbour in order:
        candidate = left + ((neighbour - np.arange(n)) * width)[case]
        hit = flat[candidate]
        nearest.append(candidate[hit])
        missed = np.flatnonzero(~hit)
        left, case = left[missed], case[missed]
        if not left.size:
            break
    for division in np.unique(left % width):  # cases without a training case among their ordered neighbours
        cases = left[left % width == division] // width
        nearest.append(_searched(distances, cases, np.flatnonzero(inside[:, division])) * width + division)
    weight = np.bincount(np.concatenate(nearest), minlength=flat.size)
    return np.subtract(~flat, weight, out=weight).reshape(n, width)


def _searched(distances: Distances, left: NDArray[np.intp], training: NDArray[np.intp]) -> NDArray[np.intp]:
    """The nearest training case of each case that had none among its ordered neighbours."""
    step = max(1, SEARCHED // len(training))
    nearest = np.empty_like(left)
    for start in range(0, len(left), step):
        some = left[start : start + step]
        to_training = distances.between(distances.points[some], distances.points[training])
        nearest[start : start + step] = training[as_ties(to_training, len(distances)).argmin(axis=1)]
    return nearest
