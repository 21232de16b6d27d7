"""Early warnings, sequential charts and funnels: sentences, tables and figures."""

from collections.abc import Iterator, Mapping
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.vigilance.charts import Charted, designed_for, in_control
from trustreport.assessment.dimensions.vigilance.compared import NAIVE, Compared
from trustreport.assessment.dimensions.vigilance.delays import Delay, delay_sentence, delay_table
from trustreport.assessment.dimensions.vigilance.drift import drifted, shares
from trustreport.assessment.dimensions.vigilance.periods import ID, Period, mature_on, mix_columns
from trustreport.assessment.dimensions.vigilance.view import MonitoringView
from trustreport.assessment.finding import Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import Spec, table
from trustreport.assessment.narrative.texts import heading
from trustreport.figures import curves, monitoring, trend
from trustreport.measures.estimate import Estimate
from trustreport.measures.monitoring.charts import CusumChart, SprtChart
from trustreport.vocabulary import digits
from trustreport.vocabulary.messages import Message, say

INNER, OUTER = 0.95, 0.998
MOST_CORNERS = 300
COLUMN = f"{ID}.column"
MOST_MIXES = 4  # columns of groups in one table


# ---------------------------------------------------------------- early warnings without labels


def drift(view: MonitoringView) -> Part:
    """Scores, features and groups against the baseline: no evidence of changed performance."""
    return Part(
        tuple(_drift_sentences(view)),
        say(f"{ID}.title_drift"),
        tuple(_drift_tables(view)),
        tuple(_drift_figures(view)),
        view.timeline.place,
    )


def _drift_sentences(view: MonitoringView) -> Iterator[Message]:
    timeline, last = view.timeline, view.timeline.last
    yield say(f"{ID}.drift.label")
    if last is None or timeline.baseline is None or not len(timeline.baseline):
        yield say(f"{ID}.drift.none_to_compare")
        return
    found = drifted(view.results, last.name, view.plan.report.confidence_level)
    if not found:
        yield say(f"{ID}.drift.nothing", period=last.name)
        return
    names = [_name(r.parameters) for r, _ in found]
    yield say(f"{ID}.drift.moved", period=last.name, n=len(found), names=names)
    immature = int((~last.mature).sum())
    day = mature_on(last, view.plan)
    if immature and day is not None:
        yield say(f"{ID}.drift_only", n=immature, n_labels=immature, date=day)
    else:
        yield say(f"{ID}.drift.known")


def _name(parameters: Mapping[str, Any]) -> Message:
    by = parameters.get("by")
    return say(f"{ID}.drift.mix", column=_column(by)) if by else say(f"{ID}.drift.scores")


def _column(name: Any) -> Message:
    return say(f"{ID}.drift.site") if name == "site" else say("word.name", name=str(name).replace("_", " "))


def _watched(view: MonitoringView) -> list[str]:
    """The columns with any entry of a changed mix."""
    every = [*mix_columns(view.timeline, view.plan), "site"]
    return [c for c in every if view.find("mix_drift", parameters={"by": c})]


