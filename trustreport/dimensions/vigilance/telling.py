"""How vigilance is told: where things stand, how much use, what can be judged, what has changed."""

from collections.abc import Iterator
from math import isfinite, isnan, nan
from typing import Any

from trustreport.dimensions.vigilance.charts import Charted, in_control
from trustreport.dimensions.vigilance.events import due, is_new, is_open, named
from trustreport.dimensions.vigilance.measured import (
    OF_READINGS,
    change_unit,
    criterion,
    endpoints,
    indicator_of,
    unit_of,
)
from trustreport.dimensions.vigilance.periods import ID, Period, mature_on
from trustreport.dimensions.vigilance.told import Told, heading
from trustreport.estimate import Estimate
from trustreport.figures import stacked, trend
from trustreport.finding import Column, Figure, Part, PlainTable
from trustreport.messages import Message, say

MOST_TREND = 9
MOST_COLUMNS = 4
TEXT = "text"


def status(told: Told) -> Part:
    """Signals open, new and closed; charts in and out of control; what is due."""
    return Part(
        title=say(f"{ID}.title_status"),
        finding=tuple(_standing(told)),
        tables=tuple(_status_tables(told)),
        scope=told.timeline.scope,
    )


def _standing(told: Told) -> Iterator[Message]:
    charts = [c for c in told.charts if in_control(c)]
    alerts = {c.endpoint: c for c in reversed(charts) if in_control(c) == "alert"}
    endpoints_charted = {c.endpoint for c in charts}
    if alerts:
        names = [
            heading(endpoint) for endpoint in dict.fromkeys(c.endpoint for c in charts) if endpoint in alerts
        ]
        yield say(f"{ID}.status.alerts", n=len(alerts), of=len(endpoints_charted), names=names)
    elif charts:
        yield say(f"{ID}.status.no_alert", n=len(endpoints_charted))
    else:
        yield say(f"{ID}.status.no_chart")
    signals = told.plan.signals
    if signals:
        yield say(
            f"{ID}.status.signals",
            open=sum(map(is_open, signals)),
            new=sum(is_new(s, told.plan) for s in signals),
            closed=sum(not is_open(s) for s in signals),
        )
    else:
        yield say(f"{ID}.status.no_signals")
    for endpoint in alerts:
        if not named(signals, endpoint):
            yield say(f"{ID}.status.unregistered", name=heading(endpoint))
    late = [d for d in due(told.plan, told.timeline) if d.late]
    if late:
        yield say(f"{ID}.status.late", n=len(late), names=[d.what for d in late], day=told.timeline.cut)


def _status_tables(told: Told) -> Iterator[PlainTable]:
    if told.charts:
        yield PlainTable(
            f"vigilance_indicators{told.suffix}",
            say(f"{ID}.table.indicators"),
            (
                Column(say(f"{ID}.column.indicator")),
                Column(say(f"{ID}.column.chart")),
                Column(say(f"{ID}.column.rates")),
                Column(say(f"{ID}.column.latest")),
                Column(say(f"{ID}.column.state")),
                Column(say(f"{ID}.column.action")),
            ),
            tuple(_indicator_row(told, chart) for chart in told.charts),
        )
    todo = due(told.plan, told.timeline)
    if todo:
        yield PlainTable(
            f"vigilance_due{told.suffix}",
            say(f"{ID}.table.due", day=told.timeline.cut)
            if told.timeline.cut
            else say(f"{ID}.table.due_plain"),
            (
                Column(say(f"{ID}.column.due")),
                Column(say(f"{ID}.column.what")),
                Column(say(f"{ID}.column.owner")),
                Column(say(f"{ID}.column.late")),
            ),
            tuple(
                (
                    d.day.isoformat(),
                    say(f"{ID}.due.{d.kind}", name=d.what),
                    d.owner or None,
                    say(f"{ID}.late") if d.late else None,
                )
                for d in todo
            ),
        )


