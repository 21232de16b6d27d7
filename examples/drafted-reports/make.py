"""Make the tables of this example: simulated ratings of drafted reports, the same bytes on each run.

    python examples/drafted-reports/make.py

Five radiologists rate reports of 60 examinations, one written by a colleague and one drafted by the model,
blinded to the source: acceptability from 1 to 5, errors that matter, and the seconds that editing took. The
60 were drawn at random from 300, of which a model rated all reports: as a judge it is more lenient than
people, and overlooks errors.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 7
HERE = Path(__file__).parent
N_CASES, READERS = 60, ("R1", "R2", "R3", "R4", "R5")
N_JUDGED, JUDGE, LENIENT, OVERLOOKED = 300, "llm-1", 0.4, 0.4
SOURCES = (("model", 3.9, 0.35, 40.0), ("radiologist", 4.0, 0.30, 55.0))


def main() -> None:
    rng = np.random.default_rng(SEED)
    strict, hard = rng.normal(0, 0.25, len(READERS)), rng.normal(0, 0.5, N_CASES)
    with (HERE / "ratings.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("reader", "case", "source", "acceptability", "errors", "edit_seconds"))
        for j, reader in enumerate(READERS):
            for source, level, rate, time in SOURCES:
                for k in range(N_CASES):
                    rating = int(np.clip(round(level - strict[j] - hard[k] + rng.normal(0, 0.6)), 1, 5))
                    errors = int(rng.poisson(rate * np.exp(0.5 * hard[k])))
                    seconds = round(float(rng.gamma(2.0, time / 2.0)), 1)
                    table.writerow((reader, f"C{k:02d}", source, rating, errors, seconds))
    by_judge(np.random.default_rng(SEED + 1), hard)


def by_judge(rng: np.random.Generator, hard: np.ndarray) -> None:
    """Write the ratings of the judge, of the cases that people rated and of the others."""
    hard = np.append(hard, rng.normal(0, 0.5, N_JUDGED - len(hard)))
    with (HERE / "judge.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("reader", "case", "source", "acceptability", "errors"))
        for source, level, rate, _ in SOURCES:
            for k in range(N_JUDGED):
                rating = int(np.clip(round(level + LENIENT - hard[k] + rng.normal(0, 0.6)), 1, 5))
                errors = int(rng.poisson((1 - OVERLOOKED) * rate * np.exp(0.5 * hard[k])))
                table.writerow((JUDGE, f"C{k:02d}", source, rating, errors))


if __name__ == "__main__":
    main()
