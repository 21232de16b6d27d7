"""Coverage of the bootstrap intervals of ECE, GICI and advisory value, beside percentile and basic bootstrap.

Scores whose logit is normal (mean -.5, SD 1.5); the truth follows intercept + slope x logit(score). The
true value of a measure, with its bins, is that of three million cases.

    python benchmarks/calibration_coverage.py [--runs 500] [--seed 20240613] [--out FILE]
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from trustreport.measures.calibration.advice import advisory_value
from trustreport.measures.calibration.ece import ece
from trustreport.measures.calibration.gici import gici

REPLICATES = 400
WRONG = ((1.0, 0.0), (1.0, 0.1), (1.0, 0.3), (0.6, 0.0), (0.6, 0.6))  # slope, intercept
CASES = (100, 400, 2000)
MEASURES = {
    "ece": ece,
    "gici": lambda *case, **more: gici(*case, **more).overall,
    "advisory_value": advisory_value,
}
METHODS = ("pivot", "percentile", "basic")


def simulated(
    n: int, slope: float, intercept: float, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Truth and score of n cases."""
    predictor = rng.normal(-0.5, 1.5, n)
    return rng.random(n) < expit(intercept + slope * predictor), expit(predictor)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=20240613)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "calibration_coverage.csv"
    )
    args = parser.parse_args()
    rows = []
    rng = np.random.default_rng(args.seed)
    for slope, intercept in WRONG:
        large = simulated(3_000_000, slope, intercept, rng)
        for measure, estimate in MEASURES.items():
            true = estimate(*large).value
            for n in CASES:
                held, width = np.zeros((2, len(METHODS)))
                for _ in range(args.runs):
                    case = simulated(n, slope, intercept, rng)
                    found = estimate(*case, rng=rng, replicates=REPLICATES)
                    # The resamples themselves, drawn anew by cases.
                    drawn = np.array(
                        [
                            estimate(case[0][some], case[1][some]).value
                            for some in rng.integers(0, n, (REPLICATES // 4, n))
                        ]
                    )
                    low, high = np.quantile(drawn, [0.025, 0.975])
                    limits = np.array(
                        [
                            (found.low, found.high),
                            (low, high),
                            np.clip((2 * found.value - high, 2 * found.value - low), 0, 1),
                        ]
                    )
                    held += (limits[:, 0] <= true) & (true <= limits[:, 1])
                    width += limits[:, 1] - limits[:, 0]
                for method, covered, wide in zip(METHODS, held / args.runs, width / args.runs):
                    rows.append(
                        {
                            "slope": slope,
                            "intercept": intercept,
                            "measure": measure,
                            "true": f"{true:.4f}",
                            "cases": n,
                            "method": method,
                            "runs": args.runs,
                            "coverage": f"{covered:.4f}",
                            "mean_width": f"{wide:.4f}",
                        }
                    )
                    print(rows[-1], flush=True)
    with args.out.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
