"""Declared sampling weights: ten measures are also given weighted, and nothing else changes."""

from pathlib import Path

import pytest

from trustreport.api import Assessed, assess, read_study
from trustreport.assessment.performance.weighted import SOME_WITHOUT
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

EN = catalogue("en")
CASES = Path(__file__).resolve().parent.parent / "reference" / "weighted_cases.csv"
POINT = "operating_point: {threshold: 0.5}\n"
# R survey 4.1-1 (tests/reference/weighted.csv), cases and patients as sampled
BY_SURVEY = {
    "weighted_sensitivity": (0.652777777778, 0.3927112950620, 0.3892588464337),
    "weighted_brier": (0.172534416667, 0.1370509014867, 0.1326230110053),
    "weighted_oe_ratio": (0.870059091513, 0.6416516107746, 0.7091234870213),
    "weighted_net_benefit": (0.122222222222, -0.0583992374594, -0.0272906249041),
}
WEIGHTED = {
    f"weighted_{name}"
    for name in ("sensitivity", "specificity", "ppv", "npv", "accuracy", "prevalence", "auc", "net_benefit",
                 "brier", "oe_ratio")
}  # fmt: skip


def assessed(folder: Path, columns: str = "weight: weight", more: str = "", text: str = "") -> Assessed:
    (folder / "s.csv").write_text((text or CASES.read_text()).replace('"', ""))
    (folder / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\n" + POINT +
        f"datasets: [{{dataset: clinic, role: external, file: s.csv, columns: {{{columns}}}}}]\n" + more
    )  # fmt: skip
    return assess(*read_study(folder))


def alone(text: str) -> str:
    """The cases without their patients."""
    return text.replace("patient", "visit")


@pytest.mark.parametrize("design", ["cases", "patients"])
def test_weighted_results_are_those_of_survey(design: str, tmp_path: Path) -> None:
    text = CASES.read_text() if design == "patients" else alone(CASES.read_text())
    found = {r.name: r for r in assessed(tmp_path, text=text).results if r.name in WEIGHTED}
    assert set(found) == WEIGHTED
    for name, (value, low, in_clusters) in BY_SURVEY.items():
        e = found[name].estimate
        assert found[name].primary
        expected = (value, in_clusters if design == "patients" else low)
        assert (e.value, e.low) == pytest.approx(expected, rel=1e-6)
        assert ("clusters" in e.details) == (design == "patients")


def test_no_other_number_changes(tmp_path: Path) -> None:
    with_weights = assessed(tmp_path)
    names = "case,patient,truth,w,score,decision"
    text = CASES.read_text().replace('"', "").split("\n", 1)
    without = assessed(tmp_path, "case: case", text=names + "\n" + text[1])

    def key(r: Result) -> tuple[str, str, str]:
        return r.id, str(r.scope), r.method

    before = {key(r): str(r.estimate) for r in without.results}
    after = {key(r): str(r.estimate) for r in with_weights.results if r.name not in WEIGHTED}
    assert after == before


def test_the_report_says_what_is_weighted(tmp_path: Path) -> None:
    (finding,) = [f for f in assessed(tmp_path).findings if f.dimension == "advice_accuracy"]
    texts = [EN(message) for part in finding.parts for message in part.finding]
    (said,) = [text for text in texts if "declared weights" in text]
    assert "sensitivity, weighted 65% (39% to 85%)" in said
    assert said.endswith("All other results count every case once.")
    tables = [t.id for part in finding.parts for t in part.tables]
    assert "weighted_1" in tables


def test_cases_without_a_weight_are_left_out_and_said(tmp_path: Path) -> None:
    lines = CASES.read_text().replace('"', "").splitlines()
    cells = lines[1].split(",")
    lines[1] = ",".join([*cells[:3], "", *cells[4:]])
    found = assessed(tmp_path, text="\n".join(lines) + "\n")
    (r,) = [r for r in found.results if r.name == "weighted_accuracy"]
    assert r.estimate.n == 59
    assert SOME_WITHOUT in r.estimate.note


def test_a_criterion_may_name_a_weighted_measure(tmp_path: Path) -> None:
    criterion = (
        "endpoints: [{endpoint: a, role: primary, measure: advice_accuracy.weighted_specificity, "
        "dataset: clinic, hypothesis: performance goal, bound_or_margin: 0.5}]\n"
    )
    (verdict,) = assessed(tmp_path, more=criterion, text=alone(CASES.read_text())).verdicts
    assert verdict.result is not None
    assert verdict.result.name == "weighted_specificity"


def test_weights_of_readers_cases_are_said_to_weigh_nothing(tmp_path: Path) -> None:
    rows = [f"R{r},C{c},{a},{(c + r) % 2}" for r in range(2) for c in range(6) for a in ("aided", "unaided")]
    (tmp_path / "r.csv").write_text("reader,case,arm,decision\n" + "\n".join(rows) + "\n")
    (tmp_path / "c.csv").write_text("case,truth,w\n" + "".join(f"C{c},{c % 2},{c + 1}\n" for c in range(6)))
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\n"
        "tables: {readings: {file: r.csv}, cases: {file: c.csv, columns: {weight: w}}}\n"
    )
    study, _ = read_study(tmp_path)
    assert "weights_of_readings" in dict(study.cautions)
