"""What the definition of a subgroup says: conditions on columns of the cases, where it is one."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from trustreport.study.plan import Subgroup

_SIGN = r"(>=|<=|≥|≤|<|>)"
_BETWEEN = re.compile(rf"^([^<>=≤≥!]+?)\s*{_SIGN}\s*([^<>=≤≥!]+?)\s*{_SIGN}\s*([^<>=≤≥!]+)$")
_CONDITION = re.compile(
    r"^(?P<column>.+?)\s*(?P<op>>=|<=|!=|≥|≤|≠|==|=|<|>|\s(?:not\s+)?in\s)\s*(?P<value>.+)$"
)
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_SAME = {"≥": ">=", "≤": "<=", "≠": "!=", "==": "="}
_TURNED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}


class Condition(NamedTuple):
    """A column and what it is compared with, by = != < <= > >= in, or not in."""

    column: str
    op: str
    value: str


def conditions(text: str) -> list[Condition]:
    """The conditions that a definition joins by "and"; none where a part is no condition.

    ``65 <= age < 80``, ``age >= 65 and sex = F``, ``scanner in A, B``.
    """
    found: list[Condition] = []
    for part in _AND.split(text.strip()):
        own = _parsed(part.strip())
        if not own:
            return []
        found += own
    return found


def _parsed(part: str) -> list[Condition]:
    between = _BETWEEN.match(part)
    if between is not None:
        low, first, column, second, high = between.groups()
        first, second = (_SAME.get(sign, sign) for sign in (first, second))
        return [Condition(column, _TURNED[first], low.strip()), Condition(column, second, high.strip())]
    match = _CONDITION.match(part)
    if match is None:
        return []
    op = match["op"].strip()
    op = _SAME.get(op, " ".join(op.split()))
    column, value = match["column"].strip(), match["value"].strip()
    if op in _TURNED and number(column) is not None and number(value) is None:
        return [Condition(value, _TURNED[op], column)]
    return [Condition(column, op, value)]


def number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def columns_of(declared: Subgroup) -> Iterator[str]:
    """The columns that a subgroup may speak of, in small letters."""
    text = (declared.definition or "").strip()
    yield from (c.column.casefold() for c in conditions(text))
    yield text.casefold()
    yield declared.name.strip().casefold()
