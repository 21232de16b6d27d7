"""The table of what somebody has typed into a version and not yet saved as the next one."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from trustreport.service.storage.models import ID, Base, foreign_key, primary_key


class Draft(Base):
    """The manifest of one person's next version; nobody else sees it."""

    __tablename__ = "drafts"
    __table_args__ = (Index("drafts_own", "version", "created_by", unique=True),)
    id: Mapped[str] = primary_key()
    organisation: Mapped[str] = foreign_key("organisations")
    version: Mapped[str] = foreign_key("versions", index=False)
    manifest: Mapped[str] = mapped_column(Text)
    created_by: Mapped[str] = foreign_key("users")
    created_at: Mapped[int]


def drafts() -> None:
    """The step of the schema that adds the table."""
    op.create_table(
        "drafts",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("version", ID, sa.ForeignKey("versions.id"), nullable=False),
        sa.Column("manifest", sa.Text(), nullable=False),
        sa.Column("created_by", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
    )
    op.create_index("drafts_own", "drafts", ["version", "created_by"], unique=True)
