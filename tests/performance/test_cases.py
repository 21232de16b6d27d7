"""Which cases count, how they are decided, and where a failed case is ranked: one rule, counted by hand."""

from itertools import pairwise
from math import nan
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from tests.english import english
from tests.monitored import coded
from tests.studies import plan
from trustreport.assessment.performance.cases import ScoredCases, in_common, outputs, scored_cases
from trustreport.assessment.performance.decision_table import difference
from trustreport.assessment.performance.keys import case_key, joined_key
from trustreport.assessment.performance.measures import estimates, lead
from trustreport.assessment.performance.sites import sites_in
from trustreport.study.study import Cases, Dataset, Labels, Scores, Study

HALF = {"threshold": 0.5}


def scored(
    truth: list[int],
    score: list[float],
    status: list[str] | None = None,
    *,
    rule: str | None = None,
    declared: dict[str, Any] | None = None,
    role: str = "external",
    **columns: list[str],
) -> ScoredCases:
    """The analysed cases of one candidate, decided at 0.5."""
    codes = {word: coded(values) for word, values in columns.items()}
    own = {word: codes.pop(word) for word in ("patient", "site") if word in codes}
    cases = Cases(
        Labels(tuple(f"C{i}" for i in range(len(truth)))), np.array(truth, np.int8), **own, groups=codes
    )
    scores = Scores(np.array(score), status=None if status is None else coded_or_none(status))
    study = Study(datasets=(Dataset("set", role, cases, {"": scores}),))
    facts = [{"dataset": "set", "role": role, **declared}] if declared else []
    point = {**HALF, **({"indeterminate_as": rule} if rule else {})}
    (found,) = scored_cases(study, plan(operating_point=point, datasets=facts))
    return found


def coded_or_none(words: list[str]) -> Any:
    """A column of words; empty ones are none."""
    found = coded([w for w in words if w])
    places = iter(found.codes)
    codes = np.array([next(places) if w else -1 for w in words], np.int32)
    return type(found)(codes, found.labels)


# Truth known throughout; one case of each kind. What is analysed, and how each is decided.
TRUTH = [1, 0, 1, 0, 1, 0, 1]
SCORE = [0.9, 0.2, nan, nan, nan, 0.8, nan]
STATUS = ["ok", "done", "failed", "crashed", "not run", "ok", ""]


@pytest.mark.parametrize(
    ("rule", "rows", "decided"),
    [
        # Failed cases count as wrong without a rule; the one without status and output was not given.
        (None, [0, 1, 2, 3, 5], [1, 0, 0, 1, 1]),
        # A rule decides of that one too. "not run" was never given, whatever the rule.
        ("wrong", [0, 1, 2, 3, 5, 6], [1, 0, 0, 1, 1, 0]),
        ("positive", [0, 1, 2, 3, 5, 6], [1, 0, 1, 1, 1, 1]),
        ("negative", [0, 1, 2, 3, 5, 6], [1, 0, 0, 0, 1, 0]),
    ],
)
def test_who_counts_and_how_failed_cases_are_decided(
    rule: str | None, rows: list[int], decided: list[int]
) -> None:
    found = scored(TRUTH, SCORE, STATUS, rule=rule)
    assert found.rows.tolist() == rows
    assert found.decision is not None
    assert found.decision.astype(int).tolist() == decided
    assert found.n_failed == len(rows) - 3
    assert (found.n_counted, found.n_not_given) == (7, 7 - len(rows))
    assert len(found.decided) == 3


def test_a_status_outweighs_a_score_that_was_put_out() -> None:
    found = scored([1, 0], [0.9, 0.1], ["failed", "ok"])
    assert found.decision is not None
    assert found.decision.tolist() == [False, False]
    assert found.with_scores[1].tolist() == [0.1], "calibration is of the outputs that are used"


@pytest.mark.parametrize(
    ("rule", "places"), [("wrong", (-1, 1)), ("positive", (1, 1)), ("negative", (-1, -1))]
)
def test_failed_cases_are_ranked_as_they_are_decided(rule: str, places: tuple[int, int]) -> None:
    truth, score = [1, 0, 1, 0], [0.9, 0.2, nan, nan]
    found = scored(truth, score, ["ok", "ok", "failed", "failed"], rule=rule)
    ranked = found.ranked[1]
    assert [np.sign(s - 0.5) for s in ranked[2:]] == list(places)
    assert all(s > 0.9 or s < 0.2 for s in ranked[2:])
    # The area over all pairs of a positive and a negative, ties a half, counted one by one.
    pairs = [(p, n) for p in (0, 2) for n in (1, 3)]
    area = sum(1.0 if ranked[p] > ranked[n] else 0.5 if ranked[p] == ranked[n] else 0.0 for p, n in pairs) / 4
    assert lead(found, "auc", 0.95).value == area
    # At the threshold the area, the decisions and the net benefit count the same cases.
    tp, fp = (int((found.decision & (found.truth == t)).sum()) for t in (True, False))
    assert lead(found, "net_benefit", 0.95).value == (tp - fp) / 4


def test_a_truth_that_is_not_known_counts_nowhere() -> None:
    found = scored([1, -1, 0], [0.9, 0.9, 0.1])
    assert (len(found), found.n_counted) == (2, 2)


def test_a_lower_score_may_speak_for_the_condition() -> None:
    cases = Cases(Labels(n=4), np.array([1, 1, 0, 0], np.int8))
    study = Study(datasets=(Dataset("set", "external", cases, {"": Scores(np.array([1.0, 2.0, 3.0, 4.0]))}),))
    point = {"threshold": 2.0, "score_direction": "lower_is_positive"}
    (found,) = scored_cases(study, plan(operating_point=point))
    assert lead(found, "auc", 0.95).value == 1.0
    assert lead(found, "accuracy", 0.95).value == 1.0, "a score at the threshold is called positive"
    assert "no probability" in english(lead(found, "brier", 0.95).note)


