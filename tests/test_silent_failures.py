"""What a report could get wrong without a word, on the data of the first reports: each is said or gone.

More of them are tested where the code is: tests/ingest/test_cautions.py (percentages with a threshold of a
share, weights, arms that share no reading, columns that enter nothing), tests/ingest/test_as_handed_in.py
(columns that are not there, other sheets, codes, missing values, dates) and
tests/measures/test_several_classes.py.
"""

import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests import exports
from tests.exports import rows, write_csv, write_workbook
from trustreport import assess, read_study, write_report
from trustreport.assessment.assess import Assessment
from trustreport.commands.cli import main
from trustreport.report.answer.answer import answer
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
Edit = Callable[[str], str]


def proposed(folder: Path, files: list[Path], kind: str = "certification", edit: Edit = str) -> str:
    """A proposed manifest, with changes; what is said when it is made."""
    done = CliRunner().invoke(main, ["init", str(folder), "--from", *map(str, files), "--kind", kind])
    assert done.exit_code == 0, done.stderr
    manifest = folder / "study.yaml"
    manifest.write_text(edit(manifest.read_text()))
    return done.stderr


def first_page(assessment: Assessment) -> str:
    """The sentences at the top of page 1."""
    found = answer(assessment, EN)
    return f"{found.sentence} {found.supporting}"


def cautions(assessment: Assessment) -> dict[str, str]:
    return {key: EN(f"cautions.{key}", **values) for key, values in assessment.study.cautions}


def printed(assessment: Assessment, folder: Path) -> str:
    """The words of the report, without drawings and markup."""
    write_report(assessment, folder, formats=["html"])
    text = re.sub(r"(?s)<(script|style|svg).*?</\1>", "", (folder / "report.html").read_text())
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


# ---------------------------------------------------------------- an audit


INDICATOR = """vigilance:
  baseline_dataset: 2020-P1
  period_start: 2020-05-29
  period_end: 2020-06-16
  observation_period: 3 months
  planned_looks: 4
  indicators:
    - {measure: sensitivity, in_control: 0.97, to_detect: 0.85, false_alert_budget: 0.05, planned_cases: 120}
operating_point: {threshold: 0.05}
"""


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    """Sensitivity rose after a baseline of 60%, while 97% were declared to be in control."""
    folder = tmp_path_factory.mktemp("audit")

    def with_indicator(manifest: str) -> str:
        assert len(re.findall(r"(?m)^vigilance: .*\n", manifest)) == 1
        return re.sub(r"(?m)^vigilance: .*\n", INDICATOR, manifest)

    proposed(folder, exports.covid(folder), "vigilance", with_indicator)
    return assess(*read_study(folder))


def test_an_alert_against_a_rate_that_the_baseline_never_had_is_no_change(audit: Assessment) -> None:
    assert "6 of 10 (60.0%)" in cautions(audit)["baseline_not_in_control"]
    said = first_page(audit)
    assert said.startswith("No change was found.")
    assert (
        "The CUSUM of sensitivity alerted in 2020-P4 against the declared rate of 97.0%, but the "
        "baseline does not have that rate either (6 of 10, 60.0%): the alert shows no change."
    ) in said


def test_nothing_is_printed_between_empty_brackets(audit: Assessment, tmp_path: Path) -> None:
    text = printed(audit, tmp_path)
    assert "next audit period" in text
    assert not re.findall(r".{30}\(\s*\)", text)


# ---------------------------------------------------------------- training data, thresholds, groups


