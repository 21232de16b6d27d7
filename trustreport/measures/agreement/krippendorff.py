"""Krippendorff's alpha: disagreement set against the disagreement of labels shuffled over all cases."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.agreement import notes
from trustreport.measures.agreement.tally import METHOD, Floats, lacking, linearised, tally
from trustreport.measures.agreement.weights import quadratic
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined

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
        return undefined(t.n, notes.ONE_CATEGORY, level=level, method=METHOD)
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
