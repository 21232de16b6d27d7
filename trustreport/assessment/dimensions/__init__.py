"""The dimensions of trust, in the order of the report."""

from trustreport.assessment.dimensions import (
    advice_accuracy,
    advice_value,
    candidates,
    decision_benefit,
    localisation,
    potential_robustness,
    pragmatic_utility,
    reliance,
    reported,
    source_reliability,
    subgroups,
    vigilance,
)
from trustreport.assessment.dimensions.dimension import Dimension

__all__ = ["DIMENSIONS", "Dimension"]

DIMENSIONS: tuple[Dimension, ...] = (
    source_reliability.DIMENSION,
    advice_accuracy.DIMENSION,
    localisation.DIMENSION,
    pragmatic_utility.DIMENSION,
    decision_benefit.DIMENSION,
    localisation.READERS,
    reliance.DIMENSION,
    advice_value.DIMENSION,
    candidates.DIMENSION,
    potential_robustness.DIMENSION,
    subgroups.DIMENSION,
    vigilance.DIMENSION,
    reported.DIMENSION,
)
