"""Agreement of pairs, and beyond chance: percent agreement, kappa of two raters and of several.

Not statsmodels' kappas, which have no interval, no weights and no missing labels.
"""

from dataclasses import replace
from itertools import combinations
from math import nan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement import notes
from trustreport.measures.agreement.interval import SCORE, mean_interval
from trustreport.measures.agreement.labels import (
    METHOD,
    Floats,
    Tally,
    chance_corrected,
    check_codes,
    check_weights,
    lacking,
    linearised,
    tally,
)
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE


def cohen_kappa(
    first: NDArray[np.integer[Any]],
    second: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    weights: Floats | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement of two raters beyond chance, each keeping to his own share of each category.

    Over the cases that both labelled::

        kappa = (Po - Pe) / (1 - Pe),  Pe = sum over k, l of w_kl p_k q_l

    with p and q the shares of the categories with the first and the second rater.
    Estimand: the same for all cases of the population, these two raters.

    Parameters
    ----------
    first, second : int array, shape (n_cases,)
        Labels from 0 to n_categories - 1, -1 where there is none.

    Returns
    -------
    At most 1; `n` counts the cases that both labelled, `details` holds Po and Pe. NaN with a note when
    there is none or both used the same single category.

    Notes
    -----
    The variance is that of Fleiss, Cohen and Everitt (1969) times n / (n - 1), with Student's t.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46; (1968), Psychol. Bull. 70, 213-220 (weights).

    Examples
    --------
    >>> first = np.repeat([0, 0, 1, 1], [20, 5, 10, 15])  # yes and no of two doctors, 50 patients
    >>> second = np.repeat([0, 1, 0, 1], [20, 5, 10, 15])
    >>> print(cohen_kappa(first, second, 2))
    0.40 (95% CI 0.14 to 0.66; n = 50)
    """
    codes = check_codes(np.stack([np.asarray(first), np.asarray(second)], axis=1), n_categories)
    weights = np.eye(n_categories) if weights is None else check_weights(weights, n_categories)
    both = (codes >= 0).all(axis=1)
    n = int(np.count_nonzero(both))
    if not n:
        return undefined(0, notes.NO_PAIR, level=level, method=METHOD)
    cell = codes[both, 0] * n_categories + codes[both, 1]
    value, parts, details = _kappa(np.bincount(cell, minlength=n_categories**2), weights)
    if value != value:
        return undefined(n, notes.ONE_CATEGORY, level=level, method=METHOD)
    cluster = None if cluster is None else cluster[both]
    return linearised(value, parts[cell], n=n, cluster=cluster, level=level, details=details)


def kappa_influence(
    first: NDArray[np.integer[Any]], second: NDArray[np.integer[Any]], n_categories: int
) -> tuple[float, Floats]:
    """Cohen's kappa, and what each case adds to it, with mean 0, (n_cases,); every case has both labels.

    >>> value, parts = kappa_influence(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), 2)
    >>> value, parts.sum()
    (0.5, np.float64(0.0))
    """
    cell = first * n_categories + second
    value, parts, _ = _kappa(np.bincount(cell, minlength=n_categories**2), np.eye(n_categories))
    return value, parts[cell]


def light_kappa(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    weights: Floats | None = None,
    of: int | None = None,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Mean of Cohen's kappa over all pairs of raters, or over the pairs of one rater with the others.

    ::

        kappa = mean over pairs g, h of raters of kappa_gh,  each on the cases that both labelled

    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    of : int, optional
        Index of the rater whose pairs alone count.

    Returns
    -------
    At most 1; `n` counts cases with two labels or more, `details` the pairs and those left out because
    their kappa is undefined. NaN with a note when none is defined.

    Notes
    -----
    A case adds to the variance the mean of what it adds to each pair (0 where it lacks one of the labels).

    References
    ----------
    Light (1971), Psychol. Bull. 76, 365-377.

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(light_kappa(codes, 2))
    0.54 (95% CI 0.25 to 0.83; n = 20)
    """
    t = tally(codes, n_categories, weights, None, cluster)
    if not t.n:
        return undefined(0, notes.NO_PAIR, level=level, method=METHOD)
    times = np.ones(t.codes.shape[1]) if multiplicity is None else np.asarray(multiplicity, float)
    columns = np.ascontiguousarray(t.codes.T).astype(np.int32)
    n = len(t.codes)
    parts, total, weight, left_out = np.zeros(n), 0.0, 0.0, 0
    pairs = [p for p in combinations(range(len(columns)), 2) if of in (None, *p) and times[list(p)].all()]
    for g, h in pairs:
        both = np.flatnonzero((columns[g] >= 0) & (columns[h] >= 0))
        cell = columns[g][both] * n_categories + columns[h][both]
        value, of_cell, _ = _kappa(np.bincount(cell, minlength=n_categories**2), t.weights)
        if value != value:
            left_out += 1
            continue
        share = times[g] * times[h]
        total, weight = total + share * value, weight + share
        parts[both] += share * n / len(both) * of_cell[cell]
    details = {"pairs": float(len(pairs)), "pairs_left_out": float(left_out)}
    if not weight:
        return undefined(t.n, notes.NO_PAIR_DEFINED, level=level, method=METHOD)
    note = notes.SOME_PAIRS_UNDEFINED if left_out else NO_NOTE
    total, parts = total / weight, parts / weight
    return linearised(total, parts, n=t.n, cluster=t.cluster, level=level, note=note, details=details)


