"""Cohen's kappa of two raters, and Light's kappa: its mean over pairs of raters."""

from itertools import combinations
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement.tally import (
    METHOD,
    NO_PAIR,
    NO_PAIR_DEFINED,
    ONE_CATEGORY,
    SOME_PAIRS_UNDEFINED,
    Floats,
    check_codes,
    check_weights,
    linearised,
    tally,
)
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined


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
    n_categories : int
    weights : float array, shape (n_categories, n_categories), optional
        Credit in [0, 1] for two labels, 1 on the diagonal; all or nothing where absent.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together, as images of a patient; each alone where absent.
    level : float in (0, 1)

    Returns
    -------
    Estimate
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
        return undefined(0, NO_PAIR, level=level, method=METHOD)
    cell = codes[both, 0] * n_categories + codes[both, 1]
    value, parts, details = _kappa(np.bincount(cell, minlength=n_categories**2), weights)
    if value != value:
        return undefined(n, ONE_CATEGORY, level=level, method=METHOD)
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
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, -1 where there is none.
    n_categories : int
    weights : float array, shape (n_categories, n_categories), optional
        Credit in [0, 1] for two labels, 1 on the diagonal; all or nothing where absent.
    of : int, optional
        Index of the rater whose pairs alone count.
    multiplicity : array, shape (n_raters,), optional
        How often each rater counts, for a bootstrap over raters.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together, as images of a patient; each alone where absent.
    level : float in (0, 1)

    Returns
    -------
    Estimate
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
        return undefined(0, NO_PAIR, level=level, method=METHOD)
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
        return undefined(t.n, NO_PAIR_DEFINED, level=level, method=METHOD)
    note = SOME_PAIRS_UNDEFINED if left_out else ""
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
