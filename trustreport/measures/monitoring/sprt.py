"""Sequential probability ratio test of a rate: in control or not, decided as soon as the cases allow it."""

from dataclasses import dataclass
from math import ceil, floor, log, nan

import numpy as np
from numpy.typing import NDArray

from trustreport.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.monitoring.run_length import (
    average_run_length,
    bernoulli,
    going_on,
    reaches_high,
    sprt_moves,
)
from trustreport.measures.monitoring.weights import Weights, weights, why_not

METHOD = "sprt_wald"


@dataclass(frozen=True, slots=True)
class SprtChart:
    """The test after all cases: log-likelihood ratio (n_cases,), its limits, and how it ended.

    `decision` is "alert", "in control" or "open"; `at` is the case at which it fell (0-based), -1 while open.
    The ratio stays where the decision fell.
    """

    weights: Weights
    statistic: NDArray[np.float64]
    low: float
    high: float
    decision: str
    at: int


def wald_limits(false_alert: float, missed: float) -> tuple[float, float]:
    """Log-likelihood ratios at which the test ends: in control at the first, alert at the second.

    ::

        ln(missed / (1 - false_alert)), ln((1 - missed) / false_alert)

    References
    ----------
    Wald (1947), Sequential Analysis, chapter 3.

    Examples
    --------
    >>> [round(x, 3) for x in wald_limits(0.05, 0.10)]
    [-2.251, 2.89]
    """
    return log(missed / (1 - false_alert)), log((1 - missed) / false_alert)


def sprt(
    events: NDArray[np.int64],
    in_control: float,
    to_detect: float,
    *,
    budget: float,
    missed: float = 0.1,
    level: float = 0.95,
) -> tuple[Estimate, SprtChart | None]:
    """Do the cases so far decide between the rate in control and the rate to detect?

    With p0 and p1 these rates, after each case::

        L = L + ln(p1 / p0) after an event, L - ln((1 - p0) / (1 - p1)) after none
        alert where L >= ln((1 - missed) / budget);  in control where L <= ln(missed / (1 - budget))

    Parameters
    ----------
    events : int array, shape (n_cases,)
        1 = event, in the order of time.
    in_control, to_detect : float in (0, 1)
    budget, missed : float in (0, 1)
        Chance of an alert at the rate in control, and of none at the rate to detect, that Wald's limits keep
        about; the exact chances of these limits are in `details`.

    Returns
    -------
    Estimate
        The log-likelihood ratio where the test ended, or so far; `n` counts cases up to there. `details`
        hold the limits, the decision (1 alert, -1 in control, 0 open), the exact error probabilities, and
        cases needed on average. NaN with a note where the rates or the budget give no test.
    SprtChart or None

    References
    ----------
    Wald (1947), Sequential Analysis. Spiegelhalter et al. (2003), Int. J. Qual. Health Care 15, 7-13.

    Examples
    --------
    >>> found, run = sprt(np.ones(10, np.int64), 0.01, 0.10, budget=0.05)
    >>> run.decision, run.at + 1
    ('alert', 2)
    """
    check_level(level)
    why = why_not(in_control, to_detect)
    why = why or ("" if 0 < budget < 1 and 0 < missed < 1 and budget + missed < 1 else notes.BUDGET_AT_END)
    n = len(events)
    if why or not n:
        return undefined(n, why or notes.NO_LOOK, level=level, method=METHOD), None
    found = weights(in_control, to_detect)
    lowest, highest = wald_limits(budget, missed)
    low, high = floor(lowest / found.unit), ceil(highest / found.unit)
    run = _run(found, events, low, high)
    used = run.at + 1 if run.at >= 0 else n
    details = {
        "alert_limit": run.high,
        "in_control_limit": run.low,
        "decision": {"alert": 1.0, "in control": -1.0, "open": 0.0}[run.decision],
        "decided_at_case": float(run.at + 1),
        "events": float(events[:used].sum()),
        "in_control": in_control,
        "to_detect": to_detect,
        "tuned_to_detect": found.tuned,
        "false_alert_budget": budget,
        "missed_budget": missed,
        **characteristics(found, low, high, used),
    }
    last = float(run.statistic[-1])
    return Estimate(last, nan, nan, used, level, METHOD, notes.STATISTIC, details=details), run


def _run(found: Weights, events: NDArray[np.int64], low: int, high: int) -> SprtChart:
    seen = 1 - events if found.falling else events
    path = np.cumsum(np.where(seen == 1, found.up, -found.down))
    ended = np.flatnonzero((path >= high) | (path <= low))
    at = int(ended[0]) if ended.size else -1
    decision = "open" if at < 0 else "alert" if path[at] >= high else "in control"
    if at >= 0:
        path[at:] = path[at]
    statistic = path * found.unit
    return SprtChart(found, statistic, found.log_ratio(low), found.log_ratio(high), decision, at)


def characteristics(found: Weights, low: int, high: int, cases: int) -> dict[str, float]:
    """What these limits mean exactly: error probabilities, cases needed on average, false alerts by now.

    >>> real = characteristics(weights(0.01, 0.10), -96, 123, 10**6)
    >>> round(real["false_alert_exact"], 3), round(real["missed_exact"], 3)
    (0.022, 0.098)
    """
    start = -low - 1
    exact = {}
    for name, rate in (("in_control", found.in_control), ("to_detect", found.to_detect)):
        step = bernoulli(found.event_rate(rate), found.up, found.down)
        moves = sprt_moves(step, low, high)
        exact[f"cases_needed_{name}"] = average_run_length(moves, start)
        exact[f"alert_{name}"] = reaches_high(step, low, high)
    still = sprt_moves(bernoulli(found.event_rate(found.in_control), found.up, found.down), low, high)
    return {
        "false_alert_exact": exact["alert_in_control"],
        "missed_exact": 1 - exact["alert_to_detect"],
        "cases_needed_in_control": exact["cases_needed_in_control"],
        "cases_needed_to_detect": exact["cases_needed_to_detect"],
        "still_open": going_on([still] * cases, start),
    }
