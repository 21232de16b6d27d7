"""The example studies: the simulated one comes out the same byte for byte; both hold what they declare."""

import csv
import runpy
from collections import Counter
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from trustreport.study.plan import Plan

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
READINGS = EXAMPLES / "knee-mri-readings"
TABLES = ["readings.csv", "readers.csv", "cases.csv", "raters.csv"]


def rows(name):
    with (READINGS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def readings():
    return rows("readings.csv")


def test_made_again_the_tables_are_the_same_bytes(tmp_path):
    runpy.run_path(str(READINGS / "make.py"))["write"](tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(TABLES)
    for name in TABLES:
        assert (tmp_path / name).read_bytes() == (READINGS / name).read_bytes(), name


def test_the_grid_is_complete(readings):
    assert len(readings) == 1560
    assert len({(row["reader"], row["case"]) for row in readings}) == 1560
    assert [row["reader"] for row in rows("readers.csv")] == sorted({row["reader"] for row in readings})
    for reader in rows("readers.csv"):
        order = [int(row["order"]) for row in readings if row["reader"] == reader["reader"]]
        assert order == list(range(1, 121)), reader


def test_error_rates_are_those_of_the_manifest_and_near_the_published_ones(readings):
    before = sum(row["initial_decision"] != row["truth"] for row in readings)
    after = sum(row["decision"] != row["truth"] for row in readings)
    wrong_advice = {row["case"] for row in readings if row["advice"] != row["truth"]}
    text = (READINGS / "study.yaml").read_text(encoding="utf-8")
    assert f"Wrong before advice: {before} of 1560 ({before / 1560:.3f})" in text
    assert f"Wrong after advice: {after} of 1560 ({after / 1560:.3f})" in text
    assert f"Wrong advice: {len(wrong_advice)} of 120 cases ({len(wrong_advice) / 120:.3f})" in text
    assert before / 1560 == pytest.approx(367 / 1548, abs=0.01)
    assert after / 1560 == pytest.approx(352 / 1548, abs=0.01)


def test_one_truth_and_one_advice_per_case(readings):
    cases = {row["case"]: row["truth"] for row in rows("cases.csv")}
    assert len(cases) == 120
    assert sum(truth == "1" for truth in cases.values()) == 54
    assert {(row["case"], row["truth"]) for row in readings} == set(cases.items())
    assert len({(row["case"], row["advice"], row["advice_score"]) for row in readings}) == 120
    assert all((float(row["advice_score"]) >= 0.5) == (row["advice"] == "1") for row in readings)
    assert all(0 <= float(row["confidence"]) <= 1 and float(row["seconds"]) > 0 for row in readings)


def test_readers_by_centre():
    assert Counter(row["centre"] for row in rows("readers.csv")) == {"tertiary": 5, "secondary": 8}
    assert len(rows("readers.csv")) == 13


def test_the_simulated_study_says_so_where_it_is_read():
    text = (READINGS / "study.yaml").read_text(encoding="utf-8")
    assert "simulated: true" in text
    assert "title: Simulated knee MRI reader study" in text
    assert 'notice: "Simulated data: no patient, no reader and no device behind these numbers"' in text


def test_published_counts():
    """Campagner, Angius, Cabitza (2023), HEALTHINF, doi 10.5220/0011679600003414, Table 1."""
    text = (EXAMPLES / "knee-mri" / "study.yaml").read_text(encoding="utf-8")
    assert "arm: unaided, errors: 367, correct: 1181, readers: 13, cases: 120, paired: true" in text
    assert "arm: aided, errors: 352, correct: 1196, readers: 13, cases: 120, paired: true" in text


@pytest.mark.parametrize("name", ["knee-mri", "knee-mri-readings"])
def test_the_manifest_fits_the_models(name):
    text = (EXAMPLES / name / "study.yaml").read_text(encoding="utf-8")
    plan = Plan.model_validate(YAML(typ="safe", pure=True).load(text))
    assert plan.contrasts == (("aided", "unaided"),)
    assert plan.study.simulated == (name == "knee-mri-readings")


def test_five_raters_labelled_every_case_and_are_judged_by_the_truth():
    labels = rows("raters.csv")
    assert Counter(row["rater"] for row in labels) == dict.fromkeys("ABCDE", 120)
    truth = {row["case"]: row["truth"] for row in rows("cases.csv")}
    right = [row["label"] == truth[row["case"]] for row in labels]
    assert 0.85 < sum(right) / len(right) < 0.95
    assert "rater_accuracy: measured" in (READINGS / "study.yaml").read_text(encoding="utf-8")


ASSISTED = EXAMPLES / "assisted-reading"


def test_the_assisted_readings_are_the_same_bytes(tmp_path):
    runpy.run_path(str(ASSISTED / "make.py"))["write"](tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.csv", "readings.csv"]
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (ASSISTED / path.name).read_bytes(), path.name


def test_the_assisted_readings_answer_how_to_use_the_device(assessed_study):
    """Confidences, two types of advice, complexity and a third reader yield every measure and protocol."""
    from trustreport.measures.protocols import PROTOCOLS

    found = assessed_study(ASSISTED)
    known = {r.name for r in found.results if r.primary and r.estimate.value == r.estimate.value}
    assert {"appropriate_reliance", "appropriate_reliance_chance_corrected", "persuasion"} <= known
    assert {"automation_bias_odds_adjusted", "conservatism_bias_odds_adjusted", "rair_difference"} <= known
    protocols = {r.place.protocol for r in found.results if r.name == "protocol_performance"}
    assert protocols == set(PROTOCOLS)
    text = (ASSISTED / "study.yaml").read_text(encoding="utf-8")
    assert "SIMULATED" in text
    assert "simulated: true" in text


H_ACCURACY = EXAMPLES / "h-accuracy"


def test_the_cases_of_h_accuracy_are_the_same_bytes(tmp_path):
    runpy.run_path(str(H_ACCURACY / "make.py"))["write"](tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raters.csv", "scores.csv"]
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (H_ACCURACY / path.name).read_bytes(), path.name


def test_the_example_of_h_accuracy_gives_the_numbers_that_the_paper_prints(assessed_study):
    """Cabitza, Campagner (2019), tables 1 and 2, section 3; Ha(tau 1) as in the later version."""
    found = [r for r in assessed_study(H_ACCURACY).results if r.place.candidate == "A"]
    accuracy = next(r for r in found if r.name == "accuracy" and not r.parameters)
    assert round(accuracy.estimate.value, 2) == 0.84
    assert [round(r.estimate.value, 2) for r in found if r.id == "advice_accuracy.auc" and r.primary] == [
        0.89
    ]
    ha = [r for r in found if r.name == "h_accuracy"]
    printed = [
        ({"tau": 0.6, "complexity": False}, 0.82),
        ({"tau": 0.75, "complexity": False}, 0.78),
        ({"tau": 0.8, "complexity": False}, 0.77),
        ({"tau": 1.0, "complexity": False}, 0.69),
        ({"priority": [0.75, 0.25]}, 0.85),
        ({"priority": [0.25, 0.75]}, 0.83),
        ({"tau": 0.5, "complexity": {"source": "raters", "scale": [1.0, 4.0]}}, 0.77),
        ({"complexity": {"source": "raters", "above": 2.75, "rest": 0.0}}, 0.73),
    ]
    for where, value in printed:
        (r,) = (r for r in ha if all(r.parameters[key] == wanted for key, wanted in where.items()))
        assert round(r.estimate.value, 2) == value, where
    (raters,) = (
        r for r in ha if r.parameters.get("priority_from") == "raters" and not r.parameters["complexity"]
    )
    assert [round(p, 2) for p in raters.parameters["priority"]] == [0.52, 0.48]
    taus = {r.parameters["tau_share"]: r.parameters["tau"] for r in ha if "tau_share" in r.parameters}
    assert taus == {0.8: 0.6, 0.501: 0.75}
