"""Two-way bootstrap of readers and cases, for what has no formula of its variance: PPV, agreement, order."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import no_interval
from trustreport.measures.note import NO_NOTE, Note, note

Resampled = Literal["both", "readers", "cases"]
# From how often each reader (draws, n_readers) and case (draws, n_cases) was drawn to the value of each draw.
Statistic = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

METHOD = "bootstrap"
LEAST_DRAWS = 2000
AT_ONCE = 250_000  # draws times cases computed at once; the result does not depend on it

NOT_DEFINED = note("undefined_in_this_study")
UNDEFINED_DRAWS = note("undefined_in_some_draws_which_left")
TOO_MANY_UNDEFINED = note("undefined_in_more_than_one_draw")
BEYOND = note("draws_skewed_interval_was_widened_to")


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """How often each draw holds each reader (draws, n_readers) and each case (draws, n_cases).

    One set of draws serves many statistics of a study, which can then be compared: their difference lies
    between the same readers and cases.

    Notes
    -----
    The interval is wider than that of the unbiased variance by design: the variance of single readings
    counts about three times (VanDyke, AUC difference: SE .0249 against .0207). Where there is a formula,
    use it.

    References
    ----------
    Owen (2007), Ann. Appl. Stat. 1, 386-411, "The pigeonhole bootstrap".
    """

    readers: NDArray[np.float64]
    cases: NDArray[np.float64]
    resampled: Resampled = "both"
    clusters: int | None = None

    @classmethod
    def drawn(
        cls,
        n_readers: int,
        strata: NDArray[Any],
        rng: np.random.Generator,
        *,
        draws: int = LEAST_DRAWS,
        resampled: Resampled = "both",
        cluster: Clusters | None = None,
    ) -> "Draws":
        """As many readers, and as many cases of each stratum, as there are, with replacement.

        A reader or case that is drawn twice counts twice, with all arms together, so that pairs stay pairs.

        Parameters
        ----------
        strata : array, shape (n_cases,)
            What the cases are stratified by: the truth.
        rng : numpy.random.Generator
            The same state gives the same result.
        draws : int, at least 2000
        resampled : "both", or "readers" or "cases" with the others as they are
        cluster : int array, shape (n_cases,), optional
            Which cases are of one patient: patients are drawn, with all of their cases, among those whose
            cases are of the same strata.
        """
        if draws < LEAST_DRAWS:
            raise ValueError(f"draws must be at least {LEAST_DRAWS}, got {draws}.")
        readers, cases = np.ones((draws, n_readers)), np.ones((draws, len(strata)))
        if resampled != "cases":
            readers[:] = _multiplicities(n_readers, draws, rng)
        clusters = None
        if resampled != "readers":
            of, patient = strata, np.arange(len(strata))
            if cluster is not None:
                of, patient = _strata_of_clusters(strata, cluster)
                clusters = len(of)
            drawn = np.ones((draws, len(of)))
            for stratum in np.unique(of):
                members = np.flatnonzero(of == stratum)
                drawn[:, members] = _multiplicities(len(members), draws, rng)
            cases[:] = drawn[:, patient]
        return cls(readers, cases, resampled, clusters)

    def estimate(
        self, statistic: Statistic, n: int, *, level: float = 0.95, why_undefined: Note = NOT_DEFINED
    ) -> Estimate:
        """Value of a statistic with the percentile interval over the draws.

        ::

            low, high = (1 - level) / 2 and (1 + level) / 2 quantile of the draws,  SE = their SD

        Estimand: that of the statistic, for readers and cases in general with the same share of each stratum.

        Parameters
        ----------
        statistic : function of reader weights (draws, n_readers) and case weights (draws, n_cases)
            Value of each draw (draws,), NaN where there is none: see `weighted`.
        n : int
            What the result reports as its denominator.
        why_undefined : str
            The note of a statistic that these data do not define.

        Returns
        -------
        `details` holds draws, undefined draws, and bias (mean of the draws less the value), and how many
        patients were drawn where several cases are of one. No limits
        where more than one draw in twenty is undefined, with one reader, or where nothing varies.

        Examples
        --------
        >>> from trustreport.measures.mrmc.bootstrap import ratio_difference
        >>> rng = np.random.default_rng(3)
        >>> seconds = (
        ...     rng.normal(60, 10, (6, 1)) + rng.normal(0, 5, (2, 6, 90)) - np.array([0, 8])[:, None, None]
        ... )
        >>> draws = Draws.drawn(6, np.arange(90) % 2, rng)
        >>> print(draws.estimate(ratio_difference(seconds, np.ones_like(seconds)), 540))
        -8.37 (95% CI -9.32 to -7.43; n = 540)
        """
        check_level(level)
        draws, n_readers = self.readers.shape
        n_cases = self.cases.shape[1]
        value = float(statistic(np.ones((1, n_readers)), np.ones((1, n_cases)))[0])
        if np.isnan(value):
            return undefined(n, why_undefined, level=level, method=METHOD)
        if n_readers < 2 and self.resampled != "cases":
            return no_interval(value, n, notes.ONE_READER, level=level, method=METHOD)
        size = max(AT_ONCE // max(n_cases, 1), 1)
        blocks = (slice(start, start + size) for start in range(0, draws, size))
        drawn = np.concatenate([statistic(self.readers[b], self.cases[b]) for b in blocks])
        known = drawn[~np.isnan(drawn)]
        missing = draws - len(known)
        details = {"draws": float(draws), "undefined_draws": float(missing)}
        if self.clusters is not None:
            details["clusters"] = float(self.clusters)
        if missing > draws / 20:
            return no_interval(value, n, TOO_MANY_UNDEFINED, level=level, method=METHOD, details=details)
        se = float(known.std(ddof=1))
        if se <= 1e-12 * max(1.0, abs(value)):
            return no_interval(value, n, notes.NO_VARIATION, level=level, method=METHOD, details=details)
        low, high = (float(x) for x in np.quantile(known, [(1 - level) / 2, (1 + level) / 2]))
        details["bias"] = float(known.mean()) - value
        note = (UNDEFINED_DRAWS if missing else NO_NOTE) + (NO_NOTE if low <= value <= high else BEYOND)
        return Estimate(
            value, min(low, value), max(high, value), n, level, METHOD, note, se=se, details=details
        )


def _strata_of_clusters(strata: NDArray[Any], cluster: Clusters) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The stratum of each cluster, by which strata its cases are of, and the cluster of each case."""
    first, patient = np.unique(cluster, return_index=True, return_inverse=True)[1:]
    order = np.argsort(np.argsort(first))  # by the first case, so that names do not matter
    patient = order[patient]
    held = np.zeros((len(first), len(np.unique(strata))), bool)
    held[patient, np.unique(strata, return_inverse=True)[1]] = True
    return np.unique(held, axis=0, return_inverse=True)[1].reshape(-1), patient


