"""Verdicts: the word that an interval and a bound give, families, what withholds a verdict."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import plan

from trustreport.assessment.assess import assess
from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.verdicts import Verdict, counted, verdicts, worst
from trustreport.assessment.verdicts.entries import _candidates, _has_scope_of
from trustreport.assessment.verdicts.judge import BARE, amount, compare_with_bound
from trustreport.assessment.verdicts.verdict import sides
from trustreport.measures.estimate import Estimate
from trustreport.measures.proportion import wilson
from trustreport.study import criteria
from trustreport.study.criteria import Bound, bound_of, families, level_of
from trustreport.study.plan import Confusion, Endpoint, Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import ROWS
from trustreport.vocabulary.quantity import Quantity
from trustreport.vocabulary.results import Result

EN = catalogue()
FIXED = {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"}
SENSITIVITY = "advice_accuracy.sensitivity"


def goal(name: str, bound: float | None, **more: Any) -> dict[str, Any]:
    """A criterion on the sensitivity of the published table."""
    return {
        "endpoint": name,
        "measure": SENSITIVITY,
        "hypothesis": "performance goal",
        "bound_or_margin": bound,
        "alpha": 0.025,
        **more,
    }


def table(tp: int = 90, fn: int = 10, fp: int = 20, tn: int = 180, name: str = "main") -> Study:
    """A study of one published table."""
    return Study(confusion=(Confusion(set=name, tp=tp, fp=fp, fn=fn, tn=tn),))


def judged(study: Study, *endpoints: dict[str, Any], **groups: Any) -> list[Verdict]:
    """The verdicts on endpoints that the manifest says were fixed in advance."""
    declared = {"study": FIXED, **groups}
    return list(assess(study, plan(endpoints=endpoints, **declared)).verdicts)


def words(found: list[Verdict]) -> list[str]:
    return [v.word for v in found]


# ---------------------------------------------------------------- one interval, one bound


@pytest.mark.parametrize(
    "low, high, bound, word",
    [
        (0.91, 0.97, Bound(low=0.9), "pass"),
        (0.85, 0.97, Bound(low=0.9), "inconclusive"),
        (0.80, 0.89, Bound(low=0.9), "fail"),
        (0.90, 0.97, Bound(low=0.9), "inconclusive"),  # the interval contains the bound
        (0.01, 0.04, Bound(high=0.05), "pass"),
        (0.01, 0.06, Bound(high=0.05), "inconclusive"),
        (0.06, 0.09, Bound(high=0.05), "fail"),
        (-0.03, 0.04, Bound(-0.05, 0.05), "pass"),
        (-0.03, 0.06, Bound(-0.05, 0.05), "inconclusive"),
        (-0.10, 0.10, Bound(-0.05, 0.05), "inconclusive"),
        (0.06, 0.10, Bound(-0.05, 0.05), "fail"),
        (-0.10, -0.06, Bound(-0.05, 0.05), "fail"),
        (2.0, float("inf"), Bound(low=1.5), "pass"),
    ],
)
def test_an_interval_against_a_bound(low: float, high: float, bound: Bound, word: str) -> None:
    assert compare_with_bound(low, high, bound) == word


@given(st.floats(-1, 1), st.floats(0.001, 1), st.floats(-1, 1))
def test_turning_the_axis_turns_nothing_else(low: float, width: float, bound: float) -> None:
    high = low + width
    assert compare_with_bound(low, high, Bound(low=bound)) == compare_with_bound(
        -high, -low, Bound(high=-bound)
    )
    swapped = {"pass": "fail", "fail": "pass"}
    word = compare_with_bound(low, high, Bound(low=bound))
    assert compare_with_bound(low, high, Bound(high=bound)) == swapped.get(word, word)


@pytest.mark.parametrize(
    "declared, bound",
    [
        ({"measure": SENSITIVITY, "hypothesis": "performance goal", "bound_or_margin": 0.9}, Bound(low=0.9)),
        (
            {
                "measure": "pragmatic_utility.error_rate",
                "hypothesis": "performance goal",
                "bound_or_margin": 0.2,
            },
            Bound(high=0.2),
        ),
        (
            {
                "measure": "advice_value.oe_ratio",
                "hypothesis": "performance goal",
                "bound_or_margin": [0.8, 1.2],
            },
            Bound(0.8, 1.2),
        ),
        (
            {"measure": "decision_benefit.mean_benefit", "of": "auc", "hypothesis": "superiority"},
            Bound(low=0.0),
        ),
        (
            {"measure": "decision_benefit.mean_benefit", "of": "error_rate", "hypothesis": "superiority"},
            Bound(high=0.0),
        ),
        ({"measure": "pragmatic_utility.odds_ratio", "hypothesis": "superiority"}, Bound(high=1.0)),
        (
            {
                "measure": "decision_benefit.mean_benefit",
                "of": "auc",
                "hypothesis": "non-inferiority",
                "bound_or_margin": 0.05,
            },
            Bound(low=-0.05),
        ),
        (
            {
                "measure": "decision_benefit.mean_seconds",
                "hypothesis": "non-inferiority",
                "bound_or_margin": 10,
            },
            Bound(high=10),
        ),
        (
            {"measure": "pragmatic_utility.rr", "hypothesis": "non-inferiority", "bound_or_margin": 1.25},
            Bound(high=1.25),
        ),
        (
            {"measure": "candidates.auc_difference", "hypothesis": "equivalence", "bound_or_margin": 0.05},
            Bound(-0.05, 0.05),
        ),
        (
            {"measure": "pragmatic_utility.rr", "hypothesis": "equivalence", "bound_or_margin": 1.25},
            Bound(0.8, 1.25),
        ),
        (
            {"measure": SENSITIVITY, "hypothesis": "non-inferiority", "bound_or_margin": 0.05},
            criteria.NO_COMPARISON,
        ),
        (
            {
                "measure": "decision_benefit.mean_benefit",
                "of": "auc",
                "hypothesis": "non-inferiority",
                "bound_or_margin": -0.05,
            },
            criteria.NEGATIVE,
        ),
        (
            {"measure": "pragmatic_utility.rr", "hypothesis": "non-inferiority", "bound_or_margin": 0.1},
            criteria.RATIO_MARGIN,
        ),
        (
            {
                "measure": "vigilance.period_change",
                "of": "missed_rate",
                "hypothesis": "non-inferiority",
                "bound_or_margin": 0.02,
            },
            Bound(high=0.02),
        ),
        ({"measure": SENSITIVITY, "bound_or_margin": 0.9}, criteria.NO_HYPOTHESIS),
        ({"measure": SENSITIVITY, "hypothesis": "performance goal"}, criteria.NO_MARGIN),
        (
            {
                "measure": "advice_accuracy.prevalence",
                "hypothesis": "performance goal",
                "bound_or_margin": 0.1,
            },
            criteria.NO_BETTER_SIDE,
        ),
        (
            {
                "measure": "advice_value.calibration_slope",
                "hypothesis": "performance goal",
                "bound_or_margin": 0.9,
            },
            criteria.ONE_BOUND,
        ),
        (
            {
                "measure": "candidates.auc_difference",
                "hypothesis": "superiority",
                "bound_or_margin": -0.01,
            },
            criteria.WORSE_SIDE,
        ),
        (
            {"measure": "candidates.auc_difference", "hypothesis": "equivalence", "bound_or_margin": 1},
            criteria.BEYOND_RANGE,
        ),
        (
            {"measure": SENSITIVITY, "hypothesis": "performance goal", "bound_or_margin": 90},
            criteria.BEYOND_RANGE,
        ),
    ],
)
def test_where_the_bound_lies(declared: dict[str, Any], bound: Bound | str) -> None:
    found = bound_of(Endpoint.model_validate({"endpoint": "E", **declared}))
    if isinstance(bound, str) or isinstance(found, str):
        assert found == bound
    else:
        assert found.low == bound.low
        assert found.high == (None if bound.high is None else pytest.approx(bound.high))


@pytest.mark.parametrize(
    "hypothesis, alpha, sides, level",
    [
        ("superiority", 0.025, None, 0.95),
        ("superiority", 0.05, 2, 0.95),
        ("non-inferiority", 0.05, None, 0.90),
        ("performance goal", 0.01, None, 0.98),
        ("equivalence", 0.05, None, 0.90),
    ],
)
def test_the_level_that_the_rule_needs(
    hypothesis: str, alpha: float, sides: int | None, level: float
) -> None:
    criterion = Endpoint.model_validate({"endpoint": "E", "hypothesis": hypothesis, "sides": sides})
    assert level_of(criterion, alpha) == level


# ---------------------------------------------------------------- on the results of a report


def test_the_verdict_rests_on_the_primary_entry_at_the_level_needed() -> None:
    (found,) = judged(table(), goal("found", 0.8))
    e = wilson(90, 100)
    assert (found.word, found.level) == ("pass", 0.95)
    assert found.result is not None
    assert (found.result.estimate.low, found.result.estimate.high) == pytest.approx((e.low, e.high))
    said = EN(found.reason)
    assert said == (
        "Met: sensitivity (main) was 90.0% (95% CI 82.6% to 94.5%); the whole interval is above the "
        "pre-specified 80%."
    )


def test_another_level_is_computed_anew() -> None:
    # Wilson at 99%: 0.796 to 0.954, so that the same bound is met at 95% and not at 99%
    e = wilson(90, 100, 0.99)
    (wide,) = judged(table(), goal("found", 0.8, alpha=0.005))
    assert wide.word == "inconclusive"
    assert wide.result is not None
    assert (wide.result.estimate.low, wide.result.estimate.level) == pytest.approx((e.low, 0.99))


def test_how_many_more_cases_would_decide() -> None:
    (found,) = judged(table(85, 15), goal("found", 0.8))
    e = wilson(85, 100)
    assert found.word == "inconclusive"
    assert found.n_needed == int(100 * ((0.85 - e.low) / 0.05) ** 2) + 1
    assert "cases with the condition would be needed" in EN(found.reason)
    planned = {"sensitivity": {"max_ci_half_width": 0.03}}
    (target,) = judged(table(85, 15), goal("found", 0.8), precision_targets=planned)
    assert target.n_needed == pytest.approx(100 * ((e.high - e.low) / 2 / 0.03) ** 2, abs=1)
    assert "for the planned precision" in EN(target.reason)
    (wrong_side,) = judged(table(78, 22), goal("found", 0.8))
    assert (wrong_side.word, wrong_side.n_needed) == ("inconclusive", None)


def test_estimation_gets_no_verdict() -> None:
    assert not judged(table(), {"endpoint": "seen", "measure": SENSITIVITY, "hypothesis": "estimation"})


@pytest.mark.parametrize(
    "endpoint, said",
    [
        (
            goal("E", 0.8, measure="advice_accuracy.sensitivty"),
            "no result for the measure advice_accuracy.sensitivty.",
        ),
        (goal("E", 0.8, set="other"), "advice_accuracy.sensitivity with the data, candidate"),
        (goal("E", 0.8, measure=None), "does not name a measure"),
        (goal("E", 0.8, hypothesis=None), "No hypothesis is declared"),
        (goal("E", None), "No bound or margin is declared"),
        (goal("E", 0.8, alpha=0.6), "interval of that level cannot support a verdict"),
    ],
)
def test_what_cannot_be_assessed_says_why(endpoint: dict[str, Any], said: str) -> None:
    (one,) = judged(table(), endpoint)
    assert one.word == "not assessable"
    assert said in EN(one.reason)


def test_several_sets_have_to_be_told_apart() -> None:
    two = Study(confusion=(*table().confusion, *table(50, 50, name="second").confusion))
    ambiguous, named = judged(two, goal("any", 0.8), goal("second", 0.8, set="second"))
    assert ambiguous.word == "not assessable"
    assert "main" in EN(ambiguous.reason)
    assert "second" in EN(ambiguous.reason)
    assert named.word == "fail"


# ---------------------------------------------------------------- families


def named_family(rule: str, *bounds: float, **more: Any) -> list[str]:
    endpoints = [goal(f"E{i}", bound, multiplicity_family="F") for i, bound in enumerate(bounds)]
    return words(judged(table(), *endpoints, families=[{"family": "F", "rule": rule, **more}]))


def test_bonferroni_widens_every_interval() -> None:
    # one-sided .025 / 2: 97.5% Wilson of 90/100 is 0.814 to 0.949; alone 0.826 to 0.945
    assert named_family("none", 0.82, 0.7) == ["pass", "pass"]
    assert named_family("bonferroni", 0.82, 0.7) == ["inconclusive", "pass"]
    low = wilson(90, 100, 0.975).low
    assert 0.81 < low < 0.82


def test_holm_steps_down() -> None:
    # 0.7 passes at alpha/2 and leaves; 0.82 is then held at the whole alpha, and passes
    assert named_family("holm", 0.82, 0.7) == ["pass", "pass"]
    # nothing passes at alpha/2, so that what would pass alone stays open
    assert named_family("holm", 0.82, 0.83) == ["inconclusive", "inconclusive"]


def test_holm_agrees_with_adjusted_p_values() -> None:
    from trustreport.measures.association import holm

    rng = np.random.default_rng(8)
    for _ in range(20):
        bounds = [float(b) for b in rng.uniform(0.72, 0.88, 3)]
        # the p of the score test, which the Wilson interval inverts
        z = [(0.9 - b) / (b * (1 - b) / 100) ** 0.5 for b in bounds]
        from scipy.stats import norm

        rejected = holm(norm.sf(z)) < 0.025
        assert [w == "pass" for w in named_family("holm", *bounds)] == rejected.tolist(), bounds


def test_behind_an_unpassed_one_nothing_is_tested() -> None:
    assert named_family("fixed sequence", 0.7, 0.85, 0.5) == ["pass", "inconclusive", "not tested"]
    by_name = [goal(f"E{i}", b, multiplicity_family="fixed sequence") for i, b in enumerate((0.95, 0.5))]
    found = judged(table(), *by_name)
    assert words(found) == ["fail", "not tested"]
    assert "“E0”, which precedes it in the fixed sequence, did not pass" in EN(found[1].reason)


def test_co_primary_criteria_are_met_together_or_not() -> None:
    endpoints = [goal(f"E{i}", b, multiplicity_family="co-primary") for i, b in enumerate((0.7, 0.85))]
    found = judged(table(), *endpoints)
    assert words(found) == ["pass", "inconclusive"]
    assert [v.family.met for v in found if v.family] == [False, False]
    met = judged(table(), *(replace_bound(e, 0.7) for e in endpoints))
    assert [v.family.met for v in met if v.family] == [True, True]


def replace_bound(endpoint: dict[str, Any], bound: float) -> dict[str, Any]:
    return {**endpoint, "bound_or_margin": bound}


def test_the_name_of_a_family_may_say_its_rule() -> None:
    names = ("Holm, main", "none", "none", "co-primary", "main", "Hochberg, side")
    declared = plan(endpoints=[goal(f"E{i}", 0.8, multiplicity_family=n) for i, n in enumerate(names)])
    assert [(f.name, f.rule, len(f.members)) for f in families(declared)] == [
        ("Holm, main", "holm", 1),
        ("", None, 1),
        ("", None, 1),
        ("co-primary", "co-primary", 1),
        ("main", None, 1),
        ("Hochberg, side", "hochberg", 1),
    ]


# ---------------------------------------------------------------- what withholds a verdict


def outcome(check: str, dimension: str, place: Place, *quantities: str) -> CheckOutcome:
    return CheckOutcome(check, dimension, "B", "fired", say(f"checks.{check}.title"), place, quantities)


def with_checks(*checks: CheckOutcome, bound: float = 0.8) -> list[str]:
    """Verdicts on two measures of one table, as these checks leave them."""
    endpoints = [goal("found", bound), {**goal("spared", 0.8), "measure": "advice_accuracy.specificity"}]
    declared = plan(endpoints=endpoints, study=FIXED)
    study = table()
    results = assess(study, declared).results

    def again(dimension: str, level: float) -> tuple[Result, ...]:
        return results

    return words(list(verdicts(study, declared, results, checks, again)))


def test_a_block_withholds_what_it_concerns_and_nothing_else() -> None:
    assert with_checks() == ["pass", "pass"]
    assert with_checks(outcome("P03", "advice_accuracy", Place(set="main"))) == ["not assessable"] * 2
    assert with_checks(outcome("P03", "advice_accuracy", Place(set="other"))) == ["pass", "pass"]
    # of the quantities that the outcome names and no others, whichever dimension looked
    of_errors = outcome("P22", "pragmatic_utility", Place(set="main"), "error_rate")
    assert with_checks(of_errors) == ["pass", "pass"]
    assert with_checks(replace(of_errors, quantities=())) == ["not assessable"] * 2
    # decisions at a threshold; what is undefined; what is looked at criterion by criterion
    assert with_checks(outcome("P33", "prespecification", Place(set="main"))) == ["not assessable"] * 2
    assert with_checks(outcome("P07", "advice_accuracy", Place(set="main"))) == ["pass", "pass"]
    assert with_checks(outcome("P34", "prespecification", Place(set="main"))) == ["pass", "pass"]
    of_one = outcome("P22", "pragmatic_utility", Place(set="main"), "sensitivity")
    assert with_checks(of_one) == ["not assessable", "pass"]
    of_a_group = outcome("P37", "subgroups", Place(set="main", subgroup="old"))
    assert with_checks(of_a_group) == ["pass", "pass"]
    assert with_checks(replace(of_one, severity="W")) == ["pass", "pass"]
    assert with_checks(replace(of_one, status="clear")) == ["pass", "pass"]


@pytest.mark.parametrize(
    ("bound", "alone", "too_few"),
    [(0.8, "pass", "pass"), (0.95, "fail", "fail"), (0.87, "inconclusive", "not assessable")],
)
def test_a_block_about_precision_withholds_what_is_inconclusive_only(
    bound: float, alone: str, too_few: str
) -> None:
    few = outcome("P39", "potential_robustness", Place(set="main"), "sensitivity")
    assert with_checks(bound=bound)[0] == alone
    assert with_checks(few, bound=bound)[0] == too_few
    other = outcome("P03", "advice_accuracy", Place(set="main"))
    assert with_checks(few, other, bound=bound)[0] == "not assessable", "it lifts no other block"


def test_the_block_is_named() -> None:
    endpoints = [goal("found", 0.8)]
    confusion = Confusion(set="main", tp=90, fn=10, fp=0, tn=0)  # no negatives: P04 and P07
    (found,) = judged(Study(confusion=(confusion,)), *endpoints)
    assert found.word == "not assessable"
    assert found.checks == ("P04",)
    assert "P04" in EN(found.reason)


# ---------------------------------------------------------------- all of them in a line


def test_the_line_counts_and_names_the_worst() -> None:
    found = judged(
        table(),
        goal("later", 0.95, role="secondary"),
        goal("first", 0.95, role="primary"),
        goal("open", 0.85),
        goal("good", 0.7),
    )
    assert counted(found) == {"fail": 2, "inconclusive": 1, "pass": 1}
    first = worst(found)
    assert first is not None
    assert first.criterion.endpoint == "first"
    assert worst(judged(table(), goal("good", 0.7))) is None


def test_every_quantity_has_a_name_and_no_effect_where_two_are_compared() -> None:
    for row in ROWS:
        assert f"quantity.{row.id}" in EN
        change = row if row.no_effect is not None else row.change()
        assert change.no_effect in (0.0, 0.5, 1.0)
        assert change.low <= change.no_effect <= change.high
        # a quantity with a best value is compared by how far it moved, which has no better side
        assert change.better == (row.better if row.target is None else change.no_effect)


def test_without_criteria_there_are_no_verdicts() -> None:
    assert (
        assess(table(), Plan.model_validate({"report": {"kind": "certification"}, "device": {}})).verdicts
        == ()
    )


# ---------------------------------------------------------------- edges


def test_a_limit_on_the_bound_is_on_neither_side() -> None:
    assert compare_with_bound(0.8, 0.9, Bound(low=0.9)) == "inconclusive"
    assert compare_with_bound(0.1, 0.2, Bound(high=0.1)) == "inconclusive"


NONINFERIOR = {"hypothesis": "non-inferiority", "bound_or_margin": 0.05}
# A change of an endpoint with its limits, what is asked of it, and how the verdict begins and ends.
LOSSES = [
    ("sensitivity", -0.041, -0.079, -0.003, NONINFERIOR, "inconclusive"),
    ("sensitivity", -0.020, -0.037, -0.003, NONINFERIOR, "pass"),
    ("sensitivity", -0.090, -0.120, -0.060, NONINFERIOR, "fail"),
    ("sensitivity", -0.090, -0.120, -0.060, {"hypothesis": "superiority"}, "fail"),
    (
        *("sensitivity", -0.020, -0.037, -0.003),
        {"hypothesis": "equivalence", "bound_or_margin": [-0.05, 0.04]},
        "pass",
    ),
    # More errors are worse, and the bound that a loss comes near is the upper one.
    (
        *("error_rate", 0.020, 0.003, 0.037),
        {"hypothesis": "equivalence", "bound_or_margin": [-0.04, 0.05]},
        "pass",
    ),
    ("error_rate", 0.041, 0.003, 0.079, NONINFERIOR, "inconclusive"),
]
BEGINS = {
    "pass": "Significantly worse, but met: mean change, ",
    "fail": "Significantly worse, and not met: mean change, ",
    "inconclusive": "Significantly worse, and inconclusive: mean change, ",
}


def verdict_on(endpoint: str, value: float, low: float, high: float, **declares: Any) -> Verdict:
    """The verdict on a change between two arms."""
    e = Estimate(value, low, high, 300, 0.95, "or_rrrc", se=0.01)
    of = {"endpoint": endpoint, "primary": True}
    result = Result("decision_benefit.mean_benefit", Place(arms=("aided", "unaided")), e, **of)
    asked = {"endpoint": "E", "measure": "decision_benefit.mean_benefit", "of": endpoint, "alpha": 0.025}
    declared = plan(endpoints=[asked | declares], study=FIXED)
    (found,) = verdicts(Study(), declared, (result,), (), lambda name, level: (result,))
    return found


@pytest.mark.parametrize("endpoint, value, low, high, declares, word", LOSSES)
def test_a_significant_loss_is_said_whatever_the_margin(
    endpoint: str, value: float, low: float, high: float, declares: dict[str, Any], word: str
) -> None:
    found = verdict_on(endpoint, value, low, high, **declares)
    assert (found.word, found.is_loss) == (word, True)
    assert EN(found.reason).startswith(BEGINS[word])


def test_a_loss_is_said_with_no_effect_and_the_bound() -> None:
    said = [EN(verdict_on(*change, **declares).reason) for *change, declares, _ in LOSSES]
    worse = "the whole interval is on the unfavourable side of"
    assert said[0] == (
        f"{BEGINS['inconclusive']}sensitivity (aided versus unaided) was −4.1 points (95% CI −7.9 to −0.3 "
        f"points); {worse} no effect (0 points), and it includes the pre-specified −5 points."
    )
    assert said[1].endswith("is between the pre-specified −5 points and no effect (0 points).")
    assert said[2].endswith(f"{worse} the pre-specified −5 points.")
    assert said[3].endswith(f"{worse} the pre-specified 0 points.")
    assert said[5].endswith("is between the pre-specified 5 points and no effect (0 points).")
    # A limit that is close to no effect is written on the side on which it is.
    assert "to −0.01 points)" in EN(verdict_on("sensitivity", -0.02, -0.04, -0.0001, **NONINFERIOR).reason)


def test_no_loss_is_said_where_none_was_shown() -> None:
    for change in (("sensitivity", -0.02, -0.04, 0.0), ("error_rate", -0.02, -0.04, -0.01)):
        found = verdict_on(*change, **NONINFERIOR)
        assert not found.is_loss
        assert EN(found.reason).startswith("Met: ")
    # A loss that was asked for, and is too small, is no more than outside the bounds.
    goal = {"hypothesis": "performance goal", "bound_or_margin": [-0.1, -0.05]}
    assert EN(verdict_on("sensitivity", -0.02, -0.03, -0.01, **goal).reason).startswith("Not met: ")


def test_a_significant_loss_is_looked_at_first() -> None:
    def verdict_of(word: str, value: float) -> Verdict:
        e = Estimate(value, value - 0.01, value + 0.01, 300)
        result = Result("pragmatic_utility.arr", Place(arms=("aided", "unaided")), e)
        return Verdict(Endpoint(endpoint=word, role="safety"), word, say("verdicts.none"), result)

    lost = replace(verdict_of("pass", -0.02), criterion=Endpoint(endpoint="E", role="exploratory"))
    assert worst([verdict_of("fail", 0.02), lost]) is lost
    assert worst([lost, verdict_of("fail", -0.02)]) is not lost
    assert worst([verdict_of("pass", 0.02)]) is None
    # What was withheld says nothing of a loss.
    assert not verdict_of("not assessable", -0.02).is_loss


def test_the_worst_verdict_is_none_that_passes() -> None:
    passed, failed = judged(table(), goal("met", 0.5), goal("missed", 0.99))
    assert words([passed, failed]) == ["pass", "fail"]
    assert worst([passed]) is None
    assert worst([passed, failed]) is failed
    assert passed.family is None  # a criterion alone is no family


@pytest.mark.parametrize("at, said", [(("B", "A"), ("B", "A")), (None, ("C", ""))])
def test_the_sides_of_a_result_that_names_them(at: tuple[str, str] | None, said: tuple[str, str]) -> None:
    place = Place(candidates=at) if at else Place(candidate="C")
    criterion = SimpleNamespace(candidate=None, arm_or_contrast=None)
    verdict: Any = SimpleNamespace(criterion=criterion, result=SimpleNamespace(place=place))
    assert sides(verdict, ("A", "B", "C")) == said


def test_candidates_of_a_place() -> None:
    assert _candidates(Place(candidate="A")) == {"A"}
    assert _candidates(Place(candidates=("A", "B"))) == {"A", "B"}
    assert _candidates(Place()) == set()


def test_an_amount_has_its_unit_unless_another_follows() -> None:
    for written in BARE:
        row = Quantity("made_up", cast(Any, written))
        lead: Any = SimpleNamespace(unit=written, written=written, quantity=row, details={})
        assert amount(lead, 0.25).key == f"verdicts.amount.{written}"
        assert amount(lead, 0.25, bare=True).key == f"verdicts.amount.bare_{written}"


@pytest.mark.parametrize("at, meant", [(("B", "A"), True), (("A", "B"), False), (None, False)])
def test_a_criterion_on_two_candidates_is_of_both_in_their_order(
    at: tuple[str, str] | None, meant: bool
) -> None:
    criterion = Endpoint(endpoint="gain", measure="advice_accuracy.auc_difference", candidate=("B", "A"))
    result: Any = SimpleNamespace(place=Place(candidates=at), endpoint="auc", parameters={})
    assert _has_scope_of(criterion, result) is meant
