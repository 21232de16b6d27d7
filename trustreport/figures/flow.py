"""What was handed in, what of it was set aside and why, and what was used: boxes from top to bottom."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trustreport.figures import style
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
class FlowFigure:
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
                label = style.label_text(say, step.label)
                rows.append({"place": say(f"figure.flow.{place}"), "label": label, "value": step.count})
                for reason, count in step.aside:
                    why = style.label_text(say, reason)
                    beside = say(f"figure.flow.beside_{place}")
                    rows.append({"place": beside, "of": label, "label": why, "value": count})
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        width = (style.TEXT_WIDTH - ARMS_APART) / 2
        aside_width = style.TEXT_WIDTH - width - BESIDE
        steps = [_box(say, step.label, step.count, (), width) for step in self.steps]
        asides = [_aside(say, step.aside, aside_width) for step in self.steps]
        columns = max(min(len(self.arms), SIDE_BY_SIDE), 2)
        listed = len(self.arms) > SIDE_BY_SIDE
        apart = ARMS_APART * (columns - 1)
        arm_width = style.TEXT_WIDTH - 8.0 if listed else (style.TEXT_WIDTH - apart) / columns
        arms = [_box(say, arm.label, arm.count, arm.aside, arm_width) for arm in self.arms]

        heights = [max(box.height, aside.height if aside else 0) for box, aside in zip(steps, asides)]
        total = sum(heights) + DROP * (len(heights) - 1)
        if arms:
            total += sum(a.height + 3.0 for a in arms) + 3.0 if listed else DROP + max(a.height for a in arms)
        figure, sheet = style.figure(style.TEXT_WIDTH, total + 2.0)

        y, axis = 1.0, width / 2
        for i, (box, aside, height) in enumerate(zip(steps, asides, heights)):
            middle = y + height / 2
            top = middle - box.height / 2
            _draw_box(sheet, box, 0, top, width, f"step-{i}")
            if aside:
                _arrow(sheet, (width, middle), (width + BESIDE, middle))
                _draw_box(sheet, aside, width + BESIDE, middle - aside.height / 2, aside_width, f"aside-{i}")
            y += height
            if i + 1 < len(steps):
                below = y + DROP + heights[i + 1] / 2 - steps[i + 1].height / 2
                _arrow(sheet, (axis, top + box.height), (axis, below))
                y += DROP
        if arms and listed:
            _list_arms(sheet, arms, 8.0, y + 3.0, arm_width, start=top + box.height if steps else y)
        elif arms:
            _spread_arms(sheet, arms, arm_width, y, axis, top + box.height if steps else y)
        return figure


@dataclass(frozen=True, slots=True)
class _Box:
    """Texts broken into lines: a label with its count, then smaller lines with theirs."""

    lines: tuple[tuple[str, str, bool], ...]
    height: float


def _box(say: Catalogue, label: Message | str, count: int, aside: Any, width: float) -> _Box:
    parts = [(label, count, True), *((reason, n, False) for reason, n in aside)]
    return _measured(say, parts, width)


def _aside(say: Catalogue, aside: Any, width: float) -> _Box | None:
    if not aside:
        return None
    return _measured(say, [(reason, n, False) for reason, n in aside], width)


def _measured(say: Catalogue, parts: list[tuple[Message | str, int, bool]], width: float) -> _Box:
    lines = []
    for label, n, heads in parts:
        size, weight = _type(heads)
        number = say.numbers.count(n)
        room = width - 2 * PAD - style.width_of(number, size, weight) - 3.0
        lines.append((style.wrap(style.label_text(say, label), room, size, weight), number, heads))
    height = sum(style.height_of(label, _type(heads)[0]) for label, _, heads in lines)
    return _Box(tuple(lines), height + 2 * PAD + 0.8 * (len(lines) - 1))


def _type(heads: bool) -> tuple[float, int]:
    return (style.LABEL, style.SEMIBOLD) if heads else (style.TICK, style.REGULAR)


def _draw_box(sheet: "Axes", box: _Box, left: float, top: float, width: float, name: str) -> None:
    """A thin frame, labels at its left, counts flush at its right."""
    from matplotlib.patches import Rectangle

    heads = box.lines[0][2]
    left, width = left + EDGE, width - 2 * EDGE
    frame: dict[str, Any] = {
        "facecolor": style.PAPER,
        "edgecolor": style.MUTE if heads else style.HAIRLINE,
        "lw": style.THIN,
    }
    sheet.add_patch(Rectangle((left, top), width, box.height, gid=name, **frame))
    y = top + PAD
    for label, number, leading in box.lines:
        size, weight = _type(leading)
        height = style.height_of(label, size)
        how: dict[str, Any] = {"size": size, "weight": weight, "color": style.INK if leading else style.MUTE}
        style.write(sheet, left + PAD, y + height / 2, label, **how)
        style.write(
            sheet, left + width - PAD, y + style.height_of(number, size) / 2, number, ha="right", **how
        )
        y += height + 0.8


def _arrow(sheet: "Axes", start: tuple[float, float], end: tuple[float, float]) -> None:
    sheet.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": "-|>,head_width=0.13,head_length=0.26",
            "color": style.MUTE,
            "lw": style.THIN,
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )


def _spread_arms(sheet: "Axes", arms: list[_Box], width: float, y: float, axis: float, start: float) -> None:
    """Arms side by side below a line that divides."""
    line: dict[str, Any] = {"color": style.MUTE, "lw": style.THIN}
    centres = [i * (width + ARMS_APART) + width / 2 for i in range(len(arms))]
    fork = y + DROP * 0.45
    sheet.plot([axis, axis], [start, fork], **line)
    sheet.plot([min(*centres, axis), max(*centres, axis)], [fork, fork], **line)
    for i, (arm, centre) in enumerate(zip(arms, centres)):
        _arrow(sheet, (centre, fork), (centre, y + DROP))
        _draw_box(sheet, arm, centre - width / 2, y + DROP, width, f"arm-{i}")


def _list_arms(sheet: "Axes", arms: list[_Box], left: float, y: float, width: float, start: float) -> None:
    """Arms below each other along a line at their left."""
    trunk = left / 2
    for i, arm in enumerate(arms):
        _draw_box(sheet, arm, left, y, width, f"arm-{i}")
        _arrow(sheet, (trunk, y + arm.height / 2), (left, y + arm.height / 2))
        end = y + arm.height / 2
        y += arm.height + 3.0
    sheet.plot([trunk, trunk], [start, end], color=style.MUTE, lw=style.THIN, solid_capstyle="projecting")
