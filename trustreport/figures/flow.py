"""Flows: what was provided, set aside and used, and what became of decisions after wrong and right advice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trustreport.figures import style
from trustreport.figures.panels import Chart, PlotSheet
from trustreport.vocabulary.messages import Catalogue, Message

PAD = 2.2  # between a box and its text, millimetres
DROP = 7.0  # between two boxes
BESIDE = 9.0  # between a box and what is set aside at its right
ARMS_APART = 6.0
EDGE = 0.2  # keeps a frame at the margin whole
SIDE_BY_SIDE = 4  # arms; more of them are listed below each other


@dataclass(frozen=True, slots=True)
class Step:
    """A box: what it counts, and the counts beside it (set aside, missing), each with its reason."""

    label: Message | str
    count: int
    aside: tuple[tuple[Message | str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class FlowFigure(Chart):
    """The steps below each other, what each sets aside at its right; at the end a box for each arm.

    The aside of a step leaves the flow before the next step. The aside of an arm (readings expected,
    missing) is written in its box.
    """

    steps: tuple[Step, ...]
    arms: tuple[Step, ...] = ()

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per count, in the order of the flow."""
        rows = []
        for place, steps in (("step", self.steps), ("arm", self.arms)):
            for step in steps:
                label = style.label(say, step.label)
                rows.append({"place": say(f"figure.flow.{place}"), "label": label, "value": step.count})
                for reason, count in step.aside:
                    why = style.label(say, reason)
                    beside = say(f"figure.flow.beside_{place}")
                    rows.append({"place": beside, "of": label, "label": why, "value": count})
        return rows

    def _draw(self, say: Catalogue) -> PlotSheet:
        width = (style.TEXT_WIDTH - ARMS_APART) / 2
        aside_width = style.TEXT_WIDTH - width - BESIDE
        steps = [_box(say, [(step.label, step.count, True)], width) for step in self.steps]
        asides = [
            _box(say, [(*each, False) for each in step.aside], aside_width) if step.aside else None
            for step in self.steps
        ]
        columns = max(min(len(self.arms), SIDE_BY_SIDE), 2)
        listed = len(self.arms) > SIDE_BY_SIDE
        apart = ARMS_APART * (columns - 1)
        arm_width = style.TEXT_WIDTH - 8.0 if listed else (style.TEXT_WIDTH - apart) / columns
        arms = [
            _box(say, [(arm.label, arm.count, True), *((*each, False) for each in arm.aside)], arm_width)
            for arm in self.arms
        ]

        heights = [max(box.height, aside.height if aside else 0) for box, aside in zip(steps, asides)]
        total = sum(heights) + DROP * (len(heights) - 1)
        if arms:
            total += sum(a.height + 3.0 for a in arms) + 3.0 if listed else DROP + max(a.height for a in arms)
        sheet = PlotSheet(total + 2.0)

        y, axis = 1.0, width / 2
        for i, (box, aside, height) in enumerate(zip(steps, asides, heights)):
            middle = y + height / 2
            top = middle - box.height / 2
            box.draw(sheet, 0, top, width, f"step-{i}")
            if aside:
                _arrow(sheet, (width, middle), (width + BESIDE, middle))
                aside.draw(sheet, width + BESIDE, middle - aside.height / 2, aside_width, f"aside-{i}")
            y += height
            if i + 1 < len(steps):
                below = y + DROP + heights[i + 1] / 2 - steps[i + 1].height / 2
                _arrow(sheet, (axis, top + box.height), (axis, below))
                y += DROP
        start = top + box.height if steps else y
        if arms and listed:
            _list_arms(sheet, arms, 8.0, y + 3.0, arm_width, start)
        elif arms:
            _spread_arms(sheet, arms, arm_width, y, axis, start)
        return sheet


@dataclass(frozen=True, slots=True)
class _Box:
    """Texts broken into lines: a label with its count, then smaller lines with theirs."""

    lines: tuple[tuple[str, str, bool], ...]
    height: float

    def draw(self, sheet: PlotSheet, left: float, top: float, width: float, name: str) -> None:
        """A thin frame, labels at its left, counts flush at its right."""
        from matplotlib.patches import Rectangle

        left, width = left + EDGE, width - 2 * EDGE
        edge = style.MUTE if self.lines[0][2] else style.HAIRLINE
        frame: dict[str, Any] = {"facecolor": style.PAPER, "edgecolor": edge, "lw": style.THIN}
        sheet.axes.add_patch(Rectangle((left, top), width, self.height, gid=name, **frame))
        y = top + PAD
        for label, number, heads in self.lines:
            size, weight = _type(heads)
            how: dict[str, Any] = {
                "size": size,
                "weight": weight,
                "color": style.INK if heads else style.MUTE,
            }
            height = style.height_of(label, size)
            sheet.write(left + PAD, y + height / 2, label, **how)
            middle = y + style.height_of(number, size) / 2
            sheet.write(left + width - PAD, middle, number, ha="right", **how)
            y += height + 0.8


