"""Each reader's own result and change, and the mean change over readers with the cases as they are."""

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, symmetric
from trustreport.measures.paired.difference import PairedTable, tango
from trustreport.measures.proportion import wilson

FIXED_CASES = "fixed_cases"


def reader_estimate(outcome: NDArray[np.float64], arm: int, reader: int, *, level: float = 0.95) -> Estimate:
    """One reader's proportion in one arm, with Wilson's interval.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted, 0.0 not, NaN no reading; for sensitivity or specificity the cases of that class only.

    Returns
    -------
    Estimate
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
    Estimate
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
    Estimate
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
