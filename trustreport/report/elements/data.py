"""The data: sets, files, who the cases were, what is missing, whether there is enough, what went wrong."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from trustreport.assessment.dimensions.case_mix import CaseMix, Characteristic, Errors
from trustreport.assessment.dimensions.largest_gap import Share, largest_differences
from trustreport.assessment.narrative.periods import immature
from trustreport.report import declared
from trustreport.report.elements.element import Context, Element, numbered
from trustreport.report.limits import limits, listed
from trustreport.report.tables import Cell, Head, Line, Table
from trustreport.report.wording import day
from trustreport.vocabulary.digits import share
from trustreport.vocabulary.messages import Catalogue

GROUPS = {"E03": ("datasets",)}
SETS_BESIDE = 4  # sets that stand as columns; more stand below each other
MISSING = ("P19", "P20", "P03")
ENOUGH = ("P39", "P37", "P44")
INDEPENDENT = ("P09", "P10", "P11", "P61")
CHECKED = {"E09": MISSING, "E10": ENOUGH, "E11": INDEPENDENT}


def sets(context: Context) -> Element | None:
    """A line for each set of cases, then what was declared of it."""
    say, assessment = context.say, context.assessment
    declared_of = {d.dataset: d for d in assessment.plan.datasets}
    lines = []
    for mix in assessment.case_mixes:
        facts = declared_of.get(mix.name)
        dates = _dates(facts.start_date, facts.end_date, say) if facts else ""
        counts = [say.numbers.count(n) for n in (mix.n, mix.positive, mix.negative, mix.without_truth)]
        if mix.followed:
            counts[1:] = [say("table.empty")] * 3
        lines.append(
            Line(
                (
                    Cell(
                        mix.name or say("report.read.the_task"),
                        aside=declared.text(mix.role, say) if mix.role else say("element.E03.readings"),
                    ),
                    *(Cell(n, True) for n in counts),
                    Cell((facts.sampling if facts else None) or say("word.not_declared")),
                    Cell(dates or say("word.not_declared")),
                )
            )
        )
    keys = ("set", "cases", "positive", "negative", "without", "sampling", "dates")
    heads = tuple(Head(say(f"element.E03.{key}"), 0 < i < 5) for i, key in enumerate(keys))
    groups = tuple(context.groups[name] for name in GROUPS["E03"] if name in context.groups)
    if not lines and not groups:
        return None
    finding = (
        (say("element.E03.finding", n=len(lines), cases=sum(m.n for m in assessment.case_mixes)),)
        if lines
        else ()
    )
    return Element(
        finding, groups, tables=numbered(context, Table(say("element.E03.caption"), heads, tuple(lines)))
    )


def _dates(start: Any, end: Any, say: Catalogue) -> str:
    if start and end:
        return say("word.to", low=day(start, say), high=day(end, say))
    return day(start or end, say) if start or end else ""


def read(context: Context) -> Element:
    """Files with their rows, the flow of readings, and the doubts that reading met."""
    say, study = context.say, context.assessment.study
    finding = [say("report.read.finding", n=len(study.sources)) if study.sources else say("report.read.none")]
    if study.sources:
        dropped = sum(n for source in study.sources for n in source.dropped.values())
        if dropped:
            finding.append(say("report.read.finding_dropped", n=dropped))
        elif any(source.n_rows for source in study.sources):
            finding.append(say("report.read.finding_all_used"))
    return Element(
        tuple(finding),
        figures=tuple(context.numbering.figure(figure) for figure in context.assessment.flow_figures),
        tables=numbered(context, _sources(context), _processed(context)),
        remarks=tuple(say(f"cautions.{key}", **values) for key, values in study.cautions),
        remarks_title=say("report.read.doubts"),
    )


def _sources(context: Context) -> Table:
    say = context.say
    keys = ("file", "table", "rows", "used", "dropped")
    heads = tuple(Head(say(f"report.read.{key}"), key in ("rows", "used")) for key in keys)
    lines = []
    for source in context.assessment.study.sources:
        reasons = [
            say("report.read.dropped_reason", n=n, reason=why) for why, n in source.dropped.items() if n
        ]
        whole = say("report.read.dropped_none" if source.n_rows else "table.empty")
        numbers = [
            Cell(say.numbers.count(n) if source.n_rows else say("table.empty"), True)
            for n in (source.n_rows, source.n_used)
        ]
        lines.append(
            Line((Cell(source.file), Cell(source.table), *numbers, Cell("; ".join(reasons) or whole)))
        )
    return Table(say("report.read.caption"), heads, tuple(lines))


def _processed(context: Context) -> Table:
    """How many outputs of each set were processed, failed, or indeterminate, where a status was handed in."""
    say = context.say
    mixes = [m for m in context.assessment.case_mixes if m.statuses]
    statuses = list(dict.fromkeys(status for m in mixes for status in m.statuses))
    heads = (Head(say("element.E03.set")), *(Head(status, True) for status in statuses))
    lines = tuple(
        Line((Cell(m.name), *(Cell(say.numbers.count(m.statuses.get(s, 0)), True) for s in statuses)))
        for m in mixes
    )
    return Table(say("element.E06.caption"), heads, lines)


def missing(context: Context) -> Element | None:
    """Readings that the design asks for and that are not there; what the checks say about them."""
    flows, checks = context.assessment.flows, checked(context, MISSING)
    if not flows and checks is None:
        return None
    absent = [sum(flow.missing.values()) for flow in flows if flow.missing is not None]
    finding = (context.say("element.E09.finding", n=sum(absent)),) if absent else ()
    tables = numbered(context, _readings(context)) if flows else ()
    return replace(checks or Element(), finding=finding, tables=tables)


def _readings(context: Context) -> Table:
    say, flows = context.say, context.assessment.flows
    keys = ("task", "arm", "readers", "cases", "present", "expected", "missing")
    heads = tuple(Head(say(f"report.read.{key}"), i > 1) for i, key in enumerate(keys))
    several = len(flows) > 1
    lines = []
    for flow in flows:
        task = flow.task if several else say("report.read.the_task")
        for arm, present in flow.readings.items():
            if flow.missing is None:
                absent, aside = say("table.empty"), say("report.read.missing_by_design")
            else:
                absent, aside = say.numbers.count(flow.missing[arm]), ""
            counts = (flow.n_readers, flow.n_cases, present, flow.expected)
            numbers = (Cell(say.numbers.count(n), True) for n in counts)
            lines.append(Line((Cell(task, aside=aside), Cell(arm), *numbers, Cell(absent, True))))
    return Table(say("report.read.missing_caption"), heads, tuple(lines))


# ---------------------------------------------------------------- who the cases were


def mix(context: Context) -> Element | None:
    """The characteristics of the cases, set beside set."""
    mixes = [m for m in context.assessment.case_mixes if m.characteristics]
    if not mixes:
        return None
    say = context.say
    finding = [say("element.E07.finding", n=len(_names(mixes)))]
    tables = [_side_by_side(mixes[i : i + SETS_BESIDE], say) for i in range(0, len(mixes), SETS_BESIDE)]
    return Element(tuple(finding), tables=numbered(context, *tables))


def _names(mixes: Sequence[CaseMix]) -> list[str]:
    return list(dict.fromkeys(c.name for m in mixes for c in m.characteristics))


def _side_by_side(mixes: Sequence[CaseMix], say: Catalogue) -> Table:
    heads = (
        Head(say("element.E07.characteristic")),
        Head(say("element.E07.level")),
        *(Head(m.name or say("report.read.the_task"), True) for m in mixes),
    )
    known = [m.positive + m.negative for m in mixes]
    shares = [_share(m.positive, n, say) for m, n in zip(mixes, known)]
    lines = [Line((Cell(say("element.E07.condition")), Cell(""), *(Cell(text, True) for text in shares)))]
    for name in _names(mixes):
        columns = [next((c for c in m.characteristics if c.name == name), None) for m in mixes]
        for i, (level, cells) in enumerate(_rows(columns, [m.n for m in mixes], say)):
            lines.append(
                Line(
                    (
                        Cell(_spelled(name) if i == 0 else ""),
                        Cell(level),
                        *(Cell(text, True) for text in cells),
                    )
                )
            )
    return Table(say("element.E07.caption"), heads, tuple(lines))


def _rows(
    columns: Sequence[Characteristic | None], sizes: Sequence[int], say: Catalogue
) -> Iterator[tuple[str, list[str]]]:
    empty = say("table.empty")
    if any(c and c.quartiles for c in columns):
        yield (
            say("element.E07.quartiles"),
            [
                say("element.E07.median", middle=c.quartiles[0], low=c.quartiles[1], high=c.quartiles[2])
                if c and c.quartiles
                else empty
                for c in columns
            ],
        )
    for level in dict.fromkeys(name for c in columns if c for name in c.levels):
        yield level, [_share(c.levels.get(level, 0), n, say) if c else empty for c, n in zip(columns, sizes)]
    if any(c and c.unknown for c in columns):
        yield (
            say("element.E07.unknown"),
            [_share(c.unknown, n, say) if c else empty for c, n in zip(columns, sizes)],
        )


def _share(k: int, n: int, say: Catalogue) -> str:
    return say("element.E07.share", k=k, share=share(k, n)) if n else say("table.empty")


# ---------------------------------------------------------------- what the checks say


def checked(context: Context, checks: Sequence[str]) -> Element | None:
    """What these checks found, what they looked for in vain, and which of them could not run."""
    say = context.say
    outcomes = [o for o in context.assessment.checks if o.check in checks]
    fired = [o for o in outcomes if o.status == "fired"]
    found = {o.check for o in fired}
    clear = sorted({o.check for o in outcomes if o.status == "clear"} - found)
    idle = {o.check: o for o in outcomes if o.status == "cannot run"}
    quiet = [say("element.clear", names=[_titled(c, say) for c in clear])] if clear else []
    quiet += [
        say("element.cannot_run", name=_titled(check, say), reason=say(o.message))
        for check, o in idle.items()
    ]
    if not outcomes:
        return None
    return Element(limits=tuple(listed(limits(fired, say), say)), quiet=tuple(quiet))


def _titled(check: str, say: Catalogue) -> str:
    return say("word.with_id", text=say(f"checks.{check}.title"), id=check)


# ---------------------------------------------------------------- errors


def failures(context: Context) -> Element | None:
    """Misses and false alarms of each device or arm, and where they lie."""
    found = context.assessment.errors
    if not found:
        return None
    say = context.say
    heads = (
        Head(say("element.E23.set")),
        Head(say("element.E23.level")),
        Head(say("element.E23.missed"), True),
        Head(say("element.E23.alarms"), True),
    )
    shown = found
    if len(found) > SETS_BESIDE:
        shown = (*(replace(one, by=()) for one in found), *_together(found, say))
    lines = tuple(line for one in shown for line in _error_lines(one, say))
    total = sum(one.missed + one.false_alarms for one in found)
    finding = say("element.E23.finding", n=total, of=sum(one.positives + one.negatives for one in found))
    young = (say(one) for one in immature(context.assessment.study, context.assessment.plan))
    table = Table(say("element.E23.caption"), heads, lines)
    # Crossed with the rest of what is known, the group that stands out is named there, and may be another.
    crossed = any(part.element == "where" for f in context.assessment.findings for part in f.parts)
    apart = () if crossed else _largest_gaps(context)
    return Element((finding, *apart, *young), tables=numbered(context, table))


def _largest_gaps(context: Context) -> Iterator[str]:
    """The characteristic by which the errors of each device lie furthest apart, or that none stands out."""
    say, assessment = context.say, context.assessment
    level = assessment.plan.report.confidence_level
    by_device = [one for one in assessment.errors if one.who not in assessment.study.arms and one.by]
    found = list(largest_differences(by_device, level))
    for gap in found:
        shares = {f"{key}_{w}": v for w in ("worst", "best") for key, v in _counted(getattr(gap, w))}
        said = say(f"element.E23.{gap.kind}_apart", name=_spelled(gap.name), level=level, **shares)
        yield say("report.section.of_part", part=gap.who, sentence=said) if gap.who else said
    if by_device and not found:
        yield say("element.E23.none_apart", level=level)


def _counted(one: Share) -> Iterator[tuple[str, Any]]:
    yield from (("level", one.level), ("k", one.k), ("n", one.n), ("share", share(one.k, one.n)))


def _spelled(column: str) -> str:
    """The name of a column as a word of a sentence."""
    return column.replace("_", " ")


def _together(found: Sequence[Errors], say: Catalogue) -> Iterator[Errors]:
    """The errors of each device or arm over all sets."""
    for who in dict.fromkeys(one.who for one in found):
        own = [one for one in found if one.who == who]
        if len(own) < 2:
            yield from (one for one in own if one.by)
            continue
        counts: dict[tuple[str, str], list[int]] = {}
        for one in own:
            for name, level, *numbers in one.by:
                so_far = counts.setdefault((name, level), [0] * 4)
                counts[name, level] = [a + b for a, b in zip(so_far, numbers)]
        by = tuple((name, level, a, b, c, d) for (name, level), (a, b, c, d) in counts.items())
        yield Errors(
            say("element.E23.together"),
            who,
            sum(one.positives for one in own),
            sum(one.missed for one in own),
            sum(one.negatives for one in own),
            sum(one.false_alarms for one in own),
            by,
        )


def _error_lines(one: Errors, say: Catalogue) -> Iterator[Line]:
    named = " · ".join(filter(None, (one.name, one.who))) or say("report.read.the_task")

    def line(head: str, level: str, counts: Sequence[int], *, leads: bool = False) -> Line:
        positives, missed, negatives, alarms = counts
        shown = (_share(missed, positives, say), _share(alarms, negatives, say))
        return Line((Cell(head), Cell(level), *(Cell(text, True) for text in shown)), leads)

    total = (one.positives, one.missed, one.negatives, one.false_alarms)
    yield line(named, say("element.E23.all"), total, leads=bool(one.by))
    for name, level, *counts in one.by:
        yield line("", say("element.E23.of", name=_spelled(name), level=level), counts)


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    "E03": sets,
    "E06": read,
    "E07": mix,
    "E09": missing,
    "E10": partial(checked, checks=ENOUGH),
    "E11": partial(checked, checks=INDEPENDENT),
    "E23": failures,
}
