"""Signed reviews and approvals, how long data are kept, and reports that come round."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

ID, SHA, WHEN = sa.String(26), sa.String(64), sa.BigInteger()


def upgrade() -> None:
    # Organisations from before keep everything, as they did.
    op.add_column(
        "organisations", sa.Column("retention", sa.Text(), nullable=False, server_default=sa.text("'{}'"))
    )
    op.create_table(
        "schedules",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("study", ID, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("wishes", sa.Text(), nullable=False),
        sa.Column("every_days", sa.BigInteger(), nullable=False),
        sa.Column("next_at", WHEN, nullable=False, index=True),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_table(
        "attestations",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("report", ID, sa.ForeignKey("reports.id"), nullable=False, index=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("act", sa.String(20), nullable=False),
        sa.Column("meaning", sa.Text(), nullable=False),
        sa.Column("sha256", SHA, nullable=False),
        sa.Column("signature", sa.String(200), nullable=False),
        sa.Column("key", SHA, nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
