"""What is due after an audit: when, what, whose."""

from dataclasses import dataclass

from trustreport.finding import Finding, PlainTable
from trustreport.messages import Catalogue

DUE = "vigilance_due"


@dataclass(frozen=True, slots=True)
class Due:
    """Something that is due: when, what, whose; `late` is empty where it is not."""

    day: str
    what: str
    owner: str
    late: str


def due(finding: Finding, say: Catalogue) -> list[Due]:
    """What the part on where things stand says is due."""
    found = []
    for part in finding.parts:
        for table in part.tables:
            if isinstance(table, PlainTable) and table.id.startswith(DUE):
                for day, what, owner, late in table.rows:
                    found.append(Due(str(day), say(what), owner or "", say(late) if late else ""))
    return found
