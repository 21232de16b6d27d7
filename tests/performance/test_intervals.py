"""Primary intervals of scored cases: values of other software, p and interval, range, what has none."""

import csv
from collections.abc import Callable
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.performance.test_cases import scored
from trustreport.assessment.performance.measures import lead
from trustreport.measures import notes
from trustreport.measures.calibration.binned import ece
from trustreport.measures.calibration.logistic import calibration_intercept
from trustreport.measures.calibration.overall import brier, oe_ratio
from trustreport.measures.cluster import ONE_OF_A_CLASS
from trustreport.measures.estimate import Estimate
from trustreport.measures.means import cell_mean
from trustreport.measures.net_benefit import net_benefit, net_benefit_mover
from trustreport.measures.roc.auc import auc_logit_larger
from trustreport.measures.roc.clustered import auc_logit_obuchowski
from trustreport.measures.score_measure import SCORES
from trustreport.measures.standardized_net_benefit import (
    FEW_CLUSTERS,
    NO_LOSS,
    snb_jackknife,
    snb_mover,
    weighted_utility,
)
from trustreport.vocabulary.quantities import quantity

Cases = tuple[np.ndarray, np.ndarray, np.ndarray]
OF_SETS: dict[str, Callable[..., Estimate]] = {
    "auc_logit_larger": lambda y, s, g: auc_logit_larger(y, s),
    "auc_logit_obuchowski": auc_logit_obuchowski,
    "logit_t": lambda y, s, g: brier(y, s, interval="logit_t"),
    "oe_delta": lambda y, s, g: oe_ratio(y, s, interval="oe_delta"),
    "sandwich": lambda y, s, g: calibration_intercept(y, s, interval="sandwich"),
    "gap_bounds": lambda y, s, g: ece(y, s),
    "snb_mover": lambda y, s, g, t: snb_mover(y, s, t),
    "net_benefit": lambda y, s, g, t: net_benefit_mover(y, s, t),
    "snb_jackknife": lambda y, s, g, t: snb_jackknife(y, s, t, g),
    "wu_log_t": lambda y, s, g: weighted_utility(y, s, *own_of(len(y))),
    "cluster_wu_log_t": lambda y, s, g: weighted_utility(y, s, *own_of(len(y)), cluster=g),
}
# The value of each quantity at which there is nothing: of the area that of a coin.
NULLS = {"auc": 0.5, "calibration_slope": 1.0, "calibration_intercept": 0.0, "oe_ratio": 1.0}


