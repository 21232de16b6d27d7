"""What the register keeps of an incident or a signal, and until when an incident must be reported."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ValidationError

from trustreport.service.engine import FIRST_YEAR, LAST_YEAR, Incident, Signal
from trustreport.service.pages.page_context import refused_fields
from trustreport.service.storage.vigilance import VigilanceEntry
from trustreport.service.web.faults import Fault, Field
from trustreport.service.web.shapes import no_nul
from trustreport.vocabulary.messages import say

EventGroup = Literal["incidents", "signals"]
VigilanceAct = Literal["change", "assess", "link", "close", "reopen"]

# The fields that each act may change.
FIELDS: dict[EventGroup, dict[VigilanceAct, tuple[str, ...]]] = {
    "incidents": {
        "change": (
            *("kind", "event_date", "awareness_date", "description", "imdrf_codes"),
            *("reported_to", "report_date", "capa_id", "due"),
        ),
        "assess": ("seriousness", "causality", "assessed", "decision", "decided_by"),
        "link": ("period", "reports"),
        "close": ("closed", "outcome"),
        "reopen": (),
    },
    "signals": {
        "change": ("description", "indicator", "source", "detected", "owner", "due"),
        "assess": (
            *("validated", "assessed", "acted", "alternative_explanations", "action"),
            *("decision", "decided_by"),
        ),
        "link": ("period", "reports"),
        "close": ("closed", "outcome"),
        "reopen": (),
    },
}
NAMES: dict[EventGroup, str] = {"incidents": "incident", "signals": "signal"}
# Days that cannot come before the one ahead of them.
ORDERED = (("event_date", "awareness_date"), ("awareness_date", "report_date"), ("detected", "closed"))
NEAR = dt.timedelta(days=3)
MOST_SIGNS, MOST_ITEMS = 4000, 50  # of a text, of a list


def _in_this_age(day: dt.date) -> dt.date:
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(f"a date from {FIRST_YEAR}-01-01 to {LAST_YEAR}-12-31")
    return day


Day = Annotated[dt.date, AfterValidator(_in_this_age)]


class RegisteredIncident(Incident):
    """An incident or complaint of a manifest, with what only the register has."""

    assessed: Day | None = None
    decision: str | None = None
    decided_by: str | None = None
    closed: Day | None = None
    outcome: str | None = None
    period: str | None = None
    reports: tuple[str, ...] | None = None


class RegisteredSignal(Signal):
    """A signal of a manifest, with what only the register has."""

    decision: str | None = None
    period: str | None = None
    reports: tuple[str, ...] | None = None


MODELS: dict[EventGroup, type[RegisteredIncident | RegisteredSignal]] = {
    "incidents": RegisteredIncident,
    "signals": RegisteredSignal,
}
IN_MANIFEST: dict[EventGroup, type[BaseModel]] = {"incidents": Incident, "signals": Signal}


def checked(group: EventGroup, name: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of an entry as they are kept: dates as ISO 8601, nothing that is empty.

    Raises
    ------
    Fault : with every field that cannot be taken
    """
    given = {key: value for key, value in facts.items() if value not in (None, "", [], ())}
    try:
        made = MODELS[group].model_validate({**given, NAMES[group]: name})
    except ValidationError as error:
        raise refused_fields(error) from None
    kept = made.model_dump(mode="json", exclude_none=True, exclude={NAMES[group]})
    if wrong := [Field(key, said) for key, value in kept.items() for said in _unfit(value)]:
        raise Fault(422, say("pages.fault.not_as_expected.please_look_at_what"), wrong)
    return kept


def _unfit(value: Any) -> list[Any]:
    texts = value if isinstance(value, list) else [value]
    if len(texts) > MOST_ITEMS or any(len(str(text)) > MOST_SIGNS for text in texts):
        return [say("pages.fault.field.too_long")]
    try:
        for text in texts:
            no_nul(str(text))
    except ValueError as error:
        return [str(error)]
    return []


def refuse_disorder(facts: Mapping[str, Any], changed: Mapping[str, Any]) -> None:
    """Refuse days in an impossible order, where one of them is being changed."""
    wrong = [
        Field(later, say("pages.fault.field.before", day=facts[earlier]))
        for earlier, later in ORDERED
        if changed.keys() & {earlier, later} and (facts.get(later) or "9") < (facts.get(earlier) or "")
    ]
    if wrong:
        raise Fault(422, say("pages.fault.not_as_expected.please_look_at_what"), wrong)


def is_closed(group: EventGroup, facts: Mapping[str, Any]) -> bool:
    """Whether nothing is left to do, as the report decides it."""
    if group == "signals":
        return bool(facts.get("closed"))
    return Incident(incident="-", status=facts.get("status")).is_closed


@dataclass(frozen=True, slots=True)
class RegulatoryClock:
    """Until when an incident must be reported, and whether something is overdue.

    Parameters
    ----------
    deadline : the last day for the report; None where none is due, or where awareness is not dated
    missed : it is not reported although that day is over
    near : it is not reported, and that day is at most three days ahead
    behind : it is open although its own due day is over
    late : it was reported after the deadline
    """

    deadline: dt.date | None
    missed: bool
    near: bool
    behind: bool
    late: bool

    @property
    def overdue(self) -> bool:
        """Whether something should have been done by now."""
        return self.missed or self.behind


def clock(entry: VigilanceEntry, today: dt.date) -> RegulatoryClock:
    """The clock of an entry on a day."""
    days = {key: _day(entry.facts.get(key)) for key in ("awareness_date", "report_date", "due")}
    known, reported, due = days.values()
    deadline = None
    if entry.group == "incidents":
        seriousness = entry.facts.get("seriousness")
        deadline = Incident(incident="-", seriousness=seriousness, awareness_date=known).report_by
    awaited = deadline if reported is None else None
    missed = awaited is not None and awaited < today
    near = awaited is not None and today <= awaited <= today + NEAR
    behind = not entry.closed and due is not None and due < today
    late = bool(deadline and reported and reported > deadline)
    return RegulatoryClock(deadline, missed, near, behind, late)


def event_day(entry: VigilanceEntry) -> dt.date | None:
    """The day by which an entry belongs to a period, as in the report: of the event, else of awareness."""
    keys = ("detected",) if entry.group == "signals" else ("event_date", "awareness_date")
    return _day(next((entry.facts[key] for key in keys if entry.facts.get(key)), None))


def kind_of(entry: VigilanceEntry) -> str:
    """Incident, complaint or signal."""
    return "signal" if entry.group == "signals" else str(entry.facts.get("kind", "incident"))


def _day(text: str | None) -> dt.date | None:
    return dt.date.fromisoformat(text) if text else None
