"""Sequential charts and funnels: sentences, tables and figures."""

from collections.abc import Iterator
from math import isfinite, isnan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.vigilance.charts import Charted, Delay, in_control
from trustreport.assessment.dimensions.vigilance.compared import NAIVE, Compared
from trustreport.assessment.dimensions.vigilance.periods import ID
from trustreport.assessment.dimensions.vigilance.view import MonitoringView
from trustreport.assessment.finding import Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, heading
from trustreport.figures import curves, monitoring, trend
from trustreport.measures.monitoring.charts import CusumChart, SprtChart
from trustreport.measures.monitoring.detection_delay import STATISTICS
from trustreport.vocabulary import digits
from trustreport.vocabulary.messages import Message

INNER, OUTER = 0.95, 0.998
MOST_CORNERS = 300

text = Texts(ID)


def charts(view: MonitoringView) -> Part:
    """What each declared chart says, with the budget of false alerts spent; sites and readers in a funnel."""
    return text.part((*_charts(view), *_funnels(view)), text("title_charts"), view.place, "E39")


def _charts(view: MonitoringView) -> Iterator[Item]:
    if not view.delays:
        yield text("status.no_chart")
    for delay in view.delays:
        said = _charted(delay.chart)
        yield text("both", first=said, second=_delay(delay)) if delay.known else said
    drawn = [c for c in view.charts if c.run is not None]
    if drawn:
        yield _design_table(view, drawn)
    late = [d for d in view.delays if d.known]
    if late:
        yield text.table(
            f"vigilance_delays{view.suffix}",
            text("delay.table"),
            ".indicator .chart .rates .mean:count .median:count .mean_periods:number.1"
            " .median_periods:number.1",
            [
                (
                    d.chart.name,
                    d.chart.type,
                    d.chart.rates,
                    *map(d.cases, STATISTICS),
                    *map(d.periods, STATISTICS),
                )
                for d in late
            ],
        )
    for start in range(0, len(drawn), trend.MOST_CONTROLS):
        some = drawn[start : start + trend.MOST_CONTROLS]
        yield text.figure(
            f"vigilance_charts{view.suffix}_{start // trend.MOST_CONTROLS + 1}",
            trend.ControlCharts(tuple(_panel(view, chart) for chart in some)),
            "charts",
            n=len(some),
            alerts=sum(in_control(c) == "alert" for c in some),
        )


def _delay(delay: Delay) -> Message:
    """How late an alert would be."""
    values = {name: delay.cases(name) for name in STATISTICS}
    values |= {f"{name}_periods": delay.periods(name) for name in STATISTICS}
    return text("delay.sentence", level=delay.chart.indicator.to_detect, **values)


def _charted(chart: Charted) -> Message:
    name, state, e = chart.name, in_control(chart), chart.result.estimate
    kind = chart.type
    if not state:
        return text("charts.undefined", name=name, chart=kind, reason=e.note)
    values = {
        "name": name,
        "chart": kind,
        "budget": e.details["false_alert_budget"],
        "spent": e.details["false_alert_spent"],
        "cases": e.n,
    }
    if state == "alert":
        key = "charts.sprt_alert" if chart.kind == "sprt" else "charts.alert"
        first = {"period": chart.alert_period, "at": e.details["first_alert_case"]}
        return text(key, n=int(e.details["alerts"]), **first, **values)
    if chart.kind == "sprt":
        return text("charts.sprt_in_control", n=int(e.details["accepted"]), **values)
    return text("charts.in_control", **values)


def _design_table(view: MonitoringView, drawn: list[Charted]) -> PlainTable:
    def length(chart: Charted, rate: str) -> float | None:
        """Cases until an alert, or until a decision, on average."""
        value = chart.design.get(f"{'arl' if chart.kind == 'cusum' else 'cases_needed'}_{rate}")
        return value if value is not None and isfinite(value) else None

    return text.table(
        f"vigilance_charts{view.suffix}",
        text("table.charts"),
        ".indicator .chart .rates .limit:number .budget:percent .spent:percent .arl0:count .arl1:count"
        " .alerts:count",
        [
            (
                c.name,
                c.type,
                c.rates,
                *(c.design[name] for name in ("limit", "false_alert_budget", "false_alert_spent")),
                *(length(c, rate) for rate in ("in_control", "to_detect")),
                int(c.design["alerts"]),
            )
            for c in drawn
        ],
    )


