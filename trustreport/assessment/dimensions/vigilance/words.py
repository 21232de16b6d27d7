"""Where things stand, how much use there was, what can be judged, what has changed: sentences and tables."""

from collections.abc import Iterator, Sequence
from math import isfinite, isnan, nan
from typing import Any

from trustreport.assessment.dimensions.vigilance.charts import Charted, in_control
from trustreport.assessment.dimensions.vigilance.events import day_of_report, due, is_new, is_open, named
from trustreport.assessment.dimensions.vigilance.periods import ID, Period, mature_on
from trustreport.assessment.dimensions.vigilance.readers_over_time import FOLLOWED, Reliances
from trustreport.assessment.dimensions.vigilance.results import (
    OF_READINGS,
    criterion,
    endpoints,
    indicator_of,
)
from trustreport.assessment.dimensions.vigilance.view import MonitoringView
from trustreport.assessment.finding import Column, Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, form_of, heading, if_known, on_day, side_of
from trustreport.figures import trend
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.quantities import endpoint_row

MOST_TREND = 9
MOST_COLUMNS = 4
FOLLOWED_TIMES = (*FOLLOWED.values(), "seconds")

text = Texts(ID)


def status(view: MonitoringView) -> Part:
    """Signals open, new and closed; charts in and out of control; what is overdue."""
    return text.part(_status(view), text("title_status"), view.place)


def due_list(view: MonitoringView) -> Part:
    """What must be done, by whom and by when."""
    return text.part(_due_table(view), text("title_due"), view.place, "due")


def _status(view: MonitoringView) -> Iterator[Item]:
    charts = [c for c in view.charts if in_control(c)]
    alerts = dict.fromkeys(c.endpoint for c in reversed(charts) if in_control(c) == "alert")
    charted = dict.fromkeys(c.endpoint for c in charts)
    if alerts:
        names = [heading(endpoint) for endpoint in charted if endpoint in alerts]
        yield text("status.alerts", n=len(alerts), of=len(charted), names=names)
    elif charts:
        yield text("status.no_alert", n=len(charted))
    else:
        yield text("status.no_chart")
    signals = view.plan.signals
    if signals:
        still = sum(map(is_open, signals))
        new = sum(is_new(s, view.plan) for s in signals)
        yield text("status.signals", open=still, new=new, closed=len(signals) - still)
    else:
        yield text("status.no_signals")
    for endpoint in alerts:
        if not named(signals, endpoint):
            yield text("status.unregistered", name=heading(endpoint))
    late = [d.name for d in due(view.plan, view.timeline, view.charts) if d.late]
    if late:
        yield text("status.late", n=len(late), names=late, day=day_of_report(view.plan, view.timeline))
    if view.charts:
        yield text.table(
            f"vigilance_indicators{view.suffix}",
            text("table.indicators"),
            ".indicator .chart .rates .latest .state .action",
            [
                (c.name, c.type if c.run else None, c.rates, _latest(view, c), _state(c), c.indicator.action)
                for c in view.charts
            ],
        )


def _due_table(view: MonitoringView) -> Iterator[PlainTable]:
    todo, today = due(view.plan, view.timeline, view.charts), day_of_report(view.plan, view.timeline)
    if todo:
        yield text.table(
            f"vigilance_due{view.suffix}",
            text("table.due", day=today) if today else text("table.due_plain"),
            ".due .what .owner .late",
            [
                (
                    on_day(d.day) or text("due.no_term"),
                    d.what,
                    d.owner or text("due.no_owner"),
                    text("late") if d.late else None,
                )
                for d in todo
            ],
        )


def _state(chart: Charted) -> Message:
    state = in_control(chart)
    if not state:
        return text("state.none", reason=chart.result.estimate.note)
    if state != "alert":
        return text("state.in_control")
    if chart.alert_day is not None and chart.looks is not None and chart.looks.by_case:
        values = {"period": chart.alert_period, "day": chart.alert_day, "known": chart.known}
        return text("state.alert_known" if chart.follow_up else "state.alert_day", **values)
    return text("state.alert", period=chart.alert_period)


