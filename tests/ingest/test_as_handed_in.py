"""Tables as hospitals have them: title rows, words for missing values, codes, dates, columns that repeat."""

import datetime as dt
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from trustreport.commands.cli import main
from trustreport.study.ingest import read
from trustreport.study.ingest.values import strptime_of
from trustreport.study.study import Study
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
READERS = """reading: {design: crossover}
tables:
  readings:
    file: FILE
    header_row: 3
    skip_rows: [4]
    missing: [NA, ".", -9]
    date_format: dd/mm/yyyy
    columns:
      {reader: lecteur, case: cas, arm: bras, truth: verite, decision: avis, seconds: duree, read_at: jour}
    values: {truth: {oui: 1, non: 0}, decision: {Oui: 1, Non: 0}, arm: {sans: unaided, avec: aided}}
"""
ROWS = [
    ["Export of the registry", "", "", "", "", "", ""],
    ["", "", "", "", "", "", ""],
    ["lecteur", "cas", "bras", "verite", "avis", "duree", "jour"],
    ["text", "text", "text", "text", "text", "s", "date"],
    ["A", "c1", "sans", "oui", "NON", "31", "05/02/2024"],
    ["A", "c1", "avec", "oui", "oui", "-9", "13/03/2024"],
    ["A", "c2", "sans", "non", "NA", "12", "."],
    ["A", "c2", "avec", "Non", "non", "14", "2024-03-14"],
]


def study(folder: Path, manifest: str, **files: str) -> Study:
    """Read a study from its texts."""
    (folder / "study.yaml").write_text(HEAD + manifest)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return read(folder)[0]


def said(folder: Path, manifest: str, **files: str) -> str:
    """What is wrong with it."""
    with pytest.raises(StudyError) as caught:
        study(folder, manifest, **files)
    return str(caught.value)


def csv_text(rows: list[list[str]], sign: str = ";") -> str:
    return "".join(sign.join(row) + "\n" for row in rows)


def workbook(path: Path, rows: list[list[str]]) -> None:
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.active
    sheet.title = "Data"
    book.create_sheet("Notes")
    for i, row in enumerate(rows, 1):
        for k, cell in enumerate(row, 1):
            sheet.cell(i, k, int(cell) if cell.lstrip("-").isdigit() else cell or None)
    book.save(path)


@pytest.mark.parametrize("form", ["csv", "xlsx"])
def test_a_table_is_read_as_it_was_exported(tmp_path: Path, form: str) -> None:
    name = f"export.{form}"
    if form == "csv":
        (tmp_path / name).write_text(csv_text(ROWS))
    else:
        workbook(tmp_path / name, ROWS)
    found = study(tmp_path, READERS.replace("FILE", name)).readings[0]
    assert found.arms == ("unaided", "aided")
    assert found.cases.truth.tolist() == [1, 0]
    order = np.lexsort((found.case, found.arm))
    assert found.decision[order].tolist() == [0, 1, 0] if len(order) == 3 else [0, -1, 1, 0]
    seconds = found.seconds[order]
    assert np.isnan(seconds).sum() == 1
    assert np.datetime64(dt.datetime(2024, 2, 5), "s") in found.read_at  # noqa: DTZ001 -- no zone is given
    assert np.datetime64(dt.datetime(2024, 3, 14), "s") in found.read_at  # noqa: DTZ001 -- as above


def test_rows_in_messages_are_those_of_the_spreadsheet(tmp_path: Path) -> None:
    rows = [*ROWS[:7], ["A", "c2", "avec", "perhaps", "non", "14", "2024-03-14"]]
    message = said(tmp_path, READERS.replace("FILE", "r.csv"), r_csv=csv_text(rows))
    assert 'r.csv, row 8, column verite: found "perhaps"' in message