def _box(say: Catalogue, parts: Sequence[tuple[Message | str, int, bool]], width: float) -> _Box:
    """A box for labels with their counts, and whether each heads it."""
    lines = []
    for label, n, heads in parts:
        size, weight = _type(heads)
        number = say.numbers.count(n)
        room = width - 2 * PAD - style.width_of(number, size, weight) - 3.0
        lines.append((style.wrap(style.label(say, label), room, size, weight), number, heads))
    height = sum(style.height_of(label, _type(heads)[0]) for label, _, heads in lines)
    return _Box(tuple(lines), height + 2 * PAD + 0.8 * (len(lines) - 1))


def _type(heads: bool) -> tuple[float, int]:
    return (style.LABEL, style.SEMIBOLD) if heads else (style.TICK, style.REGULAR)


def _arrow(sheet: PlotSheet, start: tuple[float, float], end: tuple[float, float]) -> None:
    how = {"arrowstyle": "-|>,head_width=0.13,head_length=0.26", "color": style.MUTE, "lw": style.THIN}
    sheet.axes.annotate("", end, start, arrowprops={**how, "shrinkA": 0, "shrinkB": 0})


def _spread_arms(
    sheet: PlotSheet, arms: list[_Box], width: float, y: float, axis: float, start: float
) -> None:
    """Arms side by side below a line that divides."""
    line: dict[str, Any] = {"color": style.MUTE, "lw": style.THIN}
    centres = [i * (width + ARMS_APART) + width / 2 for i in range(len(arms))]
    fork = y + DROP * 0.45
    sheet.plot([axis, axis], [start, fork], **line)
    sheet.plot([min(*centres, axis), max(*centres, axis)], [fork, fork], **line)
    for i, (arm, centre) in enumerate(zip(arms, centres)):
        _arrow(sheet, (centre, fork), (centre, y + DROP))
        arm.draw(sheet, centre - width / 2, y + DROP, width, f"arm-{i}")


def _list_arms(sheet: PlotSheet, arms: list[_Box], left: float, y: float, width: float, start: float) -> None:
    """Arms below each other along a line at their left."""
    trunk = left / 2
    for i, arm in enumerate(arms):
        arm.draw(sheet, left, y, width, f"arm-{i}")
        _arrow(sheet, (trunk, y + arm.height / 2), (left, y + arm.height / 2))
        end = y + arm.height / 2
        y += arm.height + 3.0
    sheet.plot([trunk, trunk], [start, end], color=style.MUTE, lw=style.THIN, solid_capstyle="projecting")


GUTTER, NAME_ROW = 4.0, 5.0  # between the columns of sets, and the height of their names


@dataclass(frozen=True, slots=True)
class ParticipantColumn:
    """The cases of one set from those that were eligible to the four cells of device by reference.

    `left_out` are the reasons why eligible cases are not analysed; `failed` says how cases without an output
    are analysed, and how many they are.
    """

    name: str
    eligible: int
    left_out: tuple[tuple[Message | str, int], ...]
    analysed: int
    failed: tuple[Message, int]
    tp: int
    fn: int
    fp: int
    tn: int


