"""The tables. Times are whole milliseconds since 1970 (UTC); names of rows come from `ids.new_id`.

A column that came to a table with rows has a default in the database, too: what those rows got (`migrate`).

Every row that belongs to an organisation says so itself, so that one condition keeps organisations apart.
"""

import json
from typing import Any, ClassVar

from sqlalchemy import (
    DDL,
    JSON,
    BigInteger,
    Boolean,
    ColumnElement,
    Dialect,
    Float,
    ForeignKey,
    Index,
    String,
    Text,
    cast,
    event,
    false,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSON as POSTGRES_JSON
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

from trustreport.service.ids import new_id

ID = String(26)
SHA = String(64)


def canonical(value: Any) -> str:
    """JSON with sorted keys and no blanks: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


class Json(TypeDecorator[Any]):
    """Canonical JSON, kept as text."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else canonical(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


def has_json(column: Any, path: tuple[str, ...], is_sqlite: bool) -> ColumnElement[bool]:
    """Whether JSON that is kept as text has something at a path of names."""
    if is_sqlite:
        where = "$" + "".join(f'."{name}"' for name in path)
        return func.json_extract(column, where, type_=JSON).is_not(None)
    return cast(column, POSTGRES_JSON)[path].is_not(None)


class Base(DeclarativeBase):
    """The tables of the service; whole numbers are 64 bits wide, since times are in milliseconds."""

    type_annotation_map: ClassVar = {int: BigInteger, dict[str, Any]: Json, list[Any]: Json}


def primary_key() -> Mapped[str]:
    """The column that names a row."""
    return mapped_column(ID, primary_key=True)


def foreign_key(target: str, *, index: bool = True) -> Any:
    """A column that names a row of another table."""
    return mapped_column(ID, ForeignKey(f"{target}.id"), index=index)


def added(kind: Any, value: Any) -> Any:
    """A column that came to a table with rows: they got what new ones have unless they say otherwise."""
    return mapped_column(kind, default=value, server_default=false() if value is False else str(value))


class Organisation(Base):
    """A hospital or manufacturer: its users see its rows and no others."""

    __tablename__ = "organisations"
    id: Mapped[str] = primary_key()
    name: Mapped[str] = mapped_column(String(200), unique=True)
    retention: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    second_factor: Mapped[bool] = mapped_column(
        Boolean, default=False, server_default=false()
    )  # required of its local accounts
    countersigned: Mapped[bool] = mapped_column(
        Boolean, default=False, server_default=false()
    )  # criteria are fixed by two people
    created_at: Mapped[int]


class User(Base):
    """An account, of a password here or of a person at the identity provider."""

    __tablename__ = "users"
    __table_args__ = (Index("users_subject", "issuer", "subject", unique=True),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    email: Mapped[str] = mapped_column(String(254), unique=True)  # in lower case
    name: Mapped[str] = mapped_column(String(200))
    password: Mapped[str] = mapped_column(String(300))  # argon2id, or empty until an invitation is taken up
    roles: Mapped[list[Any]]
    operator: Mapped[bool] = mapped_column(Boolean)  # may found organisations
    created_at: Mapped[int]
    disabled_at: Mapped[int | None]
    link_by: Mapped[str | None] = mapped_column(String(60))  # who made the link the password was chosen with
    link_at: Mapped[int | None]
    link_shown: Mapped[bool] = mapped_column(
        Boolean, default=False, server_default=false()
    )  # to who made it, not by mail
    reset: Mapped[bool] = mapped_column(
        Boolean, default=False, server_default=false()
    )  # that link replaced a password
    confirmed_by: Mapped[str | None] = mapped_column(ID)  # who confirmed the account after that
    issuer: Mapped[str | None] = mapped_column(String(500))  # the identity provider that vouches for them
    subject: Mapped[str | None] = mapped_column(String(255))  # their name there, which no other person gets
    provider_at: Mapped[int | None]  # when it last did
    factors_reset_by: Mapped[str | None] = mapped_column(ID)  # the administrator who took away second factors
    factors_reset_at: Mapped[int | None]

    @property
    def active(self) -> bool:
        """Whether its person can come in: with a password or by the provider, and not closed."""
        return bool(self.password or self.subject) and self.disabled_at is None


class Link(Base):
    """A link that works once: the setup of the service, or an invitation."""

    __tablename__ = "links"
    hash: Mapped[str] = mapped_column(SHA, primary_key=True)
    purpose: Mapped[str] = mapped_column(String(20))
    user: Mapped[str | None] = foreign_key("users", index=False)
    made_by: Mapped[str] = added(String(60), "")
    shown: Mapped[bool] = added(Boolean, False)  # to who made it
    expires_at: Mapped[int]
    used_at: Mapped[int | None]


class Session(Base):
    """A browser in which somebody is logged in; the cookie itself is not kept."""

    __tablename__ = "sessions"
    __table_args__ = (Index("sessions_id", "id", unique=True),)
    hash: Mapped[str] = mapped_column(SHA, primary_key=True)
    user: Mapped[str] = foreign_key("users")
    created_at: Mapped[int]
    seen_at: Mapped[int]
    expires_at: Mapped[int]
    id: Mapped[str] = mapped_column(ID, default=new_id, server_default="")  # what lists name it by
    address: Mapped[str] = added(String(60), "")
    browser: Mapped[str] = added(String(60), "")  # in words
    how: Mapped[str] = mapped_column(
        String(20), default="password", server_default="password"
    )  # or passkey, provider
    proved_at: Mapped[int | None]  # a fresh sign-in at the provider, good for one act that needs a password


class Factor(Base):
    """A second factor: an app that shows codes (totp), or a passkey."""

    __tablename__ = "factors"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    user: Mapped[str] = foreign_key("users")
    kind: Mapped[str] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(200))
    secret: Mapped[str] = mapped_column(Text)  # totp: encrypted; passkey: its public key
    credential: Mapped[str | None] = mapped_column(String(1400), unique=True)  # id of a passkey, base64url
    counter: Mapped[int]  # totp: the step of the last code that was used; passkey: its count of signatures
    confirmed: Mapped[bool] = mapped_column(Boolean)  # a code was shown to work
    created_at: Mapped[int]
    used_at: Mapped[int | None]


class RecoveryCode(Base):
    """A code that replaces a second factor once."""

    __tablename__ = "recovery_codes"
    hash: Mapped[str] = mapped_column(SHA, primary_key=True)
    user: Mapped[str] = foreign_key("users")
    used_at: Mapped[int | None]


class PendingStep(Base):
    """Something begun in one request and finished in the next: a browser has its secret in a cookie."""

    __tablename__ = "pending_steps"
    hash: Mapped[str] = mapped_column(SHA, primary_key=True)
    purpose: Mapped[str] = mapped_column(String(20))
    user: Mapped[str | None] = foreign_key("users", index=False)
    details: Mapped[dict[str, Any]]
    expires_at: Mapped[int]


class KnownBrowser(Base):
    """A browser that a user has logged in with; several users may share one."""

    __tablename__ = "known_browsers"
    hash: Mapped[str] = mapped_column(SHA, primary_key=True)
    user: Mapped[str] = mapped_column(ID, ForeignKey("users.id"), primary_key=True)
    expires_at: Mapped[int]


class Token(Base):
    """The key of a program, with some of its user's permissions; only its hash is kept."""

    __tablename__ = "tokens"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    user: Mapped[str] = foreign_key("users")
    name: Mapped[str] = mapped_column(String(200))
    hash: Mapped[str] = mapped_column(SHA, unique=True)
    scopes: Mapped[list[Any]]
    created_at: Mapped[int]
    expires_at: Mapped[int]
    used_at: Mapped[int | None]
    revoked_at: Mapped[int | None]


class Audit(Base):
    """One entry of the log; triggers refuse to change or remove it."""

    __tablename__ = "audit"
    chain: Mapped[str] = mapped_column(ID, primary_key=True)  # an organisation, or "service"
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[int]
    actor: Mapped[str] = mapped_column(String(60))
    action: Mapped[str] = mapped_column(String(60))
    subject: Mapped[str] = mapped_column(String(100), index=True)
    details: Mapped[dict[str, Any]]
    previous: Mapped[str] = mapped_column(SHA)
    hash: Mapped[str] = mapped_column(SHA)


REFUSED = "'the audit log is append-only'"
AUDIT_TRIGGERS = {
    "sqlite": [
        f"CREATE TRIGGER audit_no_{act.lower()} BEFORE {act} ON audit "
        f"BEGIN SELECT RAISE(ABORT, {REFUSED}); END"
        for act in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        f"""CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION {REFUSED}; END $$""",
        """CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit
        FOR EACH ROW EXECUTE FUNCTION audit_refuse()""",
        """CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit
        FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()""",
    ],
}
for _dialect, _statements in AUDIT_TRIGGERS.items():
    for _statement in _statements:
        event.listen(Audit.__table__, "after_create", DDL(_statement).execute_if(dialect=_dialect))


class AuditHead(Base):
    """The last entry of each chain: locked while one is added."""

    __tablename__ = "audit_heads"
    chain: Mapped[str] = mapped_column(ID, primary_key=True)
    number: Mapped[int]
    hash: Mapped[str] = mapped_column(SHA)


class StoredDevice(Base):
    """A device, known by what manifests declare of it."""

    __tablename__ = "devices"
    __table_args__ = (Index("devices_key", "organisation", "key", unique=True),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    key: Mapped[str] = mapped_column(SHA)  # of what names the device in a manifest
    trade_name: Mapped[str] = mapped_column(Text)
    manufacturer: Mapped[str] = mapped_column(Text)
    basic_udi_di: Mapped[str] = mapped_column(Text)
    same_as: Mapped[str | None] = mapped_column(ID)  # the device that has what is of this one
    created_at: Mapped[int]


class StoredStudy(Base):
    """What the versions of one study belong to."""

    __tablename__ = "studies"
    __table_args__ = (Index("studies_list", "organisation", "id"),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    name: Mapped[str] = mapped_column(String(200))
    sample: Mapped[bool] = mapped_column(
        Boolean, default=False, server_default=false()
    )  # simulated data to try the service with
    removed_at: Mapped[int | None]  # until it is restored, or deleted
    removed_by: Mapped[str | None] = mapped_column(String(60))
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]


class Version(Base):
    """One state of a study's files. What was uploaded never changes; checking it adds what was found."""

    __tablename__ = "versions"
    __table_args__ = (Index("versions_number", "study", "number", unique=True),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    study: Mapped[str] = foreign_key("studies")
    number: Mapped[int]
    state: Mapped[str] = mapped_column(String(20))  # checking, valid, invalid, unreadable
    digest: Mapped[str] = mapped_column(SHA)  # of the names and contents of its files
    facts: Mapped[dict[str, Any]]  # what lists show: title, kind, device version, period
    problems: Mapped[list[Any]]
    # What the form of the manifest offers: headers of tables, values of columns that have few.
    tables: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}", deferred=True)
    # How its criteria compare with what was fixed, and which verdicts will be withheld for that.
    criteria: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default="{}")
    device: Mapped[str | None] = foreign_key("devices")
    based_on: Mapped[str | None] = mapped_column(ID)  # the version that this one corrects
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]
    checked_at: Mapped[int | None]

    @property
    def has_next(self) -> bool:
        """Whether a period may follow its own; of one that was checked long ago nobody knows."""
        facts = self.facts
        may = facts["next"] is not None if "next" in facts else facts.get("kind") == "vigilance"
        return self.state == "valid" and may


