"""The second judge: it finds every verdict of a report again, and every one that does not follow."""

import ast
import json
from collections.abc import Callable
from copy import deepcopy
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from studies import plan

from trustreport.api import assess
from trustreport.commands import second_judge
from trustreport.commands.cli import main
from trustreport.commands.second_judge import Derived, dissents
from trustreport.report.write import as_data
from trustreport.study import criteria, lock
from trustreport.study.plan import Confusion, Endpoint
from trustreport.study.study import Study
from trustreport.vocabulary.quantities import ROWS, quantity
from trustreport.vocabulary.quantity import Quantity

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(
    f.parent.name for f in ROOT.glob("examples/*/study.yaml") if "\nendpoints:" in f.read_text("utf-8")
)
FIXED = {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"}


def goal(name: str, bound: float, **more: Any) -> dict[str, Any]:
    """A criterion on the published table, which finds 90 of 100 and spares 180 of 200."""
    return {
        "endpoint": name,
        "measure": "advice_accuracy.sensitivity",
        "hypothesis": "performance goal",
        "bound_or_margin": bound,
        "alpha": 0.025,
        **more,
    }


def report(
    *endpoints: dict[str, Any], fp: int = 20, tn: int = 180, lock: bytes = b"", **groups: Any
) -> dict[str, Any]:
    """results.json of a study of one published table."""
    study = Study(confusion=(Confusion(set="main", tp=90, fn=10, fp=fp, tn=tn),), lock=lock)
    return as_data(assess(study, plan(endpoints=endpoints, **{"study": FIXED, **groups})))


def three() -> dict[str, Any]:
    """A report of three criteria of one family by Holm, one of which fails."""
    specificity = "advice_accuracy.specificity"
    return report(
        goal("found", 0.8, multiplicity_family="main"),
        goal("spared", 0.84, measure=specificity, multiplicity_family="main"),
        goal("nearly all spared", 0.95, measure=specificity, multiplicity_family="main"),
        families=[{"family": "main", "rule": "holm"}],
    )


def said(document: dict[str, Any]) -> list[str]:
    return [str(dissent) for dissent in dissents(document)]


def test_it_shares_no_code_with_the_first() -> None:
    tree = ast.parse(Path(second_judge.__file__).read_text("utf-8"))
    modules = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    modules += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert sorted(modules) == ["collections.abc", "dataclasses", "json", "math", "typing"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_verdict_of_the_examples_follows(name: str, assessed_example: Callable[[str], Any]) -> None:
    document = as_data(assessed_example(name))
    assert document["verdicts"]
    assert not said(document)


def test_what_is_at_another_level_is_in_the_report() -> None:
    document = three()
    assert [v["verdict"] for v in document["verdicts"]] == ["pass", "pass", "fail"]
    levels = {round(one["level"], 6) for one in document["intervals"]}
    assert levels == {0.95, round(1 - 0.05 / 3, 6), 0.975}, "of the report, and of the steps of Holm"
    assert not said(document)


# ---------------------------------------------------------------- what is changed is found


def word(document: dict[str, Any]) -> None:
    document["verdicts"][2]["verdict"] = "pass"


def bound(document: dict[str, Any]) -> None:
    document["verdicts"][2]["above"] = 0.8


def moved(document: dict[str, Any]) -> None:
    """The interval of a verdict, across its bound."""
    for one in document["intervals"]:
        if one["id"].endswith("sensitivity"):
            one["low"] = 0.79


def moved_alike(document: dict[str, Any]) -> None:
    """The interval of a verdict and what the verdict says of it, but not the number among the results."""
    for one in (*document["intervals"], document["verdicts"][0]):
        if one["id"].endswith("sensitivity"):
            one["low"] = 0.83


def loosened(document: dict[str, Any]) -> None:
    document["criteria"]["declared"]["endpoints"][2]["bound_or_margin"] = 0.8


def no_rule(document: dict[str, Any]) -> None:
    document["criteria"]["declared"]["families"] = []


def late(document: dict[str, Any]) -> None:
    document["criteria"]["late"] = True


def vanished(document: dict[str, Any]) -> None:
    del document["verdicts"][2]


def made_up(document: dict[str, Any]) -> None:
    document["verdicts"].append({**document["verdicts"][0], "endpoint": "another"})


def of_another(document: dict[str, Any]) -> None:
    document["verdicts"][2]["id"] = "advice_accuracy.accuracy"


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (word, "nearly all spared: reported pass, derived fail"),
        (bound, "nearly all spared: reported above 0.8, derived above 0.95"),
        (moved, "found: reported pass, derived inconclusive"),
        (moved_alike, "advice_accuracy.sensitivity"),
        (loosened, "nearly all spared: reported fail, derived pass"),
        (no_rule, "found: reported low"),
        (late, "found: reported pass, derived not assessable (withheld by P35)"),
        (vanished, "nearly all spared: reported nothing, derived fail"),
        (made_up, "another: reported pass, derived nothing"),
        (of_another, "nearly all spared: reported id advice_accuracy.accuracy"),
    ],
)
def test_a_report_that_was_changed_is_found(change: Callable[[dict[str, Any]], None], names: str) -> None:
    document = three()
    change(document)
    assert any(line.startswith(names) for line in said(document)), said(document)


