"""Declared hypotheses of readings: values of other software, the rule of intervals, what cannot be tested."""

import json
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

from tests.dimensions.test_reliance import rules_hold, texts
from tests.english import english
from tests.studies import plan, readings
from trustreport.api import read_study
from trustreport.assessment.assess import assess
from trustreport.assessment.dimensions.decision_benefit import DIMENSION
from trustreport.assessment.dimensions.decision_benefit import hypotheses as module
from trustreport.assessment.finding import Finding
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

EN = catalogue("en")
BENEFIT = "decision_benefit.mean_benefit"
CONTRAST = ["aided", "unaided"]


def criterion(**declared: Any) -> dict[str, Any]:
    """A criterion with what every one has."""
    given_here = {"endpoint": "E", "measure": BENEFIT, "arm_or_contrast": CONTRAST, **declared}
    return {key: value for key, value in given_here.items() if value is not None}


def answer(study: Study, declared: Plan) -> Finding:
    assert DIMENSION.answer is not None
    return DIMENSION.answer(study, declared)


def held(study: Study, *criteria: dict[str, Any], **groups: Any) -> list[Result]:
    """The entries of the criteria; every rule of results and every text is checked on the way."""
    found = answer(study, plan(endpoints=list(criteria), **groups))
    rules_hold(found)
    assert texts(found)
    for part in found.parts:
        for figure in part.figures:
            if figure.id.startswith("hypotheses"):
                figure.drawing.draw(EN)
    return [r for r in found.results if r.id == "decision_benefit.non_inferiority"]


def crossed(seed: int = 3, n_readers: int = 6, n_cases: int = 80, aided: float = 0.8) -> Study:
    """A study in which every reader read every case in both arms."""
    rng = np.random.default_rng(seed)
    return readings(rng.random((2, n_readers, n_cases)) < np.array([0.72, aided])[:, None, None])


def estimate_of(study: Study, measure: str, level: float = 0.95, **scope: Any) -> Estimate:
    """What leads for a measure at a level of the report."""
    report = {"kind": "certification", "confidence_level": level}
    found = [
        r
        for r in assess(study, plan(report=report)).results
        if r.id == measure and r.primary and r.within(subgroup=None, parameters=None, **scope)
    ]
    assert len(found) == 1
    return found[0].estimate


@pytest.mark.parametrize("margin", [0.02, 0.05])
def test_vandyke_agrees_with_mrmcaov(margin: float, reference: Path) -> None:
    # reference/mrmc/expected.json: MRMCaov 0.3.0, RRRC with jackknife covariance, modality 2 against 1
    stored = json.loads((reference / "mrmc" / "expected.json").read_text())
    expected = stored["datasets"]["vandyke"]["auc"]["noninferiority_modality_2_vs_1"][f"margin_{margin}"]
    study, declared = read_study(reference / "contract" / "vandyke")
    contrast = list(declared.contrasts[0])
    both = plan(
        arms=[a.model_dump() for a in declared.arms],
        endpoints=[
            criterion(
                of="auc",
                arm_or_contrast=contrast,
                hypothesis="non-inferiority",
                bound_or_margin=margin,
                alpha=0.025,
            )
        ],
    )
    (found,) = [r for r in answer(study, both).results if r.id == "decision_benefit.non_inferiority"]
    e = found.estimate
    assert found.scope["endpoint"] == "auc"
    assert found.scope["parameters"]["margin"] == margin
    assert e.details["t"] == pytest.approx(expected["t"]["value"], abs=expected["t"]["tol"])
    assert e.p == pytest.approx(expected["p_one_sided"]["value"], abs=expected["p_one_sided"]["tol"])
    limit = expected["lower_limit_two_sided_95"]
    assert e.low == pytest.approx(limit["value"], abs=limit["tol"])
    assert e.level == 0.95


def test_the_interval_of_the_rule_is_that_of_a_report_at_its_level() -> None:
    study = crossed()
    for measure, hypothesis, alpha, level in (
        (BENEFIT, "non-inferiority", 0.05, 0.9),
        (BENEFIT, "superiority", 0.01, 0.98),
        ("pragmatic_utility.arr", "superiority", 0.05, 0.9),
        ("pragmatic_utility.rr", "superiority", 0.1, 0.8),
        ("pragmatic_utility.odds_ratio", "estimation", 0.2, 0.8),
    ):
        of = "accuracy" if measure == BENEFIT else None
        declared = criterion(measure=measure, of=of, hypothesis=hypothesis, alpha=alpha, bound_or_margin=0.05)
        if hypothesis != "non-inferiority":
            del declared["bound_or_margin"]
        (found,) = held(study, declared)
        scope = {"endpoint": "accuracy"} if of else {}
        direct = estimate_of(study, measure, level, **scope)
        e = found.estimate
        assert (e.value, e.low, e.high, e.level) == pytest.approx(
            (direct.value, direct.low, direct.high, level), rel=1e-9
        )
        assert found.details == {"alpha": alpha, "sides": 2 if hypothesis == "estimation" else 1}
        if hypothesis == "superiority":
            effect = direct.value - 1 if measure == "pragmatic_utility.rr" else -direct.value
            assert e.p == pytest.approx(direct.p / 2 if effect < 0 else 1 - direct.p / 2, rel=1e-9)


