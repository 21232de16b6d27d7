"""Gain of readers between groups of cases: values of R, and what must hold."""

import numpy as np
import pytest

from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.subgroups import effect_differences, leading_mode


def right(arm: np.ndarray, reader: np.ndarray, case: np.ndarray) -> np.ndarray:
    """Outcomes that the R script makes too; arm 0 is the compared one."""
    return (((arm + 2) * (reader + 3) * (case + 1) + case * case + 5 * reader) % 7 > 1 + arm).astype(float)


OUTCOME = right(*np.meshgrid(np.arange(2), np.arange(6), np.arange(44), indexing="ij"))


def difference(outcome: np.ndarray, first: slice, second: slice) -> dict:
    parts = outcome[:, :, first], outcome[:, :, second]
    return effect_differences(
        (proportions(parts[0]), proportions(parts[1])),
        (proportion_covariance(parts[0]), proportion_covariance(parts[1])),
        (parts[0].shape[2], parts[1].shape[2]),
    )


@pytest.mark.parametrize(
    "mode, value, low, high, p",
    [
        ("or_rrrc", -0.0301754385965, -0.110941487014, 0.0505906098209, 0.383807205371),
        ("or_frrc", -0.0301754385965, -0.146636970599, 0.0862860934064, 0.611571887972),
        ("or_rrfc", -0.0301754385965, -0.111058542277, 0.0507076650838, 0.381593382446),
    ],
)
def test_values_of_r(mode: str, value: float, low: float, high: float, p: float) -> None:
    """tests/reference/subgroup_effect.R, R 4.2.2."""
    e = difference(OUTCOME, slice(0, 25), slice(25, 44))[mode]
    assert (e.value, e.low, e.high, e.p) == pytest.approx((value, low, high, p), rel=1e-9, abs=1e-12)


def test_groups_that_trade_places_mirror_the_difference() -> None:
    one = difference(OUTCOME, slice(0, 25), slice(25, 44))["or_rrrc"]
    other = difference(OUTCOME, slice(25, 44), slice(0, 25))["or_rrrc"]
    assert (one.value, one.low, one.high, one.p) == pytest.approx(
        (-other.value, -other.high, -other.low, other.p)
    )


def test_few_readers_lead_with_the_wider_interval() -> None:
    found = difference(OUTCOME[:, :3], slice(0, 25), slice(25, 44))
    widths = {m: found[m].high - found[m].low for m in ("or_rrrc", "or_frrc")}
    assert leading_mode(found, 3) == max(widths, key=widths.__getitem__)
    assert leading_mode(difference(OUTCOME, slice(0, 25), slice(25, 44)), 6) == "or_rrrc"


def test_one_reader_has_no_random_reader_interval() -> None:
    found = difference(OUTCOME[:, :1], slice(0, 25), slice(25, 44))
    assert np.isnan(found["or_rrrc"].low)
    assert found["or_rrrc"].note
    assert leading_mode(found, 1) == "or_frrc"
