"""Decision curves: net benefit over thresholds, against treating everybody and treating nobody."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trustreport.figures import curves, numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAP = 13.0
RATIO = 0.74
ASIDE = 1.3  # millimetres between the limits of two candidates at one threshold
BELOW_ZERO = 0.22  # room below zero, as a share of the largest net benefit
ALL: dict[str, Any] = {"color": style.MUTE, "lw": style.LINE, "ls": style.DASHED}
DECLARED: dict[str, Any] = {"marker": "o", "ms": 5.0, "mec": style.PAPER, "mew": 0.7}
NONE: dict[str, Any] = {"color": style.INK, "lw": style.THIN}


@dataclass(frozen=True, slots=True)
class BenefitPoint:
    """Net benefit at one threshold with its limits."""

    threshold: float
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """One candidate: net benefit at many thresholds, and at those that were declared."""

    label: Message | str
    points: tuple[BenefitPoint, ...]
    declared: tuple[BenefitPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionPanel:
    """One data set; `treat_all` is (threshold, net benefit) of acting on everybody."""

    label: Message | str
    lines: tuple[DecisionLine, ...]
    treat_all: curves.Points


@dataclass(frozen=True, slots=True)
class DecisionCurves:
    """A line with its band for each candidate, treat-all, treat-none, declared thresholds marked.

    What lies far below zero is cut off: there acting on nobody is better, however much worse the rest is.
    """

    panels: tuple[DecisionPanel, ...]
    level: float = 0.95

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per point of each line; those of treat-all last."""
        rows: list[dict[str, Any]] = []
        for panel in self.panels:
            place = style.label_text(say, panel.label)
            for line in panel.lines:
                name = style.label_text(say, line.label) or say("figure.decision_curve.device")
                for points, declared in ((line.points, False), (line.declared, True)):
                    rows += [
                        {
                            "label": name,
                            "place": place,
                            "threshold": p.threshold,
                            "value": p.value,
                            "low": p.low,
                            "high": p.high,
                            "declared": declared,
                        }
                        for p in points
                    ]
            label = say("figure.decision_curve.treat_all")
            rows += [
                {"label": label, "place": place, "threshold": t, "value": value}
                for t, value in panel.treat_all
            ]
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        titles = [style.label_text(say, panel.label) for panel in self.panels]
        ratio = 0.8 if len(titles) == 1 else RATIO
        labels = curves.AxisLabels(say("figure.decision_curve.x"), say("figure.decision_curve.y"))
        figure, _, places = curves.lay_out(titles, labels, self._key(say), ratio=ratio, gap=GAP)
        for i, (panel, place) in enumerate(zip(self.panels, places)):
            plot = style.panel(figure, place.left, place.top, place.width, place.height)
            least = self._frame(say, plot, panel, place)
            x0, x1 = plot.get_xlim()
            plot.axhline(0, zorder=1.5, gid=f"treat-none-{i}", **NONE)
            for part in curves.above(panel.treat_all, least):
                x, y = zip(*part)
                plot.plot(x, y, zorder=1.8, gid=f"treat-all-{i}", **ALL)
            for k, line in enumerate(panel.lines):
                aside = (k - (len(panel.lines) - 1) / 2) * ASIDE / place.width * (x1 - x0)
                said = [self._of_mark(say, panel, line, p) for p in line.declared]
                alone = len(panel.lines) == 1
                self._line(plot, line, f"{i}-{k}", least, said, aside=aside, alone=alone)
        return figure

    def _stroke(self, label: Message | str) -> int:
        """Which stroke a candidate has: that of its first appearance."""
        names = list(dict.fromkeys(str(line.label) for panel in self.panels for line in panel.lines))
        return names.index(str(label))

    def _frame(self, say: Catalogue, plot: "Axes", panel: DecisionPanel, place: curves.PanelPlace) -> float:
        """The axes; the lowest net benefit that they show."""
        x0, x1 = panel.treat_all[0][0], panel.treat_all[-1][0]
        drawn = [p for line in panel.lines for p in (*line.points, *line.declared)]
        most = max(0.01, panel.treat_all[0][1], *(p.value for p in drawn), *_within(drawn))
        low, high = -BELOW_ZERO * most, 1.06 * most
        plot.set(xlim=(x0, x1), ylim=(low, high))
        plot.spines["left"].set_visible(True)

        def percent(value: float) -> str:
            return say("figure.percent_tick", value=numbers.plain(say, round(100 * value, 8)))

        plot.set_xticks(*ticks.linear(x0, x1, place.width, percent))

        def upward(value: float) -> str:
            return numbers.plain(say, round(value, 10))

        plot.set_yticks(*ticks.linear(low, high, place.height, upward, upright=True))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        return low

    @staticmethod
    def _of_mark(say: Catalogue, panel: DecisionPanel, line: DecisionLine, p: BenefitPoint) -> str:
        """What the mark of a declared threshold says about itself."""
        at = say("figure.percent_tick", value=numbers.plain(say, round(100 * p.threshold, 8)))
        names = style.label_text(say, panel.label), style.label_text(say, line.label), at
        return numbers.of_mark(say, Estimate(p.value, p.low, p.high, 0), "number", *names)

    def _line(
        self,
        plot: "Axes",
        line: DecisionLine,
        name: str,
        least: float,
        labels: Sequence[str],
        *,
        aside: float,
        alone: bool,
    ) -> None:
        """A candidate; several in a panel have limits at the declared thresholds only, side by side."""
        how = curves.STROKES[self._stroke(line.label) % len(curves.STROKES)]
        most = plot.get_ylim()[1]
        if alone:
            x = [p.threshold for p in line.points]
            low, high = (
                [min(max(end, least), most) for end in ends]
                for ends in ([p.low for p in line.points], [p.high for p in line.points])
            )
            band = plot.fill_between(x, low, high, color=how["color"], alpha=0.14, lw=0, zorder=1)
            band.set_gid(f"band-{name}")
        for part in curves.above(tuple((p.threshold, p.value) for p in line.points), least):
            across, up = zip(*part)
            plot.plot(across, up, zorder=2, gid=f"curve-{name}", clip_on=False, **how)
        for k, (p, label) in enumerate(zip(line.declared, labels)):
            if not least <= p.value <= most:
                continue
            ends = [min(max(end, least), most) for end in (p.low, p.high)]
            at = p.threshold + aside
            thin: dict[str, Any] = {"color": how["color"], "lw": style.LINE, "zorder": 2.5, "clip_on": False}
            plot.plot([at, at], ends, gid=f"interval-{name}-{k}", **thin)
            mark = {**DECLARED, "mfc": how["color"], "label": label}
            style.mark(plot, at, p.value, f"declared-{name}-{k}", **mark)

    def _key(self, say: Catalogue) -> list[curves.LegendEntry]:
        lines: dict[str, DecisionLine] = {}
        for line in (line for panel in self.panels for line in panel.lines):
            lines.setdefault(str(line.label), line)
        bands = all(len(panel.lines) == 1 for panel in self.panels)
        level = numbers.plain(say, round(100 * self.level, 6))
        entries = []
        for i, line in enumerate(lines.values()):
            name = style.label_text(say, line.label) or say("figure.decision_curve.device")
            text = say("figure.decision_curve.line", name=name, level=level) if bands else name
            details = self._numbers(say, line) if len(self.panels) == 1 else ()
            entries.append(curves.LegendEntry(curves.stroke(i), text, details, leads=len(self.panels) == 1))
        if any(line.declared for panel in self.panels for line in panel.lines):
            text = say("figure.decision_curve.declared", level=level)
            entries.append(curves.LegendEntry(_declared, text))
        entries.append(curves.LegendEntry(curves.line_sample(ALL), say("figure.decision_curve.treat_all")))
        entries.append(curves.LegendEntry(curves.line_sample(NONE), say("figure.decision_curve.treat_none")))
        return entries

    def _numbers(self, say: Catalogue, line: DecisionLine) -> tuple[str, ...]:
        """Net benefit at the first declared thresholds."""
        found = []
        for p in line.declared[:4]:
            places = numbers.places_of(Estimate(p.value, p.low, p.high, 0), "number")
            value, low, high = (say.numbers.fixed(x, places) for x in (p.value, p.low, p.high))
            threshold = say("figure.percent_tick", value=numbers.plain(say, round(100 * p.threshold, 8)))
            text = say("figure.decision_curve.at", threshold=threshold, value=value, low=low, high=high)
            found.append(text)
        return tuple(found)


def _within(points: Sequence[BenefitPoint]) -> list[float]:
    """Upper limits, where the line itself lies above zero."""
    return [p.high for p in points if p.value > 0]


def _declared(sheet: "Axes", x: float, y: float) -> None:
    middle = x + curves.SAMPLE / 2 - 1.0
    sheet.plot([middle, middle], [y - 1.5, y + 1.5], color=style.TEAL, lw=style.LINE)
    sheet.plot([middle], [y], ls="none", mfc=style.TEAL, **DECLARED)
