"""Make the table of this example: simulated routine cases with labels from reports, the same on each run.

    python examples/routine-labels/make.py

Of 3,000 radiographs 10% show the finding. The label was read from the report by a language model, which is
right in 95% of those with and in 97% of those without the finding; 400 were read by hand to measure this.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 3
HERE = Path(__file__).parent
N, PREVALENCE = 3000, 0.10
LABEL_SENSITIVITY, LABEL_SPECIFICITY = 0.95, 0.97


def main() -> None:
    rng = np.random.default_rng(SEED)
    present = rng.random(N) < PREVALENCE
    right = rng.random(N) < np.where(present, LABEL_SENSITIVITY, LABEL_SPECIFICITY)
    label = np.where(right, present, ~present)
    score = np.clip(rng.normal(np.where(present, 0.72, 0.25), 0.14), 0, 1).round(3)
    with (HERE / "routine.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("case", "date", "label", "score"))
        for k in range(N):
            table.writerow(
                (f"X{k:04d}", f"2026-{1 + k * 6 // N:02d}-{1 + k % 28:02d}", int(label[k]), score[k])
            )


if __name__ == "__main__":
    main()
