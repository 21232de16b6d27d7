"""Sentences, tables and figures, made in one place: a dimension gives keys of the catalogue and results.

A module that says something makes a `Texts` with the name of its texts, and calls it::

    text = Texts("subgroups")

    text("rest")  # the text subgroups.rest
    text("range", low=low, high=high)  # with values
    text("alpha", estimate)  # {value}, {low}, {high}, {level} and {reason}
    text("advice", measured=estimate)  # {measured}, {measured_low}, {measured_high}, {level}
    text.of_estimate("alpha", estimate)  # alpha, alpha_no_interval or alpha_undefined
    text.table("id", text("table"), "group cases sensitivity:percent .against?", rows)
    text.estimates("id", text("table"), results)  # a row each, labelled subgroups.label.<quantity>
    text.labelled("id", text("table"), pairs)  # a row each, labels given
    text.title(name, alone=False)  # subgroups.title or subgroups.title_of
    text.figure("id", drawing, "forest", n=3)  # subgroups.figure.forest and forest_alt
    text.part(items, title=text("title"))  # sentences, tables and figures, in any order

A column of a table is a word. A quantity (``sensitivity``) has the name of its row as heading and is written
by its unit; the words of `COLUMNS` are alike in all dimensions; one that begins with a dot (``.against``) is
the dimension's own, text under ``column``. After a colon stands how its values are written where that is
another way, and ``?`` leaves the column out where no row has a value.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from math import isnan
from typing import Any

from trustreport.assessment.finding import (
    Column,
    Drawing,
    EstimateRow,
    EstimateTable,
    Figure,
    Finding,
    Part,
    PlainTable,
)
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Readings
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.quantities import is_named, quantity
from trustreport.vocabulary.quantity import DIFFERENCE, Quantity
from trustreport.vocabulary.results import Result, leading

# Headings that are the same in every dimension, under ``column`` in the catalogue, and how their values are
# written. Quantities are among them that have a shorter name at the head of a column than in a sentence.
COLUMNS = {
    "cases": "count",
    "readings": "count",
    "readers": "count",
    "sites": "count",
    "reader": "text",
    "site": "text",
    "data_set": "text",
    "set": "text",
    "group": "text",
    "candidate": "text",
    "measure": "text",
    "endpoint": "text",
    "n": "count",
    "difference": "points",
    "p": "p",
    "p_holm": "p",
    "auc": "number",
    "ppv": "percent",
    "npv": "percent",
    "f1": "percent",
}
FORMS = {"difference": "points", "proportion": "percent", "count": "count", "p": "p"}

Found = Estimate | Result
Item = Message | EstimateTable | PlainTable | Figure


@dataclass(frozen=True, slots=True)
class Texts:
    """What is said under one name of the catalogue, mostly that of a dimension."""

    name: str

    def __call__(self, key: str, /, *found: Found, **values: Any) -> Message:
        """A text with the numbers of an estimate, or of a result, and other values."""
        return say(f"{self.name}.{key}", **values_of(*found, **values))

    def of_estimate(self, key: str, found: Found, /, *, whole: str = "", **values: Any) -> Message:
        """A text by what is known: without a value ``key_undefined``, without interval ``key_no_interval``.

        `whole` is the key where both are known, if that is not `key` itself.
        """
        e = estimate_in(found)
        known = f"{key}_undefined" if isnan(e.value) else f"{key}_no_interval" if isnan(e.low) else ""
        return self(known or whole or key, e, **values)

    def title(self, name: Message | str, *, alone: bool) -> Message:
        """The title of a part, with the name of what it is about where there are several."""
        return self("title") if alone else self("title_of", name=name)

    def table(
        self, id: str, caption: Message, columns: str | Iterable[str | Column], rows: Iterable[Iterable[Any]]
    ) -> PlainTable:
        """A table with a cell for each column in each row; columns are words as this module describes them.

        Examples
        --------
        >>> made = Texts("subgroups").table("t", say("word.none"), "cases .against? p", [(8, None, 0.03)])
        >>> [column.format for column in made.columns], made.rows
        (['count', 'p'], ((8, 0.03),))
        """
        specs = [columns] if isinstance(columns, str) else columns
        heads: list[tuple[Column, bool]] = []
        for spec in specs:
            heads += [(spec, False)] if isinstance(spec, Column) else map(self._column, spec.split())
        cells = [tuple(row) for row in rows]
        shown = [
            not optional or any(row[i] is not None for row in cells) for i, (_, optional) in enumerate(heads)
        ]
        kept = tuple(head for (head, _), keep in zip(heads, shown) if keep)
        return PlainTable(
            id,
            caption,
            kept,
            tuple(tuple(cell for cell, keep in zip(row, shown, strict=True) if keep) for row in cells),
        )

    def _column(self, spec: str) -> tuple[Column, bool]:
        """The column of a word, and whether it is left out where no row has a value."""
        word, _, form = spec.removesuffix("?").partition(":")
        if word.startswith("."):
            head, usual = self(f"column{word}"), "text"
        else:
            head = column_heading(word)
            usual = COLUMNS.get(word) or form_of(quantity(word))
        return Column(head, form or usual), spec.endswith("?")

    def column(self, key: str, form: str = "text", **values: Any) -> Column:
        """A column whose heading names values."""
        return Column(self(f"column.{key}", **values), form)

    def estimates(
        self,
        id: str,
        caption: Message,
        results: Iterable[Result],
        label: Callable[[Result], Message] | None = None,
        leads: Callable[[Result], bool] = lambda r: r.primary,
    ) -> EstimateTable:
        """A table with a row for each result: its label, number, interval, n and method."""
        named = label or (lambda r: self(f"label.{r.name}"))
        return self.labelled(id, caption, ((named(r), r) for r in results), leads)

    def labelled(
        self,
        id: str,
        caption: Message,
        rows: Iterable[tuple[Message, Result]],
        leads: Callable[[Result], bool] = lambda r: False,
    ) -> EstimateTable:
        """The same of labels and results, for labels that a result does not tell."""
        return EstimateTable(id, caption, tuple(EstimateRow(label, r, leads(r)) for label, r in rows))

    def figure(
        self, id: str, drawing: Drawing, key: str, caption: Message | None = None, /, **values: Any
    ) -> Figure:
        """A figure; caption and what it shows in words are texts of one key, with the same values."""
        shown = caption or self(f"figure.{key}", **values)
        return Figure(id, drawing, shown, self(f"figure.{key}_alt", **values))

    def part(
        self, items: Iterable[Item], title: Message | None = None, place: Place = NOWHERE, element: str = ""
    ) -> Part:
        """A part of a finding from its sentences, tables and figures, each kind in the order given."""
        found = list(items)
        return Part(
            tuple(one for one in found if isinstance(one, Message)),
            title,
            tuple(one for one in found if isinstance(one, EstimateTable | PlainTable)),
            tuple(one for one in found if isinstance(one, Figure)),
            place,
            element,
        )

    def finding(
        self, parts: Iterable[Part], results: Iterable[Result], not_shown: Iterable[str] = ()
    ) -> Finding:
        """The answer of the dimension; `not_shown` are the keys of what it cannot show."""
        return Finding(
            self.name, tuple(parts), tuple(results), tuple(self(f"not_shown.{key}") for key in not_shown)
        )


def form_of(row: Quantity) -> str:
    """How a column writes values of a quantity."""
    return FORMS.get(row.written, "number")


def values_of(*found: Found, **values: Any) -> dict[str, Any]:
    """The values that a sentence names, with the numbers of each estimate among them.

    >>> e = Estimate(0.8, 0.7, 0.9, 100)
    >>> values_of(e, n=3) == {
    ...     "value": 0.8,
    ...     "low": 0.7,
    ...     "high": 0.9,
    ...     "level": 0.95,
    ...     "reason": "",
    ...     "n": 3,
    ... }
    True
    >>> sorted(values_of(measured=e))
    ['level', 'measured', 'measured_high', 'measured_low']
    """
    named: dict[str, Any] = {}
    for one in found:
        e = estimate_in(one)
        named |= {**numbers(e), "reason": e.note}
    for key, value in values.items():
        if isinstance(value, Estimate | Result):
            e = estimate_in(value)
            named |= {key: e.value, f"{key}_low": e.low, f"{key}_high": e.high}
            named.setdefault("level", e.level)
    return named | {key: x for key, x in values.items() if not isinstance(x, Estimate | Result)}


def numbers(e: Estimate) -> dict[str, float]:
    """The values that a sentence with an interval names."""
    return {"value": e.value, "low": e.low, "high": e.high, "level": e.level}


def estimate_in(found: Found) -> Estimate:
    """An estimate, or that of a result."""
    return found.estimate if isinstance(found, Result) else found


def lead_estimate(results: Iterable[Result], id: str, **scope: Any) -> Estimate | None:
    """The primary estimate of a quantity in a scope, if there is one."""
    found = leading(results, id, **scope)
    return found.estimate if found else None


def side_of(
    e: Estimate, bound: float, above: str = "above", below: str = "below", across: str = "either"
) -> str:
    """Whether the whole interval is above or below a bound, or includes it."""
    return above if e.low > bound else below if e.high < bound else across


def as_cell(e: Estimate | None) -> Estimate | float | None:
    """An estimate in a table, without its interval where that is not known."""
    return e.value if e is not None and isnan(e.low) else e


def if_known(e: Estimate | None) -> Estimate | None:
    """An estimate in a table, nothing where it has no value."""
    return None if e is None or isnan(e.value) else e


def on_day(day: date | None) -> Message | None:
    """A day in a table, nothing where it is not known."""
    return say("word.on", day=day) if day else None


def first_of(items: Sequence[Message], most: int) -> list[Message]:
    """As many items of a list as a sentence has room for, and how many more there are."""
    more = [say("word.more", n=len(items) - most)] if len(items) > most else []
    return [*items[:most], *more]


def failed_cases(plan: Plan) -> Message:
    """How cases without an output are analysed, as the rule of the manifest says, else as errors."""
    return say(f"failed_cases.{plan.operating_point.indeterminate_as or 'wrong'}")


def quantity_name(id: str, of: str | None = None) -> Message:
    """A quantity, or a result of an endpoint, within a sentence; a name of the manifest's own as it is."""
    name = _bare(id)
    if not of or id == f"mean_{of}":  # mean_seconds of the seconds
        return name
    return say("word.of_endpoint", measure=name, of=_bare(of))


def endpoint_name(endpoint: str) -> Message:
    """An endpoint within a sentence."""
    return _bare(endpoint)


def heading(id: str) -> Message:
    """A quantity at the head of a column or beside a panel."""
    return say("word.heading", text=_bare(id))


def column_heading(word: str) -> Message:
    """The heading of a column that is the same in all dimensions; of a quantity its short name, if any."""
    return say(f"column.{word}") if word in COLUMNS else heading(word)


def set_label(name: Message | str, role: str) -> Message | str:
    """A data set as tables and figures name it: that the model was made with it is said."""
    return say(f"word.made_with.{role}", name=name) if role in DEVELOPMENT_ROLES else name


def title_of(readings: Readings, arms: tuple[str, str]) -> Message | str:
    """What a task or, where it has no name, its contrast is called."""
    return readings.task or say("report.tested.contrast", aided=arms[0], unaided=arms[1])


def _bare(id: str) -> Message:
    base = id.removesuffix(DIFFERENCE)
    if not is_named(id):
        return say("word.name", name=id.replace("_", " "))
    if base != id and is_named(base):
        return say("word.difference_in", measure=say(f"quantity.{base}"))
    return say(f"quantity.{id}")
