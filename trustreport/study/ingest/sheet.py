"""One sheet of an XLSX workbook, or a file of SAS, SPSS or Stata, as an Arrow table of text.

A small workbook can unpack to gigabytes, one cell in the last corner makes a reader reserve the whole sheet,
and the readers of the other formats are written in C; none may take the caller's memory. A process of its own
runs this file alone: ``python sheet.py FILE HEADER_ROWS [SHEET]`` exits with 2 and one line of JSON, what is
wrong, or writes a line of JSON and then each column as Arrow has it in memory: where its texts end, and the
texts. Importing Arrow to do so would take six times as long as all else that the process imports.
"""

import json
import subprocess
import sys
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    import pyarrow as pa

MOST_UNPACKED = 250_000_000
MOST_ENTRIES = 2_000
MOST_RATIO = 100  # of unpacked to packed bytes, where it matters
SMALL = 10_000_000
MOST_CELLS = 20_000_000
MOST_MEMORY = 4_000_000_000
MOST_TEXT = 1_000_000_000
MOST_SECONDS = 180
TOP_ROWS, MOST_NAMED = 15, 20  # rows and sheets that are given beside the table
# Files of statistics programs: who writes each, and the function of pyreadstat that reads it.
STATISTICAL = {
    ".sas7bdat": ("SAS", "read_sas7bdat"),
    ".xpt": ("SAS", "read_xport"),
    ".sav": ("SPSS", "read_sav"),
    ".zsav": ("SPSS", "read_sav"),
    ".dta": ("Stata", "read_dta"),
}


class Unreadable(Exception):
    """The file cannot be read; `found`, `expected`, `mend` say why, `rows` where.

    `header_row` is where the header is, where it is only not in the first row.
    """

    def __init__(
        self,
        found: str,
        expected: str = "",
        mend: str = "",
        *,
        rows: tuple[int, ...] = (),
        header_row: int | None = None,
    ) -> None:
        super().__init__(found)
        self.found, self.expected, self.mend = found, expected, mend
        self.rows, self.header_row = rows, header_row


def read_sheet(
    path: Path, sheet: str | None, header_rows: tuple[int, ...] = (1,)
) -> tuple["pa.Table", list[list[str]], tuple[str, ...]]:
    """A sheet (the first one by default) as text, its first rows, and the names of the other sheets.

    Raises `Unreadable`.
    """
    check_archive(path)
    heavy = Unreadable(
        "a workbook that is damaged or too large", "an XLSX workbook", "Save the sheet as CSV."
    )
    rows = ",".join(map(str, header_rows))
    table, said = _run_reader([str(path), rows, *([sheet] if sheet else [])], heavy)
    return table, said["top"], tuple(said["others"])


def read_statistical(path: Path) -> tuple["pa.Table", dict[str, str], dict[str, dict[str, str]]]:
    """A file of SAS, SPSS or Stata as text, the labels of its columns, and the codes of labels of values.

    A column whose values all have labels has these as its cells; of others the values stand.
    Raises `Unreadable`.
    """
    program = STATISTICAL[path.suffix.lower()][0]
    if find_spec("pyreadstat") is None:
        mend = "Install it (pip install 'trustreport[formats]'), or save the table as CSV."
        raise Unreadable(f"a file of {program}, and no package that reads it", "pyreadstat", mend)
    heavy = Unreadable(f"a damaged or too large file of {program}", "a smaller one", "Save the table as CSV.")
    table, said = _run_reader([str(path), "1"], heavy)
    return table, said["labels"], said["codes"]