def test_a_block_that_was_removed_is_found() -> None:
    document = report(goal("found", 0.8), fp=0, tn=0)
    assert document["verdicts"][0]["checks"] == ["P04"]
    assert not said(document)
    for change in ("removed", "lightened", "narrowed", "moved"):
        other = deepcopy(document)
        if change == "removed":
            other["checks"] = [check for check in other["checks"] if check["check"] != "P04"]
        for check in (check for check in other["checks"] if check["check"] == "P04"):
            if change == "lightened":
                check["withholds"] = None
            elif change == "narrowed":
                check["quantities"] = ["specificity"]
            else:
                check["data"] = [["set", "another"]]
        assert [(d.criterion, d.reported, d.derived) for d in dissents(other)] == [
            ("found", "not assessable", "pass")
        ]


@pytest.mark.parametrize(
    ("limit", "alone", "few"),
    [(0.8, "pass", "pass"), (0.95, "fail", "fail"), (0.87, "inconclusive", "not assessable")],
)
def test_a_block_about_precision_withholds_what_is_inconclusive_only(
    limit: float, alone: str, few: str
) -> None:
    document = report(goal("found", limit))
    assert document["verdicts"][0]["verdict"] == alone
    check = {**document["checks"][0], "check": "P39", "scope": {}, "quantities": ["sensitivity"]}
    check |= {"data": [["set", "main"]], "withholds": {"numbers": "these cases", "verdicts": "inconclusive"}}
    document["checks"].append(check)
    document["verdicts"][0] |= {"verdict": few, "checks": ["P39"] * (few == "not assessable")}
    assert not said(document)


def test_the_verdict_under_the_locked_criterion_follows_too() -> None:
    before = plan(endpoints=[goal("found", 0.87), goal("found too", 0.95)], study=FIXED)
    held = lock.written(lock.renewed(before))
    amended = [
        {"field": name, "date": "2026-01-15", "before_data_opened": True} for name in ("found", "found too")
    ]
    document = report(goal("found", 0.8), lock=held, amendments=amended)
    assert [(v["verdict"], v["locked"]["verdict"]) for v in document["verdicts"]] == [
        ("pass", "inconclusive"),
        ("not assessable", "fail"),
    ]
    assert not said(document)
    document["verdicts"][1]["locked"]["verdict"] = "pass"
    assert [d.criterion for d in dissents(document)] == ["found too, as locked"]
    del document["verdicts"][1]
    assert [(d.criterion, d.reported) for d in dissents(document)] == [("found too", "nothing")]


def test_limits_from_risk_follow_too() -> None:
    risk = {"pre_test": 0.1, "after_positive": 0.3, "after_negative": 0.01}
    document = report(goal("found", 0.8, risk=risk))
    assert [one["verdict"] for one in document["verdicts"][0]["risk"]] == ["pass", "inconclusive"]
    assert not said(document)
    document["verdicts"][0]["risk"][1]["verdict"] = "pass"
    assert [d.criterion for d in dissents(document)] == ["found"]


def test_an_older_report_says_too_little() -> None:
    document = three()
    for part in ("intervals", "criteria", "checks"):
        with pytest.raises(ValueError, match=r"results\.json"):
            dissents({key: value for key, value in document.items() if key != part})


def test_the_command_says_how_many_were_derived_again(tmp_path: Path) -> None:
    study, out = ROOT / "tests" / "reference" / "verdicts" / "control-holm", tmp_path / "out"
    assert CliRunner().invoke(main, ["build", str(study), "-o", str(out), "--formats", "json"]).exit_code == 0
    done = CliRunner().invoke(main, ["verify", str(out), "--verdicts", "--study", str(study)])
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "3 of 3 verdicts derived again.")
    results = out / "results.json"
    changed = results.read_text("utf-8").replace('"verdict": "pass"', '"verdict": "fail"', 1)
    results.write_text(changed, "utf-8")
    done = CliRunner().invoke(main, ["verify", str(out), "--verdicts"])
    assert (done.exit_code, done.output.splitlines()[-1]) == (1, "2 of 3 verdicts derived again.")
    assert "a: reported fail, derived pass (0.77986 to 0.900639, to be above 0.762" in done.output
    document = json.loads(results.read_text("utf-8"))
    results.write_text(json.dumps({key: document[key] for key in ("results", "checks", "verdicts")}), "utf-8")
    done = CliRunner().invoke(main, ["verify", str(out), "--verdicts"])
    assert done.exit_code == 1
    assert "no verdict was derived again" in done.output


