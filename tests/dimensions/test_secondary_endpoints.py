"""Secondary endpoints: values by hand, what is not recorded, one set of draws, what is reported."""

import json
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest

from tests.english import english
from tests.studies import plan, readings
from trustreport.assessment.dimensions.decision_benefit import DIMENSION
from trustreport.assessment.finding import EstimateTable, Finding
from trustreport.measures.note import note
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

EN = catalogue("en")
RNG = np.random.default_rng(23)
READERS, CASES = 5, 60
CORRECT = RNG.random((2, READERS, CASES)) < np.array([0.7, 0.85])[:, None, None]
ORDER = np.stack([[RNG.permutation(CASES) + 1.0 for _ in range(READERS)] for _ in range(2)])
SECONDS = RNG.gamma(9, 8, CORRECT.shape) - np.array([0, 12.0])[:, None, None] - 0.2 * ORDER
SURE = RNG.uniform(0.5, 1, CORRECT.shape)
TRUTH = np.arange(CASES) % 2


def study(correct: Any = CORRECT, missing: Any = None, **columns: Any) -> Study:
    """Readings with further columns, (2, n_readers, n_cases) each, unaided first."""
    made = readings(correct, missing)
    one = made.readings[0]
    held = {name: values[one.arm, one.reader, one.case] for name, values in columns.items()}
    return replace(made, readings=(replace(one, **held),))


FULL = study(seconds=SECONDS, confidence=SURE, order=ORDER)


def finding(of: Study = FULL, declared: Plan | None = None) -> Finding:
    assert DIMENSION.answer is not None
    return DIMENSION.answer(of, declared or plan())


def beside(of: Study = FULL, declared: Plan | None = None) -> dict[str, Result]:
    """The leading entries beside the endpoint, by quantity, endpoint, arm and what is compared."""
    found = {}
    for r in finding(of, declared).results:
        extra = r.scope.get("endpoint") in ("ppv", "npv", "youden_j") and "reader" not in r.scope
        name = r.id.removeprefix("decision_benefit.")
        if not r.primary or name in (
            "variance_component",
            "variance_share",
            "expected_width",
            "mean_benefit",
        ):
            continue
        if extra or name in ("mean_seconds", "mean_confidence", "reader_agreement", "order_effect"):
            where = r.scope.get("arm", "change")
            words = [name, r.scope["endpoint"], where, *r.scope.get("parameters", {}).values()]
            found[" ".join(words)] = r
    return found


def test_means_of_what_was_recorded_and_their_change() -> None:
    found = beside()
    for name, values in (("mean_seconds seconds", SECONDS), ("mean_confidence confidence", SURE)):
        aided, unaided, change = (found[f"{name} {w}"] for w in ("aided", "unaided", "change"))
        assert aided.estimate.value == pytest.approx(values[1].mean())
        assert unaided.estimate.value == pytest.approx(values[0].mean())
        e = change.estimate
        assert e.value == pytest.approx(values[1].mean() - values[0].mean())
        assert e.low < e.value < e.high
        assert (e.n, e.method) == (READERS * CASES, "or_rrrc")
        assert change.scope["arms"] == ["aided", "unaided"]
        assert change.scope["analysis"] == "or_rrrc_jackknife"
    assert found["mean_seconds seconds change"].unit == "seconds"
    assert found["mean_seconds seconds change"].estimate.high < 0


def test_predictive_values_and_youden_are_those_of_all_readings() -> None:
    found = beside()
    for a, arm in enumerate(("unaided", "aided")):
        right, positive = CORRECT[a], np.broadcast_to(TRUTH == 1, CORRECT[a].shape)
        tp, fn = (right & positive).sum(), (~right & positive).sum()
        tn, fp = (right & ~positive).sum(), (~right & ~positive).sum()
        ppv, npv, youden = (found[f"arm_mean {e} {arm}"].estimate for e in ("ppv", "npv", "youden_j"))
        assert (ppv.value, ppv.n) == (pytest.approx(tp / (tp + fp)), tp + fp)
        assert (npv.value, npv.n) == (pytest.approx(tn / (tn + fn)), tn + fn)
        assert youden.value == pytest.approx(tp / (tp + fn) + tn / (tn + fp) - 1)
    for endpoint in ("ppv", "npv", "youden_j"):
        change = found[f"arm_difference {endpoint} change"]
        parts = [found[f"arm_mean {endpoint} {arm}"].estimate.value for arm in ("aided", "unaided")]
        assert change.estimate.value == pytest.approx(parts[0] - parts[1])
        assert change.unit == ("score" if endpoint == "youden_j" else "difference")