def _latest(view: MonitoringView, chart: Charted) -> Estimate | None:
    """The estimate of the latest period that has one."""
    quantity = "reliance_value" if chart.endpoint in OF_READINGS else "period_value"
    found = (
        view.estimate(quantity, period=period.name, endpoint=chart.endpoint)
        for period in reversed(view.timeline.periods)
    )
    return next((e for e in found if not isnan(e.value)), None)


def exposure(view: MonitoringView) -> Part:
    """How much use, by whom, of which version."""
    return text.part(_exposure(view), text("title_exposure"), view.place, "E36")


def _exposure(view: MonitoringView) -> Iterator[Item]:
    uses, periods = view.uses, view.timeline.periods
    cases, processed = sum(u.cases for u in uses), sum(u.processed for u in uses)
    yield text("exposure", n=len(uses), cases=cases, processed=processed)
    versions = sorted({v for u in uses for v in u.versions})
    mixed = [u.period for u in uses if len(u.versions) > 1]
    empty = [p.name for p in periods if not len(p)]
    for key, names in (("versions", versions), ("mixed_versions", mixed), ("empty", empty)):
        if names:
            yield text(key, n=len(names), names=names)
    if len(periods) < 2:
        yield text("one_period")
    counted = ("cases", "processed", "refused", "failed", "no_output", "users", "sites")
    shown = [c for c in counted if any(getattr(u, c) for u in uses)]
    yield text.table(
        f"vigilance_exposure{view.suffix}",
        text("table.exposure"),
        (".period", *(text.column(c, "count") for c in shown), ".versions?"),
        [
            (view.numbered(p), *(getattr(u, c) for c in shown), _versions(u.versions.items()))
            for u, p in zip(uses, periods, strict=True)
        ],
    )
    yield from _exposure_figure(view, versions)


def _versions(counts: Any) -> Message | None:
    every = [text("version", version=v, n=n) for v, n in counts]
    return text("listed", items=every) if every else None


def _exposure_figure(view: MonitoringView, versions: Sequence[str]) -> Iterator[Figure]:
    uses, periods = view.uses, view.timeline.periods
    outcomes = [
        trend.StackPart(text(f"column.{o}"), tuple(getattr(u, o) for u in uses))
        for o in ("processed", "refused", "failed", "no_output")
        if any(getattr(u, o) for u in uses)
    ]
    panels = [trend.StackPanel(text("figure.outcomes"), tuple(outcomes))] if outcomes else []
    if len(versions) > 1:
        parts = [
            trend.StackPart(text("figure.version", version=v), tuple(u.versions.get(v, 0) for u in uses))
            for v in versions
        ]
        panels.append(trend.StackPanel(text("figure.versions"), _few(tuple(parts))))
    if panels:
        names = tuple(p.name for p in periods)
        drawing = trend.Stacked(names, tuple(panels), baseline=False, short=view.short(periods))
        yield text.figure(f"vigilance_exposure{view.suffix}", drawing, "exposure", n=len(names))


def _few(parts: tuple[trend.StackPart, ...]) -> tuple[trend.StackPart, ...]:
    """At most so many parts, the smallest of more put together."""
    if len(parts) <= trend.MOST_PARTS:
        return parts
    order = sorted(parts, key=lambda p: -sum(p.counts))
    kept, rest = order[: trend.MOST_PARTS - 1], order[trend.MOST_PARTS - 1 :]
    together = tuple(sum(column) for column in zip(*(p.counts for p in rest)))
    return (*kept, trend.StackPart(text("figure.others", n=len(rest)), together))


def maturity(view: MonitoringView) -> Part:
    """How many cases are old enough for a truth, and whether that depends on what was advised."""
    return text.part(_maturity(view), text("title_maturity"), view.place, "E09")


