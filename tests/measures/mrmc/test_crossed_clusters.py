"""Readers who read several cases of a patient: patients are left out in turn, not cases."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from tests.english import english
from trustreport.measures.mrmc.auc import fit_auc
from trustreport.measures.mrmc.crossed_clusters import (
    FIXED,
    clustered_areas,
    clustered_means,
    clustered_youden,
)
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.measures.mrmc.youden import fit_youden

Floats = NDArray[np.float64]
CHANGE = np.array([-1.0, 1.0])


def drawn(seed: int, n_cases: int = 60, readers: int = 6) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Decisions that are right or wrong, ratings, and the truth of the cases."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_cases) % 3 == 0
    right = (rng.random((2, readers, n_cases)) < np.array([0.7, 0.8])[:, None, None]).astype(float)
    rating = rng.normal(truth * np.array([1.0, 1.6])[:, None, None], 1, (2, readers, n_cases))
    return right, rating, truth


def test_with_one_case_of_each_patient_it_is_obuchowski_rockette() -> None:
    right, rating, truth = drawn(1)
    own = np.arange(len(truth))
    pairs = [
        (clustered_means(right, own), fit_proportions(right)),
        (clustered_areas(rating, truth, own), fit_auc(rating, truth)),
    ]
    for found, fit in pairs:
        wanted = fit.difference(1, 0)
        e = found.difference(1, 0)
        assert (e.value, e.se) == (pytest.approx(wanted.value), pytest.approx(wanted.se))
        assert e.df == pytest.approx(min(wanted.df, len(own) - 1))
        assert found.arm_mean(1).se == pytest.approx(fit.arm_mean(1).se)
    both = clustered_youden(right, truth, own).difference(1, 0)
    assert both.se == pytest.approx(fit_youden(right, truth).difference(1, 0).se)


def test_areas_are_those_without_each_patient_in_turn() -> None:
    """The jackknife by hand, areas by SciPy's Mann-Whitney statistic; patients have cases of both classes."""
    _, rating, truth = drawn(2)
    patient = np.arange(len(truth)) // 4
    found = clustered_areas(rating, truth, patient)

    def areas(of: NDArray[np.bool_]) -> Floats:
        pairs = (truth & of).sum() * (~truth & of).sum()
        return np.array(
            [[mannwhitneyu(one[truth & of], one[~truth & of])[0] / pairs for one in arm] for arm in rating]
        )

    everybody = np.ones(len(truth), bool)
    assert found.means == pytest.approx(areas(everybody).mean(axis=1))
    without = np.array([areas(patient != p).mean(axis=1) @ CHANGE for p in np.unique(patient)])
    n = len(without)
    by_hand = (n - 1) / n * ((without - without.mean()) ** 2).sum()
    assert found._variance(CHANGE, FIXED) == (pytest.approx(by_hand), n - 1)


def test_shares_with_readings_missing_are_those_without_each_patient_in_turn() -> None:
    right, _, truth = drawn(3, readers=1)
    right[np.random.default_rng(4).random(right.shape) < 0.2] = np.nan
    patient = np.arange(len(truth)) // 3
    found = clustered_means(right, patient).arm_mean(0)
    one = right[0, 0]
    without = np.array([np.nanmean(one[patient != p]) for p in np.unique(patient)])
    n = len(without)
    by_hand = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    assert (found.value, found.se) == (pytest.approx(np.nanmean(one)), pytest.approx(by_hand, rel=0.02))


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
def test_copies_of_cases_within_their_patients_narrow_nothing(seed: int, times: int, gaps: bool) -> None:
    right, rating, truth = drawn(seed, 24, 3)
    if gaps:
        away = np.random.default_rng(seed).random(right.shape) < 0.15
        right[away] = rating[away] = np.nan
    patient = np.arange(24) // 2

    def doubled(x: Floats) -> Floats:
        return np.repeat(x, times, axis=-1)

    for make in (clustered_means, lambda x, c: clustered_areas(x, np.repeat(truth, x.shape[2] // 24), c)):
        grid = right if make is clustered_means else rating
        one, other = make(grid, patient), make(doubled(grid), np.repeat(patient, times))
        assert other.means == pytest.approx(one.means, nan_ok=True)
        assert other.difference(1, 0).se == pytest.approx(one.difference(1, 0).se, nan_ok=True)


def test_a_single_patient_gives_no_interval() -> None:
    right, rating, truth = drawn(5)
    alone = np.zeros(len(truth), np.int64)
    for found in (clustered_means(right, alone), clustered_areas(rating, truth, alone)):
        e = found.difference(1, 0)
        assert np.isnan(e.low)
        assert "clusters" in english(e.note)
