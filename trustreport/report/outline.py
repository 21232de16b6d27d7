"""The outlines of the three kinds of report: chapters in order, and what stands in each."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from trustreport.assessment import Assessment
from trustreport.finding import Part
from trustreport.messages import Catalogue
from trustreport.plan import Kind
from trustreport.report.elements import ELEMENTS, GROUPS_OF, Context, Element, Place
from trustreport.report.numbering import ROWS_ON_PAPER, Numbering
from trustreport.report.sections import PartView, Section, part_view, section

# What stands in each chapter: elements by id, answers of a dimension by its name. A part of a dimension that
# carries the id of an element stands there if the outline has that element, else with its dimension.
# "rest" is what was declared and stands nowhere else.
OUTLINES: Mapping[Kind, Mapping[str, tuple[str, ...]]] = {
    "certification": {
        "device": ("E01", "E02"),
        "prespecification": ("E05", "E44"),
        "data": ("E03", "E06", "E07", "E08", "source_reliability", "E09", "E10", "E11"),
        "technical": ("advice_accuracy", "reported", "advice_value", "candidates", "E22"),
        "external": ("potential_robustness", "vigilance"),
        "readers": ("E04", "E24", "pragmatic_utility", "decision_benefit", "reliance"),
        "groups": ("subgroups", "E23"),
        "acceptance": ("E31", "E34"),
        "limits": ("E45", "feedback", "open", "undeclared"),
        "annexes": ("local_readers", "E46", "E47", "E48", "E49", "E50", "rest"),
    },
    "procurement": {
        "fit": ("E01", "E02", "E07"),
        "claims": ("E34", "advice_accuracy", "reported", "advice_value"),
        "candidates": ("candidates", "E09"),
        "readers": ("local_readers", "E04", "E24", "pragmatic_utility", "decision_benefit", "reliance"),
        "groups": ("subgroups", "potential_robustness", "E23"),
        "patients": ("E35",),
        "evidence": ("E03", "E06", "E08", "source_reliability", "E10", "E11", "E45", "open", "undeclared"),
        "conditions": ("E31", "E05", "E44", "vigilance"),
        "elsewhere": ("E22", "feedback", "E50", "E46", "E47", "E48", "E49", "rest"),
    },
    "vigilance": {
        "exposure": ("E36", "E44", "E01", "E02"),
        "data": ("E03", "E06", "E08", "source_reliability", "E09"),
        "performance": (
            "since",
            "vigilance",
            "where",
            "E31",
            "E34",
            "advice_accuracy",
            "reported",
            "advice_value",
            "candidates",
        ),
        "warnings": ("E38", "E07", "potential_robustness"),
        "charts": ("E39",),
        "people": ("E41", "E04", "E24", "pragmatic_utility", "decision_benefit", "reliance"),
        "groups": ("subgroups", "E23"),
        "incidents": ("E42",),
        "signals": ("E43",),
        "feedback": (
            "feedback",
            "E22",
            "local_readers",
            "E45",
            "open",
            "undeclared",
            "E05",
            "E10",
            "E11",
            "E46",
            "E47",
            "E48",
            "E49",
            "E50",
            "rest",
        ),
    },
}

LAST = "E46"  # says where the others stand, so it is made when they are


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


@dataclass(frozen=True)
class Chapter:
    """A chapter: its question, what stands in it, what of it stays open, and what it does not show."""

    anchor: str
    number: str
    title: str
    question: str
    items: tuple[Section | ElementView, ...]
    open: tuple[tuple[str, str], ...]
    not_shown: str


def chapters(
    assessment: Assessment,
    drawn: Mapping[str, bytes],
    say: Catalogue,
    *,
    on_screen: bool,
    provenance: Mapping[str, Any],
) -> tuple[Chapter, ...]:
    """The chapters of a report of this kind, numbered from 1."""
    kind = assessment.plan.report.kind
    outline = OUTLINES[kind]
    placed = {name for names in outline.values() for name in names}
    standing: dict[str, Place] = {}
    contexts, made = [], []
    for number, names in enumerate(outline.values(), 1):
        numbering = Numbering(str(number), drawn, say, None if on_screen else ROWS_ON_PAPER)
        context = Context(assessment, drawn, say, numbering, on_screen, provenance, standing, placed)
        items = {word: _items(word, context, placed) for word in names if word != LAST}
        standing |= {word: _place(str(number), view) for word, views in items.items() for view in views}
        contexts.append(context)
        made.append(items)
    found = []
    for number, (name, names) in enumerate(outline.items(), 1):
        context, items = contexts[number - 1], made[number - 1]
        if LAST in names:
            items[LAST] = _items(LAST, context, placed)
        open_ = tuple(
            (say(f"{u.dimension}.title"), say(u.reason))
            for u in assessment.unanswered
            if u.dimension in names
        )
        found.append(
            Chapter(
                f"chapter-{name}",
                str(number),
                say(f"outline.{kind}.{name}.title"),
                say(f"outline.{kind}.{name}.question"),
                tuple(item for word in names for item in items[word]),
                open_,
                say(f"outline.{kind}.{name}.not_shown"),
            )
        )
    return tuple(found)


def _items(word: str, context: Context, placed: set[str]) -> list[Section | ElementView]:
    """What stands under one word of an outline; nothing where the study has nothing for it."""
    assessment, say = context.assessment, context.say
    for finding in assessment.findings:
        if finding.dimension == word:
            parts = tuple(part for part in finding.parts if part.element not in placed)
            return [section(replace(finding, parts=parts), assessment, context.numbering, say)]
    element = (
        _rest(context, placed) if word == "rest" else ELEMENTS[word](context) if word in ELEMENTS else None
    )
    tagged = [part for finding in assessment.findings for part in finding.parts if part.element == word]
    if element is None and not tagged:
        return []
    views = tuple(_tagged(part, f"{word}-{i}", context) for i, part in enumerate(tagged, 1))
    bare = element is None or not (element.finding or element.holds or element.groups)
    if bare and len(views) == 1:
        views = (replace(views[0], title=""),)  # under its own heading the only part needs no second one
    return [ElementView(word, say(f"element.{word}.title"), element or Element(), views)]


def _place(chapter: str, view: Section | ElementView) -> Place:
    if isinstance(view, Section):
        return Place(chapter, view.anchor, view.short)
    return Place(chapter, view.anchor, view.short, bool(view.parts) or view.element.holds)


def _tagged(part: Part, anchor: str, context: Context) -> PartView:
    return part_view(part, anchor, context.numbering, context.say)


def _rest(context: Context, placed: set[str]) -> Element | None:
    """Groups of the manifest that no element of this outline prints."""
    printed = {group for element in placed for group in GROUPS_OF.get(element, ())}
    groups = tuple(group for name, group in context.groups.items() if name not in printed)
    return Element(groups=groups) if groups else None
