"""Several readers who mark the same cases in several arms: Obuchowski-Rockette with areas of localisation."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.lesions import notes
from trustreport.measures.lesions.area import Area, pairs_of
from trustreport.measures.lesions.marked import Marked
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, obuchowski_rockette


def fit_lesions(marked: Sequence[Sequence[Marked]], of: Area = "wafroc_auc") -> ObuchowskiRockette:
    """Fit of an area of each reader in each arm, its covariance by leaving out each patient in turn.

    With A_g the areas without patient g, their mean over the G patients A.::

        Cov = (G - 1) / G sum over g of (A_g - A.)(A_g - A.)'

    Estimand: as of `obuchowski_rockette`; every reader saw every case in every arm.

    Parameters
    ----------
    marked : by arm, then by reader; all of the same cases, lesions and patients

    Raises
    ------
    ValueError : the areas are undefined, or undefined without one of the patients

    References
    ----------
    Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput. 24, 285-308; Hillis (2007), Stat. Med. 26,
    596-619. Chakraborty (2017), Observer Performance Methods for Diagnostic Imaging, chapters 10 and 14.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> lesions = np.repeat(np.arange(30), 2)
    >>> arms = [
    ...     [Marked(60, lesions, rng.normal(1 + a, 1, 60), np.arange(30, 60), rng.normal(0, 1, 30)) for _ in "abcd"]
    ...     for a in (0, 1)
    ... ]
    >>> print(fit_lesions(arms).difference(1, 0))
    0.21 (95% CI 0.19 to 0.24; n = 240)
    """
    every = [[pairs_of(one, of) for one in arm] for arm in marked]
    theta = np.array([[p.area for p in arm] for arm in every])
    if np.isnan(theta).any():
        raise ValueError(notes.NO_LESION if not marked[0][0].n_lesions else notes.NO_CASE_WITHOUT)
    left = np.array([p.without_each() for arm in every for p in arm])
    if np.isnan(left).any():
        raise ValueError(notes.ONE_CASE)
    return obuchowski_rockette(theta, jackknife_covariance(left), marked[0][0].n_cases)


def jackknife_covariance(left: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of estimates from those without each unit, (n_estimates, n_units).

    >>> jackknife_covariance(np.array([[1.0, 2.0, 3.0]]))
    array([[1.33333333]])
    """
    n = left.shape[1]
    away = left - left.mean(axis=1, keepdims=True)
    return (n - 1) / n * (away @ away.T)
