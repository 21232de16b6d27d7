"""Checks of what was fixed in advance: each fires where it should and is silent where it should be."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from studies import plan

from tests.dimensions.test_subgroups import SEX, counted
from trustreport.assessment.assess import assess
from trustreport.assessment.finding import CheckOutcome
from trustreport.study.plan import Confusion
from trustreport.study.study import Cases, Dataset, Labels, Scores, Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue()
GOAL = {
    "measure": "advice_accuracy.sensitivity",
    "hypothesis": "performance goal",
    "bound_or_margin": 0.8,
}


def scored(n: int = 200, name: str = "site", shift: float = 2.0, seed: int = 3) -> Dataset:
    """A data set of scores with one digit after the point, 0 to 100; its classes lie `shift` apart."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(n) % 4 == 0).astype(np.int8)
    score = np.round(100 / (1 + np.exp(-rng.normal(0, 1, n) - shift * (truth - 0.5))), 1)
    return Dataset(name, "external", Cases(Labels(n=n), truth), {"": Scores(score)})


def best_threshold(dataset: Dataset) -> float:
    """The score that gives the largest sensitivity plus specificity, counted one by one."""
    score, truth = dataset.scores[""].score, dataset.cases.truth == 1
    assert score is not None
    sums = {t: (score[truth] >= t).mean() + (score[~truth] < t).mean() for t in np.unique(score)}
    return float(max(sums, key=lambda t: sums[t]))


def outcomes_of(check: str, data: Study, /, **groups: Any) -> list[CheckOutcome]:
    """The outcomes of one check."""
    return [o for o in assess(data, plan(**groups)).checks if o.check == check]


def said(outcomes: list[CheckOutcome]) -> str:
    return " ".join(EN(o.message) for o in outcomes if o.status == "fired")


# ---------------------------------------------------------------- P33


def test_p33_a_threshold_declared_as_tuned_here_fires() -> None:
    point = {"threshold": 50, "threshold_origin": "tuned on this data"}
    found = outcomes_of("P33", Study(datasets=(scored(),)), operating_point=point)
    assert [(o.status, dict(o.scope)) for o in found] == [("fired", {"dataset": "site"})]
    assert "tuned on this data" in said(found)


def test_p33_the_best_threshold_of_these_data_fires() -> None:
    dataset = scored()
    best = best_threshold(dataset)
    study = Study(datasets=(dataset,))
    assert "Youden" in said(outcomes_of("P33", study, operating_point={"threshold": best}))
    assert [o.status for o in outcomes_of("P33", study, operating_point={"threshold": best + 15})] == [
        "clear"
    ]


def dated(score: float, fixed: str = "2026-01-01", opened: str = "2026-02-01", **more: Any) -> dict[str, Any]:
    """A threshold that is declared as fixed on a day, and data that are declared as opened on another."""
    point = {"threshold": score, "threshold_fixed_on": fixed, **more}
    return {"operating_point": point, "study": {"data_opened_at": opened}}


def test_p33_an_earlier_date_clears_a_threshold_near_the_best() -> None:
    study = Study(datasets=(scored(),))
    # One step from the best, or a round number beside it, may be what was fixed elsewhere.
    best = best_threshold(scored())
    values = np.unique(scored().scores[""].score)
    beside = float(values[np.searchsorted(values, best) + 1])
    for near in (beside, round(best / 5) * 5.0):
        assert [o.status for o in outcomes_of("P33", study, **dated(near))] == ["clear"]
    assert [o.status for o in outcomes_of("P33", study, operating_point={"threshold": beside})] == ["fired"]


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("halfway", [False, True])
def test_p33_exactly_the_best_threshold_speaks_against_an_early_date(lower: bool, halfway: bool) -> None:
    dataset = scored(600)
    best = best_threshold(dataset)
    score = dataset.scores[""].score
    assert score is not None
    if halfway:
        best = round((best + score[score < best].max()) / 2, 3)
    if lower:
        best, turned = 100 - best, Scores(np.round(100 - score, 1))
        dataset = Dataset(dataset.name, dataset.role, dataset.cases, {"": turned})
    direction = {"score_direction": "lower_is_positive"} if lower else {}
    study = Study(datasets=(dataset,))
    found = outcomes_of("P33", study, **dated(round(best, 3), **direction))
    assert "to the last digit" in said(found)
    assert not said(outcomes_of("P33", study, **dated(round(best, 3) + 11.1, **direction)))


