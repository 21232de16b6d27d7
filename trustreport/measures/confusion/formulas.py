"""Every measure as a function of the four cells.

Cells may be whole numbers (the value is then rounded once), shares, or arrays of them; a prevalence other
than the sample's is a matter of weighing the cells.
"""

from collections.abc import Callable
from typing import Any

Formula = Callable[[Any, Any, Any, Any], Any]
"""A measure from tp, fp, fn, tn: numbers or arrays, the result alike."""

FORMULAS: dict[str, Formula] = {
    "prevalence": lambda tp, fp, fn, tn: (tp + fn) / (tp + fp + fn + tn),
    "accuracy": lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn),
    "sensitivity": lambda tp, fp, fn, tn: tp / (tp + fn),
    "specificity": lambda tp, fp, fn, tn: tn / (fp + tn),
    "ppv": lambda tp, fp, fn, tn: tp / (tp + fp),
    "npv": lambda tp, fp, fn, tn: tn / (fn + tn),
    "f1": lambda tp, fp, fn, tn: 2 * tp / (2 * tp + fp + fn),
    "f1_negative": lambda tp, fp, fn, tn: 2 * tn / (2 * tn + fp + fn),
    "threat_score": lambda tp, fp, fn, tn: tp / (tp + fp + fn),
    "fowlkes_mallows": lambda tp, fp, fn, tn: tp / ((tp + fp) * (tp + fn)) ** 0.5,
    "mcc": lambda tp, fp, fn, tn: (
        (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    ),
    "cohen_kappa": lambda tp, fp, fn, tn: (
        2 * (tp * tn - fp * fn) / ((tp + fp) * (fp + tn) + (tp + fn) * (fn + tn))
    ),
    "youden_j": lambda tp, fp, fn, tn: (tp * tn - fp * fn) / ((tp + fn) * (fp + tn)),
    "balanced_accuracy": lambda tp, fp, fn, tn: (
        (tp * (fp + tn) + tn * (tp + fn)) / (2 * (tp + fn) * (fp + tn))
    ),
    "lr_positive": lambda tp, fp, fn, tn: tp * (fp + tn) / (fp * (tp + fn)),
    "lr_negative": lambda tp, fp, fn, tn: fn * (fp + tn) / (tn * (tp + fn)),
    "diagnostic_odds_ratio": lambda tp, fp, fn, tn: tp * tn / (fp * fn),
}
