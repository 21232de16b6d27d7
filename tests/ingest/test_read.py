"""Studies that are read: several tasks, candidates and periods, and every way to write a table."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trustreport.study.ingest import read
from trustreport.study.study import Readings, Study
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
PLAIN = "tables: {readings: {file: readings.csv}}\n"

LONG = """reader,case,arm,truth,decision,score
R2,c10,aided,1,1,0.9
R2,c10,unaided,1,0,0.4
R10,c2,aided,0,0,0.1
R2,c2,aided,0,1,0.7
R10,c2,unaided,0,0,0.2
R2,c2,unaided,0,0,0.3
"""


def put(folder: Path, manifest: str, **files: str | bytes) -> Path:
    """A study folder; the files are `name` or `name__ending`."""
    folder.mkdir(exist_ok=True)
    (folder / "study.yaml").write_text(HEAD + manifest, encoding="utf-8")
    for name, content in files.items():
        path = folder / (name.replace("__", ".") if "__" in name else f"{name}.csv")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def only(study: Study) -> Readings:
    (readings,) = study.readings
    return readings


def told(readings: Readings) -> dict[str, Any]:
    """Readings as plain values, to compare two of them."""
    columns = ("arm", "reader", "case", "decision", "score", "confidence", "seconds", "advice")
    return {
        "arms": readings.arms,
        "readers": tuple(readings.readers.labels),
        "cases": tuple(readings.cases.labels),
        "truth": readings.cases.truth.tolist(),
        **{c: None if getattr(readings, c) is None else getattr(readings, c).tolist() for c in columns},
    }


def test_readings_are_sorted_and_coded(tmp_path: Path) -> None:
    study, _ = read(put(tmp_path, PLAIN, readings=LONG))
    assert told(only(study)) == {
        "arms": ("unaided", "aided"),
        "readers": ("R2", "R10"),
        "cases": ("c2", "c10"),
        "truth": [0, 1],
        "arm": [0, 0, 0, 1, 1, 1],
        "reader": [0, 0, 1, 0, 0, 1],
        "case": [0, 1, 0, 0, 1, 0],
        "decision": [0, 0, 0, 1, 1, 0],
        "score": [0.3, 0.4, 0.2, 0.7, 0.9, 0.1],
        "confidence": None,
        "seconds": None,
        "advice": None,
    }


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.permutations(LONG.splitlines()[1:]))
def test_order_of_rows_does_not_matter(tmp_path: Path, rows: list[str]) -> None:
    first = told(only(read(put(tmp_path, PLAIN, readings=LONG))[0]))
    text = "\n".join([LONG.splitlines()[0], *rows])
    assert told(only(read(put(tmp_path, PLAIN, readings=text))[0])) == first


def test_the_manifest_may_be_named_itself(tmp_path: Path) -> None:
    folder = put(tmp_path, PLAIN, readings=LONG)
    assert told(only(read(folder / "study.yaml")[0])) == told(only(read(str(folder))[0]))


MANY_YAML = """
datasets:
  - {dataset: p1, role: period, start_date: 2024-01-01}
  - {dataset: p2, role: period}
  - {dataset: p3, role: period, sha256: null}
candidates: [{candidate: A}, {candidate: B}]
tables:
  detect: {kind: readings, file: detect.csv, task: detect}
  grade: {kind: readings, file: grade.csv, task: grade, columns: {decision: call, reference: stage}}
  cases: {file: cases.csv, task: detect}
  readers: {file: readers.csv}
  scores: {file: scores.csv}
reported:
  - {set: paper, total: 210, metrics: {sensitivity: 0.80, ppv: "0.90", f1: .5}}
