"""Valid files changed for the worse: trees of values, tables and bytes, each change drawn from a `Random`."""

import copy
import io
import json
import random
import string
import zipfile
from collections.abc import Callable
from itertools import pairwise
from typing import Any

Rows = list[list[Any]]

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, -0.0, 0.5, 1e-320, 5e-324, 1e308, -1e308, 1e999, float("nan"), 10**15,
    10**19, 2**63, 2**64, -(2**63), "", " ", "0", "1", "NaN", "nan", "inf", "-inf", "NA", "null", "~", "1,5",
    "1e400", "0x1F", "1_000", "１２", "½", "١٢", "=1+1", "=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-", "--",
    "%", "50%", "<script>alert(1)</script>", "{{7*7}}", "{0}", "%s%n", "../../etc/passwd", "/dev/zero",
    "C:\\x",
    "file:///etc/passwd", "http://127.0.0.1/", "a\x00b", "a\u202eb", "د. ليلى", "e\u0301", "é", "\ufeff",
    "\u200b", "😀", "\ud800", "a" * 5000, "\n", "a\nb", '"', "'", "`", "\\", "2024-02-29", "2023-02-29",
    "0000-00-00", "9999-12-31", "2024-02-29T25:61:61", "2024-02-29T00:00:00+99:99", "true", "yes", "x" * 70,
    [], {}, [[]], [None], {"": None}, ["a", ["b"]], {"a": {"b": {}}},
)  # fmt: skip
CELLS = tuple(one for one in HOSTILE if not isinstance(one, (list, dict)))
ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "/etc/passwd">]>'
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp1252", "cp037", "shift_jis")

# ---------------------------------------------------------------- trees


