"""docs/checks.md holds every check with its letter, and every limit that is read; so does the manifest."""

import re
from pathlib import Path

from trustreport.checks import CHECKS
from trustreport.dimensions.subgroups.small import LEAST
from trustreport.plan import LIMIT_ALIASES, LIMITS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
# Id, letter, pitfall, needs, limit.
ROWS = [
    [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split(" | ")]
    for line in TEXT.replace("| |", "|  |").splitlines()
    if re.match(r"\| P\d\d ", line)
]


def read_in_code() -> set[str]:
    """Names of limits that the package reads."""
    found = set()
    for file in (ROOT / "trustreport").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        if file.name != "plan.py":
            found |= set(re.findall(r'"(P\d\d_\w+)"', text))
            found |= set(re.findall(r'limits\.get\(\s*"(\w+)"', text))
    return found | {f"P37_{name}" for name in LEAST}


def test_every_check_stands_once_with_its_letter() -> None:
    assert [(row[0], row[1]) for row in sorted(ROWS)] == [(c.id, c.severity) for c in CHECKS]


def test_every_row_says_what_fires_and_what_it_needs() -> None:
    for row in ROWS:
        assert len(row) == 5, row
        assert row[2], row
        assert row[3], row


def test_every_limit_is_read_known_and_documented() -> None:
    assert set(LIMITS) == read_in_code()
    assert len(set(LIMITS)) == len(LIMITS)
    documented = {name for row in ROWS for name in re.findall(r"`(P\d\d_\w+)`", row[4])}
    assert documented == {name for name in LIMITS if re.match(r"P\d\d_", name)}
    assert set(LIMIT_ALIASES.values()) <= set(LIMITS)
    assert not set(LIMIT_ALIASES) & set(LIMITS)
