"""Accuracy of readers at the declared prevalence: by hand, and the same number under each of its names."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from tests.studies import plan, readings
from trustreport.assessment.assess import Assessment, assess
from trustreport.measures.estimate import Estimate
from trustreport.report.answer.answer import answer
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import leading

EN = catalogue("en")
SHARE = 0.1
AT = {"prevalence": SHARE}
EXPECTED = {"intended_use": {"prevalence_expected": SHARE}}


def drawn(seed: int, gaps: float = 0.0, readers: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    skill = rng.normal(0, 0.04, (2, readers, 1))
    correct = rng.random((2, readers, 80)) < np.array([0.72, 0.8])[:, None, None] + skill
    return correct, rng.random(correct.shape) < gaps


def lead(found: Assessment, id: str, **scope: Any) -> Estimate:
    result = leading(found.results, id, **{"subgroup": None, "reader": None, "parameters": AT, **scope})
    assert result is not None, id
    return result.estimate


def test_the_change_is_that_of_each_readers_weighted_sum_of_both_classes() -> None:
    """Of complete readings the Obuchowski-Rockette interval of pseudo-values, computed here by jackknife."""
    correct, _ = drawn(3)
    found = assess(readings(correct), plan(**EXPECTED))
    e = lead(found, "decision_benefit.mean_benefit", endpoint="accuracy")
    right, truth = correct.astype(float), np.arange(80) % 2 == 1

    def accuracy(kept: np.ndarray) -> np.ndarray:
        of = [right[:, :, kept & c].mean(axis=2) for c in (truth, ~truth)]
        return SHARE * of[0] + (1 - SHARE) * of[1]

    theta = accuracy(np.ones(80, bool))
    change = theta[1] - theta[0]
    assert e.value == pytest.approx(change.mean())
    without = np.stack([accuracy(np.arange(80) != i) for i in range(80)])
    left = (without[:, 1] - without[:, 0]) - (without[:, 1] - without[:, 0]).mean(axis=0)
    covariance = 39 / 40 * left.T @ left  # of 40 cases of either class
    between = covariance[~np.eye(6, dtype=bool)].mean()
    mean_square = change.var(ddof=1)
    variance = mean_square + 6 * max(between, 0.0)
    df = variance**2 / (mean_square**2 / 5)
    half = student.ppf(0.975, df) * np.sqrt(variance / 6)
    assert (e.high - e.low) / 2 == pytest.approx(half, rel=0.02)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_it_is_one_number_under_each_name(gaps: float) -> None:
    found = assess(readings(*drawn(4, gaps)), plan(**EXPECTED))
    change = lead(found, "decision_benefit.mean_benefit", endpoint="accuracy")
    arr = lead(found, "pragmatic_utility.arr")
    of = {"id": "decision_benefit.arm_mean", "endpoint": "accuracy"}
    arms = [lead(found, **of, arm=arm) for arm in ("aided", "unaided")]
    assert (arr.value, arr.low, arr.high) == pytest.approx((change.value, change.low, change.high))
    assert arms[0].value - arms[1].value == pytest.approx(change.value)
    assert all(0 < e.low < e.value < e.high < 1 for e in arms)


def test_at_the_share_of_the_cases_it_is_the_accuracy_as_it_is() -> None:
    correct, _ = drawn(5)
    half = assess(readings(correct), plan(intended_use={"prevalence_expected": 0.5}))
    at = {"parameters": {"prevalence": 0.5}, "endpoint": "accuracy"}
    there = lead(half, "decision_benefit.mean_benefit", **at)
    plain = lead(half, "decision_benefit.mean_benefit", endpoint="accuracy", parameters=None)
    assert there.value == pytest.approx(plain.value)
    assert there.high - there.low == pytest.approx(plain.high - plain.low, rel=0.1)


def test_one_reader_has_the_limits_of_both_classes() -> None:
    correct, _ = drawn(6, readers=1)
    found = assess(readings(correct), plan(**EXPECTED))
    change = lead(found, "decision_benefit.mean_benefit", endpoint="accuracy")
    classes = [
        lead(found, "decision_benefit.mean_benefit", endpoint=name, parameters=None)
        for name in ("sensitivity", "specificity")
    ]
    weights = (SHARE, 1 - SHARE)
    assert change.value == pytest.approx(sum(w * e.value for w, e in zip(weights, classes)))
    below = np.sqrt(sum((w * (e.value - e.low)) ** 2 for w, e in zip(weights, classes)))
    assert change.low == pytest.approx(change.value - below)


def test_without_a_declared_prevalence_there_is_none() -> None:
    found = assess(readings(drawn(7)[0]), plan())
    assert not [r for r in found.results if "prevalence" in r.parameters]


def test_it_leads_the_chapter_and_the_first_page_before_that_of_the_sample() -> None:
    found = assess(readings(drawn(7)[0]), plan(**EXPECTED))
    (chapter,) = (f for f in found.findings if f.dimension == "decision_benefit")
    first, second = (EN(said) for said in chapter.parts[0].finding[:2])
    there = "At the prevalence of the intended use, 10"
    sample = "In the study sample (prevalence 50.0%), "
    assert first.startswith(f"{there}.0%, the readers' mean accuracy ")
    assert second.startswith(f"{sample}the change was ")
    page = answer(found, EN)
    assert page.sentence.startswith("With the aid the readers' accuracy was higher: ")
    assert " points at the prevalence of the intended use, 10%" in page.sentence
    assert page.supporting.startswith(f"{sample}the change is ")
