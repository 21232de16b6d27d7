"""Time and memory of the similarity tests beside a straightforward implementation of their definition.

The straightforward one takes each permutation by itself: distances, nearest training cases, sums. It runs
`--plain` permutations (few, for it is slow), the package the same ones (are the p-values identical?) and
then as many as asked. Synthetic normal features, the last set shifted by .05 SD.

    python benchmarks/similarity.py [--sizes 1736x337,1736x2335] [--features 21] [--permutations 9999]
                                    [--plain 100] [--mmd] [--jobs N --backend loky]
    python benchmarks/similarity.py --sizes 40000x10000 --permutations 999 --plain 0
"""

import argparse
import resource
import time

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from trustreport.measures.similarity.correspondence import correspondence
from trustreport.measures.similarity.distances import distances, neighbours
from trustreport.measures.similarity.features import standardise
from trustreport.measures.similarity.mmd import mmd
from trustreport.measures.similarity.permutation import divisions, observed, upper_tail
from trustreport.measures.similarity.tasks import one_by_one, with_joblib

Floats = NDArray[np.float64]


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
    (seen, total), drawn = observed(between, n, order), divisions(between, inside, order)
    for some in (seen, drawn):
        outside = total - some.within - 2 * some.between
        energy = n * m / (n + m) * (2 * some.between / (n * m) - some.within / n**2 - outside / m**2)
        tails.append((some.correspondence, energy))
    degree_p, energy_p = (upper_tail(float(one[0]), many).p for one, many in zip(*tails))
    return degree_p, energy_p


def peak() -> float:
    """Largest memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", default="1736x337,1736x2335")
    parser.add_argument("--features", type=int, default=21)
    parser.add_argument("--permutations", type=int, default=9999)
    parser.add_argument("--plain", type=int, default=100)
    parser.add_argument("--mmd", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--backend", default="loky")
    parser.add_argument("--seed", type=int, default=20231)
    args = parser.parse_args()
    run = one_by_one if args.jobs == 1 else with_joblib(n_jobs=args.jobs, backend=args.backend)

    for size in args.sizes.split(","):
        n, m = (int(part) for part in size.split("x"))
        rng = np.random.default_rng(args.seed)
        training, external = rng.normal(size=(n, args.features)), rng.normal(0.05, 1, (m, args.features))
        features = standardise(training, external)
        print(f"\n{n} training and {m} external cases, {args.features} features")
        start, cpu = time.perf_counter(), time.process_time()
        found = correspondence(features, np.random.default_rng(1), permutations=args.permutations, run=run)
        took, cpu = time.perf_counter() - start, time.process_time() - cpu
        print(
            f"  package, {args.permutations} permutations: {took:.2f} s ({cpu:.2f} of CPU), "
            f"peak {peak():.0f} MB "
            f"(p {found.degree_of_correspondence.p:.4f} and {found.energy_distance.p:.4f})"
        )
        if args.plain:
            inside = np.zeros((n + m, args.plain), dtype=bool)
            for column in inside.T:
                column[rng.choice(n + m, n, replace=False)] = True
            start = time.perf_counter()
            fast = fast_p(features.pooled, n, inside)
            middle = time.perf_counter()
            slow = plain_p(features.pooled, n, inside)
            end = time.perf_counter()
            print(
                f"  the same {args.plain} permutations: definition {end - middle:.2f} s, package "
                f"{middle - start:.2f} s, ratio {(end - middle) / (middle - start):.0f}; "
                f"p {slow} and {fast}: {'identical' if slow == fast else 'DIFFERENT'}"
            )
            ratio = (end - middle) / args.plain * args.permutations / took
            print(f"  ratio at {args.permutations} permutations, the definition extrapolated: {ratio:.0f}")
        if args.mmd:
            start = time.perf_counter()
            kernel = mmd(features, np.random.default_rng(1), permutations=args.permutations, run=run)
            took = time.perf_counter() - start
            print(f"  MMD: {took:.2f} s, peak {peak():.0f} MB (p {kernel.p:.4f})")


if __name__ == "__main__":
    main()
