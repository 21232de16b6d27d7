"""Seconds and memory of the statistics of reader studies, from small to large.

Each row is the median of several runs in one thread, apart from reading, figures and report. CPU seconds are
what to compare: other processes of the machine (its load is beside them) make wall time longer. *Every
analysis* is pragmatic utility (two-sample, paired, clustered with GEE, readers and cases random) and decision
benefit (accuracy, sensitivity, specificity, Youden's index and, with ratings, the area under the curve with
three covariances and the U-statistic; each reader, each arm, the difference), without bootstrap, which has a
row of its own, as have GEE and, in the largest study, the unbiased covariance (the ratings as drawn, rounded
to 100 levels and to five). VanDyke and VIPER are read from ../shared/reference/mrmc where it is there; the
larger studies are simulated (Roe-Metz, structure HL). The peak is that of the process, which runs the rows in
this order.

    OPENBLAS_NUM_THREADS=1 python benchmarks/reader_study.py [--out FILE]
"""

import argparse
import csv
import os
import platform
import resource
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
from areas_of_draws import auc_difference

from trustreport.assessment.dimensions.decision_benefit.results import results_of
from trustreport.assessment.dimensions.pragmatic_utility.results import (
    clustered,
    counts_of,
    mrmc,
    paired,
    pairs_of,
    two_sample,
)
from trustreport.assessment.performance.readers import correct_decisions, every_endpoint
from trustreport.measures.mrmc.auc import auc_covariance, auc_ustatistic
from trustreport.measures.mrmc.bootstrap import Draws
from trustreport.measures.mrmc.clustered import gee_odds_ratio
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.planning.simulate import STRUCTURES, roe_metz
from trustreport.study.study import Cases, Labels, Readers, Readings
from trustreport.vocabulary.place import Place

ARMS = ("aided", "unaided")
LEVEL = 0.95
COLUMNS = (
    *("study", "what", "runs", "median_seconds", "median_cpu_seconds", "goal_seconds", "peak_mb", "load"),
    "machine",
)
PLACE = Place()
SHARED = Path(__file__).resolve().parents[2] / "shared" / "reference" / "mrmc"


def simulated(n_readers: int, n_cases: int) -> Readings:
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
    decision = (rating.ravel() >= 0.75).astype(np.int8)
    return readings(arm, reader, case, truth.astype(np.int8), decision, rating.ravel())


def readings(arm: Any, reader: Any, case: Any, truth: Any, decision: Any, rating: Any) -> Readings:
    """A table of readings with numbers for names."""
    readers, cases = Readers(Labels(n=int(reader.max()) + 1)), Cases(Labels(n=len(truth)), truth)
    return Readings("", ("unaided", "aided"), readers, cases, arm, reader, case, decision, rating)


def real(file: str, decision: Callable[[dict[str, str]], bool]) -> Readings | None:
    """A study of ../shared with modality 1 as the unaided arm; None where it is not there."""
    path = SHARED / file
    if not path.exists():
        return None
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))

    def codes(column: str) -> Any:
        return np.unique([row[column] for row in rows], return_inverse=True)[1].astype(np.int32)

    case = codes("case")
    truth = np.zeros(case.max() + 1, np.int8)
    truth[case] = [int(float(row["truth"])) for row in rows]
    rating = np.array([float(row["rating"]) for row in rows])
    called = np.array([decision(row) for row in rows], np.int8)
    return readings(codes("modality"), codes("reader"), case, truth, called, rating)


def every_analysis(study: Readings) -> None:
    """All of pragmatic utility and decision benefit but the bootstrap."""
    study = replace(study)  # what was computed before is not remembered
    grid = 1 - correct_decisions(study, ARMS)
    two_sample(PLACE, ARMS, counts_of(grid[0]), counts_of(grid[1]), LEVEL, leads=False)
    paired(PLACE, ARMS, pairs_of(grid), LEVEL, leads=False)
    clustered(PLACE, grid, None, LEVEL)
    mrmc(study, ARMS, PLACE, LEVEL)
    for endpoint in every_endpoint(study, ARMS, LEVEL):
        results_of(endpoint, study, ARMS, LEVEL, PLACE)


