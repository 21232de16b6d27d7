"""A reference that is itself wrong at times: its declared error, and what follows for a device."""

from collections.abc import Iterator

import numpy as np

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.measures import lead
from trustreport.measures.confusion.label_error import (
    NAMES,
    LabelError,
    area_corrected_for_labels,
    corrected_for_labels,
)
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan


def label_error(plan: Plan) -> LabelError | None:
    """The declared error of the reference; None where nobody declared it."""
    said = plan.reference_standard
    if said.sensitivity is None or said.specificity is None or said.kind == "exact":
        return None
    (se, of_se), (sp, of_sp) = (_rate(x) for x in (said.sensitivity, said.specificity))
    return LabelError(se, sp, of_se, of_sp) if se + sp > 1 else None


def _rate(said: float | tuple[int, int]) -> tuple[float, int | None]:
    return (said[0] / said[1], said[1]) if isinstance(said, tuple) else (said, None)


def corrected_measures(case: ScoredCases, plan: Plan) -> Iterator[tuple[str, Estimate]]:
    """The measures of a data set corrected for the error of its labels; nothing where none is declared."""
    error, level = label_error(plan), plan.report.confidence_level
    if error is None or len(case.dataset.cases.classes) != 2:
        return
    label, called = case.truth, case.decision
    if called is not None:
        for name in NAMES:
            yield name, corrected_for_labels(name, label, called, error, cluster=case.cluster, level=level)
    if case.score is not None:
        apparent = lead(case, "auc", level)
        ranked, _, _ = case.ranked
        yield "auc", area_corrected_for_labels(apparent, np.asarray(ranked, bool), error, level)
