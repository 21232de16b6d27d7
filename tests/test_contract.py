"""Whole studies as users submit them: what results.json must contain, computed by other software."""

import csv
import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from trustreport.api import Assessed
from trustreport.commands.qualification.operation import agrees, matching
from trustreport.report.document import canonical, document
from trustreport.report.write import provenance
from trustreport.vocabulary.messages import catalogue

REFERENCE = Path(__file__).resolve().parent / "reference"
FOLDERS = sorted(
    table.parent for group in ("contract", "human-ai") for table in REFERENCE.glob(f"{group}/*/expected.csv")
)
CASES = [pytest.param(folder, id=folder.name) for folder in FOLDERS]


@pytest.fixture(scope="module")
def results_of(assessed_study: Callable[[Path], Assessed]) -> Callable[[Path], list[dict[str, Any]]]:
    """The entries of results.json of a folder, after the way through bytes."""

    @cache
    def found(folder: Path) -> list[dict[str, Any]]:
        assessment = assessed_study(folder)
        data = document(assessment, provenance(assessment), catalogue("en"))
        parsed: dict[str, list[dict[str, Any]]] = json.loads(canonical(data))
        return parsed["results"]

    return found


def differences(rows: list[dict[str, str]], results: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Each expected row without an entry of that id, scope, method and value, with the values found."""
    by_id: dict[str, list[dict[str, Any]]] = {}
    for entry in results:
        by_id.setdefault(entry["id"], []).append(entry)
    wrong = []
    for row in rows:
        field, expected = row["field"], float(row["value"]) if row["value"] else None
        found = matching(by_id.get(row["id"], []), json.loads(row["scope"]), row["method"])
        if not agrees(found, field, expected, float(row["tol"])):
            wrong.append((row, [e[field] for e in found]))
    return wrong


def broken_rules(results: list[dict[str, Any]]) -> list[str]:
    """Entries that share id, scope and method, and questions without exactly one primary entry."""
    keys: Counter[tuple[str, str, str]] = Counter()
    primary: Counter[tuple[str, str]] = Counter()
    for e in results:
        question = {k: v for k, v in e["scope"].items() if k != "analysis"}
        keys[e["id"], json.dumps(e["scope"], sort_keys=True), e["method"]] += 1
        primary[e["id"], json.dumps(question, sort_keys=True)] += e["primary"]
    return [
        *(f"{n} entries of {key}" for key, n in keys.items() if n != 1),
        *(f"{n} primary entries of {question}" for question, n in primary.items() if n != 1),
    ]


@pytest.mark.parametrize("folder", CASES)
def test_expected_values(folder: Path, results_of: Callable[[Path], list[dict[str, Any]]]) -> None:
    with (folder / "expected.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows
    wrong = differences(rows, results_of(folder))
    assert not wrong, f"{len(wrong)} of {len(rows)} rows, of these {wrong[:5]}"


@pytest.mark.parametrize("folder", CASES)
def test_every_key_is_unique_and_each_question_has_one_primary_entry(
    folder: Path, results_of: Callable[[Path], list[dict[str, Any]]]
) -> None:
    results = results_of(folder)
    assert not broken_rules(results)
    for e in results:
        if None in (e["value"], e["low"], e["high"]):
            assert e["note"] or e["unit"] == "p", f"a null without a reason: {e}"
        elif "about precision" in e["note"]:
            assert e["low"] == e["high"] or e["se"] == 0, f"no verdict reads the note: {e}"


def test_what_the_comparison_finds() -> None:
    """Wrong values, rows without an entry, nulls without a note, double keys, questions without a primary."""
    entry = {"id": "a.b", "scope": {"n": 1}, "method": "m", "value": 1.0, "note": "", "primary": True}
    row = {"id": "a.b", "scope": '{"n": 1}', "method": "m", "field": "value", "value": "1.05", "tol": "0.1"}
    assert not differences([row], [entry])
    for other in ({"value": "1.2"}, {"id": "a.c"}, {"scope": '{"n": 2}'}, {"method": "k"}, {"value": ""}):
        assert differences([row | other], [entry])
    assert not differences([row | {"value": ""}], [entry | {"value": None, "note": "no case"}])
    assert not broken_rules([entry, entry | {"scope": {"n": 2}}])
    by_design = [entry, entry | {"scope": {"n": 1, "analysis": "paired"}, "primary": False}]
    assert not broken_rules(by_design)
    for wrong in ([entry, entry], [entry | {"primary": False}], [entry, entry | {"method": "k"}]):
        assert broken_rules(wrong)
