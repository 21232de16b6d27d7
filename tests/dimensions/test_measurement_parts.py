"""Measurements by group, site and period, ranks and paired shares: from tables to the first page."""

from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.studies import with_table
from trustreport.api import Assessment, assess, read_study
from trustreport.measures.paired.difference import PairedTable, tango
from trustreport.report.answer.answer import answer
from trustreport.report.answer.glance import glance
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

EN = catalogue("en")
HEAD = "case patient site scanner measured reference"


def assessed(folder: Path, manifest: str, head: str, rows: Any) -> Assessment:
    folder.mkdir(exist_ok=True)
    study = with_table(folder, manifest, head, rows)
    if manifest.startswith("report:"):
        (study / "study.yaml").write_text(f"device: {{trade_name: X}}\n{manifest}")
    return assess(*read_study(study))


def results(assessment: Assessment, id: str, **scope: Any) -> list[Result]:
    plain = {"reader": None, "site": None, "subgroup": None}
    return [r for r in assessment.results if r.id == id and r.within(**{**plain, **scope})]


def single(assessment: Assessment, id: str, **scope: Any) -> Result:
    (found,) = results(assessment, id, **scope)
    return found


def said(assessment: Assessment, dimension: str = "measurement") -> str:
    (finding,) = [f for f in assessment.findings if f.dimension == dimension]
    text = " ".join(EN(m) for part in finding.parts for m in part.finding)
    return text.replace("\N{NO-BREAK SPACE}", " ")


def first_page(assessment: Assessment) -> str:
    found = answer(assessment, EN)
    return f"{found.sentence} {found.supporting}".replace("\N{NO-BREAK SPACE}", " ")


def device(shift: float = 0.0, n: int = 90) -> list[tuple[Any, ...]]:
    """Two scanners and a rare third, two sites, six cases a patient; on the second values are too high."""
    rng = np.random.default_rng(8)
    reference = rng.normal(50, 8, n).round(1)
    scanner = ["ABC"[0 if k % 3 else 1] if k > 4 else "C" for k in range(n)]
    error = rng.normal(0, 2, n) + shift * np.array([s == "B" for s in scanner])
    value = (reference + error).round(1)
    return [
        (k, f"p{k // 6}", ("north", "south")[k % 2], scanner[k], value[k], reference[k]) for k in range(n)
    ]


MANIFEST = (
    "report: {kind: %s, title: t}\n"
    "measurements: [{measurement: volume, unit: mL, acceptable: 3}]\n"
    "subgroups: [{name: scanner, prespecified: true}, {name: sex}]\n"
    "tables: {values: {file: table.csv, kind: values%s}}\n"
)


def test_a_group_has_the_numbers_of_its_cases_alone(tmp_path: Path) -> None:
    rows = device(6.0)
    whole = assessed(tmp_path / "all", MANIFEST % ("certification", ""), HEAD, rows)
    own = [row for row in rows if row[3] == "B"]
    alone = assessed(tmp_path / "own", MANIFEST % ("certification", ""), HEAD, own)
    for name in ("bias", "mean_absolute_error", "acceptable_share"):
        id = f"measurement.{name}"
        group = single(whole, id, subgroup="scanner: B").estimate
        expected = single(alone, id).estimate
        assert (group.value, group.low, group.high) == (expected.value, expected.low, expected.high)
    small = single(whole, "measurement.bias", subgroup="scanner: C").estimate
    assert isnan(small.value)
    assert "fewer than 10 cases" in EN(small.note)


def test_differences_of_groups_are_adjusted_and_said_where_they_are_shown(tmp_path: Path) -> None:
    found = assessed(tmp_path, MANIFEST % ("certification", ""), HEAD, device(6.0))
    compared = [r for r in found.results if "against" in r.parameters and not isnan(r.estimate.value)]
    assert {r.name for r in compared} == {
        "bias_difference",
        "mean_absolute_error_difference",
        "acceptable_share_difference",
    }
    assert all(r.details["p_holm"] >= r.estimate.p for r in compared)
    assert {(r.details["family"], r.details["comparisons"]) for r in compared} == {("prespecified", 6)}
    bias = single(found, "measurement.bias_difference", subgroup="scanner: B")
    assert bias.details["unit"] == "mL"
    assert bias.estimate.low > 3
    text = said(found)
    assert "mean difference from the reference in scanner “B”" in text
    assert "compared with the other cases (adjusted p < 0.001)" in text
    assert "scanner: C has fewer than 10 cases: no numbers are given." in text
    assert "The group sex cannot be formed" in text
    alike = said(assessed(tmp_path / "alike", MANIFEST % ("certification", ""), HEAD, device(0.0)))
    assert "prespecified comparisons" not in alike


