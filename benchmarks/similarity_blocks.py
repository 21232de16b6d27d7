"""What blocks of a comparison of a million cases cost: a few rows of distances, timed as a worker does them.

The degree of correspondence and the energy distance of sets too large to hold their distances are shared out
by rows (`trustreport.api.parallel`: Dask, Ray, loky). Nobody waits for all rows of a million cases;
every row costs the same, so that a few say what all would. CPU time, one thread.

    OPENBLAS_NUM_THREADS=1 python benchmarks/similarity_blocks.py [--cases 1000000] [--rows 20] [--out FILE]
"""

import argparse
import csv
import os
import resource
import time
from pathlib import Path

import numpy as np

from trustreport.measures.similarity import permutation
from trustreport.measures.similarity.features import ORDERED, _nearest, distances

FEATURES = 21


def main() -> None:
    """Time the neighbours and the sums of some rows, for one block of divisions."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, default=20)
    results = Path(__file__).parent / "results" / "similarity_blocks.csv"
    parser.add_argument("--out", type=Path, default=results)
    args = parser.parse_args()
    n, rows, width = args.cases, args.rows, permutation.BLOCK
    rng = np.random.default_rng(3)
    between = distances(rng.normal(size=(n, FEATURES)), held=0)
    inside = rng.random((n, width)) < 0.5
    weight = rng.integers(-2, 2, (n, width), dtype=np.int32)
    found = []
    for step, call in (
        ("neighbours", lambda: _nearest(between, 0, rows, ORDERED // n)),
        ("sums of divisions", lambda: permutation._of_rows(between, 0, rows, inside, weight)),
        ("sums of divisions, no row", lambda: permutation._of_rows(between, 0, 0, inside, weight)),
    ):
        start = time.process_time()
        call()
        found.append((step, time.process_time() - start))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    with args.out.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["cases", "features", "divisions", "rows", "step", "cpu_seconds", "peak_mb", "load"])
        for step, cpu in found:
            row = [n, FEATURES, width, rows, step, f"{cpu:.2f}", f"{peak:.0f}", f"{os.getloadavg()[0]:.1f}"]
            writer.writerow(row)
            print(*row)


if __name__ == "__main__":
    main()
