"""Files of removed studies, to be removed from the disk."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

ID, SHA = sa.String(26), sa.String(64)


def upgrade() -> None:
    op.create_table(
        "removals",
        sa.Column("organisation", ID, primary_key=True),
        sa.Column("sha256", SHA, primary_key=True),
    )
