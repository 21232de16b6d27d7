"""Gain of readers against their baseline: by quarters, as a slope, and predicted for readers elsewhere.

Of statsmodels' OLS three lines would be spared here, for half a second of import.
"""

from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr, stdtrit

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.bootstrap import Statistic
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, obuchowski_rockette
from trustreport.measures.note import note

Floats = NDArray[np.float64]
Quarter = Literal["lowest", "highest"]
LEAST_READERS = 8  # so that a quarter has two
TIED = 1e-12  # accuracies closer than this are equal


def quarter_gain(correct: Floats, quarter: Quarter) -> Statistic:
    """Accuracy gained by the quarter of the readers with the lowest, or highest, accuracy without the aid.

    ::

        gain = mean over the readers of the quarter of (accuracy aided - accuracy unaided)

    with a quarter rounded down to whole readers; those who tie for the last place share it.
    Each draw chooses its own quarter. Readers are chosen by the unaided accuracies from which the change is
    taken, so that chance adds to the gain of the lowest and takes from that of the highest: regression to the
    mean.

    Estimand: over readers in general, the gain of the quarter that the same cases would choose.

    Parameters
    ----------
    correct : float array, shape (2, n_readers, n_cases)
        Aided, then unaided: 1.0 right, 0.0 wrong, NaN unknown; readings known in both arms count.
    quarter : "lowest" or "highest"

    Returns
    -------
    Statistic for `Draws.estimate`
        NaN with fewer than eight readers.

    References
    ----------
    Barnett, van der Pols, Dobson (2005), Int. J. Epidemiol. 34, 215-220 (regression to the mean).
    """
    held = np.logical_not(np.any(np.isnan(correct), axis=0))
    aided, unaided = (np.where(held, arm, 0.0) for arm in correct)
    known = held.astype(float)
    n_readers = int(np.any(held, axis=1).sum())
    size = n_readers // 4 if n_readers >= LEAST_READERS else 0

    def statistic(readers: Floats, cases: Floats) -> Floats:
        if not size:
            return np.full(len(cases), np.nan)
        with np.errstate(invalid="ignore", divide="ignore"):
            n = cases @ known.T
            baseline, after = cases @ unaided.T / n, cases @ aided.T / n
        weight = np.where(np.isnan(baseline), 0.0, readers)
        place = np.nan_to_num(baseline if quarter == "lowest" else -baseline, nan=np.inf)
        chosen = _first(place, weight, size)
        gain = np.nan_to_num(after - baseline)
        with np.errstate(invalid="ignore"):
            return np.asarray((chosen * gain).sum(axis=1) / chosen.sum(axis=1))

    return statistic


def _first(place: Floats, weight: Floats, size: float) -> Floats:
    """How much of each reader is among the first `size` by place, (draws, n_readers); ties share alike."""
    order = np.argsort(place, axis=1, kind="stable")
    sorted_place, sorted_weight = (np.take_along_axis(x, order, axis=1) for x in (place, weight))
    reached = np.cumsum(sorted_weight, axis=1)
    last = np.argmax(reached >= size, axis=1)
    bound = np.take_along_axis(sorted_place, last[:, None], axis=1)
    before, tied = place < bound - TIED, np.abs(place - bound) <= TIED
    open_ = size - (weight * before).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = open_ / (weight * tied).sum(axis=1)
    return np.asarray(weight * (before + tied * share[:, None]))


FEW = note("fewer_than_three_readers_with_both")
SAME = note("all_readers_have_same_mean_both")
ON_A_LINE = note("changes_all_readers_on_one_line")


def oldham_slope(
    baseline: NDArray[np.float64], later: NDArray[np.float64], *, level: float = 0.95
) -> Estimate:
    """Slope of the change on the mean of both values, in place of the slope on the baseline.

    ::

        change_j = a + b (baseline_j + later_j) / 2 + error,  least squares, t with n - 2 df

    The slope on the baseline itself is negative already when every reader has the same true change, because
    chance lows of the baseline raise the change. With equal variances of both values b is 0 then.

    Parameters
    ----------
    baseline, later : float array, shape (n_readers,)
        The endpoint without and with the aid; NaN where a reader has none.

    Returns
    -------
    b, without unit; `n` counts readers; `details` holds the naive slope on the baseline. NaN with a note
    under three readers; no limits where all changes lie on a line.

    Notes
    -----
    Assumes that measurement error is alike in both arms.

    References
    ----------
    Oldham (1962), J. Chronic Dis. 15, 969-977. Hayes (1988), Stat. Med. 7, 915-927.

    Examples
    --------
    >>> before = np.array([0.60, 0.70, 0.75, 0.80, 0.90])
    >>> print(oldham_slope(before, before + np.array([0.06, 0.01, 0.04, 0.02, 0.0])))
    -0.17 (95% CI -0.46 to 0.11; n = 5)
    """
    check_level(level)
    known = ~(np.isnan(baseline) | np.isnan(later))
    before, after = baseline[known], later[known]
    n = before.size
    if n < 3:
        return undefined(n, FEW, level=level, method="oldham")
    change, mean = after - before, (after + before) / 2
    spread = float(((mean - mean.mean()) ** 2).sum())
    if spread <= 1e-14:
        return undefined(n, SAME, level=level, method="oldham")
    slope = float(((mean - mean.mean()) * change).sum() / spread)
    residual = change - change.mean() - slope * (mean - mean.mean())
    se = sqrt(float((residual**2).sum()) / (n - 2) / spread)
    own = float(((before - before.mean()) ** 2).sum())
    naive = float(((before - before.mean()) * change).sum() / own) if own > 0 else np.nan
    if se <= 1e-9:
        details = {"slope_on_baseline": naive}
        return Estimate(slope, np.nan, np.nan, n, level, "oldham", ON_A_LINE, details=details)
    half = float(stdtrit(n - 2, (1 + level) / 2)) * se
    p = 2 * float(stdtr(n - 2, -abs(slope / se)))
    return Estimate(
        slope,
        slope - half,
        slope + half,
        n,
        level,
        "oldham",
        se=se,
        df=n - 2.0,
        p=p,
        details={"slope_on_baseline": naive},
    )


def fit_ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> ObuchowskiRockette | None:
    """Obuchowski-Rockette fit of ratios of sums, such as a PPV: true positives over all called positive.

    With N and D the sums over cases, n_k and d_k those of case k, c cases::

        theta = N / D,  theta(-k) = (N - n_k) / (D - d_k)
        Cov = (c-1)/c sum_k (theta(-k) - mean)(theta'(-k) - mean')

    Estimand: the mean of the readers' ratios; over all readings together, readers who call more count more.

    Parameters
    ----------
    numerator, denominator : float array, shape (n_arms, n_readers, n_cases)
        What each reading adds; no NaN.

    Returns
    -------
    ObuchowskiRockette, or None where a reader has no ratio with all cases, or with all but one.
    """
    arms, readers, n_cases = numerator.shape
    above, below = (part.reshape(arms * readers, n_cases) for part in (numerator, denominator))
    rest = below.sum(axis=1, keepdims=True) - below
    if n_cases < 2 or not (rest > 0).all():
        return None
    without = (above.sum(axis=1, keepdims=True) - above) / rest
    centred = without - without.mean(axis=1, keepdims=True)
    covariance = (n_cases - 1) / n_cases * centred @ centred.T
    theta = (above.sum(axis=1) / below.sum(axis=1)).reshape(arms, readers)
    return obuchowski_rockette(theta, covariance, n_cases)
