"""Tables as tools for contours write them: the manifest that is proposed, and the means that follow of it.

The headers are those of the tools: panoptica's aggregator (a column for each group and metric, as in its
`unit_tests/test_unittest_file.tsv`), MetricsReloaded's script and its process for labels, seg-metrics'
`write_metrics`, and nnU-Net's `summary.json` as a table.
"""

import csv
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from trustreport.api import assess, read_study
from trustreport.commands.cli import main
from trustreport.study.plan import Plan
from trustreport.study.proposal import manifest
from trustreport.study.proposal.contours import metric_of
from trustreport.study.proposal.files import propose
from trustreport.study.study import Study

PANOPTICA = [
    *("num_ref_instances", "num_pred_instances", "tp", "fp", "fn", "prec", "rec", "rq"),
    *("sq", "sq_std", "pq", "sq_dsc", "sq_dsc_std", "pq_dsc", "sq_assd", "sq_assd_std"),
    *("sq_rvd", "sq_rvd_std", "global_bin_dsc", "computation_time"),
]
TAKEN = {"fp", "fn", "prec", "rec", "rq", "sq", "pq", "sq dsc", "pq dsc", "sq assd", "global bin dsc"}
RELOADED = ["dsc", "fbeta", "nsd", "vol_diff", "rel_vol_error", "hd_perc", "masd"]
SEG = ["dice", "jaccard", "precision", "recall", "fpr", "fnr", "vs", "hd", "hd95", "msd", "mdsd", "stdsd"]
NNUNET = ["Dice", "FN", "FP", "IoU", "TN", "TP", "n_pred", "n_ref"]


def cell(metric: str, r: random.Random) -> Any:
    """A value such as the tool writes: distances in mm, counts, shares."""
    if metric.startswith(("num_", "n_")) or metric in ("tp", "TP", "FP", "FN", "TN"):
        return r.randint(8, 5000) if metric.isupper() or metric.startswith("n_") else r.randint(8, 14)
    if metric in ("fp", "fn"):
        return r.choice([0, 0, 0, 1, 2])
    distance = any(word in metric for word in ("assd", "hd", "sd", "masd")) and metric not in (
        "nsd",
        "sq_dsc",
    )
    return round(r.uniform(0.3, 9) if distance else r.uniform(0.6, 0.98), 6)


def table(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf8") as file:
        csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",").writerows([header, *rows])
    return path


def panoptica(path: Path, groups: Sequence[str]) -> Path:
    """One row a subject; of a subject without a match the quality is empty and the distance infinite."""
    r = random.Random(11)
    header = ["subject_name", *(f"{g}-{m}" for g in groups for m in PANOPTICA)]
    rows = [[f"sub-{k:03d}", *(cell(m, r) for _ in groups for m in PANOPTICA)] for k in range(30)]
    rows[4][header.index(f"{groups[0]}-sq_assd")] = "inf"
    rows[4][header.index(f"{groups[0]}-sq_dsc")] = "nan"
    return table(path, header, rows)


def reloaded(path: Path, seed: int = 3, first: int = 0, cases: int = 10) -> Path:
    """A row for each image and label, named by its files; few images are easily taken as names."""
    r = random.Random(seed)
    header = ["reference", "prediction", "label", *RELOADED, "EmptyRef", "EmptyPred"]
    rows = [
        [f"/d/labels/sub-{k:03d}_seg.nii.gz", f"/d/{path.stem}/sub-{k:03d}_seg.nii.gz", f"{label}.0"]
        + [cell(m, r) for m in RELOADED]
        + ["False", "False"]
        for k in range(first, first + cases)
        for label in (1, 2)
    ]
    return table(path, header, rows)


def of_labels(path: Path) -> Path:
    r = random.Random(4)
    metrics = ["iou", "fbeta", "numb_ref", "numb_pred", "numb_tp", "numb_fn", "numb_fp", "hd_perc", "nsd"]
    header = ["", *metrics, "label", "case"]
    rows = [
        [2 * k + label - 1, *(cell(m, r) for m in metrics), label, k] for k in range(30) for label in (1, 2)
    ]
    return table(path, header, rows)


def seg_metrics(path: Path) -> Path:
    r = random.Random(5)
    rows = [
        [label, *(cell(m, r) for m in SEG), f"data/pred/img_{k}.mhd"] for k in range(30) for label in (4, 5)
    ]
    return table(path, ["label", *SEG, "filename"], rows)


