"""Intervals of calibration measures when cases come in clusters: images of a patient, patients of a site."""

from collections.abc import Mapping
from math import exp, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate
from trustreport.measures.calibration import notes
from trustreport.measures.cluster import ONE_CLUSTER, Clusters, clustered_variance
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile, two_sided_p

Floats = NDArray[np.float64]
SANDWICH = "cluster_sandwich"


def sandwich(
    value: float,
    influence: Floats,
    cluster: Clusters,
    *,
    null: float = nan,
    logarithm: bool = False,
    level: float = 0.95,
    note: str = "",
    details: Mapping[str, float] | None = None,
) -> Estimate:
    """The t interval from what each cluster contributes to an estimate.

    With I_g the summed influence of the cases of cluster g and G clusters::

        V = G / (G - 1) sum over g of I_g^2,   value +- t(G - 1) sqrt(V)

    Parameters
    ----------
    value : float
    influence : float array, shape (n_cases,)
        What each case contributes to the value, or to its logarithm; sums to 0.
    cluster : int array, shape (n_cases,)
    null : float
        The value that `p` tests; none when not given.
    logarithm : whether the interval is made on the logarithmic scale, and `influence` is on it

    Returns
    -------
    Estimate
        ``cluster_sandwich``; no limits, and a note, with one cluster or where nothing varies between them.

    References
    ----------
    Liang, Zeger (1986), Biometrika 73, 13-22 (the sandwich). Rao, Scott (1992), Biometrics 48, 577-585.

    Examples
    --------
    >>> worth = np.array([1.0, 1.0, 0.0, 0.0, 1.0, 0.0])
    >>> print(sandwich(0.5, (worth - 0.5) / 6, np.array([1, 1, 2, 2, 3, 3])))
    0.50 (95% CI -0.74 to 1.74; n = 6)
    """
    n = influence.size
    variance, n_clusters = clustered_variance(influence, cluster)
    found = {**(details or {}), "clusters": float(n_clusters)}
    if n_clusters < 2:
        return Estimate(value, nan, nan, n, level, SANDWICH, notes.join(note, ONE_CLUSTER), details=found)
    if not variance > NEGLIGIBLE:
        return Estimate(value, nan, nan, n, level, SANDWICH, notes.join(note, notes.NO_NOISE), details=found)
    se, df = sqrt(variance), float(n_clusters - 1)
    half = quantile(df, level) * se
    low, high = (value * exp(-half), value * exp(half)) if logarithm else (value - half, value + half)
    p = nan
    if null == null:
        gap = log(value / null) if logarithm else value - null
        p = two_sided_p(gap / se, df)
    return Estimate(value, low, high, n, level, SANDWICH, note, se=se, df=df, p=p, details=found)
