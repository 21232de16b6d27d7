"""Which endpoint of the readers is primary: the declared one, else the area where there are scores."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.studies import plan, readings
from trustreport.api import assess, read_study
from trustreport.assessment.dimensions import decision_benefit
from trustreport.assessment.performance.readers import every_endpoint, primary_first
from trustreport.report.answer.answer import answer
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue

VAN_DYKE = Path(__file__).resolve().parent.parent / "reference" / "contract" / "vandyke" / "study.yaml"
ARMS = ("aided", "unaided")
RNG = np.random.default_rng(5)
CORRECT = RNG.random((2, 5, 40)) < 0.8
TRUTH = np.arange(40) % 2
RATINGS = np.clip(np.round(2 + TRUTH * 1.5 + RNG.normal(size=(2, 5, 40))), 1, 5)
SCORED = readings(CORRECT, scores=RATINGS)


def declared(*endpoints: dict[str, Any]) -> Any:
    return plan(endpoints=[{"endpoint": f"number {i}", **one} for i, one in enumerate(endpoints)])


def order(study: Study, *endpoints: dict[str, Any]) -> list[str]:
    (table,) = study.readings
    found = every_endpoint(table, ARMS, 0.95)
    return [one.name for one in primary_first(found, table, ARMS, declared(*endpoints))]


def test_van_dyke_ratings_with_a_declared_cut_answer_with_the_area() -> None:
    assessment = assess(*read_study(VAN_DYKE), only=["decision_benefit", "pragmatic_utility"])
    first = answer(assessment, catalogue())
    # MRMCaov 0.3.0: 0.0438 (-0.0004 to 0.0880), by the jackknife
    assert "area under the ROC curve" in first.sentence
    assert "+0.0438 (−0.0004 to +0.0880)" in first.sentence
    assert "Five of five readers did better" in first.supporting
    # the errors at the cut stay, after it: 12.8% and 15.8% of 570 readings, counted in the table
    assert "12.8% with the aid, 15.8% without it" in first.supporting


def test_without_scores_accuracy_is_first() -> None:
    assert order(readings(CORRECT))[0] == "accuracy"
    first = decision_benefit.answer(readings(CORRECT), plan()).parts[0]
    assert first.finding[0].values["endpoint"].key.endswith("accuracy")


def test_with_scores_the_area_is_first_and_the_shares_stay() -> None:
    assert order(SCORED) == ["auc", "accuracy", "sensitivity", "specificity", "youden_j"]
    found = decision_benefit.answer(SCORED, plan())
    ids = {r.endpoint for r in found.results if r.id == "decision_benefit.mean_benefit" and r.primary}
    assert ids == {"auc", "accuracy", "sensitivity", "specificity", "youden_j"}
    slope = [r.endpoint for r in found.results if r.id == "decision_benefit.baseline_slope"]
    assert set(slope) == {"auc"}
    # Both are one sentence of two.
    (said,) = (
        [first.key, m.values["second"].key]
        for m in found.parts[0].finding
        if (first := m.values.get("first")) and "by_class" in first.key
    )
    assert any("by_class.sensitivity" in key for key in said)
    assert any("by_class.specificity" in key for key in said)


@pytest.mark.parametrize(
    ("criterion", "first"),
    [
        ({"measure": "decision_benefit.mean_benefit", "of": "sensitivity"}, "sensitivity"),
        ({"measure": "decision_benefit.arm_mean", "of": "youden_j", "arm_or_contrast": "aided"}, "youden_j"),
        ({"measure": "pragmatic_utility.arr"}, "accuracy"),
        ({"measure": "pragmatic_utility.odds_ratio", "arm_or_contrast": ARMS}, "accuracy"),
        # these are about something else
        ({"measure": "pragmatic_utility.arr", "set": "published"}, "auc"),
        ({"measure": "advice_accuracy.sensitivity"}, "auc"),
        ({"measure": "decision_benefit.mean_benefit", "of": "accuracy", "task": "other"}, "auc"),
        ({"measure": "decision_benefit.mean_benefit", "of": "accuracy", "subgroup": "age: old"}, "auc"),
        (
            {"measure": "decision_benefit.mean_benefit", "of": "accuracy", "arm_or_contrast": ("a", "b")},
            "auc",
        ),
        ({"measure": "decision_benefit.mean_benefit", "of": "callbacks"}, "auc"),
    ],
)
def test_the_manifest_may_declare_another(criterion: dict[str, Any], first: str) -> None:
    assert order(SCORED, {"role": "primary", **criterion})[0] == first
    assert order(SCORED, {"role": "secondary", **criterion})[0] == "auc"


def test_several_declared_ones_keep_the_order_of_the_manifest() -> None:
    both = [
        {"role": "primary", "measure": "decision_benefit.mean_benefit", "of": name}
        for name in ("specificity", "sensitivity")
    ]
    assert order(SCORED, *both) == ["specificity", "sensitivity", "accuracy", "auc", "youden_j"]


def test_an_area_that_cannot_be_estimated_does_not_displace_accuracy() -> None:
    only_positives = np.where(TRUTH == 1, RATINGS, np.nan)
    assert order(readings(CORRECT, scores=only_positives))[0] == "accuracy"


@pytest.mark.parametrize("of", ["youden_j", "sensitivity", "auc"])
@pytest.mark.parametrize("n_readers", [1, 3])
@pytest.mark.parametrize("gaps", [False, True])
def test_any_endpoint_may_be_primary_whatever_the_design(of: str, n_readers: int, gaps: bool) -> None:
    missing = RNG.random((2, n_readers, 40)) < 0.1 if gaps else None
    study = readings(CORRECT[:, :n_readers], missing, scores=RATINGS[:, :n_readers])
    said = {"role": "primary", "measure": "decision_benefit.mean_benefit", "of": of}
    found = decision_benefit.answer(study, declared(said))
    assert found.parts[0].finding[0].values["endpoint"].key.endswith(of)
    power = {r.endpoint for r in found.results if r.id == "decision_benefit.power"}
    assert power <= {of}
    assert bool(power) <= (n_readers > 1 and not gaps)
