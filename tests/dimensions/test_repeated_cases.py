"""The same case twice: what data sets and readings with a second run yield, and what is said of the rest."""

from pathlib import Path

import pytest

from tests.english import english
from trustreport.api import Assessed, assess, read_study
from trustreport.measures.note import note
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\noperating_point: {threshold: 0.5}\n"
SETS = HEAD + "datasets: [{dataset: clinic, role: internal test, file: s.csv}]\n"
# Two of five positive decisions turn negative, one of seven negative ones positive.
SCORES = [
    *((0.9, 0.8), (0.8, 0.9), (0.7, 0.6), (0.6, 0.4), (0.5, 0.45)),
    *((0.4, 0.5), (0.4, 0.3), (0.3, 0.3), (0.3, 0.2), (0.2, 0.2), (0.1, 0.2), (0.1, 0.1)),
]


def assessed(folder: Path, rows: list[str], manifest: str = SETS, name: str = "s.csv") -> Assessed:
    (folder / name).write_text("\n".join(rows) + "\n")
    (folder / "study.yaml").write_text(manifest)
    return assess(*read_study(folder))


def of_scores(*more: str) -> list[str]:
    rows = [f"c{i},{int(i < 6)},{first},{second}" for i, (first, second) in enumerate(SCORES)]
    return ["case,truth,score,second_score", *rows, *more]


def primary(found: Assessed, dimension: str = "potential_robustness") -> dict[str, object]:
    return {r.name: r.estimate for r in found.results if r.primary and r.dimension == dimension}


def said(found: Assessed) -> str:
    return " ".join(EN(m) for f in found.findings for p in f.parts for m in p.finding)


def test_flips_are_those_counted_by_hand(tmp_path: Path) -> None:
    e = primary(assessed(tmp_path, of_scores()))
    counted = {n: (e[n].value, e[n].n) for n in ("flip_rate", "flip_to_negative", "flip_to_positive")}
    assert counted == {
        "flip_rate": (3 / 12, 12),
        "flip_to_negative": (2 / 5, 5),
        "flip_to_positive": (1 / 7, 7),
    }
    assert e["repeat_agreement"].value == 9 / 12
    # kappa by hand: observed 9/12, by chance 5/12 x 4/12 + 7/12 x 8/12
    assert e["repeat_kappa"].value == pytest.approx((9 / 12 - 76 / 144) / (1 - 76 / 144))


def test_cases_without_a_second_run_are_counted_and_said(tmp_path: Path) -> None:
    """Neither does a case without a known truth get lost: repeatability needs none."""
    found = assessed(tmp_path, of_scores("c90,1,0.9,", "c91,0,,0.2", "c92,,0.9,0.9"))
    e = primary(found)["flip_rate"]
    assert (e.n, e.details["first_runs"]) == (13, 14)
    assert "1 case of 14 has no result of a second run and is left out" in said(found)
    assert "3 of 13 decisions changed" in said(found)


def test_a_direction_without_decisions_says_why(tmp_path: Path) -> None:
    rows = ["case,truth,score,second_score", *(f"c{i},0,0.{i % 3 + 1},0.{i % 3 + 1}" for i in range(9))]
    e = primary(assessed(tmp_path, rows))
    assert e["flip_to_negative"].note == note("no_case_with_both_runs_was_called")
    assert e["repeat_bias"].note == note("both_runs_gave_same_scores_no")
    assert e["flip_rate"].value == 0


def test_decisions_made_in_two_ways_are_not_compared(tmp_path: Path) -> None:
    rows = ["case,truth,score,decision,second_score", *(f"c{i},{i % 2},0.4,1,0.4" for i in range(9))]
    e = primary(assessed(tmp_path, rows))
    assert "recorded" in english(e["flip_rate"].note)
    assert e["within_case_sd"].n == 9


def test_without_a_second_run_nothing_is_reported(tmp_path: Path) -> None:
    rows = [row.rpartition(",")[0] for row in of_scores()]
    found = assessed(tmp_path, rows)
    assert "flip_rate" not in primary(found)
    assert "potential_robustness" in {u.dimension for u in found.unanswered}


def test_clusters_are_respected(tmp_path: Path) -> None:
    rows = [f"{row},p{i // 3}" for i, row in enumerate(of_scores()[1:])]
    found = assessed(tmp_path, ["case,truth,score,second_score,patient", *rows])
    methods = {r.name: r.method for r in found.results if r.primary and r.dimension == "potential_robustness"}
    assert methods["flip_rate"] == "cluster_wilson"
    expected = {
        "repeat_kappa": "cluster_fisher_z",
        "repeat_bias": "cluster_linearised",
        "within_case_sd": "cluster_chi_square_sd",
    }
    assert {name: methods[name] for name in expected} == expected


def test_a_criterion_may_name_a_flip_rate(tmp_path: Path) -> None:
    criterion = (
        "endpoints: [{endpoint: few flips, measure: potential_robustness.flip_rate, "
        "hypothesis: performance goal, bound_or_margin: 0.4, alpha: 0.025}]\n"
    )
    point = "{threshold: 0.5, threshold_origin: tuned on development data, threshold_fixed_on: 2025-01-01}"
    manifest = SETS.replace("{threshold: 0.5}", point) + criterion
    manifest += "study: {sap_locked_at: 2026-01-01, data_opened_at: 2026-02-01}\n"
    rows = [
        f"{i}c{j},{int(j < 6)},{first + i / 1e4},{second + i / 1e4}"
        for i in range(10)
        for j, (first, second) in enumerate(SCORES)
    ]
    (verdict,) = assessed(tmp_path, ["case,truth,score,second_score", *rows], manifest).verdicts
    assert (verdict.word, verdict.checks) == ("pass", ())


def test_second_scores_outside_the_declared_range_are_refused(tmp_path: Path) -> None:
    manifest = SETS.replace("{threshold: 0.5}", "{threshold: 0.5, score_range: [0, 1]}")
    with pytest.raises(StudyError, match=r"column second_score: found scores from 0\.1 to 7"):
        assessed(tmp_path, of_scores("c90,1,0.9,7"), manifest)


def test_second_readings_are_of_each_arm(tmp_path: Path) -> None:
    """Two of twelve decisions with the aid change, three of twelve without."""
    rows = ["reader,case,arm,truth,decision,second_decision"]
    for arm, flips in (("unaided", {(0, 1), (1, 3), (2, 0)}), ("aided", {(0, 1), (2, 2)})):
        rows += [
            f"R{j},C{k},{arm},{k % 2},{(j + k) % 2},{((j + k) + ((j, k) in flips)) % 2}"
            for j in range(3)
            for k in range(4)
        ]
    found = assessed(tmp_path, rows, HEAD + "tables: {readings: {file: r.csv}}\n", "r.csv")
    flips = {
        r.place.arm: (r.estimate.value, r.estimate.n, r.method)
        for r in found.results
        if r.name == "flip_rate" and r.primary
    }
    assert flips == {"unaided": (3 / 12, 12, "cluster_twoway_t"), "aided": (2 / 12, 12, "cluster_twoway_t")}
    assert "2 of 12 decisions changed when the same reader read the same case again" in said(found)
