"""What `check` says at once of data that can hardly be meant so."""

from pathlib import Path

import numpy as np
import pytest

from trustreport.api import read_study
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"


def readings(*, turned: bool = False, factor: float = 1.0, arms: str = "") -> str:
    rng = np.random.default_rng(3)
    rows = ["reader,case,arm,truth,decision,seconds"]
    for j in range(3):
        for k in range(40):
            for arm in ("unaided", "aided"):
                right = rng.random() < 0.8
                truth = k % 2
                said = truth if right != turned else 1 - truth
                rows.append(f"R{j},c{k},{arm},{truth},{said},{factor * (30 + k)}")
    return "\n".join(rows) + "\n"


def said(folder: Path, manifest: str, **files: str) -> list[str]:
    (folder / "study.yaml").write_text(HEAD + manifest)
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return [key for key, _ in read_study(folder)[0].cautions]


TABLE = "tables: {readings: {file: r.csv}}\n"


@pytest.mark.parametrize(
    ("manifest", "table", "key"),
    [
        (TABLE, readings(turned=True), "readers_below_chance"),
        (TABLE, readings(factor=1000), "readings_too_long"),
        (
            TABLE
            + "arms: [{arm: unaided, aided: false}, {arm: aided, aided: true}, {arm: other, aided: true}]\n",
            readings(),
            "arms_without_rows",
        ),
    ],
)
def test_what_can_hardly_be_meant_is_said(tmp_path: Path, manifest: str, table: str, key: str) -> None:
    assert key in said(tmp_path, manifest, r=table)


def test_of_good_readings_nothing_is_said(tmp_path: Path) -> None:
    assert said(tmp_path, TABLE, r=readings()) == []


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("direction", ["higher_is_positive", "lower_is_positive"])
def test_scores_below_chance_are_named(tmp_path: Path, sign: int, direction: str) -> None:
    truth = np.arange(200) % 2
    score = (sign * np.random.default_rng(1).normal(truth, 1)).round(3)
    table = "case,truth,score\n" + "".join(f"c{k},{t},{s}\n" for k, (t, s) in enumerate(zip(truth, score)))
    manifest = (
        f"operating_point: {{score_direction: {direction}}}\n"
        "datasets: [{dataset: d, role: external, file: d.csv}]\n"
    )
    turned = (sign == 1) != (direction == "higher_is_positive")
    assert ("scores_below_chance" in said(tmp_path, manifest, d=table)) == turned


@pytest.mark.parametrize(("n", "named"), [(40, True), (4, False)], ids=["forty", "four"])
def test_scores_that_separate_the_wrong_way_round_are_named(tmp_path: Path, n: int, named: bool) -> None:
    rows = "".join(f"c{k},{k % 2},{0.9 - 0.8 * (k % 2)}\n" for k in range(n))
    manifest = "datasets: [{dataset: d, role: external, file: d.csv}]\n"
    assert ("scores_below_chance" in said(tmp_path, manifest, d="case,truth,score\n" + rows)) == named


def test_a_margin_in_per_cent_is_recognised(tmp_path: Path) -> None:
    criterion = (
        "endpoints: [{endpoint: e, measure: decision_benefit.mean_benefit, of: accuracy,"
        " hypothesis: non-inferiority, bound_or_margin: 10, arm_or_contrast: [aided, unaided]}]\n"
    )
    with pytest.raises(StudyError, match=r"If 10 per cent is meant, write 0\.1"):
        said(tmp_path, TABLE + criterion, r=readings())


def test_ids_that_differ_by_zeros_are_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match='differs from "C001" by zeros or letter case alone'):
        said(
            tmp_path,
            "tables: {readings: {file: r.csv}, cases: {file: c.csv}}\n",
            r="reader,case,arm,decision\nA,c1,unaided,1\nA,c1,aided,1\n",
            c="case,truth\nC001,1\nC002,0\n",
        )