limits: {P17_days: 14}
"""
MANY: dict[str, str] = {
    "detect": "reader_id,case_id,arm_id,decision\n1,007,unaided,yes\n1,007,aided,TRUE\n2,8,aided,0.0\n",
    "grade": "Reader,CASE,Arm,call,stage\n2,x1,unaided,1,1\n2,x1,aided,1,1\n",
    "cases": "case,truth,patient,sex,date,unread\n007,1,P1,F,2024-05-06,\n8,0,P2,M,,1\n9,0,P3,M,,\n",
    "readers": "reader,experience,site\n1,senior,north\n2,,south\n",
    "scores": "dataset,case,candidate,score,truth,status\n"
    + "".join(
        f"p{p},c{c},{a},{p / 10 + c / 100 + (a == 'B') / 1000:g},{c % 2},{'failed' if c == 2 else 'done'}\n"
        for p in (3, 1, 2)
        for a in "BA"
        for c in range(1, p + 3)
    ),
}


def test_tasks_candidates_and_periods(tmp_path: Path) -> None:
    study, plan = read(put(tmp_path, MANY_YAML, **MANY))
    detect, grade = study.readings
    assert (detect.task, grade.task) == ("detect", "grade")
    assert tuple(detect.cases.labels) == ("007", "8")
    assert detect.cases.truth.tolist() == [1, 0]
    assert detect.cases.patient is not None
    assert tuple(detect.cases.patient.labels) == ("P1", "P2")
    assert detect.cases.date is not None
    assert detect.cases.date.astype(str).tolist() == ["2024-05-06", "NaT"]
    assert tuple(detect.cases.groups["sex"].labels) == ("F", "M")
    assert detect.cases.groups["unread"].codes.tolist() == [-1, 0]
    assert detect.decision is not None
    assert detect.decision.tolist() == [1, 1, 0]
    assert grade.cases.truth.tolist() == [1]
    assert tuple(detect.readers.labels) == ("1", "2")
    assert detect.readers.strata["experience"].codes.tolist() == [0, -1]
    assert grade.readers.strata["site"].labels[:] == ("south",)

    assert [(d.name, d.role, len(d.cases)) for d in study.datasets] == [
        ("p1", "period", 3),
        ("p2", "period", 4),
        ("p3", "period", 5),
    ]
    second = study.datasets[1]
    assert tuple(second.scores) == ("A", "B")
    assert second.cases.truth.tolist() == [1, 0, 1, 0]
    assert second.scores["A"].score is not None
    assert second.scores["A"].score.tolist() == [0.21, 0.22, 0.23, 0.24]
    assert second.scores["B"].score is not None
    assert second.scores["B"].score.tolist() == [0.211, 0.221, 0.231, 0.241]
    assert second.scores["B"].status is not None
    assert tuple(second.scores["B"].status.labels) == ("done", "failed")
    assert second.scores["B"].status.codes.tolist() == [0, 1, 0, 0]

    assert study.reported[0].metrics == {"sensitivity": "0.80", "ppv": "0.90", "f1": ".5"}
    assert str(plan.datasets[0].start_date) == "2024-01-01"
    sources = {s.file: s for s in study.sources}
    assert (sources["cases.csv"].n_rows, sources["cases.csv"].n_used) == (3, 2)
    assert dict(sources["cases.csv"].dropped) == {"case neither read nor scored": 1}
    assert sources["scores.csv"].n_used == 24
    assert len(sources["study.yaml"].sha256) == 64


def test_a_key_without_content_counts_as_left_out(tmp_path: Path) -> None:
    empty = "study:\nreading:\narms:\nlimits:\n"
    empty += "utility:\n  thresholds:\n  matrices:\noperating_point: {threshold: }\n"
    files = {"readings": LONG}
    _, bare = read(put(tmp_path / "a", PLAIN, **files))
    _, plan = read(put(tmp_path / "b", PLAIN + empty, **files))
    assert plan == bare
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "study.yaml").write_text("report: {kind: vigilance, status: }\ndevice:\n" + PLAIN)
    (tmp_path / "c" / "readings.csv").write_text(LONG)
    _, plan = read(tmp_path / "c")
    assert (plan.report.status, plan.device.trade_name) == ("draft", None)


@pytest.mark.parametrize("text", ["report: {kind: }\ndevice: {}\n", "report:\ndevice: {}\n"])
def test_a_needed_key_without_content_is_missing_or_empty(tmp_path: Path, text: str) -> None:
    (tmp_path / "study.yaml").write_text(text + PLAIN)
    (tmp_path / "readings.csv").write_text(LONG)
    with pytest.raises(StudyError, match="kind"):
        read(tmp_path)


def test_json_says_the_same_as_yaml(tmp_path: Path) -> None:
    first, plan = read(put(tmp_path / "a", MANY_YAML, **MANY))
    second_folder = put(tmp_path / "b", "", **MANY)
    (second_folder / "study.yaml").unlink()
    text = plan.model_dump_json(exclude_unset=True, indent=1).replace("\n ", "\n\t")
    (second_folder / "study.json").write_text(text, encoding="utf-8")
    second, again = read(second_folder)
    assert again == plan
    assert [told(r) for r in second.readings] == [told(r) for r in first.readings]
    assert second.reported == first.reported


def test_json_keeps_signs_of_every_plane(tmp_path: Path) -> None:
    folder = put(tmp_path, "", readings=LONG)
    (folder / "study.yaml").unlink()
    manifest = {"report": {"kind": "vigilance", "title": 'é \U0001f600 \u2028 / \\ " \n'}, "device": {}}
    manifest["tables"] = {"readings": {"file": "readings.csv"}}
    for text in (
        json.dumps(manifest),
        json.dumps(manifest, ensure_ascii=False),
        json.dumps(manifest, indent="\t"),
    ):
        (folder / "study.json").write_text(text, encoding="utf-8")
        assert read(folder)[1].report.title == manifest["report"]["title"]


def columns(text: str, delimiter: str = ",") -> str:
    return text.replace(",", delimiter)


VARIANTS: dict[str, tuple[str, bytes]] = {
    "semicolon": ("", columns(LONG, ";").encode()),
    "tab": ("", columns(LONG, "\t").encode()),
    "bar": ("", columns(LONG, "|").encode()),
    "Windows": ("", LONG.replace("\n", "\r\n").encode()),
    "BOM": ("", b"\xef\xbb\xbf" + LONG.encode()),
    "UTF-16": ("", LONG.encode("utf-16")),
    "UTF-16 declared": ("encoding: utf-16-be", LONG.encode("utf-16-be")),
    "cp1252 declared": ("encoding: cp1252", LONG.encode("cp1252")),
    "decimal comma": ('decimal: ","', columns(LONG, ";").replace("0.", "0,").encode()),
    "declared delimiter": ('delimiter: ";"', columns(LONG, ";").encode()),
    "sep line": ("", b"sep=;\n" + columns(LONG, ";").encode()),
    "quotes": ("", ('"' + LONG.strip().replace(",", '","').replace("\n", '"\n"') + '"').encode()),
    "blanks": ("", LONG.replace(",", " , ").encode()),
    "blank rows": ("", (LONG.replace("\n", "\n\n", 3) + ",,,,,\n\n").encode()),
    "capitals": ("", LONG.replace("reader,case,arm", "READER,Case_ID,arm_id").encode()),
    "reference": ("", LONG.replace("truth", "reference").encode()),
    "words": ("", LONG.replace("c2,aided,0,1", "c2,aided,No,YES").encode()),
    "no end of line": ("", LONG.strip().encode()),
    "old Macintosh": ("", LONG.replace("\n", "\r").encode()),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_csv_may_be_written_in_many_ways(tmp_path: Path, variant: str) -> None:
    declared, data = VARIANTS[variant]
    manifest = f"tables: {{readings: {{file: readings.csv{', ' + declared if declared else ''}}}}}\n"
    expected = told(only(read(put(tmp_path / "plain", PLAIN, readings=LONG))[0]))
    study, _ = read(put(tmp_path / "other", manifest, readings=data))
    assert told(only(study)) == expected


def test_an_encoding_that_had_to_be_guessed_is_told(tmp_path: Path) -> None:
    text = LONG.replace("R10", "Müller")
    study, _ = read(put(tmp_path, PLAIN, readings=text.encode("cp1252")))
    assert tuple(only(study).readers.labels) == ("Müller", "R2")
    assert study.cautions == (("encoding_guessed", {"file": "readings.csv", "encoding": "cp1252"}),)


def test_a_quoted_cell_may_hold_line_ends(tmp_path: Path) -> None:
    text = 'reader,case,arm,truth,decision,note\nR1,c1,aided,0,0,"two\nlines, one cell"\nR1,c2,aided,9,0,\n'
    with pytest.raises(StudyError, match='row 3, column truth: found "9"'):
        read(put(tmp_path, PLAIN, readings=text))


def frame() -> pd.DataFrame:
    rows = [line.split(",") for line in LONG.splitlines()]
    table = pd.DataFrame(rows[1:], columns=rows[0])
    return table.astype({"truth": float, "decision": int, "score": float})


def test_parquet(tmp_path: Path) -> None:
    folder = put(tmp_path / "p", PLAIN.replace("csv", "parquet"), readings=LONG)
    table = frame().astype({"decision": "boolean", "reader": "category"})
    table = table.reindex(range(len(table) + 1))  # a last row without any value
    table.to_parquet(folder / "readings.parquet")
    expected = told(only(read(put(tmp_path / "plain", PLAIN, readings=LONG))[0]))
    study, _ = read(folder)
    assert told(only(study)) == expected
    assert dict(study.sources[1].dropped) == {"empty row": 1}


def test_a_parquet_file_that_is_too_large_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from trustreport.study.ingest.tables import Unreadable, _parquet

    pq.write_table(pa.table({"reader": ["R1"] * 3}), tmp_path / "r.parquet")

    def full(file: pq.ParquetFile) -> None:
        raise pa.ArrowMemoryError("malloc of size 480000000 failed")

    monkeypatch.setattr(pq.ParquetFile, "read", full)
    with pytest.raises(Unreadable) as caught:
        _parquet(tmp_path / "r.parquet", "r.parquet")
    assert "3 rows, which need more memory than there is" in str(vars(caught.value))


def test_numbers_as_names_in_parquet(tmp_path: Path) -> None:
    folder = put(tmp_path, "tables: {raters: {file: r.parquet}}\n")
    pd.DataFrame({"case": [1.0, 2.0, 10.0], "rater": [1, 1, 1], "label": [0.5, 2.0, 1e15]}).to_parquet(
        folder / "r.parquet"
    )
    ratings = read(folder)[0].raters[0]
    assert tuple(ratings.cases.labels) == ("1", "2", "10")
    assert ratings.classes == ("0.5", "2", "1000000000000000")


def test_typed_columns_of_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "reader": pa.array([1, 2], pa.int8()),
            "case": pa.array(["a", "b"], pa.large_string()),
            "arm": pa.array(["aided", "aided"]).dictionary_encode(),
            "decision": pa.array([True, None]),
            "score": pa.array([1, 3], pa.decimal128(5, 2)),
            "read_at": pa.array([1_700_000_000_123_456_789] * 2, pa.timestamp("ns", "UTC")),
            "seconds": pa.array([1.5, None], pa.float32()),
        }
    )
    folder = put(tmp_path, PLAIN.replace("csv", "parquet"))
    pq.write_table(table, folder / "readings.parquet")
    readings = only(read(folder)[0])
    assert tuple(readings.readers.labels) == ("1", "2")
    assert readings.decision is not None
    assert readings.decision.tolist() == [1, -1]
    assert readings.score is not None
    assert readings.score.tolist() == [1, 3]
    assert readings.read_at is not None
    assert str(readings.read_at[0]) == "2023-11-14T22:13:20"
    np.testing.assert_array_equal(readings.seconds, [1.5, np.nan])
    pq.write_table(table.set_column(4, "score", pa.array([[1], [2]])), folder / "readings.parquet")
    with pytest.raises(StudyError, match="column score: found lists or bytes, expected plain values"):
        read(folder)


def test_xlsx(tmp_path: Path) -> None:
    folder = put(tmp_path / "x", 'tables: {readings: {file: study.xlsx, sheet: "second one"}}\n')
    with pd.ExcelWriter(folder / "study.xlsx") as book:
        pd.DataFrame({"a": [1]}).to_excel(book, sheet_name="first", index=False)
        frame().to_excel(book, sheet_name="second one", index=False)
    expected = told(only(read(put(tmp_path / "plain", PLAIN, readings=LONG))[0]))
    assert told(only(read(folder)[0])) == expected
    put(folder, "tables: {readings: {file: study.xlsx, sheet: third}}\n")
    with pytest.raises(StudyError, match=r'study.xlsx: no sheet "third", expected one of: first, second one'):
        read(folder)


def test_a_workbook_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    from openpyxl import Workbook

    folder = put(tmp_path, "tables: {readings: {file: study.xlsx}}\n")
    book = Workbook()
    book.active["A1"] = "case"
    book.active["XFD1048576"] = 1
    book.save(folder / "study.xlsx")
    with pytest.raises(
        StudyError, match=r"study.xlsx: found (a workbook that is damaged or too large|a sheet of)"
    ):
        read(folder)


def test_an_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    import zipfile

    folder = put(tmp_path, "tables: {readings: {file: study.xlsx}}\n")
    with zipfile.ZipFile(folder / "study.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * 300_000_000)
    with pytest.raises(StudyError, match="found a workbook that unpacks to more than 250 MB"):
        read(folder)


def test_figures_as_numbers_in_a_workbook_are_refused(tmp_path: Path) -> None:
    folder = put(tmp_path, "tables: {reported: {file: r.xlsx}}\n")
    pd.DataFrame({"set": ["S"], "metric": ["f1"], "value": [0.8], "total": [10]}).to_excel(
        folder / "r.xlsx", index=False
    )
    with pytest.raises(StudyError, match="lose the digits that were printed"):
        read(folder)


def test_wide_tables(tmp_path: Path) -> None:
    manifest = """
