"""The answer of a periodic audit: what changed, since when, where errors concentrate, what is open."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.vigilance.charts import keeps_budget
from trustreport.assessment.dimensions.vigilance.events import is_open, named
from trustreport.assessment.narrative.texts import endpoint_name
from trustreport.assessment.verdicts.judge import amount
from trustreport.report.answer.losses import losses
from trustreport.report.answer.other_evidence import against_labels, not_accuracy, since_baseline
from trustreport.report.answer.sentences import Said, Statement, first_letter, in_brackets, stated
from trustreport.report.declared import month
from trustreport.report.tables import in_words
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result

CHANGE, VALUE = "vigilance.period_change", "vigilance.period_value"
MATURE = "vigilance.mature_share"  # of the cases of a period, those that can have their reference result
CHARTS = ("vigilance.cusum", "vigilance.sprt")
BASELINE = "baseline"
LAST = "9999-12-31"  # sorts after every day
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
    def known(self) -> list[Result]:
        """The changes of the periods in which they are known."""
        return [r for r in self.changes if isfinite(r.estimate.value)]

    @property
    def latest(self) -> Result | None:
        """The change in the latest period in which it is known."""
        return self.known[-1] if self.known else None

    def value_in(self, period: str | None) -> Result | None:
        """The value of a period."""
        return next((r for r in self.values if r.place.period == period), None)

    @property
    def run(self) -> tuple[Result, ...]:
        """The last unbroken run of periods that differ from the baseline to one side, up to the latest."""
        found: list[Result] = []
        for r in reversed(self.known):
            if not side(r) or (found and side(r) != side(found[-1])):
                break
            found.append(r)
        return tuple(reversed(found))

    @property
    def earlier(self) -> Result | None:
        """The last period that differed from the baseline for the worse, where the latest does not differ."""
        return next((r for r in reversed(self.known[:-1]) if side(r) and worse(r)), None)


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
    return better not in ("up", "down") or (side(change) < 0) == (better == "up")


def courses(assessment: Assessment) -> list[Course]:
    """The declared indicators, else the first measures followed, of each candidate, in report order."""
    results = [r for r in assessment.results if r.primary and r.place.period and not r.place.site]
    changes = [r for r in results if r.id == CHANGE and r.parameters.get("against") == BASELINE]
    values = [r for r in results if r.id == VALUE]
    vigilance = assessment.plan.vigilance
    declared = {i.measure.rpartition(".")[2] for i in (vigilance and vigilance.indicators) or ()}
    endpoints = list(dict.fromkeys(r.endpoint for r in values))
    known = [e for e in endpoints if any(r.endpoint == e and isfinite(r.estimate.value) for r in values)]
    followed = [e for e in endpoints if e in declared] or (known or endpoints)[:DEFAULT_ENDPOINTS]
    baseline = (vigilance and vigilance.baseline_dataset) or BASELINE
    found = []
    for candidate in dict.fromkeys(r.place.candidate or "" for r in values):
        for endpoint in followed:
            own, since = (
                [r for r in of if (r.place.candidate or "", r.endpoint) == (candidate, endpoint)]
                for of in (values, changes)
            )
            before = next((r for r in own if r.place.period == baseline), None)
            later = tuple(r for r in own if r.place.period != baseline)
            if own:
                found.append(Course(endpoint, candidate, before, later, tuple(since)))
    return found


def answer(assessment: Assessment, say: Catalogue) -> Said:
    """Sentences, and what supports them."""
    known = [c for c in courses(assessment) if c.latest is not None]
    changed = sorted((c for c in known if side(c.latest)), key=lambda c: not worse(c.latest))
    past = [c for c in known if c not in changed and c.earlier is not None]
    alerts, never = _alerts(assessment), _baseline_out_of_control(assessment)
    serious = [i for i in assessment.plan.incidents if i.is_serious and not i.is_closed]
    signals = [s for s in assessment.plan.signals if is_open(s)]
    silent = [r for r in alerts if r.endpoint not in {c.endpoint for c in (*changed, *past)}]
    shown = [r for r in alerts if r.endpoint not in never or r not in silent]
    measured, alike = since_baseline(assessment, say)
    word = "no" if known or alike else "unknown"
    if measured or changed or past or shown or serious or signals:
        word = "yes"
    said: list[Statement] = []
    if against_labels(assessment) and any(endpoint_row(c.endpoint).needs_right_labels for c in known):
        said += [not_accuracy(assessment, say), stated(say, "answer.vigilance.labels")]
    of_criteria = [v for v in assessment.verdicts if v.result is None or v.result.id != CHANGE]
    lost, unadjusted = losses(of_criteria, assessment, say)  # changes between periods come next
    said += lost
    if known and not has_baseline(assessment):
        said += _open(len(serious), len(signals), say)
        sentences, support = _without_baseline(known, shown, said, assessment, say)
        return sentences, support + unadjusted
    sentences = [stated(say, f"answer.vigilance.{word}"), *said]
    if changed:
        sentences += [_changed(c, assessment, say) for c in changed[:MOST_SAID]]
    else:
        sentences += [_past(c, assessment, say) for c in past[:MOST_SAID]]
    sentences += measured[:MOST_SAID]
    if word == "no":
        sentences += [*_unchanged(known, say), *alike[:MOST_SAID]]
    of_charts = [] if changed or past else silent
    sentences += [_alerted(r, never.get(r.endpoint), say) for r in of_charts[:MOST_SAID]]
    if shown or past or any(worse(c.latest) for c in changed):
        sentences += _where(assessment, say)
    sentences += _open(len(serious), 0 if changed or past or alerts else len(signals), say)
    support = [*(_changed(c, assessment, say) for c in changed[MOST_SAID:]), *measured[MOST_SAID:]]
    told = {r.endpoint for r in of_charts}
    support += _first_alerts([r for r in alerts if r.endpoint not in told], assessment, say)
    if changed:
        support += [_past(c, assessment, say) for c in past]
    elif word == "yes":
        support += _unchanged([c for c in known if c not in past], say)
    return sentences, support + unadjusted


def has_baseline(assessment: Assessment) -> bool:
    """Whether the plan fixes what periods are compared with; else the first one is taken."""
    vigilance = assessment.plan.vigilance
    return vigilance is not None and vigilance.baseline_dataset is not None


def _without_baseline(
    known: Sequence[Course],
    alerts: Sequence[Result],
    said: Sequence[Statement],
    assessment: Assessment,
    say: Catalogue,
) -> Said:
    """No baseline is declared: the differences from the first period only support that this is unknown.

    Parameters
    ----------
    said : what is known without one, such as incidents that are open
    """
    charts = [*_first_alerts(alerts, assessment, say)]
    sentences = [stated(say, "answer.vigilance.undeclared"), *said, *charts[:MOST_SAID]]
    latest = [r for c in known if (r := c.latest) is not None][:MOST_SAID]
    names = {"first": month(latest[0].place.reference or "", say), "period": _month(latest[0], say)}
    parts = [_change_of(r, say) for r in latest]
    since = stated(say, "answer.vigilance.since_first", *latest, changes=parts, **names)
    return sentences, [since, *charts[MOST_SAID:]]


def _open(n_serious: int, n_signals: int, say: Catalogue) -> Iterator[Statement]:
    """How many serious incidents and signals are open."""
    for key, n in (("serious", n_serious), ("signals", n_signals)):
        if n:
            yield stated(say, f"answer.vigilance.{key}", n=n)


def _change_of(r: Result, say: Catalogue) -> str:
    return say("answer.vigilance.change_of", measure=say(endpoint_name(r.endpoint)), change=in_words(r, say))


def _values(course: Course, change: Result, assessment: Assessment, say: Catalogue) -> dict[str, object]:
    now, then = course.value_in(change.place.period), course.baseline
    measure = first_letter(say(endpoint_name(course.endpoint)))
    if course.candidate:
        measure = say("word.pair", first=course.candidate, second=measure)
    return {
        "measure": measure,
        "then": amount(then, then.estimate.value) if then and not isnan(then.estimate.value) else None,
        "now": amount(now, now.estimate.value) if now else None,
        "period": _counted(now, _month(change, say), assessment, say) if now else "",
    }


def _month(r: Result, say: Catalogue) -> str:
    return month(r.place.period or "", say)


def _counted(value: Result, period: str, assessment: Assessment, say: Catalogue) -> str:
    """A period, with what was counted in it where the value is a share of cases, and up to which day."""
    e = value.estimate
    if value.unit != "proportion" or value.written != "proportion" or isnan(e.value):
        return period
    counts = {"period": period, "k": round(e.n * e.value), "n": e.n}
    of_period = (r for r in assessment.results if (r.id, r.place.period) == (MATURE, value.place.period))
    for r in of_period:
        if r.estimate.value < 1 and r.details.get("judged_until"):
            day = dt.date.fromisoformat(r.details["judged_until"])
            return say("answer.vigilance.of_part", day=day, **counts)
    return say("answer.vigilance.of", **counts)


def _changed(course: Course, assessment: Assessment, say: Catalogue) -> Statement:
    latest, run = course.latest, course.run
    assert latest is not None
    how = ("since" if len(run) > 1 else "latest") if worse(latest) else "better"
    key = f"answer.vigilance.{_verb(latest)}_{how}"
    rested = (r for r in (course.value_in(latest.place.period), course.baseline, latest) if r)
    return stated(say, key, *rested, since=_month(run[0], say), **_values(course, latest, assessment, say))


def _past(course: Course, assessment: Assessment, say: Catalogue) -> Statement:
    """A change for the worse that the latest period does not show any more."""
    change, latest = course.earlier, course.latest
    assert change is not None
    assert latest is not None
    values = {**_values(course, change, assessment, say), "change": in_brackets(latest, say)}
    rested = (r for r in (course.value_in(change.place.period), change, latest) if r)
    key = f"answer.vigilance.{_verb(change)}_before"
    return stated(say, key, *rested, latest=_month(latest, say), **values)


def _verb(change: Result) -> str:
    return "fell" if side(change) < 0 else "rose"


def _unchanged(known: Sequence[Course], say: Catalogue) -> Iterator[Statement]:
    """No change could be shown, with the intervals of the first indicators."""
    latest = [c.latest for c in known if c.latest is not None][:MOST_SAID]
    parts = [_change_of(r, say) for r in latest]
    if latest:
        period = _month(latest[0], say)
        yield stated(say, "answer.vigilance.unchanged", *latest, period=period, changes=parts)


def _alerts(assessment: Assessment) -> list[Result]:
    """Of each indicator the chart that alerted: one that has kept its budget, then the one known first."""
    found = [
        r
        for r in assessment.results
        if r.id in CHARTS and r.primary and r.estimate.details.get("alerts", r.details.get("alerts", 0))
    ]
    names = list(dict.fromkeys(r.endpoint for r in found))
    found.sort(key=lambda r: (not keeps_budget(r), _detail(r, "first_alert_known") or LAST))
    first = {r.endpoint: r for r in reversed(found)}
    return [first[name] for name in names]


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
                counts = {name: values[name] for name in ("declared", "found", "k", "n")}
                found[one.measure.rpartition(".")[2]] = counts
    return found


def _alerted(r: Result, baseline: Mapping[str, object] | None, say: Catalogue) -> Statement:
    """An alert without a difference; `baseline` is what was counted there where it is as bad itself."""
    period = month(_detail(r, "first_alert_period"), say)
    chart, measure = say(f"vigilance.chart.{r.name}"), say(endpoint_name(r.endpoint))
    values = {"chart": chart, "measure": measure, "period": period, **(baseline or {})}
    key = "alerted" if baseline is None else "alerted_as_baseline"
    return stated(say, f"answer.vigilance.{key}", r, **values)


def _first_alerts(alerts: Sequence[Result], assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """When the alert of each indicator could first be known, and how long after that a signal followed."""
    for r in alerts:
        days = [_detail(r, name) for name in ("first_alert_date", "first_alert_known")]
        if not all(days):
            continue
        day, known = map(dt.date.fromisoformat, days)
        values: dict[str, object] = {"chart": say(f"vigilance.chart.{r.name}"), "day": day}
        values |= {"measure": say(endpoint_name(r.endpoint)), "known": known, "days": (known - day).days}
        signals = named(assessment.plan.signals, r.endpoint)
        how = "unregistered"
        if registered := [(s.detected, s.signal) for s in signals if s.detected]:
            detected, name = min(registered)
            values |= {"signal": name, "detected": detected, "n": (detected - known).days}
            how = "later" if detected > known else "by_then"
        key = f"answer.vigilance.chart_{how}{'_known' if known > day else ''}"
        yield stated(say, key, r, **values)


def _where(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Where errors concentrate, as the part on that says first."""
    parts = (part for finding in assessment.findings for part in finding.parts)
    said = (part.finding[0] for part in parts if part.element == "where" and part.finding)
    return [Statement(say(text)) for text in said][:1]
