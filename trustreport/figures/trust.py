"""The trust diagram: what readers do with wrong advice (left) and with right advice (right)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, isfinite, isnan
from typing import Any

from trustreport.figures import flow, numbers, panels, style
from trustreport.figures.flow import Advice, TrustFlow
from trustreport.figures.layout import Box, mark_box, overlap
from trustreport.figures.panels import Chart, PlotPanel, PlotSheet
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.vocabulary.messages import Catalogue, Message

# Millimetres.
WIDE, TALL = 60.0, 44.0
LEFTS: dict[Advice, float] = {"wrong": 17.5, "right": 104.5}
TOP = 7.0
FLOW = flow.HEIGHT + 5.0
KEY = 4.4  # a line of the key
SAME_PLACE = 0.6
APART = 0.8  # millimetres between two labels beside each other
NAME_WIDTH = 24.0
EDGE = 1.8  # from the panel's edge to a mark that has a place on one axis only
INTERVALS_UP_TO = 4  # sets that are drawn with their intervals
READERS_UP_TO = 12  # readers that are drawn with names and thin intervals

BOTH_BELOW = "#f5e0da"  # where both shares lie below one half
READER_FILL = (0.12, 0.37, 0.62, 0.22)
SMALLEST_MARK, LARGEST_MARK = 2.8, 8.0  # points across
# The marks of what leads, of what has a place on one axis only, and of a reader or a set.
GLYPHS: dict[str, dict[str, Any]] = {
    "leads": {"marker": "D", "ms": 5.8, **style.filled(style.TEAL), "mew": 1.0, "zorder": 3.5},
    "edge": {"marker": "o", "ms": 3.6, "zorder": 3, **style.pale()},
    "one": {"marker": "o", "ms": 5.2, "mfc": READER_FILL, "mec": style.BLUE, "mew": 0.9, "zorder": 3},
}


@dataclass(frozen=True, slots=True)
class TrustPoint:
    """A reader, a published set, or all readings together (`leads`): the four shares right afterwards.

    `rbod` wrong before, `rsr` right before, after wrong advice; `rair` and `rbt` the same after right advice.
    """

    label: Message | str
    rbod: Estimate
    rsr: Estimate
    rair: Estimate
    rbt: Estimate
    leads: bool = False

    def place(self, panel: Advice) -> tuple[Estimate, Estimate]:
        """What lies across and what lies upward in a panel."""
        return (self.rbod, self.rsr) if panel == "wrong" else (self.rair, self.rbt)


@dataclass(frozen=True, slots=True)
class TrustDiagram(Chart):
    """Across: right afterwards, of decisions wrong before; upward: the same of decisions right before.

    Shares below one half have names: automation bias and complacency after wrong advice, aversion and
    conservatism after right advice. Readers are light discs, their areas the numbers of readings; what leads
    is a diamond with its intervals. With `named` the points are sets, with their names beside them where
    there is room. A `flow` stands above the panels.
    """

    points: tuple[TrustPoint, ...]
    named: bool = False
    flow: TrustFlow | None = None

    @property
    def _words(self) -> str:
        return self.flow.words if self.flow else "flow"

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per mark and panel."""
        rows = []
        for panel in LEFTS:
            for point in self.points:
                row: dict[str, Any] = {
                    "label": style.label(say, point.label),
                    "advice": say(f"figure.trust.advice_{panel}"),
                }
                for name, e in zip(("wrong_before", "right_before"), point.place(panel)):
                    row |= {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high, f"{name}_n": e.n}
                rows.append(row | {"leads": point.leads})
            rows += self.flow.values(say, panel) if self.flow else []
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        led = any(point.leads for point in self.points)
        top = TOP + (FLOW if self.flow else 0.0)
        bottom = top + TALL + 12.5
        key_top = bottom + (9.5 if led else 0.0)
        # A line for marks without their names: which those are shows only when the panels are drawn.
        key = self._entries(say)
        widths = [(4.2 if glyph else 0.0) + style.width_of(text, style.TICK) for glyph, text in key]
        places = style.flowed(widths, 6.0, start=LEFTS["wrong"])
        lines = places[-1][0] + 1 if places else 1
        sheet = PlotSheet(key_top + KEY * (lines + self.named) + 2.0)
        unnamed = 0
        for panel in LEFTS:
            title = say(f"figure.trust.advice_{panel}")
            sheet.write(LEFTS[panel], 2.2, title, weight=style.SEMIBOLD)
            if self.flow:
                self.flow.draw(say, sheet, panel, LEFTS[panel], 5.4, WIDE)
            plot = sheet.panel(LEFTS[panel], top, WIDE, TALL)
            self._frame(say, plot, panel)
            left_out = self._marks(say, plot, panel)
            unnamed += left_out if self.named else 0
            if led:
                self._write_numbers(say, sheet, panel, bottom)
        if unnamed:
            key.append(("", say("figure.trust.unnamed", n=unnamed)))
            places.append((lines, LEFTS["wrong"]))
        for (glyph, text), (line, x) in zip(key, places):
            y = key_top + 2.5 + KEY * line
            if glyph:
                sheet.plot([x + 1.2], [y], ls="none", clip_on=False, **GLYPHS[glyph])
            sheet.write(x + (4.2 if glyph else 0.0), y, text, color=style.MUTE, **style.AXIS)
        return sheet

    def _frame(self, say: Catalogue, plot: PlotPanel, panel: Advice) -> None:
        """Quadrants and axes."""
        plot.x_axis((0, 1))
        plot.y_axis((0, 1))
        quadrants = (
            ("both-right", 0.5, 0.5, style.BLUE_WASH),
            ("wrong-stays", 0.0, 0.5, style.RUST_WASH),
            ("right-lost", 0.5, 0.0, style.RUST_WASH),
            ("both-lost", 0.0, 0.0, BOTH_BELOW),
        )
        for name, x, y, colour in quadrants:
            corners = [x, x + 0.5, x + 0.5, x], [y, y, y + 0.5, y + 0.5]
            plot.axes.fill(*corners, color=colour, lw=0, zorder=0, gid=f"{panel}-{name}")
        plot.plot([0.5, 0.5], [0, 1], color=style.PAPER, lw=style.LINE, zorder=1)
        plot.plot([0, 1], [0.5, 0.5], color=style.PAPER, lw=style.LINE, zorder=1)
        # Room between the axis and its numbers for marks at the edge.
        plot.ticks(panels.rates(say), panels.rates(say), pad=8)
        across, upward = (say(f"figure.trust.{self._words}.{axis}") for axis in ("x", "y"))
        plot.axes.set_xlabel(across, size=style.TICK, labelpad=2)
        plot.axes.set_ylabel(upward, size=style.TICK)
        plot.axes.yaxis.set_label_coords(-(LEFTS["wrong"] - 3.2) / WIDE, 0.5)

    def _marks(self, say: Catalogue, plot: PlotPanel, panel: Advice) -> int:
        """The points of a panel; how many names found no room."""
        places: list[tuple[float, float, list[str]]] = []
        sizes = self._sizes(panel)
        reasons: list[Note] = []
        for i, point in enumerate(self.points):
            across, upward = point.place(panel)
            if isnan(across.value) and isnan(upward.value):
                reasons.append(across.note if across.note == upward.note else upward.note)
                continue
            x = -EDGE / WIDE if isnan(across.value) else across.value
            y = -EDGE / TALL if isnan(upward.value) else upward.value
            if point.leads or self._crossed:
                line: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN if self.named else style.HAIR}
                if point.leads:
                    line = {"color": style.TEAL, "lw": style.HEAVY * 0.75}
                line |= {"zorder": 2.6, "clip_on": False}
                plot.interval(across.low, across.high, y, f"interval-x-{panel}-{i}", **line)
                plot.interval(upward.low, upward.high, x, f"interval-y-{panel}-{i}", upright=True, **line)
            edge = isnan(across.value) or isnan(upward.value)
            axes = ("y", upward), ("x", across)
            said = [numbers.of_mark(say, e, "percent", self._axis_name(say, panel, axis)) for axis, e in axes]
            how = dict(GLYPHS["leads" if point.leads else "edge" if edge else "one"])
            if not point.leads and not edge:
                how["ms"] = sizes[i]
            label = say("figure.mark", name=style.label(say, point.label), number=say.between.join(said))
            plot.mark(x, y, f"mark-{panel}-{i}", label=label, **how)
            if not point.leads:
                _gather(places, x * WIDE, y * TALL, style.label(say, point.label))
        if not places and len(reasons) == len(self.points) and reasons:
            text = style.wrap(say(reasons[0]), WIDE - 8.0, style.TICK)
            muted: dict[str, Any] = {"color": style.MUTE, "ha": "center", **style.AXIS}
            plot.write(0.5, 0.5, text, multialignment="center", zorder=4, **muted)
        texts = [(x, y, self._mark_label(say, names)) for x, y, names in places]
        crosses = [cross for p in self.points if p.leads for cross in _cross(*p.place(panel))]
        thin = [cross for p in self.points if self._crossed for cross in _cross(*p.place(panel))]
        marks = [mark_box((x, y), 1.4) for x, y, _ in places]
        taken = _write_quadrants(say, plot, panel, [*marks, *crosses, *thin])
        return _write_labels(plot, texts, [*crosses, *taken], crossed=self._crossed)

    @property
    def _crossed(self) -> bool:
        """Whether every point has its intervals."""
        others = sum(not point.leads for point in self.points)
        return others <= (INTERVALS_UP_TO if self.named else READERS_UP_TO)

    def _sizes(self, panel: Advice) -> list[float]:
        """How wide the mark of each point is: its area goes with its readings, in both panels alike."""
        most = max(self._readings(), default=0)
        n = [sum(e.n for e in point.place(panel)) for point in self.points]
        return [max(LARGEST_MARK * (k / most) ** 0.5, SMALLEST_MARK) if most else SMALLEST_MARK for k in n]

    def _readings(self) -> list[int]:
        """The readings behind each mark of either panel."""
        found = [sum(e.n for e in p.place(panel)) for p in self.points if not p.leads for panel in LEFTS]
        return [n for n in found if n]

    def _mark_label(self, say: Catalogue, names: list[str]) -> str:
        """What stands beside a mark: the names of the sets, or of readers if few, else how many lie there."""
        if not (self.named or self._crossed):
            return say("figure.benefit.times", n=len(names)) if len(names) > 1 else ""
        text = say.listed(names)
        first = style.wrap(text, NAME_WIDTH, style.SMALL).split("\n")[0]
        return text if first == text else say("word.shortened", text=first)

    def _write_numbers(self, say: Catalogue, sheet: PlotSheet, panel: Advice, y: float) -> None:
        """The leading shares of a panel in figures."""
        point = next(p for p in self.points if p.leads)
        for line, (axis, e) in enumerate(zip(("y", "x"), reversed(point.place(panel)))):
            number = numbers.estimate(say, e, "percent")
            name = self._axis_name(say, panel, axis)
            text = say("figure.trust.number", measure=name, number=number)
            sheet.write(LEFTS[panel], y + 2.2 + 4.0 * line, text, color=style.TEAL, **style.AXIS)

    def _axis_name(self, say: Catalogue, panel: Advice, axis: str) -> str:
        """The measure of an axis of a panel."""
        code = say(f"figure.trust.{panel}.{axis}_code")
        return say(f"figure.trust.{self._words}.{axis}_name", code=code)

    def _entries(self, say: Catalogue) -> list[tuple[str, str]]:
        """What the marks are: a glyph and its text each."""
        kind = "set" if self.named else "reader"
        n = sum(not point.leads for point in self.points)
        behind = self._readings() or [0]
        low, high = min(behind), max(behind)
        readings = say(f"figure.trust.{'readings' if low < high else 'readings_each'}", n=high, low=low)
        entries = [("one", say(f"figure.trust.{kind}", n=n, readings=readings))] if n else []
        led = [p for p in self.points if p.leads]
        if led:
            entries.append(("leads", say("figure.trust.pooled", level=numbers.level(say, led[0].rsr))))
        if any(isnan(a.value) != isnan(b.value) for p in self.points for a, b in map(p.place, LEFTS)):
            entries.append(("edge", say("figure.trust.edge")))
        return entries


