"""The benefit diagram: what each reader gained with the aid, against what the reader reached without it."""

from dataclasses import dataclass
from math import hypot, isfinite, isnan
from typing import TYPE_CHECKING, Any, Literal

from trustreport.figures import numbers, style, ticks
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACCURACY = Message("figure.benefit.accuracy")
# Marker and whether it is filled, a stratum each; all further strata share the cross.
GLYPHS = (
    ("o", True), ("s", False), ("^", True), ("D", False), ("v", True),
    ("o", False), ("s", True), ("^", False), ("D", True), ("v", False),
)  # fmt: skip
OTHERS = ("x", True)

# Millimetres.
LEFT, PLOT_WIDTH, PLOT_HEIGHT = 15.0, 106.0, 74.0
SIDE = LEFT + PLOT_WIDTH + 3.5
STRIP = 6.0  # kept free above and below what is drawn, for the words benefit and detriment
SAME_PLACE = 0.6


@dataclass(frozen=True, slots=True)
class ReaderBenefit:
    """One reader: the endpoint unaided, and aided minus unaided."""

    reader: Message | str
    baseline: float
    benefit: Estimate
    stratum: Message | str = ""


@dataclass(frozen=True, slots=True)
class BenefitDiagram:
    """A glyph per reader by stratum, the mean as a line with its band, the region that is possible at all.

    With `unit` ``percent`` the axes show per cent and percentage points, with ``number`` plain numbers (an
    area under the curve). `mean_note` says what the mean's interval takes as random.
    """

    rows: tuple[ReaderBenefit, ...]
    mean: Estimate | None = None
    mean_note: Message | str = ""
    endpoint: Message | str = ACCURACY
    unit: Literal["percent", "number"] = "percent"
    intervals: bool = True

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row per reader, and one for the mean."""
        rows: list[dict[str, Any]] = [
            {
                "label": style.label_text(say, row.reader),
                "stratum": style.label_text(say, row.stratum),
                "baseline": row.baseline,
                "value": row.benefit.value,
                "low": row.benefit.low,
                "high": row.benefit.high,
                "n": row.benefit.n,
            }
            for row in self.rows
        ]
        if self.mean is not None:
            mean = self.mean
            rows.append(
                {
                    "label": say("figure.mean_label"),
                    "value": mean.value,
                    "low": mean.low,
                    "high": mean.high,
                    "n": mean.n,
                }
            )
        return rows

    def draw(self, say: Catalogue) -> "Figure":
        """The figure at its final size."""
        with style.settings():
            return self._draw(say)

    @property
    def _drawn(self) -> list[int]:
        return [i for i, r in enumerate(self.rows) if isfinite(r.baseline) and isfinite(r.benefit.value)]

    def _draw(self, say: Catalogue) -> "Figure":
        key = self._key(say)
        mean_text, note_text = self._mean_text(say)
        key_height = sum(style.height_of(text, style.TICK) + 1.4 for text, *_ in key)
        mean_height = style.height_of(mean_text, style.TICK) + style.height_of(note_text, style.SMALL)
        height = max(PLOT_HEIGHT, key_height + mean_height + 4.0)
        figure, sheet = style.figure(style.TEXT_WIDTH, height + 12.5)
        top = 2.5
        plot = style.panel(figure, LEFT, top, PLOT_WIDTH, height)
        x0, x1, y0, y1 = self._limits(height)
        plot.set(xlim=(x0, x1), ylim=(y0, y1))
        self._axes(say, plot, height)
        self._regions(say, plot, height)
        at = self._draw_mean(plot, height, top)
        self._draw_readers(say, plot, height)

        bottom = top + height
        key_first = at - top >= height / 2  # the key goes where the mean leaves more room
        if mean_text:
            first, last = top + mean_height / 2, bottom - mean_height / 2
            first, last = (first + key_height + 3.0, last) if key_first else (first, last - key_height - 3.0)
            y = min(max(at, first), last) - mean_height / 2
            colour = style.MUTE if self.mean is None or isnan(self.mean.value) else style.TEAL
            how: dict[str, Any] = {"color": colour, "va": "top"}
            style.write(sheet, SIDE, y, mean_text, size=style.TICK, weight=style.SEMIBOLD, **how)
            if note_text:
                y += style.height_of(mean_text, style.TICK)
                style.write(sheet, SIDE, y, note_text, size=style.SMALL, **how)
        self._write_key(sheet, key, top if key_first else bottom - key_height)
        return figure

    def _glyphs(self) -> dict[Message | str, tuple[str, bool]]:
        strata = list(dict.fromkeys(_name(row.stratum) for row in self.rows))
        return {name: GLYPHS[i] if i < len(GLYPHS) else OTHERS for i, name in enumerate(strata)}

    def _key(self, say: Catalogue) -> list[tuple[str, tuple[str, bool] | None]]:
        """What each glyph stands for, with the readers it counts, and how many have no place."""
        width = style.TEXT_WIDTH - SIDE - 5.0
        counts: dict[tuple[str, bool], int] = {}
        names: dict[tuple[str, bool], str] = {}
        glyphs = self._glyphs()
        for row in (self.rows[i] for i in self._drawn):
            glyph = glyphs[_name(row.stratum)]
            counts[glyph] = counts.get(glyph, 0) + 1
            name = style.label_text(say, row.stratum) or say("figure.benefit.readers")
            names[glyph] = say("figure.benefit.other_strata") if glyph == OTHERS else name
        key: list[tuple[str, tuple[str, bool] | None]] = [
            (style.wrap(say("figure.benefit.stratum", name=names[g], n=n), width, style.TICK), g)
            for g, n in counts.items()
        ]
        absent = len(self.rows) - len(self._drawn)
        if absent:
            key.append((style.wrap(say("figure.benefit.not_drawn", n=absent), width, style.TICK), None))
        return key

    def _mean_text(self, say: Catalogue) -> tuple[str, str]:
        if self.mean is None:
            return "", ""
        mean, width = self.mean, style.TEXT_WIDTH - SIDE
        scale: numbers.Scale = "points" if self.unit == "percent" else "difference"
        if isnan(mean.value):
            text = say("figure.benefit.no_mean", reason=mean.note)
        else:
            value, low, high = numbers.parts(say, mean, scale)
            level = numbers.plain(say, round(100 * mean.level, 6))
            key = "mean_points" if self.unit == "percent" else "mean"
            if isnan(mean.low) or isnan(mean.high):
                key += "_no_interval"
            text = say(f"figure.benefit.{key}", value=value, low=low, high=high, level=level)
        note = style.wrap(style.label_text(say, self.mean_note), width, style.SMALL)
        return style.wrap(text, width, style.TICK, style.SEMIBOLD), note

    def _limits(self, height: float) -> tuple[float, float, float, float]:
        """Everything drawn, with room at the sides and a free strip above and below."""
        rows = [self.rows[i] for i in self._drawn]
        xs = [row.baseline for row in rows] or [0.5]
        ys = [0.0, *(row.benefit.value for row in rows)]
        ends = [row.benefit for row in rows] if self.intervals else []
        ends += [self.mean] if self.mean is not None else []
        ys += [y for e in ends for y in (e.value, e.low, e.high) if isfinite(y)]
        x_room = max(0.06 * (max(xs) - min(xs)), (0.1 - (max(xs) - min(xs))) / 2, 0.01)
        span = max(max(ys) - min(ys), 0.02)
        y_room = (STRIP + 1.0) * span / (height - 2 * STRIP - 2.0)
        middle = (max(ys) + min(ys)) / 2
        y0, y1 = min(min(ys), middle - span / 2) - y_room, max(max(ys), middle + span / 2) + y_room
        x0, x1 = min(xs) - x_room, max(xs) + x_room
        beyond = 0.04 * (x1 - x0)  # a proportion needs little room past 0 and 1
        shift = max(-beyond - x0, 0.0) - max(x1 - 1 - beyond, 0.0)
        return x0 + shift, x1 + shift, y0, y1

    def _axes(self, say: Catalogue, plot: "Axes", height: float) -> None:
        percent = self.unit == "percent"
        factor = 100 if percent else 1

        def across(x: float) -> str:
            text = numbers.plain(say, round(factor * x, 10))
            return say("figure.percent_tick", value=text) if percent else text

        def upward(y: float) -> str:
            text = numbers.plain(say, round(factor * y, 10))
            return "+" + text if y > 0 else text

        x0, x1, y0, y1 = *plot.get_xlim(), *plot.get_ylim()
        xs, x_labels = ticks.linear(x0, x1, PLOT_WIDTH, across)
        within = [(x, label) for x, label in zip(xs, x_labels) if 0 <= x <= 1]
        plot.set_xticks([x for x, _ in within], [label for _, label in within])
        plot.set_yticks(*ticks.linear(y0, y1, height, upward, upright=True))
        plot.tick_params(axis="both", length=2, width=style.HAIR, color=style.MUTE)
        endpoint = style.label_text(say, self.endpoint)
        plot.set_xlabel(say("figure.benefit.x", endpoint=endpoint), size=style.TICK, labelpad=3)
        y_label = say("figure.benefit.y_points" if percent else "figure.benefit.y")
        plot.set_ylabel(y_label, size=style.TICK)
        plot.yaxis.set_label_coords(-(LEFT - 3.4) / PLOT_WIDTH, 0.5)

    def _regions(self, say: Catalogue, plot: "Axes", height: float) -> None:
        """Benefit above zero and detriment below it, as far as a proportion allows."""
        plot.fill([0, 1, 0], [0, 0, 1], color=style.BLUE_WASH, lw=0, zorder=0, gid="benefit")
        plot.fill([0, 1, 1], [0, 0, -1], color=style.RUST_WASH, lw=0, zorder=0, gid="detriment")
        plot.axhline(0, color=style.INK, lw=style.THIN, zorder=1.5, gid="no-change")
        across = 1.5 / PLOT_WIDTH
        for y, key, colour in (
            (1 - STRIP / 2 / height, "benefit", style.BLUE),
            (STRIP / 2 / height, "detriment", style.RUST),
        ):
            text = say(f"figure.benefit.{key}")
            style.write(plot, across, y, text, size=style.TICK, color=colour, transform=plot.transAxes)

    def _draw_mean(self, plot: "Axes", height: float, top: float) -> float:
        """The mean's band and line; how far down the sheet the line lies."""
        mean = self.mean
        if mean is None or isnan(mean.value):
            return top + height / 2
        if isfinite(mean.low) and isfinite(mean.high):
            plot.axhspan(
                mean.low, mean.high, color=style.TEAL, alpha=0.16, lw=0, zorder=1, gid="mean-interval"
            )
        plot.axhline(mean.value, color=style.TEAL, lw=style.HEAVY * 0.75, zorder=2, gid="mean")
        y0, y1 = plot.get_ylim()
        return top + (y1 - mean.value) / (y1 - y0) * height

    def _draw_readers(self, say: Catalogue, plot: "Axes", height: float) -> None:
        (x0, x1), (y0, y1) = plot.get_xlim(), plot.get_ylim()
        glyphs = self._glyphs()
        places: list[tuple[float, float, tuple[str, bool], int]] = []  # millimetres, glyph, readers there
        for i in self._drawn:
            row = self.rows[i]
            glyph = glyphs[_name(row.stratum)]
            e = row.benefit
            if self.intervals and isfinite(e.low) and isfinite(e.high):
                line = plot.plot([row.baseline] * 2, [e.low, e.high], color=style.FAINT, lw=0.7, zorder=2.5)[
                    0
                ]
                line.set_gid(f"interval-{i}")
            names = style.label_text(say, row.reader), style.label_text(say, row.stratum)
            scale: numbers.Scale = "points" if self.unit == "percent" else "difference"
            label = numbers.of_mark(say, e, scale, *names)
            _glyph(plot, row.baseline, e.value, glyph, f"mark-{i}", label)
            x, y = (row.baseline - x0) / (x1 - x0) * PLOT_WIDTH, (e.value - y0) / (y1 - y0) * height
            same = [
                k for k, (a, b, g, _) in enumerate(places) if g == glyph and hypot(a - x, b - y) < SAME_PLACE
            ]
            if same:
                a, b, g, n = places[same[0]]
                places[same[0]] = (a, b, g, n + 1)
            else:
                places.append((x, y, glyph, 1))
        self._write_counts(say, plot, places, height)

    def _write_counts(self, say: Catalogue, plot: "Axes", places: list[Any], height: float) -> None:
        """How many readers lie in one place, beside it where nothing else is."""
        taken = [(x - 1.1, x + 1.1, y - 1.1, y + 1.1) for x, y, *_ in places]
        for x, y, _, n in places:
            if n == 1:
                continue
            text = say("figure.benefit.times", n=n)
            width, tall = style.width_of(text, style.SMALL), style.height_of(text, style.SMALL)
            near = [(x + dx, y + dy) for dy in (1.9, -1.9, 0.0, 3.6, -3.6) for dx in (1.5, -1.5 - width)]
            boxes = [(left, left + width, mid - tall / 2, mid + tall / 2) for left, mid in near]
            inside = [
                b for b in boxes if b[0] > 0 and b[1] < PLOT_WIDTH and b[2] > STRIP and b[3] < height - STRIP
            ]
            free = [b for b in inside if not any(_meet(b, other) for other in taken)]
            box = (free or inside or boxes)[0]
            taken.append(box)
            place = (box[0] / PLOT_WIDTH, (box[2] + box[3]) / 2 / height)
            style.write(plot, *place, text, size=style.SMALL, transform=plot.transAxes, zorder=4)

    def _write_key(self, sheet: "Axes", key: list[Any], y: float) -> None:
        for text, glyph in key:
            tall = style.height_of(text, style.TICK)
            if glyph:
                _glyph(sheet, SIDE + 1.4, y + style.height_of(" ", style.TICK) / 2, glyph, None)
            colour = style.INK if glyph else style.MUTE
            style.write(sheet, SIDE + (5.0 if glyph else 0), y, text, size=style.TICK, color=colour, va="top")
            y += tall + 1.4


def _name(stratum: Message | str) -> str:
    return stratum if isinstance(stratum, str) else stratum.key + repr(sorted(stratum.values.items()))


def _meet(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


def _glyph(
    axes: "Axes", x: float, y: float, glyph: tuple[str, bool], name: str | None, label: str = ""
) -> None:
    """A reader's mark: see-through enough to tell what lies below it."""
    marker, filled = glyph
    size = {"o": 5.2, "s": 4.8, "D": 4.4, "x": 4.8}.get(marker, 5.4)
    fill = (0.12, 0.37, 0.62, 0.8) if filled else (1, 1, 1, 0.7)
    how: dict[str, Any] = {"marker": marker, "ms": size, "mfc": fill, "mec": style.BLUE, "mew": 1.1}
    axes.plot([x], [y], ls="none", gid=name, label=label, zorder=3, **how)