def paths(tree: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values of a tree."""
    found = [at]
    if isinstance(tree, dict):
        for key, value in tree.items():
            found += paths(value, (*at, key))
    elif isinstance(tree, list):
        for i, value in enumerate(tree[:40]):
            found += paths(value, (*at, i))
    return found


def changed_tree(draw: random.Random, tree: Any) -> Any:
    """A tree with one to four changes: values gone, doubled, swapped, replaced, renamed, or deeper."""
    tree = copy.deepcopy(tree)
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at = draw.choice([one for one in paths(tree) if one] or [()])
        if not at:
            return draw.choice(HOSTILE)
        *before, last = at
        parent = tree
        for key in before:
            parent = parent[key]
        act = draw.choice("delete double replace replace replace rename swap deepen grow".split())
        if act == "delete":
            del parent[last]
        elif act == "double" and isinstance(parent, list):
            parent.insert(draw.randrange(len(parent) + 1), copy.deepcopy(parent[last]))
        elif act == "rename" and isinstance(parent, dict):
            parent[draw.choice((str(last).upper(), f"{last}s", f" {last}", "", "a\x00", str(last)[:-1]))] = (
                parent.pop(last)
            )
        elif act == "swap":
            other = draw.choice(paths(tree))
            value = tree
            for key in other:
                value = value[key]
            parent[last] = copy.deepcopy(value)
        elif act == "deepen":
            value = parent[last]
            for _ in range(draw.choice((1, 3, 60))):
                value = draw.choice(([value], {"a": value}))
            parent[last] = value
        elif act == "grow":
            parent[last] = [copy.deepcopy(parent[last])] * draw.choice((2, 30, 400))
        else:
            parent[last] = copy.deepcopy(draw.choice(HOSTILE))
    return tree


def plain(value: Any) -> Any:
    """A tree as JSON writes it, with what is no number as text."""
    return json.loads(json.dumps(value, default=str))


def as_yaml(draw: random.Random, tree: Any) -> bytes:
    """A tree as YAML or JSON, sometimes with anchors, tags, tabs or depth that no tree has."""
    text = json.dumps(tree, ensure_ascii=draw.random() < 0.5, indent=draw.choice((None, 1)))
    if draw.random() < 0.6:
        from ruamel.yaml import YAML

        stream = io.StringIO()
        try:
            YAML(typ="safe", pure=True).dump(tree, stream)
            text = stream.getvalue()
        except Exception:  # noqa: S110  the dumper refuses some signs: JSON is YAML too
            pass
    if draw.random() < 0.25:
        text = draw.choice(YAML_TRICKS)(draw, text)
    encoding = draw.choice(("utf-8",) * 12 + ENCODINGS)
    data = text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")
    return changed_bytes(draw, data) if draw.random() < 0.1 else data


def _bomb(draw: random.Random, text: str) -> str:
    names = string.ascii_lowercase[: draw.choice((5, 12))]
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in pairwise(names)]
    return "\n".join(lines) + "\n" + text


YAML_TRICKS: tuple[Callable[[random.Random, str], str], ...] = (
    _bomb,
    lambda draw, text: text.replace(": ", ": &a ", 1).replace(": ", ": *a ", 1),
    lambda draw, text: text + "\nloop: &l [*l]\n",
    lambda draw, text: text + "\nm: &m {<<: *m}\n",
    lambda draw, text: text + "\nx: " + "[" * draw.choice((50, 1000, 20000)),
    lambda draw, text: "x: " + "{a: " * draw.choice((50, 1000)) + "1" + "}" * 1000 + "\n" + text,
    lambda draw, text: text.replace(": ", ":\t", draw.randrange(1, 4)),
    lambda draw, text: text.replace(": ", ": !!python/object/apply:os.system ", 1),
    lambda draw, text: text.replace(
        ": ", f": !!{draw.choice(('binary', 'int', 'float', 'set', 'omap'))} ", 1
    ),
    lambda draw, text: "%YAML 1.1\n%TAG ! tag:x,2000:\n---\n" + text,
    lambda draw, text: text + "\n---\n" + text,
    lambda draw, text: text + "\nreport: {kind: vigilance}\n",
    lambda draw, text: text + "\n? [a, b]\n: c\n",
    lambda draw, text: text + "\n" + "k" * 3000 + ": 1\n",
    lambda draw, text: text + "\nn: " + "9" * 6000 + "\n",
    lambda draw, text: text.replace("\n", "\r", 3),
)

# ---------------------------------------------------------------- tables


def changed_rows(draw: random.Random, rows: Rows) -> Rows:
    """A table with one to four changes of its rows, columns and cells."""
    rows = [list(row) for row in rows]
    for _ in range(draw.choice((1, 1, 2, 4))):
        width = max((len(row) for row in rows), default=0)
        at = draw.randrange(width) if width else 0
        row = draw.randrange(len(rows)) if rows else 0
        act = draw.choice(
            "cell cell cell column column name drop_column twice shuffle drop_rows rows short".split()
        )
        if not rows or not width:
            return [[draw.choice(CELLS)]]
        if act == "cell":
            for one in rows[row : row + draw.choice((1, 1, 3))]:
                one[at : at + 1] = [draw.choice(CELLS)]
        elif act == "column":
            value = draw.choice(CELLS)
            for one in rows[1:]:
                one[at : at + 1] = [value if draw.random() < 0.9 else draw.choice(CELLS)]
        elif act == "name":
            rows[0][at : at + 1] = [draw.choice((*CELLS, *rows[0]))]
        elif act == "drop_column":
            for one in rows:
                del one[at : at + 1]
        elif act == "twice":
            for one in rows:
                one += one[at : at + 1]
        elif act == "shuffle":
            draw.shuffle(rows)
        elif act == "drop_rows":
            del rows[draw.choice((0, 1, row)) :][: draw.choice((1, 3, len(rows)))]
            rows = rows[: draw.choice((0, 1, 2, row + 1))]
        elif act == "rows":
            rows += [list(rows[row])] * draw.choice((1, 2, 300))
        else:
            rows[row] = rows[row][: draw.randrange(width)] if draw.random() < 0.5 else rows[row] * 3
    return rows


def as_csv(draw: random.Random, rows: Rows) -> bytes:
    """A table as text: any delimiter, quoting, line end and encoding."""
    by = draw.choice((",",) * 6 + (";", "\t", "|", " ", "\x00", ",,"))
    quote = draw.choice(('"',) * 6 + ("", "'"))
    lines = []
    for row in rows:
        cells = ["" if cell is None else str(cell) for cell in row]
        if quote:
            special = (by, quote, "\n", "\r")
            cells = [
                quote + cell.replace(quote, quote * 2) + quote if any(s in cell for s in special) else cell
                for cell in cells
            ]
        lines.append(by.join(cells))
    text = draw.choice(("\n",) * 6 + ("\r\n", "\r", "\n\n", "\x85")).join(lines) + draw.choice(
        ("\n", "", '"')
    )
    if draw.random() < 0.1:
        text = draw.choice(("sep=;\n", "# note\n", "\n\n\n", "\ufeff", "a\tb\n", "\x00")) + text
    encoding = draw.choice(("utf-8",) * 12 + ENCODINGS)
    data = text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace")
    return changed_bytes(draw, data) if draw.random() < 0.15 else data


def as_workbook(draw: random.Random, rows: Rows) -> bytes:
    """A table as a workbook, its parts sometimes changed: formulas, merged cells, bombs, missing members."""
    from openpyxl import Workbook
    from openpyxl.utils.exceptions import IllegalCharacterError

    book = Workbook()
    sheet = book.active
    if draw.random() < 0.1:
        sheet = book.create_sheet(draw.choice(("Notes", "ورقة", "a" * 31)))
    for i, row in enumerate(rows, draw.choice((1,) * 9 + (4,))):
        for j, cell in enumerate(row, 1):
            value = _typed(draw, cell)
            try:
                sheet.cell(i, j, value)
            except (IllegalCharacterError, ValueError, OverflowError):
                sheet.cell(i, j, repr(value)[:100])
    if draw.random() < 0.1:
        sheet.merge_cells("A1:B2")
    if draw.random() < 0.05:
        sheet.cell(draw.choice((5_000, 1_048_576)), draw.choice((3, 16_384)), 1)
    stream = io.BytesIO()
    try:
        book.save(stream)
    except (UnicodeEncodeError, ValueError, OverflowError):
        return b"PK\x03\x04"
    data = stream.getvalue()
    if draw.random() < 0.3:
        data = _changed_members(draw, data)
    return changed_bytes(draw, data) if draw.random() < 0.15 else data


def _typed(draw: random.Random, cell: Any) -> Any:
    if isinstance(cell, str) and draw.random() < 0.8:
        for kind in (int, float):
            try:
                return kind(cell)
            except ValueError:
                continue
    return cell


def _changed_members(draw: random.Random, data: bytes) -> bytes:
    """The archive with one member changed, missing, doubled or huge."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        chosen = draw.choice(names)
        act = draw.choice("bytes drop bomb empty xml path entries".split())
        for name in names:
            held = old.read(name)
            if name == chosen and act == "drop":
                continue
            if name == chosen and act == "bytes":
                held = changed_bytes(draw, held)
            elif name == chosen and act == "bomb":
                held = held[:-20] + b" " * draw.choice((10**6, 3 * 10**7, 3 * 10**8)) + held[-20:]
            elif name == chosen and act == "empty":
                held = b""
            elif name == chosen and act == "xml":
                held = held.replace(b"?>", b"?>" + ENTITIES, 1).replace(b"<v>", b"<v>&b;&c;", 2)
            new.writestr(name, held)
        if act == "path":
            new.writestr(draw.choice(("../../x", "/x", "xl/../x", "a\\b")), b"x")
        elif act == "entries":
            for i in range(draw.choice((10, 3000))):
                new.writestr(f"xl/worksheets/s{i}.xml", b"")
    return out.getvalue()


def as_parquet(draw: random.Random, rows: Rows) -> bytes:
    """A table as Parquet: columns of any type, names that occur twice, bytes changed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    header, body = ([str(name) for name in rows[0]], rows[1:]) if rows else ([], [])
    columns = []
    for j in range(len(header)):
        cells = [row[j] if j < len(row) else None for row in body]
        columns.append(_column(draw, cells))
    stream = io.BytesIO()
    try:
        names = [name.encode("utf-8", "replace").decode() for name in header]
        pq.write_table(
            pa.table(columns, names=names),
            stream,
            compression=draw.choice(("snappy", "none", "zstd", "gzip")),
            use_dictionary=draw.random() < 0.5,
            row_group_size=draw.choice((1, 7, 1000)),
        )
    except (pa.ArrowException, ValueError, TypeError, OverflowError, UnicodeEncodeError):
        return b"PAR1" + bytes(draw.randrange(256) for _ in range(40)) + b"PAR1"
    data = stream.getvalue()
    return changed_bytes(draw, data) if draw.random() < 0.3 else data


def _column(draw: random.Random, cells: list[Any]) -> Any:
    import pyarrow as pa

    text = pa.array(
        [None if c is None else str(c).encode("utf-8", "replace").decode() for c in cells], pa.string()
    )
    kinds = (
        pa.int8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.binary(),
        pa.large_string(), pa.decimal128(20, 3), pa.decimal256(60, 5), pa.date32(), pa.date64(),
        pa.timestamp("ns", "UTC"), pa.time64("us"), pa.duration("s"), pa.dictionary(pa.int8(), pa.string()),
        pa.null(), pa.string_view(),
    )  # fmt: skip
    kind = draw.choice((pa.string(), pa.float64(), pa.int64(), pa.string(), pa.float64(), *kinds))
    if draw.random() < 0.05:
        return pa.array([[c] for c in text.to_pylist()], pa.list_(pa.string()))
    if draw.random() < 0.03:
        return pa.array([{"a": c} for c in text.to_pylist()])
    try:
        return text.cast(kind)
    except (pa.ArrowException, OverflowError, ValueError):
        try:
            return text.cast(pa.float64())
        except pa.ArrowException:
            return text


def as_imrmc(draw: random.Random, rows: Rows) -> bytes:
    """Readings as a file of iMRMC."""
    front = draw.choice(("", "A study\n", "NR: 2\nN0: 2\n", "BEGIN DATA:\n", "x" * 5000 + "\n"))
    begin = draw.choice(("BEGIN DATA:",) * 9 + ("begin data:", "BEGIN DATA", "", "BEGIN DATA: x"))
    return (front + begin + "\n").encode() + as_csv(draw, rows)


# ---------------------------------------------------------------- bytes


def changed_bytes(draw: random.Random, data: bytes) -> bytes:
    """Bytes flipped, cut, doubled or put in."""
    held = bytearray(data)
    for _ in range(draw.choice((1, 1, 3, 20))):
        at = draw.randrange(len(held) + 1)
        act = draw.choice("flip flip cut double insert zero".split())
        if act == "flip" and at < len(held):
            held[at] ^= 1 << draw.randrange(8)
        elif act == "cut":
            del held[at : at + draw.choice((1, 8, len(held)))]
        elif act == "double":
            held[at:at] = held[at : at + draw.choice((4, 64))]
        elif act == "insert":
            held[at:at] = draw.choice(
                (b"\x00", b"\xff\xfe", b"\n", b'"', b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1a")
            )
        elif act == "zero":
            held[at : at + 4] = b"\x00" * len(held[at : at + 4])
    return bytes(held)
