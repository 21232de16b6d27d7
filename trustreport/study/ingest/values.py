"""Columns of text to arrays: names as codes, numbers, 0/1, dates; no cell is guessed at."""

import datetime as dt
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest.contracts import UNREAD_BINARY, UNREAD_NUMBER, UNREAD_TIME
from trustreport.study.ingest.tables import is_text
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
