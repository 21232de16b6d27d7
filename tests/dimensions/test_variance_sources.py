"""Why the interval of a reader study is so wide, and what more readers or cases would give."""

import json
from math import isnan, sqrt
from pathlib import Path

import numpy as np
import pytest

from tests.dimensions.test_reliance import rules_hold, texts
from tests.english import english
from tests.measures.mrmc.conftest import study_of
from tests.studies import plan, readings
from trustreport.assessment.dimensions.decision_benefit import DIMENSION, variance_sources
from trustreport.assessment.dimensions.decision_benefit.variance_sources import (
    MORE_CASES,
    MORE_READERS,
    NEGATIVE,
    NOT_SHARED,
    TWO_CLASSES,
    designs,
)
from trustreport.assessment.finding import Finding
from trustreport.measures.mrmc.auc import fit_auc
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.measures.mrmc.planned import planned_difference
from trustreport.measures.mrmc.power import NO_COMPONENT, Components, components, expected_width, sources
from trustreport.report.contents import SENTENCES
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

REFERENCE = Path(__file__).resolve().parents[1] / "reference" / "mrmc"


def drawn(n_readers: int, seed: int = 0, n_cases: int = 60) -> np.ndarray:
    rng = np.random.default_rng(seed)
    skill = rng.normal([[0.65], [0.75]], 0.1, (2, n_readers))[:, :, None] + rng.normal(0, 0.2, n_cases)
    return rng.random((2, n_readers, n_cases)) < skill


def answer(right: np.ndarray, missing: np.ndarray | None = None, **groups: object) -> Finding:
    assert DIMENSION.answer is not None
    found = DIMENSION.answer(readings(right, missing), plan(**groups))
    rules_hold(found)
    return found


def results_of(found: Finding, name: str, endpoint: str = "accuracy") -> list[Result]:
    return [r for r in found.results if r.name == name and r.endpoint == endpoint]


@pytest.fixture(scope="module")
def vandyke() -> Components:
    study = study_of(REFERENCE / "vandyke.csv", ["1", "2"], lambda row: float(row["rating"]) >= 3)
    return components(fit_auc(study.rating, study.truth))


def published(*path: str) -> float:
    """Of Van Dyke's study, 5 readers and 114 cases, as MRMCaov and RJafroc give it."""
    found = json.loads((REFERENCE / "expected.json").read_text())["datasets"]["vandyke"]
    for key in ("auc", "obuchowski_rockette", "jackknife", *path):
        found = found[key]
    return float(found["value"])


def test_shares_of_van_dyke_are_those_of_its_published_components(vandyke: Components) -> None:
    arm_reader, var, cov1, cov2, cov3 = (
        published("components", name) for name in ("modality_x_reader", "error", "cov1", "cov2", "cov3")
    )
    own, shared = var - cov1, cov2 - cov3
    whole = arm_reader + own + 4 * shared  # D, of which the variance is 2 D / 5
    assert sqrt(2 * whole / 5) == pytest.approx(published("random_readers_random_cases", "se"), rel=1e-8)
    shares = {"readers": arm_reader / whole, "cases": 5 * shared / whole, "both": (own - shared) / whole}
    assert sources(vandyke, 5) == pytest.approx(shares, rel=1e-6)
    assert [round(share, 3) for share in shares.values()] == [0.186, 0.488, 0.326]


def test_the_width_of_van_dyke_as_it_is_is_its_published_interval(vandyke: Components) -> None:
    low, high = (published("random_readers_random_cases", name) for name in ("ci_lo", "ci_hi"))
    assert expected_width(vandyke, 5, 114).value == pytest.approx(high - low, rel=1e-9)


def test_every_projected_width_is_the_planners(vandyke: Components) -> None:
    for readers, cases in designs(5, 114):
        planned = planned_difference(vandyke, readers, cases).width(0.95)
        assert expected_width(vandyke, readers, cases).value == pytest.approx(planned, rel=1e-12)
    right = drawn(6)
    pilot = components(fit_proportions(right[::-1].astype(float)))
    widths = results_of(answer(right), "expected_width")
    assert [tuple(r.parameters.values()) for r in widths] == designs(6, 60)
    for r in widths:
        readers, cases = r.parameters["n_readers"], r.parameters["n_cases"]
        assert r.estimate.value == pytest.approx(
            planned_difference(pilot, readers, cases).width(0.95), rel=1e-9
        )


