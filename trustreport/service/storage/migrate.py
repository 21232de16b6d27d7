"""The schema, brought forward step by step (Alembic; the steps lie in ``migrations/versions``)."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

MIGRATIONS = Path(__file__).parent / "migrations"
LOCK = 7_215_338_001  # any number: whoever migrates a PostgreSQL database holds it


class TooNew(Exception):
    """The data were written by a newer version of this program."""


def migrate(engine: Engine, target: str = "head") -> None:
    """Bring the schema to a revision; several processes may try at once.

    Raises
    ------
    TooNew : the schema is newer than this program
    """
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.connect() as connection, connection.begin():  # on SQLite it begins by taking the lock
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        here = current(connection)
        if here is not None and here not in {s.revision for s in _scripts().walk_revisions()}:
            raise TooNew(
                f"The data are of schema {here}, which this version does not know: install the newer one."
            )
        config.attributes["connection"] = connection
        command.upgrade(config, target)


def current(connection: Connection) -> str | None:
    """The revision of the schema, None where there is none."""
    return MigrationContext.configure(connection).get_current_revision()


def head() -> str:
    """The newest revision that this program knows."""
    return str(_scripts().get_current_head())


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(MIGRATIONS))
