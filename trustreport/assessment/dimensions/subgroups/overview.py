"""Groups of all data sets in one place: the largest differences in a table, and a figure with a row a set."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.subgroups.groups import MAIN, NAME, GroupedCases, Measured
from trustreport.assessment.dimensions.subgroups.results import test_of
from trustreport.assessment.dimensions.subgroups.words import MOST_NAMED, cell_of, is_area
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts, column_heading, endpoint_name, first_of
from trustreport.assessment.performance.case_groups import REST, Division
from trustreport.figures.measure_rows import GroupBlock, GroupRow, GroupRows, MeasureColumn
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message, patients_of_sex
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.quantity import Quantity
from trustreport.vocabulary.results import Result

ELEMENT = "group_differences"
# Differences of the table; those that remain significant after adjustment are in it whatever their size.
MOST_DIFFERENCES = 10
# Marks below each other that a page holds.
MOST_MARKS = 44

text = Texts(f"{NAME}.overview")
of_groups = Texts(NAME)


@dataclass(frozen=True, eq=False)
class GroupGap:
    """A difference between a group and those that it is compared with, of one set."""

    of: GroupedCases
    one: Measured
    result: Result

    @property
    def value(self) -> float:
        """The difference, group minus the others."""
        return self.result.estimate.value

    @property
    def p(self) -> float:
        """The p-value after adjustment; NaN where there is none."""
        return float(self.result.details["p_holm"])

    @property
    def significant(self) -> bool:
        """Whether it remains significant after adjustment."""
        return self.p <= 1 - self.result.estimate.level

    @property
    def division(self) -> Division:
        """The attribute that the group is of, with all its groups."""
        return next(d for d in self.of.divisions if any(g is self.one.group for g in d.groups))

    @property
    def against(self) -> Message | str:
        """What the group is compared with: of two groups the other one, by its value."""
        division = self.division
        name: str = self.result.parameters["against"]
        if name == REST:
            others = [g for g in division.groups if g.name != self.one.name]
            if len(others) != 1 or not np.array_equal(others[0].mask, self.one.group.against):
                return of_groups("rest")
            name = others[0].name
        return patients_of_sex(name, compared=True) or name.removeprefix(f"{division.attribute}: ")

    @property
    def pair(self) -> Message:
        """Both groups."""
        return text("pair", group=self.one.name, against=self.against)

    @property
    def scale(self) -> str:
        """What the difference is written in: percentage points, or of an area its own scale."""
        return "area" if is_area(self.result) else "points"

    @property
    def measure(self) -> Message:
        """What differs, at the head of a column."""
        return _measure(self.result.endpoint, of_readers=self.of.of_readers)


def overview(sets: Sequence[GroupedCases], read: Sequence[GroupedCases]) -> Part | None:
    """The differences of all sets, largest first; None where no two groups could be compared."""
    name = "readers" if len(read) == 1 else "readers_of"
    of_readers = [replace(one, name=text(name, name=one.name)) for one in read]
    every = (*sets, *of_readers)
    gaps = sorted((gap for one in every for gap in _gaps(one)), key=lambda gap: -abs(gap.value))
    if not gaps:
        return None
    items = (*_sentences(gaps, every), _table(gaps, every), *_figures(sets or of_readers, gaps))
    return text.part(items, text("title"), element=ELEMENT)


def _gaps(one: GroupedCases) -> Iterator[GroupGap]:
    """Every difference of the main measures that is known, and any other that is significant.

    Of two that mirror each other the one with the lower group is kept, since it shows for whom the device
    works less well.
    """
    kept: dict[Any, GroupGap] = {}
    for measured, r in one.comparisons:
        gap = GroupGap(one, measured, r)
        main = r.endpoint in MAIN or one.of_readers
        if isnan(gap.value) or not (main or gap.significant):
            continue
        test = test_of(measured, r)
        if test not in kept or gap.value < kept[test].value:
            kept[test] = gap
    yield from kept.values()


def _row(endpoint: str, *, of_readers: bool) -> Quantity:
    row = endpoint_row(endpoint)
    return row.change() if of_readers and row.no_effect is None else row


def _measure(endpoint: str, *, of_readers: bool) -> Message:
    heading = column_heading(endpoint)
    return text("change", measure=heading) if of_readers else heading


def _sentences(gaps: Sequence[GroupGap], every: Sequence[GroupedCases]) -> Iterator[Message]:
    """The largest difference with its interval, which remain after adjustment, and what was too small."""
    yield _largest(gaps[0])
    significant = [
        text(
            "item",
            set=gap.of.name,
            endpoint=endpoint_name(gap.result.endpoint),
            groups=gap.pair,
            value=text(f"signed_{gap.scale}", value=gap.value),
            p=gap.p,
        )
        for gap in gaps
        if gap.significant
    ]
    tested, measures = _tested(every), _measures(r for one in every for _, r in one.comparisons)
    if significant:
        items = first_of(significant, MOST_NAMED)
        yield text("significant", n=len(significant), of=tested, measures=measures, items=items)
    elif tested:
        limits = [abs(x) for gap in gaps for x in (gap.result.estimate.low, gap.result.estimate.high)]
        reach = 100 * max((x for x in limits if isfinite(x)), default=nan)
        yield text("none_significant", n=tested, measures=measures, reach=reach)
    # Groups of which no main measure is shown because they have too few cases.
    small = [
        text("small", set=one.name, group=m.name, positives=m.positives, negatives=m.negatives)
        for one in every
        for m in one.every
        if not m.closed and not one.of_readers
        if any(r.endpoint in MAIN and r.details.get("too_few") for r in m.results)
    ]
    if small:
        yield text("too_few", n=len(small), names=first_of(small, MOST_NAMED))


def _tested(every: Sequence[GroupedCases]) -> int:
    """The differences of all data sets that were tested, of two that mirror each other one."""
    return sum(
        len({test_of(m, r) for m, r in one.comparisons if isfinite(r.details["p_holm"])}) for one in every
    )


def _measures(found: Iterable[Result]) -> list[Message]:
    """The names of what differs, each once."""
    return [endpoint_name(name) for name in dict.fromkeys(r.endpoint for r in found)]


def _largest(gap: GroupGap) -> Message:
    e = gap.result.estimate
    low, high = (e.low, e.high) if e.value > 0 else (-e.high, -e.low)
    key, way = "of_readers" if gap.of.of_readers else "of_set", "higher" if e.value > 0 else "lower"
    times, interval = (1, "interval_area") if gap.scale == "area" else (100, "interval")
    interval = interval if isfinite(low) and isfinite(high) else "no_interval"
    return text(
        f"{key}.{way}",
        set=gap.of.name,
        endpoint=endpoint_name(gap.result.endpoint),
        group=gap.one.name,
        against=gap.against,
        size=text(f"size_{gap.scale}", size=times * abs(e.value)),
        interval=text(interval, e, low=times * low, high=times * high),
        p=text("p" if isfinite(gap.p) else "no_p", p=gap.p),
    )


def _table(gaps: Sequence[GroupGap], every: Sequence[GroupedCases]) -> Item:
    shown = [gap for i, gap in enumerate(gaps) if i < MOST_DIFFERENCES or gap.significant]
    level = gaps[0].result.estimate.level
    measures = _measures(gap.result for gap in gaps)
    key = "table" if len(shown) == len(gaps) else "table_largest"
    caption = text(key, n=len(shown), of=len(gaps), level=level, tested=_tested(every), measures=measures)
    others = [r for one in every if not one.of_readers for _, r in one.comparisons if r.endpoint not in MAIN]
    if others:
        caption = text("other_measures", caption=caption, measures=_measures(others))
    if any(gap.scale == "area" for gap in shown):
        caption = text("own_scale", caption=caption)
    some = any(gap.one.group.exploratory for gap in shown)
    if not some:
        caption = text("all_prespecified", caption=caption)
    return text.table(
        ELEMENT,
        caption,
        [
            "measure",
            text.column("set"),
            text.column("groups"),
            "difference p_holm",
            *([of_groups.column("prespecified")] if some else []),
        ],
        [
            (
                *(gap.measure, gap.of.name, gap.pair, cell_of(gap.result), gap.p),
                *([not gap.one.group.exploratory] if some else []),
            )
            for gap in shown
        ],
    )


def _figures(sets: Sequence[GroupedCases], gaps: Sequence[GroupGap]) -> Iterator[Figure]:
    """A block for each attribute, the one with the largest difference first; as much as a page holds."""
    of_readers = sets[0].of_readers
    known = dict.fromkeys(name for one in sets for name in one.overall)
    endpoints = list(known) if of_readers else [name for name in MAIN if name in known]
    attributes = [
        *(gap.division.attribute for gap in gaps if gap.of in sets),
        *(d.attribute for one in sets for d in one.divisions),
    ]
    blocks = [b for name in dict.fromkeys(attributes) if (b := _block(name, sets, endpoints)) is not None]
    kept = list(_on_a_page(blocks))
    if not kept:
        return
    rows, every = (sum(len(b.rows) for b in found) for found in (kept, blocks))
    caption = text("figure.rows", level=gaps[0].result.estimate.level)
    if rows < every:
        caption = text("figure.part", caption=caption, n=rows, of=every)
    measures = tuple(
        MeasureColumn.of_unit(_measure(name, of_readers=of_readers), _row(name, of_readers=of_readers))
        for name in endpoints
    )
    drawing = GroupRows(measures, tuple(kept), of_groups("figure.reference"))
    names = [b.label for b in kept][:MOST_NAMED]
    yield text.figure(ELEMENT, drawing, "rows", caption, n=rows, names=names)


def _block(attribute: str, sets: Sequence[GroupedCases], endpoints: Sequence[str]) -> GroupBlock | None:
    """A row for each set in which a group of the attribute has a value."""
    shown: list[tuple[GroupedCases, dict[str, tuple[Estimate | None, ...]]]] = []
    for one in sets:
        values = {m.name: tuple(map(m.value, endpoints)) for m in one.groups.get(attribute, ())}
        known = {name: own for name, own in values.items() if any(e and isfinite(e.value) for e in own)}
        if known:
            shown.append((one, known))
    names, nothing = (
        list(dict.fromkeys(name for _, known in shown for name in known)),
        (None,) * len(endpoints),
    )
    rows = tuple(
        GroupRow(
            one.name,
            tuple(known.get(name, nothing) for name in names),
            tuple(map(one.overall.get, endpoints)),
        )
        for one, known in shown
    )
    return (
        GroupBlock(attribute.replace("_", " "), tuple(n.removeprefix(f"{attribute}: ") for n in names), rows)
        if rows
        else None
    )


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
