"""Tables as every dimension makes them: an item a row, each column a heading and how to get its value."""

from collections.abc import Callable, Iterable
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from trustreport.assessment.finding import Column, PlainTable
from trustreport.vocabulary.messages import Message, say

T = TypeVar("T")
Getter = Callable[[T], Any] | str | int
"""How a value is got from an item: a function, the name of an attribute, or the place in a tuple."""
Spec = tuple[str | Message, Getter[T]] | tuple[str | Message, Getter[T], str]
"""Heading (a message, or its key), getter, and how the values are written (text where it does not say)."""


def table(id: str, caption: Message, items: Iterable[T], columns: Iterable[Spec[T] | None]) -> PlainTable:
    """A table with a row for each item; a column that is None is left out.

    Examples
    --------
    >>> made = table("t", say("word.none"), [("a", 1)], [("table.measure", 0), ("table.n", 1, "count")])
    >>> made.rows, [column.format for column in made.columns]
    ((('a', 1),), ['text', 'count'])
    """
    kept = [column for column in columns if column is not None]
    heads = tuple(Column(_heading(spec[0]), spec[2] if len(spec) > 2 else "text") for spec in kept)
    getters = [_getter(spec[1]) for spec in kept]
    return PlainTable(id, caption, heads, tuple(tuple(get(item) for get in getters) for item in items))


def _heading(heading: str | Message) -> Message:
    return heading if isinstance(heading, Message) else say(heading)


def _getter(getter: Getter[Any]) -> Callable[[Any], Any]:
    if isinstance(getter, int):
        return itemgetter(getter)
    return attrgetter(getter) if isinstance(getter, str) else getter
