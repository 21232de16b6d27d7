"""A file of any accepted kind (CSV, Parquet, XLSX, SAS, SPSS, Stata, iMRMC) as columns of Arrow text.

Each record has its row. Nothing is interpreted here: cells keep their characters, so that a message can
show them, and 007 stays 007.
"""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest.manifest import BOMS, is_utf8
from trustreport.study.ingest.problems import CELL, RETYPE, SEEN, Problems, quoted, unseen
from trustreport.study.ingest.sheet import STATISTICAL, Unreadable, joined, read_sheet, read_statistical
from trustreport.study.interop.imrmc import BEGIN, SUFFIX, NoData, read_imrmc

if TYPE_CHECKING:
    from typing import TypeAlias

    import pyarrow as pa

    Column: TypeAlias = pa.ChunkedArray | pa.Array

DELIMITERS = (",", ";", "\t", "|")
BLOCK = 1 << 23  # bytes that the CSV reader takes at once; no record may be longer
HEAD = 1 << 16
MOST_COLUMNS = 20_000
TOP_ROWS = 15  # among which a header is looked for
BY_PLACE = "column "  # and its number: what a column without a header is called
FEWEST_NAMED = 2  # columns that a row names for it to be taken as the header
ACCEPTED = "CSV, Parquet or XLSX"
DAMAGED_PARQUET = ("a damaged Parquet file", "Parquet, CSV or XLSX", "Write it again.")


@dataclass(frozen=True)
class Layout:
    """How a file was written, as the manifest declares it; what is None is inferred from the file."""

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    header_row: int | tuple[int, ...] | None = None  # several rows together name the columns
    skip_rows: tuple[int, ...] = ()
    date_format: str | None = None

    @property
    def header_rows(self) -> tuple[int, ...]:
        """The rows of the header; () where none is declared."""
        rows = self.header_row
        return rows if isinstance(rows, tuple) else () if rows is None else (rows,)


@dataclass(frozen=True)
class Wanted:
    """The names of columns that a table is looked through for, and where the manifest speaks of it."""

    names: frozenset[str] = frozenset()  # in small letters
    where: str = ""


@dataclass(frozen=True)
class Raw:
    """The columns of a file as they stand; `rows` holds spreadsheet rows where they are not 2, 3, 4 ..."""

    file: str
    header: tuple[str, ...]
    columns: tuple["Column", ...]
    n_rows: int
    layout: Layout = Layout()
    rows: NDArray[np.int64] | None = None
    n_blank: int = 0
    typed: frozenset[str] = frozenset()  # headers of columns whose cells were numbers, not text
    nested: frozenset[str] = frozenset()  # headers of columns whose cells are no plain values
    guessed_encoding: str = ""
    sheets: tuple[str, ...] = ()  # other sheets of the workbook
    labels: Mapping[str, str] = field(default_factory=dict)  # what columns hold, where the file says so
    codes: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # the code of each label that is a cell

    def row(self, index: NDArray[Any]) -> NDArray[np.int64]:
        """The spreadsheet rows of records."""
        return index + 2 if self.rows is None else self.rows[index]


def read_table(
    path: Path, name: str, layout: Layout, problems: Problems, wanted: Wanted = Wanted()
) -> Raw | None:
    """The columns of a file; None where it cannot be read (the problem is noted)."""
    with path.open("rb") as stream:
        magic = stream.read(4)
    try:
        if magic == b"PAR1":
            raw = _parquet(path, name)
        elif magic == b"PK\x03\x04":
            raw = _workbook(path, name, layout, wanted)
        elif magic == b"%PDF":
            mend = "Export the table itself, from the program that made the document."
            raise Unreadable("a PDF document", ACCEPTED, mend)
        elif magic == b"\xd0\xcf\x11\xe0":
            raise Unreadable("an old Excel or an encrypted workbook", ACCEPTED, "Save it as XLSX or CSV.")
        elif path.suffix.lower() in STATISTICAL:
            raw = _statistical(path, name, layout)
        elif path.suffix.lower() == SUFFIX:
            raw = _imrmc(path, name, layout, problems)
        else:
            raw = _text(path, name, layout, problems, wanted)
    except Unreadable as error:
        found = error.found if error.found.startswith("no ") else f"found {error.found}"
        problems.add_at(name, found, error.expected, error.mend, rows=error.rows)
        return None
    if not _header_holds(raw, problems):
        return None
    raw = _named_by_place(raw)
    if layout.skip_rows:  # units, notes, totals
        raw = kept(raw, ~np.isin(raw.row(np.arange(raw.n_rows)), layout.skip_rows))
    raw = _without_blank_rows(raw)
    if raw.n_rows == 0:
        problems.add_at(name, "no rows below the header", "at least one row")
        return None
    return raw


