"""Where the annex is: a file beside the report by default, and never named where it was not written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from trustreport.assessment.assess import Assessment
from trustreport.report import contents, html
from trustreport.report.document import canonical, digest, document
from trustreport.report.layout import figures
from trustreport.report.write import DEFAULT_FORMATS, provenance, write
from trustreport.vocabulary.messages import catalogue

NAMES = ("certification-dossier", "procurement-triage", "vigilance-audit")
EN = catalogue("en")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_report_names_the_file_that_was_written(
    name: str, assessed_example: Callable[[str], Assessment]
) -> None:
    one = assessed_example(name)
    origin = provenance(one)
    drawn = figures.Pages(figures.draw_all(one))
    about: tuple[Any, ...] = digest(canonical(document(one, origin, EN))), origin, drawn
    texts = {
        where: html.Documents(one, *about, "page", where).text("report", Markup(""))
        for where in ("file", "page", "results")
    }
    assert "the reasons are in the annex" in texts["file"]
    assert "the reasons are in report.html" in texts["page"]
    assert "the reasons are in results.json" in texts["results"]
    for where in ("page", "results"):
        assert "the annex" not in texts[where]
        assert ">annex" not in texts[where]


@pytest.mark.slow
def test_paper_leaves_to_the_page_what_repeats(assessed_example: Callable[[str], Assessment]) -> None:
    """Decision curves in numbers, methods and groups of each set: on screen whole, on paper in one table."""
    one = assessed_example("certification-dossier")
    drawn = {id: figure.page for id, figure in figures.draw_all(one).items()}

    def annex(*, on_screen: bool) -> tuple[list[str], set[str], list[str]]:
        """Ids of its tables, the elements that stand in it, and the checks that its sections speak of."""
        made = contents.chapters(one, drawn, EN, on_screen=on_screen, provenance=provenance(one)).annex
        items = [item for chapter in made for item in chapter.items]
        tables = [t.table.id for item in items for part in item.parts for t in part.tables]
        own = [item.limits if isinstance(item, contents.Section) else item.element.limits for item in items]
        return tables, {item.anchor for item in items}, [limit.check for found in own for limit in found]

    screen, paper = annex(on_screen=True), annex(on_screen=False)
    assert sum(id.startswith("decision_table_") for id in screen[0]) == 5
    assert not any(id.startswith("decision_table_") for id in paper[0])
    assert [id for id in paper[0] if id.startswith("subgroup")] == ["subgroups_main_sets"]
    assert {"E31", "E47"} <= screen[1]
    assert not {"E31", "E47"} & paper[1]
    assert screen[2].count("P05") > 2
    assert paper[2].count("P05") == 2  # the first set, and the list of the others


@pytest.mark.pdf
def test_every_kind_has_its_annex_by_default(simple: Assessment, tmp_path: Path) -> None:
    """Also without declared criteria."""
    assert not simple.plan.endpoints
    written = write(simple, tmp_path / "out")
    assert {"report.pdf", "annex.pdf"} <= {file.name for file in written.files}
    assert "annex" in DEFAULT_FORMATS