def _write_quadrants(say: Catalogue, plot: PlotPanel, panel: Advice, marks: Sequence[Box]) -> list[Box]:
    """What each quadrant stands for, inside it where fewest marks are; the boxes that the words take."""
    taken = []
    for name, x, ys, colour in (
        ("good", 0.75, (0.96, 0.54, 0.75), style.BLUE),
        ("x_below", 0.25, (0.96, 0.54, 0.75), style.RUST),
        ("y_below", 0.75, (0.04, 0.46, 0.25), style.RUST),
        ("both_below", 0.25, (0.04, 0.46, 0.25), style.RUST),
    ):
        text = style.wrap(say(f"figure.trust.{panel}.{name}"), WIDE / 2 - 2.0, style.SMALL)
        wide, tall = style.width_of(text, style.SMALL), style.height_of(text, style.SMALL)

        def box(y: float, x: float = x, wide: float = wide, tall: float = tall) -> Box:
            middle = min(max(y * TALL, tall / 2 + 0.8), TALL - tall / 2 - 0.8)
            return x * WIDE - wide / 2, x * WIDE + wide / 2, middle - tall / 2, middle + tall / 2

        best = min((box(y) for y in ys), key=lambda found: sum(overlap(found, other) for other in marks))
        how: dict[str, Any] = {"size": style.SMALL, "color": colour, "ha": "center", "zorder": 1.5}
        plot.write(x, (best[2] + best[3]) / 2 / TALL, text, multialignment="center", **how)
        taken.append(best)
    return taken


