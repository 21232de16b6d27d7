"""The chapters of the report and of its annex: what stands in each, in order, with its number."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from trustreport.assessment.assess import Assessment
from trustreport.assessment.finding import Column, EstimateTable, Finding, Part, PlainTable
from trustreport.report.answer.glance import DIMENSIONS
from trustreport.report.answer.limits import REMARKS, Limitation, listed
from trustreport.report.elements import (
    annexes,
    candidates,
    conclusions,
    data,
    frameworks,
    plan,
    questions,
    results,
)
from trustreport.report.elements.element import GROUPS_OF, Context, Element
from trustreport.report.numbering import ROWS_ON_PAPER, NumberedFigure, NumberedTable, Numbering, ReportPlace
from trustreport.report.outlines import (
    ANNEX,
    ELEMENTS_ON_SCREEN,
    FRONT,
    REPORT,
    SENTENCES_ALONE,
    WHOLE_IN_ANNEX,
    is_printed,
    on_screen_alone,
)
from trustreport.report.tables import table
from trustreport.study.plan import Kind
from trustreport.vocabulary.messages import Catalogue, Message

ELEMENTS: Mapping[str, Callable[[Context], Element | None]] = {
    **plan.ELEMENTS,
    **data.ELEMENTS,
    **results.ELEMENTS,
    **candidates.ELEMENTS,
    **questions.ELEMENTS,
    **annexes.ELEMENTS,
    **frameworks.ELEMENTS,
    **conclusions.ELEMENTS,
}
# These say where the others stand, so they are made when those are.
LAST = ("matrix", "E46")
# A chapter that holds nothing but one of these asks their question: it has no decisions or conditions.
ALONE = ("source_reliability", "measurement", "reader_measurement", "left_out")
# What shows a row, by the beginning of its id; the contents name it, and the row points to it.
SHOWING: Mapping[str, str] = {
    "source_reliability": "nomogram_",
    "decision_benefit": "benefit_",
    "potential_robustness": "external_performance_",
    "potential_robustness.scores": "potential_robustness_scores_",
    "advice_accuracy.h_accuracy": "h_accuracy_chart_",
}
# Tables of which each set has one; on paper they are one table.
ONE_TABLE = ("subgroups_main_",)
PRIMARY_ALONE = ("source_reliability_",)
SENTENCES = 4  # of a part that the report prints; the others stand in the annex
ROWS_IN_REPORT = 20  # of a table; a longer one is cut, and whole in the annex

Volume = Literal["report", "annex"]
# Where paper sends a reader for an element that is on screen alone.
IN_RESULTS = ReportPlace("", "", "results.json")


@dataclass(frozen=True, slots=True)
class PartView:
    """One set or task of a finding."""

    title: str
    anchor: str
    finding: tuple[str, ...]
    figures: tuple[NumberedFigure, ...]
    tables: tuple[NumberedTable, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A question of trust that was answered; `named` where it has a name in "A Question of Trust"."""

    anchor: str
    short: str
    title: str
    question: str
    template: str
    parts: tuple[PartView, ...]
    limits: tuple[Limitation, ...]
    not_shown: tuple[str, ...]
    named: bool


@dataclass(frozen=True)
class ElementView:
    """An element in its place: title, what it holds, and the parts of dimensions that belong to it."""

    anchor: str
    title: str
    element: Element
    parts: tuple[PartView, ...]

    @property
    def short(self) -> str:
        """How the contents name it."""
        return self.title

    @property
    def template(self) -> str:
        """What lays it out."""
        return self.element.template


Items = list[Section | ElementView]


@dataclass(frozen=True)
class Chapter:
    """A chapter: its question, what stands in it, what of it stays open, and its limitations."""

    anchor: str
    number: str
    title: str
    question: str
    items: tuple[Section | ElementView, ...]
    open: tuple[tuple[str, str], ...]
    limitations: str


@dataclass(frozen=True)
class Chapters:
    """The chapters of report and annex, and where in them each word of their outlines stands."""

    report: tuple[Chapter, ...]
    annex: tuple[Chapter, ...]
    standing: Mapping[str, ReportPlace]


@dataclass
class _Draft:
    """A chapter while the others are made: the words of the outline, and what stands under each."""

    name: str
    words: tuple[str, ...]
    context: Context
    items: dict[str, Items]


