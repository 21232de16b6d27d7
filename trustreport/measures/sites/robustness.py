"""Potential robustness: performance elsewhere, weighed with how different elsewhere is, and across sites."""

from math import atanh, isnan, log, nan, sqrt, tanh

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.note import note
from trustreport.measures.proportion import normal_quantile

Floats = NDArray[np.float64]

COMBINED = note("combines_two_p_values_has_no")
TEST_ONLY = note("test_has_no_interval")
NO_PERFORMANCE = note("test_performance_undefined")
NO_SIMILARITY = note("similarity_undefined")
NO_VARIANCE = note("measure_without_variance_no_test")
TWO_SITES = note("correlation_needs_at_least_three_sites")
ONE_LINE = note("similarity_or_performance_same_at_all")
THREE_SITES = note("three_sites_correlation_has_no_interval")
ON_A_LINE = note("all_sites_on_line_interval_has")


def spr(p_performance: float, p_similarity: float, *, n: int = 0, level: float = 0.95) -> Estimate:
    """Strong potential robustness: is performance upheld on data that differ from the training data?

    ::

        k = P_performance (1 - P_similarity),   SPR = k (1 - ln k),   0 for k = 0

    which is Fisher's combination of two p-values, the upper tail of -2 ln k by chi-square with 4 df.

    Estimand: none; an index of the paper, to be read beside both parts.

    Parameters
    ----------
    p_performance : float in [0, 1]
        Two-sided p of a difference in performance between training and external set (`p_performance`).
    p_similarity : float in [0, 1]
        Degree of correspondence.
    n : int
        External cases, carried into the result.

    Returns
    -------
    In [0, 1]: near 1 when nothing speaks against equal performance and the sets differ. `details` hold k
    and both parts. NaN with a note when one of them is undefined.

    Notes
    -----
    Small sets make P_performance large: a high index of a small set shows little. 1 - P_similarity is used as
    if it were a p-value of dissimilarity.

    References
    ----------
    Cabitza, Campagner et al. (2023), HEALTHINF 2023, section 2.6.

    Examples
    --------
    >>> round(spr(0.5, 0.5).value, 4)
    0.5966
    """
    return _combined(p_performance, p_similarity, "p_performance", n, level)


def wpr(p_acceptability: float, p_similarity: float, *, n: int = 0, level: float = 0.95) -> Estimate:
    """Weak potential robustness: is performance acceptable on data that differ from the training data?

    ::

        k = P_acceptability (1 - P_similarity),   WPR = k (1 - ln k),   0 for k = 0

    Parameters
    ----------
    p_acceptability : float in [0, 1]
        One-sided p of a performance of at least the least acceptable one (`p_acceptability`).
    p_similarity, n
        As in `spr`.

    Returns
    -------
    In [0, 1], as `spr`.

    References
    ----------
    Cabitza, Campagner et al. (2023), HEALTHINF 2023, section 2.6.

    Examples
    --------
    >>> round(wpr(0.05, 0.2).value, 4)
    0.1688
    """
    return _combined(p_acceptability, p_similarity, "p_acceptability", n, level)


def p_performance(
    value: float,
    variance: float,
    n: int,
    baseline: float,
    baseline_variance: float,
    baseline_n: int,
    *,
    method: str = "delong",
    level: float = 0.95,
) -> Estimate:
    """Does a measure of performance differ between two sets of other cases? Two-sided p.

    With M the measure, v its variance (DeLong's of the area under the ROC curve) and n cases a set::

        t = (M - M') / sqrt(v + v'),   df = (v + v')^2 / (v^2 / (n - 1) + v'^2 / (n' - 1))

    which is Welch's test where M is a mean, as accuracy and the Brier score are.

    Parameters
    ----------
    value, variance, n
        Of the external set.
    baseline, baseline_variance, baseline_n
        Of the training set, with scores of cases that were not used to fit them (out of fold).
    method : str
        A fixed word: ``delong`` of areas, ``welch`` of other measures.

    Returns
    -------
    `value` and `p` are the p-value; `details` hold difference and statistic. NaN with a note when a set
    has no variance.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.
    Robin et al. (2011), BMC Bioinformatics 12, 77 (degrees of freedom).

    Examples
    --------
    >>> round(p_performance(0.70, 0.0009, 300, 0.80, 0.0007, 400).value, 4)
    0.0127
    """
    check_level(level)
    if not (variance > 0 and baseline_variance > 0) or min(n, baseline_n) < 2:
        return undefined(n, NO_VARIANCE, level=level, method=method)
    both = variance + baseline_variance
    df = both**2 / (variance**2 / (n - 1) + baseline_variance**2 / (baseline_n - 1))
    statistic = (value - baseline) / sqrt(both)
    p = two_sided_p(statistic, df)
    details = {"difference": value - baseline, "statistic": statistic}
    return Estimate(p, nan, nan, n, level, method, TEST_ONLY, df=df, p=p, details=details)