def _maturity(view: MonitoringView) -> Iterator[Item]:
    timeline, plan = view.timeline, view.plan
    days, last = plan.reference_standard.maturity_days, timeline.last
    if days is None or timeline.cut is None:
        yield text("no_maturity")
    elif last is not None:
        old = view.estimate("mature_share", period=last.name)
        yield text("maturity", old, period=last.name, n=old.n, days=days, cut=timeline.cut)
        day = mature_on(last, plan)
        if day is not None and day > timeline.cut:
            yield text("ripens", n=int((~last.mature).sum()), day=day)
    if not any((p.truth >= 0).any() for p in timeline.periods):
        yield text("no_truth")

    def share(period: Period, name: str, called: str = "") -> float:
        """A proportion of the cases of a period, of those with one decision where one is named."""
        chosen = {"called": called} if called else None
        return view.estimate(name, period=period.name, parameters=chosen).value

    yield text.table(
        f"vigilance_maturity{view.suffix}",
        text("table.maturity"),
        ".period cases .mature:percent .labelled:percent .labelled_positive:percent"
        " .labelled_negative:percent",
        [
            (
                view.numbered(p),
                len(p),
                share(p, "mature_share"),
                *(share(p, "labelled_share", called) for called in ("", "positive", "negative")),
            )
            for p in timeline.periods
        ],
    )


def performance(view: MonitoringView) -> Part:
    """Each endpoint against the baseline and the period before, and what is left at the baseline's mix."""
    return text.part(_performance(view), text("title_performance"), view.place)


def _performance(view: MonitoringView) -> Iterator[Item]:
    last, every = view.timeline.last, endpoints(view.plan)
    if last is None:
        yield text("no_cases")
    else:
        yield from _changes(view, last)
        yield _change_table(view, last)
    heads = (Column(heading(e), form_of(endpoint_row(e))) for e in every[:MOST_COLUMNS])
    yield text.table(
        f"vigilance_periods{view.suffix}",
        text("table.periods", level=view.level),
        (".period", *heads),
        [
            (view.numbered(p), *(if_known(view.value(p, e)) for e in every[:MOST_COLUMNS]))
            for p in view.timeline.with_baseline
        ],
    )
    yield from _trend(view)


def _changes(view: MonitoringView, last: Period) -> Iterator[Message]:
    base = view.timeline.baseline
    if base is None or not len(base):
        yield text("no_baseline")
        return
    if not view.timeline.declared_baseline:
        yield text("stand_in", name=base.name)
    declared = [e for e in endpoints(view.plan) if indicator_of(e, view.plan)] or endpoints(view.plan)[:2]
    for endpoint in declared:
        yield _sentence(view, last, endpoint)


def _sentence(view: MonitoringView, last: Period, endpoint: str) -> Message:
    change, now = view.change(last, endpoint, "baseline"), view.value(last, endpoint)
    name = heading(endpoint)
    if isnan(change.value):
        return text("change.undefined", name=name, period=last.name, reason=change.note)
    row = endpoint_row(endpoint).change()
    kind = "score" if row.written == "area_difference" else row.unit
    about = {"name": name, "period": last.name}
    if isnan(change.low):
        values = {"value": change.value, "reason": change.note}
        return text(f"change.no_interval_{kind}", **about, **values)
    said = text(f"change.{kind}_{side_of(change, row.no_effect or 0.0)}", change, **about)
    declared = indicator_of(endpoint, view.plan)
    against = criterion(now, declared)
    if against and declared is not None and endpoint_row(endpoint).unit == "proportion":
        of = "criterion_of_area" if endpoint_row(endpoint).written == "area" else "criterion"
        also = text(f"{of}.{against}", now, bound=declared.to_detect, period=last.name)
        return text("both", first=said, second=also)
    return said