arms: [{arm: without, aided: false}, {arm: with, aided: true}]
tables:
  readings:
    file: wide.csv
    columns:
      decision: {without: dec_u, with: dec_a}
      confidence: {without: conf_u, with: conf_a}
      seconds: {with: sec_a}
"""
    wide = (
        "reader,case,truth,dec_u,dec_a,conf_u,conf_a,sec_a,advice\nR1,a,1,0,1,.5,.9,12,1\nR1,b,0,,1,,1,,0\n"
    )
    readings = only(read(put(tmp_path, manifest, wide=wide))[0])
    assert readings.arms == ("without", "with")
    assert told(readings) | {"confidence": None, "seconds": None} == {
        "arms": ("without", "with"),
        "readers": ("R1",),
        "cases": ("a", "b"),
        "truth": [1, 0],
        "arm": [0, 1, 1],
        "reader": [0, 0, 0],
        "case": [0, 0, 1],
        "decision": [0, 1, 1],
        "score": None,
        "confidence": None,
        "seconds": None,
        "advice": [-1, 1, 0],
    }
    assert readings.confidence is not None
    assert readings.confidence.tolist() == [0.5, 0.9, 1.0]
    assert readings.seconds is not None
    np.testing.assert_array_equal(readings.seconds, [np.nan, 12, np.nan])


def test_sequential_tables(tmp_path: Path) -> None:
    manifest = "reading: {design: sequential}\n" + PLAIN
    text = (
        "reader,case,truth,initial_decision,decision,initial_confidence,confidence,seconds,advice,advice_score\n"
        "R1,a,1,0,1,.5,.9,12,1,.7\nR1,b,0,1,,.4,,,1,.6\n"
    )
    readings = only(read(put(tmp_path, manifest, readings=text))[0])
    assert readings.sequential
    assert readings.arms == ("unaided", "aided")
    assert readings.decision is not None
    assert readings.decision.tolist() == [0, 1, 1]
    assert readings.confidence is not None
    assert readings.confidence.tolist() == [0.5, 0.4, 0.9]
    assert readings.seconds is not None
    np.testing.assert_array_equal(readings.seconds, [np.nan, np.nan, 12])
    assert readings.advice is not None
    assert readings.advice.tolist() == [-1, -1, 1]


def test_a_score_becomes_a_decision_where_none_was_given(tmp_path: Path) -> None:
    manifest = "reading: {positive_from: 0.5}\n" + PLAIN
    header = "reader,case,arm,truth,decision,score\n"
    text = header + "R1,a,aided,1,,.5\nR1,b,aided,1,0,.9\nR1,c,aided,1,,\nR1,d,aided,,,.4\n"
    study, _ = read(put(tmp_path, manifest, readings=text))
    readings = only(study)
    assert tuple(readings.cases.labels) == ("a", "b", "d")
    assert readings.decision is not None
    assert readings.decision.tolist() == [1, 0, 0]
    assert readings.cases.truth.tolist() == [1, 1, -1]
    assert dict(study.sources[1].dropped) == {"no decision and no score": 1}


def test_dates_of_readings_in_two_zones(tmp_path: Path) -> None:
    header = "reader,case,arm,decision,read_at,order\n"
    text = header + "R1,a,aided,1,2024-01-01T10:00:00+02:00,1\nR1,b,aided,1,2024-01-01 09:00,2\n"
    readings = only(read(put(tmp_path, PLAIN, readings=text))[0])
    assert readings.read_at is not None
    assert readings.read_at.astype(str).tolist() == ["2024-01-01T08:00:00", "2024-01-01T09:00:00"]
    assert readings.order is not None
    assert readings.order.tolist() == [1, 2]


def test_scores_join_their_cases(tmp_path: Path) -> None:
    manifest = """