def _panel(view: MonitoringView, chart: Charted) -> trend.ControlPanel:
    looks, run = chart.looks, chart.run
    assert looks is not None
    assert run is not None
    cases = np.cumsum(looks.sizes)
    path = [(0.0, 0.0), *zip(cases.astype(float).tolist(), run.statistic.tolist())]
    accepted = run.accepted if isinstance(run, SprtChart) else ()
    # Where a chart begins again, the line falls to 0 at once.
    ended = {*run.alerts, *accepted}
    with_falls = []
    for i, point in enumerate(path):
        with_falls.append(point)
        if i - 1 in ended:
            with_falls.append((point[0], 0.0))
    x, y = zip(*with_falls)
    ends = {name: float(total) for name, total in zip(looks.period, cases)}
    every = view.timeline.periods
    shown = view.short(every) or [str(i) for i in range(1, len(every) + 1)]
    names = dict(zip((p.name for p in every), shown))
    return trend.ControlPanel(
        chart.title,
        curves.thinned(x, y, MOST_CORNERS),
        run.limit if isinstance(run, CusumChart) else run.high,
        run.low if isinstance(run, SprtChart) else float("nan"),
        tuple(path[i + 1] for i in run.alerts),
        tuple(path[i + 1] for i in accepted),
        tuple((names.get(name, name), end) for name, end in ends.items()),
    )


def _funnels(view: MonitoringView) -> Iterator[Item]:
    for number, one in enumerate(view.funnels, 1):
        id, name, z, n = (
            f"vigilance_funnel{view.suffix}_{number}",
            heading(one.endpoint),
            one.found.z,
            one.found.n,
        )
        yield _funnel_sentence(one)
        rates = (digits.share(x, m) if m else None for x, m in zip(one.events, n))
        scores = ([e.value for e in z[f"funnel_{way}"]] for way in ("naive", "multiplicative", "additive"))
        yield text.table(
            id,
            text("table.funnel", name=name, target=one.found.target),
            (
                one.of,
                "n .share:percent .z_naive:number .z_multiplicative:number .z_additive:number p",
            ),
            zip(one.names, n, rates, *scores, [e.p for e in z[one.leads]]),
        )
        if not all(isnan(e.value) for e in z[one.leads]):
            drawing = _funnel_plot(one)
            k = sum(u.outside for u in drawing.units)
            key = f"figure.funnel_{one.of}{'_plain' if one.without else ''}"
            caption = text(key, name=name)
            yield text.figure(id, drawing, "funnel", caption, n=len(drawing.units), name=name, k=k)


def _funnel_sentence(one: Compared) -> Message:
    z = one.found.z[one.leads]
    values: dict[str, Any] = {"name": heading(one.endpoint), "n": len(one.names), "target": one.found.target}
    of = text(f"funnel.{one.of}s", n=len(one.names))
    if all(isnan(e.value) for e in z):
        return text("funnel.undefined", of=of, reason=z[0].note, name=values["name"])
    key = "beyond" if one.beyond else "within"
    values |= {"of": of, "names": one.beyond}
    if one.without:
        centre = "baseline" if one.at_baseline else "pooled"
        said = text(f"funnel.plain_{key}", **values)
        return text("both", first=said, second=text(f"funnel.{one.without}_{centre}"))
    if isnan(one.found.phi):
        return text(f"funnel.few_{key}", **values)
    return text(f"funnel.{key}", phi=one.found.phi, **values)


def _funnel_plot(one: Compared) -> monitoring.FunnelPlot:
    least, most = min(n for n in one.found.n if n), max(one.found.n)
    at = np.linspace(max(1.0, 0.5 * least), 1.08 * most, 90)
    units = tuple(
        monitoring.FunnelUnit(name, n, x / n, e.value, name in one.beyond)
        for name, n, x, e in zip(one.names, one.found.n, one.events, one.found.z[one.leads])
        if n
    )

    def limits(share: float, method: str) -> monitoring.FunnelLimits:
        """The funnel around the target at this coverage."""
        low, high = one.found.limits(at, share, method)
        return monitoring.FunnelLimits(*(tuple(zip(at.tolist(), side.tolist())) for side in (low, high)))

    return monitoring.FunnelPlot(
        heading(one.endpoint),
        one.found.target,
        units,
        limits(INNER, one.leads),
        limits(OUTER, one.leads),
        limits(INNER, NAIVE) if one.found.tau > 0 and one.leads != NAIVE else None,
    )
