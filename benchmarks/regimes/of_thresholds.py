"""Regimes of acting at thresholds: interventions avoided, accuracy where the least certain are refused.

The true accuracy is that of the population's most certain share: its cut, which a study estimates, is known.
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from regimes.of_cases import dataset, risks
from regimes.regime import LEVEL, Found, Regime, plan
from trustreport.dimensions.advice_accuracy.coverage import coverage_of
from trustreport.measures.interventions_avoided import interventions_avoided
from trustreport.performance.cases import ScoredCases, scored_cases
from trustreport.performance.decision_table import decision_table_results
from trustreport.study import Floats, Study

DECIDED = (0.5, 0.8, 1.0)  # share of the cases that are decided


def thresholds() -> Iterator[Regime]:
    """Few and many cases, the condition rare and not; cases alone and in patients."""
    for n, prevalence in product((100, 300), (0.1, 0.35)):
        yield _regime(n, 1, prevalence)
    for patients, of, prevalence in product((20, 50), (3, 10), (0.1, 0.35)):
        yield _regime(patients, of, prevalence)


def _case(
    truth: NDArray[np.bool_], score: Floats, patient: NDArray[np.intp] | None, at: float
) -> ScoredCases:
    declared = plan(operating_point={"threshold": at})
    (case,) = scored_cases(Study(datasets=(dataset(truth, score, patient),)), declared)
    return case


def _at(prevalence: float) -> tuple[float, float]:
    """The thresholds of interventions avoided: at the prevalence, and where a missed case weighs more."""
    return prevalence, prevalence / 2


def _regime(patients: int, of: int, prevalence: float) -> Regime:
    clusters = of > 1

    def study(rng: np.random.Generator) -> Found:
        truth, score, patient = risks(patients * of, prevalence, rng, patients if clusters else 0)
        case = _case(truth, score, patient, prevalence)
        names = {at: f"net_interventions_avoided, at {at:g}" for at in _at(prevalence)}
        for r in decision_table_results(case, _at(prevalence), LEVEL):
            if r.primary and r.name == "net_interventions_avoided" and not r.parameters:
                assert r.place.threshold is not None
                yield names[r.place.threshold], r.estimate
        found = coverage_of(case, plan(operating_point={"threshold": prevalence}))
        assert found is not None
        for share in DECIDED:
            yield f"accuracy_at_coverage, {share:.0%}", found.lead(share)

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
        for at in _at(prevalence)
    }
    order = np.argsort(-np.abs(score - prevalence))
    right = np.cumsum((score >= prevalence)[order] == truth[order])
    for share in DECIDED:
        decided = round(share * n)
        found[f"accuracy_at_coverage, {share:.0%}"] = float(right[decided - 1]) / decided
    return found
