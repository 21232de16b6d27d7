"""Each reader's own result and change, and the mean change over readers with the cases as they are."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.bootstrap import Statistic
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, symmetric
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, obuchowski_rockette
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

    Examples
    --------
    >>> called = np.array([[[1.0, 1, 1, 0, 1, 0]]])
    >>> print(fit_ratio(called * np.array([1.0, 1, 0, 0, 1, 1]), called).theta)
    [[0.75]]
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

    Examples
    --------
    >>> unaided = np.arange(10)[None, :] < np.array([2, 4, 5, 5, 6, 6, 7, 8])[:, None]
    >>> aided = np.arange(10)[None, :] < np.array([5, 5, 5, 6, 6, 7, 7, 7])[:, None]
    >>> correct = np.stack([aided, unaided]).astype(float)
    >>> quarter_gain(correct, "lowest")(np.ones((1, 8)), np.ones((1, 10))).round(3)
    array([0.2])
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
