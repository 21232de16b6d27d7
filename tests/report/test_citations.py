"""The tables of frameworks cite chapters that this report has, by number and title, and their anchors."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from trustreport.assessment.assess import Assessment
from trustreport.report import contents
from trustreport.report.elements.frameworks import Framework
from trustreport.report.html import _anchors
from trustreport.report.layout import figures
from trustreport.report.write import provenance
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
PACKS = ("eu-ai-act-2024", "tripod-ai-2024")
NAMES = ("certification-dossier", "procurement-triage", "vigilance-audit")


def citing(assessment: Assessment) -> Assessment:
    report = assessment.plan.report.model_copy(update={"rule_packs": PACKS})
    return replace(assessment, plan=assessment.plan.model_copy(update={"report": report}))


def cited(made: contents.Chapters) -> Iterator[tuple[str, str]]:
    """Anchor and text of every citation."""
    views = (v for chapter in made.annex for v in chapter.items if isinstance(v, contents.ElementView))
    listed: list[Any] = [one for v in views for one in v.element.extra.get("frameworks", ())]
    for framework in listed:
        assert isinstance(framework, Framework)
        for row in framework.rows:
            yield from row.places


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("on_screen", [True, False])
def test_every_citation_resolves(
    name: str, on_screen: bool, assessed_example: Callable[[str], Assessment]
) -> None:
    assessment = citing(assessed_example(name))
    drawn = {id: figure.page for id, figure in figures.draw_all(assessment).items()}
    given = provenance(assessment)
    made = contents.chapters(assessment, drawn, EN, on_screen=on_screen, provenance=given)
    apart = "" if on_screen else "report, "
    named = {f"{apart}{chapter.number} {chapter.title}" for chapter in made.report}
    named |= {f"{chapter.number} {chapter.title}" for chapter in made.annex} | {f"{apart}The answer"}
    anchors = _anchors((*made.report, *made.annex)) | {"answer"}
    if not on_screen:  # what paper leaves out is in a file of its own, and no link
        named, anchors = named | {"results.json"}, anchors | {""}
    found = list(cited(made))
    assert len(found) > 20
    assert {text.replace("\u00a0", " ") for _, text in found} <= named
    assert {anchor for anchor, _ in found} <= anchors
