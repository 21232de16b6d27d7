"""Several classes: counted by hand, against the measures of two classes, and covering what they say."""

from fractions import Fraction

import numpy as np
import pytest

from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.several import (
    AT_THE_END,
    NEVER_CALLED,
    NO_CASE_OF_A_CLASS,
    among_highest,
    class_measure,
    mean_of_classes,
    right_share,
)
from trustreport.measures.confusion.table import MEASURES

# Rows are classes, columns what is called; the last column is no output.
TABLE = np.array([[50, 3, 2, 1], [4, 30, 6, 0], [1, 5, 12, 2]])


def cases(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.indices(table.shape)
    truth = np.repeat(rows.ravel(), table.ravel())
    called = np.repeat(columns.ravel(), table.ravel())
    return truth, np.where(called == len(table), -1, called)


TRUTH, CALLED = cases(TABLE)


def test_values_are_those_counted_by_hand() -> None:
    share = right_share(TRUTH == CALLED)
    assert share.value == pytest.approx(92 / 116)
    sensitivity = [Fraction(50, 56), Fraction(30, 40), Fraction(12, 20)]
    ppv = [Fraction(50, 55), Fraction(30, 38), Fraction(12, 20)]
    f1 = [Fraction(100, 111), Fraction(60, 78), Fraction(24, 40)]
    rows = (56, 40, 20)
    expected = {
        ("sensitivity", False): sum(sensitivity) / 3,
        ("ppv", False): sum(ppv) / 3,
        ("f1", False): sum(f1) / 3,
        ("f1", True): sum(x * n for x, n in zip(f1, rows)) / 116,
    }
    for (of, weighted), value in expected.items():
        found = mean_of_classes(of, TRUTH, CALLED, 3, weighted=weighted)
        assert found.value == pytest.approx(float(value), rel=1e-12)
        assert found.low < found.value < found.high


@pytest.mark.parametrize("name", ["sensitivity", "specificity", "ppv", "npv"])
def test_a_class_against_the_rest_is_a_table_of_four_cells(name: str) -> None:
    # of class 1: tp 30, fp 3 + 5, fn 4 + 6 + 0, tn the other cases
    counts = ConfusionCounts(30, 8, 10, 116 - 48)
    assert class_measure(name, TRUTH, CALLED, 1) == estimated(MEASURES[name], counts)


def test_two_classes_give_balanced_accuracy() -> None:
    truth, called = cases(np.array([[40, 10, 0], [6, 24, 0]]))
    counts = ConfusionCounts(24, 10, 6, 40)
    found, known = (
        mean_of_classes("sensitivity", truth, called, 2),
        estimated(MEASURES["balanced_accuracy"], counts),
    )
    assert (found.value, found.low, found.high) == pytest.approx((known.value, known.low, known.high))


@pytest.mark.parametrize("of", ["ppv", "f1"])
def test_the_standard_error_is_that_of_many_samples(of: str) -> None:
    """Multinomial samples from the table, 8,000 of them: a simulation, within 4%."""
    rng = np.random.default_rng(3)
    p = (TABLE / TABLE.sum()).ravel()
    values = []
    for _ in range(8000):
        drawn = rng.multinomial(1160, p).reshape(3, 4)
        hit, rows, columns = np.diagonal(drawn[:, :3]), drawn.sum(axis=1), drawn[:, :3].sum(axis=0)
        values.append(np.mean(hit / columns if of == "ppv" else 2 * hit / (rows + columns)))
    truth, called = cases(10 * TABLE)
    assert mean_of_classes(of, truth, called, 3).se == pytest.approx(np.std(values), rel=0.04)


def test_intervals_cover() -> None:
    rng = np.random.default_rng(8)
    shares = np.array([0.6, 0.25, 0.15])[:, None] * np.array(
        [[0.9, 0.07, 0.03], [0.15, 0.75, 0.1], [0.05, 0.2, 0.75]]
    )
    hit, rows, columns = np.diagonal(shares), shares.sum(axis=1), shares.sum(axis=0)
    true = {
        "sensitivity": (hit / rows).mean(),
        "ppv": (hit / columns).mean(),
        "f1": (2 * hit / (rows + columns)).mean(),
    }
    for of, value in true.items():
        covered = []
        for _ in range(600):
            cell = rng.choice(9, 150, p=shares.ravel())
            e = mean_of_classes(of, cell // 3, cell % 3, 3)
            covered.append(e.low <= value <= e.high)
        assert np.mean(covered) > 0.925, of


def test_clusters_of_one_case_change_little_and_doubled_cases_widen() -> None:
    n = len(TRUTH)
    for of in ("sensitivity", "ppv", "f1"):
        alone = mean_of_classes(of, TRUTH, CALLED, 3, np.arange(n))
        twice = np.repeat(np.arange(n), 2)
        doubled = mean_of_classes(of, np.repeat(TRUTH, 2), np.repeat(CALLED, 2), 3, twice)
        assert doubled.value == pytest.approx(alone.value)
        assert (doubled.low, doubled.high) == pytest.approx((alone.low, alone.high), abs=1e-6)
        assert doubled.details["clusters"] == n


def test_what_does_not_exist_says_why() -> None:
    truth, called = cases(np.array([[5, 0, 1, 0], [0, 0, 0, 0], [2, 0, 6, 0]]))
    assert mean_of_classes("sensitivity", truth, called, 3).note == NO_CASE_OF_A_CLASS
    assert mean_of_classes("ppv", truth, called, 3).note == NEVER_CALLED
    right = np.array([0, 1, 2, 2])
    perfect = mean_of_classes("f1", right, right, 3)
    assert (perfect.value, perfect.note) == (1.0, AT_THE_END)
    assert mean_of_classes("sensitivity", right, right, 3).low < 1
    assert np.isnan(mean_of_classes("f1", right[:0], right[:0], 3).value)


def test_the_highest_scores() -> None:
    scores = np.array([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2]])
    truth = np.array([1, 0, 1])
    assert among_highest(truth, scores, 1).tolist() == [False, False, True]
    assert among_highest(truth, scores, 2).tolist() == [True, False, True]
