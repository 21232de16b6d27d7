"""What an element of a report is, and what it is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trustreport.assessment import Assessment
from trustreport.messages import Catalogue
from trustreport.report import declared
from trustreport.report.numbering import NumberedFigure, NumberedTable, Numbering
from trustreport.report.summary import Limit
from trustreport.report.tables import Table


@dataclass(frozen=True)
class Context:
    """All that an element may look at; `numbering` is that of the chapter it stands in."""

    assessment: Assessment
    drawn: Mapping[str, bytes]
    say: Catalogue
    numbering: Numbering
    on_screen: bool
    provenance: Mapping[str, Any]

    @cached_property
    def groups(self) -> dict[str, declared.Group]:
        """The groups of the manifest that state or lack something, by name."""
        return declared.groups(self.assessment.plan, self.assessment.not_declared, self.say)


@dataclass(frozen=True)
class Element:
    """One element of the report: sentences, what was declared, tables, figures; each may be empty.

    `limits` is what checks found, `quiet` what is said in grey below.

    `extra` is for the template alone, where the element has one of its own.
    """

    finding: tuple[str, ...] = ()
    groups: tuple[declared.Group, ...] = ()
    figures: tuple[NumberedFigure, ...] = ()
    tables: tuple[NumberedTable, ...] = ()
    remarks: tuple[str, ...] = ()
    remarks_title: str = ""
    limits: tuple[Limit, ...] = ()
    quiet: tuple[str, ...] = ()
    template: str = "report/element.html.j2"
    extra: Mapping[str, Any] = field(default_factory=dict)


def numbered(context: Context, *tables: Table | None) -> tuple[NumberedTable, ...]:
    """Those of the tables that have rows, each with its number."""
    return tuple(context.numbering.table(t) for t in tables if t is not None and t.lines)
