"""What is due after an audit: when, what, whose."""

from dataclasses import dataclass

from trustreport.assessment.finding import Finding, PlainTable
from trustreport.vocabulary.messages import Catalogue, Message

DUE = "vigilance_due"


@dataclass(frozen=True, slots=True)
class DueItem:
    """Something that is due: when, what, whose; `late` is empty where it is not."""

    day: str
    what: str
    owner: str
    late: str


def due(finding: Finding, say: Catalogue) -> list[DueItem]:
    """What the part on where things stand says is due."""
    found = []
    for part in finding.parts:
        for table in part.tables:
            if isinstance(table, PlainTable) and table.id.startswith(DUE):
                found += [DueItem(*(_text(cell, say) for cell in row)) for row in table.rows]
    return found


def _text(cell: Message | str | None, say: Catalogue) -> str:
    return say(cell) if isinstance(cell, Message) else cell or ""
