"""Regimes of acting at thresholds: interventions avoided, accuracy where the least certain are refused.

The true accuracy is that of the population's most certain share: its cut, which a study estimates, is known.
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np

from regimes.of_cases import risks
from regimes.regime import LEVEL, Found, Regime
from trustreport.assessment.dimensions.advice_accuracy.coverage import SAME
from trustreport.measures.net_benefit import interventions_avoided
from trustreport.measures.protocols import accuracy_at_coverage

DECIDED = (0.5, 0.8, 1.0)  # share of the cases that are decided


def thresholds() -> Iterator[Regime]:
    """Few and many cases, the condition rare and not; cases alone and in patients."""
    for n, prevalence in product((100, 300), (0.1, 0.35)):
        yield _regime(n, 1, prevalence)
    for patients, of, prevalence in product((20, 50), (3, 10), (0.1, 0.35)):
        yield _regime(patients, of, prevalence)


def _two_thresholds(prevalence: float) -> tuple[float, float]:
    """The thresholds of interventions avoided: at the prevalence, and where a missed case weighs more."""
    return prevalence, prevalence / 2


def _regime(patients: int, of: int, prevalence: float) -> Regime:
    clusters = of > 1

    def study(rng: np.random.Generator) -> Found:
        truth, score, patient = risks(patients * of, prevalence, rng, patients if clusters else 0)
        in_clusters = {"cluster": patient, "level": LEVEL}
        for at in _two_thresholds(prevalence):
            e = interventions_avoided(truth, score >= at, at, **in_clusters)
            yield f"net_interventions_avoided, at {at:g}", e
        right, certainty = (score >= prevalence) == truth, np.abs(score - prevalence).round(SAME)
        for share in DECIDED:
            e = accuracy_at_coverage(right, certainty, share, **in_clusters)
            yield f"accuracy_at_coverage, {share:.0%}", e

    cases = f"{patients} patients of {of} cases" if clusters else f"{patients} cases"
    design = f"{cases}, prevalence {prevalence:g}"
    due = patients * (1 - (1 - prevalence) ** of) >= 20
    true = partial(_true, prevalence, clusters)
    topic = "at thresholds in clusters" if clusters else "at thresholds"
    return Regime(topic, design, true, study, due=due, cost=0.01)


@cache
def _true(prevalence: float, clusters: bool) -> dict[str, float]:
    """What a million cases show, each a patient of its own; the cut of so many cases is the population's."""
    n = 1_000_000
    rng = np.random.default_rng([int(1000 * prevalence), clusters])
    truth, score, _ = risks(n, prevalence, rng, patients=n if clusters else 0)
    found = {
        f"net_interventions_avoided, at {at:g}": interventions_avoided(truth, score >= at, at).value
        for at in _two_thresholds(prevalence)
    }
    order = np.argsort(-np.abs(score - prevalence))
    right = np.cumsum((score >= prevalence)[order] == truth[order])
    for share in DECIDED:
        decided = round(share * n)
        found[f"accuracy_at_coverage, {share:.0%}"] = float(right[decided - 1]) / decided
    return found
