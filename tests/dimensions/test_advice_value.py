"""Advice value: contract values, what is reported of scores, and scores that are no probabilities."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dimensions.test_potential_robustness import answer, dataset, drawn, only, rules_hold, texts
from tests.studies import plan, readings
from trustreport.assessment.dimensions.advice_value import DIMENSION, results
from trustreport.assessment.dimensions.advice_value.words import ADVICE, ADVICE_GICI, EACH_UP_TO, MASS, WIDTH
from trustreport.assessment.finding import Finding
from trustreport.assessment.performance import measures
from trustreport.measures.calibration import notes
from trustreport.measures.calibration.advice import AT_AN_END
from trustreport.measures.calibration.binned import BOUNDS
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.study.plan import Plan
from trustreport.study.study import Coded, Labels, Scores, Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")


def study_of(truth: Sequence[int] | np.ndarray, score: Sequence[float] | np.ndarray) -> Study:
    return Study(datasets=(dataset("set", "external", np.array(truth), np.array(score, float)),))


def told(study: Study, given_plan: Plan | None = None) -> Finding:
    return answer(study, given_plan or plan(), DIMENSION)


def value(found: Finding, name: str, **parameters: Any) -> Estimate:
    return only(found, name, parameters=parameters or None, **{"class": None, "subgroup": None})


def calibrated(n: int = 400, *, seed: int = 2, power: float = 1.0) -> Study:
    """Scores that are the risk, or the risk bent by a power."""
    rng = np.random.default_rng(seed)
    score = rng.random(n)
    return study_of(rng.random(n) < score**power, score)


def test_hand_counts() -> None:
    found = told(study_of([1, 1, 0, 0], [0.9, 0.9, 0.4, 0.3]))
    rules_hold(found)
    assert value(found, "brier").value == pytest.approx((0.01 + 0.01 + 0.16 + 0.09) / 4)
    assert value(found, "oe_ratio").value == pytest.approx(2 / 2.5)
    assert value(found, "ece", **WIDTH).value == pytest.approx((0.2 + 0.4 + 0.3) / 4)
    assert value(found, "advisory_value", **ADVICE).value == pytest.approx(0.6175)
    bins = {
        (r.scope["parameters"]["low"], r.estimate.value)
        for r in found.results
        if r.id.endswith(".advice_value") and "local_calibration" not in r.scope["parameters"]
    }
    assert {(round(low, 2), round(v, 2)) for low, v in bins} == {(0.6, 0.36), (0.7, 0.49), (0.9, 0.81)}


def test_scores_that_mean_what_they_say_and_scores_that_do_not() -> None:
    right, wrong = told(calibrated()), told(calibrated(power=3.0))
    for found in (right, wrong):
        rules_hold(found)
    assert value(right, "oe_ratio").low <= 1 <= value(right, "oe_ratio").high
    assert value(wrong, "oe_ratio").high < 1
    assert value(right, "gici", **WIDTH).value > value(wrong, "gici", **WIDTH).value
    assert any("The scores are too high on average" in text for text in texts(wrong))
    assert any("The interval includes 1" in text for text in texts(right))
    assert value(wrong, "gici_over", **MASS).value < 1


def test_slope_and_intercept_come_with_both_intervals_and_one_leads() -> None:
    found = told(calibrated())
    wanted = {
        "calibration_slope": {"wald": True, "profile": False},
        "calibration_intercept": {"sandwich": True, "wald": False, "profile": False},
    }
    for name, methods in wanted.items():
        assert {r.method: r.primary for r in found.results if r.id == f"advice_value.{name}"} == methods


def test_other_numbers_of_bins_have_the_same_interval() -> None:
    found = told(calibrated())
    for bins in results.OTHER_BINS:
        e = value(found, "gici", bins=bins, binning="equal_width")
        assert 0 < e.value <= 1
        assert 0 <= e.low <= e.value <= e.high <= 1
        assert e.method == BOUNDS


OF_PROBABILITIES = (
    "brier ece gici calibration_intercept calibration_slope oe_ratio ici advisory_value".split()
)
HARD: dict[str, tuple[Study, dict[str, Any], dict[str, Note]]] = {
    "one class": (
        study_of(np.ones(30), np.linspace(0.1, 0.9, 30)),
        {},
        {"calibration_slope": notes.ONE_CLASS},
    ),
    "three rows": (study_of([0, 1, 1], [0.2, 0.6, 0.5]), {}, {"ici": notes.FEW_SCORES}),
    "no case": (study_of(np.full(5, -1), np.full(5, 0.4)), {}, {"brier": notes.NO_CASE}),
    "one case": (study_of([1], [0.4]), {}, {"calibration_slope": notes.ONE_CLASS}),
    "all equal": (study_of([0, 1] * 10, np.full(20, 0.3)), {}, {"calibration_slope": notes.CONSTANT_SCORE}),
    "outside": (
        study_of([0, 1] * 10, np.arange(20)),
        {},
        dict.fromkeys(OF_PROBABILITIES, measures.NOT_RISKS),
    ),
    "reversed": (
        study_of([0, 1] * 10, np.linspace(0, 1, 20)),
        {"operating_point": {"score_direction": "lower_is_positive"}},
        {"brier": measures.REVERSED},
    ),
    "0 and 1": (study_of([0, 1] * 10, [0, 1] * 9 + [1, 0]), {}, {}),
    "separated": (study_of([0, 1] * 10, [0.2, 0.8] * 10), {}, {"calibration_slope": notes.SEPARATED}),
    "nothing expected": (study_of([0, 1] * 10, np.zeros(20)), {}, {"oe_ratio": notes.NOTHING_EXPECTED}),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_sets_end_in_a_reasoned_not_estimable(name: str) -> None:
    study, groups, undefined = HARD[name]
    found = told(study, plan(**groups))
    rules_hold(found)
    for quantity, note in undefined.items():
        e = value(found, quantity)
        assert isnan(e.value)
        assert e.note == note
    assert texts(found)


def test_several_sets_are_told_side_by_side_and_each_in_its_part() -> None:
    sets = tuple(drawn(f"site {i}", "external", 80, seed=i) for i in range(3))
    found = told(Study(datasets=sets))
    rules_hold(found)
    assert [len(part.figures) for part in found.parts] == [0, 1, 0, 0, 0]
    assert any("(O/E) includes 1 in 3 of 3 sets." in text for text in texts(found))
    ids = [t.id for part in found.parts for t in part.tables]
    assert len(set(ids)) == len(ids) == 5


def test_the_set_farthest_from_calibration_is_named() -> None:
    (right,) = calibrated().datasets
    score = right.scores[""].score
    assert score is not None
    doubled = replace(right, name="doubled", scores={"": Scores(np.clip(2 * score, 0, 1))})
    halved = replace(right, name="halved", scores={"": Scores(score / 4)})
    found = told(Study(datasets=(right, doubled, halved)))
    events = right.cases.truth.sum()
    ratio = events / (score / 4).sum()
    said = texts(found)
    assert any("(O/E) includes 1 in 1 of 3 sets." in text for text in said)
    assert any(f"farthest from 1 for halved: {ratio:.2f} times as many cases" in text for text in said)


def test_many_sets_are_told_in_one_overview() -> None:
    sets = tuple(drawn(f"site {i}", "external", 60, seed=i) for i in range(EACH_UP_TO + 9))
    found = told(Study(datasets=sets))
    rules_hold(found)
    by_confidence, calibration = found.parts
    assert [table.id for table in by_confidence.tables] == ["advice_value_bins"]
    assert len(calibration.figures) == 2
    assert [table.id for table in calibration.tables] == ["advice_value_sets"]
    texts(found)


def test_a_set_without_probabilities_has_no_panel_among_others() -> None:
    good = calibrated().datasets[0]
    bad = replace(study_of([0, 1] * 10, np.arange(20)).datasets[0], name="other")
    found = told(Study(datasets=(good, bad)))
    rules_hold(found)
    assert {row["label"] for row in found.parts[0].figures[0].drawing.values(EN)} == {"set"}
    texts(found)
    assert [EN(text) for text in found.parts[-1].finding] == [
        "Calibration of other cannot be assessed: the scores run from 0 to 19 and are not probabilities."
    ]


def test_scores_that_are_no_probabilities_are_one_sentence() -> None:
    sets = tuple(replace(study_of([0, 1] * 10, np.arange(20)).datasets[0], name=name) for name in "ab")
    found = told(Study(datasets=sets), plan(operating_point={"score_range": [0, 100]}))
    (part,) = found.parts
    assert [EN(text) for text in part.finding] == [
        "Calibration cannot be assessed: the scores run from 0 to 100 and are not probabilities."
    ]
    assert (part.tables, part.figures) == ((), ())
    assert all(np.isnan(r.estimate.value) for r in found.results)


def test_candidates_and_seeds() -> None:
    one = calibrated().datasets[0]
    score = one.scores[""].score
    assert score is not None
    both = replace(one, scores={"first": Scores(score), "second": Scores(score**2)})
    found = told(Study(datasets=(both,)))
    rules_hold(found)
    assert only(found, "brier", candidate="first").value < only(found, "brier", candidate="second").value
    again = told(Study(datasets=(both,)))
    assert [r.estimate for r in found.results] == [r.estimate for r in again.results]
    other = told(Study(datasets=(both,)), plan(similarity={"seed": 99}))
    assert only(found, "ici", candidate="first").high != only(other, "ici", candidate="first").high
    of_bins = [only(f, "ece", candidate="first", parameters=WIDTH).high for f in (found, other)]
    assert of_bins[0] == of_bins[1], "nothing of it is drawn"


def test_what_the_dimension_needs() -> None:
    assert not DIMENSION.has_data(Study(), plan())
    assert DIMENSION.has_data(calibrated(), plan())
    bare = replace(calibrated().datasets[0], scores={"": Scores(decision=np.zeros(400, np.int8))})
    assert not DIMENSION.has_data(Study(datasets=(bare,)), plan())


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_any_scores_give_results_and_texts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    score = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], n) if rng.random() < 0.5 else rng.random(n)
    found = told(study_of(rng.integers(-1, 2, n), score))
    rules_hold(found)
    assert texts(found)


def test_the_gici_form_stands_beside_the_plain_gap() -> None:
    found = told(study_of([1, 1, 0, 0], [0.9, 0.9, 0.4, 0.3]))
    # confidence less gap: .9 - .1 twice, .6 - .4, .7 - .3
    assert value(found, "advisory_value", **ADVICE_GICI).value == pytest.approx((0.8 + 0.8 + 0.2 + 0.4) / 4)
    named = {
        r.estimate.value
        for r in found.results
        if r.id.endswith(".advice_value") and r.scope["parameters"].get("local_calibration") == "gici"
    }
    assert sorted(named) == pytest.approx([0.2, 0.4, 0.8])


def test_the_value_of_advice_by_class_and_by_declared_group() -> None:
    study = calibrated()
    first = study.datasets[0]
    code = (np.arange(400) % 3).astype(np.int32) - 1  # a third of the cases without a group
    grouped = replace(first.cases, groups={"sex": Coded(code, Labels(("female", "male")))})
    study = Study(datasets=(replace(first, cases=grouped),))
    found = told(study, plan(subgroups=[{"name": "sex"}, {"name": "unknown"}]))
    rules_hold(found)
    score = first.scores[""].score
    assert score is not None
    for name, members in (
        ({"class": "1"}, score >= 0.5),
        ({"class": "0"}, score < 0.5),
        ({"subgroup": "sex: female"}, code == 0),
        ({"subgroup": "sex: male"}, code == 1),
    ):
        e = only(found, "advisory_value", **{"class": None, "subgroup": None, **name}, parameters=ADVICE)
        assert e.n == members.sum()
        alone = told(study_of(grouped.truth[members], score[members]))
        assert e.value == pytest.approx(value(alone, "advisory_value", **ADVICE).value)
    assert {"advice: present", "sex: male"} <= set(texts(found))
    assert not any("within groups of patients" in text for text in texts(found))


def test_advice_of_one_class_only_says_so() -> None:
    found = told(study_of([1, 0, 1, 1], [0.9, 0.8, 0.7, 0.6]))
    rules_hold(found)
    e = only(found, "advisory_value", **{"class": "0"})
    assert e.note == results.NO_ADVICE
    texts(found)


COSTS = {"cost_fp": 1, "cost_fn": 5}


def test_costs_give_the_value_of_information_of_readings_and_of_advice() -> None:
    rng = np.random.default_rng(3)
    correct = rng.random((2, 6, 80)) < np.array([0.7, 0.85])[:, None, None]
    given_plan = plan(utility=COSTS, operating_point={"threshold": 0.5})
    study = replace(readings(correct), datasets=calibrated().datasets)
    found = told(study, given_plan)
    rules_hold(found)
    truth = np.arange(80) % 2 == 1
    loss = np.where(truth, 5, 1)
    gain = ((~correct[0]) * loss).mean() - ((~correct[1]) * loss).mean()
    e = only(found, "voi", arms=["aided", "unaided"])
    assert e.value == pytest.approx(gain)
    assert e.low > 0
    assert only(found, "voi", dataset="set").n == 400
    said = texts(found)
    assert any(", a gain." in text for text in said)
    assert any("depends on the declared utilities" in text for text in said)
    alone = told(readings(correct), given_plan)
    rules_hold(alone)
    assert len(alone.parts) == 1
    assert not DIMENSION.has_data(readings(correct), plan())


def test_utilities_by_name_their_mean_and_another_share_of_positives() -> None:
    rng = np.random.default_rng(5)
    correct = rng.random((2, 5, 60)) < 0.75
    matrices = [
        {"name": "mild", "matrix": [[0, -1], [-1, 0]], "probability": 0.75},
        {"name": "harsh", "matrix": [[0, -9], [-1, 0]], "probability": 0.25},
    ]
    found = told(
        readings(correct),
        plan(utility={"matrices": matrices}, intended_use={"prevalence_expected": 0.1}),
    )
    rules_hold(found)

    def voi(**parameters: Any) -> float:
        return only(found, "voi", parameters=parameters).value

    mean = 0.75 * voi(utility="mild") + 0.25 * voi(utility="harsh")
    assert voi(utility="mean of the matrices") == pytest.approx(mean)
    assert voi(utility="mild", prevalence=0.1) != pytest.approx(voi(utility="mild"), abs=1e-6)
    assert any("at the declared prevalence of 10.0%" in text for text in texts(found))


def shown(score: np.ndarray, n_readers: int = 3, **columns: Any) -> Study:
    """Readings of which the aided arm has a score of the advice for each case."""
    (table,) = readings(np.ones((2, n_readers, len(score)), bool)).readings
    of_row = np.where(table.arm == 1, score[table.case], np.nan)
    return Study(readings=(replace(table, advice_score=of_row, **columns),))


def test_advice_shown_to_readers_is_a_set_of_advice() -> None:
    rng = np.random.default_rng(6)
    score = rng.random(150)
    truth = np.arange(150) % 2
    found = told(shown(score), plan(operating_point={"threshold": 0.5}, utility=COSTS))
    rules_hold(found)
    same = told(study_of(truth, score))
    for name in ("brier", "oe_ratio"):
        assert value(found, name).value == value(same, name).value
    assert any("Advice shown to the readers, acted on" in text for text in texts(found))
    told(replace(shown(score), datasets=study_of(truth, score).datasets))


def test_a_case_whose_readers_saw_different_scores_has_no_advice_of_its_own() -> None:
    study = shown(np.linspace(0.05, 0.95, 40))
    (table,) = study.readings
    assert table.advice_score is not None
    changed = np.where((table.case == 7) & (table.reader == 1), 0.99, table.advice_score)
    one = replace(study, readings=(replace(table, advice_score=changed),))
    assert value(told(study), "brier").n == 40
    assert value(told(one), "brier").n == 39
    none = replace(study, readings=(replace(table, advice_score=np.full(len(table), np.nan)),))
    assert not DIMENSION.has_data(none, plan())


def test_advice_is_that_of_the_operating_point() -> None:
    """A fifth of these scores lie between .3 and .5: advice by which the device calls them positive."""
    study = calibrated()
    found = told(study, plan(operating_point={"threshold": 0.3}))
    rules_hold(found)
    score = study.datasets[0].scores[""].score
    assert score is not None
    by_class = {
        r.place.class_: r.estimate.n
        for r in found.results
        if r.id.endswith("advisory_value") and r.place.class_
    }
    assert by_class == {"1": int((score >= 0.3).sum()), "0": int((score < 0.3).sum())}
    assert value(found, "advisory_value", **ADVICE).details["threshold"] == 0.3
    said = texts(found)
    assert any("Advice is positive from a score of 0.3, the operating point" in text for text in said)
    assert any("No threshold is declared" in text for text in texts(told(study)))
    (table,) = [t for part in found.parts for t in part.tables if t.id == "advice_value_bins"]
    assert EN("advice_value.column.predicted") in [EN(column.header) for column in table.columns]


def test_advice_of_percentages_is_that_of_their_probabilities() -> None:
    study = calibrated()
    percent = study_of(study.datasets[0].cases.truth, 100 * study.datasets[0].scores[""].score)
    point = {"threshold": 30, "score_range": [0, 100], "scores_are_probabilities": True}
    plain, of_percent = (
        value(told(*one), "advisory_value", **ADVICE)
        for one in ((study, plan(operating_point={"threshold": 0.3})), (percent, plan(operating_point=point)))
    )
    assert of_percent.value == pytest.approx(plain.value)


def test_a_threshold_at_an_end_of_the_scale_leaves_advice_without_value() -> None:
    found = told(calibrated(), plan(operating_point={"threshold": 0.0}))
    rules_hold(found)
    for chosen in (ADVICE, ADVICE_GICI):
        e = value(found, "advisory_value", **chosen)
        assert isnan(e.value)
        assert e.note == AT_AN_END
    assert not any(r.name == "advice_value" for r in found.results)
    assert not any(table.id == "advice_value_bins" for part in found.parts for table in part.tables)
    texts(found)


def test_weighted_utility_is_pointed_to_where_cases_have_a_relevance() -> None:
    study = calibrated()
    one = study.datasets[0]
    relevant = replace(one, cases=replace(one.cases, numbers={"relevance": np.ones(len(one.cases))}))
    assert any(text.startswith("Weighted utility") for text in texts(told(Study(datasets=(relevant,)))))
    assert not any(text.startswith("Weighted utility") for text in texts(told(study)))