def _kappa(table: NDArray[np.int64], weights: Floats) -> tuple[float, Floats, dict[str, float]]:
    """Kappa of a cross table, flat; what a case of each cell adds to it (with mean 0); Po and Pe."""
    q = len(weights)
    joint = table.reshape(q, q) / max(table.sum(), 1)
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    observed, expected = float((weights * joint).sum()), float(rows @ weights @ columns)
    if not table.sum() or 1 - expected < 1e-12:
        return nan, np.zeros(q * q), {}
    value = (observed - expected) / (1 - expected)
    chance = (weights @ columns)[:, None] + weights @ rows - 2 * expected
    parts = ((weights - observed) - (1 - value) * chance) / (1 - expected)
    return value, parts.ravel(), {"observed": observed, "expected": expected}


def conger_kappa(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    weights: Floats | None = None,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement of many raters beyond chance, each rater keeping to his own share of each category.

    For two raters this is Cohen's kappa::

        kappa = (Po - Pe) / (1 - Pe)
        Pe = mean over pairs g, h of raters of  sum over k, l of w_kl p_gk p_hl

    with p_gk the share of category k among the labels of rater g.
    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, -1 where there is none; raters without any label are left out.

    Returns
    -------
    At most 1; `n` counts cases with two labels or more, `details` holds Po and Pe. NaN with a note when
    no case has two labels or all labels are the same.

    References
    ----------
    Conger (1980), Psychol. Bull. 88, 322-328.
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., section 5.3 (variance).

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(conger_kappa(codes, 2))
    0.34 (95% CI -0.02 to 0.71; n = 20)
    """
    t = tally(codes, n_categories, weights, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return missing
    times = np.ones(codes.shape[1]) if multiplicity is None else np.asarray(multiplicity, float)
    chance, chance_of_case = _chance(t, times[times > 0], n_categories)
    return chance_corrected(t, chance, chance_of_case, level=level)


def _chance(t: Tally, times: Floats, n_categories: int) -> tuple[float, Floats]:
    """The agreement by chance of the pairs of raters, and what each case adds to it (with that mean)."""
    labelled = (t.codes >= 0).sum(axis=0)
    codes, times, labelled = t.codes[:, labelled > 0], times[labelled > 0], labelled[labelled > 0]
    use = np.stack([(codes == k).sum(axis=0) for k in range(n_categories)], axis=1) / labelled[:, None]
    total = times @ use
    others = (total - times[:, None] * use) @ t.weights  # (n_raters, n_categories): of all other raters
    pairs = times.sum() ** 2 - (times**2).sum()
    of_rater = times * (others * use).sum(axis=1)
    n = len(codes)
    parts = np.full(n, of_rater.sum())
    for g, label in enumerate(codes.T):
        given = label >= 0
        gain = times[g] * others[g] - of_rater[g]
        parts[given] += n / labelled[g] * gain[label[given]]
    return float(of_rater.sum() / pairs), parts / pairs


def fleiss_kappa(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    weights: Floats | None = None,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement of many raters beyond chance, as if any rater could have given any label.

    ::

        kappa = (Po - Pe) / (1 - Pe),  Pe = sum over k, l of w_kl p_k p_l,  p_k = mean over cases of r_k / r

    Estimand: the same for all cases of the population, raters fixed.

    Returns
    -------
    At most 1; `n` counts cases with two labels or more, `details` holds Po and Pe. NaN with a note when
    no case has two labels or all labels are the same.

    References
    ----------
    Fleiss (1971), Psychol. Bull. 76, 378-382.
    Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48 (variance; a case with one label counts for Pe).

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(fleiss_kappa(codes, 2))
    0.32 (95% CI -0.08 to 0.72; n = 20)
    """
    t = tally(codes, n_categories, weights, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return missing
    shares = t.counts / t.raters[:, None]
    use = t.weights @ shares.mean(axis=0)
    return chance_corrected(t, float(use @ shares.mean(axis=0)), shares @ use, level=level)


def percent_agreement(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    weights: Floats | None = None,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    interval: Literal["gwet", "score"] = "gwet",
    level: float = 0.95,
) -> Estimate:
    """Share of pairs of raters that give a case the same label.

    With r labels of a case, r_k of them in category k::

        Po = mean over cases of  sum over k of r_k (r_k - 1) / (r (r - 1))

    Estimand: chance that two of these raters agree on a case, cases sampled, raters fixed.

    Parameters
    ----------
    interval : {"gwet", "score"}
        By Gwet's variance, cut at 0 and 1, or the score interval of the mean over cases with a pair of labels
        (`interval.mean_interval`).

    Returns
    -------
    In [0, 1]; `n` counts cases with two labels or more; NaN with a note when there is none.

    Notes
    -----
    Much of it may be agreement by chance: with one rare category it is high whoever rates.

    References
    ----------
    Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48.

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(percent_agreement(codes, 2))
    0.67 (95% CI 0.46 to 0.87; n = 20)
    """
    t = tally(codes, n_categories, weights, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return replace(missing, method=SCORE) if interval == "score" else missing
    if interval == "score":
        cluster = None if t.cluster is None else t.cluster[t.paired]
        return mean_interval(t.observed, t.agreement[t.paired], n=t.n, cluster=cluster, level=level)
    share = len(t.codes) / t.n
    parts = share * t.agreement
    return linearised(t.observed, parts, n=t.n, cluster=t.cluster, level=level, least=0.0)