def _gather(places: list[tuple[float, float, list[str]]], x: float, y: float, label: str) -> None:
    """Add a mark to those that lie in the same place, or as a place of its own."""
    for a, b, labels in places:
        if hypot(a - x, b - y) < SAME_PLACE:
            labels.append(label)
            return
    places.append((x, y, [label]))


def _cross(across: Estimate, upward: Estimate) -> list[Box]:
    """The boxes, in millimetres, of a mark that leads and of its two intervals."""
    x, y = across.value * WIDE, upward.value * TALL
    if not isfinite(x + y):
        return []
    boxes = [mark_box((x, y), 1.2)]
    if isfinite(across.high - across.low):
        boxes.append((across.low * WIDE, across.high * WIDE, y - 0.4, y + 0.4))
    if isfinite(upward.high - upward.low):
        boxes.append((x - 0.4, x + 0.4, upward.low * TALL, upward.high * TALL))
    return boxes


def _write_labels(
    plot: PlotPanel, texts: Sequence[tuple[float, float, str]], also: Sequence[Box], *, crossed: bool
) -> int:
    """Texts beside their marks where nothing else is, in millimetres; how many found no room."""
    taken = [*(mark_box((x, y), 1.2) for x, y, _ in texts), *also]
    left_out = 0
    for x, y, text in texts:
        if not text:
            continue
        width, tall = style.width_of(text, style.SMALL), style.height_of(text, style.SMALL)
        shifts = [
            (dx, dy)
            for dy in (0.0, 1.8, -1.8, 3.2, -3.2)
            for dx in (1.8, -1.8 - width, -width / 2)
            if dy or dx > 0
        ] + [(-1.8 - width, 0.0)]
        if crossed:  # no label on the lines of its own mark
            shifts = [(dx, dy) for dy in (1.9, -1.9, 3.2, -3.2) for dx in (0.6, -0.6 - width)]
        boxes = [(x + dx, x + dx + width, y + dy - tall / 2, y + dy + tall / 2) for dx, dy in shifts]
        free = [b for b in boxes if _inside(b) and not any(overlap(b, other) for other in taken)]
        if free:
            box = free[0]
            taken.append((box[0] - APART, box[1] + APART, box[2], box[3]))  # two names are no one word
            plot.write(box[0] / WIDE, (box[2] + box[3]) / 2 / TALL, text, size=style.SMALL, zorder=4)
        else:
            left_out += 1
    return left_out


def _inside(box: Box) -> bool:
    return box[0] > -0.2 and box[1] < WIDE and box[2] > 0.2 and box[3] < TALL + 1.0