def p_acceptability(
    value: float,
    variance: float,
    least: float,
    *,
    lower_is_better: bool = False,
    n: int = 0,
    method: str = "delong",
    level: float = 0.95,
) -> Estimate:
    """Is a measure of performance at least as good as the least acceptable one? One-sided p.

    With M the measure and A_min the least acceptable value::

        P = Phi((M - A_min) / SE),   Phi((A_min - M) / SE) where lower is better

    Parameters
    ----------
    value, variance
        Of the external set; of the area under the ROC curve with DeLong's variance.
    least : float
        A_min, the worst value of the internal splits.
    n : int
        External cases, carried into the result.
    method : str
        A fixed word: ``delong`` of areas, ``wald_test`` of other measures.

    Returns
    -------
    `value` and `p` are the p-value of "at least A_min": small speaks against it. NaN with a note without
    variance.

    Examples
    --------
    >>> round(p_acceptability(0.84, 0.0004, 0.86).value, 4)
    0.1587
    """
    check_level(level)
    if not variance > 0:
        return undefined(n, NO_VARIANCE, level=level, method=method)
    statistic = (value - least) / sqrt(variance)
    p = float(ndtr(-statistic if lower_is_better else statistic))
    details = {"difference": value - least, "statistic": statistic}
    return Estimate(p, nan, nan, n, level, method, TEST_ONLY, p=p, details=details)


def similarity_performance_correlation(
    similarity: Floats, performance: Floats, *, level: float = 0.95
) -> Estimate:
    """Do sites that resemble the training data more perform better? Pearson's correlation over sites.

    ::

        r,   t = r sqrt((k - 2) / (1 - r^2)) with k - 2 df for p
        interval tanh(atanh r +- z / sqrt(k - 3))

    Estimand: correlation over the sites from which these were sampled.

    Parameters
    ----------
    similarity, performance : float array, shape (n_sites,)
        One value a site each, for example degree of correspondence and AUC.

    Returns
    -------
    In [-1, 1]; `n` counts sites. NaN with a note under three sites or without spread; no interval with
    three.

    Notes
    -----
    With few sites the interval says how little is known; each site's own uncertainty is not in it.

    References
    ----------
    Fisher (1921), Metron 1, 3-32.

    Examples
    --------
    >>> similarity = np.array([0.1, 0.3, 0.4, 0.6, 0.8])
    >>> print(similarity_performance_correlation(similarity, np.array([0.7, 0.68, 0.75, 0.8, 0.79])))
    0.86 (95% CI -0.11 to 0.99; n = 5)
    """
    z = normal_quantile(level)
    similarity, performance = (np.asarray(x, dtype=np.float64) for x in (similarity, performance))
    if similarity.ndim != 1 or similarity.shape != performance.shape:
        raise ValueError(
            "similarity and performance need one value a site each, "
            f"got shapes {similarity.shape} and {performance.shape}."
        )
    known = ~(np.isnan(similarity) | np.isnan(performance))
    x, y = similarity[known], performance[known]
    k = len(x)
    if k < 3:
        return undefined(k, TWO_SITES, level=level, method="fisher_z")
    if (x == x[0]).all() or (y == y[0]).all():
        return undefined(k, ONE_LINE, level=level, method="fisher_z")
    x, y = x - x.mean(), y - y.mean()
    r = float(x @ y / sqrt(float(x @ x) * float(y @ y)))
    r = max(-1.0, min(1.0, r))
    if 1 - r * r < 1e-14:
        r = round(r)
        return Estimate(r, r, r, k, level, "fisher_z", ON_A_LINE, df=k - 2.0, p=0.0)
    p = two_sided_p(r * sqrt((k - 2) / (1 - r * r)), k - 2)
    if k == 3:
        return Estimate(r, nan, nan, k, level, "fisher_z", THREE_SITES, df=1.0, p=p)
    half = z / sqrt(k - 3)
    low, high = tanh(atanh(r) - half), tanh(atanh(r) + half)
    return Estimate(r, low, high, k, level, "fisher_z", df=k - 2.0, p=p)


def _combined(p: float, p_similarity: float, name: str, n: int, level: float) -> Estimate:
    check_level(level)
    for which, chance in ((name, p), ("p_similarity", p_similarity)):
        if not isnan(chance) and not 0 <= chance <= 1:
            raise ValueError(f"{which} must lie in [0, 1], got {chance:g}.")
    if isnan(p) or isnan(p_similarity):
        why = NO_PERFORMANCE if isnan(p) else NO_SIMILARITY
        return undefined(n, why, level=level, method="fisher_combination")
    k = p * (1 - p_similarity)
    value = k * (1 - log(k)) if k > 0 else 0.0
    details = {"k": k, name: p, "p_similarity": p_similarity}
    return Estimate(value, nan, nan, n, level, "fisher_combination", COMBINED, details=details)
