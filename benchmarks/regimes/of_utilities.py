"""Regimes of utilities: value of information, weighted utility, what another candidate is worth more."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from regimes.of_cases import risks
from regimes.of_readers import LEVELS, reader_truths
from regimes.regime import LEVEL, Found, Regime
from trustreport.measures.estimate import Estimate
from trustreport.measures.standardized_net_benefit import weighted_utility
from trustreport.measures.utility.information import voi_of_advice, voi_of_readings
from trustreport.measures.utility.ranking import yield_difference
from trustreport.planning.simulate import STRUCTURES, roe_metz
from trustreport.study.study import Floats

MATRIX = ((0.0, -4.0), (-1.0, 0.0))  # rows the decision, columns the truth
AT = 0.2  # where a score is acted on, which is where this matrix says so
OWN = np.array([0.1, 0.2, 0.4]), np.array([0.5, 1.0, 2.0])  # thresholds and relevances of single cases


def utilities() -> Iterator[Regime]:
    """Few and many cases, the condition rare and not; cases alone and in patients."""
    for n, prevalence in product((100, 300), (0.1, 0.35)):
        yield _regime(n, 1, prevalence)
    for patients, of in product((20, 50), (3, 10)):
        yield _regime(patients, of, 0.35)


def changed_utilities() -> Iterator[Regime]:
    """What another candidate's decisions are worth on the same cases, more than the first's."""
    for patients, of, prevalence in product((30, 100, 300), (1, 3), (0.1, 0.35)):
        due = patients * (1 - (1 - prevalence) ** of) >= 20
        cases = f"{patients} patients of {of} cases" if of > 1 else f"{patients} cases"

        def study(
            rng: np.random.Generator, patients: int = patients, of: int = of, prevalence: float = prevalence
        ) -> Found:
            yield "utility, difference", _change(patients, of, prevalence, rng)

        true = partial(_true_change, of > 1, prevalence)
        topic = "utilities of candidates in clusters" if of > 1 else "utilities of candidates"
        yield Regime(topic, f"{cases}, prevalence {prevalence:g}", true, study, due=due, cost=0.001)


def _change(patients: int, of: int, prevalence: float, rng: np.random.Generator) -> Estimate:
    """The second candidate sees what the first sees with noise of its own, and finds more."""
    truth, score, patient = risks(patients * of, prevalence, rng, patients if of > 1 else 0)
    other = expit(logit(score) + rng.normal(0.3, 0.7, len(score)))
    now, before = ((one >= AT).astype(np.int64) for one in (other, score))
    return yield_difference(truth.astype(np.int64), now, before, MATRIX, cluster=patient, level=LEVEL)


@cache
def _true_change(clusters: bool, prevalence: float) -> dict[str, float]:
    """What 400,000 cases show, in clusters of three or alone."""
    rng, of = np.random.default_rng([int(1000 * prevalence), clusters]), 3 if clusters else 1
    return {"utility, difference": _change(400_000 // of, of, prevalence, rng).value}


def to_readers() -> Iterator[Regime]:
    """How much more readers' decisions are worth with the advice, as cases come and at a prevalence."""
    (structure, mu, cut), n1, n0 = LEVELS[1], 30, 70
    true = reader_truths(structure, mu, cut, n1, n0)["sensitivity, change"] * (MATRIX[1][1] - MATRIX[0][1])
    for readers, missing in product((4, 8), (0.0, 0.2)):

        def study(rng: np.random.Generator, readers: int = readers, missing: float = missing) -> Found:
            truth, rating = roe_metz(
                mu, STRUCTURES[structure], n_readers=readers, n_positives=n1, n_negatives=n0, rng=rng
            )
            grid = np.where(rng.random(rating.shape) < missing, np.nan, rating >= cut)[::-1]
            for name, at in (("voi, of readings", None), (f"voi, of readings at {AT:g}", AT)):
                yield name, voi_of_readings(grid, truth, MATRIX, prevalence=at, level=LEVEL)[0]

        values = {"voi, of readings": true * n1 / (n1 + n0), f"voi, of readings at {AT:g}": true * AT}
        design = f"{readers} readers, {missing:.0%} missing"
        yield Regime("utilities of readings", design, partial(dict, values), study, cost=0.01)


def _cells(truth: NDArray[np.bool_], score: Floats, patient: NDArray[np.intp]) -> NDArray[np.int64]:
    """Cases by decision and truth in each patient, (n_patients, 2, 2)."""
    cell = 4 * patient + 2 * (score >= AT) + truth
    return np.bincount(cell, minlength=4 * (int(patient.max()) + 1)).reshape(-1, 2, 2)


def _own(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A threshold and a relevance of each case."""
    thresholds, relevances = OWN
    return rng.choice(thresholds, n), rng.choice(relevances, n)


def _regime(patients: int, of: int, prevalence: float) -> Regime:
    clusters = of > 1

    def study(rng: np.random.Generator) -> Found:
        truth, score, patient = risks(patients * of, prevalence, rng, patients if clusters else 0)
        cells = _cells(truth, score, np.zeros(len(truth), np.intp) if patient is None else patient)
        grouped = cells if clusters else None
        yield "voi", voi_of_advice(cells.sum(axis=0), MATRIX, clusters=grouped, level=LEVEL)
        own = _own(len(truth), rng)
        yield "weighted_utility", weighted_utility(truth, score, *own, cluster=patient, level=LEVEL)

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
    weighted = weighted_utility(truth, score, *_own(n, rng))
    return {"voi": voi_of_advice(of_all, MATRIX).value, "weighted_utility": weighted.value}