def test_a_header_further_down_is_pointed_at_once(tmp_path: Path) -> None:
    manifest = READERS.replace("FILE", "r.csv").replace("    header_row: 3\n", "")
    message = said(tmp_path, manifest, r_csv=csv_text(ROWS))
    assert message == (
        'r.csv, row 1: found "Export of the registry" in the first row, and names of columns in row 3, '
        "expected a header. Add tables.readings.header_row: 3 to the manifest."
    )
    workbook(tmp_path / "r.xlsx", ROWS)
    assert "Add tables.readings.header_row: 3 to the manifest." in said(
        tmp_path, manifest.replace("r.csv", "r.xlsx")
    )


def test_columns_that_are_not_there_are_one_problem_with_the_other_sheets(tmp_path: Path) -> None:
    workbook(tmp_path / "r.xlsx", [["one", "two"], ["1", "2"]])
    manifest = """tables:
  readings: {file: r.xlsx, columns: {reader: Radiologist, case: Patient ID, truth: Gold, decision: Call}}
"""
    message = said(tmp_path, manifest)
    assert message.count("\n") == 0
    assert 'no columns "Radiologist", "Patient ID", "Gold" or "Call" in r.xlsx' in message
    assert 'The workbook has also the sheet "Notes": name it by sheet:.' in message


def test_words_for_missing_values_are_one_problem_each_with_the_line_that_mends(tmp_path: Path) -> None:
    rows = "".join(
        f"R1,c{i},{'NA' if i % 3 == 0 else i % 2},{'NA' if i % 4 == 0 else 1}\n" for i in range(24)
    )
    message = said(
        tmp_path,
        "arms: [{arm: aided}]\ntables: {readings: {file: r.csv}}\n",
        r_csv="reader,case,truth,decision\n" + rows,
    )
    assert message == (
        'r.csv, rows 2, 5, 6 and 9 more, column decision, truth: found "NA" in 14 cells, expected a value '
        "or an empty cell. Add missing: [NA] to tables.readings in the manifest."
    )


def test_plus_and_minus_are_codes_and_a_missing_word_hides_no_other_column(tmp_path: Path) -> None:
    text = "truth,decision\n+,NA\n-,maybe\n+,NA\n"
    message = said(tmp_path, "datasets: [{dataset: a, role: external, file: a.csv}]\n", a_csv=text)
    assert 'column truth: found "+" (2) and "-" (1)' in message
    assert 'values: {truth: {"+": 1, "-": 0}}' in message
    assert 'found "NA" in 2 cells' in message
    assert 'column decision: found "maybe"' in message


def test_codes_that_are_known_are_offered_as_a_line_of_the_manifest(tmp_path: Path) -> None:
    text = "truth,score\nM,.2\nB,.3\nM,.4\n"
    manifest = "datasets: [{dataset: a, role: external, file: a.csv}]\n"
    message = said(tmp_path, manifest, a_csv=text)
    assert 'found "M" (2) and "B" (1), expected 0 or 1 (1 = condition present)' in message
    mended = "values: {truth: {M: 1, B: 0}}"
    assert f"If these are the codes, add {mended} to datasets[0] in the manifest." in message
    made = study(tmp_path, manifest.replace("file: a.csv", f"file: a.csv, {mended}"), a_csv=text)
    assert made.datasets[0].cases.truth.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("cell", "form"),
    [("31/12/2024", "dd/mm/yyyy"), ("12/31/2024", "mm/dd/yyyy"), ("3.4.24", "dd.mm.yy")],
)
def test_a_date_of_another_country_names_its_form(tmp_path: Path, cell: str, form: str) -> None:
    text = f"reader,case,truth,decision,read_at\nR1,c1,1,1,{cell}\n"
    manifest = "arms: [{arm: aided}]\ntables: {readings: {file: r.csv}}\n"
    assert f"Add date_format: {form} to tables.readings in the manifest." in said(
        tmp_path, manifest, r_csv=text
    )
    manifest = manifest.replace("r.csv", f"r.csv, date_format: {form}")
    assert not np.isnat(study(tmp_path, manifest, r_csv=text).readings[0].read_at).any()


def test_forms_of_dates() -> None:
    assert strptime_of("dd/mm/yyyy HH:MM:SS") == "%d/%m/%Y %H:%M:%S"
    assert strptime_of("%Y%m%d") == "%Y%m%d"


# ---------------------------------------------------------------- repeated columns

