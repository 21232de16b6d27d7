"""In which order readers read the arms, and what is primary where more read in one order."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.studies import plan, readings
from trustreport.assessment.dimensions.decision_benefit import DIMENSION as BENEFIT
from trustreport.assessment.dimensions.pragmatic_utility import DIMENSION as UTILITY
from trustreport.assessment.dimensions.subgroups import DIMENSION as SUBGROUPS
from trustreport.assessment.performance.readers import compared_later
from trustreport.measures.mrmc import notes
from trustreport.study.study import Coded, Labels, Study
from trustreport.vocabulary.results import Result, leading

RNG = np.random.default_rng(4)
READERS, CASES = 8, 60
ARMS = ("aided", "unaided")
LATER = np.arange(READERS) > 0  # all but one read with the aid second
SHIFT = 0.1 * np.where(LATER, 1, -1)
CORRECT = RNG.random((2, READERS, CASES)) < 0.75 + np.stack([-SHIFT, SHIFT])[:, :, None]
SCORES = RNG.random(CORRECT.shape)
EVEN = np.arange(READERS) % 2 == 0


def crossed_over(later: Any = LATER, missing: NDArray[np.bool_] | None = None, **columns: Any) -> Study:
    """Readings in two sessions, with the aid in the second where `later` (n_readers, or and n_cases)."""
    study = readings(CORRECT, missing, scores=SCORES)
    one = study.readings[0]
    aided = np.broadcast_to(later[:, None] if later.ndim == 1 else later, CORRECT.shape[1:]).astype(float)
    session = np.stack([1 - aided, aided])[one.arm, one.reader, one.case]
    seconds = 60 + 10 * session + np.arange(len(one)) % 7
    columns = {"session": session, "sessions": ("1", "2"), "seconds": seconds, **columns}
    return replace(study, readings=(replace(one, **columns),))


def results_of(study: Study, **declared: Any) -> list[Result]:
    given = plan(**declared)
    found = [*BENEFIT.answer(study, given).results, *UTILITY.answer(study, given).results]
    return [*found, *SUBGROUPS.answer(study, given).results] if declared else found


def lead(results: list[Result], id: str, **of: Any) -> Result:
    found = leading(results, id, arms=list(ARMS), reader=None, **of)
    assert found is not None
    return found


# ---------------------------------------------------------------- who read what when


def arm_at(day: NDArray[np.float64]) -> NDArray[Any]:
    """Moments of days given as (2, n_readers, n_cases), unaided first, for readings without gaps."""
    return np.datetime64("2026-03-01T08:00:00", "s") + (day.ravel() * 86_400).astype("timedelta64[s]")


IN_DAYS = np.broadcast_to(30.0 * np.stack([~LATER, LATER])[:, :, None], CORRECT.shape)


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"session": None, "read_at": arm_at(IN_DAYS)},
        {"session": None, "order": (IN_DAYS * 10 + np.arange(1, CASES + 1)).ravel()},
        {"session": np.zeros(CORRECT.size), "order": (IN_DAYS * 10 + np.arange(1, CASES + 1)).ravel()},
    ],
    ids=["session", "dates", "order", "order within a session"],
)
def test_the_order_of_the_arms_is_told_by_session_date_or_order(columns: Any) -> None:
    (one,) = crossed_over(**columns).readings
    found = compared_later(one, ARMS)
    assert found is not None
    assert found.tolist() == np.where(LATER, 1, -1).tolist()
    turned = compared_later(one, ("unaided", "aided"))
    assert turned is not None
    assert turned.tolist() == (-found).tolist()


def test_readers_who_read_cases_in_both_orders_are_in_between() -> None:
    (one,) = crossed_over(np.broadcast_to(np.arange(CASES) < 45, CORRECT.shape[1:])).readings
    found = compared_later(one, ARMS)
    assert found is not None
    assert found.tolist() == [(45 - 15) / 60] * READERS


def test_readers_of_other_cases_in_either_arm_are_told_by_all_their_readings() -> None:
    """Three of four aided readings in the second session, one of four unaided ones: 3/4 - 1/4, by hand."""
    later = np.broadcast_to(np.arange(CASES) % 8 < 6, CORRECT.shape[1:])
    apart = np.stack(np.broadcast_arrays(np.arange(CASES) % 2 == 1, np.arange(CASES) % 2 == 0))
    missing = ~np.broadcast_to(apart[:, None], CORRECT.shape)
    (one,) = crossed_over(later, missing).readings
    of = [later[0, np.arange(CASES) % 2 == arm] for arm in (0, 1)]
    by_hand = of[0].mean() - (~of[1]).mean()
    found = compared_later(one, ARMS)
    assert found is not None
    assert found == pytest.approx([by_hand] * READERS)


@pytest.mark.parametrize(
    "columns", [{"session": None}, {"sequential": True}, {"session": np.zeros(CORRECT.size)}]
)
def test_an_order_that_is_not_known_or_the_same_by_design_is_none(columns: Any) -> None:
    assert compared_later(crossed_over(**columns).readings[0], ARMS) is None


# ---------------------------------------------------------------- what is primary


@pytest.mark.parametrize("endpoint", ["accuracy", "sensitivity", "specificity", "youden_j", "auc"])
@pytest.mark.parametrize("missing", [None, RNG.random(CORRECT.shape) < 0.1], ids=["crossed", "gaps"])
def test_the_adjusted_change_is_primary_and_the_plain_one_stands_beside_it(
    endpoint: str, missing: NDArray[np.bool_] | None
) -> None:
    found, plain = (
        results_of(crossed_over(missing=missing)),
        results_of(crossed_over(session=None, missing=missing)),
    )
    for id in ("decision_benefit.arm_difference", "decision_benefit.mean_benefit"):
        one, other = lead(found, id, endpoint=endpoint), lead(plain, id, endpoint=endpoint)
        assert "_period" in one.method
        assert notes.ADJUSTED in one.estimate.note
        assert one.estimate.low < one.estimate.value < one.estimate.high
        beside = [r for r in found if (r.id, r.endpoint, r.method) == (id, endpoint, other.method)]
        assert [r.estimate.value for r in beside if not r.primary] == [other.estimate.value] * len(beside)
        assert len([r for r in found if r.primary and (r.id, r.endpoint) == (id, endpoint)]) == 1
    # Arm means are as they were read.
    for arm in ARMS:
        means = [leading(r, "decision_benefit.arm_mean", endpoint=endpoint, arm=arm) for r in (found, plain)]
        assert str(means[0].estimate if means[0] else 0) == str(means[1].estimate if means[1] else 1)


def test_the_adjusted_change_is_free_of_the_session() -> None:
    found, plain = results_of(crossed_over()), results_of(crossed_over(session=None))
    id = "decision_benefit.arm_difference"
    adjusted, as_read = (lead(r, id, endpoint="accuracy").estimate for r in (found, plain))
    d = CORRECT.mean(axis=2)[1] - CORRECT.mean(axis=2)[0]
    assert adjusted.value == pytest.approx((d[1:].mean() + d[0]) / 2)
    assert as_read.low > 0 > adjusted.low
    assert adjusted.details["unadjusted"] == pytest.approx(as_read.value)


def test_errors_are_adjusted_as_accuracy_is() -> None:
    found = results_of(crossed_over())
    change = lead(found, "decision_benefit.arm_difference", endpoint="accuracy").estimate
    arr, rr = (lead(found, f"pragmatic_utility.{name}").estimate for name in ("arr", "rr"))
    assert (arr.value, arr.low, arr.high) == (change.value, change.low, change.high)
    wrong = 1 - CORRECT.mean(axis=2)
    unaided, aided = (float((w[1:].mean() + w[0]) / 2) for w in wrong)
    assert rr.value == pytest.approx(aided / unaided)
    assert notes.ADJUSTED in rr.note
    assert (rr.low < 1 < rr.high) == (arr.low < 0 < arr.high)


def test_times_are_adjusted_too() -> None:
    """Readings of the second session take ten seconds longer, whatever the arm."""
    found = results_of(crossed_over())
    e = lead(found, "decision_benefit.mean_seconds", endpoint="seconds").estimate
    assert e.details["period_effect"] == pytest.approx(10, abs=0.5)
    assert abs(e.value) < 0.5 < 5 < e.details["unadjusted"]


def test_changes_of_groups_are_adjusted() -> None:
    study = crossed_over()
    (one,) = study.readings
    sex = Coded((np.arange(CASES) % 3 > 0).astype(np.int32), Labels(("f", "m")))
    cases = replace(one.cases, groups={"sex": sex})
    grouped = replace(study, readings=(replace(one, cases=cases),))
    found = results_of(grouped, subgroups=[{"name": "sex", "prespecified": True}])
    own = [
        r
        for r in found
        if r.primary
        and r.id == "decision_benefit.arm_difference"
        and r.endpoint == "accuracy"
        and r.place.subgroup
    ]
    assert own
    for r in own:
        assert notes.ADJUSTED in r.estimate.note or isnan(r.estimate.low)


def test_a_group_of_readers_of_one_order_has_no_interval() -> None:
    """Juniors all had the aid second; seniors can be adjusted, and all together need not be."""
    study = crossed_over(EVEN)
    (one,) = study.readings
    junior = Coded(
        np.where(EVEN & (np.arange(READERS) < 6), 0, 1).astype(np.int32), Labels(("junior", "senior"))
    )
    people = replace(one.readers, strata={"grade": junior})
    found = results_of(replace(study, readings=(replace(one, readers=people),)))
    of = {
        r.place.subgroup: r.estimate
        for r in found
        if r.primary and r.id == "decision_benefit.mean_benefit" and r.endpoint == "accuracy"
    }
    assert (of["grade: junior"].note, isnan(of["grade: junior"].low)) == (notes.ONE_ORDER, True)
    assert notes.ADJUSTED in of["grade: senior"].note
    assert of["grade: senior"].low < of["grade: senior"].high
    assert notes.ADJUSTED not in of[None].note
    assert of[None].low < of[None].high


@pytest.mark.parametrize(
    "later", [EVEN, np.ones(READERS, bool), np.broadcast_to(np.arange(CASES) % 2 == 0, (8, CASES))]
)
def test_nothing_changes_where_the_order_is_equal_or_the_same_for_all(later: NDArray[np.bool_]) -> None:
    one, other = (
        {(r.id, str(r.scope)): r.estimate for r in results_of(study) if r.endpoint != "seconds" and r.primary}
        for study in (crossed_over(later), crossed_over(later, session=None))
    )
    for key, e in other.items():
        assert str(one[key]) == str(e), key


def test_the_next_study_is_planned_for_the_adjusted_change() -> None:
    """It shows none, so that five points are planned for and not the plain change."""
    power = [r for r in results_of(crossed_over(score=None)) if r.id == "decision_benefit.power"]
    assert {r.parameters["difference"] for r in power} == {0.05}
