"""Agreement of decisions with the truth beyond chance: Matthews correlation and Cohen's kappa."""

from typing import Any

from trustreport.measures.confusion.measure import Delta, measured

FROM_MINUS_ONE: dict[str, Any] = {"unit": "score", "low": -1.0, "decimals": 2}


@measured(
    Delta("atanh"),
    *("positives", "negatives", "called_positive", "called_negative"),
    by_prevalence=True,
    **FROM_MINUS_ONE,
)
def mcc(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Matthews correlation coefficient, the correlation of decision and truth.

    Estimand: the same in the population, cases sampled as they come; depends on the prevalence. In [-1, 1];
    undefined where a class is absent or all decisions are the same.

    References
    ----------
    Matthews (1975), Biochim. Biophys. Acta 405, 442-451.

    Examples
    --------
    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["mcc"](ConfusionCounts(97, 12, 46, 55)))
    0.47 (95% CI 0.34 to 0.57; n = 210)
    """
    return (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5


@measured(Delta("atanh"), "two_cells", by_prevalence=True, **FROM_MINUS_ONE)
def cohen_kappa(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Agreement of decisions with the truth, chance agreement taken off.

    ::

        (p - e) / (1 - e),   p = accuracy, e = share expected to agree if decision and truth were unrelated

    Estimand: the same in the population, cases sampled as they come; depends on the prevalence. In [-1, 1];
    undefined where all cases fall into one cell.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46.

    Examples
    --------
    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["cohen_kappa"](ConfusionCounts(97, 12, 46, 55)))
    0.44 (95% CI 0.32 to 0.55; n = 210)
    """
    return 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
