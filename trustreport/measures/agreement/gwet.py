"""Gwet's AC1 and AC2: agreement beyond chance that stays calm when one category is rare."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement.tally import Floats, chance_corrected, lacking, tally
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate


def gwet_ac1(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement beyond chance, chance only on cases that raters label at random.

    `gwet_ac2` with all or nothing for two labels::

        AC1 = (Po - Pe) / (1 - Pe),  Pe = sum over k of p_k (1 - p_k) / (n_categories - 1)

    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, -1 where there is none.
    n_categories : int, at least 2
        Categories that raters could choose, whether or not they did: it enters the agreement by chance.
    multiplicity : array, shape (n_raters,), optional
        How often each rater counts, for a bootstrap over raters.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together, as images of a patient; each alone where absent.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        At most 1; `n` counts cases with two labels or more; NaN with a note when there is none.

    References
    ----------
    Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48.

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(gwet_ac1(codes, 2))
    0.34 (95% CI -0.07 to 0.76; n = 20)
    """
    alike = np.eye(n_categories)
    return gwet_ac2(codes, n_categories, alike, multiplicity=multiplicity, cluster=cluster, level=level)


def gwet_ac2(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    weights: Floats,
    *,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement beyond chance with credit for labels that lie near each other.

    ::

        AC2 = (Po - Pe) / (1 - Pe),  Pe = sum of all w_kl / (q (q - 1)) x sum over k of p_k (1 - p_k)

    with q categories, p_k the mean over cases of the share of labels in category k.
    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, in their order, -1 where there is none.
    n_categories : int, at least 2
    weights : float array, shape (n_categories, n_categories)
        Credit in [0, 1] for two labels, 1 on the diagonal; see `trustreport.measures.agreement.weights`.
    multiplicity : array, shape (n_raters,), optional
        How often each rater counts, for a bootstrap over raters.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together, as images of a patient; each alone where absent.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        At most 1; `n` counts cases with two labels or more; NaN with a note when there is none.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapters 4 and 5.

    Examples
    --------
    >>> from trustreport.measures.agreement.weights import quadratic
    >>> codes = np.array([[0, 0, 1], [1, 1, 0], [2, 2, 2], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(gwet_ac2(codes, 3, quadratic(3)))
    0.69 (95% CI 0.56 to 0.83; n = 20)
    """
    if n_categories < 2:
        raise ValueError(f"n_categories must be at least 2, got {n_categories}.")
    t = tally(codes, n_categories, weights, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return missing
    shares = t.counts / t.raters[:, None]
    use = shares.mean(axis=0)
    factor = t.weights.sum() / (n_categories * (n_categories - 1))
    return chance_corrected(t, float(factor * use @ (1 - use)), factor * (shares @ (1 - use)), level=level)
