"""Whatever is handed in, `read` returns or raises `StudyError`; nothing else escapes."""

import json
import string
import subprocess
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from trustreport.study.ingest import read, sheet
from trustreport.study.plan import Plan
from trustreport.vocabulary.errors import Problem, StudyError

HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
TABLES = """
tables:
  readings: {file: a.csv}
  cases: {file: b.csv}
datasets: [{dataset: A, role: external, file: c.csv, features: [x, y]}]
"""
LAYOUTS = (
    TABLES,
    TABLES + "reading: {design: sequential, positive_from: 0.5}\n",
    """
tables:
  readings: {file: a.csv, columns: {decision: {unaided: x, aided: y}}}
  readers: {file: b.csv}
""",
    "tables: {scores: {file: a.csv}, cases: {file: b.csv}, features: {file: c.csv}}\n",
    "tables: {raters: {file: a.csv, columns: {rater: reader, label: x}}, cases: {file: b.csv}}\n",
    """
datasets: [{dataset: A, role: local, file: a.csv, columns: {class_scores: [x, y]}}]
tables: {cases: {file: b.csv, dataset: A}, scores: {file: c.csv, dataset: A}}
""",
    """
tables:
  counts: {file: a.csv, columns: {errors: x, correct: y}}
  reported: {file: b.csv, columns: {set: case, metric: x, value: y}}
""",
)
QUIET = settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    derandomize=True,
)


def survives(folder: Path) -> None:
    """Reading ends in a study or in problems that can be told."""
    problems = None
    try:
        read(folder)
    except StudyError as error:
        problems = error.problems
    assert problems is None or (problems and all(p.file and str(p) for p in problems))


@QUIET
@given(st.text())
@example("report: *a")
@example("? {a: 1}\n: b")
@example("report: {kind: 1e999}")
@example("report: 0x")
@example("a: " + "9" * 5000)
@example("a: !!binary xx")
@example("%YAML 9.9\n---\na: b")
@example("\ud800")
@example("- &a {<<: *a}")
@example("<<: [1]")
@example("a: &x 1\nb: {<<: *x}")
def test_any_text_as_a_manifest(tmp_path: Path, text: str) -> None:
    for name in ("study.yaml", "study.json"):
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        survives(tmp_path)
        (tmp_path / name).unlink()


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
KEYS = st.sampled_from(
    [*Plan.model_fields, "file", "columns", "dataset", "arm", "role", "kind", "values", "set"]
)
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)


@QUIET
@given(st.dictionaries(st.sampled_from(list(Plan.model_fields)), VALUES, max_size=5))
def test_any_values_under_known_keys(tmp_path: Path, values: dict[str, object]) -> None:
    (tmp_path / "study.json").write_text(json.dumps({"report": {"kind": "vigilance"}, "device": {}} | values))
    survives(tmp_path)


WORDS = (
    "case reader arm truth decision score confidence seconds read_at date patient site candidate dataset "
    "advice initial_decision complexity x y Case CASE reader_id"
).split()
CELLS = st.sampled_from(
    ["0", "1", "", " ", "aided", "unaided", "0,5", "1e999", "-1", "nan", '"', "ä", "A", "2024-01-01"]
)
Table = tuple[list[str], list[list[str]], str]


@st.composite
def some_table(draw: st.DrawFn) -> Table:
    """A header, rows that mostly fit it, and a delimiter."""
    header = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9, unique=draw(st.booleans())))
    n = len(header)
    row = st.lists(CELLS, min_size=n, max_size=n)
    odd = st.lists(CELLS, max_size=9)
    rows = draw(st.lists(row | odd if draw(st.booleans()) else row, max_size=8))
    return header, rows, draw(st.sampled_from(",;\t|"))


TABLE = some_table()


@QUIET
@given(st.sampled_from(LAYOUTS), st.lists(TABLE, min_size=3, max_size=3))
def test_any_cells_in_known_columns(tmp_path: Path, layout: str, tables: list[Table]) -> None:
    (tmp_path / "study.yaml").write_text(HEAD + layout)
    for name, (header, rows, delimiter) in zip("abc", tables, strict=True):
        text = "\n".join(delimiter.join(cells) for cells in [header, *rows])
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    survives(tmp_path)


@QUIET
@given(st.binary(max_size=400))
@example(b"PAR1")
@example(b"PK\x03\x04")
@example(b"PAR1" + b"\0" * 50 + b"PAR1")
@example(b'"')
@example(b"\xff\xfe")
@example(b"\xef\xbb\xbf")
@example(b"sep=")
@example(b"sep=;\n")
@example(b"case,score\n1,\x81\n")
@example(b"case,truth,score\n" + b'"' * 99)
def test_any_bytes_as_a_table(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "study.yaml").write_text(HEAD + TABLES)
    for name in "abc":
        (tmp_path / f"{name}.csv").write_bytes(data)
    survives(tmp_path)


