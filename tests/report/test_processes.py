"""Figures and pages that another process makes are those made here, whatever becomes of that process."""

import re
import subprocess
from dataclasses import fields, replace
from pathlib import Path
from urllib.parse import quote

import pytest
from made_up import about

from trustreport.assessment.assess import Assessment
from trustreport.figures import style
from trustreport.figures.style import settings
from trustreport.report import pdf
from trustreport.report.layout import figures, pdf_layout, svg_backend
from trustreport.report.layout.processes import DrawingProcess, LayoutProcesses


@pytest.fixture(scope="module")
def drawn_here(simple: Assessment) -> dict[str, figures.Drawn]:
    return figures.draw_all(simple)


def same(one: dict[str, figures.Drawn], other: dict[str, figures.Drawn]) -> bool:
    return list(one) == list(other) and all(
        (one[k].page, one[k].svg, one[k].png) == (other[k].page, other[k].svg, other[k].png) for k in one
    )


def test_they_are_the_same(simple: Assessment, drawn_here: dict[str, figures.Drawn]) -> None:
    with DrawingProcess() as drawing:
        drawing.begin(simple.figures[:1], "en")
        assert same(drawing.drawn(simple.figures, "en"), drawn_here)


def test_what_was_begun_and_changed_is_drawn_anew(
    simple: Assessment, drawn_here: dict[str, figures.Drawn]
) -> None:
    first, second = simple.figures[0], simple.figures[-1]
    with DrawingProcess() as drawing:
        drawing.begin([replace(first, drawing=second.drawing)], "en")
        assert same(drawing.drawn([first], "en"), {first.id: drawn_here[first.id]})


def test_without_the_process_they_are_drawn_here(
    simple: Assessment, drawn_here: dict[str, figures.Drawn]
) -> None:
    with DrawingProcess() as drawing:
        drawing._process.kill()
        assert same(drawing.drawn(simple.figures, "en"), drawn_here)


class Broken:
    def draw(self, say: object) -> None:
        raise ValueError("nothing to draw")

    def values(self, say: object) -> list[object]:
        return []


def test_a_drawing_that_fails_fails_where_it_is_asked_for(simple: Assessment) -> None:
    broken = replace(simple.figures[0], id="broken", drawing=Broken())
    with DrawingProcess() as drawing:
        drawn = drawing.drawn([broken, simple.figures[0]], "en")
        assert drawn[simple.figures[0].id].page
        with pytest.raises(ValueError, match="nothing to draw"):
            _ = drawn["broken"].page


def test_what_cannot_be_sent_is_drawn_here(simple: Assessment, drawn_here: dict[str, figures.Drawn]) -> None:
    class Local(type(simple.figures[0].drawing)):
        """Of no module."""

    drawing = simple.figures[0].drawing
    local = Local(**{field.name: getattr(drawing, field.name) for field in fields(drawing)})
    with DrawingProcess() as process:
        drawn = process.drawn([replace(simple.figures[0], drawing=local)], "en")
        assert drawn[simple.figures[0].id].page == drawn_here[simple.figures[0].id].page


def test_no_room_to_draw_elsewhere_does_no_harm(monkeypatch: pytest.MonkeyPatch, simple: Assessment) -> None:
    def refused(self: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr("multiprocessing.process.BaseProcess.start", refused)
    with DrawingProcess() as drawing:
        assert drawing.drawn(simple.figures[:1], "en")[simple.figures[0].id].png


@pytest.mark.pdf
def test_a_label_in_the_pdf_is_as_wide_as_it_was_measured(tmp_path: Path) -> None:
    """Kerned, as where its place was found; WeasyPrint alone would set it letter by letter."""
    label, right = "AVAVAVAVATATAT", 400.0
    with settings():
        drawn, sheet = style.figure(170, 20)
        at = sheet.text(right / style.MM, 10, label, size=10, ha="right")
        page = svg_backend.svg(drawn, dots_per_inch=150).decode()
        assert at.get_text() in page
    document = (
        f"<style>{pdf_layout.faces()} @page {{ size: 500pt 100pt; margin: 0 }} body {{ margin: 0 }}</style>"
    )
    document += f'<img src="data:image/svg+xml,{quote(page)}">'
    made = pdf_layout.weasyprint_module().HTML(string=document, url_fetcher=pdf_layout.fetcher())
    made.write_pdf(tmp_path / "one.pdf")
    boxes = subprocess.run(
        ["pdftotext", "-bbox", str(tmp_path / "one.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout
    (found,) = re.findall(rf'xMin="([0-9.]+)".* xMax="([0-9.]+)".*>{label}<', boxes)
    low, high = (float(x) for x in found)
    assert high == pytest.approx(right, abs=0.5)
    assert high - low == pytest.approx(style.width_of(label, 10) * style.MM, abs=0.5)


def test_on_paper_a_mark_is_a_path_and_a_label_a_text(drawn_here: dict[str, figures.Drawn]) -> None:
    for drawn in drawn_here.values():
        page = drawn.page.decode()
        assert set(re.findall(r"<(\w+)", page)) <= {
            "svg",
            "defs",
            "clipPath",
            "g",
            "title",
            "path",
            "rect",
            "text",
            "image",
        }
        assert "<text" in page
        sizes = [re.search(r'viewBox="([^"]+)"', text.decode()) for text in (drawn.page, drawn.svg)]
        lean, full = ([float(x) for x in found[1].split()] for found in sizes if found)
        assert lean == pytest.approx(full, abs=0.01)


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


def test_no_room_to_lay_out_elsewhere_does_no_harm(
    monkeypatch: pytest.MonkeyPatch, volumes: pdf.Volumes
) -> None:
    def refused(self: object) -> None:
        raise BlockingIOError("no more processes")

    monkeypatch.setattr("multiprocessing.process.BaseProcess.start", refused)
    with LayoutProcesses() as layout:
        assert layout.lay_out(volumes.paper_text("annex"))() is None
