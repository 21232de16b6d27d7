"""A set of which some cases have no truth: corrected measures stand beside, and decide nothing."""

from pathlib import Path

import numpy as np
import pytest

from trustreport.api import Assessed, assess, read_study
from trustreport.messages import catalogue

EN = catalogue("en")
SCANS = (231, 32, 27, 54, 166, 140)


def assessed(
    folder: Path, cells: tuple[int, ...] = SCANS, criterion: str = "", patients: int = 0
) -> Assessed:
    truth = np.repeat(["1", "0", "1", "0", "", ""], cells)
    decision = np.repeat([1, 1, 0, 0, 1, 0], cells)
    head = "case,truth,decision" + (",patient" if patients else "")
    rows = [
        f"c{i},{t},{d}" + (f",p{i % patients}" if patients else "")
        for i, (t, d) in enumerate(zip(truth, decision))
    ]
    (folder / "s.csv").write_text("\n".join([head, *rows]) + "\n")
    (folder / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\n"
        "datasets: [{dataset: clinic, role: external, file: s.csv}]\n" + criterion
    )
    return assess(*read_study(folder))


def said(assessment: Assessed) -> list[str]:
    (finding,) = [f for f in assessment.findings if f.dimension == "advice_accuracy"]
    return [EN(message) for part in finding.parts for message in part.finding]


def corrected(assessment: Assessed) -> dict[str, list[tuple[str, bool]]]:
    found: dict[str, list[tuple[str, bool]]] = {}
    for r in assessment.results:
        if r.name.startswith("corrected_"):
            found.setdefault(r.name, []).append((r.method, r.primary))
    return found


def test_the_corrected_measures_are_said_with_their_assumption_and_bounds(tmp_path: Path) -> None:
    assessment = assessed(tmp_path)
    texts = said(assessment)
    # 231/258 and 54/86 of the verified cases; bounds: 231/(258+140), 397/424
    assert any("Sensitivity was 89.5%" in text for text in texts)
    (first,) = [text for text in texts if "306 of 650" in text]
    assert "If verification depended on the decision alone, sensitivity is 83.6%" in first
    assert "between 58.0% and 93.6%" in first
    (second,) = [text for text in texts if text.startswith("Under the same assumption")]
    assert "specificity is 73.8%" in second
    both = [("begg_greenes_wilson", True), ("begg_greenes_logit", False)]
    assert corrected(assessment) == {"corrected_sensitivity": both, "corrected_specificity": both}
    (lead,) = [r for r in assessment.results if r.id == "advice_accuracy.sensitivity" and r.primary
               and not r.parameters]  # fmt: skip
    assert lead.estimate.value == pytest.approx(231 / 258)


def test_p13_still_fires_and_withholds_criteria_on_either(tmp_path: Path) -> None:
    criteria = "endpoints:\n" + "".join(
        f"  - {{endpoint: {name}, role: primary, measure: advice_accuracy.{name}, dataset: clinic,\n"
        "     hypothesis: performance goal, bound_or_margin: 0.5}\n"
        for name in ("sensitivity", "corrected_sensitivity")
    )
    assessment = assessed(tmp_path, criterion=criteria)
    assert "P13" in {outcome.check for outcome in assessment.fired()}
    assert [v.word for v in assessment.verdicts] == ["not assessable"] * 2


def test_where_nothing_of_a_decision_was_verified_it_says_why(tmp_path: Path) -> None:
    texts = said(assessed(tmp_path, (60, 10, 0, 0, 0, 80)))
    assert any(
        "cannot be corrected for the 80 of 150" in text and "called negative" in text for text in texts
    )


def test_verification_by_chance_needs_no_correction(tmp_path: Path) -> None:
    assessment = assessed(tmp_path, (40, 10, 20, 30, 50, 50))
    assert not corrected(assessment)
    assert not any("verification" in text.casefold() for text in said(assessment))


def test_nothing_where_every_case_has_a_truth(tmp_path: Path) -> None:
    assert not corrected(assessed(tmp_path, (40, 10, 20, 30, 0, 0)))


def test_of_clustered_cases_the_interval_respects_clusters(tmp_path: Path) -> None:
    found = corrected(assessed(tmp_path, patients=50))
    methods = [("begg_greenes_clusters", True), ("begg_greenes_wilson", False), ("begg_greenes_logit", False)]
    assert found["corrected_sensitivity"] == methods
