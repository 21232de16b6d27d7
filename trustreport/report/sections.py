"""The sections that answer a question of trust: texts, numbered figures and tables, ready to be laid out."""

from dataclasses import dataclass

from trustreport.assessment.assess import Assessment
from trustreport.assessment.finding import Finding, Part
from trustreport.report.answer.glance import DIMENSIONS
from trustreport.report.answer.limits import Limitation, limits, listed
from trustreport.report.numbering import NumberedFigure, NumberedTable, Numbering
from trustreport.report.tables import table
from trustreport.vocabulary.messages import Catalogue


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


def section(
    finding: Finding, assessment: Assessment, numbering: Numbering, say: Catalogue, volume: str
) -> Section:
    """What a dimension found, its tables and figures numbered in the order in which they stand.

    In the annex with what checks found and what the numbers do not show; the report has a chapter for the
    one, and a line in each chapter for the other.
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
        tuple(listed(limits(assessment.fired(name), say), say)) if in_annex else (),
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
