"""Trend, control charts, funnel and stacked bars: the values drawn, nothing over anything else."""

import datetime as dt
from functools import cache
from itertools import pairwise
from math import nan
from typing import Any

import numpy as np
import pytest
from drawn_studies import LONG, estimate
from looked_at import lines as drawn
from looked_at import texts

from trustreport.figures.monitoring import (
    EventTimeline,
    FunnelLimits,
    FunnelPlot,
    FunnelUnit,
    TimelineMark,
    TimelinePeriod,
    TimelineTrack,
)
from trustreport.figures.trend import (
    ControlCharts,
    ControlPanel,
    Stacked,
    StackPanel,
    StackPart,
    Trend,
    TrendPanel,
)
from trustreport.measures.note import note
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.messages import say as message

NOTHING = estimate(nan, nan, nan, note=note("no_case"))


def trend(n: int, panels: int = 4, *, baseline: bool = True) -> Trend:
    draw = np.random.default_rng(3)
    made = []
    for k in range(panels):
        shares = draw.uniform(0.6, 0.95, n)
        found = tuple(estimate(x, x - 0.08, min(x + 0.05, 1.0)) for x in shares)
        found = (*found[:-1], NOTHING) if k == 1 else found
        rates = (0.9, 0.75) if k < 2 else (nan, nan)
        made.append(TrendPanel(f"measure {k} {LONG[: 8 * k]}", found, *rates, percent=k % 2 == 0))
    return Trend(tuple(f"2026-{i:02d}" for i in range(n)), tuple(made), baseline)


