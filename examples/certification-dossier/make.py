"""Make the tables of this example: simulated photographs and readings, the same bytes on each run.

    python examples/certification-dossier/make.py

No patient, no photograph, no reader and no device stands behind a number. What was built in: the device ranks
as well at Northhaven as at home; Eastfield has other cameras and patients; at Southport it ranks worse and
foretells too little. Most readers gain from the advice, which makes some of them give up a right decision.
The seed was chosen so that criteria are met, missed and left open.
"""

import csv
import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from math import log
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEED = 65
THRESHOLD = 0.2
VERSION = "2.4.0"
PREVALENCE = 0.3  # of the training data: what the scores are calibrated to
SEPARATION = 2.3
SPLITS = 50  # random thirds of the training cases, for the spread of the internal area under the curve


@dataclass(frozen=True)
class Place:
    """Where the cases of a data set come from, and how the device does there."""

    name: str
    file: str
    sites: tuple[str, ...]
    first: dt.date
    days: int
    n: int
    prevalence: float
    separation: float = SEPARATION
    shift: float = 0.0  # added to the log odds of every score
    older: float = 0.0  # SDs
    blurred: float = 0.0  # SDs
    cameras: tuple[str, ...] = ("camera A", "camera B")
    failing: float = 0.0


PLACES = (
    Place("development", "training.csv", ("Westlake",), dt.date(2023, 1, 9), 540, 400, PREVALENCE),
    Place("internal test", "internal_test.csv", ("Westlake",), dt.date(2024, 9, 2), 120, 300, PREVALENCE),
    Place("Northhaven", "northhaven.csv", ("Northhaven",), dt.date(2025, 7, 1), 183, 320, 0.28,
          separation=2.25, failing=0.012),
    Place("Eastfield", "eastfield.csv", ("Eastfield",), dt.date(2025, 7, 1), 183, 280, 0.27,
          separation=2.2, older=0.5, blurred=0.4, cameras=("camera B", "camera C"), failing=0.02),
    Place("Southport", "southport.csv", ("Southport",), dt.date(2025, 8, 1), 152, 260, 0.34,
          separation=1.45, shift=-1.7, older=0.2, blurred=1.1, cameras=("camera C",), failing=0.03),
)  # fmt: skip
SCORES = (
    "case patient site date truth score version status content_hash reference_days sex age_group camera "
    "age diabetes_years hba1c sharpness illumination"
).split()

N_READ, N_MISSING = 90, 7
# reader, qualification, years of experience, skill, threshold, how much the advice weighs
READERS = (
    ("R1", "ophthalmologist", 19, 1.15, 0.00, 0.30),
    ("R2", "ophthalmologist", 11, 1.00, 0.10, 0.45),
    ("R3", "ophthalmologist", 7, 0.85, -0.05, 0.55),
    ("R4", "ophthalmologist", 15, 0.80, 0.20, 0.50),
    ("R5", "optometrist", 9, 0.70, 0.10, 0.65),
    ("R6", "optometrist", 4, 0.62, 0.25, 0.80),
    ("R7", "optometrist", 3, 0.55, 0.05, 0.90),
    ("R8", "optometrist", 2, 0.50, 0.15, 0.80),
)
GRADERS = (("G1", 2.1), ("G2", 2.0), ("G3", 1.9), ("G4", 1.8), ("G5", 1.7))
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
READING = (
    "reader case arm session order read_at decision score confidence seconds advice advice_score"
).split()
Row = dict[str, object]


