"""Each check of how readings were made: a study that fires it, and one that does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from tests.checks.test_pragmatic_utility import KNEE
from tests.studies import plan, readings
from trustreport.assessment.checks.check import Evidence
from trustreport.assessment.checks.reader_study import CHECKS
from trustreport.assessment.finding import CheckOutcome
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
RNG = np.random.default_rng(11)
READERS, CASES = 6, 40
CORRECT = RNG.random((2, READERS, CASES)) < np.array([0.7, 0.8])[:, None, None]
START = np.datetime64("2026-03-01T08:00:00", "s")


def outcomes(study: Study, declared: Plan | None = None) -> dict[str, CheckOutcome]:
    evidence = Evidence(study, declared or plan(), ())
    return {o.check: o for check in CHECKS for o in check.run(evidence)}


def fired(study: Study, declared: Plan | None = None) -> dict[str, str]:
    """Checks that fired, with what they say."""
    return {o.check: EN(o.message) for o in outcomes(study, declared).values() if o.status == "fired"}


def made(order: Any = None, days: Any = None, missing: NDArray[np.bool_] | None = None, **more: Any) -> Study:
    """The readings with their order and the days on which they were made, (2, n_readers, n_cases) each."""
    study = readings(CORRECT, missing)
    one = study.readings[0]
    at = one.arm, one.reader, one.case
    columns = dict(more)
    if order is not None:
        columns["order"] = np.broadcast_to(order, CORRECT.shape)[at].astype(float)
    if days is not None:
        moments = START + (np.broadcast_to(days, CORRECT.shape)[at] * 86_400).astype("timedelta64[s]")
        columns["read_at"] = moments
    return replace(study, readings=(replace(one, **columns),))


def shuffled(by: str = "reader") -> NDArray[np.float64]:
    """An order of the cases for each arm and reader, or one for all."""
    if by == "all":
        return np.broadcast_to(RNG.permutation(CASES), CORRECT.shape) + 1.0
    return np.stack([[RNG.permutation(CASES) + 1.0 for _ in range(READERS)] for _ in range(2)])


def apart(unaided: Any, aided: Any) -> NDArray[np.float64]:
    """Days of the readings of either arm, each a number or one for each reader."""
    return np.stack([np.broadcast_to(np.c_[d], CORRECT.shape[1:]) for d in (unaided, aided)]).astype(float)


HALF = np.arange(READERS) < READERS / 2
ALTERNATING = apart(np.where(HALF, 0, 35), np.where(HALF, 35, 0))
CROSSOVER = plan(reading={"design": "crossover"})


def gaps(**at: Any) -> NDArray[np.bool_]:
    """Missing readings: a share drawn at random, more of an arm, reader or class."""
    chance = np.full(CORRECT.shape, at.get("share", 0.1))
    chance[at.get("arm", slice(0)), :, :] = 0.5
    chance[:, at.get("reader", slice(0)), :] = 0.6
    chance[:, :, at.get("cases", slice(0))] = 0.5
    return np.random.default_rng(5).random(CORRECT.shape) < chance


def lost(n: int) -> NDArray[np.bool_]:
    """A reader who read only the first `n` cases."""
    missing = np.zeros(CORRECT.shape, bool)
    missing[:, 2, n:] = True
    return missing


@pytest.mark.parametrize(
    "check, fires, does_not",
    [
        ("P16", (made(shuffled("all")), plan()), (made(shuffled()), plan())),
        ("P16", (made(days=apart(0, 30)), plan()), (made(days=ALTERNATING), plan())),
        ("P16", (made(shuffled() + apart(0, 100)), plan()), (made(shuffled() + 100 * ALTERNATING), plan())),
        (
            "P16",
            (made(), plan(reading={"order_assignment": "fixed, unaided first"})),
            (made(), plan(reading={"order_assignment": "randomised"})),
        ),
        ("P17", (made(days=apart(0, 7)), CROSSOVER), (made(days=apart(0, 30)), CROSSOVER)),
        (
            "P17",
            (made(days=apart(0, 30)), plan(reading={"washout_days": 60})),
            (made(days=apart(0, 30)), plan(reading={"washout_days": 30})),
        ),
        (
            "P17",
            (made(), plan(reading={"design": "crossover", "washout_days": 7})),
            (made(), plan(reading={"design": "sequential", "washout_days": 0})),
        ),
        ("P18", (made(sequential=True), plan()), (made(), CROSSOVER)),
        ("P18", (made(days=apart(0, 0.01)), CROSSOVER), (made(days=apart(0, 7)), CROSSOVER)),
        ("P18", (KNEE, plan(reading={"design": "sequential"})), (KNEE, CROSSOVER)),
        ("P20", (made(missing=gaps(arm=1)), plan()), (made(missing=gaps()), plan())),
        ("P20", (made(missing=gaps(reader=3)), plan()), (made(), plan())),
        (
            "P20",
            (made(missing=gaps(cases=slice(1, None, 2))), plan()),
            (made(missing=gaps(cases=slice(0, 20))), plan()),
        ),
        (
            "P20",
            (made(missing=gaps(arm=1)), CROSSOVER),
            (made(missing=gaps(arm=1)), plan(reading={"design": "split-plot"})),
        ),
        ("P21", (made(missing=lost(15)), plan()), (made(missing=lost(25)), plan())),
    ],
)
def test_a_check_fires_where_it_should_and_nowhere_else(
    check: str, fires: tuple[Study, Plan], does_not: tuple[Study, Plan]
) -> None:
    assert check in fired(*fires)
    assert check not in fired(*does_not)


def test_what_the_checks_say() -> None:
    said = fired(made(shuffled("all"), apart(0, 7)), CROSSOVER)
    assert said["P16"] == (
        "All 6 readers read the cases in the same order: effects of order and case cannot be separated. "
        "The arm unaided was read first in 100% of the pairs of readings of 6 readers: the effect of the "
        "aid cannot be separated from that of order."
    )
    assert "were 7.0 days apart (median); at least 28 are required" in said["P17"]
    said = fired(made(missing=lost(15)))
    assert said["P21"].startswith(
        "Reader 1 contributed 18.6% of the readings, 2.7 times as many as the reader with the fewest. The"
    )
    assert (
        "62.5% are missing for reader 3 and 0.0% for the others (Fisher's exact test, p < 0.001)"
        in said["P20"]
    )


def test_missing_readings_of_hard_cases_are_seen_by_complexity_or_by_errors() -> None:
    hard = np.arange(CASES) % 4 > 1  # as many of either class
    missing = gaps(cases=hard)
    study = made(missing=missing)
    cases = replace(study.readings[0].cases, complexity=np.where(hard, 0.9, 0.2))
    known = replace(study, readings=(replace(study.readings[0], cases=cases),))
    assert "harder cases" in fired(known)["P20"]
    wrong = CORRECT & ~hard
    assert "harder cases" in fired(readings(wrong, missing))["P20"]


def test_a_case_skipped_in_both_arms_is_one_event() -> None:
    """Of 40 cases readers skip 12, 3, 4, 5, 5 and 4 in both arms: by SciPy p .046, by readings .0004."""
    skipped = [12, 3, 4, 5, 5, 4]
    table = np.array([skipped, CASES - np.array(skipped)])
    by_case, by_reading = (chi2_contingency(k * table, correction=False).pvalue for k in (1, 2))
    assert (round(by_case, 3), round(by_reading, 4)) == (0.046, 0.0004)
    missing = np.zeros(CORRECT.shape, bool)
    for reader, n in enumerate(skipped):
        missing[:, reader, 5 * reader + np.arange(n)] = True
    assert "P20" not in fired(made(missing=missing))
    said = fired(made(missing=missing), plan(limits={"P20_alpha": 0.5}))
    adjusted = f"{4 * by_case:.2f}"  # by Holm, as the smallest of four
    assert (
        f"30.0% are missing for reader 1 and 10.5% for the others (chi-square test, p = {adjusted})"
        in (said["P20"])
    )


def test_cases_read_by_few_are_out_of_balance_without_any_unequal_reader() -> None:
    missing = np.zeros(CORRECT.shape, bool)
    missing[:, :4, :6] = True
    missing[:, 4:, 6:12] = True
    assert fired(made(missing=missing))["P21"] == ("Cases have between 4 and 12 readings each.")


def crossed_over(later: Any, cases: Any = True) -> Study:
    """Readings in two sessions, a reader's aided ones in the second where both say the same."""
    aided = np.where(
        np.broadcast_to(np.c_[later] == np.broadcast_to(cases, CASES), CORRECT.shape[1:]), 1.0, 0.0
    )
    study = readings(CORRECT)
    one = study.readings[0]
    session = np.stack([1 - aided, aided])[one.arm, one.reader, one.case]
    return replace(study, readings=(replace(one, session=session, sessions=("1", "2")),))


