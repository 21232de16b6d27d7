"""Fleiss' kappa: agreement beyond chance, chance by the use of the categories over all raters.

Not statsmodels', which has no interval, no weights and no missing labels.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement.tally import (
    METHOD,
    ONE_CATEGORY,
    Floats,
    Tally,
    chance_corrected,
    lacking,
    linearised,
    quadratic,
    tally,
)
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined


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


def gwet_ac1(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement beyond chance, chance only on cases that raters label at random.

    `gwet_ac2` with all or nothing for two labels::

        AC1 = (Po - Pe) / (1 - Pe),  Pe = sum over k of p_k (1 - p_k) / (n_categories - 1)

    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, -1 where there is none.
    n_categories : int, at least 2
        Categories that raters could choose, whether or not they did: it enters the agreement by chance.
    multiplicity : array, shape (n_raters,), optional
        How often each rater counts, for a bootstrap over raters.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together, as images of a patient; each alone where absent.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        At most 1; `n` counts cases with two labels or more; NaN with a note when there is none.

    References
    ----------
    Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48.

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(gwet_ac1(codes, 2))
    0.34 (95% CI -0.07 to 0.76; n = 20)
    """
    alike = np.eye(n_categories)
    return gwet_ac2(codes, n_categories, alike, multiplicity=multiplicity, cluster=cluster, level=level)


def gwet_ac2(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    weights: Floats,
    *,
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement beyond chance with credit for labels that lie near each other.

    ::

        AC2 = (Po - Pe) / (1 - Pe),  Pe = sum of all w_kl / (q (q - 1)) x sum over k of p_k (1 - p_k)

    with q categories, p_k the mean over cases of the share of labels in category k.
    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, in their order, -1 where there is none.
    n_categories : int, at least 2
    weights : float array, shape (n_categories, n_categories)
        Credit in [0, 1] for two labels, 1 on the diagonal; see `trustreport.measures.agreement.tally`.
    multiplicity : array, shape (n_raters,), optional
        How often each rater counts, for a bootstrap over raters.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together, as images of a patient; each alone where absent.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        At most 1; `n` counts cases with two labels or more; NaN with a note when there is none.

    References
    ----------
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapters 4 and 5.

    Examples
    --------
    >>> from trustreport.measures.agreement.tally import quadratic
    >>> codes = np.array([[0, 0, 1], [1, 1, 0], [2, 2, 2], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(gwet_ac2(codes, 3, quadratic(3)))
    0.69 (95% CI 0.56 to 0.83; n = 20)
    """
    if n_categories < 2:
        raise ValueError(f"n_categories must be at least 2, got {n_categories}.")
    t = tally(codes, n_categories, weights, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return missing
    shares = t.counts / t.raters[:, None]
    use = shares.mean(axis=0)
    factor = t.weights.sum() / (n_categories * (n_categories - 1))
    return chance_corrected(t, float(factor * use @ (1 - use)), factor * (shares @ (1 - use)), level=level)


Metric = Literal["nominal", "ordinal", "interval"]


def krippendorff_alpha(
    codes: NDArray[np.integer[Any]],
    n_categories: int,
    *,
    metric: Metric = "nominal",
    multiplicity: NDArray[Any] | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Agreement beyond chance for any number of raters, with labels missing, corrected for few labels.

    Over the cases with two labels or more, N labels in all, disagreement d_kl of two labels::

        alpha = 1 - observed / expected disagreement
        observed = sum over cases and pairs of d / (r - 1) / N,  expected = sum of N_k N_l d_kl / (N (N - 1))
        d nominal: 1 unless k = l;  interval: (k - l)^2
        d ordinal: (N_k / 2 + all N between + N_l / 2)^2

    Estimand: the same for all cases of the population, raters fixed.

    Parameters
    ----------
    codes : int array, shape (n_cases, n_raters)
        Labels from 0 to n_categories - 1, in their order unless nominal; -1 where there is none.
    n_categories : int
    metric : ``nominal``, ``ordinal`` or ``interval``
    multiplicity : array, shape (n_raters,), optional
        How often each rater counts, for a bootstrap over raters.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together, as images of a patient; each alone where absent.
    level : float in (0, 1)

    Returns
    -------
    Estimate
        At most 1; `n` counts cases with two labels or more. NaN with a note when there is none or all
        labels are the same.

    Notes
    -----
    The variance is that of alpha without its correction for few labels, and takes the ordinal distances as
    given. Krippendorff calls .800 reliable and .667 the least for tentative conclusions.

    References
    ----------
    Krippendorff (2019), Content Analysis, 4th ed., chapter 12.
    Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., section 5.3 (variance).

    Examples
    --------
    >>> codes = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [0, 1, -1], [0, 0, 0]] * 4)
    >>> print(krippendorff_alpha(codes, 2))
    0.43 (95% CI 0.07 to 0.78; n = 20)
    """
    t = tally(codes, n_categories, None, multiplicity, cluster)
    missing = lacking(t, level)
    if missing:
        return missing
    counts, raters = t.counts[t.paired], t.raters[t.paired]
    n_labels = float(raters.sum())
    weights = _weights(metric, counts.sum(axis=0))
    share = raters / raters.mean()
    shares = counts / raters.mean()
    use = shares.mean(axis=0)
    expected = float(use @ weights @ use)
    if 1 - expected < 1e-12:
        return undefined(t.n, ONE_CATEGORY, level=level, method=METHOD)
    if metric == "nominal":
        agreement = t.agreement[t.paired]
    else:
        again = tally(t.codes, n_categories, weights, _kept(multiplicity))
        agreement = again.agreement[again.paired]
    observed = float((share * agreement).mean())
    uncorrected = (observed - expected) / (1 - expected)
    agreement_parts = share * agreement - observed * (share - 1)
    chance_parts = shares @ weights @ use - expected * (share - 1)
    parts = agreement_parts - 2 * (1 - uncorrected) * (chance_parts - expected)
    value = uncorrected + (1 - uncorrected) / n_labels
    details = {"observed": observed, "expected": expected, "labels": n_labels}
    cluster = None if t.cluster is None else t.cluster[t.paired]
    parts = parts / (1 - expected)
    return linearised(value, parts, n=t.n, cluster=cluster, level=level, details=details)


def _weights(metric: Metric, totals: Floats) -> Floats:
    """1 - disagreement, the largest disagreement scaled to 1."""
    if metric == "nominal":
        return np.eye(len(totals))
    if metric == "interval":
        return quadratic(len(totals))
    rank = np.cumsum(totals) - totals / 2
    distance = (rank[:, None] - rank) ** 2
    return np.asarray(1 - distance / max(distance.max(), 1e-300), np.float64)


def _kept(multiplicity: NDArray[Any] | None) -> NDArray[Any] | None:
    return None if multiplicity is None else np.asarray(multiplicity)[np.asarray(multiplicity) > 0]
