"""Columns of text to arrays, no cell guessed at; and the shape of a table: its rows, columns that repeat."""

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest.contracts import UNREAD_BINARY, UNREAD_NUMBER, UNREAD_TIME, our_word
from trustreport.study.ingest.problems import KeyPath, Problems, did_you_mean, listed, quoted
from trustreport.study.ingest.tables import Raw, is_text, kept
from trustreport.study.plan import FileForm, Pivot, Unpivot
from trustreport.study.study import Binary, Coded, Codes, Floats, Labels

if TYPE_CHECKING:
    import pyarrow as pa

    from trustreport.study.ingest.tables import Column


NATURAL = 1_000_000  # names that are sorted as a person would; more are sorted by their characters
YES, NO = ("1", "1.0", "true", "yes"), ("0", "0.0", "false", "no")
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
PARTS_OF_DATES = {"yyyy": "%Y", "yy": "%y", "mmm": "%b", "mm": "%m", "dd": "%d"} | {
    "HH": "%H",
    "MM": "%M",
    "SS": "%S",
}
TIME = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")


def text(column: "Column") -> "Column":
    """Cells as trimmed text, null where empty; whole numbers of a typed column without their ".0"."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_floating(kind):
        column = pc.cast(column, pa.float64())
        column = pc.if_else(pc.is_nan(column), None, column)
        whole = pc.and_(pc.equal(pc.floor(column), column), pc.less(pc.abs(column), 2.0**53))
        ints = pc.cast(pc.cast(pc.if_else(whole, column, None), pa.int64()), pa.string())
        column = pc.coalesce(ints, pc.cast(column, pa.string()))
    elif pa.types.is_temporal(kind):
        column = pc.replace_substring(pc.cast(column, pa.string()), " ", "T")
    elif not is_text(kind):
        column = pc.cast(column, pa.string())
    trimmed = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(pc.binary_length(trimmed), 0), None, trimmed)


def encoded(column: "Column") -> tuple[Codes, "pa.Array"]:
    """Codes (n_rows,) of trimmed text in order of appearance, -1 where empty, and the distinct texts."""
    import pyarrow as pa

    if not (is_text(column.type) or pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        return _encoded(text(column))
    codes, cells = _encoded(column)
    names = text(cells)  # of different cells only: of many millions of rows they are few
    if names.equals(cells):
        return codes, names
    again, names = _encoded(names)
    return np.append(again, np.int32(-1))[codes], names


def _encoded(column: "Column") -> tuple[Codes, "pa.Array"]:
    """Codes of the cells as they stand, -1 where null, and the distinct cells."""
    import pyarrow as pa

    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    coded = pa.chunked_array(chunks, column.type).dictionary_encode()  # all chunks share one dictionary
    if not coded.chunks:
        return np.empty(0, np.int32), pa.array([], column.type)
    codes = np.concatenate([c.indices.fill_null(-1).to_numpy(zero_copy_only=False) for c in coded.chunks])
    return codes.astype(np.int32, copy=False), coded.chunks[-1].dictionary


def natural_key(name: str) -> str:
    """A key that sorts c2 before c10."""
    return re.sub(r"[0-9]+", lambda run: f"{len(run[0].lstrip('0')):04d}{run[0].lstrip('0')}", name)


def natural_order(names: "pa.Array") -> NDArray[np.int64]:
    """The positions of distinct names in natural order; of very many, by their characters."""
    import pyarrow.compute as pc

    if len(names) > NATURAL:
        return np.asarray(pc.sort_indices(names), np.int64)
    plain = names.to_pylist()
    keys = [(natural_key(n), n) for n in plain]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)


def sorted_codes(codes: Codes, names: "pa.Array") -> tuple[Codes, "pa.Array"]:
    """The same column with its names in natural order."""
    order = natural_order(names)
    place = np.empty(len(order) + 1, np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    place[-1] = -1
    return place[codes], names.take(order)


def labels_of(names: "pa.Array") -> Labels:
    """Names as `Labels`: a tuple where they are few, the Arrow array where they are many."""
    return Labels(tuple(names.to_pylist())) if len(names) <= NATURAL else Labels(names)


def coded(codes: Codes, names: "pa.Array") -> Coded:
    """A sorted `Coded` of the names that occur."""
    codes, names = sorted_codes(*used_only(codes, names))
    return Coded(codes, labels_of(names))


def used_only(codes: Codes, names: "pa.Array") -> tuple[Codes, "pa.Array"]:
    """The same column without names that no row has."""
    used = np.zeros(len(names) + 1, bool)
    used[codes] = True
    used = used[:-1]
    if used.all():
        return codes, names
    place = np.full(len(names) + 1, -1, np.int32)
    place[:-1][used] = np.arange(int(used.sum()), dtype=np.int32)
    return place[codes], names.filter(used)


def numbers(column: "Column", decimal: str | None) -> Floats:
    """Floats, NaN where empty, infinite where the cell is no finite number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if (
        pa.types.is_integer(column.type)
        or pa.types.is_floating(column.type)
        or pa.types.is_decimal(column.type)
    ):
        return _floats(pc.cast(column, pa.float64(), safe=False))
    cells = text(column)
    if decimal == ",":
        pointed = pc.match_substring(cells, ".")
        cells = pc.if_else(pointed, "no number", pc.replace_substring(cells, ",", "."))
    try:
        made = pc.cast(cells, pa.float64())
        doubtful = pc.and_kleene(pc.is_valid(made), pc.invert(pc.is_finite(made)))
        if not pc.any(doubtful).as_py():
            return _floats(made)
    except pa.ArrowInvalid:
        pass
    good = pc.match_substring_regex(cells, NUMBER)
    made = pc.cast(pc.if_else(good, cells, None), pa.float64())
    floats = _floats(made)
    bad = pc.invert(pc.fill_null(good, True))
    floats[np.asarray(bad.to_numpy(zero_copy_only=False), bool)] = UNREAD_NUMBER
    return floats


