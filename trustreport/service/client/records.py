"""What the service answers, typed. Fields that a newer service adds are left out."""

from datetime import date, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """An answer: never changed, and equal where its fields are."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class StudyRecord(Record):
    """What versions and reports belong to."""

    id: str
    name: str
    created_by: str
    created_at: datetime


class VersionRecord(Record):
    """One state of a study's files; `state` says what its check found, `problems` how many."""

    id: str
    study: str
    number: int
    state: Literal["checking", "valid", "invalid", "unreadable"]
    digest: str
    facts: dict[str, Any]
    problems: int
    device: str | None
    created_by: str
    created_at: datetime
    checked_at: datetime | None


class ProblemRecord(Record):
    """A fault of a file: where it is, what was found, what was expected, how to fix it (`mend`)."""

    file: str
    found: str
    expected: str
    mend: str
    row: int | None
    column: str
    rows: list[int]
    n_rows: int

    def __str__(self) -> str:
        """One line: the place, what was found, what was expected, how to fix it.

        >>> problem = ProblemRecord(
        ...     file="r.csv",
        ...     found='found "2"',
        ...     expected="0 or 1",
        ...     mend="",
        ...     row=17,
        ...     column="truth",
        ...     rows=[17],
        ...     n_rows=1,
        ... )
        >>> print(problem)
        r.csv, row 17, column truth: found "2". Expected 0 or 1.
        """
        place = [self.file, f"row {self.row}" * bool(self.row), f"column {self.column}" * bool(self.column)]
        parts = [self.found, self.expected and f"Expected {self.expected}", self.mend]
        said = " ".join(f"{part.rstrip('.')}." for part in parts if part)
        return f"{', '.join(filter(None, place))}: {said}".removeprefix(": ")


class FileRecord(Record):
    """A file of a version or a report."""

    name: str
    sha256: str
    size: int


class JobRecord(Record):
    """A piece of work: its state, step and progress (0 to 1), the report once there is one."""

    id: str
    task: Literal["check", "report"]
    study: str
    version: str
    wishes: dict[str, Any]
    code: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    step: str
    progress: float
    reason: str
    attempts: int
    report: str | None
    created_by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    place: int | None
    expected_at: datetime | None


class ReportRecord(Record):
    """A report; `facts` has its answer, verdicts, checks and primary results."""

    id: str
    study: str
    version: str
    device: str | None
    job: str
    kind: str
    code: str
    facts: dict[str, Any]
    results_sha256: str
    created_by: str
    created_at: datetime


class SignatureRecord(Record):
    """A review, approval or rejection."""

    id: str
    report: str
    user: str
    act: Literal["review", "approval", "rejection"]
    meaning: str
    sha256: str
    signature: str
    key: str
    created_at: datetime


class DeviceRecord(Record):
    """A device of which a study was uploaded."""

    id: str
    trade_name: str
    manufacturer: str
    basic_udi_di: str
    created_at: datetime


class TimelineRecord(Record):
    """A report of a device, with the period that it is about."""

    report: str
    study: str
    kind: str
    software_version: str
    period_start: date | None
    period_end: date | None
    verdicts: dict[str, int]
    checks: dict[str, int]
    primary: list[dict[str, Any]]
    trend: list[dict[str, Any]]
    signed: list[str]
    created_at: datetime


class SideRecord(Record):
    """What one of two compared reports was made of."""

    report: str
    device: str
    kind: str
    inputs: dict[str, str]
    trustreport: str
    seed: int | None


class DifferenceRecord(Record):
    """A number, verdict or check that is not the same: `old` and `new` have the fields that differ."""

    part: Literal["numbers", "verdicts", "checks"]
    what: Literal["changed", "added", "removed"]
    name: str
    where: dict[str, Any]
    old: dict[str, Any]
    new: dict[str, Any]
    change: dict[str, float]


class ComparisonRecord(Record):
    """Two reports side by side: all that differs, and how many numbers are the same."""

    old: SideRecord
    new: SideRecord
    same: int
    differences: tuple[DifferenceRecord, ...]


class ScheduleRecord(Record):
    """A periodic audit: a report of the newest valid version, every so many days."""

    id: str
    study: str
    wishes: dict[str, Any]
    every_days: int
    next_at: datetime
    created_by: str
    created_at: datetime


class AuditRecord(Record):
    """One entry of the audit log; `hash` covers all of it, `previous` is that of the entry before."""

    number: int
    at: datetime
    milliseconds: int
    actor: str
    action: str
    subject: str
    details: dict[str, Any]
    previous: str
    hash: str


class LogVerification(Record):
    """What became of the audit log: intact where `faults` is empty."""

    entries: int
    head: str
    faults: list[str]


class WebhookRecord(Record):
    """An address that events are sent to."""

    id: str
    url: str
    events: list[str]
    created_by: str
    created_at: datetime
    paused_at: datetime | None


class DeliveryRecord(Record):
    """An event that was sent, waits or was given up."""

    id: str
    webhook: str
    event: str
    state: Literal["waiting", "sent", "failed"]
    attempts: int
    reason: str
    body: dict[str, Any]
    created_at: datetime
    next_at: datetime | None
    ended_at: datetime | None
