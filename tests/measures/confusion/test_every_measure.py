"""What holds for every measure of the four cells: range, mirror images, clusters, coverage."""

from collections.abc import Iterator
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.measure import CaseShare, CellMeasure, Delta, Need, OfClasses
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate

SWAPPED: dict[Need, Need] = {
    "positives": "negatives",
    "negatives": "positives",
    "called_positive": "called_negative",
    "called_negative": "called_positive",
    "any_positive": "any_negative",
    "any_negative": "any_positive",
    "two_cells": "two_cells",
}
CELLS = st.tuples(*[st.integers(0, 60)] * 4)
TWO_SIDED = [name for name, measure in MEASURES.items() if measure.high == 1.0 and measure.alone is None]


def ends(e: Estimate) -> tuple[float, float, float]:
    return e.value, e.low, e.high


@pytest.fixture
def made() -> Iterator[dict[str, CellMeasure]]:
    """Measures that a test makes, taken out again."""
    before = dict(MEASURES)
    yield MEASURES
    MEASURES.clear()
    MEASURES.update(before)


def complement(measure: CellMeasure) -> CellMeasure:
    """One minus a measure, as somebody would add it."""
    interval = measure.interval
    if isinstance(interval, CaseShare):
        interval = CaseShare(tuple(i for i in measure.among if i not in interval.counted))
    elif isinstance(interval, OfClasses):
        interval = OfClasses(
            1 - interval.constant, -interval.sensitivity, -interval.specificity, interval.scale
        )
    formula = measure.formula
    low, high = 1 - measure.high, 1 - measure.low
    return CellMeasure("toy", lambda *cells: 1 - formula(*cells), interval, measure.needs, low=low, high=high)


def exchanged(measure: CellMeasure) -> CellMeasure:
    """The measure of the other class, as somebody would add it."""
    interval = measure.interval
    if isinstance(interval, CaseShare):
        interval = CaseShare(tuple(3 - i for i in interval.counted))
    elif isinstance(interval, OfClasses):
        interval = OfClasses(interval.constant, interval.specificity, interval.sensitivity, interval.scale)
    formula, needs = measure.formula, tuple(SWAPPED[need] for need in measure.needs)
    return CellMeasure(
        "toy",
        lambda tp, fp, fn, tn: formula(tn, fn, fp, tp),
        interval,
        needs,
        low=measure.low,
        high=measure.high,
    )


def patients(rng: np.random.Generator, n: int = 30, cases: int = 8) -> np.ndarray:
    """Cells of patients whose cases are alike in prevalence and in how often they are called right."""
    has, hit, clear = rng.beta(4, 6, n), rng.beta(16, 4, n), rng.beta(18, 4, n)
    present = rng.binomial(cases, has)
    tp, tn = rng.binomial(present, hit), rng.binomial(cases - present, clear)
    return np.stack([tp, cases - present - tn, present - tp, tn], axis=1)


TRUE_CELLS = (0.4 * 0.8, 0.6 * 4 / 22, 0.4 * 0.2, 0.6 * 18 / 22)  # their means: tp, fp, fn, tn


@pytest.mark.parametrize("name", MEASURES)
@given(cells=CELLS)
def test_its_limits_enclose_it_within_its_range(name: str, cells: tuple[int, int, int, int]) -> None:
    measure = MEASURES[name]
    e = estimated(measure, ConfusionCounts(*cells))
    if isnan(e.value):
        assert e.note
    elif not isnan(e.low):
        assert measure.low <= e.low <= e.value + 1e-12
        assert e.value - 1e-12 <= e.high <= measure.high


@pytest.mark.parametrize("name", MEASURES)
@given(seed=st.integers(0, 2**32 - 1))
def test_in_clusters_its_limits_enclose_it(name: str, seed: int) -> None:
    e = clustered(name, patients(np.random.default_rng(seed), n=8, cases=4))
    if not isnan(e.low):
        assert e.low <= e.value + 1e-12
        assert e.value - 1e-12 <= e.high
        assert e.method == MEASURES[name].interval.word


@pytest.mark.parametrize("name", MEASURES)
def test_one_case_a_cluster_is_as_independent(name: str) -> None:
    rng = np.random.default_rng(5)
    truth = rng.random(4000) < 0.4
    decision = rng.random(4000) < np.where(truth, 0.8, 0.2)
    alone = estimated(MEASURES[name], ConfusionCounts.of_decisions(truth, decision))
    e = clustered(name, cluster_cells(truth, decision, np.arange(4000)))
    assert e.value == pytest.approx(alone.value)
    assert [e.low, e.high] == pytest.approx([alone.low, alone.high], abs=0.05 * (alone.high - alone.low))


@pytest.mark.parametrize("name", TWO_SIDED)
def test_its_complement_has_its_interval_turned_round(name: str, made: dict[str, CellMeasure]) -> None:
    made["toy"] = complement(MEASURES[name])
    cells = patients(np.random.default_rng(6))
    counts = ConfusionCounts(*cells.sum(axis=0).tolist())
    tolerance = 1e-9
    if isinstance(MEASURES[name].interval, Delta) and MEASURES[name].interval.scale == "atanh":
        return  # 1 - MCC has another range, so another scale
    for one, other in (
        (estimated(MEASURES[name], counts), estimated(made["toy"], counts)),
        (clustered(name, cells), clustered("toy", cells)),
    ):
        assert ends(other) == pytest.approx((1 - one.value, 1 - one.high, 1 - one.low), abs=tolerance)


@pytest.mark.parametrize("name", [name for name, measure in MEASURES.items() if measure.alone is None])
def test_exchanging_the_classes_exchanges_its_cells(name: str, made: dict[str, CellMeasure]) -> None:
    made["toy"] = exchanged(MEASURES[name])
    cells = patients(np.random.default_rng(7))
    turned = cells[:, ::-1]
    counts = ConfusionCounts(*cells.sum(axis=0).tolist())
    assert ends(estimated(made["toy"], counts.swapped())) == pytest.approx(
        ends(estimated(MEASURES[name], counts)), abs=1e-6
    )
    assert ends(clustered("toy", turned)) == pytest.approx(ends(clustered(name, cells)), abs=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_its_intervals_hold_the_truth(name: str) -> None:
    """A catch, not a benchmark: of 300 studies of either kind at least 85% hold it; 95% are meant to."""
    measure, rng = MEASURES[name], np.random.default_rng(8)
    truth = measure.formula(*TRUE_CELLS)
    alone = [
        estimated(measure, ConfusionCounts(*rng.multinomial(240, TRUE_CELLS).tolist())) for _ in range(300)
    ]
    in_clusters = [clustered(name, patients(rng)) for _ in range(300)]
    for found in (alone, in_clusters):
        assert np.mean([e.low <= truth <= e.high for e in found]) >= 0.85