@dataclass(frozen=True, slots=True)
class ParticipantFlow(Chart):
    """The flow of participants as STARD draws it, a column for each data set or candidate."""

    columns: tuple[ParticipantColumn, ...]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row for each box of each column."""
        return [
            {"label": column.name, "place": style.label(say, label), "value": n}
            for column in self.columns
            for parts in self._boxes(column)
            for label, n, _ in parts
        ]

    def counts(self) -> list[int]:
        """Every number that is drawn."""
        return [n for column in self.columns for parts in self._boxes(column) for _, n, _ in parts]

    def _boxes(self, column: ParticipantColumn) -> list[list[tuple[Message | str, int, bool]]]:
        """Label, count and whether it heads the box, for each box from above."""
        present, absent = (Message(f"figure.participants.{key}") for key in ("present", "absent"))

        def box(key: str, n: int, *below: tuple[Message | str, int]) -> list[tuple[Message | str, int, bool]]:
            """A heading with its count, and what of it is said below."""
            return [(Message(f"figure.participants.{key}"), n, True), *((*each, False) for each in below)]

        return [
            box("eligible", column.eligible, *(each for each in column.left_out if each[1])),
            box("analysed", column.analysed, *([column.failed] if column.failed[1] else [])),
            box("positive", column.tp + column.fp, (present, column.tp), (absent, column.fp)),
            box("negative", column.fn + column.tn, (present, column.fn), (absent, column.tn)),
        ]

    def _draw(self, say: Catalogue) -> PlotSheet:
        n = max(len(self.columns), 3)
        width = (style.TEXT_WIDTH - GUTTER * (n - 1)) / n
        made = [[_box(say, parts, width) for parts in self._boxes(column)] for column in self.columns]
        heights = [max(box.height for box in row) for row in zip(*made)]
        sheet = PlotSheet(NAME_ROW + sum(heights) + DROP * 0.7 * 2 + 2.0 + 2.0)
        for i, (column, boxes) in enumerate(zip(self.columns, made)):
            left, y = i * (width + GUTTER), NAME_ROW
            name = style.wrap(column.name, width, style.LABEL, style.SEMIBOLD).partition("\n")[0]
            sheet.write(left, NAME_ROW / 2, name, size=style.LABEL, weight=style.SEMIBOLD, color=style.BLUE)
            for k, (box, height) in enumerate(zip(boxes, heights)):
                box.draw(sheet, left, y, width, f"participants-{i}-{k}")
                if k < 2:
                    below = y + height + DROP * 0.7
                    _arrow(sheet, (left + width / 2, y + box.height), (left + width / 2, below))
                y += height + (DROP * 0.7 if k < 2 else 2.0)
        return sheet


Advice = Literal["wrong", "right"]
Before = Literal["right", "wrong"]

# Millimetres: a heading, a bar, and what its two parts are.
HEAD, BAR, WORDS, BETWEEN = 4.2, 3.0, 4.2, 1.6
HEIGHT = 2 * (HEAD + BAR + WORDS) + BETWEEN


@dataclass(frozen=True, slots=True)
class TrustFlow:
    """Readings by pattern: three digits for the decision before, the advice and the decision after, 1 right.

    With `separate` readings the decisions are those without and with the aid, and none was changed.
    """

    counts: Mapping[str, int]
    separate: bool = False

    def outcomes(self, panel: Advice, before: Before) -> tuple[int, int]:
        """How many were right afterwards, and how many wrong."""
        start = f"{int(before == 'right')}{int(panel == 'right')}"
        return self.counts[start + "1"], self.counts[start + "0"]

    def values(self, say: Catalogue, panel: Advice) -> list[dict[str, Any]]:
        """A row for those right before, and one for those wrong before."""
        return [
            {
                "label": say(f"figure.trust.{self.words}.{before}_head", n=sum(self.outcomes(panel, before))),
                "advice": say(f"figure.trust.advice_{panel}"),
                "right_after": self.outcomes(panel, before)[0],
                "wrong_after": self.outcomes(panel, before)[1],
            }
            for before in ("right", "wrong")
        ]

    @property
    def words(self) -> str:
        """The group of texts: of changed decisions, or of separate readings."""
        return "separate" if self.separate else "flow"

    def draw(
        self, say: Catalogue, sheet: PlotSheet, panel: Advice, left: float, top: float, wide: float
    ) -> None:
        """Two bars on a sheet in millimetres, each from those that were right afterwards to those wrong."""
        y = top
        how: dict[str, Any] = {"va": "center", **style.AXIS}
        for before in ("right", "wrong"):
            after = self.outcomes(panel, before)
            n = sum(after)
            text = say(f"figure.trust.{self.words}.{before}_head", n=n)
            sheet.write(left, y + HEAD / 2, text, **how)
            y += HEAD
            split, right = left + wide * after[0] / n if n else left, left + wide
            good, bad = (
                say(f"figure.trust.{self.words}.{before}_{name}", n=k)
                for name, k in zip(("good", "bad"), after)
            )
            for name, said, start, end, fill, edge in (
                ("right", good, left, split, style.BLUE, style.BLUE),
                ("wrong", bad, split, right, style.RUST_WASH, style.RUST),
            ):
                if end > start:
                    box = [start, end, end, start], [y, y, y + BAR, y + BAR]
                    line: dict[str, Any] = {"fc": fill, "ec": edge, "lw": style.HAIR}
                    sheet.axes.fill(*box, gid=f"flow-{panel}-{before}-{name}", label=said, **line)
            y += BAR
            if n:
                sheet.write(left, y + WORDS / 2, good, color=style.BLUE, **how)
                sheet.write(right, y + WORDS / 2, bad, color=style.RUST, ha="right", **how)
            y += WORDS + BETWEEN
