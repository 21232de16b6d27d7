"""The area under one reader's ROC curve, and its change between two arms."""

from dataclasses import replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import fit_auc, reader_auc
from trustreport.measures.mrmc.interval import no_interval
from trustreport.measures.roc.auc import auc_logit_larger
from trustreport.measures.roc.clustered import auc_logit_obuchowski


def reader_auc_estimate(
    rating: NDArray[np.float64],
    truth: NDArray[np.bool_],
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the ROC curve of one reader in one arm, cases sampled: `auc_logit_larger` of rated cases.

    Parameters
    ----------
    rating : float array, shape (n_cases,)
        Higher = more suspicious; NaN no reading.
    truth : bool array, shape (n_cases,)
    cluster : int array, shape (n_cases,), optional
        Which cases are of one patient: then `auc_logit_obuchowski`.

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts rated cases; edges as there.

    Examples
    --------
    >>> print(reader_auc_estimate(np.array([1.0, 2, 3, 2, 4, 5]), np.arange(6) > 2))
    0.83 (95% CI 0.25 to 0.99; n = 6)
    """
    rated = ~np.isnan(rating)
    of = together(cluster, rated)
    if of is not None:
        return auc_logit_obuchowski(truth[rated], rating[rated], of, level=level)
    return auc_logit_larger(truth[rated], rating[rated], level=level)


def reader_auc_benefit(
    compared: NDArray[np.float64],
    baseline: NDArray[np.float64],
    truth: NDArray[np.bool_],
    *,
    level: float = 0.95,
) -> Estimate:
    """Change of one reader's area between two arms, over the cases rated in both; paired DeLong.

    Parameters
    ----------
    compared, baseline : float array, shape (n_cases,)
        Ratings of the reader in the two arms; NaN no reading.

    Returns
    -------
    Estimate
        Compared minus baseline, in [-1, 1]; `n` counts the cases rated in both arms.

    Examples
    --------
    >>> truth = np.arange(8) > 3
    >>> print(
    ...     reader_auc_benefit(
    ...         np.array([1.0, 2, 1, 3, 2, 4, 4, 5]), np.array([1.0, 3, 2, 3, 2, 4, 1, 5]), truth
    ...     )
    ... )
    0.28 (95% CI -0.14 to 0.70; n = 8)
    """
    rated = ~np.isnan(compared) & ~np.isnan(baseline)
    n, positives = int(rated.sum()), int((rated & truth).sum())
    if not n:
        return undefined(0, notes.NO_PAIR, level=level, method="delong")
    if positives in (0, n):
        return undefined(n, notes.ONE_CLASS, level=level, method="delong")
    pair = np.stack([compared[rated], baseline[rated]])[:, None, :]
    if min(positives, n - positives) < 2:
        areas = reader_auc(pair, truth[rated])
        return no_interval(float(areas[0, 0] - areas[1, 0]), n, notes.ONE_CASE, level=level, method="delong")
    fit = fit_auc(pair, truth[rated], "delong")
    return replace(fit.reader_difference(0, 0, 1, level=level), method="delong", df=nan)
