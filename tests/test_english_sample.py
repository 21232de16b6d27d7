"""The judged sample of English: what was to be rewritten has left the catalogue; the share is as stated."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULE = runpy.run_path(str(ROOT / "benchmarks" / "english_sample.py"))
JUDGED = json.loads((ROOT / "benchmarks" / "results" / "english_sample.json").read_text(encoding="utf-8"))
REWRITTEN = [one for one in JUDGED["sentences"] if one["judgement"] == "rewrite"]
TEXTS = ROOT / "templates" / "messages" / "en"
CATALOGUE = "\n".join(file.read_text(encoding="utf-8") for file in sorted(TEXTS.glob("*.toml")))


def test_every_sentence_is_judged_and_a_better_one_given() -> None:
    assert len({one["sentence"] for one in JUDGED["sentences"]}) == JUDGED["drawn"] == MODULE["DRAWN"]
    assert {one["judgement"] for one in JUDGED["sentences"]} == {"ok", "rewrite"}
    assert all(one["better"] != one["sentence"] and one["old"] for one in REWRITTEN)
    assert len(REWRITTEN) <= 5
    assert JUDGED["seed"] == MODULE["SEED"]


@pytest.mark.parametrize("old", sorted({*(one["old"] for one in REWRITTEN), *JUDGED["rewritten_before"]}))
def test_what_was_to_be_rewritten_is_in_no_catalogue(old: str) -> None:
    assert not re.search(rf"(?<!\w){re.escape(old)}", CATALOGUE), f"{old!r} is in the English catalogue again"


def test_the_page_of_benchmarks_states_the_share() -> None:
    page = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
    n, drawn, of = (JUDGED[name] for name in ("rewrite", "drawn", "of"))
    assert len(REWRITTEN) == n
    assert f"{n} of {drawn} sentences of {of} were to be rewritten" in page


PAGE = """
<nav><p>Left out as it is no text of the report.</p></nav>
<h2>A heading without a full stop</h2>
<p>One case was missed here. <b>Two</b> cases were found there.</p>
<p>For use in the clinic only.</p>
<table><tr><td>12 (3 to 4).</td><td>No change was found.</td></tr></table>
<section class="annexes"><p>This sentence is in the annex.</p></section>
<p>Is it after the annex again?</p>
"""


def test_sentences_are_those_of_the_report_outside_its_annex() -> None:
    found = list(MODULE["sentences"](PAGE, "purpose: For use in the   clinic only"))
    assert found == [
        "One case was missed here.",
        "Two cases were found there.",
        "No change was found.",
        "Is it after the annex again?",
    ]


def test_the_same_seed_draws_the_same_and_keeps_judgements() -> None:
    every = {f"Sentence number {i} is here.": "example" for i in range(300)}
    drawn = MODULE["sample"](every)
    assert drawn == MODULE["sample"](dict(reversed(every.items())))
    known: dict[str, Any] = {"sentence": drawn[0], "example": "example", "judgement": "rewrite", "old": "x"}
    document = MODULE["judged"](drawn, every, {"sentences": [known]})
    assert document["sentences"][0] == known
    assert (document["rewrite"], document["of"], document["sentences"][1]["judgement"]) == (1, 300, "")
