"""The shape of a table: which rows count, answers in rows to columns, columns that repeat to rows."""

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest import values
from trustreport.study.ingest.contracts import our_word
from trustreport.study.ingest.problems import KeyPath, Problems, did_you_mean, listed, quoted
from trustreport.study.ingest.tables import Raw, is_text, kept
from trustreport.study.plan import FileForm, Pivot, Unpivot

if TYPE_CHECKING:
    from trustreport.study.ingest.tables import Column

MOST_RECORDS = 100_000_000


def shaped(raw: Raw, form: FileForm, path: KeyPath, problems: Problems) -> Raw | None:
    """The records of a table; None where it has not the columns or rows declared (the problem is noted)."""
    raw = without_missing(raw, form.missing)
    filtered = _filtered(raw, form.where, path, problems) if form.where else raw
    if filtered is None:
        return None
    turned = _pivoted(filtered, form.pivot, path, problems) if form.pivot else filtered
    if turned is None:
        return None
    raw = turned
    if form.unpivot and "case" not in form.columns:
        raw = _with_cases(raw)
    return unpivoted(raw, form.unpivot, path, problems) if form.unpivot else raw


def _with_cases(raw: Raw) -> Raw:
    """The table with a column of cases: without one, a row of repeated columns is a case."""
    import pyarrow as pa

    if any(our_word(h.casefold()) == "case" for h in raw.header):
        return raw
    numbers = pa.array([str(i) for i in range(1, raw.n_rows + 1)], pa.string())
    return replace(raw, header=(*raw.header, "case"), columns=(*raw.columns, numbers))


def without_missing(raw: Raw, words: Sequence[str]) -> Raw:
    """The table with the words that the manifest declares for "no value" as empty cells."""
    if not words:
        return raw
    return replace(raw, columns=tuple(_emptied(column, words) for column in raw.columns))


def _emptied(column: "Column", words: Sequence[str]) -> "Column":
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_text(column.type):
        cells = values.text(column)
        return pc.if_else(pc.is_in(cells, value_set=pa.array(words, cells.type)), None, cells)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        codes = [float(w) for w in words if _is_number(w)]
        if codes:
            is_code = pc.is_in(pc.cast(column, pa.float64(), safe=False), value_set=pa.array(codes))
            return pc.if_else(is_code, None, column)
    return column


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _filtered(raw: Raw, where: dict[str, tuple[str, ...]], path: KeyPath, problems: Problems) -> Raw | None:
    """The rows whose cells are among those declared, of each column named; letter case does not matter."""
    mask = np.ones(raw.n_rows, bool)
    for name, wanted in where.items():
        at = _column(raw, name, (*path, "where", name), problems)
        if at is None:
            return None
        codes, distinct = values.encoded(raw.columns[at])
        named = [text.casefold() for text in distinct.to_pylist()]
        folded = {word.casefold() for word in wanted}
        good = np.array([*(text in folded for text in named), "" in folded], bool)
        if not good[codes].any():
            mend = f"It has {listed(distinct.to_pylist()[:20])}."
            problems.declared((*path, "where", name), f"no row with {listed(wanted)}", "", mend)
            return None
        mask &= good[codes]
    if not mask.any():
        problems.declared((*path, "where"), "no row has them all")
        return None
    return kept(raw, mask)


def _pivoted(raw: Raw, how: Pivot, path: KeyPath, problems: Problems) -> Raw | None:
    """One record for each set of cells of `how.by`, with a column for each question."""
    import pyarrow as pa

    where = (*path, "pivot")
    named = [("question", how.question), ("answer", how.answer), *(("by", name) for name in how.by)]
    places = [_column(raw, name, (*where, key), problems) for key, name in named]
    if None in places:
        return None
    question, answer, *by = (raw.columns[at] for at in places if at is not None)
    record = np.zeros(raw.n_rows, np.int64)
    for column in by:
        codes, distinct = values.encoded(column)
        _, record = np.unique(record * (len(distinct) + 1) + codes, return_inverse=True)
    first, record = _by_appearance(record)
    asked, questions = values.encoded(question)
    given, answers = values.encoded(answer)
    columns = []
    for k in range(len(questions)):
        rows = np.flatnonzero((asked == k) & (given >= 0))
        told = np.full(len(first), -1, np.int64)
        told[record[rows[::-1]]] = given[rows[::-1]]  # the first answer stands
        other = rows[told[record[rows]] != given[rows]]
        if len(other):
            twice = np.flatnonzero((asked == k) & (record == record[other[0]]))
            found = f"two answers to {quoted(questions[k].as_py())} in one record"
            problems.add_at(raw.file, found, "one", _apart(how), rows=raw.row(twice), column=how.answer)
            return None
        columns.append(
            pa.array([*answers.to_pylist(), None], pa.string()).take(np.where(told < 0, len(answers), told))
        )
    header = (*how.by, *questions.to_pylist())
    own = tuple(_plain(values.text(column)).take(first) for column in by)
    return replace(raw, header=header, columns=(*own, *columns), n_rows=len(first), rows=raw.row(first))


