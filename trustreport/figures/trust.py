"""The trust diagram: what readers do with wrong advice (left) and with right advice (right)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, isfinite, isnan
from typing import TYPE_CHECKING, Any, Literal

from trustreport.estimate import Estimate
from trustreport.figures import numbers, style
from trustreport.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Panel = Literal["wrong", "right"]

# Millimetres.
SIDE = 60.0
LEFTS: dict[Panel, float] = {"wrong": 17.5, "right": 104.5}
TOP = 11.0
SAME_PLACE = 0.6
NAME_WIDTH = 24.0
EDGE = 1.8  # from the panel's edge to a mark that has a place on one axis only
INTERVALS_UP_TO = 4  # sets that are drawn with their intervals

BOTH_BELOW = "#f5e0da"  # where both shares lie below one half
READER_FILL = (0.12, 0.37, 0.62, 0.22)


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

    def place(self, panel: Panel) -> tuple[Estimate, Estimate]:
        """What lies across and what lies upward in a panel."""
        return (self.rbod, self.rsr) if panel == "wrong" else (self.rair, self.rbt)


@dataclass(frozen=True, slots=True)
class TrustDiagram:
    """Across: right afterwards, of decisions wrong before; upward: the same of decisions right before.

    Shares below one half have names: automation bias and complacency after wrong advice, aversion and
    conservatism after right advice. Readers are light discs, what leads is a diamond with its intervals. With
    `named` the points are sets, with their names beside them where there is room.
    """

    points: tuple[TrustPoint, ...]
    named: bool = False

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per mark and panel."""
        rows = []
        for panel in LEFTS:
            for point in self.points:
                row: dict[str, Any] = {
                    "label": style.said(say, point.label),
                    "advice": say(f"figure.trust.advice_{panel}"),
                }
                for name, e in zip(("wrong_before", "right_before"), point.place(panel)):
                    row |= {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high, f"{name}_n": e.n}
                rows.append(row | {"leads": point.leads})
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        led = any(point.leads for point in self.points)
        bottom = TOP + SIDE + 12.5
        key_top = bottom + (9.5 if led else 0.0)
        figure, sheet = style.figure(style.TEXT_WIDTH, key_top + 6.0)
        at_edge = unnamed = 0
        for panel in LEFTS:
            plot = style.panel(figure, LEFTS[panel], TOP, SIDE, SIDE)
            self._frame(say, sheet, plot, panel)
            edge, left_out = self._marks(say, plot, panel)
            at_edge, unnamed = at_edge + edge, unnamed + (left_out if self.named else 0)
            if led:
                self._write_numbers(say, sheet, panel, bottom)
        self._write_key(say, sheet, key_top + 2.5, at_edge=bool(at_edge), unnamed=unnamed)
        return figure

    def _frame(self, say: Catalogue, sheet: "Axes", plot: "Axes", panel: Panel) -> None:
        """Quadrants, their names outside the panel, and the axes."""
        plot.set(xlim=(0, 1), ylim=(0, 1))
        quadrants = (
            ("both-right", 0.5, 0.5, style.BLUE_WASH),
            ("wrong-stays", 0.0, 0.5, style.RUST_WASH),
            ("right-lost", 0.5, 0.0, style.RUST_WASH),
            ("both-lost", 0.0, 0.0, BOTH_BELOW),
        )
        for name, x, y, colour in quadrants:
            across, upward = [x, x + 0.5, x + 0.5, x], [y, y, y + 0.5, y + 0.5]
            plot.fill(across, upward, color=colour, lw=0, zorder=0, gid=f"{panel}-{name}")
        plot.plot([0.5, 0.5], [0, 1], color=style.PAPER, lw=style.LINE, zorder=1)
        plot.plot([0, 1], [0.5, 0.5], color=style.PAPER, lw=style.LINE, zorder=1)
        shares = (0.0, 0.25, 0.5, 0.75, 1.0)
        labels = [say("figure.percent_tick", value=numbers.plain(say, 100 * share)) for share in shares]
        plot.set_xticks(shares, labels)
        plot.set_yticks(shares, labels)
        # Room between the axis and its numbers for marks at the edge.
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE, pad=8)
        plot.spines["left"].set_visible(True)
        across_name, upward_name = (say(f"figure.trust.{panel}.{axis}") for axis in ("x", "y"))
        plot.set_xlabel(across_name, size=style.TICK, labelpad=2)
        plot.set_ylabel(upward_name, size=style.TICK)
        plot.yaxis.set_label_coords(-(LEFTS["wrong"] - 3.2) / SIDE, 0.5)

        left, right = LEFTS[panel], LEFTS[panel] + SIDE
        title = say(f"figure.trust.advice_{panel}")
        style.write(sheet, left, 2.2, title, weight=style.SEMIBOLD)
        bias = {"size": style.SMALL, "color": style.RUST, "ha": "center"}
        style.write(sheet, left + SIDE / 4, TOP - 2.6, say(f"figure.trust.{panel}.x_below"), **bias)
        text = say(f"figure.trust.{panel}.y_below")
        style.write(sheet, right + 2.2, TOP + SIDE * 0.75, text, rotation=270, **bias)

    def _marks(self, say: Catalogue, plot: "Axes", panel: Panel) -> tuple[int, int]:
        """The points of a panel; how many lie at its edge, and how many names found no room."""
        places: list[tuple[float, float, list[str]]] = []
        at_edge = 0
        reasons: list[str] = []
        for i, point in enumerate(self.points):
            across, upward = point.place(panel)
            if isnan(across.value) and isnan(upward.value):
                reasons.append(across.note if across.note == upward.note else upward.note)
                continue
            one = isnan(across.value) or isnan(upward.value)
            at_edge += one
            x = -EDGE / SIDE if isnan(across.value) else across.value
            y = -EDGE / SIDE if isnan(upward.value) else upward.value
            few = self.named and len(self.points) <= INTERVALS_UP_TO
            if point.leads or few:
                self._interval(plot, across, upward, (x, y), f"{panel}-{i}", leads=point.leads)
            kind = "leads" if point.leads else "edge" if one else "one"
            _glyph(plot, x, y, kind, f"mark-{panel}-{i}", self._of_mark(say, point, panel))
            if not point.leads:
                _gather(places, x * SIDE, y * SIDE, style.said(say, point.label))
        if not places and len(reasons) == len(self.points) and reasons:
            middle = style.wrap(reasons[0], SIDE - 8.0, style.TICK)
            how: dict[str, Any] = {"size": style.TICK, "color": style.MUTE, "ha": "center"}
            style.write(plot, 0.5, 0.5, middle, multialignment="center", zorder=4, **how)
        texts = [(x, y, self._beside(say, names)) for x, y, names in places]
        crosses = [cross for p in self.points if p.leads for cross in _cross(*p.place(panel))]
        return at_edge, _write_beside(plot, texts, crosses)

    @staticmethod
    def _of_mark(say: Catalogue, point: TrustPoint, panel: Panel) -> str:
        """What lies across and what lies upward, in figures."""
        texts = [
            numbers.of_mark(say, e, "percent", say(f"figure.trust.{panel}.{axis}_name"))
            for axis, e in zip(("x", "y"), point.place(panel))
        ]
        return say("figure.mark", name=style.said(say, point.label), number="; ".join(texts))

    def _beside(self, say: Catalogue, names: list[str]) -> str:
        """What stands beside a mark: the names of the sets, or how many readers lie there."""
        if not self.named:
            return say("figure.benefit.times", n=len(names)) if len(names) > 1 else ""
        text = say.listed(names)
        first = style.wrap(text, NAME_WIDTH, style.SMALL).split("\n")[0]
        return text if first == text else say("word.shortened", text=first)

    def _interval(
        self,
        plot: "Axes",
        across: Estimate,
        upward: Estimate,
        at: tuple[float, float],
        name: str,
        *,
        leads: bool,
    ) -> None:
        colour = style.TEAL if leads else style.FAINT
        line = style.HEAVY * 0.75 if leads else style.THIN
        how: dict[str, Any] = {"color": colour, "lw": line, "zorder": 2.6, "clip_on": False}
        if isfinite(across.low) and isfinite(across.high):
            plot.plot([across.low, across.high], [at[1]] * 2, gid=f"interval-x-{name}", **how)
        if isfinite(upward.low) and isfinite(upward.high):
            plot.plot([at[0]] * 2, [upward.low, upward.high], gid=f"interval-y-{name}", **how)

    def _write_numbers(self, say: Catalogue, sheet: "Axes", panel: Panel, y: float) -> None:
        """The leading shares of a panel in figures."""
        point = next(p for p in self.points if p.leads)
        for line, (axis, e) in enumerate(zip(("y", "x"), reversed(point.place(panel)))):
            places = numbers.places_of([e], "percent")
            number = numbers.estimate(say, e, "percent", places)
            text = say("figure.trust.number", measure=say(f"figure.trust.{panel}.{axis}_name"), number=number)
            style.write(sheet, LEFTS[panel], y + 2.2 + 4.0 * line, text, size=style.TICK, color=style.TEAL)

    def _write_key(self, say: Catalogue, sheet: "Axes", y: float, *, at_edge: bool, unnamed: int) -> None:
        kind = "set" if self.named else "reader"
        n = sum(not point.leads for point in self.points)
        entries = [("one", say(f"figure.trust.{kind}", n=n))] if n else []
        led = [p for p in self.points if p.leads]
        if led:
            level = numbers.plain(say, round(100 * led[0].rsr.level, 6))
            entries.append(("leads", say("figure.trust.pooled", level=level)))
        if at_edge:
            entries.append(("edge", say("figure.trust.edge")))
        if unnamed:
            entries.append(("", say("figure.trust.unnamed", n=unnamed)))
        x = LEFTS["wrong"]
        for glyph, text in entries:
            if glyph:
                _glyph(sheet, x + 1.2, y, glyph, None)
                x += 4.2
            style.write(sheet, x, y, text, size=style.TICK, color=style.MUTE)
            x += style.width_of(text, style.TICK) + 6.0