def chapters(
    assessment: Assessment,
    drawn: Mapping[str, bytes],
    say: Catalogue,
    *,
    on_screen: bool,
    provenance: Mapping[str, Any],
    annexed: str = "file",
) -> Chapters:
    """The chapters of a report of this kind and of its annex; a table or figure stands in one of them."""
    kind = assessment.plan.report.kind
    standing: dict[str, ReportPlace] = {}
    context = Context(
        assessment,
        drawn,
        say,
        Numbering("", drawn, say),
        on_screen,
        provenance,
        standing,
        annexed=annexed,
    )
    report = _drafts("report", REPORT[kind], context)
    annex = _drafts("annex", ANNEX[kind], context)
    for draft in (*report, *annex):
        volume: Volume = "annex" if draft.context.in_annex else "report"
        draft.items |= {w: _items(w, volume, draft.context) for w in draft.words if w in LAST}
    chapters_of_report = tuple(_volume("report", report, assessment, say))
    return Chapters(chapters_of_report, tuple(_volume("annex", annex, assessment, say)), standing)


def _drafts(volume: Volume, outline: Mapping[str, tuple[str, ...]], context: Context) -> list[_Draft]:
    """Every chapter that holds something; the numbers leave the others out."""
    say = context.say
    drafts: list[_Draft] = []
    placed = _words(outline)
    most = ROWS_IN_REPORT if volume == "report" else None if context.on_screen else ROWS_ON_PAPER
    cut = "table.cut_in_report" if volume == "report" else "table.cut"
    for name, words in outline.items():
        number = str(1 + sum(draft.name != FRONT for draft in drafts))
        if name == FRONT:
            number = say("report.front_number")
        if volume == "annex":
            number = say("report.annex.number", number=number)
        own = replace(
            context,
            numbering=Numbering(
                number, context.drawn, say, most, cut, brief=volume == "report", where=context.within
            ),
            placed=placed,
            in_annex=volume == "annex",
        )
        items = {word: _items(word, volume, own) for word in words if word not in LAST}
        open_ = volume == "annex" and any(u.dimension in words for u in context.assessment.unanswered)
        if any(items.values()) or open_ or _last(words, volume, own):
            drafts.append(_Draft(name, words, own, items))
            heading = _heading(drafts[-1], say)
            for word, views in items.items():
                for view in views:
                    # `standing` is one for both volumes: what the report holds is pointed to there.
                    context.standing.setdefault(word, _place(drafts[-1], view, heading))
        if volume == "annex" and not context.on_screen:
            for word, instead in ELEMENTS_ON_SCREEN.items():
                context.standing.setdefault(word, context.standing.get(instead, IN_RESULTS))
    return drafts


def _last(words: tuple[str, ...], volume: Volume, context: Context) -> bool:
    """Whether the words made last will hold something here: so that a chapter without any has no number."""
    trial = replace(context, numbering=Numbering("", context.drawn, context.say))
    return any(_items(word, volume, trial) for word in words if word in LAST)


def _volume(
    volume: Volume, drafts: list[_Draft], assessment: Assessment, say: Catalogue
) -> Iterator[Chapter]:
    """The chapters of a volume that hold something or leave a question open."""
    for draft in drafts:
        items = tuple(item for word in draft.words for item in draft.items[word])
        name, number = draft.name, draft.context.numbering.chapter
        if volume == "report":
            key = _texts_of(draft)
            question, limitations = say(f"{key}.question"), say(f"{key}.limitations")
            chapter = Chapter(
                f"chapter-{name}", number, _heading(draft, say), question, items, (), limitations
            )
        else:
            left = tuple(u for u in assessment.unanswered if u.dimension in draft.words)
            open_ = tuple((say(f"{u.dimension}.title"), say(u.reason)) for u in left)
            chapter = Chapter(f"annex-chapter-{name}", number, _heading(draft, say), "", items, open_, "")
        if chapter.items or chapter.open:
            yield chapter


def _heading(draft: _Draft, say: Catalogue) -> str:
    """The title of a chapter."""
    if draft.context.in_annex:
        return say(f"outline.annex.{draft.context.assessment.plan.report.kind}.{draft.name}.title")
    return say(f"{_texts_of(draft)}.title")


