"""Copies and near copies: counted by hand, held against a search by brute force."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import xlogy
from scipy.stats import chi2

from trustreport.measures.similarity.duplicates import (
    copies,
    in_both,
    is_sparse,
    multiples,
    nearest,
    repeats,
    row_keys,
    unlike_chance,
)


def by_force(tested: np.ndarray, training: np.ndarray) -> np.ndarray:
    same = (tested[:, None, :] == training) | (np.isnan(tested[:, None, :]) & np.isnan(training))
    return same.all(axis=2).any(axis=1) & ~np.isnan(tested).all(axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_copies_are_those_that_a_search_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    training, tested = (rng.integers(0, 4, (n, 3)).astype(float) for n in (60, 40))
    training[rng.random(training.shape) < 0.2] = np.nan
    tested[rng.random(tested.shape) < 0.2] = np.nan
    assert copies(tested, training)[0].tolist() == by_force(tested, training).tolist()


def test_what_chance_gives_is_judged_by_twins_within_the_training_set() -> None:
    training = np.array([[1.0], [1.0], [2.0], [3.0]])
    copied, expected = copies(np.array([[1.0], [2.0], [9.0], [9.0]]), training)
    assert copied.tolist() == [True, True, False, False]
    assert expected == 4 * 2 / 4


def test_a_row_without_values_is_no_copy() -> None:
    nothing = np.full((2, 3), np.nan)
    assert not copies(nothing, nothing)[0].any()
    assert copies(np.ones((2, 3)), np.empty((0, 3)))[1] == 0


def test_keys_differ_by_place_sign_and_bit() -> None:
    rows = np.array(
        [[1.0, 2.0], [2.0, 1.0], [-1.0, 2.0], [1.0, np.nextafter(2.0, 3)], [np.nan, 2.0], [0.0, 2.0]]
    )
    assert len(set(row_keys(rows).tolist())) == len(rows)
    assert row_keys(np.array([[0.0]])) == row_keys(np.array([[-0.0]]))


def test_many_rows_have_keys_of_their_own() -> None:
    rows = np.stack(np.meshgrid(np.arange(300.0), np.arange(300.0)), axis=-1).reshape(-1, 2)
    assert len(np.unique(row_keys(rows))) == len(rows)


def test_nearest_in_training_deviations() -> None:
    training = np.array(
        [[0.0, 7.0], [2.0, 7.0], [4.0, 7.0]]
    )  # SD sqrt(8/3); the second feature does not vary
    found = nearest(np.array([[1.0, 7.0], [4.0, 9.0], [np.nan, 7.0]]), training)
    assert found[:2] == pytest.approx([1 / np.sqrt(8 / 3), 2.0])
    assert np.isnan(found[2])
    assert np.isnan(nearest(np.ones((2, 1)), np.full((3, 1), np.nan))).all()


@pytest.mark.parametrize("seed", range(5))
def test_repeats_are_those_that_a_search_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, also = rng.integers(0, 3, (40, 3)).astype(float), rng.integers(0, 2, (40, 1)).astype(float)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    whole = np.column_stack([rows, also])
    earlier = [
        not np.isnan(rows[i]).all() and by_force(whole[i : i + 1], whole[:i])[0] if i else False
        for i in range(40)
    ]
    assert repeats(rows, also)[0].tolist() == earlier


def test_chance_is_judged_by_the_pairs_that_differ_in_one_feature() -> None:
    """Twelve cases: pairs counted by hand."""
    first = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    second = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]
    rows = np.column_stack([first, second]).astype(float)
    repeated, expected = repeats(rows, np.empty((12, 0)))
    assert np.flatnonzero(repeated).tolist() == [1, 11]
    # Of 66 pairs 30 agree in the first, 2 of which in the second too: (30 - 2) (2 / 66) / (64 / 66) pairs.
    assert expected == pytest.approx(28 * 2 / 64)


def test_chance_explains_coarse_features_and_no_copies() -> None:
    rng = np.random.default_rng(3)
    coarse = rng.integers(0, 8, (300, 4)).astype(float)
    repeated, expected = repeats(coarse, np.empty((300, 0)))
    assert expected == pytest.approx(repeated.sum(), rel=0.3)
    fine = rng.normal(size=(300, 4))
    repeated, expected = repeats(np.concatenate([fine, fine[:20]]), np.empty((320, 0)))
    assert (repeated.sum(), expected) == (20, 0)
    assert repeats(np.full((3, 2), np.nan), np.zeros((3, 1)))[0].sum() == 0


# ---------------------------------------------------------------- as often as copies


@pytest.mark.parametrize(
    "one, middle, other, least",
    [(140, 60, 0, 2 / 3), (0, 30, 0, 2 / 3), (12, 40, 3, 3 / 4), (3, 25, 9, 0.25), (50, 100, 0, 2 / 3)],
)
def test_the_likelihood_ratio_is_that_of_a_maximiser(one: int, middle: int, other: int, least: float) -> None:
    """scipy's constrained maximum of the Poisson likelihood, and half of its chi-square tail."""
    counts = np.array([one, middle, other], float)

    def deviance(means: NDArray[np.float64]) -> float:
        return 2 * float((means - counts + xlogy(counts, np.maximum(counts, 1) / means)).sum())

    border = {"type": "ineq", "fun": lambda means: means[0] * means[2] - least * means[1] ** 2}
    start = np.array([one + middle / 3, middle / 3, other + middle / 3])
    options = {"maxiter": 500, "ftol": 1e-13}
    bounds = [(1e-9, None)] * 3
    found = minimize(deviance, start, constraints=[border], bounds=bounds, method="SLSQP", options=options)
    assert unlike_chance(one, middle, other, least) == pytest.approx(chi2.sf(found.fun, 1) / 2, rel=1e-4)


