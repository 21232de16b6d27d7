"""Regimes of resampled measures of scored cases: smooth curves, parts of the ROC curve, H-accuracy."""

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
from trustreport.measures.roc.difference import auc_group
from trustreport.study import Floats

SUMMARIES = ("e50", "e90", "emax")
PART = 0.0, 0.33  # false positive rates
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


def parts() -> Iterator[Regime]:
    """Area under a part of the curve: few positive cases, and many."""
    for n, prevalence in ((100, 0.1), (300, 0.35)):

        def part(rng: np.random.Generator, n: int = n, prevalence: float = prevalence) -> Found:
            truth, score, _ = risks(n, prevalence, rng)
            yield "auc_group", auc_group(truth, score, PART, rng=rng, level=LEVEL)

        due, design = n * prevalence >= 20, f"{n} cases, prevalence {prevalence:g}"
        yield Regime("part of the curve", design, partial(_true_part, prevalence), part, due=due, cost=0.2)


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
def _true_part(prevalence: float) -> dict[str, float]:
    rng = np.random.default_rng(int(1000 * prevalence))
    truth, score, _ = risks(2 * MANY, prevalence, rng)
    return {"auc_group": auc_group(truth, score, PART, rng=rng, resamples=2).value}


@cache
def _true_confident(prevalence: float, clusters: bool) -> dict[str, float]:
    rng = np.random.default_rng([int(1000 * prevalence), clusters])
    truth, score, _ = risks(2 * MANY, prevalence, rng, 2 * MANY if clusters else 0)
    return {"h_accuracy": _confident(truth, score, None, rng, 2).value}
