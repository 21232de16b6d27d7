"""What a block withholds: every verdict that rests on the data it names, in all dimensions, and no other."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.sound import Manifest, Rows, assessed, goal, sound_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.checks import CHECKS
from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.verdicts.entries import blocking, concerns
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result

CRITERIA = [
    goal("sensitivity", "advice_accuracy.sensitivity", 0.3, dataset="north"),
    goal("area", "advice_accuracy.auc", 0.6, dataset="north"),
    goal("brier", "advice_value.brier", 0.3, dataset="north"),
    goal("group", "subgroups.group_performance", 0.3, of="sensitivity", dataset="north", subgroup="sex: f"),
    goal("same group", "advice_accuracy.sensitivity", 0.3, dataset="north", subgroup={"sex": "f"}),
    goal(
        "group apart",
        "subgroups.subgroup_difference",
        0.5,
        of="sensitivity",
        dataset="north",
        subgroup="sex: f",
    )
    | {"hypothesis": "equivalence"},
    goal("pooled", "potential_robustness.pooled_performance", 0.3, of="sensitivity"),
    goal("pooled area", "potential_robustness.pooled_performance", 0.6, metric="auc"),
    goal("other set", "advice_accuracy.sensitivity", 0.3, dataset="south"),
    goal("period", "vigilance.period_value", 0.3, of="sensitivity", period="quarter"),
    goal("period as a set", "advice_accuracy.sensitivity", 0.3, dataset="quarter"),
    goal("change", "vigilance.period_change", 0.5, of="sensitivity", period="quarter", against="baseline")
    | {"hypothesis": "non-inferiority"},
    goal("gain", "decision_benefit.mean_benefit", 0.5, of="accuracy") | {"hypothesis": "non-inferiority"},
    goal("errors", "pragmatic_utility.arr", 0.5) | {"hypothesis": "non-inferiority"},
    goal("switches", "reliance.harmful_switch_rate", 0.9),
]
EVERY = {criterion["endpoint"] for criterion in CRITERIA}
READERS = {"gain", "errors", "switches"}
OF_NORTH = {"sensitivity", "area", "brier", "group", "same group", "group apart", "pooled", "pooled area"}
OF_PERIOD = {"period", "period as a set", "change"}
COUNTED = {"sensitivity", "group", "same group", "group apart", "pooled", "other set"} | OF_PERIOD


def withheld(assessment: Assessment, check: str) -> set[str]:
    return {v.criterion.endpoint for v in assessment.verdicts if check in v.checks}


def words(assessment: Assessment) -> dict[str, str]:
    return {v.criterion.endpoint: v.word for v in assessment.verdicts}


def test_nothing_is_withheld_where_nothing_is_wrong(tmp_path: Path) -> None:
    found = words(assessed(tmp_path, *sound_study(CRITERIA)))
    assert found == dict.fromkeys(EVERY, "pass")


# ---------------------------------------------------------------- from a fault in the data to the verdict


def of_set(rows: Rows, name: str) -> Rows:
    return [row for row in rows if row["dataset"] == name]


def excluded(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    manifest["datasets"][1]["exclusions"] = [{"reason": "blurred", "n": 4, "decided_before_results": False}]


def without_output(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    for row in of_set(scores, "north")[:5]:
        row["score"] = ""


def one_class(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    scores[:] = [row for row in scores if row["dataset"] != "north" or row["truth"] == "1"]


def shared_patients(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    for row in scores:
        row["patient"] = row["case"]
    of_set(scores, "north")[0]["patient"] = of_set(scores, "base")[0]["case"]


def copied_from_training(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    for row in scores:
        row["content_hash"] = row["case"]
    of_set(scores, "north")[0]["content_hash"] = of_set(scores, "base")[0]["case"]


def copied_within(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    for row in scores:
        row["content_hash"] = row["case"]
    first, second, *_ = of_set(scores, "north")
    second["content_hash"] = first["content_hash"]


def reference_includes_index(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    manifest["reference_standard"] = {"includes_index_result": True}


def reference_of_some(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    manifest["reference_standard"] = {"applied_to": "subset"}


def verified_by_decision(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    negative = [row for row in of_set(scores, "north") if float(row["score"]) < 0.5]
    for row in negative[::2]:
        row["truth"] = ""


def threshold_of_these_data(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    manifest["operating_point"] |= {
        "threshold_origin": "tuned on this data",
        "threshold_fixed_on": "2026-07-03",
    }


def two_versions(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    for i, row in enumerate(scores):
        row["version"] = "0.9" if row["dataset"] == "north" and i % 2 else "1.0"
    manifest["vigilance"]["versions_in_use"] = ["0.9", "1.0"]


def another_version(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    for row in scores:
        row["version"] = "2.0" if row["dataset"] == "north" else "1.0"


def another_version_read(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    manifest["arms"] = [
        {"arm": "aided", "aided": True, "software_version": "2.0"},
        {"arm": "unaided", "aided": False},
    ]


def young_cases(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    manifest["reference_standard"] = {"maturity_days": 30}
    manifest["vigilance"]["data_cut"] = "2026-06-30"
    for i, row in enumerate(of_set(scores, "quarter")):
        row["date"] = "2026-06-20" if i % 4 == 0 else "2026-04-10"


def no_baseline(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    manifest["vigilance"] = {"data_cut": "2026-06-30"}


def few_in_a_group(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    positives = [row for row in of_set(scores, "north") if row["truth"] == "1"]
    for i, row in enumerate(positives):
        row["sex"] = "f" if i < 4 else "m"


def few_cases(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    """Too few for the Brier score; the area needs fewer, what is counted has no such minimum.

    Only what the interval leaves open is withheld, so the bound lies within it.
    """
    scores[:] = [row for i, row in enumerate(scores) if row["dataset"] != "north" or i % 10 == 0]
    manifest["endpoints"] = [
        one | {"bound_or_margin": 0.05} if one["endpoint"] == "brier" else one for one in CRITERIA
    ]


def missing_by_class(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    readings[:] = [
        row
        for i, row in enumerate(readings)
        if not (row["arm"] == "aided" and row["truth"] == 1 and i % 3 == 0)
    ]


def clustered_readings_published(scores: Rows, readings: Rows, manifest: Manifest) -> None:
    published = {"unaided": (60, 140), "aided": (30, 170)}
    manifest["counts"] = [
        {"set": "paper", "arm": arm, "errors": errors, "correct": correct, "readers": 5, "cases": 40}
        for arm, (errors, correct) in published.items()
    ]
    of_paper = goal("published", "pragmatic_utility.arr", 0.5, set="paper")
    manifest["endpoints"] = [*CRITERIA, of_paper | {"hypothesis": "non-inferiority"}]


Fault = Callable[[Rows, Rows, Manifest], None]
FAULTS: list[tuple[str, Fault, set[str]]] = [
    ("P03", excluded, OF_NORTH),
    ("P03", without_output, OF_NORTH),
    ("P09", shared_patients, OF_NORTH),
    ("P10", copied_from_training, OF_NORTH),
    ("P61", copied_within, OF_NORTH),
    ("P12", reference_includes_index, EVERY),
    ("P13", reference_of_some, EVERY),
    ("P13", verified_by_decision, OF_NORTH),
    ("P33", threshold_of_these_data, COUNTED),
    ("P37", few_in_a_group, {"group", "same group", "group apart"}),
    ("P39", few_cases, {"brier"}),
    ("P48", two_versions, OF_NORTH),
    ("P49", another_version, OF_NORTH),
    ("P49", another_version_read, READERS),
    ("P53", young_cases, OF_PERIOD),
    ("P54", no_baseline, OF_PERIOD),
    ("P20", missing_by_class, READERS),
    ("P22", clustered_readings_published, {"published"}),
]


@pytest.mark.parametrize(
    ("check", "fault", "expected"), FAULTS, ids=[f"{c}-{f.__name__}" for c, f, _ in FAULTS]
)
def test_a_fault_withholds_what_rests_on_it(
    check: str, fault: Fault, expected: set[str], tmp_path: Path
) -> None:
    scores, readings, manifest = sound_study(CRITERIA)
    fault(scores, readings, manifest)
    assessment = assessed(tmp_path, scores, readings, manifest)
    assert withheld(assessment, check) == expected
    given = words(assessment)
    assert all(given[name] == "not assessable" for name in expected)
    assert all(given[name] != "not assessable" for name in EVERY - expected - lost(assessment))


def lost(assessment: Assessment) -> set[str]:
    """Criteria without an answer in these data, and those that another block withholds."""
    return {
        v.criterion.endpoint
        for v in assessment.verdicts
        if v.result is None or v.checks or no_number(v.result)
    }


def no_number(r: Result) -> bool:
    return not r.estimate.low < r.estimate.high


def test_one_class_withholds_all_of_its_set(tmp_path: Path) -> None:
    scores, readings, manifest = sound_study(CRITERIA)
    one_class(scores, readings, manifest)
    found = assessed(tmp_path, scores, readings, manifest)
    given = words(found)
    assert all(given[name] == "not assessable" for name in OF_NORTH)
    assert given["other set"] == given["period"] == given["gain"] == "pass"


# ---------------------------------------------------------------- every block, every dimension


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, ...]:
    return assessed(tmp_path_factory.mktemp("study"), *sound_study(CRITERIA)).results


ESTIMATE = Estimate(0.2, 0.1, 0.3, 100)
BLOCKS = [check for check in CHECKS if check.severity == "B"]
# Blocks on the criteria, or on the release of the report, not on a number.
OF_NO_NUMBER = ("P34", "P35", "P59")
PLACES: Mapping[str, tuple[Place, set[str]]] = {
    "set": (
        Place(dataset="north"),
        {"advice_accuracy", "advice_value", "potential_robustness", "subgroups"},
    ),
    "period": (
        Place(dataset="quarter", period="quarter"),
        {"advice_accuracy", "advice_value", "subgroups", "vigilance"},
    ),
    "task": (Place(task=""), {"pragmatic_utility", "decision_benefit", "reliance"}),
}


def fired(check: str, place: Place) -> CheckOutcome:
    return CheckOutcome(check, "vigilance", "B", "fired", say("checks.P12.clear"), place)


@pytest.mark.parametrize("check", BLOCKS, ids=lambda check: check.id)
@pytest.mark.parametrize("where", PLACES)
def test_a_block_reaches_every_dimension(check: Any, where: str, results: tuple[Result, ...]) -> None:
    place, dimensions = PLACES[where]
    outcome = fired(check.id, place)
    reached = [r for r in results if blocking(r, [outcome])]
    resting = [r for r in results if r.place.rests_on(place)]
    if check.id in OF_NO_NUMBER:
        assert not reached
        return
    assert set(map(id, reached)) <= set(map(id, resting))
    if check.id in ("P01", "P33"):
        assert reached == [r for r in resting if r.counts_decisions]
    elif check.id == "P16":
        assert reached == [r for r in resting if r.place.arms]
        assert bool(reached) == (where == "task")
    elif check.id == "P73":
        of_truth = [r for r in resting if r.quantity.claim == "accuracy"]
        assert reached == of_truth
        assert dimensions <= {r.dimension for r in reached}
    elif check.id not in ("P07", "P37", "P38", "P39"):
        assert reached == resting
        assert dimensions <= {r.dimension for r in reached}


def test_a_block_of_unknown_data_withholds_everything(results: tuple[Result, ...]) -> None:
    assert all(concerns(fired("P12", NOWHERE), r) for r in results)
    unplaced = [r for r in results if not r.place.data]
    assert all(concerns(fired("P12", Place(dataset="north")), r) for r in unplaced)


def test_an_unknown_check_withholds_everything_of_its_data(results: tuple[Result, ...]) -> None:
    outcome = fired("P99", Place(dataset="north"))
    assert all(concerns(outcome, r) == r.place.rests_on(outcome.place) for r in results)


def test_a_block_on_a_candidate_leaves_the_others_alone() -> None:
    alone, other = (
        Result("advice_accuracy.auc", Place(dataset="north", candidate=name), ESTIMATE) for name in "AB"
    )
    pair = Result("candidates.auc_difference", Place(dataset="north", candidates=("B", "A")), ESTIMATE)
    outcome = fired("P48", Place(dataset="north", candidate="A"))
    assert [concerns(outcome, r) for r in (alone, other, pair)] == [True, False, True]


def test_a_block_on_an_arm_leaves_the_other_alone() -> None:
    aided, unaided = (
        Result("pragmatic_utility.error_rate", Place(task="", arm=arm), ESTIMATE)
        for arm in ("aided", "unaided")
    )
    both = Result("pragmatic_utility.arr", Place(task="", arms=("aided", "unaided")), ESTIMATE)
    outcome = fired("P49", Place(task="", arm="aided"))
    assert [concerns(outcome, r) for r in (aided, unaided, both)] == [True, False, True]
