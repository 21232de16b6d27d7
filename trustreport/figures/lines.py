"""Lines over a range: several of one panel, with bands and marked places, and a line that users ask for."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 13.0
ASIDE = 1.3  # millimetres between the limits of two lines at one place
WIDEST = 2.6  # and between those of the first and the last
CLEAR = 1.5  # of a mark at an end of the axis from what is written beside it
MARK: dict[str, Any] = {"marker": "o", "ms": 5.0, "mec": style.PAPER, "mew": 0.7}
ASKED: dict[str, Any] = {"color": style.RUST, "lw": style.THIN, "ls": (0, (1.2, 1.6))}


@dataclass(frozen=True, slots=True)
class LinePoint:
    """A place on a line, with limits where there are any."""

    x: float
    y: float
    low: float = nan
    high: float = nan


@dataclass(frozen=True, slots=True)
class LineOver:
    """A line through points; points with limits of their own make its band. `marked` are declared places."""

    label: Message | str
    points: tuple[LinePoint, ...]
    marked: tuple[LinePoint, ...] = ()


@dataclass(frozen=True, slots=True)
class LinesPanel:
    """The lines of one data set or candidate."""

    label: Message | str
    lines: tuple[LineOver, ...]


@dataclass(frozen=True, slots=True)
class LinesChart:
    """Panels with one pair of axes; what lies below `y_range` is cut off.

    `asked` is a level that was declared beforehand, drawn across every panel, and `marked` says what the
    marks are. `percent` writes x as per cent.
    """

    panels: tuple[LinesPanel, ...]
    x: Message
    y: Message
    x_range: tuple[float, float]
    y_range: tuple[float, float] = (0.0, 1.0)
    marked: Message | str = ""
    asked: float = nan
    asked_label: Message | str = ""
    percent: bool = False

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of each line, then its marked places."""
        rows: list[dict[str, Any]] = []
        for panel in self.panels:
            for line in panel.lines:
                for points, declared in ((line.points, False), (line.marked, True)):
                    rows += [
                        {
                            "label": style.label_text(say, line.label),
                            "place": style.label_text(say, panel.label),
                            "at": p.x,
                            "value": p.y,
                            "low": p.low,
                            "high": p.high,
                            "declared": declared,
                        }
                        for p in points
                    ]
        if isfinite(self.asked):
            rows.append(
                {"label": style.label_text(say, self.asked_label), "value": self.asked, "declared": True}
            )
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        titles = [style.label_text(say, panel.label) for panel in self.panels]
        ratio = 0.8 if len(titles) == 1 else 0.74
        labels = curves.AxisLabels(say(self.x), say(self.y))
        figure, _, places = curves.lay_out(titles, labels, self._key(say), ratio=ratio, gap=GAP)
        for i, (panel, place) in enumerate(zip(self.panels, places)):
            plot = style.panel(figure, place.left, place.top, place.width, place.height)
            self._frame(say, plot, place, panel)
            if isfinite(self.asked):
                plot.axhline(self.asked, zorder=1.5, gid=f"asked-{i}", **ASKED)
            marked = [k for k, line in enumerate(panel.lines) if line.marked]
            step = min(ASIDE, WIDEST / max(len(marked) - 1, 1)) / place.width
            for k, line in enumerate(panel.lines):
                aside = (marked.index(k) - (len(marked) - 1) / 2) * step if k in marked else 0.0
                said = [self._of_mark(say, panel, line, p) for p in line.marked]
                self._line(plot, line, f"{i}-{k}", aside * (self.x_range[1] - self.x_range[0]), said)
        return figure

    def _frame(self, say: Catalogue, plot: "Axes", place: curves.PanelPlace, panel: LinesPanel) -> None:
        (left, right), marked = self.x_range, [p.x for line in panel.lines for p in line.marked]
        room = (WIDEST / 2 + CLEAR) * (right - left) / place.width
        if marked:  # those at an end keep clear of the labels of the axis
            left, right = min(left, min(marked) - room), max(right, max(marked) + room)
        plot.set(xlim=(left, right), ylim=self.y_range)
        plot.spines["left"].set_visible(True)

        def across(value: float) -> str:
            if self.percent:
                return say("figure.percent_tick", value=numbers.plain(say, round(100 * value, 8)))
            return numbers.plain(say, round(value, 10))

        def upward(value: float) -> str:
            return numbers.plain(say, round(value, 10))

        plot.set_xticks(*ticks.linear(*self.x_range, place.width, across))
        plot.set_yticks(*ticks.linear(*self.y_range, place.height, upward, upright=True))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        if self.y_range[0] < 0:
            plot.axhline(0, color=style.HAIRLINE, lw=style.HAIR, zorder=0)

    def _stroke(self, label: Message | str) -> dict[str, Any]:
        """That of the line's first appearance."""
        names = list(dict.fromkeys(str(line.label) for panel in self.panels for line in panel.lines))
        return curves.STROKES[names.index(str(label)) % len(curves.STROKES)]

    def _of_mark(self, say: Catalogue, panel: LinesPanel, line: LineOver, p: LinePoint) -> str:
        """What a marked place says about itself."""
        at = say.numbers.percent(p.x, 1) if self.percent else numbers.plain(say, round(p.x, 4))
        names = (style.label_text(say, panel.label), style.label_text(say, line.label), at)
        return numbers.of_mark(say, Estimate(p.y, p.low, p.high, 0), "number", *names)

    def _line(self, plot: "Axes", line: LineOver, name: str, aside: float, labels: Sequence[str]) -> None:
        how, (least, most) = self._stroke(line.label), self.y_range

        def inside(value: float) -> float:
            return min(max(value, least), most)

        band = [p for p in line.points if isfinite(p.low) and isfinite(p.high)]
        if len(band) > 1:
            x, low, high = zip(*((p.x, inside(p.low), inside(p.high)) for p in band))
            filled = plot.fill_between(x, low, high, color=how["color"], alpha=0.12, lw=0, zorder=1)
            filled.set_gid(f"band-{name}")
        drawn = tuple((p.x, min(p.y, most)) for p in line.points if isfinite(p.y))
        for part in curves.above(drawn, least):
            across, up = zip(*part)
            plot.plot(across, up, zorder=2, gid=f"line-{name}", clip_on=False, **how)
        for k, (p, label) in enumerate(zip(line.marked, labels)):
            if not (isfinite(p.y) and least <= p.y <= most):
                continue
            if isfinite(p.low) and isfinite(p.high):
                at, ends = [p.x + aside] * 2, [inside(p.low), inside(p.high)]
                thin: dict[str, Any] = {"color": how["color"], "lw": style.LINE, "zorder": 2.5}
                plot.plot(at, ends, gid=f"interval-{name}-{k}", clip_on=False, **thin)
            mark = {**MARK, "mfc": how["color"], "label": label}
            style.mark(plot, p.x + aside, p.y, f"marked-{name}-{k}", **mark)

    def _key(self, say: Catalogue) -> list[curves.LegendEntry]:
        labels = list(dict.fromkeys(str(line.label) for panel in self.panels for line in panel.lines))
        by_name = {str(line.label): line.label for panel in self.panels for line in panel.lines}
        entries = [
            curves.LegendEntry(curves.stroke(i), style.label_text(say, by_name[name]))
            for i, name in enumerate(labels)
        ]
        if self.marked and any(line.marked for panel in self.panels for line in panel.lines):
            entries.append(curves.LegendEntry(_marked, style.label_text(say, self.marked)))
        if isfinite(self.asked):
            entries.append(curves.LegendEntry(_declared_sample, style.label_text(say, self.asked_label)))
        return entries


def _marked(sheet: "Axes", x: float, y: float) -> None:
    middle = x + curves.SAMPLE / 2 - 1.0
    sheet.plot([middle, middle], [y - 1.5, y + 1.5], color=style.TEAL, lw=style.LINE)
    sheet.plot([middle], [y], ls="none", mfc=style.TEAL, **MARK)


def _declared_sample(sheet: "Axes", x: float, y: float) -> None:
    sheet.plot([x, x + curves.SAMPLE - 2.0], [y, y], **ASKED)
