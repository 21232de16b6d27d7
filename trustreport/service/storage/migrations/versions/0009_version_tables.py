"""The headers of a version's tables, which the form of its manifest offers."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("versions", sa.Column("tables", sa.Text(), nullable=False, server_default="{}"))
