"""Each check of reliance: a study that fires it, and one that does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.dimensions.test_reliance import CODES, answer, counted, sequential
from tests.studies import counts, plan
from trustreport.assessment.checks import Evidence
from trustreport.assessment.checks.reliance import CHECKS
from trustreport.assessment.dimensions.reliance import DIMENSION
from trustreport.assessment.finding import CheckOutcome
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")


def outcomes(study: Study, declared: Plan | None = None) -> list[CheckOutcome]:
    declared = declared or plan()
    results = answer(study, declared).results if DIMENSION.has_data(study, declared) else ()
    evidence = Evidence(study, declared, results)
    own = [check for check in CHECKS if check.dimension == "reliance"]
    return [outcome for check in own for outcome in check.run(evidence)]


def fired(study: Study, declared: Plan | None = None) -> dict[str, str]:
    return {o.check: EN(o.message) for o in outcomes(study, declared) if o.status == "fired"}


def without(study: Study, **columns: Any) -> Study:
    """The readings with some columns taken away or changed."""
    return replace(study, readings=(replace(study.readings[0], **columns),))


def aided_only(study: Study) -> Study:
    one = study.readings[0]
    kept = one.arm == 1
    return without(
        study, **{n: getattr(one, n)[kept] for n in ("arm", "reader", "case", "decision", "advice")}
    )


SEQUENTIAL = sequential(CODES)
STEADY = sequential(np.tile([[5.0, 7, 3, 5, 7, 3]], (4, 5)))
NO_TRUTH = sequential(CODES, truth=np.full(6, -1))
SOME_TRUTH = sequential(CODES, truth=np.array([0, 1, 0, 1, -1, -1]))


@pytest.mark.parametrize(
    "check, fires, does_not",
    [
        ("P29", SEQUENTIAL, STEADY),
        ("P29", counted(n100=2, n101=8), counted(n100=1, n101=99)),
        ("P30", without(SEQUENTIAL, advice=None), SEQUENTIAL),
        ("P30", aided_only(SEQUENTIAL), counted(n100=2)),
        ("P30", NO_TRUTH, SOME_TRUTH),
        ("P58", NO_TRUTH, SEQUENTIAL),
        ("P58", SOME_TRUTH, counted(n100=2)),
        ("P58", NO_TRUTH, aided_only(SEQUENTIAL)),
    ],
)
def test_a_check_fires_where_it_should_and_nowhere_else(check: str, fires: Study, does_not: Study) -> None:
    assert check in fired(fires)
    assert check not in fired(does_not)


def test_what_the_checks_say() -> None:
    said = fired(counted(n100=20, n101=30))
    assert said["P29"].startswith(
        "Of 50 readings that were correct without the aid and received wrong advice, 40% were "
        "incorrect with it "
    )
    assert "With wrong advice, the aid lowered accuracy by 40 percentage points" in said["P29"]
    assert fired(without(SEQUENTIAL, advice=None))["P30"].endswith("the device's advice was not stored.")
    assert fired(aided_only(SEQUENTIAL))["P30"].endswith("the decision before the advice was not recorded.")
    assert fired(NO_TRUTH)["P30"].endswith("no case has a reference standard.")
    assert fired(NO_TRUTH)["P58"].endswith("known truth: none of 17.")


def test_few_harmful_switches_fire_where_the_interval_of_the_change_lies_below_zero() -> None:
    assert "P29" in fired(counted(n100=50, n101=550))
    assert "P29" not in fired(counted(n100=1, n101=599))
    strict = plan(limits={"harmful_switch_rate": 0.001})  # its first spelling, still read
    assert strict.limits == {"P29_harmful_switch_rate": 0.001}
    assert plan(limits={"harmful_switch_rate": 1, "P29_harmful_switch_rate": 2}).limits == {
        "P29_harmful_switch_rate": 2
    }
    assert "P29" in fired(counted(n100=1, n101=599), strict)


def test_a_class_whose_right_decisions_fall_is_named() -> None:
    codes = np.full((8, 40), 7.0)
    codes[:, 1::4] = 5  # advice wrong on half of the positive cases
    codes[:4, 1::4] = 4
    codes[4:, 1:20:4] = 4
    assert "With wrong advice, the aid lowered sensitivity by" in fired(sequential(codes))["P29"]


def test_a_check_that_cannot_look_says_so() -> None:
    status = {o.check: o.status for o in outcomes(counts((3, 7), (2, 8)))}
    assert status == {"P29": "cannot run", "P30": "cannot run", "P58": "cannot run"}
    texts = [EN(o.message) for o in outcomes(Study())]
    assert len(texts) == 3