def _indicator_row(told: Told, chart: Charted) -> tuple[Any, ...]:
    declared, state = chart.indicator, in_control(chart)
    rates: Any = None
    if declared.in_control is not None and declared.to_detect is not None:
        rates = say(f"{ID}.rates", in_control=declared.in_control, to_detect=declared.to_detect)
    said: Message = say(f"{ID}.state.none", reason=chart.result.estimate.note)
    if state == "alert":
        said = say(f"{ID}.state.alert", period=chart.alert_period)
        if chart.alert_day is not None and chart.looks is not None and chart.looks.by_case:
            said = say(f"{ID}.state.alert_day", period=chart.alert_period, day=chart.alert_day)
    elif state:
        said = say(f"{ID}.state.in_control")
    return (
        heading(chart.endpoint),
        say(f"{ID}.chart.{chart.kind}") if chart.run is not None else None,
        rates,
        _latest(told, chart.endpoint),
        said,
        declared.action,
    )


def _latest(told: Told, endpoint: str) -> Any:
    """The estimate of the latest period that has one."""
    quantity = "reliance_value" if endpoint in OF_READINGS else "period_value"
    for period in reversed(told.timeline.periods):
        e = told.estimate(quantity, period=period.name, endpoint=endpoint)
        if not isnan(e.value):
            return e
    return None


# ---------------------------------------------------------------- exposure and versions


def exposure(told: Told) -> Part:
    """How much use, by whom, of which version."""
    uses = told.uses
    cases, processed = sum(u.cases for u in uses), sum(u.processed for u in uses)
    finding = [say(f"{ID}.exposure", n=len(uses), cases=cases, processed=processed)]
    versions = sorted({v for u in uses for v in u.versions})
    if versions:
        finding.append(say(f"{ID}.versions", n=len(versions), names=versions))
    mixed = [u.period for u in uses if len(u.versions) > 1]
    if mixed:
        finding.append(say(f"{ID}.mixed_versions", n=len(mixed), names=mixed))
    empty = [p.name for p in told.timeline.periods if not len(p)]
    if empty:
        finding.append(say(f"{ID}.empty", n=len(empty), names=empty))
    if len(told.timeline.periods) < 2:
        finding.append(say(f"{ID}.one_period"))
    return Part(
        title=say(f"{ID}.title_exposure"),
        finding=tuple(finding),
        tables=(_exposure_table(told),),
        figures=tuple(_exposure_figure(told, versions)),
        scope=told.timeline.scope,
    )


def _exposure_table(told: Told) -> PlainTable:
    counted = ("cases", "processed", "refused", "failed", "no_output", "users", "sites")
    shown = [c for c in counted if any(getattr(u, c) for u in told.uses)]
    versions = any(u.versions for u in told.uses)
    columns = [Column(say(f"{ID}.column.period"))]
    columns += [Column(say(f"{ID}.column.{c}"), "count") for c in shown]
    if versions:
        columns.append(Column(say(f"{ID}.column.versions")))
    rows = []
    for use, period in zip(told.uses, told.timeline.periods):
        row: list[Any] = [told.numbered(period), *(getattr(use, c) for c in shown)]
        if versions:
            every = [say(f"{ID}.version", version=v, n=n) for v, n in use.versions.items()]
            row.append(say(f"{ID}.listed", items=every) if every else None)
        rows.append(tuple(row))
    return PlainTable(
        f"vigilance_exposure{told.suffix}", say(f"{ID}.table.exposure"), tuple(columns), tuple(rows)
    )


def _exposure_figure(told: Told, versions: list[str]) -> Iterator[Figure]:
    outcomes = ("processed", "refused", "failed", "no_output")
    parts = [
        stacked.Part(say(f"{ID}.column.{o}"), tuple(getattr(u, o) for u in told.uses))
        for o in outcomes
        if any(getattr(u, o) for u in told.uses)
    ]
    panels = [stacked.StackPanel(say(f"{ID}.figure.outcomes"), tuple(parts))] if parts else []
    if len(versions) > 1:
        of = tuple(
            stacked.Part(
                say(f"{ID}.figure.version", version=v), tuple(u.versions.get(v, 0) for u in told.uses)
            )
            for v in versions
        )
        panels.append(stacked.StackPanel(say(f"{ID}.figure.versions"), _few(of)))
    if panels:
        names = tuple(p.name for p in told.timeline.periods)
        yield Figure(
            f"vigilance_exposure{told.suffix}",
            stacked.Stacked(names, tuple(panels), baseline=False),
            say(f"{ID}.figure.exposure"),
            say(f"{ID}.figure.exposure_alt", n=len(names)),
        )


