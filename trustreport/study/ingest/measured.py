"""Tables of values to measurements, ratings and counts of cases, by readers or devices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest import cases, values
from trustreport.study.ingest.cases import Arms, CaseRecords, Rows, person
from trustreport.study.ingest.columns import MappedTable, Names
from trustreport.study.ingest.problems import VALUES, did_you_mean, listed, quoted
from trustreport.study.ingest.readings import readers_of
from trustreport.study.plan import Measurement, Plan
from trustreport.study.study import Floats, Preferences, Values
from trustreport.vocabulary.kinds import KINDS

if TYPE_CHECKING:
    import pyarrow as pa


Texts = NDArray[Any]
Key = tuple[str, str, str, bool, bool]  # measurement, data set, task, by readers, by judges


@dataclass(frozen=True)
class _Piece:
    """A column of values of one table: its records, and for each of them what it is of, (n_records,)."""

    table: MappedTable
    records: Rows
    value: Floats
    condition: Texts
    by: str
    repeat: Texts | None
    measurement: Texts
    dataset: Texts

    @property
    def task(self) -> str:
        return self.table.spec.task or ""

    @property
    def by_readers(self) -> bool:
        return "reader" in self.table.names

    def by_judges(self, judges: Sequence[str]) -> NDArray[np.bool_]:
        """Which records are of readers that are models, (n_records,)."""
        return np.isin(_texts(self.table, "reader", "")[self.records], judges)

    def part(self, mask: NDArray[np.bool_]) -> "_Piece":
        """Some of the records."""
        repeat = None if self.repeat is None else self.repeat[mask]
        return _Piece(
            self.table, self.records[mask], self.value[mask], self.condition[mask], self.by, repeat,
            self.measurement[mask], self.dataset[mask],
        )  # fmt: skip


def values_of(plan: Plan, tables: Sequence[MappedTable], arms: Arms) -> tuple[Values, ...]:
    """The values of every measurement in every data set or task, by readers, judges and devices apart."""
    grouped: dict[Key, list[_Piece]] = {}
    for table in (t for t in tables if t.kind == "values"):
        for piece in _pieces(table, plan, arms):
            names = sorted(set(zip(piece.measurement.tolist(), piece.dataset.tolist())))
            for measurement, dataset in names:
                own = piece.part((piece.measurement == measurement) & (piece.dataset == dataset))
                facts = plan.measurement_of(measurement)
                judged = own.by_judges(facts.judges if facts else ())
                for judges, rows in ((False, ~judged), (True, judged)):
                    key = (measurement, dataset, piece.task, piece.by_readers, judges)
                    if rows.any() or not judges:
                        grouped.setdefault(key, []).append(own.part(rows))
    _refuse_judges(grouped, plan)
    order = {m.measurement: i for i, m in enumerate(plan.measurements)}
    made = []
    for key in sorted(grouped, key=lambda k: order.get(k[0].partition(", ")[0], len(order))):
        one = _joined(key, grouped[key], plan, tables, arms)
        if one is not None:
            made.append(one)
    return tuple(made)


def _refuse_judges(grouped: dict[Key, list[_Piece]], plan: Plan) -> None:
    """Judges without ratings, without people beside them, or of values that have a reference."""
    for i, facts in enumerate(plan.measurements):
        own = {k: v for k, v in grouped.items() if plan.measurement_of(k[0]) == facts}
        pieces = [p for every in own.values() for p in every if p.by_readers]
        if not facts.judges or not pieces:
            continue
        problems, path = pieces[0].table.problems, ("measurements", i, "judges")
        names = {str(n) for p in pieces for n in _texts(p.table, "reader", "")[p.records]}
        for judge in (j for j in facts.judges if j not in names):
            found = f"{quoted(judge)}, who rated nothing"
            problems.declared(path, found, "readers that are models", did_you_mean(judge, sorted(names)))
        for key in (k for k in own if k[-1]):
            if not any(len(p.records) for p in grouped[*key[:-1], False]):
                found = f"every reader of {facts.measurement} is a judge"
                problems.declared(path, found, "ratings by people, of some of the cases at least")
        if any(p.table.has("reference_value") for p in pieces):
            found = f"judges of {facts.measurement}, which has reference values"
            problems.declared(path, found, "ratings without one")


def _pieces(table: MappedTable, plan: Plan, arms: Arms) -> Iterator[_Piece]:
    measurement = _measurements(table, plan)
    if measurement is None:
        return
    dataset = _texts(table, "dataset", table.spec.dataset or "")
    repeat = _texts(table, "repeat", "") if "repeat" in table.names else None
    named = (table.names["case"].codes >= 0) & ~_empty(table, "reader") & ~_empty(table, "candidate")
    for key in [k for k in table.headers if k.partition("/")[0] == "measured"]:
        found = _conditions(table, key.partition("/")[2], arms)
        if found is None:
            return
        condition, by = found
        value = table.numbers[key]
        piece = _Piece(
            table, np.arange(table.n_rows), value, condition, by, repeat, measurement, dataset
        ).part(named & ~np.isnan(value) & ((by != "arm") | (condition != "")))
        table.used[piece.records] = True
        yield piece


def _texts(table: MappedTable, word: str, otherwise: str) -> Texts:
    """A column of names as texts (n_rows,); `otherwise` where the table has none or the cell is empty."""
    column = table.names.get(word)
    if column is None:
        return np.full(table.n_rows, otherwise, object)
    return np.array([*column.distinct.to_pylist(), otherwise], object)[column.codes]


def _empty(table: MappedTable, word: str) -> NDArray[np.bool_]:
    """Where a column of names is there and its cell is empty."""
    column = table.names.get(word)
    return np.zeros(table.n_rows, bool) if column is None else column.codes < 0


def _measurements(table: MappedTable, plan: Plan) -> Texts | None:
    """The measurement of each record; None where it is not one that is declared."""
    declared = [m.measurement for m in plan.measurements]
    header = table.headers.get("measured", "measured")
    alone = declared[0] if len(declared) == 1 else ""
    if not declared and header != "measured":  # the name of the only column of values
        alone = header.replace("_", " ").strip()
    fixed = getattr(table.spec.form, "measurement", None) or alone
    if "measurement" not in table.names:
        if not fixed and len(declared) > 1:
            found = f"the rows do not say which of {len(declared)} measurements they hold"
            mend = f"Add {table.spec.where}.measurement to the manifest, or a column measurement to the file."
            table.refuse(found, listed(declared), mend, rows=(1,))
            return None
        return np.full(table.n_rows, fixed, object)
    parts = _texts(table, "measurement", "")
    of_spec = getattr(table.spec.form, "measurement", None)
    if of_spec:  # a metric of several structures: "dice, liver"
        return np.array([f"{of_spec}, {part}" if part else of_spec for part in parts], object)
    column = table.names["measurement"]
    lost = np.array([bool(declared) and n not in declared for n in column.distinct.to_pylist()] + [False])
    at = np.flatnonzero(lost[column.codes])
    if len(at):
        table.refuse_names(
            "measurement",
            at,
            f"a measurement of the manifest: {listed(declared)}",
            lambda cell: did_you_mean(cell, declared) or "Declare it under measurements: with its kind.",
        )
        return None
    return np.where(parts == "", fixed, parts)


def _conditions(table: MappedTable, per: str, arms: Arms) -> tuple[Texts, str] | None:
    """The arm or the candidate of each record, and which of the two it is; None with a problem."""
    readers = "reader" in table.names
    if per and readers and per in arms.known:
        return np.full(table.n_rows, arms.names[arms.known[per]], object), "arm"
    if per:
        return np.full(table.n_rows, per, object), "candidate"
    if readers and "arm" in table.names:
        codes = arms.codes(table)
        return np.array([*arms.names, ""], object)[codes], "arm"
    if "arm" in table.names:
        found, mend = "values of devices with a column arm", "Values of readers need a column reader."
        table.refuse(found, "", mend, rows=(1,), word="arm")
        return None
    return _texts(table, "candidate", table.spec.candidate or ""), "candidate"


def _joined(
    key: Key, pieces: Sequence[_Piece], plan: Plan, tables: Sequence[MappedTable], arms: Arms
) -> Values | None:
    measurement, dataset, task, by_readers, judges = key
    pieces = [p for p in pieces if len(p.records)]
    if not pieces:
        return None
    by = {p.by for p in pieces}
    if len(by) > 1:
        found = "some values of readers name an arm, others a candidate"
        pieces[0].table.refuse(found, "one of the two", rows=(1,))
        return None
    case, names = _united(pieces, "case")
    labels = values.labels_of(names)
    own = [CaseRecords(p.table, p.records, c) for p, c in zip(pieces, case, strict=True)]
    described = []
    for table in tables:
        if table.kind == "cases" and table.spec.task in (None, task or None):
            at = table.names["case"].among(names)
            table.used |= at >= 0
            described.append(CaseRecords(table, np.arange(table.n_rows), at))
    parts = [*described, *own]
    readers, reader = None, [np.zeros(len(p.records), np.int32) for p in pieces]
    if by_readers:
        reader, reader_names = _united(pieces, "reader")
    if by_readers and not judges:
        people = [t for t in tables if t.kind == "readers" and t.spec.task in (None, task or None)]
        readers = readers_of(reader_names, people, plan, [p.table for p in pieces])
    said = {str(name) for p in pieces for name in p.condition}
    conditions = tuple(a for a in arms.names if a in said) if by == {"arm"} else _ordered(said, plan)
    place = {name: i for i, name in enumerate(conditions)}
    raters = values.labels_of(reader_names) if by_readers else ("",)
    shape = len(conditions), len(raters), len(labels)
    for p in pieces:
        _within_kind(p, plan.measurement_of(measurement))
    condition = [np.array([place[str(name)] for name in p.condition]) for p in pieces]
    cell = np.ravel_multi_index(tuple(np.concatenate(of) for of in (condition, reader, case)), shape)
    turn = _turns(cell, pieces)
    if turn.min() < 0:
        i, j, k = (int(x) for x in np.unravel_index(cell[turn.argmin()], shape))
        _twice(pieces, int(turn.argmin()), raters[j], conditions[i], labels[k])
        return None
    grids = np.full((int(turn.max()) + 1, *shape), np.nan)
    grids.reshape(len(grids), -1)[turn, cell] = np.concatenate([p.value for p in pieces])
    reference = cases.Gatherer(labels, parts).floats("reference_value")
    if reference is not None and np.isnan(reference).all():
        reference = None
    return Values(
        measurement,
        cases.build(labels, parts),
        conditions,
        grids[0],
        by.pop(),
        reference,
        grids[1:] if len(grids) > 1 else None,
        readers,
        dataset,
        task,
        tuple(raters) if judges else (),
    )


def _turns(cell: NDArray[np.intp], pieces: Sequence[_Piece]) -> NDArray[np.intp]:
    """Which measurement of its cell each record is, from 0, by the column repeat; -1 of one given twice."""
    said = [np.full(len(p.records), "") if p.repeat is None else p.repeat for p in pieces]
    names, code = np.unique(np.concatenate(said).astype(str), return_inverse=True)
    rank = {name: i for i, name in enumerate(sorted(names.tolist(), key=values.natural_key))}
    repeat = np.array([rank[name] for name in names.tolist()], np.intp)[code]
    order = np.lexsort((repeat, cell))
    new = np.append(True, np.diff(cell[order]) != 0)
    turn = np.empty(len(cell), np.intp)
    count = np.arange(len(cell))
    turn[order] = count - np.maximum.accumulate(np.where(new, count, 0))
    again = np.append(False, ~new[1:] & (np.diff(repeat[order]) == 0))
    turn[order[again]] = -1
    return turn


def _united(pieces: Sequence[_Piece], word: str) -> tuple[list[NDArray[np.int32]], "pa.Array"]:
    """The names of a word over all pieces: the codes of each, and the names."""
    held = []
    for p in pieces:
        column = p.table.names[word]
        held.append(Names(*values.used_only(column.codes[p.records], column.distinct)))
    return cases.united(held)


def _ordered(said: set[str], plan: Plan) -> tuple[str, ...]:
    """Candidates as the manifest lists them, others by name behind."""
    declared = [c.candidate for c in plan.candidates if c.candidate in said]
    return (*declared, *sorted(said - set(declared), key=values.natural_key))


def _twice(pieces: Sequence[_Piece], i: int, reader: str, condition: str, case: str) -> None:
    """A second value of the same case under the same condition."""
    whose = f" of reader {person(reader)}" if reader else ""
    under = f" ({person(condition)})" if condition else ""
    p = next(p for n, p in zip(np.cumsum([len(p.records) for p in pieces]), pieces) if i < n)
    row = np.concatenate([p.records for p in pieces])[[i]]
    p.table.refuse(
        f"case {person(case)} has two values{whose}{under}",
        "one row for each case, condition and reader",
        "Of a measurement that was repeated, number the repeats in a column repeat.",
        at=row,
        word="measured",
    )


def _within_kind(p: _Piece, declared: Measurement | None) -> None:
    """Values that their kind does not allow."""
    if declared is None:
        return
    kind = KINDS[declared.kind]
    wrong = np.zeros(len(p.value), bool)
    if kind.whole:
        wrong |= p.value != np.round(p.value)
    if kind.least is not None:
        wrong |= p.value < kind.least
    if declared.scale is not None:
        wrong |= (p.value < declared.scale[0]) | (p.value > declared.scale[1])
    for i in np.flatnonzero(wrong)[:VALUES]:
        expected = kind.expected
        if declared.scale is not None:
            expected = f"{expected} from {declared.scale[0]:g} to {declared.scale[1]:g}"
        found = f"{quoted(f'{p.value[i]:g}')} for {declared.measurement}"
        p.table.refuse(found, expected, at=p.records[[i]], word="measured")


TIES = (
    *("tie", "equal", "both", "neither", "none", "no preference", "same", "draw", "0.5"),
    *("unentschieden", "gleich", "keine präferenz", "égalité", "aucune préférence", "parità"),
    "nessuna preferenza",
)
FIRST = ("first", "1", "left", "a", "links", "gauche", "sinistra")
SECOND = ("second", "2", "right", "b", "rechts", "droite", "destra")


def preferences_of(plan: Plan, tables: Sequence[MappedTable]) -> tuple[Preferences, ...]:
    """The choices of each task."""
    own = [t for t in tables if t.kind == "preferences"]
    made = (_of_task(task, own, tables, plan) for task in dict.fromkeys(t.spec.task or "" for t in own))
    return tuple(one for one in made if one is not None)


def _of_task(
    task: str, every: Sequence[MappedTable], tables: Sequence[MappedTable], plan: Plan
) -> Preferences | None:
    own = [t for t in every if (t.spec.task or "") == task]
    rows = [_complete(table) for table in own]
    if not sum(map(len, rows)):
        return None
    case, case_names = cases.united([_names_in(t, "case", r) for t, r in zip(own, rows)])
    reader, reader_names = cases.united([_names_in(t, "reader", r) for t, r in zip(own, rows)])
    both = [_names_in(t, word, r) for t, r in zip(own, rows) for word in ("first", "second")]
    codes, outputs = cases.united(both)
    first, second = np.concatenate(codes[::2]), np.concatenate(codes[1::2])
    names = outputs.to_pylist()
    share = np.concatenate([_share(t, r) for t, r in zip(own, rows)])
    for table, at in zip(own, rows):
        table.used[at] = True
    labels = values.labels_of(case_names)
    parts = [CaseRecords(t, r, c) for t, r, c in zip(own, rows, case, strict=True)]
    for table in (t for t in tables if t.kind == "cases" and t.spec.task in (None, task or None)):
        known = table.names["case"].among(case_names)
        table.used |= known >= 0
        parts.insert(0, CaseRecords(table, np.arange(table.n_rows), known))
    people = [t for t in tables if t.kind == "readers" and t.spec.task in (None, task or None)]
    return Preferences(
        task,
        readers_of(reader_names, people, plan, own),
        cases.build(labels, parts),
        tuple(names),
        np.concatenate(reader),
        np.concatenate(case),
        first,
        second,
        share,
    )


def _names_in(table: MappedTable, word: str, rows: Rows) -> Names:
    column = table.names[word]
    return Names(*values.used_only(column.codes[rows], column.distinct))


def _complete(table: MappedTable) -> Rows:
    """The records with two different outputs and a choice."""
    words = ("case", "reader", "first", "second", "preferred")
    given = np.all([table.names[word].codes >= 0 for word in words], axis=0)
    same = given & (_cells(table, "first") == _cells(table, "second"))
    if same.any():
        table.refuse(
            "an output beside itself", "two different outputs", at=np.flatnonzero(same), word="second"
        )
    return np.flatnonzero(given & ~same)


def _cells(table: MappedTable, word: str) -> NDArray[Any]:
    column = table.names[word]
    return np.array([*column.distinct.to_pylist(), ""], object)[column.codes]


def _share(table: MappedTable, rows: Rows) -> Floats:
    """1 where the first output was preferred, 0 where the second was, one half for a tie."""
    first, second, said = (_cells(table, word)[rows] for word in ("first", "second", "preferred"))
    found = np.full(len(rows), np.nan)
    for i, (one, other, choice) in enumerate(zip(first, second, said)):
        word = str(choice).casefold()
        named = [choice == name for name in (one, other)]
        if not any(named):  # "A" of outputs that the table shows as "a" and "b"
            named = [word == str(name).casefold() for name in (one, other)]
        if any(named):
            found[i] = float(named[0])
        elif word in TIES:
            found[i] = 0.5
        elif word in (*FIRST, *SECOND):
            found[i] = float(word in FIRST)
    lost = np.flatnonzero(np.isnan(found))
    if len(lost):
        table.refuse_names("preferred", rows[lost], "one of the two outputs, first, second, or tie")
    return np.nan_to_num(found, nan=0.5)