class VersionFile(Base):
    """A file of a version; its content is a blob."""

    __tablename__ = "version_files"
    version: Mapped[str] = mapped_column(ID, ForeignKey("versions.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(250), primary_key=True)
    organisation: Mapped[str] = foreign_key("organisations")
    sha256: Mapped[str] = mapped_column(SHA, index=True)
    size: Mapped[int]
    archive: Mapped[bool] = mapped_column(Boolean)  # still to be unpacked


class Draft(Base):
    """What one person has typed as the manifest of their next version and not saved; nobody else sees it."""

    __tablename__ = "drafts"
    __table_args__ = (Index("drafts_own", "version", "created_by", unique=True),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    version: Mapped[str] = foreign_key("versions", index=False)
    manifest: Mapped[str] = mapped_column(Text)
    created_by: Mapped[str] = foreign_key("users")
    created_at: Mapped[int]


WAITING = "wait"  # the step of a job that is postponed


class Job(Base):
    """A piece of work: `check` reads what was uploaded, `report` computes and writes."""

    __tablename__ = "jobs"
    __table_args__ = (
        Index(
            "jobs_key",
            "key",
            unique=True,
            sqlite_where=text("state IN ('queued', 'running', 'done')"),
            postgresql_where=text("state IN ('queued', 'running', 'done')"),
        ),
        Index("jobs_queue", "state", "task", "created_at"),
        Index("jobs_list", "organisation", "id"),
    )
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    study: Mapped[str] = foreign_key("studies")
    version: Mapped[str] = foreign_key("versions")
    task: Mapped[str] = mapped_column(String(20))
    key: Mapped[str] = mapped_column(SHA)  # the same inputs, wishes and code have the same key
    wishes: Mapped[dict[str, Any]]  # kind, formats, seed
    code: Mapped[str] = mapped_column(String(60))
    state: Mapped[str] = mapped_column(String(20))  # queued, running, done, failed, cancelled
    step: Mapped[str] = mapped_column(String(60))
    progress: Mapped[float] = mapped_column(Float)
    reason: Mapped[str] = mapped_column(Text)
    attempts: Mapped[int]
    restarts: Mapped[int] = added(BigInteger, 0)  # attempts whose whole process ended
    worker: Mapped[str] = mapped_column(String(100))
    lease_until: Mapped[int]
    cancel_asked: Mapped[bool] = mapped_column(Boolean)
    report: Mapped[str | None] = mapped_column(ID)
    trace: Mapped[str] = mapped_column(
        String(55), default="", server_default=""
    )  # of the request that asked (W3C traceparent)
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]
    started_at: Mapped[int | None]
    finished_at: Mapped[int | None]


class StoredWorker(Base):
    """Who computes: gone when not seen for a lease."""

    __tablename__ = "workers"
    id: Mapped[str] = mapped_column(String(100), primary_key=True)
    code: Mapped[str] = mapped_column(String(60))
    started_at: Mapped[int]
    seen_at: Mapped[int]


NEXT_PERIOD = "next_period"  # among the wishes of a schedule: fetch the next period first


class Schedule(Base):
    """A report to be made again and again, of the newest valid version of a study."""

    __tablename__ = "schedules"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    study: Mapped[str] = foreign_key("studies")
    wishes: Mapped[dict[str, Any]]
    every_days: Mapped[int]
    next_at: Mapped[int] = mapped_column(index=True)
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]


class StoredReport(Base):
    """A report of a version, made by one job; `facts` is what lists show of it."""

    __tablename__ = "reports"
    __table_args__ = (Index("reports_list", "organisation", "id"),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    study: Mapped[str] = foreign_key("studies")
    version: Mapped[str] = foreign_key("versions")
    device: Mapped[str | None] = foreign_key("devices")
    job: Mapped[str] = mapped_column(ID, ForeignKey("jobs.id"), unique=True)
    kind: Mapped[str] = mapped_column(String(20))
    code: Mapped[str] = mapped_column(String(60))
    facts: Mapped[dict[str, Any]]
    results_sha256: Mapped[str] = mapped_column(SHA)
    removed_at: Mapped[int | None]
    removed_by: Mapped[str | None] = mapped_column(String(60))
    created_by: Mapped[str] = foreign_key("users", index=False)
    created_at: Mapped[int]


class ReportFile(Base):
    """A file of a report; its content is a blob."""

    __tablename__ = "report_files"
    report: Mapped[str] = mapped_column(ID, ForeignKey("reports.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(250), primary_key=True)
    organisation: Mapped[str] = foreign_key("organisations")
    sha256: Mapped[str] = mapped_column(SHA, index=True)
    size: Mapped[int]


class Removal(Base):
    """A file of a removed study, to be removed from the disk unless another row names it."""

    __tablename__ = "removals"
    organisation: Mapped[str] = mapped_column(ID, primary_key=True)
    sha256: Mapped[str] = mapped_column(SHA, primary_key=True)


class Attestation(Base):
    """Who signed a report, with what meaning; the signed text and its signature lie in the blobs."""

    __tablename__ = "attestations"
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    report: Mapped[str] = foreign_key("reports")
    user: Mapped[str] = foreign_key("users")
    act: Mapped[str] = mapped_column(String(20))  # review, approval, rejection
    meaning: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(SHA)
    signature: Mapped[str] = mapped_column(String(200))  # base64 of Ed25519 over the statement
    key: Mapped[str] = mapped_column(SHA)  # of the public key
    created_at: Mapped[int]
