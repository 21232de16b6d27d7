"""Tables of scores and features to the data sets of a `Study`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trustreport.study.ingest import cases, values
from trustreport.study.ingest.cases import CaseRecords, Rows, person
from trustreport.study.ingest.columns import MappedTable, Names
from trustreport.study.ingest.contracts import MISSING, PUT_OUT, UNREAD_NUMBER, fix_number
from trustreport.study.ingest.problems import (
    VALUES,
    KeyPath,
    Problems,
    did_you_mean,
    listed,
    quoted,
)
from trustreport.study.ingest.score_ranges import RangeOf, within_declared
from trustreport.study.plan import MOST_CANDIDATES, DatasetFacts, Plan
from trustreport.study.study import Codes, Dataset, Floats, Labels, Scores

if TYPE_CHECKING:
    import pyarrow as pa

    from trustreport.study.ingest.tables import Column

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
                lambda cell: did_you_mean(cell, self.declared) or "Declare it under datasets: with its role.",
            )
        order = np.argsort(column.codes, kind="stable")
        bounds = np.searchsorted(column.codes[order], np.arange(len(said) + 1))
        for i, name in enumerate(said):
            if not lost[i]:
                self._add(name, table, order[bounds[i] : bounds[i + 1]])

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
    matrix, names, levels = features.of(name, facts, parts, labels)
    return Dataset(
        name,
        facts.role if facts else ROLE,
        cases.build(labels, parts),
        _scores(scored, labels, range_of),
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


def _scores(parts: Sequence[CaseRecords], labels: Labels, range_of: RangeOf) -> dict[str, Scores]:
    """The scores of every candidate, in natural order of their names."""
    found: dict[str, list[tuple[CaseRecords, Mapping[str, str]]]] = {}
    for part in parts:
        for name, narrowed, keys in _candidates(part):
            for word in ("score", "second_score"):
                if word in keys:
                    within_declared(name, narrowed, keys[word], range_of)
            found.setdefault(name, []).append((narrowed, keys))
    if len(found) > MOST_CANDIDATES:
        mend = "Each is compared with every other: keep those between which is to be chosen."
        expected = f"at most {MOST_CANDIDATES} candidates"
        parts[0].table.refuse(f"found more than {MOST_CANDIDATES} candidates", expected, mend)
        return {}
    order = sorted(found, key=lambda n: (values.natural_key(n), n))
    return {name: _candidate(name, found[name], labels) for name in order}


def _candidates(part: CaseRecords) -> list[tuple[str, CaseRecords, dict[str, str]]]:
    """The candidates of one table: mapped column by column, told by a column, by the manifest, or unnamed."""
    table = part.table
    plain: dict[str, str] = {w: w for w in (*PUT_OUT, "status", "version") if w in table.headers}
    if table.class_columns:
        plain["class_scores"] = "class_scores"
    mapped = dict.fromkeys(c for w in PUT_OUT for c in table.per(w))
    made: list[tuple[str, CaseRecords, dict[str, str]]] = []
    for name in mapped:
        own: dict[str, str] = {w: f"{w}/{name}" for w in PUT_OUT if f"{w}/{name}" in table.headers}
        made.append((name, part, {k: v for k, v in plain.items() if k in ("status", "version")} | own))
    judged = {"score", "decision", "class_scores", "status"} & set(plain)
    if mapped or not judged:
        return made
    if "candidate" not in table.names:
        return [(table.spec.candidate or "", part, plain)]
    column = table.names["candidate"]
    codes = column.codes[part.records]
    # More than may be are refused: none beyond the first of those is looked at.
    for i in np.unique(codes[codes >= 0])[: MOST_CANDIDATES + 1].tolist():
        mine = np.flatnonzero(codes == i)
        made.append(
            (column.distinct[i].as_py(), CaseRecords(table, part.records[mine], part.case[mine]), plain)
        )
    return made


def _candidate(name: str, parts: Sequence[tuple[CaseRecords, Mapping[str, str]]], labels: Labels) -> Scores:
    n = len(labels)
    held: dict[str, Any] = {}
    named: dict[str, dict[int, Names]] = {"status": {}, "version": {}}
    class_columns: tuple[str, ...] = ()
    for i, (part, keys) in enumerate(parts):
        if _scored_twice(name, part, labels):
            continue
        at = part.case >= 0
        case, records = part.case[at], part.records[at]
        for word, key in keys.items():
            if word in named:
                named[word][i] = part.table.names[key]
            elif word == "class_scores":
                class_columns = part.table.class_columns
                columns = [part.table.numbers[f"class_scores/{k}"] for k in range(len(class_columns))]
                held.setdefault(word, np.full((n, len(class_columns)), np.nan))
                if held[word].shape[1] == len(columns):
                    held[word][case] = np.column_stack(columns)[records]
            else:
                _fill(held, word, part, key, case, records, labels)
    gather = cases.Gatherer(labels, [p for p, _ in parts])
    return Scores(
        held.get("score"),
        held.get("decision"),
        held.get("class_scores"),
        cases.class_names(class_columns) if class_columns else (),
        gather.named("status", named["status"]),
        gather.named("version", named["version"]),
        held.get("second_score"),
        held.get("second_decision"),
        held.get("confidence"),
    )


def _fill(
    held: dict[str, Any],
    word: str,
    part: CaseRecords,
    key: str,
    case: Codes,
    records: Rows,
    labels: Labels,
) -> None:
    """Lay the values of one table into the column of a word; two tables must not both have one."""
    scores = not word.endswith("decision")
    column = part.table.numbers[key] if scores else part.table.flags[key]
    if word not in held:
        blank = np.float64(np.nan) if scores else np.int8(-1)
        held[word] = np.full(len(labels), blank)
        held[word][case] = column[records]
        return
    old, new = held[word][case], column[records]
    given = ~np.isnan(new) if scores else new >= 0
    clash = given & (~np.isnan(old) if scores else old >= 0)
    for i in np.flatnonzero(clash)[:VALUES]:
        found = f"case {person(labels[int(case[i])])} has a {word} in two tables"
        mend = "Keep one row for each case and candidate."
        part.table.refuse(found, mend=mend, at=records[i], word=key)
    held[word][case[given]] = new[given]


def _scored_twice(name: str, part: CaseRecords, labels: Labels) -> bool:
    """Two rows of one table for one case and candidate."""
    counts = np.bincount(part.case[part.case >= 0], minlength=1)
    twice = np.flatnonzero(counts > 1)
    of = f" of candidate {person(name)}" if name else ""
    for case in twice[:VALUES]:
        rows = part.table.row(np.sort(part.records[part.case == case]))
        mend = "Keep one row for each case and candidate (add a column candidate)."
        part.table.refuse(
            f"case {person(labels[int(case)])}{of} appears in {len(rows)} rows", "", mend, rows=rows
        )
    if len(twice) > VALUES:
        part.table.refuse(f"{len(twice) - VALUES:,} more cases{of} appear in several rows")
    return bool(len(twice))


class FeatureKinds:
    """Which features are numbers and which are words, the same in every data set."""

    def __init__(self, plan: Plan, tables: Sequence[MappedTable], problems: Problems) -> None:
        self.problems = problems
        self.levels: dict[str, tuple[str, ...]] = {}
        self.numbers: dict[tuple[int, str], Floats] = {}
        words: dict[str, list[tuple[MappedTable, Column]]] = {}
        for table in tables:
            for name, column in table.features.items():
                words.setdefault(name, []).append((table, column))
        for name, held in words.items():
            self._settle(name, held, name in plan.similarity.categorical)

    def _settle(self, name: str, held: "list[tuple[MappedTable, Column]]", categorical: bool) -> None:
        kinds: dict[str, MappedTable] = {}
        for table, column in held:
            if categorical:
                kinds["words"] = table
                continue
            kind = self._number(name, table, column)
            if kind:
                kinds.setdefault(kind, table)
        if len(kinds) > 1:
            found = f"feature {quoted(name)} holds words, but numbers in {kinds['numbers'].file}"
            mend = f"Code it alike everywhere, or declare similarity: categorical: [{name}]."
            kinds["words"].refuse(found, "", mend, column=name)
        elif "words" in kinds:
            self.levels[name] = self._levels(held)

    def _number(self, name: str, table: MappedTable, column: "Column") -> str:
        """Read a feature as numbers; "numbers" or "words", or nothing where it is empty."""
        import pyarrow.compute as pc

        floats = values.numbers(column, table.spec.layout.decimal)
        broken = np.flatnonzero(floats == UNREAD_NUMBER)
        if len(broken):
            cells = values.text(column.take(broken))
            distinct = pc.unique(cells).to_pylist()
            plain = [c for c in distinct[:1000] if c.lower() not in MISSING]
            words = len(broken) == np.count_nonzero(~np.isnan(floats)) and not any(map(fix_number, plain))
            if plain and words:
                self._no_values(name, table, cells, broken)
                return "words"
            self.problems.by_value(
                table.file,
                name,
                cells,
                table.row(broken),
                "a number, as in other rows",
                lambda c: fix_number(c) or f"If it holds words: similarity: categorical: [{name}].",
            )
        floats[~np.isfinite(floats)] = np.nan
        self.numbers[id(table), name] = floats
        return "numbers" if np.isfinite(floats).any() else ""

    def _no_values(self, name: str, table: MappedTable, cells: Any, rows: Any) -> None:
        """Cells of a column of words that say that there is no value: a problem each, not the words."""
        import pyarrow as pa
        import pyarrow.compute as pc

        lower = pc.utf8_lower(cells)
        found = pc.is_in(lower, pa.array(MISSING, lower.type))
        marks = np.asarray(found.to_numpy(zero_copy_only=False), bool)
        if marks.any():
            self.problems.by_value(
                table.file,
                name,
                cells.filter(pa.array(marks)),
                table.row(rows[marks]),
                "a word, as in other rows, or an empty cell",
                lambda c: (
                    f"Leave the cell empty where there is no value. If it is a word like the others: "
                    f"similarity: categorical: [{name}]."
                ),
            )

    @staticmethod
    def _levels(held: "list[tuple[MappedTable, Column]]") -> tuple[str, ...]:
        _, names = cases.united([Names(*values.encoded(column)) for _, column in held])
        return tuple(names.to_pylist())

    def of(
        self,
        dataset: str,
        facts: DatasetFacts | None,
        parts: Sequence[CaseRecords],
        labels: Labels,
    ) -> tuple[Floats | None, tuple[str, ...], dict[str, tuple[str, ...]]]:
        """The features of a data set, (n_cases, n_features), their names and the levels of words."""
        declared = facts.features if facts and facts.features else ()
        present = list(dict.fromkeys(name for p in parts for name in p.table.features))
        for name in declared:
            if name not in present:
                self._absent(dataset, name, parts)
        names = tuple(f for f in declared or present if f in present)
        if not names:
            return None, (), {}
        matrix = np.full((len(labels), len(names)), np.nan)
        for j, name in enumerate(names):
            for part in parts:
                if name in part.table.features:
                    self._lay(matrix[:, j], name, part, labels)
        return matrix, names, {f: self.levels[f] for f in names if f in self.levels}

    def _lay(self, column: Floats, name: str, part: CaseRecords, labels: Labels) -> None:
        said = self._values(name, part.table)[part.records]
        given = (part.case >= 0) & ~np.isnan(said)
        case, said = part.case[given], said[given]
        fresh = np.isnan(column[case])
        column[case[fresh][::-1]] = said[fresh][::-1]
        at = np.flatnonzero(column[case] != said)
        for i in at[:VALUES]:
            found = f"case {person(labels[int(case[i])])} has two values of {name}"
            rows = part.table.row(part.records[given][i])
            part.table.refuse(found, mend="A case has one.", rows=rows, column=name)

    def _values(self, name: str, table: MappedTable) -> Floats:
        if name not in self.levels:
            return self.numbers.get((id(table), name), np.full(table.n_rows, np.nan))
        codes, names = values.encoded(table.features[name])
        place = {level: float(i) for i, level in enumerate(self.levels[name])}
        return np.array([place[n] for n in names.to_pylist()] + [np.nan])[codes]

    def _absent(self, dataset: str, name: str, parts: Sequence[CaseRecords]) -> None:
        sets = self.problems.manifest.values.get("datasets") or []
        declared = [d.get("dataset", d.get("dataset_id")) for d in sets if isinstance(d, dict)]
        at = declared.index(dataset) if dataset in declared else 0
        path = ("datasets", at, "features")
        headers = [h for p in parts for h in p.table.header if p.table.kind != "cases"]
        mend = did_you_mean(name, headers) or f"There are {listed(filter(None, headers))}."
        found = f"no column {quoted(name)} in {' or '.join(dict.fromkeys(p.table.file for p in parts))}"
        self.problems.declared(path, found, "", mend)
