"""A study with nothing to withhold: scores of five data sets, and readings of sixty cases in two arms."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment

Rows = list[dict[str, Any]]
Manifest = dict[str, Any]
SCORES = Path(__file__).resolve().parent / "reference" / "verdicts" / "threshold-on-test-data" / "s.csv"


def goal(name: str, measure: str, bound: float, **more: Any) -> dict[str, Any]:
    hypothesis = {"hypothesis": "performance goal", "bound_or_margin": bound, "alpha": 0.025}
    return {"endpoint": name, "measure": measure, **hypothesis, **more}


def sound_study(criteria: list[dict[str, Any]]) -> tuple[Rows, Rows, Manifest]:
    """Rows of scores, rows of readings, and the manifest with these criteria."""
    with SCORES.open(newline="") as file:
        scores: Rows = [dict(row) for row in csv.DictReader(file)]
    rng = np.random.default_rng(5)
    readings: Rows = []
    for r in range(6):
        for c in range(60):
            truth, advice = c % 2, int(c % 2 if c % 7 else 1 - c % 2)
            for arm, skill in (("unaided", 0.75), ("aided", 0.85)):
                decision = truth if rng.random() < skill else 1 - truth
                row = {"reader": f"R{r}", "case": f"k{c}", "arm": arm, "truth": truth, "decision": decision}
                readings.append(row | {"advice": advice if arm == "aided" else ""})
    manifest: Manifest = {
        "report": {"kind": "certification"},
        "device": {"trade_name": "Withheld", "software_version": "1.0"},
        "study": {"sap_locked_at": "2026-06-30", "data_opened_at": "2026-07-02"},
        "operating_point": {
            "threshold": 0.5,
            "threshold_origin": "tuned on development data",
            "threshold_fixed_on": "2025-01-01",
        },
        "datasets": [
            {"dataset": "base", "role": "training"},
            *({"dataset": name, "role": "external"} for name in ("north", "south", "east")),
            {"dataset": "quarter", "role": "period", "start_date": "2026-04-01", "end_date": "2026-06-30"},
        ],
        "tables": {"scores": {"file": "s.csv"}, "readings": {"file": "r.csv"}},
        "subgroups": [{"name": "sex", "prespecified": True}],
        "vigilance": {"baseline_dataset": "base"},
        "similarity": {"permutations": 99},
        "endpoints": criteria,
    }
    return scores, readings, manifest


def assessed(folder: Path, scores: Rows, readings: Rows, manifest: Manifest) -> Assessment:
    for name, rows in (("s.csv", scores), ("r.csv", readings)):
        with (folder / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
            writer.writeheader()
            writer.writerows(rows)
    (folder / "study.yaml").write_text(json.dumps(manifest))
    return assess(*read_study(folder))