def _few(parts: tuple[stacked.Part, ...]) -> tuple[stacked.Part, ...]:
    """At most so many parts, the smallest of more put together."""
    if len(parts) <= stacked.MOST_PARTS:
        return parts
    order = sorted(parts, key=lambda p: -sum(p.counts))
    kept, rest = order[: stacked.MOST_PARTS - 1], order[stacked.MOST_PARTS - 1 :]
    together = tuple(sum(column) for column in zip(*(p.counts for p in rest)))
    return (*kept, stacked.Part(say(f"{ID}.figure.others", n=len(rest)), together))


# ---------------------------------------------------------------- what can be judged


def maturity(told: Told) -> Part:
    """How many cases have a ripe truth, and whether that depends on what was advised."""
    timeline, plan = told.timeline, told.plan
    days = plan.reference_standard.maturity_days
    finding: list[Message] = []
    last = timeline.last
    if days is None or timeline.cut is None:
        finding.append(say(f"{ID}.no_maturity"))
    elif last is not None:
        share = told.estimate("mature_share", period=last.name)
        finding.append(
            say(f"{ID}.maturity", period=last.name, value=share.value, n=share.n, days=days, cut=timeline.cut)
        )
        ripe = mature_on(last, plan)
        if ripe is not None and ripe > timeline.cut:
            left = int((~last.mature).sum())
            finding.append(say(f"{ID}.ripens", n=left, day=ripe))
    if not any((p.truth >= 0).any() for p in timeline.periods):
        finding.append(say(f"{ID}.no_truth"))
    rows = tuple(
        (
            told.numbered(p),
            len(p),
            told.estimate("mature_share", period=p.name).value,
            told.estimate("labelled_share", period=p.name, parameters=None).value,
            told.estimate("labelled_share", period=p.name, parameters={"called": "positive"}).value,
            told.estimate("labelled_share", period=p.name, parameters={"called": "negative"}).value,
        )
        for p in timeline.periods
    )
    columns = (
        Column(say(f"{ID}.column.period")),
        Column(say(f"{ID}.column.cases"), "count"),
        Column(say(f"{ID}.column.mature"), "percent"),
        Column(say(f"{ID}.column.labelled"), "percent"),
        Column(say(f"{ID}.column.labelled_positive"), "percent"),
        Column(say(f"{ID}.column.labelled_negative"), "percent"),
    )
    table = PlainTable(f"vigilance_maturity{told.suffix}", say(f"{ID}.table.maturity"), columns, rows)
    return Part(tuple(finding), say(f"{ID}.title_maturity"), (table,), scope=timeline.scope)


# ---------------------------------------------------------------- performance


def performance(told: Told) -> Part:
    """Each endpoint against the baseline and the period before, and what is left at the baseline's mix."""
    last = told.timeline.last
    sentences = list(_changes(told, last)) if last is not None else [say(f"{ID}.no_cases")]
    tables = [_change_table(told, last)] if last is not None else []
    tables.append(_period_table(told))
    return Part(
        tuple(sentences),
        say(f"{ID}.title_performance"),
        tuple(tables),
        tuple(_trend(told)),
        told.timeline.scope,
    )


def _changes(told: Told, last: Period) -> Iterator[Message]:
    base = told.timeline.baseline
    if base is None or not len(base):
        yield say(f"{ID}.no_baseline")
        return
    if not told.timeline.declared_baseline:
        yield say(f"{ID}.stand_in", name=base.name)
    declared = [e for e in endpoints(told.plan) if indicator_of(e, told.plan)] or endpoints(told.plan)[:2]
    for endpoint in declared:
        yield _sentence(told, last, endpoint)


