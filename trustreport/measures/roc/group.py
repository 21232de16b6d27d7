"""Area under a part of the ROC curve, seen from both axes: deep ROC analysis."""

from collections.abc import Iterator
from math import exp, log, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.roc import notes
from trustreport.measures.roc.curve import RocCurve, roc_curve
from trustreport.measures.roc.scores import Floats, check_scores

METHOD, CLUSTERED = "bootstrap_logit", "bootstrap_logit_clusters"


def auc_group(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    group: tuple[float, float],
    *,
    rng: np.random.Generator,
    cluster: Clusters | None = None,
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
    cluster : int array, shape (n_cases,), optional
        Which cluster (patient, video) a case belongs to.
    resamples : int
        Cases are drawn again within each class, or whole clusters, this many times; s is the standard
        deviation of the values, and the interval logit A +- z s / (A (1 - A)), turned back.
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
    method = METHOD if cluster is None else CLUSTERED
    if n1 in (0, n):
        note = notes.NO_NEGATIVE if n1 else notes.NO_POSITIVE
        return undefined(n, note, level=level, method=method)
    curve = roc_curve(truth, score)
    part = group_of_polygon(curve.fpr, curve.tpr, x1, x2)
    if part["area"] != part["area"]:
        return undefined(n, notes.NOTHING_IN_GROUP, level=level, method=method)
    value = part.pop("area")
    if cluster is None:
        drawn = _case_draws(curve, n1, n - n1, rng)
    else:
        drawn = _cluster_draws(truth, score, cluster, rng)
    found = np.array([group_of_polygon(*next(drawn), x1, x2)["area"] for _ in range(resamples)])
    se = float(np.std(found[~np.isnan(found)], ddof=1)) if not np.isnan(found).any() else nan
    if not se > 0 or value in (0.0, 1.0):
        note = notes.FEW_RESAMPLES if se != se else notes.PERFECT
        return Estimate(value, nan, nan, n, level, method, note, details=part)
    half = normal_quantile(level) * se / (value * (1 - value))
    centre = log(value / (1 - value))
    low, high = (1 / (1 + exp(-end)) for end in (centre - half, centre + half))
    return Estimate(value, low, high, n, level, method, se=se, details=part)


Polygon = tuple[Floats, Floats]


def _case_draws(curve: RocCurve, n1: int, n0: int, rng: np.random.Generator) -> Iterator[Polygon]:
    """Curves of cases drawn again within each class."""
    rises, runs = np.diff(curve.tp), np.diff(curve.fp)
    while True:
        up = rng.multinomial(n1, rises / n1).cumsum() / n1
        right = rng.multinomial(n0, runs / n0).cumsum() / n0
        yield _closed(right), _closed(up)


def _cluster_draws(
    truth: NDArray[np.bool_], score: NDArray[Any], cluster: Clusters, rng: np.random.Generator
) -> Iterator[Polygon]:
    """Curves of whole clusters drawn again; draws without a class are passed over."""
    _, step = np.unique(-score, return_inverse=True)
    names, of = np.unique(cluster, return_inverse=True)
    g, n_steps = len(names), int(step.max()) + 1
    while True:
        times = rng.multinomial(g, np.full(g, 1 / g))[of]
        up = np.bincount(step, weights=times * truth, minlength=n_steps).cumsum()
        right = np.bincount(step, weights=times * ~truth, minlength=n_steps).cumsum()
        if up[-1] and right[-1]:
            yield _closed(right / right[-1]), _closed(up / up[-1])


def _closed(axis: Floats) -> Floats:
    return np.concatenate([[0.0], axis[:-1], [1.0]])


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