def _floats(column: Any) -> Floats:
    import pyarrow.compute as pc

    made = np.asarray(pc.fill_null(column, np.nan).to_numpy(zero_copy_only=False), np.float64)
    return made if made.flags.writeable else made.copy()


def binary(column: "Column") -> Binary:
    """0 and 1 as int8, -1 where empty, -2 where the cell is neither."""
    codes, names = encoded(column)
    meaning = np.full(len(names) + 1, UNREAD_BINARY, np.int8)
    meaning[-1] = -1
    for i, name in enumerate(names.slice(0, 10_000).to_pylist()):
        meaning[i] = 1 if name.lower() in YES else 0 if name.lower() in NO else UNREAD_BINARY
    return meaning[codes]


def recoded(column: "Column", codes: Mapping[str, str]) -> "Column":
    """The cells under other names: exact spellings first, then without regard to case; "" makes one empty."""
    import pyarrow as pa

    at, names = encoded(column)
    folded = {name.casefold(): value for name, value in codes.items()}
    new = [codes.get(n, folded.get(n.casefold(), n)) or None for n in names.to_pylist()]
    return pa.array([*new, None], pa.string()).take(np.where(at < 0, len(new), at))


def scaled(column: "Column", factor: float, decimal: str | None) -> "Column":
    """Numbers multiplied by a factor, a per cent sign left out; as they stand where a cell is no number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bare = pc.utf8_rtrim(text(column), "% \N{NO-BREAK SPACE}") if is_text(column.type) else column
    made = numbers(bare, decimal)
    return column if np.isinf(made).any() else pa.array(made * factor, from_pandas=True)


def times(column: "Column", form: str | None = None) -> NDArray[np.datetime64]:
    """Seconds in UTC (or in the unnamed zone of the table), NaT where empty, a mark where no date.

    `form` is how the table writes dates, as dd/mm/yyyy or %d/%m/%Y; dates of ISO 8601 are read too.
    """
    codes, names = encoded(column)
    pattern = strptime_of(form) if form else None
    moments = [_moment(name, pattern) for name in names.to_pylist()]
    return np.array([*moments, np.datetime64("NaT", "s")], "datetime64[s]")[codes]


def strptime_of(form: str) -> str:
    """The pattern of `datetime.strptime` for a form such as dd/mm/yyyy HH:MM."""
    if "%" in form:
        return form
    return re.sub("|".join(PARTS_OF_DATES), lambda part: PARTS_OF_DATES[part[0]], form)


def _moment(cell: str, pattern: str | None) -> np.datetime64:
    if pattern is not None:
        with suppress(ValueError):
            moment = dt.datetime.strptime(cell, pattern)  # noqa: DTZ007 -- as above, the zone is the table's
            return np.datetime64(moment.replace(tzinfo=None), "s")
    if not TIME.fullmatch(cell):
        return UNREAD_TIME
    try:
        moment = dt.datetime.fromisoformat(cell)
        if moment.tzinfo is not None:
            moment = moment.astimezone(dt.UTC).replace(tzinfo=None)
        return np.datetime64(moment, "s")
    except (ValueError, OverflowError):
        return UNREAD_TIME


MOST_RECORDS = 100_000_000


def shaped(raw: Raw, form: FileForm, path: KeyPath, problems: Problems) -> Raw | None:
    """The records of a table; None where it has not the columns or rows declared (the problem is noted)."""
    raw = without_missing(raw, form.missing)
    filtered = _filtered(raw, form.where, path, problems) if form.where else raw
    if filtered is None:
        return None
    turned = pivoted(filtered, form.pivot, path, problems) if form.pivot else filtered
    if turned is None:
        return None
    raw = turned
    if form.unpivot and "case" not in form.columns:
        raw = _with_cases(raw)
    rows = unpivoted(raw, form.unpivot, path, problems) if form.unpivot else raw
    return rows and _without_columns(rows, form.ignore, path, problems)


def _without_columns(raw: Raw, names: Sequence[str], path: KeyPath, problems: Problems) -> Raw:
    """The table without the columns that the manifest says are not used."""
    unwanted = {name.strip().casefold() for name in names}
    there = {header.casefold() for header in raw.header}
    for name in names:
        if name.strip().casefold() not in there:
            mend = did_you_mean(name, raw.header)
            problems.declared((*path, "ignore"), f"no column {quoted(name)} in {raw.file}", "", mend)
    keep = [i for i, header in enumerate(raw.header) if header.casefold() not in unwanted]
    return replace(
        raw, header=tuple(raw.header[i] for i in keep), columns=tuple(raw.columns[i] for i in keep)
    )


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
        cells = text(column)
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
        codes, distinct = encoded(raw.columns[at])
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


def pivoted(raw: Raw, how: Pivot, path: KeyPath, problems: Problems) -> Raw | None:
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
        codes, distinct = encoded(column)
        _, record = np.unique(record * (len(distinct) + 1) + codes, return_inverse=True)
    first, record = _by_appearance(record)
    asked, questions = encoded(question)
    given, answers = encoded(answer)
    texts = pa.array([*answers.to_pylist(), None], pa.string())
    columns = []
    for k in range(len(questions)):
        rows = np.flatnonzero((asked == k) & (given >= 0))
        told = np.full(len(first), -1, np.int64)
        told[record[rows[::-1]]] = given[rows[::-1]]  # the first answer stands
        other = rows[told[record[rows]] != given[rows]]
        if len(other):
            twice = np.flatnonzero((asked == k) & (record == record[other[0]]))
            found = f"two answers to {quoted(questions[k].as_py())} in one record"
            problems.add_at(raw.file, found, "one", _more_keys(how), rows=raw.row(twice), column=how.answer)
            return None
        columns.append(texts.take(np.where(told < 0, len(answers), told)))
    header = (*how.by, *questions.to_pylist())
    own = tuple(_plain(text(column)).take(first) for column in by)
    return replace(raw, header=header, columns=(*own, *columns), n_rows=len(first), rows=raw.row(first))


def _more_keys(how: Pivot) -> str:
    """What to add to `by` where records with the same cells have different answers."""
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
        word: pa.concat_arrays([_plain(text(raw.columns[place[h]])) for h in own])
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
