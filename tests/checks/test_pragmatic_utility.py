"""Each check of pragmatic utility and decision benefit: a study that fires it, and one that does not."""

import numpy as np
import pytest

from tests.studies import counts, plan, readings
from trustreport.assessment.assess import assess
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")


def fired(study: Study, declared: Plan) -> dict[str, str]:
    """Checks that fired, with what they say."""
    return {o.check: EN(o.message) for o in assess(study, declared).fired()}


KNEE = counts((367, 1181), (352, 1196), readers=13, cases=120, paired=True)
CLAIM = {"intended_use": {"claimed_benefits": "fewer errors"}}


def test_the_published_knee_study_fires_exactly_its_five() -> None:
    said = fired(KNEE, plan(**CLAIM))
    assert set(said) == {"P19", "P22", "P23", "P24", "P25"}
    assert said["P19"].startswith("Of 3,120 readings, 24 are missing (0.8%): 12 unaided, 12 aided.")
    assert "avoid one error in 25 decisions or cause one in 50; " in said["P24"]


RNG = np.random.default_rng(7)
CROSSED = RNG.random((2, 6, 80)) < np.array([0.7, 0.9])[:, None, None]
STRONG = counts((80, 120), (5, 195), readers=1, cases=200, paired=False)


@pytest.mark.parametrize(
    "check, fires, does_not",
    [
        ("P19", (KNEE, plan()), (counts((5, 5), (4, 6), readers=2, cases=5), plan())),
        ("P19", (readings(CROSSED, RNG.random(CROSSED.shape) < 0.1), plan()), (readings(CROSSED), plan())),
        ("P22", (counts((367, 1181), (352, 1196)), plan()), (STRONG, plan())),
        ("P22", (KNEE, plan()), (readings(CROSSED), plan())),
        ("P23", (KNEE, plan()), (STRONG, plan())),
        ("P24", (KNEE, plan()), (STRONG, plan())),
        ("P25", (KNEE, plan(**CLAIM)), (STRONG, plan(**CLAIM))),
    ],
)
def test_a_check_fires_where_it_should_and_nowhere_else(
    check: str, fires: tuple[Study, Plan], does_not: tuple[Study, Plan]
) -> None:
    assert check in fired(*fires)
    assert check not in fired(*does_not)


def test_analyses_that_disagree_are_said() -> None:
    # One reader gains much and four nothing: cases alone say benefit, readers and cases do not.
    correct = np.zeros((2, 5, 40), bool)
    correct[:, :, :20] = True
    correct[1, 0, 20:] = True
    said = fired(readings(correct), plan())
    assert "lead to different conclusions" in said["P26"]
    even = np.zeros((2, 5, 40), bool)
    even[1] = True
    even[1, :, 0] = False
    even[0, np.arange(5), np.arange(5) + 1] = True
    assert "P26" not in fired(readings(even), plan())


def test_a_check_that_cannot_look_says_so() -> None:
    outcomes = {o.check: o for o in assess(counts((3, 7), (2, 8)), plan()).checks}
    assert outcomes["P26"].status == "cannot run"
    assert EN(outcomes["P26"].message) == "There is only one analysis of the difference."
    assert outcomes["P25"].status == "cannot run"


def test_a_complete_grid_is_known_to_be_complete() -> None:
    found = {o.check: o.status for o in assess(readings(CROSSED), plan()).checks}
    assert found["P19"] == "clear"


def test_harmed_readers_are_not_hidden_by_the_mean() -> None:
    correct = np.zeros((2, 6, 50), bool)
    correct[:, :, :30] = True
    correct[1, :, 30:45] = True
    assert "P27" not in fired(readings(correct), plan())
    correct[1, 5] = False
    correct[1, 5, :10] = True
    said = fired(readings(correct), plan())
    assert (
        said["P27"] == "Of 6 readers, one had lower accuracy with the aid; the whole interval is below zero."
    )
    correct[1, 5, :28] = True
    said = fired(readings(correct), plan(limits={"P27_share": 0.1}))
    assert said["P27"].endswith(
        "had lower accuracy with the aid; no reader's own interval is entirely below zero."
    )


def test_a_limit_of_the_manifest_decides_how_many_worse_readers_are_too_many() -> None:
    correct = np.zeros((2, 6, 50), bool)
    correct[:, :, :30] = True
    correct[1, :, 30:45] = True
    correct[1, 5] = correct[0, 5]
    correct[1, 5, 0] = False
    assert "P27" not in fired(readings(correct), plan())
    assert "P27" in fired(readings(correct), plan(limits={"P27_share": 0.1}))


def test_low_starters_who_gain_are_met_with_caution() -> None:
    correct = np.zeros((2, 5, 100), bool)
    for j, right in enumerate((50, 60, 70, 80, 90)):
        correct[0, j, :right] = True
        correct[1, j, : 80 + 2 * j] = True
    assert "P28" in fired(readings(correct), plan())
    for j, right in enumerate((50, 60, 70, 80, 90)):
        correct[1, j] = False
        correct[1, j, : right + 2 * j] = True
    assert "P28" not in fired(readings(correct), plan())
