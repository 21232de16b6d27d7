"""The example of published studies: digits as printed, every figure that its counts do not give is said."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trustreport.api import read_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.claims import claim_checks
from trustreport.measures.reported.printed import metric_named
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "published-studies"
T3 = "study 2, table 3, row 1"

# Cells of Table 2 of Hicks et al. (2022), Sci. Rep. 12, 5979, that are not those of their own counts, and the
# numbers of cases that do not add up; recomputed by hand from the counts printed in the same row.
OFF = {
    "study 1, per frame": {"total", "positives"},
    "study 2, table 2, row 1": {"accuracy", "npv"},
    "study 2, table 2, row 2": {"accuracy", "recall", "specificity", "mcc", "npv"},
    "study 2, table 2, row 3": {"accuracy", "recall"},
    T3: {"accuracy", "f1"}
    | {f"macro_{name}" for name in ("accuracy", "precision", "threat_score")}
    | {f"weighted_{name}" for name in ("accuracy", "recall", "specificity", "mcc")},
    "study 2, table 3, row 2": {"accuracy", "specificity", "mcc", "threat_score"},
    "study 4, table 2, row 1": {"total", "negatives", "accuracy", "specificity"},
    "study 4, table 2, row 2": {"total", "negatives", "accuracy", "specificity"},
    "study 4, table 2, row 3": {"total"},
    "study 4, combined": {"total", "negatives", "accuracy", "specificity"},
    "study 4, all positive": {"total"},
    "study 4, all negative": {"total"},
    "study 4, table 2, row 4": {"total"},
}
SHORT = {
    "ACC": "accuracy",
    "PREC": "precision",
    "REC": "recall",
    "F1": "f1",
    "SPEC": "specificity",
    "MCC": "mcc",
    "NPV": "npv",
    "TS": "threat_score",
}


@pytest.fixture(scope="module")
def read() -> tuple[Study, Any]:
    return read_study(EXAMPLE)


@pytest.fixture(scope="module")
def assessed(assessed_example: Callable[[str], Assessment]) -> Assessment:
    return assessed_example(EXAMPLE.name)


def fired(assessed: Assessment, check: str) -> dict[str, str]:
    return {o.scope["set"]: EN(o.message) for o in assessed.fired() if o.check == check}


def test_every_figure_that_its_counts_do_not_give_is_said_and_no_other(assessed: Assessment) -> None:
    claims = assessed.plan.performance_claims or ()
    found = claim_checks(assessed.plan, assessed.results)
    assert len(found) == len(claims)
    off: dict[str, set[str]] = {}
    for claim, one in zip(claims, found):
        if not one.agrees:
            off.setdefault(str(claim.set), set()).add(claim.measure)
    assert off == OFF
    said = fired(assessed, "P06")
    assert {name for name in said if not name.endswith("reported")} == set(OFF)
    for name, measures in OFF.items():
        assert len(re.findall(r"\((?:recomputed|the counts add up)", said[name])) == len(measures)


def test_figures_that_no_table_of_counts_gives_are_said(assessed: Assessment) -> None:
    rows = ("study 2, table 2, row 1", "study 2, table 2, row 2", "study 2, table 2, row 3")
    names = (*rows, "study 3", "study 4, table 2, row 3")
    said = fired(assessed, "P06")
    assert {name for name in said if name.endswith("reported")} == {f"{name}, reported" for name in names}
    tables = {
        r.scope["set"]: r.estimate.value for r in assessed.results if r.id == "reported.consistent_matrices"
    }
    assert (tables["study 5, reported"], tables["study 5, in its text"]) == (2069, 5)


def test_the_other_pitfalls_of_the_paper_are_said(assessed: Assessment) -> None:
    assert "from 92.5% to 78.4%" in fired(assessed, "P03")["study 3"]
    apart = fired(assessed, "P04")
    rows = ("table 2, row 1", "table 2, row 2", "table 2, row 3", "in text")
    assert set(apart) == {f"study 4, {row}" for row in rows}
    assert "251 false positives" in apart["study 4, table 2, row 1"]
    assert "0.04" in fired(assessed, "P05")["study 1, per polyp"]
    assert {"study 4, table 2, row 3", "study 4, in text"} <= set(fired(assessed, "P07"))
    assert "would give 99.5%" in fired(assessed, "P08")["study 1, per frame"]


def test_the_figures_are_those_of_the_table(reference: Path, read: tuple[Study, Any]) -> None:
    study, plan = read
    rows = json.loads((reference / "seeds" / "seed004_table2.json").read_text())["rows"]
    with_counts = [row for row in rows if row["counts"]["TP"] is not None]
    assert [(c.tp, c.fp, c.fn, c.tn) for c in study.confusion] == [
        tuple(row["counts"][cell] for cell in ("TP", "FP", "FN", "TN")) for row in with_counts
    ]
    claims = [(c.measure, c.value) for c in plan.performance_claims]
    for row, confusion in zip(with_counts, study.confusion):
        of = {c.measure: c.value for c in plan.performance_claims if c.set == confusion.set}
        assert {SHORT[k]: v for k, v in row["printed"].items()}.items() <= of.items()
        totals = (int(of[word].replace(",", "")) for word in ("total", "positives", "negatives"))
        assert tuple(totals) == tuple(row["counts"][word] for word in ("TOTAL", "POS", "NEG"))
    for kind, prefix in (("AVG", "macro"), ("WAVG", "weighted")):
        printed = next(row["printed"] for row in rows if row["evaluation"] == kind)
        assert {(f"{prefix}_{SHORT[k]}", v) for k, v in printed.items()} <= set(claims)


def test_what_the_reference_calls_inconsistent_is_what_is_said(reference: Path) -> None:
    rows = json.loads((reference / "seeds" / "seed004_table2.json").read_text())["rows"]
    cells = sum(len(row.get("inconsistent_cells") or ()) for row in rows)
    totals = sum(len(row["count_notes"]) for row in rows)
    of = [name for names in OFF.values() for name in names]
    in_totals = {"total", "positives", "negatives"}
    assert len([name for name in of if name not in in_totals]) == cells
    assert len([name for name in of if name in in_totals]) == totals
    assert all(metric_named(name) for name in SHORT.values())
