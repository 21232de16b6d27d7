"""Tables as a report prints them: cells are texts, numbers align, what is undefined says why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isinf, isnan
from typing import Any

from trustreport.assessment.finding import EstimateRow, EstimateTable, PlainTable
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE, Note
from trustreport.vocabulary.digits import by_width, clear_of, of_share, places_in, rounded
from trustreport.vocabulary.messages import Catalogue, Message
from trustreport.vocabulary.results import Result

FIGURE_SPACE = "\u2007"  # as wide as a digit
PUNCTUATION_SPACE = "\u2008"  # as wide as a point
WORDS = ("text", "declared")  # formats of columns that hold no numbers
UNITS = {"points": "difference", "percent": "proportion"}  # of the format words of columns


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, whether it is set as a number, and what is said below it in grey.

    `mark` is the class of a verdict, where the text is one; `link` is where the number is explained.
    """

    text: str
    numeric: bool = False
    aside: str = ""
    mark: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A row; the first cell heads it, the leading one is set in semibold."""

    cells: tuple[Cell, ...]
    leads: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """The header of a column."""

    text: str
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table ready to be laid out; `id` is that of the finding's table, empty for the report's own."""

    caption: str
    heads: tuple[Head, ...]
    lines: tuple[Line, ...]
    id: str = ""


def heads(say: Catalogue, prefix: str, keys: str, numeric: str = "") -> tuple[Head, ...]:
    """The headers of columns by their keys in the catalogue; those of `numeric` are of numbers."""
    return tuple(Head(say(f"{prefix}.{key}"), key in numeric.split()) for key in keys.split())


def line_of(*cells: Cell | str, leads: bool = False) -> Line:
    """A row of cells, or of texts alone."""
    return Line(tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in cells), leads)


def number_cells(texts: Iterable[str]) -> tuple[Cell, ...]:
    """Texts as cells of numbers."""
    return tuple(Cell(text, numeric=True) for text in texts)


def table(source: EstimateTable | PlainTable, say: Catalogue, *, brief: bool = False) -> Table:
    """A finding's table, ready to be laid out."""
    return estimates(source, say, brief=brief) if isinstance(source, EstimateTable) else plain(source, say)


# ---------------------------------------------------------------- tables of estimates


def estimates(source: EstimateTable, say: Catalogue, *, brief: bool = False) -> Table:
    """Measure, estimate, interval, n and method; in `brief` the methods are named once, below the table."""
    rows = source.rows
    levels = {row.result.estimate.level for row in rows}
    interval = say("table.interval", level=levels.pop()) if len(levels) == 1 else say("table.interval_mixed")
    heads = (
        Head(say("table.measure")),
        Head(say("table.estimate"), True),
        Head(interval, True),
        Head(say("table.n"), True),
        Head(say("table.method")),
    )
    values = align([value_text(row.result, say) for row in rows])
    intervals = align([interval_text(row.result, say) for row in rows])
    methods = _methods(rows, say)
    lines = tuple(
        Line(
            (
                Cell(say(row.label), aside=methods[i].aside if brief else ""),
                Cell(values[i], True, link=method_anchor(row.result.method)),
                Cell(intervals[i], True),
                Cell(say.numbers.count(row.result.estimate.n), True),
                *(() if brief else methods[i : i + 1]),
            ),
            row.leads and not row.result.estimate.short,
        )
        for i, row in enumerate(rows)
    )
    caption = say(source.caption)
    if brief:
        texts = (method_text(row.result.method, say) for row in rows if row.result.method)
        used = dict.fromkeys(part for text in texts for part in text.split(say.between))
        caption = say("table.methods", caption=caption, methods=say.between.join(used))
    return Table(caption, heads[:-1] if brief else heads, lines, source.id)


def value_text(result: Result, say: Catalogue) -> str:
    """The point estimate; a test is its p-value, and what is undefined says so."""
    e = result.estimate
    if result.unit == "p":
        p = e.p if isnan(e.value) else e.value
        return say("table.not_estimable_plain") if isnan(p) else say.numbers.p(p).removeprefix("= ")
    if isnan(e.value):
        return say("table.not_estimable_plain")
    return _with_unit(result, _number(e.value, result.written, result.places, say), say)


