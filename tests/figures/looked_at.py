"""What tests of figures look at: the texts of a drawing with their boxes, its lines and areas by name."""

import re
from io import BytesIO
from typing import Any

from trustreport.figures import style
from trustreport.vocabulary.messages import catalogue


def texts(figure: Any) -> list[Any]:
    """Every text that the figure shows."""
    found = []
    for axes in figure.axes:
        found += axes.texts
        if axes.axison:
            for axis in (axes.xaxis, axes.yaxis):
                found += [axis.label, *axis.get_ticklabels(), *axis.get_ticklabels(minor=True)]
    return [text for text in found if text.get_text().strip() and text.get_visible()]


def boxes(figure: Any) -> list[tuple[str, Any]]:
    """Every text with the place that it takes, in pixels."""
    figure.draw_without_rendering()  # places the labels of the axes
    renderer = figure.canvas.get_renderer()
    return [(text.get_text(), text.get_window_extent(renderer)) for text in texts(figure)]


def lines(figure: Any) -> dict[str, Any]:
    """Every line and mark that has a name, by its name."""
    return {line.get_gid(): line for axes in figure.axes for line in axes.lines if line.get_gid()}


def patches(figure: Any) -> dict[str, Any]:
    """Every area that has a name, by its name."""
    return {patch.get_gid(): patch for axes in figure.axes for patch in axes.patches if patch.get_gid()}


def plain(text: str) -> str:
    """The text as one line, every space a plain one."""
    return re.sub(r"\s", " ", text)


def written(figure: Any) -> list[str]:
    """What is written on the figure, ticks apart."""
    return [plain(text.get_text()) for axes in figure.axes for text in axes.texts]


def svg(drawing: Any) -> bytes:
    """The bytes of a new drawing."""
    file = BytesIO()
    with style.settings():
        drawing.draw(catalogue("en")).savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()
