"""What the service answers, declared once: its routes send these bodies, and the client returns them.

Nothing here needs more than pydantic, so that a client starts without the service.
"""

from datetime import date, datetime
from typing import Annotated, Any, Generic, Literal, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

T = TypeVar("T")
EventName = Literal[
    "version.valid",
    "version.invalid",
    "report.made",
    "report.alert",
    "job.failed",
    "schedule.due",
    "period.waiting",
    "period.failed",
    "report.review",
    "report.approval",
    "report.rejection",
    "criteria.fix",
    "criteria.waiting",
    "criteria.countersign",
    "incident.near",
    "incident.overdue",
    "study.remove",
]
Act = Literal["review", "approval", "rejection"]
DifferencePart = Literal["numbers", "verdicts", "checks"]


class ResponseBody(BaseModel):
    """An answer: never changed, and equal where its fields are.

    A client leaves out fields that a newer service adds, although the document of the API says that it has
    listed every field.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False})

    @classmethod
    def of_row(cls, row: object, /, **more: Any) -> Self:
        """The answer with the fields that a row of the database has, and with those given beside it."""
        own = {name: getattr(row, name) for name in cls.model_fields if name not in more}
        return cls.model_validate(own | more)


class Page(BaseModel, Generic[T]):
    """A part of a list."""

    items: list[T]
    next: str | None = Field(description="send it as `after` for the next page; null on the last one")


class RemovedResponse(ResponseBody):
    kind: Literal["study", "report"]
    id: str
    name: str
    removed_at: datetime
    removed_by: str
    until: datetime = Field(description="until when it can be restored; then it is deleted")


class StudyResponse(ResponseBody):
    """What versions and reports belong to."""

    id: str
    name: str
    created_by: str
    created_at: datetime


class VersionResponse(ResponseBody):
    """One state of a study's files, and what its check found."""

    id: str
    study: str
    number: int
    state: Literal["checking", "valid", "invalid", "unreadable"]
    digest: str = Field(description="hash of the names and contents of all files")
    facts: dict[str, Any] = Field(description="what the manifest declares: title, kind, device, period")
    problems: int = Field(description="how many; see /problems")
    device: str | None
    created_by: str
    created_at: datetime
    checked_at: datetime | None


class FixedResponse(ResponseBody):
    """An act by which criteria were fixed; verdicts rest on it where it `counts`."""

    id: str
    study: str
    version: str = Field(description="whose criteria they are")
    kind: Literal["lock", "amendment", "document"]
    name: str = Field(description="of the file: the lock, or the document that shows it")
    sha256: str
    size: int
    digest: str = Field(description="sha256 of the criteria as the lock has it; empty of a document")
    criteria: list[str] = Field(description="their names")
    reason: str = Field(description="of an amendment")
    fixed_on: date | None = Field(description="as a document declares it")
    data_opened_on: date | None = Field(description="likewise")
    needs_second: bool = Field(description="it counts once a second person has countersigned it")
    counts: bool
    created_by: str
    created_at: datetime
    countersigned_by: str | None
    countersigned_at: datetime | None


class WithheldVerdict(ResponseBody):
    """A criterion that will get no verdict, the check that says why, and what was changed."""

    criterion: str
    check: Literal["P34", "P35"]
    changes: list[dict[str, str]] = Field(default=[], description="field, old, new, what")
    removed: bool = Field(default=False, description="it was fixed and is declared no longer")


class CriteriaResponse(ResponseBody):
    """What is fixed of a study, and what the report of its newest version will say of that."""

    study: str
    version: str | None = Field(description="the newest one")
    state: Literal["locked", "amended", "changed", "declared", "none"] | None = Field(
        description="how it compares with what was fixed; null while it is checked or cannot be read"
    )
    late: bool = Field(description="its own dates say that the data were opened before")
    criteria: list[str] = Field(description="those that get a verdict")
    withheld: list[WithheldVerdict]
    data_opened: datetime | None = Field(description="when the first version with data came")
    needs_second: bool = Field(description="the organisation asks for a second person")
    fixed: list[FixedResponse] = Field(description="the first one first")


class ProblemResponse(ResponseBody):
    """A fault of a file: where it is, what was found, what was expected, how to fix it."""

    file: str
    found: str
    expected: str = ""
    mend: str = ""
    row: int | None = None
    column: str = ""
    rows: list[int] = Field(default=[])
    n_rows: int = 0

    def __str__(self) -> str:
        """One line: the place, what was found, what was expected, how to fix it.

        >>> problem = ProblemResponse(
        ...     file="r.csv",
        ...     found='found "2"',
        ...     expected="0 or 1",
        ...     row=17,
        ...     column="truth",
        ... )
        >>> print(problem)
        r.csv, row 17, column truth: found "2". Expected 0 or 1.
        """
        place = [self.file, f"row {self.row}" * bool(self.row), f"column {self.column}" * bool(self.column)]
        parts = [self.found, self.expected and f"Expected {self.expected}", self.mend]
        said = " ".join(f"{part.rstrip('.')}." for part in parts if part)
        return f"{', '.join(filter(None, place))}: {said}".removeprefix(": ")


class FileResponse(ResponseBody):
    """A file of a version or a report."""

    name: str
    sha256: str
    size: int


class JobResponse(ResponseBody):
    """A piece of work: its state, step and progress (0 to 1), and the report once there is one."""

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
    place: int | None = Field(description="in the queue at the latest, 1 is next; null of what does not wait")
    expected_at: datetime | None = Field(description="when it will probably be done, from earlier ones")


class ReportResponse(ResponseBody):
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


