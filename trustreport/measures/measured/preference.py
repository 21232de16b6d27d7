"""Choices and counts of readers: which output they prefer, how strong each is, and ratios of mean counts."""

from collections.abc import Callable
from dataclasses import replace
from math import exp, inf, log, log1p, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import expit

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.measured.measurement import NO_EVENT
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, quantile, two_sided_p
from trustreport.measures.mrmc.notes import NO_VARIATION
from trustreport.measures.note import note

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]
METHOD = "jackknife_readers_cases"
FEWEST = 2  # units of each kind
STEPS, NEAR = 200, 1e-10

NO_CHOICE = note("no_choice_between_these_outputs")
ONE_UNIT = note("one_reader_or_one_case_no_spread")
NOT_CONNECTED = note("output_always_or_never_preferred")
RESTS_ON_ONE = note("without_one_it_cannot_be_estimated")


def strengths(first: Codes, second: Codes, share: Floats, k: int) -> Floats:
    """Strengths of the Bradley-Terry model on the scale of log odds, summing to 0, (k,).

    P(i is preferred to j) = 1 / (1 + exp(b_j - b_i)); a tie is half a choice of each. The likelihood is
    maximised by damped Newton steps, which converge from anywhere where it has a maximum: where each output
    was preferred, directly or by a chain of outputs, to every other one.

    Parameters
    ----------
    first, second : int array, shape (n_choices,)
        The two outputs of each choice, from 0 to k - 1.
    share : float array, shape (n_choices,)
        1 where the first was preferred, 0 where the second was, 1/2 for a tie.

    Returns
    -------
    NaN where no finite strengths exist: an output, or a group of them, was always or never preferred to the
    others, or never compared with them.

    References
    ----------
    Bradley, Terry (1952), Biometrika 39, 324-345. Ford (1957), Am. Math. Mon. 64, 28-33 (when strengths
    exist). Bach (2010), Electron. J. Stat. 4, 384-414 (logistic likelihoods and Newton's method).
    """
    won = np.zeros((k, k))  # how often the row was preferred to the column
    np.add.at(won, (first, second), share)
    np.add.at(won, (second, first), 1 - share)
    if connected_components(won, connection="strong")[0] > 1:
        return np.full(k, nan)
    met, b = won + won.T, np.zeros(k)
    for _ in range(STEPS):
        p = expit(b[:, None] - b)
        slope, weight = won.sum(axis=1) - (met * p).sum(axis=1), met * p * (1 - p)
        # The added constant makes the matrix regular, and the step sum to 0.
        step = np.linalg.solve(np.diag(weight.sum(axis=1)) - weight + 1 / k, slope)
        size = float(np.ptp(step))
        if size < NEAR:
            return b
        b = b + step * (log1p(size) / size)
    return np.full(k, nan)


def over_readers_and_cases(
    statistic: Callable[[NDArray[np.bool_]], float],
    reader: Codes,
    case: Codes,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
    null: float = 0.0,
    bounds: tuple[float, float] = (-inf, inf),
) -> Estimate:
    """A statistic of choices with readers and cases random: both jackknife variances, added, and Student's t.

    The variance is that over readers plus that over cases (or clusters of them), which counts the residual
    twice: it is not too small with few readers. Degrees of freedom by Satterthwaite.

    Parameters
    ----------
    statistic : of a mask (n_choices,) that says which choices count
    reader, case : int array, shape (n_choices,)
    cluster : int array, shape (n_choices,), optional
    null : the value that `p` tests
    bounds : the possible range

    Returns
    -------
    `n` counts choices; NaN with a note without any; no limits with a note of a single reader or case,
    where all choices are alike, or where the statistic does not exist without one reader or case.
    """
    check_level(level)
    n = len(reader)
    if not n:
        return undefined(0, NO_CHOICE, level=level, method=METHOD)
    value = statistic(np.ones(n, bool))
    if not np.isfinite(value):
        return undefined(n, NOT_CONNECTED, level=level, method=METHOD)
    parts = [_jackknife(statistic, unit) for unit in (reader, case if cluster is None else cluster)]
    if min(units for _, units in parts) < FEWEST:
        return no_interval(value, n, ONE_UNIT, level=level, method=METHOD)
    variance = sum(v for v, _ in parts)
    if not np.isfinite(variance):
        return no_interval(value, n, RESTS_ON_ONE, level=level, method=METHOD)
    if not variance > NEGLIGIBLE:
        return no_interval(value, n, NO_VARIATION, level=level, method=METHOD)
    df = variance**2 / sum(v**2 / (units - 1) for v, units in parts)
    se = sqrt(variance)
    half = quantile(df, level) * se
    low, high = max(value - half, bounds[0]), min(value + half, bounds[1])
    return Estimate(
        value, low, high, n, level, METHOD, se=se, df=df, p=two_sided_p((value - null) / se, df)
    )  # fmt: skip


def rate_ratio_of_readers(
    first: Floats, second: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Ratio of two mean counts by the same readers of the same cases, readers and cases random.

    Parameters
    ----------
    first, second : float array, shape (n_readers, n_cases)
        0 or more; NaN where there is none, and then left out of both.
    cluster : int array, shape (n_cases,), optional

    Returns
    -------
    Estimate
        Of `over_readers_and_cases`, on the scale of the logarithm. NaN with a note where a sum is 0.

    Examples
    --------
    >>> first = np.array([[2.0, 1, 3, 0], [1, 2, 2, 1]])
    >>> print(rate_ratio_of_readers(first, first[:, ::-1] + 1))
    0.60 (95% CI 0.21 to 1.68; n = 8)
    """
    reader, case = np.nonzero(~np.isnan(first) & ~np.isnan(second))
    one, other = first[reader, case], second[reader, case]
    if len(reader) and not (one.any() and other.any()):
        return undefined(len(reader), NO_EVENT, level=level, method=METHOD)

    def ratio(mask: NDArray[np.bool_]) -> float:
        """The logarithm among some of the counts."""
        a, b = float(one[mask].sum()), float(other[mask].sum())
        return log(a / b) if a > 0 and b > 0 else nan

    e = over_readers_and_cases(
        ratio, reader, case, cluster=None if cluster is None else cluster[case], level=level
    )
    return replace(e, value=exp(e.value), low=exp(e.low), high=exp(e.high))


def _jackknife(statistic: Callable[[NDArray[np.bool_]], float], unit: Codes) -> tuple[float, int]:
    """Variance of a statistic over units, each left out in turn, and how many there are."""
    names = np.unique(unit)
    if len(names) < FEWEST:
        return nan, len(names)
    left = np.array([statistic(unit != name) for name in names])
    return (len(names) - 1) / len(names) * float(((left - left.mean()) ** 2).sum()), len(names)
