"""ROC curves of readers without and with the aid: a thin line for each, a heavy one for their mean."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, style
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GAP = 6.0
READER: dict[bool, dict[str, Any]] = {
    False: {"color": style.MUTE, "lw": 0.6, "ls": style.DASHED},
    True: {"color": style.BLUE, "lw": 0.6},
}
# More readers than this are drawn paler, so that the means stay in sight.
FEW = 8
PALE: dict[bool, dict[str, Any]] = {
    False: {"color": style.FAINT, "lw": style.HAIR, "ls": style.DASHED},
    True: {"color": "#86a9cd", "lw": style.HAIR},
}
MEAN: dict[bool, dict[str, Any]] = {
    False: {"color": style.INK, "lw": 1.8, "ls": style.DASHED},
    True: {"color": style.BLUE, "lw": style.HEAVY},
}
POINT: dict[bool, dict[str, Any]] = {
    False: {"marker": "s", "ms": 3.8, **style.hollow(style.INK)},
    True: {"marker": "o", "ms": 4.2, "mfc": style.BLUE, "mec": style.PAPER, "mew": 0.6},
}


@dataclass(frozen=True, slots=True)
class ReaderCurve:
    """One reader in one arm: (1 - specificity, sensitivity) of scores and, where there are any, of decisions.

    `points` is empty for a reader without cases of both classes.
    """

    label: Message | str
    points: curves.Points
    decisions: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ArmCurves:
    """The readers of one arm, the mean of their curves, and their mean area."""

    label: Message | str
    aided: bool
    readers: tuple[ReaderCurve, ...]
    mean: curves.Points
    auc: Estimate


@dataclass(frozen=True, slots=True)
class ReaderRoc:
    """The arms over each other, the baseline first, against the diagonal on which scores tell nothing."""

    arms: tuple[ArmCurves, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of a curve, of a mean curve, and per reader's decisions."""
        rows: list[dict[str, Any]] = []
        for arm in self.arms:
            lines = [(style.label_text(say, r.label), "curve", r.points) for r in arm.readers]
            lines.append((say("figure.mean_label"), "curve", arm.mean))
            lines += [
                (style.label_text(say, r.label), "decisions", (r.decisions,))
                for r in arm.readers
                if r.decisions
            ]
            rows += [
                {
                    "label": label,
                    "arm": style.label_text(say, arm.label),
                    "place": say(f"figure.reader_roc.{place}"),
                    "value": y,
                    "false_alarms": x,
                }
                for label, place, points in lines
                for x, y in points
            ]
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        labels = curves.AxisLabels(say("figure.roc.x"), say("figure.roc.y"))
        figure, _, (place,) = curves.lay_out([""], labels, self._key(say), ratio=1.0, gap=GAP)
        plot = style.panel(figure, place.left, place.top, place.width, place.height)
        curves.unit_square(say, plot)
        for a, arm in enumerate(self.arms):
            how: dict[str, Any] = {"clip_on": False, "solid_joinstyle": "miter"}
            for k, reader in enumerate(arm.readers):
                if reader.points:
                    thin = {**how, **self._thin(arm)}
                    plot.plot(*zip(*reader.points), gid=f"curve-{a}-{k}", zorder=2, **thin)
            if arm.mean:
                plot.plot(*zip(*arm.mean), gid=f"mean-{a}", zorder=2.6, **how, **MEAN[arm.aided])
            for k, reader in enumerate(arm.readers):
                if reader.decisions:
                    style.mark(plot, *reader.decisions, f"point-{a}-{k}", **POINT[arm.aided])
        return figure

    def _thin(self, arm: ArmCurves) -> dict[str, Any]:
        most = max(len(arm.readers) for arm in self.arms)
        return (READER if most <= FEW else PALE)[arm.aided]

    def _key(self, say: Catalogue) -> list[curves.LegendEntry]:
        """The means with their areas, then the readers and their decisions, then the diagonal."""
        entries = []
        for arm in self.arms:
            text = say("figure.reader_roc.mean", arm=style.label_text(say, arm.label))
            area = curves.area_text(say, arm.auc, "roc")
            entries.append(curves.LegendEntry(curves.line_sample(MEAN[arm.aided]), text, (area,), arm.aided))
        for arm in self.arms:
            name, n = style.label_text(say, arm.label), sum(bool(reader.points) for reader in arm.readers)
            text = say("figure.reader_roc.readers", n=n, arm=name)
            entries.append(curves.LegendEntry(curves.line_sample(self._thin(arm)), text))
        for arm in self.arms:
            if any(reader.decisions for reader in arm.readers):
                text = say("figure.reader_roc.points", arm=style.label_text(say, arm.label))
                entries.append(curves.LegendEntry(curves.mark_sample({"mew": 1.1, **POINT[arm.aided]}), text))
        chance = {"color": style.FAINT, "lw": style.THIN}
        return [*entries, curves.LegendEntry(curves.line_sample(chance), say("figure.roc.chance"))]
