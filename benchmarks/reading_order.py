"""How often studies without an effect of the aid show one, where more readers had the aid second.

    python benchmarks/reading_order.py [--studies 2000]

Simulates crossovers in which readers are better in their second session, whatever the arm, and the aid does
nothing. Counts 95% intervals of the change above and below 0: primary ones, adjusted for reading order, and
plain ones. Its output is in benchmarks/results/reading_order.csv.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED, Analysis
from trustreport.assessment.performance.reader_endpoints import analysis_of_shares, auc

RESULTS = Path(__file__).parent / "results" / "reading_order.csv"
LEVEL = 0.95
SHARE_POSITIVE = 0.4
# Readers, how many of them had the aid first, cases.
SIZES = ((8, 1, 60), (8, 2, 60), (8, 3, 60), (12, 3, 100), (5, 2, 60), (4, 1, 60), (3, 1, 60))
# What a second reading adds to the liability to be right, and to the separation of the classes: half of it is
# added to second readings and taken from first ones. The first is about 8 points of accuracy.
SECOND = 0.3


def main() -> None:
    """Every size with both endpoints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=2000)
    studies = parser.parse_args().studies
    rows = []
    for endpoint in ("accuracy", "auc"):
        for readers, first, cases in SIZES:
            rng = np.random.default_rng([readers, first, cases])
            later = np.where(np.arange(readers) < first, -1.0, 1.0)
            made = np.array([sides(endpoint, rng, later, cases) for _ in range(studies)])
            shares = [f"{share:.4f}" for share in made.mean(axis=0)]
            rows.append([endpoint, readers, first, cases, studies, *shares])
            print(*rows[-1], flush=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        names = "endpoint readers aid_first cases studies above below plain_above plain_below"
        writer.writerow(names.split())
        writer.writerows(rows)


def sides(endpoint: str, rng: np.random.Generator, later: NDArray[np.float64], cases: int) -> list[bool]:
    """Whether the intervals of one study, adjusted and plain, are above 0 and below it."""
    found = []
    seed = rng.integers(2**63)
    for order in (later, None):
        e = analysis(endpoint, np.random.default_rng(seed), later, cases, order).lead_difference(LEVEL)
        found += [e.low > 0, e.high < 0]
    return found


def analysis(
    endpoint: str,
    rng: np.random.Generator,
    later: NDArray[np.float64],
    cases: int,
    order: NDArray[np.float64] | None,
) -> Analysis:
    """The analysis of one simulated study; `order` is what it knows of `later`."""
    readers = len(later)
    second = np.empty((2, readers, 1))
    second[AIDED, :, 0], second[UNAIDED, :, 0] = SECOND / 2 * later, -SECOND / 2 * later
    skill = rng.normal(0.8, 0.4, (1, readers, 1)) + rng.normal(0, 0.15, (2, readers, 1)) + second
    shared, own = rng.normal(0, 0.6, (1, 1, cases)), rng.normal(0, 0.8, (2, readers, cases))
    if endpoint == "accuracy":
        return analysis_of_shares((skill + shared + own > 0).astype(np.float64), later=order)
    truth = np.arange(cases) < SHARE_POSITIVE * cases
    return auc(np.where(truth, skill, 0.0) + shared + own, truth, LEVEL, later=order).whole


if __name__ == "__main__":
    main()