# ---------------------------------------------------------------- clusters, parts, sites


def test_clusters_come_first_and_independent_cases_beside() -> None:
    truth, score = [1, 0] * 10, [0.8, 0.3, 0.4, 0.2, 0.3, 0.6] * 3 + [0.9, 0.1]
    alone, patients = scored(truth, score), scored(truth, score, patient=[f"P{i // 4}" for i in range(20)])
    assert alone.cluster is None
    for name in ("sensitivity", "auc", "average_precision", "brier", "net_benefit", "calibration_slope"):
        first, second = estimates(patients, name, 0.95)[:2]
        assert first.details.get("clusters") == 5 or first.df == 4, name
        assert second.value == first.value == lead(alone, name, 0.95).value, name
        assert second.low == lead(alone, name, 0.95).low, name
    failed = scored(
        truth, [nan, *score[1:]], ["failed"] + ["ok"] * 19, patient=[f"P{i // 4}" for i in range(20)]
    )
    assert lead(failed, "failure_rate", 0.95).method == "cluster_wilson"
    assert lead(patients, "failure_rate", 0.95).method == "cluster_wilson", (
        "none of twenty failed, in five patients"
    )


def test_cases_of_any_shared_key_belong_together() -> None:
    found = scored(
        [1, 0, 1, 0, 1], [0.9, 0.1, 0.8, 0.2, 0.7],
        declared={"cluster_keys": ["patient", "video"]},
        patient=["a", "a", "b", "c", "d"], video=["x", "y", "y", "z", "w"],
    )  # fmt: skip
    assert found.cluster is not None
    # a joins the first two, y the second and third.
    together = [found.cluster[i] == found.cluster[j] for i, j in pairwise(range(5))]
    assert together == [True, True, False, False]


def test_a_site_is_measured_as_a_set_of_its_own() -> None:
    truth, score = [1, 0] * 6, [0.9, 0.1, 0.4, 0.2, 0.8, 0.7] * 2
    where = ["North"] * 6 + ["South"] * 6
    keys = {"cluster_keys": ["site", "patient"]}
    whole = scored(truth, score, declared=keys, site=where, patient=[str(i // 2) for i in range(12)])
    north, south = sites_in(whole, plan(datasets=[{"dataset": "set", "role": "external", **keys}]))
    assert (north.name, south.name) == ("North", "South")
    alone = scored(truth[:6], score[:6], patient=[str(i // 2) for i in range(6)])
    for name in ("sensitivity", "auc", "brier"):
        here, there = lead(north.case, name, 0.95), lead(alone, name, 0.95)
        assert (here.value, here.low, here.high) == (there.value, there.low, there.high), name
    assert whole.cluster is not None
    assert len(set(whole.cluster)) == 2, "the whole set is of two sites"


def test_candidates_are_compared_on_the_cases_that_all_were_given() -> None:
    cases = Cases(Labels(n=5), np.array([1, 0, 1, 0, 1], np.int8))
    one = Scores(np.array([0.9, 0.1, 0.8, 0.2, nan]), status=coded(["ok"] * 4 + ["failed"]))
    other = Scores(np.array([0.9, 0.8, nan, 0.2, 0.7]), status=coded(["ok", "ok", "not run", "ok", "ok"]))
    study = Study(datasets=(Dataset("set", "local", cases, {"A": one, "B": other}),))
    a, b = in_common(scored_cases(study, plan(operating_point=HALF)))
    assert a.rows.tolist() == b.rows.tolist() == [0, 1, 3, 4]
    # A: right but for the failed positive; B: a false alarm.
    assert difference(a, b, "accuracy", 0.95).value == 0.0
    assert difference(a, b, "sensitivity", 0.95).value == -0.5
    assert difference(a, b, "specificity", 0.95).value == 0.5
    assert difference(a, b, "failure_rate", 0.95).value == 0.25
    whole = scored_cases(study, plan(operating_point=HALF))
    with pytest.raises(ValueError, match="different cases"):
        difference(whole[0], whole[1], "accuracy", 0.95)


# ---------------------------------------------------------------- keys


@given(st.integers(0, 1200), st.randoms(use_true_random=False))
def test_a_key_is_of_the_cases_whatever_their_order(n: int, random: Any) -> None:
    rows = random.sample(range(2000), n)
    counted, named = Labels(n=2000), Labels(tuple(str(i + 1) for i in range(2000)))
    key = case_key("set", counted, np.array(rows, int))
    assert key == case_key("set", named, np.array(sorted(rows), int)), (
        "a case without a name has that of its row"
    )
    assert len(key) == 16
    if n:
        assert key != case_key("set", named, np.array(rows[1:], int))
        assert key != case_key("another", named, np.array(rows, int))


def test_keys_of_several_sets_do_not_depend_on_their_order() -> None:
    assert joined_key(["a", "b"]) == joined_key(["b", "a"]) != joined_key(["a"])


def test_nobody_has_put_out_anything() -> None:
    found = outputs(None, 3, plan())
    assert not found.present.any()
    assert not found.scores


@pytest.mark.parametrize(
    "names", [("b", "", "ü"), pa.array(["b", None, "ü"]), pa.chunked_array([["b"], ["7", "ü"]])]
)
def test_names_at_once_are_those_one_by_one(names: Any) -> None:
    rows = np.array([2, 0, 0, 1])
    for labels in (Labels(names), Labels(n=3)):
        assert labels.names_at(rows) == [labels[int(i)] for i in rows]
        assert labels.names_at(rows[:0]) == []
