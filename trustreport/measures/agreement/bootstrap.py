"""Bootstrap of any coefficient of agreement, over cases or over raters and cases."""

from collections.abc import Callable
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level
from trustreport.measures.agreement import notes

Coefficient = Callable[..., Estimate]
OVER_CASES, OVER_RATERS_AND_CASES = "bootstrap_cases", "bootstrap_raters_cases"


def bootstrap(
    coefficient: Coefficient,
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    rng: np.random.Generator,
    resamples: int = 2000,
    raters: bool = False,
    level: float = 0.95,
    **options: Any,
) -> Estimate:
    """The coefficient with a percentile interval, cases drawn anew, and raters too if asked.

    Estimand: the coefficient for all cases of the population; with `raters`, also for raters in general, of
    whom these are a sample.

    Parameters
    ----------
    coefficient : function of this package, such as `fleiss_kappa`; `options` go to it
    codes : int array, shape (n_cases, n_raters)
    n_categories : int
    rng : numpy Generator
    resamples : int
    raters : bool
        Draw raters too. Two draws of one rater are no pair, or agreement would be overstated.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        Resamples in which the coefficient is undefined are left out and counted in `details`; no limits
        with a note where that is more than half of them.

    Notes
    -----
    Each resample costs as much as the coefficient itself.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapter 13.

    Examples
    --------
    >>> from trustreport.measures.agreement.fleiss import fleiss_kappa
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1]] * 5)
    >>> print(bootstrap(fleiss_kappa, codes, 2, rng=np.random.default_rng(1), resamples=500))
    0.78 (95% CI 0.58 to 0.91; n = 30)
    """
    check_level(level)
    codes = np.asarray(codes)
    n_cases, n_raters = codes.shape
    method = OVER_RATERS_AND_CASES if raters else OVER_CASES
    whole = coefficient(codes, n_categories, level=level, **options)
    if isnan(whole.value):
        return Estimate(whole.value, whole.low, whole.high, whole.n, level, method, whole.note)
    found = np.empty(resamples)
    for i in range(resamples):
        drawn = codes[rng.integers(n_cases, size=n_cases)]
        times = np.bincount(rng.integers(n_raters, size=n_raters), minlength=n_raters) if raters else None
        found[i] = coefficient(drawn, n_categories, multiplicity=times, level=level, **options).value
    return percentile(whole.value, found, whole.n, level=level, method=method)


def percentile(value: float, found: NDArray[np.float64], n: int, *, level: float, method: str) -> Estimate:
    """The middle `level` of what resamples gave; those without a value are left out."""
    defined = found[~np.isnan(found)]
    details = {"resamples": float(len(found)), "undefined": float(len(found) - len(defined))}
    if len(defined) < len(found) / 2:
        return Estimate(
            value, float("nan"), float("nan"), n, level, method, notes.NO_RESAMPLE, details=details
        )
    low, high = (float(x) for x in np.quantile(defined, [(1 - level) / 2, (1 + level) / 2]))
    note = notes.SOME_RESAMPLES if len(defined) < len(found) else ""
    return Estimate(
        value, low, high, n, level, method, note, se=float(np.std(defined, ddof=1)), details=details
    )
