"""How often two raters give a case the same label."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement.interval import SCORE, mean_interval
from trustreport.measures.agreement.tally import Floats, lacking, linearised, tally
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate


def percent_agreement(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    weights: Floats | None = None,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    interval: Literal["gwet", "score"] = "gwet",
    level: float = 0.95,
) -> Estimate:
    """Share of pairs of raters that give a case the same label.

    With r labels of a case, r_k of them in category k::

        Po = mean over cases of  sum over k of r_k (r_k - 1) / (r (r - 1))

    Estimand: chance that two of these raters agree on a case, cases sampled, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, -1 where there is none.
    n_categories : int
    weights : float array, shape (n_categories, n_categories), optional
        Credit in [0, 1] for two labels, 1 on the diagonal; all or nothing where absent.
    multiplicity : array, shape (n_raters,), optional
        How often each rater counts, for a bootstrap over raters.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together, as images of a patient; each alone where absent.
    interval : {"gwet", "score"}
        By Gwet's variance, cut at 0 and 1, or the score interval of the mean over cases with a pair of labels
        (`interval.mean_interval`).
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts cases with two labels or more; NaN with a note when there is none.

    Notes
    -----
    Much of it may be agreement by chance: with one rare category it is high whoever rates.

    References
    ----------
    Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48.

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(percent_agreement(codes, 2))
    0.67 (95% CI 0.46 to 0.87; n = 20)
    """
    t = tally(codes, n_categories, weights, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return replace(missing, method=SCORE) if interval == "score" else missing
    if interval == "score":
        cluster = None if t.cluster is None else t.cluster[t.paired]
        return mean_interval(t.observed, t.agreement[t.paired], n=t.n, cluster=cluster, level=level)
    share = len(t.codes) / t.n
    parts = share * t.agreement
    return linearised(t.observed, parts, n=t.n, cluster=t.cluster, level=level, least=0.0)
