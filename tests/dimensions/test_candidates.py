"""Candidates on the same cases: failures as errors, differences, groups, rates, claims; P51, P52."""

from collections.abc import Iterable
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from studies import plan

from trustreport.assessment.assess import assess
from trustreport.assessment.claims import claim_checks
from trustreport.assessment.dimensions.candidates import DIMENSION, answer
from trustreport.assessment.dimensions.candidates.results import indistinguishable
from trustreport.assessment.finding import PlainTable
from trustreport.measures.estimate import Estimate
from trustreport.measures.paired.difference import CLUSTERS_AS_CASES, PairedTable, tango
from trustreport.measures.proportion import wilson
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Coded, Dataset, Labels, Scores, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result, leading

EN = catalogue()
N, POSITIVES = 100, 40


def scores(
    hits: int, alarms: int, *, failed: tuple[int, ...] = (), absent: tuple[int, ...] = (), status: bool = True
) -> Scores:
    """The first `hits` of 40 positives and `alarms` of 60 negatives called; some failed or never given."""
    decision = np.zeros(N, np.int8)
    decision[:hits] = 1
    decision[POSITIVES : POSITIVES + alarms] = 1
    codes = np.zeros(N, np.int32)
    for cases, code in ((failed, 1), (absent, -1)):
        decision[list(cases)] = -1
        codes[list(cases)] = code
    score = np.where(decision < 0, np.nan, 0.2 + 0.6 * decision)
    return Scores(score, decision, status=Coded(codes, Labels(("ok", "failed"))) if status else None)


def study(patient: Coded | None = None, **candidates: Scores) -> Study:
    truth = (np.arange(N) < POSITIVES).astype(np.int8)
    return Study(datasets=(Dataset("here", "local", Cases(Labels(n=N), truth, patient=patient), candidates),))


def procurement(**groups: Any) -> Plan:
    return plan(**{"report": {"kind": "procurement"}, **groups})


def value(results: tuple[Result, ...], name: str, **scope: Any) -> Result:
    found = leading(results, f"candidates.{name}", **{"parameters": None, **scope})
    assert found is not None
    return found


def test_a_failed_case_counts_as_an_error() -> None:
    # 35 of 40 found, one of those failed; 6 of 60 alarms, and one right negative failed: 34/40, 53/60
    run = scores(35, 6, failed=(0, 99))
    results = answer(study(A=run, B=scores(30, 3)), procurement()).results
    for name, x, n in (("sensitivity", 34, 40), ("specificity", 53, 60), ("accuracy", 87, 100)):
        e, w = value(results, name, candidate="A").estimate, wilson(x, n)
        assert (e.value, e.low, e.high, e.n) == pytest.approx((w.value, w.low, w.high, n))
    failed = value(results, "failure_rate", candidate="A").estimate
    assert (failed.value, failed.details["failed"]) == (0.02, 2)


def test_a_failed_case_is_ranked_as_wrongly_as_can_be() -> None:
    # one of 40 positives below all: its 60 pairs are lost; one of 60 negatives above all: its 40 pairs too
    truth = np.arange(N) < POSITIVES
    perfect = Scores(truth.astype(float), truth.astype(np.int8))
    broken = Scores(
        np.where(np.isin(np.arange(N), (0, 99)), np.nan, truth),
        np.where(np.isin(np.arange(N), (0, 99)), -1, truth).astype(np.int8),
        status=Coded(np.isin(np.arange(N), (0, 99)).astype(np.int32), Labels(("ok", "failed"))),
    )
    results = answer(study(A=perfect, B=broken), procurement()).results
    assert value(results, "auc", candidate="A").estimate.value == 1
    assert value(results, "auc", candidate="B").estimate.value == pytest.approx((2400 - 60 - 40 + 1) / 2400)


