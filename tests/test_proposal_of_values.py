"""Tables of values that `init --from` proposes a manifest for: each is read, and answers a question."""

import csv
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trustreport.api import assess, read_study
from trustreport.commands.cli import main
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


def without_a_word() -> Rows:
    return ((k, f"R{j}", arm, a + R.gauss(0, 3), b) for k, j, arm, b, a in _cases())


def _cases() -> Rows:
    for k in range(30):
        x = round(R.gauss(58, 8), 1)
        yield from ((k, j, arm, x, x) for j in range(3) for arm in ("without AI", "with AI"))


def candidates() -> Rows:
    return ((k, *(round(R.uniform(0.7, 0.95), 3) for _ in "ABC")) for k in range(40))


def drafts() -> Rows:
    return (
        (k, f"r{j}", source, R.choice([3, 4, 5]), R.choice([0, 0, 1]), round(R.uniform(0, 30), 1))
        for k in range(20)
        for j in range(3)
        for source in ("model", "radiologist")
    )


TABLES: dict[str, tuple[str, Callable[[], Rows], set[tuple[str, str]]]] = {
    "a device beside a reference": ("Case ID,EF AI,EF reference", measured, {("EF", "number")}),
    "readers beside a reference": (
        "case,reader,arm,diameter_mm,reference_mm",
        by_readers,
        {("diameter", "number")},
    ),
    "a reference by its words and its cells": (
        "patient,reader,arm,lvef,mri_lvef",
        without_a_word,
        {("lvef", "number")},
    ),
    "a metric with a column for each candidate": (
        "case,dice_A,dice_B,dice_C",
        candidates,
        {("dice", "number")},
    ),
    "drafts rated by reviewers": (
        "exam,reviewer,source,acceptability,severe_errors,edited_pct",
        drafts,
        {("acceptability", "ordinal"), ("severe errors", "count"), ("edited", "number")},
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


def test_columns_of_organs_are_structures(tmp_path: Path) -> None:
    rows = "".join(f"{k},0.{k + 10},0.{k + 20}\n" for k in range(30))
    (tmp_path / "t.csv").write_text("case,dice_liver,dice_spleen\n" + rows)
    made = propose([tmp_path / "t.csv"], "certification")
    assert [m["measurement"] for m in made.measurements] == ["dice liver", "dice spleen"]
    assert "candidates or structures" in made.entries[0].about["columns"]
    (tmp_path / "t.csv").write_text("case,dice_1,dice_2\n" + rows)
    made = propose([tmp_path / "t.csv"], "certification")
    assert made.entries[0].form["columns"] == {"measured": {"1": "dice_1", "2": "dice_2"}}


@pytest.mark.parametrize("order", [("audit", "routine"), ("routine", "audit")])
def test_an_audit_of_labels_is_known_in_any_order(order: tuple[str, str], tmp_path: Path) -> None:
    labels = [(k, k % 7 == 0, k % 9 == 0) for k in range(400)]
    (tmp_path / "audit.csv").write_text(
        "accession,report_label,expert\n" + "".join(f"{k},{int(x)},{int(y)}\n" for k, x, y in labels[:200])
    )
    (tmp_path / "routine.csv").write_text(
        "accession,ai_score,report_label\n"
        + "".join(f"{k},{0.5 + (k % 11 - 5) / 20},{int(x)}\n" for k, x, _ in labels)
    )
    done = CliRunner().invoke(
        main, ["init", "--from", str(tmp_path / "s"), *(str(tmp_path / f"{name}.csv") for name in order)]
    )
    assert done.exit_code == 0, done.output
    _, plan = read_study(tmp_path / "s")
    both = [(x, y) for _, x, y in labels[:200]]
    right = both.count((True, True)), sum(y for _, y in both)
    assert plan.reference_standard.sensitivity == right
    assert plan.reference_standard.specificity == (both.count((False, False)), 200 - right[1])
    assert [d.dataset for d in plan.datasets] == ["routine"]


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


EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
LABELS = Path(__file__).parent / "reference" / "endpoints" / "labels-known"


def test_the_error_of_labels_is_not_given_to_another_reference_standard() -> None:
    """The audit judges labels of reports; the truth of these scores is no such label."""
    found = propose([EXAMPLES / "vigilance-audit" / "scores.csv", LABELS / "audit.csv"], "vigilance")
    assert found.reference == {}
    assert found.unread["audit.csv"].startswith("it judges Finding (NLP of report) again")


def test_of_a_label_by_its_name_only_its_error_is_asked() -> None:
    found = propose([LABELS / "routine.csv"], "vigilance")
    assert found.reference == {"kind": "error_prone"}
    asked = [*found.about.values(), *(d for one in found.datasets for d in one["about"].values())]
    assert any("how often is Finding (NLP of report) right?" in question for question in asked)
    assert not any("which column is the reference standard" in question for question in asked)


def test_a_column_called_label_has_a_word_on_its_error() -> None:
    found = propose([EXAMPLES / "routine-labels" / "routine.csv"], "vigilance")
    assert any(note.startswith("Where label was read from reports") for note in found.notes)


def test_a_measured_number_is_not_proposed_as_a_group() -> None:
    found = propose([EXAMPLES / "vigilance-audit" / "scores.csv"], "vigilance")
    assert found.groups == ["age_group", "scanner"]
