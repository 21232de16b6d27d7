"""Tables of scores and features to the data sets of a `Study`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from trustreport.study.ingest import cases, values
from trustreport.study.ingest.cases import CaseRecords, Rows
from trustreport.study.ingest.columns import MappedTable, Names
from trustreport.study.ingest.problems import KeyPath, Problems, did_you_mean, listed, quoted
from trustreport.study.ingest.scores import RangeOf
from trustreport.study.plan import DatasetFacts, Plan
from trustreport.study.study import Dataset, Labels

if TYPE_CHECKING:
    import pyarrow as pa

from trustreport.study.ingest.scores import FeatureKinds, scores_of

ROLE, UNNAMED = "local", "scores"  # of a data set that no manifest declares
SCORED = ("scores", "dataset")


@dataclass
class Places:
    """Which records of which table belong to which data set."""

    plan: Plan
    problems: Problems
    records: dict[str, list[tuple[MappedTable, Rows]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.declared = {d.dataset: d for d in self.plan.datasets}
        self.records = {name: [] for name in self.declared}

    def put(self, table: MappedTable) -> None:
        """Find the data set of every record of a table."""
        fixed = table.spec.dataset
        if fixed is not None:
            self._fixed(table, fixed)
        elif "dataset" in table.names:
            self._by_column(table)
        elif len(self.declared) == 1:
            self._add(next(iter(self.declared)), table, np.arange(table.n_rows))
        elif not self.declared:
            self._add(UNNAMED, table, np.arange(table.n_rows))
        elif table.kind != "cases":
            mend = f"Add {table.spec.where}.dataset to the manifest, or a column dataset to the file."
            found = f"the rows do not say to which of {len(self.declared)} data sets they belong"
            table.refuse(found, "", mend, rows=(1,))

    def _fixed(self, table: MappedTable, name: str) -> None:
        if self.declared and name not in self.declared:
            mend = did_you_mean(name, self.declared) or f"Declared are {listed(self.declared)}."
            path: KeyPath = (*table.spec.path, "dataset")
            self.problems.declared(path, f"unknown data set {quoted(name)}", "", mend)
        elif table.kind == "dataset" and "dataset" in table.names:
            self._share(table, name)
        else:
            self._add(name, table, np.arange(table.n_rows))

    def _share(self, table: MappedTable, name: str) -> None:
        """A file that names data sets in a column gives each of them its own rows."""
        column = table.names["dataset"]
        said = column.distinct.to_pylist()
        if not set(said) & set(self.declared):  # a column of that name that means something else
            self._add(name, table, np.arange(table.n_rows))
        elif name in said:
            self._add(name, table, np.flatnonzero(column.codes == said.index(name)))
        else:
            header = table.headers["dataset"]
            table.refuse(f"no row of data set {quoted(name)}", "", rows=(1,), column=header)

    def _by_column(self, table: MappedTable) -> None:
        column = table.names["dataset"]
        said = column.distinct.to_pylist()
        lost = np.array([bool(self.declared) and n not in self.declared for n in said] + [False])
        at = np.flatnonzero(lost[column.codes])
        if len(at):
            table.refuse_names(
                "dataset",
                at,
                f"a data set of the manifest: {listed(self.declared)}",
                self._advice,
            )
        order = np.argsort(column.codes, kind="stable")
        bounds = np.searchsorted(column.codes[order], np.arange(len(said) + 1))
        for i, name in enumerate(said):
            if not lost[i]:
                self._add(name, table, order[bounds[i] : bounds[i + 1]])

    def _advice(self, cell: str) -> str:
        """How to fix a data set that is not declared; a name with other digits is no typing error."""
        shapes = {re.sub(r"\d", "0", name) for name in self.declared}
        offered = "" if re.sub(r"\d", "0", cell) in shapes else did_you_mean(cell, self.declared)
        return offered or "Declare it under datasets: with its role."

    def _add(self, name: str, table: MappedTable, records: Rows) -> None:
        self.records.setdefault(name, []).append((table, records))


def datasets_of(plan: Plan, tables: Sequence[MappedTable], problems: Problems) -> tuple[Dataset, ...]:
    """The data sets that hold anything, in the manifest's order."""
    places = Places(plan, problems)
    read = any(t.kind == "readings" for t in tables)
    for table in tables:
        if table.kind in SCORED or table.kind == "features" or _places_cases(table, tables, places):
            places.put(table)
    features = FeatureKinds(plan, tables, problems)
    made = []
    for name, held in places.records.items():
        if held:
            facts = places.declared.get(name)
            loose = {id(t) for t, _ in held if read and _is_shared(t)}
            dataset = _dataset(name, facts, held, loose, features, plan.score_range_of)
            if dataset is not None:
                made.append(dataset)
    return tuple(made)


def _places_cases(table: MappedTable, tables: Sequence[MappedTable], places: Places) -> bool:
    """Whether a table of cases describes data sets: it says which, or nothing else says their truth."""
    if table.kind != "cases":
        return False
    scored = [t for t in tables if t.kind in SCORED]
    if table.spec.dataset is not None or "dataset" in table.names:
        return bool(places.declared or scored)
    if table.spec.task is not None or len(places.declared) > 1:
        return False
    marked = any(t.kind == "marks" and "reader" not in t.names for t in tables)
    return marked or any("case" in t.names and "truth" not in t.headers for t in scored)


