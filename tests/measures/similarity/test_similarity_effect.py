"""Features, kernel test, size-free measures, p-values at a fixed size."""

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from trustreport.measures.similarity import notes
from trustreport.measures.similarity.correspondence import mmd
from trustreport.measures.similarity.effect import at_fixed_size, domain_classifier, normalised_energy
from trustreport.measures.similarity.features import Features, mixed, standardise


def test_standardised_by_the_training_cases_alone() -> None:
    rng = np.random.default_rng(1)
    training, external = rng.normal(5, 3, (50, 4)), rng.normal(size=(20, 4))
    both = standardise(training, external)
    assert both.training.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert both.training.std(axis=0) == pytest.approx(1)
    assert both.external == pytest.approx((external - training.mean(axis=0)) / training.std(axis=0))
    assert not both.note


def test_categories_lie_one_apart_and_codes_have_no_order() -> None:
    training, external = np.array([[1.0, 10], [2, 11], [3, 11], [7, 12]]), np.array([[2.0, 99], [1, 10]])
    one = mixed(training, external, [0])
    assert one.training.shape == (4, 1 + 4)
    categories = np.vstack([one.training, one.external])[:, 1:]
    apart = cdist(categories, categories)
    assert set(apart.round(12).ravel()) == {0.0, 1.0}
    assert apart[0, 1] == pytest.approx(1)
    assert apart[1, 4] == 0
    renamed = mixed(
        np.column_stack([-training[:, 0], training[:, 1]]),
        np.column_stack([-external[:, 0], external[:, 1]]),
        [0],
    )
    assert cdist(one.pooled, one.pooled) == pytest.approx(cdist(renamed.pooled, renamed.pooled))


def test_standardised_by_all_cases_or_not_at_all() -> None:
    rng = np.random.default_rng(1)
    training, external = rng.normal(5, 3, (50, 4)), rng.normal(size=(20, 4))
    pooled = standardise(training, external, by="pooled").pooled
    assert pooled.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert pooled.std(axis=0) == pytest.approx(1)
    assert (standardise(training, external, by="none").external == external).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_values_are_refused_with_their_place(value: float) -> None:
    external = np.ones((4, 3))
    external[2, 1] = value
    with pytest.raises(ValueError, match="external, row 2, feature 1: found"):
        standardise(np.eye(4, 3), external)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="found 2 features, expected the 3"):
        standardise(np.eye(3), np.ones((4, 2)))
    with pytest.raises(ValueError, match="one row a case"):
        standardise(np.ones(3), np.ones((4, 2)))
    with pytest.raises(ValueError, match="found column 3, expected columns from 0 to 2"):
        mixed(np.eye(3), np.eye(3), [3])


def test_mmd_hand_count() -> None:
    """Points 0, 0, 0, 1 and 3, 4, 4, 4: of 28 pairs 12 within lie 0 or 1, 16 across 2 to 4 apart."""
    a, b = np.array([[0.0], [0], [0], [1]]), np.array([[3.0], [4], [4], [4]])
    found = mmd(Features(a, b), np.random.default_rng(0), permutations=99)
    assert found.details["kernel_width"] == pytest.approx(3)

    def k(x: float) -> float:
        return float(np.exp(-(x**2) / 18))

    within = (3 + 3 * k(1)) / 6
    across = (9 * k(4) + 3 * k(3) + 3 * k(3) + k(2)) / 16
    assert found.value == pytest.approx(2 * within - 2 * across, rel=1e-12)


def test_mmd_mean_is_zero_for_one_source_and_sees_spread() -> None:
    rng = np.random.default_rng(2)
    values = [
        mmd(standardise(rng.normal(size=(30, 3)), rng.normal(size=(20, 3))), rng, permutations=19).value
        for _ in range(200)
    ]
    assert np.mean(values) == pytest.approx(0, abs=4 * np.std(values) / sqrt(200))
    spread = mmd(standardise(rng.normal(size=(200, 3)), rng.normal(0, 0.5, (100, 3))), rng, permutations=99)
    assert spread.p == 0.01


def test_mmd_without_a_kernel_width() -> None:
    found = mmd(Features(np.zeros((9, 1)), np.append(np.zeros(8), 1)[:, None]), np.random.default_rng(0))
    assert isnan(found.value)
    assert found.note == notes.HALF_ALIKE