def test_superiority_may_be_declared_two_sided() -> None:
    study = crossed()
    (found,) = held(study, criterion(hypothesis="superiority", alpha=0.05, sides=2))
    direct = estimate_of(study, BENEFIT, endpoint="accuracy")
    assert (found.estimate.low, found.estimate.high) == pytest.approx((direct.low, direct.high))
    assert found.estimate.p == pytest.approx(direct.p)
    assert found.details == {"alpha": 0.05, "sides": 2}


@settings(max_examples=15)
@given(st.integers(0, 500), st.floats(0.001, 0.2), st.floats(0.005, 0.2))
def test_p_and_interval_say_the_same(seed: int, margin: float, alpha: float) -> None:
    study = crossed(seed, n_readers=5, n_cases=30)
    kinds = ("non-inferiority", "equivalence", "superiority")
    found = held(
        study,
        *(
            criterion(
                endpoint=k,
                of="accuracy",
                hypothesis=k,
                alpha=alpha,
                bound_or_margin=None if k == "superiority" else margin,
            )
            for k in kinds
        ),
    )
    by_kind = {r.scope["parameters"]["hypothesis"]: r.estimate for r in found}
    for kind, e in by_kind.items():
        if isnan(e.p):
            assert e.note
            continue
        inside = {
            "non-inferiority": e.low > -margin,
            "equivalence": -margin < e.low and e.high < margin,
            "superiority": e.low > 0,
        }[kind]
        assert (e.p < alpha) == inside, kind


def test_less_is_better_for_error_rates_and_ratios() -> None:
    study = crossed()
    rate, ratio, reduction = held(
        study,
        criterion(
            endpoint="goal",
            measure="pragmatic_utility.error_rate",
            arm_or_contrast="aided",
            hypothesis="performance goal",
            bound_or_margin=0.25,
        ),
        criterion(
            endpoint="ratio",
            measure="pragmatic_utility.odds_ratio",
            hypothesis="non-inferiority",
            bound_or_margin=1.1,
        ),
        criterion(
            endpoint="arr",
            measure="pragmatic_utility.arr",
            hypothesis="non-inferiority",
            bound_or_margin=0.01,
        ),
    )
    e = rate.estimate
    assert rate.scope["arm"] == "aided"
    assert rate.scope["parameters"]["goal"] == 0.25
    at_goal = 0.25 * 0.75 / e.details["effective_n"]  # the score test, with the variance at the goal
    assert e.details["t"] == pytest.approx((0.25 - e.value) / at_goal**0.5)
    assert (e.p < 0.025) == (e.high < 0.25)
    assert (ratio.estimate.p < 0.025) == (ratio.estimate.high < 1.1)
    assert (reduction.estimate.p < 0.025) == (reduction.estimate.low > -0.01)


def test_the_interval_by_hand() -> None:
    rng = np.random.default_rng(5)
    correct = rng.random((2, 6, 60)) < 0.7
    fit = fit_proportions(correct.astype(float)).difference(1, 0, level=0.9)
    (found,) = held(
        readings(correct), criterion(hypothesis="equivalence", bound_or_margin=[-0.1, 0.2], alpha=0.05)
    )
    e = found.estimate
    assert (e.low, e.high, e.level) == pytest.approx((fit.low, fit.high, 0.9))
    assert found.scope["parameters"]["margin"] == [-0.1, 0.2]
    assert found.scope["endpoint"] == "accuracy"
    assert found.scope["analysis"] == "or_rrrc_jackknife"


@pytest.mark.parametrize(
    "declared, why",
    [
        ({"hypothesis": "non-inferiority"}, module.NO_MARGIN),
        ({"hypothesis": "non-inferiority", "bound_or_margin": -0.05}, module.NEGATIVE),
        ({"hypothesis": "non-inferiority", "bound_or_margin": [-0.1, 0.1]}, module.NOT_ONE_NUMBER),
        ({"hypothesis": "equivalence", "bound_or_margin": [0.01, 0.1]}, module.SIDES),
        ({"hypothesis": "equivalence", "bound_or_margin": -0.1}, module.SIDES),
        ({"hypothesis": "non-inferiority", "bound_or_margin": 0.1, "alpha": 0.6}, module.ALPHA),
        (
            {
                "hypothesis": "non-inferiority",
                "measure": "pragmatic_utility.rr",
                "bound_or_margin": 0.1,
            },
            module.RATIO_MARGIN,
        ),
        ({"measure": "pragmatic_utility.nnd", "hypothesis": "superiority"}, module.NO_SUCH_TEST),
        ({"of": "auc", "hypothesis": "superiority"}, module.NOT_FOUND),
        ({"of": "sensitivty", "hypothesis": "superiority"}, module.NOT_FOUND),
    ],
)
def test_what_cannot_be_tested_says_why(declared: dict[str, Any], why: str) -> None:
    (found,) = held(crossed(), criterion(**declared))
    assert isnan(found.estimate.p)
    assert found.estimate.note == why


