"""Mail to be sent, requested reviews, comments, links to one report, and which version another corrects."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

ID, SHA, WHEN = sa.String(26), sa.String(64), sa.BigInteger()


def upgrade() -> None:
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


def _row() -> tuple[sa.Column[str], ...]:
    return (
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
    )
