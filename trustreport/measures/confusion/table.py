"""Every measure of the four cells, in the order of a report; this is imported to have them all.

>>> from trustreport.measures.confusion.counts import ConfusionCounts
>>> from trustreport.measures.confusion.independent import estimated
>>> for name, of in MEASURES.items():
...     print(f"{name:21}", estimated(of, ConfusionCounts(97, 12, 46, 55)))
prevalence            0.68 (95% CI 0.62 to 0.74; n = 210)
accuracy              0.72 (95% CI 0.66 to 0.78; n = 210)
sensitivity           0.68 (95% CI 0.60 to 0.75; n = 143)
specificity           0.82 (95% CI 0.71 to 0.89; n = 67)
ppv                   0.89 (95% CI 0.82 to 0.94; n = 109)
npv                   0.54 (95% CI 0.45 to 0.64; n = 101)
f1                    0.77 (95% CI 0.71 to 0.82; n = 155)
f1_negative           0.65 (95% CI 0.57 to 0.73; n = 113)
mcc                   0.47 (95% CI 0.34 to 0.57; n = 210)
threat_score          0.63 (95% CI 0.55 to 0.70; n = 155)
balanced_accuracy     0.75 (95% CI 0.68 to 0.80; n = 210)
youden_j              0.50 (95% CI 0.36 to 0.60; n = 210)
fowlkes_mallows       0.78 (95% CI 0.72 to 0.83; n = 210)
lr_positive           3.79 (95% CI 2.32 to 6.50; n = 210)
lr_negative           0.39 (95% CI 0.30 to 0.51; n = 210)
diagnostic_odds_ratio 9.66 (95% CI 4.75 to 19.64; n = 210)
cohen_kappa           0.44 (95% CI 0.32 to 0.55; n = 210)
"""

from dataclasses import replace
from math import inf, nan
from typing import TYPE_CHECKING, Any

from trustreport.measures.confusion import notes
from trustreport.measures.confusion.measure import MEASURES as MEASURES
from trustreport.measures.confusion.measure import CaseShare, Delta, OfClasses, measured, one_class
from trustreport.measures.estimate import OFTEN_ABOVE, Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.proportion import normal_quantile, wilson

if TYPE_CHECKING:
    from trustreport.measures.confusion.counts import ConfusionCounts

TP, FP, FN, TN = 0, 1, 2, 3
FROM_MINUS_ONE: dict[str, Any] = {"unit": "score", "low": -1.0, "decimals": 2}
RATIO: dict[str, Any] = {"unit": "ratio", "high": inf}


def _of_any_positive(counts: "ConfusionCounts", level: float) -> Estimate:
    """Right ones among cases that have the condition or were called positive: of these, tp is binomial."""
    n = counts.tp + counts.fp + counts.fn
    if n == 0:
        return undefined(0, notes.NOTHING_POSITIVE, level=level, method="wilson")
    return wilson(counts.tp, n, level)


def _of_f1(counts: "ConfusionCounts", level: float) -> Estimate:
    """F1 with the limits of the threat score t, which carry over: F1 = 2 t / (1 + t)."""
    t = _of_any_positive(counts, level)
    if t.n == 0:
        return t
    value = f1(counts.tp, counts.fp, counts.fn, counts.tn)
    return replace(t, value=value, low=2 * t.low / (1 + t.low), high=2 * t.high / (1 + t.high))


def _of_f1_negative(counts: "ConfusionCounts", level: float) -> Estimate:
    if counts.n == counts.tp:
        return undefined(0, notes.NOTHING_NEGATIVE, level=level, method="wilson")
    return _of_f1(counts.swapped(), level)


def _of_positive(counts: "ConfusionCounts", level: float) -> Estimate:
    note = NO_NOTE if counts.fp else notes.NO_FALSE_POSITIVE if counts.tp else notes.NONE_CALLED_POSITIVE
    return _koopman(counts, (counts.tp, counts.positives, counts.fp, counts.negatives), note, level)


