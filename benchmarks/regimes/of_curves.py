"""Regimes of resampled measures of scored cases: smooth curves, H-accuracy."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from regimes.of_cases import risks
from regimes.regime import LEVEL, Found, Regime
from trustreport.estimate import Estimate
from trustreport.measures.calibration.smooth import smooth_error
from trustreport.measures.cluster import Clusters
from trustreport.measures.h_accuracy.measure import h_accuracy, two_class_scores
from trustreport.study import Floats

SUMMARIES = ("e50", "e90", "emax")
TAU = 0.75
MANY = 200_000
PREVALENCES = 0.1, 0.35


def curves() -> Iterator[Regime]:
    """Distances from a smooth curve."""
    for n in (50, 100):

        def study(rng: np.random.Generator, n: int = n) -> Found:
            truth, score, _ = risks(n, 0.35, rng)
            found = smooth_error(truth, score, rng=rng, level=LEVEL)
            yield from ((name, getattr(found, name)) for name in SUMMARIES)

        yield Regime("smooth curve", f"{n} cases, prevalence 0.35", _true_distances, study, cost=0.1)


def confident() -> Iterator[Regime]:
    """H-accuracy of few and many cases, the condition rare and not; cases alone and in patients."""
    for (patients, of), prevalence in product(((100, 1), (300, 1), (20, 3), (50, 3)), PREVALENCES):

        def study(
            rng: np.random.Generator, patients: int = patients, of: int = of, prevalence: float = prevalence
        ) -> Found:
            truth, score, patient = risks(patients * of, prevalence, rng, patients if of > 1 else 0)
            yield "h_accuracy", _confident(truth, score, patient, rng, 2000)

        cases = f"{patients} patients of {of} cases" if of > 1 else f"{patients} cases"
        due = patients * of * prevalence >= 100  # a third of the positive cases earn credit
        true = partial(_true_confident, prevalence, of > 1)
        topic = "H-accuracy in clusters" if of > 1 else "H-accuracy"
        yield Regime(topic, f"{cases}, prevalence {prevalence:g}", true, study, due=due, cost=0.01)


def _confident(
    truth: NDArray[np.bool_],
    score: Floats,
    cluster: Clusters | None,
    rng: np.random.Generator,
    resamples: int,
) -> Estimate:
    scores = two_class_scores(score)
    return h_accuracy(
        truth.astype(np.int64), scores, tau=TAU, rng=rng, cluster=cluster, resamples=resamples, level=LEVEL
    )


@cache
def _true_distances() -> dict[str, float]:
    """What many cases show, with a curve as smooth."""
    truth, score, _ = risks(MANY, 0.35, np.random.default_rng(350))
    found = smooth_error(truth, score)
    return {name: getattr(found, name).value for name in SUMMARIES}


@cache
def _true_confident(prevalence: float, clusters: bool) -> dict[str, float]:
    rng = np.random.default_rng([int(1000 * prevalence), clusters])
    truth, score, _ = risks(2 * MANY, prevalence, rng, 2 * MANY if clusters else 0)
    return {"h_accuracy": _confident(truth, score, None, rng, 2).value}
