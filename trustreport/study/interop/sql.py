"""The rows of one read-only query as CSV that is the same bytes for the same rows.

The address of a database, which may hold a password, comes from the environment or from whoever calls. No
message repeats it, or what a driver says of it.
"""

import csv
import datetime as dt
import io
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

from trustreport.study.plan import is_one_query

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine
    from sqlalchemy.sql.elements import TextClause

ORDERED = re.compile(r"\border\s+by\b", re.IGNORECASE)
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
AT_ONCE = 10_000  # rows that are asked for together
CONNECT_SECONDS = 15
STEPS = 10_000  # of SQLite's machine between two looks at the clock
LONGEST_REASON = 200
READ_ONLY = ("postgresql", "mysql", "mariadb", "oracle")  # these know SET TRANSACTION READ ONLY
INSTALL = "Install it: pip install 'trustreport[sql]'."
ADDRESS = "an address such as postgresql://user:password@host/database"


class NotFetched(Exception):
    """The rows of a query, or a file, are not there; the text never holds anything of the address.

    `passing` says that it may be there a little later.
    """

    def __init__(self, found: str, expected: str = "", mend: str = "", *, passing: bool = False) -> None:
        super().__init__(found)
        self.found, self.expected, self.mend, self.passing = found, expected, mend, passing


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """What a query may take at most: seconds until its last row, and rows."""

    seconds: float = 600.0
    rows: int = 1_000_000


def with_driver(database: str) -> str:
    """A PostgreSQL address with the driver that the extra `postgres` installs."""
    return re.sub(r"^postgres(ql)?://", "postgresql+psycopg://", database)


def fetch(
    sql: str,
    parameters: Mapping[str, Any],
    address: str,
    into: Path,
    limits: QueryLimits = QueryLimits(),
) -> None:
    """Write the rows of a query to a file of CSV.

    Cells are written alike for every database: empty for NULL, 1 and 0 for true and false, dates and times in
    ISO 8601 (those with a zone in UTC), numbers with all their digits. Rows are as the query orders them;
    one without `order by` has them sorted.

    Parameters
    ----------
    sql : one statement that begins with select or with; ``:name`` stands for a parameter
    parameters : by name; a text ``YYYY-MM-DD`` is passed as a date
    address : of the database, as SQLAlchemy has it

    Raises
    ------
    NotFetched : a library is missing, the query is not one, a limit was met, or the database refused
    """
    if not is_one_query(sql):
        raise NotFetched("this is no single query", "one statement that begins with select or with")
    try:
        import sqlalchemy
    except ImportError:
        raise NotFetched("a table from SQL needs SQLAlchemy, which is not installed", "", INSTALL) from None
    query = sqlalchemy.text(sql.rstrip().removesuffix(";"))
    _all_given(query, parameters)
    engine = _engine(address)
    deadline = time.monotonic() + limits.seconds
    try:
        connection = _connected(engine)
        try:
            _confine(connection, deadline, limits)
            with into.open("w", encoding="utf-8", newline="") as out:
                _write(connection, query, parameters, out, deadline, limits)
        except NotFetched:
            raise
        except Exception as error:
            if time.monotonic() >= deadline - 0.1 or getattr(error.__cause__, "sqlstate", "") == "57014":
                raise _late(limits) from None
            raise NotFetched(f"the database refused the query{_reason(error, engine.url)}") from None
        finally:
            _close(connection)
    finally:
        engine.dispose()


def _all_given(query: "TextClause", parameters: Mapping[str, Any]) -> None:
    """Every parameter of a query has a value, and each value a parameter."""
    named = set(query.compile().params)
    if lacking := sorted(named - set(parameters)):
        mend = f"Add parameters: {{{', '.join(f'{name}: ...' for name in lacking)}}}."
        raise NotFetched(f"the query names {_colons(lacking)} without a value", "", mend)
    if unused := sorted(set(parameters) - named):
        raise NotFetched(f"the query does not name {_colons(unused)}", "", "Remove what is not used.")


def _colons(names: Sequence[str]) -> str:
    return ", ".join(f":{name}" for name in names)


