"""Accounts bound to an identity provider, second factors, sign-ins half done, facts of sessions."""

import sqlalchemy as sa
from alembic import op

from trustreport.service.ids import new_id

revision = "0010"
down_revision = "0009"

ID, SHA, ACTOR, WHEN = sa.String(26), sa.String(64), sa.String(60), sa.BigInteger()


def upgrade() -> None:
    op.add_column(
        "organisations", sa.Column("second_factor", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.add_column("users", sa.Column("issuer", sa.String(500)))
    op.add_column("users", sa.Column("subject", sa.String(255)))
    op.add_column("users", sa.Column("provider_at", WHEN))
    op.add_column("users", sa.Column("factors_reset_by", ID))
    op.add_column("users", sa.Column("factors_reset_at", WHEN))
    op.create_index("users_subject", "users", ["issuer", "subject"], unique=True)
    _sessions()
    op.create_table(
        "factors",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("credential", sa.String(1400), unique=True),
        sa.Column("counter", WHEN, nullable=False),
        sa.Column("confirmed", sa.Boolean(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("used_at", WHEN),
    )
    op.create_table(
        "recovery_codes",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("used_at", WHEN),
    )
    op.create_table(
        "pending_steps",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("purpose", sa.String(20), nullable=False),
        sa.Column("user", ID, sa.ForeignKey("users.id")),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
    )


def _sessions() -> None:
    op.add_column("sessions", sa.Column("id", ID, nullable=False, server_default=""))
    op.add_column("sessions", sa.Column("address", ACTOR, nullable=False, server_default=""))
    op.add_column("sessions", sa.Column("browser", ACTOR, nullable=False, server_default=""))
    op.add_column("sessions", sa.Column("how", sa.String(20), nullable=False, server_default="password"))
    op.add_column("sessions", sa.Column("proved_at", WHEN))
    sessions = sa.table("sessions", sa.column("hash", SHA), sa.column("id", ID))
    rows = op.get_bind()
    for (hash_,) in rows.execute(sa.select(sessions.c.hash)).all():
        rows.execute(sa.update(sessions).where(sessions.c.hash == hash_).values(id=new_id()))
    op.create_index("sessions_id", "sessions", ["id"], unique=True)