EVERYBODY, ALL_BUT_ONE = np.full(READERS, True), np.arange(READERS) > 0


@pytest.mark.parametrize(
    "study, severity, said",
    [
        (crossed_over(EVERYBODY), "B", "first in 100% of the pairs of readings of 6 readers: the effect"),
        (
            crossed_over(ALL_BUT_ONE),
            "B",
            "first in 83% of the pairs of readings of 6 readers. Changes said to be",
        ),
        (crossed_over(~ALL_BUT_ONE), "B", "The arm aided was read first in 83%"),
        (made(shuffled() + apart(0, 100)), "B", "the effect of the aid cannot be separated"),
        (made(days=apart(0, 0.01)), "W", "the effect of the aid cannot be separated"),
        (made(shuffled("all")), "W", "read the cases in the same order"),
    ],
)
def test_an_unequal_order_of_the_arms_blocks_and_one_in_a_sitting_warns(
    study: Study, severity: str, said: str
) -> None:
    found = outcomes(study)["P16"]
    assert (found.status, found.severity) == ("fired", severity)
    assert said in EN(found.message)


@pytest.mark.parametrize("cases", [True, np.arange(CASES) % 2 == 0])
def test_an_equal_order_of_the_arms_is_clear(cases: Any) -> None:
    """As many readers in either order; and readers who each read half of the cases in either."""
    assert outcomes(crossed_over(HALF, cases))["P16"].status == "clear"


