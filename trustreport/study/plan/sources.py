"""Where a table comes from, and how its file was written."""

import datetime as dt
import json
import re
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from trustreport.study.plan.fields import Group, Text, as_several, as_typed


def as_coded(value: Any) -> Any:
    """What stands for a cell: true and false as 1 and 0, nothing as an empty cell."""
    return "" if value is None else str(int(value)) if isinstance(value, bool) else as_typed(value)


class Unpivot(Group):
    """Columns that repeat, turned into rows: one for each reader, rater or candidate.

    `columns` lists those of each word, or gives their pattern with one ``*`` (``{decision: dec_*}``).
    `names` says what each stands for, where it is not what the star stands for, or the header itself.
    """

    into: Text
    columns: dict[str, Annotated[tuple[Text, ...], BeforeValidator(as_several)]] = Field(min_length=1)
    names: tuple[Text, ...] | None = None


class Pivot(Group):
    """Answers in rows, turned into columns, one for each question; the cells of `by` make a record."""

    question: Text
    answer: Text
    by: tuple[Text, ...] = Field(min_length=1)


# What cells are in, and what each is multiplied by to be in ours: seconds, and shares of 1.
SCALES = {"milliseconds": 0.001, "minutes": 60.0, "percent": 0.01}


HeaderRow = Annotated[int, Field(ge=1, le=1000)]


class FileForm(Group):
    """How a file was written, and what its columns are under our words."""

    columns: dict[str, Text | tuple[Text, ...] | dict[str, Text]] = Field(default_factory=dict)
    values: dict[str, dict[Text, Annotated[str, BeforeValidator(as_coded)]]] = Field(default_factory=dict)
    missing: Annotated[tuple[Text, ...], BeforeValidator(as_several)] = ()
    ignore: Annotated[tuple[Text, ...], BeforeValidator(as_several)] = ()
    where: dict[str, Annotated[tuple[Text, ...], BeforeValidator(as_several)]] = Field(default_factory=dict)
    pivot: Pivot | None = None
    unpivot: Unpivot | None = None
    scale: dict[str, Literal["milliseconds", "minutes", "percent"]] = Field(default_factory=dict)
    sheet: Text | None = None
    header_row: HeaderRow | tuple[HeaderRow, ...] | None = None
    skip_rows: tuple[Annotated[int, Field(ge=1)], ...] = ()
    date_format: Text | None = None
    delimiter: str | None = None
    decimal: Literal[".", ","] | None = None
    encoding: str | None = None

    @field_validator("header_row")
    @classmethod
    def _below_each_other(cls, value: int | tuple[int, ...] | None) -> int | tuple[int, ...] | None:
        if isinstance(value, tuple) and (not value or list(value) != list(range(value[0], value[-1] + 1))):
            raise ValueError("a row, or rows below each other: [2, 3]")
        return value


BEGINS = re.compile(r"\s*(select|with)\b", re.IGNORECASE)


def is_one_query(sql: str) -> bool:
    """Whether a text begins as a query does, and holds no second statement.

    A semicolon is refused wherever it stands but at the end: what a database takes for a literal or a comment
    differs from one to the next.

    >>> is_one_query("select 1;"), is_one_query("select 1; drop table t"), is_one_query("delete from t")
    (True, False, False)
    """
    return BEGINS.match(sql) is not None and ";" not in sql.rstrip().removesuffix(";")


# A word, not an address: what holds a password stays out of the manifest.
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
ConnectionName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,59}$")]
ParameterName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,59}$")]
ParameterValue = Annotated[
    StrictBool | StrictInt | StrictFloat | StrictStr,
    Field(union_mode="left_to_right"),
    BeforeValidator(lambda value: value.isoformat() if isinstance(value, dt.date) else value),
]
OF_FILES = ("sheet", "header_row", "skip_rows", "delimiter", "encoding")
FETCHED = "queried"  # the folder of the tables that queries made, and of exports that were taken


def as_moment(value: Any) -> Any:
    """A time as YAML may read it, as the text that was meant; one without a zone is in UTC."""
    if isinstance(value, dt.datetime):
        value = value.astimezone(dt.UTC) if value.tzinfo else value
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    return value


