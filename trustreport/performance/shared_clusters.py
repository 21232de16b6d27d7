"""Clusters of cases that two data sets share: patients seen in both periods count once in their change."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.formulas import FORMULAS
from trustreport.measures.monitoring import shared
from trustreport.measures.monitoring.shared import Floats
from trustreport.performance.cases import ScoredCases
from trustreport.performance.clusters import clustering, columns_of, keys_of
from trustreport.performance.measures import CALIBRATION
from trustreport.plan import Plan
from trustreport.study import Coded, Dataset


@dataclass(frozen=True, eq=False)
class Matched:
    """The clusters of two data sets, (n_cases,) each: the same number for the same cluster in both.

    `known` is False where a set has clusters by a key that the other set lacks, so that nobody knows which
    clusters are in both.
    """

    one: Clusters
    other: Clusters
    known: bool = True

    @property
    def any(self) -> bool:
        """Whether a cluster is in both sets."""
        return bool(np.intersect1d(self.one, self.other).size)


def matched(one: Dataset, other: Dataset, plan: Plan) -> Matched:
    """The clusters of two data sets, matched by their names in the keys that both have.

    Within a set cases belong together as everywhere else (`clustering`), and where clusters of the other set
    join them. Keys are those of either set.
    """
    keys = dict.fromkeys((*keys_of(one, plan), *keys_of(other, plan)))
    ours, theirs = columns_of(one, keys), columns_of(other, keys)
    first, second = (_own(dataset, plan) for dataset in (one, other))
    second = second + (int(first.max()) + 1 if first.size else 0)
    common = [key for key in ours if key in theirs]
    edges = [_edges(first, second, ours[key], theirs[key]) for key in common]
    joined = _joined(first, second, [edge for edge in edges if edge.size])
    return Matched(*joined, known=bool(common) or not (ours or theirs))


def _own(dataset: Dataset, plan: Plan) -> Clusters:
    found = clustering(dataset, plan).of_case
    return np.arange(len(dataset.cases)) if found is None else found


def _edges(first: Clusters, second: Clusters, ours: Coded, theirs: Coded) -> NDArray[np.int64]:
    """Pairs of clusters of the two sets that hold cases of one name, (n_pairs, 2)."""
    known: dict[str, list[int]] = {}
    for name, cluster in _named(ours, first):
        known.setdefault(name, []).append(cluster)
    pairs = [(a, b) for name, b in _named(theirs, second) for a in known.get(name, ())]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _named(column: Coded, cluster: Clusters) -> Iterator[tuple[str, int]]:
    """Each name with each cluster that holds a case of it."""
    of = column.codes >= 0
    for code, number in np.unique(np.stack([column.codes[of], cluster[of]], axis=1), axis=0):
        yield str(column.labels[code]), int(number)


def _joined(first: Clusters, second: Clusters, edges: list[NDArray[np.int64]]) -> tuple[Clusters, Clusters]:
    if not edges:
        return first, second
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = np.concatenate(edges)
    size = 1 + max(int(part.max(initial=0)) for part in (first, second))
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(size, size))
    group = connected_components(graph, directed=False)[1].astype(np.int64)
    return group[first], group[second]


def influence(case: ScoredCases, name: str, value: Estimate) -> Floats | None:
    """What each case adds to a quantity, (n,), up to a factor of the set; None where that is not known."""
    if name == "error_rate":
        name = "accuracy"
    if name == "failure_rate":
        return shared.of_share(case.failed)
    if name in FORMULAS:
        return None if case.decision is None else shared.of_cells(name, case.truth, case.decision)
    if case.score is None or (name != "auc" and case.risk is None):
        return None
    found = np.zeros(len(case))
    if name == "auc":
        truth, score, _ = case.ranked
        found[case.scored | case.failed] = shared.of_area(truth, score)
    elif name in CALIBRATION:
        truth, score, _ = case.with_scores
        found[case.scored] = shared.of_risk(name, truth, score)
    elif name in ("net_benefit", "standardized_net_benefit") and case.risk_threshold is not None:
        truth, score, _ = case.acted_on
        ratio = value.value if name == "standardized_net_benefit" else 0.0
        gain = shared.of_net_benefit(truth, score >= case.risk_threshold, case.risk_threshold, ratio)
        found[case.scored | case.failed] = gain
    else:
        return None
    return found
