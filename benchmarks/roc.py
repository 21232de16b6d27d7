"""Coverage of the intervals of areas under the ROC curve and of average precision.

Normal scores whose means differ by 1 or 2.2, 20 to 500 cases, prevalence .5, .2 or .05, drawn as they come.
Truth by quadrature. A row fails where the 99 % Monte Carlo interval of its coverage lies outside .93 to .97.

    python benchmarks/roc.py [--runs 2000] [--seed 20240704] [--out DIR]
"""

import argparse
import csv
from math import sqrt
from pathlib import Path

import numpy as np
from scipy.special import ndtr, ndtri

from trustreport.measures.proportion import wilson
from trustreport.measures.roc.auc import delong, logit_delong, newcombe_auc
from trustreport.measures.roc.curve import logit_binomial, logit_influence
from trustreport.measures.roc.difference import auc_group

SETTINGS = [
    (n, prevalence, shift)
    for n, prevalence in ((20, 0.5), (60, 0.5), (60, 0.2), (200, 0.2), (200, 0.05), (500, 0.05))
    for shift in (1.0, 2.2)
]
GROUP = (0.0, 0.2)


def simulate(
    n: int, prevalence: float, shift: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    truth = rng.random(n) < prevalence
    return truth, rng.standard_normal(n) + shift * truth


def true_values(prevalence: float, shift: float) -> dict[str, float]:
    x, weight = np.polynomial.hermite_e.hermegauss(200)
    own = x + shift  # thresholds at the positives' scores
    precision = prevalence * ndtr(-x) / (prevalence * ndtr(-x) + (1 - prevalence) * ndtr(-own))
    cut = -ndtri(GROUP[1])
    fpr = np.linspace(1e-12, GROUP[1], 200001)
    tpr = ndtr(shift + ndtri(fpr))
    under = float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))
    beside = float(np.sum(np.diff(tpr) * (1 - (fpr[1:] + fpr[:-1]) / 2)))
    area = float(ndtr(shift / sqrt(2)))
    return {
        "auc": area,
        "average_precision": float(weight @ precision / weight.sum()),
        "auc_group": (under + beside) / (GROUP[1] + float(ndtr(shift - cut))),
    }


def coverage(out: Path, runs: int, seed: int) -> None:
    rows = []
    for (n, prevalence, shift), child in zip(
        SETTINGS, np.random.SeedSequence(seed).spawn(len(SETTINGS)), strict=True
    ):
        rng = np.random.default_rng(child)
        true = true_values(prevalence, shift)
        limits: dict[tuple[str, str], list[tuple[float, float]]] = {}
        values: dict[str, list[float]] = {}
        undefined = 0
        for run in range(runs):
            truth, score = simulate(n, prevalence, shift, rng)
            if truth.all() or not truth.any():
                undefined += 1
                continue
            for measure in (delong, logit_delong, newcombe_auc):
                e = measure(truth, score)
                limits.setdefault(("auc", e.method), []).append((e.low, e.high))
            values.setdefault("auc", []).append(e.value)
            for measure in (logit_binomial, logit_influence):
                e = measure(truth, score)
                limits.setdefault(("average_precision", e.method), []).append((e.low, e.high))
            values.setdefault("average_precision", []).append(e.value)
            if run < runs // 4 and n <= 200:
                e = auc_group(truth, score, GROUP, rng=rng, resamples=400)
                limits.setdefault(("auc_group", e.method), []).append((e.low, e.high))
                values.setdefault("auc_group", []).append(e.value)
        for (measure_id, method), pairs in limits.items():
            low, high = np.array(pairs).T
            covered = int(((low <= true[measure_id]) & (true[measure_id] <= high)).sum())
            share = wilson(covered, len(low), 0.99)
            rows.append(
                {
                    "cases": n,
                    "prevalence": prevalence,
                    "shift": shift,
                    "measure": measure_id,
                    "method": method,
                    "true_value": f"{true[measure_id]:.6f}",
                    "mean_value": f"{np.mean(values[measure_id]):.6f}",
                    "runs": len(low),
                    "coverage": f"{share.value:.4f}",
                    "low99": f"{share.low:.4f}",
                    "high99": f"{share.high:.4f}",
                    "undefined": undefined,
                    "no_interval": int(np.isnan(low).sum()),
                    "mean_width": f"{np.nanmean(high - low):.4f}",
                    "verdict": "fail" if share.high < 0.93 or share.low > 0.97 else "pass",
                }
            )
            print(*rows[-1].values(), flush=True)
    with out.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=20240704)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    given = parser.parse_args()
    coverage(given.out / "roc_coverage.csv", given.runs, given.seed)


if __name__ == "__main__":
    main()