def _header_holds(raw: Raw, problems: Problems) -> bool:
    named = [h for h in raw.header if h]
    twice = sorted({h for h in named if named.count(h) > 1}) if len(set(named)) < len(named) else []
    for header in twice:
        found, mend = f"two columns are named {quoted(header)}", "Rename or remove one of them."
        problems.add_at(raw.file, found, "", mend, rows=(1,), column=header[:CELL])
    for header in filter(unseen, named):
        problems.add_at(raw.file, f"found a header {quoted(header)}", SEEN, RETYPE, rows=(1,))
        return False
    if not named:
        problems.add_at(raw.file, "found no header", "a first row that names the columns", rows=(1,))
    return bool(named)


def _named_by_place(raw: Raw) -> Raw:
    """The table whose columns without a header are called by their place, as "column 3", if not empty."""
    if all(raw.header):
        return raw
    import pyarrow as pa
    import pyarrow.compute as pc

    def name(place: int) -> str:
        cells = pc.utf8_trim_whitespace(raw.columns[place - 1].cast(pa.string()))
        own = f"{BY_PLACE}{place}"
        return own if own not in raw.header and pc.any(pc.not_equal(cells, "")).as_py() else ""

    return replace(raw, header=tuple(h or name(i) for i, h in enumerate(raw.header, 1)))


def _misplaced_header(header: Sequence[str], top: Sequence[Sequence[str]], wanted: Wanted) -> None:
    """Refuse a first row that names none of the columns wanted where a later one names several."""

    def named(cells: Sequence[str]) -> int:
        return len({cell.strip().casefold() for cell in cells} & wanted.names)

    if named(header) or not top:
        return
    best = max(range(len(top)), key=lambda i: named(top[i]))
    if named(top[best]) >= FEWEST_NAMED:
        first = next((cell for cell in header if cell.strip()), "")
        found = f"{quoted(first)} in the first row, and names of columns in row {best + 1}"
        mend = f"Add {wanted.where}.header_row: {best + 1} to the manifest."
        raise Unreadable(found, "a header", mend, rows=(1,), header_row=best + 1)


def top_rows(path: Path, sheet: str | None = None) -> list[list[str]]:
    """The first rows of a sheet or of a text; none of another file, and of one that cannot be read."""
    try:
        with path.open("rb") as stream:
            magic = stream.read(4)
        if magic == b"PK\x03\x04":
            return read_sheet(path, sheet)[1]
        if magic == b"PAR1" or path.suffix.lower() in STATISTICAL:
            return []
        return _top(_head(_utf8(path, None)[0]), None)
    except Unreadable:
        return []


def find_header(
    top: Sequence[Sequence[str]], names: frozenset[str], plain: Callable[[str], str] = str.casefold
) -> int | None:
    """The row of a header that is not the first, by the names of columns that it has; None where it is.

    `plain` writes a cell as `names` are written.
    """
    rows = [[plain(cell) for cell in row] for row in top]
    try:
        _misplaced_header(rows[0] if rows else (), rows, Wanted(names))
    except Unreadable as error:
        return error.header_row
    return None


def kept(raw: Raw, mask: NDArray[np.bool_]) -> Raw:
    """The table with some of its records only."""
    keep = np.flatnonzero(mask)
    columns = tuple(column.take(keep) for column in raw.columns)
    return replace(raw, columns=columns, n_rows=len(keep), rows=raw.row(keep))