def _texts_of(draft: _Draft) -> str:
    """Where the catalogue has the texts of a chapter of the report; a single question has its own."""
    kind = draft.context.assessment.plan.report.kind
    held = [word for word, views in draft.items.items() if views]
    alone = len(held) == 1 and held[0] in ALONE
    return f"outline.alone.{held[0]}" if alone else f"outline.{kind}.{draft.name}"


def _items(word: str, volume: Volume, context: Context) -> Items:
    """What stands under one word of an outline; nothing where the study has nothing for it."""
    assessment, say = context.assessment, context.say
    kind = assessment.plan.report.kind
    elsewhere = _words(ANNEX[kind]) | (_words(REPORT[kind]) if volume == "report" else set())
    for finding in assessment.findings:
        if finding.dimension == word:
            own = [part for part in finding.parts if part.element not in elsewhere]
            parts = tuple(shown for part in own if (shown := _of_volume(part, word, volume, kind)))
            if volume == "annex" and not context.on_screen:
                parts = _on_paper(parts)
            whole = replace(finding, parts=parts)
            # What checks found of a dimension is in the annex, whatever the report prints of it.
            stands = parts or (volume == "annex" and any(assessment.fired(word)))
            most = REMARKS if context.on_screen else 1
            return [section(whole, assessment, context.numbering, say, volume, most)] if stands else []
    element = None
    if volume == "annex" and not context.on_screen and word in ELEMENTS_ON_SCREEN:
        return []
    if word == "rest":
        element = _rest(context)
    elif word in ELEMENTS and (volume == "report" or word not in _printed(assessment)):
        element = ELEMENTS[word](context)
    tagged = [
        shown
        for finding in assessment.findings
        for part in finding.parts
        if part.element == word and (shown := _of_volume(part, finding.dimension, volume, kind))
    ]
    bare = element is None or not (element.finding or element.holds or element.groups)
    if bare and not tagged:
        return []
    shared = word in _printed(assessment) or word in WHOLE_IN_ANNEX
    anchor = f"annex-{word}" if volume == "annex" and shared else word
    views = tuple(
        part_view(part, f"{anchor}-{i}", context.numbering, say) for i, part in enumerate(tagged, 1)
    )
    if bare and len(views) == 1:
        views = (replace(views[0], title=""),)  # under its own heading the only part needs no second one
    return [ElementView(anchor, say(f"element.{word}.title"), element or Element(), views)]


