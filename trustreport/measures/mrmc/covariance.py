"""How endpoint estimates of all arms and readers vary together when other cases are drawn."""

import numpy as np
from numpy.typing import NDArray


def proportions(outcome: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of counted cases, per arm and reader, over the cases that the reader read in that arm.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted, 0.0 not, NaN no reading.

    Returns
    -------
    float array, shape (n_arms, n_readers)
        Each in [0, 1]; NaN where a reader read nothing in an arm.
    """
    read = ~np.isnan(outcome)
    n = read.sum(axis=-1)
    return np.where(n > 0, np.where(read, outcome, 0.0).sum(axis=-1) / np.maximum(n, 1), np.nan)


def proportion_covariance(outcome: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance, over cases, of the proportions of all arms and readers.

    With x_k the 0/1 outcomes of case k, one for each arm and reader::

        Cov = sum_k (x_k - mean x)(x_k - mean x)' / (n - 1) / n

    which equals the jackknife that leaves out one case of the endpoint at a time. Every reader must have read
    every case in every arm.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted, 0.0 not; no NaN.

    Returns
    -------
    float array, shape (n_arms * n_readers, n_arms * n_readers)
        Rows run through the readers of the first arm, then of the second; NaN with fewer than two cases.

    References
    ----------
    Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput. 24, 285-308.
    """
    n_cases = outcome.shape[-1]
    rows = outcome.reshape(-1, n_cases)
    if n_cases < 2:
        return np.full((len(rows), len(rows)), np.nan)
    centred = rows - rows.mean(axis=1, keepdims=True)
    covariance: NDArray[np.float64] = centred @ centred.T / ((n_cases - 1) * n_cases)
    return covariance
