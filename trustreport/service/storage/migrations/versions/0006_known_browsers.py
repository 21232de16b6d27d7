"""Browsers that somebody has logged in with: guesses from elsewhere do not lock them out."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

ID, SHA, WHEN = sa.String(26), sa.String(64), sa.BigInteger()


def upgrade() -> None:
    op.create_table(
        "known_browsers",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), primary_key=True),
        sa.Column("expires_at", WHEN, nullable=False),
    )