def test_p33_of_separated_scores_a_threshold_between_them_says_nothing() -> None:
    """Every number of the gap is the best one: only the ends and the middle of it are read off the data."""
    n = 200
    truth = (np.arange(n) % 2).astype(np.int8)
    score = np.where(truth == 1, 0.7123, 0.1) + np.round(np.arange(n) / n / 10, 4)
    dataset = Dataset("site", "external", Cases(Labels(n=n), truth), {"": Scores(np.round(score, 4))})
    study = Study(datasets=(dataset,))
    for sound in (0.5, 0.45, 0.3817, 0.7):
        assert [o.status for o in outcomes_of("P33", study, **dated(sound))] == ["clear"], sound
    least = float(dataset.scores[""].score[truth == 1].min())
    assert "to the last digit" in said(outcomes_of("P33", study, **dated(least)))


@pytest.mark.parametrize(
    ("fixed", "start", "opened", "key"),
    [
        ("2026-01-31", None, "2026-02-01", ""),
        ("2026-02-02", None, "2026-02-01", "after the data could be seen"),
        ("2026-02-01", None, "2026-02-01", ""),  # the same day says nothing
        # Retrospective cases are older than the threshold, and were opened after it.
        ("2026-01-15", "2020-01-01", "2026-02-01", ""),
        # Cases that did not exist yet could not be seen.
        ("2026-03-01", "2026-04-01", "2026-02-01", ""),
        ("2026-04-02", "2026-04-01", "2026-02-01", "after the data could be seen"),
        ("2020-01-02", "2020-01-01", None, "after the data set had begun"),
        ("2019-12-31", "2020-01-01", None, ""),
    ],
)
def test_p33_a_threshold_fixed_after_the_data_could_be_seen_fires(
    fixed: str, start: str | None, opened: str | None, key: str
) -> None:
    groups: dict[str, Any] = {"operating_point": {"threshold": 80, "threshold_fixed_on": fixed}}
    groups["datasets"] = [{"dataset": "site", "role": "external", "start_date": start}]
    groups["study"] = {"data_opened_at": opened}
    found = outcomes_of("P33", Study(datasets=(scored(),)), **groups)
    assert [o.status for o in found] == ["fired" if key else "clear"]
    assert key in said(found)


def test_p33_published_figures_of_a_threshold_fixed_late_fire_too() -> None:
    study = Study(confusion=(Confusion(set="main", tp=9, fp=1, fn=1, tn=9),))
    assert "after the data could be seen" in said(outcomes_of("P33", study, **dated(0.5, fixed="2026-03-01")))
    assert not said(outcomes_of("P33", study, **dated(0.5)))


@pytest.mark.parametrize(
    ("point", "fired"),
    [
        ({"threshold_origin": "Highest Youden index in the external validation cohort"}, ["site", "other"]),
        ({"threshold_origin": "best accuracy in other"}, ["other"]),
        ({"threshold_origin": "Fixed on the tuning set before the test set was opened"}, []),
        ({"threshold_chosen_on": "test data"}, ["site", "other"]),
        ({"threshold_chosen_on": "other"}, ["other"]),
        ({"threshold_chosen_on": "made"}, []),
        ({"threshold_chosen_on": "internal test"}, []),  # there is none
        ({"threshold_chosen_on": "tuning", "threshold_origin": "as the test set has it"}, []),
        ({"threshold_origin": "Youden's J on the internal test set"}, []),
    ],
)
def test_p33_the_declared_origin_is_that_of_the_sets_it_names(
    point: dict[str, str], fired: list[str]
) -> None:
    made = dataclasses.replace(scored(name="made"), role="tuning")
    study = Study(datasets=(made, scored(), scored(name="other", seed=8)))
    found = outcomes_of("P33", study, operating_point={"threshold": 80, **point})
    assert [o.place.dataset for o in found if o.status == "fired"] == fired


def test_p33_the_internal_test_set_tests_the_threshold_where_it_is_one_of_the_study() -> None:
    inside = dataclasses.replace(scored(name="inside"), role="internal test")
    study = Study(datasets=(inside, scored()))
    for point in (
        {"threshold_chosen_on": "internal test"},
        {"threshold_origin": "best on the internal test set"},
    ):
        found = outcomes_of("P33", study, operating_point={"threshold": 80, **point})
        assert [o.place.dataset for o in found if o.status == "fired"] == ["inside"]