datasets: [{dataset: L, role: local}]
tables:
  cases: {file: cases.csv, dataset: L}
  one: {kind: scores, file: one.csv, candidate: A}
  two: {kind: scores, file: two.csv, candidate: B, columns: {score: prob}}
  features: {file: features.csv}
"""
    study, _ = read(
        put(
            tmp_path,
            manifest,
            cases="case,truth,site\nk10,1,X\nk2,0,Y\nk3,,X\n",
            one="case,score,decision\nk2,.2,0\nk10,.9,1\n",
            two="case,prob\nk3,.5\n",
            features="case,age,sex\nk2,40,m\nk10,50,f\n",
        )
    )
    (local,) = study.datasets
    assert tuple(local.cases.labels) == ("k2", "k3", "k10")
    assert local.cases.truth.tolist() == [0, -1, 1]
    assert tuple(local.scores) == ("A", "B")
    np.testing.assert_array_equal(local.scores["A"].score, [0.2, np.nan, 0.9])
    assert local.scores["A"].decision is not None
    assert local.scores["A"].decision.tolist() == [0, -1, 1]
    np.testing.assert_array_equal(local.scores["B"].score, [np.nan, 0.5, np.nan])
    assert local.feature_names == ("age", "sex")
    np.testing.assert_array_equal(local.features, [[40, 1], [np.nan, np.nan], [50, 0]])
    assert local.feature_levels == {"sex": ("f", "m")}


def test_candidates_may_be_columns(tmp_path: Path) -> None:
    manifest = "datasets: [{dataset: L, role: local, file: a.csv, columns: {score: {A: s_a, B: s_b}}}]\n"
    study, _ = read(put(tmp_path, manifest, a="truth,s_a,s_b,sex,income\n1,.1,.2,f,10.5\n0,.3,.4,m,11.5\n"))
    (local,) = study.datasets
    assert {n: s.score.tolist() for n, s in local.scores.items() if s.score is not None} == {
        "A": [0.1, 0.3],
        "B": [0.2, 0.4],
    }
    assert tuple(local.cases.groups) == ("sex",)  # income has no few levels
    assert len(local.cases.labels) == 2


def test_scores_alone_make_one_data_set(tmp_path: Path) -> None:
    study, _ = read(put(tmp_path, "tables: {scores: {file: s.csv}}\n", s="truth,score\n1,.5\n0,.25\n"))
    (one,) = study.datasets
    assert (one.name, one.role, one.cases.truth.tolist()) == ("scores", "local", [1, 0])


def test_ids_are_compared_within_a_data_set(tmp_path: Path) -> None:
    manifest = """
