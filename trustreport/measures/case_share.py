"""A share of cases, whether they are independent or come in clusters."""

import numpy as np
from numpy.typing import NDArray

from trustreport.measures import notes
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.proportion import wilson


def case_share(
    event: NDArray[np.bool_],
    *,
    lacking: str = notes.NO_CASE,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of cases with an event: Wilson's interval, with clusters by the effective number of cases.

    Parameters
    ----------
    event : bool array, shape (n_cases,)
    lacking : what to say without cases
    cluster : int array, shape (n_cases,), optional

    Examples
    --------
    >>> print(case_share(np.array([True, False, False, False])))
    0.25 (95% CI 0.05 to 0.70; n = 4)
    """
    if not event.size:
        return undefined(0, lacking, level=level, method="wilson" if cluster is None else "cluster_wilson")
    if cluster is None:
        return wilson(int(event.sum()), event.size, level)
    # A made-up table in which every case is positive: its sensitivity is the share.
    return clustered("sensitivity", cluster_cells(np.ones(event.size, bool), event, cluster), level=level)
