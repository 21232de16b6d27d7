"""Make the table of this example: simulated raters, the same bytes on each run.

    python examples/annotations/make.py

Each case has a difficulty that all raters share, so that they err on the same cases more often than chance
would have it. A rater sees a signal, labels by its sign and is the surer the stronger it is.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 8
N_CASES, N_POSITIVES = 300, 120
LEVELS = (0.2, 0.4, 0.6, 0.8, 1.0)
MISSING = 0.03

# rater, skill, leaning towards positive, how readily sure
RATERS = [
    ("A", 1.9, 0.0, 1.0),
    ("B", 1.7, 0.1, 1.3),
    ("C", 1.5, -0.1, 0.8),
    ("D", 1.4, 0.3, 1.0),
    ("E", 1.3, -0.3, 1.5),
    ("F", 1.2, 0.0, 0.6),
    ("G", 1.1, 0.2, 0.9),
    ("H", 0.9, -0.2, 1.4),
]


def simulate() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Truth (n_cases,); label, confidence and whether it was given (n_cases, n_raters)."""
    rng = np.random.default_rng(SEED)
    truth = rng.permutation(N_CASES) < N_POSITIVES
    skill, leaning, ready = (np.array(column, float) for column in list(zip(*RATERS))[1:])
    appearance = np.where(truth, 1.0, -1.0)[:, None] + rng.normal(0, 0.55, (N_CASES, 1))
    signal = skill * appearance + leaning + rng.normal(0, 1, (N_CASES, len(RATERS)))
    sure = np.abs(signal) * ready / 2 + rng.normal(0, 0.25, signal.shape)
    step = np.clip(np.digitize(sure, (0.15, 0.45, 0.85, 1.4)), 0, 4)
    given = rng.random(signal.shape) >= MISSING
    return truth, signal > 0, np.array(LEVELS)[step], given


def write(folder: Path) -> None:
    """Write raters.csv into `folder`."""
    truth, label, confidence, given = simulate()
    with (folder / "raters.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["case", "rater", "label", "confidence", "truth"])
        for k in range(N_CASES):
            for j, rater in enumerate(RATERS):
                if given[k, j]:
                    sure = f"{confidence[k, j]:.1f}"
                    writer.writerow([f"X{k + 1:03d}", rater[0], int(label[k, j]), sure, int(truth[k])])


if __name__ == "__main__":
    write(Path(__file__).resolve().parent)
