"""Copies of cases within their patient tell nothing new: no primary interval gets narrower by them."""

import csv
import json
from collections.abc import Iterator, Mapping
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from trustreport.api import assess, read_study
from trustreport.vocabulary.results import Result

ROOT = Path(__file__).parents[1]
VERDICTS, CONTRACT = (ROOT / "tests" / "reference" / name for name in ("verdicts", "contract"))
# Readers with and without gaps, one after the other, raters, classes, scores, candidates, sites, subgroups.
STUDIES = [
    *(VERDICTS / name for name in ("control-second-reader", "control-grades", "control-three-classes")),
    *(VERDICTS / name for name in ("control-sequential", "clustered-brier", "one-patient-at-four-sites")),
    VERDICTS / "threshold-on-test-data",
    *(CONTRACT / name for name in ("sim-missing10", "sim-unbalanced", "sequential")),
    ROOT / "examples" / "planned-change",
]
# Events are counted against uses, and each copy is a use; the bounds know no sample.
NOT_OF_CASES = ("vigilance.event_rate", "pragmatic_utility.arr_missing_bounds")
# The words of a method (before and after), and the least width that copies leave of an interval.
LEAST: Mapping[str, float] = {
    "bootstrap": 0.9,  # resamples are drawn anew
    # A share in clusters is worth at most as many cases as there are, lest clusters that are by chance less
    # alike than independent cases give an interval that is too narrow. Where that bound is reached, copies
    # raise it: by a tenth here, by 1 - sqrt(1/2) at most. It is not reached with one case of each patient.
    "cluster_wilson cluster_wilson": 0.9,
    # A share of readings is never inside Wilson's limits of readings, or with patients of clusters that are
    # patients; these may vary a little less than independent readings do.
    "cluster_twoway_t": 0.98,
    # Over sites: what copies add to the variance within sites is taken from the variance between them.
    "reml": 0.99,
    "binomial_normal": 0.999,
    # Independent classes have square-and-add limits; classes that share patients have no such form.
    "class_mover class_delta": 0.99,
    # Independent cases have half an event added to either outcome in each stratum, clusters have not.
    "direct_standardisation": 0.98,
    "gwet_fisher_z": 0.9999,  # Krippendorff's alpha itself moves with the number of values
}
ELSE = 1 - 1e-9


def copied(source: Path, target: Path, copies: int) -> Path:
    """The study with each case so often, every copy of the patient whom its first is of."""
    target.mkdir()
    text = (source / "study.yaml").read_text(encoding="utf-8")
    (target / "study.yaml").write_text(text, encoding="utf-8")
    manifest = yaml.safe_load(text)
    named = [one for one in (manifest.get("tables") or {}).values() if isinstance(one, dict)]
    files = {one["file"] for one in [*named, *(manifest.get("datasets") or ())] if "file" in one}
    tables = {name: rows_of(source / name) for name in files}
    patients = {r["case"]: r["patient"] for rows in tables.values() for r in rows if "patient" in r}
    for name, rows in tables.items():
        with (target / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]) + ["patient"] * ("patient" not in rows[0]))
            writer.writeheader()
            for copy in range(copies):
                for row in rows:
                    patient = {"patient": patients.get(row["case"], row["case"])}
                    case = row["case"] + f"~{copy}" * bool(copy)
                    writer.writerow({**patient, **row, "case": case})
    return target


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def primary(folder: Path) -> dict[str, Result]:
    """The primary entries by what they are of, whatever the method that leads."""
    study, plan = read_study(folder / "study.yaml")
    found: dict[str, Result] = {}
    for r in (r for finding in assess(study, plan).findings for r in finding.results):
        if r.primary and r.id not in NOT_OF_CASES:
            scope = {key: value for key, value in r.scope.items() if key != "analysis"}
            found[json.dumps([r.id, scope], sort_keys=True, default=str)] = r
    return found


def narrower(once: Mapping[str, Result], again: Mapping[str, Result]) -> Iterator[str]:
    """What the copies make narrower by more than the method allows, and what they make disappear."""
    for key, r in once.items():
        width = r.estimate.high - r.estimate.low
        if not width > 0 or r.unit == "count":
            continue
        other = again.get(key)
        if other is None:
            yield f"{key} is gone"
            continue
        change = (other.estimate.high - other.estimate.low) / width
        words = f"{r.method} {other.method} {r.endpoint}"
        least = min((LEAST[word] for word in LEAST if word in words), default=ELSE)
        if not isnan(change) and change < least:
            yield f"{key}: {r.method} {r.estimate} to {other.method} {other.estimate}"


@pytest.mark.parametrize("source", STUDIES, ids=lambda path: path.name)
def test_no_primary_interval_gets_narrower(source: Path, tmp_path: Path) -> None:
    once, again = (primary(copied(source, tmp_path / str(n), n)) for n in (1, 2))
    with_interval = sum(r.estimate.high > r.estimate.low for r in once.values())
    assert with_interval > 10
    assert not (found := list(narrower(once, again))), "\n".join(found)
    kept = sum(
        not isnan(again[key].estimate.low) for key, r in once.items() if r.estimate.high > r.estimate.low
    )
    assert kept > 0.8 * with_interval, "most keep an interval, so that the test says something"


def test_marks_of_lesions_neither(tmp_path: Path) -> None:
    once, again = (primary(copied(marked(tmp_path / "marked"), tmp_path / str(n), n)) for n in (1, 2))
    assert sum(r.dimension == "reader_localisation" for r in once.values()) > 40
    assert not (found := list(narrower(once, again))), "\n".join(found)


def marked(folder: Path) -> Path:
    """A study of four readers who mark lesions in 40 cases with and without the aid."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(5)
    cases = [{"case": f"C{i}", "truth": int(i < 20)} for i in range(40)]
    lesions = [{"case": f"C{i}", "lesion": "a"} for i in range(20)]
    marks: list[dict[str, Any]] = []
    for reader in "ABCD":
        for arm, gain in (("unaided", 0.0), ("aided", 0.5)):
            for i in range(40):
                if i < 20 and rng.random() < 0.6 + 0.2 * gain:
                    rating = round(float(rng.normal(1.5 + gain)), 3)
                    marks.append(
                        {"reader": reader, "arm": arm, "case": f"C{i}", "lesion": "a", "rating": rating}
                    )
                if rng.random() < 0.4:
                    rating = round(float(rng.normal()), 3)
                    marks.append(
                        {"reader": reader, "arm": arm, "case": f"C{i}", "lesion": "", "rating": rating}
                    )
    for name, rows in (("cases", cases), ("lesions", lesions), ("marks", marks)):
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    tables = {name: {"file": f"{name}.csv"} for name in ("cases", "lesions", "marks")}
    manifest = {
        "report": {"kind": "certification"},
        "device": {"trade_name": "Drawn"},
        "tables": tables,
        "arms": [{"arm": "unaided", "aided": False}, {"arm": "aided", "aided": True}],
    }
    (folder / "study.yaml").write_text(json.dumps(manifest), encoding="utf-8")
    return folder
