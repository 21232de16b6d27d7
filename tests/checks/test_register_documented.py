"""docs/checks.md holds every check with its letter, and every limit that is read; so does the manifest."""

import re
from pathlib import Path
from typing import get_args

import pytest

from trustreport.assessment.checks import CHECKS
from trustreport.assessment.checks.check import CRITERIA, EVERYTHING, RELEASE
from trustreport.commands.schemas import with_facts, with_quantities
from trustreport.study.limits import LIMITS
from trustreport.study.plan import LIMIT_ALIASES
from trustreport.vocabulary.kinds import KINDS, OF_VALUES, Kind
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.quantities import ROWS as ROWS_OF_QUANTITIES
from trustreport.vocabulary.quantities import quantity

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "checks.md").read_text(encoding="utf-8")
# Id, letter, pitfall, needs, limits, withholds.
ENTRY = re.compile(
    r"- \*\*(P\d\d) ([BWN])\*\* (.+?)(?: \*Needs\* (.+?))?(?: \*Limits\* (.+?)\.)?(?: \*Withholds\* (.+))?"
)
ROWS = [
    found.groups(default="") for line in TEXT.splitlines() if (found := ENTRY.fullmatch(line)) is not None
]


def test_every_check_is_there_once_with_its_letter() -> None:
    assert [(row[0], row[1]) for row in sorted(ROWS)] == [(c.id, c.severity) for c in CHECKS]


def test_every_entry_says_what_fires() -> None:
    assert TEXT.count("\n- **P") == len(ROWS)
    assert all(row[2].endswith(".") for row in ROWS)


def test_an_entry_says_what_is_withheld_where_it_is_not_everything() -> None:
    assert {row[0]: row[5] for row in ROWS if row[5]} == {
        c.id: f"{c.withholds.says}." for c in CHECKS if c.severity == "B" and c.withholds is not EVERYTHING
    }
    assert f"which are {EVERYTHING.says} unless something else is said" in TEXT


def test_every_limit_is_read_known_and_documented() -> None:
    of_checks = {name: limit.customary for check in CHECKS for name, limit in check.limits.items()}
    assert set(LIMITS) == {*of_checks, "power_difference"}
    read = "".join(file.read_text() for file in (ROOT / "trustreport").rglob("*.py") if file.stem != "limits")
    assert not [name for name in LIMITS if name not in read and not name.startswith("P37_")]
    documented = {
        name: float(value) if value else None
        for row in ROWS
        for name, value in re.findall(r"`(P\d\d_\w+)` ?([\d.]*)", row[4])
    }
    assert documented == of_checks
    assert set(LIMIT_ALIASES.values()) <= set(LIMITS)
    assert not set(LIMIT_ALIASES) & set(LIMITS)


def test_the_limits_of_checks_that_withhold_verdicts_have_a_stricter_side() -> None:
    sided = {name for check in CHECKS for name, limit in check.limits.items() if limit.stricter}
    withholding = [c for c in CHECKS if c.severity == "B" and c.withholds not in (CRITERIA, RELEASE)]
    assert sided == {name for check in withholding for name in check.limits}


def test_tables_are_written_from_the_register() -> None:
    assert with_facts(TEXT, CHECKS) == TEXT
    wrong = TEXT.replace("**P01 B**", "**P01 W**").replace("`P05_gap` 0.2", "`P05_gap` 0.3")
    assert wrong != TEXT
    assert with_facts(wrong, CHECKS) == TEXT
    with pytest.raises(ValueError, match=r"no entry of a check: - ..P99"):
        with_facts("- **P99 B** fires.\n", CHECKS)


def test_the_table_of_quantities_is_written_from_the_rows() -> None:
    text = (ROOT / "docs" / "quantities.md").read_text(encoding="utf-8")
    assert with_quantities(text, ROWS_OF_QUANTITIES, catalogue("en")) == text
    ids = {"oe_ratio", "interaction", "rr", "mcc", "mean_rank", "prevalence", "called_share", "flip_rate"}
    some = [row for row in ROWS_OF_QUANTITIES if row.id in ids]
    assert with_quantities("Before.\n", some, catalogue()).splitlines()[-len(some) :] == [
        "- **difference, no effect 0**: `interaction`",
        "- **proportion**: `prevalence`",
        "- **proportion, down, stability, D, P**: `flip_rate` (decisions that flip on repetition)",
        "- **proportion, workflow, D, P**: `called_share` (proportion of positive outputs)",
        "- **ratio, best 1, R**: `oe_ratio` (ratio of observed to expected events (O/E))",
        "- **ratio, down, no effect 1**: `rr` (relative risk of an error)",
        "- **score -1 to 1 atanh, up, D, P**: `mcc` (Matthews correlation)",
        "- **score from 1, down, rating**: `mean_rank`",
    ]


def test_every_quantity_is_in_the_list_once() -> None:
    text = (ROOT / "docs" / "quantities.md").read_text(encoding="utf-8")
    listed = "\n".join(line.partition("**: ")[2] for line in text.splitlines() if line.startswith("- **"))
    named = re.findall(r"(?:^|, )`(\w+)`", listed, re.MULTILINE)
    assert sorted(named) == sorted(row.id for row in ROWS_OF_QUANTITIES)


@pytest.mark.parametrize("name", KINDS)
def test_what_leads_a_kind_claims_what_the_kind_may(name: str) -> None:
    kind = KINDS[name]
    assert {quantity(lead).claim for lead in kind.leads[0]} == {kind.claim[0]}
    if name not in ("ordinal", "count"):  # a mean is one quantity, whatever it is of
        assert quantity(kind.leads[1][0]).claim == kind.claim[1]
    assert (name in get_args(Kind)) == (kind.leads == OF_VALUES), "what a table of values may declare"
