"""Draws each figure of an assessment once: SVG and PNG for every format, and the values drawn."""

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from trustreport.assessment import Assessment
from trustreport.figures.style import labels_as_text, settings
from trustreport.finding import Figure
from trustreport.messages import Catalogue, catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

DOTS_PER_INCH = 150
PACKED = 3  # of 9: a tenth larger, in half the time


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure as files and as the table of its values; the same bytes for the same values.

    The labels of `svg` are outlines, which look the same everywhere. Those of `page` are text in the faces of
    `figures.style`, for a renderer that has them: a third of the work to draw, and a reader can search it.
    """

    svg: bytes
    page: bytes
    png: bytes
    values: list[dict[str, Any]]


def draw_all(assessment: Assessment) -> dict[str, Drawn]:
    """Every figure of the assessment, by its id."""
    say = catalogue(assessment.plan.report.language)
    return {figure.id: draw(figure, say) for figure in assessment.figures}


def draw(figure: Figure, say: Catalogue) -> Drawn:
    """One figure. matplotlib reads some settings when it draws, some when it saves: both happen inside."""
    unsaid = {"Date": None, "Creator": None}
    with settings():
        drawn = figure.drawing.draw(say)
        svg = _saved(drawn, "svg", unsaid)
        how = {"dpi": DOTS_PER_INCH, "pil_kwargs": {"compress_level": PACKED}}
        png = _saved(drawn, "png", {"Software": None}, **how)
        with labels_as_text():
            page = _saved(drawn, "svg", unsaid)
    return Drawn(svg, page, png, figure.drawing.values(say))


def _saved(drawn: "MatplotlibFigure", form: str, metadata: dict[str, Any], **how: Any) -> bytes:
    file = BytesIO()
    drawn.savefig(file, format=form, metadata=metadata, **how)
    return file.getvalue()
