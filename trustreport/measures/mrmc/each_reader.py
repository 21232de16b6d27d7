"""Each reader alone: shares, areas, their changes, and agreement between arms."""

from dataclasses import replace
from math import nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import fit_auc, reader_auc
from trustreport.measures.mrmc.bootstrap import Statistic
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, symmetric
from trustreport.measures.paired.difference import PairedTable, tango
from trustreport.measures.proportion import wilson
from trustreport.measures.roc.auc import auc_logit_larger
from trustreport.measures.roc.clustered import auc_logit_obuchowski

FIXED_CASES = "fixed_cases"


def reader_estimate(outcome: NDArray[np.float64], arm: int, reader: int, *, level: float = 0.95) -> Estimate:
    """One reader's proportion in one arm, with Wilson's interval.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted, 0.0 not, NaN no reading; for sensitivity or specificity the cases of that class only.

    Returns
    -------
    In [0, 1]; `n` counts the cases that this reader read in this arm; NaN with a note when there is none.

    Examples
    --------
    >>> print(reader_estimate(np.array([[[1.0, 1, 1, 0, np.nan]]]), 0, 0))
    0.75 (95% CI 0.30 to 0.95; n = 4)
    """
    read = outcome[arm, reader][~np.isnan(outcome[arm, reader])]
    if not read.size:
        return undefined(0, notes.NO_READING, level=level, method="wilson")
    return wilson(int(read.sum()), read.size, level)


def reader_benefit(
    outcome: NDArray[np.float64],
    reader: int,
    *,
    compared: int = 1,
    baseline: int = 0,
    level: float = 0.95,
) -> Estimate:
    """One reader's change of a proportion, over the cases read in both arms, with Tango's interval.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted (a correct decision), 0.0 not, NaN no reading.

    Returns
    -------
    Compared minus baseline, in [-1, 1]; `n` counts pairs; NaN with a note when there is none.

    Examples
    --------
    >>> print(reader_benefit(np.array([[[0.0, 0, 1, 1, 0]], [[1.0, 0, 1, 1, 1]]]), 0))
    0.40 (95% CI -0.21 to 0.77; n = 5)
    """
    table = paired_table(outcome, reader, compared=compared, baseline=baseline)
    return tango(table, level) if table.n else undefined(0, notes.NO_PAIR, level=level, method="tango")


def paired_table(
    outcome: NDArray[np.float64], reader: int, *, compared: int = 1, baseline: int = 0
) -> PairedTable:
    """The cases that one reader read in both arms, by whether each reading counts (is right)."""
    after, before = outcome[compared, reader], outcome[baseline, reader]
    paired = ~np.isnan(after) & ~np.isnan(before)
    gained, kept = after[paired] == 1, before[paired] == 1
    return PairedTable(
        both_right=int((gained & kept).sum()),
        aided_right_unaided_wrong=int((gained & ~kept).sum()),
        aided_wrong_unaided_right=int((~gained & kept).sum()),
        both_wrong=int((~gained & ~kept).sum()),
    )


def reader_changes(
    outcome: NDArray[np.float64], *, compared: int = 1, baseline: int = 0
) -> NDArray[np.float64]:
    """Change of each reader's proportion over the cases read in both arms; NaN where there is none."""
    change = outcome[compared] - outcome[baseline]
    paired = ~np.isnan(change)
    n = paired.sum(axis=1)
    return np.where(n > 0, np.where(paired, change, 0.0).sum(axis=1) / np.maximum(n, 1), np.nan)


def mean_benefit(changes: NDArray[np.float64], *, level: float = 0.95) -> Estimate:
    """Mean change over readers, cases taken as they are: Student's t over the readers' changes.

    ::

        mean d +- t(r - 1) SD(d) / sqrt(r)

    Estimand: mean change over readers in general on these very cases; every reader weighs alike.

    Parameters
    ----------
    changes : float array, shape (n_readers,)
        Compared minus baseline of any endpoint; NaN where a reader has none, and is left out.

    Returns
    -------
    `n` counts readers. No limits, and a note, with one reader or where all change by the same amount.

    Notes
    -----
    Says nothing of other cases and covers too rarely when cases are sampled: `ObuchowskiRockette` does both.

    Examples
    --------
    >>> print(mean_benefit(np.array([0.0, 0.025, 0.05, 0.0, 0.075, -0.025])))
    0.02 (95% CI -0.02 to 0.06; n = 6)
    """
    changes = changes[~np.isnan(changes)]
    n = changes.size
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method=FIXED_CASES)
    value = float(changes.mean())
    if n == 1:
        return no_interval(value, 1, notes.ONE_READER, level=level, method=FIXED_CASES)
    variance = float(changes.var(ddof=1)) / n
    if variance <= NEGLIGIBLE:
        return no_interval(value, n, notes.NO_SPREAD, level=level, method=FIXED_CASES)
    return symmetric(value, variance, n, df=n - 1.0, level=level, method=FIXED_CASES, null=0.0)


def reader_auc_estimate(
    rating: NDArray[np.float64],
    truth: NDArray[np.bool_],
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Area under the ROC curve of one reader in one arm, cases sampled: `auc_logit_larger` of rated cases.

    Parameters
    ----------
    rating : float array, shape (n_cases,)
        Higher = more suspicious; NaN no reading.
    cluster : int array, shape (n_cases,), optional
        Which cases are of one patient: then `auc_logit_obuchowski`.

    Returns
    -------
    In [0, 1]; `n` counts rated cases; edges as there.

    Examples
    --------
    >>> print(reader_auc_estimate(np.array([1.0, 2, 3, 2, 4, 5]), np.arange(6) > 2))
    0.83 (95% CI 0.25 to 0.99; n = 6)
    """
    rated = ~np.isnan(rating)
    of = together(cluster, rated)
    if of is not None:
        return auc_logit_obuchowski(truth[rated], rating[rated], of, level=level)
    return auc_logit_larger(truth[rated], rating[rated], level=level)


def reader_auc_benefit(
    compared: NDArray[np.float64],
    baseline: NDArray[np.float64],
    truth: NDArray[np.bool_],
    *,
    level: float = 0.95,
) -> Estimate:
    """Change of one reader's area between two arms, over the cases rated in both; paired DeLong.

    Parameters
    ----------
    compared, baseline : float array, shape (n_cases,)
        Ratings of the reader in the two arms; NaN no reading.

    Returns
    -------
    Compared minus baseline, in [-1, 1]; `n` counts the cases rated in both arms.

    Examples
    --------
    >>> truth = np.arange(8) > 3
    >>> print(
    ...     reader_auc_benefit(
    ...         np.array([1.0, 2, 1, 3, 2, 4, 4, 5]), np.array([1.0, 3, 2, 3, 2, 4, 1, 5]), truth
    ...     )
    ... )
    0.28 (95% CI -0.14 to 0.70; n = 8)
    """
    rated = ~np.isnan(compared) & ~np.isnan(baseline)
    n, positives = int(rated.sum()), int((rated & truth).sum())
    if not n:
        return undefined(0, notes.NO_PAIR, level=level, method="delong")
    if positives in (0, n):
        return undefined(n, notes.ONE_CLASS, level=level, method="delong")
    pair = np.stack([compared[rated], baseline[rated]])[:, None, :]
    if min(positives, n - positives) < 2:
        areas = reader_auc(pair, truth[rated])
        return no_interval(float(areas[0, 0] - areas[1, 0]), n, notes.ONE_CASE, level=level, method="delong")
    fit = fit_auc(pair, truth[rated], "delong")
    return replace(fit.reader_difference(0, 0, 1, level=level), method="delong", df=nan)


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
