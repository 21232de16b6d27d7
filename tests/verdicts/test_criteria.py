"""What a criterion asks for: its entry, its bound by the direction of the quantity, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from tests.sound import Manifest, assessed, goal, sound_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.verdicts import Verdict
from trustreport.assessment.verdicts.judge import has_no_precision
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import note
from trustreport.study import criteria
from trustreport.study.criteria import Bound
from trustreport.study.plan import Endpoint, Plan
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.quantities import OF_ARMS, ROWS, quantity_of


def criterion(measure: str, hypothesis: str, bound: Any = None, **more: Any) -> Endpoint:
    given = {"endpoint": "c", "measure": measure, "hypothesis": hypothesis, "bound_or_margin": bound}
    return Endpoint.model_validate(given | more)


# ---------------------------------------------------------------- bounds


@pytest.mark.parametrize(
    ("measure", "of", "hypothesis", "bound", "expected"),
    [
        ("advice_accuracy.sensitivity", None, "performance goal", 0.8, Bound(low=0.8)),
        ("advice_value.brier", None, "performance goal", 0.2, Bound(high=0.2)),
        ("vigilance.period_value", "sensitivity", "performance goal", 0.8, Bound(low=0.8)),
        ("vigilance.period_value", "brier", "performance goal", 0.2, Bound(high=0.2)),
        ("vigilance.period_value", "failure_rate", "performance goal", 0.05, Bound(high=0.05)),
        ("vigilance.period_value", "oe_ratio", "performance goal", 0.8, criteria.ONE_BOUND),
        ("vigilance.period_value", "oe_ratio", "performance goal", [0.8, 1.25], Bound(0.8, 1.25)),
        ("advice_value.calibration_slope", None, "performance goal", 0.8, criteria.ONE_BOUND),
        ("advice_value.calibration_intercept", None, "superiority", -0.2, criteria.ONE_BOUND),
        ("potential_robustness.pooled_performance", "brier", "performance goal", 0.2, Bound(high=0.2)),
        ("potential_robustness.prediction_interval", "oe_ratio", "performance goal", 1.5, criteria.ONE_BOUND),
        ("potential_robustness.heterogeneity", "auc", "performance goal", 0.5, Bound(high=0.5)),
        ("vigilance.period_change", "sensitivity", "non-inferiority", 0.05, Bound(low=-0.05)),
        ("vigilance.period_change", "brier", "non-inferiority", 0.05, Bound(high=0.05)),
        ("vigilance.period_change", "oe_ratio", "non-inferiority", 0.1, criteria.NO_BETTER_SIDE),
        ("vigilance.period_change", "oe_ratio", "equivalence", 1.25, Bound(0.8, 1.25)),
        ("vigilance.period_change", "lr_positive", "non-inferiority", 1.25, Bound(low=0.8)),
        ("vigilance.period_change", "lr_negative", "non-inferiority", 1.25, Bound(high=1.25)),
        ("pragmatic_utility.odds_ratio", None, "non-inferiority", 1.25, Bound(high=1.25)),
        ("pragmatic_utility.odds_ratio", None, "non-inferiority", 0.9, criteria.RATIO_MARGIN),
        ("pragmatic_utility.rr", None, "superiority", None, Bound(high=1.0)),
        ("pragmatic_utility.rr", None, "superiority", 0.9, Bound(high=0.9)),
        ("pragmatic_utility.rr", None, "superiority", 1.1, criteria.WORSE_SIDE),
        ("pragmatic_utility.odds_ratio", None, "superiority", 3, criteria.WORSE_SIDE),
        ("decision_benefit.mean_benefit", "accuracy", "superiority", -0.3, criteria.WORSE_SIDE),
        ("decision_benefit.mean_benefit", "accuracy", "superiority", 0, Bound(low=0.0)),
        ("decision_benefit.mean_seconds", None, "superiority", 5, criteria.WORSE_SIDE),
        ("decision_benefit.mean_benefit", "accuracy", "non-inferiority", 1.0, criteria.BEYOND_RANGE),
        ("decision_benefit.mean_benefit", "accuracy", "equivalence", 1.0, criteria.BEYOND_RANGE),
        ("advice_accuracy.sensitivity", None, "performance goal", 1.2, criteria.BEYOND_RANGE),
        ("advice_accuracy.prevalence", None, "performance goal", 0.2, criteria.NO_BETTER_SIDE),
        ("advice_accuracy.auc", None, "non-inferiority", 0.05, criteria.NO_COMPARISON),
    ],
)
def test_the_bound_follows_from_the_quantity(
    measure: str, of: str | None, hypothesis: str, bound: Any, expected: Bound | str
) -> None:
    assert criteria.bound_of(criterion(measure, hypothesis, bound, of=of)) == expected


def test_time_of_one_arm_is_no_difference() -> None:
    of_arm = criterion("decision_benefit.mean_seconds", "performance goal", 30, arm_or_contrast="aided")
    assert criteria.bound_of(of_arm) == Bound(high=30)
    both = criterion("decision_benefit.mean_seconds", "superiority", arm_or_contrast=["aided", "unaided"])
    assert criteria.bound_of(both) == Bound(high=0.0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_change_keeps_the_better_side(row: Any) -> None:
    """Of every quantity: a ratio has no effect at 1, all else at 0, and what has a best value has no side."""
    if row.no_effect is not None:
        return
    change = row.change()
    assert change.no_effect == (1.0 if row.scale == "log" else 0.0)
    assert change.better == (change.no_effect if row.target is not None else row.better)
    assert change.low <= change.no_effect <= change.high
    again = quantity_of("period_change", row.id)
    change = quantity_of(row.same_as).change() if row.same_as else change
    assert (again.id, again.better) == (change.id, change.better)


def test_values_of_two_arms_are_differences() -> None:
    for name in OF_ARMS:
        one, both = (quantity_of(name, "percent_agreement", contrast=contrast) for contrast in (False, True))
        assert (one.no_effect, both.no_effect) == (None, 0.0)


# ---------------------------------------------------------------- what an interval has to show


@pytest.mark.parametrize(
    ("e", "nothing"),
    [
        (Estimate(1.0, 1.0, 1.0, 8), True),
        (Estimate(0.5, 0.2, 0.8, 8, se=0.0), True),
        (Estimate(0.5, 0.3, 0.3 + 1e-15, 8), True),  # the same 13 digits
        (Estimate(0.5, 0.4, 0.6, 8, note=note("no_variation_in_counts_interval_has")), False),
        (Estimate(1.0, 0.981, 1.0, 200), False),
        (Estimate(0.0, 0.0, 0.02, 200), False),
        (Estimate(0.5, 0.4, 0.6, 80, se=0.05), False),
    ],
)
def test_an_interval_without_width_is_no_evidence(e: Estimate, nothing: bool) -> None:
    assert has_no_precision(e) is nothing


# ---------------------------------------------------------------- refused when the study is read


def refusal(folder: Path, endpoint: dict[str, Any], **groups: Any) -> str:
    scores, readings, manifest = sound_study([endpoint])
    with pytest.raises(StudyError) as refused:
        assessed(folder, scores, readings, manifest | groups)
    return str(refused.value)


GAIN = {"endpoint": "gain", "measure": "decision_benefit.mean_benefit", "of": "accuracy"}


def test_what_no_result_can_miss_is_refused_with_its_place(tmp_path: Path) -> None:
    said = refusal(tmp_path, GAIN | {"hypothesis": "superiority", "bound_or_margin": -0.3})
    assert "column endpoints[0].bound_or_margin" in said
    assert 'superiority of "gain" has its bound at -0.3, on the worse side of no effect' in said
    assert "non-inferiority" in said  # how to fix it


def test_a_margin_beyond_the_range_is_refused(tmp_path: Path) -> None:
    said = refusal(tmp_path, GAIN | {"hypothesis": "non-inferiority", "bound_or_margin": 1.0})
    assert "within the range of accuracy_difference, -1 to 1" in said


@pytest.mark.parametrize("where", ["criterion", "family", "report"])
def test_a_large_alpha_is_refused(where: str, tmp_path: Path) -> None:
    criterion = GAIN | {"hypothesis": "superiority"}
    groups: Manifest = {}
    if where == "criterion":
        criterion |= {"alpha": 0.49}
    elif where == "family":
        criterion |= {"multiplicity_family": "main"}
        groups = {"families": [{"family": "main", "rule": "holm", "alpha": 0.2}]}
    else:
        groups = {"report": {"kind": "certification", "confidence_level": 0.6}}
    assert "at most 0.1" in refusal(tmp_path, criterion, **groups)


def test_a_fixed_sequence_has_one_alpha(tmp_path: Path) -> None:
    sequence = [
        GAIN | {"endpoint": "first", "hypothesis": "superiority", "alpha": 0.001},
        GAIN | {"endpoint": "second", "hypothesis": "superiority", "alpha": 0.1},
    ]
    of_family = [e | {"multiplicity_family": "fixed sequence"} for e in sequence]
    scores, readings, manifest = sound_study(of_family)
    with pytest.raises(StudyError, match=r"members of different alphas: 0\.001, 0\.1"):
        assessed(tmp_path, scores, readings, manifest)
    manifest["families"] = [{"family": "fixed sequence", "rule": "fixed sequence", "alpha": 0.01}]
    found = assessed(tmp_path, scores, readings, manifest)
    assert [v.alpha for v in found.verdicts] == [0.01, 0.01]


def test_one_sided_and_two_sided_members_share_an_alpha() -> None:
    """.05 two-sided is .025 one-sided."""
    plan = Plan.model_validate({"report": {"kind": "certification"}, "device": {}})
    one = criteria.resolved(criterion("m", "superiority", alpha=0.025), plan)
    two = criteria.resolved(criterion("m", "superiority", alpha=0.05, sides=2), plan)
    assert not criteria.unequal_alphas(criteria.FamilyOf("f", "fixed sequence", (one, two)))


# ---------------------------------------------------------------- warnings


def fired(found: Assessment, check: str) -> list[CheckOutcome]:
    return [outcome for outcome in found.checks if outcome.check == check and outcome.status == "fired"]


def test_a_lenient_alpha_and_a_missing_bound_warn(tmp_path: Path) -> None:
    slope = goal("slope", "advice_value.calibration_slope", 0.8, dataset="north") | {"alpha": 0.025}
    lenient = goal("found", "advice_accuracy.sensitivity", 0.3, dataset="north") | {"alpha": 0.08}
    found = assessed(tmp_path, *sound_study([slope, lenient]))
    by_name = {v.criterion.endpoint: v for v in found.verdicts}
    assert (by_name["slope"].word, by_name["slope"].reason.key) == (
        "not assessable",
        "verdicts.reason.one_bound",
    )
    assert by_name["found"].word == "pass"
    assert [outcome.severity for outcome in fired(found, "P62")] == ["W"]
    assert "lenient" in {outcome.message.key.rpartition(".")[2] for outcome in fired(found, "P36")}


# ---------------------------------------------------------------- which entry is meant


REACHED = {
    "ece": goal("", "advice_value.ece", 0.9, dataset="north", bins=10),
    "ece of other bins": goal("", "advice_value.gici", 0.01, dataset="north", bins=10),
    "pooled": goal("", "potential_robustness.pooled_performance", 0.3, metric="sensitivity"),
    "new site": goal("", "potential_robustness.prediction_interval", 0.01, metric="auc"),
    "sites alike": goal("", "potential_robustness.heterogeneity", 0.999, metric="specificity"),
    "since baseline": goal("", "vigilance.period_change", -0.9, of="sensitivity", against="baseline"),
    "set as a period": goal("", "advice_accuracy.sensitivity", 0.3, period="quarter"),
    "period as a set": goal("", "vigilance.period_value", 0.3, of="specificity", dataset="quarter"),
    "group by its measure": goal("", "advice_accuracy.specificity", 0.3, dataset="south", subgroup="sex: m"),
    "group as a pair": goal(
        "", "subgroups.group_performance", 0.3, of="auc", dataset="south", subgroup={"sex": "m"}
    ),
    "bare": goal("", "auc", 0.3, dataset="south"),
}


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    named = [one | {"endpoint": name} for name, one in REACHED.items()]
    found = assessed(tmp_path_factory.mktemp("reached"), *sound_study(named))
    return {v.criterion.endpoint: v for v in found.verdicts}


@pytest.mark.parametrize("name", REACHED)
def test_a_criterion_finds_its_entry(name: str, reached: dict[str, Verdict]) -> None:
    verdict = reached[name]
    assert verdict.result is not None, verdict.reason
    assert verdict.reason.key != "verdicts.reason.several"
    wanted = REACHED[name].get("of") or REACHED[name].get("metric")
    assert wanted is None or verdict.result.endpoint == wanted


def test_h_accuracy_is_reached_by_its_tau(reference: Path) -> None:
    from trustreport.api import assess, read_study

    study, plan = read_study(reference / "contract" / "h-accuracy")
    taus = {r.parameters["tau"] for r in assess(study, plan).results if r.name == "h_accuracy"}
    sets = sorted({d.name for d in study.datasets if d.scores})
    chosen = [
        criterion("advice_accuracy.h_accuracy", "performance goal", 0.01, dataset=sets[0], tau=tau)
        for tau in sorted(taus)
    ]
    declared = [c.model_copy(update={"endpoint": f"at {c.tau}"}) for c in chosen]
    found = assess(study, plan.model_copy(update={"endpoints": tuple(declared)})).verdicts
    assert {v.result.parameters["tau"] for v in found if v.result} == taus
