"""Tables of readings, readers and raters to the frozen arrays of a `Study`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.confusion.table import MEASURES
from trustreport.study.ingest import cases, values
from trustreport.study.ingest.cases import USUAL, Arms, CaseRecords, Rows, person
from trustreport.study.ingest.columns import MappedTable, Names
from trustreport.study.ingest.contracts import PER_ARM
from trustreport.study.ingest.problems import VALUES, listed
from trustreport.study.plan import Plan
from trustreport.study.study import Coded, Codes, Labels, Ratings, Readers, Readings

if TYPE_CHECKING:
    import pyarrow as pa

ADVICE = ("advice", "advice_score", "advice_type")
# Names that an endpoint of the user's own may not have, beside those of the measures that readers have.
TAKEN = ("auc", "ppv", "npv", "seconds", "confidence")
INITIAL = ("decision", "score", "confidence", "seconds")


@dataclass(frozen=True)
class Piece:
    """Readings of one table: its records, their arms, and its column for each word."""

    table: MappedTable
    records: Rows
    arm: Codes
    keys: Mapping[str, str]

    def column(self, word: str) -> Any:
        """The values of a word (n,), or None where the table has none."""
        key = self.keys.get(word, "")
        for held in (self.table.flags, self.table.numbers, self.table.times):
            if key in held:
                return held[key][self.records]
        return None


def readings_of(
    task: str,
    tables: Sequence[MappedTable],
    described: Sequence[MappedTable],
    people: Sequence[MappedTable],
    arms: Arms,
    plan: Plan,
) -> Readings | None:
    """The readings of one task, joined with the tables of its cases (`described`) and readers (`people`)."""
    pieces = [_given(p, plan) for t in tables for p in _pieces(t, arms, plan)]
    pieces = [p for p in pieces if len(p.records)]
    if not pieces:
        return None
    reader, reader_names = _names(pieces, "reader")
    case, case_names = _names(pieces, "case")
    arm = np.concatenate([p.arm for p in pieces])
    order = np.lexsort((case, reader, arm))
    columns = {word: _stacked(pieces, word, order) for word in PER_ARM}
    columns["session"], sessions = _named(pieces, "session", order)
    columns["advice_type"], types = _named(pieces, "advice_type", order)
    ends = _endpoints(pieces, arms)
    for first in ("", "second_"):
        given = columns[f"{first}decision"], columns[f"{first}score"]
        columns[f"{first}decision"] = _decided(*given, plan.reading.positive_from)
    _duplicates(pieces, order, (arm, reader, case), (arms, reader_names, case_names), columns)
    parts = [*_described(case_names, described), *_own_parts(pieces, case)]
    if described:
        _refuse_unknown(tables, described, "case")
    return Readings(
        task,
        arms.names,
        readers_of(reader_names, people, plan, tables),
        cases.build(values.labels_of(case_names), parts),
        arm[order],
        reader[order],
        case[order],
        positive_from=plan.reading.positive_from,
        sequential=any(_is_sequential(t, plan) for t in tables),
        sessions=sessions,
        advice_types=types,
        endpoints={name: _flags(held, order) for name, held in ends.items()},
        **columns,
    )


def _is_sequential(table: MappedTable, plan: Plan) -> bool:
    """Whether a row holds both the initial and the final decision."""
    initial = any(f"initial_{w}" in table.headers for w in ("decision", "score"))
    return initial and (plan.reading.design == "sequential" or not table.has("arm"))


def _pieces(table: MappedTable, arms: Arms, plan: Plan) -> list[Piece]:
    """A table as long readings, whichever way it was laid out."""
    every = np.arange(table.n_rows)
    per = dict.fromkeys(arm for word in PER_ARM for arm in table.per(word))
    plain = {word: word for word in PER_ARM if word in table.headers}
    if per:
        return _wide(table, tuple(per), plain, arms)
    if _is_sequential(table, plan):
        return _sequential(table, plain, arms)
    if "arm" in table.names:
        return [Piece(table, every, arms.codes(table), plain)]
    if len(arms.names) != 1:
        mend = (
            "Add it, or name yours in the manifest: columns: {arm: <your header>}; "
            "or map each arm to its column: columns: {decision: {unaided: ..., aided: ...}}."
        )
        table.refuse('no column "arm"', f"a column that says {listed(arms.names or USUAL)}", mend, rows=(1,))
        return []
    return [Piece(table, every, np.zeros(table.n_rows, np.int32), plain)]


def _wide(table: MappedTable, per: tuple[str, ...], plain: dict[str, str], arms: Arms) -> list[Piece]:
    """One piece for each arm that columns were mapped for."""
    for word in plain:
        if word not in ADVICE:
            table.refuse(
                f"column {word} gives one value for all arms",
                "a column for each arm, as for the other words",
                f"Map each arm to its column: {table.spec.where}.columns.{word}: {{{per[0]}: ...}}.",
                rows=(1,),
                word=word,
            )
    pieces = []
    for name in per:
        arm = arms.known.get(name)
        if arm is None:
            mend = "Declare it under arms: in the manifest."
            found = f"columns are mapped for {name}, which is no arm"
            table.refuse(found, f"an arm: {listed(arms.known)}" if arms.known else "", mend, rows=(1,))
            continue
        keys = {word: f"{word}/{name}" for word in PER_ARM if f"{word}/{name}" in table.headers}
        if arms.aided[arm]:
            keys = {w: w for w in plain if w in ADVICE} | keys
        pieces.append(Piece(table, np.arange(table.n_rows), np.full(table.n_rows, arm, np.int32), keys))
    return pieces


def _sequential(table: MappedTable, plain: dict[str, str], arms: Arms) -> list[Piece]:
    """The initial decision is the unaided reading, the final one the aided reading that followed advice."""
    if table.has("arm"):
        mend = "Remove the column: the initial decision is the unaided reading, the decision the aided one."
        table.refuse("a sequential table has a column arm", "", mend, rows=(1,), word="arm")
        return []
    if sorted(arms.aided) != [False, True]:
        table.refuse("a sequential table", "one unaided and one aided arm", "Declare two arms.", rows=(1,))
        return []
    every = np.arange(table.n_rows)
    first = {w: f"initial_{w}" for w in INITIAL if f"initial_{w}" in table.headers}
    first |= {w: w for w in ("order", "read_at", "session") if w in plain}
    unaided = np.full(table.n_rows, arms.aided.index(False), np.int32)
    aided = np.full(table.n_rows, arms.aided.index(True), np.int32)
    return [Piece(table, every, unaided, first), Piece(table, every, aided, plain)]


def _given(piece: Piece, plan: Plan) -> Piece:
    """The records that name reader, case and arm and hold a decision or a score; the others are absent."""
    table = piece.table
    judged = np.zeros(len(piece.records), bool)
    decision, score = piece.column("decision"), piece.column("score")
    if decision is not None:
        judged |= decision >= 0
    if score is not None:
        judged |= ~np.isnan(score)
    keys = (piece.arm >= 0) & (table.names["reader"].codes >= 0) & (table.names["case"].codes >= 0)
    keep = np.flatnonzero(judged & keys)
    table.used[keep] = True
    return Piece(table, keep, piece.arm[keep], piece.keys)


def _names(pieces: Sequence[Piece], word: str) -> tuple[Codes, "pa.Array"]:
    """The names of a word over all pieces: codes (n_readings,) and the names that occur."""
    held = [
        Names(*values.used_only(p.table.names[word].codes[p.records], p.table.names[word].distinct))
        for p in pieces
    ]
    codes, names = cases.united(held)
    return np.concatenate(codes), names


BLANKS: Mapping[str, Any] = {
    "decision": np.int8(-1),
    "advice": np.int8(-1),
    "second_decision": np.int8(-1),
    "read_at": np.datetime64("NaT", "s"),
}


def _stacked(pieces: Sequence[Piece], word: str, order: NDArray[np.int64]) -> Any:
    """A column over all pieces in canonical order; None where no table has it."""
    held = [p.column(word) for p in pieces]
    if all(column is None for column in held):
        return None
    blank = BLANKS.get(word, np.float64(np.nan))
    return np.concatenate(
        [np.full(len(p.records), blank) if c is None else c for p, c in zip(pieces, held, strict=True)]
    )[order]


def _named(pieces: Sequence[Piece], word: str, order: NDArray[np.int64]) -> tuple[Any, tuple[str, ...]]:
    """A column of names as codes in canonical order, and the names; None where no table has the column."""
    import pyarrow as pa

    columns = [p.table.names.get(p.keys.get(word, "")) for p in pieces]
    if all(column is None for column in columns):
        return None, ()
    held = [
        Names(np.full(len(p.records), -1, np.int32), pa.array([], pa.string()))
        if column is None
        else Names(*values.used_only(column.codes[p.records], column.distinct))
        for p, column in zip(pieces, columns, strict=True)
    ]
    codes, names = cases.united(held)
    every = np.concatenate(codes)[order]
    return np.where(every >= 0, every, np.nan), tuple(names.to_pylist())


def _endpoints(pieces: Sequence[Piece], arms: Arms) -> dict[str, list[tuple[Piece, str | None]]]:
    """The declared endpoints by name, with the column that holds each in every piece."""
    found: dict[str, list[tuple[Piece, str | None]]] = {}
    for i, p in enumerate(pieces):
        for key in (k for k in p.table.headers if k.partition("/")[0] == "endpoint"):
            name, of = _endpoint_name(key, p, arms)
            if name.casefold() in (*TAKEN, *(m.id for m in MEASURES.values() if m.of_readers)):
                if of is None or not i:
                    _taken(name, p.table)
                continue
            columns = found.setdefault(name, [(q, None) for q in pieces])
            if of is None or of == arms.names[int(p.arm[0])]:
                columns[i] = (p, key)
    return found


def _endpoint_name(key: str, piece: Piece, arms: Arms) -> tuple[str, str | None]:
    """The name of an endpoint, and the arm that its column is of, where the name says so (``name/arm``)."""
    said = key.partition("/")[2] or piece.table.headers[key]
    name, slash, arm = said.rpartition("/")
    return (name, arm) if slash and arm in arms.known else (said, None)


def _taken(name: str, table: MappedTable) -> None:
    table.refuse(
        f"the endpoint {name} is named as one that is computed from decisions and scores",
        "a name of its own",
        f"Rename it: {table.spec.where}.columns.endpoint.",
        rows=(1,),
    )


def _flags(held: Sequence[tuple[Piece, str | None]], order: NDArray[np.int64]) -> Any:
    """An endpoint over all pieces in canonical order: 1.0, 0.0, NaN where nothing was recorded."""
    parts = []
    for piece, key in held:
        flags = np.full(len(piece.records), -1) if key is None else piece.table.flags[key][piece.records]
        parts.append(np.where(flags >= 0, flags, np.nan))
    return np.concatenate(parts)[order]


def _decided(decision: Any, score: Any, positive_from: float | None) -> Any:
    """Decisions as given; where there is none, from the score and the threshold that the plan declares."""
    if score is None or positive_from is None:
        return decision
    from_score = np.where(np.isnan(score), -1, score >= positive_from).astype(np.int8)
    return from_score if decision is None else np.where(decision >= 0, decision, from_score)


def _duplicates(
    pieces: Sequence[Piece],
    order: NDArray[np.int64],
    codes: tuple[Codes, Codes, Codes],
    names: tuple[Arms, "pa.Array", "pa.Array"],
    columns: Mapping[str, Any],
) -> None:
    """Two readings of one case by one reader in one arm."""
    arm, reader, case = (c[order] for c in codes)
    same = (arm[1:] == arm[:-1]) & (reader[1:] == reader[:-1]) & (case[1:] == case[:-1])
    if not same.any():
        return
    starts = np.flatnonzero(same & ~np.append(False, same[:-1]))
    which = np.repeat(np.arange(len(pieces)), [len(p.records) for p in pieces])
    record = np.concatenate([p.records for p in pieces])
    for start in starts[:VALUES]:
        stop = start + 1
        while stop < len(same) and same[stop]:
            stop += 1
        at = np.sort(order[start : stop + 1])
        rows = [(pieces[which[i]].table, int(pieces[which[i]].table.row(record[i])[0])) for i in at]
        said = columns["decision"] if columns["decision"] is not None else columns["score"]
        back = np.argsort(order[start : stop + 1])
        shown = [f"{x:g}" for x in said[start : stop + 1][back]]
        times = "twice" if len(at) == 2 else f"{len(at)} times"
        files = {t.file for t, _ in rows}
        elsewhere = (
            f" (rows {' and '.join(f'{r} of {t.file}' for t, r in rows[:3])})" if len(files) > 1 else ""
        )
        rows[0][0].refuse(
            f"reader {person(names[1][int(reader[start])].as_py())} read case "
            f"{person(names[2][int(case[start])].as_py())} {times} in arm {names[0].names[arm[start]]} "
            f"({'decisions' if columns['decision'] is not None else 'scores'} {_and(shown)}){elsewhere}",
            mend="Keep one row for each reader, case and arm.",
            rows=[r for t, r in rows if t is rows[0][0]],
        )
    if len(starts) > VALUES:
        found = f"{len(starts) - VALUES:,} more readings appear twice or more"
        pieces[0].table.refuse(found, mend="Keep one row for each reader, case and arm.")


def _and(words: Sequence[str]) -> str:
    shown = list(words[:6])
    return ", ".join(shown[:-1]) + " and " + shown[-1] if len(words) <= 6 else ", ".join(shown) + " ..."


def _described(case_names: "pa.Array", described: Sequence[MappedTable]) -> list[CaseRecords]:
    """The records of the tables of cases that speak of these cases."""
    parts = []
    for table in described:
        at = table.names["case"].among(case_names)
        table.used |= at >= 0
        parts.append(CaseRecords(table, np.arange(table.n_rows), at))
    return parts


def _own_parts(pieces: Sequence[Piece], case: Codes) -> list[CaseRecords]:
    """What the readings themselves say of their cases (truth, patient)."""
    ends = np.cumsum([len(p.records) for p in pieces])
    return [CaseRecords(p.table, p.records, case[e - len(p.records) : e]) for p, e in zip(pieces, ends)]


def _refuse_unknown(
    tables: Sequence[MappedTable], described: Sequence[MappedTable], word: str, also: Sequence[str] = ()
) -> None:
    """Names in records that are used, which the tables that describe them do not have and `also` neither."""
    known = _distinct(described, word, also)
    for table in tables:
        column = table.names[word]
        rows = np.flatnonzero((column.among(known) < 0) & (column.codes >= 0) & table.used)
        if len(rows):
            what = f"a {word} of {listed_files(described)}"
            cases.unknown(table, word, rows, known, what, f"Add the {word} there.")


def _distinct(tables: Sequence[MappedTable], word: str, also: Sequence[str] = ()) -> "pa.Array":
    import pyarrow as pa
    import pyarrow.compute as pc

    named = [pa.array(t.names[word].distinct, pa.string()) for t in tables]
    return pc.unique(pa.concat_arrays([*named, pa.array(also, pa.string())]))


def listed_files(tables: Sequence[MappedTable]) -> str:
    """The files of tables in words."""
    return " or ".join(dict.fromkeys(t.file for t in tables))


def readers_of(
    names: "pa.Array", people: Sequence[MappedTable], plan: Plan, tables: Sequence[MappedTable]
) -> Readers:
    """The readers with the characteristics that tables and manifest give of them."""
    labels = values.labels_of(names)
    if people:
        judges = [judge for m in plan.measurements for judge in m.judges]
        _refuse_unknown(tables, people, "reader", judges)
    parts = []
    for table in people:
        at = table.names["reader"].among(names)
        table.used |= at >= 0
        parts.append(CaseRecords(table, np.arange(table.n_rows), at))
    gather = cases.Gatherer(labels, parts, "reader")
    strata = cases.groups(gather)
    return Readers(labels, {**_declared_strata(labels, plan), **strata})


def _declared_strata(labels: Labels, plan: Plan) -> dict[str, Coded]:
    """What the manifest says of each reader in words."""
    import pyarrow as pa

    facts = {f.reader: f for f in plan.readers}
    found: dict[str, Coded] = {}
    for word in ("qualification", "specialty", "site"):
        said = [getattr(facts.get(name), word, None) for name in labels]
        if any(said):
            found[word] = values.coded(*values.encoded(pa.array(said, pa.string())))
    return found


def ratings_of(task: str, tables: Sequence[MappedTable], described: Sequence[MappedTable]) -> Ratings | None:
    """The annotations of one task, one row per rater and case."""
    pieces = []
    for table in tables:
        given = np.ones(table.n_rows, bool)
        for word in ("case", "rater", "label"):
            given &= table.names[word].codes >= 0
        table.used |= given
        pieces.append(
            Piece(
                table,
                np.flatnonzero(given),
                np.zeros(int(given.sum()), np.int32),
                {"confidence": "confidence", "complexity": "complexity"},
            )
        )
    pieces = [p for p in pieces if len(p.records)]
    if not pieces:
        return None
    rater, rater_names = _names(pieces, "rater")
    case, case_names = _names(pieces, "case")
    label, classes = _names(pieces, "label")
    order = np.lexsort((case, rater))
    _rated_twice(pieces, order, rater, case, (rater_names, case_names, classes), label)
    parts = [*_described(case_names, described), *_own_parts(pieces, case)]
    return Ratings(
        task,
        values.labels_of(rater_names),
        cases.build(values.labels_of(case_names), parts),
        rater[order],
        case[order],
        label[order],
        tuple(classes.to_pylist()),
        _stacked(pieces, "confidence", order),
        _stacked(pieces, "complexity", order),
    )


def _rated_twice(
    pieces: Sequence[Piece],
    order: NDArray[np.int64],
    rater: Codes,
    case: Codes,
    names: tuple["pa.Array", "pa.Array", "pa.Array"],
    label: Codes,
) -> None:
    same = (np.diff(rater[order]) == 0) & (np.diff(case[order]) == 0)
    which = np.repeat(np.arange(len(pieces)), [len(p.records) for p in pieces])
    record = np.concatenate([p.records for p in pieces])
    for start in np.flatnonzero(same)[:VALUES]:
        one, two = sorted(order[start : start + 2])
        table, other = pieces[which[one]].table, pieces[which[two]].table
        rows = [int(table.row(record[one])[0])] + ([int(table.row(record[two])[0])] if table is other else [])
        said = [person(names[2][int(label[i])].as_py()) for i in (one, two)]
        who, what = names[0][int(rater[one])].as_py(), names[1][int(case[one])].as_py()
        table.refuse(
            f"rater {person(who)} labelled case {person(what)} twice ({said[0]} and {said[1]})",
            mend="Keep one row for each rater and case.",
            rows=rows,
        )
