"""Makes the schema from the models, and brings an earlier one forward, in one transaction.

What the models have and a database has not is added: tables, columns with the value that older rows get, and
indexes. Whatever else a change needs of older rows stands in `convert`.
"""

import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.schema import CreateColumn

from trustreport.service.ids import new_id
from trustreport.service.storage.models import Base

SCHEMA = "0019"  # counted up whenever the tables change, so that an older program refuses the newer ones
LOCK = 7_215_338_001  # any number: whoever migrates a PostgreSQL database holds it
VERSION = sa.Table(
    "alembic_version",  # the tool that once made the schema named it
    sa.MetaData(),
    sa.Column("version_num", sa.String(32), nullable=False),
    sa.PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


class TooNew(Exception):
    """The data were written by a newer version of this program."""


def migrate(engine: Engine) -> None:
    """Bring the schema to today's; several processes may try at once.

    Raises
    ------
    TooNew : the schema is newer than this program
    """
    with engine.connect() as connection, connection.begin():  # on SQLite it begins by taking the lock
        if connection.dialect.name == "postgresql":
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        here = current(connection)
        if here == SCHEMA:
            return
        if here is not None:
            refuse_newer(here)
            _add_columns(connection)
            convert(connection, here)
            for table in _found(connection):
                for index in table.indexes:
                    index.create(connection, checkfirst=True)
        Base.metadata.create_all(connection)
        VERSION.create(connection, checkfirst=True)
        connection.execute(sa.delete(VERSION))
        connection.execute(sa.insert(VERSION).values(version_num=SCHEMA))


def current(connection: Connection) -> str | None:
    """The revision of the schema, None where there is none."""
    found = sa.inspect(connection).has_table(VERSION.name)
    return connection.scalar(sa.select(VERSION.c.version_num)) if found else None


def refuse_newer(revision: str) -> None:
    """Refuse data of a schema that this program does not know.

    Raises
    ------
    TooNew : it is none of this program or an earlier one
    """
    if revision > SCHEMA:
        raise TooNew(
            f"The data are of schema {revision}, which this version does not know: install the newer one."
        )


def convert(connection: Connection, revision: str) -> None:
    """Give rows of an earlier revision what no constant can: in a database, or restored from a backup."""
    if revision < "0010":  # lists name sessions
        sessions = Base.metadata.tables["sessions"].c
        for (hash_,) in connection.execute(sa.select(sessions.hash)).all():
            query = sa.update(sessions.hash.table).where(sessions.hash == hash_)
            connection.execute(query.values(id=new_id()))
    if revision < "0019":  # before, each link was shown that no mail took to its user
        connection.execute(
            sa.text(
                "UPDATE users SET link_shown = true WHERE link_by IN (SELECT id FROM users) AND NOT EXISTS "
                "(SELECT 1 FROM audit WHERE action = 'mail.sent' AND subject = users.id)"
            )
        )


def _found(connection: Connection) -> list[sa.Table]:
    """The tables that a database has already."""
    names = set(sa.inspect(connection).get_table_names())
    return [table for table in Base.metadata.sorted_tables if table.name in names]


def _add_columns(connection: Connection) -> None:
    found = sa.inspect(connection)
    for table in _found(connection):
        names = {column["name"] for column in found.get_columns(table.name)}
        for column in table.columns:
            if column.name not in names:
                added = CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {added}")
