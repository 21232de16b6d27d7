"""Decision curves in numbers against the Python package dcurves, as a flat table and in the annex."""

import csv
import io
import json
from pathlib import Path

import pytest

from trustreport.api import Assessed, assess, read_study
from trustreport.report.exports import export

REFERENCE = json.loads(
    (Path(__file__).resolve().parents[1] / "reference" / "decision_table.json").read_text()
)
COLUMNS = ("pos_rate", "tp_rate", "fp_rate", "net_benefit", "net_intervention_avoided")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Assessed:
    folder = tmp_path_factory.mktemp("curves")
    held = REFERENCE["cases"]
    rows = [f"c{i},{t},{a},{b}" for i, (t, a, b) in enumerate(zip(*held.values(), strict=True))]
    (folder / "s.csv").write_text("\n".join(["case,truth,one,two", *rows]) + "\n")
    (folder / "study.yaml").write_text(
        "report: {kind: procurement}\ndevice: {trade_name: D}\noperating_point: {threshold: 0.2}\n"
        "utility: {thresholds: [0.05, 0.1, 0.2, 0.35, 0.5]}\n"
        "datasets:\n"
        "  - {dataset: =clinic, role: local, file: s.csv, columns: {score: {first: one, second: two}}}\n"
    )
    return assess(*read_study(folder))


@pytest.fixture(scope="module")
def rows(found: Assessed) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export(found, "dcurves").decode())))


def test_every_number_is_that_of_dcurves(rows: list[dict[str, str]]) -> None:
    ours = {(row["variable"], float(row["threshold"])): row for row in rows}
    theirs = {(row["model"], row["threshold"]): row for row in REFERENCE["rows"]}
    assert set(ours) == set(theirs)
    assert len(rows) == len(theirs)
    for key, row in theirs.items():
        expected = [row[name.replace("pos_rate", "prevalence")] for name in COLUMNS]
        assert [float(ours[key][name]) for name in COLUMNS] == pytest.approx(expected, abs=1e-10), key
        standardized = row["net_benefit"] / row["prevalence"]
        assert float(ours[key]["standardized_net_benefit"]) == pytest.approx(standardized, abs=1e-10), key


def test_the_layout_is_that_of_dcurves(rows: list[dict[str, str]]) -> None:
    assert [row["label"] for row in rows[::5]] == ["Treat All", "Treat None", "first", "second"]
    assert {(row["n"], row["dataset"]) for row in rows} == {("200", "'=clinic")}
    assert all(
        float(row["net_benefit_low"]) <= float(row["net_benefit"]) <= float(row["net_benefit_high"])
        for row in rows
    )


def test_the_annex_has_the_same_rows(found: Assessed, rows: list[dict[str, str]]) -> None:
    (table,) = (t for f in found.findings for p in f.parts for t in p.tables if t.id == "decision_table_1")
    assert len(table.rows) == len(rows)
    for printed, row in zip(table.rows, rows, strict=True):
        assert [*printed[1:6], *printed[7:]] == pytest.approx(
            [
                float(row[name])
                for name in (
                    *("threshold", "n", "pos_rate", "tp_rate", "fp_rate"),
                    *("standardized_net_benefit", "net_intervention_avoided"),
                )
            ]
        )


def test_a_study_without_risks_has_no_such_table(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\n"
        "confusion: [{set: s, tp: 9, fp: 1, fn: 2, tn: 8}]\n"
    )
    with pytest.raises(ValueError, match="needed are scores that are probabilities"):
        export(assess(*read_study(tmp_path)), "dcurves")
