"""Labels that are ranks: agreement that counts how far apart two are leads where that is declared."""

from pathlib import Path

import numpy as np
import pytest

from trustreport.api import Assessed, assess, read_study
from trustreport.report.answer.answer import answer
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")


def panel(folder: Path, scale: str) -> Assessed:
    """Three raters who seldom agree and are never far apart."""
    rng = np.random.default_rng(6)
    true = rng.integers(1, 7, 60)
    rows = [
        f"c{i:02},{r},{int(np.clip(t + rng.integers(-1, 2), 1, 6))}"
        for i, t in enumerate(true)
        for r in "ABC"
    ]
    (folder / "r.csv").write_text("\n".join(["case,rater,label", *rows]) + "\n")
    declared = f"reference_standard: {{label_scale: {scale}}}\n" if scale else ""
    (folder / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\n"
        f"{declared}tables: {{raters: {{file: r.csv}}}}\n"
    )
    return assess(*read_study(folder))


def leading(assessment: Assessed) -> list[tuple[bool, float]]:
    return [
        (bool(r.parameters), float(r.estimate.value))
        for r in assessment.results
        if r.id == "source_reliability.krippendorff_alpha" and r.primary
    ]


@pytest.mark.parametrize("scale", ["", "nominal"])
def test_without_ranks_the_nominal_alpha_leads(scale: str, tmp_path: Path) -> None:
    nominal, ordinal = leading(panel(tmp_path, scale))
    assert (nominal[0], ordinal[0]) == (False, True)
    assert nominal[1] < 0.4 < 0.75 < ordinal[1]


def test_of_ranks_the_ordinal_alpha_leads_everywhere(tmp_path: Path) -> None:
    assessment = panel(tmp_path, "ordinal")
    ((is_ordinal, value),) = leading(assessment)
    assert is_ordinal
    said = [EN(message) for part in assessment.findings[0].parts for message in part.finding]
    (alpha,) = [text for text in said if "Krippendorff" in text]
    assert alpha.startswith("Krippendorff's alpha for ordinal labels")
    assert f"was {value:.2f}" in alpha
    assert f"{value:.2f}" in answer(assessment, EN).sentence
    assert "P14" not in {outcome.check for outcome in assessment.fired()}  # agreement is enough on that scale
    (row,) = [r for t in assessment.findings[0].parts[0].tables[:1] for r in t.rows if r.leads]
    assert row.result.parameters == {"weights": "ordinal"}


def test_labels_that_are_words_have_no_order_to_count(tmp_path: Path) -> None:
    panel(tmp_path, "ordinal")
    text = (tmp_path / "r.csv").read_text()
    for number, word in enumerate(("none", "low", "mild", "firm", "high", "full"), 1):
        text = text.replace(f",{number}\n", f",{word}\n")
    (tmp_path / "r.csv").write_text(text)
    assert [is_ordinal for is_ordinal, _ in leading(assess(*read_study(tmp_path)))] == [False]


def test_of_ranks_weighted_kappas_and_correlations_are_beside_alpha(tmp_path: Path) -> None:
    assessment = panel(tmp_path, "ordinal")
    found = {
        (r.name, *r.parameters.values()): r
        for r in assessment.results
        if r.primary and r.place.raters is None
    }
    for name in ("light_kappa", "conger_kappa"):
        plain, linear, quadratic = (found[name, *way] for way in ((), ("linear",), ("quadratic",)))
        assert plain.estimate.value < linear.estimate.value < quadratic.estimate.value
        assert quadratic.estimate.low < quadratic.estimate.value < quadratic.estimate.high
    agreement, consistency = found["icc", "A,1"].estimate, found["icc", "C,1"].estimate
    assert 0.7 < agreement.low < agreement.value <= consistency.value
    pairs = [r for r in assessment.results if r.name == "cohen_kappa"]
    assert [r.parameters.get("weights") for r in pairs] == [None] * 3 + ["linear"] * 3 + ["quadratic"] * 3
    said = [EN(message) for message in assessment.findings[0].parts[0].finding]
    (span,) = [text for text in said if "quadratic weights" in text]
    values = sorted(r.estimate.value for r in pairs if r.parameters.get("weights") == "quadratic")
    assert f"from {values[0]:.2f} (" in span
    assert f"to {values[-1]:.2f} (" in span
    agreement_table = assessment.findings[0].parts[0].tables[0]
    labels = [EN(row.label) for row in agreement_table.rows]
    assert "Intraclass correlation, agreement: ICC(A,1)" in labels
    assert len(labels) == len(set(labels))


@pytest.mark.parametrize("scale", ["", "nominal"])
def test_without_ranks_nothing_is_weighted(scale: str, tmp_path: Path) -> None:
    found = panel(tmp_path, scale).results
    weighed = [r for r in found if r.name in ("light_kappa", "conger_kappa", "cohen_kappa") and r.parameters]
    assert not weighed
    assert not [r for r in found if r.name == "icc"]
