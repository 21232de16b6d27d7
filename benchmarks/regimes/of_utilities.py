"""Regimes of utilities: the value of information."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from regimes.of_cases import risks
from regimes.regime import LEVEL, Found, Regime
from trustreport.measures.utility.information import voi_of_advice
from trustreport.study import Floats

MATRIX = ((0.0, -4.0), (-1.0, 0.0))  # rows the decision, columns the truth
AT = 0.2  # where a score is acted on, which is where this matrix says so


def utilities() -> Iterator[Regime]:
    """Few and many cases, the condition rare and not; cases alone and in patients."""
    for n, prevalence in product((100, 300), (0.1, 0.35)):
        yield _regime(n, 1, prevalence)
    for patients, of in product((20, 50), (3, 10)):
        yield _regime(patients, of, 0.35)


def _cells(truth: NDArray[np.bool_], score: Floats, patient: NDArray[np.intp]) -> NDArray[np.int64]:
    """Cases by decision and truth in each patient, (n_patients, 2, 2)."""
    cell = 4 * patient + 2 * (score >= AT) + truth
    return np.bincount(cell, minlength=4 * (int(patient.max()) + 1)).reshape(-1, 2, 2)


def _regime(patients: int, of: int, prevalence: float) -> Regime:
    clusters = of > 1

    def study(rng: np.random.Generator) -> Found:
        truth, score, patient = risks(patients * of, prevalence, rng, patients if clusters else 0)
        cells = _cells(truth, score, np.zeros(len(truth), np.intp) if patient is None else patient)
        grouped = cells if clusters else None
        yield "voi", voi_of_advice(cells.sum(axis=0), MATRIX, clusters=grouped, level=LEVEL)

    cases = f"{patients} patients of {of} cases" if clusters else f"{patients} cases"
    due = patients * (1 - (1 - prevalence) ** of) >= 20
    topic = "utilities in clusters" if clusters else "utilities"
    design = f"{cases}, prevalence {prevalence:g}"
    return Regime(topic, design, partial(_true, prevalence, clusters), study, due=due, cost=0.002)


@cache
def _true(prevalence: float, clusters: bool) -> dict[str, float]:
    """What 400,000 cases show, each a patient of its own."""
    n = 400_000
    rng = np.random.default_rng([int(1000 * prevalence), clusters])
    truth, score, _ = risks(n, prevalence, rng, patients=n if clusters else 0)
    of_all = _cells(truth, score, np.zeros(n, np.intp))[0]
    return {"voi": voi_of_advice(of_all, MATRIX).value}