def _run_reader(arguments: list[str], heavy: Unreadable) -> tuple["pa.Table", dict[str, Any]]:
    """The table that the process reads, and what it says of it; `heavy` where it fails or takes too long."""
    command = [sys.executable, "-P", __file__, *arguments]
    try:
        # The command is this file under this interpreter; the arguments are data.
        done = subprocess.run(command, capture_output=True, timeout=MOST_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        raise heavy from None
    if done.returncode == 2:
        raise Unreadable(*json.loads(done.stdout))
    if done.returncode:
        raise heavy
    about, _, _ = done.stdout.partition(b"\n")
    said = json.loads(about)
    return _table(done.stdout, len(about) + 1, said), said


def _table(written: bytes, start: int, said: dict[str, Any]) -> "pa.Table":
    """The columns that lie in `written` from `start` on, which is a multiple of eight; nothing is copied."""
    import pyarrow as pa

    whole, rows = pa.py_buffer(written), said["rows"]
    columns = []
    for _ in said["names"]:
        ends = whole.slice(start, 8 * (rows + 1))
        texts = whole.slice(start + ends.size, int.from_bytes(ends[8 * rows :], sys.byteorder))
        columns.append(pa.Array.from_buffers(pa.large_string(), rows, [None, ends, texts]))
        start += ends.size + texts.size + _short(texts.size)
    fields = [
        pa.field(name, pa.large_string(), metadata={"numeric": str(int(numeric))})
        for name, numeric in zip(said["names"], said["numeric"])
    ]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def _short(length: int) -> int:
    """How many bytes bring a length to a multiple of eight, at which Arrow reads numbers."""
    return -length % 8


def check_archive(path: Path) -> None:
    """Refuse an archive that unpacks to more than a table needs, whatever its directory claims."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ENTRIES:
                raise Unreadable(f"a workbook of {len(entries):,} parts", f"at most {MOST_ENTRIES:,}")
            if any(e.flag_bits & 1 for e in entries):
                raise Unreadable(
                    "an encrypted workbook", "one without a password", "Save it without a password."
                )
            if "xl/workbook.xml" not in archive.namelist():
                raise Unreadable("an archive that is no XLSX workbook", "CSV, Parquet or XLSX")
            packed, unpacked = path.stat().st_size, 0
            with path.open("rb") as stream:
                for entry in entries:
                    unpacked += _unpacked(stream, entry, MOST_UNPACKED - unpacked)
            if unpacked > SMALL and unpacked > MOST_RATIO * packed:
                raise Unreadable(f"a workbook that unpacks to {unpacked // packed} times its size")
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError):
        mend = "Open it in a spreadsheet and save it again as XLSX or CSV."
        raise Unreadable("a damaged workbook", "an XLSX workbook", mend) from None


def _unpacked(stream: Any, entry: zipfile.ZipInfo, most: int) -> int:
    """The true unpacked size of an entry, counted by unpacking it in small pieces."""
    too_much = Unreadable(
        f"a workbook that unpacks to more than {MOST_UNPACKED // 1_000_000} MB",
        "a smaller one",
        "Save the sheet as CSV or Parquet.",
    )
    if entry.compress_type == zipfile.ZIP_STORED:
        if entry.compress_size > most:
            raise too_much
        return entry.compress_size
    if entry.compress_type != zipfile.ZIP_DEFLATED:
        raise zipfile.BadZipFile
    stream.seek(entry.header_offset + 26)
    lengths = stream.read(4)
    stream.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
    unpack, size = zlib.decompressobj(-15), 0
    while not unpack.eof:
        piece = unpack.unconsumed_tail or stream.read(1 << 16)
        if not piece:
            raise zipfile.BadZipFile
        size += len(unpack.decompress(piece, 1 << 20))
        if size > most:
            raise too_much
    return size


def _refuse(*words: str) -> NoReturn:
    sys.stdout.write(json.dumps(words))
    raise SystemExit(2)


def _limit() -> None:
    """Bound the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _text(cell: Any) -> str:
    """A cell as it would be typed: whole numbers without a point, dates as ISO."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if hasattr(cell, "isoformat"):
        return str(cell.isoformat())
    return str(cell)


def joined(rows: list[list[str]], *, fill: bool = True) -> tuple[str, ...]:
    """The names of columns that several rows give together.

    To `fill` is to let a name in an upper row hold for the columns to its right that have none there and one
    below, as a merged cell does.

    >>> joined([["Case", "Reader 1", "", "Notes"], ["", "without", "with", ""]])
    ('Case', 'Reader 1 without', 'Reader 1 with', 'Notes')
    """
    width = max(map(len, rows))
    cells = [[cell.strip() for cell in row] + [""] * (width - len(row)) for row in rows]
    for row in cells[:-1] if fill else ():
        for i in range(1, width):
            row[i] = row[i] or (row[i - 1] if cells[-1][i] else "")
    columns = (dict.fromkeys(filter(None, column)) for column in zip(*cells))
    return tuple(" ".join(column) for column in columns)


def main(path: str, header_rows: str = "1", sheet: str | None = None) -> None:
    """Write the table to standard output."""
    _limit()
    if Path(path).suffix.lower() in STATISTICAL:
        _statistical(path)
    else:
        _workbook(path, header_rows, sheet)


def _statistical(path: str) -> None:
    import pyreadstat
    from numpy import float32

    program, reader = STATISTICAL[Path(path).suffix.lower()]
    read = getattr(pyreadstat, reader)
    try:
        _, about = read(path, metadataonly=True, output_format="dict")
        most = MOST_CELLS // max(about.number_columns, 1)
        # User-defined missing values of SPSS and Stata's .a to .z are read as no value. What the file says of
        # its number of rows need not be true.
        data, about = read(path, output_format="dict", row_limit=most + 1)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, OverflowError, ValueError):
        _refuse(f"a damaged file of {program}", f"a file of {program}", "Save it again, or as CSV.")
    if any(len(column) > most for column in data.values()):
        mend = "Leave out columns, or save it as Parquet."
        _refuse(f"more than {most:,} rows", f"at most {MOST_CELLS:,} cells", mend)
    labels = {name.strip(): label for name, label in about.column_names_to_labels.items() if label}
    codes: dict[str, dict[str, str]] = {}
    columns = []
    for name, column in data.items():
        cells = ["" if cell is None or cell != cell else cell for cell in column]
        if about.readstat_variable_types.get(name) == "float":  # 0.7, not 0.699999988
            cells = ["" if cell == "" else float(str(float32(cell))) for cell in cells]
        words = about.variable_value_labels.get(name, {})
        present = {cell for cell in cells if cell != ""}
        if present and present <= words.keys():
            codes[name.strip()] = {words[cell].strip(): _text(cell) for cell in words}
            cells = ["" if cell == "" else words[cell] for cell in cells]
        columns.append(cells)
    _write([name.strip() for name in data], columns, {"labels": labels, "codes": codes})


def _workbook(path: str, header_rows: str, sheet: str | None) -> None:
    from python_calamine import CalamineError, load_workbook

    try:
        book = load_workbook(path)
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            _refuse(f'no sheet "{sheet}"', "one of: " + ", ".join(names[:20]))
        if not names:
            _refuse("a workbook without sheets", "a sheet with a header and rows")
        made = book.get_sheet_by_name(sheet or names[0])
        if made.total_height * made.total_width > MOST_CELLS:
            _refuse(
                f"a sheet of {made.total_height:,} rows and {made.total_width:,} columns", "a smaller sheet"
            )
        rows: list[list[Any]] = made.to_python(skip_empty_area=False)
        merged = made.merged_cell_ranges or [] if "," in header_rows else []
        del book, made  # each holds the whole sheet once more
    except CalamineError:
        _refuse("a damaged workbook", "an XLSX workbook", "Open it in a spreadsheet and save it again.")
    named = [int(row) for row in header_rows.split(",")]
    first = named[-1]
    if len(rows) < first and first > 1:
        _refuse(f"{len(rows)} rows, and header_row: {first}", "a header in that row")
    for (top, left), (bottom, right) in merged:  # the cell of the first corner is that of all
        for i in range(top, min(bottom, first - 1) + 1):
            rows[i][left : right + 1] = [rows[top][left]] * (right + 1 - left)
    header = (
        joined([[_text(name) for name in rows[row - 1]] for row in named], fill=not merged) if rows else ()
    )
    body = rows[first:]
    said = {
        "top": [[_text(c) for c in row] for row in rows[:TOP_ROWS]],
        "others": [name for name in names[:MOST_NAMED] if name != (sheet or names[0])],
    }
    _write(header, ([row[i] for row in body] for i in range(len(header))), said)


def _write(header: Sequence[str], columns: Iterable[list[Any]], said: dict[str, Any]) -> None:
    """Write the columns of a table, whose cells may be of any kind, and what is said of it."""
    numeric, written, rows, size = [], [], 0, 0
    for cells in columns:
        rows = len(cells)
        # A stray cell far below makes a million empty ones, which are gone through as rarely as can be.
        kinds = set(map(type, cells))
        numeric.append(any(issubclass(kind, int | float) for kind in kinds))
        texts = cells if kinds <= {str} else [c if c == "" else _text(c) for c in cells]
        coded = [text.encode() for text in texts]
        together = b"".join(coded)
        size += len(together)
        if size > MOST_TEXT:
            _refuse(f"more than {MOST_TEXT // 1_000_000} MB of cells", "a smaller table")
        written.append((array("q", accumulate(map(len, coded), initial=0)), together))
    about = json.dumps({"rows": rows, "names": list(header), "numeric": numeric, **said})
    out = sys.stdout.buffer
    out.write((about + " " * _short(len(about) + 1) + "\n").encode())
    for ends, together in written:
        out.writelines([ends.tobytes(), together, bytes(_short(len(together)))])


if __name__ == "__main__":
    main(*sys.argv[1:])
