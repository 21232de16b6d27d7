"""Where no interval is known that holds on a side, no verdict rests on it and the number does not lead."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.english import english
from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.performance.measures import complement
from trustreport.commands.second_judge import dissents
from trustreport.measures.note import Note
from trustreport.measures.notes import NO_CASE, OFTEN_ABOVE, OFTEN_BELOW
from trustreport.measures.two_arm import difference
from trustreport.measures.two_arm.difference import number_needed
from trustreport.report.answer.answer import answer
from trustreport.report.write import as_data
from trustreport.vocabulary.messages import catalogue


def scored(folder: Path, *criteria: dict[str, Any]) -> Assessment:
    """Ten positive cases of a hundred: average precision is then too high on average."""
    rng = np.random.default_rng(3)
    rows = [f"C{i},{int(i < 10)},{rng.normal(1.2 * (i < 10)):.4f}" for i in range(100)]
    (folder / "scores.csv").write_text("\n".join(["case,truth,score", *rows]) + "\n", encoding="utf-8")
    manifest = {
        "report": {"kind": "certification"},
        "device": {"trade_name": "Drawn"},
        "study": {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"},
        "datasets": [{"dataset": "Harbour", "file": "scores.csv", "role": "external"}],
        "endpoints": list(criteria),
    }
    (folder / "study.yaml").write_text(json.dumps(manifest), encoding="utf-8")
    return assess(*read_study(folder / "study.yaml"))


def goal(measure: str, bound: Any, name: str) -> dict[str, Any]:
    return {
        "endpoint": name,
        "measure": f"advice_accuracy.{measure}",
        "hypothesis": "performance goal",
        "bound_or_margin": bound,
        "alpha": 0.025,
        "role": "primary",
    }


def test_no_verdict_rests_on_a_limit_that_is_short(tmp_path: Path) -> None:
    asked = {
        "above": 0.02,  # a pass by the low limit
        "between": [0.02, 0.999],  # by both
        "far above": 0.99,  # a fail by the high limit
        "about": 0.4,  # inconclusive, whatever the limit
    }
    found = scored(tmp_path, *(goal("average_precision", bound, name) for name, bound in asked.items()))
    entry = next(r for r in found.results if r.id == "advice_accuracy.average_precision" and r.primary)
    assert entry.estimate.short == ("low",)
    assert entry.estimate.low > 0.02
    words = {v.criterion.endpoint: v.word for v in found.verdicts}
    assert words == {
        "above": "not assessable",
        "between": "not assessable",
        "far above": "fail",
        "about": "inconclusive",
    }
    reason = catalogue()(found.verdicts[0].reason)
    assert english(OFTEN_ABOVE) in reason
    assert not dissents(as_data(found)), "the second judge derives the same"


def test_the_entry_says_so_in_results_json(tmp_path: Path) -> None:
    document = as_data(scored(tmp_path, goal("average_precision", 0.02, "above")))
    assert [one["short"] for one in document["intervals"]] == [["low"]]
    short = [r for r in document["results"] if r["short"]]
    assert {r["id"] for r in short} >= {"advice_accuracy.average_precision"}
    assert all("in simulated studies of this size" in r["note"] for r in short)


def test_such_a_number_does_not_answer_on_page_1() -> None:
    folder = Path(__file__).parents[2] / "examples" / "assisted-reading"
    study, plan = read_study(folder / "study.yaml")
    found = assess(study, plan)
    plain = answer(found, catalogue())
    lead = plain.sentences[0].results[0]
    object.__setattr__(lead, "estimate", replace(lead.estimate, note=OFTEN_BELOW))
    other = answer(found, catalogue())
    assert lead not in [r for said in (*other.sentences, *other.support) for r in said.results]
    said = f"{other.sentence} {other.supporting}"
    assert "is not stated here" in said
    assert english(OFTEN_BELOW) in said


@pytest.mark.parametrize(("note", "other"), [(OFTEN_ABOVE, OFTEN_BELOW), (OFTEN_BELOW, OFTEN_ABOVE)])
def test_what_lay_above_lies_below_in_one_minus_and_one_over_it(note: Note, other: Note) -> None:
    e = replace(difference.newcombe(80, 200, 5, 200), note=NO_CASE + note)
    assert complement(e).note == NO_CASE + other
    assert number_needed(e).note == other