datasets: [{dataset: A, role: training}, {dataset: B, role: external}]
tables: {scores: {file: s.csv}}
"""
    good = "dataset,case,truth,score\nA,p1,1,.5\nB,P1,0,.2\n"
    assert len(read(put(tmp_path, manifest, s=good))[0].datasets) == 2
    with pytest.raises(StudyError, match=r'rows 3 and 4, column case: "P1" and "p 1" differ only by blanks'):
        read(put(tmp_path, manifest, s=good + "B,p 1,0,.2\n"))


def test_one_file_may_hold_several_data_sets(tmp_path: Path) -> None:
    manifest = """
datasets:
  - {dataset: A, role: training, file: all.csv}
  - {dataset: B, role: external, file: all.csv}
"""
    study, _ = read(put(tmp_path, manifest, all="dataset,truth,score\nB,1,.5\nA,0,.2\nB,0,.1\n"))
    assert [(d.name, d.cases.truth.tolist()) for d in study.datasets] == [("A", [0]), ("B", [1, 0])]


def test_classes_are_named_by_their_columns(tmp_path: Path) -> None:
    columns = "class_scores: [p_normal, p_benign, p_malignant]"
    manifest = f"datasets: [{{dataset: L, role: local, file: a.csv, columns: {{{columns}}}}}]\n"
    text = (
        "truth,p_normal,p_benign,p_malignant\nmalignant,.1,.2,.7\n0,.8,.1,.1\np_benign,.1,.8,.1\n1.0,0,1,0\n"
    )
    (local,) = read(put(tmp_path, manifest, a=text))[0].datasets
    assert local.cases.classes == ("normal", "benign", "malignant")
    assert local.cases.truth.tolist() == [2, 0, 1, 1]


def test_classes_counted_from_one_are_names(tmp_path: Path) -> None:
    manifest = (
        "datasets: [{dataset: L, role: local, file: a.csv, columns: {class_scores: [p_1, p_2, p_3]}}]\n"
    )
    (local,) = read(put(tmp_path, manifest, a="truth,p_1,p_2,p_3\n1,.1,.2,.7\n3,.8,.1,.1\n"))[0].datasets
    assert local.cases.truth.tolist() == [0, 2]


def test_counts_and_figures_from_files(tmp_path: Path) -> None:
    manifest = """