def interval_text(result: Result, say: Catalogue) -> str:
    """The interval; one that runs through infinity is written in its two pieces."""
    e = result.estimate
    write = partial(_number, unit=result.written, places=result.places, say=say)
    if result.unit == "count" and e.low == e.high:
        return say("table.empty")
    if not (isnan(e.low) or isnan(e.high)):
        return say("word.to", low=write(e.low), high=write(e.high))
    pieces = through_infinity(result)
    if pieces:
        benefit, harm = map(write, pieces)
        return say("table.through_infinity", benefit=benefit, harm=harm)
    return say("table.empty")


def _with_unit(result: Result, text: str, say: Catalogue) -> str:
    """A number with the unit that does not stand in its own text."""
    if measured := result.details.get("unit"):
        return say("unit.written.measured", text=text, unit=measured)
    key = f"unit.written.{result.written}"
    return say(key, text=text) if key in say else text


def through_infinity(result: Result) -> tuple[float, float] | None:
    """Where benefit and harm of an interval through infinity begin, if it is one of those."""
    found = {**result.estimate.details, **result.details}
    if "benefit_from" in found and "harm_from" in found:
        return float(found["benefit_from"]), float(found["harm_from"])
    return None


def _methods(rows: Sequence[EstimateRow], say: Catalogue) -> list[Cell]:
    """The method of each row, "same" where it is that of the row above, with the note below it."""
    cells, before = [], ""
    for row in rows:
        text = method_text(row.result.method, say)
        # The two pieces of an interval through infinity say what its note says.
        note = NO_NOTE if through_infinity(row.result) else row.result.estimate.note
        cells.append(Cell(say("table.same") if text == before and text else text, aside=say(note)))
        before = text
    return cells


def method_anchor(word: str) -> str:
    """Where the annex has a method, its source, and what else it was used for."""
    return f"method-{word}"


def method_text(word: str, say: Catalogue) -> str:
    """What a reader sees for a word of method; the word itself where the catalogue has no text."""
    key = f"method.{word}.text"
    return say(key) if key in say else word


def align(texts: Sequence[str]) -> list[str]:
    """Texts padded on the right so that, set flush right in tabular figures, their last decimals align.

    >>> [
    ...     t.replace(FIGURE_SPACE, "_").replace(PUNCTUATION_SPACE, ".")
    ...     for t in align(["0.25", "103", "n/a"])
    ... ]
    ['0.25', '103.__', 'n/a']
    """
    fractions = [_fraction(text) for text in texts]
    widest = max((f for f in fractions if f is not None), default=0)
    return [text if f is None else text + _padding(f, widest) for text, f in zip(texts, fractions)]


def _fraction(text: str) -> int | None:
    """How many decimals the last number of a text has; None where it does not end in a number."""
    text = text.removesuffix("%").rstrip()
    tail = text.rstrip("0123456789")
    digits = len(text) - len(tail)
    if not digits:
        return 0 if text.endswith("\N{INFINITY}") else None
    return digits if tail.endswith(".") else 0


def _padding(have: int, want: int) -> str:
    point = PUNCTUATION_SPACE if want and not have else ""
    return point + FIGURE_SPACE * (want - have)


# ---------------------------------------------------------------- plain tables


def plain(source: PlainTable, say: Catalogue) -> Table:
    """Any other table; each column is written as its header says."""
    columns = []
    for i, column in enumerate(source.columns):
        cells = _alike([row[i] for row in source.rows], column.format)
        texts = [written(cell, column.format, say) for cell in cells]
        numeric = column.format not in WORDS
        columns.append([Cell(text, numeric) for text in (align(texts) if numeric else texts)])
    heads = tuple(Head(say(c.header), c.format not in WORDS) for c in source.columns)
    return Table(say(source.caption), heads, tuple(Line(cells) for cells in zip(*columns)), source.id)


