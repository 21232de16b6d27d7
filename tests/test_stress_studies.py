"""Small studies that are odd and right: leap days, names in every script, huge counts, constant columns."""

import html
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trustreport import assess, read_study, write_report
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
SCORES = "datasets: [{dataset: A, role: external, file: a.parquet}]\noperating_point: {threshold: 0.5}\n"
READINGS = """arms: [{arm: unaided, aided: false}, {arm: aided, aided: true}]
tables: {readings: {file: r.csv}}
"""


def put(folder: Path, manifest: str, **files: pd.DataFrame) -> Path:
    (folder / "study.yaml").write_text(HEAD + manifest)
    for name, frame in files.items():
        if name == "r":
            frame.to_csv(folder / "r.csv", index=False)
        else:
            frame.to_parquet(folder / f"{name}.parquet")
    return folder


def scored(score: Any, truth: Any = None, **more: Any) -> pd.DataFrame:
    n = len(score)
    truth = np.arange(n) % 3 == 0 if truth is None else np.full(n, truth)
    return pd.DataFrame(
        {"case": [f"c{i}" for i in range(n)], "truth": truth.astype(int), "score": score, **more}
    )


def read_by(names: list[str], **more: Any) -> pd.DataFrame:
    """Each reads four cases in both arms; the second positive one is missed without the aid."""
    rows = [
        {"reader": name, "case": f"C{i}", "arm": arm, "truth": i % 2, "decision": decision, **more}
        for name in names
        for arm, decided in (("unaided", (0, 1, 0, 0)), ("aided", (0, 1, 0, 1)))
        for i, decision in enumerate(decided)
    ]
    return pd.DataFrame(rows)


def values(folder: Path, *dimensions: str) -> dict[str, float]:
    """The primary value of each result of the whole study."""
    results = assess(*read_study(folder), only=dimensions).results
    return {r.id: r.estimate.value for r in results if r.primary}


RNG = np.random.default_rng(8)
EVEN = RNG.integers(1, 63, 60) / 64  # exact in 16 bits


# ---------------------------------------------------------------- numbers


def test_scores_of_few_bits_are_the_same_scores(tmp_path: Path) -> None:
    found = []
    for kind in (np.float16, np.float32, np.float64):
        folder = tmp_path / kind.__name__
        folder.mkdir()
        found.append(values(put(folder, SCORES, a=scored(EVEN.astype(kind))), "advice_accuracy"))
    assert found[0]
    assert found[0] == found[1] == found[2]


def test_published_counts_of_1e12(tmp_path: Path) -> None:
    n = 10**12
    cells = [(9 * n, 2 * n, n, 7 * n), (8 * n, n, 2 * n, 9 * n), (7 * n, n, 3 * n, 8 * n)]
    rows = [
        f"  - {{set: s{i}, tp: {a}, fp: {b}, fn: {c}, tn: {d}}}\n" for i, (a, b, c, d) in enumerate(cells)
    ]
    put(tmp_path, "confusion:\n" + "".join(rows) + "pools: [{pool: P}]\n")
    study, plan = read_study(tmp_path)
    found = {
        (r.id.partition(".")[2], r.scope.get("set")): r.estimate.value
        for r in assess(study, plan, only=["advice_accuracy", "reported"]).results
        if r.primary and "parameters" not in r.scope
    }
    assert found["sensitivity", "s0"] == pytest.approx(0.9)
    assert found["specificity", "s1"] == pytest.approx(0.9)
    assert found["mcc", "s0"] == pytest.approx(61 / (11 * 10 * 9 * 8) ** 0.5)
    # Counted by hand: the bivariate mean of three known points is near the mean of their logits.
    pooled = found["pooled_sensitivity", "P"]
    assert pooled == pytest.approx(1 / (1 + np.exp(-np.log([9, 4, 7 / 3]).mean())), abs=0.01)


@pytest.mark.parametrize("count", [10**15 + 1, 2**63, 10**300])
def test_counts_beyond_what_anybody_counted_are_refused(tmp_path: Path, count: int) -> None:
    put(tmp_path, f"confusion: [{{set: s, tp: {count}, fp: 1, fn: 1, tn: 1}}]\n")
    with pytest.raises(StudyError, match="expected a number at most 1000000000000000"):
        read_study(tmp_path)


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e290])
def test_scores_at_the_ends_of_what_a_number_holds(tmp_path: Path, unit: float) -> None:
    whole = (EVEN * 64).astype(int)
    put(tmp_path, SCORES.replace("0.5", repr(32 * unit)), a=scored(whole * unit))
    found = values(tmp_path, "advice_accuracy")
    folder = tmp_path / "plain"
    folder.mkdir()
    known = values(put(folder, SCORES.replace("0.5", "32"), a=scored(whole)), "advice_accuracy")
    both = sorted(found.keys() & known.keys())  # scores next to 0 can be probabilities, those up to 63 cannot
    assert len(both) > 20
    assert [found[one] for one in both] == pytest.approx([known[one] for one in both], nan_ok=True)


CONSTANT = {
    "score": (np.full(30, 0.5), None),
    "score of 0": (np.zeros(30), None),
    "truth": (EVEN[:30], 1),
    "both": (np.ones(30), 0),
}


@pytest.mark.parametrize("which", CONSTANT)
def test_a_column_that_never_varies(tmp_path: Path, which: str) -> None:
    score, truth = CONSTANT[which]
    put(tmp_path, SCORES, a=scored(score, truth, site="one"))
    for one in assess(*read_study(tmp_path), only=["advice_accuracy", "advice_value"]).results:
        e = one.estimate
        assert e.note if np.isnan(e.value) else np.isnan(e.low) or e.low <= e.value <= e.high, one


