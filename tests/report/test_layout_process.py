"""What another process lays out is that which is laid out here, whatever becomes of the process."""

from dataclasses import replace

import pytest
from made_up import about

from trustreport.assessment.assess import Assessment
from trustreport.report import pdf
from trustreport.report.layout import pdf_layout
from trustreport.report.layout.processes import LayoutProcesses


@pytest.fixture(scope="module")
def volumes(simple: Assessment) -> pdf.Volumes:
    return pdf.Volumes(simple, **about(simple))


@pytest.mark.pdf
def test_it_is_the_one_laid_out_here(volumes: pdf.Volumes) -> None:
    with LayoutProcesses() as layout:
        layout.start(1)
        elsewhere = layout.lay_out(volumes.paper_text("annex"))
        here = volumes.printed("annex")
        made = elsewhere()
    assert made is not None
    assert (made.content, made.pages) == (here.content, here.pages)


@pytest.mark.pdf
def test_a_sign_that_no_font_has_is_left_to_who_can_make_the_text_anew(volumes: pdf.Volumes) -> None:
    sheet = volumes.paper_text("annex")
    unknown = replace(sheet, text=sheet.text.replace("</body>", "\U0001f9ff</body>"))
    assert pdf_layout.laid_out(unknown) is None


def test_without_the_process_it_is_left_to_who_asked(volumes: pdf.Volumes) -> None:
    with LayoutProcesses() as layout:
        layout.start(1)
        layout._processes[0].kill()
        assert layout.lay_out(volumes.paper_text("annex"))() is None


def test_no_process_no_harm(monkeypatch: pytest.MonkeyPatch, volumes: pdf.Volumes) -> None:
    def refused(self: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr("multiprocessing.process.BaseProcess.start", refused)
    with LayoutProcesses() as layout:
        assert layout.lay_out(volumes.paper_text("annex"))() is None
