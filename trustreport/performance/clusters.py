"""Which cases of a data set belong together: images of a patient, frames of a video."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from trustreport.measures.cluster import Clusters
from trustreport.plan import Plan
from trustreport.study import Coded, Dataset

# Keys that name what every case has to itself, or what only readings have.
NOT_OF_CASES = ("case", "reader")


@dataclass(frozen=True, eq=False)
class Clustering:
    """Clusters of the cases of a data set, (n_cases,); None where every case is a cluster of its own.

    `keys` are the columns by which cases belong together, `absent` those declared that there are not.
    """

    of_case: Clusters | None
    keys: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


def clustering(dataset: Dataset, plan: Plan, *, apart: str = "") -> Clustering:
    """By the declared cluster keys; without any by the patient, where one has several cases.

    Cases that share any of the keys belong together, so that of nested keys the widest decides. An empty cell
    is a cluster of its own. `apart` is a key that all cases looked at share, which then says nothing.
    """
    wanted = [key for key in _declared(dataset, plan) if key not in (*NOT_OF_CASES, apart)]
    columns = columns_of(dataset, wanted or ("patient",))
    absent = tuple(key for key in wanted if key not in columns)
    if not columns:
        return Clustering(None, absent=absent)
    codes = _joined(list(columns.values()))
    if len(np.unique(codes)) == len(codes):
        return Clustering(None, absent=absent)
    return Clustering(codes, tuple(columns), absent)


def _declared(dataset: Dataset, plan: Plan) -> tuple[str, ...]:
    facts = next((d for d in plan.datasets if d.dataset == dataset.name), None)
    return tuple(facts.cluster_keys) if facts and facts.cluster_keys else ()


def keys_of(dataset: Dataset, plan: Plan) -> tuple[str, ...]:
    """The keys by which cases of a set belong together, as declared, else the patient."""
    wanted = tuple(key for key in _declared(dataset, plan) if key not in NOT_OF_CASES)
    return wanted or ("patient",)


def columns_of(dataset: Dataset, keys: Iterable[str]) -> dict[str, Coded]:
    """The columns of the keys that a set has."""
    return {key: column for key in keys if (column := _column(dataset, key)) is not None}


def _column(dataset: Dataset, key: str) -> Coded | None:
    cases = dataset.cases
    return {"patient": cases.patient, "site": cases.site}.get(key) or cases.groups.get(key)


def _joined(columns: list[Coded]) -> Clusters:
    """Codes of the sets of cases that any column joins."""
    codes = _own_where_empty(columns[0])
    if len(columns) == 1:
        return codes
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, nodes, edges = len(codes), 0, []
    for column in columns:
        _, index = np.unique(_own_where_empty(column), return_inverse=True)
        edges.append(n + nodes + index)
        nodes += int(index.max()) + 1
    case = np.tile(np.arange(n), len(edges))
    graph = coo_array((np.ones(len(case)), (case, np.concatenate(edges))), shape=(n + nodes, n + nodes))
    found: Clusters = connected_components(graph, directed=False)[1][:n].astype(np.int64)
    return found


def _own_where_empty(column: Coded) -> Clusters:
    codes = column.codes.astype(np.int64)
    empty = np.flatnonzero(codes < 0)
    codes[empty] = len(column.labels) + np.arange(len(empty))
    return codes
