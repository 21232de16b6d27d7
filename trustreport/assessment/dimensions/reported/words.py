"""Published figures: can they all come from one and the same table of counts?"""

from collections.abc import Iterator, Sequence
from typing import Any

from trustreport.assessment.dimensions.reported.results import ID
from trustreport.assessment.finding import Part, PlainTable
from trustreport.assessment.infer import (
    Examined,
    cells_in_words,
    in_words,
    range_in_words,
    sentences,
)
from trustreport.assessment.narrative.texts import Item, Texts, heading
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place

# More sets than this are shown in one overview instead of a page each.
EACH_UP_TO = 4

text = Texts(ID)


def figure_parts(sets: Sequence[tuple[str, Examined]]) -> tuple[Part, ...]:
    """How many tables of counts fit, the range of each count and measure, what conflicts."""
    if len(sets) > EACH_UP_TO:
        return (text.part(_overview(sets)),)
    return tuple(_part(name, one, i, alone=len(sets) == 1) for i, (name, one) in enumerate(sets, 1))


def not_shown(sets: Sequence[tuple[str, Examined]]) -> Iterator[Message]:
    """What tables of counts do not tell."""
    yield from (text(f"rounding.{rounding}") for rounding in sorted({one.rounding for _, one in sets}))
    yield from (text(f"not_shown.{what}") for what in ("fit", "averages", "sampling"))


def _part(name: str, one: Examined, number: int, *, alone: bool) -> Part:
    tables = (_table(one, number),) if one.fit.cells else ()
    title = None if alone else say("word.name", name=name)
    return text.part((*sentences(one), *tables), title, Place(set=name))


def _table(one: Examined, number: int) -> PlainTable:
    """The range of every count and measure, beside what was printed of it."""
    fit = one.fit
    texts: dict[str, str] = {}
    for figure in one.figures:
        texts[figure.metric] = ", ".join(filter(None, (texts.get(figure.metric), figure.text.strip())))
    some = any(found.undefined for found in fit.metrics.values())
    rows: list[tuple[Any, ...]] = []
    for cell, ends in fit.cells.items():
        low, high = (text("count", value=end) for end in ends)
        rows.append((heading(cell), texts.get(cell), low, high, 0 if some else None))
    for metric, found in fit.metrics.items():
        low, high = (text("number", value=end) for end in (found.low, found.high))
        undefined = found.undefined if some else None
        rows.append((heading(metric), texts.get(metric), low, high, undefined))
    return text.table(
        f"reported_{number}",
        text("table_bounds") if fit.count is None else text("table", n=fit.count),
        ".quantity .printed:number .low:number .high:number .undefined:count?",
        rows,
    )


def _overview(sets: Sequence[tuple[str, Examined]]) -> Iterator[Item]:
    """Many sets: how many fit, and a row each."""
    counts = [one.fit.count for _, one in sets]
    conflict, untried = counts.count(0), counts.count(None)
    yield text("overview", n=conflict, all=len(sets), fit=len(sets) - conflict - untried)
    if untried:
        yield text("overview_untried", n=untried)
    yield text.table(
        "reported_sets",
        text("table_sets"),
        "set .printed .tables:count .follows",
        [(name, _listed(one), one.fit.count, _follows(one)) for name, one in sets],
    )


def _listed(one: Examined) -> Message:
    return text("listed", items=[in_words(figure) for figure in one.figures])


def _follows(one: Examined) -> Message | None:
    """The most telling consequence in a few words: the table, the conflict, or the range of MCC."""
    if not one.cases.adds_up:
        return next(iter(sentences(one)))
    if one.contradictory:
        items = [in_words(figure) for figure in (one.conflicts[0] if one.conflicts else one.figures)]
        return text("not_alone" if len(items) == 1 else "conflicting", items=items)
    if one.fit.count == 1:
        return cells_in_words(one.fit)
    return range_in_words("mcc", one.fit) if "mcc" in one.fit.metrics else None
