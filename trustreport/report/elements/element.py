"""What an element of a report is, and what it is made from."""

from collections.abc import Mapping, MutableMapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from trustreport.assessment.assess import Assessment
from trustreport.report import declared
from trustreport.report.answer.limits import Limitation
from trustreport.report.numbering import NumberedFigure, NumberedTable, Numbering, ReportPlace
from trustreport.report.tables import Table
from trustreport.vocabulary.messages import Catalogue

# The groups of the manifest that an element prints; those of no element of an outline stand in its annex.
GROUPS_OF: Mapping[str, tuple[str, ...]] = {
    "E01": ("device",),
    "E02": ("intended_use", "operating_point"),
    "E03": ("datasets",),
    "E04": ("study", "arms", "reading"),
    "E05": (
        "endpoints",
        "utility",
        "precision_targets",
        "similarity",
        "localisation",
        "internal_splits",
        "limits",
    ),
    "E08": ("reference_standard", "time_to_event"),
    "E24": ("readers",),
    "E34": ("performance_claims",),
    "E44": ("amendments",),
    "E50": ("documents",),
}


@dataclass(frozen=True)
class Context:
    """All that an element may look at; `numbering` is that of the chapter it stands in.

    `standing` is what stands in report and annex, by the word of the outline; it is whole only for an element
    that is made last. `placed` holds the words of the whole outline of the volume, report or
    annex. `annexed` is where a reader finds what the report leaves out, as `html.Documents` has it.
    """

    assessment: Assessment
    drawn: Mapping[str, bytes]
    say: Catalogue
    numbering: Numbering
    on_screen: bool
    provenance: Mapping[str, Any]
    standing: MutableMapping[str, ReportPlace] = field(default_factory=dict)
    placed: Set[str] = frozenset()
    in_annex: bool = False
    annexed: str = "file"

    @cached_property
    def groups(self) -> dict[str, declared.DeclaredGroup]:
        """The groups of the manifest that state or lack something, by name."""
        return declared.groups(self.assessment.plan, self.assessment.not_declared, self.say)

    @property
    def within(self) -> str:
        """Where a reader finds what the report leaves out, as the end of a sentence: "in the annex"."""
        return self.say(f"report.annex.within.{self.annexed}")


@dataclass(frozen=True)
class Element:
    """One element of the report: sentences, what was declared, tables, figures; each may be empty.

    `limits` is what checks found, `quiet` what is said in grey below.

    `extra` is for the template alone, where the element has one of its own.
    """

    finding: tuple[str, ...] = ()
    groups: tuple[declared.DeclaredGroup, ...] = ()
    figures: tuple[NumberedFigure, ...] = ()
    tables: tuple[NumberedTable, ...] = ()
    remarks: tuple[str, ...] = ()
    remarks_title: str = ""
    limits: tuple[Limitation, ...] = ()
    quiet: tuple[str, ...] = ()
    template: str = "report/element.html.j2"
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether it holds anything but sentences: data, or something that was declared."""
        stated = any(group.stated or group.table for group in self.groups)
        more = (self.figures, self.tables, self.limits, self.remarks, *self.extra.values())
        return stated or any(map(bool, more))


def groups_of(context: Context, element: str, but: str = "") -> tuple[declared.DeclaredGroup, ...]:
    """The groups of an element, as they were declared; of the one that a table tells only what it lacks."""
    found = []
    for name in GROUPS_OF[element]:
        group = context.groups.get(name)
        if group and name == but:
            group = declared.DeclaredGroup(group.title, (), group.missing) if group.missing else None
        if group:
            found.append(group)
    return tuple(found)


def numbered(context: Context, *tables: Table | None) -> tuple[NumberedTable, ...]:
    """Those of the tables that have rows, each with its number."""
    return tuple(context.numbering.table(t) for t in tables if t is not None and t.lines)
