"""Cases needed for the Brier score."""

from trustreport.estimate import Estimate, undefined
from trustreport.measures.sample_size import notes
from trustreport.measures.sample_size.target import check_inputs, needed, planning_quantile


def mss_brier(variance_per_case: float, *, width: float = 0.05, n: int = 0, level: float = 0.95) -> Estimate:
    """Cases needed to know the Brier score to a given width.

    ::

        n = variance x (2 z / width)^2, rounded up

    with the variance over cases of their squared error (`variance_per_case` of `brier`).

    Estimand: a planning value; it takes the variance as known.

    Parameters
    ----------
    variance_per_case : float
        Not negative.
    width, n, level
        As in `mss_auc`.

    Returns
    -------
    Estimate
        A whole number, without interval; NaN with a note when every case has the same error.

    References
    ----------
    The mean's normal interval; not among the criteria of Riley et al. (2021), whose rule it follows.

    Examples
    --------
    >>> mss_brier(0.04139318872455269).value
    255.0
    """
    check_inputs(width)
    if not variance_per_case >= 0:
        raise ValueError(f"variance_per_case must not be negative, got {variance_per_case:g}.")
    if not variance_per_case:
        return undefined(n, notes.NO_VARIANCE, level=level, method="brier_se")
    target = width / (2 * planning_quantile(level))
    return needed(variance_per_case / target**2, target, n=n, width=width, level=level, method="brier_se")
