"""Forest: a measure at each site, its mean over sites, and what to expect at a new one."""

from dataclasses import dataclass
from math import ceil, floor, isfinite, isnan, nan
from typing import TYPE_CHECKING, Any, Literal

from trustreport.figures import numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_SITES = 22
# Millimetres.
LABEL, GAP, RIGHT = 34.0, 5.0, 3.0
ROW, HEAD, BELOW = 7.4, 4.0, 7.5
TEXT, MARK = 1.9, 4.9  # of a row, from its top: the number, and the interval under it
UNDER = 3.5  # and from here on lines down the panel, which would run through the number
BEYOND = 3.0  # an interval this many times as wide as the middle of the others is cut


@dataclass(frozen=True, slots=True)
class ForestColumn:
    """A measure: each site's estimate, the mean over sites, the prediction interval for a new site.

    `null` is where a line stands (the slope of right calibration, a declared bound), NaN for none; `ratio`
    asks for a logarithmic axis; `least` and `most` are the ends of what is possible.
    """

    label: Message | str
    sites: tuple[Estimate, ...]
    mean: Estimate
    new: Estimate
    null: float = nan
    ratio: bool = False
    least: float = nan
    most: float = nan


@dataclass(frozen=True, slots=True)
class Forest:
    """A row a site or a study, then the mean (diamond) and a new one (thick bar); a column a measure.

    Where no measure has an interval for a new site, there is no row for one.
    """

    labels: tuple[Message | str, ...]
    columns: tuple[ForestColumn, ...]
    of: Literal["site", "study"] = "site"

    @property
    def expects(self) -> bool:
        """Whether any measure says what to expect at a new site."""
        return any(isfinite(column.new.low) for column in self.columns)

    def _last(self) -> tuple[str, ...]:
        return ("mean", "new") if self.expects else ("mean",)

    def _rows(self, column: ForestColumn) -> tuple[Estimate, ...]:
        return (*column.sites, column.mean, column.new)[: len(column.sites) + len(self._last())]

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per site and measure, then the mean, then a new site."""
        names = [
            *(style.label_text(say, label) for label in self.labels),
            *(say(f"figure.forest.{self.of}.{row}") for row in self._last()),
        ]
        return [
            {
                "label": name,
                "measure": style.label_text(say, column.label),
                "value": e.value,
                "low": e.low,
                "high": e.high,
                "n": e.n,
            }
            for column in self.columns
            for name, e in zip(names, self._rows(column))
        ]

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    def _draw(self, say: Catalogue) -> "Figure":
        said = [style.label_text(say, label) for label in self.labels]
        last = [say(f"figure.forest.{self.of}.{row}") for row in self._last()]
        widest = max(style.width_of(name, style.TICK, style.SEMIBOLD) for name in (*said, *last))
        label = min(widest + 2.0, LABEL)
        names = [style.wrap(name, label - 2.0, style.TICK) for name in said]
        last = [style.wrap(name, label - 2.0, style.TICK, style.SEMIBOLD) for name in last]
        heights = [max(ROW, style.height_of(name, style.TICK) + 1.6) for name in (*names, *last)]
        k = len(self.columns)
        width = (style.TEXT_WIDTH - label - RIGHT - k * GAP) / k
        heads = [style.wrap(style.label_text(say, c.label), width, style.TICK) for c in self.columns]
        top = max(HEAD, max(style.height_of(head, style.TICK) for head in heads) + 1.6)
        bottom = top + sum(heights)
        key = say(f"figure.forest.{self.of}.{'key' if self.expects else 'key_alone'}")
        key = style.wrap(key, style.TEXT_WIDTH, style.SMALL)
        figure, sheet = style.figure(
            style.TEXT_WIDTH, bottom + BELOW + style.height_of(key, style.SMALL) + 0.6
        )
        starts = [top + sum(heights[:i]) for i in range(len(heights))]
        for i, (name, y, height) in enumerate(zip((*names, *last), starts, heights)):
            colour = style.INK if i == len(names) else style.HAIRLINE
            sheet.plot([0, style.TEXT_WIDTH], [y, y], color=colour, lw=style.HAIR, zorder=0)
            weight = style.SEMIBOLD if i >= len(names) else style.REGULAR
            style.write(sheet, 0, y + height / 2, name, size=style.TICK, weight=weight)
        for c, (column, head) in enumerate(zip(self.columns, heads)):
            left = label + GAP + c * (width + GAP)
            how: dict[str, Any] = {"size": style.TICK, "weight": style.SEMIBOLD, "va": "bottom"}
            style.write(sheet, left, top - 0.9, head, **how)
            plot = style.panel(figure, left, top, width, bottom - top)
            low, high = _range(column)
            plot.set(ylim=(bottom, top))
            if column.ratio:
                plot.set_xscale("log")
            plot.set_xlim(low, high)
            plot.minorticks_off()
            found = (ticks.ratio if column.ratio else ticks.linear)(
                low, high, width, lambda x: numbers.plain(say, x)
            )
            plot.set_xticks(*found)
            plot.tick_params(axis="x", length=2, width=style.HAIR, color=style.MUTE)
            under = [(y + (height - ROW) / 2 + UNDER, y + height) for y, height in zip(starts, heights)]
            if low <= column.null <= high:
                _down(plot, column.null, under, f"null-{c}", color=style.INK, lw=style.THIN, zorder=1)
            if low <= column.mean.value <= high:
                dashed: dict[str, Any] = {"color": style.TEAL, "lw": style.HAIR, "ls": style.DASHED}
                _down(plot, column.mean.value, under, f"mean-line-{c}", zorder=0.8, **dashed)
            rows = self._rows(column)
            for i, (e, y, height) in enumerate(zip(rows, starts, heights)):
                at = y + (height - ROW) / 2
                kind = "site" if i < len(names) else "mean" if i == len(names) else "new"
                self._row(say, plot, e, at, (low, high), f"{kind}-{i}-{c}", *names[i : i + 1])
        style.write(sheet, 0, bottom + BELOW - 1.0, key, size=style.SMALL, color=style.MUTE, va="top")
        return figure

    def _row(
        self,
        say: Catalogue,
        plot: "Axes",
        e: Estimate,
        y: float,
        ends: tuple[float, float],
        name: str,
        site: str = "",
    ) -> None:
        kind = name.partition("-")[0]
        low, high = ends
        # What a row says stands over its mark, at the left end of the panel.
        text = numbers.estimate(say, e, "number")
        if kind == "new" and isfinite(e.low):
            _, least, most = numbers.parts(say, e, "number")
            text = say("figure.forest.interval", low=least, high=most)
        if kind == "new" and isnan(e.low) and e.n > 1:
            text = say(f"figure.forest.{self.of}.few", n=e.n)
        colour = style.MUTE if kind == "site" else style.INK
        how: dict[str, Any] = {"size": style.SMALLEST, "color": colour, "zorder": 3}
        plot.text(0.0, y + TEXT, text, transform=plot.get_yaxis_transform(), va="center", **how)
        if isnan(e.value) or (kind == "new" and isnan(e.low)):
            return
        at = y + MARK
        if isfinite(e.low) and isfinite(e.high):
            x = [min(max(end, low), high) for end in (e.low, e.high)]
            line = style.FAINT if kind == "site" else style.TEAL
            weight = style.LINE if kind == "site" else style.HEAVY
            if kind == "mean":
                middle = min(max(e.value, low), high)
                diamond = [x[0], middle, x[1], middle]
                plot.fill(diamond, [at, at - 1.2, at, at + 1.2], color=line, lw=0, zorder=2.5, gid=name)
            else:
                plot.plot(x, [at, at], color=line, lw=weight, zorder=2, gid=f"interval-{name}")
            for end, beyond, pointing in ((low, e.low < low, "<"), (high, e.high > high, ">")):
                if beyond:
                    arrow = {"marker": pointing, "ms": 3.4, "mew": 0, "mfc": line, "zorder": 2}
                    style.mark(plot, end, at, f"beyond-{name}", **arrow)
        if kind == "site" and low <= e.value <= high:
            said = numbers.of_mark(say, e, "number", site)
            style.mark(plot, e.value, at, name, label=said, marker="s", ms=3.6, **style.filled(style.BLUE))


def _down(plot: "Axes", x: float, parts: list[tuple[float, float]], name: str, **how: Any) -> None:
    """A line down the panel, left out where numbers stand."""
    for i, (upper, lower) in enumerate(parts):
        plot.plot([x, x], [upper, lower], gid=f"{name}-{i}", **how)


def _range(column: ForestColumn) -> tuple[float, float]:
    """The ends of an axis: all values and the mean, and intervals that are not much wider than the others."""
    shown = [e for e in (*column.sites, column.mean) if isfinite(e.value)]
    if not shown:
        return (0.5, 2.0) if column.ratio else (0.0, 1.0)
    points = [e.value for e in shown] + ([column.null] if isfinite(column.null) else [])
    widths = sorted(e.high - e.low for e in shown if isfinite(e.high) and isfinite(e.low))
    usual = BEYOND * widths[len(widths) // 2] if widths else 0.0
    for e in (*shown, column.new):
        if isfinite(e.low) and isfinite(e.high) and e.high - e.low <= max(usual, 1e-9):
            points += [e.low, e.high]
    low, high = min(points), max(points)
    if column.ratio:
        low, high = max(floor(9.5 * low) / 10, 0.05), ceil(10.5 * high) / 10
        return low, max(high, low + 0.2)
    spread = max(high - low, 0.05) * 0.06
    low, high = low - spread, high + spread
    low = max(low, column.least) if isfinite(column.least) else low
    high = min(high, column.most) if isfinite(column.most) else high
    return (low, high) if high > low else (low - 0.05, high + 0.05)
