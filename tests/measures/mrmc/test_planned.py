"""The planned difference against pwr, RJafroc and published designs, and its designs against each other."""

import csv
from math import inf, log, nan, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import least_squares

from trustreport.measures.mrmc.auc import fit_auc
from trustreport.measures.mrmc.planned import by_site, carried_over, design_effect, planned_difference
from trustreport.measures.mrmc.power import Components, cases_needed, components, equivalence_power, power

REFERENCE = Path(__file__).resolve().parents[2] / "reference"
PILOT = Components(arm_reader=2e-4, own=4.5e-4, shared=1e-4, n_cases=114)


def from_r() -> list[list[str]]:
    """Lines of sizing.csv, made by sizing.R beside it (R 4.2.2, pwr 1.3.0)."""
    with (REFERENCE / "sizing" / "sizing.csv").open() as file:
        return list(csv.reader(line for line in file if line[0] != "#"))[1:]


@pytest.mark.parametrize("row", [row for row in from_r() if row[0] != "area"], ids=lambda r: "-".join(r[:5]))
def test_readers_with_cases_of_their_own_are_a_paired_t_test(row: list[str]) -> None:
    name, (readers, difference, sd, margin, value) = row[0], map(float, row[1:])
    own = Components(arm_reader=sd**2 / 2, own=0.0, shared=0.0, n_cases=1)
    found = planned_difference(own, int(readers), readers, groups=int(readers))
    assert found.df == readers - 1
    got = found.power(difference, name, margin=margin or nan)
    assert got == pytest.approx(value, abs=2e-7)


# RJafrocFrocBook, chapter 19, dataset04 (200 cases): components as printed, hence to six digits.
ROC = Components(0.0001526507, 0.0007307912 - 0.0002083377, 0.0002388384 - 0.0001906167, 200)
WAFROC = Components(0.0, 0.0009081383 - 0.0003736844, 0.0003567162 - 0.0003058902, 200)


@pytest.mark.parametrize(
    "pilot, effect, readers, cases, value",
    [
        (WAFROC, 0.063086196, 5, 100, 0.6420946),
        (WAFROC, 0.063086196, 6, 121, 0.80022333),
        (WAFROC, 0.075724872, 5, 100, 0.79517494),
        (ROC, 0.06, 5, 100, 0.55738123),
    ],
)
def test_power_from_declared_components_agrees_with_rjafroc(
    pilot: Components, effect: float, readers: int, cases: int, value: float
) -> None:
    assert planned_difference(pilot, readers, cases).power(effect, "superiority") == pytest.approx(
        value, abs=1e-6
    )


# RJafrocBook, SsPowerTable(dataset02, FOM = "Wilcoxon"): VanDyke, the observed difference, power 0.8.
CASES = {
    4: 1089,
    5: 344,
    6: 251,
    7: 211,
    8: 188,
    9: 173,
    10: 163,
    12: 149,
    15: 137,
    20: 126,
    30: 116,
    50: 109,
}


def test_sizes_agree_with_the_table_of_rjafroc(studies) -> None:
    study = studies["vandyke"]
    pilot = components(fit_auc(study.rating, study.truth))
    found = {readers: cases_needed(pilot, -0.043800322, readers).value for readers in CASES}
    assert found == CASES
    assert cases_needed(pilot, -0.043800322, 10, target=0.9).value == 236


def test_crossed_is_the_power_of_the_next_study() -> None:
    for mode, fixed in (("or_rrrc", False), ("or_frrc", True)):
        before = power(PILOT, 0.04, 8, 200, mode=mode).value
        found = planned_difference(PILOT, 8, 200, fixed_readers=fixed)
        assert found.power(0.04, "superiority") == pytest.approx(before)


def test_split_plot_variances_are_consistent_with_the_published_efficiencies() -> None:
    """Obuchowski, Gallas, Hillis (2012), Acad. Radiol. 19, 1508-1517, table 3, with 120 patients in all.

    The components behind it are not printed: two ratios of theirs must give all four efficiencies.
    Efficiencies are variances of six readers in two blocks over those of another design.
    """

    def efficiencies(arm_reader: float, shared: float) -> dict[str, float]:
        of = Components(arm_reader, 1.0, shared, 120)
        two = planned_difference(of, 6, 120, groups=2).se
        others = {
            "3 blocks": planned_difference(of, 9, 120, groups=3).se,
            "4 blocks": planned_difference(of, 12, 120, groups=4).se,
            "crossed 60": planned_difference(of, 6, 60).se,
            "crossed 120": planned_difference(of, 6, 120).se,
        }
        return {name: (two / se) ** 2 for name, se in others.items()}

    published = {"3 blocks": 1.2, "4 blocks": 1.33, "crossed 60": 0.83, "crossed 120": 1.16}

    def off(x: list[float]) -> list[float]:
        found = efficiencies(*np.exp(x))
        return [found[name] - value for name, value in published.items()]

    found = efficiencies(*np.exp(least_squares(off, [0.9, -1.6]).x))
    assert found == pytest.approx(published, abs=0.01)


def test_equivalence_agrees_with_a_published_power() -> None:
    """PowerTOST, README and vignette: sampleN.TOST(CV = 0.30) needs 40 for a power of 0.815845."""
    se = sqrt(log(1 + 0.3**2)) * sqrt(2 / 40)
    assert equivalence_power(log(0.95), log(1.25), se, 38, 0.05) == pytest.approx(0.815845, abs=1e-6)
    assert equivalence_power(0, 0.05, 0.02, inf, 0.025) == pytest.approx(
        equivalence_power(0, 0.05, 0.02, 1e6, 0.025), abs=1e-4
    )


def test_one_reader_at_a_site_is_a_reader_and_a_common_site_effect_adds_nothing() -> None:
    assert by_site(PILOT, 1, 0.7) == PILOT
    alone = planned_difference(PILOT, 4, 100)
    together = by_site(PILOT, 5, 1.0)
    assert together.arm_reader == PILOT.arm_reader  # four sites are four readers of that component
    assert planned_difference(together, 4, 100).se < alone.se  # what is due to readers on cases is averaged


def test_independent_readers_at_a_site_weigh_as_so_many_readers() -> None:
    sites, crossed = planned_difference(by_site(PILOT, 3, 0.0), 4, 100), planned_difference(PILOT, 12, 100)
    assert sites.se == pytest.approx(crossed.se)
    assert sites.df < crossed.df


def test_a_carry_over_takes_the_own_error_and_leaves_what_readers_share() -> None:
    assert carried_over(PILOT, 0.0) == PILOT
    assert carried_over(PILOT, 1.0).own == PILOT.shared


def test_design_effect_agrees_with_mrmcsamplesize() -> None:
    """MRMCsamplesize 1.0.0, sampleSize_MRMC(..., ICC = 0.5, s = 1.25): DE."""
    assert design_effect(1.25, 0.5) == 1.125


def test_what_cannot_be_planned_says_why() -> None:
    assert planned_difference(PILOT, 1, 100).note
    assert planned_difference(Components(0, 0, 0, 100), 5, 100).note
    with pytest.raises(ValueError, match="do not divide"):
        planned_difference(PILOT, 5, 100, groups=2)
