"""Draw the scores of this example: three versions of a fictional device, the same cases.

What is built in: version 1.1 was changed for the films of Eastgate and gains there; version 2.0 was changed
for those of Southgate, gains there, and has become weaker on the oldest cases (Northgate).

    python examples/planned-change/make.py     # writes scores.csv beside itself
"""

import csv
from pathlib import Path

import numpy as np

SEED = 11
CASES, POSITIVE = 220, 0.36
# How far the scores of cases with the condition are above those of the others, by hospital and version.
APART = {
    "Northgate": {"1.0": 2.5, "1.1": 2.5, "2.0": 2.0},
    "Eastgate": {"1.0": 1.3, "1.1": 2.4, "2.0": 2.4},
    "Southgate": {"1.0": 1.2, "1.1": 1.3, "2.0": 2.5},
}
COLUMNS = ("dataset", "case", "candidate", "truth", "score")


def rows() -> list[dict[str, object]]:
    """One row for each case and version."""
    rng, found = np.random.default_rng(SEED), []
    for dataset, apart in APART.items():
        truth = rng.random(CASES) < POSITIVE
        shared = rng.normal(0, 1, CASES)  # what makes a case hard for every version
        for version, gap in apart.items():
            away = 0.9 * shared + rng.normal(0, 0.45, CASES)
            score = 1 / (1 + np.exp(-1.4 * (np.where(truth, gap / 2, -gap / 2) + away)))
            found += [
                {
                    "dataset": dataset,
                    "case": f"{dataset[0]}{i + 1:03d}",
                    "candidate": version,
                    "truth": int(truth[i]),
                    "score": f"{score[i]:.3f}",
                }
                for i in range(CASES)
            ]
    return found


def write(folder: Path) -> None:
    """Write scores.csv into a folder."""
    with (folder / "scores.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows())


if __name__ == "__main__":
    write(Path(__file__).resolve().parent)
