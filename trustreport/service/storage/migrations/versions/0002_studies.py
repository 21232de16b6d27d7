"""Devices, studies, their versions and files."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ID, SHA, WHEN = sa.String(26), sa.String(64), sa.BigInteger()


def upgrade() -> None:
    op.create_table(
        "devices",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("key", SHA, nullable=False),
        sa.Column("trade_name", sa.Text(), nullable=False),
        sa.Column("manufacturer", sa.Text(), nullable=False),
        sa.Column("basic_udi_di", sa.Text(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_index("devices_key", "devices", ["organisation", "key"], unique=True)
    op.create_table(
        "studies",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_table(
        "versions",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("study", ID, sa.ForeignKey("studies.id"), nullable=False, index=True),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("digest", SHA, nullable=False),
        sa.Column("facts", sa.Text(), nullable=False),
        sa.Column("problems", sa.Text(), nullable=False),
        sa.Column("device", ID, sa.ForeignKey("devices.id"), index=True),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("checked_at", WHEN),
    )
    op.create_index("versions_number", "versions", ["study", "number"], unique=True)
    op.create_table(
        "version_files",
        sa.Column("version", ID, sa.ForeignKey("versions.id"), primary_key=True),
        sa.Column("name", sa.String(250), primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("sha256", SHA, nullable=False, index=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("archive", sa.Boolean(), nullable=False),
    )