def _engine(address: str) -> "Engine":
    """What connects to the database; SQLite is opened for reading, and never made."""
    import sqlite3

    from sqlalchemy import create_engine
    from sqlalchemy.engine import make_url
    from sqlalchemy.pool import NullPool

    try:
        url = make_url(with_driver(address.strip()))
        backend = url.get_backend_name()
        more: dict[str, Any] = {"poolclass": NullPool, "hide_parameters": True}
        if backend == "sqlite":
            path = Path(url.database or "").absolute()
            if not path.is_file():
                raise NotFetched("there is no such SQLite file", ADDRESS, passing=True)
            file = f"file:{quote(str(path))}?mode=ro"
            return create_engine("sqlite://", creator=lambda: sqlite3.connect(file, uri=True), **more)
        if backend in ("postgresql", "mysql", "mariadb"):
            more["connect_args"] = {"connect_timeout": CONNECT_SECONDS}
        return create_engine(url, **more)
    except NotFetched:
        raise
    except ImportError:
        mend = "For PostgreSQL: pip install 'trustreport[sql,postgres]'."
        raise NotFetched("the driver of the database is not installed", "", mend) from None
    except Exception:
        raise NotFetched("this is no address of a database that SQLAlchemy knows", ADDRESS) from None


def _connected(engine: "Engine") -> "Connection":
    try:
        return engine.connect()
    except Exception:  # a driver may repeat what it was given
        mend = "Check the address, the account and the network."
        found = "the database cannot be reached, or refused the account"
        raise NotFetched(found, "", mend, passing=True) from None


def _close(connection: "Connection") -> None:
    """End the transaction without keeping anything of it; a connection that was lost is closed already."""
    from contextlib import suppress

    with suppress(Exception):
        connection.rollback()
    with suppress(Exception):
        connection.close()


def _confine(connection: "Connection", deadline: float, limits: QueryLimits) -> None:
    """Refuse writing, and end what takes too long, as far as the database can."""
    name = connection.dialect.name
    if name == "sqlite":
        import sqlite3

        reads = sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE
        sqlite: Any = connection.connection.driver_connection
        # Neither writes nor pragmas, one of which tells the path of the file.
        sqlite.set_authorizer(lambda act, *_: sqlite3.SQLITE_OK if act in reads else sqlite3.SQLITE_DENY)
        sqlite.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    elif name in READ_ONLY:
        connection.exec_driver_sql("SET TRANSACTION READ ONLY")
    if name == "postgresql":
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = {max(1, round(limits.seconds * 1000))}")


def _write(
    connection: "Connection",
    query: "TextClause",
    parameters: Mapping[str, Any],
    out: io.TextIOBase,
    deadline: float,
    limits: QueryLimits,
) -> None:
    given = {name: _value(value) for name, value in parameters.items()}
    streamed = {"stream_results": True, "max_row_buffer": AT_ONCE}
    with connection.execute(query, given, execution_options=streamed) as result:
        header = list(result.keys())
        out.write(_line(header))
        lines = _lines(result, header, deadline, limits)
        out.writelines(lines if ORDERED.search(str(query)) else sorted(lines))


def _lines(result: Any, header: Sequence[str], deadline: float, limits: QueryLimits) -> Iterator[str]:
    n = 0
    for rows in result.partitions(AT_ONCE):
        n += len(rows)
        if n > limits.rows:
            mend = "Narrow the query, or write the table to a file."
            raise NotFetched(f"more than {limits.rows:,} rows", f"at most {limits.rows:,}", mend)
        if time.monotonic() > deadline:
            raise _late(limits)
        for row in rows:
            yield _line([_cell(value, column) for value, column in zip(row, header)])


def _late(limits: QueryLimits) -> NotFetched:
    mend = "Narrow the query, or ask for an index."
    return NotFetched(f"the query took longer than {limits.seconds:g} seconds", "", mend)


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _cell(value: Any, column: str) -> str:
    """A value as text, the same from every database."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dt.datetime):
        return (value.astimezone(dt.UTC) if value.tzinfo else value).isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return repr(value.total_seconds())
    if isinstance(value, bytes | bytearray | memoryview | list | tuple | dict | set):
        mend = "Cast it to text in the query, or leave it out."
        raise NotFetched(f"lists or bytes in the column {column!r}", "plain values", mend)
    return str(value)


def _value(value: Any) -> Any:
    """The value of a parameter; a text that is a date becomes one, which databases compare with dates."""
    if isinstance(value, str) and DAY.fullmatch(value):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            return value
    # Drivers know plain numbers, not those that remember how they were typed.
    plain = next((kind for kind in (bool, int, float) if isinstance(value, kind)), str)
    return plain(value)


def _reason(error: Exception, url: "URL") -> str:
    """What the database says is wrong with the query, unless anything of its address is in it."""
    lines = str(getattr(error, "orig", None) or "").strip().splitlines()
    parts = [str(part) for part in (url.password, url.username, url.host, *url.query.values()) if part]
    secrets = [spelled for part in parts for spelled in (part, quote(part), quote_plus(part))]
    if not lines or any(secret.casefold() in lines[0].casefold() for secret in secrets):
        return f" ({type(error).__name__})"
    return f": {lines[0][:LONGEST_REASON].rstrip('.')}"
