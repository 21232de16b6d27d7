"""Marginal odds ratio by generalised estimating equations, cases as clusters."""

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, quantile, two_sided_p

METHOD = "gee_case_exchangeable"
MOST_STEPS = 100
CONVERGED = 1e-12  # largest step on the logit scale that counts as none


def gee_odds_ratio(
    outcome: NDArray[np.float64], *, compared: int = 1, baseline: int = 0, level: float = 0.95
) -> Estimate:
    """Marginal odds ratio of two arms, by a logit model of all readings with cases as clusters.

    ::

        logit P(event) = a + b [compared arm], exchangeable correlation within a case, sandwich variance
        value exp(b), interval exp(b +- z se)

    Estimand: as `or_delta`, but for these readers: only cases count as sampled.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 event (an error, for the odds ratio of a report), 0.0 none, NaN no reading; unpaired readings
        count.

    Returns
    -------
    Estimate
        `n` counts the readings of both arms. No limits, and a note, with an empty cell, a single case, where
        nothing varies, or where the equations do not converge.

    References
    ----------
    Liang, Zeger (1986), Biometrika 73, 13-22.

    Examples
    --------
    >>> wrong = np.array([[[1.0, 1, 0, 0, 1], [1, 0, 0, 1, 0]], [[0.0, 1, 0, 0, 1], [0, 0, 0, 1, 0]]])
    >>> print(gee_odds_ratio(wrong))
    0.43 (95% CI 0.09 to 1.94; n = 20)
    """
    check_level(level)
    counts = _Counts.of(outcome[[compared, baseline]])
    n = int(counts.read.sum())
    if not counts.read.sum(axis=0).all():
        return undefined(n, notes.NO_READING, level=level, method=METHOD)
    if set(counts.rates.tolist()) & {0.0, 1.0}:
        return undefined(n, notes.ZERO_CELL, level=level, method=METHOD)
    cases = len(counts.read)
    if cases < 2:
        return undefined(n, notes.ONE_CLUSTER, level=level, method=METHOD)
    solved = _solve(counts)
    if solved is None:
        return undefined(n, notes.GEE_FAILED, level=level, method=METHOD)
    logit, correlation = solved
    b = float(logit[0] - logit[1])
    variance = _contrast_variance(counts, logit, correlation)
    if not variance > NEGLIGIBLE:
        return no_interval(exp(b), n, notes.NO_LOG_VARIANCE, level=level, method=METHOD)
    se = sqrt(variance)
    half = quantile(np.inf, level) * se
    return Estimate(
        exp(b),
        exp(b - half),
        exp(b + half),
        n,
        level,
        METHOD,
        p=two_sided_p(b / se),
        details={"log_se": se, "n_cases": float(cases), "correlation": correlation},
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """All that the equations need of a case: its readings and its events in each arm, (n_cases, 2)."""

    read: NDArray[np.float64]
    events: NDArray[np.float64]

    @staticmethod
    def of(pair: NDArray[np.float64]) -> "_Counts":
        known = ~np.isnan(pair)
        read = known.sum(axis=1).T.astype(np.float64)
        events = np.where(known, pair, 0.0).sum(axis=1).T
        some = read.sum(axis=1) > 0
        return _Counts(read[some], events[some])

    @property
    def rates(self) -> NDArray[np.float64]:
        rates: NDArray[np.float64] = self.events.sum(axis=0) / self.read.sum(axis=0)
        return rates


def _solve(counts: _Counts) -> tuple[NDArray[np.float64], float] | None:
    """Logits of both arms and the working correlation at which the equations hold; None if not found."""
    rates = counts.rates
    logit, correlation = np.log(rates / (1 - rates)), 0.0
    for _ in range(MOST_STEPS):
        correlation = _correlation(counts, logit)
        largest = counts.read.sum(axis=1).max()
        if not -1 / max(largest - 1, 1) < correlation < 1:
            return None
        scores, information = _equations(counts, logit, correlation)
        step = np.linalg.solve(information, scores.sum(axis=0))
        logit = logit + step
        if not np.abs(logit).max() < 30:
            return None
        if np.abs(step).max() < CONVERGED:
            return logit, correlation
    return None


def _residuals(
    counts: _Counts, logit: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sums of standardised residuals by case and arm, (n_cases, 2), and the SD of a reading by arm."""
    p = 1 / (1 + np.exp(-logit))
    sd = np.sqrt(p * (1 - p))
    return (counts.events - counts.read * p) / sd, sd


def _correlation(counts: _Counts, logit: NDArray[np.float64]) -> float:
    """Moment estimate from all pairs of readings of a case; 0 where there are no more pairs than rates."""
    read, events = counts.read, counts.events
    size = read.sum(axis=1)
    pairs = float((size * (size - 1)).sum() / 2)
    if pairs <= 2:
        return 0.0
    residual, _ = _residuals(counts, logit)
    odds = np.exp(logit)
    squares = (events / odds + (read - events) * odds).sum(axis=1)
    scale = squares.sum() / (size.sum() - 2)
    return float((residual.sum(axis=1) ** 2 - squares).sum() / 2 / scale / (pairs - 2))


def _equations(
    counts: _Counts, logit: NDArray[np.float64], correlation: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Score of each case, (n_cases, 2), and the information, (2, 2), for the two logits.

    A case of m readings has the inverse correlation (I - c J) / (1 - rho), c = rho / (1 + (m - 1) rho).
    """
    residual, sd = _residuals(counts, logit)
    read = counts.read
    c = (correlation / (1 + (read.sum(axis=1) - 1) * correlation))[:, None]
    scores = sd * (residual - c * read * residual.sum(axis=1, keepdims=True)) / (1 - correlation)
    within = np.diag(read.sum(axis=0)) - (c * read).T @ read
    return scores, np.outer(sd, sd) * within / (1 - correlation)


def _contrast_variance(counts: _Counts, logit: NDArray[np.float64], correlation: float) -> float:
    """Sandwich variance of the difference of the two logits."""
    scores, information = _equations(counts, logit, correlation)
    contrast = np.linalg.solve(information, np.array([1.0, -1.0]))
    return float(((scores @ contrast) ** 2).sum())
