"""Points to follow up say what, why, what to do, who and when; no report says what may be bought."""

from collections.abc import Callable
from pathlib import Path

import pytest

from trustreport.assessment.assess import Assessment
from trustreport.report.elements.conclusions import ELEMENTS
from trustreport.report.elements.element import Context
from trustreport.report.numbering import Numbering
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.resources import folder

EN = catalogue("en")


@pytest.mark.slow
def test_each_point_has_an_action_and_an_owner(assessed_example: Callable[[str], Assessment]) -> None:
    context = Context(assessed_example("certification-dossier"), {}, EN, Numbering("6", {}, EN), True, {})
    found = ELEMENTS["feedback"](context)
    assert found is not None
    table = found.tables[0].table
    heads = [head.text for head in table.heads]
    assert heads == ["Point", "Why", "Hazard and harm", "Proposed action", "Owner and date"]
    lines = {line.cells[0].text: line.cells for line in table.lines}
    rows = {name: [cell.text for cell in cells] for name, cells in lines.items()}
    assert rows["AUC, Southport"][1:] == [
        "inconclusive",
        "–",
        (
            "Find the cause first: at this estimate, about 343 further cases would show that the criterion "
            "is not met."
        ),
        "owner not declared",
    ]
    hazard, _, owner = lines["Correct decisions reversed after wrong advice"][2:]
    assert hazard.text == "Automation bias"
    assert hazard.aside == "An error that the reader would not have made alone"
    assert (owner.text, owner.aside) == ("Clinical safety (fictional)", "2026-09-30")
    assert rows["Observed over expected, Southport"][2] == "Patients wait for a visit that nobody planned"
    assert "Missed disease in blurred photographs" in found.finding[1]


@pytest.mark.slow
def test_a_declared_owner_and_date_are_printed(assessed_example: Callable[[str], Assessment]) -> None:
    context = Context(assessed_example("vigilance-audit"), {}, EN, Numbering("7", {}, EN), True, {})
    found = ELEMENTS["feedback"](context)
    assert found is not None
    signal = next(line for line in found.tables[0].table.lines if line.cells[0].text == "S-2")
    assert signal.cells[4].text == "Vigilance officer (fictional)"
    assert signal.cells[4].aside == "2026-10-12"


@pytest.mark.parametrize("language", ["en", "de", "fr", "it"])
def test_no_text_gives_leave_to_buy(language: str) -> None:
    leave = ("may be bought", "beschafft werden", "être acheté", "essere acquistato")
    for file in Path(folder("templates") / "messages" / language).glob("*.toml"):
        text = file.read_text(encoding="utf-8")
        assert not any(words in text for words in leave), file.name