def _sentence(told: Told, last: Period, endpoint: str) -> Message:
    change, now = (
        told.change(last, endpoint, "baseline"),
        told.estimate("period_value", period=last.name, endpoint=endpoint),
    )
    name = heading(endpoint)
    if isnan(change.value):
        return say(f"{ID}.change.undefined", name=name, period=last.name, reason=change.note)
    unit = change_unit(endpoint)
    if isnan(change.low):
        return say(
            f"{ID}.change.no_interval_{unit}",
            name=name,
            period=last.name,
            value=change.value,
            reason=change.note,
        )
    none = 1.0 if unit == "ratio" else 0.0
    where = "above" if change.low > none else "below" if change.high < none else "either"
    said = say(
        f"{ID}.change.{unit}_{where}",
        name=name,
        period=last.name,
        value=change.value,
        low=change.low,
        high=change.high,
        level=change.level,
    )
    declared = indicator_of(endpoint, told.plan)
    against = criterion(now, declared)
    if against and declared is not None:
        key = f"{ID}.criterion.{against}"
        also = say(key, bound=declared.to_detect) if unit_of(endpoint) == "proportion" else None
        said = say(f"{ID}.both", first=said, second=also) if also else said
    return said


def _change_table(told: Told, last: Period) -> PlainTable:
    columns = (
        Column(say(f"{ID}.column.endpoint")),
        Column(say(f"{ID}.column.n"), "count"),
        Column(say(f"{ID}.column.now"), "number"),
        Column(say(f"{ID}.column.baseline"), "number"),
        Column(say(f"{ID}.column.since_baseline"), "number"),
        Column(say(f"{ID}.column.since_previous"), "number"),
        Column(say(f"{ID}.column.standardised"), "number"),
    )
    rows = []
    for endpoint in endpoints(told.plan):
        now = told.estimate("period_value", period=last.name, endpoint=endpoint)
        base = told.timeline.baseline
        then = told.estimate("period_value", period=base.name, endpoint=endpoint).value if base else nan
        held = told.estimate("standardised_change", period=last.name, endpoint=endpoint)
        rows.append(
            (
                heading(endpoint),
                now.n,
                now.value,
                then,
                _shown(told.change(last, endpoint, "baseline")),
                _shown(told.change(last, endpoint, "previous")),
                _shown(held),
            )
        )
    caption = say(f"{ID}.table.changes", period=last.name, level=told.plan.report.confidence_level)
    return PlainTable(f"vigilance_changes{told.suffix}", caption, columns, tuple(rows))


def _shown(e: Estimate) -> Estimate | None:
    """An estimate for a table, where there is anything to show."""
    return None if isnan(e.value) else e


def _period_table(told: Told) -> PlainTable:
    shown = endpoints(told.plan)[:MOST_COLUMNS]
    columns = (
        Column(say(f"{ID}.column.period")),
        *(Column(heading(endpoint), "number") for endpoint in shown),
    )
    rows = tuple(
        (
            told.numbered(p),
            *(_shown(told.estimate("period_value", period=p.name, endpoint=e)) for e in shown),
        )
        for p in told.timeline.all
    )
    level = told.plan.report.confidence_level
    return PlainTable(
        f"vigilance_periods{told.suffix}", say(f"{ID}.table.periods", level=level), columns, rows
    )


def _trend(told: Told) -> Iterator[Figure]:
    panels = []
    for endpoint in endpoints(told.plan)[:MOST_TREND]:
        found = [told.estimate("period_value", period=p.name, endpoint=endpoint) for p in told.timeline.all]
        if all(isnan(e.value) for e in found):
            continue
        declared = indicator_of(endpoint, told.plan)
        panels.append(
            trend.TrendPanel(
                heading(endpoint),
                tuple(found),
                _or_nan(declared.in_control if declared else None),
                _or_nan(declared.to_detect if declared else None),
                percent=unit_of(endpoint) == "proportion" and endpoint != "auc",
            )
        )
    if panels:
        names = tuple(p.name for p in told.timeline.all)
        yield Figure(
            f"vigilance_trend{told.suffix}",
            trend.Trend(names, tuple(panels), baseline=told.timeline.baseline is not None),
            say(f"{ID}.figure.trend", level=told.plan.report.confidence_level),
            say(f"{ID}.figure.trend_alt", n=len(panels), periods=len(told.timeline.periods)),
        )


def _or_nan(value: float | None) -> float:
    return value if value is not None and isfinite(value) else nan
