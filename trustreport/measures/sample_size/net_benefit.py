"""Cases needed for the standardised net benefit."""

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.sample_size import notes
from trustreport.measures.sample_size.target import check_inputs, needed, planning_quantile


def mss_net_benefit(
    sensitivity: float,
    specificity: float,
    prevalence: float,
    threshold: float,
    *,
    width: float = 0.2,
    n: int = 0,
    level: float = 0.95,
) -> Estimate:
    """Cases needed to know the standardised net benefit at a threshold to a given width.

    With phi the prevalence, t the threshold and w = (1 - phi) / phi x t / (1 - t)::

        V = sens (1 - sens) / phi + w^2 spec (1 - spec) / (1 - phi) + w^2 (1 - spec)^2 / (phi (1 - phi))
        n = V (2 z / width)^2, rounded up

    Estimand: a planning value; it takes the four quantities as known.

    Parameters
    ----------
    sensitivity, specificity, prevalence : float in [0, 1]
        Expected, or found in the set at hand at the threshold.
    threshold : float in [0, 1)
        Probability from which a case is called positive.
    width, n, level
        As in `mss_auc`.

    Returns
    -------
    Estimate
        A whole number, without interval; NaN with a note for a single class, when nobody is called positive
        and when every call is right.

    References
    ----------
    Riley et al. (2021), Stat. Med. 40, 4230-4251, section 3.4.

    Examples
    --------
    >>> mss_net_benefit(0.95, 0.35, 0.22, 0.1).value
    248.0
    """
    check_inputs(width, prevalence)
    for name, share in (("sensitivity", sensitivity), ("specificity", specificity)):
        # Undefined (NaN) where there is no case of the class; that is the single class below.
        if not 0 <= share <= 1 and 0 < prevalence < 1:
            raise ValueError(f"{name} must lie in [0, 1], got {share:g}.")
    if not 0 <= threshold < 1:
        raise ValueError(f"threshold must lie in [0, 1), got {threshold:g}.")
    if prevalence in (0, 1):
        return undefined(n, notes.ONE_CLASS, level=level, method="net_benefit_se")
    if sensitivity == 0 and specificity == 1:
        return undefined(n, notes.NOBODY_CALLED, level=level, method="net_benefit_se")
    w2 = ((1 - prevalence) / prevalence * threshold / (1 - threshold)) ** 2
    variance = (
        sensitivity * (1 - sensitivity) / prevalence
        + w2 * specificity * (1 - specificity) / (1 - prevalence)
        + w2 * (1 - specificity) ** 2 / (prevalence * (1 - prevalence))
    )
    if not variance:
        return undefined(n, notes.ALL_RIGHT, level=level, method="net_benefit_se")
    target = width / (2 * planning_quantile(level))
    return needed(variance / target**2, target, n=n, width=width, level=level, method="net_benefit_se")