def test_the_mean_of_the_readers_predictive_values_stands_beside() -> None:
    found = [r for r in finding().results if r.scope.get("endpoint") == "ppv" and not r.primary]
    assert {r.scope["analysis"] for r in found} == {
        f"{mode}_jackknife" for mode in ("or_rrrc", "or_frrc", "or_rrfc")
    }
    called = ((TRUTH == 1) == CORRECT)[1]  # (n_readers, n_cases)
    own = (called & (TRUTH == 1)).sum(axis=1) / called.sum(axis=1)
    means = [r.estimate for r in found if r.scope.get("arm") == "aided"]
    assert len(means) == 3
    for e in means:
        assert e.value == pytest.approx(own.mean())
        assert "mean of the readers' own values" in english(e.note)


def test_sessions_are_compared_with_the_first() -> None:
    session = np.where(ORDER > CASES / 2, 1.0, 0.0)
    session[0, 0, :3] = np.nan
    made = study(session=session)
    made = replace(made, readings=(replace(made.readings[0], sessions=("1", "2")),))
    found = beside(made)
    r = found["order_effect accuracy aided sessions 2 1"]
    late = session[1] == 1
    assert r.estimate.value == pytest.approx(CORRECT[1][late].mean() - CORRECT[1][~late].mean())
    assert found["order_effect accuracy unaided sessions 2 1"].estimate.n == READERS * CASES - 3
    one = np.broadcast_to(np.arange(2.0)[:, None, None], CORRECT.shape)  # each arm in a session of its own
    made = study(session=one)
    made = replace(made, readings=(replace(made.readings[0], sessions=("1", "2")),))
    assert not any("sessions" in key for key in beside(made))


def test_agreement_is_counted_over_pairs_of_readers() -> None:
    found = beside()
    for a, arm in enumerate(("unaided", "aided")):
        pairs = [
            (CORRECT[a, i] == CORRECT[a, j]).mean() for i in range(READERS) for j in range(i)
        ]  # alike in being right is alike in the decision
        assert found[f"reader_agreement percent_agreement {arm}"].estimate.value == pytest.approx(
            np.mean(pairs)
        )
    change = found["reader_agreement fleiss_kappa change"].estimate
    parts = [found[f"reader_agreement fleiss_kappa {arm}"].estimate.value for arm in ("aided", "unaided")]
    assert change.value == pytest.approx(parts[0] - parts[1])


def test_what_changes_in_the_course_of_reading() -> None:
    found = beside()
    for a, arm in enumerate(("unaided", "aided")):
        late = ORDER[a] > CASES / 2
        e = found[f"order_effect accuracy {arm} halves"].estimate
        assert e.value == pytest.approx(CORRECT[a][late].mean() - CORRECT[a][~late].mean())
        e = found[f"order_effect seconds {arm} halves"].estimate
        assert e.value == pytest.approx(SECONDS[a][late].mean() - SECONDS[a][~late].mean())
        slope = found[f"order_effect seconds {arm} trend"].estimate
        assert slope.value == pytest.approx(-0.2, abs=0.15)
        assert slope.low < -0.2 < slope.high


def test_every_entry_leads_alone_and_stands_once() -> None:
    results = finding().results
    keys = [json.dumps([r.id, r.scope, r.method], sort_keys=True) for r in results]
    assert len(set(keys)) == len(keys)
    leads = [json.dumps([r.id, {**r.scope, "analysis": ""}], sort_keys=True) for r in results if r.primary]
    assert len(set(leads)) == len(leads)


