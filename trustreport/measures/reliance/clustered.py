"""A share of readings with an interval for readers and cases in general."""

from math import exp, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes as mrmc_notes
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, quantile
from trustreport.measures.reliance import notes

METHOD = "cluster_twoway_t"


def clustered_share(
    outcome: NDArray[np.float64], *, level: float = 0.95, lacking: str = notes.NO_READING
) -> Estimate:
    """Share of readings, pooled over readers, where readers and cases are both sampled.

    The base is itself random (which readers err on which cases), so the share is a ratio; with y its outcome,
    n the readings of the base and G the readers, cases or readings in it::

        p = sum y / n,  e = (y - p) / n
        V = V_case + V_reader - V_reading,  each  sum over its clusters of (sum e)^2 x G / (G - 1)
        limits: logit p -+ t sqrt(V) / (p (1 - p)), back from the logit; t with min(readers, cases) - 1 df

    Estimand: probability of the outcome given the base, every reading weighing alike, so that a reader with
    more readings in the base weighs more.

    Parameters
    ----------
    outcome : float array, shape (n_readers, n_cases)
        1.0 counted, 0.0 in the base only, NaN not in the base.
    lacking : str
        What to say where the base is empty.

    Returns
    -------
    Estimate
        In [0, 1], limits too; `n` counts the base. NaN with a note where it is empty; no limits with one
        reader or one case. Where V is not positive the larger one-way variance takes its place, and where
        all readings are alike the limits are exact for min(readers, cases) independent ones; a note says so.

    Notes
    -----
    In simulated sequential studies of 5 to 20 readers and 60 to 120 cases the 95 % interval covered .94 to
    .98; on the plain scale or with the normal quantile it covered .85 to .95.

    References
    ----------
    Cameron, Gelbach, Miller (2011), J. Bus. Econ. Stat. 29, 238-249 (two-way clusters).
    Binder (1983), Int. Stat. Rev. 51, 279-292 (linearised ratio).

    Examples
    --------
    >>> outcome = np.array([[1.0, 0, 1, np.nan], [1, 1, np.nan, 0], [0, 1, 1, np.nan]])
    >>> print(clustered_share(outcome))
    0.67 (95% CI 0.16 to 0.95; n = 9)
    """
    based = ~np.isnan(outcome)
    n = int(based.sum())
    if n == 0:
        return undefined(0, lacking, level=level, method=METHOD)
    share = float(outcome[based].mean())
    readers, cases = int(based.any(axis=1).sum()), int(based.any(axis=0).sum())
    details = {"n_readers": float(readers), "n_cases": float(cases)}
    fewer = min(readers, cases)
    if fewer < 2:
        return no_interval(share, n, mrmc_notes.ONE_CLUSTER, level=level, method=METHOD, details=details)
    if share in (0.0, 1.0):
        reach = 1 - ((1 - level) / 2) ** (1 / fewer)  # Clopper-Pearson with no event in `fewer` readings
        low, high = (0.0, reach) if share == 0 else (1 - reach, 1.0)
        return Estimate(share, low, high, n, level, METHOD, notes.ALL_ALIKE, details=details)
    residual = np.where(based, outcome - share, 0.0) / n
    by_case, by_reader, by_reading = (
        float((sums**2).sum() * count / (count - 1))
        for sums, count in ((residual.sum(axis=0), cases), (residual.sum(axis=1), readers), (residual, n))
    )
    variance, note = by_case + by_reader - by_reading, ""
    if variance <= NEGLIGIBLE:
        variance, note = max(by_case, by_reader), notes.LARGER_ONE_WAY
    se, df = sqrt(variance), fewer - 1.0
    centre, half = log(share / (1 - share)), quantile(df, level) * se / (share * (1 - share))
    low, high = (_expit(centre + side) for side in (-half, half))
    return Estimate(share, low, high, n, level, METHOD, note, se=se, df=df, details=details)


def _expit(x: float) -> float:
    """1 / (1 + exp(-x)), without overflow."""
    return 1 / (1 + exp(-x)) if x > -700 else 0.0 if x == -inf else exp(x)
