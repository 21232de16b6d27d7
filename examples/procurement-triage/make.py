"""Make the tables of this example: simulated local cases, three fictional candidates; the same bytes always.

    python examples/procurement-triage/make.py

Nothing here was measured: no patient, no radiograph and no device stands behind a number. The seed was chosen
so that criteria are met, missed and left open.
"""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

SEED = 42
N_CASES, PREVALENCE = 640, 0.16
THRESHOLD = 50.0
# candidate, separation of the classes, where its threshold lies, share of cases that fail
CANDIDATES = [("Alder", 2.75, 0.95, 0.010), ("Birch", 2.55, 1.00, 0.010), ("Cedar", 1.75, 1.05, 0.010)]
SHARED = 0.6  # of the spread of a score that all candidates have in common: some films are hard for all


def simulate() -> tuple[list[list[str]], list[list[str]]]:
    """Rows of the cases, and of the scores of every candidate."""
    rng = np.random.default_rng(SEED)
    truth = rng.random(N_CASES) < PREVALENCE
    age = np.clip(np.round(rng.normal(62, 15, N_CASES)), 18, 96).astype(int)
    sex = np.where(rng.random(N_CASES) < 0.47, "female", "male")
    unit = np.where(rng.random(N_CASES) < 0.35, "portable", "fixed")
    day = np.sort(rng.integers(0, 91, N_CASES))
    dates = np.datetime64("2026-03-02") + day
    cases = [
        [f"L{i + 1:04d}", str(int(truth[i])), "Harbour", str(dates[i]), sex[i], _group(age[i]), unit[i]]
        for i in range(N_CASES)
    ]
    hard = rng.normal(0, 1, N_CASES)
    scores = []
    for name, separation, cut, failing in CANDIDATES:
        own = rng.normal(0, 1, N_CASES)
        signal = separation * truth + SHARED**0.5 * hard + (1 - SHARED) ** 0.5 * own
        # Portable films are read less well.
        signal -= 0.5 * truth * (unit == "portable")
        score = np.round(100 / (1 + np.exp(-1.2 * (signal - cut))), 1)
        failed = rng.random(N_CASES) < failing * np.where(unit == "portable", 2.0, 0.6)
        for i in range(N_CASES):
            if failed[i]:
                scores.append([cases[i][0], name, "", "", "failed"])
            else:
                decision = str(int(score[i] >= THRESHOLD))
                scores.append([cases[i][0], name, f"{score[i]:.1f}", decision, "ok"])
    return cases, scores


def _group(age: int) -> str:
    return "under 50" if age < 50 else "50 to 69" if age < 70 else "70 and over"


def write(folder: Path) -> None:
    """Write cases.csv and scores.csv into a folder."""
    cases, scores = simulate()
    _table(folder / "cases.csv", ["case", "truth", "site", "date", "sex", "age_group", "unit"], cases)
    _table(folder / "scores.csv", ["case", "candidate", "score", "decision", "status"], scores)


def _table(file: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    write(Path(__file__).resolve().parent)
