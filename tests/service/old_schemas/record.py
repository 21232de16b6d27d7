"""How the two files of SQL were made: the schema's steps as they ran, and rows between them.

The steps were a module until the schema was made from the models. This ran at the last commit that had them,
with alembic 1.20.1 and SQLAlchemy 2.1, and is kept to show what the files are::

    python tests/service/old_schemas/record.py

After each step, every table that is new gets two rows, and of every column that is new the second row gets a
value; so a database of any revision has rows in every table, and a value in every column.
"""

import re
import sys
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from trustreport.service.storage.schema_steps import STEPS

from trustreport.service.storage.store import connect

HERE = Path(__file__).parent
USERS = (
    "INSERT INTO users (id, organisation, email, name, password, roles, operator, created_at, link_by, "
    "reset) VALUES ('users-{n}', 'organisations-1', 'users-{n}', '', '', '[]', false, 1, '{by}', false)"
)
LINKS = (  # who has seen a link: whoever made it here, unless it went by mail
    USERS.format(n=3, by="users-1"),
    USERS.format(n=4, by="users-1"),
    USERS.format(n=5, by="operator"),
    """INSERT INTO audit (chain, number, at, actor, action, subject, details, previous, hash)
    VALUES ('organisations-1', 3, 1, 'service', 'mail.sent', 'users-4', '{}', '', '')""",
)


def value(column: sa.Column[Any], row: int) -> Any:
    """What a row has in a column: nothing in the first where it may, else what names all three."""
    if column.nullable and row == 1:
        return None
    if column.foreign_keys:
        (key,) = column.foreign_keys
        return f"{key.column.table.name}-{row}"
    if isinstance(column.type, sa.Boolean):
        return row == 2
    if isinstance(column.type, sa.Text):
        return f'{{"{column.name}":{row}}}'
    if isinstance(column.type, sa.String):
        text = (
            f"{column.table.name}-{row}"
            if column.name == "id"
            else f"{column.table.name}.{column.name}-{row}"
        )
        return text[-column.type.length :]
    return row * 1000 + len(column.name)


def literal(statement: Any, engine: sa.Engine) -> str:
    """A statement with its values, on one line."""
    text = str(statement.compile(dialect=engine.dialect, compile_kwargs={"literal_binds": True}))
    return re.sub(r"\s+", " ", text.replace("%%", "%")).strip()


def rows(engine: sa.Engine, before: sa.MetaData, after: sa.MetaData) -> list[str]:
    """Statements that fill what is new."""
    made = []
    for table in after.sorted_tables:
        old = before.tables.get(table.name)
        if old is None:
            for row in (1, 2):
                values = {column.name: value(column, row) for column in table.columns}
                made.append(literal(sa.insert(table).values(**values), engine))
            continue
        new = {column.name: value(column, 2) for column in table.columns if column.name not in old.columns}
        if new:
            keys = [column == value(column, 2) for column in table.primary_key.columns]
            made.append(literal(sa.update(table).where(*keys).values(**new), engine))
    return made


def record(address: str, target: Path) -> None:
    """Write the statements of one kind of database."""
    engine, lines, ran = connect(address), [], []

    @sa.event.listens_for(engine, "before_cursor_execute")
    def _note(connection, cursor, statement, parameters, context, many):  # type: ignore[no-untyped-def]
        if re.match(r"\s*(CREATE|ALTER|UPDATE)", statement):
            if parameters:
                names = {"id": parameters[0], "hash": parameters[1]} if "?" in statement else parameters
                statement = "UPDATE sessions SET id='{}' WHERE hash = '{}'".format(*names.values())  # noqa: S608
            ran.append(re.sub(r"\s+", " ", statement).strip())

    before = sa.MetaData()
    for name, step in STEPS.items():
        with engine.connect() as connection, connection.begin():
            with Operations.context(MigrationContext.configure(connection)):
                step()
            steps, ran = ran, []
            after = sa.MetaData()
            after.reflect(connection)
            filled = [*rows(engine, before, after), *(LINKS if name == "0007" else ())]
            for statement in filled:
                connection.exec_driver_sql(statement)
            ran = []
        lines += [f"-- {name} step", *steps, f"-- {name} rows", *filled]
        before = after
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    engine.dispose()


if __name__ == "__main__":
    import tempfile

    sys.path.insert(0, str(HERE.parent))
    from databases import new_database, own_postgres

    with tempfile.TemporaryDirectory() as folder, own_postgres() as server:
        record(f"sqlite:///{folder}/old.db", HERE / "sqlite.sql")
        record(new_database(server), HERE / "postgresql.sql")
