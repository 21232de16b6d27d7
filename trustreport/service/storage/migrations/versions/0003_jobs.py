"""Jobs, the workers that do them, and the reports that they write."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ID, SHA, WHEN = sa.String(26), sa.String(64), sa.BigInteger()
LIVE = sa.text("state IN ('queued', 'running', 'done')")


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
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
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
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
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("sha256", SHA, nullable=False, index=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
    )