def nnunet(path: Path) -> Path:
    r = random.Random(6)
    rows = [
        [f"pred/c_{k}.nii.gz", f"gt/c_{k}.nii.gz", label, *(cell(m, r) for m in NNUNET)]
        for k in range(30)
        for label in ("1", "2")
    ]
    return table(path, ["prediction_file", "reference_file", "label", *NNUNET], rows)


def read(tmp_path: Path, *files: Path) -> tuple[Study, Plan, str]:
    proposal = propose(list(files), "certification")
    text = manifest.text(proposal, "study")
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    return *read_study(tmp_path), text


def means(study: Study, plan: Plan) -> dict[str, float]:
    """The mean of each measurement, by its name."""
    results = assess(study, plan, only=["measurement"]).results
    return {r.endpoint: r.estimate.value for r in results if r.name in ("mean_score", "mean_loss")}


def column(path: Path, header: str, **where: str) -> float:
    """The mean of a column in the file itself, without what is no number."""
    with path.open(encoding="utf8") as file:
        rows = list(csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ","))
    found = [float(x[header]) for x in rows if all(x[k] == v for k, v in where.items())]
    return float(np.mean([x for x in found if np.isfinite(x)]))


def test_panoptica_has_a_column_for_each_group_and_metric(tmp_path: Path) -> None:
    file = panoptica(tmp_path / "panoptica.tsv", ["vertebra", "disc-space"])
    study, plan, text = read(tmp_path, file)
    assert {m.measurement for m in plan.measurements} == TAKEN
    kinds = {m.measurement: (m.kind, m.better, m.unit) for m in plan.measurements}
    assert kinds["sq assd"] == ("number", "down", "mm")
    assert kinds["sq dsc"] == ("number", "up", None)
    assert kinds["fp"] == ("count", "down", None)
    assert {v.measurement for v in study.values} == {
        f"{m}, {group}" for m in TAKEN for group in ("vertebra", "disc-space")
    }
    for metric, name in (("sq_dsc", "sq dsc"), ("sq_assd", "sq assd"), ("rq", "rq"), ("fp", "fp")):
        one = next(v for v in study.values if v.measurement == f"{name}, vertebra")
        assert np.nanmean(one.value) == pytest.approx(column(file, f"vertebra-{metric}"), abs=1e-12)
    # The case without a match is no mean of 29 in silence.
    assert "missing: [inf, nan]  # UNCERTAIN: panoptica.tsv: inf left out" in text
    assert "are the distances in mm, or in voxels?" in text
    assert "num_ref_instances" in text.rpartition("no metrics with a better side: ")[2]


def test_panoptica_without_groups_is_one_measurement_a_metric(tmp_path: Path) -> None:
    file = panoptica(tmp_path / "panoptica.tsv", ["ungrouped"])
    study, plan, text = read(tmp_path, file)
    assert {v.measurement for v in study.values} == TAKEN
    assert "unpivot" not in text
    expected = column(file, "ungrouped-global_bin_dsc")
    assert means(study, plan)["global bin dsc"] == pytest.approx(expected, abs=1e-12)


def test_images_named_by_their_files_are_cases(tmp_path: Path) -> None:
    file = reloaded(tmp_path / "metrics.csv")
    study, plan, _ = read(tmp_path, file)
    sides = {m.measurement: (m.better, m.unit) for m in plan.measurements}
    assert sides == {
        "dsc": ("up", None),
        "fbeta": ("up", None),
        "nsd": ("up", None),
        "hd perc": ("down", "mm"),
        "masd": ("down", "mm"),
    }
    assert {v.measurement for v in study.values} == {f"{m}, {k}.0" for m in sides for k in (1, 2)}
    one = next(v for v in study.values if v.measurement == "hd perc, 2.0")
    assert np.nanmean(one.value) == pytest.approx(column(file, "hd_perc", label="2.0"), abs=1e-12)
    assert len(one.cases) == 10


def test_a_table_of_labels_without_files(tmp_path: Path) -> None:
    study, plan, _ = read(tmp_path, of_labels(tmp_path / "seg.csv"))
    assert {m.measurement for m in plan.measurements} == {"iou", "fbeta", "hd perc", "nsd"}
    assert all(len(v.cases) == 30 for v in study.values)


def test_seg_metrics(tmp_path: Path) -> None:
    study, plan, text = read(tmp_path, seg_metrics(tmp_path / "metrics.csv"))
    up = {m.measurement for m in plan.measurements if m.better == "up"}
    down = {m.measurement for m in plan.measurements if m.better == "down"}
    assert up == {"dice", "jaccard", "precision", "recall", "vs"}
    assert down == {"fpr", "fnr", "hd", "hd95", "msd", "mdsd"}
    assert {m.measurement for m in plan.measurements if m.unit == "mm"} == {"hd", "hd95", "msd", "mdsd"}
    assert "stdsd" in text.rpartition("no metrics with a better side: ")[2]
    assert all(len(v.cases) == 30 for v in study.values)


