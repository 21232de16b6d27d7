"""Differences of areas: of two scores, and between groups of cases."""

from collections.abc import Iterator
from dataclasses import replace
from math import exp, isnan, log, nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.in_range import difference_by_region
from trustreport.measures.mrmc.interval import NEGLIGIBLE, df_by_kurtosis, quantile, two_sided_p
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.roc import notes
from trustreport.measures.roc.auc import Floats, area_and_variance, check_scores, delong, placements
from trustreport.measures.roc.curve import RocCurve, roc_curve

WITH_T = "delong_t"


def paired_difference(
    truth: NDArray[np.bool_], compared: NDArray[Any], baseline: NDArray[Any], *, level: float = 0.95
) -> Estimate:
    """How much better one score separates the classes than another on the same cases.

    With X, Y of `delong` for either score::

        V = var(X - X') / n1 + var(Y - Y') / n0
        AUC - AUC' +- z sqrt(V)

    Estimand: difference of the areas, the same cases scored twice, cases independent.

    Parameters
    ----------
    compared, baseline : arrays of numbers, shape (n_cases,)
        Higher = more suspicious; the two may have different ranges.

    Returns
    -------
    Compared minus baseline, in [-1, 1]; `p` tests a difference of 0; NaN with a note when a class is
    absent; no limits when a class has one case or both scores rank all pairs alike.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> one, other = np.array([1, 2, 2, 3, 2, 3, 4, 5]), np.array([1, 3, 2, 2, 2, 1, 4, 3])
    >>> print(paired_difference(truth, one, other))
    0.22 (95% CI -0.19 to 0.63; n = 8)
    """
    check_level(level)
    check_scores(truth, compared, baseline)
    n, n1 = truth.size, int(np.count_nonzero(truth))
    if n1 in (0, n):
        note = notes.NO_NEGATIVE if n1 else notes.NO_POSITIVE
        return undefined(n, note, level=level, method="delong")
    gaps = [one - other for one, other in zip(placements(truth, compared), placements(truth, baseline))]
    value = float(gaps[0].mean())
    if min(n1, n - n1) < 2:
        return Estimate(value, nan, nan, n, level, "delong", notes.ONE_CASE)
    variance = sum(float(gap.var(ddof=1)) / len(gap) for gap in gaps)
    if not variance > NEGLIGIBLE:
        return Estimate(value, nan, nan, n, level, "delong", notes.NO_VARIATION)
    se = sqrt(variance)
    half = quantile(np.inf, level) * se
    p = two_sided_p(value / se)
    return Estimate(value, value - half, value + half, n, level, "delong", se=se, p=p)


def paired_region_difference(
    truth: NDArray[np.bool_], compared: NDArray[Any], baseline: NDArray[Any], *, level: float = 0.95
) -> Estimate:
    """The difference of `paired_difference` with limits from the logit limits of both areas.

    With V = v1 + v0, the shares of positives and negatives in DeLong's variance, and k the kurtosis of what
    the n cases of a class contribute (X - X', Y - Y')::

        df = V^2 / (v1^2 / f1 + v0^2 / f0),   f = 2 n / (k - (n - 3) / (n - 1)), at most n - 1

    and the limits of `mrmc.in_range.difference_by_region` with t. Of normal contributions f is n - 1; of
    those that a few hard cases decide, as of areas near 1, it is far less.

    Estimand, parameters and edges: as `paired_difference`.

    Returns
    -------
    ``delong_t_region``; ``delong_t``, symmetric, where an area is 0 or 1.

    Notes
    -----
    Simulated, 100 to 1,000 cases with 30 to 350 of the rarer class, areas of .80 to .96 and differences of 0
    to .05: either limit misses in at most .035; those of `paired_difference` in up to .10.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845. Venzon, Moolgavkar (1988), Appl. Stat. 37,
    87-94. Shoemaker (2003), Am. Stat. 57, 243-249 (degrees of freedom by the kurtosis).

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> one, other = np.array([1, 2, 2, 3, 2, 3, 4, 5]), np.array([1, 3, 2, 2, 2, 1, 4, 3])
    >>> print(paired_region_difference(truth, one, other))
    0.22 (95% CI -0.37 to 0.72; n = 8)
    """
    plain = paired_difference(truth, compared, baseline, level=level)
    if isnan(plain.se):
        return replace(plain, method=WITH_T)
    gaps = [one - other for one, other in zip(placements(truth, compared), placements(truth, baseline))]
    df = _df(gaps)
    half = quantile(df, level) * plain.se
    p = two_sided_p(plain.value / plain.se, df)
    found = replace(plain, low=plain.value - half, high=plain.value + half, method=WITH_T, df=df, p=p)
    return difference_by_region(found, *(delong(truth, s, level=level) for s in (compared, baseline)))


def _df(parts: list[Floats]) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances of means, each by the kurtosis of its part."""
    varied = [part for part in parts if float(part.var(ddof=1)) / len(part) > NEGLIGIBLE]
    own = [(float(part.var(ddof=1)) / len(part), df_by_kurtosis(part)) for part in varied]
    return float(sum(v for v, _ in own) ** 2 / sum(v * v / df for v, df in own))


def unpaired_difference(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    baseline_truth: NDArray[np.bool_],
    baseline_score: NDArray[Any],
    *,
    level: float = 0.95,
) -> Estimate:
    """How much better a score separates the classes in one set of cases than in another set.

    With v, v' DeLong's variances and n, n' the cases::

        AUC - AUC' +- t sqrt(v + v'),   df = (v + v')^2 / (v^2 / (n - 1) + v'^2 / (n' - 1))

    Estimand: difference of the areas in two populations, the sets independent.

    Returns
    -------
    First set minus baseline set; `n` counts both; `p` tests a difference of 0; NaN with a note when a
    class is absent from a set; no limits when a set has no variance.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.
    Robin et al. (2011), BMC Bioinformatics 12, 77 (pROC; degrees of freedom of the unpaired test).

    Examples
    --------
    >>> truth = np.array([False, False, False, False, True, True, True, True])
    >>> one, other = np.array([1, 2, 2, 3, 2, 3, 4, 5]), np.array([1, 3, 2, 2, 2, 1, 4, 3])
    >>> print(unpaired_difference(truth, one, truth, other))
    0.22 (95% CI -0.36 to 0.79; n = 16)
    """
    check_level(level)
    found = [area_and_variance(truth, score), area_and_variance(baseline_truth, baseline_score)]
    (area, v, _, _, note), (other, w, _, _, baseline_note) = found
    n, m = truth.size, baseline_truth.size
    note = note or baseline_note
    value = area - other
    if value != value:
        return undefined(n + m, note, level=level, method="delong")
    if any(not variance > 0 for variance in (v, w)):
        return Estimate(value, nan, nan, n + m, level, "delong", note)
    df = (v + w) ** 2 / (v * v / (n - 1) + w * w / (m - 1))
    se = sqrt(v + w)
    half = quantile(df, level) * se
    p = two_sided_p(value / se, df)
    return Estimate(value, value - half, value + half, n + m, level, "delong", se=se, df=df, p=p)


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
    score : array of numbers, shape (n_cases,)
    group : pair of floats
        0 <= x1 <= x2 <= 1, false positive rates.
    resamples : int
        Cases are drawn again within each class, or whole clusters, this many times; s is the standard
        deviation of the values, and the interval logit A +- z s / (A (1 - A)), turned back.

    Returns
    -------
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
