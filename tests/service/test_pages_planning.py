"""Pages that size a study and calculate: what the commands give, every problem at once, nothing stored."""

import html
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pages import HTML, READINGS, Taken, get
from services import Client, stored

from trustreport.api import draw_sizes, plan_reader_study, write_sizes
from trustreport.planning import protocol
from trustreport.report.calculate import of_counts, of_nomogram, of_robustness, of_scores
from trustreport.service.core import Core
from trustreport.service.storage.models import Audit, Version

ASKED = "endpoint=sensitivity&effect=0.1&expected=0.75&readers=5,8&cases=50,100&structure=HL&margin="

# The same for the command.
REQUEST = {
    "endpoint": "sensitivity",
    "effect": 0.1,
    "expected": 0.75,
    "readers": [5, 8],
    "cases": [50, 100],
    "components": {"model": "roe_metz", "structure": "HL"},
}


def planned(page: Taken) -> dict[str, str]:
    """The fields of the form of a plan."""
    (fields,) = (form["fields"] for form in page.forms if "effect" in form["fields"])
    return dict(fields)


def test_the_page_shows_what_the_command_prints_and_stores_nothing(light: Core, anna: Client) -> None:
    before = len(stored(light, Audit))
    text = html.unescape(anna.get(f"/planning?{ASKED}", headers=HTML).text)
    sizes = plan_reader_study(**REQUEST)
    assert protocol.to_markdown(sizes) in text
    request = text.split("<pre>")[2].split("</pre>")[0]
    assert protocol.to_json(plan_reader_study(**json.loads(request))) == protocol.to_json(sizes)
    assert text.count("<polyline") == 2
    assert len(stored(light, Audit)) == before


def test_the_form_keeps_what_was_typed_and_names_every_problem(anna: Client) -> None:
    asked = "endpoint=auc&effect=much&readers=5,x&components.arm_reader=0.1&expected=%3Cb%3E"
    answer = anna.get(f"/planning?{asked}", headers=HTML)
    assert answer.status_code == 422
    # In the words of the form, not by the names of the request.
    for field in (
        "True difference",
        "Readers, number 2",
        "Without the device",
        "Components (Obuchowski and Rockette): Cases of that study",
    ):
        assert f"<b><bdi>{field}</bdi></b>" in answer.text, field
    assert '<b>"' not in answer.text
    assert planned(Taken(answer.text))["effect"] == "much"
    many = anna.get(f"/planning?readers={','.join(map(str, range(2, 14)))}", headers=HTML)
    assert (many.status_code, "Too many numbers" in many.text) == (422, True)


def test_an_empty_form_asks_nothing(anna: Client) -> None:
    page = get(anna, "/planning")
    assert planned(page)["effect"] == ""
    assert "Sample size" not in page.words


