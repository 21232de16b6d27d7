"""Weighted concordance: other software's values, counted by hand, properties, edges."""

import json
from fractions import Fraction
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trustreport.measures.agreement import notes
from trustreport.measures.agreement import weighted_concordance as module
from trustreport.measures.agreement.kappa import percent_agreement
from trustreport.measures.agreement.notes import NO_VARIATION, ONE_CASE, SINGLE_LABELS_ADD
from trustreport.measures.agreement.weighted_concordance import (
    UNKNOWN_ACCURACY,
    UNSURE_COUNT_AS_SURE,
    chance_of_knowing,
    expected_agreement,
    weighted_concordance,
)
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE


def rho(codes: Any, k: int = 2, **known: Any) -> Estimate:
    return weighted_concordance(
        np.asarray(codes), k, rng=np.random.default_rng(1), **{"resamples": 20, **known}
    )


def test_the_printed_concordance_needs_less_accurate_raters(knee: Any, reference: Path) -> None:
    seed = json.loads((reference / "seeds" / "seed003.json").read_text())["reliability"]
    there = seed["recomputed_from_427_cases"]
    codes, confidence = knee
    at_81 = rho(codes, confidence=confidence, accuracy=0.81)
    assert at_81.value == pytest.approx(there["rho_at_uniform_081"], abs=1e-12)
    needed = rho(codes, confidence=confidence, accuracy=there["uniform_accuracy_needed_for_rho_057"])
    assert needed.value == pytest.approx(0.57, abs=1e-12)
    assert percent_agreement(codes, 2).value == pytest.approx(there["Po"], abs=1e-12)


def test_thirteen_radiologists(knee: Any, expected: Any) -> None:
    codes, confidence = knee
    there = expected["rho"]
    for accuracy, value in there["uniform_accuracy"].items():
        est = rho(codes, confidence=confidence, accuracy=float(accuracy))
        assert est.value == pytest.approx(value, abs=1e-12)
    for accuracy, value in there["confidence_one"].items():
        assert rho(codes, accuracy=float(accuracy)).value == pytest.approx(value, abs=1e-12)
    for case in ("heterogeneous", "majority_reference"):
        each = np.array(there[case]["accuracies"])
        est = rho(codes, confidence=confidence, accuracy=each)
        assert est.value == pytest.approx(there[case]["rho"], abs=1e-12)
    est = rho(codes, confidence=confidence, accuracy=0.81, resamples=2000, interval="cases")
    assert [est.low, est.high] == pytest.approx(there["boot95_cases_at_081"], abs=2e-3)
    assert (est.n, est.method, est.note) == (427, "bootstrap_cases", NO_NOTE)
    score = rho(codes, confidence=confidence, accuracy=0.81)
    assert [score.low, score.high] == pytest.approx([est.low, est.high], abs=4e-3)
    assert score.method == "wilson_mean"


def test_five_cases_on_which_all_agree_say_little() -> None:
    # Wilson's limits of 5 of 5 with t of 4 degrees of freedom, 2.776: 5 / (5 + 2.776^2).
    est = rho([[1, 1]] * 3 + [[0, 0]] * 2)
    assert (est.value, est.high) == (1.0, 1.0)
    assert est.low == pytest.approx(5 / (5 + 2.776445**2), abs=1e-6)
    drawn = rho([[1, 1]] * 3 + [[0, 0]] * 2, interval="cases")
    assert isnan(drawn.low)
    assert NO_VARIATION in drawn.note


def test_three_raters_counted_by_hand() -> None:
    # Labels 110 and 1--; confidences 1, .5, .8; accuracies .9, .8, .7; three classes.
    codes = [[1, 1, 0], [1, -1, -1]]
    sure = np.array([[1.0, 0.5, 0.8], [0.4, np.nan, np.nan]])
    knows = Fraction(1, 2) / (Fraction(1, 2) + Fraction(1, 2) / 3)
    a, b = Fraction(9, 10), Fraction(8, 10)
    agree = knows * a * b / (a * b + (1 - a) * (1 - b) / 2)
    value = (agree / 3 + a) / 2
    est = rho(codes, 3, confidence=sure, accuracy=np.array([0.9, 0.8, 0.7]))
    assert est.value == pytest.approx(float(value), abs=1e-15)
    # Without accuracies C is 1 and the case with one label is left out.
    alone = rho(codes, 3, confidence=sure)
    assert alone.value == pytest.approx(float(knows / 3), abs=1e-15)
    assert (alone.n, alone.note) == (1, UNKNOWN_ACCURACY + ONE_CASE)
    assert SINGLE_LABELS_ADD in est.note


def test_coin_tossers_reach_a_quarter_when_they_are_sure() -> None:
    codes = np.random.default_rng(4).integers(0, 2, (4000, 4))
    assert rho(codes, accuracy=0.5).value == pytest.approx(0.25, abs=0.02)


CODES = arrays(np.int64, st.tuples(st.integers(1, 10), st.integers(2, 4)), elements=st.integers(-1, 2))


