"""When readers read in either arm: first in one and then in the other, or half of the cases each way."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from trustreport.study.study import Floats, Readings

# Grids of two arms hold the compared arm first, then its baseline.
COMPARED, BASELINE = 0, 1


def compared_later(readings: Readings, arms: tuple[str, str]) -> Floats | None:
    """Of each reader's pairs of readings the share with the compared arm second, less that with it first.

    By when they were made, else by session, else by an order that runs through both arms. A pair is of one
    case; of a reader without such pairs every reading in one arm is compared with every one in the other.

    Returns
    -------
    float array, shape (n_readers,)
        From -1 to 1, NaN of a reader of whom it is not known; None where it is known of nobody, and of
        sequential readings, whose order is their design.
    """
    at = ("later", arms)
    if at not in readings.memo:
        readings.memo[at] = None if readings.sequential else _by_reader(readings, arms)
    return readings.memo[at]


def same_order(part: Readings, whole: Readings, arms: tuple[str, str]) -> None:
    """Have the readings of some cases take the order of the arms from those of all cases.

    It is the readers'; of few cases they may by chance have read most in one order.
    """
    part.memo["later", arms] = compared_later(whole, arms)


def _by_reader(readings: Readings, arms: tuple[str, str]) -> Floats | None:
    for when in _times(readings, arms):
        found = np.array([_later(*of_reader) for of_reader in when.transpose(1, 0, 2)])
        if not np.isnan(found).all():
            return found
    return None


def days_of(readings: Readings, arms: tuple[str, str]) -> Floats | None:
    """When each reading was made, in days: (2, n_readers, n_cases)."""
    if readings.read_at is None:
        return None
    moments = readings.read_at.astype("datetime64[s]")
    return readings.grid(np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 86_400), arms)


def _times(readings: Readings, arms: tuple[str, str]) -> Iterator[Floats]:
    dated = days_of(readings, arms)
    if dated is not None:
        yield dated
    if readings.session is not None:
        yield readings.grid(readings.session, arms)
    if readings.order is not None:
        order = readings.grid(readings.order, arms)
        if not any(np.isin(one[~np.isnan(one)], other).any() for one, other in zip(*order)):
            yield order


def _later(compared: NDArray[np.float64], baseline: NDArray[np.float64]) -> float:
    """Of one reader, (n_cases,) each; two readings of one session count for neither order."""
    sign = np.sign(compared - baseline)
    told = sign[~np.isnan(sign)]
    if len(told):
        return float(told.mean()) if told.any() else np.nan
    one, other = compared[~np.isnan(compared)], np.sort(baseline[~np.isnan(baseline)])
    before, until = (np.searchsorted(other, one, side) for side in ("left", "right"))
    after = len(other) - until
    known = (before + after).any()
    return float((before - after).sum() / (len(one) * len(other))) if known else np.nan