GOOD = b"reader,case,arm,truth,decision,score\n" + b"".join(
    b"R%d,c%d,%s,%d,%d,0.%d\n" % (r, c, arm, c % 2, r % 2, c)
    for r in range(4)
    for c in range(9)
    for arm in (b"aided", b"unaided")
)


@pytest.mark.parametrize("seed", range(5))
def test_good_files_with_signs_changed(tmp_path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    signs = string.printable.encode()
    for _ in range(40):
        for name, data in (
            ("study.yaml", (HEAD + TABLES).encode()),
            ("a.csv", GOOD),
            ("b.csv", GOOD),
            ("c.csv", GOOD),
        ):
            changed = bytearray(data)
            for _ in range(rng.integers(3)):
                changed[rng.integers(len(changed))] = signs[rng.integers(len(signs))]
            (tmp_path / name).write_bytes(changed)
        survives(tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_parquet_and_workbooks(tmp_path: Path, seed: int) -> None:
    import pandas as pd

    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"case": list("abc"), "truth": [0, 1, 1], "score": [0.1, 0.5, 0.9]})
    table.to_parquet(tmp_path / "good.parquet")
    table.to_excel(tmp_path / "good.xlsx", index=False)
    for kind, tries in (("parquet", 60), ("xlsx", 4)):
        data = (tmp_path / f"good.{kind}").read_bytes()
        (tmp_path / "study.yaml").write_text(
            f"{HEAD}datasets: [{{dataset: A, role: local, file: bad.{kind}}}]\n"
        )
        for _ in range(tries):
            changed = bytearray(data[: rng.integers(1, len(data)) if rng.random() < 0.3 else len(data)])
            for _ in range(rng.integers(1, 6)):
                changed[rng.integers(len(changed))] = rng.integers(256)
            (tmp_path / f"bad.{kind}").write_bytes(changed)
            survives(tmp_path)


KINDS = {
    "text": (pa.string_view(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())),
    "refused": (pa.binary(1), pa.binary_view(), pa.list_(pa.string()), pa.map_(pa.string(), pa.int8())),
}


@pytest.mark.parametrize("kind", [*KINDS["text"], *KINDS["refused"]], ids=str)
def test_columns_of_any_type_of_arrow(tmp_path: Path, kind: pa.DataType) -> None:
    try:
        column = pa.array(["a", "b"]).cast(kind)
    except pa.ArrowException:
        column = pa.nulls(2, kind)
    table = pa.table({"case": ["c1", "c2"], "truth": [0, 1], "score": [0.2, 0.7], "site": column})
    pq.write_table(table, tmp_path / "a.parquet")
    sets = "datasets: [{dataset: A, role: external, file: a.parquet}]\noperating_point: {threshold: 0.5}\n"
    (tmp_path / "study.yaml").write_text(HEAD + sets)
    survives(tmp_path)
    if kind in KINDS["text"]:
        study, _ = read(tmp_path)
        assert study.sources[1].n_used == 2


def test_parquet_with_bytes_that_are_no_text(tmp_path: Path) -> None:
    cells = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"a\xff")]
    )
    table = pa.table({"case": ["c1", "c2"], "truth": [0, 1], "score": [0.2, 0.7], "abcd": cells})
    sets = "datasets: [{dataset: A, role: external, file: a.parquet}]\noperating_point: {threshold: 0.5}\n"
    (tmp_path / "study.yaml").write_text(HEAD + sets)
    pq.write_table(table, tmp_path / "a.parquet", use_dictionary=False, store_schema=False)
    with pytest.raises(StudyError, match="a damaged Parquet file"):
        read(tmp_path)
    pq.write_table(
        table.set_column(3, "abcd", pa.array(["x", "y"])), tmp_path / "a.parquet", store_schema=False
    )
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(data.replace(b"abcd", b"a\xf2cd"))  # the name of a column
    with pytest.raises(StudyError, match="a damaged Parquet file"):
        read(tmp_path)


def test_a_message_shows_the_start_of_a_long_name() -> None:
    problem = Problem("t.parquet", "an empty cell", column="a" * 5000, row=14)
    assert str(problem).startswith("t.parquet, row 14, column aaa")
    assert len(str(problem)) < 400
    assert problem.column == "a" * 5000


def test_the_largest_sheet_takes_less_than_a_gigabyte(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"], book.active["S1048576"] = "case", 1  # 19 columns, all rows that a sheet can have
    book.save(tmp_path / "a.xlsx")
    command = [sys.executable, "-P", sheet.__file__, str(tmp_path / "a.xlsx"), "1"]
    # A process that this one starts counts what this one holds: it is started by a small one.
    peak = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    kilobytes = subprocess.run([sys.executable, "-c", peak, *command], check=True, stdout=subprocess.PIPE)
    assert int(kilobytes.stdout) * 1024 < 1_000_000_000
