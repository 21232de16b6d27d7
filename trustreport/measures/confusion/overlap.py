"""How far positive decisions and positive cases are the same cases: threat score, F1, Fowlkes-Mallows."""

from trustreport.estimate import Estimate, undefined
from trustreport.measures.confusion import notes
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.formulas import FORMULAS
from trustreport.measures.confusion.propagation import propagated
from trustreport.measures.proportion import wilson


def threat_score(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Share of right ones among cases that have the condition or were called positive.

    ::

        tp / (tp + fp + fn)

    Estimand: the same in the population, cases sampled as they come. `n` counts tp + fp + fn; given these,
    tp is binomial, hence the Wilson interval.

    References
    ----------
    Schaefer (1990), Weather Forecast. 5, 570-575 (critical success index).

    Examples
    --------
    >>> print(threat_score(ConfusionCounts(97, 12, 46, 55)))
    0.63 (95% CI 0.55 to 0.70; n = 155)
    """
    n = counts.tp + counts.fp + counts.fn
    if n == 0:
        return undefined(0, notes.NOTHING_POSITIVE, level=level, method="wilson")
    return wilson(counts.tp, n, level)


def f1(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Harmonic mean of sensitivity and positive predictive value.

    With t the threat score, whose Wilson limits carry over::

        F1 = 2 tp / (2 tp + fp + fn) = 2 t / (1 + t)

    F1 says nothing that the threat score does not say.

    Estimand: the same in the population, cases sampled as they come; depends on the prevalence.

    References
    ----------
    Lam, Gopal, Qian (2023), arXiv:2309.14621 (Wilson indirect).

    Examples
    --------
    >>> print(f1(ConfusionCounts(97, 12, 46, 55)))
    0.77 (95% CI 0.71 to 0.82; n = 155)
    """
    t = threat_score(counts, level=level)
    if t.n == 0:
        return t
    value = FORMULAS["f1"](counts.tp, counts.fp, counts.fn, counts.tn)
    return Estimate(value, 2 * t.low / (1 + t.low), 2 * t.high / (1 + t.high), t.n, level, "wilson")


def f1_negative(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """F1 of the negative class: harmonic mean of specificity and negative predictive value.

    >>> print(f1_negative(ConfusionCounts(97, 12, 46, 55)))
    0.65 (95% CI 0.57 to 0.73; n = 113)
    """
    if counts.n == counts.tp:
        return undefined(0, notes.NOTHING_NEGATIVE, level=level, method="wilson")
    return f1(counts.swapped(), level=level)


def fowlkes_mallows(counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """Geometric mean of sensitivity and positive predictive value; interval by `propagated`.

    ::

        tp / sqrt((tp + fp)(tp + fn))

    References
    ----------
    Fowlkes, Mallows (1983), J. Am. Stat. Assoc. 78, 553-569.

    Examples
    --------
    >>> print(fowlkes_mallows(ConfusionCounts(97, 12, 46, 55)))
    0.78 (95% CI 0.72 to 0.83; n = 210)
    """
    return propagated("fowlkes_mallows", counts, level=level)
