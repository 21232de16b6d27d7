"""Counters that all servers share, and the trace of the request that asked for a job."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    unlogged = op.get_bind().dialect.name == "postgresql"  # counting waits for no disk
    op.create_table(
        "counters",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        prefixes=["UNLOGGED"] if unlogged else [],
    )
    op.add_column("jobs", sa.Column("trace", sa.String(55), nullable=False, server_default=""))
