"""A data set with follow-up from its table to results, sentences, figure, and the answer of page 1."""

import shutil
from pathlib import Path

import pytest

from trustreport.api import Assessed, assess, read_study
from trustreport.assessment.finding import Part, Unanswered
from trustreport.assessment.performance.time_to_event import MEASURES, followed_cases
from trustreport.report.answer.answer import answer
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "survival"
NEVER_BINARY = ("advice_accuracy.sensitivity", "advice_accuracy.auc", "advice_value.brier")


def study(
    folder: Path,
    *,
    data: str = "flchain",
    score: str = "risk",
    horizon: str = "{event: death, horizon: 10 years, unit: days, competing: []}",
    more: str = "",
    of_set: str = "",
) -> Assessed:
    shutil.copy(REFERENCE / f"{data}.csv", folder / "a.csv")
    columns = f"{{score: {score}, follow_up: follow_up, event: event}}"
    (folder / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\noperating_point: {threshold: 0.2}\n"
        f"time_to_event: {horizon}\n"
        f"datasets: [{{dataset: county, role: external, file: a.csv, columns: {columns}{of_set}}}]\n" + more
    )
    return assess(*read_study(folder))


def part_of(assessment: Assessed) -> Part:
    (part,) = [p for f in assessment.findings for p in f.parts if p.title and "Time to event" in EN(p.title)]
    return part


def said(assessment: Assessed) -> str:
    return " ".join(EN(m) for m in part_of(assessment).finding)


def test_every_quantity_is_a_primary_result(tmp_path: Path) -> None:
    assessment = study(tmp_path)
    own = {r.name: r for r in assessment.results if r.name.endswith("_at_horizon")}
    assert set(own) == {f"{name}_at_horizon" for name in MEASURES}
    assert all(r.primary and r.estimate.low == r.estimate.low for r in own.values())
    assert own["risk_at_horizon"].details["horizon"] == 3652.5
    # The values of riskRegression (tests/reference/survival), to the digits kept.
    assert float(own["auc_at_horizon"].estimate.value) == pytest.approx(0.853390195537)


def test_censored_cases_are_weighted_and_not_unverified(tmp_path: Path) -> None:
    """No measure of yes or no truth is made beside, and no check of verification fires."""
    assessment = study(tmp_path)
    ids = {r.id for r in assessment.results}
    assert ids.isdisjoint(NEVER_BINARY)
    fired = {c.check for c in assessment.checks if c.status == "fired"}
    assert fired.isdisjoint({"P03", "P04", "P13", "P63", "P64", "P65"})
    open_questions = {f.dimension for f in assessment.findings if isinstance(f, Unanswered)}
    assert "advice_accuracy" not in open_questions


def test_the_page_and_the_answer_say_it(tmp_path: Path) -> None:
    assessment = study(tmp_path)
    text = said(assessment)
    assert "the risk of death within 10 years was 23.7%" in text
    assert "400 cases, 90 with the event, 50 censored before" in text
    assert "The time-dependent AUC was 0.85" in text
    assert "The interval includes 1." in text
    part = part_of(assessment)
    assert [t.id for t in part.tables] == ["horizon_1", "horizon_groups_1"]
    (figure,) = part.figures
    rows = figure.drawing.values(EN)
    assert len(rows) == 10
    assert sum(row["n"] for row in rows) == 400
    first = answer(assessment, EN).sentence
    assert first.startswith("county: the risk of death within 10 years was 23.7%")
    assert "AUC at the horizon 0.85" in first


def test_competing_events_are_counted(tmp_path: Path) -> None:
    horizon = "{event: malignancy, horizon: 120.5, competing: [2]}"
    text = said(study(tmp_path, data="mgus2", horizon=horizon))
    assert "334 with a competing event" in text
    assert "A case with a competing event is analysed as without the event." in text
    assert "the risk of malignancy within 120.5 was 6.7%" in text


def test_a_ranking_has_no_calibration(tmp_path: Path) -> None:
    assessment = study(tmp_path, score="linear")
    own = {r.name: r.estimate for r in assessment.results if r.name.endswith("_at_horizon")}
    assert own["auc_at_horizon"].value == own["auc_at_horizon"].value
    assert own["brier_at_horizon"].value != own["brier_at_horizon"].value
    assert "Calibration was not assessed: the scores are not all within 0 and 1" in said(assessment)
    assert part_of(assessment).figures == ()


def test_a_lower_score_may_be_worse(tmp_path: Path) -> None:
    assessment = study(tmp_path, score="linear")
    manifest = tmp_path / "study.yaml"
    manifest.write_text(manifest.read_text().replace("threshold: 0.2", "score_direction: lower_is_positive"))
    turned = assess(*read_study(tmp_path))
    areas = [
        float(r.estimate.value)
        for one in (assessment, turned)
        for r in one.results
        if r.name == "auc_at_horizon"
    ]
    assert sum(areas) == pytest.approx(1.0)


def test_patients_with_several_cases_are_clusters(tmp_path: Path) -> None:
    assessment = study(tmp_path, of_set=", cluster_keys: [sex]")
    (one,) = followed_cases(assessment.study, assessment.plan)
    assert one.cases.cluster is not None
    area = next(r.estimate for r in assessment.results if r.name == "auc_at_horizon")
    assert area.high - area.low > 0.3  # two clusters say little


@pytest.mark.parametrize(("bound", "word"), [(0.7, "pass"), (0.95, "fail"), (0.85, "inconclusive")])
def test_a_criterion_on_it_is_judged(bound: float, word: str, tmp_path: Path) -> None:
    criterion = f"""study: {{sap_locked_at: 2025-01-01, data_opened_at: 2025-02-01}}
endpoints:
  - {{endpoint: ranks, role: primary, measure: advice_accuracy.auc_at_horizon, dataset: county,
      hypothesis: performance goal, bound_or_margin: {bound}}}
"""
    (verdict,) = study(tmp_path, more=criterion).verdicts
    assert verdict.word == word


def test_the_table_of_data_sets_counts_no_case_as_without_truth(tmp_path: Path) -> None:
    (mix,) = study(tmp_path).case_mixes
    assert (mix.n, mix.positive, mix.negative, mix.without_truth, mix.followed) == (400, 0, 0, 0, True)
