"""Protocols of use: every combination of decisions by hand, published formulas by enumeration, times."""

from itertools import product
from math import isnan, nan

import numpy as np
import pytest

from trustreport.measures.protocols import PROTOCOLS, by_formula, decisions, pseudo_values, reader_time

# Three readers, four cases; the device is positive on the first two.
READER = np.array([[1.0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 0]])
ADVICE = np.tile([1.0, 1, 0, 0], (3, 1))
ASSISTED = np.array([[1.0, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]])


def test_every_protocol_by_hand() -> None:
    ruled_out = np.tile([False, False, False, True], (3, 1))
    found = decisions(READER, ADVICE, ASSISTED, ruled_out)
    assert tuple(found) == PROTOCOLS
    assert found["second_reader"].tolist() == [[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    assert found["consensus"].tolist() == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]
    # Where a reader and the device differ, the mean of the two other readers decides.
    assert found["arbitration"].tolist() == [[1, 0.5, 0.5, 0], [1, 1, 0, 0], [1, 0.5, 0.5, 0]]
    assert found["assistance"].tolist() == ASSISTED.tolist()
    assert found["triage"][:, 3].tolist() == [0, 0, 0]
    assert found["triage"][:, :3].tolist() == READER[:, :3].tolist()


def test_pseudo_values_of_arbitration_are_the_jackknife_of_pairs_of_readers() -> None:
    """n times the mean over pairs of n readers, less n - 1 times that without a reader, but for a factor."""
    rng = np.random.default_rng(3)
    reader = (rng.random((7, 40)) < 0.6).astype(float)
    device = np.tile((rng.random(40) < 0.7).astype(float), (7, 1))

    def mean(readers: list[int]) -> np.ndarray:
        pairs = [(j, k) for j, k in product(readers, readers) if j != k]
        decided = [np.where(reader[j] == device[j], reader[j], reader[k]) for j, k in pairs]
        return np.mean(decided, axis=0)

    found = pseudo_values(decisions(reader, device, reader)["arbitration"], reader, device)
    every = list(range(7))
    whole = mean(every)
    assert found.mean(axis=0) == pytest.approx(whole)
    jackknife = [7 * whole - 6 * mean([k for k in every if k != j]) for j in every]
    assert found - whole == pytest.approx((np.array(jackknife) - whole) * 5 / 6)
    assert found.mean(axis=1).var() > 2 * decisions(reader, device, reader)["arbitration"].mean(axis=1).var()


def test_what_is_unknown_stays_unknown() -> None:
    gaps = READER.copy()
    gaps[0, 0] = nan
    found = decisions(gaps, np.where(np.arange(4) == 1, nan, ADVICE), ASSISTED)
    assert isnan(found["second_reader"][0, 0])
    assert isnan(found["consensus"][1, 1])
    assert np.isnan(found["arbitration"][:, 0]).all()  # two readers of that case
    assert found["assistance"][0, 0] == ASSISTED[0, 0]  # it was read, whatever the reader said alone
    assert "triage" not in found
    assert "arbitration" not in decisions(READER[:2], ADVICE[:2], ASSISTED[:2])
    told = ADVICE.copy()
    told[0, 2] = 1 - told[1, 2]
    of_reader = decisions(READER, told, ASSISTED)
    assert np.isnan(of_reader["device_alone"][:, 2]).all()  # it told readers of the case different things
    assert not np.isnan(of_reader["consensus"]).any()
    assert set(decisions(READER, np.full((3, 4), nan), np.full((3, 4), nan))) == {"reader_alone"}


@pytest.mark.parametrize(("x", "y"), [(0.8, 0.9), (0.6, 0.55), (1.0, 0.7)])
def test_the_majority_of_two_readers_and_the_device_by_enumeration(x: float, y: float) -> None:
    chance = {
        pattern: np.prod([p if right else 1 - p for p, right in zip((x, x, y), pattern)])
        for pattern in product((0, 1), repeat=3)
    }
    majority = sum(p for pattern, p in chance.items() if sum(pattern) > 1)
    found = by_formula(x, y)
    assert found["displacement"] == (pytest.approx(majority), pytest.approx(majority))
    both, either = x * y, 1 - (1 - x) * (1 - y)
    assert found["inhibition"] == (pytest.approx(both), pytest.approx(either))
    assert found["better_of_both"][0] == max(x, y)


def test_times_of_readers() -> None:
    alone, aided = np.array([[30.0, 40, 50, 60]] * 3), np.full((3, 4), 20.0)
    ruled_out = np.tile([False, False, False, True], (3, 1))

    def time(name: str) -> np.ndarray:
        found = reader_time(name, alone, aided, READER, ADVICE, ruled_out)
        assert found is not None
        return found

    assert time("device_alone").sum() == 0
    assert time("assistance").tolist() == aided.tolist()
    assert time("triage")[0].tolist() == [30, 40, 50, 0]
    assert time("arbitration")[0].tolist() == [30, 80, 100, 60]
    assert reader_time("reader_alone", np.full((3, 4), nan), aided, READER, ADVICE, None) is None
