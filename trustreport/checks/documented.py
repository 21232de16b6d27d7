"""The rows of docs/checks.md, whose letters, limits and withheld verdicts are those of the register."""

import re
from collections.abc import Iterable

from trustreport.checks.check import Check

ROW = re.compile(r"^\| (P\d\d) \|.*$", re.MULTILINE)
CELLS = 6  # id, letter, what makes it fire, what it needs, limits, what it withholds


def with_facts(text: str, checks: Iterable[Check]) -> str:
    """A text whose rows of checks have letter, limits and what is withheld as the register has them.

    What makes a check fire, and what it needs, is kept as it is written.

    Raises
    ------
    ValueError : a row of no check, or of another form
    """
    by_id = {check.id: check for check in checks}

    def row(found: re.Match[str]) -> str:
        cells = [cell.strip() for cell in found[0].strip("| ").split(" | ")]
        if found[1] not in by_id or len(cells) < 4:
            raise ValueError(f"no row of a check: {found[0]}")
        return _row(by_id[found[1]], cells[2], cells[3])

    return ROW.sub(row, text)


def _row(check: Check, fires: str, needs: str) -> str:
    limits = "; ".join(
        f"`{name}`" if value is None else f"`{name}` {value:g}" for name, value in check.own_limits.items()
    )
    withholds = check.withholds.says if check.severity == "B" else ""
    cells = (check.id, check.severity, fires, needs, limits, withholds)
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"
