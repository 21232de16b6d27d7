"""How a device performs on cases: scored and decided once, measured once, for every dimension that asks."""

from trustreport.assessment.performance.cases import Outputs, ScoredCases, of_dataset, outputs, scored_cases

__all__ = ["Outputs", "ScoredCases", "of_dataset", "outputs", "scored_cases"]
