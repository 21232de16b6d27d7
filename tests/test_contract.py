"""Whole studies as users hand them in: what results.json must hold, computed by other software."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from trustreport.api import assess, read_study
from trustreport.messages import catalogue
from trustreport.report.document import canonical, document
from trustreport.report.write import provenance

# Which rows of which case are computed so far: the start of the id.
HELD = {
    "knee-mri-counts": ("",),
    "counts": ("",),
    "vandyke": ("",),
    "viper-screening-high": ("",),
    "sim-missing10": ("",),
    "sim-unbalanced": ("",),
    "sequential": ("",),
    "reliance": ("",),
    "published-figures": ("",),
    "confusion-counts": ("",),
    "h-accuracy": ("",),
    "utility-yield": ("",),
    "mrnet-raters": ("",),
    "nomogram": ("",),
    "heart": ("",),
    "breast": ("",),
}


def results_of(folder: Path) -> list[dict[str, Any]]:
    """The entries of results.json, after the way through bytes."""
    assessment = assess(*read_study(folder))
    data = document(assessment, provenance(assessment), catalogue("en"))
    parsed: dict[str, list[dict[str, Any]]] = json.loads(canonical(data))
    return parsed["results"]


def contains(have: Any, want: Any) -> bool:
    """Whether a scope holds all that is wanted of it."""
    if isinstance(want, dict):
        return isinstance(have, dict) and all(k in have and contains(have[k], v) for k, v in want.items())
    if isinstance(want, list):
        return isinstance(have, list) and len(have) == len(want) and all(map(contains, have, want))
    if isinstance(want, bool) or isinstance(have, bool) or not isinstance(want, int | float):
        return bool(have == want)
    return isinstance(have, int | float) and math.isclose(have, want, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("case", HELD)
def test_expected_values_hold(case: str, shared: Path) -> None:
    folder = shared / "contract" / case
    results = results_of(folder)
    with (folder / "expected.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["id"].startswith(HELD[case])]
    assert rows
    wrong = []
    for row in rows:
        scope = json.loads(row["scope"])
        found = [
            e
            for e in results
            if e["id"] == row["id"]
            and contains(e["scope"], scope)
            and (not row["method"] or e["method"] == row["method"])
        ]
        if row["value"] == "":
            fine = bool(found) and all(e[row["field"]] is None and e["note"] for e in found)
        else:
            want, tolerance = float(row["value"]), float(row["tol"])
            fine = any(
                e[row["field"]] is not None and abs(e[row["field"]] - want) <= tolerance for e in found
            )
        if not fine:
            wrong.append((row, [e[row["field"]] for e in found]))
    assert not wrong, wrong[:5]


@pytest.mark.parametrize(
    "case",
    HELD,
)
def test_every_key_is_unique_and_one_entry_leads(case: str, shared: Path) -> None:
    keys: set[tuple[str, str, str]] = set()
    leads: dict[tuple[str, str], int] = {}
    for e in results_of(shared / "contract" / case):
        key = (e["id"], json.dumps(e["scope"], sort_keys=True), e["method"])
        assert key not in keys, key
        keys.add(key)
        question = (
            e["id"],
            json.dumps({k: v for k, v in e["scope"].items() if k != "analysis"}, sort_keys=True),
        )
        leads[question] = leads.get(question, 0) + e["primary"]
        if None in (e["value"], e["low"], e["high"]):
            assert e["note"] or e["unit"] == "p", f"a null without a reason: {e}"
    assert all(n == 1 for n in leads.values()), {q: n for q, n in leads.items() if n != 1}