tables:
  counts: {file: c.csv}
  matrices: {kind: counts, file: m.csv}
  reported: {file: r.csv}
reported: [{set: S, total: 50, metrics: {f1: 0.90}}]
"""
    study, _ = read(
        put(
            tmp_path,
            manifest,
            c="arm,errors,correct,readers,paired\nunaided,10,20,3,yes\naided,5,25,3,\n",
            m="dataset,TP,FP,FN,TN\nA,1,2,3,4\n",
            r="set,metric,value,positives,negatives\nS,npv,0.80,,\nT,ppv,.5,10,20\nT,npv,0.50,10,20\n",
        )
    )
    (counts,) = study.counts
    assert (counts.name, counts.readers, counts.paired) == ("counts", 3, True)
    assert (counts.arms["aided"].errors, counts.arms["unaided"].n) == (5, 30)
    assert (study.confusion[0].set, study.confusion[0].tn) == ("A", 4)
    assert [(r.set, r.metrics) for r in study.reported] == [
        ("S", {"f1": "0.90", "npv": "0.80"}),
        ("T", {"ppv": ".5", "npv": "0.50"}),
    ]


def test_merge_keys_and_aliases(tmp_path: Path) -> None:
    manifest = """
datasets:
  - &base {dataset: A, role: external, file: a.csv, features: &f [age]}
  - {<<: *base, dataset: B}