def test_differences_are_paired() -> None:
    # A finds 1 to 35, B 1 to 30 and A's failed case 0: both 29, A alone 5, B alone 1, neither 5
    results = answer(study(A=scores(35, 6, failed=(0,)), B=scores(30, 3)), procurement()).results
    e = value(results, "sensitivity_difference", candidates=["B", "A"]).estimate
    expected = tango(PairedTable(29, 1, 5, 5))
    assert (e.value, e.low, e.high, e.n) == pytest.approx((-0.1, expected.low, expected.high, 40))


def test_the_first_of_a_contrast_is_compared_with_the_second() -> None:
    held = study(A=scores(35, 6), B=scores(30, 3))
    asked = {"endpoint": "found", "measure": "candidates.sensitivity_difference"}
    for criterion in ({"candidate": ["A", "B"]}, {"arm_or_contrast": ["A", "B"]}):
        results = answer(held, procurement(endpoints=[{**asked, **criterion}])).results
        e = value(results, "sensitivity_difference", candidates=["A", "B"]).estimate
        other = value(answer(held, procurement()).results, "sensitivity_difference", candidates=["B", "A"])
        assert (e.value, e.low, e.high) == pytest.approx((5 / 40, -other.estimate.high, -other.estimate.low))


def test_clusters_widen_the_interval() -> None:
    patient = Coded((np.arange(N) // 10).astype(np.int32), Labels(tuple(f"p{i}" for i in range(10))))
    alone = answer(study(A=scores(35, 6), B=scores(30, 3)), procurement()).results
    together = answer(study(patient, A=scores(35, 6), B=scores(30, 3)), procurement()).results
    scope = {"candidates": ["B", "A"]}
    one, other = (value(r, "accuracy_difference", **scope).estimate for r in (alone, together))
    assert other.method == "tango_clustered"
    assert other.high - other.low > one.high - one.low
    assert other.df == 9


def test_where_candidates_differ_in_no_cluster_a_cluster_counts_once() -> None:
    patient = Coded((np.arange(N) // 10).astype(np.int32), Labels(tuple(f"p{i}" for i in range(10))))
    found = answer(study(patient, A=scores(35, 6), B=scores(35, 6)), procurement()).results
    for name in ("sensitivity_difference", "specificity_difference", "accuracy_difference"):
        e = value(found, name, candidates=["B", "A"]).estimate
        assert (e.value, e.note) == (0, CLUSTERS_AS_CASES)
        assert e.low < 0 < e.high


def test_cases_not_given_to_all_are_left_out_of_all() -> None:
    results = answer(study(A=scores(35, 6), B=scores(30, 3, absent=(98, 99))), procurement()).results
    assert value(results, "accuracy", candidate="A").estimate.n == 98
    assert value(results, "specificity", candidate="A").estimate.n == 58
    assert value(results, "failure_rate", candidate="B").estimate.details["not_run"] == 2


# ---------------------------------------------------------------- groups


def test_groups_of_candidates_that_are_not_differing() -> None:
    def told(pair: tuple[str, str], low: float, high: float) -> Result:
        e = Estimate((low + high) / 2, low, high, 10, method="tango")
        return Result("candidates.accuracy_difference", Place(candidates=pair), e, primary=True)

    # a and b alike, b and c alike, a and c distinguishable
    found = [told(("b", "a"), -0.1, 0.1), told(("c", "b"), -0.2, 0.1), told(("c", "a"), -0.3, -0.1)]
    assert indistinguishable(found, ["a", "b", "c"], "accuracy") == [("a", "b"), ("b", "c")]
    assert indistinguishable(found[:2], ["a", "b", "c"], "accuracy") == [("a", "b", "c")]
    apart = [told(pair, 0.1, 0.2) for pair in (("a", "b"), ("a", "c"), ("b", "c"))]
    assert indistinguishable(apart, ["a", "b", "c"], "accuracy") == [("a",), ("b",), ("c",)]


def by_force(apart: set[frozenset[str]], names: list[str]) -> list[tuple[str, ...]]:
    """Of all groups without a pair that differs those that are part of no larger one."""
    groups: list[tuple[str, ...]] = []
    for size in range(len(names), 0, -1):
        for group in combinations(names, size):
            whole = not any(frozenset(pair) in apart for pair in combinations(group, 2))
            if whole and not any(set(group) <= set(larger) for larger in groups):
                groups.append(group)
    return sorted(groups, key=lambda group: [names.index(one) for one in group])


def differing(pairs: Iterable[frozenset[str]]) -> list[Result]:
    e = Estimate(0.2, 0.1, 0.3, 10, method="tango")
    return [
        Result("candidates.accuracy_difference", Place(candidates=(min(pair), max(pair))), e, primary=True)
        for pair in pairs
    ]


@given(
    st.permutations("abcdef"), st.integers(1, 6), st.sets(st.sampled_from(list(combinations("abcdef", 2))))
)
def test_groups_are_those_of_a_search_over_all_subsets(
    order: list[str], n: int, pairs: set[tuple[str, str]]
) -> None:
    names = order[:n]
    apart = {frozenset(pair) for pair in pairs if set(pair) <= set(names)}
    assert indistinguishable(differing(apart), names, "accuracy") == by_force(apart, names)


def test_forty_candidates_are_grouped_at_once() -> None:
    """Each differs from those more than five places away: 35 groups of six."""
    names = [f"C{i:02d}" for i in range(40)]
    apart = [frozenset((names[i], names[j])) for i in range(40) for j in range(i + 6, 40)]
    start = perf_counter()
    groups = indistinguishable(differing(apart), names, "accuracy")
    assert groups == [tuple(names[i : i + 6]) for i in range(35)]
    assert perf_counter() - start < 5


# ---------------------------------------------------------------- per 1000 patients


def test_rates_at_the_local_prevalence_by_hand() -> None:
    declared = procurement(site_context={"local_prevalence": 0.1}, utility={"cost_fp": 1, "cost_fn": 9})
    results = answer(study(A=scores(36, 6, failed=(0, 99))), declared).results
    # 35 of 40 alarms among positives (case 0 failed), 6 of 60 among negatives, of which 1 failed
    expected = {
        "alarm_rate": 0.1 * 35 / 40 + 0.9 * 6 / 60,
        "false_alarm_rate": 0.9 * 6 / 60,
        "missed_rate": 0.1 * 5 / 40,
        "failure_rate": 0.1 / 40 + 0.9 / 60,
        "recall_rate": 0.1 * 36 / 40 + 0.9 * 7 / 60,
    }
    for name, wanted in expected.items():
        e = value(results, name, parameters={"prevalence": 0.1}).estimate
        assert e.value == pytest.approx(wanted), name
        assert e.low < e.value < e.high
    chosen = {"prevalence": 0.1, "false_alarm_weight": 1 / 9}
    benefit = value(results, "net_benefit", parameters=chosen).estimate
    assert benefit.value == pytest.approx(0.1 * 35 / 40 - 0.9 * 7 / 60 / 9)


def test_without_a_local_prevalence_there_are_no_rates() -> None:
    results = answer(study(A=scores(36, 6)), procurement()).results
    assert not [r for r in results if "parameters" in r.scope]


# ---------------------------------------------------------------- claimed and observed


def test_claims_stand_beside_the_local_cases_and_are_not_recomputed() -> None:
    claims = [
        {"candidate": "A", "measure": "sensitivity", "value": "0.99", "source_document": "IFU"},
        {"candidate": "A", "measure": "specificity", "value": "90%", "ci": ["85%", "94%"]},
        {"candidate": "B", "measure": "specificity", "value": "0.50"},
    ]
    declared = procurement(performance_claims=claims)
    finding = answer(study(A=scores(35, 6), B=scores(30, 3)), declared)
    (table,) = [t for p in finding.parts for t in p.tables if t.id.startswith("candidates_claims")]
    assert isinstance(table, PlainTable)
    said = [(EN(row[0]), EN(row[-1])) for row in table.rows]
    assert said == [("A", "observed lower"), ("A", "within"), ("B", "observed higher")]
    assert not claim_checks(declared, assess(study(A=scores(35, 6), B=scores(30, 3)), declared).results)
    of_these_cases = procurement(performance_claims=[{**claims[2], "dataset": "here"}])
    assert "candidates_claims" not in str(
        [t.id for p in answer(study(A=scores(3, 6)), of_these_cases).parts for t in p.tables]
    )


# ---------------------------------------------------------------- whether it is asked


def test_the_question_arises_for_a_choice_only() -> None:
    assert DIMENSION.applies(study(A=scores(35, 6)), procurement())
    assert not DIMENSION.applies(study(A=scores(35, 6)), plan())
    assert DIMENSION.applies(study(A=scores(35, 6), B=scores(30, 3)), plan())
    silent = assess(study(A=scores(35, 6)), plan())
    assert "candidates" not in {u.dimension for u in silent.unanswered}
    lacking = assess(Study(), procurement())
    assert "candidates" in {u.dimension for u in lacking.unanswered}


# ---------------------------------------------------------------- P51, P52


def outcomes(check: str, **candidates: Scores) -> list[tuple[str, str]]:
    found = assess(study(**candidates), procurement()).checks
    return [(o.status, EN(o.message)) for o in found if o.check == check]


def test_p51_other_cases_fire() -> None:
    ((status, text),) = outcomes("P51", A=scores(35, 6), B=scores(30, 3, absent=(98, 99), failed=(0,)))
    assert status == "fired"
    assert "compared on the 98 in common" in text
    assert "B on 1" in text


def test_p51_other_failures_fire_and_like_ones_do_not() -> None:
    ((status, text),) = outcomes("P51", A=scores(35, 6), B=scores(30, 3, failed=tuple(range(88, 100))))
    assert status == "fired"
    assert text.endswith("B on 12.")
    ((status, _),) = outcomes("P51", A=scores(35, 6, failed=(99,)), B=scores(30, 3, failed=(97, 98)))
    assert status == "clear"


def test_p51_cannot_run_with_one_candidate() -> None:
    assert [s for s, _ in outcomes("P51", A=scores(35, 6))] == ["cannot run"]


def test_p52_fires_where_the_interval_holds_no_difference_and_not_where_all_exclude_it() -> None:
    ((status, text),) = outcomes("P52", A=scores(35, 6), B=scores(34, 6))
    assert status == "fired"
    assert "The interval of the difference B minus A includes zero for accuracy (" in text
    assert "accuracy (−1.0 points, 95% CI −5.4 to 2.7)" in text
    ((status, _),) = outcomes("P52", A=scores(40, 0), B=scores(20, 30))
    assert status == "clear"


def test_without_status_a_missing_output_was_never_given() -> None:
    ((status, text),) = outcomes(
        "P51", A=scores(35, 6, status=False), B=scores(30, 3, failed=(0,), status=False)
    )
    assert status == "fired"
    assert "compared on the 99 in common" in text


@pytest.mark.parametrize("failed", [(), (0, 99)])
def test_why_alarms_and_predictive_values_differ_is_said_where_cases_failed(failed: tuple[int, ...]) -> None:
    here = procurement(site_context={"local_prevalence": 0.4})
    found = answer(study(A=scores(35, 6, failed=failed), B=scores(30, 3)), here)
    said = [EN(text) for part in found.parts for text in part.finding]
    assert any("Cases without an output have a row of their own" in text for text in said) is bool(failed)
    rate = leading(found.results, "candidates.alarm_rate", candidate="A")
    right = leading(found.results, "candidates.ppv", candidate="A")
    hits = 0.4 - leading(found.results, "candidates.missed_rate", candidate="A").estimate.value
    share = hits / rate.estimate.value
    assert (share > right.estimate.value + 1e-9) is bool(failed)