def below_the_root(path: str) -> str:
    """A path that leads out of no folder, whatever reads it."""
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts) or re.search(r"[\\:\x00-\x1f]", path):
        raise ValueError("a path below the folder, without .., backslash or colon: exports/scores-*.csv")
    return path


def fits_exports(pattern: str) -> str:
    """A path whose last part may have wildcards, and ends as a file of one kind does."""
    folder, _, name = below_the_root(pattern).rpartition("/")
    if re.search(r"[*?\[]", folder) or not re.search(r"\.[A-Za-z0-9]{1,8}$", name):
        raise ValueError("wildcards in the name of the file only, and a suffix: exports/scores-*.csv")
    return pattern


FilePath = Annotated[str, AfterValidator(below_the_root)]
FilePattern = Annotated[str, AfterValidator(fits_exports)]
MomentText = Annotated[str, BeforeValidator(as_moment), Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class TakenExport(Group):
    """The export that a table was read from: its path, when it was changed last, its hash."""

    file: FilePath
    modified: MomentText | None = None
    sha256: Sha256 | None = None


class TableSource(FileForm):
    """Where a table comes from: a file, a query, or the newest export that was dropped in a folder or bucket.

    `url_env` is the variable of the environment that holds the address of the database, folder or bucket.
    `connection` is a name that the operator of a service gave to it; on the command line the variable
    ``TRUSTREPORT_CONNECTION_<NAME>`` holds its address. `after` is the time after which an export must have
    changed; once one was taken, `taken` says which.
    """

    file: Text | None = None
    sql: Text | None = None
    newest: FilePattern | None = None
    url_env: Variable | None = None
    connection: ConnectionName | None = None
    parameters: dict[ParameterName, ParameterValue] = Field(default_factory=dict)
    after: MomentText | None = None
    taken: TakenExport | None = None

    @model_validator(mode="after")
    def _of_one_source(self) -> "TableSource":
        if self.newest is None and (self.after or self.taken):
            raise ValueError("newest: a pattern, beside after and taken")
        if self.sql is None and self.parameters:
            raise ValueError("sql: a query, beside parameters")
        if not self.is_fetched:
            if self.url_env or self.connection:
                raise ValueError("sql: a query, or newest: a pattern, beside url_env and connection")
            return self
        if sum(given is not None for given in (self.file, self.sql, self.newest)) > 1:
            raise ValueError("file, sql or newest, one of them")
        if (self.url_env is None) == (self.connection is None):
            beside = "sql" if self.sql else "newest"
            raise ValueError(f"url_env or connection beside {beside}, one of the two")
        if self.sql is None:
            return self
        if not is_one_query(self.sql):
            raise ValueError("sql: one statement that begins with select or with, and no further semicolon")
        if said := [name for name in OF_FILES if name in self.model_fields_set]:
            raise ValueError(f"without {', '.join(said)}, which are of files")
        return self

    @property
    def is_fetched(self) -> bool:
        """Whether it comes from a query or from exports."""
        return self.sql is not None or self.newest is not None

    @property
    def variable(self) -> str:
        """The variable of the environment that holds the address of where it comes from; empty for a file."""
        return self.url_env or (
            f"TRUSTREPORT_CONNECTION_{self.connection.upper()}" if self.connection else ""
        )

    def file_of(self, name: str) -> str:
        """The file of a table, where `name` is what the manifest calls it; empty without a source.

        Of a query it is the file that its rows are written to, of exports the copy of the one that is taken,
        with the beginning of a hash of all that is asked.
        """
        if not self.is_fetched:
            return self.file or ""
        how = [self.newest, self.after] if self.newest else [self.sql, self.parameters]
        asked = json.dumps([*how, self.connection, self.url_env], sort_keys=True)
        plain = re.sub(r"[^\w.-]+", "-", name)[:60].lstrip(".")
        suffix = PurePosixPath(self.newest).suffix if self.newest else ".csv"
        return f"{FETCHED}/{plain}-{sha256(asked.encode()).hexdigest()[:8]}{suffix}"