def _of_negative(counts: "ConfusionCounts", level: float) -> Estimate:
    note = NO_NOTE if counts.tn else notes.NO_TRUE_NEGATIVE if counts.fn else notes.NONE_CALLED_NEGATIVE
    return _koopman(counts, (counts.fn, counts.positives, counts.tn, counts.negatives), note, level)


def _koopman(
    counts: "ConfusionCounts", pairs: tuple[int, int, int, int], note: Note, level: float
) -> Estimate:
    """A ratio of two independent shares."""
    from trustreport.measures.two_arm.ratios import koopman

    missing = one_class(counts)
    if missing:
        return undefined(counts.n, missing, level=level, method="koopman")
    return replace(koopman(*pairs, level), note=note)


def _of_odds(counts: "ConfusionCounts", level: float) -> Estimate:
    missing = one_class(counts)
    if missing:
        return undefined(counts.n, missing, level=level, method="miettinen_nurminen")
    tp, fp, fn, tn = counts.tp, counts.fp, counts.fn, counts.tn
    z = normal_quantile(level)
    value = tp * tn / (fp * fn) if fp * fn else inf if tp * tn else nan
    note = NO_NOTE if fp * fn else notes.NO_ERROR_IN_A_CLASS if tp * tn else notes.ONE_CLASS_ALL_RIGHT
    low = 1 / _highest_odds_ratio(fn, tn, tp, fp, z)
    return Estimate(
        value, low, _highest_odds_ratio(tp, fp, fn, tn, z), counts.n, level, "miettinen_nurminen", note
    )


def _highest_odds_ratio(tp: int, fp: int, fn: int, tn: int, z: float) -> float:
    """The largest odds ratio that the score test accepts; above the smallest wrong count there is none."""
    from trustreport.measures.two_arm.difference import score_distance

    farthest = min(fp, fn)
    if farthest == 0:
        return inf
    n = tp + fp + fn + tn

    def variance(h: float) -> float:
        if h >= farthest or min(tp, tn) + h == 0:
            return 0.0
        return n / (n - 1) / (1 / (tp + h) + 1 / (fp - h) + 1 / (fn - h) + 1 / (tn + h))

    h = score_distance(variance, z, float(farthest))
    wrong = (fp - h) * (fn - h)
    return (tp + h) * (tn + h) / wrong if wrong > 0 else inf


