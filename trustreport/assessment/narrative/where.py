"""Where errors are concentrated: sentences and a table of the leading group, crossed with all else."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from trustreport.assessment.finding import Part, PlainTable
from trustreport.assessment.narrative.texts import Texts, numbers
from trustreport.assessment.performance.crossed import concentrations
from trustreport.assessment.performance.keys import public_cell
from trustreport.assessment.performance.sites import (
    Comparison,
    Concentration,
    Contrast,
    CrossCell,
    Crossing,
    ErrorGroup,
    Pool,
    PooledColumn,
)
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, patients_of_sex, say
from trustreport.vocabulary.results import Result

ELEMENT = "where"
LOCATED = {
    **dict.fromkeys(("site", "hospital", "centre", "center", "clinic", "department"), "at"),
    **dict.fromkeys(("scanner", "machine", "workstation"), "on"),
    **dict.fromkeys(("camera", "device", "detector", "model", "manufacturer", "vendor"), "with"),
}
FEW = 100  # cases below which a percentage has no decimals

text = Texts("where")


def where(
    pool: Pool | None,
    dimension: str,
    plan: Plan,
    suffix: str,
    tested: Mapping[Comparison, Result] | None = None,
) -> tuple[Part | None, list[Result]]:
    """The part on where errors are concentrated, and its entries; nothing where no groups can be compared.

    Parameters
    ----------
    suffix : what ends the ids of the tables
    tested : comparisons that belong to another family of the report; None where that is not known
    """
    found = concentrations(pool, dimension, plan, tested) if pool is not None else []
    if pool is None or not found:
        return None, []
    sentences = [message for one in found for message in (*_sentences(one), *_hidden(one, plan))]
    tables = [_table(one, pool, plan, suffix) for one in found if one.lead]
    name = pool.place.candidate or ""
    part = text.part((*sentences, *tables), text.title(name, alone=not name), pool.place, ELEMENT)
    return part, [r for one in found for r in one.results]


def _hidden(found: Concentration, plan: Plan) -> Iterator[Message]:
    if found.hidden:
        names = [column_name(column) for column in dict.fromkeys(found.hidden)]
        yield text("hidden", names=names, least=public_cell(plan))


def _sentences(found: Concentration) -> Iterator[Message]:
    if found.lead is None:
        if found.largest is not None:
            counts = _counts(found.largest)
            more = {"compared": found.compared, "p": _p(found.largest), **counts}
            yield text(f"none_{found.event}", **_named(found.largest.group), **more)
        return
    lead = found.lead.group
    yield text(f"lead_{found.event}", **_named(lead), **_counts(found.lead))
    name = group_name(lead)
    yield from _shared(found, name)
    if found.same:
        yield text("same", names=[group_name(g) for g in found.same], group=name)
    for key, side in (("only", 0), ("alone", 1)):
        items = [item for crossing in found.crossings for item in _uneven(crossing, side)]
        if items:
            yield text(f"{key}_{found.event}", group=name, items=items)
    yield from _outside(found, name)


def _named(group: ErrorGroup) -> dict[str, Message]:
    """A group and those it is compared with, as a sentence says where something is."""
    named = group.other or group.of.kind == "period"
    others = _located(group.of, _others(group)) if named else text(f"elsewhere.{group.of.kind}")
    return {"group": _located(group.of, group_name(group)), "others": others}


def _located(of: PooledColumn, name: Message | str) -> Message:
    """``at Southport``, ``on scanner Y``, ``for female patients``."""
    by_kind = {"site": "at", "dataset": "in", "version": "with", "period": "for"}
    words = of.name.replace("_", " ").casefold().split()
    by_word = next((LOCATED[word] for word in words if word in LOCATED), "for")
    return text(f"located.{by_kind.get(of.kind, by_word)}", name=name)


def _counts(one: Contrast) -> dict[str, Any]:
    """The counts and rates of both sides, and their difference."""
    first, second = one.first, one.second
    return {
        "k": first.k,
        "n": first.n,
        "other_k": second.k,
        "other_n": second.n,
        "rate": _rate(first),
        "other_rate": _rate(second),
        "difference": _difference(one),
    }


def _rate(cell: CrossCell) -> Message:
    value = cell.k / cell.n if cell.n else cell.rate.value
    return text("percent_few" if cell.n < FEW else "percent", value=value)


def _difference(one: Contrast) -> Message:
    e = one.difference
    if isnan(e.low):
        return text("difference_alone", value=e.value)
    few = min(one.first.n, one.second.n) < FEW
    values = {"level": e.level, "value": 100 * e.value, "low": 100 * e.low, "high": 100 * e.high}
    if one.higher:
        return text("more_few" if few else "more", **values)
    return text("difference_few" if few else "difference", **values | numbers(e))


def _shared(found: Concentration, name: Message | str) -> Iterator[Message]:
    """Whether the difference is there among cases alike in each other characteristic."""
    held: list[Message] = []
    lost: list[Message] = []
    nowhere: list[Message] = []
    for crossing in found.crossings:
        names = [column_name(c) for c in crossing.by]
        one = crossing.shared
        if one is None:
            nowhere.append(text("combined", items=names))
        elif len(crossing.common) < len(crossing.cells):
            (held if one.higher else lost).append(text("within", names=names, **_within(one)))
    if held:
        yield text("remains", items=held)
    if lost:
        yield text("vanishes", items=lost)
    if nowhere:
        yield text("apart", group=name, names=nowhere)


def _within(one: Contrast) -> dict[str, Any]:
    counts = _counts(one)
    return {key: counts[key] for key in ("k", "n", "other_k", "other_n", "difference")}


def _uneven(crossing: Crossing, side: int) -> Iterator[Message]:
    """The levels of each characteristic to which the group is confined (0), or that are its own alone (1)."""
    for at, c in enumerate(crossing.by):
        counts: dict[str, int] = {}
        for levels, *pair in crossing.cells:
            counts[levels[at]] = counts.get(levels[at], 0) + pair[side].n
        empty = [level for level, n in counts.items() if not n]
        names = empty if side else [level for level, n in counts.items() if n]
        if not empty:
            continue
        if c.kind == "period":
            yield from (text(f"at.{phase}", period=c.start) for phase in names)
        else:
            yield text(f"at.{c.kind}", names=[_bare(c, level) for level in names])


def _outside(found: Concentration, name: Message | str) -> Iterator[Message]:
    """The other groups that seemed to err more: do they so among the cases outside the leading group?"""
    for key, wanted in (("none", False), ("some", True)):
        items = [_outside_item(one) for one in found.outside if one.higher is wanted]
        if items:
            yield text(f"outside_{key}", group=name, items=items)


def _outside_item(one: Contrast) -> Message:
    name = group_name(one.group)
    if not one.first.n or not one.second.n:
        return text("outside_nothing", group=name)
    if one.difference.low > 0 and not one.higher:  # what the adjustment says, not the interval
        return text("outside_adjusted", group=name, p=_p(one), **_within(one))
    return text("outside_item", group=name, **_within(one))


def _p(one: Contrast) -> Message:
    """The p-value after adjustment, else as it is."""
    if one.says_adjusted:
        return text("adjusted_p", p=one.adjusted)
    return text("plain_p", p=one.difference.p)


def group_name(group: ErrorGroup) -> Message | str:
    """What a group is called within a sentence."""
    return _level(group.of, group.level)


def _others(group: ErrorGroup) -> Message | str:
    if group.of.kind == "period":
        return text("name.earlier", period=group.level)
    return _level(group.of, group.other) if group.other else text(f"others.{group.of.kind}")


def _level(of: PooledColumn, level: str) -> Message | str:
    return text("name.since", period=level) if of.kind == "period" else level_name(of, level)


def level_name(of: PooledColumn, level: str) -> Message | str:
    """A level with its characteristic, where its name does not say it: ``scanner Y``, ``unit “portable”``."""
    if of.kind == "period":
        return text(f"level.{level}", period=of.start)
    if of.kind == "version":
        return text("name.version", level=level)
    return level if of.kind in ("site", "dataset") else labelled(of.name, level)


def labelled(column: str, level: str) -> Message | str:
    """A level of a column of groups, with the column where the level does not name it."""
    if patients := patients_of_sex(f"{column}: {level}"):
        return patients
    word = column.replace("_", " ")
    if word.casefold() in level.casefold():
        return level
    return text("name.labelled", column=word, level=level)


def _bare(of: PooledColumn, level: str) -> Message | str:
    """A level after a word that names its characteristic already."""
    return level if of.kind == "version" else level_name(of, level)


def column_name(of: PooledColumn) -> Message | str:
    """A characteristic within a sentence."""
    if of.kind == "group":
        return say("word.name", name=of.name.replace("_", " "))
    return text(f"column_name.{of.kind}")


def _table(found: Concentration, pool: Pool, plan: Plan, suffix: str) -> PlainTable:
    assert found.lead is not None
    caption = text(
        f"table.{found.event}",
        name=column_name(found.lead.group.of),
        level=plan.report.confidence_level,
        sets=len(pool.parts),
        rule=text(f"rule.{pool.parts[0].rule}"),
    )
    return text.table(
        f"where_{found.event}{suffix}",
        caption,
        ("group .crossed", text.column(f"counts_{found.event}"), ".rate:percent .interval"),
        [
            (group, crossed, _k_of_n(cell), _known(cell.rate), _interval(cell.rate))
            for group, crossed, cell in _rows(found.lead, found.crossings)
        ],
    )


def _rows(
    lead: Contrast, crossings: Sequence[Crossing]
) -> Iterator[tuple[Message | str, Message | str, CrossCell]]:
    """One cell of the crossing that has cases a row: the group, what it is crossed with, its cases."""
    names = (group_name(lead.group), _others(lead.group))
    for name, cell in zip(names, (lead.first, lead.second)):
        yield name, text("all"), cell
    for crossing in crossings:
        for side, name in enumerate(names):
            for levels, *pair in crossing.cells:
                if pair[side].n:
                    named = [level_name(c, level) for c, level in zip(crossing.by, levels)]
                    yield name, _together(named), pair[side]


def _together(names: Sequence[Message | str]) -> Message | str:
    return say("word.pair", first=names[0], second=names[1]) if len(names) > 1 else names[0]


def _k_of_n(cell: CrossCell) -> Message:
    return text("k_of_n", k=cell.k, n=cell.n)


def _known(e: Estimate) -> float | None:
    return None if isnan(e.value) else e.value


def _interval(e: Estimate) -> Message | None:
    if isnan(e.value):
        return None
    ends = [text("percent_few" if e.n < FEW else "percent", value=x) for x in (e.low, e.high)]
    return say("word.to", low=ends[0], high=ends[1])
