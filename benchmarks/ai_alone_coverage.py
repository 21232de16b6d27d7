"""Coverage of the interval for a device by itself against the readers, with the truth known.

Readers rate 50 positive and 50 negative cases; from a rating of .75 on the decision is positive. A rating is
mean (0, positives 1.5) + reader + case + case as readers see it + reader by case + error, with the variances
of Roe and Metz (1997). The device rates the same cases: it shares the term of the case, has its own of all
others but the reader's, and stays the same from study to study. Its mean for positives is 1.5 (much as the
readers) or 2.2 (better). In each cell:

- every reader reads every case: Obuchowski-Rockette for random readers and cases, under five readers the
  wider of that and the fixed-reader interval;
- a tenth of the readings missing at random: the U-statistic.

A cell fails where the 99 % Monte Carlo interval of its coverage lies outside .935 to .965 with 5 or 10
readers, or below .93 with 3. A run without an interval counts as not covering.

    python benchmarks/ai_alone_coverage.py [--runs 4000] [--seed 20261121] [--out FILE]
"""

import argparse
import csv
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from trustreport.measures.mrmc.fixed_reader import fixed_against_readers
from trustreport.measures.proportion import wilson
from trustreport.simulate import STRUCTURES, Variances

Floats = NDArray[np.float64]

CUT, READERS_MU = 0.75, 1.5
DEVICES = {"alike": 1.5, "better": 2.2}
READERS = (3, 5, 10)
PER_CLASS = 50
MISSING = 0.1


def study(mu: float, var: Variances, n_readers: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Right decisions of the device (cases,) and of the readers (readers, cases), negatives first."""
    device, readers = [], []
    for truth, own, theirs in ((False, 0.0, 0.0), (True, mu, READERS_MU)):

        def term(variance: float, *shape: int) -> Floats:
            return np.sqrt(variance) * rng.standard_normal(shape)

        case = term(var.case, PER_CLASS)
        rest = var.arm_case + var.reader_case + var.error
        alone = own + case + term(rest, PER_CLASS)
        rating = (
            theirs
            + term(var.reader + var.arm_reader, n_readers, 1)
            + case
            + term(var.arm_case, PER_CLASS)
            + term(var.reader_case + var.error, n_readers, PER_CLASS)
        )
        device.append((alone >= CUT) == truth)
        readers.append((rating >= CUT) == truth)
    return np.concatenate(device).astype(float), np.concatenate(readers, axis=1).astype(float)


def truths(mu: float, var: Variances) -> dict[str, float]:
    """Device minus readers in general: the device has no reader term, so its spread is smaller."""
    spread = np.sqrt(var.total)
    alone = np.sqrt(var.total - var.reader - var.arm_reader)
    sensitivity = float(ndtr((mu - CUT) / alone) - ndtr((READERS_MU - CUT) / spread))
    specificity = float(ndtr(CUT / alone) - ndtr(CUT / spread))
    return {
        "accuracy": (sensitivity + specificity) / 2,
        "sensitivity": sensitivity,
        "specificity": specificity,
    }


def cell(mu: float, var: Variances, n_readers: int, runs: int, rng: np.random.Generator) -> dict:
    """Covered and missing intervals and summed width, by design and endpoint."""
    true = truths(mu, var)
    parts = {
        "accuracy": slice(None),
        "sensitivity": slice(PER_CLASS, None),
        "specificity": slice(0, PER_CLASS),
    }
    tally: dict[tuple[str, str], Floats] = defaultdict(lambda: np.zeros(3))
    for _ in range(runs):
        device, complete = study(mu, var, n_readers, rng)
        gaps = np.where(rng.random(complete.shape) < MISSING, np.nan, complete)
        for design, readers in (("crossed", complete), ("10 % missing", gaps)):
            for name, cases in parts.items():
                e = next(iter(fixed_against_readers(device[cases], readers[:, cases]).values()))
                if np.isnan(e.low):
                    tally[design, name] += (0, 1, 0)
                else:
                    tally[design, name] += (e.low <= true[name] <= e.high, 0, e.high - e.low)
    return {key: (true[key[1]], *counts) for key, counts in tally.items()}


def verdict(low: float, high: float, n_readers: int) -> str:
    if n_readers < 5:
        return "fail" if high < 0.93 else "pass"
    return "fail" if high < 0.935 or low > 0.965 else "pass"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "ai_alone_coverage.csv"
    )
    given = parser.parse_args()
    names = [(s, d, j) for s in ("HL", "HH", "LH") for d in DEVICES for j in READERS]
    seeds = np.random.SeedSequence(given.seed).spawn(len(names))
    started, rows = time.perf_counter(), []
    for (structure, device, n_readers), seed in zip(names, seeds, strict=True):
        rng = np.random.default_rng(seed)
        found = cell(DEVICES[device], STRUCTURES[structure], n_readers, given.runs, rng)
        for (design, endpoint), (true, covered, missing, width) in found.items():
            share = wilson(int(covered), given.runs, 0.99)
            rows.append(
                {
                    "structure": structure,
                    "device": device,
                    "readers": n_readers,
                    "design": design,
                    "endpoint": endpoint,
                    "true_value": f"{true:.6f}",
                    "runs": given.runs,
                    "coverage": f"{share.value:.4f}",
                    "low99": f"{share.low:.4f}",
                    "high99": f"{share.high:.4f}",
                    "no_interval": int(missing),
                    "mean_width": f"{width / max(given.runs - missing, 1):.4f}",
                    "verdict": verdict(share.low, share.high, n_readers),
                }
            )
            print(" ".join(f"{value!s:>10}" for value in rows[-1].values()), flush=True)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    failed = sum(row["verdict"] == "fail" for row in rows)
    print(f"{failed} of {len(rows)} cells fail; {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
