"""Degree of correspondence and energy distance: references, hand counts, properties, edges."""

from itertools import combinations
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from trustreport.api.parallel import Backend, workers
from trustreport.measures.similarity import features as distance_module
from trustreport.measures.similarity import notes, permutation
from trustreport.measures.similarity.correspondence import correspondence, mmd
from trustreport.measures.similarity.features import (
    Features,
    as_ties,
    distances,
    neighbours,
    one_by_one,
    standardise,
)
from trustreport.measures.similarity.permutation import divisions, observed_and_random, subsets, upper_tail

Floats = NDArray[np.float64]


def as_defined(training: Floats, external: Floats) -> tuple[float, float]:
    """Both statistics word by word, without any of the package's shortcuts."""
    n, m = len(training), len(external)
    within, across, outside = cdist(training, training), cdist(external, training), cdist(external, external)
    nearest = as_ties(across, 1).argmin(axis=1)
    degree = (across.sum(axis=1) - within.sum(axis=1)[nearest]).mean()
    return float(degree), float(n * m / (n + m) * (2 * across.mean() - within.mean() - outside.mean()))


@pytest.mark.parametrize(
    "name", ["heart_ext_hungarian", "heart_ext_switzerland", "heart_ext_va", "breast_ext_gbsg"]
)
def test_statistic_and_null_agree_with_other_code(
    name: str, sites: dict[str, Features], expected: dict[tuple[str, str], dict[str, Any]]
) -> None:
    found = correspondence(sites[name], np.random.default_rng(1), permutations=1999)
    details = found.degree_of_correspondence.details
    assert details["statistic"] == pytest.approx(expected[name, "psi_statistic"]["value"], abs=1e-6)
    null = expected[name, "psi_p"]
    assert details["null_mean"] == pytest.approx(null["null_mean"], abs=6 * null["null_sd"] / np.sqrt(1999))
    assert details["null_sd"] == pytest.approx(null["null_sd"], rel=0.1)


def test_where_training_cases_tie_the_first_counts(
    sites: dict[str, Features], expected: dict[tuple[str, str], dict[str, Any]]
) -> None:
    """16 Rotterdam cases have several nearest training cases; the reference took others than the first."""
    name = "breast_ext_rotterdam_1990_1993"
    both = sites[name]
    across, own = cdist(both.external, both.training), cdist(both.training, both.training).sum(axis=1)
    tied = np.abs(across - across.min(axis=1, keepdims=True)) < 1e-9
    assert (tied.sum(axis=1) > 1).sum() == 16
    far = across.sum(axis=1)
    lowest, highest = (
        float((far - pick).mean())
        for pick in (np.where(tied, own, -np.inf).max(axis=1), np.where(tied, own, np.inf).min(axis=1))
    )
    found = correspondence(both, np.random.default_rng(1), permutations=19).degree_of_correspondence
    assert found.details["statistic"] == pytest.approx(
        float((far - own[tied.argmax(axis=1)]).mean()), abs=1e-9
    )
    assert lowest <= expected[name, "psi_statistic"]["value"] <= highest


def test_hand_count() -> None:
    """Training 0, 1, 2, 3 and external 4, 6, 8, 10 on a line.

    R at 4, 6, 8, 10: 10, 18, 26, 34, mean 22; the nearest is always 3 with R 6; statistic 16. Energy: mean
    across 22 / 4, within 20 / 16 and 40 / 16; 16 / 8 x (11 - 1.25 - 2.5) = 14.5.
    """
    pooled = np.array([[0.0], [1], [2], [3], [4], [6], [8], [10]])
    between = distances(pooled)
    order, rng = neighbours(between, 4), np.random.default_rng(0)
    seen, total, _ = observed_and_random(between, 4, 19, rng, order=order)
    assert seen.correspondence[0] == pytest.approx(16)
    assert (seen.within[0], seen.between[0]) == pytest.approx((20, 88))
    assert total == pytest.approx(20 + 2 * 88 + 40)
    found = correspondence(Features(pooled[:4], pooled[4:]), np.random.default_rng(0), permutations=999)
    assert found.energy_distance.value == pytest.approx(14.5)


