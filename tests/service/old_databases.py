"""Databases as earlier programs left them, from what was recorded of their steps (old_schemas/record.py)."""

from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, insert, inspect, select, text

from trustreport.service.storage import Store, migrate

REVISIONS = [f"{n:04}" for n in range(1, 20)]
TRIGGERS = {
    "sqlite": "SELECT name, sql, '' FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT t.tgname, pg_get_triggerdef(t.oid, true), p.prosrc FROM pg_trigger t "
    "JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid "
    "WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace",
}


def steps(dialect: str) -> dict[str, dict[str, list[str]]]:
    """By revision: what its step ran, and rows as they could be written then."""
    found: dict[str, dict[str, list[str]]] = {}
    here: list[str] = []
    file = Path(__file__).parent / "old_schemas" / f"{dialect}.sql"
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("-- "):
            _, revision, kind = line.split()
            here = found.setdefault(revision, {})[kind] = []
        else:
            here.append(line)
    return found


def write_old(store: Store, revision: str, then: str = "") -> None:
    """Make a database of a revision, with its rows; `then`: brought to that later one by the steps of old."""
    last = then or revision
    with store.engine.connect() as connection, connection.begin():
        for name, ran in steps(connection.dialect.name).items():
            for statement in ran["step"] if name <= last else []:
                connection.exec_driver_sql(statement)
            for statement in ran["rows"] if name <= revision else []:
                connection.exec_driver_sql(statement)
        migrate.VERSION.create(connection)
        connection.execute(insert(migrate.VERSION).values(version_num=last))


def schema(connection: Connection) -> dict[str, Any]:
    """All that a database says of its tables, whatever the order of their columns."""
    see = inspect(connection)
    found: dict[str, Any] = {}
    for table in sorted({*see.get_table_names()} - {migrate.VERSION.name}):
        found[table] = {
            "columns": {
                c["name"]: (str(c["type"]), c["nullable"], c["default"]) for c in see.get_columns(table)
            },
            "primary": see.get_pk_constraint(table)["constrained_columns"],
            "foreign": sorted(
                (k["constrained_columns"], k["referred_table"], k["referred_columns"])
                for k in see.get_foreign_keys(table)
            ),
            "indexes": sorted(
                (i["name"], i["column_names"], bool(i["unique"]), *map(str, i["dialect_options"].values()))
                for i in see.get_indexes(table)
            ),
            "unique": sorted(u["column_names"] for u in see.get_unique_constraints(table)),
        }
    found["triggers"] = sorted(map(tuple, connection.exec_driver_sql(TRIGGERS[connection.dialect.name])))
    if connection.dialect.name == "postgresql":
        persistence = "SELECT relpersistence FROM pg_class WHERE oid = 'counters'::regclass"
        found["counters are"] = connection.scalar(text(persistence))
    return found


def all_rows(connection: Connection) -> dict[str, list[dict[str, Any]]]:
    """Every row, as the database has it."""
    metadata = MetaData()
    metadata.reflect(connection)
    return {
        table.name: sorted((dict(row) for row in connection.execute(select(table)).mappings()), key=str)
        for table in metadata.sorted_tables
    }