def test_counts_that_chance_explains_are_no_sign() -> None:
    assert unlike_chance(100, 30, 10, 2 / 3) == 1.0
    assert multiples(np.arange(50, dtype=np.uint64)) is None


def chance_scores(kind: str, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Scores that agree by chance, for one reason or another, beside the truth."""
    truth = rng.random(n) < 0.3
    logit = rng.normal(size=n) + 1.5 * truth
    score = 1 / (1 + np.exp(-logit))
    leaf = np.array([0.12345, 0.3471, 0.6123, 0.987])[np.digitize(logit, [-1, 0, 1])]
    features = 0.0131 * rng.integers(40, 80, n) + 0.31 * rng.integers(0, 2, n) + 0.077 * rng.integers(0, 4, n)
    made = {
        "two decimals": score.round(2),
        "four decimals": score.round(4),
        "five points": np.digitize(score, [0.2, 0.4, 0.6, 0.8]) + 1.0,
        "leaves of a tree": leaf,
        "saturated": np.where(np.abs(logit) > 1, logit > 0, score.round(6)),
        "few features": features,
        "votes of 150": rng.binomial(150, score) / 150,
    }
    return np.column_stack([truth, made[kind]])


KINDS = ["two decimals", "four decimals", "five points", "leaves of a tree", "saturated", "few features"]


@pytest.mark.parametrize("kind", [*KINDS, "votes of 150"])
def test_scores_that_agree_by_chance_are_not_taken_for_copies(kind: str) -> None:
    rng = np.random.default_rng(3)
    found = [multiples(row_keys(chance_scores(kind, n, rng))) for n in (60, 200, 600) for _ in range(100)]
    assert all(one is None or one.p > 1e-4 for one in found)


@pytest.mark.parametrize("kind", ["two decimals", "four decimals", "few features", "saturated"])
def test_doubled_cases_are_found_whatever_the_scores(kind: str) -> None:
    rng = np.random.default_rng(4)
    for n in (60, 200):
        rows = chance_scores(kind, n, rng)
        found = multiples(row_keys(np.tile(rows, (2, 1))))
        assert found is not None
        assert found.p < 1e-4
        assert (found.times, found.fewer, found.more) == (2, 0, 0)
    thrice = multiples(row_keys(np.tile(rows, (3, 1))))
    assert thrice is not None
    assert (thrice.times, thrice.p < 1e-4) == (3, True)


def test_values_of_two_sets() -> None:
    """Counted by hand: 3 occurs once in either, 4 twice and once, 1 and 5 twice in one alone."""
    one, other = (np.array(x, np.uint64) for x in ([1, 1, 3, 4, 4, 6], [3, 4, 5, 5, 7]))
    assert in_both(one, other) == (1, unlike_chance(1, 1, 1, 0.25)) == (1, 1.0)
    rng = np.random.default_rng(5)
    sets = [[row_keys(chance_scores("two decimals", n, rng)) for n in (200, 600)] for _ in range(200)]
    assert min(in_both(*pair)[1] for pair in sets) > 1e-4


def test_sparse_scores() -> None:
    rng = np.random.default_rng(6)
    assert is_sparse(rng.random(300).round(4))
    assert is_sparse(100 * rng.random(300))
    assert not is_sparse(rng.random(300).round(2))
    assert not is_sparse(np.array([0.0, 1.0, 1.0, 0.0]))
    assert not is_sparse(np.linspace(0, 1, 201).round(3)), "spread evenly"
