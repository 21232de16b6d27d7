"""Who made the link that a password was chosen with, and who confirmed an account after a reset."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

ID, ACTOR, WHEN = sa.String(26), sa.String(60), sa.BigInteger()


def upgrade() -> None:
    op.add_column("links", sa.Column("made_by", ACTOR, nullable=False, server_default=""))
    # Accounts from before: nobody knows who had their links.
    op.add_column("users", sa.Column("link_by", ACTOR))
    op.add_column("users", sa.Column("link_at", WHEN))
    op.add_column("users", sa.Column("reset", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("users", sa.Column("confirmed_by", ID))
