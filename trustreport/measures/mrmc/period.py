"""The period in which an arm was read: order of reading, and the change adjusted for it."""

from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.crossed_clusters import ClusteredReaders
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, symmetric
from trustreport.measures.mrmc.obuchowski_rockette import leading
from trustreport.measures.note import NO_NOTE


def halves(order: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The values of each reader's second half of readings, and of the first.

    Halves are by rank among the readings that have both an order and a value; the middle one of an odd number
    belongs to neither, nor do ties across the middle.

    Parameters
    ----------
    order, values : float arrays, shape (n_readers, n_cases)
        The place of each reading in the order in which the reader read, and what is compared; NaN: none.

    Returns
    -------
    float array, shape (2, n_readers, n_cases)
        Second half, first half; NaN elsewhere. For `ratio_difference` with compared 0 and baseline 1.
    """
    place = np.where(np.isnan(values), np.nan, order)
    n = (~np.isnan(place)).sum(axis=1, keepdims=True)
    ranked = np.sort(place, axis=1)  # NaN last
    row = np.arange(len(place))[:, None]
    last = max(place.shape[1] - 1, 0)
    low_end = ranked[row, np.clip(n // 2 - 1, 0, last)]
    high_start = ranked[row, np.clip((n + 1) // 2, 0, last)]
    tied = low_end == high_start
    second, first = (place >= high_start) & (n > 1), (place <= low_end) & (n > 1)
    second &= ~(tied & (place == high_start))
    first &= ~(tied & (place == low_end))
    return np.stack([np.where(second, values, np.nan), np.where(first, values, np.nan)])


def trend(
    order: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The parts of the least-squares slope of the values on the order, each reader about the own mean.

    With x the order and y the value of a reader's readings::

        slope = sum of (x - mean x)(y - mean y) / sum of (x - mean x)^2,   sums over readings of all readers

    Estimand: the change in the value from one reading of a reader to the next, the same for all readers.

    Parameters
    ----------
    order, values : float arrays, shape (n_readers, n_cases)
        As in `halves`.

    Returns
    -------
    numerator, denominator : float arrays, shape (1, n_readers, n_cases)
        For `ratio_mean`; NaN where a reading lacks order or value.
    """
    known = ~np.isnan(order) & ~np.isnan(values)
    n = np.maximum(known.sum(axis=1, keepdims=True), 1)

    def centred(x: NDArray[np.float64]) -> NDArray[np.float64]:
        mean = np.where(known, x, 0.0).sum(axis=1, keepdims=True) / n
        return np.where(known, x - mean, np.nan)

    x, y = centred(order), centred(values)
    return (x * y)[None], (x * x)[None]


COMPARED, BASELINE = 0, 1
RANDOM, FIXED, PERIOD = "or_rrrc", "or_frrc", "_period"
LEAST_READERS = 3
# A reader with so large a share of pairs in one order has read in that order; else in both.
MOSTLY = 0.6
SLACK = 1e-9


def can_adjust(later: NDArray[np.float64]) -> bool:
    """Whether the order of the arms differs between readers, so that it can be told from the aid.

    Parameters
    ----------
    later : float array, shape (n_readers,)
        Of a reader's pairs of readings the share with the compared arm second, less that with it first; NaN
        where it is not known.
    """
    known = later[~np.isnan(later)]
    return len(known) >= LEAST_READERS and bool(known.min() < 0 < known.max())


def needs_adjusting(later: NDArray[np.float64]) -> bool:
    """Whether readers read mostly in one order, and not as many of them in either."""
    known = later[~np.isnan(later)]
    mostly = (np.abs(known) > 2 * MOSTLY - 1 + SLACK).any()
    return bool(mostly and abs(known.mean()) > SLACK)


def one_order(later: NDArray[np.float64]) -> bool:
    """Whether one arm was read mostly first, and nothing can be done about it.

    Examples
    --------
    >>> one_order(np.array([1.0, 1.0])), one_order(np.array([1.0, 1.0, -1.0]))
    (True, False)
    """
    known = later[~np.isnan(later)]
    return bool(len(known) and abs(known.mean()) > 2 * MOSTLY - 1 + SLACK and not can_adjust(later))


@dataclass(frozen=True, slots=True, eq=False)
class PeriodAdjusted:
    """The readers' values in two arms with the effect of the period taken off, by least squares.

    With d_j the change of reader j, x_j his `later` and p the effect of the second reading against the
    first, whatever the arm::

        d_j = change + p x_j + error_j

    so that the change is the weighted sum of the d_j with w_j = 1 / r - mean(x) (x_j - mean(x)) / Sxx, and
    where each reader has one order of the arms ::

        change = (mean change with the compared arm second + mean change with it first) / 2

    Its variance is Obuchowski-Rockette's, with S2 the mean square of the errors (r - 2 degrees of freedom)
    and C the mean covariance, over cases, of two readers' changes::

        or_rrrc_period: V = S2 sum w_j^2 + max(C, 0), t with V^2 (r - 2) / (S2 sum w_j^2)^2 df
        or_frrc_period: V of sum w_j d_j over cases,  t with P - 1 df

    the covariances by leaving out each of P cases in turn (or patients: ``..._clustered_period``); never more
    than P - 1 df. With as many readers in either order the change is the plain mean of the d_j. Readers
    weigh alike, whatever they have read; those without a value in an arm, or of unknown order, are left out.

    `theta` (2, n_readers) has the compared arm first; `left_out` (2, n_readers, P) is what leaving out a case
    changes in it, scaled so that sums of products over cases are the jackknife's covariances; `n` counts the
    readings of an arm, `n_clusters` cases, or patients where `clustered`.

    References
    ----------
    Senn (2002), Cross-over Trials in Clinical Research, 2nd ed., chapter 3 (effect of the period).
    Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput. 24, 285-308. Hillis (2014), Stat. Med. 33,
    330-360 (variance and degrees of freedom).
    """

    theta: NDArray[np.float64]
    left_out: NDArray[np.float64]
    later: NDArray[np.float64]
    n: int
    n_clusters: int
    clustered: bool = False

    @property
    def weights(self) -> NDArray[np.float64]:
        """What each reader counts for, (n_readers,); in sum 1."""
        about = self.later - self.later.mean()
        found: NDArray[np.float64] = 1 / len(about) - self.later.mean() * about / (about @ about)
        return found

    @property
    def effect(self) -> float:
        """p: the effect of the second reading against the first."""
        about = self.later - self.later.mean()
        return float(about @ (self.theta[COMPARED] - self.theta[BASELINE]) / (about @ about))

    def difference(self, *, level: float = 0.95) -> Estimate:
        """Compared minus baseline arm; the wider of random and fixed readers under five readers.

        `details` hold the `period_effect` and the `unadjusted` change of the same readers.
        """
        d = self.theta[COMPARED] - self.theta[BASELINE]
        e = self._lead(d, self.left_out[COMPARED] - self.left_out[BASELINE], level, 0.0)
        more = {"period_effect": self.effect, "unadjusted": float(d.mean())}
        return replace(e, note=e.note + notes.ADJUSTED, details={**e.details, **more})

    def arm_mean(self, arm: int, *, level: float = 0.95) -> Estimate:
        """Mean of an arm over both periods."""
        return self._lead(self.theta[arm], self.left_out[arm], level, nan)

    def mean_covariance(self, method: str) -> NDArray[np.float64]:
        """Covariance of both arms' means over both periods, compared first, by the method of a difference."""
        values, out = (
            (x[COMPARED], x[BASELINE], x[COMPARED] - x[BASELINE]) for x in (self.theta, self.left_out)
        )
        random = method.startswith(RANDOM)
        first, second, change = (self._variance(*of, random=random)[0] for of in zip(values, out))
        between = (first + second - change) / 2
        return np.array([[first, between], [between, second]])

    def _lead(
        self, values: NDArray[np.float64], left_out: NDArray[np.float64], level: float, null: float
    ) -> Estimate:
        random, fixed = (self._estimate(values, left_out, level, null, mode) for mode in (RANDOM, FIXED))
        return leading(random, fixed, len(self.later))

    def _estimate(
        self,
        values: NDArray[np.float64],
        left_out: NDArray[np.float64],
        level: float,
        null: float,
        mode: str,
    ) -> Estimate:
        clusters, value = self.n_clusters, float(self.weights @ values)
        details = {
            "n_readers": float(len(self.later)),
            "clusters" if self.clustered else "n_cases": float(clusters),
        }
        of: dict[str, Any] = {
            "level": level,
            "method": f"{mode}{'_clustered' if self.clustered else ''}{PERIOD}",
            "details": details,
        }
        if clusters < 2 or np.isnan(left_out).any():
            return no_interval(value, self.n, notes.ONE_CLUSTER if self.clustered else notes.ONE_CASE, **of)
        variance, df = self._variance(values, left_out, random=mode == RANDOM)
        if variance <= NEGLIGIBLE:
            return no_interval(value, self.n, notes.NO_VARIATION, **of)
        narrow = mode == RANDOM and variance < self._variance(values, left_out, random=False)[0] - NEGLIGIBLE
        note = notes.BELOW_FIXED if narrow else NO_NOTE
        return symmetric(value, variance, self.n, df=df, null=null, note=note, **of)

    def _variance(
        self, values: NDArray[np.float64], left_out: NDArray[np.float64], *, random: bool
    ) -> tuple[float, float]:
        """Variance of the weighted sum of the readers' values, and its degrees of freedom."""
        w, r, most = self.weights, len(self.later), self.n_clusters - 1.0
        if not random:
            return float(((w @ left_out) ** 2).sum()), most
        about = self.later - self.later.mean()
        error = values - values.mean() - about * (about @ values) / (about @ about)
        of_readers = float(error @ error / (r - 2) * (w @ w))
        together = left_out.sum(axis=0)
        alike = float(together @ together - (left_out**2).sum()) / (r * (r - 1))
        variance = of_readers + max(alike, 0.0)
        if of_readers <= NEGLIGIBLE:
            return variance, most
        return variance, min(variance**2 * (r - 2) / of_readers**2, most)


def period_adjusted(
    each: ClusteredReaders, later: NDArray[np.float64], *, clustered: bool = False
) -> PeriodAdjusted | None:
    """The adjustment for the period; None where it is not called for, or cannot be made.

    Parameters
    ----------
    each : ClusteredReaders
        Every reader in either arm as an arm of its own, the readers of the compared arm first
        (`an_arm_each`). Of Youden's index those of the positive cases, then those of the negative ones.
    later : float array, shape (n_readers,)
        As in `can_adjust`.
    clustered : bool
        Whether several cases are of one patient.
    """
    of_arms = (len(each.means) // (2 * len(later)), 2, len(later))
    theta = each.means.reshape(of_arms).sum(axis=0)
    known = ~np.isnan(theta).any(axis=0) & ~np.isnan(later)
    if not can_adjust(later[known]) or not needs_adjusting(later[known]):
        return None
    held = each.held[:, 0]
    number = held.sum(axis=1, keepdims=True)
    scaled = each.by_cluster[:, 0] * np.sqrt(number / np.where(number > 1, number - 1, nan))
    left_out = scaled.reshape(*of_arms, -1).sum(axis=0)[:, known]
    n = int(each.n.reshape(of_arms).sum(axis=0)[:, known].sum(axis=1).min())
    n_clusters = int(held.reshape(*of_arms, -1)[:, :, known].any(axis=(0, 1, 2)).sum())
    return PeriodAdjusted(theta[:, known], left_out, later[known], n, n_clusters, clustered=clustered)


def an_arm_each(outcome: NDArray[np.float64]) -> NDArray[np.float64]:
    """Readings (2, n_readers, n_cases) with every reader in either arm as an arm of its own."""
    arms, readers, cases = outcome.shape
    return outcome.reshape(arms * readers, 1, cases)
