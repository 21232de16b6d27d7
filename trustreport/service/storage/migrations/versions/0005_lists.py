"""Lists of an organisation's rows are read in their order, however many there are."""

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    for table in ("studies", "jobs", "reports"):
        op.create_index(f"{table}_list", table, ["organisation", "id"])
