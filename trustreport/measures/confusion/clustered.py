"""Measures of the four cells when cases come in clusters: images of a patient, patients of a site."""

from dataclasses import replace
from math import atanh, exp, isnan, log, nan, sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.confusion import notes
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import limits_of_sum, score_limit, why_undefined
from trustreport.measures.confusion.measure import PARTS, CaseShare, Delta, OfClasses
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile
from trustreport.measures.note import NO_NOTE
from trustreport.measures.proportion import exact_limits, normal_quantile

Floats = NDArray[np.float64]
FEW_CLUSTERS = 25  # with fewer a ratio of a small share is too high too often
KORN_GRAUBARD = "korn_graubard"
STEP = 1e-30  # of the derivative by an imaginary step, which has no rounding error


def cluster_cells(
    truth: NDArray[np.bool_], decision: NDArray[np.bool_], cluster: NDArray[np.int64]
) -> NDArray[np.int64]:
    """tp, fp, fn, tn of each cluster.

    Parameters
    ----------
    truth, decision : bool array, shape (n_cases,)
    cluster : int array, shape (n_cases,)
        Which cluster a case belongs to.

    Returns
    -------
    int array, shape (n_clusters, 4)
        Clusters in ascending order.
    """
    if not truth.shape == decision.shape == cluster.shape:
        raise ValueError(
            "truth, decision and cluster must have one entry per case each, "
            f"got shapes {truth.shape}, {decision.shape} and {cluster.shape}."
        )
    names, index = np.unique(cluster, return_inverse=True)
    at = 4 * index + _cell(truth, decision)
    return np.bincount(at, minlength=4 * len(names)).reshape(-1, 4).astype(np.int64, copy=False)


def all_cells(truth: NDArray[np.bool_], decision: NDArray[np.bool_]) -> NDArray[np.int64]:
    """tp, fp, fn, tn of all cases, shape (4,)."""
    n, tp = truth.size, int(np.count_nonzero(truth & decision))
    present, called = int(np.count_nonzero(truth)), int(np.count_nonzero(decision))
    return np.array([tp, called - tp, present - tp, n - called - present + tp], np.int64)


def _cell(truth: NDArray[np.bool_], decision: NDArray[np.bool_]) -> NDArray[np.int8]:
    """0 to 3 for tp, fp, fn, tn."""
    return 3 - 2 * decision.view(np.int8) - truth.view(np.int8)


def clustered(
    name: str, cells: NDArray[np.int64], *, prevalence: float | None = None, level: float = 0.95
) -> Estimate:
    """A measure whose interval allows for cases of a cluster being alike.

    The value is that of all cases pooled. With T the summed cells, T_g those of cluster g, G clusters and f
    the measure as a function of the cells, the ratio estimator's variance is::

        V = G / (G - 1) sum_g (f'(T) . T_g)^2

    Shares: Wilson's interval with the number of cases at which a binomial share would vary by V (not more
    than there are) and Student's t. Others: t interval of atanh f (range -1 to 1), logit f (0 to 1) or log f
    (ratios), by the delta method, turned back. Youden's index J and balanced accuracy, with l the distances
    of sensitivity and specificity to their lower limits, u to their upper ones, and r the correlation of the
    two over clusters::

        J - sqrt(l_1^2 + l_2^2 + 2 r l_1 l_2)  to  J + sqrt(u_1^2 + u_2^2 + 2 r u_1 u_2)

    Degrees of freedom: clusters less one, counting those that hold a case of the denominator; where both
    classes matter, those of the class found in fewer clusters.

    Estimand: the measure in the population from which the clusters were sampled, each case weighing alike.

    Parameters
    ----------
    name : str
        A key of `MEASURES`.
    cells : int array, shape (n_clusters, 4)
        tp, fp, fn, tn of each cluster (`cluster_cells`).
    prevalence : float in (0, 1), optional
        The prevalence for which the measure is wanted; the sample's own when not given.

    Returns
    -------
    `n` counts the denominator in cases, `details` the clusters and the design effect (variance over that
    of independent cases, shares only); NaN with a note where the measure is 0/0.

    Notes
    -----
    Too narrow with few clusters; coverage: benchmarks/coverage.py.

    References
    ----------
    Rao, Scott (1992), Biometrics 48, 577-585 (ratio estimator, design effect).
    Saha, Miller, Wang (2016), Int. J. Biostat. 12 (Wilson's interval with an effective sample size).
    Zou, Donner (2008), Stat. Med. 27, 1693-1702 (limits of a sum from those of its parts).

    Examples
    --------
    >>> cells = np.array([[3, 0, 1, 4], [0, 1, 2, 5], [2, 0, 0, 2], [1, 1, 0, 6], [4, 0, 1, 3]])
    >>> print(clustered("sensitivity", cells))
    0.71 (95% CI 0.34 to 0.92; n = 14)
    """
    check_level(level)
    measure = MEASURES[name]
    interval = measure.interval
    if prevalence is not None and not isinstance(interval, Delta):
        interval = Delta(interval.scale)
    counts = ConfusionCounts(*(int(total) for total in cells.sum(axis=0)))
    note = why_undefined(measure, counts, by_class=prevalence is not None)
    n = int(cells[:, measure.among].sum()) if isinstance(interval, CaseShare) else counts.n
    if note:
        return undefined(n, note, level=level, method=interval.word)
    value, gradient = value_and_gradient(name, cells.sum(axis=0), prevalence)
    held = _clusters(measure.among if isinstance(interval, CaseShare) else None, cells)
    n_clusters = len(cells)
    if held < 2 or not np.isfinite(gradient).all():
        note = notes.ONE_CLUSTER if held < 2 else notes.AT_THE_EDGE
        return Estimate(value, nan, nan, n, level, interval.word, note)
    influence = cells @ gradient
    variance = n_clusters / (n_clusters - 1) * float(influence @ influence)
    t = quantile(held - 1, level)
    details = {"clusters": float(held)}
    if isinstance(interval, CaseShare):
        return _wilson(value, variance, n, held, t, level, details)
    whole = Estimate(
        value, nan, nan, n, level, interval.word, se=sqrt(variance), df=float(held - 1), details=details
    )
    if isinstance(interval, OfClasses):
        return _of_classes(whole, cells, interval)
    e = _transformed(whole, interval, t)
    return replace(e, note=interval.few) if interval.few and held < FEW_CLUSTERS and not e.note else e


