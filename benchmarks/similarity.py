"""Time and memory of the similarity tests beside straightforward implementations of their definition.

Each takes every permutation by itself. Two go from case to case, for the degree of correspondence alone: one
by the functions of scikit-learn for the nearest training case and for the distances, as public code does it
(left out where scikit-learn is not installed); one in numpy, with the distances sorted for the nearest. The
third makes whole matrices of distances by scipy, for both tests, which is as good as can be done without
saving work from one permutation to the next. The package gets the same permutations (are the p-values
identical?), then as many as asked. Synthetic normal features, the last set shifted by .05 SD. Wall time
depends on what else the machine does: CPU time and load stand beside it.

    python benchmarks/similarity.py [--sizes 1736x337,1736x2335] [--features 21] [--permutations 9999]
                                    [--plain 100] [--no-mmd] [--jobs N --backend loky] [--out FILE]
    python benchmarks/similarity.py --sizes 40000x10000 --permutations 999 --plain 0
"""

import argparse
import csv
import os
import resource
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from trustreport.api.parallel import workers
from trustreport.measures.similarity.correspondence import correspondence, mmd
from trustreport.measures.similarity.features import distances, neighbours, standardise
from trustreport.measures.similarity.permutation import divisions, upper_tail

Floats = NDArray[np.float64]


def by_the_letter(training: Floats, external: Floats) -> float:
    """Statistic of the degree of correspondence, case by case."""
    found = []
    for case in external:
        to_case = np.sqrt(((training - case) ** 2).sum(axis=1))
        nearest = training[np.argsort(to_case)[0]]
        to_nearest = np.sqrt(((training - nearest) ** 2).sum(axis=1))
        found.append(to_case.sum() - to_nearest.sum())
    return float(np.mean(found))


def by_library(training: Floats, external: Floats) -> float:
    """The same by scikit-learn."""
    from sklearn.metrics import pairwise_distances
    from sklearn.neighbors import NearestNeighbors

    tree = NearestNeighbors(n_neighbors=1).fit(training)

    def reach(case: Floats) -> float:
        return float(pairwise_distances(case, training).sum())

    rows = (case[None] for case in external)
    return float(np.mean([reach(r) - reach(training[tree.kneighbors(r)[1][0]]) for r in rows]))


def case_p(
    statistic: Callable[[Floats, Floats], float], pooled: Floats, n: int, inside: NDArray[np.bool_]
) -> float:
    """The p-value of a statistic over given permutations."""
    seen = statistic(pooled[:n], pooled[n:])
    return upper_tail(seen, np.array([statistic(pooled[one], pooled[~one]) for one in inside.T])).p


def plain(training: Floats, external: Floats) -> tuple[float, float]:
    """Statistics of the degree of correspondence and of the energy distance, as defined."""
    n, m = len(training), len(external)
    within, across, outside = cdist(training, training), cdist(external, training), cdist(external, external)
    of_training, of_external = within.sum(axis=1), across.sum(axis=1)
    degree = float((of_external - of_training[across.argmin(axis=1)]).mean())
    return degree, n * m / (n + m) * (2 * across.mean() - within.mean() - outside.mean())


def plain_p(pooled: Floats, n: int, inside: NDArray[np.bool_]) -> tuple[float, float]:
    """p-values over given permutations."""
    seen = plain(pooled[:n], pooled[n:])
    drawn = np.array([plain(pooled[one], pooled[~one]) for one in inside.T])
    degree, energy = (upper_tail(value, column).p for value, column in zip(seen, drawn.T))
    return degree, energy


def fast_p(pooled: Floats, n: int, inside: NDArray[np.bool_]) -> tuple[float, float]:
    """The same p-values by the package's product of distances and permutations."""
    m = len(pooled) - n
    between = distances(pooled)
    order = neighbours(between, n)
    tails = []
    both = divisions(between, np.hstack([np.arange(n + m)[:, None] < [n, n + m], inside]), order)
    total = both.within[1]
    for some in (both[:1], both[2:]):
        outside = total - some.within - 2 * some.between
        energy = n * m / (n + m) * (2 * some.between / (n * m) - some.within / n**2 - outside / m**2)
        tails.append((some.correspondence, energy))
    degree_p, energy_p = (upper_tail(float(one[0]), many).p for one, many in zip(*tails))
    return degree_p, energy_p


def peak() -> float:
    """Largest memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it returns, wall seconds, CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def measured(size: str, args: argparse.Namespace, run: Any) -> list[dict[str, Any]]:
    """All rows of one size."""
    n, m = (int(part) for part in size.split("x"))
    rng = np.random.default_rng(args.seed)
    training, external = rng.normal(size=(n, args.features)), rng.normal(0.05, 1, (m, args.features))
    features = standardise(training, external)
    rows: list[dict[str, Any]] = []

    def add(what: str, permutations: int, wall: float, cpu: float, p: Any, **more: Any) -> None:
        shown = " ".join(f"{one:.6g}" for one in np.atleast_1d(p))
        row = {"training": n, "external": m, "features": args.features, "what": what}
        row |= {"permutations": permutations, "seconds": f"{wall:.2f}", "cpu_seconds": f"{cpu:.2f}"}
        row |= {"peak_mb": f"{peak():.0f}", "p": shown, "load": f"{os.getloadavg()[0]:.1f}", **more}
        rows.append(row)
        print(row, flush=True)

    found, wall, cpu = timed(
        lambda: correspondence(features, np.random.default_rng(1), permutations=args.permutations, run=run)
    )
    p = found.degree_of_correspondence.p, found.energy_distance.p
    add("package: correspondence and energy", args.permutations, wall, cpu, p)
    if args.mmd:
        kernel, *took = timed(
            lambda: mmd(features, np.random.default_rng(1), permutations=args.permutations, run=run)
        )
        add("package: MMD", args.permutations, *took, kernel.p)
    if args.plain:
        inside = np.zeros((n + m, args.plain), dtype=bool)
        for column in inside.T:
            column[rng.choice(n + m, n, replace=False)] = True
        fast, wall, cpu = min(
            (timed(lambda: fast_p(features.pooled, n, inside)) for _ in range(3)), key=lambda one: one[1]
        )
        add("package: the same permutations", args.plain, wall, cpu, fast)
        for what, work in (
            ("scipy, matrices of distances", plain_p),
            ("numpy, case by case", partial(case_p, by_the_letter)),
            ("scikit-learn, case by case", partial(case_p, by_library)),
        ):
            if "scikit" in what and find_spec("sklearn") is None:
                continue
            slow, slow_wall, slow_cpu = timed(lambda work=work: work(features.pooled, n, inside))
            same = "identical" if np.atleast_1d(slow)[0] == fast[0] else "DIFFERENT"
            ratios = {
                "ratio": f"{slow_wall / wall:.0f}",
                "cpu_ratio": f"{slow_cpu / cpu:.0f}",
                "same_p": same,
            }
            add(what, args.plain, slow_wall, slow_cpu, slow, **ratios)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1736x337,1736x2335")
    parser.add_argument("--features", type=int, default=21)
    parser.add_argument("--permutations", type=int, default=9999)
    parser.add_argument("--plain", type=int, default=100)
    parser.add_argument("--no-mmd", dest="mmd", action="store_false")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--backend", default="loky")
    parser.add_argument("--seed", type=int, default=20231)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with workers(args.jobs, args.backend) as run:
        rows = [row for size in args.sizes.split(",") for row in measured(size, args, run)]
    if args.out:
        with args.out.open("w", newline="") as file:
            names = list(dict.fromkeys(name for row in rows for name in row))
            writer = csv.DictWriter(file, names, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
