"""Draws the tables of this example: eight months of a device that does not exist, and its baseline.

No patient, no reader, no site and no device: everything is drawn from seed 7. From the fourth month on older
patients come more often, without any change of the device. On 11 May version 3.2 replaces version 3.1 while
the month goes on. In the sixth month three sites change their scanner; there the score of cases with the
condition falls, and so does sensitivity. Readers follow the advice a little more often from month to month.
Every third case of the baseline was run a second time, with a little noise.

    python examples/vigilance-audit/make.py     # writes scores.csv and readings.csv beside itself
"""

import csv
import datetime as dt
from pathlib import Path

import numpy as np

SEED = 7
SITES = ("Aber", "Berg", "Cala", "Dorn", "Elm", "Foss")
OLD_SCANNER, NEW_SCANNER = "scanner X", "scanner Y"
CHANGED = ("Berg", "Cala", "Foss")  # sites with the new scanner from June on
READERS = tuple(f"R{i + 1:02d}" for i in range(9))
BASELINE = ("baseline", dt.date(2025, 10, 1), dt.date(2025, 12, 31), 500)
MONTHS = tuple(
    (f"2026-{m:02d}", dt.date(2026, m, 1), dt.date(2026, m + 1, 1) - dt.timedelta(1), 240)
    for m in range(1, 9)
)
NEW_VERSION = dt.date(2026, 5, 11)
MATURE_BEFORE = dt.date(2026, 9, 30) - dt.timedelta(45)
COLUMNS = (
    "dataset case date site age_group scanner truth score version status noise contrast density second_score"
).split()
READING = "reader case read_at truth initial_decision advice decision seconds".split()


def cases(rng: np.random.Generator) -> list[dict[str, object]]:
    """One row a case, in order of the date."""
    rows = []
    for k, (name, first, last, n) in enumerate((BASELINE, *MONTHS)):
        days = np.sort(rng.integers(0, (last - first).days + 1, n))
        rows += [case(rng, k, name, first + dt.timedelta(int(days[i])), i) for i in range(n)]
    return rows


def case(rng: np.random.Generator, month: int, name: str, date: dt.date, i: int) -> dict[str, object]:
    """A case of a month, 0 being the baseline."""
    site = SITES[rng.choice(6, p=(0.28, 0.22, 0.18, 0.14, 0.10, 0.08))]
    old = rng.random() < (0.34 if month < 4 else 0.48)
    new_scanner = month >= 6 and site in CHANGED
    truth = rng.random() < (0.32 if old else 0.26)
    mean = (1.95 if truth else -1.75) - (0.35 if old and truth else 0.0)
    if new_scanner:
        mean += -1.9 if truth else 0.1
    score = 1 / (1 + np.exp(-(0.9 * (mean + rng.normal(0, 1.35)))))
    draw = rng.random()
    status = "failed" if draw < 0.010 else "refused" if draw < 0.018 else "done"
    late = date > MATURE_BEFORE and rng.random() < (0.35 if score >= 0.5 else 0.9)
    lost = rng.random() < 0.03
    features = rng.normal(0, 1, 3) + np.array([0.9 * new_scanner, -0.6 * new_scanner, 0.3 * old])
    return {
        "dataset": name,
        "case": f"{name}-{i + 1:04d}",
        "date": date.isoformat(),
        "site": site,
        "age_group": "75 and over" if old else "under 75",
        "scanner": NEW_SCANNER if new_scanner else OLD_SCANNER,
        "truth": "" if late or lost else int(truth),
        "score": "" if status != "done" else f"{score:.3f}",
        "version": "3.2" if date >= NEW_VERSION else "3.1",
        "status": status,
        "noise": f"{features[0]:.2f}",
        "contrast": f"{features[1]:.2f}",
        "density": f"{features[2]:.2f}",
        "_truth": bool(truth),
        "_month": month,
    }


def run_again(rng: np.random.Generator, every: list[dict[str, object]]) -> None:
    """Give every third case of the baseline a second score: the first, with noise on the logit scale."""
    for row in every[: BASELINE[3] : 3]:
        if row["score"]:
            first = float(str(row["score"]))
            row["second_score"] = f"{1 / (1 + (1 - first) / first * np.exp(-rng.normal(0, 0.25))):.3f}"


def readings(rng: np.random.Generator, every: list[dict[str, object]]) -> list[dict[str, object]]:
    """One reader for every third case of a month: decision before the advice, and after it."""
    rows = []
    for row in every:
        month = int(str(row["_month"]))
        if month == 0 or row["status"] != "done" or rng.random() > 0.40:
            continue
        reader = int(rng.integers(len(READERS)))
        truth, advice = bool(row["_truth"]), float(str(row["score"])) >= 0.5
        first = truth if rng.random() < 0.80 + 0.012 * (reader % 5) else not truth
        follows = 0.42 + 0.03 * month
        final = advice if first != advice and rng.random() < follows else first
        hour = 8 + int(rng.integers(10))
        seconds = float(np.exp(rng.normal(4.4 - 0.025 * month, 0.35)))
        rows.append(
            {
                "reader": READERS[reader],
                "case": row["case"],
                "read_at": f"{row['date']}T{hour:02d}:{int(rng.integers(60)):02d}:00",
                "truth": row["truth"],
                "initial_decision": int(first),
                "advice": int(advice),
                "decision": int(final),
                "seconds": f"{seconds:.0f}",
            }
        )
    return rows


def write(folder: Path) -> None:
    """Write both tables into a folder."""
    rng = np.random.default_rng(SEED)
    every = cases(rng)
    run_again(np.random.default_rng(SEED + 1), every)
    for name, columns, rows in (
        ("scores.csv", COLUMNS, every),
        ("readings.csv", READING, readings(rng, every)),
    ):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    write(Path(__file__).resolve().parent)
