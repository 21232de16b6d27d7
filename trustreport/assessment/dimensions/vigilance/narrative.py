"""Where things stand, how much use there was, what can be judged, what has changed: sentences and tables."""

from collections.abc import Callable, Iterator
from math import isfinite, isnan, nan
from typing import Any

from trustreport.assessment.dimensions.vigilance.charts import Charted, designed_for, in_control
from trustreport.assessment.dimensions.vigilance.due import due
from trustreport.assessment.dimensions.vigilance.entries import (
    OF_READINGS,
    criterion,
    endpoints,
    indicator_of,
)
from trustreport.assessment.dimensions.vigilance.events import is_new, is_open, named
from trustreport.assessment.dimensions.vigilance.exposure import Use
from trustreport.assessment.dimensions.vigilance.periods import ID, Period, mature_on
from trustreport.assessment.dimensions.vigilance.view import MonitoringView
from trustreport.assessment.finding import Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import heading, numbers, side_of
from trustreport.figures import trend
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.quantities import endpoint_row

MOST_TREND = 9
MOST_COLUMNS = 4
COLUMN = f"{ID}.column"


def status(view: MonitoringView) -> Part:
    """Signals open, new and closed; charts in and out of control; what is overdue."""
    return Part(
        title=say(f"{ID}.title_status"),
        finding=tuple(_status_sentences(view)),
        tables=tuple(_status_tables(view)),
        place=view.timeline.place,
    )


def due_list(view: MonitoringView) -> Part:
    """What must be done, by whom and by when."""
    return Part(
        (),
        say(f"{ID}.title_due"),
        tables=tuple(_due_table(view)),
        place=view.timeline.place,
        element="due",
    )


def _status_sentences(view: MonitoringView) -> Iterator[Message]:
    charts = [c for c in view.charts if in_control(c)]
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
    signals = view.plan.signals
    if signals:
        yield say(
            f"{ID}.status.signals",
            open=sum(map(is_open, signals)),
            new=sum(is_new(s, view.plan) for s in signals),
            closed=sum(not is_open(s) for s in signals),
        )
    else:
        yield say(f"{ID}.status.no_signals")
    for endpoint in alerts:
        if not named(signals, endpoint):
            yield say(f"{ID}.status.unregistered", name=heading(endpoint))
    late = [d for d in due(view.plan, view.timeline, view.charts) if d.late]
    if late:
        yield say(f"{ID}.status.late", n=len(late), names=[d.name for d in late], day=view.timeline.cut)


def _status_tables(view: MonitoringView) -> Iterator[PlainTable]:
    if view.charts:
        yield table(
            f"vigilance_indicators{view.suffix}",
            say(f"{ID}.table.indicators"),
            view.charts,
            [
                (f"{COLUMN}.indicator", lambda c: heading(c.endpoint)),
                (f"{COLUMN}.chart", lambda c: say(f"{ID}.chart.{c.kind}") if c.run is not None else None),
                (f"{COLUMN}.rates", lambda c: designed_for(c.indicator)),
                (f"{COLUMN}.latest", lambda c: _latest(view, c.endpoint)),
                (f"{COLUMN}.state", _state),
                (f"{COLUMN}.action", lambda c: c.indicator.action),
            ],
        )


def _due_table(view: MonitoringView) -> Iterator[PlainTable]:
    todo = due(view.plan, view.timeline, view.charts)
    if todo:
        cut = view.timeline.cut
        yield table(
            f"vigilance_due{view.suffix}",
            say(f"{ID}.table.due", day=cut) if cut else say(f"{ID}.table.due_plain"),
            todo,
            [
                (f"{COLUMN}.due", lambda d: say("word.on", day=d.day) if d.day else say(f"{ID}.due.no_term")),
                (f"{COLUMN}.what", "what"),
                (f"{COLUMN}.owner", lambda d: d.owner or say(f"{ID}.due.no_owner")),
                (f"{COLUMN}.late", lambda d: say(f"{ID}.late") if d.late else None),
            ],
        )