def test_a_public_report_shows_no_group_with_a_small_cell(tmp_path: Path) -> None:
    manifest = "report: {kind: certification, title: t, release: public}\n" + MANIFEST.partition("\n")[2] % ""
    found = assessed(tmp_path, manifest, HEAD, device(0.0))
    shut = [r for r in found.results if r.place.subgroup == "scanner: C"]
    assert shut
    assert all("suppressed" in EN(r.estimate.note) for r in shut)


@pytest.mark.parametrize("kind", ["certification", "procurement", "vigilance"])
def test_the_first_page_names_the_worst_site(tmp_path: Path, kind: str) -> None:
    rows = [(*row[:4], row[4] + (4 if row[2] == "south" else 0), row[5]) for row in device(0.0)]
    found = assessed(tmp_path, MANIFEST % (kind, ""), HEAD, rows)
    assert "Mean absolute error of volume at two sites: the worst is that of south, 4.0" in first_page(found)
    assert "; at north it is" in first_page(found)


def read(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(9)

    def value(row: tuple[Any, ...], arm: str) -> float:
        """A reading, less exact without the aid on other scanners than A."""
        return float(round(row[5] + rng.normal(0, 2 if arm == "aided" or row[3] == "A" else 9), 1))

    return [
        (f"R{j}", arm, *row[:4], value(row, arm), row[5])
        for j in range(5)
        for arm in ("unaided", "aided")
        for row in rows
    ]


def test_readers_have_each_condition_its_change_and_the_difference_of_changes(tmp_path: Path) -> None:
    rows = read(device(n=60))
    head = f"reader arm {HEAD}"
    found = assessed(tmp_path / "all", MANIFEST % ("certification", ""), head, rows)
    own = [row for row in rows if row[5] == "B"]
    alone = assessed(tmp_path / "own", MANIFEST % ("certification", ""), head, own)
    id = "reader_measurement.mean_absolute_error"
    for scope in ({"arm": "aided"}, {"arm": "unaided"}):
        group = single(found, id, subgroup="scanner: B", **scope).estimate
        assert group.value == pytest.approx(single(alone, id, **scope).estimate.value)
        assert (group.low, group.high) == pytest.approx(
            (single(alone, id, **scope).estimate.low, single(alone, id, **scope).estimate.high)
        )
    change, apart = (
        next(
            r
            for r in results(found, f"{id}_difference", subgroup="scanner: B")
            if ("against" in r.parameters) == compared
        )
        for compared in (False, True)
    )
    assert change.estimate.value == pytest.approx(single(alone, f"{id}_difference").estimate.value)
    assert apart.estimate.high < 0
    assert apart.place.arms == ("aided", "unaided")
    assert "mean absolute error (aided minus unaided) in scanner “B”" in said(found, "reader_measurement")
    assert single(found, id, site="north", arm="aided").estimate.value > 0


PERIODS = (
    "report: {kind: vigilance, title: t}\n"
    "measurements: [{measurement: dice, better: up, acceptable: 0.85}]\n"
    "vigilance: {baseline_dataset: base}\n"
    "tables: {values: {file: table.csv, kind: values, columns: {dataset: period}}}\n"
    "datasets: [{dataset: base, role: external}, {dataset: p1, role: period}, {dataset: p2, role: period}]\n"
)


@pytest.mark.parametrize(("drop", "word"), [(0.05, "Yes."), (0.0, "No change was found.")])
def test_periods_are_compared_with_their_baseline(tmp_path: Path, drop: float, word: str) -> None:
    rng = np.random.default_rng(10)
    rows = [
        (f"{period}{k}", period, round(float(rng.normal(0.9 - drop * (period == "p2"), 0.03)), 3))
        for period in ("base", "p1", "p2")
        for k in range(60)
    ]
    found = assessed(tmp_path, PERIODS, "case period measured", rows)
    value = {p: np.mean([row[2] for row in rows if row[1] == p]) for p in ("base", "p1", "p2")}
    for period in ("p1", "p2"):
        r = single(found, "measurement.mean_score_difference", period=period)
        assert r.place.reference == "base"
        assert r.estimate.value == pytest.approx(value[period] - value["base"])
        assert (r.details["family"], r.details["comparisons"]) == ("periods", 4)
    text = first_page(found)
    assert text.startswith(word)
    assert ("Mean score of dice in p2, minus base" in text) or drop == 0
    assert ("After adjustment by Holm’s method" in said(found)) == (drop > 0)


def of_candidates(folder: Path, apart: float = 0.05, patients: bool = False) -> Assessment:
    rng = np.random.default_rng(11)
    hard = rng.normal(0.8, 0.05, 60)
    rows = [
        (k, f"p{k // 3}", name, round(float(hard[k] - apart * i + rng.normal(0, 0.03)), 3))
        for k in range(60)
        for i, name in enumerate(("A", "B", "C"))
    ]
    manifest = (
        "measurements: [{measurement: dice, better: up, acceptable: 0.75}]\n"
        "tables: {values: {file: table.csv, kind: values}}\n"
    )
    head = "case patient candidate measured" if patients else "case ignored candidate measured"
    return assessed(folder, manifest, head, rows)


def test_three_candidates_have_ranks(tmp_path: Path) -> None:
    found = of_candidates(tmp_path)
    means = {name: single(found, "measurement.mean_rank", candidate=name).estimate for name in "ABC"}
    assert sum(e.value for e in means.values()) == pytest.approx(6)
    order = [single(found, "measurement.rank_of_mean", candidate=name).estimate for name in "ABC"]
    assert [(e.value, e.low, e.high) for e in order] == [(1, 1, 1), (2, 2, 2), (3, 3, 3)]
    assert (
        "(mean score) A ranks first of three candidates, and the interval of its rank includes no other"
        in said(found)
    )
    assert "unit" not in single(found, "measurement.mean_rank", candidate="A").details
    unsure = of_candidates(tmp_path / "unsure", apart=0.0)
    assert "the data are compatible with ranks up to" in said(unsure)


@pytest.mark.parametrize("patients", [False, True])
def test_acceptable_shares_of_devices_are_compared_on_the_same_cases(tmp_path: Path, patients: bool) -> None:
    found = of_candidates(tmp_path, patients=patients)
    (values,) = found.study.values
    good = values.value[:, 0] >= 0.75
    cells = [int((a & b).sum()) for a in (good[0], ~good[0]) for b in (good[1], ~good[1])]
    pair = next(
        r
        for r in results(found, "measurement.acceptable_share_difference")
        if r.place.candidates == ("A", "B")
    )
    expected = tango(PairedTable(*cells))
    assert pair.estimate.value == pytest.approx(expected.value)
    if patients:
        assert pair.method == "tango_clustered"
    else:
        assert (pair.estimate.low, pair.estimate.high) == (expected.low, expected.high)


def test_readers_that_rate_three_outputs_have_mean_ranks(tmp_path: Path) -> None:
    rng = np.random.default_rng(12)
    rows = [
        (f"R{j}", k, name, int(np.clip(round(3 + i + rng.normal(0, 1)), 1, 5)))
        for j in range(4)
        for k in range(30)
        for i, name in enumerate(("x", "y", "z"))
    ]
    manifest = (
        "measurements: [{measurement: quality, kind: ordinal, scale: [1, 5], better: up}]\n"
        "tables: {values: {file: table.csv, kind: values}}\n"
    )
    found = assessed(tmp_path, manifest, "reader case candidate measured", rows)
    z = single(found, "reader_measurement.mean_rank", candidate="z").estimate
    assert 1 <= z.low < z.value < z.high < 2
    assert "Of three candidates z has the best mean rank" in said(found, "reader_measurement")


def test_each_reader_has_a_within_case_sd_of_any_number_of_repeats(tmp_path: Path) -> None:
    rng = np.random.default_rng(13)
    rows = [
        (f"R{j}", k, r, round(10 + k + rng.normal(0, 1 + j), 2))
        for j in range(2)
        for k in range(40)
        for r in range(2 + k % 3)
    ]
    manifest = "tables: {values: {file: table.csv, kind: values}}\n"
    found = assessed(tmp_path, manifest, "reader case repeat measured", rows)
    for j in range(2):
        e = single(found, "reader_measurement.within_case_sd", reader=f"R{j}").estimate
        own = [[x for *_, x in rows_of] for rows_of in _by_case(rows, f"R{j}")]
        squares = sum(len(x) * float(np.var(x)) for x in own)
        assert e.value == pytest.approx((squares / sum(len(x) - 1 for x in own)) ** 0.5)
        assert e.n == 40
        assert e.low < 1 + j < e.high


def _by_case(rows: list[tuple[Any, ...]], reader: str) -> list[list[tuple[Any, ...]]]:
    return [[row for row in rows if row[:2] == (reader, k)] for k in range(40)]


def test_readers_in_a_single_condition_are_at_a_glance(tmp_path: Path) -> None:
    rows = [(f"R{j}", k, 10 + k % 7 + j, 10 + k % 7) for j in range(3) for k in range(20)]
    manifest = "tables: {values: {file: table.csv, kind: values}}\n"
    found = assessed(tmp_path, manifest, "reader case measured reference", rows)
    shown = [row for row in glance(found, {}, EN) if row.name == "Measurement by readers"]
    assert "mean difference from the reference 1" in shown[0].measured[0]


def test_the_worst_of_several_biases_is_the_one_farthest_from_none(tmp_path: Path) -> None:
    rng = np.random.default_rng(14)
    rows = [
        (k, name, round(50 + k + bias + float(rng.normal(0, 1)), 2), 50 + k)
        for k in range(30)
        for name, bias in (("A", -1.0), ("B", 4.0))
    ]
    manifest = "tables: {values: {file: table.csv, kind: values}}\n"
    found = assessed(tmp_path, manifest, "case candidate measured reference", rows)
    (row,) = (row for row in glance(found, {}, EN) if row.name == "Measurement")
    assert row.says.startswith("B, the worst of two")