def unbiased(levels: int = 0) -> Callable[[Readings], None]:
    """The unbiased covariance of the areas, of the ratings as they are or rounded to so many levels."""

    def covariance(study: Readings) -> None:
        assert study.score is not None
        rating = study.grid(study.score, ARMS)
        if levels:
            low, high = rating.min(), rating.max()
            rating = np.round((rating - low) / (high - low) * (levels - 1))
        auc_covariance(rating, study.cases.truth == 1, "unbiased")

    return covariance


def split_plot(study: Readings) -> None:
    """The U-statistic of the area and of sensitivity, both forms, as a split-plot study needs them."""
    assert study.score is not None
    assert study.decision is not None
    rating, truth = study.grid(study.score, ARMS), study.cases.truth == 1
    found = study.grid(study.decision.astype(float), ARMS)[:, :, truth]
    for centred in (False, True):
        auc_ustatistic(rating, truth, centred=centred).difference(0, 1)
        ustatistic(found, centred=centred).difference(0, 1)


def bootstrap(study: Readings) -> None:
    """2,000 draws of readers and cases for the difference of the areas."""
    assert study.score is not None
    rating, truth = study.grid(study.score, ARMS), study.cases.truth == 1
    draws = Draws.drawn(len(study.readers), truth, np.random.default_rng(1))
    draws.estimate(auc_difference(rating, truth, compared=0, baseline=1), rating[0].size)


def gee(study: Readings) -> None:
    """The marginal odds ratio by estimating equations."""
    gee_odds_ratio(1 - correct_decisions(study, ARMS), compared=0, baseline=1, level=LEVEL)


def machine() -> str:
    """Processor and interpreter."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor()
    threads = os.environ.get("OPENBLAS_NUM_THREADS", "all")
    return f"{model}, {os.cpu_count()} cores, BLAS threads {threads}, Python {platform.python_version()}"


def main() -> None:
    """Time every row, print it, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(__file__).parent / "results" / "reader_study.csv"
    parser.add_argument("--out", type=Path, default=default)
    given = parser.parse_args()
    vandyke = real("vandyke.csv", lambda row: float(row["rating"]) >= 3)
    viper = real("viper_screening_high.csv", lambda row: row["recall"] == "1")
    medium, large = simulated(20, 400), simulated(100, 2000)
    jobs: list[tuple[str, str, Callable[[Readings], None], Readings | None, int, float | None]] = [
        ("VanDyke, 5 x 2 x 114", "every analysis", every_analysis, vandyke, 21, 0.1),
        ("VanDyke, 5 x 2 x 114", "bootstrap of the areas", bootstrap, vandyke, 11, 2.0),
        ("VanDyke, 5 x 2 x 114", "GEE", gee, vandyke, 21, None),
        ("VIPER screening-high, split-plot, 2390 readings", "U-statistic", split_plot, viper, 21, 0.2),
        ("simulated, 20 x 2 x 400", "every analysis", every_analysis, medium, 11, 0.5),
        ("simulated, 20 x 2 x 400", "GEE", gee, medium, 11, None),
        ("simulated, 100 x 2 x 2000", "every analysis", every_analysis, large, 3, None),
        ("simulated, 100 x 2 x 2000", "unbiased covariance", unbiased(), large, 5, 1.0),
        ("simulated, 100 x 2 x 2000", "unbiased covariance, 100 levels", unbiased(100), large, 5, 1.0),
        ("simulated, 100 x 2 x 2000", "unbiased covariance, 5 levels", unbiased(5), large, 5, 1.0),
    ]
    rows = []
    for name, analysis, job, study, runs, limit in jobs:
        if study is None:
            print(f"{name}: not at hand")
            continue
        load, seconds, cpu = os.getloadavg()[0], [], []
        for _ in range(runs):
            start, began = perf_counter(), process_time()
            job(study)
            seconds.append(perf_counter() - start)
            cpu.append(process_time() - began)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        wanted = "" if limit is None else limit
        spent = f"{median(seconds):.4f}", f"{median(cpu):.4f}"
        rows.append((name, analysis, runs, *spent, wanted, f"{peak:.0f}", f"{load:.1f}", machine()))
        print(f"{name:<50}{analysis:<32}{spent[0]:>9} s {spent[1]:>9} s CPU   peak {peak:5.0f} MB")
    with given.out.open("w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


if __name__ == "__main__":
    main()
