"""A figure as it was printed, and the exact numbers that it can stand for."""

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Rounding = Literal["rounded", "truncated"]
Weights = tuple[int, int, int, int]

CELLS = ("tp", "fn", "fp", "tn")

# Numerator and denominator of each ratio, as weights of (tp, fn, fp, tn).
CELL_RATIOS: dict[str, tuple[Weights, Weights]] = {
    "accuracy": ((1, 0, 0, 1), (1, 1, 1, 1)),
    "sensitivity": ((1, 0, 0, 0), (1, 1, 0, 0)),
    "specificity": ((0, 0, 0, 1), (0, 0, 1, 1)),
    "ppv": ((1, 0, 0, 0), (1, 0, 1, 0)),
    "npv": ((0, 0, 0, 1), (0, 1, 0, 1)),
    "f1": ((2, 0, 0, 0), (2, 1, 1, 0)),
    "threat_score": ((1, 0, 0, 0), (1, 1, 1, 0)),
    "prevalence": ((1, 1, 0, 0), (1, 1, 1, 1)),
}
METRICS = (*(name for name in CELL_RATIOS if name != "prevalence"), "mcc")
KNOWN = (*METRICS, "prevalence", *CELLS)

# What can be said of a class of which the other is not known.
OF_ONE_CLASS = {"positives": ("tp", "fn", "sensitivity"), "negatives": ("fp", "tn", "specificity")}

# Other names in use; what they are compared with has no case, blanks, hyphens or underscores.
SYNONYMS = {
    "acc": "accuracy",
    "recall": "sensitivity", "rec": "sensitivity", "tpr": "sensitivity", "truepositiverate": "sensitivity",
    "sens": "sensitivity", "hitrate": "sensitivity",
    "tnr": "specificity", "truenegativerate": "specificity", "spec": "specificity",
    "selectivity": "specificity",
    "precision": "ppv", "prec": "ppv", "positivepredictivevalue": "ppv",
    "negativepredictivevalue": "npv",
    "f1score": "f1", "fscore": "f1", "fmeasure": "f1", "dice": "f1", "dicecoefficient": "f1",
    "jaccard": "threat_score", "jaccardindex": "threat_score", "ts": "threat_score", "csi": "threat_score",
    "iou": "threat_score", "criticalsuccessindex": "threat_score",
    "matthews": "mcc", "matthewscorrelationcoefficient": "mcc", "phi": "mcc",
    "baserate": "prevalence",
    "truepositives": "tp", "falsenegatives": "fn", "falsepositives": "fp", "truenegatives": "tn",
}  # fmt: skip

_NUMBER = re.compile(r"([+-]?)(\d*)(?:[.,](\d*))?\s*(%?)")
_COUNT = re.compile(r"\d+|\d{1,3}(?:[, \u00a0\u2009\u202f]\d{3})+")
_SIGNS = str.maketrans("\N{MINUS SIGN}\N{EN DASH}\N{NO-BREAK SPACE}", "-- ")


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """One printed figure: its metric, its text, and the interval of numbers that print as this text.

    `low` and `high` are exact; each end belongs to the interval unless it is open.
    """

    metric: str
    text: str
    low: Fraction
    high: Fraction
    open_low: bool = False
    open_high: bool = False


def metric_named(name: str) -> str | None:
    """The metric of `KNOWN` that goes by a name, None where none does.

    >>> metric_named("F1-score"), metric_named("Recall"), metric_named("AUC")
    ('f1', 'sensitivity', None)
    """
    squeezed = re.sub(r"[\s_-]", "", name).casefold()
    known = {metric.replace("_", ""): metric for metric in KNOWN}
    return known.get(squeezed) or SYNONYMS.get(squeezed)


def printed(metric: str, text: str, rounding: Rounding = "rounded") -> PrintedFigure:
    """What a printed figure says about the number behind it, digits as typed.

    With d decimals as typed, a rounded figure x means::

        [x - 10**-d / 2, x + 10**-d / 2]

    both ends included, since halves are rounded up by some and to even by others. A truncated one means
    ``[x, x + 10**-d)``, below zero for ``(x - 10**-d, x]``. Counts are exact.

    Parameters
    ----------
    metric : one of `KNOWN`
    text : such as ``"0.80"``, ``".8"``, ``"80%"``, ``"88.1 %"``, ``"-0,05"``; for a cell a count, ``"97"``
    rounding : how the source cut its figures

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        Where the metric is unknown, or the text is no number, or no number that this metric can take.

    Examples
    --------
    >>> f = printed("sensitivity", "0.80")
    >>> print(f.low, f.high)
    159/200 161/200
    >>> f = printed("ppv", "88.1 %", "truncated")
    >>> print(f.low, f.high, f.open_high)
    881/1000 441/500 True
    """
    if metric not in KNOWN:
        raise ValueError(f"unknown metric {metric!r}, expected one of {', '.join(KNOWN)}.")
    said = text.translate(_SIGNS).strip()
    if metric in CELLS:
        return _count(metric, text, said)
    match = _NUMBER.fullmatch(said)
    if match is None or not (match[2] or match[3]):
        raise ValueError(f'{metric} is printed as "{text}", expected a number such as 0.80 or 80%.')
    sign, whole, decimals, percent = match[1], match[2], match[3] or "", match[4]
    unit = Fraction(1, 10 ** (len(decimals) + (2 if percent else 0)))
    value = int(whole + decimals) * unit * (-1 if sign == "-" else 1)
    least = -1 if metric == "mcc" else 0
    if not least <= value <= 1:
        hint = f' Is it per cent? Then write "{said}%".' if 1 < value <= 100 and not percent else ""
        raise ValueError(f'{metric} is printed as "{text}", expected a number from {least} to 1.{hint}')
    if rounding == "rounded":
        return PrintedFigure(metric, text, value - unit / 2, value + unit / 2)
    if value == 0:  # a small number of either sign prints as zero
        return PrintedFigure(metric, text, -unit, unit, True, True)
    if value < 0:
        return PrintedFigure(metric, text, value - unit, value, open_low=True)
    return PrintedFigure(metric, text, value, value + unit, open_high=True)


def _count(metric: str, text: str, said: str) -> PrintedFigure:
    if _COUNT.fullmatch(said) is None:
        raise ValueError(f'{metric} is printed as "{text}", expected a count (0, 1, 2, ...).')
    value = Fraction(int(re.sub(r"\D", "", said)))
    return PrintedFigure(metric, text, value, value)
