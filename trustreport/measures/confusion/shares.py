"""Measures that are a share of counted cases."""

from typing import Any

from trustreport.measures.confusion.measure import CaseShare, measured

TP, FN, TN = 0, 2, 3


@measured(CaseShare((TP, FN)), better=None, of_decisions=False)
def prevalence(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of cases that have the condition.

    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["prevalence"](ConfusionCounts(97, 12, 46, 55)))
    0.68 (95% CI 0.62 to 0.74; n = 210)
    """
    return (tp + fn) / (tp + fp + fn + tn)


@measured(CaseShare((TP, TN)), by_prevalence=True, of_readers=True)
def accuracy(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of right decisions.

    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["accuracy"](ConfusionCounts(97, 12, 46, 55)))
    0.72 (95% CI 0.66 to 0.78; n = 210)
    """
    return (tp + tn) / (tp + fp + fn + tn)


@measured(CaseShare((TP,)), "positives", of_readers=True)
def sensitivity(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of cases with the condition that were called positive.

    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["sensitivity"](ConfusionCounts(97, 12, 46, 55)))
    0.68 (95% CI 0.60 to 0.75; n = 143)
    """
    return tp / (tp + fn)


@measured(CaseShare((TN,)), "negatives", of_readers=True)
def specificity(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of cases without the condition that were called negative.

    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["specificity"](ConfusionCounts(97, 12, 46, 55)))
    0.82 (95% CI 0.71 to 0.89; n = 67)
    """
    return tn / (fp + tn)


@measured(CaseShare((TP,)), "called_positive", by_prevalence=True)
def ppv(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of positive decisions that are right.

    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["ppv"](ConfusionCounts(97, 12, 46, 55)))
    0.89 (95% CI 0.82 to 0.94; n = 109)
    """
    return tp / (tp + fp)


@measured(CaseShare((TN,)), "called_negative", by_prevalence=True)
def npv(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of negative decisions that are right.

    >>> from trustreport.measures.confusion.counts import ConfusionCounts
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(MEASURES["npv"](ConfusionCounts(97, 12, 46, 55)))
    0.54 (95% CI 0.45 to 0.64; n = 101)
    """
    return tn / (fn + tn)
