"""Draws the figures of an assessment when they are asked for: as SVG for the page, as SVG and PNG files."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING, Any, Protocol

from trustreport.assessment.finding import Figure
from trustreport.figures.style import settings
from trustreport.vocabulary.messages import Catalogue, catalogue

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

    from trustreport.assessment.assess import Assessment

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


@dataclass(frozen=True)
class DrawnHere:
    """A figure that is drawn in this process, once for each form that is looked at."""

    figure: Figure
    say: Catalogue

    @cached_property
    def svg(self) -> bytes:
        return saved(self.figure, self.say, ("svg",))[0]

    @cached_property
    def page(self) -> bytes:
        return saved(self.figure, self.say, ("page",))[0]

    @cached_property
    def png(self) -> bytes:
        return saved(self.figure, self.say, ("png",))[0]


def draw_all(assessment: "Assessment") -> dict[str, Drawn]:
    """Every figure of the assessment, by its id."""
    say = catalogue(assessment.plan.report.language)
    return {figure.id: DrawnHere(figure, say) for figure in assessment.figures}


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
        return [SAVE[form](drawn) for form in forms]


def _svg(drawn: "MatplotlibFigure") -> bytes:
    return _file(drawn, "svg", {"Date": None, "Creator": None})


def _page(drawn: "MatplotlibFigure") -> bytes:
    from trustreport.report.layout import svg_backend

    return svg_backend.svg(drawn, dots_per_inch=DOTS_PER_INCH)


def _png(drawn: "MatplotlibFigure") -> bytes:
    how = {"dpi": DOTS_PER_INCH, "pil_kwargs": {"compress_level": PACKED}}
    return _file(drawn, "png", {"Software": None}, **how)


def _file(drawn: "MatplotlibFigure", form: str, metadata: dict[str, Any], **how: Any) -> bytes:
    file = BytesIO()
    drawn.savefig(file, format=form, metadata=metadata, **how)
    return file.getvalue()


SAVE = {"svg": _svg, "page": _page, "png": _png}
