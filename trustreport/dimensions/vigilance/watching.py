"""How early warnings, sequential charts and funnels are told."""

from collections.abc import Iterator
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.dimensions.vigilance.charts import Charted, in_control
from trustreport.dimensions.vigilance.compared import Compared
from trustreport.dimensions.vigilance.drifted import moved, shares
from trustreport.dimensions.vigilance.periods import ID, mature_on, mix_columns
from trustreport.dimensions.vigilance.told import Told, heading
from trustreport.estimate import Estimate
from trustreport.figures import control_chart, curves, funnel, stacked, trend
from trustreport.finding import Column, Figure, Part, PlainTable
from trustreport.measures.monitoring.cusum import CusumChart
from trustreport.measures.monitoring.sprt import SprtChart
from trustreport.messages import Message, say

INNER, OUTER = 0.95, 0.998
MOST_CORNERS = 300
MOST_MIXES = 4  # columns of groups in one table


# ---------------------------------------------------------------- early warnings without labels


def drift(told: Told) -> Part:
    """Scores, features and groups against the baseline: no evidence of changed performance."""
    return Part(
        tuple(_drift_sentences(told)),
        say(f"{ID}.title_drift"),
        tuple(_drift_tables(told)),
        tuple(_drift_figures(told)),
        told.timeline.scope,
    )


def _drift_sentences(told: Told) -> Iterator[Message]:
    timeline, last = told.timeline, told.timeline.last
    yield say(f"{ID}.drift.label")
    if last is None or timeline.baseline is None or not len(timeline.baseline):
        yield say(f"{ID}.drift.none_to_compare")
        return
    found = moved(told.results, last.name, told.plan.report.confidence_level)
    if not found:
        yield say(f"{ID}.drift.nothing", period=last.name)
        return
    names = [_name(r.scope.get("parameters") or {}) for r, _ in found]
    yield say(f"{ID}.drift.moved", period=last.name, n=len(found), names=names)
    immature = int((~last.mature).sum())
    ripe = mature_on(last, told.plan)
    if immature and ripe is not None:
        yield say(f"{ID}.drift_only", n=immature, n_labels=immature, date=ripe)
    else:
        yield say(f"{ID}.drift.known")


def _name(parameters: dict[str, Any]) -> Message:
    by = parameters.get("by")
    return say(f"{ID}.drift.mix", column=_column(by)) if by else say(f"{ID}.drift.scores")


def _column(name: Any) -> Message:
    return say(f"{ID}.drift.site") if name == "site" else say("word.name", name=str(name).replace("_", " "))


def _watched(told: Told) -> list[str]:
    """The columns with any entry of a changed mix."""
    every = [*mix_columns(told.timeline, told.plan), "site"]
    return [c for c in every if told.find("mix_drift", parameters={"by": c})]


