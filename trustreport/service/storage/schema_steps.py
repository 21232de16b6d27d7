"""The schema, made and brought forward step by step; a step that has been released is never changed."""

from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

from trustreport.service.ids import new_id
from trustreport.service.storage.drafts import drafts
from trustreport.service.storage.later_steps import fixed_criteria, links_and_devices, vigilance

ID, SHA, ACTOR, WHEN = sa.String(26), sa.String(64), sa.String(60), sa.BigInteger()
REFUSE = "RAISE(ABORT, 'the audit log is append-only')"
LIVE = sa.text("state IN ('queued', 'running', 'done')")


def _row() -> tuple[sa.Column[str], ...]:
    return sa.Column("id", ID, primary_key=True), _organisation()


def _organisation() -> sa.Column[str]:
    return sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True)


def accounts() -> None:
    """Organisations, users and how they are known; the audit log."""
    op.create_table(
        "organisations",
        sa.Column("id", ID, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False, unique=True),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_table(
        "users",
        *_row(),
        sa.Column("email", sa.String(254), nullable=False, unique=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("password", sa.String(300), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("operator", sa.Boolean(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("disabled_at", WHEN),
    )
    op.create_table(
        "links",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("purpose", sa.String(20), nullable=False),
        sa.Column("user", ID, sa.ForeignKey("users.id")),
        sa.Column("expires_at", WHEN, nullable=False),
        sa.Column("used_at", WHEN),
    )
    op.create_table(
        "sessions",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("seen_at", WHEN, nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
    )
    op.create_table(
        "tokens",
        *_row(),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("hash", SHA, nullable=False, unique=True),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
        sa.Column("used_at", WHEN),
        sa.Column("revoked_at", WHEN),
    )
    op.create_table(
        "audit",
        sa.Column("chain", ID, primary_key=True),
        sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("at", WHEN, nullable=False),
        sa.Column("actor", sa.String(60), nullable=False),
        sa.Column("action", sa.String(60), nullable=False),
        sa.Column("subject", sa.String(100), nullable=False, index=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("previous", SHA, nullable=False),
        sa.Column("hash", SHA, nullable=False),
    )
    op.create_table(
        "audit_heads",
        sa.Column("chain", ID, primary_key=True),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", SHA, nullable=False),
    )
    if op.get_context().dialect.name == "sqlite":
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_no_{act.lower()} BEFORE {act} ON audit BEGIN SELECT {REFUSE}; END"
            )
        return
    op.execute(
        "CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit "
        "FOR EACH ROW EXECUTE FUNCTION audit_refuse()"
    )
    op.execute(
        "CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()"
    )


def studies() -> None:
    """Devices, studies, their versions and files."""
    op.create_table(
        "devices",
        *_row(),
        sa.Column("key", SHA, nullable=False),
        sa.Column("trade_name", sa.Text(), nullable=False),
        sa.Column("manufacturer", sa.Text(), nullable=False),
        sa.Column("basic_udi_di", sa.Text(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_index("devices_key", "devices", ["organisation", "key"], unique=True)
    op.create_table(
        "studies",
        *_row(),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_table(
        "versions",
        *_row(),
        sa.Column("study", ID, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("digest", SHA, nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("problems", sa.Text(), nullable=False),
        sa.Column("device", ID, sa.ForeignKey("devices.id"), index=True),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("checked_at", WHEN),
    )
    op.create_index("versions_number", "versions", ["study", "number"], unique=True)
    op.create_table(
        "version_files",
        sa.Column("version", ID, sa.ForeignKey("versions.id"), primary_key=True),
        sa.Column("name", sa.String(250), primary_key=True),
        _organisation(),
        sa.Column("sha256", SHA, nullable=False, index=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("archive", sa.Boolean(), nullable=False),
    )


def jobs() -> None:
    """Jobs, the workers that do them, and the reports that they write."""
    op.create_table(
        "jobs",
        *_row(),
        sa.Column("study", ID, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("version", ID, sa.ForeignKey("versions.id"), nullable=False, index=True),
        sa.Column("task", sa.String(20), nullable=False),
        sa.Column("key", SHA, nullable=False),
        sa.Column("wishes", sa.Text(), nullable=False),
        sa.Column("code", sa.String(60), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("step", sa.String(60), nullable=False),
        sa.Column("progress", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("worker", sa.String(100), nullable=False),
        sa.Column("lease_until", WHEN, nullable=False),
        sa.Column("cancel_asked", sa.Boolean(), nullable=False),
        sa.Column("report", ID),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("started_at", WHEN),
        sa.Column("finished_at", WHEN),
    )
    op.create_index("jobs_key", "jobs", ["key"], unique=True, sqlite_where=LIVE, postgresql_where=LIVE)
    op.create_index("jobs_queue", "jobs", ["state", "task", "created_at"])
    op.create_table(
        "workers",
        sa.Column("id", sa.String(100), primary_key=True),
        sa.Column("code", sa.String(60), nullable=False),
        sa.Column("started_at", WHEN, nullable=False),
        sa.Column("seen_at", WHEN, nullable=False),
    )
    op.create_table(
        "reports",
        *_row(),
        sa.Column("study", ID, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("version", ID, sa.ForeignKey("versions.id"), nullable=False, index=True),
        sa.Column("device", ID, sa.ForeignKey("devices.id"), index=True),
        sa.Column("job", ID, sa.ForeignKey("jobs.id"), nullable=False, unique=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("code", sa.String(60), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("results_sha256", SHA, nullable=False),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_table(
        "report_files",
        sa.Column("report", ID, sa.ForeignKey("reports.id"), primary_key=True),
        sa.Column("name", sa.String(250), primary_key=True),
        _organisation(),
        sa.Column("sha256", SHA, nullable=False, index=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
    )


def record() -> None:
    """Signed reviews and approvals, how long data are kept, and reports that come round."""
    # Organisations from before keep everything, as they did.
    op.add_column(
        "organisations", sa.Column("retention", sa.Text(), nullable=False, server_default=sa.text("'{}'"))
    )
    op.create_table(
        "schedules",
        *_row(),
        sa.Column("study", ID, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("wishes", sa.Text(), nullable=False),
        sa.Column("every_days", sa.BigInteger(), nullable=False),
        sa.Column("next_at", WHEN, nullable=False, index=True),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_table(
        "attestations",
        *_row(),
        sa.Column("report", ID, sa.ForeignKey("reports.id"), nullable=False, index=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("act", sa.String(20), nullable=False),
        sa.Column("meaning", sa.Text(), nullable=False),
        sa.Column("sha256", SHA, nullable=False),
        sa.Column("signature", sa.String(200), nullable=False),
        sa.Column("key", SHA, nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )


def lists() -> None:
    """Lists of an organisation's rows are read in their order, however many there are."""
    for table in ("studies", "jobs", "reports"):
        op.create_index(f"{table}_list", table, ["organisation", "id"])


def known_browsers() -> None:
    """Browsers that somebody has logged in with: guesses from elsewhere do not lock them out."""
    op.create_table(
        "known_browsers",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), primary_key=True),
        sa.Column("expires_at", WHEN, nullable=False),
    )


def resets() -> None:
    """Who made the link that a password was chosen with, and who confirmed an account after a reset."""
    op.add_column("links", sa.Column("made_by", ACTOR, nullable=False, server_default=""))
    # Accounts from before: nobody knows who had their links.
    op.add_column("users", sa.Column("link_by", ACTOR))
    op.add_column("users", sa.Column("link_at", WHEN))
    op.add_column("users", sa.Column("reset", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("users", sa.Column("confirmed_by", ID))


def removals() -> None:
    """Files of removed studies, to be removed from the disk."""
    op.create_table(
        "removals",
        sa.Column("organisation", ID, primary_key=True),
        sa.Column("sha256", SHA, primary_key=True),
    )


def version_tables() -> None:
    """The headers of a version's tables, which the form of its manifest offers."""
    op.add_column("versions", sa.Column("tables", sa.Text(), nullable=False, server_default="{}"))


def second_factors() -> None:
    """Accounts bound to an identity provider, second factors, sign-ins half done, facts of sessions."""
    op.add_column(
        "organisations", sa.Column("second_factor", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("users", sa.Column("issuer", sa.String(500)))
    op.add_column("users", sa.Column("subject", sa.String(255)))
    op.add_column("users", sa.Column("provider_at", WHEN))
    op.add_column("users", sa.Column("factors_reset_by", ID))
    op.add_column("users", sa.Column("factors_reset_at", WHEN))
    op.create_index("users_subject", "users", ["issuer", "subject"], unique=True)
    _sessions()
    op.create_table(
        "factors",
        *_row(),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("credential", sa.String(1400), unique=True),
        sa.Column("counter", WHEN, nullable=False),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("used_at", WHEN),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("used_at", WHEN),
    )
    op.create_table(
        "pending_steps",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("purpose", sa.String(20), nullable=False),
        sa.Column("user", ID, sa.ForeignKey("users.id")),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
    )


def _sessions() -> None:
    op.add_column("sessions", sa.Column("id", ID, nullable=False, server_default=""))
    op.add_column("sessions", sa.Column("address", ACTOR, nullable=False, server_default=""))
    op.add_column("sessions", sa.Column("browser", ACTOR, nullable=False, server_default=""))
    op.add_column("sessions", sa.Column("how", sa.String(20), nullable=False, server_default="password"))
    op.add_column("sessions", sa.Column("proved_at", WHEN))
    sessions = sa.table("sessions", sa.column("hash", SHA), sa.column("id", ID))
    rows = op.get_bind()
    for (hash_,) in rows.execute(sa.select(sessions.c.hash)).all():
        rows.execute(sa.update(sessions).where(sessions.c.hash == hash_).values(id=new_id()))
    op.create_index("sessions_id", "sessions", ["id"], unique=True)


def working_together() -> None:
    """Mail, requested reviews, comments, links to one report, and which version another corrects."""
    op.add_column("versions", sa.Column("based_on", ID))
    op.create_table(
        "mails",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), index=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), index=True),
        sa.Column("address", sa.String(254), nullable=False),
        sa.Column("kind", sa.String(30), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("next_at", WHEN, nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("sent_at", WHEN),
        sa.Column("failed_at", WHEN),
    )
    op.create_index("mails_due", "mails", ["sent_at", "failed_at", "next_at"])
    op.create_table(
        "review_requests",
        *_row(),
        sa.Column("report", ID, sa.ForeignKey("reports.id"), nullable=False, index=True),
        sa.Column("reviewer", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("due", sa.String(10)),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("ended_at", WHEN),
    )
    op.create_table(
        "comments",
        *_row(),
        sa.Column("version", ID, sa.ForeignKey("versions.id"), nullable=False, index=True),
        sa.Column("report", ID, sa.ForeignKey("reports.id"), index=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sha256", SHA, nullable=False),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("withdrawn_at", WHEN),
    )
    op.create_table(
        "shares",
        *_row(),
        sa.Column("report", ID, sa.ForeignKey("reports.id"), nullable=False, index=True),
        sa.Column("hash", SHA, nullable=False, unique=True),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
        sa.Column("revoked_at", WHEN),
        sa.Column("uses", sa.BigInteger(), nullable=False),
        sa.Column("used_at", WHEN),
    )


def webhooks() -> None:
    """Webhooks, and what is to be sent to them."""
    op.create_table(
        "webhooks",
        *_row(),
        sa.Column("url", sa.String(500), nullable=False),
        sa.Column("events", sa.Text(), nullable=False),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("paused_at", WHEN),
        sa.Column("tried_at", WHEN, nullable=False),
    )
    op.create_table(
        "deliveries",
        *_row(),
        sa.Column("webhook", ID, sa.ForeignKey("webhooks.id"), nullable=False, index=True),
        sa.Column("kind", sa.String(60), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        sa.Column("next_at", WHEN, nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("queued_at", WHEN, nullable=False),
        sa.Column("sent_at", WHEN),
        sa.Column("failed_at", WHEN),
    )
    op.create_index("deliveries_due", "deliveries", ["sent_at", "failed_at", "next_at"])


def several_servers() -> None:
    """Counters that all servers share, and the trace of the request that asked for a job."""
    unlogged = op.get_bind().dialect.name == "postgresql"  # counting waits for no disk
    op.create_table(
        "counters",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        prefixes=["UNLOGGED"] if unlogged else [],
    )
    op.add_column("jobs", sa.Column("trace", sa.String(55), nullable=False, server_default=""))


def collaborations() -> None:
    """Studies that several sites answer: who is invited, and what they uploaded."""
    op.create_table(
        "collaborations",
        *_row(),
        sa.Column("study", ID, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("version", ID, sa.ForeignKey("versions.id"), nullable=False, index=True),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("lock", SHA, nullable=False),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_table(
        "invited_sites",
        *_row(),
        sa.Column("collaboration", ID, sa.ForeignKey("collaborations.id"), nullable=False, index=True),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("key", sa.String(44), nullable=False),
        sa.Column("hash", SHA, unique=True),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
        sa.Column("revoked_at", WHEN),
        sa.Column("opened_at", WHEN),
        sa.Column("refused_at", WHEN),
        sa.Column("refused", sa.Text(), nullable=False),
    )
    op.create_table(
        "site_uploads",
        *_row(),
        sa.Column("site", ID, sa.ForeignKey("invited_sites.id"), nullable=False, index=True),
        sa.Column("sha256", SHA, nullable=False, index=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(44), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("decided_by", ACTOR),
        sa.Column("decided_at", WHEN),
        sa.Column("created_at", WHEN, nullable=False),
    )


def restarts_and_removals() -> None:
    """How often the process of a job ended; samples; and what was removed but can be restored."""
    op.add_column("jobs", sa.Column("restarts", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("studies", sa.Column("sample", sa.Boolean(), nullable=False, server_default=sa.false()))
    for table in ("studies", "reports"):
        op.add_column(table, sa.Column("removed_at", WHEN))
        op.add_column(table, sa.Column("removed_by", ACTOR))


STEPS: dict[str, Callable[[], None]] = {
    "0001": accounts,
    "0002": studies,
    "0003": jobs,
    "0004": record,
    "0005": lists,
    "0006": known_browsers,
    "0007": resets,
    "0008": removals,
    "0009": version_tables,
    "0010": second_factors,
    "0011": working_together,
    "0012": webhooks,
    "0013": several_servers,
    "0014": collaborations,
    "0015": vigilance,
    "0016": fixed_criteria,
    "0017": drafts,
    "0018": restarts_and_removals,
    "0019": links_and_devices,
}
