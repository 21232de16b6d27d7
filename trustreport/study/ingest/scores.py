"""Tables of scores and features to what every candidate put out on a data set."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trustreport.study.ingest import cases, values
from trustreport.study.ingest.cases import CaseRecords, Rows, person
from trustreport.study.ingest.columns import MappedTable, Names
from trustreport.study.ingest.contracts import MISSING, PUT_OUT, UNREAD_NUMBER, fix_number
from trustreport.study.ingest.problems import VALUES, Problems, did_you_mean, listed, quoted
from trustreport.study.plan import MOST_CANDIDATES, DatasetFacts, Plan
from trustreport.study.study import Codes, Floats, Labels, Scores

if TYPE_CHECKING:
    from trustreport.study.ingest.tables import Column

RangeOf = Callable[[str], tuple[float, float] | None]


def scores_of(parts: Sequence[CaseRecords], labels: Labels, range_of: RangeOf) -> dict[str, Scores]:
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
    held: dict[str, Any], word: str, part: CaseRecords, key: str, case: Codes, records: Rows, labels: Labels
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

    def matrix_of(
        self, dataset: str, facts: DatasetFacts | None, parts: Sequence[CaseRecords], labels: Labels
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


def within_declared(candidate: str, part: CaseRecords, key: str, range_of: RangeOf) -> None:
    """One problem for a column of scores that leaves the declared range of the candidate."""
    declared = range_of(candidate)
    if declared is None:
        return
    low, high = declared
    given = part.table.numbers[key][part.records]
    out = np.flatnonzero((given < low) | (given > high))
    if not len(out):
        return
    least, most = float(np.nanmin(given)), float(np.nanmax(given))
    own = f"candidates: [{{candidate: {person(candidate)}, score_range: [LOW, HIGH]}}]"
    line = own if candidate else "operating_point: {score_range: [LOW, HIGH]}"
    part.table.refuse(
        f"found scores from {least:g} to {most:g}",
        f"from {low:g} to {high:g}, the declared score_range",
        f"If the scores are on another scale, declare {line}.",
        at=np.sort(part.records[out]),
        word=key,
    )
