"""Steps of the schema after those of `schema_steps`, by subject."""

import sqlalchemy as sa
from alembic import op

ID, SHA, WHEN = sa.String(26), sa.String(64), sa.BigInteger()


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


def links_and_devices() -> None:
    """Devices that are another under a new UDI; whether a link was shown to who made it.

    Before, each link was shown that no mail took to its user.
    """
    op.add_column("devices", sa.Column("same_as", ID))
    for table, column in (("links", "shown"), ("users", "link_shown")):
        op.add_column(table, sa.Column(column, sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute(
        "UPDATE users SET link_shown = true WHERE link_by IN (SELECT id FROM users) AND NOT EXISTS ("
        "SELECT 1 FROM audit WHERE action = 'mail.sent' AND subject = users.id)"
    )


def fixed_criteria() -> None:
    """Criteria that are fixed in advance, by one person or two."""
    op.create_table(
        "fixed_criteria",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("study", ID, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("version", ID, sa.ForeignKey("versions.id"), nullable=False, index=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("name", sa.String(250), nullable=False),
        sa.Column("sha256", SHA, nullable=False, index=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("digest", SHA, nullable=False),
        sa.Column("criteria", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("fixed_on", sa.String(10)),
        sa.Column("data_opened_on", sa.String(10)),
        sa.Column("manifest", sa.Text(), nullable=False),
        sa.Column("needs_second", sa.Boolean(), nullable=False),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("countersigned_by", ID),
        sa.Column("countersigned_at", sa.BigInteger()),
    )
    op.add_column("versions", sa.Column("criteria", sa.Text(), nullable=False, server_default="{}"))
    op.add_column(
        "organisations", sa.Column("countersigned", sa.Boolean(), nullable=False, server_default=sa.false())
    )
