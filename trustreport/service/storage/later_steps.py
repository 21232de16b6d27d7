"""Steps of the schema after those of `schema_steps`, by subject."""

import sqlalchemy as sa
from alembic import op

ID, SHA = sa.String(26), sa.String(64)


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