def test_p33_cannot_tell_of_few_different_scores() -> None:
    truth = (np.arange(60) % 2).astype(np.int8)
    score = (np.arange(60) % 5).astype(float)
    study = Study(datasets=(Dataset("site", "external", Cases(Labels(n=60), truth), {"": Scores(score)}),))
    assert [o.status for o in outcomes_of("P33", study, operating_point={"threshold": 2})] == ["cannot run"]
    limited = outcomes_of("P33", study, operating_point={"threshold": 2}, limits={"P33_values": 3})
    assert [o.status for o in limited] != ["cannot run"]


def test_p33_withholds_what_depends_on_the_threshold_and_nothing_else() -> None:
    endpoints = [
        {"endpoint": "found", **GOAL},
        {
            **GOAL,
            "endpoint": "ranked",
            "measure": "advice_accuracy.auc",
            "bound_or_margin": 0.5,
        },
    ]
    declared = plan(
        endpoints=endpoints,
        operating_point={"threshold": 50, "threshold_origin": "tuned on this data"},
        study={"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"},
    )
    found = {v.criterion.endpoint: v for v in assess(Study(datasets=(scored(),)), declared).verdicts}
    assert found["found"].checks == ("P33",)
    assert found["ranked"].word == "pass"


# ---------------------------------------------------------------- P34


def test_p34_a_primary_criterion_without_a_result_fires() -> None:
    study = Study(confusion=(Confusion(set="main", tp=9, fp=1, fn=1, tn=9),))
    absent = {**GOAL, "endpoint": "E", "role": "primary", "measure": "decision_benefit.mean_benefit"}
    assert "The primary criterion E uses a measure that this report does not contain" in said(
        outcomes_of("P34", study, endpoints=[absent])
    )
    present = {**GOAL, "endpoint": "E", "role": "primary"}
    assert [o.status for o in outcomes_of("P34", study, endpoints=[present])] == ["clear"]


def test_p34_the_best_of_several_sets_alone_fires() -> None:
    sets = (scored(name="good", shift=3.5), scored(name="poor", shift=0.5, seed=4))
    auc = {**GOAL, "endpoint": "E", "measure": "advice_accuracy.auc", "bound_or_margin": 0.75}
    study = Study(datasets=sets)
    found = outcomes_of("P34", study, endpoints=[{**auc, "dataset": "good"}])
    assert "the best of 2 external data sets; the bound was met in 1 of them" in said(found)
    both = [{**auc, "dataset": "good"}, {**auc, "endpoint": "F", "dataset": "poor"}]
    assert not said(outcomes_of("P34", study, endpoints=both))
    assert not said(outcomes_of("P34", study, endpoints=[{**auc, "dataset": "poor"}]))
    named = [{**auc, "arm_or_contrast": "good"}, {**auc, "endpoint": "F", "arm_or_contrast": "poor"}]
    assert said(outcomes_of("P34", study, endpoints=named[:1]))
    assert not said(outcomes_of("P34", study, endpoints=named))


def test_p34_a_range_is_met_within_both_of_its_ends() -> None:
    sets = (scored(name="within", shift=2.2), scored(name="above", shift=4.5, seed=4))
    auc = {**GOAL, "endpoint": "E", "measure": "advice_accuracy.auc", "bound_or_margin": [0.8, 0.99]}
    found = outcomes_of("P34", Study(datasets=sets), endpoints=[{**auc, "dataset": "within"}])
    assert "the best of 2 external data sets; the bound was met in 1 of them" in said(found)
    assert not said(outcomes_of("P34", Study(datasets=sets), endpoints=[{**auc, "dataset": "above"}]))


# ---------------------------------------------------------------- P35, P36