def _without_blank_rows(raw: Raw) -> Raw:
    """Records that are empty in every column are no rows: spreadsheets leave them at the end."""
    import pyarrow.compute as pc

    blank = np.ones(raw.n_rows, bool)
    for column in raw.columns:
        if not blank.any():
            return raw
        if is_text(column.type):
            blank &= _numpy(pc.fill_null(pc.equal(pc.binary_length(column), 0), True))
        else:
            blank &= _numpy(pc.is_null(column))
    return replace(kept(raw, ~blank), n_blank=int(blank.sum())) if blank.any() else raw


def _numpy(mask: Any) -> NDArray[Any]:
    return np.asarray(mask.to_numpy(zero_copy_only=False) if hasattr(mask, "combine_chunks") else mask)


def is_text(kind: "pa.DataType") -> bool:
    """Whether cells of this Arrow type are text."""
    import pyarrow.types as types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _is_plain(kind: "pa.DataType") -> bool:
    """Whether cells of this Arrow type are text, or can be written as text."""
    import pyarrow.types as types

    numbers = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_null)
    moments = (types.is_date, types.is_timestamp, types.is_time, types.is_duration)
    return is_text(kind) or any(is_of(kind) for is_of in (*numbers, *moments))


def _parquet(path: Path, name: str) -> Raw:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        if file.metadata.num_columns > MOST_COLUMNS:
            raise Unreadable(f"{file.metadata.num_columns:,} columns", f"at most {MOST_COLUMNS:,}")
        try:
            table = file.read()
        except MemoryError:  # Arrow's own is one
            found = f"{file.metadata.num_rows:,} rows, which need more memory than there is"
            mend = "Leave out rows and columns that the study does not use."
            raise Unreadable(found, "a table that can be read as a whole", mend) from None
        for text in (column for column in table.columns if is_text(column.type)):
            text.validate(full=True)  # what writes text may have written any bytes
    except (pa.ArrowException, OSError, MemoryError, OverflowError, UnicodeDecodeError):
        raise Unreadable(*DAMAGED_PARQUET) from None
    columns, typed, nested = [], set(), set()
    for one, column in zip(table.schema, table.columns):
        kind = one.type
        if pa.types.is_dictionary(kind):
            try:
                column = pc.cast(column, kind.value_type)
                column.validate(full=True)
            except pa.ArrowException:
                raise Unreadable(*DAMAGED_PARQUET) from None
            kind = kind.value_type
        if not is_text(kind):
            typed.add(one.name.strip())
        if pa.types.is_string_view(kind):
            column = pc.cast(column, pa.large_string())  # what trims text knows no views
        if not _is_plain(kind):
            column = pa.chunked_array([pa.nulls(len(column), pa.string())])
            nested.add(one.name.strip())
        columns.append(column)
    header = tuple(n.strip() for n in table.schema.names)
    return Raw(name, header, tuple(columns), table.num_rows, typed=frozenset(typed), nested=frozenset(nested))


def _workbook(path: Path, name: str, layout: Layout, wanted: Wanted) -> Raw:
    named = layout.header_rows or (1,)
    table, top, sheets = read_sheet(path, layout.sheet, named)
    header, typed = _names_of(table)
    if layout.header_row is None:
        _misplaced_header(header, top, wanted)
    first = named[-1] + 1
    rows = None if first == 2 else np.arange(first, first + table.num_rows)
    columns = tuple(table.columns)
    return Raw(name, header, columns, table.num_rows, layout, rows, typed=typed, sheets=sheets)


def _statistical(path: Path, name: str, layout: Layout) -> Raw:
    table, labels, codes = read_statistical(path)
    if table.num_columns > MOST_COLUMNS:
        raise Unreadable(f"{table.num_columns:,} columns", f"at most {MOST_COLUMNS:,}")
    header, typed = _names_of(table)
    columns = tuple(table.columns)
    return Raw(name, header, columns, table.num_rows, layout, typed=typed, labels=labels, codes=codes)


def _names_of(table: "pa.Table") -> tuple[tuple[str, ...], frozenset[str]]:
    """The header of a table that was read apart, and the columns of it that held numbers."""
    header = tuple(n.strip() for n in table.schema.names)
    numeric = (n for n, f in zip(header, table.schema) if (f.metadata or {}).get(b"numeric") == b"1")
    return header, frozenset(numeric)


