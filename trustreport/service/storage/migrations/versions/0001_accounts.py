"""Organisations, users and how they are known; the audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID, SHA, WHEN = sa.String(26), sa.String(64), sa.BigInteger()
REFUSE = "RAISE(ABORT, 'the audit log is append-only')"


def upgrade() -> None:
    op.create_table(
        "organisations",
        sa.Column("id", ID, primary_key=True),
        sa.Column("name", sa.String(200), nullable=False, unique=True),
        sa.Column("created_at", WHEN, nullable=False),
    )
    op.create_table(
        "users",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("email", sa.String(254), nullable=False, unique=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("password", sa.String(300), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("operator", sa.Boolean(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("disabled_at", WHEN),
    )
    op.create_table(
        "links",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("purpose", sa.String(20), nullable=False),
        sa.Column("user", ID, sa.ForeignKey("users.id")),
        sa.Column("expires_at", WHEN, nullable=False),
        sa.Column("used_at", WHEN),
    )
    op.create_table(
        "sessions",
        sa.Column("hash", SHA, primary_key=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("seen_at", WHEN, nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
    )
    op.create_table(
        "tokens",
        sa.Column("id", ID, primary_key=True),
        sa.Column("organisation", ID, sa.ForeignKey("organisations.id"), nullable=False, index=True),
        sa.Column("user", ID, sa.ForeignKey("users.id"), nullable=False, index=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("hash", SHA, nullable=False, unique=True),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", WHEN, nullable=False),
        sa.Column("expires_at", WHEN, nullable=False),
        sa.Column("used_at", WHEN),
        sa.Column("revoked_at", WHEN),
    )
    op.create_table(
        "audit",
        sa.Column("chain", ID, primary_key=True),
        sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("at", WHEN, nullable=False),
        sa.Column("actor", sa.String(60), nullable=False),
        sa.Column("action", sa.String(60), nullable=False),
        sa.Column("subject", sa.String(100), nullable=False, index=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("previous", SHA, nullable=False),
        sa.Column("hash", SHA, nullable=False),
    )
    op.create_table(
        "audit_heads",
        sa.Column("chain", ID, primary_key=True),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("hash", SHA, nullable=False),
    )
    if op.get_context().dialect.name == "sqlite":
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER audit_no_{act.lower()} BEFORE {act} ON audit BEGIN SELECT {REFUSE}; END"
            )
        return
    op.execute(
        "CREATE FUNCTION audit_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$"
    )
    op.execute(
        "CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit "
        "FOR EACH ROW EXECUTE FUNCTION audit_refuse()"
    )
    op.execute(
        "CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_refuse()"
    )