def test_one_reader_describes_that_reader_only() -> None:
    rng = np.random.default_rng(2)
    study = readings(rng.random((2, 1, 60)) < np.array([0.6, 0.8])[:, None, None])
    (found,) = held(study, criterion(hypothesis="non-inferiority", bound_or_margin=0.05))
    assert 0 < found.estimate.p < 1
    assert found.estimate.method == "tango"
    assert (found.estimate.p < 0.025) == (found.estimate.low > -0.05)


def test_without_variation_there_is_no_p() -> None:
    correct = np.ones((2, 5, 20), bool)
    (found,) = held(readings(correct), criterion(hypothesis="non-inferiority", bound_or_margin=0.05))
    assert found.estimate.value == 0
    assert isnan(found.estimate.p)
    assert "nothing varies" in english(found.estimate.note)


def test_criteria_of_other_questions_and_of_absent_arms_are_left_out() -> None:
    study = crossed()
    assert not held(study, criterion(measure="reliance.rair", hypothesis="estimation"))
    assert not held(study, criterion(arm_or_contrast=["other", "unaided"], hypothesis="estimation"))
    assert not held(study)


def test_a_criterion_without_a_contrast_is_about_every_one() -> None:
    (found,) = held(crossed(), criterion(arm_or_contrast=None, hypothesis="superiority"))
    assert found.scope["arms"] == CONTRAST
    (named,) = held(crossed(), criterion(arm_or_contrast="aided", hypothesis="superiority"))
    assert named.scope["arms"] == CONTRAST
    reverse = held(crossed(), criterion(arm_or_contrast=["unaided", "aided"], hypothesis="superiority"))
    assert reverse[0].estimate.value == pytest.approx(-found.estimate.value)


def test_the_table_names_margin_sides_and_level() -> None:
    found = answer(
        crossed(),
        plan(
            endpoints=[
                criterion(endpoint="kept", hypothesis="non-inferiority", bound_or_margin=0.05, alpha=0.05),
                criterion(endpoint="alike", of="sensitivity", hypothesis="equivalence", bound_or_margin=0.1),
                criterion(endpoint="shown", hypothesis="estimation"),
            ]
        ),
    )
    said = texts(found)
    assert "non-inferiority, one-sided: above \N{MINUS SIGN}5 points" in said
    assert "equivalence, two one-sided tests: \N{MINUS SIGN}10 points to 10 points" in said
    assert "kept: change in accuracy, aided against unaided" in said
    assert "90.0%" in said
    drawn = [f for part in found.parts for f in part.figures if f.id.startswith("hypotheses")]
    assert [f.drawing.values(EN)[0].get("margin") for f in drawn] == [-0.05, None]
    assert drawn[1].drawing.values(EN)[0]["margin_low"] == -0.1


def test_a_goal_is_drawn_as_the_distance_from_it() -> None:
    goals = [
        criterion(
            endpoint=name,
            measure="decision_benefit.arm_mean",
            of=name,
            arm_or_contrast="aided",
            hypothesis="performance goal",
            bound_or_margin=goal,
        )
        for name, goal in (("accuracy", 0.7), ("sensitivity", 0.9))
    ]
    found = answer(crossed(), plan(endpoints=goals))
    (figure,) = (f for part in found.parts for f in part.figures if f.id.startswith("goals"))
    drawn = figure.drawing.values(EN)
    entries = [r for r in found.results if r.id == "decision_benefit.non_inferiority"]
    for row, entry, goal in zip(drawn, entries, (0.7, 0.9), strict=True):
        e = entry.estimate
        assert (row["value"], row["low"]) == pytest.approx((e.value - goal, e.low - goal))
    assert "goal 90%" in drawn[1]["label"]
    texts_drawn = {text.get_text() for text in figure.drawing.draw(EN).findobj(Text)}
    assert {"goal", "better than the goal"} <= texts_drawn


@pytest.mark.parametrize("alpha", [0.01, 0.025, 0.05, 0.1])
def test_a_goal_of_an_arm_is_tested_on_the_scale_of_its_limits(alpha: float) -> None:
    """p is below alpha where the limit that the test needs is above the goal, and nowhere else."""
    study = crossed(aided=0.93)
    more = {"arm_or_contrast": "aided", "hypothesis": "performance goal", "alpha": alpha}
    goals = (0.85, 0.88, 0.89, 0.9, 0.91, 0.92)
    found = held(
        study,
        *(
            criterion(
                endpoint=str(g), measure="decision_benefit.arm_mean", of=name, bound_or_margin=g, **more
            )
            for g in goals
            for name in ("accuracy", "specificity")
        ),
    )
    verdicts = set()
    for r in found:
        e, goal = r.estimate, r.parameters["goal"]
        assert e.method.endswith("_score")
        assert e.level == pytest.approx(1 - 2 * alpha)
        assert (e.p < alpha) == (e.low > goal)
        verdicts.add(bool(e.p < alpha))
    assert verdicts == {True, False}
