"""Draws the figures of an assessment when they are asked for: as SVG for the page, as SVG and PNG files."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

from trustreport.assessment.finding import Figure
from trustreport.figures.style import settings
from trustreport.vocabulary.messages import Catalogue, catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from trustreport.assessment.assess import Assessment

DOTS_PER_INCH = 150
PACKED = 3  # of 9: a tenth larger, in half the time
# How matplotlib saves a file, without the time and the program.
SAVED: Mapping[str, Mapping[str, Any]] = {
    "svg": {"metadata": {"Date": None, "Creator": None}},
    "png": {
        "metadata": {"Software": None},
        "dpi": DOTS_PER_INCH,
        "pil_kwargs": {"compress_level": PACKED},
    },
}


@dataclass(frozen=True)
class Drawn:
    """A figure as files, each awaited or drawn when it is looked at; the same bytes for the same values."""

    file: Callable[[str], bytes]

    @property
    def svg(self) -> bytes:
        """With labels as outlines, which look the same everywhere."""
        return self.file("svg")

    @property
    def page(self) -> bytes:
        """With labels as text, which can be searched, for a renderer with the faces of `figures.style`."""
        return self.file("page")

    @property
    def png(self) -> bytes:
        """In dots."""
        return self.file("png")


def draw_all(assessment: "Assessment") -> dict[str, Drawn]:
    """Every figure of the assessment, by its id."""
    say = catalogue(assessment.plan.report.language)
    return {figure.id: drawn_here(figure, say) for figure in assessment.figures}


def drawn_here(figure: Figure, say: Catalogue) -> Drawn:
    """A figure that is drawn in this process, once for each form that is looked at."""
    return Drawn(cache(lambda form: saved(figure, say, (form,))[0]))


class Pages(Mapping[str, bytes]):
    """The figures for the page by id, each awaited when it is looked at: what is not printed is not drawn.

    `changed` is done to each.
    """

    def __init__(self, drawn: Mapping[str, Drawn], changed: Callable[[bytes], bytes] | None = None) -> None:
        self._drawn, self._changed = drawn, changed

    def __getitem__(self, name: str) -> bytes:
        page = self._drawn[name].page
        return self._changed(page) if self._changed else page

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawn)

    def __len__(self) -> int:
        return len(self._drawn)


def saved(figure: Figure, say: Catalogue, forms: Iterable[str]) -> list[bytes]:
    """One figure in some forms.

    matplotlib reads some settings when it draws, some when it saves: both happen inside.
    """
    with settings():
        drawn = figure.drawing.draw(say)
        return [_saved(drawn, form) for form in forms]


def _saved(drawn: "MatplotlibFigure", form: str) -> bytes:
    if form == "page":
        from trustreport.report.layout import svg_backend

        return svg_backend.svg(drawn, dots_per_inch=DOTS_PER_INCH)
    file = BytesIO()
    drawn.savefig(file, format=form, **SAVED[form])
    return file.getvalue()
