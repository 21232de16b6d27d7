"""Net interventions avoided from their definition, with and without clusters."""

import numpy as np
import pytest

from tests.english import english
from trustreport.measures.net_benefit import interventions_avoided, net_benefit_mover, treat_all

TRUTH = (7 * np.arange(120)) % 10 < 3
RISKS = ((37 * np.arange(120)) % 97) / 130 + 0.2 * TRUTH


@pytest.mark.parametrize("threshold", [0.05, 0.2, 0.6])
def test_it_is_net_benefit_beyond_treating_everybody_in_interventions(threshold: float) -> None:
    gained = net_benefit_mover(TRUTH, RISKS, threshold).value - treat_all(TRUTH, threshold).value
    found = interventions_avoided(TRUTH, threshold <= RISKS, threshold)
    assert found.value == pytest.approx(gained / (threshold / (1 - threshold)), abs=1e-12)
    assert found.low < found.value < found.high


def test_at_threshold_zero_it_is_undefined() -> None:
    assert english(interventions_avoided(TRUTH, RISKS >= 0, 0.0).note).startswith("at a threshold of 0")


def test_cases_that_are_copies_widen_the_interval() -> None:
    truth, called, cluster = (np.repeat(x, 4) for x in (TRUTH, RISKS >= 0.3, np.arange(120)))
    alone, grouped = (interventions_avoided(truth, called, 0.3, cluster=c) for c in (None, cluster))
    once = interventions_avoided(TRUTH, RISKS >= 0.3, 0.3)
    assert alone.high - alone.low < 0.6 * (grouped.high - grouped.low)
    assert grouped.high - grouped.low == pytest.approx(once.high - once.low, rel=0.06)
