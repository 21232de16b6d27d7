"""Accuracy on the cases that a device would still decide if it refused the least certain ones."""

from dataclasses import replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, undefined
from trustreport.measures.case_share import case_share
from trustreport.measures.cluster import Clusters

Floats = NDArray[np.float64]
NO_CASE = "no case"
NOT_DECIDED = "{decided} of {n} cases have a result: fewer than would have to be decided"
ROUNDING = 1e-9


def accuracy_at_coverage(
    right: NDArray[np.bool_],
    certainty: Floats,
    coverage: float,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of right decisions among the most certain ones, of at least a share of all cases.

    With the cases in the order of their certainty, n cases in all::

        decided = the most certain ceil(coverage n) cases, and those as certain as the last of them
        accuracy = right decisions / decided

    Estimand: accuracy on the cases of the population beyond the certainty of the last case decided, which is
    taken as fixed.

    Parameters
    ----------
    right : bool array, shape (n_cases,)
        Of no meaning where the certainty is NaN.
    certainty : float array, shape (n_cases,)
        The higher the more certain; NaN for cases without a result, which are never decided but count in n.
    coverage : float in (0, 1]
    cluster : int array, shape (n_cases,), optional
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts the decided cases, `details` their share of all (`coverage`) and the least
        certainty among them. NaN with a note where fewer cases have a result.

    References
    ----------
    El-Yaniv, Wiener (2010), J. Mach. Learn. Res. 11, 1605-1641 (risk and coverage).

    Examples
    --------
    >>> right = np.array([True, True, False, True, False, True])
    >>> certainty = np.array([0.9, 0.8, 0.1, 0.7, 0.2, np.nan])
    >>> print(accuracy_at_coverage(right, certainty, 0.5))
    1.00 (95% CI 0.44 to 1.00; n = 3)
    """
    if not 0 < coverage <= 1:
        raise ValueError(f"coverage must lie in (0, 1], got {coverage:g}.")
    n = right.size
    method = "wilson" if cluster is None else "cluster_wilson"
    wanted = ceil(coverage * n - ROUNDING)
    known = np.sort(certainty[~np.isnan(certainty)])[::-1]
    if wanted > len(known) or not n:
        note = NOT_DECIDED.format(decided=len(known), n=n) if n else NO_CASE
        return undefined(len(known), note, level=level, method=method)
    least = float(known[wanted - 1])
    of = certainty >= least
    some = None if cluster is None else cluster[of]
    if some is not None and len(np.unique(some)) == len(some):
        some = None
    e = case_share(right[of], cluster=some, level=level)
    details = {**e.details, "coverage": float(of.mean()), "least_certainty": least}
    return replace(e, details=details)