def _state(chart: Charted) -> Message:
    state = in_control(chart)
    if not state:
        return say(f"{ID}.state.none", reason=chart.result.estimate.note)
    if state != "alert":
        return say(f"{ID}.state.in_control")
    if chart.alert_day is not None and chart.looks is not None and chart.looks.by_case:
        return say(f"{ID}.state.alert_day", period=chart.alert_period, day=chart.alert_day)
    return say(f"{ID}.state.alert", period=chart.alert_period)


def _latest(view: MonitoringView, endpoint: str) -> Any:
    """The estimate of the latest period that has one."""
    quantity = "reliance_value" if endpoint in OF_READINGS else "period_value"
    for period in reversed(view.timeline.periods):
        e = view.estimate(quantity, period=period.name, endpoint=endpoint)
        if not isnan(e.value):
            return e
    return None


# ---------------------------------------------------------------- exposure and versions


def exposure(view: MonitoringView) -> Part:
    """How much use, by whom, of which version."""
    uses = view.uses
    cases, processed = sum(u.cases for u in uses), sum(u.processed for u in uses)
    finding = [say(f"{ID}.exposure", n=len(uses), cases=cases, processed=processed)]
    versions = sorted({v for u in uses for v in u.versions})
    if versions:
        finding.append(say(f"{ID}.versions", n=len(versions), names=versions))
    mixed = [u.period for u in uses if len(u.versions) > 1]
    if mixed:
        finding.append(say(f"{ID}.mixed_versions", n=len(mixed), names=mixed))
    empty = [p.name for p in view.timeline.periods if not len(p)]
    if empty:
        finding.append(say(f"{ID}.empty", n=len(empty), names=empty))
    if len(view.timeline.periods) < 2:
        finding.append(say(f"{ID}.one_period"))
    return Part(
        title=say(f"{ID}.title_exposure"),
        finding=tuple(finding),
        tables=(_exposure_table(view),),
        figures=tuple(_exposure_figure(view, versions)),
        place=view.timeline.place,
    )


def _exposure_table(view: MonitoringView) -> PlainTable:
    counted = ("cases", "processed", "refused", "failed", "no_output", "users", "sites")
    shown = [c for c in counted if any(getattr(u, c) for u in view.uses)]
    versions = any(u.versions for u in view.uses)
    return table(
        f"vigilance_exposure{view.suffix}",
        say(f"{ID}.table.exposure"),
        zip(view.uses, view.timeline.periods, strict=True),
        [
            (f"{COLUMN}.period", lambda row: view.numbered(row[1])),
            *((f"{COLUMN}.{c}", lambda row, c=c: getattr(row[0], c), "count") for c in shown),
            (f"{COLUMN}.versions", lambda row: _versions(row[0])) if versions else None,
        ],
    )


def _versions(use: Use) -> Message | None:
    every = [say(f"{ID}.version", version=v, n=n) for v, n in use.versions.items()]
    return say(f"{ID}.listed", items=every) if every else None


def _exposure_figure(view: MonitoringView, versions: list[str]) -> Iterator[Figure]:
    outcomes = ("processed", "refused", "failed", "no_output")
    parts = [
        trend.StackPart(say(f"{ID}.column.{o}"), tuple(getattr(u, o) for u in view.uses))
        for o in outcomes
        if any(getattr(u, o) for u in view.uses)
    ]
    panels = [trend.StackPanel(say(f"{ID}.figure.outcomes"), tuple(parts))] if parts else []
    if len(versions) > 1:
        of = tuple(
            trend.StackPart(
                say(f"{ID}.figure.version", version=v), tuple(u.versions.get(v, 0) for u in view.uses)
            )
            for v in versions
        )
        panels.append(trend.StackPanel(say(f"{ID}.figure.versions"), _few(of)))
    if panels:
        names = tuple(p.name for p in view.timeline.periods)
        yield Figure(
            f"vigilance_exposure{view.suffix}",
            trend.Stacked(names, tuple(panels), baseline=False, short=view.short(view.timeline.periods)),
            say(f"{ID}.figure.exposure"),
            say(f"{ID}.figure.exposure_alt", n=len(names)),
        )


