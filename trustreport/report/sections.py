"""The sections that answer a question of trust: texts, numbered figures and tables, ready to be laid out."""

from dataclasses import dataclass

from trustreport.assessment import Assessment
from trustreport.finding import Finding, Part
from trustreport.messages import Catalogue
from trustreport.report import summary
from trustreport.report.numbering import NumberedFigure, NumberedTable, Numbering
from trustreport.report.tables import table


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
    """A question of trust that was answered."""

    anchor: str
    short: str
    title: str
    question: str
    template: str
    parts: tuple[PartView, ...]
    limits: tuple[summary.Limit, ...]
    not_shown: tuple[str, ...]


def section(finding: Finding, assessment: Assessment, numbering: Numbering, say: Catalogue) -> Section:
    """What a dimension found, its tables and figures numbered in the order in which they stand."""
    name = finding.dimension
    return Section(
        name,
        say(f"{name}.short"),
        say(f"{name}.title"),
        say(f"{name}.question"),
        f"dimensions/{name}.html.j2",
        tuple(part_view(part, f"{name}-{i}", numbering, say) for i, part in enumerate(finding.parts, 1)),
        tuple(summary.listed(summary.limits(assessment.fired(name), say), say)),
        tuple(say(text) for text in finding.not_shown),
    )


def part_view(part: Part, anchor: str, numbering: Numbering, say: Catalogue) -> PartView:
    """A part of a finding, ready to be laid out."""
    return PartView(
        say(part.title) if part.title else "",
        anchor,
        tuple(say(text) for text in part.finding),
        tuple(numbering.figure(figure, part.tables) for figure in part.figures),
        tuple(numbering.table(table(source, say)) for source in part.tables),
    )
