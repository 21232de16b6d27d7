"""Regimes of the same case twice: a device run again, alone and in patients, and readers who read again.

The scores of both runs are what a case shows and an error of the run. Scores of a unit of their own (a
length, a volume) have normal errors; those of probabilities are normal on the log odds.
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri

from regimes.regime import LEVEL, Found, Regime
from trustreport.assessment.performance.repeated import RepeatedCases, repeat_results
from trustreport.measures.repeatability import OF_DIFFERENCES, kappa_of, value_of
from trustreport.study.study import Floats
from trustreport.vocabulary.place import Place

ERROR, DRIFT = 0.3, 0.1  # of each run, where cases spread by 1; what the second run is above the first
SHARED = 0.2  # what a patient, or a reader, or a case adds to the difference of both runs
NAMES = (*OF_DIFFERENCES, "repeat_kappa")
Runs = tuple[Floats, Floats]


def _runs(seen: Floats, apart: Floats, scale: str, rng: np.random.Generator) -> Runs:
    """Both scores; `apart` is what the second has beyond the first before errors."""
    first = seen + ERROR * rng.standard_normal(seen.shape)
    second = seen + DRIFT + apart + ERROR * rng.standard_normal(seen.shape)
    return (expit(first), expit(second)) if scale == "probability" else (first, second)


def _cut(share: float, scale: str) -> float:
    """Where so many of the first run are positive."""
    at = -sqrt(1 + ERROR**2) * float(ndtri(share))
    return float(expit(at)) if scale == "probability" else at


@cache
def _true(scale: str, share: float, shared: float) -> dict[str, float]:
    """What a million cases show, each with terms of its own."""
    rng = np.random.default_rng(11)
    seen, apart = rng.standard_normal((2, 1_000_000))
    first, second = _runs(seen, shared * apart, scale, rng)
    at = _cut(share, scale)
    found = {name: value_of(name, second - first) for name in OF_DIFFERENCES}
    return found | {"repeat_kappa": kappa_of(first >= at, second >= at)[0]}


def _estimated(
    runs: Runs,
    at: float,
    cluster: NDArray[np.intp] | None = None,
    reader: NDArray[np.intp] | None = None,
    case: NDArray[np.intp] | None = None,
) -> Found:
    first, second = runs
    known = np.ones(first.size, bool)
    made = RepeatedCases(
        Place(), known, first >= at, second >= at, second - first, cluster, "", reader=reader, case=case
    )
    for r in repeat_results("potential_robustness", made, LEVEL):
        if r.primary and r.name in NAMES:
            yield r.name, r.estimate


def repeats() -> Iterator[Regime]:
    """Cases alone and in patients, positives common and not; then readings of readers and cases."""
    for n, scale, share in product((20, 50, 200), ("unit", "probability"), (0.5, 0.1)):

        def study(rng: np.random.Generator, n: int = n, scale: str = scale, share: float = share) -> Found:
            runs = _runs(rng.standard_normal(n), np.zeros(n), scale, rng)
            return _estimated(runs, _cut(share, scale))

        true, due = partial(_true, scale, share, 0.0), n * share >= 20
        design = f"{n} cases, {scale}, {share:.0%} positive"
        yield Regime("the same case twice", design, true, study, due=due, cost=0.002)
    for patients, of, scale in product((20, 50), (3, 10), ("unit", "probability")):

        def clustered(
            rng: np.random.Generator, patients: int = patients, of: int = of, scale: str = scale
        ) -> Found:
            patient = np.repeat(np.arange(patients), of)
            seen = sqrt(0.5) * (rng.standard_normal(patients)[patient] + rng.standard_normal(patient.size))
            apart = SHARED * rng.standard_normal(patients)[patient]
            return _estimated(_runs(seen, apart, scale, rng), _cut(0.35, scale), patient)

        true = partial(_true, scale, 0.35, SHARED)
        design = f"{patients} patients of {of} cases, {scale}"
        yield Regime("the same case twice in clusters", design, true, clustered, cost=0.002)
    for readers, cases in ((3, 40), (5, 40), (10, 80)):

        def read_again(rng: np.random.Generator, readers: int = readers, cases: int = cases) -> Found:
            reader, case = (index.ravel() for index in np.indices((readers, cases)))
            seen = 0.9 * rng.standard_normal(cases)[case] + sqrt(0.19) * rng.standard_normal(case.size)
            both = rng.standard_normal(readers)[reader] + rng.standard_normal(cases)[case]
            runs = _runs(seen, SHARED / sqrt(2) * both, "unit", rng)
            return _estimated(runs, _cut(0.35, "unit"), reader=reader, case=case)

        true = partial(_true, "unit", 0.35, SHARED)
        design = f"{readers} readers, {cases} cases"
        yield Regime("the same case read twice", design, true, read_again, cost=0.004)