def value_and_gradient(
    name: str, totals: NDArray[np.int64], prevalence: float | None
) -> tuple[float, Floats]:
    """The measure and its derivative by each summed cell."""
    cells = totals + STEP * 1j * np.eye(4)  # one imaginary step along each cell
    if prevalence is not None:
        present, absent = cells[:, [0, 2]].sum(axis=1), cells[:, [1, 3]].sum(axis=1)
        right, wrong = prevalence / present, (1 - prevalence) / absent
        cells = cells * np.stack([right, wrong, right, wrong], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        stepped = MEASURES[name].formula(*cells.T)
        value = float(MEASURES[name].formula(*cells[0].real))
    return value, np.asarray(stepped.imag / STEP, dtype=np.float64)


def _clusters(among: tuple[int, ...] | None, cells: NDArray[np.int64]) -> int:
    """Clusters that hold a case of the denominator; of both classes, those of the scarcer one."""
    parts = [PARTS["positives"], PARTS["negatives"]] if among is None else [among]
    return min(int(np.count_nonzero(cells[:, part].sum(axis=1))) for part in parts)


def _wilson(
    value: float, variance: float, n: int, held: int, t: float, level: float, details: dict[str, float]
) -> Estimate:
    binomial = value * (1 - value)
    if variance > NEGLIGIBLE and binomial > 0:
        effective, note = min(binomial / variance, float(n)), NO_NOTE
        details["design_effect"] = variance / (binomial / n)
    else:
        effective, note = float(held), notes.CLUSTERS_AS_CASES
    low, high = score_limit(value * effective, effective, np.array([-t, t]))
    return Estimate(
        value, float(low), float(high), n, level, CaseShare.word, note,
        se=sqrt(variance), df=float(held - 1), details=details,
    )  # fmt: skip


def korn_graubard(e: Estimate) -> Estimate:
    """A clustered share with exact limits in place of the score limits.

    With D the design effect of `e`, not below 1, and n cases, the limits are Clopper and Pearson's of so many
    cases, z and t being the quantiles of the normal and of the distribution of `e`::

        n / D(z / t) ^ 2

    Parameters
    ----------
    e : Estimate
        ``cluster_wilson``, as from `clustered`; comes back as it is where it has no limits.

    References
    ----------
    Korn, Graubard (1998), Surv. Methodol. 24, 193-201.

    Examples
    --------
    >>> cells = np.array([[3, 0, 1, 4], [0, 1, 2, 5], [2, 0, 0, 2], [1, 1, 0, 6], [4, 0, 1, 3]])
    >>> print(korn_graubard(clustered("sensitivity", cells)))
    0.71 (95% CI 0.26 to 0.97; n = 14)
    """
    if isnan(e.low):
        return e
    worth = e.n / max(1.0, e.details.get("design_effect", e.n / e.details["clusters"]))
    worth *= (normal_quantile(e.level) / quantile(e.df, e.level)) ** 2
    low, high = exact_limits(e.value * worth, worth, e.level)
    return replace(e, low=low, high=high, method=KORN_GRAUBARD)


def _of_classes(e: Estimate, cells: NDArray[np.int64], sum_of: OfClasses) -> Estimate:
    """The weighted sum of sensitivity and specificity with limits made of theirs."""
    names = ("sensitivity", "specificity")
    one, other = (clustered(name, cells, level=e.level) for name in names)
    influence = [cells @ value_and_gradient(name, cells.sum(axis=0), None)[1] for name in names]
    size = sqrt(float(influence[0] @ influence[0]) * float(influence[1] @ influence[1]))
    r = float(influence[0] @ influence[1]) / size if size > NEGLIGIBLE else 0.0
    below, above = limits_of_sum(sum_of, (one, other), r)
    return replace(e, low=e.value - below, high=e.value + above, note=one.note or other.note)


def _transformed(e: Estimate, delta: Delta, t: float) -> Estimate:
    """Limits at t standard errors on the scale of the measure, turned back."""
    value = e.value
    if delta.scale == "log":
        inside, slope = 0 < value < np.inf, value
    elif delta.scale == "atanh":
        inside, slope = -1 < value < 1, 1 - value * value
    else:
        inside, slope = 0 < value < 1, value * (1 - value)
    if not inside:
        return replace(e, note=notes.AT_THE_EDGE, se=nan, df=nan)
    if not e.se * e.se > NEGLIGIBLE * slope * slope:
        return replace(e, note=notes.NO_SPREAD_BETWEEN_CLUSTERS, se=nan, df=nan)
    half = t * e.se / slope
    if delta.scale == "log":
        low, high = value * exp(-half), value * exp(half)
    elif delta.scale == "atanh":
        low, high = tanh(atanh(value) - half), tanh(atanh(value) + half)
    else:
        low, high = (1 / (1 + exp(-log(value / (1 - value)) + end)) for end in (half, -half))
    return replace(e, low=low, high=high)
