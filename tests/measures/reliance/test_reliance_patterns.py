"""Rates of reliance from counts per pattern: published-style seeds, hand counts, properties, empty bases."""

import json
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trustreport.measures.proportion import wilson
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.patterns import PATTERNS, RATES, pattern_counts, patterns, rate

counted = st.fixed_dictionaries({p: st.integers(0, 300) for p in PATTERNS})
# One reading of each pattern, two of 011 and three of 100, counted by hand.
HAND = {"000": 1, "001": 1, "010": 1, "011": 2, "100": 3, "101": 1, "110": 1, "111": 1}


def test_seeds(reference):
    cases = json.loads((reference / "seeds" / "reliance_cases.json").read_text())["cases"]
    assert len(cases) == 10
    ours = {
        "RAIR": "rair",
        "RSR": "rsr",
        "RBT": "rbt",
        "RBOD": "rbod",
        "unaided_accuracy": "accuracy_unaided",
        "ai_accuracy": "accuracy_of_advice",
        "aided_accuracy": "accuracy_aided",
    }
    for case in cases:
        for theirs, name in ours.items():
            got, want = rate(case["counts"], name), case["expected"][theirs]
            if want is None:
                assert isnan(got.value)
                assert got.note
            else:
                assert got.value == pytest.approx(want, abs=1e-12), (case["id"], theirs)
        before, after = (rate(case["counts"], f"accuracy_{arm}").value for arm in ("unaided", "aided"))
        assert after - before == pytest.approx(case["expected"]["decision_benefit"], abs=1e-12)


@pytest.mark.parametrize(
    "name, x, n",
    [
        ("rair", 2, 3),
        ("rsr", 1, 4),
        ("rbod", 1, 2),
        ("rbt", 1, 2),
        ("harmful_switch_rate", 3, 4),
        ("beneficial_switch_rate", 2, 3),
        ("switch_rate", 5, 7),
        ("override_rate", 4, 11),
        ("agreement_aided", 7, 11),
        ("agreement_unaided", 4, 11),
        ("override_of_right_advice", 2, 5),
        ("override_of_wrong_advice", 2, 6),
        ("accuracy_unaided", 6, 11),
        ("accuracy_aided", 5, 11),
        ("accuracy_of_advice", 5, 11),
        ("accuracy_unaided_right_advice", 2, 5),
        ("accuracy_unaided_wrong_advice", 4, 6),
        ("accuracy_aided_right_advice", 3, 5),
        ("accuracy_aided_wrong_advice", 2, 6),
        ("dominance_share", 7, 11),
        ("determination_share", 2, 11),
        ("deference_share", 5, 11),
        ("dominance_helpful", 3, 7),
        ("determination_helpful", 1, 2),
        ("deference_helpful", 2, 5),
        ("advice_not_taken", 1, 3),
        ("appropriate_at_least", 3, 11),
        ("appropriate_at_most", 5, 11),
    ],
)
def test_hand_count(name, x, n):
    assert rate(HAND, name) == wilson(x, n)


def test_every_rate_was_counted_by_hand():
    names = test_hand_count.pytestmark[0].args[1]
    assert {row[0] for row in names} == set(RATES)


@given(counted)
def test_rates_that_say_the_same(counts):
    def value(name):
        return rate(counts, name).value

    assert value("harmful_switch_rate") == pytest.approx(1 - value("rsr"), nan_ok=True)
    assert value("beneficial_switch_rate") == pytest.approx(value("rair"), nan_ok=True)
    assert value("agreement_aided") == pytest.approx(1 - value("override_rate"), nan_ok=True)


@given(arrays(float, (3, 5), elements=st.sampled_from([0.0, 1.0, 2, 3, 4, 5, 6, 7, np.nan])))
def test_arrays_and_counts_agree(codes):
    counts = pattern_counts(codes)
    assert sum(counts.values()) == np.count_nonzero(~np.isnan(codes))
    for name, which in RATES.items():
        outcome = which.indicator(codes)
        assert rate(counts, name).n == np.count_nonzero(~np.isnan(outcome))
        if rate(counts, name).n:
            assert np.nanmean(outcome) == pytest.approx(rate(counts, name).value)


def test_a_pattern_needs_all_three():
    one, zero, unknown = 1, 0, np.nan
    assert patterns([one, zero], [zero, one], [one, one]).tolist() == [5, 3]
    for three in ([unknown, one, one], [one, unknown, one], [one, one, unknown]):
        assert isnan(patterns(*three))


@pytest.mark.parametrize("name", RATES)
def test_an_empty_base_is_undefined_and_says_why(name):
    got = rate(dict.fromkeys(PATTERNS, 0), name)
    assert isnan(got.value)
    assert got.n == 0
    assert got.note == RATES[name].lacking


def test_a_base_may_be_empty_for_one_rate_only():
    counts = dict.fromkeys(PATTERNS, 0) | {"010": 1, "011": 5, "110": 2, "111": 20}
    assert rate(counts, "rsr").note == notes.RIGHT_THEN_WRONG_ADVICE
    assert rate(counts, "rair").n == 6


def test_counts_may_be_large():
    counts = dict.fromkeys(PATTERNS, 10**15)
    assert rate(counts, "override_rate").value == 0.5
