"""Make the tables of this example: simulated readings, the same bytes on each run.

    python examples/knee-mri-readings/make.py

Skill, reliance and seed were chosen so that the error rates resemble a published knee MRI study: 0.237 before
and 0.227 after advice (doi 10.5220/0011679600003414, Table 1). Nothing else was taken from that study.
"""

import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sequential_reading import Behaviour, SequentialReading, sequential_reading

SEED = 21
N_CASES, N_POSITIVES = 120, 54
OPERATING_POINT = 0.5

# reader, site, centre, years of experience, skill, threshold
READERS = [
    ("R01", "T1", "tertiary", 21, 0.94, 0.10),
    ("R02", "T1", "tertiary", 14, 0.89, -0.10),
    ("R03", "T1", "tertiary", 9, 0.84, 0.20),
    ("R04", "T2", "tertiary", 17, 0.79, 0.00),
    ("R05", "T2", "tertiary", 6, 0.74, 0.10),
    ("R06", "S1", "secondary", 18, 0.79, -0.20),
    ("R07", "S1", "secondary", 11, 0.74, 0.30),
    ("R08", "S2", "secondary", 25, 0.70, 0.10),
    ("R09", "S2", "secondary", 8, 0.67, 0.00),
    ("R10", "S2", "secondary", 13, 0.64, 0.20),
    ("R11", "S3", "secondary", 5, 0.60, -0.10),
    ("R12", "S3", "secondary", 4, 0.59, 0.15),
    ("R13", "S3", "secondary", 3, 0.55, 0.05),
]


# rater, skill, how readily sure; the labels are drawn with a seed of their own
RATERS = [("A", 2.2, 1.2), ("B", 2.0, 0.9), ("C", 1.8, 1.0), ("D", 1.6, 0.7), ("E", 1.5, 1.3)]
LEVELS = (0.2, 0.4, 0.6, 0.8, 1.0)


def annotate(truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels and confidences (n_cases, n_raters) of five raters; cases that look alike are hard for all."""
    rng = np.random.default_rng(SEED + 1)
    skill, ready = (np.array(column, float) for column in list(zip(*RATERS))[1:])
    appearance = np.where(truth, 1.0, -1.0)[:, None] + rng.normal(0, 0.5, (len(truth), 1))
    signal = skill * appearance + rng.normal(0, 1, (len(truth), len(RATERS)))
    sure = np.abs(signal) * ready / 2 + rng.normal(0, 0.25, signal.shape)
    return signal > 0, np.array(LEVELS)[np.clip(np.digitize(sure, (0.15, 0.45, 0.85, 1.4)), 0, 4)]


def sites(study: SequentialReading) -> np.ndarray:
    """Whether a lesion was found at its site, before and after advice: (2, n_readers, n_cases)."""
    rng = np.random.default_rng(SEED + 2)
    known = rng.random(study.decision.shape) < 0.85
    return np.stack([study.initial_decision, study.decision]) & known


def simulate() -> tuple[SequentialReading, np.ndarray, list[list[str]]]:
    """The readings, the order in which each reader met the cases, and sex and age group of the cases."""
    rng = np.random.default_rng(SEED)
    truth = rng.permutation(N_CASES) < N_POSITIVES
    sex = ["female" if u < 0.45 else "male" for u in rng.random(N_CASES)]
    age_group = ["under 40" if u < 0.55 else "40 and over" for u in rng.random(N_CASES)]
    order = np.array([rng.permutation(N_CASES) + 1 for _ in READERS])
    study = sequential_reading(
        truth,
        [reader[4] for reader in READERS],
        threshold=[reader[5] for reader in READERS],
        case_share=0.4,
        advice_skill=0.8,
        advice_correlation=0.4,
        behaviour=Behaviour(reliance=-1.6),
        rng=rng,
    )
    return study, order, [sex, age_group]


def write(folder: Path) -> None:
    """Write readings.csv, readers.csv, cases.csv and raters.csv into `folder`."""
    study, order, (sex, age_group) = simulate()
    cases = [f"K{k + 1:03d}" for k in range(N_CASES)]
    score = [f"{value:.3f}" for value in study.advice_score]
    if any((float(text) >= OPERATING_POINT) != advice for text, advice in zip(score, study.advice)):
        raise ValueError("a rounded score fell on the other side of the operating point: take another seed")

    named = sites(study)

    def site(stage: int, j: int, k: int) -> object:
        return int(named[stage, j, k]) if study.truth[k] else ""

    def readings() -> Iterable[Sequence[object]]:
        for j, reader in enumerate(READERS):
            for k in np.argsort(order[j]):
                yield (
                    reader[0],
                    cases[k],
                    int(study.truth[k]),
                    int(study.initial_decision[j, k]),
                    int(study.advice[k]),
                    score[k],
                    int(study.decision[j, k]),
                    f"{study.confidence[j, k]:.2f}",
                    f"{study.seconds[j, k]:.1f}",
                    order[j, k],
                    f"{study.initial_confidence[j, k]:.2f}",
                    1 + int(order[j, k] > N_CASES / 2),
                    site(0, j, k),
                    site(1, j, k),
                )

    _write_csv(
        folder / "readings.csv",
        "reader case truth initial_decision advice advice_score decision confidence seconds order"
        " initial_confidence session site_before site_after",
        readings(),
    )
    _write_csv(
        folder / "readers.csv",
        "reader qualification site centre years_experience",
        ((reader, "board-certified radiologist", *rest) for reader, *rest, _, _ in READERS),
    )
    _write_csv(
        folder / "cases.csv",
        "case truth patient sex age_group",
        ((case, int(study.truth[k]), f"P{case[1:]}", sex[k], age_group[k]) for k, case in enumerate(cases)),
    )
    label, sure = annotate(np.asarray(study.truth, bool))
    _write_csv(
        folder / "raters.csv",
        "case rater label confidence",
        (
            (case, rater[0], int(label[k, j]), f"{sure[k, j]:.1f}")
            for k, case in enumerate(cases)
            for j, rater in enumerate(RATERS)
        ),
    )


def _write_csv(path: Path, columns: str, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


if __name__ == "__main__":
    write(Path(__file__).resolve().parent)
