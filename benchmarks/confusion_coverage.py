"""Coverage of the intervals of confusion-matrix measures, against known sensitivity, specificity, prevalence.

Samples of 40 to 1,000 cases, drawn as they come: prevalence .5, .2 or .05, three pairs of sensitivity and
specificity. Each measure with the interval that the package gives and, for those that have no standard one,
with what is commonly done instead: delta method on the plain scale (`delta`) or after Fisher's z or the logit
(`delta_transformed`). `at .1`: the same tables weighed to a prevalence of .1, in samples of half positives.

`clustered`: cases in 10, 20 or 50 clusters of 1 to 8, cluster rates from beta distributions with intracluster
correlation .3; `wilson` there is the interval that takes cases as independent.

Samples in which a measure is 0/0 are left out (`undefined` counts them); an interval that is missing counts
as not covering. A row fails where the 99 % Monte Carlo interval of its coverage lies outside .93 to .97.

    python benchmarks/confusion_coverage.py [--runs 4000] [--seed 20240703] [--out FILE]
"""

import argparse
import csv
import time
from functools import cache
from math import nan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from trustreport.estimate import Estimate
from trustreport.measures.confusion.at_prevalence import at_prevalence
from trustreport.measures.confusion.clustered import clustered
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.formulas import FORMULAS
from trustreport.measures.confusion.propagation import propagated, score_limit
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.proportion import wilson

Floats = NDArray[np.float64]

SIZES = (40, 100, 300, 1000)
PREVALENCES = (0.5, 0.2, 0.05)
RATES = ((0.8, 0.8), (0.95, 0.9), (0.7, 0.98))
PROPAGATED = ("mcc", "cohen_kappa", "fowlkes_mallows")
BY_CLASS = (
    "accuracy",
    "f1",
    "mcc",
    "threat_score",
    "fowlkes_mallows",
    "cohen_kappa",
)  # at another prevalence
TARGET = 0.1
Z = -float(ndtri(0.025))
BATCH = 500


def cells(sensitivity: float, specificity: float, prevalence: float) -> tuple[float, float, float, float]:
    return (
        prevalence * sensitivity,
        (1 - prevalence) * (1 - specificity),
        prevalence * (1 - sensitivity),
        (1 - prevalence) * specificity,
    )


def batch_propagated(name: str, table: Floats, prevalence: float | None) -> tuple[Floats, Floats]:
    """`propagated` for many tables at once: grid, then two finer grids round each table's best point."""
    tp, fp, fn, tn = (column[:, None] for column in table.T)
    p, q = tp + fn, fp + tn

    def values(polar: Floats, turn: Floats) -> Floats:
        u = [Z * np.sin(polar) * np.cos(turn), Z * np.sin(polar) * np.sin(turn), Z * np.cos(polar)]
        hit = np.where(p > 0, score_limit(tp, p, u[0]), 0.5)
        cleared = np.where(q > 0, score_limit(tn, q, u[1]), 0.5)
        present = score_limit(p, p + q, u[2]) if prevalence is None else prevalence
        mixed = (present * hit, (1 - present) * (1 - cleared), present * (1 - hit), (1 - present) * cleared)
        return FORMULAS[name](*mixed)

    start = np.linspace(0, np.pi, 21) if prevalence is None else np.array([np.pi / 2])
    grid = np.meshgrid(start, np.linspace(-np.pi, np.pi, 42), indexing="ij")
    around = np.linspace(-1, 1, 9)
    steps = np.meshgrid(around if prevalence is None else np.zeros(1), around, indexing="ij")
    limits = []
    for sign in (1, -1):
        polar, turn = (np.broadcast_to(axis.ravel(), (len(table), axis.size)) for axis in grid)
        span = np.pi / 20
        for _ in range(3):
            found = sign * values(polar, turn)
            at = np.nanargmin(found, axis=1)[:, None]
            least = np.take_along_axis(found, at, axis=1)[:, 0]
            polar, turn = (
                np.take_along_axis(axis, at, axis=1) + span * step.ravel()[None]
                for axis, step in zip((polar, turn), steps, strict=True)
            )
            span /= 4
        limits.append(sign * least)
    return limits[0], limits[1]


