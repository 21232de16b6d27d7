"""Two figures of a measurement beside its reference: differences against the mean, and both values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trustreport.figures import numbers, style
from trustreport.figures.panels import (
    Chart,
    LegendEntry,
    PlotPanel,
    PlotSheet,
    lay_out,
    line_sample,
    mark_sample,
)
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Catalogue, Message

AIR = 0.06
POINT: dict[str, Any] = {"marker": "o", "ms": 2.6, "mfc": style.BLUE, "mec": "none", "alpha": 0.55}
BIAS: dict[str, Any] = {"color": style.TEAL, "lw": style.LINE}
LIMIT: dict[str, Any] = {"color": style.INK, "lw": style.THIN, "ls": style.DASHED}
EQUAL: dict[str, Any] = {"color": style.FAINT, "lw": style.THIN}


@dataclass(frozen=True, slots=True)
class AgreementPanel:
    """The cases of one device or arm: the reference and the measured value of each, and what they give.

    `lines` are the bias and both limits of agreement, none where they are not known.
    """

    label: Message | str
    points: tuple[tuple[float, float], ...]
    lines: tuple[Estimate, Estimate, Estimate] | None = None


@dataclass(frozen=True, slots=True)
class _Agreement(Chart):
    """Panels with the same axes; `unit` is written with the names of the axes."""

    panels: tuple[AgreementPanel, ...]
    unit: str = ""

    def values(self, say: Catalogue) -> list[dict[str, Any]]:
        """A row for each panel: cases, bias and limits of agreement."""
        rows = []
        for panel in self.panels:
            row: dict[str, Any] = {"label": style.label(say, panel.label), "cases": len(panel.points)}
            for name, e in zip(("bias", "limit_low", "limit_high"), panel.lines or ()):
                row |= {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high}
            rows.append(row)
        return rows

    def _unit(self) -> str:
        return f" ({self.unit})" if self.unit else ""

    def _sheet(
        self, say: Catalogue, axes: tuple[str, str], key: Sequence[LegendEntry], ratio: float
    ) -> tuple[PlotSheet, list[PlotPanel]]:
        names = [style.label(say, panel.label) for panel in self.panels]
        named = tuple(say(f"figure.agreement.{axis}") + self._unit() for axis in axes)
        return lay_out(names, (named[0], named[1]), key, ratio=ratio, gap=8.0)


def _wide(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    air = AIR * ((high - low) or abs(high) or 1.0)
    return low - air, high + air


class DifferencePlot(_Agreement):
    """Differences from the reference against the mean of both values (Bland and Altman)."""

    __slots__ = ()

    def _draw(self, say: Catalogue) -> PlotSheet:
        key = [
            LegendEntry(mark_sample(POINT), say("figure.agreement.case")),
            LegendEntry(line_sample(BIAS), say("figure.agreement.bias"), leads=True),
            LegendEntry(line_sample(LIMIT), say("figure.agreement.limits")),
        ]
        sheet, panels = self._sheet(say, ("mean", "difference"), key, 0.72)
        every = [((x + y) / 2, y - x) for panel in self.panels for x, y in panel.points]
        ends = [
            x for panel in self.panels for e in panel.lines or () for x in (e.low, e.high, e.value) if x == x
        ]
        across, up = _wide([x for x, _ in every]), _wide([0.0, *(y for _, y in every), *ends])
        text = numbers.tick(say, "number")
        for shown, plot in zip(self.panels, panels, strict=True):
            plot.x_axis(across, text)
            plot.y_axis(up, text if plot.first else None)
            plot.plot(across, (0.0, 0.0), **EQUAL)
            for i, e in enumerate(shown.lines or ()):
                how = BIAS if i == 0 else LIMIT
                if e.low == e.low:
                    plot.axes.axhspan(e.low, e.high, color=how["color"], alpha=0.12, lw=0)
                if e.value == e.value:
                    plot.plot(across, (e.value, e.value), **how)
            x, y = zip(*(((a + b) / 2, b - a) for a, b in shown.points))
            plot.plot(x, y, ls="none", zorder=3, **POINT)
        return sheet


class IdentityPlot(_Agreement):
    """Measured values against the reference, with the line on which both are equal."""

    __slots__ = ()

    def _draw(self, say: Catalogue) -> PlotSheet:
        key = [
            LegendEntry(mark_sample(POINT), say("figure.agreement.case")),
            LegendEntry(line_sample(EQUAL), say("figure.agreement.equal")),
        ]
        sheet, panels = self._sheet(say, ("reference", "measured"), key, 1.0)
        ends = _wide([x for panel in self.panels for point in panel.points for x in point])
        text = numbers.tick(say, "number")
        for shown, plot in zip(self.panels, panels, strict=True):
            plot.x_axis(ends, text)
            plot.y_axis(ends, text if plot.first else None)
            plot.plot(ends, ends, **EQUAL)
            x, y = zip(*shown.points)
            plot.plot(x, y, ls="none", zorder=3, **POINT)
        return sheet
