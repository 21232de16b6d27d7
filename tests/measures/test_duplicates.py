"""Copies and near copies: counted by hand, held against a search by brute force."""

import numpy as np
import pytest

from trustreport.measures.duplicates import copies, nearest, repeats, row_keys


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
