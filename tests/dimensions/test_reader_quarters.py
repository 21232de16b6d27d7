"""Gains of the readers with the lowest and highest baseline, in the examples and what is said of them."""

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from trustreport.api import Assessed
from trustreport.measures.note import note
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
READINGS = Path(__file__).resolve().parents[2] / "examples" / "knee-mri-readings" / "readings.csv"


def gains(found: Assessed) -> dict[str, object]:
    return {r.name: r.estimate for r in found.results if r.name.endswith("_quarter")}


def said(found: Assessed) -> str:
    return " ".join(
        EN(m)
        for f in found.findings
        for p in f.parts
        for m in p.finding
        if m.key.startswith("decision_benefit.quarters")
    )


def test_three_of_thirteen_readers_counted_from_the_table(
    assessed_example: Callable[[str], Assessed],
) -> None:
    """Without a tie at the boundary of the lowest three, whose gains are counted here by the csv module."""
    right: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    with READINGS.open() as file:
        for row in csv.DictReader(file):
            right[row["reader"]][0] += row["initial_decision"] == row["truth"]
            right[row["reader"]][1] += row["decision"] == row["truth"]
    by_baseline = sorted(right.values())
    assert by_baseline[2][0] < by_baseline[3][0]
    found = assessed_example("knee-mri-readings")
    lowest = gains(found)["gain_lowest_quarter"]
    assert lowest.value == pytest.approx(sum(after - before for before, after in by_baseline[:3]) / 360)
    assert (lowest.details["quarter"], lowest.details["readers"], lowest.n) == (3, 13, 1560)
    assert "3 of 13 readers each" in said(found)
    assert "regression to the mean raises the first change" in said(found)
    assert "P28" in said(found)


def test_six_readers_are_too_few(assessed_example: Callable[[str], Assessed]) -> None:
    found = assessed_example("assisted-reading")
    notes = {e.note for e in gains(found).values()}
    assert notes == {note("readers_with_decisions_in_both_arms", n=6)}
    assert "cannot be estimated: 6 readers" in said(found)
