"""Which cases belong together: images of a patient, frames of a video, a patient who is in two data sets.

It is worked out once for a study, over all of its tables (`with_clusters`), and read everywhere else.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Clustering, Clusters, Coded, Dataset, Study

# Keys that name what every case has to itself, or what only readings have.
NOT_OF_CASES = ("case", "reader")
PATIENT, SITE = "patient", "site"


@dataclass(frozen=True, slots=True)
class _Table:
    """Cases, the keys declared for them, and the column of each key that they have."""

    cases: Cases
    declared: tuple[str, ...]
    columns: dict[str, Coded]


def with_clusters(study: Study, plan: Plan) -> Study:
    """The study with the clusters of all cases, which have the same number in every table.

    Cases that share a patient, or any declared key, belong together, so that of nested keys the widest
    decides; names are the same patient in every table. An empty cell is a cluster of its own. Tables of
    readers, raters and marks take the keys of all data sets, and the patients of a data set that holds all of
    their cases by name.
    """
    every = tuple(dict.fromkeys(key for d in plan.datasets for key in d.cluster_keys or ()))
    of_sets = [_table(d.cases, _declared(d.name, plan)) for d in study.datasets]
    others = [
        one.cases
        for kind in (study.readings, study.raters, study.localisations, study.values, study.preferences)
        for one in kind
    ]
    of_others = [_with_patients(_table(cases, every), of_sets) for cases in others]
    found = iter(_clusterings([*of_sets, *of_others]))

    def numbered(cases: Cases) -> Cases:
        return replace(cases, clustering=next(found))

    return replace(
        study,
        datasets=tuple(replace(one, cases=numbered(one.cases)) for one in study.datasets),
        readings=tuple(replace(one, cases=numbered(one.cases)) for one in study.readings),
        raters=tuple(replace(one, cases=numbered(one.cases)) for one in study.raters),
        localisations=tuple(replace(one, cases=numbered(one.cases)) for one in study.localisations),
        values=tuple(replace(one, cases=numbered(one.cases)) for one in study.values),
        preferences=tuple(replace(one, cases=numbered(one.cases)) for one in study.preferences),
    )


def clustering(cases: Cases, plan: Plan | None = None, name: str = "") -> Clustering:
    """The clusters of cases; of a table that was made apart from a study, those of its own columns."""
    if cases.clustering is not None:
        return cases.clustering
    return next(_clusterings([_table(cases, _declared(name, plan) if plan else ())]))


def clusters_of(dataset: Dataset, plan: Plan) -> Clustering:
    """The clusters of the cases of a data set."""
    return clustering(dataset.cases, plan, dataset.name)


def of_part(cases: Cases, mask: NDArray[np.bool_]) -> Clustering:
    """The clusters of some of the cases, by a mask (n_cases,)."""
    whole = clustering(cases)
    code, within = (None if codes is None else codes[mask] for codes in (whole.code, whole.code_within_site))
    return Clustering(code, within, _several(code), _several(within), whole.keys, whole.absent)


def clusters_over(datasets: Sequence[Dataset], plan: Plan, *, within_site: bool = False) -> list[Clusters]:
    """The number of the cluster of every case of several data sets; a cluster has one number in all of them.

    A case of which nothing says whose it is has a number of its own.
    """
    found = [dataset.cases.clustering for dataset in datasets]
    if None in found:
        found = list(_clusterings([_table(d.cases, _declared(d.name, plan)) for d in datasets]))
    codes = [None if c is None else c.code_within_site if within_site else c.code for c in found]
    own = -1
    made = []
    for dataset, code in zip(datasets, codes):
        n = len(dataset.cases)
        made.append(own - np.arange(n) if code is None else code)
        own -= n if code is None else 0
    return made


def are_distinct(codes: Clusters) -> bool:
    """Whether no number of a cluster occurs twice; the numbers have few gaps, so that counting is quick."""
    return len(codes) < 2 or int(np.bincount(codes - codes.min()).max()) == 1


def _declared(name: str, plan: Plan) -> tuple[str, ...]:
    facts = next((d for d in plan.datasets if d.dataset == name), None)
    return tuple(facts.cluster_keys) if facts and facts.cluster_keys else ()


def _table(cases: Cases, declared: Iterable[str]) -> _Table:
    wanted = tuple(key for key in declared if key not in NOT_OF_CASES)
    columns = {key: column for key in (PATIENT, *wanted) if (column := _column(cases, key)) is not None}
    return _Table(cases, wanted, columns)


def _column(cases: Cases, key: str) -> Coded | None:
    return {PATIENT: cases.patient, SITE: cases.site}.get(key) or cases.groups.get(key)


def _with_patients(table: _Table, of_sets: Sequence[_Table]) -> _Table:
    """The table with the patients of a data set, where that alone says whose its cases are."""
    labels = table.cases.labels
    if PATIENT in table.columns or labels.counted or not len(labels):
        return table
    for other in of_sets:
        column, named = other.columns.get(PATIENT), other.cases.labels
        if column is None or named.counted or len(named) < len(labels):
            continue
        row = {label: i for i, label in enumerate(named)}
        if all(label in row for label in labels):
            codes = column.codes[[row[label] for label in labels]]
            return replace(table, columns={**table.columns, PATIENT: Coded(codes, column.labels)})
    return table


def _clusterings(tables: Sequence[_Table]) -> Iterator[Clustering]:
    joined = _joined(tables, "")
    apart = _joined(tables, SITE) if any(SITE in table.columns for table in tables) else joined
    for table, whole, within in zip(tables, joined, apart):
        keys = tuple(key for key in dict.fromkeys((*table.declared, *table.columns)) if key in table.columns)
        absent = tuple(key for key in table.declared if key not in table.columns)
        yield Clustering(whole, within, _several(whole), _several(within), keys, absent)


def _several(code: Clusters | None) -> Clusters | None:
    """The clusters; None where every case is a cluster of its own."""
    return None if code is None or are_distinct(code) else code


def _joined(tables: Sequence[_Table], apart: str) -> list[Clusters | None]:
    """The number of the cluster of each case of each table; None where a table has no key, `apart` aside."""
    columns: dict[str, dict[int, Coded]] = {}
    for i, table in enumerate(tables):
        for key, column in table.columns.items():
            if key != apart:
                columns.setdefault(key, {})[i] = column
    if not columns:
        return [None] * len(tables)
    held = sorted({i for of_key in columns.values() for i in of_key})
    ends = np.cumsum([0, *(len(tables[i].cases) for i in held)])
    starts = dict(zip(held, ends.tolist()))
    named = [_names(of_key, starts, int(ends[-1])) for of_key in columns.values()]
    code = named[0] if len(named) == 1 else _connected(named)
    return [code[starts[i] : starts[i] + len(t.cases)] if i in starts else None for i, t in enumerate(tables)]


def _names(of_key: Mapping[int, Coded], starts: Mapping[int, int], n: int) -> Clusters:
    """The number of each case's name in a key, (n,): one name has one number in all tables.

    A case without a name has a number of its own.
    """
    if len(of_key) == 1:
        numbers = [np.arange(len(column.labels)) for column in of_key.values()]
    else:
        import pandas as pd

        labels = [np.asarray(list(column.labels), object) for column in of_key.values()]
        every = pd.factorize(np.concatenate(labels))[0].astype(np.int64)
        numbers = np.split(every, np.cumsum([len(own) for own in labels])[:-1])
    least = 1 + max((int(own.max(initial=-1)) for own in numbers), default=0)
    found = least + np.arange(n)
    for (i, column), own in zip(of_key.items(), numbers):
        known = np.flatnonzero(column.codes >= 0)
        found[starts[i] + known] = own[column.codes[known]]
    return found


def _connected(named: Sequence[Clusters]) -> Clusters:
    """The number of each case's cluster: cases that share a name of any key are in one."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, nodes, edges = len(named[0]), 0, []
    for names in named:
        index = np.unique(names, return_inverse=True)[1]
        edges.append(n + nodes + index)
        nodes += int(index.max(initial=-1)) + 1
    case = np.tile(np.arange(n), len(edges))
    graph = coo_array((np.ones(len(case)), (case, np.concatenate(edges))), shape=(n + nodes, n + nodes))
    found: Clusters = connected_components(graph, directed=False)[1][:n].astype(np.int64)
    return found