def _glyph(axes: "Axes", x: float, y: float, kind: str, name: str | None, label: str = "") -> None:
    how: dict[str, Any] = {
        "leads": {"marker": "D", "ms": 5.8, "mfc": style.TEAL, "mec": style.TEAL, "zorder": 3.5},
        "edge": {"marker": "o", "ms": 3.2, "mfc": style.PAPER, "mec": style.BLUE, "mew": 0.9, "zorder": 3},
        "one": {"marker": "o", "ms": 5.2, "mfc": READER_FILL, "mec": style.BLUE, "mew": 0.9, "zorder": 3},
    }[kind]
    axes.plot([x], [y], ls="none", clip_on=False, gid=name, label=label, **how)


def _gather(places: list[tuple[float, float, list[str]]], x: float, y: float, label: str) -> None:
    """Add a mark to those that lie in the same place, or as a place of its own."""
    for a, b, labels in places:
        if hypot(a - x, b - y) < SAME_PLACE:
            labels.append(label)
            return
    places.append((x, y, [label]))


def _cross(across: Estimate, upward: Estimate) -> list[tuple[float, float, float, float]]:
    """The boxes, in millimetres, of a mark that leads and of its two intervals."""
    x, y = across.value * SIDE, upward.value * SIDE
    if not isfinite(x + y):
        return []
    boxes = [(x - 1.2, x + 1.2, y - 1.2, y + 1.2)]
    if isfinite(across.high - across.low):
        boxes.append((across.low * SIDE, across.high * SIDE, y - 0.4, y + 0.4))
    if isfinite(upward.high - upward.low):
        boxes.append((x - 0.4, x + 0.4, upward.low * SIDE, upward.high * SIDE))
    return boxes


def _write_beside(
    plot: "Axes",
    texts: Sequence[tuple[float, float, str]],
    also: Sequence[tuple[float, float, float, float]],
) -> int:
    """Texts beside their marks where nothing else is, in millimetres; how many found no room."""
    taken = [*((x - 1.2, x + 1.2, y - 1.2, y + 1.2) for x, y, _ in texts), *also]
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
        boxes = [(x + dx, x + dx + width, y + dy - tall / 2, y + dy + tall / 2) for dx, dy in shifts]
        free = [b for b in boxes if _inside(b) and not any(_meet(b, other) for other in taken)]
        if not free:
            left_out += 1
            continue
        box = free[0]
        taken.append(box)
        style.write(plot, box[0] / SIDE, (box[2] + box[3]) / 2 / SIDE, text, size=style.SMALL, zorder=4)
    return left_out


def _inside(box: tuple[float, float, float, float]) -> bool:
    return box[0] > -0.2 and box[1] < SIDE and box[2] > 0.2 and box[3] < SIDE + 1.0


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]
