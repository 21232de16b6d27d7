"""Conger's kappa: agreement beyond chance, chance by each rater's own use of the categories."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement.tally import Floats, Tally, chance_corrected, lacking, tally
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate


def conger_kappa(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    weights: Floats | None = None,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement of many raters beyond chance, each rater keeping to his own share of each category.

    For two raters this is Cohen's kappa::

        kappa = (Po - Pe) / (1 - Pe)
        Pe = mean over pairs g, h of raters of  sum over k, l of w_kl p_gk p_hl

    with p_gk the share of category k among the labels of rater g.
    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, -1 where there is none; raters without any label are left out.
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
    Conger (1980), Psychol. Bull. 88, 322-328.
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., section 5.3 (variance).

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(conger_kappa(codes, 2))
    0.34 (95% CI -0.02 to 0.71; n = 20)
    """
    t = tally(codes, n_categories, weights, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return missing
    times = np.ones(codes.shape[1]) if multiplicity is None else np.asarray(multiplicity, float)
    chance, chance_of_case = _chance(t, times[times > 0], n_categories)
    return chance_corrected(t, chance, chance_of_case, level=level)


def _chance(t: Tally, times: Floats, n_categories: int) -> tuple[float, Floats]:
    """The agreement by chance of the pairs of raters, and what each case adds to it (with that mean)."""
    labelled = (t.codes >= 0).sum(axis=0)
    codes, times, labelled = t.codes[:, labelled > 0], times[labelled > 0], labelled[labelled > 0]
    use = np.stack([(codes == k).sum(axis=0) for k in range(n_categories)], axis=1) / labelled[:, None]
    total = times @ use
    others = (total - times[:, None] * use) @ t.weights  # (n_raters, n_categories): of all other raters
    pairs = times.sum() ** 2 - (times**2).sum()
    of_rater = times * (others * use).sum(axis=1)
    n = len(codes)
    parts = np.full(n, of_rater.sum())
    for g, label in enumerate(codes.T):
        given = label >= 0
        gain = times[g] * others[g] - of_rater[g]
        parts[given] += n / labelled[g] * gain[label[given]]
    return float(of_rater.sum() / pairs), parts / pairs
