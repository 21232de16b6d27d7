"""The example of the factory: the same bytes again, and the yields that its story states."""

import json
import runpy
from pathlib import Path

import pytest

from trustreport.api import read_study
from trustreport.assessment.dimensions.advice_accuracy import answer
from trustreport.measures.confusion.table import MEASURES
from trustreport.vocabulary.results import leading

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "factory"
MAKE = runpy.run_path(str(FOLDER / "make.py"))
NAMES = {"eq4": "first prices (euros)", "eq5": "other prices (euros)", "eq6": "months of life"}


def test_made_again_the_table_is_the_same_bytes(tmp_path: Path) -> None:
    MAKE["write"](tmp_path)
    assert (tmp_path / "components.csv").read_bytes() == (FOLDER / "components.csv").read_bytes()


def test_the_story_is_that_of_the_paper(reference: Path) -> None:
    seed = json.loads((reference / "seeds" / "seed002.json").read_text())
    study, plan = read_study(FOLDER)
    finding = answer(study, plan)
    cells = {}
    for candidate in "AB":
        shares = []
        for name in ("tn", "fn", "fp", "tp"):
            one = leading(finding.results, f"advice_accuracy.{name}", candidate=candidate)
            assert one is not None
            shares.append(one.estimate.value / one.estimate.n)
        cells[candidate] = shares
        assert [shares[:2], shares[2:]] == [pytest.approx(row) for row in seed[candidate]]
        for equation, name in NAMES.items():
            where = {"candidate": candidate, "parameters": {"utility": name}}
            found = leading(finding.results, "advice_accuracy.utility_yield", **where)
            assert found is not None
            assert found.estimate.value == pytest.approx(seed["utility"][equation][candidate])
    # Class 0 is the one that the paper looks for.
    ours = {"accuracy": "accuracy", "precision": "ppv", "f1": "f1", "mcc": "mcc", "tpr": "sensitivity"}
    for theirs, name in {**ours, "tnr": "specificity", "fowlkes_mallows": "fowlkes_mallows"}.items():
        for candidate, printed in zip("AB", seed["table1"][theirs]["printed"]):
            tn, fn, fp, tp = cells[candidate]
            assert f"{MEASURES[name].formula(tn, fn, fp, tp):.2f}" == printed


def test_the_story_says_that_it_is_one() -> None:
    _, plan = read_study(FOLDER)
    assert plan.study.simulated
    assert plan.report.notice is not None
    assert "no medical device and no patient" in plan.report.notice