def _imrmc(path: Path, name: str, layout: Layout, problems: Problems) -> Raw:
    """An iMRMC file as a table of readings with the truth of their cases."""
    import pyarrow as pa

    source, guessed = _utf8(path, layout.encoding)
    try:
        rows, faults = read_imrmc(bytes(source.read()).decode().removeprefix("\ufeff"), name)
    except NoData:
        mend = "Name the file .csv if it is a table with a header."
        raise Unreadable(f"no line {BEGIN}", "one above the readings of an iMRMC file", mend) from None
    problems.extend(faults)
    header = ("reader", "case", "arm", "score", "truth")
    columns = tuple(pa.array(getattr(rows, word), pa.string()) for word in header)
    lines = np.array(rows.line, np.int64)
    return Raw(name, header, columns, len(lines), layout, rows=lines, guessed_encoding=guessed)


def _text(path: Path, name: str, layout: Layout, problems: Problems, wanted: Wanted) -> Raw:
    source, guessed = _utf8(path, layout.encoding)
    head = _head(source)
    if "\0" in head:
        mend = "Declare its encoding in the manifest (for instance encoding: utf-16-le), or save it as UTF-8."
        raise Unreadable("bytes that are no text", ACCEPTED, mend)
    declared = head[:4].lower() == "sep="
    named = layout.header_rows or (int(declared) + 1,)
    skipped = named[-1] - 1
    below = head.split("\n", named[0] - 1)[-1]
    delimiter = layout.delimiter or (head[4:5] if declared else _delimiter(below))
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise Unreadable(f"the delimiter {quoted(delimiter)}", "one of , ; | or a tab")
    header = _header(head, named, delimiter)
    if layout.header_row is None:
        _misplaced_header(header, _top(head, layout.delimiter), wanted)
    if len(header) > MOST_COLUMNS:
        raise Unreadable(f"{len(header):,} columns", f"at most {MOST_COLUMNS:,}")
    if layout.delimiter and len(header) == 1 and any(d in header[0] for d in DELIMITERS):
        mend = "Correct delimiter: in the manifest, or leave it out."
        raise Unreadable(f"one column only, with the delimiter {quoted(delimiter)}", "several", mend)
    table, ragged = _parsed(source, len(header), skipped, delimiter)
    rows = _rows(ragged, table.num_rows, skipped)
    ragged = [(row, n) for row, n in ragged if row not in layout.skip_rows]
    _note_ragged(name, ragged, len(header), delimiter, problems)
    return Raw(name, header, tuple(table.columns), table.num_rows, layout, rows, guessed_encoding=guessed)


def _utf8(path: Path, declared: str | None) -> tuple[Any, str]:
    """A source of UTF-8 for the CSV reader, and the encoding where it had to be guessed."""
    import pyarrow as pa

    with path.open("rb") as stream:
        head = stream.read(4)
    bom = next((e for b, e in BOMS if head.startswith(b)), None)
    encoding = declared or bom
    if encoding is None or encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        if is_utf8(path):
            return pa.memory_map(str(path)), ""
        if declared:
            raise Unreadable(f"bytes that are not {declared}", declared, "Correct encoding: in the manifest.")
        if b"\0" in path.read_bytes()[:HEAD]:
            raise Unreadable("bytes that are no text", ACCEPTED, "Save it as CSV in UTF-8.")
    data = path.read_bytes()
    if encoding:
        try:
            text = data.decode(encoding)
        except LookupError:
            known = "a known one such as utf-8 or cp1252"
            raise Unreadable(f"the encoding {quoted(encoding)}", known) from None
        except (UnicodeError, ValueError):
            mend = "Correct encoding: in the manifest."
            raise Unreadable(f"bytes that are not {encoding}", encoding, mend) from None
        return pa.BufferReader(text.removeprefix("\ufeff").encode()), ""
    for guess in ("cp1252", "latin-1"):
        try:
            return pa.BufferReader(data.decode(guess).encode()), guess
        except UnicodeDecodeError:
            continue
    raise AssertionError("latin-1 decodes every byte")