def test_p35_without_lock_fires_and_with_dates_does_not() -> None:
    study = Study(confusion=(Confusion(set="main", tp=9, fp=1, fn=1, tn=9),))
    endpoints = [{"endpoint": "E", **GOAL}]
    assert [o.status for o in outcomes_of("P35", study, endpoints=endpoints)] == ["fired"]
    dates = {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"}
    assert [o.status for o in outcomes_of("P35", study, endpoints=endpoints, study=dates)] == ["clear"]
    late = {"sap_locked_at": "2026-03-01", "data_opened_at": "2026-02-01"}
    assert "after the data were opened" in said(outcomes_of("P35", study, endpoints=endpoints, study=late))


@pytest.mark.parametrize(
    ("ended", "run", "fired"),
    [
        ("2025-12-30", None, True),
        ("2026-01-01", None, False),  # the same day
        ("2025-12-30", "2026-01-02", False),  # what the device said came later
        ("2025-12-30", "2025-12-31", True),
        (None, None, False),
    ],
)
def test_p35_criteria_fixed_when_all_data_were_there_are_a_warning(
    ended: str | None, run: str | None, fired: bool
) -> None:
    study = Study(confusion=(Confusion(set="main", tp=9, fp=1, fn=1, tn=9),))
    own = {
        "endpoints": [{"endpoint": "E", **GOAL}],
        "study": {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"},
        "datasets": [
            {"dataset": "main", "role": "external", **({"end_date": ended} if ended else {})},
            {"dataset": "made with", "role": "training"},
        ],
        "candidates": [{"candidate": "A", **({"run_date": run} if run else {})}],
    }
    (found,) = outcomes_of("P35", study, **own)
    assert (found.status, found.severity) == (("fired", "W") if fired else ("clear", found.severity))


def test_p35_does_not_run_where_only_estimates_are_asked() -> None:
    endpoints = [{"endpoint": "E", "hypothesis": "estimation", "measure": GOAL["measure"]}]
    assert [o.status for o in outcomes_of("P35", Study(), endpoints=endpoints)] == ["cannot run"]


def test_p36_a_family_without_a_rule_fires_and_one_with_a_rule_does_not() -> None:
    endpoints = [{"endpoint": f"E{i}", **GOAL, "multiplicity_family": "F"} for i in range(3)]
    assert "The 3 criteria of the family F are each tested at their own alpha" in said(
        outcomes_of("P36", Study(), endpoints=endpoints)
    )
    rule = [{"family": "F", "rule": "holm"}]
    assert [o.status for o in outcomes_of("P36", Study(), endpoints=endpoints, families=rule)] == ["clear"]


@pytest.mark.parametrize(("opens_when", "status"), [("any", "fired"), ("all", "clear")])
def test_p36_a_family_that_any_of_several_opens_adds_to_alpha(opens_when: str, status: str) -> None:
    endpoints = [{"endpoint": f"E{i}", **GOAL, "multiplicity_family": f"F{i % 3}"} for i in range(6)]
    families: list[dict[str, Any]] = [{"family": f"F{i}", "rule": "holm"} for i in range(3)]
    families[2] |= {"after": ["F0", "F1"], "opens_when": opens_when}
    found = outcomes_of("P36", Study(), endpoints=endpoints, families=families)
    assert {o.status for o in found} == {"clear", status}
    if status == "fired":
        whole = (
            "The family F2 is tested at its whole alpha as soon as one of the families “F0” and “F1” is met"
        )
        assert whole in said(found[-1:])
    families[2]["after"] = ["F0"]
    assert [o.status for o in outcomes_of("P36", Study(), endpoints=endpoints, families=families)] == [
        "clear"
    ] * 3


def test_p36_many_criteria_of_no_family_fire_and_one_does_not() -> None:
    endpoints = [{"endpoint": f"E{i}", **GOAL} for i in range(4)]
    assert "Four criteria belong to no family" in said(outcomes_of("P36", Study(), endpoints=endpoints))
    assert [o.status for o in outcomes_of("P36", Study(), endpoints=endpoints[:1])] == ["clear"]


def by_sex(**cells: tuple[int, int, int, int]) -> list[CheckOutcome]:
    return outcomes_of("P36", counted(**cells), subgroups=[SEX])


def test_p36_counts_groups_that_differ_before_adjustment_alone() -> None:
    # By hand, 32 of 50 against 45 of 54: z = 0.1933 / 0.0860 less the factor (103 / 104) ** 0.5, p 0.025; of
    # two planned comparisons by Holm 0.051. Of three further ones accuracy, p 0.035, has 0.10.
    found = by_sex(F=(32, 12, 18, 60), M=(45, 10, 9, 70))
    assert [(o.status, dict(o.scope)) for o in found] == [("fired", {"dataset": "site"})]
    assert said(found) == (
        "Two of 5 comparisons between groups are significant before Holm adjustment but not after it; "
        "exploratory: accuracy, female patients (p = 0.035; adjusted for 3 comparisons, p = 0.10); and "
        "sensitivity, female patients (p = 0.025; adjusted for 2 comparisons, p = 0.051)."
    )


def test_p36_is_clear_where_groups_differ_after_adjustment_or_not_at_all() -> None:
    assert [o.status for o in by_sex(F=(10, 12, 40, 60), M=(45, 10, 9, 70))] == ["clear"]
    assert [o.status for o in by_sex(F=(44, 12, 10, 68), M=(45, 10, 9, 70))] == ["clear"]
