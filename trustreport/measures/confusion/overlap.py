"""How far positive decisions and positive cases are the same cases: threat score, F1, Fowlkes-Mallows."""

from typing import TYPE_CHECKING, Any

from trustreport.measures.confusion.form import NOTHING_NEGATIVE, NOTHING_POSITIVE, Delta
from trustreport.measures.confusion.measure import measured

if TYPE_CHECKING:
    from trustreport.measures.confusion.counts import ConfusionCounts
    from trustreport.measures.estimate import Estimate


def _of_any_positive(counts: "ConfusionCounts", level: float) -> "Estimate":
    """Right ones among cases that have the condition or were called positive: of these, tp is binomial."""
    from trustreport.measures.estimate import undefined
    from trustreport.measures.proportion import wilson

    n = counts.tp + counts.fp + counts.fn
    if n == 0:
        return undefined(0, NOTHING_POSITIVE, level=level, method="wilson")
    return wilson(counts.tp, n, level)


def _of_f1(counts: "ConfusionCounts", level: float) -> "Estimate":
    """F1 with the limits of the threat score t, which carry over: F1 = 2 t / (1 + t)."""
    from dataclasses import replace

    t = _of_any_positive(counts, level)
    if t.n == 0:
        return t
    value = f1(counts.tp, counts.fp, counts.fn, counts.tn)
    return replace(t, value=value, low=2 * t.low / (1 + t.low), high=2 * t.high / (1 + t.high))


def _of_f1_negative(counts: "ConfusionCounts", level: float) -> "Estimate":
    from trustreport.measures.estimate import undefined

    if counts.n == counts.tp:
        return undefined(0, NOTHING_NEGATIVE, level=level, method="wilson")
    return _of_f1(counts.swapped(), level)


@measured(Delta(), "any_positive", by_prevalence=True, alone=_of_f1)
def f1(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Harmonic mean of sensitivity and positive predictive value.

    It says nothing that the threat score does not say, whose Wilson limits carry over.

    Estimand: the same in the population, cases sampled as they come; depends on the prevalence.

    References
    ----------
    Lam, Gopal, Qian (2023), arXiv:2309.14621 (Wilson indirect).

    Examples
    --------
    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["f1"](ConfusionCounts(97, 12, 46, 55)))
    0.77 (95% CI 0.71 to 0.82; n = 155)
    """
    return 2 * tp / (2 * tp + fp + fn)


@measured(Delta(), "any_negative", by_prevalence=True, alone=_of_f1_negative)
def f1_negative(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """F1 of the negative class: harmonic mean of specificity and negative predictive value.

    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["f1_negative"](ConfusionCounts(97, 12, 46, 55)))
    0.65 (95% CI 0.57 to 0.73; n = 113)
    """
    return 2 * tn / (2 * tn + fp + fn)


@measured(Delta(), "any_positive", by_prevalence=True, alone=_of_any_positive)
def threat_score(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of right ones among cases that have the condition or were called positive.

    Estimand: the same in the population, cases sampled as they come. `n` counts tp + fp + fn; given these,
    tp is binomial, hence the Wilson interval.

    References
    ----------
    Schaefer (1990), Weather Forecast. 5, 570-575 (critical success index).

    Examples
    --------
    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["threat_score"](ConfusionCounts(97, 12, 46, 55)))
    0.63 (95% CI 0.55 to 0.70; n = 155)
    """
    return tp / (tp + fp + fn)


@measured(Delta(), "positives", "called_positive", by_prevalence=True)
def fowlkes_mallows(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Geometric mean of sensitivity and positive predictive value.

    References
    ----------
    Fowlkes, Mallows (1983), J. Am. Stat. Assoc. 78, 553-569.

    Examples
    --------
    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["fowlkes_mallows"](ConfusionCounts(97, 12, 46, 55)))
    0.78 (95% CI 0.72 to 0.83; n = 210)
    """
    return tp / ((tp + fp) * (tp + fn)) ** 0.5


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