def _drift_tables(told: Told) -> Iterator[PlainTable]:
    heads = (
        Column(say(f"{ID}.column.period")),
        Column(say(f"{ID}.column.ks"), "number.3"),
        Column(say(f"{ID}.column.ks_p"), "p"),
        Column(say(f"{ID}.column.psi"), "number.3"),
        Column(say(f"{ID}.column.psi_p"), "p"),
        Column(say(f"{ID}.column.features"), "number.3"),
    )
    rows = []
    for p in told.timeline.periods:
        ks, index = told.estimate("score_drift", period=p.name), _psi(told, p.name)
        features = told.estimate("feature_drift", period=p.name).value
        rows.append((told.numbered(p), ks.value, ks.p, index.value, index.p, features))
    caption = say(f"{ID}.table.drift")
    yield PlainTable(f"vigilance_drift{told.suffix}", caption, heads, tuple(rows))
    columns = _watched(told)
    for start in range(0, len(columns), MOST_MIXES):
        yield _mix_table(told, columns[start : start + MOST_MIXES], start // MOST_MIXES + 1)


def _psi(told: Told, period: str) -> Estimate:
    """The population stability index of a period, which stands beside the test that leads."""
    for r in told.results:
        if r.id == f"{ID}.score_drift" and r.method == "psi" and r.within(period=period):
            return r.estimate
    return Estimate(nan, nan, nan, 0)


def _mix_table(told: Told, columns: list[str], number: int) -> PlainTable:
    heads = [Column(say(f"{ID}.column.period"))]
    for c in columns:
        heads += [
            Column(say(f"{ID}.column.mix", column=_column(c)), "percent"),
            Column(say(f"{ID}.column.p"), "p"),
        ]
    rows = []
    for p in told.timeline.periods:
        row: list[Any] = [told.numbered(p)]
        for c in columns:
            one = told.estimate("mix_drift", period=p.name, parameters={"by": c})
            row += [one.value, one.p]
        rows.append(tuple(row))
    caption = say(f"{ID}.table.mix")
    return PlainTable(f"vigilance_mix{told.suffix}_{number}", caption, tuple(heads), tuple(rows))


def _drift_figures(told: Told) -> Iterator[Figure]:
    timeline = told.timeline
    names = tuple(p.name for p in timeline.all)
    panels = []
    for column in _watched(told)[: stacked.MOST_PANELS]:
        counted = [shares(p, column) for p in timeline.all]
        groups = sorted({name for table in counted for name in table})
        if 1 < len(groups) <= stacked.MOST_PARTS:
            parts = tuple(stacked.Part(g, tuple(table.get(g, 0) for table in counted)) for g in groups)
            panels.append(stacked.StackPanel(_column(column), parts, shares=True))
    base = timeline.baseline is not None
    if panels:
        yield Figure(
            f"vigilance_mix{told.suffix}",
            stacked.Stacked(names, tuple(panels), baseline=base),
            say(f"{ID}.figure.mix"),
            say(f"{ID}.figure.mix_alt", n=len(panels)),
        )
    found = [told.estimate("feature_drift", period=p.name) for p in timeline.periods]
    called = [_called(told, p.name) for p in timeline.periods]
    moving = [
        trend.TrendPanel(say(f"{ID}.figure.{name}"), tuple(estimates), percent=percent)
        for name, estimates, percent in (("called", called, True), ("features", found, False))
        if not all(isnan(e.value) for e in estimates)
    ]
    if moving:
        yield Figure(
            f"vigilance_drift{told.suffix}",
            trend.Trend(names[1:] if base else names, tuple(moving), baseline=False),
            say(f"{ID}.figure.drift", level=told.plan.report.confidence_level),
            say(f"{ID}.figure.drift_alt", n=len(timeline.periods)),
        )


def _called(told: Told, period: str) -> Any:
    return told.estimate("called_share", period=period)


# ---------------------------------------------------------------- sequential charts and funnels


def charts(told: Told) -> Part:
    """What each declared chart says, with the budget of false alerts spent; sites and readers in a funnel."""
    drawn = [c for c in told.charts if c.run is not None]
    finding = [_told(c) for c in told.charts]
    if not finding:
        finding = [say(f"{ID}.status.no_chart")]
    finding += [_funnel_sentence(one) for one in told.funnels]
    tables = list(_design_table(told, drawn))
    tables += [_funnel_table(told, one, i) for i, one in enumerate(told.funnels, 1)]
    figures = list(_chart_figures(told, drawn))
    figures += [_funnel_figure(told, one, i) for i, one in enumerate(told.funnels, 1) if _can_draw(one)]
    return Part(tuple(finding), say(f"{ID}.title_charts"), tuple(tables), tuple(figures), told.timeline.scope)


def _told(chart: Charted) -> Message:
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


def _design_table(told: Told, drawn: list[Charted]) -> Iterator[PlainTable]:
    if not drawn:
        return
    columns = (
        Column(say(f"{ID}.column.indicator")),
        Column(say(f"{ID}.column.chart")),
        Column(say(f"{ID}.column.rates")),
        Column(say(f"{ID}.column.limit"), "number"),
        Column(say(f"{ID}.column.budget"), "percent"),
        Column(say(f"{ID}.column.spent"), "percent"),
        Column(say(f"{ID}.column.arl0"), "count"),
        Column(say(f"{ID}.column.arl1"), "count"),
        Column(say(f"{ID}.column.alerts"), "count"),
    )
    rows = []
    for c in drawn:
        d = c.result.estimate.details
        rates = say(f"{ID}.rates", in_control=c.indicator.in_control, to_detect=c.indicator.to_detect)
        lengths = (
            ("arl_in_control", "arl_to_detect")
            if c.kind == "cusum"
            else (
                "cases_needed_in_control",
                "cases_needed_to_detect",
            )
        )
        rows.append(
            (
                heading(c.endpoint),
                say(f"{ID}.chart.{c.kind}"),
                rates,
                d["limit"],
                d["false_alert_budget"],
                d["false_alert_spent"],
                *(_finite(d.get(name)) for name in lengths),
                int(d["alerts"]),
            )
        )
    yield PlainTable(f"vigilance_charts{told.suffix}", say(f"{ID}.table.charts"), columns, tuple(rows))


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def _chart_figures(told: Told, drawn: list[Charted]) -> Iterator[Figure]:
    for start in range(0, len(drawn), control_chart.MOST_PANELS):
        some = drawn[start : start + control_chart.MOST_PANELS]
        yield Figure(
            f"vigilance_charts{told.suffix}_{start // control_chart.MOST_PANELS + 1}",
            control_chart.ControlCharts(tuple(_panel(told, c) for c in some)),
            say(f"{ID}.figure.charts"),
            say(f"{ID}.figure.charts_alt", n=len(some), alerts=sum(in_control(c) == "alert" for c in some)),
        )


def _panel(told: Told, chart: Charted) -> control_chart.ControlPanel:
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
    return control_chart.ControlPanel(
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
    beyond = [name for name, e in zip(one.names, z) if abs(e.value) > 1.959964]
    values: dict[str, Any] = {"name": heading(one.endpoint), "n": len(one.names), "target": one.found.target}
    of = say(f"{ID}.funnel.{one.of}s", n=len(one.names))
    if all(isnan(e.value) for e in z):
        return say(f"{ID}.funnel.undefined", of=of, reason=z[0].note, name=values["name"])
    key = "beyond" if beyond else "within"
    if isnan(one.found.phi):
        return say(f"{ID}.funnel.few_{key}", of=of, names=beyond, **values)
    return say(f"{ID}.funnel.{key}", of=of, names=beyond, phi=one.found.phi, **values)


def _funnel_table(told: Told, one: Compared, number: int) -> PlainTable:
    columns = (
        Column(say(f"{ID}.column.{one.of}")),
        Column(say(f"{ID}.column.n"), "count"),
        Column(say(f"{ID}.column.share"), "percent"),
        Column(say(f"{ID}.column.z_naive"), "number"),
        Column(say(f"{ID}.column.z_multiplicative"), "number"),
        Column(say(f"{ID}.column.z_additive"), "number"),
        Column(say(f"{ID}.column.p"), "p"),
    )
    z = one.found.z
    rows = tuple(
        (
            name,
            n,
            x / n if n else None,
            *(z[method][k].value for method in ("funnel_naive", "funnel_multiplicative", "funnel_additive")),
            z[one.leads][k].p,
        )
        for k, (name, x, n) in enumerate(zip(one.names, one.events, one.found.n))
    )
    caption = say(f"{ID}.table.funnel", name=heading(one.endpoint), target=one.found.target)
    return PlainTable(f"vigilance_funnel{told.suffix}_{number}", caption, columns, rows)


def _can_draw(one: Compared) -> bool:
    return not all(isnan(e.value) for e in one.found.z[one.leads])


def _funnel_figure(told: Told, one: Compared, number: int) -> Figure:
    least, most = min(n for n in one.found.n if n), max(one.found.n)
    at = np.linspace(max(1.0, 0.5 * least), 1.08 * most, 90)
    units = tuple(
        funnel.FunnelUnit(name, n, x / n, e.value, abs(e.value) > 1.959964)
        for name, n, x, e in zip(one.names, one.found.n, one.events, one.found.z[one.leads])
        if n
    )

    def limits(share: float, method: str) -> funnel.Limits:
        low, high = one.found.limits(at, share, method)
        return funnel.Limits(*(tuple(zip(at.tolist(), side.tolist())) for side in (low, high)))

    drawing = funnel.FunnelPlot(
        heading(one.endpoint),
        one.found.target,
        units,
        limits(INNER, one.leads),
        limits(OUTER, one.leads),
        limits(INNER, "funnel_naive") if one.found.tau > 0 and one.leads != "funnel_naive" else None,
    )
    name = heading(one.endpoint)
    return Figure(
        f"vigilance_funnel{told.suffix}_{number}",
        drawing,
        say(f"{ID}.figure.funnel_{one.of}", name=name),
        say(f"{ID}.figure.funnel_alt", n=len(units), name=name, k=sum(u.outside for u in units)),
    )
