"""Area under a part of the ROC curve, seen from both axes: deep ROC analysis."""

from math import exp, log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.roc import notes
from trustreport.measures.roc.curve import roc_curve
from trustreport.measures.roc.scores import Floats, check_scores

METHOD = "bootstrap_logit"


def auc_group(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    group: tuple[float, float],
    *,
    rng: np.random.Generator,
    resamples: int = 2000,
    level: float = 0.95,
) -> Estimate:
    """How well the score works within a range of false positive rates, on the scale of the whole area.

    On the part of the curve with false positive rate x in [x1, x2], sensitivity y from y1 to y2::

        AUC = (dx * average sensitivity + dy * average specificity) / (dx + dy)
            = (integral of y dx + integral of (1 - x) dy) / (dx + dy),   dx = x2 - x1, dy = y2 - y1

    The curve is the polygon through its points; a rise at x1 belongs to the group before, at 0 to this one.
    Over the whole range this is the area under the curve. Groups weigh by dx + dy, not by dx.

    Estimand: the same for the population's curve, cases of either class sampled independently.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
    score : array of numbers, shape (n_cases,)
    group : pair of floats
        0 <= x1 <= x2 <= 1, false positive rates.
    rng : numpy Generator
    resamples : int
        Cases are drawn again within each class, this many times; s is the standard deviation of the values,
        and the interval logit A +- z s / (A (1 - A)), turned back.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [0, 1]; `details` holds the averages (NaN where dx or dy is 0) and y1, y2. NaN with a note when a
        class is absent or dx + dy is 0.

    References
    ----------
    Carrington et al. (2023), IEEE Trans. Pattern Anal. Mach. Intell. 45, 329-341 (deep ROC).

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> score = np.array([1, 2, 2, 3, 2, 3, 4, 5])
    >>> print(auc_group(truth, score, (0, 0.5), rng=np.random.default_rng(1)))
    0.84 (95% CI 0.45 to 0.97; n = 8)
    """
    check_level(level)
    check_scores(truth, score)
    x1, x2 = group
    if not 0 <= x1 <= x2 <= 1:
        raise ValueError(f"group must be two false positive rates, 0 <= from <= to <= 1, got {group}.")
    n, n1 = truth.size, int(np.count_nonzero(truth))
    if n1 in (0, n):
        note = notes.NO_NEGATIVE if n1 else notes.NO_POSITIVE
        return undefined(n, note, level=level, method=METHOD)
    curve = roc_curve(truth, score)
    part = group_of_polygon(curve.fpr, curve.tpr, x1, x2)
    if part["area"] != part["area"]:
        return undefined(n, notes.NOTHING_IN_GROUP, level=level, method=METHOD)
    value = part.pop("area")
    rises, runs = np.diff(curve.tp), np.diff(curve.fp)
    found = np.empty(resamples)
    for i in range(resamples):
        up = rng.multinomial(n1, rises / n1).cumsum() / n1
        right = rng.multinomial(n - n1, runs / (n - n1)).cumsum() / (n - n1)
        x, y = (np.concatenate([[0.0], axis[:-1], [1.0]]) for axis in (right, up))
        found[i] = group_of_polygon(x, y, x1, x2)["area"]
    se = float(np.std(found[~np.isnan(found)], ddof=1)) if not np.isnan(found).any() else nan
    if not se > 0 or value in (0.0, 1.0):
        note = notes.FEW_RESAMPLES if se != se else notes.PERFECT
        return Estimate(value, nan, nan, n, level, METHOD, note, details=part)
    half = normal_quantile(level) * se / (value * (1 - value))
    centre = log(value / (1 - value))
    low, high = (1 / (1 + exp(-end)) for end in (centre - half, centre + half))
    return Estimate(value, low, high, n, level, METHOD, se=se, details=part)


def group_of_polygon(fpr: Floats, tpr: Floats, x1: float, x2: float) -> dict[str, float]:
    """Area of the group and its parts, on the polygon through points that begin at (0, 0), end at (1, 1)."""
    y1 = _top(fpr, tpr, x1) if x1 > 0 else 0.0
    y2 = _top(fpr, tpr, x2)
    between = (fpr > x1) & (fpr <= x2) & (tpr <= y2)
    if x1 == 0:
        between |= (fpr == 0) & (tpr <= y2)
    x = np.concatenate([[x1], fpr[between], [x2]])
    y = np.concatenate([[y1], tpr[between], [y2]])
    dx, dy = x2 - x1, y2 - y1
    under = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
    beside = float(np.sum(np.diff(y) * (1 - (x[1:] + x[:-1]) / 2)))
    return {
        "area": (under + beside) / (dx + dy) if dx + dy > 0 else nan,
        "average_sensitivity": under / dx if dx > 0 else nan,
        "average_specificity": beside / dy if dy > 0 else nan,
        "sensitivity_from": y1,
        "sensitivity_to": y2,
    }


def _top(fpr: Floats, tpr: Floats, x: float) -> float:
    """Sensitivity at a false positive rate, at a rise its upper end."""
    i = int(np.searchsorted(fpr, x, "right")) - 1
    if i == len(fpr) - 1 or fpr[i] == x:
        return float(tpr[i])
    share = (x - fpr[i]) / (fpr[i + 1] - fpr[i])
    return float(tpr[i] + share * (tpr[i + 1] - tpr[i]))
