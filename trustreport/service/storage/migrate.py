"""Brings the schema forward: the steps that a database has not had, in one transaction."""

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Connection, Engine

from trustreport.service.storage.schema_steps import STEPS

LOCK = 7_215_338_001  # any number: whoever migrates a PostgreSQL database holds it
VERSION = sa.Table(
    "alembic_version",
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


class TooNew(Exception):
    """The data were written by a newer version of this program."""


def migrate(engine: Engine, target: str = "") -> None:
    """Bring the schema to a revision, the newest unless named; several processes may try at once.

    Raises
    ------
    TooNew : the schema is newer than this program
    """
    with engine.connect() as connection, connection.begin():  # on SQLite it begins by taking the lock
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        here = current(connection)
        if here is not None and here not in STEPS:
            raise TooNew(
                f"The data are of schema {here}, which this version does not know: install the newer one."
            )
        missing = [step for step in STEPS if (here or "") < step <= (target or head())]
        if not missing:
            return
        with Operations.context(MigrationContext.configure(connection)):
            for step in missing:
                STEPS[step]()
        VERSION.create(connection, checkfirst=True)
        connection.execute(sa.delete(VERSION))
        connection.execute(sa.insert(VERSION).values(version_num=missing[-1]))


def current(connection: Connection) -> str | None:
    """The revision of the schema, None where there is none."""
    return MigrationContext.configure(connection).get_current_revision()


def head() -> str:
    """The newest revision that this program knows."""
    return max(STEPS)
