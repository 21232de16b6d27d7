"""Published numbers as manifests: the pitfalls that they must show, and of those of a kind no other."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
# Among these nothing else may fire; the others may.
KIND = [f"P{i:02}" for i in (*range(1, 9), *range(19, 27))]
HEAD: dict[str, Any] = {
    "report": {"kind": "certification"},
    "device": {
        "trade_name": "Example aid",
        "software_version": "1.0",
        "manufacturer": "Example manufacturer",
    },
}


def assessed(folder: Path, manifest: dict[str, Any], **tables: str) -> Assessment:
    """The study of a manifest and tables that a user hands in."""
    (folder / "study.yaml").write_text(yaml.safe_dump(HEAD | manifest))
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    return assess(*read_study(folder))


def fired(found: Assessment) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {}
    for outcome in found.fired():
        said.setdefault(outcome.check, []).append(EN(outcome.message))
    return said


def of_kind(found: Assessment) -> set[str]:
    return set(fired(found)) & set(KIND)


def number(found: Assessment, id: str, **scope: Any) -> Any:
    (r,) = (r for r in found.results if r.id == id and r.primary and r.within(**scope))
    return r.estimate


def test_352_and_367_errors_of_1548(tmp_path: Path) -> None:
    """Cabitza et al.: 13 readers x 120 cases are 1,560 readings of each arm, and 12 are not there."""
    arms = {"unaided": 367, "aided": 352}
    counts = [
        {
            "set": "knee",
            "arm": arm,
            "errors": n,
            "correct": 1548 - n,
            "readers": 13,
            "cases": 120,
            "paired": True,
        }
        for arm, n in arms.items()
    ]
    found = assessed(tmp_path, {"counts": counts, "intended_use": {"claimed_benefits": "fewer errors"}})
    assert of_kind(found) == {"P19", "P22", "P23", "P24", "P25"}
    said = fired(found)
    assert "Of 3,120 readings, 24 are missing (0.8%): 12 unaided, 12 aided." in said["P19"][0]
    odds = number(found, "pragmatic_utility.odds_ratio", set="knee")
    assert (odds.value, odds.low, odds.high) == pytest.approx((0.947, 0.80, 1.12), abs=0.005)
    arr = number(found, "pragmatic_utility.arr", set="knee")
    assert 100 * np.array([arr.value, arr.low, arr.high]) == pytest.approx([0.97, -2.0, 3.9], abs=0.05)
    nnd = number(found, "pragmatic_utility.nnd", set="knee")
    assert nnd.value == pytest.approx(103.2, abs=0.05)
    assert nnd.details["benefit_from"] == pytest.approx(25, abs=0.5)
    assert nnd.details["harm_from"] == pytest.approx(50, abs=0.5)
    assert "no single number of decisions needed can be given" in said["P24"][0]


def test_94_per_cent_that_the_counts_do_not_give(tmp_path: Path) -> None:
    """Counts 65, 33, 7, 1 recompute to 92.5 %; with the 19 cases that were removed as errors it is 78.4 %."""
    manifest = {
        "confusion": [{"set": "test", "tp": 65, "tn": 33, "fp": 7, "fn": 1}],
        "datasets": [
            {
                "dataset": "test",
                "role": "internal test",
                "exclusions": [{"reason": "low confidence", "n": 19, "decided_before_results": False}],
            }
        ],
        "performance_claims": [{"measure": "accuracy", "value": "94%", "set": "test"}],
    }
    found = assessed(tmp_path, manifest)
    assert {"P03", "P06"} <= of_kind(found)
    assert of_kind(found) <= {"P03", "P06"}
    said = fired(found)
    assert "92.5" in said["P06"][0] or "92%" in said["P06"][0]
    (text,) = said["P03"]
    assert text.startswith("In all, 19 cases were excluded after the results were known, or had no decision")
    assert text.endswith("they lower accuracy from 92.5% to 78.4%.")


def test_a_total_that_its_parts_do_not_give(tmp_path: Path) -> None:
    """20,691 and 1,004 are 21,695 negatives, declared as 21,572."""
    manifest = {
        "confusion": [{"set": "test", "tp": 20000, "fn": 1000, "tn": 20691, "fp": 1004}],
        "performance_claims": [{"measure": "negatives", "value": "21572", "set": "test"}],
    }
    found = assessed(tmp_path, manifest)
    assert of_kind(found) == {"P06"}
    assert "21,572" in fired(found)["P06"][0] or "21572" in fired(found)["P06"][0]
    assert "21,695" in fired(found)["P06"][0] or "21695" in fired(found)["P06"][0]


@pytest.mark.parametrize(
    "cells", [{"tp": 45, "fn": 5, "fp": 0, "tn": 0}, {"tp": 0, "fn": 0, "fp": 5, "tn": 45}]
)
def test_sets_of_one_class(cells: dict[str, int], tmp_path: Path) -> None:
    found = assessed(tmp_path, {"confusion": [{"set": "one class", **cells}]})
    assert {"P04", "P07"} <= of_kind(found)
    assert of_kind(found) <= {"P04", "P07", "P08"}


def test_334_positives_and_11_negatives(tmp_path: Path) -> None:
    """Eleven negatives leave the area under the curve with an interval of about 0.10 to either side."""
    rng = np.random.default_rng(2)
    truth = np.repeat([1, 0], [334, 11])
    score = 1 / (1 + np.exp(-(1.9 * truth + rng.normal(0, 1, 345) - 1)))
    rows = "".join(f"{t},{s:.6f}\n" for t, s in zip(truth, score))
    sets = [{"dataset": "test", "role": "external", "file": "test.csv"}]
    found = assessed(tmp_path, {"datasets": sets}, test="truth,score\n" + rows)
    said = fired(found)
    assert any(
        "334 positives and 11 negatives: fewer cases than needed for the AUC" in text for text in said["P39"]
    )
    area = number(found, "advice_accuracy.auc", dataset="test")
    assert (area.high - area.low) / 2 == pytest.approx(0.10, abs=0.03)
    assert not of_kind(found) & {"P19", "P20", "P21", "P22", "P23", "P24", "P25", "P26"}


def test_the_same_inputs_give_the_same_bytes(tmp_path: Path) -> None:
    from trustreport.api import write_report

    manifest = {"confusion": [{"set": "test", "tp": 65, "tn": 33, "fp": 7, "fn": 1}]}
    found = assessed(tmp_path, manifest)
    written = []
    for name in ("one", "two"):
        write_report(
            found if name == "one" else assess(*read_study(tmp_path)), tmp_path / name, formats=("json",)
        )
        written.append((tmp_path / name / "results.json").read_bytes())
    assert written[0] == written[1]
