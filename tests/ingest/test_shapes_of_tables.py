"""Exports in other shapes: rows of several kinds, answers in rows, headers of two rows, other units."""

from pathlib import Path

import numpy as np
import pytest
from openpyxl import Workbook

from trustreport.study.ingest import read
from trustreport.study.ingest.sheet import joined
from trustreport.study.study import Study
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
# What REDCap exports of a repeated instrument: one row a case, and one for each reading of it.
REDCAP = """\
record_id,redcap_repeat_instrument,redcap_repeat_instance,biopsy,reader,with_ai,finding,ms
c1,,,1,,,,
c1,reading,1,,A,0,1,31000
c1,reading,2,,A,1,1,28000
c2,,,0,,,,
c2,reading,1,,A,0,1,40000
c2,reading,2,,A,1,0,35000
"""
CAPTURED = """\
tables:
  cases:
    file: export.csv
    where: {redcap_repeat_instrument: ""}
    columns: {case: record_id, truth: biopsy}
  readings:
    file: export.csv
    where: {redcap_repeat_instrument: reading}
    columns: {case: record_id, arm: with_ai, decision: finding, seconds: ms}
    scale: {seconds: milliseconds}
arms: [{arm: unaided, aided: false, values: [0]}, {arm: aided, aided: true, values: [1]}]
"""
# What a reader study on a web platform exports: one row an answer.
ANSWERS = """\
user,image,mode,question,answer,saved
A,c1,plain,Nodule?,Yes,9:01
A,c1,plain,Confidence (0-100),80,9:01
A,c1,AI,Nodule?,Yes,9:31
A,c1,AI,Confidence (0-100),90,9:32
A,c2,plain,Nodule?,Yes,9:03
A,c2,plain,Confidence (0-100),55 %,9:04
A,c2,AI,Nodule?,No,9:40
"""
TURNED = """\
tables:
  readings:
    file: answers.csv
    pivot: {question: question, answer: answer, by: [user, image, mode]}
    columns: {reader: user, case: image, arm: mode, decision: "Nodule?", confidence: Confidence (0-100)}
    values: {decision: {Yes: 1, No: 0}}
    scale: {confidence: percent}
  cases: {file: truth.csv}
arms: [{arm: plain, aided: false}, {arm: AI, aided: true}]
"""
TRUTH = "case,truth\nc1,1\nc2,0\n"


def study(folder: Path, manifest: str, **files: str) -> Study:
    (folder / "study.yaml").write_text(HEAD + manifest)
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return read(folder)[0]


def said(folder: Path, manifest: str, **files: str) -> str:
    with pytest.raises(StudyError) as caught:
        study(folder, manifest, **files)
    return str(caught.value)


def decisions(found: Study) -> list[tuple[str, str, int]]:
    (readings,) = found.readings
    rows = zip(readings.case, readings.arm, readings.decision)
    return sorted((readings.cases.labels[c], readings.arms[a], int(d)) for c, a, d in rows)


SEEN = [("c1", "aided", 1), ("c1", "unaided", 1), ("c2", "aided", 0), ("c2", "unaided", 1)]


def test_a_repeated_instrument_gives_cases_and_readings(tmp_path: Path) -> None:
    found = study(tmp_path, CAPTURED, export=REDCAP)
    assert decisions(found) == SEEN
    assert found.readings[0].cases.truth.tolist() == [1, 0]
    assert sorted(found.readings[0].seconds) == [28.0, 31.0, 35.0, 40.0]


def test_messages_name_the_rows_of_the_file(tmp_path: Path) -> None:
    wrong = REDCAP.replace("c2,reading,2,,A,1,0", "c2,reading,2,,A,1,maybe")
    assert 'export.csv, row 7, column finding: found "maybe"' in said(tmp_path, CAPTURED, export=wrong)


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        (
            "instrument: reading",
            "instrument: lecture",
            'tables.readings.where.redcap_repeat_instrument: no row with "lecture"',
        ),
        ("instrument: reading", "instruments: reading", "Did you mean"),
        ("milliseconds}", "hours}", "milliseconds"),
        ("{seconds: milli", "{secs: milli", 'no column "secs"'),
    ],
)
def test_what_no_row_or_column_fits_is_said(tmp_path: Path, was: str, now: str, message: str) -> None:
    assert message in said(tmp_path, CAPTURED.replace(was, now), export=REDCAP)


