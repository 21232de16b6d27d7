"""Where the annex is: a file beside the report by default, and never named where it was not written."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

from trustreport.assessment.assess import Assessment
from trustreport.report import html
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


@pytest.mark.pdf
def test_every_kind_has_its_annex_by_default(simple: Assessment, tmp_path: Path) -> None:
    """Also without declared criteria."""
    assert not simple.plan.endpoints
    written = write(simple, tmp_path / "out")
    assert {"report.pdf", "annex.pdf"} <= {file.name for file in written.files}
    assert "annex" in DEFAULT_FORMATS
