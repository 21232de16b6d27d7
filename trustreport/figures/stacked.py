"""Stacked bars over periods: how many cases, or what share of them, belonged to which group."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trustreport.figures import numbers, style, ticks
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Millimetres.
LEFT, WIDE, TALL, HEAD, BETWEEN, BELOW = 15.0, 96.0, 27.0, 6.5, 8.5, 11.0
KEY = LEFT + WIDE + 6.0
MOST_PANELS = 5
MOST_PARTS = 6
# From dark to light, so that neighbours differ in grey; a further group begins anew with stripes.
FILLS = (style.BLUE, style.TEAL, "#86a9cd", style.AMBER, style.HAIRLINE, style.RUST)


@dataclass(frozen=True, slots=True)
class StackPart:
    """A group: its name and its cases in each period."""

    label: Message | str
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class StackPanel:
    """The groups of one column; as shares of the period where `shares`, else as counts."""

    label: Message | str
    parts: tuple[StackPart, ...]
    shares: bool = False


@dataclass(frozen=True, slots=True)
class Stacked:
    """Panels over the same periods; with `baseline` the first place is the baseline.

    `short` are the names on the axis, numbers where there are none.
    """

    names: tuple[str, ...]
    panels: tuple[StackPanel, ...]
    baseline: bool
    short: tuple[Message | str, ...] = ()

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per panel, period and group."""
        return [
            {
                "label": style.label_text(say, panel.label),
                "period": name,
                "group": style.label_text(say, part.label),
                "value": part.counts[i],
            }
            for panel in self.panels
            for i, name in enumerate(self.names)
            for part in panel.parts
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        n = len(self.panels)
        figure, sheet = style.figure(style.TEXT_WIDTH, n * (HEAD + TALL) + (n - 1) * BETWEEN + BELOW)
        top = HEAD
        for k, panel in enumerate(self.panels):
            head: dict[str, Any] = {"size": style.TICK, "weight": style.SEMIBOLD}
            style.write(sheet, LEFT, top - 3.6, style.label_text(say, panel.label), **head)
            plot = style.panel(figure, LEFT, top, WIDE, TALL)
            self._bars(say, plot, panel, k)
            self._key(say, sheet, panel, top)
            top += TALL + BETWEEN + HEAD
        bottom = top - BETWEEN - HEAD
        text = say("figure.trend.x")
        style.write(sheet, LEFT + WIDE / 2, bottom + 7.6, text, size=style.TICK, ha="center")
        return figure

    def _bars(self, say: Catalogue, plot: Any, panel: StackPanel, number: int) -> None:
        n = len(self.names)
        totals = [sum(part.counts[i] for part in panel.parts) for i in range(n)]
        most = 1.0 if panel.shares else float(max([*totals, 1]))
        plot.set(xlim=(-0.6, n - 0.4), ylim=(0, most))
        plot.spines["left"].set_visible(True)

        def text(value: float) -> str:
            if panel.shares:
                return say("figure.percent_tick", value=numbers.plain(say, round(100 * value, 6)))
            return say.numbers.count(value)

        plot.set_yticks(*ticks.linear(0, most, TALL, text, upright=True))
        step = -(-n // 24)
        first = 0 if self.baseline else 1
        labels = [style.label_text(say, name) for name in self.short] or [str(i + first) for i in range(n)]
        labels = [say("figure.trend.base"), *labels[1:]] if self.baseline else labels
        plot.set_xticks(tuple(range(0, n, step)), tuple(labels[::step]))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        base = [0.0] * n
        for j, part in enumerate(panel.parts):
            scale = [1 / totals[i] if panel.shares and totals[i] else 1.0 for i in range(n)]
            heights = [part.counts[i] * scale[i] for i in range(n)]
            bars = plot.bar(
                range(n), heights, 0.72, bottom=base, color=FILLS[j % len(FILLS)],
                edgecolor=style.PAPER, linewidth=style.HAIR,
            )  # fmt: skip
            for i, bar in enumerate(bars):
                bar.set_gid(f"bar-{number}-{j}-{i}")
                share = part.counts[i] / totals[i] if totals[i] else 0.0
                name = " · ".join((style.label_text(say, part.label), self.names[i]))
                counted = say("figure.mark_share", share=share, n=part.counts[i])
                bar.set_label(say("figure.mark", name=name, number=counted))
            base = [b + h for b, h in zip(base, heights)]

    def _key(self, say: Catalogue, sheet: Any, panel: StackPanel, top: float) -> None:
        """The groups beside the bars, the uppermost first, as they are stacked."""
        from matplotlib.patches import Rectangle

        room = style.TEXT_WIDTH - KEY - 5.0
        y = top
        for j, part in reversed(list(enumerate(panel.parts))):
            name = style.wrap(style.label_text(say, part.label), room, style.SMALL)
            tall = style.height_of(name, style.SMALL)
            middle = y + style.height_of(" ", style.SMALL) / 2
            fill = FILLS[j % len(FILLS)]
            sheet.add_patch(Rectangle((KEY, middle - 1.2), 2.8, 2.4, facecolor=fill, edgecolor="none"))
            style.write(sheet, KEY + 4.6, y, name, size=style.SMALL, va="top")
            y += tall + 1.0
