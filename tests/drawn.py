"""Studies drawn at random: what a manufacturer, a hospital or an auditor may bring, with its faults."""

import csv
import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Rows = list[dict[str, Any]]
ROLES = ("external", "local", "internal test", "training", "period")
RULES = (None, None, "wrong", "positive", "negative")
STATUSES = ("ok", "failed", "refused", "not run", "")
DESIGNS = ("complete", "at random", "by reader", "split plot")


def drawn_study(seed: int, folder: Path) -> Path:
    """Write a study of this seed into a folder, and return its manifest."""
    rng = np.random.default_rng(seed)
    manifest: dict[str, Any] = {
        "report": {"kind": str(rng.choice(["certification", "procurement", "vigilance"]))},
        "device": {"trade_name": "Drawn", "software_version": "1.0"},
        "similarity": {"permutations": 99, "seed": 1},
        "tables": {},
    }
    readings, data = rng.random() < 0.55, rng.random() < 0.75
    if readings or not data:
        _write(folder / "readings.csv", list(_readings(rng)))
        manifest["tables"]["readings"] = {"file": "readings.csv"}
    if data:
        rows, declared = _data(rng)
        _write(folder / "scores.csv", rows)
        manifest["tables"]["scores"] = {"file": "scores.csv"}
        manifest |= declared
    if rng.random() < 0.3:
        manifest["utility"] = {"matrices": [{"name": "u", "matrix": [[1, 0], [0.4, 1]]}], "thresholds": [0.3]}
    if rng.random() < 0.4:
        manifest["subgroups"] = [{"name": "sex", "prespecified": True}]
    path = folder / "study.yaml"
    path.write_text(json.dumps(manifest, default=str), encoding="utf-8")
    return path


def _write(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)))
        writer.writeheader()
        writer.writerows(rows)


def _readings(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Readers of one task in two arms; some readings missing, some tables with ratings, advice or times."""
    n_readers, n_cases = int(rng.integers(1, 7)), int(rng.integers(12, 41))
    truth = (np.arange(n_cases) < max(2, round(n_cases * rng.uniform(0.2, 0.7)))).astype(int)
    design = DESIGNS[int(rng.integers(len(DESIGNS)))]
    rated, advised, timed = rng.random(3) < (0.5, 0.5, 0.3)
    advice = np.where(rng.random(n_cases) < 0.8, truth, 1 - truth)
    skill, gain = rng.uniform(0.6, 0.9, n_readers), rng.uniform(-0.05, 0.15, n_readers)
    careless = rng.uniform(0, 0.4, n_readers) if design == "by reader" else np.full(n_readers, 0.15)
    sex = rng.choice(["f", "m"], n_cases)
    for r in range(n_readers):
        for c in range(n_cases):
            for a, arm in enumerate(("unaided", "aided")):
                if design in ("at random", "by reader") and rng.random() < careless[r]:
                    continue
                if design == "split plot" and (c + r) % 3 == 0:
                    continue
                right = rng.random() < skill[r] + a * gain[r]
                decision = int(truth[c]) if right else 1 - int(truth[c])
                row = {"reader": f"R{r}", "case": f"c{c}", "arm": arm, "truth": truth[c], "sex": sex[c]}
                row["decision"] = decision
                if rated:
                    row["score"] = int(np.clip(rng.normal(3 + 1.5 * (decision - 0.5), 1), 1, 5))
                if advised and a:
                    row["advice"] = advice[c]
                if timed:
                    row["seconds"] = round(float(rng.gamma(4, 8)), 1)
                yield row


def _data(rng: np.random.Generator) -> tuple[Rows, dict[str, Any]]:
    """Data sets of one to three candidates: clusters, sites, groups, failures, periods, one class only."""
    n_candidates = int(rng.choice([1, 1, 1, 2, 3]))
    roles = [str(role) for role in rng.choice(ROLES, int(rng.integers(1, 5)))]
    names = [f"set{i}" for i in range(len(roles))]
    clusters, sites, fails, silent = rng.random(4) < (0.5, 0.4, 0.4, 0.2)
    below = rng.random() < 0.1
    rows: Rows = []
    for i, name in enumerate(names):
        n = int(rng.integers(16, 90))
        truth = (rng.random(n) < rng.choice([0.05, 0.2, 0.5, 1.0], p=[0.1, 0.45, 0.4, 0.05])).astype(int)
        shift, scale = rng.uniform(0.2, 2.5), float(rng.choice([1, 1, 1, 10]))
        days = [dt.date(2026, 1 + 2 * i, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 50, n)]
        patient, site, sex = rng.integers(0, n // 3 + 1, n), rng.integers(0, 3, n), rng.choice(["f", "m"], n)
        if clusters:  # a patient's cases share much of their suspicion
            common = rng.normal(size=n // 3 + 1)[patient]
        else:
            common = np.zeros(n)
        for k in range(n_candidates):
            latent = shift * (truth - 0.5) + common + rng.normal(size=n)
            score = scale / (1 + np.exp(latent if below else -latent))
            for c in range(n):
                status = str(rng.choice(STATUSES, p=[0.85, 0.06, 0.04, 0.02, 0.03])) if fails else ""
                row: dict[str, Any] = {"dataset": name, "case": f"{name}-{c}", "truth": truth[c]}
                row["score"] = "" if status in ("failed", "refused", "not run") else round(score[c], 4)
                if silent and rng.random() < 0.05:
                    row["score"] = ""
                row |= {"sex": sex[c], "date": days[c]}
                if n_candidates > 1:
                    row["candidate"] = "ABC"[k]
                if fails:
                    row["status"] = status
                if clusters:
                    row["patient"] = f"p{i}-{patient[c]}"
                if sites:
                    row["site"] = f"S{site[c]}"
                rows.append(row)
    point: dict[str, Any] = {"threshold": 0.5, "indeterminate_as": RULES[int(rng.integers(len(RULES)))]}
    if below:
        point["score_direction"] = "lower_is_positive"
    declared: dict[str, Any] = {
        "operating_point": {key: value for key, value in point.items() if value is not None},
        "datasets": [{"dataset": n, "role": r} for n, r in zip(names, roles, strict=True)],
    }
    if "period" in roles:
        declared["vigilance"] = {"baseline_dataset": names[0], "data_cut": "2026-12-31"}
        declared["reference_standard"] = {"maturity_days": int(rng.choice([1, 60, 250]))}
    return rows, declared
