"""What `check` says of a study that will answer nothing, or less than its tables were meant for."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from trustreport.commands.cli import main
from trustreport.study.plan import Language
from trustreport.vocabulary.messages import catalogue

NOTHING = "No question of the report would be answered: "
HEAD = "report: {kind: certification}\ndevice: {}\n"
VALUES = HEAD + "measurements: [{measurement: EF, kind: number}]\ntables: {values: {file: values.csv}}\n"
RATED = VALUES.replace("kind: number", "kind: ordinal, better: up, scale: [1, 5]").replace("EF", "quality")


def said(folder: Path, manifest: str, **tables: Sequence[Sequence[Any]]) -> list[str]:
    """The lines of `check`."""
    for name, rows in tables.items():
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    (folder / "study.yaml").write_text(manifest, encoding="utf-8")
    done = CliRunner().invoke(main, ["check", str(folder)])
    assert done.exit_code == 0, done.output
    return [line.removeprefix("warning: ") for line in done.output.splitlines()]


def nothing(lines: list[str]) -> str:
    """The one line that says that nothing would be answered."""
    (found,) = [line for line in lines if line.startswith(NOTHING)]
    assert not any("No problems found" in line for line in lines)
    return found


def test_every_reference_is_empty(tmp_path: Path) -> None:
    rows = [("case", "measured", "reference_value"), *((k, 50 + k, "") for k in range(9))]
    line = nothing(said(tmp_path, VALUES, values=rows))
    assert line.endswith(
        "agreement of EF needs a reference value of cases that were measured (column reference_value)."
    )


def test_a_truth_that_nothing_is_compared_with(tmp_path: Path) -> None:
    manifest = HEAD + "datasets: [{dataset: a, role: external, file: a.csv}]\n"
    rows = [("case", "truth"), *((f"A{k}", k % 2) for k in range(9))]
    line = nothing(said(tmp_path, manifest, a=rows))
    assert line.endswith("what the device or readers said of the cases (a column score or decision).")


def test_no_case_has_a_value_and_a_reference(tmp_path: Path) -> None:
    manifest = VALUES.replace(
        "values.csv}", "values.csv}, cases: {file: cases.csv, columns: {reference_value: truth_ml}}"
    )
    values = [("case", "measured"), *((f"A{k}", 50 + k) for k in range(9))]
    cases = [("case", "truth_ml"), *((f"B{k}", 50 + k) for k in range(9))]
    assert "column reference_value" in nothing(said(tmp_path, manifest, values=values, cases=cases))


def test_values_of_readers_are_compared_although_the_reference_is_empty(tmp_path: Path) -> None:
    rows = [("case", "reader", "measured", "reference_value")]
    rows += [(k, r, 50 + k + len(r), "") for k in range(9) for r in ("A", "BB")]
    lines = said(tmp_path, VALUES, values=rows)
    assert not any(line.startswith(NOTHING) for line in lines)
    assert any("Not every question of these tables will be answered: agreement of EF" in x for x in lines)


def test_ratings_that_are_all_the_same(tmp_path: Path) -> None:
    rows = [("case", "reader", "measured"), *((k, r, 4) for k in range(9) for r in "AB")]
    line = nothing(said(tmp_path, RATED, values=rows))
    assert "every value of quality is 4, so that nothing can be compared (column measured)" in line


def test_values_of_one_case(tmp_path: Path) -> None:
    line = nothing(said(tmp_path, RATED, values=[("case", "measured"), ("A", 4)]))
    assert "quality needs values of more than one case" in line


@pytest.mark.parametrize("second", ["", "B"])
def test_choices_with_one_output_only(second: str, tmp_path: Path) -> None:
    rows = [("case", "reader", "first", "second", "preferred")]
    rows += [(k, r, "A", second, "" if second else "A") for k in range(9) for r in "XY"]
    manifest = HEAD + "tables: {preferences: {file: preferences.csv}}\n"
    line = nothing(said(tmp_path, manifest, preferences=rows))
    assert "(columns first, second and preferred)" in line


def test_readings_without_a_truth_and_without_anything_else(tmp_path: Path) -> None:
    rows = [("reader", "case", "arm", "score"), *((r, k, "aided", k) for k in range(9) for r in "AB")]
    manifest = HEAD + "tables: {readings: {file: readings.csv}}\n"
    lines = said(tmp_path, manifest, readings=rows)
    assert any("none of the report's questions can be answered" in line for line in lines)


def test_labels_of_one_rater(tmp_path: Path) -> None:
    rows = [("case", "rater", "label"), *((k, "A", k % 2) for k in range(9))]
    line = nothing(said(tmp_path, HEAD + "tables: {raters: {file: raters.csv}}\n", raters=rows))
    assert "(column rater)" in line


def test_two_raters_who_share_no_case(tmp_path: Path) -> None:
    rows = [("case", "rater", "label"), *((k, "AB"[k % 2], k % 3 % 2) for k in range(20))]
    line = nothing(said(tmp_path, HEAD + "tables: {raters: {file: raters.csv}}\n", raters=rows))
    assert "labels of two raters" in line


def test_no_error_among_all_counts_has_a_limit(tmp_path: Path) -> None:
    manifest = RATED.replace("kind: ordinal, better: up, scale: [1, 5]", "kind: count, better: down")
    rows = [("case", "reader", "measured"), *((k, r, 0) for k in range(40) for r in "AB")]
    assert not any("would be answered" in line for line in said(tmp_path, manifest, values=rows))


def test_labels_that_are_all_the_same(tmp_path: Path) -> None:
    rows = [("case", "rater", "label"), *((k, r, "yes") for k in range(9) for r in "AB")]
    line = nothing(said(tmp_path, HEAD + "tables: {raters: {file: raters.csv}}\n", raters=rows))
    assert "every label is yes" in line


def test_a_table_of_cases_alone(tmp_path: Path) -> None:
    manifest = HEAD + "tables: {cases: {file: cases.csv}}\n"
    line = nothing(said(tmp_path, manifest, cases=[("case", "truth"), ("A", 1), ("B", 0)]))
    assert "has a row that is used" in line


def test_figures_in_the_manifest_answer(tmp_path: Path) -> None:
    manifest = HEAD + "confusion: [{set: s, tp: 40, fp: 5, fn: 10, tn: 45}]\n"
    assert not any(line.startswith(NOTHING) for line in said(tmp_path, manifest))


def test_what_answers_something_is_not_warned_of(tmp_path: Path) -> None:
    rows = [("case", "measured", "reference_value"), *((k, 50 + k, 49 + k) for k in range(9))]
    assert said(tmp_path, VALUES, values=rows)[0].startswith("No problems found")


@pytest.mark.parametrize("language", get_args(Language))
def test_it_is_said_in_each_language(language: str, tmp_path: Path) -> None:
    rows = [("case", "measured", "reference_value"), *((k, 50 + k, "") for k in range(9))]
    manifest = VALUES.replace("kind: certification", f"kind: certification, language: {language}")
    lines = said(tmp_path, manifest, values=rows)
    reason = catalogue(language)("lacks.reference", measurement="EF")
    assert any(reason in line for line in lines)