@pytest.fixture(scope="module")
def hospitals(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    """Four hospitals with a threshold, and groups of which one has no column."""
    folder = tmp_path_factory.mktemp("hospitals")

    def with_threshold(manifest: str) -> str:
        groups = (
            '{name: older, definition: "65 <= age < 80"}, {name: tall, definition: "180 <= height < 220"}'
        )
        return f"{manifest}operating_point: {{threshold: 0.5}}\nsubgroups: [{groups}]\n"

    proposed(folder, exports.heart(folder), edit=with_threshold)
    return assess(*read_study(folder))


def test_the_training_set_does_not_speak_on_page_1(hospitals: Assessment) -> None:
    said = first_page(hospitals)
    assert "cleveland" not in said
    for name in ("hungarian", "switzerland", "va"):
        own = re.search(rf"\b{name}: ([^.]|\.\d)*\.", said)
        assert own is not None, said
        assert all(word in own[0] for word in ("area under the ROC curve", "sensitivity", "specificity"))
    assert said.startswith("The lowest sensitivity outside the training data")


def test_that_specificity_falls_from_hospital_to_hospital_is_on_page_1(hospitals: Assessment) -> None:
    """Counted by hand in the tables."""
    for name in ("hungarian", "switzerland", "va"):
        table = rows(exports.REFERENCE / "contract" / "heart" / f"heart_ext_{name}.csv")
        label, score = table[0].index("label"), table[0].index("score")
        negative = [float(r[score]) for r in table[1:] if r[label] == "0"]
        share = sum(s < 0.5 for s in negative) / len(negative)
        places = 1 if len(negative) >= 100 else 0
        assert f"specificity {100 * share:.{places}f}%" in first_page(hospitals)


def test_a_group_without_a_column_is_said_once(hospitals: Assessment) -> None:
    said = cautions(hospitals)["subgroup_without_column"]
    assert said == "The subgroup tall cannot be formed: no table has height."
    known = [r for r in hospitals.results if r.place.subgroup and "older" in str(r.place.subgroup)]
    assert known
    fired = [EN(o.message) for o in hospitals.fired() if o.check == "P38"]
    assert not [text for text in fired if "100%" in text or "attribute older" in text]
    assert any(
        text.startswith("The attribute tall is known of no case: its column is missing") for text in fired
    )


# ---------------------------------------------------------------- verification, candidates, ranks, classes


def test_who_has_no_truth_depends_on_the_score(tmp_path: Path) -> None:
    """Without a threshold there is no decision; that verification follows the score is seen all the same."""
    head, *table = rows(exports.TABLES / "flchain_1997_2003.csv")
    truth, score = head.index("died_10y"), head.index("risk")
    without = [[*r[:truth], "NA" if float(r[score]) < 0.1 else r[truth], *r[truth + 1 :]] for r in table]
    proposed(tmp_path, [write_csv(tmp_path / "samples.csv", [head, *without])])
    found = assess(*read_study(tmp_path))
    n = sum(r[truth] != "NA" for r in without)
    (said,) = [EN(o.message) for o in found.fired() if o.check == "P13"]
    assert said.startswith(f"The reference standard is known of {n} of 400 cases, and the {400 - n} cases")
    assert "without it have lower scores than the others" in said


def test_data_sets_are_counted_once(tmp_path: Path) -> None:
    """Three models on one data set are one data set, whatever is counted."""
    proposed(tmp_path, exports.wisconsin(tmp_path), "procurement")
    text = printed(assess(*read_study(tmp_path)), tmp_path / "out")
    assert re.findall(r"\b(\d+) data sets?\b", text).count("1") >= 1
    assert not re.search(r"\b[2-9] data sets\b", text)
    assert "How do “forest”, “logistic”, and “svm” compare on our own cases?" in text


def test_whole_numbers_as_labels_are_probably_ranks(tmp_path: Path) -> None:
    files = exports.anxiety(tmp_path)
    proposed(tmp_path, files, edit=lambda text: re.sub(r"(?m)^reference_standard: .*\n", "", text))
    found = assess(*read_study(tmp_path))
    assert "add reference_standard: {label_scale: ordinal}" in cautions(found)["labels_look_like_ranks"]
    # Declared, the ranks lead, and nothing rests on the alpha of names.
    (tmp_path / "study.yaml").unlink()
    proposed(tmp_path, files)
    found = assess(*read_study(tmp_path))
    assert not cautions(found)
    (said,) = [EN(o.message) for o in found.fired() if o.check == "P14"]
    assert "not given for ranks" in said
    assert "accuracy of about" not in said


def test_labels_that_are_names_are_no_ranks(tmp_path: Path) -> None:
    proposed(tmp_path, exports.diagnoses(tmp_path))
    assert not cautions(assess(*read_study(tmp_path)))


def test_scores_of_classes_are_assessed(tmp_path: Path) -> None:
    proposed(tmp_path, exports.iris(tmp_path))
    found = assess(*read_study(tmp_path))
    assert "advice_accuracy" not in {u.dimension for u in found.unanswered}
    assert {"advice_accuracy.class_accuracy", "advice_accuracy.class_auc"} <= {r.id for r in found.results}


# ---------------------------------------------------------------- sheets


def sheet(n: int, first: int = 0) -> list[list[Any]]:
    body = [[f"p{i}", i % 2, 0.05 + 0.9 * ((i * 7) % 10) / 10] for i in range(first, first + n)]
    return [["patient", "truth", "risk"], *body]


def test_the_sheet_with_a_header_is_taken_and_said(tmp_path: Path) -> None:
    cover = [["Extraction 2024", "Cardiology"], ["Contact", "office"]]
    book = {"Cover": cover, "Patients": sheet(30), "Codes": [["cp", "meaning"], ["1", "typical"]]}
    said = proposed(tmp_path, [write_workbook(tmp_path / "book.xlsx", book)])
    assert "book.xlsx: the sheet Patients is used; Cover, Codes are not" in said
    manifest = (tmp_path / "study.yaml").read_text()
    assert "sheet: Patients" in manifest
    assert "dataset: book" in manifest
    assert len(read_study(tmp_path)[0].datasets[0].cases.labels) == 30


def test_two_sheets_of_cases_are_two_data_sets(tmp_path: Path) -> None:
    book = {"train": sheet(20), "hospital B": sheet(24, 50), "Notes": [["by", "on"], ["me", "Monday"]]}
    said = proposed(tmp_path, [write_workbook(tmp_path / "book.xlsx", book)])
    assert "book.xlsx: the sheets train, hospital B are used; Notes is not" in said
    found = {d.name: (d.role, len(d.cases.labels)) for d in read_study(tmp_path)[0].datasets}
    assert found == {"train": ("training", 20), "hospital B": ("external", 24)}


def test_readings_and_cases_in_one_workbook(tmp_path: Path) -> None:
    arms = ("without", "with")
    read = [[f"R{r}", f"c{c}", a, (c + r) % 2] for r in range(3) for c in range(12) for a in arms]
    book = {
        "Readings": [["reader", "case", "arm", "decision"], *read],
        "Cases": [["case", "truth", "sex"], *([f"c{c}", c % 2, "f" if c % 3 else "m"] for c in range(12))],
    }
    proposed(tmp_path, [write_workbook(tmp_path / "study.xlsx", book)])
    manifest = (tmp_path / "study.yaml").read_text()
    assert "sheet: Cases" in manifest
    assert "# study.xlsx: the sheets Readings, Cases are used" in manifest
    readings = read_study(tmp_path)[0].readings[0]
    assert len(readings.case) == 72
    assert readings.cases.truth.tolist() == [c % 2 for c in range(12)]


def test_a_workbook_of_no_table_says_so_of_each_sheet(tmp_path: Path) -> None:
    file = write_workbook(tmp_path / "menu.xlsx", {"A": [["dish", "price"], ["soup", 3]], "B": [["x"], [1]]})
    done = CliRunner().invoke(main, ["init", str(tmp_path / "study"), "--from", str(file)])
    assert done.exit_code == 1
    assert "sheet A: its columns (dish, price) are of no table that is known; sheet B" in done.stderr


def test_numbers_with_a_decimal_comma_form_groups(tmp_path: Path) -> None:
    table = [["truth", "score", "age"], *([str(i % 2), f"0,{i + 10}", f"{40 + i},5"] for i in range(40))]

    def edit(text: str) -> str:
        return text + 'subgroups: [{name: older, definition: "60 <= age < 75"}]\n'

    proposed(tmp_path, [write_csv(tmp_path / "a.csv", table, ";")], edit=edit)
    found = assess(*read_study(tmp_path))
    unknown = [r.estimate.value for r in found.results if r.id == "subgroups.unknown"]
    assert unknown == [0]