def data_set(place: Place, rng: np.random.Generator) -> list[Row]:
    """The cases of one place with the device's scores."""
    # One photograph in ten is of a patient who was photographed before.
    patient = np.cumsum(rng.random(place.n) >= 0.1)
    truth = rng.random(place.n) < place.prevalence
    age = np.clip(np.round(rng.normal(61 + 11 * place.older, 11, place.n)), 22, 92).astype(int)
    years = np.clip(np.round(rng.gamma(2.2, 4.5, place.n) + 3 * truth, 1), 0, 55)
    hba1c = np.round(rng.normal(7.4, 1.2, place.n) + 0.5 * truth, 1)
    sharpness = np.round(rng.normal(-place.blurred, 1, place.n), 2)
    light = np.round(rng.normal(-0.4 * place.blurred, 1, place.n), 2)
    score = scores(truth, place.separation, rng.normal(0, 1, place.n), place.shift)
    failed = rng.random(place.n) < place.failing
    day = np.sort(rng.integers(0, place.days, place.n))
    camera = rng.integers(0, len(place.cameras), place.n)
    site = rng.integers(0, len(place.sites), place.n)
    return [
        {
            "case": (case := f"{place.name[:2].upper()}{i + 1:03d}"),
            "patient": f"{place.name[:2].upper()}-P{patient[i]:03d}",
            "site": place.sites[site[i]],
            "date": place.first + dt.timedelta(int(day[i])),
            "truth": int(truth[i]),
            "score": "" if failed[i] else f"{score[i]:.3f}",
            "version": VERSION,
            "status": "ungradable" if failed[i] else "ok",
            "content_hash": hashed(case),
            "reference_days": int(rng.integers(0, 15)),
            "sex": "female" if rng.random() < 0.46 else "male",
            "age_group": "under 60" if age[i] < 60 else "60 and over",
            "camera": place.cameras[camera[i]],
            "age": age[i],
            "diabetes_years": years[i],
            "hba1c": hba1c[i],
            "sharpness": sharpness[i],
            "illumination": light[i],
        }
        for i in range(place.n)
    ]


def scores(
    truth: NDArray[np.bool_], separation: float, noise: NDArray[np.float64], shift: float = 0.0
) -> NDArray[np.float64]:
    """Scores that are calibrated at the separation and prevalence of the training data."""
    signal = np.where(truth, separation, -separation) / 2 + noise
    odds = log(PREVALENCE / (1 - PREVALENCE)) + SEPARATION * signal + shift
    score: NDArray[np.float64] = np.clip(np.round(1 / (1 + np.exp(-odds)), 3), 0.001, 0.999)
    return score


def hashed(case: str) -> str:
    """What stands for the hash of a photograph."""
    return sha256(f"photograph {case}".encode()).hexdigest()[:16]


