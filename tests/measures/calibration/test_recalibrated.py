"""Calibration after cross-fitted updates: against R's glm with the same folds; what is undefined and why."""

import csv
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from tests.english import english
from trustreport.measures.calibration import recalibrated as module
from trustreport.measures.calibration.recalibrated import UPDATES, cross_fitted, folds_of, recalibrated


@pytest.fixture(scope="module")
def heart(reference: Path):
    with (reference / "external" / "heart_ext_hungarian.csv").open() as file:
        rows = list(csv.DictReader(file))
    truth = np.array([row["label"] == "1" for row in rows])
    return truth, np.array([float(row["score"]) for row in rows]), np.arange(len(rows)) // 2


@pytest.mark.parametrize("update", UPDATES)
def test_values_and_standard_errors_are_those_of_r_with_the_same_folds(heart, update, reference):
    truth, score, cluster = heart
    rng = np.random.default_rng(5)
    found = recalibrated(truth, score, update, rng=rng, cluster=cluster, fold=cluster % 5, resamples=1000)
    with (reference / "recalibration.csv").open() as file:
        expected = [row for row in csv.DictReader(file) if row["update"] == update]
    assert {row["measure"] for row in expected} == set(found)
    for row in expected:
        e = found[row["measure"]]
        assert e.value == pytest.approx(float(row["value"]), abs=1e-7), row["measure"]
        assert e.se == pytest.approx(float(row["se"]), rel=0.08), row["measure"]
        assert e.low < e.value < e.high


def test_no_case_is_tested_by_parameters_that_its_own_truth_gave(heart):
    truth, score, cluster = heart
    fold = cluster % 5
    for update in UPDATES:
        before = cross_fitted(truth, score, fold, update)
        changed = truth ^ (fold == 2)  # every truth of one fold turned round
        after = cross_fitted(changed, score, fold, update)
        assert np.array_equal(before[fold == 2], after[fold == 2])
        assert not np.allclose(before[fold != 2], after[fold != 2])


def test_cases_of_a_cluster_are_in_one_fold_and_each_fold_has_both_classes():
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(40), 4)
    truth = np.repeat(np.arange(40) % 4 == 0, 4)
    fold = folds_of(truth, cluster, rng)
    assert all(len(set(fold[cluster == c])) == 1 for c in range(40))
    assert all(0 < truth[fold == k].sum() < (fold == k).sum() for k in range(5))


def test_the_folds_and_the_interval_depend_on_the_generator_alone(heart):
    truth, score, cluster = heart
    made = [
        recalibrated(truth, score, "intercept", rng=np.random.default_rng(s), cluster=cluster, resamples=50)
        for s in (1, 1, 2)
    ]
    assert made[0]["oe_ratio"] == made[1]["oe_ratio"]
    assert made[0]["oe_ratio"].value != made[2]["oe_ratio"].value


def test_scores_that_are_too_low_throughout_are_right_after_an_update_of_the_intercept():
    rng = np.random.default_rng(8)
    x = rng.normal(0, 1.2, 600)
    truth = rng.random(600) < expit(x)
    found = recalibrated(truth, expit(x - 1.5), "intercept", rng=rng)
    assert found["oe_ratio"].low < 1 < found["oe_ratio"].high
    assert found["calibration_slope"].low < 1 < found["calibration_slope"].high


@pytest.mark.parametrize(
    "positives, update, why",
    [
        (0, "intercept", "calibration needs cases of both classes"),
        (9, "intercept", "9 cases of the scarcer class: fewer than 10"),
        (15, "intercept and slope", "15 cases of the scarcer class: fewer than 20, 10 for each parameter"),
    ],
)
def test_one_class_or_too_few_of_it_is_undefined_and_says_why(positives, update, why):
    truth = np.arange(200) < positives
    score = np.random.default_rng(2).uniform(0.05, 0.95, 200)
    found = recalibrated(truth, score, update, rng=np.random.default_rng(1))
    assert all(isnan(e.value) and why in english(e.note) for e in found.values())


def test_a_class_in_fewer_clusters_than_folds_is_undefined(heart):
    truth, score = np.arange(200) < 40, np.random.default_rng(2).uniform(0.05, 0.95, 200)
    found = recalibrated(
        truth, score, "intercept", rng=np.random.default_rng(1), cluster=np.arange(200) // 20
    )
    assert "in fewer than 5 clusters" in english(found["brier"].note)


def test_scores_that_separate_the_classes_have_no_update_of_the_slope():
    truth = np.arange(100) < 50
    score = np.where(truth, 0.8, 0.2) + np.random.default_rng(1).uniform(-0.1, 0.1, 100)
    found = recalibrated(truth, score, "intercept and slope", rng=np.random.default_rng(1))
    assert all(isnan(e.value) for e in found.values())
    assert "separate the classes" in english(found["brier"].note)


def test_many_cases_have_values_without_an_interval(monkeypatch, heart):
    truth, score, _ = heart
    monkeypatch.setattr(module, "RESAMPLED_UP_TO", 100)
    e = recalibrated(truth, score, "intercept", rng=np.random.default_rng(1))["oe_ratio"]
    assert not isnan(e.value)
    assert isnan(e.low)
    assert "not resampled" in english(e.note)
