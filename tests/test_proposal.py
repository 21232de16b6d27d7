"""A manifest proposed from tables of hospitals: it passes check, and says what is only a guess."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from openpyxl import Workbook

from trustreport.commands.cli import main
from trustreport.study.ingest import read
from trustreport.study.proposal import Doubt, propose, spellings, squeezed, text, vocabulary
from trustreport.study.study import Study

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def init(folder: Path, *tables: Path, status: int = 0, kind: str = "certification") -> tuple[str, str]:
    """The manifest that is written, and what is said beside it."""
    arguments = ["init", str(folder), "--from", *map(str, tables), "--kind", kind]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == status, done.stderr
    file = folder / "study.yaml"
    return (file.read_text() if file.exists() else ""), done.stderr


def put(folder: Path, name: str, rows: Sequence[Sequence[object]], sign: str = ",") -> Path:
    file = folder / name
    file.write_text("".join(sign.join(map(str, row)) + "\n" for row in rows))
    return file


def studied(folder: Path) -> Study:
    return read(folder)[0]


def readings(arms: Sequence[str], yes: str, no: str) -> list[list[str]]:
    return [
        [
            f"L{r}",
            f"E{c:03}",
            arm,
            yes if c % 3 == 0 else no,
            yes if (c + r) % 2 else no,
            f"{1 + c % 28:02}/03/2025",
        ]
        for r in range(3)
        for c in range(30)
        for arm in arms
    ]


def test_a_french_export_with_a_title_units_and_missing_words(tmp_path: Path) -> None:
    rows = readings(["sans", "avec"], "oui", "non")
    rows[4][4] = "NA"
    head = ["Lecteur", "Cas", "Bras", "Vérité", "Avis", "Date d'examen"]
    units = ["texte", "texte", "texte", "code", "code", "date"]
    file = put(tmp_path, "export.csv", [["Registre 2025"], [], head, units, *rows], ";")
    manifest, _ = init(tmp_path / "study", file)
    assert "UNCERTAIN" not in manifest
    for line in (
        "    header_row: 3",
        "    skip_rows: [4]",
        "    missing: [NA]",
        "    values: {truth: {oui: 1, non: 0}, decision: {non: 0, oui: 1}}",
        "arms: [{arm: sans, aided: false}, {arm: avec, aided: true}]",
    ):
        assert line in manifest, manifest
    (found,) = studied(tmp_path / "study").readings
    assert found.arms == ("sans", "avec")
    assert len(found.readers.labels) == 3
    assert len(manifest.splitlines()) < 20


def test_a_workbook_with_scores_in_percent(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.append(["Patient ID", "Ground truth", "Risk", "Sex", "Study date"])
    for i in range(40):
        sheet.append(
            [
                f"P{i}",
                "M" if i % 4 == 0 else "B",
                2 * i + 0.5,
                "F" if i % 2 else "M",
                f"2025-01-{1 + i % 28:02}",
            ]
        )
    book.save(tmp_path / "hospital.xlsx")
    manifest, _ = init(tmp_path / "study", tmp_path / "hospital.xlsx")
    assert "values: {truth: {M: 1, B: 0}}" in manifest
    assert "# operating_point: {threshold: 50}" in manifest
    assert "role: external  # UNCERTAIN: what kind of data set is hospital?" in manifest
    assert "# subgroups: [{name: Sex}]" in manifest
    (found,) = studied(tmp_path / "study").datasets
    assert found.cases.truth.sum() == 10
    assert len(found.cases.labels) == 40


def test_codes_that_say_nothing_are_a_guess_that_is_marked(tmp_path: Path) -> None:
    file = put(tmp_path, "a.csv", [["truth", "score"], ["A", 0.2], ["B", 0.7], ["A", 0.4]])
    manifest, said = init(tmp_path / "study", file)
    question = "a.csv, truth: which value is 1 (positive)?"
    assert f"values: {{truth: {{A: 0, B: 1}}}}  # UNCERTAIN: {question}" in manifest
    assert f"uncertain: {question}" in said
    assert studied(tmp_path / "study").datasets


def test_on_a_terminal_it_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(tmp_path, "a.csv", [["truth", "score"], ["A", 0.2], ["B", 0.7], ["A", 0.4]])
    made = propose([file], "certification", lambda doubt: doubt.options[0])
    manifest = text(made, "asked")
    assert "values: {truth: {A: 1, B: 0}}" in manifest
    assert "UNCERTAIN" not in manifest

    class Terminal:
        @staticmethod
        def isatty() -> bool:
            return True

    monkeypatch.setattr("trustreport.commands.init._choose", lambda doubt: doubt.options[-1])
    monkeypatch.setattr(sys, "stdin", Terminal())
    from trustreport.commands.init import _init_from

    _init_from((tmp_path / "study", file), "certification")
    assert "role: period" in (tmp_path / "study" / "study.yaml").read_text()


def test_raters_in_columns(tmp_path: Path) -> None:
    rows = [["id", "rater1", "rater2", "rater3"], *([f"c{i}", i % 2, (i + 1) % 2, 1] for i in range(12))]
    manifest, _ = init(tmp_path / "study", put(tmp_path, "panel.csv", rows))
    assert "unpivot: {into: rater, columns: {label: rater*}}" in manifest.replace('"', "")
    assert len(studied(tmp_path / "study").raters[0].label) == 36


def test_decisions_of_both_arms_in_one_row(tmp_path: Path) -> None:
    rows = [["reader", "image", "gt", "decision_without_ai", "decision_with_ai"]]
    rows += [[f"R{i % 3}", f"c{i // 3}", i // 3 % 2, i % 2, 1] for i in range(30)]
    manifest, _ = init(tmp_path / "study", put(tmp_path, "wide.csv", rows))
    assert "decision: {unaided: decision_without_ai, aided: decision_with_ai}" in manifest
    assert studied(tmp_path / "study").readings[0].arms == ("unaided", "aided")


def test_three_models_on_the_same_cases(tmp_path: Path) -> None:
    rows = [
        ["label", "forest", "svm", "logistic"],
        *([i % 2, 0.01 * i, 0.5, 0.33 + 0.01 * i] for i in range(20)),
    ]
    manifest, _ = init(tmp_path / "study", put(tmp_path, "test.csv", rows), kind="procurement")
    assert "role: local  # UNCERTAIN" in manifest  # a buyer's own patients
    assert "# candidates: [{candidate: forest, threshold: 0.5}" in manifest
    assert set(studied(tmp_path / "study").datasets[0].scores) == {"forest", "svm", "logistic"}


def test_a_score_of_each_class(tmp_path: Path) -> None:
    rows = [["diagnosis", "p_normal", "p_benign", "p_malignant"]]
    rows += [[("normal", "benign", "malignant")[i % 3], 0.5, 0.3, 0.2 + i / 100] for i in range(12)]
    manifest, _ = init(tmp_path / "study", put(tmp_path, "external.csv", rows))
    assert "class_scores: [p_normal, p_benign, p_malignant]" in manifest
    assert len(studied(tmp_path / "study").datasets[0].cases.classes) == 3


def test_a_decimal_comma_and_counts(tmp_path: Path) -> None:
    rows = [["truth", "score"], [1, '"0,8"'], [0, '"0,25"'], [1, '"0,55"']]
    manifest, _ = init(tmp_path / "one", put(tmp_path, "external.csv", rows))
    assert 'decimal: ","' in manifest
    counts = put(tmp_path, "counts.csv", [["study", "TP", "FP", "FN", "TN"], ["x", 40, 5, 3, 60]])
    manifest, _ = init(tmp_path / "two", counts)
    assert studied(tmp_path / "two").confusion


def test_a_file_of_no_table_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    file = put(tmp_path, "menu.csv", [["dish", "price"], ["soup", 3]])
    _, said = init(tmp_path / "study", file, status=1)
    assert not (tmp_path / "study").exists()
    assert "its columns (dish, price) are of no table that is known" in said
    _, said = init(tmp_path / "study", tmp_path / "none.csv", status=2)
    assert "there is no file" in said


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    file = put(tmp_path, "a.csv", [["truth", "score"], [1, 0.2], [0, 0.7]])
    first, _ = init(tmp_path, file)
    _, said = init(tmp_path, file, status=2)
    assert "is there already" in said
    assert (tmp_path / "study.yaml").read_text() == first


@pytest.mark.parametrize("name", ["annotations", "certification-dossier", "factory", "knee-mri-readings"])
def test_tables_of_the_examples_give_a_study_of_the_same_data(name: str, tmp_path: Path) -> None:
    init(tmp_path / "study", *sorted((EXAMPLES / name).glob("*.csv")))
    own, declared = studied(tmp_path / "study"), studied(EXAMPLES / name)
    assert [len(r.case) for r in own.readings] == [len(r.case) for r in declared.readings]
    assert [len(r.label) for r in own.raters] == [len(r.label) for r in declared.raters]
    sizes = [sorted(len(d.cases.labels) for d in study.datasets) for study in (own, declared)]
    assert sizes[0] == sizes[1]


def followed(n: int = 60) -> list[list[object]]:
    """Follow-up in days, with a risk that foretells it somewhat."""
    return [
        [
            f"F{i}",
            round(0.1 + 0.8 * ((i * 37) % n) / n, 3),
            200 + (i * 53) % 2500,
            ("alive", "relapse", "died")[i % 3],
        ]
        for i in range(n)
    ]


def test_follow_up_in_place_of_a_truth(tmp_path: Path) -> None:
    rows = [[*row[:3], {"alive": 0, "relapse": 1, "died": 2}[str(row[3])]] for row in followed()]
    file = put(tmp_path, "external.csv", [["id", "risk", "days", "status"], *rows])
    manifest, _ = init(tmp_path / "study", file)
    # Half of the cases are followed for 1,450 days and more: 3 years are reached, 5 are not.
    assert 'time_to_event: {horizon: "3 years", unit: days, competing: [2]}  # UNCERTAIN' in manifest
    assert "columns: {case: id, score: risk, follow_up: days, event: status}" in manifest
    (dataset,) = studied(tmp_path / "study").datasets
    assert dataset.cases.followed
    assert len(dataset.cases.labels) == 60


def test_words_for_how_a_follow_up_ended(tmp_path: Path) -> None:
    file = put(tmp_path, "external.csv", [["id", "risk", "survival_time", "vital_status"], *followed()])
    manifest, _ = init(tmp_path / "study", file)
    assert 'values: {event: {alive: 0, relapse: 1, died: "2"}}  # UNCERTAIN: ' in manifest
    assert "competing: [2]" in manifest
    assert studied(tmp_path / "study").datasets[0].cases.followed


def test_a_time_and_a_status_of_readings_are_no_follow_up(tmp_path: Path) -> None:
    head = ["reader", "case", "arm", "truth", "decision", "date"]
    rows = [[*row, 12 + i % 40] for i, row in enumerate(readings(["unaided", "aided"], "1", "0"))]
    manifest, _ = init(tmp_path / "study", put(tmp_path, "readings.csv", [[*head, "time"], *rows]))
    assert "seconds: time" in manifest
    assert "time_to_event" not in manifest


CASES = [["case", "patient"], *([f"C{i}", f"P{i}"] for i in range(1, 21))]


def test_lesions_and_marks_that_name_them(tmp_path: Path) -> None:
    lesions = [["case", "nodule"], *([f"C{i}", "left"] for i in range(1, 11))]
    marks = [
        ["candidate", "case", "rating", "nodule"],
        *(["A", f"C{i}", f"0.{10 + i}", "left" if i < 9 else ""] for i in range(1, 15)),
    ]
    files = [
        put(tmp_path, "everyone.csv", CASES),
        put(tmp_path, "lesions.csv", lesions),
        put(tmp_path, "marks.csv", marks),
    ]
    manifest, _ = init(tmp_path / "study", *files)
    for name in ("everyone", "lesions", "marks"):
        assert f"file: {name}.csv" in manifest
    assert "acceptance_radius" not in manifest
    assert "role: external  # UNCERTAIN: what kind of data set are these cases?" in manifest
    assert sum(len(one.rating) for one in studied(tmp_path / "study").localisations) == 14


def test_marks_of_readers_by_their_place(tmp_path: Path) -> None:
    lesions = [["case", "lesion", "x", "y"], *([f"C{i}", "a", 40 * i, 300] for i in range(1, 11))]
    marks = [
        ["reader", "arm", "case", "rating", "x", "y"],
        *(
            [f"R{r}", arm, f"C{i}", 1 + (i + r) % 5, 40 * i + 3, 300]
            for r in (1, 2)
            for arm in ("unaided", "aided")
            for i in range(1, 13)
        ),
    ]
    files = [
        put(tmp_path, "cases.csv", CASES),
        put(tmp_path, "l.csv", lesions),
        put(tmp_path, "m.csv", marks),
    ]
    manifest, _ = init(tmp_path / "study", *files)
    # A guess of one in twenty of the largest coordinate, 483.
    assert "localisation: {acceptance_radius: 24}  # UNCERTAIN: m.csv: at most how far" in manifest
    assert "datasets:" not in manifest
    studied(tmp_path / "study")


def test_cases_lesions_and_marks_in_one_workbook(tmp_path: Path) -> None:
    book = Workbook()
    book.remove(book.active)
    sheets = {
        "all": CASES,
        "lesions": [["case", "lesion"], *([f"C{i}", "a"] for i in range(1, 11))],
        "marks": [
            ["reader", "case", "rating", "lesion"],
            *([f"R{r}", f"C{i}", i, "a" if i < 9 else ""] for r in (1, 2) for i in range(1, 13)),
        ],
    }
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "study.xlsx")
    manifest, _ = init(tmp_path / "study", tmp_path / "study.xlsx")
    assert "# study.xlsx: the sheets lesions, marks, all are used\n" in manifest
    assert sum(len(one.rating) for one in studied(tmp_path / "study").localisations) == 24


def test_marks_without_a_table_of_cases_say_what_lacks(tmp_path: Path) -> None:
    marks = [["candidate", "case", "rating", "lesion"], ["A", "C1", "0.9", "a"], ["A", "C2", "0.2", ""]]
    file = put(tmp_path, "marks.csv", marks)
    CliRunner().invoke(main, ["init", str(tmp_path / "study"), "--from", str(file)])
    proposed = text(propose([file], "certification"), "x")
    assert "# marks need a table of all cases, with and without lesions: tables: cases" in proposed


def test_columns_that_two_data_sets_share_are_offered_as_features(tmp_path: Path) -> None:
    head = ["case", "score", "truth", "age", "bmi", "sex"]
    files = [
        put(tmp_path, f"{name}.csv", [head[:width], *(row[:width] for row in rows)])
        for name, width in (("training", 6), ("external", 4))
        for rows in [[[f"{name}{i}", i / 40, i % 2, 30 + i, 20 + i / 10, "mf"[i % 2]] for i in range(40)]]
    ]
    manifest, _ = init(tmp_path / "study", *files)
    assert manifest.count("    # features: [age]  # ") == 2
    (tmp_path / "study" / "study.yaml").write_text(manifest.replace("# features", "features"))
    assert [d.feature_names for d in studied(tmp_path / "study").datasets] == [("age",), ("age",)]


def test_words_of_headers() -> None:
    assert squeezed("Vérité (0/1)") == "verite_0_1"
    assert squeezed("readerID") == "reader_id"
    assert "lecteur_id" in spellings("reader")
    every = [name for names in vocabulary()["columns"].values() for name in names]
    assert all(name == squeezed(name) for name in every)


@pytest.mark.parametrize(
    ("name", "role", "is_sure"),
    [
        ("validation", "external", False),
        ("external_validation", "external", True),
        ("internal_validation", "internal test", True),
        ("extern", "external", True),
        ("tuning", "tuning", True),
    ],
)
def test_a_validation_set_is_no_tuning_set(tmp_path: Path, name: str, role: str, is_sure: bool) -> None:
    table = tmp_path / f"{name}.csv"
    table.write_text("case,truth,score\n" + "".join(f"c{i},{i % 2},0.{i % 9 + 1}\n" for i in range(30)))
    (found,) = propose([table], "certification").datasets
    assert (found["role"], "role" not in found["about"]) == (role, is_sure)


def test_on_a_terminal_the_role_of_every_data_set_is_asked(tmp_path: Path) -> None:
    tables = []
    for name in ("train", "test", "hospital"):
        tables.append(tmp_path / f"{name}.csv")
        rows = "".join(f"c{i},{i % 2},0.{i % 9 + 1}\n" for i in range(30))
        tables[-1].write_text("case,truth,score\n" + rows)
    asked: dict[str, str] = {}

    def choose(doubt: Doubt) -> str:
        asked[doubt.question] = doubt.likeliest
        return doubt.likeliest

    propose(tables, "certification", choose)
    assert {question: said for question, said in asked.items() if "kind of data set" in question} == {
        "what kind of data set is train?": "training",
        "what kind of data set is test?": "internal test",
        "what kind of data set is hospital?": "external",
    }
