"""The answer of a periodic audit: what changed, since when, where errors concentrate, what is open."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.vigilance.events import CLOSED, is_open, is_serious
from trustreport.assessment.narrative.texts import endpoint_name
from trustreport.assessment.verdicts.judge import amount
from trustreport.report.answer.by_criteria import losses
from trustreport.report.answer.sentences import Statement, first_letter, in_brackets
from trustreport.report.tables import in_words
from trustreport.report.wording import month
from trustreport.study.plan import Incident
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result

CHANGE, VALUE = "vigilance.period_change", "vigilance.period_value"
CHARTS = ("vigilance.cusum", "vigilance.sprt")
BASELINE = "baseline"
DEFAULT_ENDPOINTS = 2  # where no indicator is declared
MOST_SAID = 2  # changes told in the answer; the others in what supports it


@dataclass(frozen=True)
class Course:
    """An indicator of one candidate: its value in the baseline and each period, and its change since."""

    endpoint: str
    candidate: str
    baseline: Result | None
    values: tuple[Result, ...]
    changes: tuple[Result, ...]

    @property
    def latest(self) -> Result | None:
        """The change in the latest period in which it is known."""
        return next((r for r in reversed(self.changes) if isfinite(r.estimate.value)), None)

    def value_in(self, period: str | None) -> Result | None:
        """The value of a period."""
        return next((r for r in self.values if r.place.period == period), None)

    @property
    def run(self) -> tuple[Result, ...]:
        """The last unbroken run of periods that differ from the baseline to one side, up to the latest."""
        known = [r for r in self.changes if isfinite(r.estimate.value)]
        found: list[Result] = []
        for r in reversed(known):
            if not side(r) or (found and side(r) != side(found[-1])):
                break
            found.append(r)
        return tuple(reversed(found))

    @property
    def earlier(self) -> Result | None:
        """The last period that differed from the baseline for the worse, where the latest does not differ."""
        known = [r for r in self.changes if isfinite(r.estimate.value)]
        return next((r for r in reversed(known[:-1]) if side(r) and worse(r)), None)


def side(change: Result | None) -> int:
    """1 or -1 where the whole interval is above or below no change, else 0; 0 without an interval."""
    if change is None:
        return 0
    none, e = change.quantity.no_effect or 0.0, change.estimate
    return 1 if e.low > none else -1 if e.high < none else 0


def worse(change: Result | None) -> bool:
    """Whether a change is for the worse; of a quantity with a best value every change is."""
    if change is None:
        return False
    better = endpoint_row(change.endpoint).better
    if better not in ("up", "down"):
        return True
    return (side(change) < 0) == (better == "up")


def courses(assessment: Assessment) -> list[Course]:
    """The declared indicators, else the first measures followed, of each candidate, in report order."""
    results = [r for r in assessment.results if r.primary and r.place.period and not r.place.site]
    changes = [r for r in results if r.id == CHANGE and r.parameters.get("against") == BASELINE]
    values = [r for r in results if r.id == VALUE]
    plan = assessment.plan
    declared = {i.measure.rpartition(".")[2] for i in (plan.vigilance and plan.vigilance.indicators) or ()}
    endpoints = list(dict.fromkeys(r.endpoint for r in values))
    known = [e for e in endpoints if any(r.endpoint == e and isfinite(r.estimate.value) for r in values)]
    followed = [e for e in endpoints if e in declared] or (known or endpoints)[:DEFAULT_ENDPOINTS]
    baseline = (plan.vigilance and plan.vigilance.baseline_dataset) or BASELINE
    found = []
    for candidate in dict.fromkeys(r.place.candidate or "" for r in values):
        for endpoint in followed:
            own = [r for r in values if (r.place.candidate or "", r.endpoint) == (candidate, endpoint)]
            if own:
                found.append(
                    Course(
                        endpoint,
                        candidate,
                        next((r for r in own if r.place.period == baseline), None),
                        tuple(r for r in own if r.place.period != baseline),
                        tuple(
                            r
                            for r in changes
                            if (r.place.candidate or "", r.endpoint) == (candidate, endpoint)
                        ),
                    )
                )
    return found


def answer(assessment: Assessment, say: Catalogue) -> tuple[list[Statement], list[Statement]]:
    """Sentences, and what supports them."""
    every = courses(assessment)
    known = [c for c in every if c.latest is not None]
    changed = [c for c in known if side(c.latest)]
    changed.sort(key=lambda c: not worse(c.latest))
    harmful = [c for c in changed if worse(c.latest)]
    past = [c for c in known if c not in changed and c.earlier is not None]
    alerts = _alerts(assessment)
    incidents, signals = open_incidents(assessment), [s for s in assessment.plan.signals if is_open(s)]
    charted = {r.endpoint for r in alerts}
    silent = [r for r in alerts if r.endpoint not in {c.endpoint for c in (*changed, *past)}]
    never = _baseline_out_of_control(assessment)
    shown = [r for r in alerts if r.endpoint not in never or r not in silent]
    serious = [i for i in incidents if is_serious(i)]
    if changed or past or shown or serious or signals:
        word = "yes"
    elif known:
        word = "no"
    else:
        word = "unknown"
    sentences = [Statement(say(f"answer.vigilance.{word}"))]
    of_criteria = [v for v in assessment.verdicts if v.result is None or v.result.id != CHANGE]
    sentences += losses(of_criteria, assessment, say)  # changes between periods are told next
    sentences += [_changed(c, say) for c in changed[:MOST_SAID]]
    if not changed:
        sentences += [_past(c, say) for c in past[:MOST_SAID]]
    if word == "no":
        sentences.append(_unchanged(known, say))
    if not changed and not past and alerts:
        sentences += [_alerted(r, never.get(r.endpoint), say) for r in silent[:MOST_SAID]]
    if harmful or shown or past:
        sentences += _where(assessment, charted | {c.endpoint for c in (*harmful, *past)}, say)
    sentences += _open(incidents, signals, bool(changed or past or alerts), say)
    support = [_changed(c, say) for c in changed[MOST_SAID:]]
    told = {r.endpoint for r in silent} if not changed and not past else set()
    support += _first_alerts([r for r in alerts if r.endpoint not in told], assessment, say)
    support += [
        Statement(say("answer.vigilance.proposed", signal=s.signal, action=s.action.rstrip(".")))
        for s in signals
        if s.action
    ]
    support += [_past(c, say) for c in past] if changed else []
    if word == "yes" and not changed and known:
        support.append(_unchanged([c for c in known if c not in past], say))
    return sentences, [one for one in support if one.text]


def _values(course: Course, change: Result, say: Catalogue) -> dict[str, object]:
    now, then = course.value_in(change.place.period), course.baseline
    measure = first_letter(say(endpoint_name(course.endpoint)))
    if course.candidate:
        measure = say("word.pair", first=course.candidate, second=measure)
    return {
        "measure": measure,
        "then": amount(then, then.estimate.value) if then and not isnan(then.estimate.value) else None,
        "now": amount(now, now.estimate.value) if now else None,
        "period": _counted(now, month(change.place.period or "", say), say) if now else "",
    }


def _counted(value: Result, period: str, say: Catalogue) -> str:
    """A period, with what was counted in it where the value is a share of cases."""
    e = value.estimate
    if value.unit != "proportion" or value.written != "proportion" or isnan(e.value):
        return period
    return say("answer.vigilance.of", period=period, k=round(e.n * e.value), n=e.n)


def _changed(course: Course, say: Catalogue) -> Statement:
    latest, run = course.latest, course.run
    assert latest is not None
    word = "fell" if side(latest) < 0 else "rose"
    since = month(run[0].place.period or "", say)
    more = "since" if len(run) > 1 else "latest"
    key = f"answer.vigilance.{word}_{more}" if worse(latest) else f"answer.vigilance.{word}_better"
    values = _values(course, latest, say)
    rested = tuple(r for r in (course.value_in(latest.place.period), course.baseline, latest) if r)
    return Statement(say(key, since=since, **values), rested)


def _past(course: Course, say: Catalogue) -> Statement:
    """A change for the worse that the latest period does not show any more."""
    change, latest = course.earlier, course.latest
    assert change is not None
    assert latest is not None
    values = _values(course, change, say)
    text = say(
        f"answer.vigilance.{'fell' if side(change) < 0 else 'rose'}_before",
        latest=month(latest.place.period or "", say),
        change=in_brackets(latest, say),
        **values,
    )
    return Statement(text, tuple(r for r in (course.value_in(change.place.period), change, latest) if r))


def _unchanged(known: Sequence[Course], say: Catalogue) -> Statement:
    """No change could be shown, with the intervals of the first indicators."""
    latest = [c.latest for c in known if c.latest is not None][:MOST_SAID]
    if not latest:
        return Statement("")
    parts = [
        say("answer.vigilance.change_of", measure=say(endpoint_name(r.endpoint)), change=in_words(r, say))
        for r in latest
    ]
    return Statement(
        say("answer.vigilance.unchanged", period=month(latest[0].place.period or "", say), changes=parts),
        tuple(latest),
    )


def _alerts(assessment: Assessment) -> list[Result]:
    """The charts that alerted: of each indicator the one that did so first."""
    found: dict[str, Result] = {}
    for r in assessment.results:
        if r.id in CHARTS and r.primary and r.estimate.details.get("alerts", r.details.get("alerts", 0)):
            before = found.setdefault(r.endpoint, r)
            if "" < _detail(r, "first_alert_date") < _detail(before, "first_alert_date"):
                found[r.endpoint] = r
    return list(found.values())


def _detail(r: Result, name: str) -> str:
    return str({**r.estimate.details, **r.details}.get(name, ""))


def _baseline_out_of_control(assessment: Assessment) -> dict[str, Mapping[str, object]]:
    """Indicators whose declared rate the baseline misses in the direction of an alert; what was counted."""
    declared = assessment.plan.vigilance
    indicators = {i.measure: i for i in (declared and declared.indicators) or ()}
    found: dict[str, Mapping[str, object]] = {}
    for key, values in assessment.study.cautions:
        one = indicators.get(str(values.get("measure"))) if key == "baseline_not_in_control" else None
        if one is not None and one.in_control is not None and one.to_detect is not None:
            alarming = (float(values["found"]) - one.in_control) * (one.to_detect - one.in_control)
            if alarming > 0:
                found[one.measure.rpartition(".")[2]] = values
    return found


def _alerted(r: Result, baseline: Mapping[str, object] | None, say: Catalogue) -> Statement:
    """An alert without a difference; `baseline` is what was counted there where it is as bad itself."""
    values = {
        "measure": say(endpoint_name(r.endpoint)),
        "period": month(_detail(r, "first_alert_period"), say),
    }
    if baseline is not None:
        return Statement(say("answer.vigilance.alerted_as_baseline", **values, **_counts(baseline)), (r,))
    return Statement(say("answer.vigilance.alerted", **values), (r,))


def _counts(baseline: Mapping[str, object]) -> dict[str, object]:
    return {name: baseline[name] for name in ("declared", "found", "k", "n")}


def _first_alerts(alerts: Sequence[Result], assessment: Assessment, say: Catalogue) -> list[Statement]:
    """When the chart of each indicator first alerted, and when a signal was registered for it."""
    said = []
    for r in alerts:
        day = _detail(r, "first_alert_date")
        if not day:
            continue
        signal = next(
            (
                s
                for s in assessment.plan.signals
                if s.detected and (s.indicator or "").rpartition(".")[2] == r.endpoint
            ),
            None,
        )
        values = {"measure": say(endpoint_name(r.endpoint)), "day": dt.date.fromisoformat(day)}
        if signal is None or signal.detected is None:
            text = say("answer.vigilance.chart", **values)
        else:
            text = say(
                "answer.vigilance.chart_and_signal",
                signal=signal.signal,
                detected=signal.detected,
                **values,
            )
        said.append(Statement(text, (r,)))
    return said


def _where(assessment: Assessment, endpoints: set[str], say: Catalogue) -> list[Statement]:
    """Where errors concentrate, as the part on that says first."""
    del endpoints
    for finding in assessment.findings:
        for part in finding.parts:
            if part.element == "where" and part.finding:
                return [Statement(say(part.finding[0]))]
    return []


def open_incidents(assessment: Assessment) -> list[Incident]:
    """Events of the log that are not closed."""
    return [i for i in assessment.plan.incidents if (i.status or "").strip().casefold() not in CLOSED]


def _open(
    incidents: Sequence[Incident], signals: Sequence[object], explained: bool, say: Catalogue
) -> list[Statement]:
    """Serious incidents that are open; signals where no change has been said."""
    serious = [i for i in incidents if is_serious(i)]
    said = []
    if serious:
        said.append(Statement(say("answer.vigilance.serious", n=len(serious))))
    if signals and not explained:
        said.append(Statement(say("answer.vigilance.signals", n=len(signals))))
    return said
