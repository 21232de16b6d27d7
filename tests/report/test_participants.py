"""Who was tested stands before the chapters: the flow of STARD, and the characteristics of the sets."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from trustreport.assessment.assess import Assessment
from trustreport.assessment.case_mix import PARTICIPANTS
from trustreport.assessment.release.guard import draws_few
from trustreport.figures.flow import ParticipantColumn, ParticipantFlow
from trustreport.vocabulary.messages import Message, catalogue

EN = catalogue("en")
FAILED = Message("flow.failed_wrong"), 2
COLUMN = ParticipantColumn("outside", 106, (("no tomography", 6),), 100, FAILED, 40, 5, 9, 46)


def test_every_box_is_a_value() -> None:
    values = ParticipantFlow((COLUMN,)).values(EN)
    assert [(row["place"], row["value"]) for row in values] == [
        ("Eligible", 106),
        ("no tomography", 6),
        ("Analysed", 100),
        ("no output, analysed as wrong", 2),
        ("Device positive", 49),
        ("with the condition", 40),
        ("without the condition", 9),
        ("Device negative", 51),
        ("with the condition", 5),
        ("without the condition", 46),
    ]


def test_a_public_report_draws_no_flow_of_few() -> None:
    assert draws_few(ParticipantFlow((COLUMN,)), 5)
    assert not draws_few(ParticipantFlow((COLUMN,)), 2)


@pytest.mark.slow
def test_the_flow_adds_up_in_each_set(assessed_example: Callable[[str], Assessment]) -> None:
    figures = assessed_example("certification-dossier").flow_figures
    drawn = [f.drawing for f in figures if f.id.startswith(PARTICIPANTS)]
    columns = [column for flow in drawn if isinstance(flow, ParticipantFlow) for column in flow.columns]
    assert [column.name for column in columns] == ["internal test", "Northhaven", "Eastfield", "Southport"]
    for one in columns:
        assert one.eligible - sum(n for _, n in one.left_out) == one.analysed
        assert one.tp + one.fn + one.fp + one.tn == one.analysed
    assert columns[1].left_out[0] == ("no tomography", 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["certification-dossier", "procurement-triage"])
def test_they_stand_before_the_first_chapter(name: str, example: Callable[[str], Path]) -> None:
    page = (example(name) / "report.html").read_text(encoding="utf-8")
    at = [page.index(f'id="{anchor}"') for anchor in ("about", "chapter-participants", "E07", "participants")]
    first = re.search(r'<span class="index">1</span> ', page[at[-1] :])
    assert at == sorted(at)
    assert first
    assert "Table P.1" in page
    assert "Figure P.1" in page
