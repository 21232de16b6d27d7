"""Paired preferences against a published example and by simulation."""

import csv
from pathlib import Path

import numpy as np
import pytest

from tests.english import english
from trustreport.api import assess, read_study
from trustreport.measures.measured.preference import over_readers_and_cases, rate_ratio_of_readers, strengths

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


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 1), (1, 0), (2, 3), (3, 2)],  # two pairs that never met
        [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (1, 3)],  # one pair that always wins against the other
    ],
)
def test_groups_that_are_not_compared_both_ways_have_no_strengths(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs).T
    assert np.isnan(strengths(first, second, np.ones(len(pairs)), 4)).all()
    e = over_readers_and_cases(lambda of: np.nan, first, second)
    assert "never compared" in english(e.note)


@pytest.mark.parametrize("k", [3, 12])
def test_outputs_in_a_chain_are_as_far_apart_as_their_odds(k: int) -> None:
    """Each met only its neighbours, and won 29 of 30: every step is log 29."""
    first = np.arange(k - 1).repeat(30)
    won = np.tile([1.0] * 29 + [0.0], k - 1)
    assert -np.diff(strengths(first, first + 1, won, k)) == pytest.approx(np.log(29), rel=1e-9)


def test_choices_all_alike_have_no_interval_and_say_so() -> None:
    reader, case = (x.ravel() for x in np.indices((3, 10)))
    e = over_readers_and_cases(lambda of: float(of[of].mean()), reader, case)
    assert (e.value, str(e.low)) == (1.0, "nan")
    assert "nothing varies" in english(e.note)


def test_a_strength_that_rests_on_one_reader_has_no_interval() -> None:
    reader, won = np.repeat([0, 1], 10), np.repeat([1.0, 0.0], 10)
    first, second, case = np.zeros(20, int), np.ones(20, int), np.tile(np.arange(10), 2)
    e = over_readers_and_cases(
        lambda of: float(strengths(first[of], second[of], won[of], 2)[0]), reader, case
    )
    assert np.isfinite(e.value)
    assert "without one reader" in english(e.note)


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


def test_the_ratio_of_readers_counts_is_that_of_a_poisson_model_with_clustered_cases() -> None:
    """GEE of statsmodels, independence, cases as clusters: the same ratio, and a part of its error."""
    from statsmodels.genmod.cov_struct import Independence
    from statsmodels.genmod.families import Poisson
    from statsmodels.genmod.generalized_estimating_equations import GEE

    rng = np.random.default_rng(8)
    shared = rng.gamma(2, 0.5, 80)
    first, second = (rng.poisson(rate * shared, (4, 80)).astype(float) for rate in (0.6, 1.0))
    counts, case = np.concatenate([first.ravel(), second.ravel()]), np.tile(np.arange(80), 8)
    design = np.column_stack([np.ones(640), np.repeat([1.0, 0.0], 320)])
    fit = GEE(counts, design, groups=case, family=Poisson(), cov_struct=Independence()).fit()
    e = rate_ratio_of_readers(first, second)
    assert e.value == pytest.approx(np.exp(fit.params[1]))
    assert fit.bse[1] < e.se < 1.5 * fit.bse[1]  # readers, all alike, add the residual a second time


def test_the_ratio_of_readers_counts_says_why_it_is_undefined() -> None:
    counts = np.ones((3, 5))
    assert np.isnan(rate_ratio_of_readers(counts, 0 * counts).value)
    assert "no event" in english(rate_ratio_of_readers(counts, 0 * counts).note)
    alone = counts.copy()
    alone[1:] = 0
    assert np.isnan(rate_ratio_of_readers(counts, alone).low)
    assert rate_ratio_of_readers(counts, alone).value == pytest.approx(3)


def test_the_ratio_of_readers_counts_covers_on_both_sides() -> None:
    rng, beyond, draws = np.random.default_rng(9), np.zeros(2), 200
    for _ in range(draws):
        shared = rng.gamma(2, 0.5, 60) * np.exp(rng.normal(0, 0.2, (5, 1)))
        pull = np.exp(rng.normal(0, 0.15, (5, 1)) - 0.15**2 / 2)
        first, second = (rng.poisson(x).astype(float) for x in (0.8 * shared * pull, shared))
        e = rate_ratio_of_readers(first, second)
        beyond += [e.low > 0.8, e.high < 0.8]
    assert (beyond / draws < 0.05).all()
