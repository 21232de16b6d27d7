"""Case, patient and accession numbers are in no file of a report."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
IDS = ("case", "patient", "accession")
SHORT = 5  # characters: shorter ones may be anything


def ids_in(study: Path) -> set[str]:
    found = set()
    for table in study.glob("*.csv"):
        with table.open(newline="", encoding="utf-8") as file:
            found |= {row[word] for row in csv.DictReader(file) for word in IDS if row.get(word)}
    return {name for name in found if len(name) >= SHORT}


@pytest.mark.parametrize("name", ["certification-dossier", "procurement-triage", "vigilance-audit"])
def test_no_id_of_a_case_or_patient_reaches_a_report(name: str, example: Callable[[str], Path]) -> None:
    ids = ids_in(EXAMPLES / name)
    assert len(ids) > 100
    for file in ("report.html", "results.json"):
        text = (example(name) / file).read_text(encoding="utf-8")
        assert not [one for one in ids if one in text], file
