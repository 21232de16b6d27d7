"""Webhooks, and what is to be sent to them."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

ID, WHEN = sa.String(26), sa.BigInteger()


def upgrade() -> None:
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


def _row() -> tuple[sa.Column[str], ...]:
    return (
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
    )