"""
    study, plan = read(put(tmp_path, manifest, a="truth,score,age\n1,.5,3\n"))
    assert [d.name for d in study.datasets] == ["A", "B"]
    assert plan.datasets[1].features == ("age",)


def test_files_outside_need_leave(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.csv").write_text(LONG, encoding="utf-8")
    folder = put(tmp_path / "s", "tables: {readings: {file: ../elsewhere.csv}}\n")
    with pytest.raises(StudyError, match="outside the study folder"):
        read(folder)
    assert len(only(read(folder, allow_outside=True)[0])) == 6


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.csv").write_text(LONG, encoding="utf-8")
    folder = put(tmp_path / "s", PLAIN)
    (folder / "readings.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(StudyError, match="outside the study folder"):
        read(folder)


def test_all_problems_of_all_files_come_at_once(tmp_path: Path) -> None:
    manifest = """
devise: {}
operating_point: {threshold: high}
tables:
  readings: {file: readings.csv}
  cases: {file: cases.csv}
  readers: {file: nobody.csv}
"""
    with pytest.raises(StudyError) as caught:
        read(
            put(
                tmp_path,
                manifest,
                readings="reader,case,arm,decision\nR1,a,aided,2\nR1,a,helped,1\nR1,zz,aided,1\nR1,a,aided,1\nR1,a,aided,0\n",
                cases="case,truth\na,x\na,1\n",
            )
        )
    assert [(p.file, p.row or p.rows, p.column) for p in caught.value.problems] == [
        ("study.yaml", 4, "devise"),
        ("study.yaml", 5, "operating_point.threshold"),
        ("study.yaml", 9, "tables.readers.file"),
        ("readings.csv", 2, "decision"),
        ("readings.csv", 3, "arm"),
        ("readings.csv", 4, "case"),
        ("readings.csv", (5, 6), ""),
        ("cases.csv", 2, "truth"),
        ("cases.csv", (2, 3), "case"),
    ]


def test_what_is_no_study(tmp_path: Path) -> None:
    for path, said in (
        (tmp_path, "no study.yaml, study.yml or study.json"),
        (tmp_path / "nowhere", "there is no such file or folder"),
        (Path(__file__), "this is no manifest"),
    ):
        with pytest.raises(StudyError, match=said):
            read(path)
    put(tmp_path, PLAIN)
    (tmp_path / "study.json").write_text("{}", encoding="utf-8")
    with pytest.raises(StudyError, match="several manifests"):
        read(tmp_path)
