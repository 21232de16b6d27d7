"""What the readers gained who began lowest, and those who began highest: a statistic for draws."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.mrmc.bootstrap import Statistic

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