def _dataset(
    name: str,
    facts: DatasetFacts | None,
    held: Sequence[tuple[MappedTable, Rows]],
    loose: set[int],
    features: "FeatureKinds",
    range_of: RangeOf,
) -> Dataset | None:
    labelled = [(t, r) for t, r in held if "case" in t.names]
    if labelled and len(labelled) < len(held):
        for table, _ in held:
            if "case" not in table.names:
                mend = f"Add a column case, as in {labelled[0][0].file}."
                table.refuse(f"the cases of data set {name} have no identifiers", "", mend, rows=(1,))
        return None
    placed = _placed(held, loose) if labelled else _counted(name, held)
    if placed is None:
        return None
    labels, parts = placed
    scored = [p for p in parts if p.table.kind != "cases"]
    if labelled:
        cases.alike("case", ((t, _within(t.names["case"], r)) for t, r in held))
        _unscored(parts)
    for part in parts:
        part.table.used[part.records[part.case >= 0]] = True
    matrix, names, levels = features.matrix_of(name, facts, parts, labels)
    return Dataset(
        name,
        facts.role if facts else ROLE,
        cases.build(labels, parts),
        scores_of(scored, labels, range_of),
        matrix,
        names,
        levels,
    )


def _within(column: Names, records: Rows) -> Names:
    """The names of some records, -1 in all others."""
    if len(records) == len(column.codes):
        return column
    codes = np.full(len(column.codes), -1, np.int32)
    codes[records] = column.codes[records]
    return Names(*values.used_only(codes, column.distinct))


def _is_shared(table: MappedTable) -> bool:
    """Whether a table of cases serves readings as well, so that not all of its cases are of the data set."""
    return table.kind == "cases" and table.spec.dataset is None and "dataset" not in table.names


def _placed(held: Sequence[tuple[MappedTable, Rows]], loose: set[int]) -> tuple[Labels, list[CaseRecords]]:
    """Cases by their names, sorted; a `loose` table adds none."""
    columns = []
    for table, records in held:
        column = table.names["case"]
        every = len(records) == table.n_rows and records[0] == 0 and records[-1] == len(records) - 1
        codes = column.codes if every else column.codes[records]
        columns.append(Names(*values.used_only(codes, column.distinct)))
    strict = [c for (t, _), c in zip(held, columns) if id(t) not in loose]
    united, names = cases.united(strict or columns)
    codes_of = iter(united)
    parts = []
    for (table, records), column in zip(held, columns):
        if strict and id(table) in loose:
            case = column.among(names)
        else:
            case = next(codes_of)
        parts.append(CaseRecords(table, records, case))
    return values.labels_of(names), parts


def _counted(name: str, held: Sequence[tuple[MappedTable, Rows]]) -> tuple[Labels, list[CaseRecords]] | None:
    """Cases by their place in the file; every candidate of every table has one row for each."""
    parts: list[CaseRecords] = []
    sizes: dict[int, MappedTable] = {}
    for table, records in held:
        case = np.arange(len(records), dtype=np.int32)
        if "candidate" in table.names:
            codes = table.names["candidate"].codes[records]
            order = np.argsort(codes, kind="stable")
            counts = np.bincount(codes[codes >= 0], minlength=1)
            starts = np.append(
                np.flatnonzero(np.diff(codes[order], prepend=codes[order[:1]] - 1)), len(codes)
            )
            case[order] = np.arange(len(codes)) - np.repeat(starts[:-1], np.diff(starts))
            case[codes < 0] = -1
            for size in counts[counts > 0].tolist():
                sizes.setdefault(size, table)
        else:
            sizes.setdefault(len(records), table)
        parts.append(CaseRecords(table, records, case))
    if len(sizes) > 1:
        told = " and ".join(f"{n:,} in {t.file}" for n, t in list(sizes.items())[:2])
        mend = "Add a column case to each table, so that rows can be joined."
        held[-1][0].refuse(f"data set {name} has different numbers of cases ({told})", "", mend, rows=(1,))
        return None
    return (Labels(n=next(iter(sizes))), parts) if sizes else None


def _unscored(parts: Sequence[CaseRecords]) -> None:
    """Scores and features of cases that the table of cases does not have."""
    described = [p for p in parts if p.table.kind == "cases"]
    if not described:
        return
    n = max(int(p.case.max(initial=-1)) for p in parts) + 1
    known = np.zeros(n + 1, bool)
    for part in described:
        known[part.case] = True
    known[-1] = True
    files = " or ".join(dict.fromkeys(p.table.file for p in described))
    names = cases_known(described)
    for part in parts:
        lost = part.records[~known[part.case]]
        if part.table.kind != "cases" and len(lost):
            mend = "Add the case there."
            cases.unknown(part.table, "case", np.sort(lost), names, f"a case of {files}", mend)


def cases_known(described: Sequence[CaseRecords]) -> "pa.Array":
    """The names of all cases that tables of cases have."""
    import pyarrow as pa

    return pa.concat_arrays([pa.array(p.table.names["case"].distinct, pa.string()) for p in described])
