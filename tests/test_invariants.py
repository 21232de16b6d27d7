"""What must hold of every assessment, whatever the study."""

import json
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.studies import counts, plan, readings
from trustreport.assessment.assess import assess
from trustreport.study.study import Study
from trustreport.vocabulary.errors import Cancelled
from trustreport.vocabulary.results import Result

CELL = st.integers(0, 60)
FEW = settings(max_examples=25)
FLAGS = [{"arm": "unaided", "aided": False}, {"arm": "aided", "aided": True}]


def grids(seed: int, arms: int = 2) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Right decisions and missing readings of a random study, with gaps in half of them."""
    rng = np.random.default_rng(seed)
    shape = (arms, int(rng.integers(1, 6)), int(rng.integers(2, 25)))
    gaps = rng.random(shape) < (0.15 if seed % 2 else 0.0)
    return rng.random(shape) < rng.uniform(0.3, 0.95), gaps


def keyed(study: Study, **groups: Any) -> dict[str, Result]:
    """Every result by what it is of."""
    results = assess(study, plan(**groups)).results
    return {json.dumps([r.id, r.scope, r.method], sort_keys=True): r for r in results}


def same(first: float, second: float) -> bool:
    """Equal to rounding, or both without a value."""
    return bool(np.isclose(first, second, rtol=1e-7, atol=1e-9, equal_nan=True))


@FEW
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_of_readers_and_cases_does_not_matter(seed: int, random: Any) -> None:
    correct, gaps = grids(seed)
    _, n_readers, n_cases = correct.shape
    names = tuple(f"R{j}" for j in range(n_readers))
    readers = random.sample(range(n_readers), n_readers)
    # Cases keep their class: every other one is positive.
    halves = [random.sample(range(start, n_cases, 2), len(range(start, n_cases, 2))) for start in (0, 1)]
    cases = [halves[i % 2][i // 2] for i in range(n_cases)]
    one = keyed(readings(correct, gaps, readers=names))
    shuffled = correct[:, readers][:, :, cases], gaps[:, readers][:, :, cases]
    other = keyed(readings(*shuffled, readers=tuple(names[j] for j in readers)))
    assert one.keys() == other.keys()
    for key, result in one.items():
        e, f = result.estimate, other[key].estimate
        assert same(e.value, f.value), key
        assert same(e.low, f.low), key
        assert same(e.high, f.high), key


@FEW
@given(st.tuples(CELL, CELL), st.tuples(CELL, CELL), st.integers(0, 10_000))
def test_swapping_the_arms_mirrors_arr_and_inverts_the_odds_ratio(
    unaided: tuple[int, int], aided: tuple[int, int], seed: int
) -> None:
    correct, gaps = grids(seed)
    pairs = [
        (counts(unaided, aided), counts(aided, unaided)),
        (readings(correct, gaps), readings(correct[::-1], gaps[::-1])),
    ]
    for study, swapped in pairs:
        one, other = keyed(study), keyed(swapped)
        for key, result in one.items():
            if result.id not in ("pragmatic_utility.arr", "pragmatic_utility.odds_ratio"):
                continue  # the analysis of one arm alone may be another in the other arm
            e, f = result.estimate, other[key].estimate
            if result.id == "pragmatic_utility.arr":
                assert same(e.value, -f.value), key
                assert same(e.low, -f.high), key
            if result.id == "pragmatic_utility.odds_ratio" and isfinite(e.value) and e.value > 0:
                assert np.isclose(e.value * f.value, 1, rtol=1e-6), key
                if isfinite(e.low) and e.low > 0:
                    assert np.isclose(e.low * f.high, 1, rtol=1e-3), key


@FEW
@given(st.tuples(CELL, CELL), st.tuples(CELL, CELL), st.integers(0, 10_000))
def test_an_interval_holds_its_estimate_and_a_higher_level_widens_it(
    unaided: tuple[int, int], aided: tuple[int, int], seed: int
) -> None:
    for study in (counts(unaided, aided), readings(*grids(seed))):
        narrow, wide = (
            keyed(study, report={"kind": "certification", "confidence_level": level}) for level in (0.8, 0.99)
        )
        common = narrow.keys() & wide.keys()
        # A difference of readers may leave its range at one level only, and has another method there.
        assert len(common) > 0.9 * len(narrow)
        for key in common:
            result = narrow[key]
            e, w = result.estimate, wide[key].estimate
            if not all(map(isfinite, (e.value, e.low, e.high))) or result.unit == "p":
                continue
            slack = 1e-6 * max(abs(e.low), abs(e.high), 1e-6)
            assert e.low - slack <= e.value <= e.high + slack, (key, e)
            if all(map(isfinite, (w.low, w.high))) and result.id != "pragmatic_utility.nnd":
                assert w.low <= e.low + slack, (key, e, w)
                assert w.high >= e.high - slack, (key, e, w)


@FEW
@given(st.tuples(CELL, CELL), st.tuples(CELL, CELL), st.integers(0, 10_000))
def test_what_has_no_value_says_why(unaided: tuple[int, int], aided: tuple[int, int], seed: int) -> None:
    for study in (counts(unaided, aided), readings(*grids(seed))):
        for key, result in keyed(study).items():
            e = result.estimate
            if not all(map(isfinite, (e.value, e.low, e.high))):
                assert e.note, key


def test_progress_reaches_the_end_and_cancel_ends_the_work() -> None:
    told: list[tuple[str, float]] = []
    study = counts((3, 7), (2, 8))
    assess(study, plan(), progress=lambda step, share: told.append((step, share)))
    assert [share for _, share in told] == sorted(share for _, share in told)
    assert told[-1] == ("checks", 1.0)
    with pytest.raises(Cancelled):
        assess(study, plan(), cancel=lambda: True)


def test_the_arms_may_have_any_names() -> None:
    study = counts((30, 70), (20, 80))
    named = {"reader alone": "unaided", "reader with AI": "aided"}
    table = replace(study.counts[0], arms={name: study.counts[0].arms[arm] for name, arm in named.items()})
    arms = [{"arm": "reader with AI", "aided": True}, {"arm": "reader alone", "aided": False}]
    renamed = assess(
        replace(study, arms=("reader with AI", "reader alone"), counts=(table,)), plan(arms=arms)
    )
    plain = assess(study, plan(arms=FLAGS))
    for r, s in zip(renamed.results, plain.results, strict=True):
        assert (r.id, r.method, r.estimate.low) == (s.id, s.method, s.estimate.low)
        if "arms" in r.scope:
            assert r.scope["arms"] == ["reader with AI", "reader alone"]