def test_readers_of_other_cases_in_either_arm_are_told_by_session_too() -> None:
    """Without a case that a reader read in both arms."""
    study = crossed_over(EVERYBODY)
    one = study.readings[0]
    kept = (one.case % 2) == one.arm
    columns = {name: getattr(one, name)[kept] for name in ("arm", "reader", "case", "decision", "session")}
    found = outcomes(replace(study, readings=(replace(one, **columns),)))["P16"]
    assert (found.status, found.severity) == ("fired", "B")


def test_limits_of_the_manifest_are_taken() -> None:
    more = made(days=np.where(np.arange(CASES) < 22, apart(0, 30), apart(30, 0)))
    assert "P16" not in fired(more)
    assert "P16" in fired(more, plan(limits={"P16_share": 0.52}))
    assert "P17" in fired(made(days=apart(0, 30)), plan(limits={"P17_days": 40}))
    assert "P18" in fired(made(days=apart(0, 3)), plan(limits={"P18_days": 5}))
    assert "P20" not in fired(made(missing=gaps(arm=1)), plan(limits={"P20_alpha": 1e-30}))
    assert "P21" in fired(made(missing=lost(25)), plan(limits={"P21_ratio": 1.1}))


def test_scores_without_decisions_are_readings_too() -> None:
    study = made(missing=lost(15))
    one = study.readings[0]
    scored = replace(study, readings=(replace(one, decision=None, score=np.ones(len(one))),))
    said = fired(scored)
    assert "P20" in said
    assert "mean change" not in said["P21"]


def test_a_check_that_cannot_look_says_so() -> None:
    found = outcomes(KNEE)
    assert {check: found[check].status for check in found} == dict.fromkeys(
        ("P16", "P17", "P18", "P20", "P21"), "cannot run"
    )
    assert all(EN(o.message) for o in found.values())
    assert outcomes(made())["P16"].status == "cannot run"


def in_sessions(session: Any) -> Study:
    """The readings with the session of each, (2, n_readers, n_cases); NaN: not known."""
    study = made(session=None)
    one = study.readings[0]
    column = np.broadcast_to(session, CORRECT.shape)[one.arm, one.reader, one.case].astype(float)
    return replace(study, readings=(replace(one, session=column, sessions=("1", "2")),))


def test_an_arm_with_sessions_of_its_own_cannot_be_told_from_them() -> None:
    by_arm = in_sessions(np.arange(2)[:, None, None])
    assert fired(by_arm)["P16"].startswith("Each of the 2 sessions has readings of one arm only")
    turned = np.broadcast_to((np.arange(READERS) % 2)[:, None], CORRECT.shape) != np.arange(2)[:, None, None]
    assert outcomes(in_sessions(turned))["P16"].status == "clear"
    assert outcomes(in_sessions(np.nan))["P16"].status == "cannot run"


def test_both_readings_of_a_case_in_one_session_are_one_sitting() -> None:
    halves = np.arange(CASES) % 2
    assert "100.0% of pairs" in fired(in_sessions(halves))["P18"]
    assert outcomes(in_sessions(np.arange(2)[:, None, None]))["P18"].status == "clear"