class AttestationResponse(ResponseBody):
    """A review, approval or rejection of a report."""

    id: str
    report: str
    user: str
    act: Act
    meaning: str
    sha256: str = Field(description="of the statement")
    signature: str = Field(description="Ed25519 over the statement's bytes, base64")
    key: str = Field(description="SHA-256 of the public key")
    created_at: datetime


class DeviceResponse(ResponseBody):
    """A device of which a study was uploaded."""

    id: str
    trade_name: str
    manufacturer: str
    basic_udi_di: str
    created_at: datetime


class TrendPoint(ResponseBody):
    """A value of one period, with its interval, what it was tested against, and whether it gave an alert."""

    series: str = Field(description="values of one series are comparable over time")
    quantity: str | None = None
    unit: str | None = None
    period: str | None = None
    start: date | None = None
    end: date | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    n: float | None = None
    above: float | None = Field(default=None, description="bound of the criterion: the interval is above it")
    below: float | None = None
    verdict: str | None = None
    expected: float | None = Field(default=None, description="value in control, of a control chart")
    alarming: float | None = Field(default=None, description="value that the chart is to detect")
    alert: date | None = Field(default=None, description="when the chart first gave an alert")


class Moment(ResponseBody):
    """A report of a device, with the period that it covers."""

    report: str
    study: str
    kind: str
    software_version: str
    period_start: date | None
    period_end: date | None
    verdicts: dict[str, int] = Field(description="how many endpoints met their criterion, and so on")
    checks: dict[str, int] = Field(description="how many checks fired, by severity B, W, N")
    primary: list[dict[str, Any]] = Field(description="the results that lead")
    trend: list[TrendPoint] = Field(description="what is drawn over time")
    signed: list[str] = Field(description="review, approval, rejection")
    created_at: datetime


class Side(ResponseBody):
    """What one of two compared reports was made of."""

    report: str
    device: str
    kind: str
    inputs: dict[str, str]
    trustreport: str
    seed: int | None


class DifferenceResponse(ResponseBody):
    """A number, verdict or check that is not the same: `old` and `new` have the fields that differ."""

    part: DifferencePart
    what: Literal["changed", "added", "removed"]
    name: str
    where: dict[str, Any]
    old: dict[str, Any]
    new: dict[str, Any]
    change: dict[str, float] = Field(description="new less old, of each number that is in both")


class ReportComparison(ResponseBody):
    """Two reports side by side: all that differs, and how many numbers are the same."""

    old: Side
    new: Side
    same: int
    differences: tuple[DifferenceResponse, ...]


class ComparisonPage(Page[DifferenceResponse]):
    """What differs, page by page, and how many numbers are the same."""

    old: Side
    new: Side
    same: int
    same_device: bool = Field(description="whether both are of one device, whatever its version")


class VigilanceEntryResponse(ResponseBody):
    """An incident, complaint or signal of a device."""

    id: str
    device: str
    group: Literal["incidents", "signals"]
    name: str
    facts: dict[str, Any] = Field(description="fields of its line in a manifest, and the register's own")
    closed: bool
    number: int = Field(description="of the last change")
    deadline: date | None = Field(description="the last day for the report, by seriousness (MDR, Article 87)")
    overdue: bool = Field(description="not reported in time, or open after its own due day")
    late: bool = Field(description="reported after the deadline")
    created_by: str
    created_at: datetime


class VigilanceChangeResponse(ResponseBody):
    """A change of an incident or signal: each field with what it was and what it became."""

    id: str
    entry: str
    number: int
    act: str
    changes: dict[str, tuple[Any, Any]]
    reason: str
    created_by: str
    created_at: datetime


class PsurCount(ResponseBody):
    """How many incidents or signals of a kind, seriousness and state there were."""

    kind: str
    seriousness: str
    state: str
    new: int = Field(description="of the period")
    earlier: int = Field(description="from before, open when the period began")


class PsurExport(ResponseBody):
    """The incidents and signals of a period: counts, then every one."""

    device: str
    since: date | None
    until: date | None
    counts: list[PsurCount]
    rows: list[dict[str, Any]]


class ScheduleResponse(ResponseBody):
    """A periodic audit: a report of the newest valid version, every so many days."""

    id: str
    study: str
    wishes: dict[str, Any]
    every_days: int
    next_at: datetime
    created_by: str
    created_at: datetime


class AuditEntry(ResponseBody):
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


class Verification(ResponseBody):
    """The result of checking the audit log: it is intact where `faults` is empty."""

    entries: int
    head: str
    faults: list[str]


class WebhookResponse(ResponseBody):
    """An address that events are sent to."""

    id: str
    url: str
    events: Annotated[  # a newer service may send others
        list[str],
        WithJsonSchema({"type": "array", "items": {"type": "string", "enum": [*get_args(EventName)]}}),
    ]
    created_by: str
    created_at: datetime
    paused_at: datetime | None = Field(description="nothing is noted or sent from then on")


class CreatedWebhook(ResponseBody):
    webhook: WebhookResponse
    secret: str = Field(description="with which the receiver verifies signatures; shown this once")


class DeliveryResponse(ResponseBody):
    """An event for one webhook: `id` is sent as `webhook-id`, `body` is what is sent."""

    id: str
    webhook: str
    event: str
    state: Literal["waiting", "sent", "failed"]
    attempts: int
    reason: str = Field(description="why the last attempt failed")
    body: dict[str, Any]
    created_at: datetime
    next_at: datetime | None = Field(description="the next attempt; null once it has ended")
    ended_at: datetime | None