def _few(parts: tuple[trend.StackPart, ...]) -> tuple[trend.StackPart, ...]:
    """At most so many parts, the smallest of more put together."""
    if len(parts) <= trend.MOST_PARTS:
        return parts
    order = sorted(parts, key=lambda p: -sum(p.counts))
    kept, rest = order[: trend.MOST_PARTS - 1], order[trend.MOST_PARTS - 1 :]
    together = tuple(sum(column) for column in zip(*(p.counts for p in rest)))
    return (*kept, trend.StackPart(say(f"{ID}.figure.others", n=len(rest)), together))


# ---------------------------------------------------------------- what can be judged


def maturity(view: MonitoringView) -> Part:
    """How many cases are old enough for a truth, and whether that depends on what was advised."""
    timeline, plan = view.timeline, view.plan
    days = plan.reference_standard.maturity_days
    finding: list[Message] = []
    last = timeline.last
    if days is None or timeline.cut is None:
        finding.append(say(f"{ID}.no_maturity"))
    elif last is not None:
        old = view.estimate("mature_share", period=last.name)
        values = {"value": old.value, "n": old.n, "days": days, "cut": timeline.cut}
        finding.append(say(f"{ID}.maturity", period=last.name, **values))
        day = mature_on(last, plan)
        if day is not None and day > timeline.cut:
            finding.append(say(f"{ID}.ripens", n=int((~last.mature).sum()), day=day))
    if not any((p.truth >= 0).any() for p in timeline.periods):
        finding.append(say(f"{ID}.no_truth"))

    def share(name: str, called: str = "") -> Callable[[Period], float]:
        chosen = {"called": called} if called else None
        return lambda p: view.estimate(name, period=p.name, parameters=chosen).value

    by_period = table(
        f"vigilance_maturity{view.suffix}",
        say(f"{ID}.table.maturity"),
        timeline.periods,
        [
            (f"{COLUMN}.period", view.numbered),
            (f"{COLUMN}.cases", len, "count"),
            (f"{COLUMN}.mature", share("mature_share"), "percent"),
            (f"{COLUMN}.labelled", share("labelled_share"), "percent"),
            (f"{COLUMN}.labelled_positive", share("labelled_share", "positive"), "percent"),
            (f"{COLUMN}.labelled_negative", share("labelled_share", "negative"), "percent"),
        ],
    )
    return Part(tuple(finding), say(f"{ID}.title_maturity"), (by_period,), place=timeline.place)


# ---------------------------------------------------------------- performance


def performance(view: MonitoringView) -> Part:
    """Each endpoint against the baseline and the period before, and what is left at the baseline's mix."""
    last = view.timeline.last
    sentences = list(_changes(view, last)) if last is not None else [say(f"{ID}.no_cases")]
    tables = [_change_table(view, last)] if last is not None else []
    tables.append(_period_table(view))
    return Part(
        tuple(sentences),
        say(f"{ID}.title_performance"),
        tuple(tables),
        tuple(_trend(view)),
        view.timeline.place,
    )


def _changes(view: MonitoringView, last: Period) -> Iterator[Message]:
    base = view.timeline.baseline
    if base is None or not len(base):
        yield say(f"{ID}.no_baseline")
        return
    if not view.timeline.declared_baseline:
        yield say(f"{ID}.stand_in", name=base.name)
    declared = [e for e in endpoints(view.plan) if indicator_of(e, view.plan)] or endpoints(view.plan)[:2]
    for endpoint in declared:
        yield _sentence(view, last, endpoint)


