"""Interventions that acting on a score spares, against acting on everybody, without more missed cases."""

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, undefined
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import all_cells, cluster_cells
from trustreport.measures.means import cell_mean

LEAST = 1e-100  # 0 to any digit that is printed; what harm would be worth has no square below
AT_ZERO = "at a threshold of 0 everybody is treated whatever the harm: nothing can be avoided"
METHOD = "yield_mover"


def interventions_avoided(
    truth: NDArray[np.bool_],
    decision: NDArray[np.bool_],
    threshold: float,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Interventions avoided per case, less those that a missed case would have been worth.

    With w = t / (1 - t), the net benefit beyond that of treating everybody, counted in interventions::

        (NB - NB of treating all) / w = TN / n - FN / (w n)

    Estimand: the same in the population, cases sampled as they come.

    Parameters
    ----------
    truth, decision : bool array, shape (n_cases,)
    threshold : float in [0, 1)
        Risk from which on one acts.
    cluster : int array, shape (n_cases,), optional

    Returns
    -------
    Estimate
        At most the share of cases without the condition; NaN with a note at threshold 0 and without cases.

    References
    ----------
    Vickers, Cronin, Elkin, Gonen (2008), BMC Med. Inform. Decis. Mak. 8, 53.
    Zou, Huang, Zhang (2009), Comput. Stat. Data Anal. 53, 1080-1085 (limits).

    Examples
    --------
    >>> truth = np.array([True, True, True, False, False, False, False, False])
    >>> decision = np.array([True, True, False, True, False, False, False, False])
    >>> print(interventions_avoided(truth, decision, 0.5))
    0.38 (95% CI -0.20 to 0.68; n = 8)
    """
    if threshold <= LEAST:
        return undefined(truth.size, AT_ZERO, level=level, method=METHOD)
    weight = threshold / (1 - threshold)
    worth = np.array([0.0, 0.0, -1 / weight, 1.0])
    cells = None if cluster is None else cluster_cells(truth, decision, cluster)
    return cell_mean(all_cells(truth, decision), worth, np.array([1, 0, 1, 0]), clusters=cells, level=level)
