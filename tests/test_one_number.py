"""One number has one primary estimate, whose p and interval agree: on the examples, and on drawn studies.

Every other assessment that a test makes in its own process obeys the same rule (`conftest.py`), so the
studies of tests/reference do too.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from tests.drawn import drawn_study
from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.one_number import contradictions, number
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import CUT, Result

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted(path.parent.name for path in ROOT.glob("examples/*/study.yaml"))
DRAWN, PARTS = 80, 8


def conflicts(assessment: Assessment) -> list[str]:
    """The primary entries that contradict each other, said."""
    found = contradictions(assessment.results, assessment.plan.operating_point.threshold)
    return [f"{r.id} {r.scope} {r.method} {r.estimate}" for pair in found.values() for r in pair]


def unclear(results: Iterable[Result]) -> list[str]:
    """Entries that have the same id, scope and method; questions that have no primary entry, or several."""
    entries: Counter[tuple[str, str, str]] = Counter()
    primary: Counter[tuple[str, str]] = Counter()
    for r in results:
        scope = {key: value for key, value in r.scope.items() if key != "analysis"}
        entries[r.id, json.dumps(r.scope, sort_keys=True, default=str), r.method] += 1
        primary[r.id, json.dumps(scope, sort_keys=True, default=str)] += r.primary
    twice = [f"{n} entries of {key}" for key, n in entries.items() if n > 1]
    return twice + [f"{n} primary entries of {key}" for key, n in primary.items() if n != 1]


def undecided(results: Iterable[Result]) -> list[str]:
    """Primary entries whose p and interval disagree about no difference; a margin has a p of its own."""
    said = []
    for r in results:
        e, row = r.estimate, r.quantity
        null = 0.5 if row.id == "auc" else row.no_effect if row.target is None else row.target
        if not r.primary or null is None or "margin" in r.parameters or isnan(e.p + e.low + e.high):
            continue
        if (e.p >= 1 - e.level) != (e.low <= null <= e.high):
            said.append(f"{r.id} {r.scope} {r.method}: p {e.p}, {e.low} to {e.high}")
    return said


def cut(results: Iterable[Result]) -> list[str]:
    """Primary entries whose interval was cut at the end of what is possible."""
    return [f"{r.id} {r.scope} {r.method}" for r in results if r.primary and CUT in r.estimate.note]


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_example_contradicts_itself(name: str, assessed_example: Callable[[str], Assessment]) -> None:
    assessment = assessed_example(name)
    assert not conflicts(assessment)
    assert not undecided(assessment.results)
    assert not cut(assessment.results)


# What was read under a protocol, and the entry that is the same number.
MEASURED = {
    ("protocol_performance", "reader_alone"): "arm_mean",
    ("protocol_performance", "assistance"): "arm_mean",
    ("protocol_difference", "assistance"): "mean_benefit",
    ("protocol_difference", "device_alone"): "ai_minus_readers",
}
OF_READERS = ("certification-dossier", "assisted-reading", "knee-mri-readings", "vigilance-audit")


@pytest.mark.parametrize("name", OF_READERS)
def test_a_protocol_that_was_read_is_its_arm(
    name: str, assessed_example: Callable[[str], Assessment]
) -> None:
    """Where readings are missing too: a change of 365 is not one of 363 in another table."""
    found = assessed_example(name)
    primary = [r for r in found.results if r.primary and r.dimension == "decision_benefit"]
    aided, unaided = found.plan.contrasts[0]
    places = {
        "reader_alone": {"arm": unaided},
        "assistance": {"arm": aided},
        "device_alone": {"arm": unaided},
    }
    for (quantity, protocol), known in MEASURED.items():
        change = protocol == "assistance" and quantity == "protocol_difference"
        for endpoint in ("sensitivity", "specificity"):
            one = [r for r in primary if r.name == quantity and r.place.protocol == protocol]
            (e,) = (r.estimate for r in one if r.endpoint == endpoint)
            place = Place(task="", **{"arms": (aided, unaided)} if change else places[protocol])
            of_arms = [r for r in primary if r.name == known and r.place == place]
            (same,) = (r.estimate for r in of_arms if r.endpoint == endpoint)
            ours, theirs = ((x.value, x.low, x.high, x.p, x.n) for x in (e, same))
            assert ours == pytest.approx(theirs, nan_ok=True)
            assert number(*(r for r in one if r.endpoint == endpoint)) in {number(r) for r in of_arms}


def adjusted_twice(results: Iterable[Result]) -> list[str]:
    """Comparisons of two groups of cases that are printed with two adjusted p-values.

    Known by what they are: what differs, by how much either way, of how many cases, with which p.
    """
    found: dict[tuple[object, ...], dict[str, float]] = {}
    for r in results:
        e = r.estimate
        if r.details.get("p_holm") is None or isnan(e.p):
            continue
        of = r.quantity.left_of or r.endpoint
        data = r.place.dataset or "".join(r.place.datasets)
        ends = sorted(f"{abs(x):.9f}" for x in (e.low, e.high))
        key = (of, data, r.place.candidate, r.place.arms, f"{abs(e.value):.9f}", *ends, e.n, f"{e.p:.9f}")
        found.setdefault(key, {})[f"{r.id} {r.scope}"] = r.details["p_holm"]
    return [str(one) for one in found.values() if max(one.values()) - min(one.values()) > 1e-9]


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_comparison_has_one_adjusted_p(name: str, assessed_example: Callable[[str], Assessment]) -> None:
    assert not adjusted_twice(assessed_example(name).results)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_drawn_study_contradicts_itself(part: int, tmp_path: Path) -> None:
    for seed in range(part, DRAWN, PARTS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        study, plan = read_study(drawn_study(seed, folder))
        assessment = assess(study, plan)
        results = assessment.results
        said = [*conflicts(assessment), *unclear(results), *undecided(results), *cut(results)]
        said += adjusted_twice(results)
        assert not said, f"seed {seed}: {said}"


def test_drawn_studies_hold_what_is_to_be_tried(tmp_path: Path) -> None:
    """Readings with gaps, clusters, failures, sites, periods and several candidates are all among them."""
    seen: set[str] = set()
    for seed in range(40):
        folder = tmp_path / str(seed)
        folder.mkdir()
        study, _ = read_study(drawn_study(seed, folder))
        seen |= {"gaps" for r in study.readings if len(r) < 2 * len(r.readers) * len(r.cases)}
        for d in study.datasets:
            several = any(s.status is not None for s in d.scores.values())
            seen |= {d.role, "candidates" if len(d.scores) > 1 else "", "failures" if several else ""}
            seen |= {"patients" if d.cases.patient is not None else "", "sites" if d.cases.site else ""}
    assert {"gaps", "patients", "failures", "sites", "period", "candidates", "external"} <= seen


SENSITIVITY = Estimate(0.8, 0.7, 0.9, 60, 0.95, "wilson", p=0.01)


def entry(id: str, place: Place, e: Estimate = SENSITIVITY, **more: object) -> Result:
    return Result(id, place, e, primary=True, cases="0123456789abcdef", **more)


def test_a_period_is_its_data_set() -> None:
    of_set = entry("advice_accuracy.sensitivity", Place(dataset="q1"))
    of_period = entry("vigilance.period_value", Place(dataset="q1", period="q1"), endpoint="sensitivity")
    assert number(of_set) == number(of_period)
    assert not contradictions([of_set, of_period])


@pytest.mark.parametrize("field", ["value", "low", "high", "p"])
def test_a_second_value_interval_or_p_is_found(field: str) -> None:
    other = replace(SENSITIVITY, **{field: 0.75})
    of_set = entry("advice_accuracy.sensitivity", Place(dataset="q1"))
    of_period = entry(
        "vigilance.period_value", Place(dataset="q1", period="q1"), other, endpoint="sensitivity"
    )
    assert list(contradictions([of_set, of_period]).values()) == [(of_set, of_period)]


def test_fewer_errors_are_more_right_decisions() -> None:
    place = Place(task="", arms=("aided", "unaided"))
    arr = entry("pragmatic_utility.arr", place)
    gain = entry("decision_benefit.mean_benefit", place, endpoint="accuracy")
    other = entry("decision_benefit.mean_benefit", place, endpoint="sensitivity")
    assert number(arr) == number(gain) != number(other)


def test_what_is_measured_counts_and_not_its_name() -> None:
    """A rate of errors, a protocol, a single set among several: one number under other names."""
    left, at = Estimate(0.2, 0.1, 0.3, 60, p=0.01), Place(task="", arm="aided")
    right = entry("decision_benefit.arm_mean", at, endpoint="accuracy")
    wrong = entry("pragmatic_utility.error_rate", at, left)
    assert number(right) == number(wrong)
    assert not contradictions([right, wrong])
    wider = entry("pragmatic_utility.error_rate", at, replace(left, high=0.31))
    assert list(contradictions([right, wider]).values()) == [(right, wider)]

    arms, id = Place(task="", arms=("aided", "unaided")), "decision_benefit.protocol_difference"
    change = entry("decision_benefit.mean_benefit", arms, endpoint="specificity")
    assisted = entry(id, arms.narrowed(protocol="assistance"), endpoint="specificity")
    second = entry(id, Place(task="", protocol="second_reader"), endpoint="specificity")
    assert number(change) == number(assisted) != number(second)

    women = Place(subgroup="sex: F")
    of_set = entry("subgroups.group_performance", women.narrowed(dataset="q1"), endpoint="sensitivity")
    of_pool = entry(
        "subgroups.crossed_rate",
        women.narrowed(datasets=("q1",)),
        left,
        endpoint="false_negative_rate",
        parameters={"groups": {"sex": "F"}},
    )
    assert number(of_set) == number(of_pool)
    assert not contradictions([of_set, of_pool])


def test_other_cases_choices_and_places_are_other_numbers() -> None:
    one = entry("advice_accuracy.ppv", Place(dataset="q1"))
    others = [
        entry("advice_accuracy.ppv", Place(dataset="q2")),
        entry("advice_accuracy.ppv", Place(dataset="q1", candidate="A")),
        entry("advice_accuracy.ppv", Place(dataset="q1"), parameters={"prevalence": 0.1}),
        Result("advice_accuracy.ppv", Place(dataset="q1"), SENSITIVITY, primary=True, cases="f" * 16),
    ]
    assert number(one) not in {number(other) for other in others}
    assert number(entry("advice_accuracy.ppv", Place(dataset="q1", threshold=0.5)), 0.5) == number(one)