def test_every_endpoint_has_shares_that_add_up_and_a_row_in_both_tables() -> None:
    found = answer(drawn(6))
    endpoints = {r.endpoint for r in found.results if r.name == "variance_share"}
    assert endpoints >= {"accuracy", "sensitivity", "specificity"}
    for endpoint in endpoints:
        values = [r.estimate.value for r in results_of(found, "variance_share", endpoint)]
        assert len(values) == 3
        assert sum(values) == pytest.approx(1) or all(map(isnan, values))
    tables = {t.id: t for part in found.parts for t in part.tables}
    assert len(tables["decision_benefit_sources_1"].rows) == len(endpoints)
    assert len(tables["decision_benefit_widths_1"].rows[0]) == 4 + len(MORE_READERS) + len(MORE_CASES)


@pytest.mark.parametrize("n_readers", [3, 6])
def test_the_sentence_is_among_those_that_the_report_prints(n_readers: int) -> None:
    found = answer(drawn(n_readers))
    printed = [catalogue()(m) for m in found.parts[0].finding[:SENTENCES]]
    (said,) = [text for text in printed if "of the variance of the mean change in" in text]
    assert f"With {n_readers} readers and 60 cases, the interval is expected to be" in said


def test_gaps_have_shares_and_widths_too() -> None:
    for seed in range(20):
        gaps = np.random.default_rng(seed).random((2, 3, 60)) < 0.1
        found = answer(drawn(3, seed), gaps)
        values = [r.estimate.value for r in results_of(found, "variance_share")]
        if not isnan(sum(values)):
            break
    assert sum(values) == pytest.approx(1)
    widths = [r.estimate.value for r in results_of(found, "expected_width")]
    assert len(widths) == 5
    assert max(widths[3:]) < widths[0]


def test_where_nothing_varies_the_shares_say_so() -> None:
    found = answer(np.ones((2, 4, 30), bool))
    assert {r.estimate.note for r in results_of(found, "variance_share")} == {NO_COMPONENT}
    assert all(isnan(r.estimate.value) for r in results_of(found, "expected_width"))


def test_a_negative_component_leaves_the_widths_and_says_why_there_are_no_shares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pilot = Components(arm_reader=1e-3, own=1e-4, shared=2e-4, n_cases=60)
    monkeypatch.setattr(variance_sources, "components_of", lambda endpoint, readings: pilot)
    found = answer(drawn(6))
    assert {r.estimate.note for r in results_of(found, "variance_share")} == {NEGATIVE}
    assert all(r.estimate.value > 0 for r in results_of(found, "expected_width"))
    assert any(f"cannot be given: {english(NEGATIVE)}. With 6 readers" in text for text in texts(found))


def test_readers_of_cases_of_their_own_have_no_shares_and_the_table_says_why() -> None:
    one_each = np.arange(60) % 4 != np.arange(4)[:, None]
    found = answer(drawn(4), np.stack([one_each, one_each]))
    assert {r.estimate.note for r in results_of(found, "variance_share")} == {NOT_SHARED}
    assert not results_of(found, "expected_width")
    (shown,) = (t for part in found.parts for t in part.tables if t.id == "decision_benefit_sources_1")
    assert NOT_SHARED in {row[-1] for row in shown.rows}


def test_youdens_index_with_gaps_says_why_it_has_no_shares() -> None:
    gaps = np.random.default_rng(1).random((2, 4, 60)) < 0.1
    found = results_of(answer(drawn(4), gaps), "variance_share", "youden_j")
    assert {r.estimate.note for r in found} == {TWO_CLASSES}


def test_one_reader_has_no_shares() -> None:
    found = answer(drawn(1))
    assert not {"variance_share", "expected_width"} & {r.name for r in found.results}
