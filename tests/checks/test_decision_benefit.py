"""Each check of decision benefit: a study that fires it, and one that does not."""

import numpy as np

from tests.checks.test_pragmatic_utility import fired
from tests.studies import plan, readings


def test_harmed_readers_are_not_hidden_by_the_mean() -> None:
    correct = np.zeros((2, 6, 50), bool)
    correct[:, :, :30] = True
    correct[1, :, 30:45] = True
    assert "P27" not in fired(readings(correct), plan())
    correct[1, 5] = False
    correct[1, 5, :10] = True
    said = fired(readings(correct), plan())
    assert said["P27"] == "1 of 6 readers had lower accuracy with the aid; the whole interval is below zero."
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
