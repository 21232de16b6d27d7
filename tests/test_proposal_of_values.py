"""Tables of values that `init --from` proposes a manifest for: each is read, and answers a question."""

import csv
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from trustreport.api import assess, read_study
from trustreport.study.proposal import manifest
from trustreport.study.proposal.files import propose

Rows = Iterable[tuple[Any, ...]]
R = random.Random(5)


def measured() -> Rows:
    return ((k, x + R.gauss(1, 3), x) for k in range(40) for x in [round(R.gauss(58, 8), 1)])


def by_readers() -> Rows:
    cases = {k: R.uniform(5, 40) for k in range(30)}
    return (
        (k, f"R{j}", arm, round(x + R.gauss(0, 2), 1), round(x, 1))
        for k, x in cases.items()
        for j in range(3)
        for arm in ("with_ai", "without_ai")
    )


def contours() -> Rows:
    return ((k, m, R.uniform(0.7, 0.95), R.uniform(1, 9)) for k in range(40) for m in "AB")


def panoptica() -> Rows:
    return (
        (f"sub-{k}", group, 12, 11, 1, 1, R.uniform(0.8, 1), R.uniform(0.8, 0.97), R.uniform(0.2, 1.5))
        for k in range(30)
        for group in ("vertebra", "disc")
    )


def metrics_reloaded() -> Rows:
    return ((k, label, R.uniform(0.8, 0.97), R.uniform(1, 9)) for k in range(30) for label in (1, 2))


def ratings() -> Rows:
    return (
        (f"r{j}", k, arm, R.choice([2, 3, 4, 5]))
        for j in range(4)
        for arm in ("unaided", "aided")
        for k in range(30)
    )


def quality() -> Rows:
    return (
        (f"r{j}", k, method, R.choice([2, 3, 4]), R.choice([0, 0, 1, 2]))
        for j in range(3)
        for method in ("standard", "new")
        for k in range(30)
    )


TABLES: dict[str, tuple[str, Callable[[], Rows], set[tuple[str, str]]]] = {
    "a device beside a reference": ("Case ID,EF AI,EF reference", measured, {("EF", "number")}),
    "readers beside a reference": (
        "case,reader,arm,diameter_mm,reference_mm",
        by_readers,
        {("diameter", "number")},
    ),
    "metrics of two models": ("case,model,dice,hd95", contours, {("dice", "number"), ("hd95", "number")}),
    "panoptica": (
        "subject_name,group,num_ref_instances,tp,fp,fn,rq,sq_dsc,sq_assd",
        panoptica,
        {("rq", "number"), ("sq dsc", "number"), ("sq assd", "number"), ("fp", "count"), ("fn", "count")},
    ),
    "MetricsReloaded": ("case,label,dsc,masd", metrics_reloaded, {("dsc", "number"), ("masd", "number")}),
    "ratings without a truth": ("reader,case,arm,rating", ratings, {("rating", "ordinal")}),
    "quality and artefacts": (
        "reader,case,method,quality,artefacts",
        quality,
        {("quality", "ordinal"), ("artefacts", "count")},
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_what_is_proposed_is_read_and_answers(name: str, tmp_path: Path) -> None:
    header, rows, expected = TABLES[name]
    with (tmp_path / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header.split(","))
        writer.writerows(rows())
    proposal = propose([tmp_path / "table.csv"], "certification")
    (tmp_path / "study.yaml").write_text(manifest.text(proposal, "study"), encoding="utf-8")
    study, plan = read_study(tmp_path)
    assert {(m.measurement, m.kind) for m in plan.measurements} == expected
    assert {one.measurement.partition(", ")[0] for one in study.values} == {word for word, _ in expected}
    results = assess(study, plan).results
    assert any(r.primary and r.estimate.low < r.estimate.high for r in results)


def test_a_distance_is_better_where_it_is_smaller(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(
        "case,sq_assd,sq_dsc\n" + "".join(f"{k},{k / 9},0.{k + 10}\n" for k in range(30))
    )
    better = {
        m["measurement"]: m["better"] for m in propose([tmp_path / "t.csv"], "certification").measurements
    }
    assert better == {"sq assd": "down", "sq dsc": "up"}


def test_a_study_without_a_truth_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "readings.csv").write_text(
        "reader,case,arm,score\n" + "".join(f"R{j},{k},aided,{k % 5}\n" for j in range(3) for k in range(9))
    )
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {}\ntables: {readings: {file: readings.csv}}\n"
    )
    study, _ = read_study(tmp_path)
    assert "no_truth" in [key for key, _ in study.cautions]
