"""Agreement of the readers of an arm with each other, as a statistic of resampled readers and cases."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.mrmc.bootstrap import Statistic

Coefficient = Literal["percent_agreement", "fleiss_kappa"]


def agreement_difference(
    decision: NDArray[np.float64], coefficient: Coefficient, *, compared: int = 1, baseline: int = 0
) -> Statistic:
    """Difference of two arms in how far their readers agree, for `Draws.estimate`.

    With n readers of a case, n_k of them deciding k, and p_k the mean over cases of n_k / n::

        percent agreement = mean over cases of  sum over k of n_k (n_k - 1) / (n (n - 1))
        Fleiss' kappa = (percent agreement - Pe) / (1 - Pe),   Pe = sum over k of p_k^2

    A reader drawn twice is no pair with the same reader again, or agreement would be overstated.

    Estimand: the change in agreement of two readers with the aid, readers and cases in general.

    Parameters
    ----------
    decision : float array, shape (n_arms, n_readers, n_cases)
        0.0 or 1.0, NaN where a reader made none.
    coefficient : "percent_agreement" or "fleiss_kappa"

    Returns
    -------
    function of reader weights and case weights
        NaN where no case has two readers, or kappa has nothing beyond chance to say.

    References
    ----------
    Fleiss (1971), Psychol. Bull. 76, 378-382.
    """

    def difference(readers: NDArray[np.float64], cases: NDArray[np.float64]) -> NDArray[np.float64]:
        after, before = (_agreement(decision[a], readers, cases, coefficient) for a in (compared, baseline))
        return after - before

    return difference


def _agreement(
    decision: NDArray[np.float64],
    readers: NDArray[np.float64],
    cases: NDArray[np.float64],
    coefficient: Coefficient,
) -> NDArray[np.float64]:
    """The coefficient of one arm for each draw; `decision` (n_readers, n_cases)."""
    made = ~np.isnan(decision)
    positive = readers @ np.where(made, decision, 0.0)
    n = readers @ made
    negative = n - positive
    same = readers**2 @ made
    pairs = n**2 - same
    paired = pairs > 0.5
    agreeing = np.divide(positive**2 + negative**2 - same, pairs, out=np.zeros_like(pairs), where=paired)
    weight = (cases * paired).sum(axis=1)
    observed = (cases * agreeing).sum(axis=1) / np.where(weight > 0, weight, np.nan)
    if coefficient == "percent_agreement":
        return np.asarray(observed)
    share = np.divide(positive, n, out=np.zeros_like(n), where=n > 0)
    rated = (cases * (n > 0)).sum(axis=1)
    use = (cases * share).sum(axis=1) / np.where(rated > 0, rated, np.nan)
    chance = use**2 + (1 - use) ** 2
    return np.asarray((observed - chance) / np.where(1 - chance > 1e-12, 1 - chance, np.nan))