def _apart(how: Pivot) -> str:
    """How records are told apart that the declared columns do not tell apart."""
    return f"Add to pivot.by what tells them apart; it has {listed(how.by)}."


def _by_appearance(record: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each record first appears, and the records numbered in that order."""
    _, first, codes = np.unique(record, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[codes]


def _column(raw: Raw, name: str, path: KeyPath, problems: Problems) -> int | None:
    """Where a column stands; None where there is none of the name (the problem is noted)."""
    for alike in (str.__eq__, lambda a, b: a.casefold() == b.casefold()):
        for at, header in enumerate(raw.header):
            if header and alike(header, name.strip()):
                return at
    mend = did_you_mean(name, raw.header) or f"It has {listed(filter(None, raw.header))}."
    problems.declared(path, f"no column {quoted(name)} in {raw.file}", "", mend)
    return None


def unpivoted(raw: Raw, how: Unpivot, path: KeyPath, problems: Problems) -> Raw | None:
    """The table with one record for each of the columns that repeat; None where they do not fit together.

    A record whose repeated cells are all empty is left out: that reader did not read that case.
    """
    import pyarrow as pa

    found = {word: _matched(raw, patterns) for word, patterns in how.columns.items()}
    where = (*path, "unpivot")

    def refuse(key: str, said: str, expected: str = "", mend: str = "") -> None:
        at: KeyPath = (*where, *key.split("/"))
        problems.declared(at, said, expected, mend)

    for word, patterns in how.columns.items():
        for pattern, own in zip(patterns, found[word]):
            if not own:
                mend = did_you_mean(pattern, raw.header) or f"It has {listed(filter(None, raw.header))}."
                refuse(f"columns/{word}", f"no column {quoted(pattern)} in {raw.file}", "", mend)
                return None
    headers = {word: [h for own in parts for h in own] for word, parts in found.items()}
    names = _names(how, headers)
    for word, own in headers.items():
        if len(own) != len(names):
            refuse(f"columns/{word}", f"found {len(own)} columns", f"{len(names)}, one for each {how.into}")
            return None
    if len(set(names)) < len(names):
        refuse("names", "found a name twice", f"one for each {how.into}", "Name each by unpivot.names.")
        return None
    if raw.n_rows * len(names) > MOST_RECORDS:
        refuse("columns", f"found {raw.n_rows * len(names):,} records", f"at most {MOST_RECORDS:,}")
        return None
    place = {h: i for i, h in enumerate(raw.header)}
    taken = {h for own in headers.values() for h in own}
    kept = [i for i, h in enumerate(raw.header) if h not in taken]
    repeated = {
        word: pa.concat_arrays([_plain(values.text(raw.columns[place[h]])) for h in own])
        for word, own in headers.items()
    }
    given = np.zeros(raw.n_rows * len(names), bool)
    for column in repeated.values():
        given |= np.asarray(column.is_valid())
    at = np.flatnonzero(given)
    record, which = at % raw.n_rows, at // raw.n_rows
    columns = [raw.columns[i].take(record) for i in kept]
    columns += [column.take(at) for column in repeated.values()]
    header = (*(raw.header[i] for i in kept), *repeated, how.into)
    columns.append(pa.array(names, pa.string()).take(which))
    rows = raw.row(record)
    return replace(raw, header=header, columns=tuple(columns), n_rows=len(at), rows=rows)


def _matched(raw: Raw, patterns: Sequence[str]) -> list[list[str]]:
    """The headers of each pattern, in the order of the file."""
    return [[h for h in raw.header if h and fnmatchcase(h, p)] for p in patterns]


def _names(how: Unpivot, headers: dict[str, list[str]]) -> list[str]:
    """What each repeated column stands for: as declared, what the star stands for, or its header."""
    if how.names is not None:
        return list(how.names)
    word, patterns = next(iter(how.columns.items()))
    own = headers[word]
    if len(patterns) == 1 and "*" in patterns[0]:
        before, _, after = patterns[0].partition("*")
        return [h[len(before) : len(h) - len(after)] for h in own]
    return own


def _plain(column: "Column") -> "Column":
    """In one piece."""
    import pyarrow as pa

    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
