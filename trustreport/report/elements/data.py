"""The data: sets, files, who the cases were, what is missing, whether there is enough, what went wrong."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations
from typing import Any, Literal

from trustreport.assessment.case_mix import PARTICIPANTS, CaseMix, Characteristic, Errors
from trustreport.assessment.finding import Figure
from trustreport.assessment.narrative.periods import immature
from trustreport.assessment.performance.labels import why_labels_err
from trustreport.measures.proportion import wilson
from trustreport.report import declared
from trustreport.report.answer.limits import listed
from trustreport.report.declared import day
from trustreport.report.elements.element import Context, Element, groups_of, numbered
from trustreport.report.tables import Cell, Head, Line, Table, heads, line_of, number_cells
from trustreport.vocabulary.digits import share
from trustreport.vocabulary.messages import Catalogue

SETS_BESIDE = 4  # devices whose errors stand in one table
MIXES_BESIDE = 6  # sets whose characteristics stand as columns; more stand below each other
MISSING = ("P19", "P20", "P03")
ENOUGH = ("P39", "P37", "P44")
INDEPENDENT = ("P09", "P10", "P11", "P61")
CHECKED = {"E09": MISSING, "E10": ENOUGH, "E11": INDEPENDENT}
Kind = Literal["missed", "alarms"]


@dataclass(frozen=True, slots=True)
class Share:
    """`k` errors in `n` cases of one level of a characteristic."""

    level: str
    k: int
    n: int


@dataclass(frozen=True, slots=True)
class LargestDifference:
    """The two levels of a characteristic that lie furthest apart."""

    kind: Kind
    who: str
    name: str
    worst: Share
    best: Share


def sets(context: Context) -> Element | None:
    """A line for each set of cases, then what was declared of it."""
    say, assessment = context.say, context.assessment
    none = say("word.not_declared")
    declared_of = {d.dataset: d for d in assessment.plan.datasets}
    lines = []
    for mix in assessment.case_mixes:
        facts = declared_of.get(mix.name)
        counts = [say.numbers.count(n) for n in (mix.n, mix.positive, mix.negative, mix.without_truth)]
        if mix.followed:
            counts[1:] = [say("table.empty")] * 3
        role = declared.text(mix.role, say) if mix.role else say("element.E03.readings")
        lines.append(
            line_of(
                Cell(mix.name or say("report.read.the_task"), aside=role),
                *number_cells(counts),
                declared.text(facts.sampling, say) if facts and facts.sampling else none,
                (_dates(facts.start_date, facts.end_date, say) if facts else "") or none,
            )
        )
    columns = heads(
        say,
        "element.E03",
        "set cases positive negative without sampling dates",
        numeric="cases positive negative without",
    )
    if why_labels_err(assessment.plan) is not None:
        by_labels = heads(
            say, "element.E03", "label_positive label_negative", "label_positive label_negative"
        )
        columns = (*columns[:2], *by_labels, *columns[4:])
    groups = groups_of(context, "E03")
    if not lines and not groups:
        return None
    total = sum(m.n for m in assessment.case_mixes)
    finding = (say("element.E03.finding", n=len(lines), cases=total),) if lines else ()
    table = Table(say("element.E03.caption"), columns, tuple(lines))
    return Element(finding, groups, tables=numbered(context, table))


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
        figures=tuple(context.numbering.figure(f) for f in _flows(context, of_participants=False)),
        tables=numbered(
            context,
            _sources(context),
            _sites(context),
            _queries(context),
            _exports(context),
            _processed(context),
        ),
        remarks=tuple(say(f"cautions.{key}", **values) for key, values in study.cautions),
        remarks_title=say("report.read.doubts"),
    )


def _flows(context: Context, *, of_participants: bool) -> list[Figure]:
    """The figures of participants, or those of readings."""
    drawn = [f for f in context.assessment.flow_figures if f.id in context.drawn]
    return [f for f in drawn if f.id.startswith(PARTICIPANTS) == of_participants]


def participants(context: Context) -> Element | None:
    """The flow from eligible cases to the cells of device by reference, set beside set."""
    figures = _flows(context, of_participants=True)
    if not figures:
        return None
    return Element(figures=tuple(map(context.numbering.figure, figures)))


def _sources(context: Context) -> Table:
    say = context.say
    lines = []
    for source in context.assessment.study.sources:
        reasons = [
            say("report.read.dropped_reason", n=n, reason=why) for why, n in source.dropped.items() if n
        ]
        empty, whole = say("table.empty"), say("report.read.dropped_none")
        counts = [say.numbers.count(n) for n in (source.n_rows, source.n_used)]
        shown = number_cells(counts if source.n_rows else [empty, empty])
        dropped = say.between.join(reasons) or (whole if source.n_rows else empty)
        lines.append(line_of(source.file, source.table, *shown, dropped))
    columns = heads(say, "report.read", "file table rows used dropped", numeric="rows used")
    return Table(say("report.read.caption"), columns, tuple(lines))


def _sites(context: Context) -> Table | None:
    """The sites that gave files in place of rows: who signed each, and what it withheld."""
    say, pooled = context.say, context.assessment.study.pooled
    if pooled is None:
        return None
    lines = []
    for one in pooled.files:
        kept = {(w.dataset, w.what) for w in one.summary.withheld}
        withheld = [
            say("report.sites.of_set", what=say(f"report.sites.{w}"), name=d) for d, w in sorted(kept)
        ]
        rule = say.numbers.count(one.summary.rules.fewest)
        signer = one.signer or say("report.sites.unverified")
        shown = say.between.join(withheld) or say("report.sites.nothing")
        lines.append(line_of(one.summary.site, one.name, signer, *number_cells([rule]), shown))
    columns = heads(say, "report.sites", "site file signer fewest withheld", numeric="fewest")
    return Table(say("report.sites.caption"), columns, tuple(lines))


def _queries(context: Context) -> Table:
    """What the tables that come from databases were asked for with."""
    say, lines = context.say, []
    for source in context.assessment.study.sources:
        if (query := source.query) is not None:
            given = say.between.join(f"{name} = {value}" for name, value in query.parameters.items())
            text = " ".join(query.sql.split())
            shown = (query.database, text, given or say("table.empty"), declared.short_hash(source.sha256))
            lines.append(line_of(source.file, *shown))
    columns = heads(say, "report.read", "file database query parameters sha256")
    return Table(say("report.read.queries_caption"), columns, tuple(lines))


def _exports(context: Context) -> Table:
    """The exports in folders and buckets that tables were read from."""
    say, lines = context.say, []
    for source in context.assessment.study.sources:
        if (export := source.export) is not None:
            shown = (export.source, export.newest, export.file, export.modified or say("table.empty"))
            lines.append(line_of(source.file, *shown, declared.short_hash(source.sha256)))
    columns = heads(say, "report.read", "file export_source newest export modified sha256")
    return Table(say("report.read.exports_caption"), columns, tuple(lines))


def _processed(context: Context) -> Table:
    """How many outputs of each set were processed, failed, or indeterminate, where a status was provided."""
    say = context.say
    mixes = [m for m in context.assessment.case_mixes if m.statuses]
    statuses = list(dict.fromkeys(status for m in mixes for status in m.statuses))
    columns = (Head(say("element.E03.set")), *(Head(status, True) for status in statuses))
    lines = tuple(
        line_of(m.name, *number_cells(say.numbers.count(m.statuses.get(s, 0)) for s in statuses))
        for m in mixes
    )
    return Table(say("element.E06.caption"), columns, lines)


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
    lines = []
    for flow in flows:
        task = flow.task if len(flows) > 1 else say("report.read.the_task")
        aside = say("report.read.missing_by_design") if flow.missing is None else ""
        for arm, present in flow.readings.items():
            counts = [flow.n_readers, flow.n_cases, present, flow.expected]
            counts += [] if flow.missing is None else [flow.missing[arm]]
            shown = [*map(say.numbers.count, counts)] + [say("table.empty")] * (flow.missing is None)
            lines.append(line_of(Cell(task, aside=aside), say.declared(arm), *number_cells(shown)))
    columns = heads(
        say,
        "report.read",
        "task arm readers cases present expected missing",
        numeric="readers cases present expected missing",
    )
    return Table(say("report.read.missing_caption"), columns, tuple(lines))


# ---------------------------------------------------------------- who the cases were


def mix(context: Context) -> Element | None:
    """The characteristics of the cases, set beside set."""
    mixes = [m for m in context.assessment.case_mixes if m.characteristics]
    if not mixes:
        return None
    say = context.say
    tables = [_side_by_side(mixes[i : i + MIXES_BESIDE], say) for i in range(0, len(mixes), MIXES_BESIDE)]
    return Element(tables=numbered(context, *tables))


def _names(mixes: Sequence[CaseMix]) -> list[str]:
    return list(dict.fromkeys(c.name for m in mixes for c in m.characteristics))


def _side_by_side(mixes: Sequence[CaseMix], say: Catalogue) -> Table:
    columns = (
        *heads(say, "element.E07", "characteristic level"),
        *(Head(_with_size(m, say), True) for m in mixes),
    )
    shares = (_share(m.positive, m.positive + m.negative, say) for m in mixes)
    lines = [line_of(say("element.E07.condition"), "", *number_cells(shares))]
    for name in _names(mixes):
        own = [next((c for c in m.characteristics if c.name == name), None) for m in mixes]
        for i, (level, cells) in enumerate(_rows(own, [m.n for m in mixes], say)):
            lines.append(line_of(_spelled(name, say) if i == 0 else "", level, *number_cells(cells)))
    return Table(say("element.E07.caption"), columns, tuple(lines))


def _with_size(mix: CaseMix, say: Catalogue) -> str:
    return say("element.E07.set", name=mix.name or say("report.read.the_task"), n=mix.n)


def _rows(
    columns: Sequence[Characteristic | None], sizes: Sequence[int], say: Catalogue
) -> Iterator[tuple[str, list[str]]]:
    """The levels of a characteristic, each with the cell of every set."""
    empty, both = say("table.empty"), list(zip(columns, sizes))
    if any(c and c.quartiles for c in columns):
        medians = [c.quartiles if c else None for c in columns]
        texts = [
            say("element.E07.median", middle=own[0], low=own[1], high=own[2]) if own else empty
            for own in medians
        ]
        yield say("element.E07.quartiles"), texts
    for level in dict.fromkeys(name for c in columns if c for name in c.levels):
        yield level, [_share(c.levels.get(level, 0), n, say) if c else empty for c, n in both]
    if any(c and c.unknown for c in columns):
        yield say("element.E07.unknown"), [_share(c.unknown, n, say) if c else empty for c, n in both]


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
    if not context.on_screen:
        # On paper each warning is printed once, with the question that it is about.
        answered = {finding.dimension for finding in context.assessment.findings}
        fired = [o for o in fired if o.dimension not in answered]
    return Element(limits=tuple(listed(fired, say)), quiet=tuple(quiet))


def _titled(check: str, say: Catalogue) -> str:
    return say("word.with_id", text=say(f"checks.{check}.title"), id=check)


# ---------------------------------------------------------------- errors


def failures(context: Context) -> Element | None:
    """Misses and false alarms of each device or arm, and where they lie."""
    found = context.assessment.errors
    if not found:
        return None
    say = context.say
    columns = heads(say, "element.E23", "set level missed alarms", numeric="missed alarms")
    shown = found
    if len(found) > SETS_BESIDE:
        shown = (*(replace(one, by=()) for one in found), *_together(found, say))
    lines = tuple(line for one in shown for line in _error_lines(one, say))
    total = sum(one.missed + one.false_alarms for one in found)
    finding = say("element.E23.finding", n=total, of=sum(one.positives + one.negatives for one in found))
    young = (say(one) for one in immature(context.assessment.study, context.assessment.plan))
    caption = say("element.E23.caption")
    if why_labels_err(context.assessment.plan) is not None:
        caption = say("against_labels.caption", caption=caption)
    table = Table(caption, columns, lines)
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
        shares: dict[str, Any] = {}
        for which, one in (("worst", gap.worst), ("best", gap.best)):
            shares |= {f"level_{which}": one.level, f"k_{which}": one.k, f"n_{which}": one.n}
            shares[f"share_{which}"] = share(one.k, one.n)
        said = say(f"element.E23.{gap.kind}_apart", name=_spelled(gap.name, say), level=level, **shares)
        yield say("report.section.of_part", part=gap.who, sentence=said) if gap.who else said
    if by_device and not found:
        yield say("element.E23.none_apart", level=level)


def _spelled(column: str, say: Catalogue) -> str:
    """The name of a column as a word of a sentence."""
    return say.declared(column.replace("_", " "))


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
        totals = ("positives", "missed", "negatives", "false_alarms")
        sums = {name: sum(getattr(one, name) for one in own) for name in totals}
        yield Errors(say("element.E23.together"), who, **sums, by=by)


def _error_lines(one: Errors, say: Catalogue) -> Iterator[Line]:
    named = " · ".join(filter(None, (one.name, one.who))) or say("report.read.the_task")

    def line(head: str, level: str, counts: Sequence[int], *, leads: bool = False) -> Line:
        positives, missed, negatives, alarms = counts
        shown = (_share(missed, positives, say), _share(alarms, negatives, say))
        return line_of(head, level, *number_cells(shown), leads=leads)

    total = (one.positives, one.missed, one.negatives, one.false_alarms)
    yield line(named, say("element.E23.all"), total, leads=bool(one.by))
    for name, level, *counts in one.by:
        yield line("", say("element.E23.of", name=_spelled(name, say), level=level), counts)


ELEMENTS: dict[str, Callable[[Context], Element | None]] = {
    "participants": participants,
    "E03": sets,
    "E06": read,
    "E07": mix,
    "E09": missing,
    "E10": partial(checked, checks=ENOUGH),
    "E11": partial(checked, checks=INDEPENDENT),
    "E23": failures,
}


def largest_differences(found: Sequence[Errors], level: float) -> Iterator[LargestDifference]:
    """The largest gap of each device, in missed cases and in false alarms, all its sets taken together.

    Only levels whose Wilson intervals at `level` do not overlap are held against each other; a device
    without such a pair has none. Each case counts once, so what readers decided is not for this.
    """
    for who in dict.fromkeys(one.who for one in found):
        own = [one for one in found if one.who == who]
        for kind, at in (("missed", 0), ("alarms", 2)):
            largest = _largest(own, at, level)
            if largest:
                name, worst, best = largest
                yield LargestDifference("missed" if kind == "missed" else "alarms", who, name, worst, best)


def _largest(found: Sequence[Errors], at: int, level: float) -> tuple[str, Share, Share] | None:
    counts: dict[str, dict[str, list[int]]] = {}
    for one in found:
        for name, label, *numbers in one.by:
            so_far = counts.setdefault(name, {}).setdefault(label, [0, 0])
            so_far[0] += numbers[at]
            so_far[1] += numbers[at + 1]
    pairs = []
    for name, labels in counts.items():
        shares = [Share(label, k, n) for label, (n, k) in labels.items() if n]
        ends = {s.level: wilson(s.k, s.n, level) for s in shares}
        pairs += [
            (name, worst, best)
            for worst, best in permutations(shares, 2)
            if ends[worst.level].low > ends[best.level].high
        ]
    return max(pairs, key=lambda p: p[1].k / p[1].n - p[2].k / p[2].n, default=None)
