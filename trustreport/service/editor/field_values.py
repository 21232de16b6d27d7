"""One field of the manifest as the text of one control of a form, and back."""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from trustreport.service.engine import TypedFloat, TypedInt

Kind = Literal["line", "number", "choice", "date", "lines", "range", "map", "code"]
WHOLE = re.compile(r"[-+]?\d{1,300}")
DECIMAL = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?")
BETWEEN = re.compile(r"(.+?)\s+to\s+(.+)")
COMMA = re.compile(r"(?<=\d),(?=\d)")
PERCENT = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s?%")
PAIR = re.compile(r"(.*?):(?:[ \t]+(.*)|$)")
MISSING = "missing"  # what a value of a table may mean beside 0 and 1


@dataclass(frozen=True, slots=True)
class Shape:
    """What a field holds.

    Parameters
    ----------
    choices : the words of a choice, as the manifest has them
    numbers : whether the members of lists, ranges and maps are numbers
    may_be_one : whether a list of one may be the value alone
    """

    kind: Kind
    choices: tuple[Any, ...] = ()
    numbers: bool = False
    may_be_one: bool = False


def model_of(annotation: Any) -> tuple[type[BaseModel] | None, Literal["one", "list", "map"]]:
    """The group inside an annotation, and whether the field holds one, a list of them or some by name."""
    for member in _members(annotation):
        if isinstance(member, type) and issubclass(member, BaseModel):
            return member, "one"
        inner = [a for a in get_args(member) if a is not Ellipsis]
        model = model_of(inner[-1])[0] if inner and get_origin(member) in (tuple, dict) else None
        if model is not None:
            return model, "list" if get_origin(member) is tuple else "map"
    return None, "one"


def shape_of(annotation: Any) -> Shape | None:
    """What a field of this type holds; None where no single control can show it."""
    members = _members(annotation)
    plain = {m for m in members if isinstance(m, type)}
    origins = {get_origin(m) for m in members} - {None}
    if origins == {Literal} and not plain:
        return Shape("choice", tuple(c for m in members for c in get_args(m)))
    if not origins:
        return _plain(plain)
    if len(members) - len(plain) != 1:
        return None
    (group,) = (m for m in members if get_origin(m))
    inner = [_one_type(a) for a in get_args(group) if a is not Ellipsis]
    if None in inner or not origins <= {tuple, dict}:
        return None
    numbers = inner[-1] in (int, float)
    if origins == {dict}:
        return Shape("map", numbers=numbers) if inner[0] is str and not plain else None
    if plain - {str, float, int} or (plain and numbers != (plain <= {float, int})):
        return None
    if numbers and Ellipsis not in get_args(group):
        return Shape("range", numbers=True)
    return Shape("lines", numbers=numbers, may_be_one=bool(plain & {str, int}))


def _plain(types: set[type]) -> Shape | None:
    if types == {bool}:
        return Shape("choice", (True, False))
    if types == {dt.date}:
        return Shape("date")
    if types <= {int, float}:
        return Shape("number")
    return Shape("line") if types == {str} or types == {dt.date, dt.datetime} else None


def _one_type(annotation: Any) -> type | None:
    members = _members(annotation)
    if len(members) == 1 and get_origin(members[0]) is Literal:
        return str if all(isinstance(choice, str) for choice in get_args(members[0])) else None
    return members[0] if len(members) == 1 and members[0] in (str, int, float) else None


def _members(annotation: Any) -> list[Any]:
    """The types that a value may have, without None and without what Annotated adds."""
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [m for a in get_args(annotation) for m in _members(a)]
    return [] if annotation is type(None) else [annotation]


def shown(shape: Shape, value: Any) -> str | None:
    """The text of a control; None where the control cannot show the value in full."""
    if value is None:
        return ""
    if shape.kind == "map":
        return _shown_map(value)
    if shape.kind in ("lines", "range") and isinstance(value, list):
        items = [_scalar(v) for v in value]
        if shape.kind == "range":
            return f"{items[0]} to {items[1]}" if len(items) == 2 and None not in items else None
        lines = [i for i in items if i is not None and i.strip() and "\n" not in i]
        return "\n".join(lines) if len(lines) == len(value) and lines else None
    text = _scalar(value)
    if text is not None and shape.kind == "lines" and (not text.strip() or "\n" in text):
        return None
    return text


def _shown_map(value: Any) -> str | None:
    if not isinstance(value, Mapping) or not value:
        return None
    lines = [f"{key}: {_scalar(one)}" for key, one in value.items()]
    whole = "\n".join(lines)
    return whole if _read_map(whole, numbers=False) == {k: _scalar(v) for k, v in value.items()} else None


def read(shape: Shape, text: str, before: Any = None) -> Any:
    """The value that a text means; what is no number where one is expected stays text, to be reported.

    Parameters
    ----------
    before : the value that the text replaces, which says whether a list of one is written as a list
    """
    text = text.strip()
    if shape.kind == "choice":
        return next((c for c in shape.choices if _scalar(c) == text), text)
    if shape.kind == "number":
        return number(text)
    if shape.kind == "code":
        return "" if text == MISSING else number(text)
    if shape.kind == "range":
        found = BETWEEN.fullmatch(text)
        return [number(end) for end in found.groups()] if found else number(text)
    if shape.kind == "map":
        return _read_map(text, numbers=shape.numbers)
    if shape.kind == "lines":
        items = [line.strip() for line in text.split("\n") if line.strip()]
        made: list[Any] = [number(i) for i in items] if shape.numbers else list(items)
        return made[0] if shape.may_be_one and len(made) == 1 and not isinstance(before, list) else made
    return text


def _read_map(text: str, *, numbers: bool) -> Any:
    made = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        found = PAIR.fullmatch(line)
        if found is None:
            return text
        value = (found[2] or "").strip()
        made[found[1].strip()] = number(value) if numbers else value
    return made


def in_points(text: str, *, comma: bool) -> str:
    """The numbers of a text as the manifest has them: 80 % is 0.8, and with `comma` so is 0,8.

    >>> in_points("75 % to 0,9", comma=True)
    '0.75 to 0.9'
    """
    if comma:
        text = COMMA.sub(".", text)
    return PERCENT.sub(lambda found: f"{Decimal(found[1]) / 100:f}", text)


def number(text: str) -> Any:
    """A number that remembers how it was typed; any other text as it is."""
    text = text.strip()
    made: Any = text
    if WHOLE.fullmatch(text):
        made = TypedInt(text)
        made.text = text
    elif DECIMAL.fullmatch(text):
        made = TypedFloat(text)
        made.text = text
    return made


def _scalar(value: Any) -> str | None:
    """A plain value as typed; None for a list or a group."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return getattr(value, "text", None) or repr(value)
    return value if isinstance(value, str) else None


def normal(text: str) -> str:
    """A text as a browser sends it back: its lines end in one way."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
