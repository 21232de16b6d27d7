"""Agreement of decisions with the truth beyond chance: Matthews correlation and Cohen's kappa."""

from trustreport.estimate import Estimate
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.propagation import propagated


def mcc(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Matthews correlation coefficient, the correlation of decision and truth.

    ::

        (tp tn - fp fn) / sqrt((tp + fp) (tp + fn) (tn + fp) (tn + fn))

    Estimand: the same in the population, cases sampled as they come; depends on the prevalence.

    Returns
    -------
    Estimate
        In [-1, 1]; NaN with a note when a class is absent or all decisions are the same. Interval by
        `propagated`.

    References
    ----------
    Matthews (1975), Biochim. Biophys. Acta 405, 442-451.

    Examples
    --------
    >>> print(mcc(ConfusionCounts(97, 12, 46, 55)))
    0.47 (95% CI 0.34 to 0.57; n = 210)
    """
    return propagated("mcc", counts, level=level)


def cohen_kappa(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Agreement of decisions with the truth, chance agreement taken off.

    ::

        (p - e) / (1 - e),   p = accuracy, e = share expected to agree if decision and truth were unrelated

    Estimand: the same in the population, cases sampled as they come; depends on the prevalence.

    Returns
    -------
    Estimate
        In [-1, 1]; NaN with a note when all cases fall into one cell. Interval by `propagated`.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46.

    Examples
    --------
    >>> print(cohen_kappa(ConfusionCounts(97, 12, 46, 55)))
    0.44 (95% CI 0.32 to 0.55; n = 210)
    """
    return propagated("cohen_kappa", counts, level=level)
