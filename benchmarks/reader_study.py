"""Seconds and memory of the statistics of reader studies, from small to large.

    python benchmarks/reader_study.py [--readers 100] [--cases 2000]

Simulates a crossed study of two arms (Roe-Metz, structure HL), then times every analysis of pragmatic utility
and decision benefit apart from reading, figures and report. GEE is timed by itself. The peak is that of the
process.
"""

import argparse
import os
import platform
import resource
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from trustreport.dimensions.decision_benefit.endpoints import auc as auc_endpoint
from trustreport.dimensions.decision_benefit.endpoints import correct_decisions, proportion, results_of
from trustreport.dimensions.pragmatic_utility.counts import paired, two_sample
from trustreport.dimensions.pragmatic_utility.readings import (
    clustered,
    counts_of,
    errors,
    marginal,
    mrmc,
    pairs_of,
)
from trustreport.simulate import STRUCTURES, roe_metz
from trustreport.study import Cases, Labels, Readers, Readings

ARMS = ("aided", "unaided")
LEVEL = 0.95


def study(n_readers: int, n_cases: int) -> Readings:
    """A crossed study whose decisions are ratings of at least 0.75."""
    half = n_cases // 2
    truth, rating = roe_metz(
        (1.5, 1.7),
        STRUCTURES["HL"],
        n_readers=n_readers,
        n_positives=half,
        n_negatives=n_cases - half,
        rng=np.random.default_rng(1),
    )
    arm, reader, case = (index.ravel().astype(np.int32) for index in np.indices(rating.shape))
    return Readings(
        "",
        ("unaided", "aided"),
        Readers(Labels(n=n_readers)),
        Cases(Labels(n=n_cases), truth.astype(np.int8)),
        arm,
        reader,
        case,
        (rating.ravel() >= 0.75).astype(np.int8),
        rating.ravel(),
    )


def timed(name: str, what: Callable[[], Any]) -> float:
    """Run once, print the seconds and the peak so far."""
    start = perf_counter()
    what()
    seconds = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {name:<44}{seconds:8.3f} s   peak {peak:6.0f} MB")
    return seconds


def proportions(readings: Readings) -> None:
    """Every analysis of accuracy, sensitivity and specificity."""
    correct = correct_decisions(readings, ARMS)
    truth = readings.cases.truth
    for name, cases in (("accuracy", truth >= 0), ("sensitivity", truth == 1), ("specificity", truth == 0)):
        results_of(proportion(name, correct[:, :, cases], LEVEL), readings, ARMS, LEVEL, {})


def areas(readings: Readings) -> None:
    """Every analysis of the area under the curve."""
    assert readings.score is not None
    rating = readings.grid(readings.score, ARMS)
    results_of(auc_endpoint(rating, readings.cases.truth == 1, LEVEL), readings, ARMS, LEVEL, {})


def utility(readings: Readings) -> None:
    """Every analysis of pragmatic utility but GEE."""
    grid = errors(readings, ARMS)
    two_sample({}, ARMS, counts_of(grid[0]), counts_of(grid[1]), LEVEL, leads=False)
    paired({}, ARMS, pairs_of(grid), LEVEL, leads=False)
    clustered({}, ARMS, grid, LEVEL)
    mrmc({}, ARMS, grid, LEVEL)


def main() -> None:
    """Time every part on one simulated study."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--cases", type=int, default=2000)
    arguments = parser.parse_args()
    readings = study(arguments.readers, arguments.cases)
    size = f"{arguments.readers} readers x 2 arms x {arguments.cases} cases"
    print(f"{size}, {os.cpu_count()} cores, Python {platform.python_version()}")
    total = timed("pragmatic utility", lambda: utility(readings))
    total += timed("accuracy, sensitivity, specificity", lambda: proportions(readings))
    print(f"  {'0/1 endpoints in all':<44}{total:8.3f} s")
    timed("area under the curve, three covariances", lambda: areas(readings))
    grid = errors(readings, ARMS)
    timed("GEE", lambda: marginal({}, ARMS, grid, LEVEL))


if __name__ == "__main__":
    main()
