"""Value of information: expected utility with the advice less that without it."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.advice_value.results import ID
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.measures import as_entries
from trustreport.assessment.performance.readers import patients_of
from trustreport.measures.utility.information import voi_of_advice, voi_of_readings
from trustreport.measures.utility.matrices import expected_matrix
from trustreport.study.plan import Plan
from trustreport.study.study import Floats, Readings, Study
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import Place, of_task
from trustreport.vocabulary.results import Result, results_for

# Names of utilities that the manifest gives by other means than a matrix of its own.
COSTS, EXPECTED = "costs of errors", "mean of the matrices"
ANALYSIS = "mrmc"
TWO = (2, 2)
SAME = 1e-3  # a declared prevalence as near as this is that of the cases


@dataclass(frozen=True, eq=False)
class Informed:
    """The value of information of one contrast of readings, or of the advice of one data set."""

    name: Message | str
    results: tuple[Result, ...]
    readers: bool

    @property
    def leads(self) -> tuple[Result, ...]:
        """The primary entry for each utility, and for each prevalence."""
        return tuple(r for r in self.results if r.primary)


def utilities(plan: Plan) -> dict[str, Floats]:
    """Every declared utility of two classes, rows the decision 0, 1 and columns the truth 0, 1.

    Without matrices the costs of a false positive and of a missed case, both of them, make one. Where every
    matrix has a probability, their mean stands beside them.
    """
    declared = plan.utility
    two = [m for m in declared.matrices if np.shape(m.matrix) == TWO]
    found = {m.name: np.array(m.matrix, float) for m in two}
    if two:
        probability = [m.probability for m in two if m.probability is not None]
        if len(two) > 1 and len(probability) == len(two) and abs(sum(probability) - 1) < 1e-9:
            found[EXPECTED] = expected_matrix(list(found.values()), probability)
    elif declared.cost_fp is not None and declared.cost_fn is not None:
        found[COSTS] = np.array([[0.0, -declared.cost_fn], [-declared.cost_fp, 0.0]])
    return found


def compares(readings: Readings, plan: Plan) -> bool:
    """Whether readings have decisions in two arms that are to be compared, and truths."""
    return (
        readings.decision is not None
        and any({a, b} <= set(readings.arms) for a, b in plan.contrasts)
        and bool((readings.cases.truth >= 0).any())
    )


def of_readings(study: Study, plan: Plan) -> Iterator[Informed]:
    """Every contrast of every task, under every declared utility."""
    declared = utilities(plan)
    for readings in study.readings if declared else ():
        if not compares(readings, plan):
            continue
        place = of_task(readings.task, several=len(study.readings) > 1)
        for arms in plan.contrasts:
            if set(arms) <= set(readings.arms):
                results = tuple(_contrast(readings, arms, declared, place.narrowed(arms=arms), plan))
                yield Informed(str(place.task), results, True)


def _contrast(
    readings: Readings,
    arms: tuple[str, str],
    declared: Mapping[str, Floats],
    place: Place,
    plan: Plan,
) -> Iterator[Result]:
    assert readings.decision is not None
    judged = (readings.decision >= 0) & (readings.truth >= 0)
    grid = readings.grid(np.where(judged, readings.decision.astype(float), np.nan), arms)
    known = readings.cases.truth >= 0
    grid, truth, cluster = grid[:, :, known], readings.cases.truth[known] == 1, patients_of(readings, known)
    anybody = (~np.isnan(grid)).any(axis=(0, 2))
    for name, matrix in declared.items():
        for prevalence in dict.fromkeys((None, plan.expected_prevalence)):
            if prevalence in (0, 1) or (prevalence is not None and abs(prevalence - truth.mean()) < SAME):
                continue
            chosen = {"utility": name, **({} if prevalence is None else {"prevalence": prevalence})}
            level = plan.report.confidence_level
            more: dict[str, Any] = {"prevalence": prevalence, "cluster": cluster, "level": level}
            found = voi_of_readings(grid[:, anybody], truth, matrix, **more)
            of: dict[str, Any] = {"analysis": ANALYSIS, "parameters": chosen}
            yield from results_for(f"{ID}.voi", place, found, leads=found[0].method, **of)


def of_advice(sets: Iterable[tuple[Message | str, ScoredCases]], plan: Plan) -> Iterator[Informed]:
    """The advice of every set by itself, against one decision for everybody."""
    declared = utilities(plan)
    for name, case in sets if declared else ():
        counts = case.counts
        if counts is None:
            continue
        cells = [[counts.tn, counts.fn], [counts.fp, counts.tp]]
        results: list[Result] = []
        for utility, matrix in declared.items():
            found = [voi_of_advice(cells, matrix, level=plan.report.confidence_level)]
            if case.cells is not None:
                tp, fp, fn, tn = case.cells.T
                by_cluster = np.stack([np.stack([tn, fn], 1), np.stack([fp, tp], 1)], 1)
                level = plan.report.confidence_level
                found.insert(0, voi_of_advice(cells, matrix, clusters=by_cluster, level=level))
            results += as_entries(
                f"{ID}.voi",
                case.place,
                found,
                clustered=case.cluster is not None,
                parameters={"utility": utility},
                cases=case.key,
            )
        yield Informed(name, tuple(results), False)