def _drift_tables(view: MonitoringView) -> Iterator[PlainTable]:
    rows = [
        (
            view.numbered(p),
            view.estimate("score_drift", period=p.name),
            _psi(view, p.name),
            view.estimate("feature_drift", period=p.name),
        )
        for p in view.timeline.periods
    ]
    yield table(
        f"vigilance_drift{view.suffix}",
        say(f"{ID}.table.drift"),
        rows,
        [
            (f"{COLUMN}.period", 0),
            (f"{COLUMN}.ks", lambda row: row[1].value, "number.3"),
            (f"{COLUMN}.ks_p", lambda row: row[1].p, "p"),
            (f"{COLUMN}.psi", lambda row: row[2].value, "number.3"),
            (f"{COLUMN}.psi_p", lambda row: row[2].p, "p"),
            (f"{COLUMN}.features", lambda row: row[3].value, "number.3"),
        ],
    )
    columns = _watched(view)
    for start in range(0, len(columns), MOST_MIXES):
        yield _mix_table(view, columns[start : start + MOST_MIXES], start // MOST_MIXES + 1)


def _psi(view: MonitoringView, period: str) -> Estimate:
    """The population stability index of a period, which stands beside the test that leads."""
    for r in view.results:
        if r.id == f"{ID}.score_drift" and r.method == "psi" and r.within(period=period):
            return r.estimate
    return Estimate(nan, nan, nan, 0)


def _mix_table(view: MonitoringView, columns: list[str], number: int) -> PlainTable:
    def of(column: str) -> tuple[Spec[Period], Spec[Period]]:
        def change(period: Period) -> Estimate:
            return view.estimate("mix_drift", period=period.name, parameters={"by": column})

        head = say(f"{COLUMN}.mix", column=_column(column))
        return (head, lambda p: change(p).value, "percent"), (f"{COLUMN}.p", lambda p: change(p).p, "p")

    specs = [(f"{COLUMN}.period", view.numbered), *(spec for c in columns for spec in of(c))]
    id, caption = f"vigilance_mix{view.suffix}_{number}", say(f"{ID}.table.mix")
    return table(id, caption, view.timeline.periods, specs)


def _drift_figures(view: MonitoringView) -> Iterator[Figure]:
    timeline = view.timeline
    names = tuple(p.name for p in timeline.all)
    panels = []
    for column in _watched(view)[: trend.MOST_STACKS]:
        counted = [shares(p, column) for p in timeline.all]
        groups = sorted({name for table in counted for name in table})
        if 1 < len(groups) <= trend.MOST_PARTS:
            parts = tuple(trend.StackPart(g, tuple(table.get(g, 0) for table in counted)) for g in groups)
            panels.append(trend.StackPanel(_column(column), parts, shares=True))
    base = timeline.baseline is not None
    if panels:
        yield Figure(
            f"vigilance_mix{view.suffix}",
            trend.Stacked(names, tuple(panels), baseline=base, short=view.short(timeline.all)),
            say(f"{ID}.figure.mix"),
            say(f"{ID}.figure.mix_alt", n=len(panels)),
        )
    found = [view.estimate("feature_drift", period=p.name) for p in timeline.periods]
    called = [_called(view, p.name) for p in timeline.periods]
    moving = [
        trend.TrendPanel(say(f"{ID}.figure.{name}"), tuple(estimates), percent=percent)
        for name, estimates, percent in (("called", called, True), ("features", found, False))
        if not all(isnan(e.value) for e in estimates)
    ]
    if moving:
        yield Figure(
            f"vigilance_drift{view.suffix}",
            trend.Trend(
                names[1:] if base else names,
                tuple(moving),
                baseline=False,
                short=view.short(timeline.periods),
            ),
            say(f"{ID}.figure.drift", level=view.plan.report.confidence_level),
            say(f"{ID}.figure.drift_alt", n=len(timeline.periods)),
        )


def _called(view: MonitoringView, period: str) -> Any:
    return view.estimate("called_share", period=period)


# ---------------------------------------------------------------- sequential charts and funnels


def charts(view: MonitoringView) -> Part:
    """What each declared chart says, with the budget of false alerts spent; sites and readers in a funnel."""
    drawn = [c for c in view.charts if c.run is not None]
    finding = [_with_delay(delay) for delay in view.delays]
    if not finding:
        finding = [say(f"{ID}.status.no_chart")]
    finding += [_funnel_sentence(one) for one in view.funnels]
    tables = [*_design_table(view, drawn), *delay_table(view.delays, view.suffix)]
    tables += [_funnel_table(view, one, i) for i, one in enumerate(view.funnels, 1)]
    figures = list(_chart_figures(view, drawn))
    figures += [_funnel_figure(view, one, i) for i, one in enumerate(view.funnels, 1) if _can_draw(one)]
    return Part(tuple(finding), say(f"{ID}.title_charts"), tuple(tables), tuple(figures), view.timeline.place)


def _with_delay(delay: Delay) -> Message:
    """What a chart says, then how late it would be."""
    said, late = _charted(delay.chart), delay_sentence(delay)
    return say(f"{ID}.both", first=said, second=late) if late else said


def _charted(chart: Charted) -> Message:
    name, state, e = heading(chart.endpoint), in_control(chart), chart.result.estimate
    kind = say(f"{ID}.chart.{chart.kind}")
    if not state:
        return say(f"{ID}.charts.undefined", name=name, chart=kind, reason=e.note)
    values = {
        "name": name,
        "chart": kind,
        "budget": e.details["false_alert_budget"],
        "spent": e.details["false_alert_spent"],
        "cases": e.n,
    }
    if chart.kind == "sprt" and state != "alert":
        return say(f"{ID}.charts.sprt_in_control", n=int(e.details["accepted"]), **values)
    if state == "alert":
        return say(
            f"{ID}.charts.sprt_alert" if chart.kind == "sprt" else f"{ID}.charts.alert",
            period=chart.alert_period,
            at=e.details["first_alert_case"],
            n=int(e.details["alerts"]),
            **values,
        )
    return say(f"{ID}.charts.in_control", **values)


def _design_table(view: MonitoringView, drawn: list[Charted]) -> Iterator[PlainTable]:
    if not drawn:
        return
    yield table(
        f"vigilance_charts{view.suffix}",
        say(f"{ID}.table.charts"),
        drawn,
        [
            (f"{COLUMN}.indicator", lambda c: heading(c.endpoint)),
            (f"{COLUMN}.chart", lambda c: say(f"{ID}.chart.{c.kind}")),
            (f"{COLUMN}.rates", lambda c: designed_for(c.indicator)),
            (f"{COLUMN}.limit", lambda c: c.design["limit"], "number"),
            (f"{COLUMN}.budget", lambda c: c.design["false_alert_budget"], "percent"),
            (f"{COLUMN}.spent", lambda c: c.design["false_alert_spent"], "percent"),
            (f"{COLUMN}.arl0", lambda c: _length(c, "in_control"), "count"),
            (f"{COLUMN}.arl1", lambda c: _length(c, "to_detect"), "count"),
            (f"{COLUMN}.alerts", lambda c: int(c.design["alerts"]), "count"),
        ],
    )


def _length(chart: Charted, rate: str) -> float | None:
    """Cases until an alert, or until a decision, on average."""
    value = chart.design.get(f"{'arl' if chart.kind == 'cusum' else 'cases_needed'}_{rate}")
    return value if value is not None and np.isfinite(value) else None


def _chart_figures(view: MonitoringView, drawn: list[Charted]) -> Iterator[Figure]:
    for start in range(0, len(drawn), trend.MOST_CONTROLS):
        some = drawn[start : start + trend.MOST_CONTROLS]
        yield Figure(
            f"vigilance_charts{view.suffix}_{start // trend.MOST_CONTROLS + 1}",
            trend.ControlCharts(tuple(_panel(view, c) for c in some)),
            say(f"{ID}.figure.charts"),
            say(f"{ID}.figure.charts_alt", n=len(some), alerts=sum(in_control(c) == "alert" for c in some)),
        )


def _panel(view: MonitoringView, chart: Charted) -> trend.ControlPanel:
    looks, run = chart.looks, chart.run
    assert looks is not None
    assert run is not None
    cases = np.cumsum(looks.sizes)
    path = [(0.0, 0.0), *zip(cases.astype(float).tolist(), run.statistic.tolist())]
    # Where a chart begins again, the line falls to 0 at once.
    ended = {*run.alerts, *(run.accepted if isinstance(run, SprtChart) else ())}
    with_falls = []
    for i, point in enumerate(path):
        with_falls.append(point)
        if i - 1 in ended:
            with_falls.append((point[0], 0.0))
    x, y = zip(*with_falls)
    ends = [
        float(cases[max(i for i, p in enumerate(looks.period) if p == name)])
        for name in dict.fromkeys(looks.period)
    ]
    high = run.limit if isinstance(run, CusumChart) else run.high
    return trend.ControlPanel(
        say(f"{ID}.figure.chart", name=heading(chart.endpoint), chart=say(f"{ID}.chart.{chart.kind}")),
        curves.thinned(x, y, MOST_CORNERS),
        high,
        run.low if isinstance(run, SprtChart) else float("nan"),
        tuple(path[i + 1] for i in run.alerts),
        tuple(path[i + 1] for i in run.accepted) if isinstance(run, SprtChart) else (),
        tuple(ends),
    )


def _funnel_sentence(one: Compared) -> Message:
    z = one.found.z[one.leads]
    values: dict[str, Any] = {"name": heading(one.endpoint), "n": len(one.names), "target": one.found.target}
    of = say(f"{ID}.funnel.{one.of}s", n=len(one.names))
    if all(isnan(e.value) for e in z):
        return say(f"{ID}.funnel.undefined", of=of, reason=z[0].note, name=values["name"])
    key = "beyond" if one.beyond else "within"
    if one.without:
        centre = "baseline" if one.at_baseline else "pooled"
        said = say(f"{ID}.funnel.plain_{key}", of=of, names=one.beyond, **values)
        return say(f"{ID}.both", first=said, second=say(f"{ID}.funnel.{one.without}_{centre}"))
    if isnan(one.found.phi):
        return say(f"{ID}.funnel.few_{key}", of=of, names=one.beyond, **values)
    return say(f"{ID}.funnel.{key}", of=of, names=one.beyond, phi=one.found.phi, **values)


def _funnel_table(view: MonitoringView, one: Compared, number: int) -> PlainTable:
    z, n = one.found.z, one.found.n
    return table(
        f"vigilance_funnel{view.suffix}_{number}",
        say(f"{ID}.table.funnel", name=heading(one.endpoint), target=one.found.target),
        range(len(one.names)),
        [
            (f"{COLUMN}.{one.of}", lambda k: one.names[k]),
            (f"{COLUMN}.n", lambda k: n[k], "count"),
            (f"{COLUMN}.share", lambda k: digits.share(one.events[k], n[k]) if n[k] else None, "percent"),
            (f"{COLUMN}.z_naive", lambda k: z["funnel_naive"][k].value, "number"),
            (f"{COLUMN}.z_multiplicative", lambda k: z["funnel_multiplicative"][k].value, "number"),
            (f"{COLUMN}.z_additive", lambda k: z["funnel_additive"][k].value, "number"),
            (f"{COLUMN}.p", lambda k: z[one.leads][k].p, "p"),
        ],
    )


def _can_draw(one: Compared) -> bool:
    return not all(isnan(e.value) for e in one.found.z[one.leads])


def _funnel_figure(view: MonitoringView, one: Compared, number: int) -> Figure:
    least, most = min(n for n in one.found.n if n), max(one.found.n)
    at = np.linspace(max(1.0, 0.5 * least), 1.08 * most, 90)
    units = tuple(
        monitoring.FunnelUnit(name, n, x / n, e.value, name in one.beyond)
        for name, n, x, e in zip(one.names, one.found.n, one.events, one.found.z[one.leads])
        if n
    )

    def limits(share: float, method: str) -> monitoring.FunnelLimits:
        low, high = one.found.limits(at, share, method)
        return monitoring.FunnelLimits(*(tuple(zip(at.tolist(), side.tolist())) for side in (low, high)))

    drawing = monitoring.FunnelPlot(
        heading(one.endpoint),
        one.found.target,
        units,
        limits(INNER, one.leads),
        limits(OUTER, one.leads),
        limits(INNER, NAIVE) if one.found.tau > 0 and one.leads != NAIVE else None,
    )
    name = heading(one.endpoint)
    return Figure(
        f"vigilance_funnel{view.suffix}_{number}",
        drawing,
        say(f"{ID}.figure.funnel_{one.of}{'_plain' if one.without else ''}", name=name),
        say(f"{ID}.figure.funnel_alt", n=len(units), name=name, k=sum(u.outside for u in units)),
    )