def _sentence(view: MonitoringView, last: Period, endpoint: str) -> Message:
    change, now = view.change(last, endpoint, "baseline"), view.value(last, endpoint)
    name = heading(endpoint)
    if isnan(change.value):
        return say(f"{ID}.change.undefined", name=name, period=last.name, reason=change.note)
    row = endpoint_row(endpoint).change()
    kind = "score" if row.written == "area_difference" else row.unit
    about = {"name": name, "period": last.name}
    if isnan(change.low):
        values = {"value": change.value, "reason": change.note}
        return say(f"{ID}.change.no_interval_{kind}", **about, **values)
    where = side_of(change, row.no_effect or 0.0)
    said = say(f"{ID}.change.{kind}_{where}", **about, **numbers(change))
    declared = indicator_of(endpoint, view.plan)
    against = criterion(now, declared)
    if against and declared is not None:
        area = endpoint_row(endpoint).written == "area"
        key = f"{ID}.criterion_of_area.{against}" if area else f"{ID}.criterion.{against}"
        share = endpoint_row(endpoint).unit == "proportion"
        within = {"period": last.name, "low": now.low, "high": now.high}
        also = say(key, bound=declared.to_detect, **within) if share else None
        said = say(f"{ID}.both", first=said, second=also) if also else said
    return said


def _change_table(view: MonitoringView, last: Period) -> PlainTable:
    base = view.timeline.baseline

    def standardised(endpoint: str) -> Estimate:
        return view.estimate("standardised_change", period=last.name, endpoint=endpoint)

    return table(
        f"vigilance_changes{view.suffix}",
        say(f"{ID}.table.changes", period=last.name, level=view.plan.report.confidence_level),
        endpoints(view.plan),
        [
            (f"{COLUMN}.endpoint", heading),
            (f"{COLUMN}.n", lambda e: view.value(last, e).n, "count"),
            (f"{COLUMN}.now", lambda e: view.value(last, e).value, "number"),
            (f"{COLUMN}.baseline", lambda e: view.value(base, e).value if base else nan, "number"),
            (f"{COLUMN}.since_baseline", lambda e: _shown(view.change(last, e, "baseline")), "number"),
            (f"{COLUMN}.since_previous", lambda e: _shown(view.change(last, e, "previous")), "number"),
            (f"{COLUMN}.standardised", lambda e: _shown(standardised(e)), "number"),
        ],
    )


def _shown(e: Estimate) -> Estimate | None:
    """An estimate for a table, where there is anything to show."""
    return None if isnan(e.value) else e


def _period_table(view: MonitoringView) -> PlainTable:
    return table(
        f"vigilance_periods{view.suffix}",
        say(f"{ID}.table.periods", level=view.plan.report.confidence_level),
        view.timeline.all,
        [
            (f"{COLUMN}.period", view.numbered),
            *(
                (heading(e), lambda p, e=e: _shown(view.value(p, e)), "number")
                for e in endpoints(view.plan)[:MOST_COLUMNS]
            ),
        ],
    )


def _trend(view: MonitoringView) -> Iterator[Figure]:
    panels = []
    for endpoint in endpoints(view.plan)[:MOST_TREND]:
        found = [view.value(p, endpoint) for p in view.timeline.all]
        if all(isnan(e.value) for e in found):
            continue
        declared = indicator_of(endpoint, view.plan)
        panels.append(
            trend.TrendPanel(
                heading(endpoint),
                tuple(found),
                _or_nan(declared.in_control if declared else None),
                _or_nan(declared.to_detect if declared else None),
                percent=endpoint_row(endpoint).written == "proportion",
            )
        )
    if panels:
        names = tuple(p.name for p in view.timeline.all)
        yield Figure(
            f"vigilance_trend{view.suffix}",
            trend.Trend(
                names,
                tuple(panels),
                baseline=view.timeline.baseline is not None,
                short=view.short(view.timeline.all),
                events=view.events(),
            ),
            say(f"{ID}.figure.trend", level=view.plan.report.confidence_level),
            say(f"{ID}.figure.trend_alt", n=len(panels), periods=len(view.timeline.periods)),
        )


def _or_nan(value: float | None) -> float:
    return value if value is not None and isfinite(value) else nan
