"""How long the search for copies takes: python benchmarks/duplicates.py > benchmarks/results/duplicates.csv

Two sets of normal features, one tested case in a hundred a copy of a training case.
"""

import sys
from time import perf_counter

import numpy as np

from trustreport.measures.similarity.duplicates import copies, nearest

SIZES = ((1_000, 20), (10_000, 20), (100_000, 20), (100_000, 200), (1_000_000, 20))
NEAR_UP_TO = 100_000 * 20  # values; a search by distance in many dimensions looks at all pairs


def main() -> None:
    """A row for each size: seconds of the search for equal rows, and of the one by distance."""
    print("cases,features,copies,equal_seconds,near_features,near_seconds")
    for n, d in SIZES:
        rng = np.random.default_rng(1)
        training, tested = rng.normal(size=(n, d)), rng.normal(size=(n, d))
        tested[::100] = training[::100]
        start = perf_counter()
        found = int(copies(tested, training)[0].sum())
        equal = perf_counter() - start
        near = ""
        if n * d <= NEAR_UP_TO:
            start = perf_counter()
            nearest(tested[:, :5], training[:, :5])
            near = f"{perf_counter() - start:.2f}"
        print(f"{n},{d},{found},{equal:.2f},5,{near}")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
