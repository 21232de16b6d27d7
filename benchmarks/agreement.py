"""Seconds and memory of every coefficient of agreement on a million labels.

    python benchmarks/agreement.py [--cases 100000] [--raters 10] [--categories 2] [--missing 0.1]

Its output for that is in benchmarks/results/agreement.txt.

Simulates raters who are right with chance .85; times each coefficient with its interval, weighted concordance
with its two bootstraps (as many resamples as a report takes), and the accuracy of the majority's labels.
"""

import argparse
import os
import platform
import resource
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.source_reliability.results import (
    COEFFICIENTS,
    RESAMPLES,
    RESAMPLES_OF_MANY,
)
from trustreport.measures.agreement.bootstrap import bootstrap
from trustreport.measures.agreement.coefficients import krippendorff_alpha
from trustreport.measures.agreement.weighted_concordance import weighted_concordance
from trustreport.measures.label_accuracy import majority_accuracy


def timed(name: str, what: Callable[[], Any]) -> float:
    """Run once, print the seconds and the peak so far."""
    start = perf_counter()
    what()
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {name:<44}{seconds:8.3f} s   peak {peak:6.0f} MB")
    return seconds


def main() -> None:
    """Time every coefficient on one simulated table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--raters", type=int, default=10)
    parser.add_argument("--categories", type=int, default=2)
    parser.add_argument("--missing", type=float, default=0.1)
    arguments = parser.parse_args()
    n, m, q = arguments.cases, arguments.raters, arguments.categories
    rng = np.random.default_rng(1)
    truth = rng.integers(q, size=(n, 1))
    codes = np.where(rng.random((n, m)) < 0.85, truth, rng.integers(q, size=(n, m)))
    codes[rng.random((n, m)) < arguments.missing] = -1
    confidence = rng.random((n, m))
    size = f"{n:,} cases x {m} raters, {q} categories, {arguments.missing:.0%} missing"
    print(f"{size}, {os.cpu_count()} cores, Python {platform.python_version()}")
    total = sum(timed(name, lambda f=f: f(codes, q)) for name, f in COEFFICIENTS.items())
    total += timed("krippendorff_alpha, ordinal", lambda: krippendorff_alpha(codes, q, metric="ordinal"))
    print(f"  {'coefficients in all':<44}{total:8.3f} s")
    for raters in (False, True):
        drawn = "raters and cases" if raters else "cases"
        timed(
            f"all of them, {drawn} drawn, {RESAMPLES_OF_MANY} resamples",
            lambda: bootstrap(codes, q, rng=rng, resamples=RESAMPLES_OF_MANY, raters=raters),  # noqa: B023 -- called within the round
        )
    known: dict[str, Any] = {"confidence": confidence, "accuracy": 0.85, "rng": rng}
    timed(
        f"weighted_concordance, {RESAMPLES} resamples",
        lambda: weighted_concordance(codes, q, resamples=RESAMPLES, interval="cases", **known),
    )
    timed(
        f"the same, raters drawn too, {RESAMPLES_OF_MANY} resamples",
        lambda: weighted_concordance(codes, q, resamples=RESAMPLES_OF_MANY, interval="raters", **known),
    )
    timed("majority_accuracy", lambda: majority_accuracy(np.full(m, 0.85), codes >= 0, n_categories=2))


if __name__ == "__main__":
    main()