WIDE = "case,rater1,rater2,rater3\nc1,x,y,x\nc2,x,,x\nc3,y,y,y\n"
RATERS = "tables: {raters: {file: r.csv, unpivot: {into: rater, columns: {label: rater*}}}}\n"


def test_each_rater_may_find_a_case_as_complex_as_it_seems(tmp_path: Path) -> None:
    table = "case,rater,label,complexity\nC1,Ann,1,1\nC1,Bo,1,4\nC2,Ann,0,2\nC2,Bo,1,\n"
    found = study(tmp_path, "tables: {raters: {file: r.csv}}\n", r_csv=table).raters[0]
    assert found.complexity is not None
    assert np.nan_to_num(found.complexity).tolist() == [1, 2, 4, 0]
    assert found.cases.complexity is None


def test_raters_in_columns(tmp_path: Path) -> None:
    found = study(tmp_path, RATERS, r_csv=WIDE).raters[0]
    assert tuple(found.raters) == ("1", "2", "3")
    assert len(found.label) == 8  # an empty cell is no rating


def test_several_columns_repeat_together(tmp_path: Path) -> None:
    text = "case,truth,dec_A,dec_B,sec_A,sec_B\nc1,1,1,0,10,12\nc2,0,0,,11,\n"
    manifest = """arms: [{arm: aided}]
tables:
  readings: {file: r.csv, unpivot: {into: reader, columns: {decision: dec_*, seconds: sec_*}}}
"""
    found = study(tmp_path, manifest, r_csv=text).readings[0]
    assert tuple(found.readers.labels) == ("A", "B")
    assert sorted(found.seconds.tolist()) == [10, 11, 12]


def test_names_of_repeated_columns_are_declared_or_their_headers(tmp_path: Path) -> None:
    listed = RATERS.replace("rater*", "[rater1, rater2, rater3]")
    raters = study(tmp_path, listed, r_csv=WIDE).raters[0].raters
    assert tuple(raters) == ("rater1", "rater2", "rater3")
    named = listed.replace("]}", "]}, names: [Ann, Bo, Cy]")
    assert tuple(study(tmp_path, named, r_csv=WIDE).raters[0].raters) == ("Ann", "Bo", "Cy")


def test_repeated_columns_that_do_not_fit_are_told(tmp_path: Path) -> None:
    assert 'no column "reader*" in r.csv' in said(tmp_path, RATERS.replace("rater*", "reader*"), r_csv=WIDE)
    named = RATERS.replace("rater*}", "rater*}, names: [Ann, Bo]")
    assert "found 3 columns, expected 2, one for each rater" in said(tmp_path, named, r_csv=WIDE)


def test_a_map_of_values_for_a_column_that_is_not_there_is_told(tmp_path: Path) -> None:
    manifest = "tables: {raters: {file: r.csv, values: {lable: {x: y}}}}\n"
    text = "case,rater,label\nc1,r1,x\nc1,r2,y\n"
    assert 'no column "lable" in r.csv whose values could be replaced. Did you mean "label"?' in said(
        tmp_path, manifest, r_csv=text
    )


def test_values_of_a_group_are_renamed(tmp_path: Path) -> None:
    text = "truth,score,sex\n1,.2,1\n0,.3,2\n1,.4,2\n0,.1,1\n"
    manifest = (
        "datasets: [{dataset: a, role: external, file: a.csv, values: {sex: {1: male, 2: female}}}]\n"
        "subgroups: [{name: sex}]\n"
    )
    sex = study(tmp_path, manifest, a_csv=text).datasets[0].cases.groups["sex"]
    assert tuple(sex.labels) == ("female", "male")


def test_check_ends_each_message_with_what_to_add(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(HEAD + "tables: {readings: {file: r.csv}}\n")
    (tmp_path / "r.csv").write_text('reader,case,arm,truth,score\nR1,c1,aided,1,"0,5"\n')
    done = CliRunner().invoke(main, ["check", str(tmp_path)])
    assert done.exit_code == 1
    assert 'Add decimal: "," to tables.readings in the manifest.' in done.stderr