def batch_delta(name: str, table: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Delta method with multinomial cells, on the plain and on the transformed scale."""
    columns = list(table.T)
    value = FORMULAS[name](*columns)
    variance = 0.0
    for i in range(4):
        stepped = [column + (1e-30j if i == j else 0) for j, column in enumerate(columns)]
        variance = variance + columns[i] * (FORMULAS[name](*stepped).imag / 1e-30) ** 2
    half = Z * np.sqrt(variance)
    if name in ("mcc", "cohen_kappa"):
        there, slope, back = np.arctanh(value), 1 - value**2, np.tanh
    else:
        there, slope = np.log(value / (1 - value)), value * (1 - value)

        def back(x: Floats) -> Floats:
            return 1 / (1 + np.exp(-x))

    return {
        "delta": (value - half, value + half),
        "delta_transformed": (back(there - half / slope), back(there + half / slope)),
    }


@cache
def by_the_package(name: str, table: tuple[int, ...], prevalence: float | None) -> Estimate:
    counts = ConfusionCounts(*table)
    return MEASURES[name](counts) if prevalence is None else at_prevalence(name, counts, prevalence)


def tally(true: float, low: Floats, high: Floats, undefined: int) -> dict[str, object]:
    covered = int(((low <= true + 1e-12) & (true - 1e-12 <= high)).sum())
    share = wilson(covered, len(low), 0.99)
    verdict = "fail" if share.high < 0.93 or share.low > 0.97 else "pass"
    finite = np.isfinite(high - low)
    return {
        "true_value": f"{true:.6f}",
        "runs": len(low),
        "coverage": f"{share.value:.4f}",
        "low99": f"{share.low:.4f}",
        "high99": f"{share.high:.4f}",
        "undefined": undefined,
        "no_interval": int(np.isnan(low).sum()),
        "median_width": f"{np.median((high - low)[finite]) if finite.any() else nan:.4f}",
        "verdict": verdict,
    }


def independent(runs: int, seeds: list[np.random.SeedSequence]) -> list[dict[str, object]]:
    rows = []
    settings = [(n, q, rates) for n in SIZES for q in PREVALENCES for rates in RATES]
    for (n, prevalence, rates), seed in zip(settings, seeds, strict=True):
        rng = np.random.default_rng(seed)
        share = cells(*rates, prevalence)
        table = rng.multinomial(n, share, runs).astype(float)
        target = TARGET if prevalence == 0.5 else None
        for mix, mixed in ((None, share), (target, cells(*rates, TARGET))):
            if mix is None and mixed is not share:
                continue
            for name in MEASURES if mix is None else (*BY_CLASS, "ppv", "npv"):
                fits = ~np.isnan(FORMULAS[name](*(table.T if mix is None else weighed(table, mix))))
                used, true = table[fits], float(FORMULAS[name](*mixed))
                methods = intervals(name, used, mix)
                for method, (low, high) in methods.items():
                    rows.append(
                        {
                            "design": "independent" if mix is None else "independent, at .1",
                            "cases": n,
                            "clusters": "",
                            "prevalence": prevalence,
                            "sensitivity": rates[0],
                            "specificity": rates[1],
                            "measure": name,
                            "method": method,
                            **tally(true, low, high, runs - len(used)),
                        }
                    )
        print(f"{n} {prevalence} {rates}", flush=True)
        by_the_package.cache_clear()
    return rows


def weighed(table: Floats, prevalence: float) -> Floats:
    tp, fp, fn, tn = table.T
    right, wrong = prevalence / (tp + fn), (1 - prevalence) / (fp + tn)
    return np.stack([tp * right, fp * wrong, fn * right, tn * wrong])


def intervals(name: str, table: Floats, mix: float | None) -> dict[str, tuple[Floats, Floats]]:
    if name in (PROPAGATED if mix is None else BY_CLASS):
        parts = [batch_propagated(name, table[i : i + BATCH], mix) for i in range(0, len(table), BATCH)]
        low, high = (np.concatenate(side) for side in zip(*parts, strict=True))
        for row, ours in list(zip(table, zip(low, high, strict=True), strict=True))[:3]:
            estimate = propagated(name, ConfusionCounts(*map(int, row)), prevalence=mix)
            np.testing.assert_allclose(ours, [estimate.low, estimate.high], atol=1e-3, err_msg=name)
        found = {"propagated_wilson": (low, high)}
    else:
        package = [by_the_package(name, tuple(map(int, row)), mix) for row in table]
        method = package[0].method
        found = {method: (np.array([e.low for e in package]), np.array([e.high for e in package]))}
    if mix is None and name in (*PROPAGATED, "f1"):
        found |= batch_delta(name, table)
    return found


def in_clusters(runs: int, seeds: list[np.random.SeedSequence]) -> list[dict[str, object]]:
    rows = []
    correlation, (sensitivity, specificity), prevalence = 0.3, (0.85, 0.9), 0.4
    spread = 1 / correlation - 1
    share = cells(sensitivity, specificity, prevalence)
    names = ("sensitivity", "specificity", "accuracy", "ppv", "mcc", "f1", "youden_j", "lr_positive")
    for n_clusters, seed in zip((10, 20, 50), seeds, strict=True):
        rng = np.random.default_rng(seed)
        found: dict[tuple[str, str], list[tuple[float, float]]] = {}
        undefined = dict.fromkeys(names, 0)
        for _ in range(runs):
            size = rng.integers(1, 9, n_clusters)
            own = [
                rng.beta(mean * spread, (1 - mean) * spread, n_clusters)
                for mean in (sensitivity, specificity, prevalence)
            ]
            positives = rng.binomial(size, own[2])
            tp, tn = rng.binomial(positives, own[0]), rng.binomial(size - positives, own[1])
            table = np.stack([tp, size - positives - tn, positives - tp, tn], axis=1)
            counts = ConfusionCounts(*(int(x) for x in table.sum(axis=0)))
            for name in names:
                estimate = clustered(name, table)
                if np.isnan(estimate.value):
                    undefined[name] += 1
                    continue
                found.setdefault((name, estimate.method), []).append((estimate.low, estimate.high))
                if estimate.method == "cluster_wilson":
                    naive = MEASURES[name](counts)
                    found.setdefault((name, naive.method), []).append((naive.low, naive.high))
        for (name, method), limits in found.items():
            low, high = np.array(limits).T
            rows.append(
                {
                    "design": "clustered",
                    "cases": "",
                    "clusters": n_clusters,
                    "prevalence": prevalence,
                    "sensitivity": sensitivity,
                    "specificity": specificity,
                    "measure": name,
                    "method": method,
                    **tally(float(FORMULAS[name](*share)), low, high, undefined[name]),
                }
            )
        print(f"{n_clusters} clusters", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=20240703)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "confusion_coverage.csv"
    )
    given = parser.parse_args()
    started = time.perf_counter()
    first = len(SIZES) * len(PREVALENCES) * len(RATES)
    seeds = np.random.SeedSequence(given.seed).spawn(first + 3)
    with np.errstate(all="ignore"):
        rows = independent(given.runs, seeds[:first]) + in_clusters(given.runs, seeds[first:])
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    for method in sorted({str(row["method"]) for row in rows}):
        mine = [row for row in rows if row["method"] == method]
        shares = [float(str(row["coverage"])) for row in mine]
        failed = sum(row["verdict"] == "fail" for row in mine)
        print(f"{method}: {len(mine)} rows, coverage {min(shares):.3f} to {max(shares):.3f}, {failed} fail")
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
