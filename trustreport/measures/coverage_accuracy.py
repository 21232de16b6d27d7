"""Accuracy on the cases that a device would still decide if it refused the least certain ones."""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.case_mean import case_share
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.proportion import wilson

Floats = NDArray[np.float64]
NO_CASE = "no case"
NOT_DECIDED = "{decided} of {n} cases have a result: fewer than would have to be decided"
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ByCertainty:
    """Cases with a result, the least certain first: `certainty`, and how many of the first ones are right.

    `right` is one longer and starts at 0.
    """

    certainty: Floats
    right: NDArray[np.int32]


def by_certainty(right: NDArray[np.bool_], certainty: Floats) -> ByCertainty:
    """The cases put in order once, for `accuracy_at_coverage` at many coverages.

    >>> by_certainty(np.array([True, False, True]), np.array([0.9, np.nan, 0.2])).right.tolist()
    [0, 1, 2]
    """
    known = np.flatnonzero(~np.isnan(certainty))
    order = known[np.argsort(certainty[known])]
    return ByCertainty(certainty[order], np.cumsum(np.append(False, right[order]), dtype=np.int32))


def accuracy_at_coverage(
    right: NDArray[np.bool_],
    certainty: Floats,
    coverage: float,
    *,
    ranked: ByCertainty | None = None,
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
    ranked : optional
        `by_certainty` of these cases, where it is at hand already.
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
    wanted = max(1, ceil(coverage * n - ROUNDING))
    ranked = ranked or by_certainty(right, certainty)
    known = len(ranked.certainty)
    if wanted > known or not n:
        note = NOT_DECIDED.format(decided=known, n=n) if n else NO_CASE
        return undefined(known, note, level=level, method=method)
    least = float(ranked.certainty[known - wanted])
    below = int(np.searchsorted(ranked.certainty, least, "left"))
    e = wilson(int(ranked.right[-1] - ranked.right[below]), known - below, level)
    if cluster is not None:
        of = certainty >= least
        if np.unique(cluster[of]).size < known - below:
            e = case_share(right[of], cluster=cluster[of], level=level)
    return replace(e, details={**e.details, "coverage": (known - below) / n, "least_certainty": least})
