"""`init --from` proposes no manifest that is refused, or answers nothing where another would."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from trustreport.commands.cli import main
from trustreport.study.ingest import read
from trustreport.vocabulary.errors import StudyError

READINGS = [
    (f"R{r}", f"c{c}", arm, c % 2, (c + r) % 2, 1 + (c + r) % 5)
    for r in range(3)
    for c in range(12)
    for arm in ("unaided", "aided")
]


def init(folder: Path, tables: dict[str, list[tuple[object, ...]]], status: int = 0) -> tuple[str, str]:
    """The manifest that is written, and what is said beside it."""
    for name, rows in tables.items():
        (folder / name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    files = [str(folder / name) for name in tables]
    done = CliRunner().invoke(main, ["init", str(folder / "s"), "--from", *files])
    assert done.exit_code == status, done.stderr
    file = folder / "s" / "study.yaml"
    return (file.read_text() if file.exists() else ""), done.stderr


def test_ratings_under_the_name_of_a_share_are_left_out_by_name(tmp_path: Path) -> None:
    head = ("reader", "case", "arm", "truth", "decision", "confidence")
    manifest, said = init(tmp_path, {"r.csv": [head, *READINGS]})
    assert "    ignore: [confidence]\n" in manifest
    reason = 'r.csv: the column confidence is not used: found "2", "3", "4" ..., expected numbers from 0 to 1'
    assert f"# {reason}" in manifest
    assert reason in said
    (readings,) = read(tmp_path / "s")[0].readings
    assert readings.confidence is None


def test_a_header_that_is_almost_a_word_is_mapped_where_its_cells_fit(tmp_path: Path) -> None:
    manifest, _ = init(
        tmp_path, {"r.csv": [("reader", "case", "arm", "truth", "decision", "secnds"), *READINGS]}
    )
    assert "seconds: secnds" in manifest
    assert read(tmp_path / "s")[0].readings[0].seconds is not None


def test_and_left_out_where_they_do_not(tmp_path: Path) -> None:
    rows = [(*row[:5], "n/d") for row in READINGS]
    manifest, said = init(
        tmp_path, {"r.csv": [("reader", "case", "arm", "truth", "decision", "secnds"), *rows]}
    )
    assert "ignore: [secnds]" in manifest
    assert 'the column secnds is not used: unknown column "secnds"' in said


def test_cases_that_nobody_read_are_scores_of_the_device(tmp_path: Path) -> None:
    """Beside another file the table would be one of cases, of which no row is used."""
    rows = [(f"c{i}", i % 2, i / 20, "POS" if i > 8 else "NEG") for i in range(20)]
    menu = [("dish", "price"), ("soup", 3)]
    head = ("case", "truth", "AI Score", "AI Flag")
    manifest, said = init(tmp_path, {"vendor.csv": [head, *rows], "menu.csv": menu})
    assert "columns: {score: AI Score, decision: AI Flag}" in manifest
    assert "vendor.csv could be a table of cases too, but: No question of the report" in said
    assert read(tmp_path / "s")[0].datasets


def test_a_study_without_a_truth_stays_as_it_is(tmp_path: Path) -> None:
    """Another table will hold the truth: nothing else is made of the readings."""
    rows = [(r, c, arm, d) for r, c, arm, _, d, _ in READINGS]
    manifest, said = init(tmp_path, {"r.csv": [("reader", "case", "arm", "decision"), *rows]})
    assert "  readings:\n" in manifest
    assert "warning: No case has a truth" in said


def test_a_table_that_is_refused_whatever_it_is_keeps_its_problems(tmp_path: Path) -> None:
    rows = [*READINGS, READINGS[0]]
    head = ("reader", "case", "arm", "truth", "decision", "rating")
    manifest, said = init(tmp_path, {"r.csv": [head, *rows]}, status=1)
    assert "  readings:\n" in manifest
    assert "r.csv, rows 2 and 74" in said


def test_a_table_of_no_kind_says_what_the_nearest_kind_lacks(tmp_path: Path) -> None:
    _, said = init(tmp_path, {"x.csv": [("Radiologist", "Case"), ("A", 1), ("B", 2), ("A", 2)]}, status=1)
    assert "nearest is one of readings, which also needs a column decision or score" in said
    assert "docs/study.md (Tables)" in said


def test_a_pdf_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.4\n\x00\xff")
    done = CliRunner().invoke(main, ["init", str(tmp_path / "s"), "--from", str(tmp_path / "report.pdf")])
    assert done.stderr.startswith("report.pdf: found a PDF document, expected CSV, Parquet or XLSX.")


def test_a_column_that_is_ignored_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("reader,case,arm,truth,decision,confidence\nR1,c1,aided,1,1,4\n")
    head = "report: {kind: certification}\ndevice: {trade_name: X}\n"
    file = tmp_path / "study.yaml"
    file.write_text(head + "tables: {readings: {file: r.csv, ignore: confidence}}\n")
    study, _ = read(tmp_path)
    assert "columns_ignored" not in dict(study.cautions)
    file.write_text(head + "tables: {readings: {file: r.csv, ignore: [confidnce]}}\n")
    with pytest.raises(StudyError, match=r'no column "confidnce" in r\.csv\. Did you mean "confidence"'):
        read(tmp_path)


def test_a_lost_column_is_one_problem(tmp_path: Path) -> None:
    """Its values are not looked for again."""
    (tmp_path / "r.csv").write_text("reader,case,arm,outcome,decision\nR1,c1,aided,oui,1\n")
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: X}\ntables:\n"
        "  readings: {file: r.csv, columns: {truth: outcme}, values: {truth: {oui: 1, non: 0}}}\n"
    )
    with pytest.raises(StudyError) as refused:
        read(tmp_path)
    assert [p.mend for p in refused.value.problems] == ['Did you mean "outcome"?']


def test_two_columns_with_a_name_for_the_truth_are_a_doubt(tmp_path: Path) -> None:
    rows = [(f"c{i}", i % 2, i // 2 % 2, i / 20) for i in range(20)]
    manifest, said = init(tmp_path, {"v.csv": [("case", "biopsy", "diagnosis", "score"), *rows]})
    question = "v.csv: which column is the reference standard? It could be biopsy."
    assert f"columns: {{truth: diagnosis}}  # UNCERTAIN: {question}" in manifest
    assert f"uncertain: {question}" in said