def _head(source: Any) -> str:
    text = bytes(source.read(HEAD)).decode("utf-8", "ignore")
    source.seek(0)
    return text.removeprefix("\ufeff")


def _delimiter(head: str) -> str:
    """The delimiter that splits the header most often and every early row alike."""

    def fit(delimiter: str) -> tuple[bool, int]:
        try:
            rows = csv.reader(io.StringIO(head), delimiter=delimiter)
            counts = [len(r) for _, r in zip(range(20), rows) if r]
        except csv.Error:
            return False, 0
        whole = counts[:-1] or counts  # the head may end inside a row
        return len(set(whole)) == 1 and whole[0] > 1, counts[0] if counts else 0

    return max(DELIMITERS, key=fit)


def _top(head: str, delimiter: str | None) -> list[list[str]]:
    """The first rows of a text, by the delimiter that splits one of them most often."""

    def rows(one: str) -> list[list[str]]:
        try:
            return [row for _, row in zip(range(TOP_ROWS), csv.reader(io.StringIO(head), delimiter=one))]
        except csv.Error:
            return []

    return max(map(rows, [delimiter] if delimiter else DELIMITERS), key=lambda t: max(map(len, t), default=0))


def _header(head: str, named: tuple[int, ...], delimiter: str) -> tuple[str, ...]:
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    try:
        for _ in range(named[0] - 1):
            next(rows)
        return joined([next(rows) for _ in named])
    except (csv.Error, StopIteration):
        return ()


def _parsed(source: Any, n: int, skipped: int, delimiter: str) -> tuple[Any, list[tuple[int, int]]]:
    """The table, and the (row, number of cells) of rows that are too short or too long."""
    import pyarrow as pa
    from pyarrow import csv as arrow

    if n == 0:
        return pa.table({}), []
    names = [str(i) for i in range(n)]
    ragged: list[tuple[int, int]] = []
    rows = {"block_size": BLOCK, "column_names": names, "skip_rows": skipped, "skip_rows_after_names": 1}

    def note(row: Any) -> str:
        ragged.append((row.number or 0, row.actual_columns))
        return "skip"

    parsed = arrow.ParseOptions(
        delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=False, invalid_row_handler=note
    )
    plain = arrow.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, check_utf8=False
    )

    def read(threads: bool) -> Any:
        source.seek(0)
        return arrow.read_csv(
            source,
            read_options=arrow.ReadOptions(use_threads=threads, **rows),
            parse_options=parsed,
            convert_options=plain,
        )

    try:
        table = read(True)
        if ragged:
            ragged.clear()
            table = read(False)  # only one thread knows the numbers of the rows
    except pa.ArrowException as error:
        if "straddling" in str(error) and source.size() < BLOCK:
            # A header without an end of line.
            return pa.table({k: pa.array([], pa.string()) for k in names}), []
        mend = "Look for a quotation mark that is not closed."
        raise Unreadable("text that cannot be split into rows", "a table", mend) from None
    return table, ragged


def _note_ragged(
    name: str, ragged: list[tuple[int, int]], n: int, delimiter: str, problems: Problems
) -> None:
    """One problem for each wrong number of cells."""
    shown = {"\t": "tab"}.get(delimiter, delimiter)
    for width in dict.fromkeys(w for _, w in ragged):
        at = [r for r, w in ragged if w == width]
        cells = f"{width} cell{'s' * (width != 1)}"
        apart = f"Put cells that contain {quoted(shown)} between quotation marks"
        mend = f"{apart}, and close every quotation mark."
        problems.add_at(name, f"found {cells}", f"{n}, as in the header", mend, rows=at)


def _rows(ragged: list[tuple[int, int]], n_rows: int, skipped: int) -> NDArray[np.int64] | None:
    """The rows of the records that were read; None where they are 2, 3, 4 ..."""
    if not ragged and not skipped:
        return None
    first = skipped + 2
    kept = np.ones(n_rows + len(ragged), bool)
    kept[[r - first for r, _ in ragged if 0 <= r - first < len(kept)]] = False
    return np.flatnonzero(kept)[:n_rows] + first