def splits(rows: Sequence[Row], rng: np.random.Generator) -> list[float]:
    """Areas under the curve of the out-of-fold scores in random thirds of the training cases."""
    truth = np.array([row["truth"] == 1 for row in rows])
    score = np.array([float(str(row["score"])) for row in rows])
    found = []
    for _ in range(SPLITS):
        part = rng.permutation(len(rows))[: len(rows) // 3]
        one, none = score[part][truth[part]][:, None], score[part][~truth[part]][None, :]
        found.append(round(float(((one > none) + (one == none) / 2).mean()), 3))
    return found


def read_cases(rng: np.random.Generator) -> tuple[list[Row], list[Row], NDArray[np.bool_]]:
    """The cases of the reader study, the labels of five graders, and the truth: what most of them say."""
    condition = rng.permutation(N_READ) < N_READ // 2
    looks = np.where(condition, 1.0, -1.0)[:, None] + rng.normal(0, 0.35, (N_READ, 1))
    signal = np.array([skill for _, skill in GRADERS]) * looks + rng.normal(0, 1, (N_READ, len(GRADERS)))
    truth = (signal > 0).sum(1) * 2 > len(GRADERS)
    sure = np.array(LEVELS)[np.clip(np.digitize(np.abs(signal), (0.3, 0.8, 1.4, 2.0, 2.6)), 0, 5)]
    day = np.sort(rng.integers(0, 150, N_READ))
    cases: list[Row] = [
        {
            "case": f"K{k + 1:02d}",
            "patient": f"K-P{k + 1:02d}",
            "site": ("Northhaven", "Eastfield", "Southport")[k % 3],
            "date": dt.date(2025, 8, 4) + dt.timedelta(int(day[k])),
            "truth": int(truth[k]),
            "content_hash": hashed(f"K{k + 1:02d}"),
            "reference_days": int(rng.integers(0, 15)),
            "sex": "female" if rng.random() < 0.46 else "male",
            "age_group": "under 60" if rng.random() < 0.45 else "60 and over",
            "camera": f"camera {'ABC'[rng.integers(0, 3)]}",
        }
        for k in range(N_READ)
    ]
    labels: list[Row] = [
        {
            "case": f"K{k + 1:02d}",
            "rater": name,
            "label": int(signal[k, j] > 0),
            "confidence": f"{sure[k, j]:.1f}",
        }
        for j, (name, _) in enumerate(GRADERS)
        for k in range(N_READ)
    ]
    return cases, labels, truth


def readings(truth: NDArray[np.bool_], rng: np.random.Generator) -> list[Row]:
    """Each reader reads each case without and with the advice, in two sessions at least 30 days apart.

    Half of the cases are read with the advice in the first session, the other half in the second; the halves
    and the order are drawn for each reader.
    """
    sign = np.where(truth, 1.0, -1.0)
    hardness = rng.normal(0, 1, N_READ)
    device = scores(truth, 2.2, 0.45 * hardness + (1 - 0.45**2) ** 0.5 * rng.normal(0, 1, N_READ))
    advice = device >= THRESHOLD
    pull = np.clip(np.log(device / (1 - device)) - log(THRESHOLD / (1 - THRESHOLD)), -3, 3)
    rows: list[Row] = []
    for name, _, _, skill, limit, weight in READERS:
        first = rng.permutation(N_READ) < N_READ // 2  # cases with the advice in the first session
        start = dt.datetime(2026, 3, 9, 8, tzinfo=dt.UTC) + dt.timedelta(days=int(rng.integers(0, 5)))
        pace = rng.normal(0, 0.2)
        for session in (1, 2):
            clock = start + dt.timedelta(days=(session - 1) * int(rng.integers(32, 40)))
            for place, k in enumerate(rng.permutation(N_READ)):
                aided = bool(first[k]) == (session == 1)
                own = skill * sign[k] + 0.4**0.5 * hardness[k] + 0.6**0.5 * rng.normal() - limit
                evidence = own + (weight * pull[k] if aided else 0.0)
                sure = 1 / (1 + np.exp(-1.6 * abs(evidence)))
                slow = 0.55 * (2 - 2 * sure) + rng.normal(0, 0.3)
                against = aided and (evidence >= 0) != advice[k]
                seconds = 34 * np.exp(pace + slow + (0.25 if against else 0.04 if aided else 0.0))
                rows.append(
                    {
                        "reader": name,
                        "case": f"K{k + 1:02d}",
                        "arm": "aided" if aided else "unaided",
                        "session": session,
                        "order": (session - 1) * N_READ + place + 1,
                        "read_at": f"{clock:%Y-%m-%dT%H:%M:%SZ}",
                        "decision": int(evidence >= 0),
                        "score": round(100 / (1 + np.exp(-1.6 * evidence))),
                        "confidence": f"{sure:.2f}",
                        "seconds": f"{seconds:.1f}",
                        "advice": int(advice[k]) if aided else "",
                        "advice_score": f"{device[k]:.3f}" if aided else "",
                    }
                )
                clock += dt.timedelta(seconds=round(seconds) + 20)
                if place in (29, 59):  # three sittings on three days
                    clock = clock.replace(hour=8, minute=0, second=0) + dt.timedelta(days=1)
    absent = set(rng.permutation(len(rows))[:N_MISSING].tolist())
    return [row for i, row in enumerate(rows) if i not in absent]


def write(folder: Path) -> list[float]:
    """Write every table into a folder; the areas of the internal splits, which stand in the manifest."""
    rng = np.random.default_rng(SEED)
    sets = {place.file: data_set(place, rng) for place in PLACES}
    for file, rows in sets.items():
        _table(folder / file, SCORES, rows)
    cases, labels, truth = read_cases(rng)
    _table(folder / "cases.csv", list(cases[0]), cases)
    _table(folder / "raters.csv", list(labels[0]), labels)
    _table(folder / "readings.csv", READING, readings(truth, rng))
    heads = ("reader", "qualification", "years_experience")
    _table(folder / "readers.csv", heads, (dict(zip(heads, reader)) for reader in READERS))
    return splits(sets["training.csv"], rng)


def _table(file: Path, header: Sequence[str], rows: Iterable[Row]) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    print(write(Path(__file__).resolve().parent))