def test_permutation_p_is_that_of_all_divisions() -> None:
    rng = np.random.default_rng(4)
    both = standardise(rng.normal(size=(6, 2)), rng.normal(0.8, 1, (4, 2)))
    pooled = both.pooled
    every = []
    for chosen in combinations(range(10), 6):
        inside = np.isin(np.arange(10), chosen)
        every.append(as_defined(pooled[inside], pooled[~inside]))
    seen = as_defined(both.training, both.external)
    exact = (np.array(every) >= np.array(seen) - 1e-9).mean(axis=0)
    found = correspondence(both, rng, permutations=9999)
    for p, mine in zip(exact, (found.degree_of_correspondence, found.energy_distance)):
        assert mine.p == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 9999) + 1e-4)


@pytest.mark.parametrize("n, m", [(5, 60), (60, 5), (30, 30)])
@pytest.mark.parametrize("values", ["normal", "grid"])
def test_shortcuts_change_nothing(n: int, m: int, values: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ordered neighbours, few of them, blocks of rows: each division gives the statistics as defined."""
    rng = np.random.default_rng(5)
    pooled = rng.normal(size=(n + m, 3)) if values == "normal" else rng.integers(0, 3, (n + m, 3)) * 1.0
    inside = np.zeros((n + m, 40), dtype=bool)
    for column in inside.T:
        column[rng.choice(n + m, n, replace=False)] = True
    wanted = np.array([as_defined(pooled[one], pooled[~one])[0] for one in inside.T])
    held = distances(pooled)
    for k in (neighbours(held, n), neighbours(held, n)[:2]):
        assert divisions(held, inside, k).correspondence == pytest.approx(wanted, rel=1e-12, abs=1e-9)
    monkeypatch.setattr(distance_module, "BLOCK", 200)
    remade = distances(pooled, held=0)
    monkeypatch.setattr(distance_module, "SORTED", 200)
    monkeypatch.setattr(distance_module, "TASK", 7)
    assert len(list(remade.every_block())) > 1
    order = neighbours(remade, n)
    assert (order == neighbours(held, n)).all()
    assert divisions(remade, inside, order).correspondence == pytest.approx(wanted, rel=1e-12, abs=1e-9)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(8, 120),
    values=st.sampled_from([1, 3, 0]),
    k=st.integers(1, 7),
    held=st.sampled_from([0, 10**6]),
)
def test_neighbours_are_those_of_all_distances_in_order(
    seed: int, n: int, values: int, k: int, held: int
) -> None:
    """Whether groups, ties (whole numbers) or the matrix help to find them; equals in the order of cases."""
    rng = np.random.default_rng(seed)
    points = rng.integers(0, values, (n, 2)) * 1.0 if values else rng.normal(size=(n, 2))
    between = distances(points, held=held)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distance_module, "SORTED", 5 * n)
        patch.setattr(distance_module, "GROUPS", 1)
        patch.setattr(distance_module, "ORDERED", k * n)
        found = neighbours(between, n // 2)
    keys = as_ties(between.rows(0, n), n).astype(float)
    np.fill_diagonal(keys, np.inf)
    np.testing.assert_array_equal(found, np.argsort(keys, axis=1, kind="stable").T[: len(found)])


@pytest.mark.parametrize("held", [0, 10**6])
def test_the_observed_division_beside_random_ones_has_the_sums_it_has_alone(held: int) -> None:
    points = np.random.default_rng(4).normal(size=(300, 3))
    between = distances(points, held=held)
    order = neighbours(between, 100)
    seen, total, drawn = observed_and_random(between, 100, 300, np.random.default_rng(1), order=order)
    alone = divisions(between, np.arange(300)[:, None] < [100, 300], order)
    assert repr(alone[:1]) == repr(seen)
    assert total == alone.within[1]
    assert len(drawn.within) == 300


@pytest.mark.parametrize("backend", ["threading", "loky", pytest.param("dask", marks=pytest.mark.slow)])
def test_any_backend_gives_the_same(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    both = standardise(rng.normal(size=(80, 3)), rng.normal(0.1, 1, (50, 3)))
    alone = correspondence(both, np.random.default_rng(3), permutations=999)
    monkeypatch.setattr(permutation, "HELD", 130 * 512)
    monkeypatch.setattr(permutation, "ROWS", 40)
    remade = distances(both.pooled, held=0)
    with workers(2, backend) as run:
        by_rows, here = (
            correspondence(both, np.random.default_rng(3), permutations=999, between=remade, run=how)
            for how in (run, one_by_one)
        )
        kernel, kernel_here = (
            mmd(both, np.random.default_rng(3), permutations=199, run=how) for how in (run, one_by_one)
        )
    assert repr(kernel) == repr(kernel_here)
    for name in ("degree_of_correspondence", "energy_distance"):
        one, two, three = (getattr(found, name) for found in (by_rows, here, alone))
        assert repr(one) == repr(two)
        assert one.p == three.p


@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_sums_of_rows_are_exact_in_any_order(gamma: float) -> None:
    """So no thread, worker or library of linear algebra can change a digit."""
    rng = np.random.default_rng(12)
    points = rng.normal(size=(700, 4)) * 3
    held = distances(points, gamma=gamma)
    assert held.matrix is not None
    turned = rng.permutation(700)
    member = (rng.random((700, 30)) < 0.4).astype(float)
    one, other = held.matrix @ member, held.matrix[:, turned] @ member[turned]
    assert (one == other).all()
    assert held.matrix[0].sum() == np.cumsum(held.matrix[0])[-1]
    unrounded = cdist(points, points)
    wanted = np.exp(-gamma * unrounded**2) if gamma else unrounded
    assert np.abs(held.matrix - wanted).max() < 1e-11


def test_city_block_distances_serve_neighbours_and_sums() -> None:
    """Hand count: by the city-block distance (3, 3) is nearer to (0, 5) than to (0, 0), by the other not."""
    training = np.array([[0.0, 0], [0, 5.5], [9, 9], [-9, 9]])
    external = np.array([[3.0, 3], [0, 5.5], [9, 9], [-9, 9]])
    both = Features(training, external)
    found = correspondence(both, np.random.default_rng(0), permutations=19, metric="cityblock")
    of_training = np.abs(training[:, None] - training).sum(axis=(1, 2))
    to_training = np.abs(external[:, None] - training).sum(axis=(1, 2))
    wanted = (to_training - of_training[[1, 1, 2, 3]]).mean()
    assert found.degree_of_correspondence.details["statistic"] == pytest.approx(wanted)
    assert notes.BY_FEATURE in found.energy_distance.note


def test_same_seed_same_result_other_seed_another() -> None:
    rng = np.random.default_rng(8)
    both = standardise(rng.normal(size=(40, 2)), rng.normal(size=(30, 2)))
    one, again, other = (
        correspondence(both, np.random.default_rng(seed), permutations=499).energy_distance
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one.details["null_mean"] != other.details["null_mean"]


def test_divisions_are_of_the_right_size_and_differ() -> None:
    points = distances(np.random.default_rng(0).normal(size=(12, 1)))
    for n in (4, 9):
        _, _, drawn = observed_and_random(points, n, 600, np.random.default_rng(2))
        assert len(drawn.within) == 600
        total = float(points.rows(0, 12).sum())
        assert np.mean(drawn.within) == pytest.approx(total * n * (n - 1) / (12 * 11), rel=0.03)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.lists(st.floats(0.01, 100), min_size=3, max_size=3),
    shift=st.floats(-1e3, 1e3),
)
def test_units_of_the_features_do_not_matter(seed: int, scale: list[float], shift: float) -> None:
    rng = np.random.default_rng(seed)
    training, external = rng.normal(size=(20, 3)), rng.normal(0.5, 1, (15, 3))
    one, other = (
        correspondence(standardise(*sets), np.random.default_rng(1), permutations=99)
        for sets in ((training, external), (training * scale + shift, external * scale + shift))
    )
    assert one.degree_of_correspondence.p == other.degree_of_correspondence.p
    assert one.energy_distance.value == pytest.approx(other.energy_distance.value, rel=1e-6)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_row_order_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    both = standardise(rng.normal(size=(20, 3)), rng.normal(0.5, 1, (15, 3)))
    other = Features(rng.permutation(both.training), rng.permutation(both.external))
    one, two = (correspondence(sets, np.random.default_rng(1), permutations=19) for sets in (both, other))
    for name in ("degree_of_correspondence", "energy_distance"):
        first, second = getattr(one, name), getattr(two, name)
        assert first.details["statistic"] == pytest.approx(second.details["statistic"], rel=1e-9, abs=1e-9)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1))
def test_energy_distance_is_symmetric_and_not_negative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(12, 3)), rng.normal(size=(7, 3))
    one, other = (
        correspondence(Features(*sets), np.random.default_rng(1), permutations=19).energy_distance.value
        for sets in ((a, b), (b, a))
    )
    assert one == pytest.approx(other, rel=1e-9)
    assert one >= 0


def test_crowded_external_set_is_seen_by_the_energy_distance_alone() -> None:
    """spec: concentrated external cases look fundamentally similar to the one-sided statistic."""
    rng = np.random.default_rng(9)
    found = correspondence(
        standardise(rng.normal(size=(300, 10)), rng.normal(0, 0.5, (150, 10))), rng, permutations=199
    )
    assert found.degree_of_correspondence.p == 1
    assert found.energy_distance.p == 0.005


@pytest.mark.parametrize(
    "training, external, note",
    [
        (np.zeros((3, 2)), np.ones((9, 2)), notes.TOO_FEW),
        (np.zeros((9, 2)), np.ones((1, 2)), notes.TOO_FEW),
        (np.zeros((0, 2)), np.ones((9, 2)), notes.TOO_FEW),
        (np.zeros((9, 0)), np.ones((9, 0)), notes.NO_FEATURE),
        (np.full((9, 2), 0.1), np.full((5, 2), 0.1), notes.ALL_ALIKE),
    ],
)
def test_undefined_with_its_reason(training: Floats, external: Floats, note: str) -> None:
    found = correspondence(standardise(training, external), np.random.default_rng(0))
    for estimate in (found.degree_of_correspondence, found.energy_distance, found.standardised_statistic):
        assert isnan(estimate.value)
        assert estimate.note == note


def test_feature_constant_in_training_counts_in_its_own_unit() -> None:
    rng = np.random.default_rng(0)
    training, external = rng.normal(size=(9, 2)), rng.normal(size=(5, 2))
    training[:, 1], external[:, 1] = 0.1, 2.1
    both = standardise(training, external)
    assert both.external[:, 1] == pytest.approx(2.0)
    assert not both.training[:, 1].any()
    assert notes.CONSTANT_IN_TRAINING in correspondence(both, rng, permutations=19).energy_distance.note


def test_p_counts_the_observed_division_and_ties() -> None:
    tail = upper_tail(2.0, np.array([1.0, 2.0 - 1e-12, 3.0, 0.0]))
    assert tail.p == pytest.approx(3 / 5)
    same = upper_tail(0.0, np.zeros(99))
    assert (same.p, same.null_sd) == (1.0, 0.0)
    assert isnan(same.details["standardised"])


@pytest.mark.parametrize("permutations", [0, 18, 99.5])
def test_too_few_permutations_are_refused(permutations: int) -> None:
    both = standardise(np.eye(5), np.eye(5))
    with pytest.raises(ValueError, match="from 19 on"):
        correspondence(both, np.random.default_rng(0), permutations=permutations)


@pytest.mark.parametrize(("n", "size"), [(2, 1), (10, 5), (200, 100), (400, 150), (400, 200), (12_000, 30)])
def test_subsets_are_those_that_numpy_chooses_one_by_one(n: int, size: int) -> None:
    found = subsets(n, size, np.random.default_rng(5), 190)
    rng = np.random.default_rng(5)
    for column in found.T:
        assert np.flatnonzero(column).tolist() == sorted(rng.choice(n, size, replace=False, shuffle=False))
