"""Cases needed for the Brier score."""

from math import ceil

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.sample_size import notes
from trustreport.measures.sample_size.target import check_inputs, needed, planning_quantile

LEAST_OF_A_CLASS = 10


def mss_brier(
    variance_per_case: float, prevalence: float, *, width: float = 0.05, n: int = 0, level: float = 0.95
) -> Estimate:
    """Cases needed to know the Brier score to a given width.

    ::

        n = variance x (2 z / width)^2, rounded up; at least 10 / min(prevalence, 1 - prevalence)

    with the variance over cases of their squared error (`variance_per_case` of `brier`). Where a class is
    rare nearly every error is small, and the width alone is reached by a handful of cases that may hold none
    of that class: ten of it are to be expected.

    Estimand: a planning value; it takes variance and prevalence as known.

    Parameters
    ----------
    variance_per_case : float
        Not negative.
    prevalence : float in [0, 1]
        Expected, or found in the set at hand.
    width, n, level
        As in `mss_auc`.

    Returns
    -------
    Estimate
        A whole number, without interval; NaN with a note when every case has the same error, or for a single
        class.

    References
    ----------
    The mean's normal interval; not among the criteria of Riley et al. (2021), whose rule it follows. The ten
    of the rarer class are a rule of this project.

    Examples
    --------
    >>> mss_brier(0.04139318872455269, 0.4).value
    255.0
    >>> mss_brier(0.001, 0.001).value
    10000.0
    """
    check_inputs(width, prevalence)
    if not variance_per_case >= 0:
        raise ValueError(f"variance_per_case must not be negative, got {variance_per_case:g}.")
    if prevalence in (0, 1):
        return undefined(n, notes.ONE_CLASS, level=level, method="brier_se")
    if not variance_per_case:
        return undefined(n, notes.NO_VARIANCE, level=level, method="brier_se")
    target = width / (2 * planning_quantile(level))
    exact = variance_per_case / target**2
    least = ceil(LEAST_OF_A_CLASS / min(prevalence, 1 - prevalence) * (1 - 1e-12))
    return needed(exact, target, n=n, width=width, level=level, method="brier_se", least=least)
