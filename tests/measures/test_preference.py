"""Paired preferences against a published example and by simulation."""

import csv
from pathlib import Path

import numpy as np
import pytest

from trustreport.api import assess, read_study
from trustreport.measures.measured.preference import over_readers_and_cases, strengths

# Citations between journals (Stigler 1994; Agresti, Categorical Data Analysis, 2nd ed., p. 448):
# Biometrika, Communications in Statistics, JASA, JRSS-B; how often the row was cited by the column.
CITED = np.array([[0, 730, 498, 221], [33, 0, 68, 17], [320, 813, 0, 142], [284, 276, 325, 0]])


def test_citations_have_the_strengths_of_bradley_terry_2() -> None:
    """BradleyTerry2 1.1.2, vignette: 0, -2.9491, -0.4796, 0.2690 against Biometrika."""
    i, j = np.nonzero(CITED)
    n = CITED[i, j]
    found = strengths(np.repeat(i, n), np.repeat(j, n), np.ones(n.sum()), 4)
    assert (found - found[0]) == pytest.approx([0, -2.9491, -0.4796, 0.2690], abs=2e-3)


def test_one_that_always_wins_has_no_finite_strength() -> None:
    assert np.isnan(strengths(np.array([0, 0]), np.array([1, 2]), np.ones(2), 3)).all()


def test_one_reader_has_no_interval() -> None:
    won, reader, case = np.array([1.0, 0, 1]), np.zeros(3, int), np.arange(3)
    e = over_readers_and_cases(lambda of: float(won[of].mean()), reader, case)
    assert np.isnan(e.low)
    assert e.note


def test_the_interval_covers_with_readers_and_cases_random() -> None:
    rng, held, draws = np.random.default_rng(3), 0, 200
    reader, case = (x.ravel() for x in np.meshgrid(np.arange(6), np.arange(40), indexing="ij"))
    for _ in range(draws):
        p = 1 / (1 + np.exp(-(0.5 + rng.normal(0, 0.4, 6)[reader] + rng.normal(0, 0.6, 40)[case])))
        won = (rng.random(240) < p).astype(float)
        e = over_readers_and_cases(lambda of, won=won: float(won[of].mean()), reader, case, null=0.5)
        held += e.low <= 0.6118 <= e.high  # the mean of p over many readers and cases
    assert held / draws > 0.9


def test_choices_become_shares_and_an_effect_of_the_order(tmp_path: Path) -> None:
    with (tmp_path / "choices.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("reader", "case", "first", "second", "preferred"))
        for j in range(4):
            for k in range(20):
                pair = ("new", "old") if (j + k) % 2 else ("old", "new")
                writer.writerow((f"R{j}", k, *pair, "tie" if k % 5 == 0 else "new" if k % 5 < 4 else "old"))
    (tmp_path / "study.yaml").write_text(
        "report: {kind: procurement}\ndevice: {trade_name: X}\ntables: {preferences: {file: choices.csv}}\n"
    )
    results = assess(*read_study(tmp_path)).results
    share = next(r for r in results if r.name == "preference_share")
    assert share.place.candidates == ("new", "old")
    assert share.estimate.value == pytest.approx((0.5 * 4 + 12) / 20)
    assert next(r for r in results if r.name == "first_shown_share").estimate.value == pytest.approx(0.5)
