"""How often each value occurs: bars of counts, with the values above which a declared part lies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.figures import curves, numbers, style, ticks
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 13.0
MOST_VALUES = 12  # more distinct values are put together in equal steps
STEPS = 10
FILLED = 0.82  # of the room of a bar
LINE_ROOM = 1.2  # millimetres between the lowest line of labels and the bars
ABOVE: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": style.DASHED, "zorder": 2}


@dataclass(frozen=True, slots=True)
class HistogramBar:
    """How many have a value, or lie in the step around it."""

    at: float
    n: int


@dataclass(frozen=True, slots=True)
class HistogramMark:
    """A value above which, or from which on, a part lies; `label` says which part."""

    at: float
    label: Message | str


@dataclass(frozen=True, slots=True)
class HistogramPanel:
    """The bars of one data set, each `width` wide."""

    label: Message | str
    bars: tuple[HistogramBar, ...]
    width: float
    marks: tuple[HistogramMark, ...] = ()

    @classmethod
    def of(
        cls, label: Message | str, values: NDArray[np.float64], marks: Sequence[HistogramMark] = ()
    ) -> "HistogramPanel":
        """Bars at the values themselves where they are few, else over equal steps."""
        distinct, counts = np.unique(values, return_counts=True)
        width = float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0
        if len(distinct) > MOST_VALUES:
            counts, edges = np.histogram(values, STEPS)
            distinct, width = (edges[1:] + edges[:-1]) / 2, float(edges[1] - edges[0])
        bars = tuple(HistogramBar(float(x), int(n)) for x, n in zip(distinct.tolist(), counts.tolist()))
        return cls(label, bars, width, tuple(marks))


@dataclass(frozen=True, slots=True)
class HistogramChart:
    """Panels side by side, each with an axis of its own counts; `marked` says what the dashed lines are."""

    panels: tuple[HistogramPanel, ...]
    x: Message
    y: Message
    marked: Message | str = ""

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per bar, then per marked value."""
        rows: list[dict[str, Any]] = []
        for panel in self.panels:
            place = style.label_text(say, panel.label)
            rows += [{"place": place, "at": bar.at, "value": bar.n} for bar in panel.bars]
            rows += [
                {"place": place, "label": style.label_text(say, m.label), "at": m.at, "declared": True}
                for m in panel.marks
            ]
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        titles = [style.label_text(say, panel.label) for panel in self.panels]
        labels = curves.AxisLabels(say(self.x), say(self.y))
        key = []
        if any(panel.marks for panel in self.panels):
            key = [curves.LegendEntry(curves.line_sample(ABOVE), style.label_text(say, self.marked))]
        figure, _, places = curves.lay_out(titles, labels, key, ratio=0.62, gap=GAP)
        for i, (panel, place) in enumerate(zip(self.panels, places)):
            plot = style.panel(figure, place.left, place.top, place.width, place.height)
            self._bars(say, plot, panel, place, str(i))
        return figure

    def _bars(
        self, say: Catalogue, plot: "Axes", panel: HistogramPanel, place: curves.PanelPlace, name: str
    ) -> None:
        left = panel.bars[0].at - panel.width * 0.6
        right = panel.bars[-1].at + panel.width * 0.6
        tallest = max(bar.n for bar in panel.bars)
        rows = _rows(panel.marks, [style.label_text(say, m.label) for m in panel.marks], place, right - left)
        # The labels of marks stand above the bars, on as many lines as keep them apart.
        line = style.LINE_HEIGHT * style.SMALLEST
        room = (max(rows, default=-1) + 1) * line + (LINE_ROOM if rows else 0.0)
        top = tallest * 1.04 / (1 - room / place.height)
        plot.set(xlim=(left, right), ylim=(0, top))
        plot.spines["left"].set_visible(True)
        for k, bar in enumerate(panel.bars):
            wide = panel.width * FILLED
            (drawn,) = plot.bar(bar.at, bar.n, wide, color=style.BLUE, lw=0, zorder=1)
            drawn.set_gid(f"bar-{name}-{k}")
        for k, (mark, row) in enumerate(zip(panel.marks, rows)):
            up = top * (1 - (row + 0.5) * line / place.height)
            plot.plot(
                [mark.at, mark.at], [0, up - top * line / 2 / place.height], gid=f"at-{name}-{k}", **ABOVE
            )
            text = style.label_text(say, mark.label)
            how: dict[str, Any] = {"size": style.SMALLEST, "color": style.RUST, "ha": "center", "zorder": 3}
            half = style.width_of(text, style.SMALLEST) / 2 * (right - left) / place.width
            style.write(plot, min(max(mark.at, left + half), right - half), up, text, **how)

        def plain(value: float) -> str:
            return numbers.plain(say, round(value, 10))

        at = [bar.at for bar in panel.bars]
        spoken = (at, [plain(x) for x in at])
        apart = place.width / max(len(at), 1)
        fits = len(at) <= MOST_VALUES and all(style.width_of(t, style.TICK) + 1.5 < apart for t in spoken[1])
        even = len(at) < 3 or np.ptp(np.diff(at)) < 1e-9
        found = spoken if fits and even and len(at) < STEPS else ticks.linear(left, right, place.width, plain)
        plot.set_xticks(*found)
        counted = ticks.linear(0, tallest, place.height, plain, upright=True)
        whole = [(y, t) for y, t in zip(*counted) if y == int(y)]
        plot.set_yticks(*zip(*whole))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)


def _rows(
    marks: Sequence[HistogramMark], texts: Sequence[str], place: curves.PanelPlace, span: float
) -> list[int]:
    """On which line each label stands, so that none lies over another."""
    rows: list[int] = []
    for k, (mark, text) in enumerate(zip(marks, texts)):
        half = style.width_of(text, style.SMALLEST) / 2

        def near(other: int, mark: HistogramMark = mark, half: float = half) -> bool:
            apart = abs(marks[other].at - mark.at) * place.width / span
            return apart < half + style.width_of(texts[other], style.SMALLEST) / 2 + 2.0

        taken = {rows[j] for j in range(k) if near(j)}
        rows.append(next(row for row in range(k + 1) if row not in taken))
    return rows
