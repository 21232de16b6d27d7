"""The page of calculators: what the command prints, every field that is wrong, and nothing stored."""

import html
import time

import pytest
from pages import HTML, Taken, get
from services import Client

from trustreport.report.calculate import of_counts, of_nomogram, of_robustness, of_scores
from trustreport.service.core import Core
from trustreport.service.storage.models import Audit

CELLS = {"tp": "97", "fp": "12", "fn": "46", "tn": "55"}
SCORES = "truth,score\n1,0.9\n0,0.2\n0,0.6\n1,0.7\n"


def asked(who: Client, calculator: str, **fields: str) -> tuple[int, str]:
    """The answer to a form, as text."""
    data = {"csrf": who.me["csrf"], "calculator": calculator, **fields}
    answer = who.post("/calculator", data=data, headers=HTML)
    return answer.status_code, html.unescape(answer.text)


@pytest.mark.parametrize("calculator, fields, made", [
    ("table", CELLS, lambda: of_counts(CELLS)),
    ("table", {"positives": "143", "negatives": "67", "accuracy": "0.71", "f1": "0.75"},
     lambda: of_counts({"accuracy": "0.71", "f1": "0.75"}, positives=143, negatives=67)),
    ("nomogram", {"concordance": "0,57", "measured": "0.9"}, lambda: of_nomogram(0.57, 0.9)),
    ("robustness", {"similarity": "0.05", "performance": "0.8"},
     lambda: of_robustness(0.05, performance=0.8)),
    ("h_accuracy", {"scores": SCORES, "tau": "0.8", "priority": "0.3 0.7"},
     lambda: of_scores(SCORES, tau=0.8, priority=[0.3, 0.7])),
])  # fmt: skip
def test_the_page_answers_as_the_command_and_stores_nothing(
    light: Core, anna: Client, calculator: str, fields: dict[str, str], made
) -> None:
    with light.store.read() as rows:
        before = rows.query(Audit).count()
    status, text = asked(anna, calculator, **fields)
    assert status == 200
    found = made()
    assert all(sentence in text for sentence in found.sentences)
    for line in found.tables[0].lines:
        assert f'<th scope="row">{line.cells[0].text}</th>' in text
        assert f">{line.cells[1].text}</td>" in text or f">{line.cells[1].text}<br>" in text
    form = next(f["fields"] for f in Taken(text).forms if f["fields"].get("calculator") == calculator)
    assert {name: form[name] for name in fields if name != "scores"} == {
        name: typed for name, typed in fields.items() if name != "scores"
    }
    assert fields.get("scores", "") in text
    with light.store.read() as rows:
        assert rows.query(Audit).count() == before


@pytest.mark.parametrize("calculator, fields, said", [
    ("table", {"tp": "many", "fp": "-1", "f1": "often"}, ["True positives", "False positives", "F1 score"]),
    ("table", {"tp": "3", "fn": "1", "ppv": "0.8"}, ["The number of cases is not known"]),
    ("nomogram", {"concordance": "", "measured": "x"}, ["Weighted concordance (rho)", "Measured accuracy"]),
    ("nomogram", {"concordance": "2", "measured": "0.9"}, ["Weighted concordance: found 2"]),
    ("robustness", {"similarity": "0.2"}, ["Give a p-value"]),
    ("robustness", {"similarity": "0.2", "auc": "0.8"}, ["Standard error, external", "Cases, external"]),
    ("h_accuracy", {"scores": "truth,score\n1,<b>"}, ['found "<b>"']),
    ("h_accuracy", {"scores": SCORES, "priority": "0.3 0.3"}, ["that sum to 1"]),
    ("h_accuracy", {"scores": SCORES, "priority": "a"}, ["Priorities of the classes"]),
    ("h_accuracy", {"scores": SCORES, "tau": "0.2"}, ["tau must be from 0.50 to 1"]),
    ("h_accuracy", {"scores": "x" * 300_001}, ["Table of scores"]),
    ("abacus", {}, ["Not as expected"]),
])  # fmt: skip
def test_what_is_wrong_is_said_beside_what_was_typed(
    anna: Client, calculator: str, fields: dict[str, str], said: list[str]
) -> None:
    status, text = asked(anna, calculator, **fields)
    assert (status, [one for one in said if one not in text]) == (422, [])
    assert "<th scope=" not in text


def test_contradictory_figures_are_an_answer_within_seconds(anna: Client) -> None:
    figures = {"accuracy": "0.87", "sensitivity": "0.84", "specificity": "0.6", "ppv": "0.91", "npv": "0.7"}
    more = {"f1": "0.3", "threat_score": "0.2", "mcc": "0.9", "total": "999999999"}
    start = time.monotonic()
    status, text = asked(anna, "table", **figures, **more)
    assert (status, "contradict each other" in text) == (200, True)
    assert time.monotonic() - start < 10


def test_the_empty_page_asks_nothing_and_is_in_every_language(anna: Client) -> None:
    assert len([f for f in get(anna, "/calculator").forms if f["action"] == "/calculator"]) == 4
    for language, word in (("de", "Rechner"), ("fr", "Calculateur"), ("it", "Calcolatore")):
        text = anna.get("/calculator", headers={**HTML, "Accept-Language": language}).text
        assert f"<h1>{word}</h1>" in text
