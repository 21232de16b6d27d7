"""The step of the schema that makes the register of incidents and signals."""

import sqlalchemy as sa
from alembic import op

ID, WHEN = sa.String(26), sa.BigInteger()


def _belongs_to(table: str, name: str, *, index: bool = True) -> sa.Column[str]:
    return sa.Column(name, ID, sa.ForeignKey(f"{table}.id"), nullable=False, index=index)


def vigilance() -> None:
    """The register of incidents and signals of devices, with every change of it."""
    op.create_table(
        "vigilance_entries",
        sa.Column("id", ID, primary_key=True),
        _belongs_to("organisations", "organisation"),
        _belongs_to("devices", "device"),
        sa.Column("group", sa.String(10), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("closed", sa.Boolean(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        _belongs_to("users", "created_by", index=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    unique = ["device", "group", "name"]
    op.create_index("vigilance_entries_name", "vigilance_entries", unique, unique=True)
    op.create_table(
        "vigilance_changes",
        sa.Column("id", ID, primary_key=True),
        _belongs_to("organisations", "organisation"),
        _belongs_to("vigilance_entries", "entry"),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("act", sa.String(20), nullable=False),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        _belongs_to("users", "created_by", index=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_index("vigilance_changes_number", "vigilance_changes", ["entry", "number"], unique=True)
