"""Cases needed for the area under the ROC curve."""

from math import sqrt

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.sample_size import notes
from trustreport.measures.sample_size.target import check_inputs, needed, planning_quantile

LEAST = 10


def newcombe_se(auc: float, prevalence: float, n: float) -> float:
    """Standard error of an area C under the ROC curve that is to be expected with n cases.

    ::

        SE^2 = C (1 - C) [1 + (n / 2 - 1) g] / (n^2 phi (1 - phi)),   g = (1 - C) / (2 - C) + C / (1 + C)

    with phi the prevalence.

    References
    ----------
    Newcombe (2006), Stat. Med. 25, 559-573, method 4.

    Examples
    --------
    >>> round(newcombe_se(0.8, 0.018, 4252), 4)
    0.0255
    """
    return sqrt(auc * (1 - auc) * (1 + (n / 2 - 1) * _g(auc)) / (n * n * prevalence * (1 - prevalence)))


def mss_auc(
    auc: float, prevalence: float, *, width: float = 0.1, n: int = 0, level: float = 0.95
) -> Estimate:
    """Cases needed to know the area under the ROC curve to a given width.

    ::

        smallest n >= 10 with SE(n) <= width / (2 z),   SE by `newcombe_se`

    Estimand: a planning value; it takes the area and the prevalence as known.

    Parameters
    ----------
    auc, prevalence : float in [0, 1]
        Expected, or found in the set at hand.
    width : float
        Of the whole interval.
    n : int
        Cases in the set at hand, carried into the result; 0 where there is none.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        A whole number, without interval; NaN with a note for an area of 0 or 1 or a single class.

    References
    ----------
    Riley et al. (2021), Stat. Med. 40, 4230-4251, section 3.3.

    Examples
    --------
    >>> mss_auc(0.8, 0.018).value
    4252.0
    """
    check_inputs(width, prevalence)
    if not 0 <= auc <= 1:
        raise ValueError(f"auc must lie in [0, 1], got {auc:g}.")
    if prevalence in (0, 1):
        return undefined(n, notes.ONE_CLASS, level=level, method="newcombe_se")
    if auc in (0, 1):
        return undefined(n, notes.SEPARATED, level=level, method="newcombe_se")
    target = width / (2 * planning_quantile(level))
    # SE(n) = target is a quadratic in n: a n^2 - b n - c = 0, with one positive root.
    a = target**2 * prevalence * (1 - prevalence)
    b, c = auc * (1 - auc) * _g(auc) / 2, auc * (1 - auc) * (1 - _g(auc))
    exact = (b + sqrt(b * b + 4 * a * c)) / (2 * a)
    return needed(exact, target, n=n, width=width, level=level, method="newcombe_se", least=LEAST)


def _g(auc: float) -> float:
    return (1 - auc) / (2 - auc) + auc / (1 + auc)