@pytest.mark.parametrize("aid_first", [1, 0])
def test_what_reading_order_withholds_is_derived_too(aid_first: int, tmp_path: Path) -> None:
    """Of eight readers one read with the aid first, or none: adjusted changes are judged, others are not."""
    source = ROOT / "tests" / "reference" / "verdicts" / "second-session-is-better"
    rows = (source / "r.csv").read_text("utf-8").splitlines()
    if not aid_first:
        rows = [row[:-1] + {"aided": "2", "unaided": "1"}.get(row.split(",")[2], row[-1]) for row in rows]
    (tmp_path / "r.csv").write_text("\n".join(rows) + "\n", "utf-8")
    manifest, found, declared = (source / "study.yaml").read_text("utf-8").partition("endpoints: [")
    predictive = declared.rstrip().removesuffix("]").replace("more right", "ppv")
    predictive = predictive.replace("mean_benefit", "arm_difference").replace("accuracy", "ppv")
    text = f"{manifest}{found}{declared.rstrip().removesuffix(']')}, {predictive}]\n"
    (tmp_path / "study.yaml").write_text(text, "utf-8")
    out = tmp_path / "out"
    done = CliRunner().invoke(main, ["build", str(tmp_path), "-o", str(out), "--formats", "json"])
    assert done.exit_code == 0, done.output
    document = json.loads((out / "results.json").read_text("utf-8"))
    words = {v["endpoint"]: (v["verdict"], v["checks"]) for v in document["verdicts"]}
    withheld = ("not assessable", ["P16"])
    assert words == {"more right": ("inconclusive", []) if aid_first else withheld, "ppv": withheld}
    assert not list(dissents(document))
    one = next(v for v in document["verdicts"] if v["endpoint"] == "ppv")
    one["verdict"], one["checks"] = "pass", []
    assert [d.criterion for d in dissents(document)] == ["ppv"]


# ---------------------------------------------------------------- bounds, families


def facts(row: Quantity) -> dict[str, Any]:
    low, high = (None if abs(end) == inf else end for end in (row.low, row.high))
    return {"better": row.better, "no_effect": row.no_effect, "low": low, "high": high}


def test_both_judges_read_a_bound_alike() -> None:
    rows = [*ROWS, *(quantity(f"{row.id}_difference") for row in ROWS)]
    rows = list({(row.better, row.no_effect, row.low, row.high): row for row in rows}.values())
    numbers = (-1.0, -0.05, 0.0, 0.8, 1.0, 1.25)
    given: list[Any] = [None, *numbers, *([a, b] for a, b in product(numbers, numbers))]
    hypotheses = (None, "superiority", "non-inferiority", "equivalence", "performance goal")
    for hypothesis, b, row in product(hypotheses, given, rows):
        declared = {"endpoint": "e", "hypothesis": hypothesis, "bound_or_margin": b}
        one = criteria.bound_of(Endpoint.model_validate(declared), row)
        other = second_judge.bound_of({k: v for k, v in declared.items() if v is not None}, facts(row))
        assert other == (None if isinstance(one, str) else (one.low, one.high)), (declared, row)


def by_p(values: dict[str, float], alpha: float = 0.025) -> tuple[Any, list[tuple[str, float]]]:
    """A judge that lets a criterion pass where its p is at most the alpha that it is given."""
    asked: list[tuple[str, float]] = []

    def judge(name: str, share: float = 1.0) -> Derived:
        asked.append((name, alpha * share))
        return Derived("pass" if values[name] <= alpha * share + 1e-12 else "inconclusive", "")

    return judge, asked


def passed(found: dict[str, Derived]) -> set[str]:
    return {name for name, derived in found.items() if derived.word == "pass"}


P = (0.004, 0.0125, 0.02, 0.03)


@pytest.mark.parametrize("values", list(product(P, repeat=3)))
def test_families_reject_what_their_adjusted_p_values_say(values: tuple[float, ...]) -> None:
    """Holm's and Hochberg's adjusted p-values after statsmodels."""
    from statsmodels.stats.multitest import multipletests

    named = dict(zip("abc", values, strict=True))
    for rule, name in ((second_judge.holm, "holm"), (second_judge.hochberg, "simes-hochberg")):
        adjusted = multipletests(values, method=name)[1]
        assert passed(rule("abc", by_p(named)[0])) == {
            one for one, p in zip("abc", adjusted, strict=True) if p <= 0.025 + 1e-12
        }
    alike = {a: {b: 0.5 for b in "abc" if b != a} for a in "abc"}
    by_graph = second_judge.graph("abc", by_p(named)[0], dict.fromkeys("abc", 1 / 3), alike)
    assert passed(by_graph) == passed(second_judge.holm("abc", by_p(named)[0])), "Holm as a graph"
    chain = second_judge.graph("abc", by_p(named)[0], {"a": 1.0}, {"a": {"b": 1.0}, "b": {"c": 1.0}})
    in_order = second_judge.in_order("abc", by_p(named)[0])
    assert {n: d.word for n, d in chain.items()} == {n: d.word for n, d in in_order.items()}, "a sequence too"
