"""Families: how alpha is shared and handed on, which open when others are met, and what is refused."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, pairwise, product
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests
from studies import plan

from trustreport.api import assess, read_study
from trustreport.assessment.verdicts import Verdict, verdicts
from trustreport.commands.cli import main
from trustreport.commands.second_judge import dissents
from trustreport.measures.estimate import Estimate
from trustreport.report.answer.acceptance import families as said_of_families
from trustreport.report.declared import text
from trustreport.report.write import as_data
from trustreport.study import lock
from trustreport.study.plan import Confusion
from trustreport.study.study import Study
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

EN = catalogue()
ALPHA = 0.025
FIXED = {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"}
SENSITIVITY = "advice_accuracy.sensitivity"
CHANCES = st.floats(1e-4, 0.2)


def goal(name: str, bound: float, family: str, **more: Any) -> dict[str, Any]:
    given = {"endpoint": name, "measure": SENSITIVITY, "hypothesis": "performance goal", "alpha": ALPHA}
    return given | {"bound_or_margin": bound, "multiplicity_family": family, **more}


@cache
def one_result() -> Result:
    study = Study(confusion=(Confusion(set="main", tp=90, fn=10, fp=20, tn=180),))
    found = assess(study, plan(endpoints=[goal("a", 0.5, "F")], study=FIXED))
    return next(r for r in found.results if r.id == SENSITIVITY and r.primary)


def judged(
    p: Mapping[str, float], families: Sequence[Mapping[str, Any]], **members: str
) -> dict[str, Verdict]:
    """Verdicts on criteria, each with the p of its test, in families; the intervals are of normal tests."""
    endpoints = [goal(name, 0.5, members.get(name, "F"), set=name) for name in p]
    declared = plan(endpoints=endpoints, families=families, study=FIXED)

    def results_at(dimension: str, level: float) -> list[Result]:
        found = []
        for name, chance in p.items():
            value, half = 0.5 + 0.05 * norm.isf(chance), 0.05 * norm.isf((1 - level) / 2)
            e = Estimate(value, value - half, value + half, 100, level, "wilson")
            found.append(replace(one_result(), place=Place(set=name), estimate=e))
        return found

    return {
        v.criterion.endpoint: v for v in verdicts(Study(), declared, results_at("", 0.95), (), results_at)
    }


def passed(found: Mapping[str, Verdict]) -> list[bool]:
    return [v.word == "pass" for v in found.values()]


def named(p: Sequence[float]) -> dict[str, float]:
    return dict(zip("abcdefgh", p, strict=False))


# ---------------------------------------------------------------- one family


@pytest.mark.parametrize(("rule", "method"), [("holm", "holm"), ("hochberg", "simes-hochberg")])
def test_steps_reject_what_the_adjusted_p_values_say(rule: str, method: str) -> None:
    """Adjusted p-values of statsmodels; the p-values lie about the levels of the steps."""
    rng = np.random.default_rng(1)
    between = 0
    for _ in range(150):
        p = rng.uniform(0, 2 * ALPHA / rng.integers(1, 5, size=rng.integers(2, 6)))
        rejected = multipletests(p, method=method)[1] <= ALPHA
        between += 0 < rejected.sum() < len(p)
        assert passed(judged(named(p), [{"family": "F", "rule": rule}])) == rejected.tolist(), p
    assert between > 20


def test_hochberg_rejects_where_holm_does_not() -> None:
    p = named([0.02, 0.024, 0.022])
    assert passed(judged(p, [{"family": "F", "rule": "holm"}])) == [False] * 3
    assert passed(judged(p, [{"family": "F", "rule": "hochberg"}])) == [True] * 3
    found = judged(named([0.02, 0.03, 0.011]), [{"family": "F", "rule": "hochberg"}])
    assert [(v.word, v.alpha) for v in found.values()] == [
        ("inconclusive", pytest.approx(ALPHA / 3)),
        ("inconclusive", pytest.approx(ALPHA / 3)),
        ("inconclusive", pytest.approx(ALPHA / 3)),
    ], "1 of 3 at alpha/1 and alpha/2 is too few, none passes at alpha/3"


GATE = {"a": {"c": 1.0}, "b": {"d": 1.0}, "c": {"b": 1.0}, "d": {"a": 1.0}}
SHARED = {"a": {"b": 0.5, "c": 0.5}, "b": {"a": 0.5, "d": 0.5}, "c": {"b": 1.0}, "d": {"a": 1.0}}


@pytest.mark.parametrize(
    ("transitions", "p", "alpha", "rejected", "shares"),
    [  # graphicalMCP (R): graph_test_shortcut, test_graph_closure, and vignette "shortcut-testing"
        (GATE, (0.018, 0.01, 0.105, 0.006), 0.025, (True, True, False, True), None),
        (GATE, (0.01, 0.02, 0.03, 0.05), 0.05, (True, True, False, False), (0.5, 0.5, 0.5, 0.5)),
        (SHARED, (0.018, 0.01, 0.105, 0.006), 0.025, (True, True, False, True), (0.75, 0.5, 1.0, 0.5)),
    ],
)
def test_graphs_of_the_field_reject_and_test_at_the_published_levels(
    transitions: Any, p: Sequence[float], alpha: float, rejected: Any, shares: Any
) -> None:
    graph = {"family": "F", "rule": "graph", "alpha": alpha, "transitions": transitions}
    found = judged(named(p), [{**graph, "weights": {"a": 0.5, "b": 0.5}}])
    assert tuple(passed(found)) == rejected
    if shares is not None:
        assert [v.alpha for v in found.values()] == pytest.approx([s * alpha for s in shares])


def of_subset(weights: Any, transitions: Any, kept: Sequence[int]) -> dict[int, float]:
    """Where alpha comes to rest in a subset, if it walks along the transitions until it meets one of it."""
    gone = [i for i in range(len(weights)) if i not in kept]
    stays = np.linalg.inv(np.eye(len(gone)) - transitions[np.ix_(gone, gone)])
    w = weights[list(kept)] + weights[gone] @ stays @ transitions[np.ix_(gone, kept)]
    return dict(zip(kept, w, strict=True))


def test_a_graph_rejects_what_the_closed_test_does() -> None:
    """By brute force: rejected where every subset with it has a member with p at most its share."""
    rng = np.random.default_rng(2)
    counts = []
    for _ in range(120):
        m = int(rng.integers(2, 6))
        weights = rng.dirichlet(np.ones(m + 1))[:m] * (rng.random(m) < 0.7)
        weights[rng.integers(m)] += 0.1 * (1 - weights.sum())
        transitions = rng.dirichlet(np.ones(m + 1), size=m)[:, :m] * (rng.random((m, m)) < 0.8)
        np.fill_diagonal(transitions, 0)
        p = ALPHA * rng.beta(0.3, 1.5, m)
        rejects = {}
        for kept in (k for n in range(1, m + 1) for k in combinations(range(m), n)):
            shares = of_subset(weights, transitions, kept)
            rejects[kept] = any(p[i] <= w * ALPHA for i, w in shares.items())
        closed = [all(said for kept, said in rejects.items() if i in kept) for i in range(m)]
        names = "abcdefgh"[:m]
        rows = {
            a: dict(zip(names, map(float, row), strict=True))
            for a, row in zip(names, transitions, strict=True)
        }
        graph = {"rule": "graph", "weights": dict(zip(names, map(float, weights), strict=True))}
        found = judged(named(p), [{"family": "F", **graph, "transitions": rows}])
        assert passed(found) == closed, (weights, transitions, p)
        counts.append(sum(closed) / m)
    assert 0.2 < np.mean(counts) < 0.8, "some are rejected and some are not"


@given(p=st.lists(CHANCES, min_size=2, max_size=5))
@settings(max_examples=60, deadline=None)
def test_a_graph_holds_the_other_rules(p: list[float]) -> None:
    from trustreport.measures.association import holm

    assume(not any(isclose(x * k, ALPHA) for x in p for k in range(1, 6)))  # where rounding would decide
    names = "abcde"[: len(p)]
    alike = {a: {b: 1 / (len(p) - 1) for b in names if b != a} for a in names}
    chain = {a: {b: 1.0} for a, b in pairwise(names)}
    family = {"family": "F", "rule": "graph"}
    equal = judged(named(p), [{**family, "weights": dict.fromkeys(names, 1 / len(p)), "transitions": alike}])
    assert passed(equal) == (holm(p) <= ALPHA).tolist()
    in_order = judged(named(p), [{**family, "weights": {"a": 1.0}, "transitions": chain}])
    sequence = judged(named(p), [{"family": "F", "rule": "fixed sequence"}])
    assert [v.word for v in in_order.values()] == [v.word for v in sequence.values()]


def test_without_alpha_nothing_is_tested() -> None:
    graph = {"family": "F", "rule": "graph", "weights": {"a": 1.0}, "transitions": {"a": {"b": 1.0}}}
    found = judged(named([0.03, 0.001]), [graph])
    assert [(v.word, v.alpha) for v in found.values()] == [("inconclusive", ALPHA), ("not tested", None)]
    assert EN(found["b"].reason).startswith("Not tested: no alpha was handed on to it")


# ---------------------------------------------------------------- families that wait


TWO = [{"family": "main", "rule": "holm"}, {"family": "second", "rule": "bonferroni", "after": "main"}]
IN_TWO = {"a": "main", "b": "main", "c": "second", "d": "second"}


def test_a_family_that_waits_is_tested_at_its_own_alpha_once_the_other_is_met() -> None:
    open_ = judged(named([0.01, 0.02, 0.001, 0.02]), TWO, **IN_TWO)
    assert [v.word for v in open_.values()] == ["pass", "pass", "pass", "inconclusive"]
    assert [v.alpha for v in open_.values()] == pytest.approx([ALPHA / 2, ALPHA, ALPHA / 2, ALPHA / 2])
    shut = judged(named([0.01, 0.03, 0.001, 0.001]), TWO, **IN_TWO)
    assert [v.word for v in shut.values()] == ["pass", "inconclusive", "not tested", "not tested"]
    assert [(v.alpha, v.result) for v in shut.values()][2:] == [(None, None)] * 2
    assert EN(shut["c"].reason) == 'Not tested: the family “main” has to be met first, and it is not.'
    assert [v.family.met for v in shut.values() if v.family] == [False, False, None, None]


def test_the_order_of_the_manifest_does_not_open_a_family() -> None:
    members = {"a": "second", "b": "main"}
    assert passed(judged(named([0.001, 0.2]), TWO, **members)) == [False, False]
    assert passed(judged(named([0.001, 0.001]), TWO, **members)) == [True, True]


@pytest.mark.parametrize(
    ("p", "opens_when", "word"),
    [
        ((0.01, 0.01), "all", "pass"),
        ((0.01, 0.2), "all", "not tested"),
        ((0.01, 0.2), "any", "pass"),
        ((0.2, 0.01), "any", "pass"),
        ((0.2, 0.2), "any", "not tested"),
    ],
)
def test_all_or_any_of_several_families(p: tuple[float, float], opens_when: str, word: str) -> None:
    families: list[dict[str, Any]] = [{"family": name, "rule": "holm"} for name in ("one", "two")]
    families.append({"family": "last", "rule": "holm", "after": ["one", "two"], "opens_when": opens_when})
    found = judged(named([*p, 0.001]), families, a="one", b="two", c="last")
    assert found["c"].word == word
    if opens_when == "any" and word == "not tested":
        assert 'one of the families “one” and “two” has to be met first' in EN(found["c"].reason)


def test_a_chain_of_families_stops_where_one_is_not_met() -> None:
    families = [
        {"family": "third", "rule": "holm", "after": "second"},
        {"family": "second", "rule": "holm", "after": "first"},
        {"family": "first", "rule": "co-primary"},
    ]
    members = {"a": "first", "b": "second", "c": "third"}
    for p, words in (
        ((0.01, 0.01, 0.01), ["pass", "pass", "pass"]),
        ((0.01, 0.2, 0.01), ["pass", "inconclusive", "not tested"]),
        ((0.2, 0.01, 0.01), ["inconclusive", "not tested", "not tested"]),
    ):
        assert [v.word for v in judged(named(p), families, **members).values()] == words


def test_a_family_without_criteria_is_never_met() -> None:
    families = [{"family": "F", "rule": "holm", "after": "empty"}, {"family": "empty", "rule": "holm"}]
    cells = (Confusion(set="a", tp=90, fn=10, fp=20, tn=180),)
    declared = plan(endpoints=[goal("a", EASY, "F", set="a")], families=families, study=FIXED)
    found = assess(Study(confusion=cells), declared)
    assert [v.word for v in found.verdicts] == ["not tested"]
    assert not dissents(as_data(found))


def test_families_that_wait_for_each_other_are_no_families() -> None:
    circle = [
        {"family": "one", "rule": "holm", "after": "two"},
        {"family": "two", "rule": "holm", "after": "one"},
        {"family": "behind", "rule": "holm", "after": "one"},
    ]
    with pytest.raises(ValueError, match=r"wait for each other: one, two$"):
        judged(named([0.01, 0.01, 0.01]), circle, a="one", b="two", c="behind")


def test_false_passes_stay_below_alpha_behind_a_gate() -> None:
    """One primary criterion is true and one is not; both secondary ones are not."""
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(1500):
        null = rng.random(3)
        found = judged(named([1e-6, *null]), TWO, **IN_TWO)
        wrong += any(found[name].word == "pass" for name in "bcd")
    assert wrong / 1500 <= ALPHA + 3 * (ALPHA * (1 - ALPHA) / 1500) ** 0.5


# ---------------------------------------------------------------- whole studies, and the second judge


SETS = {"a": (90, 10), "b": (95, 5), "c": (84, 16), "d": (75, 25), "e": (60, 40)}


def manifest(bounds: Mapping[str, float], families: Any, members: Mapping[str, str]) -> dict[str, Any]:
    cells = [
        {"set": n, "tp": tp, "fn": fn, "fp": 20, "tn": 180} for n, (tp, fn) in SETS.items() if n in bounds
    ]
    return {
        "report": {"kind": "certification"},
        "device": {"trade_name": "Example"},
        "study": FIXED,
        "endpoints": [goal(n, b, members.get(n, "F"), set=n) for n, b in bounds.items()],
        "families": families,
        "confusion": cells,
    }


def written(folder: Path, declared: Mapping[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    lines = [f"{group}: {json.dumps(said)}\n" for group, said in declared.items()]
    (folder / "study.yaml").write_text("".join(lines), encoding="utf-8")
    return folder


EASY, HARD = 0.5, 0.99


@pytest.mark.parametrize(
    ("families", "members", "bounds", "words"),
    [
        ([{"family": "F", "rule": "hochberg"}], {}, {"a": EASY, "b": EASY}, ["pass", "pass"]),
        ([{"family": "F", "rule": "hochberg"}], {}, {"a": EASY, "b": HARD}, ["pass", "fail"]),
        (
            [{"family": "F", "rule": "graph", "weights": {"a": 1}, "transitions": {"a": {"b": 1}}}],
            {},
            {"a": EASY, "b": EASY, "c": EASY},
            ["pass", "pass", "not tested"],
        ),
        (TWO, {"a": "main", "b": "second"}, {"a": EASY, "b": EASY}, ["pass", "pass"]),
        (TWO, {"a": "main", "b": "second"}, {"a": HARD, "b": EASY}, ["fail", "not tested"]),
        (TWO, {"a": "main", "b": "second"}, {"a": 0.9, "b": EASY}, ["inconclusive", "not tested"]),
    ],
)
def test_a_study_is_judged_and_derived_again(
    families: Any, members: dict[str, str], bounds: dict[str, float], words: list[str], tmp_path: Path
) -> None:
    folder, out = written(tmp_path / "study", manifest(bounds, families, members)), tmp_path / "out"
    done = CliRunner().invoke(main, ["build", str(folder), "-o", str(out), "--formats", "json"])
    assert done.exit_code == 0, done.output
    found = json.loads((out / "results.json").read_text("utf-8"))["verdicts"]
    assert [v["verdict"] for v in found] == words
    done = CliRunner().invoke(main, ["verify", str(out), "--verdicts"])
    assert done.output.splitlines()[-1] == f"{len(words)} of {len(words)} verdicts derived again."


def test_a_verdict_that_passes_behind_a_closed_family_is_found(tmp_path: Path) -> None:
    declared = manifest({"a": HARD, "b": EASY}, TWO, {"a": "main", "b": "second"})
    document = as_data(assess(*read_study(written(tmp_path / "study", declared))))
    assert not dissents(document)
    document["verdicts"][1]["verdict"] = "pass"
    assert [str(d) for d in dissents(document)] == ["b: reported pass, derived not tested (behind main)"]


RULES = ["holm", "hochberg", "bonferroni", "fixed sequence", "graph", "co-primary", "none"]


@st.composite
def studies(draw: st.DrawFn) -> dict[str, Any]:
    """Criteria in up to three families of any rules, of which later ones may wait for earlier ones."""
    names = ["one", "two", "three"]
    members = {criterion: draw(st.sampled_from(names)) for criterion in SETS}
    used = [name for name in names if name in members.values()]
    families = []
    for i, name in enumerate(used):
        family: dict[str, Any] = {"family": name, "rule": draw(st.sampled_from(RULES))}
        own = [criterion for criterion, of in members.items() if of == name]
        if family["rule"] == "graph":
            parts = draw(st.lists(st.integers(0, 4), min_size=len(own), max_size=len(own)))
            parts[0] += 1
            family["weights"] = {n: k / sum(parts) for n, k in zip(own, parts, strict=True)}
            family["transitions"] = {}
            for one in own:
                others = [n for n in own if n != one]
                parts = [draw(st.integers(0, 3)) for _ in others]
                row = {
                    n: k / (sum(parts) + draw(st.integers(0, 1)))
                    for n, k in zip(others, parts, strict=True)
                    if k
                }
                family["transitions"][one] = row
        before = draw(st.lists(st.sampled_from(used[:i]), unique=True)) if i else []
        if before:
            family |= {"after": before, "opens_when": draw(st.sampled_from(["all", "any"]))}
        families.append(family)
    steps = st.sampled_from([-0.13, -0.1, -0.08, -0.06, -0.05, 0.03])
    bounds = {n: round(min(tp / 100 + draw(steps), 0.99), 3) for n, (tp, _) in SETS.items()}
    return manifest(bounds, draw(st.permutations(families)), members)


@given(declared=studies())
@settings(max_examples=40, deadline=None)
def test_both_judges_agree_on_any_families(declared: dict[str, Any], tmp_path_factory: Any) -> None:
    folder = written(tmp_path_factory.mktemp("study"), declared)
    found = assess(*read_study(folder))
    assert not dissents(as_data(found)), declared
    met = {
        name: all(v.word == "pass" for v in found.verdicts if v.family and v.family.name == name)
        for name in ("one", "two", "three")
    }
    for family, v in product(declared["families"], found.verdicts):
        if family["family"] == v.criterion.multiplicity_family and "after" in family:
            before = [met[name] for name in family["after"]]
            opened = any(before) if family["opens_when"] == "any" else all(before)
            assert opened or v.word == "not tested"


# ---------------------------------------------------------------- what is refused


GRAPH = {"family": "F", "rule": "graph", "weights": {"a": 0.5, "b": 0.5}}


@pytest.mark.parametrize(
    ("families", "said"),
    [
        (
            [{"family": "F", "rule": "hommel"}],
            'families[0].rule: found "hommel", expected "holm", "hochberg"',
        ),
        ([{"family": "F", "rule": "graph"}], 'the graph "F" without weights'),
        ([{**GRAPH, "weights": {"a": 0.0}}], "with a sum of 0, expected"),
        ([{**GRAPH, "weights": {"a": 0.6, "b": 0.6}}], "with a sum of 1.2, expected"),
        ([{**GRAPH, "weights": {"a": -0.1}}], "families[0].weights"),
        ([{**GRAPH, "weights": {"aa": 0.5}}], 'the graph names "aa", expected a criterion of the family'),
        ([{**GRAPH, "transitions": {"z": {"a": 1}}}], 'the graph names "z"'),
        ([{**GRAPH, "transitions": {"a": {"c": 1}}}], 'the graph names "c"'),
        ([{**GRAPH, "transitions": {"a": {"a": 0.5}}}], '"a" hands alpha on to itself'),
        ([{**GRAPH, "transitions": {"a": {"b": 1.5}}}], "families[0].transitions"),
        (
            [{"family": "F", "rule": "holm", "weights": {"a": 1}}],
            'weights of the family "F", whose rule is holm',
        ),
        ([{"family": "F", "rule": "holm", "after": "G"}], 'the family "F" is tested after "G"'),
        ([{"family": "F", "rule": "holm", "after": []}], "families[0].after"),
        ([{"family": "F", "rule": "holm", "opens_when": "any"}], "but not after which families"),
        ([{"family": "F", "rule": "holm", "opens_when": "most", "after": "F"}], 'found "most"'),
        ([{"family": "F", "rule": "holm", "after": "F"}], "families that wait for each other: F"),
        ([{"family": "F", "rule": "holm"}] * 2, 'family "F" is declared twice'),
        (
            [{"family": "F", "rule": "holm", "after": "empty"}, {"family": "empty", "rule": "holm"}],
            '"empty" has no criterion that asks for a verdict',
        ),
    ],
)
def test_a_family_that_cannot_be_judged_is_refused(families: Any, said: str, tmp_path: Path) -> None:
    declared = manifest({"a": EASY, "b": EASY}, families, {})
    with pytest.raises(StudyError) as refused:
        read_study(written(tmp_path / "study", declared))
    assert said in str(refused.value)


def test_three_that_share_more_than_there_is_are_refused_and_thirds_are_not(tmp_path: Path) -> None:
    third = dict.fromkeys("abc", 1 / 3)
    alike = {a: {b: 0.5 for b in "abc" if b != a} for a in "abc"}
    graph = {"family": "F", "rule": "graph", "weights": third, "transitions": alike}
    read_study(written(tmp_path / "thirds", manifest(dict.fromkeys("abc", EASY), [graph], {})))
    graph["transitions"] = {**alike, "a": {"b": 0.7, "c": 0.5}}
    with pytest.raises(StudyError, match=r'"a" hands on 1\.2 of its alpha'):
        read_study(written(tmp_path / "more", manifest(dict.fromkeys("abc", EASY), [graph], {})))


def test_all_problems_of_families_are_said_at_once(tmp_path: Path) -> None:
    families = [
        {**GRAPH, "weights": {"aa": 0.4}, "after": "G"},
        {"family": "G", "rule": "holm", "after": "F"},
    ]
    declared = manifest({"a": EASY, "b": EASY}, families, {"b": "G"})
    with pytest.raises(StudyError) as refused:
        read_study(written(tmp_path / "study", declared))
    for said in ('"aa"', "wait for each other: F, G"):
        assert said in str(refused.value)


# ---------------------------------------------------------------- the lock, and what the report says


def test_another_weight_after_the_lock_withholds_and_closes_what_waits() -> None:
    def made(share: float, **groups: Any) -> Any:
        graph = {**GRAPH, "weights": {"a": share, "b": 1 - share}}
        waits = {"family": "second", "rule": "holm", "after": "F"}
        declared = manifest(dict.fromkeys("abc", EASY), [graph, waits], {"c": "second"})
        return plan(
            **{k: v for k, v in declared.items() if k not in ("confusion", "report", "device")}, **groups
        )

    held = lock.written(lock.renewed(made(0.5)))
    cells = tuple(Confusion(set=n, tp=90, fn=10, fp=20, tn=180) for n in "abc")
    same, other = (assess(Study(confusion=cells, lock=held), made(share)) for share in (0.5, 0.9))
    assert [v.word for v in same.verdicts] == ["pass"] * 3
    assert [(v.word, v.checks) for v in other.verdicts] == [
        ("not assessable", ("P34",)),
        ("not assessable", ("P34",)),
        ("not tested", ()),
    ]
    assert not dissents(as_data(other))


def test_a_lock_whose_families_wait_for_each_other_gives_no_verdict() -> None:
    def made(*after: str) -> Any:
        families = [{"family": "F", "rule": "holm"}, {"family": "G", "rule": "holm", "after": "F"}]
        families[0] |= {"after": after} if after else {}
        endpoints = [goal("a", EASY, "F", set="a"), goal("b", EASY, "G", set="b")]
        return plan(endpoints=endpoints, families=families, study=FIXED)

    held = lock.written(lock.renewed(made("G")))
    cells = tuple(Confusion(set=n, tp=90, fn=10, fp=20, tn=180) for n in "ab")
    found = assess(Study(confusion=cells, lock=held), made())
    assert [(v.word, v.locked) for v in found.verdicts] == [("not assessable", None), ("not tested", None)]
    assert not dissents(as_data(found))


HOCHBERG = (
    'Family “main”: alpha is divided between 2 criteria by Hochberg\'s step-up method, which is valid if '
    "the tests are independent or positively dependent."
)
BY_GRAPH = (
    'Family “second”: 2 criteria are tested by a graph (Bretz et al. 2009): each at its share of alpha; '
    "one that passes hands its share on to others."
)


def test_the_report_says_the_rule_and_what_was_not_opened(tmp_path: Path) -> None:
    families = [
        {"family": "main", "rule": "hochberg"},
        {"family": "second", "rule": "graph", "after": ["main"]},
    ]
    families[1]["weights"] = {"c": 1}
    members = {"a": "main", "b": "main", "c": "second", "d": "second"}

    def said(a: float) -> list[str]:
        declared = manifest({"a": a, "b": EASY, "c": EASY, "d": EASY}, families, members)
        return list(said_of_families(assess(*read_study(written(tmp_path / "study", declared))), EN))

    assert said(HARD) == [
        HOCHBERG,
        'Family “main” is not met: one of its criteria is not met.',
        'Family “second” is tested only if the family “main” is met; it was not tested.',
    ]
    assert said(EASY)[1:] == [
        'Family “main” is met: all its criteria are met.',
        'Family “second” is tested only if the family “main” is met; it was tested.',
        BY_GRAPH,
    ]


def test_a_graph_is_printed_as_it_was_declared() -> None:
    printed = text({"a": {"b": 0.5, "c": 0.25}, "b": {"a": 1.0}}, EN)
    assert printed == "a (b: 0.5; c: 0.25); b (a: 1)"