def test_answers_in_rows_become_readings(tmp_path: Path) -> None:
    found = study(tmp_path, TURNED, answers=ANSWERS, truth=TRUTH)
    seen = [(case, {"aided": "AI", "unaided": "plain"}[arm], decision) for case, arm, decision in SEEN]
    assert decisions(found) == sorted(seen)
    confidence = found.readings[0].confidence
    assert np.nansum(confidence) == pytest.approx(0.8 + 0.9 + 0.55)
    assert np.isnan(confidence).sum() == 1


def test_two_answers_to_one_question_are_refused_with_their_rows(tmp_path: Path) -> None:
    twice = ANSWERS + "A,c1,AI,Nodule?,No,9:50\n"
    message = said(tmp_path, TURNED, answers=twice, truth=TRUTH)
    assert 'answers.csv, rows 4 and 9, column answer: two answers to "Nodule?" in one record' in message
    study(tmp_path, TURNED, answers=ANSWERS + "A,c1,AI,Nodule?,Yes,9:50\n", truth=TRUTH)


def test_the_columns_of_a_pivot_must_be_there(tmp_path: Path) -> None:
    message = said(
        tmp_path, TURNED.replace("question: question", "question: Frage"), answers=ANSWERS, truth=TRUTH
    )
    assert 'tables.readings.pivot.question: no column "Frage" in answers.csv' in message


TWO_ROWS = [
    ["Reader study, export of 2 March", "", "", "", "", "", ""],
    ["Case", "Reference", "Reader A", "", "Reader B", "", "Comment"],
    ["", "", "without AI", "with AI", "without AI", "with AI", ""],
    ["c1", "1", "1", "1", "0", "1", "blurred"],
    ["c2", "0", "1", "0", "0", "0", ""],
]
WIDE = """\
arms: [{arm: without AI, aided: false}, {arm: with AI, aided: true}]
tables:
  readings:
    file: FILE
    header_row: [2, 3]
    unpivot:
      into: reader
      columns: {without: "Reader * without AI", with: "Reader * with AI"}
    columns: {case: Case, truth: Reference, decision: {without AI: without, with AI: with}}
"""


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_header_of_two_rows_names_columns_together(tmp_path: Path, form: str) -> None:
    if form == "csv":
        (tmp_path / "two.csv").write_text("".join(",".join(row) + "\n" for row in TWO_ROWS))
    else:
        book = Workbook()
        for row in TWO_ROWS:
            book.active.append([cell or None for cell in row])
        for merged in ("A1:G1", "A2:A3", "B2:B3", "C2:D2", "E2:F2"):
            book.active.merge_cells(merged)
        book.save(tmp_path / "two.xlsx")
    (readings,) = study(tmp_path, WIDE.replace("FILE", f"two.{form}")).readings
    assert list(readings.readers.labels) == ["A", "B"]
    assert readings.cases.truth.tolist() == [1, 0]
    assert readings.decision[readings.arm == 1].sum() == 2
    assert readings.decision[readings.arm == 0].sum() == 2


def test_rows_below_a_header_of_two_are_numbered_as_in_the_file(tmp_path: Path) -> None:
    text = "".join(",".join(row) + "\n" for row in TWO_ROWS).replace("c2,0,1", "c2,0,x")
    assert "two.csv, row 5" in said(tmp_path, WIDE.replace("FILE", "two.csv"), two=text)


def test_a_merged_cell_holds_for_its_own_columns_alone() -> None:
    rows = [["Case", "Reader 1", "Reader 1", "", ""], ["", "without", "with", "Note", ""]]
    assert joined(rows, fill=False) == ("Case", "Reader 1 without", "Reader 1 with", "Note", "")


@pytest.mark.parametrize("rows", ["[3, 2]", "[2, 4]", "[]", "0"])
def test_rows_of_a_header_lie_below_each_other(tmp_path: Path, rows: str) -> None:
    manifest = WIDE.replace("FILE", "two.csv").replace("[2, 3]", rows)
    assert "header_row" in said(tmp_path, manifest, two="a,b\n1,2\n")