def test_only_the_seed_moves_an_interval_not_the_order_of_the_rows() -> None:
    one = beside()
    other = beside(declared=plan(similarity={"seed": 7}))
    name = "order_effect seconds aided halves"
    assert one[name].estimate.value == other[name].estimate.value
    assert one[name].estimate.low != other[name].estimate.low
    assert other[name].details["seed"] == 7
    rows = np.concatenate([RNG.permutation(np.arange(0, CASES, 2)), RNG.permutation(np.arange(1, CASES, 2))])
    rows = rows.reshape(2, -1).T.ravel()  # every other case stays positive
    mixed = study(
        CORRECT[:, :, rows], seconds=SECONDS[:, :, rows], confidence=SURE[:, :, rows], order=ORDER[:, :, rows]
    )
    for key, result in beside(mixed).items():
        assert result.estimate.low == pytest.approx(one[key].estimate.low, rel=1e-9), key


def test_what_was_not_recorded_is_said() -> None:
    bare = beside(study())
    assert not any("seconds" in key or "confidence" in key or "order" in key for key in bare)
    assert any("Reading times were not recorded" in EN(text) for text in finding(study()).not_shown)
    half = np.where(np.array([True, False])[:, None, None], np.nan, SECONDS)
    found = beside(study(seconds=half, order=ORDER))
    unaided, change = (found[f"mean_seconds seconds {w}"].estimate for w in ("unaided", "change"))
    assert isnan(unaided.value)
    assert unaided.note == note("not_recorded_in_this_arm")
    assert change.note == note("not_recorded_in_both_arms")
    assert english(found["order_effect seconds unaided trend"].estimate.note).startswith(
        "no readings with both"
    )
    never = study(np.broadcast_to(TRUTH == 0, CORRECT.shape))  # nobody called positive
    assert beside(never)["arm_mean ppv aided"].estimate.note == note("no_such_decision_or_no_case")


def test_one_reader_agrees_with_nobody_and_times_are_of_this_reader_only() -> None:
    alone = beside(study(CORRECT[:, :1], seconds=SECONDS[:, :1]))
    assert not any("agreement" in key for key in alone)
    e = alone["mean_seconds seconds aided"].estimate
    assert (e.method, e.low < e.value < e.high) == ("or_frrc", True)
    assert english(e.note).startswith("describes these readers only")


def test_scores_without_decisions_have_time_but_no_predictive_value() -> None:
    one = FULL.readings[0]
    scores = np.where(one.truth == 1, 1.0, 0.0) + SECONDS[one.arm, one.reader, one.case] / 90
    scored = replace(FULL, readings=(replace(one, decision=None, score=scores),))
    found = beside(scored)
    assert "mean_seconds seconds change" in found
    assert not any("ppv" in key or "agreement" in key for key in found)


def test_missing_readings_are_left_out() -> None:
    missing = np.random.default_rng(2).random(CORRECT.shape) < 0.2
    found = beside(study(CORRECT, missing, seconds=SECONDS))
    assert found["mean_seconds seconds aided"].estimate.value == pytest.approx(SECONDS[1][~missing[1]].mean())
    assert found["mean_seconds seconds aided"].estimate.n == int((~missing[1]).sum())


def test_it_is_told_in_sentences_and_tables() -> None:
    part = finding().parts[0]
    said = [EN(text) for text in part.finding]
    assert any(text.startswith("Mean reading time was ") and "a change of −1" in text for text in said)
    assert any(text.startswith("Two readers agreed on ") for text in said)
    tables = {t.id: t for t in part.tables if isinstance(t, EstimateTable)}
    rows = [EN(row.label) for row in tables["decision_benefit_beside_1"].rows]
    assert rows[:3] == ["Reading time (s), unaided", "Reading time (s), aided", "Reading time (s), change"]
    assert len(rows) == 18
    rows = [EN(row.label) for row in tables["decision_benefit_order_1"].rows]
    assert rows[0] == "Accuracy, second half minus first, unaided"
    assert len(rows) == 6
