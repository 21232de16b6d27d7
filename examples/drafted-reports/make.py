"""Make the table of this example: simulated ratings of drafted reports, the same bytes on each run.

    python examples/drafted-reports/make.py

Five radiologists rate reports of 60 examinations, one written by a colleague and one drafted by the model,
blinded to the source: acceptability from 1 to 5, errors that matter, and the seconds that editing took.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 7
HERE = Path(__file__).parent
N_CASES, READERS = 60, ("R1", "R2", "R3", "R4", "R5")


def main() -> None:
    rng = np.random.default_rng(SEED)
    strict, hard = rng.normal(0, 0.25, len(READERS)), rng.normal(0, 0.5, N_CASES)
    with (HERE / "ratings.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("reader", "case", "source", "acceptability", "errors", "edit_seconds"))
        for j, reader in enumerate(READERS):
            for source, level, rate, time in (("model", 3.9, 0.35, 40.0), ("radiologist", 4.0, 0.30, 55.0)):
                for k in range(N_CASES):
                    rating = int(np.clip(round(level - strict[j] - hard[k] + rng.normal(0, 0.6)), 1, 5))
                    errors = int(rng.poisson(rate * np.exp(0.5 * hard[k])))
                    seconds = round(float(rng.gamma(2.0, time / 2.0)), 1)
                    table.writerow((reader, f"C{k:02d}", source, rating, errors, seconds))


if __name__ == "__main__":
    main()
