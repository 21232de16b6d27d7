"""Whether readers gain as much from the aid in one group of cases as in another."""

from dataclasses import replace
from math import inf, isnan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.mrmc.obuchowski_rockette import MODES, Mode, leading, obuchowski_rockette

Floats = NDArray[np.float64]


def effect_differences(
    theta: tuple[Floats, Floats],
    covariance: tuple[Floats, Floats],
    n_cases: tuple[int, int],
    *,
    level: float = 0.95,
) -> dict[Mode, Estimate]:
    """How much more readers gain from the aid in one group of cases than in another, by who is sampled.

    The same readers judge both groups, no case belongs to both. With e_j the gain of reader j (compared arm
    minus baseline) in the first group minus that in the second::

        e_j = (theta_1j - theta_0j in the first group) - (theta_1j - theta_0j in the second)
        Cov(e) = L (C + C') L',   L = compared arm minus baseline, C and C' the covariances over cases

    and e is analysed as the endpoint of one arm (Obuchowski-Rockette, `arm_mean`): this is the interaction of
    group and aid.

    Parameters
    ----------
    theta : two float arrays, shape (2, n_readers)
        Endpoint of each reader in the compared arm and in the baseline, by group of cases; no NaN.
    covariance : two float arrays, shape (2 n_readers, 2 n_readers)
        Covariance of these over the cases of the group, readers of the compared arm first.
    n_cases : two int
        Cases of either group that define the endpoint.
    level : float in (0, 1)

    Returns
    -------
    dict of Estimate by mode
        ``or_rrrc`` readers and cases random, ``or_frrc`` these readers, ``or_rrfc`` these cases. `n` counts
        readings of one arm, `p` tests a difference of 0; limits not cut.

    References
    ----------
    Hillis (2014), Stat. Med. 33, 330-360 (one arm). Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput.
    24, 285-308.

    Examples
    --------
    >>> from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
    >>> rng = np.random.default_rng(4)
    >>> groups = [(rng.random((2, 5, n)) < 0.8).astype(float) for n in (60, 40)]
    >>> found = effect_differences(
    ...     (proportions(groups[0]), proportions(groups[1])),
    ...     (proportion_covariance(groups[0]), proportion_covariance(groups[1])),
    ...     (60, 40),
    ... )
    >>> print(found["or_rrrc"])
    -0.08 (95% CI -0.33 to 0.17; n = 500)
    """
    readers = theta[0].shape[1]
    gains = [t[0] - t[1] for t in theta]
    contrast = np.hstack([np.eye(readers), -np.eye(readers)])
    spread = contrast @ (covariance[0] + covariance[1]) @ contrast.T
    fit = obuchowski_rockette((gains[0] - gains[1])[None, :], spread, sum(n_cases))
    return {mode: _tested(fit.arm_mean(0, mode=mode, level=level)) for mode in MODES}


def leading_mode(found: dict[Mode, Estimate], n_readers: int) -> Mode:
    """The mode that leads, as for the effect itself (`obuchowski_rockette.leading`)."""
    lead = leading(found["or_rrrc"], found["or_frrc"], n_readers)
    return "or_frrc" if lead.method == "or_frrc" else "or_rrrc"


def _tested(e: Estimate) -> Estimate:
    """With the p-value of no difference; an infinite number of degrees of freedom is not reported."""
    if isnan(e.low) or isnan(e.se):
        return e
    return replace(e, p=two_sided_p(e.value / e.se, inf if isnan(e.df) else e.df))