def _words(outline: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    return frozenset(word for words in outline.values() for word in words)


def _printed(assessment: Assessment) -> frozenset[str]:
    """The words of the report's own outline."""
    return _words(REPORT[assessment.plan.report.kind]) - {*WHOLE_IN_ANNEX}


def _of_volume(part: Part, dimension: str, volume: Volume, kind: Kind) -> Part | None:
    """What a volume shows of a part: the report the chosen tables and figures, the annex all others.

    It is all in the annex where the report's outline has neither its element nor its dimension. Of a part of
    which the report prints something it prints the first sentences too.
    """
    in_report, word = volume == "report", part.element
    if not word or word not in _words(REPORT[kind]) | _words(ANNEX[kind]):
        word = dimension
    has_word = word in _words(REPORT[kind])

    def printed(id: str) -> bool:
        return has_word and is_printed(id, kind)

    tables = tuple(t for t in part.tables if printed(t.id) == in_report)
    if not in_report:
        tables += tuple(t for t in part.tables if printed(t.id) and len(t.rows) > ROWS_IN_REPORT)
    figures = tuple(f for f in part.figures if printed(f.id) == in_report)
    told = any(map(printed, (*(t.id for t in part.tables), *(f.id for f in part.figures))))
    told = told or (has_word and part.element in SENTENCES_ALONE)
    told = told or (has_word and not (part.tables or part.figures or not part.element))
    if in_report:
        finding = part.finding[:SENTENCES] if told else ()
    else:
        finding = part.finding[SENTENCES:] if told else part.finding
    if not (tables or figures or (finding and (told or not in_report))):
        return None
    return replace(part, finding=finding, tables=tables, figures=figures)


def _on_paper(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts without what is on screen alone, and nothing of those that it is all of.

    Tables of the same columns, one for each set, become one table with the sets as its first column.
    """
    kept, alike = [], dict[tuple[str, tuple[Column, ...]], list[tuple[Part, PlainTable]]]()
    for part in parts:
        tables = [_primary(t) for t in part.tables if not on_screen_alone(t.id)]
        figures = tuple(f for f in part.figures if not on_screen_alone(f.id))
        for t in [t for t in tables if isinstance(t, PlainTable) and t.id.startswith(ONE_TABLE)]:
            alike.setdefault((t.id.rpartition("_")[0], t.columns), []).append((part, t))
            tables.remove(t)
        all_gone = (part.tables or part.figures) and not (tables or figures)
        if not all_gone:
            kept.append(replace(part, tables=tuple(tables), figures=figures))
    for (id, columns), of_sets in alike.items():
        heads = (Column(Message("table.set")), *columns)
        rows = tuple((part.title or "", *row) for part, t in of_sets for row in t.rows)
        kept.append(Part((), tables=(PlainTable(f"{id}_sets", of_sets[0][1].caption, heads, rows),)))
    return tuple(kept)


def _primary(table: EstimateTable | PlainTable) -> EstimateTable | PlainTable:
    """A table of coefficients of agreement without the analyses that stand beside the primary ones."""
    if not (isinstance(table, EstimateTable) and table.id.startswith(PRIMARY_ALONE)):
        return table
    return replace(table, rows=tuple(row for row in table.rows if row.result.primary))


def _place(draft: _Draft, view: Section | ElementView, heading: str) -> ReportPlace:
    holds = isinstance(view, Section) or bool(view.parts) or view.element.holds
    number, in_annex = draft.context.numbering.chapter, draft.context.in_annex
    return ReportPlace(number, view.anchor, view.short, holds, heading, in_annex)


def _rest(context: Context) -> Element | None:
    """Groups of the manifest that no element of this outline prints."""
    printed = {group for element in context.placed for group in GROUPS_OF.get(element, ())}
    groups = tuple(group for name, group in context.groups.items() if name not in printed)
    return Element(groups=groups) if groups else None


def section(
    finding: Finding, assessment: Assessment, numbering: Numbering, say: Catalogue, volume: str, most: int
) -> Section:
    """What a dimension found, its tables and figures numbered in the order in which they stand.

    In the annex with what checks found and what the numbers do not show; the report has a chapter for the
    one, and a line in each chapter for the other. A check that speaks of many places speaks of the `most`.
    """
    name, in_annex = finding.dimension, volume == "annex"
    anchor = f"annex-{name}" if in_annex else name
    return Section(
        anchor,
        say(f"{name}.short"),
        say(f"{name}.title"),
        say(f"{name}.question") if in_annex else "",
        f"dimensions/{name}.html.j2" if in_annex else "report/section.html.j2",
        tuple(part_view(part, f"{anchor}-{i}", numbering, say) for i, part in enumerate(finding.parts, 1)),
        tuple(listed(assessment.fired(name), say, most)) if in_annex else (),
        tuple(say(text) for text in finding.not_shown) if in_annex else (),
        name in DIMENSIONS,
    )


def part_view(part: Part, anchor: str, numbering: Numbering, say: Catalogue) -> PartView:
    """A part of a finding, ready to be laid out."""
    return PartView(
        say(part.title) if part.title else "",
        anchor,
        tuple(say(text) for text in part.finding),
        tuple(numbering.figure(figure, part.tables) for figure in part.figures),
        tuple(numbering.table(table(source, say, brief=numbering.brief)) for source in part.tables),
    )


@dataclass(frozen=True, slots=True)
class Landmark:
    """A diagram or table that has a name in the papers, and where it stands."""

    word: str
    name: str
    place: ReportPlace


def landmarks(chapters: Iterable[Chapter], say: Catalogue) -> Iterator[Landmark]:
    """What the papers name, the first of each, in the order of the chapters."""
    words = dict(SHOWING)
    for chapter in chapters:
        for part in (part for item in chapter.items for part in item.parts):
            shown = [(f.id, f.anchor) for f in part.figures] + [(t.table.id, t.anchor) for t in part.tables]
            for id, anchor in shown:
                for word in [word for word, beginning in words.items() if id.startswith(beginning)]:
                    del words[word]
                    name = say(f"glance.shows.{word.rpartition('.')[2]}")
                    yield Landmark(word, name, ReportPlace(chapter.number, anchor, name))
