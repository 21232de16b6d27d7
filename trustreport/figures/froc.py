"""FROC curves: lesions found against false marks a case; candidates as strokes, readers as thin lines."""

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 6.0
ENDS = (0.0, 0.25, 0.5, 0.75, 1.0)
AIR = 1.04  # of the axis beyond the last false mark
POINT: dict[str, Any] = {"marker": "D", "ms": 4.2, "mec": style.PAPER, "mew": 0.6}
READER: dict[bool, dict[str, Any]] = {
    False: {"color": style.MUTE, "lw": 0.6, "ls": style.DASHED},
    True: {"color": style.BLUE, "lw": 0.6},
}
MEAN: dict[bool, dict[str, Any]] = {
    False: {"color": style.INK, "lw": 1.8, "ls": style.DASHED},
    True: {"color": style.BLUE, "lw": style.HEAVY},
}


@dataclass(frozen=True, slots=True)
class FrocLine:
    """One candidate: (false marks a case, sensitivity) from (0, 0), and estimates at rates of false marks."""

    label: Message | str
    points: curves.Points
    area: Estimate
    at: tuple[tuple[float, Estimate], ...] = ()


@dataclass(frozen=True, slots=True)
class FrocArm:
    """The readers of one arm, the mean of their curves, and the mean area under the weighted AFROC curve."""

    label: Message | str
    aided: bool
    readers: tuple[tuple[str, curves.Points], ...]
    mean: curves.Points
    area: Estimate


@dataclass(frozen=True, slots=True)
class FrocFigure:
    """Curves of one data set, or of one task in its arms. The axis of false marks ends at `most`."""

    lines: tuple[FrocLine, ...]
    arms: tuple[FrocArm, ...]
    most: float

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of a curve, then the estimates at rates of false marks."""
        rows: list[dict[str, Any]] = []
        curve, mean = say("figure.froc.curve"), say("figure.mean_label")
        every = [(style.label_text(say, line.label), "", line.points) for line in self.lines]
        for arm in self.arms:
            name = style.label_text(say, arm.label)
            every += [(reader, name, points) for reader, points in arm.readers]
            every.append((mean, name, arm.mean))
        for label, arm_name, points in every:
            own = {"label": label, "arm": arm_name} if arm_name else {"label": label}
            rows += [{**own, "place": curve, "value": y, "false_marks": x} for x, y in points]
        for line in self.lines:
            label = style.label_text(say, line.label)
            place = say("figure.froc.at")
            rows += [
                {
                    "label": label,
                    "place": place,
                    "value": e.value,
                    "low": e.low,
                    "high": e.high,
                    "false_marks": x,
                }
                for x, e in line.at
            ]
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        labels = curves.AxisLabels(say("figure.froc.x"), say("figure.froc.y"))
        figure, _, (place,) = curves.lay_out([""], labels, self._key(say), ratio=0.8, gap=GAP)
        plot = style.panel(figure, place.left, place.top, place.width, place.height)
        self._frame(say, plot, place.width)
        how: dict[str, Any] = {"clip_on": True, "solid_joinstyle": "miter"}
        for i, line in enumerate(self.lines):
            plot.plot(*zip(*line.points), gid=f"curve-{i}", zorder=2.6, **how, **self._stroke(i))
            self._estimates(say, plot, i, line)
        for a, arm in enumerate(self.arms):
            for k, (_, points) in enumerate(arm.readers):
                plot.plot(*zip(*points), gid=f"curve-{a}-{k}", zorder=2, **how, **READER[arm.aided])
            plot.plot(*zip(*arm.mean), gid=f"mean-{a}", zorder=2.6, **how, **MEAN[arm.aided])
        return figure

    def _stroke(self, i: int) -> dict[str, Any]:
        return curves.STROKES[i % len(curves.STROKES)]

    def _frame(self, say: Catalogue, plot: "Axes", width: float) -> None:
        plot.set(xlim=(0, self.most), ylim=(0, 1))
        plot.spines["left"].set_visible(True)
        at, texts = ticks.linear(0, self.most, width, lambda x: numbers.plain(say, x))
        plot.set_xticks(at, texts)
        shares = [say("figure.percent_tick", value=numbers.plain(say, 100 * end)) for end in ENDS]
        plot.set_yticks(ENDS, shares)
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)

    def _estimates(self, say: Catalogue, plot: "Axes", i: int, line: FrocLine) -> None:
        """The sensitivity at each rate; its interval where a single line leaves room for it."""
        colour = self._stroke(i)["color"]
        for k, (x, e) in enumerate(line.at):
            if x > self.most or not isfinite(e.value):
                continue
            if len(self.lines) == 1 and isfinite(e.low):
                ends = {"color": colour, "lw": style.LINE, "zorder": 2.8}
                plot.plot([x, x], [e.low, e.high], gid=f"interval-{i}-{k}", **ends)
            name = say("figure.froc.at_rate", rate=numbers.plain(say, x))
            said = numbers.of_mark(say, e, "percent", style.label_text(say, line.label), name)
            style.mark(plot, x, e.value, f"point-{i}-{k}", label=said, mfc=colour, **POINT)

    def _key(self, say: Catalogue) -> list[curves.LegendEntry]:
        """Each line with its area; then the estimates, or the readers of each arm."""
        entries = []
        for i, line in enumerate(self.lines):
            text = style.label_text(say, line.label) or say("figure.froc.curve")
            area = curves.area_text(say, line.area, "froc")
            entries.append(curves.LegendEntry(curves.stroke(i), text, (area,), leads=not i))
        if any(line.at for line in self.lines):
            key = "figure.froc.points_interval" if len(self.lines) == 1 else "figure.froc.points"
            level = next(e.level for line in self.lines for _, e in line.at)
            shown = numbers.plain(say, round(100 * level, 6))
            entries.append(
                curves.LegendEntry(curves.mark_sample({"mfc": style.TEAL, **POINT}), say(key, level=shown))
            )
        for arm in self.arms:
            text = say("figure.reader_roc.mean", arm=style.label_text(say, arm.label))
            area = curves.area_text(say, arm.area, "froc")
            entries.append(curves.LegendEntry(curves.line_sample(MEAN[arm.aided]), text, (area,), arm.aided))
        for arm in self.arms:
            name, n = style.label_text(say, arm.label), len(arm.readers)
            text = say("figure.reader_roc.readers", n=n, arm=name)
            entries.append(curves.LegendEntry(curves.line_sample(READER[arm.aided]), text))
        return entries