@measured(CaseShare((TP, FN)), better=None, of_decisions=False)
def prevalence(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of cases that have the condition."""
    return (tp + fn) / (tp + fp + fn + tn)


@measured(CaseShare((TP, TN)), by_prevalence=True, of_readers=True)
def accuracy(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of right decisions."""
    return (tp + tn) / (tp + fp + fn + tn)


@measured(CaseShare((TP,)), "positives", of_readers=True)
def sensitivity(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of cases with the condition that were called positive."""
    return tp / (tp + fn)


@measured(CaseShare((TN,)), "negatives", of_readers=True)
def specificity(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of cases without the condition that were called negative."""
    return tn / (fp + tn)


@measured(CaseShare((TP,)), "called_positive", by_prevalence=True, ratio="lr_positive")
def ppv(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of positive decisions that are right."""
    return tp / (tp + fp)


@measured(CaseShare((TN,)), "called_negative", by_prevalence=True, ratio="lr_negative")
def npv(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of negative decisions that are right."""
    return tn / (fn + tn)


@measured(Delta(), "any_positive", by_prevalence=True, alone=_of_f1)
def f1(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Harmonic mean of sensitivity and positive predictive value.

    It says nothing that the threat score does not say, whose Wilson limits carry over.

    Estimand: the same in the population, cases sampled as they come; depends on the prevalence.

    References
    ----------
    Lam, Gopal, Qian (2023), arXiv:2309.14621 (Wilson indirect).
    """
    return 2 * tp / (2 * tp + fp + fn)


@measured(Delta(), "any_negative", by_prevalence=True, alone=_of_f1_negative)
def f1_negative(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """F1 of the negative class: harmonic mean of specificity and negative predictive value."""
    return 2 * tn / (2 * tn + fp + fn)


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
    """
    return (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5


@measured(Delta(), "any_positive", by_prevalence=True, alone=_of_any_positive)
def threat_score(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of right ones among cases that have the condition or were called positive.

    Estimand: the same in the population, cases sampled as they come. `n` counts tp + fp + fn; given these,
    tp is binomial, hence the Wilson interval.

    References
    ----------
    Schaefer (1990), Weather Forecast. 5, 570-575 (critical success index).
    """
    return tp / (tp + fp + fn)


@measured(OfClasses(0.0, 0.5, 0.5), "positives", "negatives")
def balanced_accuracy(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Mean of sensitivity and specificity."""
    return (tp * (fp + tn) + tn * (tp + fn)) / (2 * (tp + fn) * (fp + tn))


@measured(
    OfClasses(-1.0, 1.0, 1.0, scale="atanh"),
    "positives",
    "negatives",
    unit="score",
    low=-1.0,
    decimals=2,
    of_readers=True,
)
def youden_j(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Sensitivity + specificity - 1: share called positive among positives minus that among negatives.

    Estimand: the same in the population; cases of the two classes independent, hence Newcombe's interval
    for a difference.

    References
    ----------
    Youden (1950), Cancer 3, 32-35.
    """
    return (tp * tn - fp * fn) / ((tp + fn) * (fp + tn))


@measured(Delta(), "positives", "called_positive", by_prevalence=True)
def fowlkes_mallows(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Geometric mean of sensitivity and positive predictive value.

    References
    ----------
    Fowlkes, Mallows (1983), J. Am. Stat. Assoc. 78, 553-569.
    """
    return tp / ((tp + fp) * (tp + fn)) ** 0.5


@measured(Delta("log"), "positives", "negatives", "called_positive", alone=_of_positive, **RATIO)
def lr_positive(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """How many times more often a case with the condition is called positive than one without it.

    ::

        sensitivity / (1 - specificity)

    A ratio of two independent shares, hence Koopman's score interval. In [0, inf]; infinite with a note where
    there is no false positive, undefined where nobody was called positive or a class is absent.

    References
    ----------
    Simel, Samsa, Matchar (1991), J. Clin. Epidemiol. 44, 763-770.
    Koopman (1984), Biometrics 40, 513-517.
    """
    return tp * (fp + tn) / (fp * (tp + fn))


@measured(
    Delta("log", few=OFTEN_ABOVE),
    *("positives", "negatives", "called_negative"),
    alone=_of_negative,
    better="down",
    **RATIO,
)
def lr_negative(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """How many times more often a case with the condition is called negative than one without it.

    ::

        (1 - sensitivity) / specificity

    Koopman's score interval; edges as in `lr_positive`.
    """
    return fn * (fp + tn) / (tn * (tp + fn))


@measured(
    Delta("log"),
    *("positives", "negatives", "called_positive", "called_negative"),
    alone=_of_odds,
    **RATIO,
)
def diagnostic_odds_ratio(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Odds of a positive decision with the condition over those without it; free of the prevalence.

    The limits are the odds ratios at which the score test just accepts. With h cases moved from the wrong to
    the right decisions in either class (or back), which is what an odds ratio further up (down) fits::

        h^2 (1/(tp+h) + 1/(fp-h) + 1/(fn-h) + 1/(tn+h)) = z^2 N / (N - 1)

    so that no count need be above zero. In [0, inf]; infinite with a note where a class has no error,
    undefined where 0/0 or a class is absent.

    References
    ----------
    Glas et al. (2003), J. Clin. Epidemiol. 56, 1129-1135.
    Miettinen, Nurminen (1985), Stat. Med. 4, 213-226 (score interval of the odds ratio).
    """
    return tp * tn / (fp * fn)


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
    """
    return 2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
