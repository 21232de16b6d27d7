"""Joyplot: the distribution of the confidence of each rater, a ridge each on one scale."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trustreport.figures import numbers, style, ticks
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Millimetres.
LABEL_WIDTH, NUMBER_WIDTH, GAP = 42.0, 12.0, 4.0
ABOVE, BELOW = 9.0, 14.0
OVERLAP = 1.7  # a ridge of a continuous scale may reach this many rows up
MOST_ROW, LEAST_ROW = 9.0, 4.4
USUAL_HEIGHT = 84.0  # of all rows, unless they are many


@dataclass(frozen=True, slots=True)
class Ridge:
    """One rater: the share of labels at each confidence (a step of the scale, or the middle of a bin)."""

    rater: Message | str
    shares: tuple[float, ...]
    mean: float
    n: int


@dataclass(frozen=True, slots=True)
class Joyplot:
    """A ridge per rater on one scale of heights; `at` (confidences) is common to all.

    With `discrete` the confidences are the steps of a scale and stand as bars; else they are the middles of
    bins of one width, and a ridge joins them.
    """

    rows: tuple[Ridge, ...]
    at: tuple[float, ...]
    discrete: bool = True

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per rater and confidence, and one for each mean."""
        rows: list[dict[str, Any]] = []
        for row in self.rows:
            label = style.label_text(say, row.rater)
            for at, share in zip(self.at, row.shares):
                rows.append({"label": label, "confidence": at, "value": share, "n": row.n})
            rows.append({"label": say("figure.joyplot.mean_of", rater=label), "value": row.mean, "n": row.n})
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        labels = [style.wrap(style.label_text(say, row.rater), LABEL_WIDTH, style.TICK) for row in self.rows]
        room = style.PAGE_HEIGHT - ABOVE - BELOW
        base = min(MOST_ROW, max(LEAST_ROW, USUAL_HEIGHT / len(self.rows)))
        size = style.TICK
        heights = [max(base, style.height_of(label, size) + 0.8) for label in labels]
        if sum(heights) > room:  # long names: smaller type, then shorter names
            size = style.SMALLEST
            labels = [self._first_line(say, row) for row in self.rows]
            heights = [base] * len(labels)
        first = heights[0] * (OVERLAP if not self.discrete else 1.0) - heights[0]
        top, height = ABOVE + first, sum(heights)
        head = style.width_of(say("figure.joyplot.rater"), style.SMALL)
        label_width = max(head, *(style.width_of(label, size) for label in labels))
        left = label_width + GAP
        width = style.TEXT_WIDTH - NUMBER_WIDTH - left
        figure, sheet = style.figure(style.TEXT_WIDTH, top + height + BELOW)
        plot = style.panel(figure, left, top, width, height)
        edge = self._edge()
        plot.set(xlim=(-edge, 1 + edge), ylim=(top + height, top))
        self._axes(say, plot, sheet, left, width)
        most = max((share for row in self.rows for share in row.shares), default=0.0) or 1.0
        bottom = top
        for i, (row, label, tall) in enumerate(zip(self.rows, labels, heights)):
            bottom += tall
            self._ridge(plot, row, i, bottom, min(heights) / most)
            style.write(sheet, 0, bottom - base / 2, label, size=size)
            mean = numbers.one(say, row.mean, 2, "number")
            style.write(sheet, style.TEXT_WIDTH, bottom - base / 2, mean, ha="right", size=size)
        return figure

    def _first_line(self, say: Catalogue, row: Ridge) -> str:
        """As much of a long name as one line holds."""
        lines = style.wrap(style.label_text(say, row.rater), LABEL_WIDTH - 4.0, style.SMALLEST).split("\n")
        return say("word.shortened", text=lines[0]) if len(lines) > 1 else lines[0]

    def _edge(self) -> float:
        """Room beyond 0 and 1 for half a bar."""
        return self._bar() / 2 + 0.01 if self.discrete else 0.01

    def _bar(self) -> float:
        """The width of a bar: most of the least step of the scale."""
        steps = [b - a for a, b in zip(self.at, self.at[1:])]
        return min(0.6 * min(steps, default=0.1), 0.08)

    def _ridge(self, plot: "Axes", row: Ridge, i: int, bottom: float, scale: float) -> None:
        """One rater's shares, drawn upward from the line that the row stands on; later rows lie in front."""
        order = 2 + i / (len(self.rows) + 1)
        x0, x1 = plot.get_xlim()
        plot.plot([x0, x1], [bottom, bottom], color=style.HAIRLINE, lw=style.HAIR, zorder=order)
        if self.discrete:
            for at, share in zip(self.at, row.shares):
                if share > 0:
                    half, up = self._bar() / 2, bottom - share * scale * 0.86
                    plot.fill(
                        [at - half, at - half, at + half, at + half],
                        [bottom, up, up, bottom],
                        color=style.BLUE,
                        alpha=0.75,
                        lw=0,
                        zorder=order,
                        gid=f"bar-{i}-{at:g}",
                    )
        else:
            tops = [bottom - share * scale * OVERLAP * 0.86 for share in row.shares]
            xs, ys = [self.at[0], *self.at, self.at[-1]], [bottom, *tops, bottom]
            plot.fill(xs, ys, color=style.TEAL_WASH, alpha=0.9, lw=0, zorder=order, clip_on=False)
            line = plot.plot(self.at, tops, color=style.BLUE, lw=style.THIN, zorder=order, clip_on=False)[0]
            line.set_gid(f"ridge-{i}")
        style.mark(
            plot, row.mean, bottom, f"mean-{i}", marker="o", ms=3.6, mfc=style.INK, mec=style.PAPER, mew=0.6
        )

    def _axes(self, say: Catalogue, plot: "Axes", sheet: "Axes", left: float, width: float) -> None:
        plot.set_xticks(*ticks.linear(0, 1, width, lambda x: numbers.plain(say, x)))
        plot.tick_params(axis="x", length=2, width=style.HAIR, color=style.MUTE)
        plot.set_xlabel(say("figure.joyplot.confidence"), size=style.TICK, labelpad=3)
        how: dict[str, Any] = {"size": style.SMALL, "color": style.MUTE, "va": "bottom"}
        style.write(sheet, 0, ABOVE - 3.0, say("figure.joyplot.rater"), **how)
        style.write(sheet, style.TEXT_WIDTH, ABOVE - 3.0, say("figure.joyplot.mean"), ha="right", **how)
        most = max((share for row in self.rows for share in row.shares), default=0.0)
        text = say("figure.joyplot.height", share=say.numbers.percent(most, 0))
        style.write(sheet, left, ABOVE - 3.0, text, **how)
