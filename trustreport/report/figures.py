"""Draws each figure of an assessment once: as SVG for browsers, as SVG for the page, as PNG."""

from collections.abc import Iterable
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol

from trustreport.assessment import Assessment
from trustreport.figures.style import settings
from trustreport.finding import Figure
from trustreport.messages import Catalogue, catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

DOTS_PER_INCH = 150
PACKED = 3  # of 9: a tenth larger, in half the time


class Drawn(Protocol):
    """A figure as files; the same bytes for the same values."""

    @property
    def svg(self) -> bytes:
        """With labels as outlines, which look the same everywhere."""

    @property
    def page(self) -> bytes:
        """With labels as text, which can be searched, for a renderer with the faces of `figures.style`."""

    @property
    def png(self) -> bytes:
        """In dots."""


@dataclass(frozen=True, slots=True)
class FigureFiles:
    """A figure that has been drawn."""

    svg: bytes
    page: bytes
    png: bytes


def draw_all(assessment: Assessment) -> dict[str, Drawn]:
    """Every figure of the assessment, by its id."""
    say = catalogue(assessment.plan.report.language)
    return {figure.id: draw(figure, say) for figure in assessment.figures}


def draw(figure: Figure, say: Catalogue) -> FigureFiles:
    """One figure."""
    files = saved(figure, say, ("svg", "page", "png"))
    return FigureFiles(*files)


def saved(figure: Figure, say: Catalogue, forms: Iterable[str]) -> list[bytes]:
    """One figure in some forms.

    matplotlib reads some settings when it draws, some when it saves: both happen inside.
    """
    with settings():
        drawn = figure.drawing.draw(say)
        return [SAVE[form](drawn) for form in forms]


def _svg(drawn: "MatplotlibFigure") -> bytes:
    return _file(drawn, "svg", {"Date": None, "Creator": None})


def _page(drawn: "MatplotlibFigure") -> bytes:
    from trustreport.report import svg_backend

    return svg_backend.svg(drawn, dots_per_inch=DOTS_PER_INCH)


def _png(drawn: "MatplotlibFigure") -> bytes:
    how = {"dpi": DOTS_PER_INCH, "pil_kwargs": {"compress_level": PACKED}}
    return _file(drawn, "png", {"Software": None}, **how)


def _file(drawn: "MatplotlibFigure", form: str, metadata: dict[str, Any], **how: Any) -> bytes:
    file = BytesIO()
    drawn.savefig(file, format=form, metadata=metadata, **how)
    return file.getvalue()


SAVE = {"svg": _svg, "page": _page, "png": _png}
