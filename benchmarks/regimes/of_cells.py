"""Regimes of what is made of the four cells beside the shares, and of rates at a local prevalence."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np

from regimes.of_cases import dataset, measured, risks, scored
from regimes.regime import LEVEL, Found, Regime, Truths, plan
from trustreport.assessment.dimensions.candidates.results import at_local_prevalence
from trustreport.assessment.performance.cases import scored_cases
from trustreport.assessment.performance.measures import lead
from trustreport.study.study import Study

CELLS = (
    *("balanced_accuracy", "cohen_kappa", "diagnostic_odds_ratio", "lr_positive", "lr_negative"),
    *("fowlkes_mallows", "f1_negative", "threat_score", "prevalence"),
)
LOCAL = 0.05  # the prevalence at which rates are given
RATES = {"alarm_rate": "alarm", "false_alarm_rate": "false", "missed_rate": "missed", "recall_rate": "alarm"}


@cache
def of_many_cells(prevalence: float, clusters: bool) -> dict[str, float]:
    """What two million cases show, each a patient of its own."""
    rng = np.random.default_rng([int(1000 * prevalence), clusters])
    truth, score, _ = risks(2_000_000, prevalence, rng, patients=2_000_000 if clusters else 0)
    case = scored(truth, score, at=prevalence)
    found = {name: lead(case, name, LEVEL).value for name in CELLS}
    right = {name: lead(case, name, LEVEL).value for name in ("sensitivity", "specificity")}
    missed, false = LOCAL * (1 - right["sensitivity"]), (1 - LOCAL) * (1 - right["specificity"])
    parts = {"missed": missed, "false": false, "alarm": LOCAL * right["sensitivity"] + false}
    return found | {f"{name}, local": parts[of] for name, of in RATES.items()}


def cells() -> Iterator[Regime]:
    """Decisions on independent cases, and on patients with several."""
    for n, prevalence in product((100, 300), (0.1, 0.35)):
        yield _regime("four cells", n, 1, prevalence)
    for patients, of, prevalence in product((20, 50), (3, 10), (0.35,)):
        yield _regime("four cells in clusters", patients, of, prevalence)


def _regime(topic: str, patients: int, of: int, prevalence: float) -> Regime:
    clusters = of > 1

    def study(rng: np.random.Generator) -> Found:
        truth, score, patient = risks(patients * of, prevalence, rng, patients if clusters else 0)
        declared = plan(operating_point={"threshold": prevalence}, site_context={"local_prevalence": LOCAL})
        (case,) = scored_cases(Study(datasets=(dataset(truth, score, patient),)), declared)
        yield from measured(case, CELLS)
        if case.truth.any() and not case.truth.all():
            yield from ((f"{r.name}, local", r.estimate) for r in at_local_prevalence(case, declared))

    def true() -> Truths:
        return of_many_cells(prevalence, clusters)

    due = patients * (1 - (1 - prevalence) ** of) >= 20
    cases = f"{patients} patients of {of} cases" if clusters else f"{patients} cases"
    return Regime(topic, f"{cases}, prevalence {prevalence:g}", partial(true), study, due=due, cost=0.01)