def test_normalised_energy_hand_count() -> None:
    """0, 1, 2, 3 against 4, 6, 8, 10: across 5.5, within 5/3 and 10/3: 1 - 5 / 11."""
    found = normalised_energy(Features(np.arange(4.0)[:, None], np.array([[4.0], [6], [8], [10]])))
    assert found.value == pytest.approx(1 - 5 / 11)


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), factor=st.floats(0.01, 100))
def test_normalised_energy_has_no_unit_and_no_order(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(15, 2)), rng.normal(1, 1, (10, 2))
    one, other = normalised_energy(Features(a, b)), normalised_energy(Features(b[::-1] * factor, a * factor))
    assert one.value == pytest.approx(other.value, rel=1e-9, abs=1e-12)
    assert one.se == pytest.approx(other.se, rel=1e-9)
    assert one.value <= 1


def test_normalised_energy_interval_holds_the_value_of_the_sources() -> None:
    """Normal sets one SD apart in each of two features; the coefficient by 4,000 cases each."""
    rng = np.random.default_rng(3)
    true = normalised_energy(Features(rng.normal(size=(4000, 2)), rng.normal(1, 1, (4000, 2)))).value
    held = [
        found.low <= true <= found.high
        for found in (
            normalised_energy(Features(rng.normal(size=(80, 2)), rng.normal(1, 1, (60, 2))))
            for _ in range(300)
        )
    ]
    assert 0.90 <= np.mean(held) <= 0.99


def test_sizes_do_not_grow_with_the_number_of_cases() -> None:
    rng = np.random.default_rng(4)
    for measure in (normalised_energy, lambda both: domain_classifier(both, rng)):
        small, large = (
            np.mean(
                [
                    measure(standardise(rng.normal(size=(n, 3)), rng.normal(0.5, 1, (n, 3)))).value
                    for _ in range(1600 // n)
                ]
            )
            for n in (80, 800)
        )
        assert small == pytest.approx(large, abs=0.04)


def test_classifier_is_at_chance_for_one_source_and_sees_shift_and_spread() -> None:
    rng = np.random.default_rng(5)
    same = [
        domain_classifier(standardise(rng.normal(size=(60, 3)), rng.normal(size=(40, 3))), rng)
        for _ in range(100)
    ]
    assert np.mean([found.value for found in same]) == pytest.approx(0.5, abs=0.03)
    spread = domain_classifier(standardise(rng.normal(size=(300, 3)), rng.normal(0, 0.3, (200, 3))), rng)
    assert spread.low > 0.8
    apart = domain_classifier(standardise(rng.normal(size=(30, 2)), rng.normal(50, 1, (30, 2))), rng)
    assert apart.value == 1
    assert notes.NO_VARIATION in apart.note


def test_classifier_stands_repeated_and_constant_features() -> None:
    rng = np.random.default_rng(6)
    training, external = rng.normal(size=(40, 1)), rng.normal(1, 1, (30, 1))
    pair = (np.hstack([cases, cases, np.ones_like(cases)]) for cases in (training, external))
    assert domain_classifier(standardise(*pair), rng).value > 0.6


def test_classifier_needs_cases_for_its_folds() -> None:
    found = domain_classifier(standardise(np.eye(9), np.eye(9)), np.random.default_rng(0))
    assert isnan(found.value)
    assert found.note == notes.TOO_FEW_FOR_FOLDS
    with pytest.raises(ValueError, match="folds must be 2 or more"):
        domain_classifier(standardise(np.eye(9), np.eye(9)), np.random.default_rng(0), folds=1)


def test_fixed_size_does_not_reward_many_cases() -> None:
    rng = np.random.default_rng(7)
    medians = []
    for n in (100, 1000):
        both = standardise(rng.normal(size=(n, 3)), rng.normal(0.4, 1, (n, 3)))
        medians.append(at_fixed_size(both, rng, size=30, permutations=99).energy_distance)
    assert medians[0].value == pytest.approx(medians[1].value, abs=0.25)
    assert medians[0].details["quartile_low"] <= medians[0].value <= medians[0].details["quartile_high"]
    assert at_fixed_size(both, np.random.default_rng(1), size=20, repeats=3) == at_fixed_size(
        both, np.random.default_rng(1), size=20, repeats=3
    )


def test_fixed_size_needs_that_many_cases() -> None:
    found = at_fixed_size(standardise(np.eye(9), np.eye(9)), np.random.default_rng(0), size=10)
    assert found.energy_distance.note == notes.SMALLER_THAN_SUBSAMPLE
    with pytest.raises(ValueError, match="size must be 4 or more"):
        at_fixed_size(standardise(np.eye(9), np.eye(9)), np.random.default_rng(0), size=3)
    for why in (normalised_energy, lambda both: mmd(both, np.random.default_rng(0))):
        assert why(standardise(np.eye(3), np.eye(3))).note == notes.TOO_FEW