def _change_table(view: MonitoringView, last: Period) -> PlainTable:
    base = view.timeline.baseline

    def row(endpoint: str) -> Iterator[Any]:
        """An endpoint: its value now and at the baseline, and its changes."""
        yield from (heading(endpoint), view.value(last, endpoint).n, view.value_result(last, endpoint))
        yield view.value_result(base, endpoint) if base else None
        for against in ("baseline", "previous"):
            yield view.change_result(last, endpoint, against)
        yield if_known(view.estimate("standardised_change", period=last.name, endpoint=endpoint))

    return text.table(
        f"vigilance_changes{view.suffix}",
        text("table.changes", period=last.name, level=view.level),
        "measure n .now:number .baseline:number .since_baseline:number .since_previous:number"
        " .standardised:number",
        map(row, endpoints(view.plan)),
    )


def _trend(view: MonitoringView) -> Iterator[Figure]:
    timeline, panels = view.timeline, []
    for endpoint in endpoints(view.plan)[:MOST_TREND]:
        found = tuple(view.value(p, endpoint) for p in timeline.with_baseline)
        if all(isnan(e.value) for e in found):
            continue
        declared = indicator_of(endpoint, view.plan)
        rates = (declared.in_control, declared.to_detect) if declared else (None, None)
        share = endpoint_row(endpoint).written == "proportion"
        in_control, to_detect = map(_or_nan, rates)
        panels.append(trend.TrendPanel(heading(endpoint), found, in_control, to_detect, share))
    if panels:
        drawing = trend.Trend(
            tuple(p.name for p in timeline.with_baseline),
            tuple(panels),
            baseline=timeline.baseline is not None,
            short=view.short(timeline.with_baseline),
            events=view.events(),
        )
        values: dict[str, Any] = {"n": len(panels), "periods": len(timeline.periods), "level": view.level}
        yield text.figure(f"vigilance_trend{view.suffix}", drawing, "trend", **values)


def _or_nan(value: float | None) -> float:
    return value if value is not None and isfinite(value) else nan


def readers_part(view: MonitoringView) -> Part:
    """Agreement, overrides, harmful switches and reading time by period, or what cannot be said of them."""
    return text.part(_readers(view), text("title_people"), view.place, "E41")


def _readers(view: MonitoringView) -> Iterator[Item]:
    if not view.reliances:
        yield text("people.none")
        return
    held = {name for one in view.reliances for name in one.held}
    periods = [p for p in view.timeline.with_baseline if p.name in held]

    def followed(one: Reliances, period: Period, word: str) -> Estimate:
        """What readers did with the advice in a period."""
        return view.estimate("reliance_value", period=period.name, endpoint=word, **one.place.scope)

    first, last = periods[0], periods[-1]
    for number, one in enumerate(view.reliances, 1):
        then, now = (followed(one, p, "override_rate") for p in (first, last))
        if not (isnan(then.value) or isnan(now.value)):
            values = {"before": then.value, "first": first.name}
            yield text("people.override", now, period=last.name, n=now.n, **values)
            harmful = followed(one, last, "harmful_switch_rate")
            if isnan(harmful.value):
                yield text("people.no_switch", reason=harmful.note)
            else:
                yield text("people.switch", harmful, n=harmful.n, period=last.name)
        panels, columns = [], []
        for word in FOLLOWED_TIMES:
            name = text("seconds") if word == "seconds" else heading(word)
            found = tuple(followed(one, p, word) for p in periods)
            columns.append((Column(name, "number" if word == "seconds" else "percent"), found))
            if word != FOLLOWED_TIMES[0] and not all(isnan(e.value) for e in found):
                panels.append(trend.TrendPanel(name, found, percent=word != "seconds"))
        yield text.table(
            f"vigilance_readings{view.suffix}_{number}",
            text("table.people", level=view.level),
            (".period readings", *(head for head, _ in columns)),
            [
                (view.numbered(p), row[0].n, *map(if_known, row))
                for p, *row in zip(periods, *(found for _, found in columns))
            ],
        )
        if panels:
            yield text.figure(
                f"vigilance_people{view.suffix}_{number}",
                trend.Trend(
                    tuple(p.name for p in periods),
                    tuple(panels),
                    baseline=first is view.timeline.baseline,
                    short=view.short(periods),
                ),
                "people",
                level=view.level,
                n=len(periods),
            )
