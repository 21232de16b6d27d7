"""Decisions of candidates on the same cases: case by case, and as published joint tables have them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.study.plan import Plan


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions on cases whose truth is known: row and column of the utility of each case.

    Parameters
    ----------
    truth : (n_cases,)
    decision : (n_candidates, n_cases)
    """

    truth: NDArray[np.int64]
    decision: NDArray[np.int64]
    cluster: Clusters | None = None


def joint_decisions(name: str, candidates: Sequence[str], plan: Plan) -> dict[tuple[int, int], Decisions]:
    """The joint tables of a set, case by case, by the places of both candidates, the earlier first."""
    found = {}
    for one in plan.joint_decisions:
        if one.set == name and set(one.candidates) <= set(candidates):
            cells = np.array(one.by_truth, np.int64)
            truth, *both = (np.repeat(axis.ravel(), cells.ravel()) for axis in np.indices(cells.shape))
            first, second = (candidates.index(c) for c in one.candidates)
            order = (0, 1) if first < second else (1, 0)
            found[min(first, second), max(first, second)] = Decisions(truth, np.stack(both)[list(order)])
    return found