def _alike(cells: list[Any], form: str) -> list[Any]:
    """The estimates of a column with one number of decimals: that of the fifth that need the most.

    It is at most one more than the fewest need. An estimate that needs more keeps its own: it would else be
    written as a value that it is not.
    """
    own = [places for cell in cells if isinstance(cell, Estimate) and (places := _places(cell, form))]
    if form == "text" or not own:
        return cells
    most = min(sorted(own, reverse=True)[len(own) // 5], min(own) + 1)
    return [
        rounded(cell, max(_places(cell, form), most))
        if isinstance(cell, Estimate) and not isnan(cell.value)
        else cell
        for cell in cells
    ]


def _places(e: Estimate, form: str) -> int:
    """The decimals of an estimate in a cell; 0 where it has no value."""
    if isnan(e.value):
        return 0
    own = places_in(e.value)
    if own is not None:
        return own
    return of_share(e, e.n) if _unit(form) else by_width(e.value, e.low, e.high)


def _unit(form: str) -> str:
    """What the format word of a column writes; empty for a plain number."""
    return UNITS.get(form.partition(".")[0], "")


def written(value: Any, form: str, say: Catalogue) -> str:
    """A cell as text: as the format word of its column says, and a p-value without its equals sign."""
    if isinstance(value, Message | Note):
        return say(value)
    if value is None or (isinstance(value, float) and isnan(value)):
        return say("table.empty")
    if isinstance(value, bool):
        return say("word.yes" if value else "word.no")
    if isinstance(value, Result):
        return _of_result(value, say)
    if isinstance(value, Estimate) and form == "text":
        return _in_text(value, say)
    if isinstance(value, str) and form == "declared":
        return say.declared(value)
    if isinstance(value, str) or form == "text":
        return str(value)
    if isinstance(value, Estimate):
        return _estimate(value, form, say)
    text = say.numbers.write(value, form)
    if text is None:
        raise ValueError(f"no column is written as {form!r}")
    return text.removeprefix("= ")


def _in_text(e: Estimate, say: Catalogue) -> str:
    """An estimate in a column of text, with its level and n."""
    if isnan(e.value):
        return say("table.not_estimable", note=e.note)
    value, low, high = (say.numbers.fixed(x, 2) for x in (e.value, e.low, e.high))
    return say("table.in_text", value=value, low=low, high=high, level=e.level, n=e.n)


def _estimate(e: Estimate, form: str, say: Catalogue) -> str:
    """An estimate with its interval in one cell, as its column writes numbers."""
    if isnan(e.value):
        return say("table.not_estimable_plain")
    unit, places = _unit(form), _places(e, form)
    return _in_cell(e, _number(e.value, unit, places, say), unit, places, say)


def _of_result(result: Result, say: Catalogue) -> str:
    """A number of a table whose rows are of several quantities, with its interval where it has one."""
    e = result.estimate
    if isnan(e.value):
        return say("table.empty")
    value = _with_unit(result, _number(e.value, result.written, result.places, say), say)
    if isnan(e.low) or isnan(e.high):
        return value
    return _in_cell(e, value, result.written, result.places, say)


def _in_cell(e: Estimate, value: str, unit: str, places: int, say: Catalogue) -> str:
    """A value and the limits of its interval; per cent stands once, as cells are narrow."""
    interval = say("table.no_interval_plain")
    if not (isnan(e.low) or isnan(e.high)):
        bare = partial(say.numbers.points_value, places=max(places - 2, 0))
        write = bare if unit == "proportion" else partial(_number, unit=unit, places=places, say=say)
        interval = say("word.to", low=write(e.low), high=write(e.high))
    return say("word.interval", value=value, interval=interval)


# ---------------------------------------------------------------- estimates in running text


def in_words(result: Result, say: Catalogue, *, bounds: Iterable[float] = ()) -> str:
    """An estimate with its interval as the summary prints it: shares as per cent, differences as points.

    An interval that ends close to one of `bounds` has the decimals that show on which side of it.
    """
    e = result.estimate
    if result.unit == "p":
        return value_text(result, say)
    if isnan(e.value):
        return say("table.not_estimable", note=e.note) if e.note else say("table.not_estimable_plain")
    places, unit = result.places, result.written
    places = max((clear_of(places, (e.low, e.high), bound) for bound in bounds), default=places)
    write = partial(_number, unit=unit, places=places, say=say)
    if not (isnan(e.low) or isnan(e.high)):
        interval = say("word.to", low=write(e.low), high=write(e.high))
    elif pieces := through_infinity(result):
        benefit, harm = map(write, pieces)
        interval = say("table.through_infinity", benefit=benefit, harm=harm)
    else:
        interval = say("table.no_interval", note=e.note) if e.note else say("table.no_interval_plain")
    return _with_unit(result, say("word.interval", value=write(e.value), interval=interval), say)


def _number(x: float, unit: str, places: int, say: Catalogue) -> str:
    """A number in running text: a share as per cent, a difference of shares in points, of areas signed."""
    if unit == "proportion":
        return say.numbers.percent(x, max(places - 2, 0))
    if unit == "difference" and not isinf(x):
        return say.numbers.points(x, max(places - 2, 0))
    text = say.numbers.fixed(x, places) if unit != "difference" else say.numbers.fixed(x)
    return f"+{text}" if unit == "area_difference" and round(x, places) > 0 else text
