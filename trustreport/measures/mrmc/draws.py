"""Readers and cases resampled once, for many statistics of one study."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.bootstrap import (
    LEAST_DRAWS,
    METHOD,
    NOT_DEFINED,
    TOO_MANY_UNDEFINED,
    UNDEFINED_DRAWS,
    Statistic,
    resamples,
)
from trustreport.measures.mrmc.interval import no_interval

AT_ONCE = 250_000  # draws times cases computed at once; the result does not depend on it
BEYOND = "the draws are skewed: the interval was widened to hold the value"


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """How often each draw holds each reader (draws, n_readers) and each case (draws, n_cases)."""

    readers: NDArray[np.float64]
    cases: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        n_readers: int,
        strata: NDArray[Any],
        rng: np.random.Generator,
        *,
        draws: int = LEAST_DRAWS,
    ) -> "Draws":
        """Both resampled, cases within strata; parameters as in `bootstrap`."""
        return cls(*resamples(n_readers, strata, rng, draws=draws))

    def estimate(
        self, statistic: Statistic, n: int, *, level: float = 0.95, why_undefined: str = NOT_DEFINED
    ) -> Estimate:
        """Value of a statistic with its percentile interval, as `bootstrap` gives it for draws of its own.

        Statistics that share draws can be compared: a difference lies between the same readers and cases.

        Parameters
        ----------
        statistic : function of reader weights (draws, n_readers) and case weights (draws, n_cases)
        n : int
            What the result reports as its denominator.
        why_undefined : str
            The note of a statistic that these data do not define.

        Returns
        -------
        Estimate
            `details` holds undefined draws and bias (mean of the draws less the value). No limits where more
            than one draw in twenty is undefined, with one reader, or where nothing varies.

        Examples
        --------
        >>> rng = np.random.default_rng(3)
        >>> seconds = rng.normal(60, 10, (2, 6, 1)) + rng.normal(0, 5, (2, 6, 90))
        >>> from trustreport.measures.mrmc.bootstrap import ratio_mean
        >>> draws = Draws.of(6, np.arange(90) % 2, rng)
        >>> print(draws.estimate(ratio_mean(seconds, np.ones_like(seconds)), 540))
        58.12 (95% CI 47.66 to 68.63; n = 540)
        """
        draws, n_readers = self.readers.shape
        value = float(statistic(np.ones((1, n_readers)), np.ones((1, self.cases.shape[1])))[0])
        if np.isnan(value):
            return undefined(n, why_undefined, level=level, method=METHOD)
        if n_readers < 2:
            return no_interval(value, n, notes.ONE_READER, level=level, method=METHOD)
        size = max(AT_ONCE // max(self.cases.shape[1], 1), 1)
        blocks = (slice(start, start + size) for start in range(0, draws, size))
        drawn = np.concatenate([statistic(self.readers[b], self.cases[b]) for b in blocks])
        known = drawn[~np.isnan(drawn)]
        missing = draws - len(known)
        details = {"undefined_draws": float(missing)}
        if missing > draws / 20:
            return no_interval(value, n, TOO_MANY_UNDEFINED, level=level, method=METHOD, details=details)
        se = float(known.std(ddof=1))
        if se <= 1e-12 * max(1.0, abs(value)):
            return no_interval(value, n, notes.NO_VARIATION, level=level, method=METHOD, details=details)
        low, high = (float(x) for x in np.quantile(known, [(1 - level) / 2, (1 + level) / 2]))
        details["bias"] = float(known.mean()) - value
        note = notes.join(UNDEFINED_DRAWS if missing else "", "" if low <= value <= high else BEYOND)
        return Estimate(
            value, min(low, value), max(high, value), n, level, METHOD, note, se=se, details=details
        )


def combined(*parts: tuple[float, Statistic], constant: float = 0.0) -> Statistic:
    """A weighted sum of statistics of the same draws: ``combined((1, sensitivity), (1, specificity))``."""

    def total(readers: NDArray[np.float64], cases: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(constant + sum(weight * part(readers, cases) for weight, part in parts))

    return total


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