@given(codes=CODES, data=st.data())
def test_never_above_the_agreement_and_no_order_matters(codes: Any, data: Any) -> None:
    shape = codes.shape
    sure = data.draw(arrays(float, shape, elements=st.floats(0, 1)))
    accuracy = data.draw(arrays(float, shape[1], elements=st.floats(0, 1)))
    est = rho(codes, 3, confidence=sure, accuracy=accuracy)
    plain, agreement = rho(codes, 3, confidence=sure), percent_agreement(codes, 3)
    if isnan(plain.value):
        assert isnan(agreement.value)
        assert plain.note
    else:
        assert 0 <= plain.value <= agreement.value + 1e-12
        assert isnan(plain.low) or plain.low <= plain.value <= plain.high
    cases, raters = (data.draw(st.permutations(range(n))) for n in shape)
    again = rho(
        codes[cases][:, raters], 3, confidence=sure[cases][:, raters], accuracy=accuracy[list(raters)]
    )
    assert (again.value, again.low, again.high) == pytest.approx(
        (est.value, est.low, est.high), abs=1e-9, nan_ok=True
    )


def test_certain_and_able_raters_give_the_agreement() -> None:
    codes = np.random.default_rng(4).integers(0, 2, (50, 3))
    assert rho(codes, accuracy=1.0).value == pytest.approx(percent_agreement(codes, 2).value)


def of_draws(labels: Any, times: Any) -> Any:
    """What every case adds to each draw of raters."""
    return np.concatenate([labels._of_draws(times, *chunk) for chunk in labels._pairs()], axis=1)


def test_drawing_raters_too_widens_the_interval_whatever_is_held_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 2, (200, 6))
    codes[:, :3] = codes[:, :1]
    codes[rng.random(codes.shape) < 0.3] = -1
    known = {"accuracy": 0.8, "resamples": 400}
    cases, both = rho(codes, **known, interval="cases"), rho(codes, **known, interval="raters")
    assert both.value == cases.value
    assert both.method == "bootstrap_raters_cases"
    assert both.high - both.low > 1.5 * (cases.high - cases.low)
    drawn = np.random.default_rng(2).integers(0, 4, (7, 6)).astype(float)
    labels = module._labels(codes, 2, None, 0.8)
    whole = of_draws(labels, drawn)
    monkeypatch.setattr(module, "CELLS", 300)
    assert of_draws(labels, drawn) == pytest.approx(whole, nan_ok=True)
    once = of_draws(labels, np.ones((1, 6)))[0]
    assert once == pytest.approx(labels.values(), nan_ok=True)


def test_incoherence_gives_a_least_and_a_most() -> None:
    codes = np.array([[1, 1], [0, 0], [0, 1]])
    est = rho(codes, confidence=np.full((3, 2), 0.7), accuracy=0.9, incoherence=np.array([0.1, 0.2]))
    assert est.details["least"] < est.value < est.details["most"]
    lower = rho(codes, confidence=np.array([[0.6, 0.5]] * 3), accuracy=0.9)
    assert est.details["least"] == pytest.approx(lower.value)


def test_notes_say_what_counts_as_sure() -> None:
    codes = np.array([[1, 1], [0, -1]])
    some = np.array([[0.5, np.nan], [0.5, np.nan]])
    assert rho(codes, confidence=some, accuracy=0.9).note == UNSURE_COUNT_AS_SURE + SINGLE_LABELS_ADD
    assert rho(codes, accuracy=0.9).note == UNSURE_COUNT_AS_SURE + SINGLE_LABELS_ADD
    assert rho(codes).note == UNKNOWN_ACCURACY + UNSURE_COUNT_AS_SURE + ONE_CASE
    assert rho(np.array([[1, -1]])).note == notes.NO_PAIR
    assert rho(np.array([[1, -1]]), accuracy=0.7).value == pytest.approx(0.7)


@pytest.mark.parametrize(
    "confidence, k, knows", [(1.0, 2, 1.0), (0.0, 2, 0.0), (0.5, 2, 2 / 3), (0.5, 4, 0.8)]
)
def test_a_confidence_is_a_chance_of_knowing(confidence: float, k: int, knows: float) -> None:
    assert chance_of_knowing(np.array([confidence]), k)[0] == pytest.approx(knows)


def test_independent_raters_would_agree_as_often_as_this() -> None:
    assert expected_agreement(np.array([0.9, 0.8, 0.7]), 2) == pytest.approx(
        ((0.72 + 0.02) + (0.63 + 0.03) + (0.56 + 0.06)) / 3
    )
    assert expected_agreement(np.array([0.9, 0.8]), 3) == pytest.approx(0.72 + 0.01)
    assert isnan(expected_agreement(np.array([0.9]), 2))


@pytest.mark.parametrize(
    "known, message",
    [
        ({"accuracy": 81}, r"accuracy must lie in \[0, 1\], got 81"),
        ({"confidence": np.full((1, 2), 4.0)}, "confidence must lie"),
        ({"confidence": np.ones((2, 2))}, "shape of codes"),
        ({"k": 1}, "at least 2"),
        ({"level": 95}, "Did you mean 0.95"),
    ],
)
def test_wrong_input_is_refused(known: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rho(np.array([[0, 0]]), **known)
