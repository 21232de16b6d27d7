"""How the fields of the manifest are declared: texts as typed, dates, groups that refuse unknown keys."""

import datetime as dt
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

KINDS = {"C": "certification", "P": "procurement", "V": "vigilance"}
Kind = Literal["certification", "procurement", "vigilance"]
NOT_DECLARED = "NOT DECLARED"
FIRST_YEAR, LAST_YEAR = 1900, 2200  # of the dates in a manifest


def as_typed(value: Any) -> Any:
    """A number as the text that was typed ("2.10", not 2.1), where the reader of the file kept it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return getattr(value, "text", None) or repr(value)


def as_date(value: Any) -> Any:
    """A date as text; a bare number is refused, since it could be read as seconds since 1970."""
    if isinstance(value, int | float) or (isinstance(value, str) and value.strip().isdigit()):
        raise ValueError("a date as YYYY-MM-DD")
    return value


def in_this_age(value: dt.date) -> dt.date:
    """A date that somebody may mean; year 1 and year 9999 are what programs write for "none"."""
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise ValueError(f"a date from {FIRST_YEAR}-01-01 to {LAST_YEAR}-12-31")
    return value


def as_group(value: Any) -> Any:
    """A group of cases as ``attribute: group``, also where the manifest has it as a key and its value."""
    if isinstance(value, dict) and len(value) == 1:
        ((name, group),) = value.items()
        return f"{as_typed(name)}: {as_typed(group)}"
    return as_typed(value)


def as_several(value: Any) -> Any:
    """One word as a list of one."""
    return (value,) if isinstance(value, str | int | float) else value


Text = Annotated[str, BeforeValidator(as_typed)]
GroupName = Annotated[str, BeforeValidator(as_group)]
Date = Annotated[dt.date, BeforeValidator(as_date), AfterValidator(in_this_age)]
Moment = Annotated[dt.datetime | dt.date, BeforeValidator(as_date), AfterValidator(in_this_age)]
Count = Annotated[int, Field(ge=0, le=10**15)]
Share = Annotated[float, Field(ge=0, le=1)]
# How a device is used beside a reader (`trustreport.measures.protocols`).
Protocol = Literal[
    "reader_alone", "device_alone", "second_reader", "consensus", "arbitration", "assistance", "triage"
]


def declared(marks: str = "", *aliases: str, **more: Any) -> Any:
    """An optional field; `marks` names the kinds of report for which it is mandatory (``"CPV"``)."""
    extra: Any = {"mandatory_for": [KINDS[m] for m in marks]} if marks else None
    if aliases:
        more["validation_alias"] = AliasChoices(*aliases)
    return Field(default=None, json_schema_extra=extra, **more)


def named(*spellings: str) -> Any:
    """A required field that may be spelled in more than one way."""
    return Field(validation_alias=AliasChoices(*spellings))


DAYS = {"days": 1.0, "weeks": 7.0, "months": 365.25 / 12, "years": 365.25}
MOST_CANDIDATES = 50  # each is compared with every other


class Group(BaseModel):
    """A group of the manifest: frozen, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)


def _upwards(value: tuple[float, float]) -> tuple[float, float]:
    if not value[0] < value[1]:
        raise ValueError("two numbers, the lower one first")
    return value


# From where to where a score can run, in its own unit.
ScoreRange = Annotated[tuple[float, float], AfterValidator(_upwards)]
VerifiedShare = Annotated[float, Field(gt=0, le=1)]


def table_size(named: Any, field: str) -> tuple[int, int]:
    """Rows and columns of a table whose `decisions` and `classes` may be named; ValueError of any other."""
    table = getattr(named, field)
    rows, columns = len(table), len(table[0]) if table else 0
    if rows < 2 or columns < 2 or any(len(row) != columns for row in table):
        raise ValueError(f"{field}: two or more rows, all of one length of two or more")
    for word, n, what in (("decisions", rows, "rows"), ("classes", columns, "columns")):
        names = getattr(named, word)
        if names is not None and (len(names) != n or len(set(names)) != n):
            raise ValueError(f"{word}: a name of its own for each of {n} {what}")
    return rows, columns