def _multiplicities(n: int, draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return rng.multinomial(n, np.full(n, 1 / n), size=draws).astype(np.float64)


def canonical_order(
    names: list[str], values: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Readers by name, cases by what they hold: draws then do not depend on the order of rows in a file.

    Parameters
    ----------
    names : list of str, n_readers
    values : float array, shape (n_layers, n_readers, n_cases)
        All that the statistics use; cases equal in all of it may trade places.

    Returns
    -------
    readers, cases : int arrays, shapes (n_readers,) and (n_cases,)
    """
    readers = np.array(sorted(range(len(names)), key=names.__getitem__), np.intp)
    rows = np.ascontiguousarray(values[:, readers].reshape(-1, values.shape[2]).T)
    if not rows.size:
        return readers, np.arange(values.shape[2])
    rows[np.isnan(rows)] = np.nan  # one pattern of bits for all
    keys = rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    return readers, np.argsort(keys, kind="stable")


def ratio_mean(numerator: NDArray[np.float64], denominator: NDArray[np.float64], arm: int = 0) -> Statistic:
    """One arm's sum of the numerator over its sum of the denominator; parameters as in `ratio_difference`."""
    return lambda readers, cases: _ratios(numerator[arm], denominator[arm], readers, cases)


def ratio_difference(
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64],
    *,
    compared: int = 1,
    baseline: int = 0,
) -> Statistic:
    """Difference of two arms, each a sum over readings divided by another.

    Seconds for each case: the seconds over ones. PPV: called positive and condition present, over called
    positive. Sensitivity: the same over condition present.

    Parameters
    ----------
    numerator, denominator : float array, shape (n_arms, n_readers, n_cases)
        NaN in either leaves the reading out.
    """
    one, other = (ratio_mean(numerator, denominator, arm) for arm in (compared, baseline))
    return combined((1.0, one), (-1.0, other))


def combined(*parts: tuple[float, Statistic], constant: float = 0.0) -> Statistic:
    """A weighted sum of statistics of the same draws: ``combined((1, sensitivity), (1, specificity))``."""

    def total(readers: NDArray[np.float64], cases: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(constant + sum(weight * part(readers, cases) for weight, part in parts))

    return total


def _ratios(
    numerator: NDArray[np.float64],
    denominator: NDArray[np.float64],
    readers: NDArray[np.float64],
    cases: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Weighted sum of the numerator over that of the denominator, per draw; NaN where the latter is 0."""
    known = ~np.isnan(numerator) & ~np.isnan(denominator)
    above, below = (
        ((readers @ np.where(known, part, 0.0)) * cases).sum(axis=1) for part in (numerator, denominator)
    )
    return np.asarray(above / np.where(below != 0, below, np.nan))
