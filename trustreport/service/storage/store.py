"""The database: one place that opens transactions."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, exc, make_url, select, text
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON")  # of SQLite
BUSY_SECONDS = 30
AGAIN_SECONDS = 0.02
CONNECT_SECONDS = 10
AWAY = (exc.OperationalError, exc.InterfaceError, exc.TimeoutError)  # the database cannot be reached or used


class Store:
    """Opens transactions on one database; closed by `close`."""

    def __init__(self, address: str) -> None:
        self.engine = connect(address)
        self.is_sqlite = self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A transaction that sees one state of the data; what it changes is lost."""
        options: dict[str, Any] = {"reads_only": True}
        if not self.is_sqlite:
            options["isolation_level"] = "REPEATABLE READ"
        with Session(self.engine.execution_options(**options)) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction: all of it is kept, or nothing."""
        with Session(self.engine, expire_on_commit=False) as session, session.begin():
            yield session

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def now(session: Session) -> int:
    """Milliseconds since 1970 by the database's clock, which all workers share."""
    if session.get_bind().dialect.name == "sqlite":
        return time.time_ns() // 1_000_000
    return int(session.scalar(select(text("floor(extract(epoch from clock_timestamp()) * 1000)"))) or 0)


def connect(address: str) -> Engine:
    """An engine; SQLite in WAL mode, its writers waiting for each other instead of failing."""
    if not address.startswith("sqlite"):
        return create_engine(
            address,
            pool_size=10,
            max_overflow=30,
            pool_pre_ping=True,
            pool_timeout=CONNECT_SECONDS,
            connect_args={"connect_timeout": CONNECT_SECONDS},
        )
    if file := make_url(address).database:
        os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
        os.chmod(file, 0o600)  # its log beside it has the same
    engine = create_engine(
        address,
        pool_size=10,
        max_overflow=30,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: ConnectionPoolEntry) -> None:
        connection.isolation_level = None  # transactions begin below, not where the driver guesses
        for pragma in PRAGMAS:
            _set(connection, pragma)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A writer takes the lock at once: a reader that turns writer later could not wait for it.
        reads_only = connection.get_execution_options().get("reads_only")
        connection.exec_driver_sql("BEGIN" if reads_only else "BEGIN IMMEDIATE")

    return engine


def _set(connection: sqlite3.Connection, pragma: str) -> None:
    """Change a setting of SQLite, which does not wait by itself while another process changes the mode."""
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute(f"PRAGMA {pragma}")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(AGAIN_SECONDS)
        else:
            return
