"""Cases needed for the ratio of observed to expected events."""

from math import asinh

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.sample_size import notes
from trustreport.measures.sample_size.target import check_inputs, needed, planning_quantile


def mss_oe(
    prevalence: float, *, oe: float = 1.0, width: float = 0.2, n: int = 0, level: float = 0.95
) -> Estimate:
    """Cases needed to know observed over expected events to a given width.

    On the logarithmic scale, where the interval runs from O/E exp(-z SE) to O/E exp(z SE)::

        SE = asinh(width / (2 O/E)) / z
        n = (1 - phi) / (phi SE^2), rounded up,   phi the prevalence

    Estimand: a planning value; it takes prevalence and ratio as known.

    Parameters
    ----------
    prevalence : float in [0, 1]
    oe : float
        Expected ratio, positive.
    width, n, level
        As in `mss_auc`.

    Returns
    -------
    Estimate
        A whole number, without interval; NaN with a note for a single class.

    References
    ----------
    Riley et al. (2021), Stat. Med. 40, 4230-4251, section 3.1.

    Examples
    --------
    >>> mss_oe(0.018, width=1).value
    906.0
    """
    check_inputs(width, prevalence)
    if not oe > 0:
        raise ValueError(f"oe must be positive, got {oe:g}.")
    if prevalence in (0, 1):
        return undefined(n, notes.ONE_CLASS, level=level, method="log_oe_se")
    target = asinh(width / (2 * oe)) / planning_quantile(level)
    exact = (1 - prevalence) / (prevalence * target**2)
    return needed(exact, target, n=n, width=width, level=level, method="log_oe_se")