def own_of(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Threshold and relevance of each case."""
    k = np.arange(1, n + 1)
    return np.array([0.2, 0.3, 0.5])[k % 3], 0.5 + k * 3 % 5 / 4


def rows(reference: Path) -> list[dict[str, str]]:
    with (reference / "scored_cases.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cases(reference: Path, name: str) -> Cases:
    with (reference / "external" / f"{name}.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    truth = np.array([row["label"] == "1" for row in table])
    return truth, np.array([float(row["score"]) for row in table]), np.arange(1, len(truth) + 1) * 7 % 37


def test_agrees_with_r(reference: Path) -> None:
    found, worth = 0, np.array([20, -1, -100, 0.5])
    for row in rows(reference):
        what, _, t = row["what"].rpartition("_")
        what, threshold = (what, [float(t)]) if t[:1].isdigit() else (row["what"], [])
        if what == "yield_mover":
            e = cell_mean(np.array([int(n) for n in row["of"].split("-")]), worth, np.array([1, 0, 1, 0]))
        elif what == "auc_newcombe":
            n1, n0 = (int(n) for n in row["of"].split("-"))
            e = auc_logit_larger(np.arange(n1 + n0) < n1, -np.arange(n1 + n0))
            assert e.method == "auc_newcombe"
        else:
            e = OF_SETS[what](*cases(reference, row["of"]), *threshold)
        wanted = [float(row[end]) for end in ("value", "low", "high")]
        assert [e.value, e.low, e.high] == pytest.approx(wanted, rel=1e-6, abs=1e-8), row
        if row["p"].strip() != "NA":
            assert e.p == pytest.approx(float(row["p"]), rel=1e-6), row
        found += 1
    assert found == 33


@st.composite
def drawn(draw: st.DrawFn) -> tuple[list[int], list[float], list[str] | None]:
    n = draw(st.integers(4, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    truth = (rng.random(n) < draw(st.sampled_from([0.1, 0.3, 0.5, 0.9]))).astype(int)
    score = 1 / (1 + np.exp(-rng.normal(draw(st.sampled_from([0.0, 1.0, 3.0])) * (truth - 0.5), 1)))
    if draw(st.booleans()):
        score = np.round(score, 1)
    patients = [f"P{i % max(n // 3, 2)}" for i in range(n)] if draw(st.booleans()) else None
    return truth.tolist(), score.tolist(), patients


@settings(max_examples=150, deadline=None)
@given(drawn(), st.sampled_from([0.8, 0.95]))
def test_p_and_interval_agree_and_limits_stay_in_range(given_cases, level) -> None:
    truth, score, patients = given_cases
    case = scored(truth, score, **({} if patients is None else {"patient": patients}))
    for name in SCORES:
        chosen = {"threshold": 0.3} if "net_benefit" in name else {}
        e, row = lead(case, name, level, **chosen), quantity(name)
        if isnan(e.low):
            assert e.note or isnan(e.value), name
            continue
        assert row.low <= e.low <= e.value + 1e-12, name
        assert e.value - 1e-12 <= e.high <= row.high, name
        if isnan(e.p):
            continue
        null = NULLS.get(name, row.no_effect)
        if null is not None and abs(e.p - (1 - level)) > 1e-9:
            assert (e.p < 1 - level) == (not e.low <= null <= e.high), (name, e)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3))
def test_areas_of_scores_turned_round(seed, apart) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.random(20) < 0.4
    assume(2 <= truth.sum() <= 18)
    score = np.round(rng.normal(truth * apart, 1), 1)
    e, turned = auc_logit_larger(truth, score), auc_logit_larger(truth, -score)
    assert (turned.low, turned.high) == pytest.approx((1 - e.high, 1 - e.low), nan_ok=True)
    assert turned.p == pytest.approx(e.p, nan_ok=True)


def test_each_case_a_cluster_of_its_own_is_the_interval_of_cases() -> None:
    rng = np.random.default_rng(3)
    truth = rng.random(90) < 0.4
    score = np.clip(rng.normal(0.4 + 0.2 * truth, 0.2), 0.01, 0.99)
    own = np.arange(90)
    for measure, word in ((oe_ratio, "oe_delta"), (brier, "logit_t"), (calibration_intercept, "sandwich")):
        alone, clustered = measure(truth, score, interval=word), measure(truth, score, cluster=own)
        assert clustered.se == pytest.approx(alone.se)
        # fewer degrees of freedom: the rarer class lies in fewer clusters
        assert clustered.low < alone.low < alone.high < clustered.high
    area, clustered = auc_logit_larger(truth, score), auc_logit_obuchowski(truth, score, own)
    assert clustered.se == pytest.approx(area.se)


def test_nobody_is_positive_and_the_net_benefit_has_width() -> None:
    truth, score = np.arange(100) < 2, np.full(100, 0.1)
    plain, mover = net_benefit(truth, score, 0.2), net_benefit_mover(truth, score, 0.2)
    assert plain.low == plain.high == 0
    assert mover.low < 0 < mover.high
    assert not mover.note


def test_standardised_net_benefit_of_few_clusters_has_no_interval() -> None:
    truth, score, cluster = np.arange(90) % 9 < 3, (np.arange(90) * 7 % 10) / 10, np.arange(90) // 9
    assert not isnan(snb_jackknife(truth, score, 0.2, cluster).low)
    nine = snb_jackknife(truth[:81], score[:81], 0.2, cluster[:81])
    assert isnan(nine.low)
    assert (nine.note, nine.method) == (FEW_CLUSTERS, "snb_jackknife")
    assert not isnan(nine.value)
    assert snb_jackknife(truth, truth.astype(float), 0.2, cluster).note == NO_LOSS
    whole = snb_mover(truth, truth.astype(float), 0.2)
    assert whole.value == whole.high == 1
    assert whole.low < 0.95


def test_a_class_in_one_cluster_has_no_interval() -> None:
    truth, score, cluster = np.arange(40) < 4, np.linspace(0.9, 0.1, 40), np.arange(40) // 5
    cells = np.array([[4, 0, 0, 1], *([[0, 1, 0, 4]] * 7)])
    found = cell_mean(cells.sum(axis=0), np.array([1.0, -1, 0, 0]), np.array([1, 0, 1, 0]), clusters=cells)
    assert (isnan(found.low), found.note) == (True, ONE_OF_A_CLASS)
    for e in (oe_ratio(truth, score, cluster=cluster), brier(truth, score, cluster=cluster)):
        assert (isnan(e.low), e.note) == (True, ONE_OF_A_CLASS)


def test_worths_that_are_alike_have_no_width() -> None:
    alike = cell_mean(np.array([3, 4, 5, 6]), np.full(4, 2.0), np.array([1, 0, 1, 0]))
    assert (alike.value, alike.low, alike.high, alike.note) == (2, 2, 2, notes.NO_WIDTH)
