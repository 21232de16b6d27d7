"""Groups of all data sets in one place: the largest differences in a table, and a figure with a row a set."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.subgroups.effects import BENEFIT, Effect
from trustreport.assessment.dimensions.subgroups.entries import NAME, VALUE, Measured, Measurement
from trustreport.assessment.dimensions.subgroups.families import Groups, comparisons, test_of
from trustreport.assessment.dimensions.subgroups.groups import REST, Division
from trustreport.assessment.dimensions.subgroups.narrative import MAIN, MOST_NAMED
from trustreport.assessment.finding import Figure, Part, PlainTable
from trustreport.assessment.narrative.names import endpoint_name, title_of
from trustreport.assessment.narrative.tables import table
from trustreport.figures.measure_rows import GroupBlock, GroupRow, GroupRows, MeasureColumn
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

ELEMENT = "group_differences"
# Differences of the table; those that remain significant after adjustment are in it whatever their size.
MOST_DIFFERENCES = 12
# Marks below each other that a page holds.
MOST_MARKS = 44


@dataclass(frozen=True, eq=False)
class SetOfGroups:
    """A data set and candidate, or a task and contrast of readers, with its groups."""

    name: Message | str
    divisions: tuple[Division, ...]
    groups: Groups
    source: Measurement | Effect

    def overall(self, endpoint: str) -> Estimate | None:
        """A measure of all cases of the set."""
        source = self.source
        return source.overall(endpoint) if isinstance(source, Measurement) else source.overall.get(endpoint)

    def estimate(self, one: Measured, endpoint: str) -> Estimate | None:
        """A measure of one group: of readers, their change."""
        id = VALUE if isinstance(self.source, Measurement) else f"{BENEFIT}.arm_difference"
        found = leading(one.results, id, endpoint=endpoint)
        return found.estimate if found else None


@dataclass(frozen=True, eq=False)
class GroupGap:
    """A difference between a group and those that it is compared with, of one set."""

    of: SetOfGroups
    one: Measured
    result: Result

    @property
    def value(self) -> float:
        """The difference, group minus the others."""
        return self.result.estimate.value

    @property
    def significant(self) -> bool:
        """Whether it remains significant after adjustment."""
        return bool(self.result.details["p_holm"] <= 1 - self.result.estimate.level)


def overview(sets: Sequence[Measurement], read: Sequence[Effect]) -> Part | None:
    """The differences of all sets, largest first; None where no two groups could be compared."""
    found = [SetOfGroups(one.case.name, one.divisions, one.groups, one) for one in sets]
    of_readers = [SetOfGroups(_readers(one, read), one.divisions, one.groups, one) for one in read]
    gaps = sorted(
        (gap for one in (*found, *of_readers) for gap in _gaps(one)), key=lambda gap: -abs(gap.value)
    )
    if not gaps:
        return None
    return Part(
        finding=tuple(_sentences(gaps, (*found, *of_readers))),
        title=say(f"{NAME}.overview.title"),
        tables=(_table(gaps),),
        figures=tuple(_figures(found or of_readers, gaps)),
        element=ELEMENT,
    )


def _readers(one: Effect, read: Sequence[Effect]) -> Message:
    if len(read) == 1:
        return say(f"{NAME}.overview.readers")
    return say(f"{NAME}.overview.readers_of", name=title_of(one.readings, one.arms))


def _gaps(one: SetOfGroups) -> Iterator[GroupGap]:
    """Every difference of the main measures that is known, and any other that is significant.

    Of two that mirror each other the one with the lower group is kept, since it shows for whom the device
    works less well.
    """
    kept: dict[Any, GroupGap] = {}
    for measured, r in comparisons(one.groups):
        gap = GroupGap(one, measured, r)
        main = r.endpoint in MAIN or isinstance(one.source, Effect)
        if isnan(r.estimate.value) or not (main or gap.significant):
            continue
        test = test_of(measured, r)
        if test not in kept or gap.value < kept[test].value:
            kept[test] = gap
    yield from kept.values()


# ---------------------------------------------------------------- sentences


def _sentences(gaps: Sequence[GroupGap], every: Sequence[SetOfGroups]) -> Iterator[Message]:
    """The largest difference with its interval, which remain after adjustment, and what was too small."""
    largest = gaps[0]
    e = largest.result.estimate
    low, high = (e.low, e.high) if e.value > 0 else (-e.high, -e.low)
    key = "of_readers" if isinstance(largest.of.source, Effect) else "of_set"
    way = "higher" if e.value > 0 else "lower"
    interval = "interval" if isfinite(low) and isfinite(high) else "no_interval"
    known = isfinite(largest.result.details["p_holm"])
    values = {"low": 100 * low, "high": 100 * high, "level": e.level, "reason": e.note}
    yield say(
        f"{NAME}.overview.{key}.{way}",
        set=largest.of.name,
        endpoint=endpoint_name(largest.result.endpoint),
        group=largest.one.group.name,
        against=_against(largest),
        size=100 * abs(e.value),
        interval=say(f"{NAME}.overview.{interval}", **values),
        p=say(f"{NAME}.overview.{'p' if known else 'no_p'}", p=largest.result.details["p_holm"]),
    )
    significant = [gap for gap in gaps if gap.significant]
    tested = sum(
        len({test_of(m, r) for m, r in comparisons(one.groups) if isfinite(r.details["p_holm"])})
        for one in every
    )
    if significant:
        items = [_item(gap) for gap in significant[:MOST_NAMED]]
        if len(significant) > MOST_NAMED:
            items.append(say("word.more", n=len(significant) - MOST_NAMED))
        yield say(f"{NAME}.overview.significant", n=len(significant), of=tested, items=items)
    elif tested:
        limits = [abs(x) for gap in gaps for x in (gap.result.estimate.low, gap.result.estimate.high)]
        reach = 100 * max((x for x in limits if isfinite(x)), default=nan)
        yield say(f"{NAME}.overview.none_significant", n=tested, reach=reach)
    small = list(_small(every))
    if small:
        shown: list[Message] = small[:MOST_NAMED]
        if len(small) > MOST_NAMED:
            shown.append(say("word.more", n=len(small) - MOST_NAMED))
        yield say(f"{NAME}.overview.too_few", n=len(small), names=shown)


def _item(gap: GroupGap) -> Message:
    return say(
        f"{NAME}.overview.item",
        set=gap.of.name,
        endpoint=endpoint_name(gap.result.endpoint),
        groups=_pair(gap),
        value=gap.value,
        p=gap.result.details["p_holm"],
    )


def _small(every: Sequence[SetOfGroups]) -> Iterator[Message]:
    """The groups of which no main measure is shown because they have too few cases."""
    for one in every:
        for measured in (m for found in one.groups.values() for m in found if not m.closed):
            found = [
                r for r in measured.results if r.id == VALUE and r.endpoint in MAIN and r.details["too_few"]
            ]
            if found:
                yield say(
                    f"{NAME}.overview.small",
                    set=one.name,
                    group=measured.group.name,
                    positives=measured.positives,
                    negatives=measured.negatives,
                )


def _against(gap: GroupGap) -> Message | str:
    """What the group is compared with: of two groups the other one, by its value."""
    chosen: str = gap.result.parameters["against"]
    if chosen != REST:
        return _value_of(gap, chosen)
    division = _division(gap)
    others = [g for g in division.groups if g.name != gap.one.group.name]
    if len(others) == 1 and np.array_equal(others[0].mask, gap.one.group.against):
        return _value_of(gap, others[0].name)
    return say(f"{NAME}.rest")


def _value_of(gap: GroupGap, name: str) -> str:
    """The name of a group without that of the attribute, which the group beside it carries."""
    return name.removeprefix(f"{_division(gap).attribute}: ")


def _division(gap: GroupGap) -> Division:
    return next(d for d in gap.of.divisions if any(g is gap.one.group for g in d.groups))


def _pair(gap: GroupGap) -> Message:
    return say(f"{NAME}.overview.pair", group=gap.one.group.name, against=_against(gap))


# ---------------------------------------------------------------- table


def _table(gaps: Sequence[GroupGap]) -> PlainTable:
    shown = [gap for i, gap in enumerate(gaps) if i < MOST_DIFFERENCES or gap.significant]
    key = "table" if len(shown) == len(gaps) else "table_largest"
    return table(
        ELEMENT,
        say(f"{NAME}.overview.{key}", n=len(shown), of=len(gaps), level=gaps[0].result.estimate.level),
        shown,
        [
            (f"{NAME}.column.measure", _measure),
            (f"{NAME}.overview.set", lambda gap: gap.of.name),
            (f"{NAME}.overview.groups", _pair),
            (f"{NAME}.column.difference", lambda gap: gap.result.estimate, "points"),
            (f"{NAME}.column.p_holm", lambda gap: _p(gap.result), "p"),
            (
                f"{NAME}.column.prespecified",
                lambda gap: say("word.no" if gap.one.group.exploratory else "word.yes"),
            ),
        ],
    )


def _measure(gap: GroupGap) -> Message:
    heading = say(f"{NAME}.heading.{gap.result.endpoint}")
    of_readers = isinstance(gap.of.source, Effect)
    return say(f"{NAME}.overview.change", measure=heading) if of_readers else heading


def _p(result: Result) -> float | None:
    p = float(result.details["p_holm"])
    return None if isnan(p) else p


# ---------------------------------------------------------------- figure


def _figures(sets: Sequence[SetOfGroups], gaps: Sequence[GroupGap]) -> Iterator[Figure]:
    """A block for each attribute, the one with the largest difference first; as much as a page holds."""
    of_readers = isinstance(sets[0].source, Effect)
    endpoints = _endpoints(sets)
    attributes = _by_size(sets, gaps)
    blocks = [b for name in attributes if (b := _block(name, sets, endpoints)) is not None]
    kept = list(_on_a_page(blocks))
    if not kept:
        return
    rows, every = (sum(len(b.rows) for b in found) for found in (kept, blocks))
    level = gaps[0].result.estimate.level
    names = [b.label for b in kept][:MOST_NAMED]
    caption = say(f"{NAME}.overview.figure", level=level)
    if rows < every:
        caption = say(f"{NAME}.overview.figure_part", caption=caption, n=rows, of=every)
    measures = tuple(
        MeasureColumn(say(f"{NAME}.overview.change", measure=say(f"{NAME}.heading.{name}")), -1.0, 1.0, 0.0)
        if of_readers
        else MeasureColumn(say(f"{NAME}.heading.{name}"))
        for name in endpoints
    )
    yield Figure(
        ELEMENT,
        GroupRows(measures, tuple(kept), say(f"{NAME}.figure.reference")),
        caption,
        say(f"{NAME}.overview.figure_alt", n=rows, names=names),
    )


def _endpoints(sets: Sequence[SetOfGroups]) -> list[str]:
    if not isinstance(sets[0].source, Effect):
        return [name for name in MAIN if any(one.overall(name) for one in sets)]
    return list(
        dict.fromkeys(name for one in sets if isinstance(one.source, Effect) for name in one.source.overall)
    )


def _by_size(sets: Sequence[SetOfGroups], gaps: Sequence[GroupGap]) -> list[str]:
    """The attributes, the one with the largest difference first."""
    ordered = [_division(gap).attribute for gap in gaps if gap.of in sets]
    return list(dict.fromkeys([*ordered, *(d.attribute for one in sets for d in one.divisions)]))


def _block(attribute: str, sets: Sequence[SetOfGroups], endpoints: Sequence[str]) -> GroupBlock | None:
    """A row for each set in which a group of the attribute has a value."""
    shown = {
        (i, m.group.name): tuple(one.estimate(m, name) for name in endpoints)
        for i, one in enumerate(sets)
        for m in one.groups.get(attribute, ())
    }
    shown = {
        at: found for at, found in shown.items() if any(e is not None and isfinite(e.value) for e in found)
    }
    names = list(dict.fromkeys(name for _, name in shown))
    nothing = (None,) * len(endpoints)
    rows = tuple(
        GroupRow(
            one.name,
            tuple(shown.get((i, name), nothing) for name in names),
            tuple(one.overall(name) for name in endpoints),
        )
        for i, one in enumerate(sets)
        if any(at == i for at, _ in shown)
    )
    short = tuple(name.removeprefix(f"{attribute}: ") for name in names)
    return GroupBlock(attribute, short, rows) if rows else None


def _on_a_page(blocks: Sequence[GroupBlock]) -> Iterator[GroupBlock]:
    """Blocks until a page is full, the last one with the rows that it has room for."""
    room = MOST_MARKS
    for block in blocks:
        tall = max(len(block.groups), 1)
        rows = block.rows[: max(room // tall, 0)]
        if not rows:
            return
        yield replace(block, rows=rows)
        room -= tall * len(rows) + 2
