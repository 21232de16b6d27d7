"""Where the truth is a label that may be wrong, sections, captions and checks say so."""

from pathlib import Path

import pytest

from trustreport.api import Assessed, assess, read_study, write_report
from trustreport.assessment.narrative.against_labels import QUOTING
from trustreport.vocabulary.messages import catalogue

LABELS = Path(__file__).parents[2] / "examples" / "routine-labels"
KNOWN = "  sensitivity: [95, 100]\n  specificity: [291, 300]\n"
EN = catalogue("en")


def assessed(folder: Path, instead: dict[str, str] | None = None) -> Assessed:
    """The study of the example, with words of its manifest replaced by others."""
    manifest = (LABELS / "study.yaml").read_text()
    for words, others in (instead or {}).items():
        manifest = manifest.replace(words, others)
    (folder / "study.yaml").write_text(manifest)
    (folder / "routine.csv").write_text((LABELS / "routine.csv").read_text())
    return assess(*read_study(folder))


def said(assessment: Assessed, dimension: str) -> list[str]:
    found = [f for f in assessment.findings if f.dimension == dimension]
    return [EN(message) for f in found for part in f.parts for message in part.finding]


def captions(assessment: Assessed) -> dict[str, str]:
    parts = [part for finding in assessment.findings for part in finding.parts]
    return {one.id: EN(one.caption) for part in parts for one in (*part.tables, *part.figures)}


def test_corrected_values_come_first_and_the_others_are_agreement(tmp_path: Path) -> None:
    assessment = assessed(tmp_path)
    first, sensitivity, specificity, area, *_ = said(assessment, "advice_accuracy")
    assert "correction for the declared error of the labels" in first
    # Counted in routine.csv: 324 of 431 labels of 1, and 2,453 of 2,569 of 0, are called alike.
    assert sensitivity.startswith(
        "Of 431 cases that the labels call positive, the device called 324 positive"
    )
    assert sensitivity.endswith("imperfect labels, not sensitivity.")
    assert specificity.startswith("Of 2,569 cases that the labels call negative, the device called 2,453")
    assert area.startswith("Against these labels the area under the ROC curve (AUC) was 0.879")
    assert not any(text.startswith(("Sensitivity was", "Specificity was")) for text in (*_, first))


def test_every_section_table_and_figure_on_a_truth_says_that_it_is_a_label(tmp_path: Path) -> None:
    assessment = assessed(tmp_path)
    for dimension in ("advice_value", "potential_robustness"):
        assert said(assessment, dimension)[0].startswith("The reference labels are imperfect")
    of_truth = {id: text for id, text in captions(assessment).items() if "similarity" not in id}
    assert of_truth
    assert all("imperfect labels" in text for text in of_truth.values())
    quoting = [o for o in assessment.fired() if o.check in QUOTING]
    assert {o.check for o in quoting} == {"P05", "P45"}
    assert all(EN(o.message).startswith("Not corrected for the errors of the labels.") for o in quoting)


@pytest.mark.parametrize("kind", ["procurement", "vigilance"])
def test_no_kind_of_report_calls_the_labels_right(tmp_path: Path, kind: str) -> None:
    write_report(assessed(tmp_path, {"certification": kind}), tmp_path / "out", formats=["html"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "cases with the condition)" not in page
    assert "imperfect labels" in page


def test_labels_of_unknown_error_are_agreement_only(tmp_path: Path) -> None:
    first, *_ = said(assessed(tmp_path, {KNOWN: ""}), "advice_accuracy")
    assert first.startswith("Of 431 cases that the labels call positive")


@pytest.mark.parametrize("truth", ["exact", "raters"])
def test_a_truth_that_is_no_such_label_is_reported_as_before(tmp_path: Path, truth: str) -> None:
    assessment = assessed(tmp_path, {KNOWN: "", "error_prone": truth})
    assert said(assessment, "advice_accuracy")[0].startswith("Sensitivity was 75.2%")
    assert not any("imperfect labels" in text for text in captions(assessment).values())
