"""The advice by itself against the readers: values by hand, gaps, contradictions, several aids."""

from dataclasses import replace
from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.dimensions.test_reliance import rules_hold, texts
from tests.studies import plan, readings
from trustreport.assessment.dimensions.decision_benefit import DIMENSION
from trustreport.assessment.finding import Finding
from trustreport.measures.mrmc.one_reader import fixed_against_readers
from trustreport.measures.paired.difference import PairedTable, tango
from trustreport.study.study import Study
from trustreport.vocabulary.results import Result


def advised(
    correct: NDArray[np.bool_], right: NDArray[np.bool_], missing: NDArray[np.bool_] | None = None
) -> Study:
    """A study in which the aided readings hold the advice, right or wrong in each case."""
    study = readings(correct, missing)
    (table,) = study.readings
    told = np.where(right, table.cases.truth, 1 - table.cases.truth)[table.case]
    advice = np.where(table.arm == 1, told, -1).astype(np.int8)
    return Study(arms=study.arms, readings=(replace(table, advice=advice),))


def answer(study: Study, **groups: Any) -> Finding:
    assert DIMENSION.answer is not None
    found = DIMENSION.answer(study, plan(**groups))
    rules_hold(found)
    return found


def entries(found: Finding, **scope: Any) -> list[Result]:
    return [r for r in found.results if r.id == "decision_benefit.ai_minus_readers" and r.within(**scope)]


RNG = np.random.default_rng(11)
CORRECT = RNG.random((2, 6, 80)) < np.array([0.7, 0.8])[:, None, None]
RIGHT = RNG.random(80) < 0.85


def test_value_and_interval_by_hand() -> None:
    found = answer(advised(CORRECT, RIGHT))
    for arm, name in enumerate(("unaided", "aided")):
        (lead,) = (r for r in entries(found, endpoint="accuracy", arm=name) if r.primary)
        difference = RIGHT.astype(float) - CORRECT[arm]
        d = difference.mean(axis=1)
        over_cases = np.cov(difference) / 80
        alike = over_cases[~np.eye(6, dtype=bool)].mean()
        among = d.var(ddof=1)
        e = lead.estimate
        assert e.value == pytest.approx(RIGHT.mean() - CORRECT[arm].mean())
        assert e.se == pytest.approx(sqrt(among / 6 + max(alike, 0)))
        assert e.df == pytest.approx((among + 6 * max(alike, 0)) ** 2 * 5 / among**2)
        assert lead.scope["analysis"] == "or_rrrc_jackknife"
        assert (e.details["fixed"], e.details["readers"]) == pytest.approx(
            (RIGHT.mean(), CORRECT[arm].mean())
        )
        assert (e.p < 0.05) == (e.low > 0 or e.high < 0)


def test_sensitivity_and_specificity_use_the_cases_of_their_class() -> None:
    found = answer(advised(CORRECT, RIGHT))
    for endpoint, cases in (("sensitivity", slice(1, None, 2)), ("specificity", slice(0, None, 2))):
        (lead,) = (r for r in entries(found, endpoint=endpoint, arm="unaided") if r.primary)
        assert lead.estimate.n == 6 * 40
        assert lead.estimate.value == pytest.approx(RIGHT[cases].mean() - CORRECT[0][:, cases].mean())


def test_the_roles_swapped_the_difference_turns() -> None:
    one = fixed_against_readers(RIGHT.astype(float), CORRECT[0].astype(float))["or_rrrc"]
    other = fixed_against_readers((~RIGHT).astype(float), (~CORRECT[0]).astype(float))["or_rrrc"]
    assert (other.value, other.low, other.high) == pytest.approx((-one.value, -one.high, -one.low))


def test_with_complete_readings_the_unbiased_variance_is_that_of_obuchowski_and_rockette() -> None:
    found = fixed_against_readers(RIGHT.astype(float), CORRECT[0].astype(float))
    assert found["ustatistic_bdg"].se == pytest.approx(found["or_rrrc"].se)


def test_missing_readings_leave_the_u_statistic() -> None:
    missing = RNG.random(CORRECT.shape) < 0.1
    missing[1, 0] = False  # every case is advised
    found = answer(advised(CORRECT, RIGHT, missing))
    lead, published = entries(found, endpoint="accuracy", arm="unaided")
    assert lead.primary
    assert (lead.method, published.method) == ("ustatistic_centred", "ustatistic_bdg")
    assert lead.estimate.low < lead.estimate.value < lead.estimate.high


def test_one_reader_is_described_alone() -> None:
    found = answer(advised(CORRECT[:, :1], RIGHT))
    (lead,) = (r for r in entries(found, endpoint="accuracy", arm="aided") if r.primary)
    of_pairs = tango(
        PairedTable(
            int((RIGHT & CORRECT[1, 0]).sum()),
            int((RIGHT & ~CORRECT[1, 0]).sum()),
            int((~RIGHT & CORRECT[1, 0]).sum()),
            int((~RIGHT & ~CORRECT[1, 0]).sum()),
        )
    )
    e = lead.estimate
    assert (lead.method, e.value) == ("tango", pytest.approx(of_pairs.value))
    assert (e.low, e.high) == pytest.approx((of_pairs.low, of_pairs.high))
    (by_cases,) = (r for r in entries(found, endpoint="accuracy", arm="aided") if r.method == "or_frrc")
    se = (RIGHT.astype(float) - CORRECT[1, 0]).std(ddof=1) / sqrt(80)
    assert by_cases.estimate.se == pytest.approx(se)


def test_readers_who_do_as_the_advice_does_show_no_variation() -> None:
    found = answer(advised(np.broadcast_to(RIGHT, (2, 5, 80)).copy(), RIGHT))
    for r in entries(found):
        assert r.estimate.value == 0
        assert isnan(r.estimate.low)
        assert r.estimate.note
    assert any("no interval can be given" in text for text in texts(found))


def test_cases_with_contradictory_advice_or_none_are_left_out_and_counted() -> None:
    study = advised(CORRECT, RIGHT)
    (table,) = study.readings
    advice = table.advice.copy()
    aided = table.arm == 1
    first = np.flatnonzero(aided & (table.case == 0))[0]
    advice[first] = 1 - advice[first]
    advice[table.case == 1] = -1
    found = answer(Study(arms=study.arms, readings=(replace(table, advice=advice),)))
    (lead,) = (r for r in entries(found, endpoint="accuracy", arm="unaided") if r.primary)
    assert lead.estimate.details["n_cases"] == 78
    assert lead.estimate.value == pytest.approx(RIGHT[2:].mean() - CORRECT[0][:, 2:].mean())
    said = texts(found)
    assert any(text.startswith("One case is excluded") for text in said)
    assert any(text.startswith("The advice on 78 cases") for text in said)


def test_without_advice_or_decisions_nothing_is_said() -> None:
    assert not entries(answer(readings(CORRECT)))
    table = advised(CORRECT, RIGHT).readings[0]
    scores = replace(
        table, decision=None, score=np.where(CORRECT[table.arm, table.reader, table.case], 1.0, 0)
    )
    assert not entries(answer(Study(arms=table.arms, readings=(scores,))))
