"""Fleiss' kappa: agreement beyond chance, chance by the use of the categories over all raters.

Not statsmodels', which has no interval, no weights and no missing labels.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement.tally import Floats, chance_corrected, lacking, tally
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate


def fleiss_kappa(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    weights: Floats | None = None,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement of many raters beyond chance, as if any rater could have given any label.

    ::

        kappa = (Po - Pe) / (1 - Pe),  Pe = sum over k, l of w_kl p_k p_l,  p_k = mean over cases of r_k / r

    Estimand: the same for all cases of the population, raters fixed.

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
    level : float in (0, 1)

    Returns
    -------
    Estimate
        At most 1; `n` counts cases with two labels or more, `details` holds Po and Pe. NaN with a note when
        no case has two labels or all labels are the same.

    References
    ----------
    Fleiss (1971), Psychol. Bull. 76, 378-382.
    Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48 (variance; a case with one label counts for Pe).

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(fleiss_kappa(codes, 2))
    0.32 (95% CI -0.08 to 0.72; n = 20)
    """
    t = tally(codes, n_categories, weights, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return missing
    shares = t.counts / t.raters[:, None]
    use = t.weights @ shares.mean(axis=0)
    return chance_corrected(t, float(use @ shares.mean(axis=0)), shares @ use, level=level)