def chart(panels: int, cases: int) -> ControlCharts:
    draw = np.random.default_rng(4)
    made = []
    for k in range(panels):
        steps = draw.normal(0, 0.4, cases)
        path = [0.0]
        for step in steps:
            path.append(max(0.0, path[-1] + step))
        points = tuple((float(i), y) for i, y in enumerate(path))
        top = max(points, key=lambda p: p[1])
        ends = tuple((f"M{i + 1}", float(cases * (i + 1) // 8)) for i in range(8))
        made.append(ControlPanel(f"chart {k}", points, top[1], -2.2 if k else nan, (top,), periods=ends))
    return ControlCharts(tuple(made))


def funnel(n: int) -> FunnelPlot:
    draw = np.random.default_rng(5)
    sizes = draw.integers(40, 400, n)
    shares = draw.normal(0.85, 0.04, n).clip(0.5, 1)
    z = (shares - 0.85) / np.sqrt(0.85 * 0.15 / sizes)
    units = tuple(
        FunnelUnit(f"site {LONG[:9]} {i}", int(m), float(y), float(s), abs(s) > 1.96)
        for i, (m, y, s) in enumerate(zip(sizes, shares, z))
    )
    at = np.linspace(20, 420, 50)
    half = np.sqrt(0.85 * 0.15 / at)

    def limits(k: float) -> FunnelLimits:
        return FunnelLimits(
            tuple(zip(at.tolist(), (0.85 - k * half).tolist())),
            tuple(zip(at.tolist(), np.minimum(0.85 + k * half, 1).tolist())),
        )

    return FunnelPlot("Sensitivity", 0.85, units, limits(1.96), limits(3.09), limits(1.5) if n > 5 else None)


def stacked(n: int, parts: int, *, shares: bool) -> Stacked:
    draw = np.random.default_rng(6)
    made = tuple(
        StackPart(f"group {k} {LONG[: 10 * k]}", tuple(int(x) for x in draw.integers(0, 90, n)))
        for k in range(parts)
    )
    panels = (StackPanel("by group", made, shares), StackPanel("by another", made[:2], shares))
    return Stacked(tuple(f"2026-{i:02d}" for i in range(n)), panels, shares)


def months(n: int) -> list[tuple[dt.date, dt.date]]:
    starts = [dt.date(2026 + k // 12, k % 12 + 1, 1) for k in range(n + 1)]
    return [(one, other - dt.timedelta(1)) for one, other in pairwise(starts)]


def timeline(n: int, events: int) -> EventTimeline:
    """Periods of a month, and so many events on neighbouring days in each of three tracks."""
    draw = np.random.default_rng(7)
    shares = draw.uniform(0.6, 0.95, n)
    first = months(n)[n // 2][0]
    periods = tuple(
        TimelinePeriod(f"p{k}", *months(n)[k], estimate(x, x - 0.1, min(x + 0.05, 1.0)))
        for k, x in enumerate(shares)
    )
    tracks = tuple(
        TimelineTrack(
            f"lane {kind}",
            tuple(
                TimelineMark(first + dt.timedelta(5 * k), f"event {k} {LONG[: 6 * k]}", kind)
                for k in range(events)
            ),
        )
        for kind in ("version", "alert", "incident")
    )
    return EventTimeline(tracks, "Sensitivity", periods, estimate(0.9, 0.85, 0.94), 0.9, 0.8, percent=True)


def named_trend() -> Trend:
    """Eight months by their names, with two events close together."""
    plain = trend(9, 6)
    short = ("", *(message("figure.month", day=start) for start, _ in months(8)))
    return Trend(plain.names, plain.panels, plain.baseline, short, ((5.3, "version 2"), (5.6, "scanner Y")))


OVER_TIME: dict[str, Any] = {
    "timeline-8": timeline(8, 2),
    "timeline-30": timeline(30, 4),
    "timeline-1": timeline(1, 1),
    "trend-months": named_trend(),
    "trend-9": trend(9),
    "trend-1": trend(2, 1, baseline=False),
    "trend-40": trend(40, 9),
    "chart-1": chart(1, 300),
    "chart-4": chart(4, 900),
    "funnel-3": funnel(3),
    "funnel-6": funnel(6),
    "funnel-30": funnel(30),
    "stacked-8": stacked(8, 4, shares=True),
    "stacked-30": stacked(30, 6, shares=False),
}


@cache
def figure_of(name: str) -> Any:
    return OVER_TIME[name].draw(catalogue("en"))


def test_periods_stand_where_their_estimates_are_and_the_latest_one_leads() -> None:
    marks = drawn(figure_of("trend-9"))
    panel = OVER_TIME["trend-9"].panels[0]
    for i, e in enumerate(panel.estimates):
        assert marks[f"mark-0-{i}"].get_ydata()[0] == pytest.approx(e.value)
        assert list(marks[f"interval-0-{i}"].get_ydata()) == pytest.approx([e.low, e.high])
    shapes = {name: marks[f"mark-0-{i}"].get_marker() for name, i in (("base", 0), ("mid", 4), ("last", 8))}
    assert len(set(shapes.values())) == 3
    assert "mark-1-8" not in marks  # not estimable: a cross stands in its place
    assert marks["to-detect-0"].get_ydata()[0] == 0.75


def test_alerts_stand_on_the_path_and_the_limit_where_it_is() -> None:
    marks, panel = drawn(figure_of("chart-4")), OVER_TIME["chart-4"].panels[1]
    assert marks["high-1"].get_ydata()[0] == pytest.approx(panel.high)
    assert marks["low-1"].get_ydata()[0] == pytest.approx(-2.2)
    x, y = marks["alert-1-0"].get_data()
    assert (x[0], y[0]) == panel.alerts[0]


def test_units_beyond_the_limits_have_another_shape() -> None:
    marks, plot = drawn(figure_of("funnel-30")), OVER_TIME["funnel-30"]
    for k, unit in enumerate(plot.units):
        assert marks[f"unit-{k}"].get_marker() == ("s" if unit.outside else "o")
        assert marks[f"unit-{k}"].get_xdata()[0] == unit.n


def test_bars_of_shares_add_up() -> None:
    figure = figure_of("stacked-8")
    tops = [
        bar.get_y() + bar.get_height()
        for axes in figure.axes
        for bar in axes.patches
        if bar.get_gid() is not None
    ]
    assert max(tops) == pytest.approx(1)


def test_events_stand_on_their_day_above_their_period() -> None:
    marks, line = drawn(figure_of("timeline-8")), OVER_TIME["timeline-8"]
    first, last = line.span
    for k, lane in enumerate(line.tracks):
        for i, mark in enumerate(lane.marks):
            along = ((mark.day - first).days + 0.5) / (last - first).days
            x = marks[f"event-{k}-{i}"].get_xdata()[0]
            other = marks[f"mark-period-{line.periods.index(period_at(line, mark.day))}"]
            assert 0 <= along <= 1
            assert abs(x - 44 - other.get_xdata()[0]) <= 31 / (last - first).days * 101
    assert marks["mark-baseline"].get_ydata()[0] == pytest.approx(0.9)
    assert marks["to-detect"].get_ydata()[0] == 0.8


def period_at(line: EventTimeline, day: dt.date) -> TimelinePeriod:
    return next(p for p in line.periods if p.start <= day <= p.end)


def test_a_limit_ends_where_no_share_can_reach_it() -> None:
    marks = drawn(figure_of("funnel-6"))
    assert max(marks["outer-high"].get_ydata()) < 1


def test_periods_that_are_months_have_their_names(say: Catalogue) -> None:
    labels = {text.get_text() for text in texts(figure_of("trend-months"))}
    assert {"B", "Feb"} <= labels
    assert "a: version 2" in labels
