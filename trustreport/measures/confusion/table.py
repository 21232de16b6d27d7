"""The measures by their result ids, in the order of a report."""

from typing import Protocol

from trustreport.estimate import Estimate
from trustreport.measures.confusion import class_rates, correlation, likelihood, overlap, shares
from trustreport.measures.confusion.counts import ConfusionCounts


class Measure(Protocol):
    """Four cells in, an estimate out."""

    def __call__(self, counts: ConfusionCounts, *, level: float = 0.95) -> Estimate: ...


MEASURES: dict[str, Measure] = {
    "prevalence": shares.prevalence,
    "accuracy": shares.accuracy,
    "sensitivity": shares.sensitivity,
    "specificity": shares.specificity,
    "ppv": shares.ppv,
    "npv": shares.npv,
    "f1": overlap.f1,
    "f1_negative": overlap.f1_negative,
    "mcc": correlation.mcc,
    "threat_score": overlap.threat_score,
    "balanced_accuracy": class_rates.balanced_accuracy,
    "youden_j": class_rates.youden_j,
    "fowlkes_mallows": overlap.fowlkes_mallows,
    "lr_positive": likelihood.lr_positive,
    "lr_negative": likelihood.lr_negative,
    "diagnostic_odds_ratio": likelihood.diagnostic_odds_ratio,
    "cohen_kappa": correlation.cohen_kappa,
}