def test_who_is_not_signed_in_is_led_to_the_login(anonymous: Client) -> None:
    answer = anonymous.get("/planning", headers=HTML, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"].partition("?")[0]) == (303, "/sign-in")


def test_a_server_has_no_statistics_in_memory_before_they_are_asked_for() -> None:
    script = (
        "import sys, trustreport.service.server; print([n for n in ('scipy', 'pandas') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_section_comes_as_markdown_and_as_pdf(anna: Client) -> None:
    sizes = plan_reader_study(**REQUEST)
    page = anna.get(f"/planning?{ASKED}", headers=HTML).text
    links = {html.unescape(link) for link in re.findall(r'href="(/planning/protocol[^"]+)"', page)}
    assert len(links) == 2
    made = {link.partition("?")[0]: anna.get(link, headers=HTML) for link in links}
    markdown, pdf = made["/planning/protocol.md"], made["/planning/protocol.pdf"]
    assert markdown.text == protocol.to_markdown(sizes)
    assert "attachment" in markdown.headers["content-disposition"]
    assert pdf.headers["content-type"] == "application/pdf"
    assert pdf.content == protocol.to_pdf(sizes)
    assert anna.get(f"/planning/protocol.docx?{ASKED}", headers=HTML).status_code == 404
    assert anna.get("/planning/protocol.pdf?effect=much", headers=HTML).status_code == 422


def test_simulated_studies_are_beside_the_closed_form_where_they_are_few_enough(anna: Client) -> None:
    text = anna.get(f"/planning?{ASKED}&simulate=100", headers=HTML).text
    assert "In 100 simulated studies the power was" in text
    assert "Simulated: 100 studies" in text
    large = ASKED.replace("effect=0.1", "effect=0.04").replace("readers=5,8", "readers=40,60")
    refused = anna.get(f"/planning?{large}&simulate=100", headers=HTML)
    assert refused.status_code == 422
    assert "Too large to simulate" in refused.text


def readings() -> str:
    """Readings of five readers of forty cases in two arms, the second a little better."""
    rng, lines = np.random.default_rng(6), ["reader,case,arm,truth,decision"]
    hard = rng.normal(0, 1, 40)
    for reader in range(5):
        for case in range(40):
            for gain, arm in ((0.0, "unaided"), (0.5, "aided")):
                right = rng.normal(0, 1) + hard[case] < 0.9 + gain
                truth = case % 2
                lines.append(f"R{reader},C{case},{arm},{truth},{truth if right else 1 - truth}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def pilot(anna: Client, light: Core) -> str:
    """A stored reader study that was read without problems."""
    name = anna.version(anna.study("Pilot"), READINGS, **{"readings.csv": readings()})
    with light.store.write() as rows:
        rows.get_one(Version, name).state = "valid"
    return name


def test_a_stored_study_fills_in_the_components_that_the_command_takes_from_its_folder(
    anna: Client, pilot: str, tmp_path: Path
) -> None:
    assert "Pilot, version 1" in anna.get("/planning", headers=HTML).text
    asked = "endpoint=sensitivity&effect=0.25&readers=6&cases=100"
    moved = anna.get(f"/planning?{asked}&pilot={pilot}&structure=HL", headers=HTML, follow_redirects=False)
    assert moved.status_code == 303
    text = html.unescape(anna.get(moved.headers["location"], headers=HTML).text)
    (tmp_path / "study.json").write_text(json.dumps(READINGS))
    (tmp_path / "readings.csv").write_text(readings())
    sizes = plan_reader_study(
        endpoint="sensitivity", effect=0.25, readers=[6], cases=[100], pilot=str(tmp_path)
    )
    (one,) = sizes.smallest
    assert one.cell is not None
    assert f"6 readers and {one.cell.n_cases} positive cases" in text


def test_a_pilot_of_another_organisation_or_without_readings_of_the_endpoint_is_refused(
    anna: Client, bob: Client, pilot: str
) -> None:
    asked = f"endpoint=auc&effect=0.1&pilot={pilot}"
    assert bob.get(f"/planning?{asked}", headers=HTML, follow_redirects=False).status_code == 404
    assert "Pilot, version 1" not in bob.get("/planning", headers=HTML).text
    refused = anna.get(f"/planning?{asked}", headers=HTML, follow_redirects=False)
    assert refused.status_code == 422
    assert "has no readings of auc in two arms" in refused.text


def test_python_draws_the_chart_and_writes_what_the_command_writes(tmp_path: Path) -> None:
    sizes = plan_reader_study(**REQUEST)
    drawn = draw_sizes(sizes)
    words = {text.get_text() for axes in drawn.axes for text in (*axes.texts, axes.xaxis.label)}
    assert {"5 readers", "8 readers"} <= words
    written = write_sizes(sizes, tmp_path)
    names = ["plan.json", "protocol.md", "figure.svg", "protocol.pdf"]
    assert [file.name for file in written] == names
    assert (tmp_path / "plan.json").read_bytes() == protocol.to_json(sizes)


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
    before = len(stored(light, Audit))
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
    assert len(stored(light, Audit)) == before


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