@pytest.mark.parametrize("constant", [{"decision": 1}, {"score": 3}, {"truth": 1}])
def test_readings_that_never_vary(tmp_path: Path, constant: dict[str, int]) -> None:
    frame = read_by(["R1", "R2"]).assign(**constant)
    results = assess(*read_study(put(tmp_path, READINGS, r=frame))).results
    assert results
    for one in results:
        e = one.estimate
        assert e.note or e.details if np.isnan(e.value) else True, one


def test_one_reader(tmp_path: Path) -> None:
    found = assess(*read_study(put(tmp_path, READINGS, r=read_by(["only"]))), only=["decision_benefit"])
    (one,) = [
        r
        for r in found.results
        if r.id == "decision_benefit.benefit" and r.scope["endpoint"] == "sensitivity"
    ][:1]
    assert one.estimate.value == 0.5


# ---------------------------------------------------------------- names

NAMES = [
    "د. ليلى",
    "ד״ר כהן",
    "e\u0301lise",
    "Z\u0351\u036b\u0343algo",
    "田中",
    "😀",
    "<b>&amp;",
    "=1+1",
    "{{7*7}}",
]


def test_names_of_readers_in_every_script(tmp_path: Path) -> None:
    folder = put(tmp_path, READINGS, r=read_by(NAMES))
    found = assess(*read_study(folder))
    write_report(found, tmp_path / "out", formats=["html", "json"])
    written = json.loads((tmp_path / "out" / "results.json").read_text())
    assert {r["scope"].get("reader") for r in written["results"]} >= set(NAMES)
    page = (tmp_path / "out" / "report.html").read_text()
    text = html.unescape(re.sub(r"<[^>]+>|\u200b|\u2060", "", page))
    assert all(name in text for name in NAMES)
    assert "<b>&amp;<" not in page


@pytest.mark.parametrize("sign", ["\u202e", "\u2067", "\x1b"])
def test_signs_that_turn_the_digits_behind_a_name_are_refused(tmp_path: Path, sign: str) -> None:
    """A name with U+202E in a sentence would have 12.5 read as 5.21."""
    put(tmp_path, READINGS, r=read_by([f"{sign}R1", "R2"]))
    with pytest.raises(StudyError) as raised:
        read_study(tmp_path)
    (problem,) = raised.value.problems
    assert problem.column == "reader"
    assert problem.found == f'found "<U+{ord(sign):04X}>R1"'
    manifest = f'report: {{kind: certification, title: "a\\u{ord(sign):04x}b"}}\ndevice: {{}}\n'
    (tmp_path / "study.yaml").write_text(manifest + READINGS)
    with pytest.raises(StudyError, match=re.escape(f'report.title: found "a<U+{ord(sign):04X}>b"')):
        read_study(tmp_path)


# ---------------------------------------------------------------- days

LEAP = """report: {kind: vigilance}
device: {trade_name: D}
operating_point: {threshold: 0.5, score_range: [0, 1]}
reference_standard: {maturity_days: 366}
datasets:
  - {dataset: base, role: local, start_date: 2023-11-01, end_date: 2024-01-31}
  - {dataset: feb, role: period, start_date: 2024-02-01, end_date: 2024-02-29}
  - {dataset: leap, role: period, start_date: 2024-02-29, end_date: 2024-02-29}
tables: {scores: {file: s.csv}}
vigilance:
  baseline_dataset: base
  period_start: 2024-02-29
  period_end: 2024-02-29
  data_cut: 2025-03-01
  indicators:
    - measure: advice_accuracy.sensitivity
      in_control: 0.9
      to_detect: 0.8
      chart: cusum
      false_alert_budget: 0.05
incidents:
  - incident: I
    kind: incident
    event_date: 2024-02-29
    awareness_date: 2024-02-29
    description: d
    status: open
    due: 2028-02-29
"""
DAYS = {"base": "2023-11-05", "feb": "2024-02-29", "leap": "2024-02-29"}


def audit(folder: Path, manifest: str, days: dict[str, str] = DAYS) -> Path:
    rows = [
        {
            "dataset": name,
            "case": f"{name}{i}",
            "date": day,
            "truth": i % 2,
            "score": 0.9 if i % 2 and i != 3 else 0.1,
        }
        for name, day in days.items()
        for i in range(20)
    ]
    pd.DataFrame(rows).to_csv(folder / "s.csv", index=False)
    (folder / "study.yaml").write_text(manifest)
    return folder


def test_the_29th_of_february_is_a_day(tmp_path: Path) -> None:
    study, plan = read_study(audit(tmp_path, LEAP))
    results = assess(study, plan, only=["vigilance"]).results
    (one,) = [
        r
        for r in results
        if r.id == "vigilance.period_value"
        and r.quantity.id == "sensitivity"
        and r.scope.get("period") == "leap"
        and r.primary
    ]
    assert (one.estimate.value, one.estimate.n) == (0.9, 10)  # 366 days later is 2025-03-01: all is mature


@pytest.mark.parametrize("year", [2023, 2100])
def test_a_29th_of_february_that_never_was(tmp_path: Path, year: int) -> None:
    audit(tmp_path, LEAP.replace("2024-02-29", f"{year}-02-29"), DAYS | {"leap": f"{year}-02-29"})
    with pytest.raises(StudyError) as raised:
        read_study(tmp_path)
    said = [str(p) for p in raised.value.problems]
    assert len(said) == 8  # seven days of the manifest, one of the table
    assert all(f'found "{year}-02-29", expected a date as YYYY-MM-DD' in one for one in said)