def test_counts_of_voxels_are_no_counts_of_lesions(tmp_path: Path) -> None:
    study, plan, _ = read(tmp_path, nnunet(tmp_path / "summary.csv"))
    assert {m.measurement for m in plan.measurements} == {"dice", "IoU"}
    assert {v.measurement for v in study.values} == {f"{m}, {k}" for m in ("dice", "IoU") for k in (1, 2)}


def test_files_of_the_same_images_are_candidates(tmp_path: Path) -> None:
    files = [reloaded(tmp_path / f"model_{k}.csv", seed=k) for k in "abc"]
    study, plan, _ = read(tmp_path, *files)
    assert {m.measurement for m in plan.measurements} >= {"dsc", "masd"}
    assert len(plan.measurements) == 5
    assert all(v.conditions == ("model_a", "model_b", "model_c") for v in study.values)
    results = assess(study, plan, only=["measurement"]).results
    assert any(r.name == "mean_score_difference" for r in results)


def test_files_of_other_images_are_data_sets(tmp_path: Path) -> None:
    files = [reloaded(tmp_path / f"site_{k}.csv", first=100 * i) for i, k in enumerate("ab")]
    study, _, _ = read(tmp_path, *files)
    assert {v.dataset for v in study.values} == {"site_a", "site_b"}


@pytest.mark.parametrize(
    ("header", "better", "unit"),
    [
        ("DiceSimilarityCoefficient", "up", ""),
        ("HausdorffDistance", "down", "mm"),
        ("NormalizedSurfaceDistance", "up", ""),
        ("HD95 (mm)", "down", "mm"),
        ("mean surface distance", "down", "mm"),
        ("boundary_iou", "up", ""),
        ("global_bin_cldsc", "up", ""),
    ],
)
def test_metrics_by_their_headers(header: str, better: str, unit: str) -> None:
    found = metric_of(header)
    assert found is not None
    assert (found.better, found.unit) == (better, unit)


@pytest.mark.parametrize("header", ["recall", "sq_dsc_std", "precision", "fp", "volume_ref", "decision"])
def test_words_that_are_no_metric_alone(header: str) -> None:
    assert metric_of(header) is None


def test_a_recall_of_a_mammogram_is_no_metric(tmp_path: Path) -> None:
    rows = [[f"R{j}", k, k % 2] for j in range(3) for k in range(20)]
    proposal = propose([table(tmp_path / "r.csv", ["reader", "case", "recall"], rows)], "certification")
    assert not proposal.measurements


def test_summaries_of_nnunet_of_three_models_are_called_alike(tmp_path: Path) -> None:
    """nnU-Net writes `summary.json` into the folder of each model."""
    r = random.Random(9)
    dice: dict[str, list[float]] = {}
    for model in ("plain", "resenc", "cascade"):
        cases = []
        for k in range(12):
            d = round(r.uniform(0.7, 0.95), 4)
            dice.setdefault(model, []).append(d)
            found = {"Dice": d, "FN": 120, "FP": 90, "IoU": d / (2 - d), "TN": 9000, "TP": 800}
            files = {"prediction_file": f"{model}/c{k}.nii.gz", "reference_file": f"gt/c{k}.nii.gz"}
            cases.append({"metrics": {"1": found}, **files})
        (tmp_path / model).mkdir()
        (tmp_path / model / "summary.json").write_text(json.dumps({"metric_per_case": cases}))
    files = [str(tmp_path / model / "summary.json") for model in dice]
    study = tmp_path / "study"
    done = CliRunner().invoke(main, ["init", str(study), "--from", *files])
    assert done.exit_code == 0, done.output
    names = sorted(p.name for p in study.iterdir())
    assert names == ["cascade_summary.csv", "plain_summary.csv", "resenc_summary.csv", "study.yaml"]
    results = assess(*read_study(study), only=["measurement"]).results
    found = {r.place.candidate: r.estimate.value for r in results if r.name == "mean_score"}
    for model, values in dice.items():
        one = next(r for r in results if r.place.candidate == f"{model}_summary" and r.endpoint == "dice, 1")
        assert one.estimate.value == pytest.approx(np.mean(values), abs=1e-9)
    assert len(found) == 3


def test_a_json_file_of_something_else_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"metric_per_case": 3}')
    done = CliRunner().invoke(main, ["init", str(tmp_path / "s"), "--from", str(tmp_path / "a.json")])
    assert done.exit_code == 1
