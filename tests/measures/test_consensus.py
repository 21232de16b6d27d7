"""The reference that is the readers' own majority: simulated truths, counts by hand, ties, gaps."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm, poisson

from trustreport.measures.label_accuracy import consensus


def read(n_readers: int, n: int, skill: float, shared: float, seed: int) -> tuple[NDArray[np.bool_], ...]:
    """Truth and votes; `shared` is the part of the variance that the readers have in common on a case."""
    rng = np.random.default_rng(seed)
    truth, hard = rng.random(n) < 0.4, rng.normal(size=n)
    seen = np.sqrt(shared) * hard + np.sqrt(1 - shared) * rng.normal(size=(n_readers, n))
    right = seen < norm.ppf(skill)
    return truth, np.where(right, truth, ~truth).astype(float)


def majority(votes: NDArray[np.float64]) -> NDArray[np.bool_]:
    return votes.sum(axis=0) * 2 > len(votes)


def test_by_hand() -> None:
    """Three readers, each right in nine of ten of either class: two to one is wrong once in ten."""
    right = np.ones((3, 20))
    for j, cases in enumerate(((0, 1), (2, 3), (4, 5))):
        right[j, cases] = 0
    truth = np.repeat([True, False], 20)
    found = consensus(truth, np.where(truth, np.tile(right, 2), 1 - np.tile(right, 2)))
    hit = 18.5 / 21  # with half a reading added to either side
    two_to_one, unanimous = 1 - hit, 1 / (1 + (hit / (1 - hit)) ** 3)
    assert (found.n, found.contested, found.against) == (40, 12, 0)
    assert found.expected == pytest.approx(12 * two_to_one + 28 * unanimous)
    assert found.p == pytest.approx(poisson.cdf(0, found.expected))


@pytest.mark.parametrize("n_readers, skill", [(3, 0.8), (5, 0.75), (7, 0.7)])
def test_what_independent_readers_are_expected_to_get_wrong(n_readers: int, skill: float) -> None:
    """A hundred truths: as many majorities are wrong as expected, to four standard errors."""
    found = [consensus(*read(n_readers, 200, skill, 0.0, seed)) for seed in range(100)]
    against = np.array([one.against for one in found])
    expected = np.mean([one.expected for one in found])
    assert abs(against.mean() - expected) < 4 * against.std() / 10


@pytest.mark.parametrize("n_readers", [3, 4, 5, 6, 8])
@pytest.mark.parametrize("shared", [0.0, 0.3])
def test_a_reference_of_its_own_is_not_taken_for_a_consensus(n_readers: int, shared: float) -> None:
    found = [consensus(*read(n_readers, 150, 0.85, shared, seed)) for seed in range(150)]
    assert sum(one.p <= 0.01 for one in found) <= 4, "of 150, where one in a hundred is to be expected"


def test_a_majority_is_found_and_so_are_ties_decided_one_way() -> None:
    _, votes = read(5, 300, 0.8, 0.2, 1)
    assert consensus(majority(votes), votes).p < 0.001
    _, votes = read(6, 300, 0.8, 0.2, 2)
    decided = consensus(votes.sum(axis=0) >= 3, votes)
    assert (decided.n, decided.against) == (300, 0)
    assert decided.p < 0.001


def test_missing_decisions_are_no_votes() -> None:
    truth, votes = read(5, 200, 0.75, 0.2, 3)
    votes[4, ::2] = np.nan
    found = consensus(truth, votes)
    of_four = consensus(truth[::2], votes[:4, ::2])
    assert found.against >= of_four.against
    assert np.isfinite(found.expected)
