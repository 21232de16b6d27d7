"""Are the p-values of the similarity tests uniform when both sets have one source?

Standardising by the training set comes before permuting, so the sets are not treated alike: this measures
what that does to the level, beside standardising by all cases, which leaves the test exact. Both sets are
drawn from one distribution, the p-values of the degree of correspondence, the energy distance and MMD are
counted, and their largest distance from uniform (Kolmogorov-Smirnov) is compared with what as many uniform
values show.

    python benchmarks/similarity_level.py [--runs 2000] [--seed 20240612] [--out FILE]
"""

import argparse
import csv
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import kolmogorov

from trustreport.measures.similarity.correspondence import correspondence, mmd
from trustreport.measures.similarity.features import Scale, standardise

PERMUTATIONS = 199
SHARES = (0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.95)
Source = Callable[[np.random.Generator, int], NDArray[np.float64]]
SOURCES: dict[str, Source] = {
    "normal": lambda rng, n: rng.normal(size=(n, 5)),
    "heavy_tails": lambda rng, n: rng.standard_t(2.5, (n, 5)),
    "counts": lambda rng, n: rng.poisson(1.0, (n, 5)).astype(float),
}
SIZES = ((60, 40), (20, 80), (200, 100))
SCALES: tuple[Scale, ...] = ("training", "pooled")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=20240612)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "similarity_level.csv"
    )
    args = parser.parse_args()
    rows = []
    for source, draw in SOURCES.items():
        for (n, m), by in product(SIZES, SCALES):
            seen: dict[str, list[float]] = {"degree_of_correspondence": [], "energy_distance": [], "mmd": []}
            for rng in np.random.default_rng([args.seed, n, m, len(rows)]).spawn(args.runs):
                both = standardise(draw(rng, n), draw(rng, m), by=by)
                tests = correspondence(both, rng, permutations=PERMUTATIONS)
                seen["degree_of_correspondence"].append(tests.degree_of_correspondence.p)
                seen["energy_distance"].append(tests.energy_distance.p)
                seen["mmd"].append(mmd(both, rng, permutations=PERMUTATIONS).p)
            for test, values in seen.items():
                p = np.sort(values)
                # P(p <= k / 200) = k / 200 for uniform permutation p-values: compare on that grid.
                grid = np.arange(1, PERMUTATIONS + 2) / (PERMUTATIONS + 1)
                gap = float(np.abs(np.searchsorted(p, grid, "right") / len(p) - grid).max())
                ks = float(kolmogorov(gap * np.sqrt(len(p))))
                shares = {f"up_to_{share}": f"{float((p <= share + 1e-9).mean()):.4f}" for share in SHARES}
                rows.append(
                    {
                        "source": source,
                        "training": n,
                        "external": m,
                        "scaled_by": by,
                        "test": test,
                        "runs": len(p),
                    }
                    | shares
                    | {"largest_gap": f"{gap:.4f}", "ks_p": f"{ks:.4f}"}
                )
                print(rows[-1], flush=True)
    with args.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
