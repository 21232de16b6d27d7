"""Sequential probability ratio test of a rate: in control or not, decided as soon as the cases allow it."""

from dataclasses import dataclass
from math import ceil, floor, log, nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.monitoring.run_length import (
    average_run_length,
    bernoulli,
    probability_of_no_end,
    reaches_high,
    restarting_moves,
    sprt_moves,
)
from trustreport.measures.monitoring.weights import Weights, weights, why_not

SPRT = "sprt_wald"


@dataclass(frozen=True, slots=True)
class SprtChart:
    """Tests one after the other over all cases: log-likelihood ratio (n_cases,), its limits, how they ended.

    `alerts` and `accepted` are the cases (0-based) at which a test ended with an alert, or for the rate in
    control. The next test begins with the next case, at 0.
    """

    weights: Weights
    statistic: NDArray[np.float64]
    low: float
    high: float
    alerts: tuple[int, ...]
    accepted: tuple[int, ...]


def wald_limits(false_alert: float, missed: float) -> tuple[float, float]:
    """Log-likelihood ratios at which a test ends: in control at the first, alert at the second.

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

    Where a test has ended the next one begins at 0, so that a change after an early end is not overlooked.

    Parameters
    ----------
    events : int array, shape (n_cases,)
        1 = event, in the order of time.
    in_control, to_detect : float in (0, 1)
    budget, missed : float in (0, 1)
        Chance of an alert at the rate in control, and of none at the rate to detect, in one test. Wald's
        limits keep them about; the exact chances are in `details`.

    Returns
    -------
    Estimate
        The log-likelihood ratio of the test that runs; `n` counts cases. `details` hold the limits, alerts,
        tests that ended in control, the case of the first alert (0: none), the exact error probabilities of
        one test, the chance of any false alert by now over all tests, and cases needed on average. NaN with a
        note where the rates or the budget give no test.
    SprtChart or None

    References
    ----------
    Wald (1947), Sequential Analysis. Spiegelhalter et al. (2003), Int. J. Qual. Health Care 15, 7-13.
    Grigg, Farewell, Spiegelhalter (2003), Stat. Methods Med. Res. 12, 147-170 (tests that begin again).

    Examples
    --------
    >>> found, run = sprt(np.array([0, 1, 1, 0]), 0.01, 0.10, budget=0.05)
    >>> run.alerts, run.accepted
    ((2,), ())
    """
    check_level(level)
    why = why_not(in_control, to_detect)
    why = why or ("" if 0 < budget < 1 and 0 < missed < 1 and budget + missed < 1 else notes.BUDGET_AT_END)
    n = len(events)
    if why or not n:
        return undefined(n, why or notes.NO_LOOK, level=level, method=SPRT), None
    found = weights(in_control, to_detect)
    lowest, highest = wald_limits(budget, missed)
    low, high = floor(lowest / found.unit), ceil(highest / found.unit)
    run = _run(found, events, low, high)
    details = {
        "limit": run.high,
        "in_control_limit": run.low,
        "alerts": float(len(run.alerts)),
        "accepted": float(len(run.accepted)),
        "first_alert_case": float(run.alerts[0] + 1 if run.alerts else 0),
        "events": float(events.sum()),
        "in_control": in_control,
        "to_detect": to_detect,
        "tuned_to_detect": found.tuned,
        "false_alert_budget": budget,
        "missed_budget": missed,
        **characteristics(found, low, high, n),
    }
    last = float(run.statistic[-1])
    return Estimate(last, nan, nan, n, level, SPRT, notes.STATISTIC, details=details), run


def _run(found: Weights, events: NDArray[np.int64], low: int, high: int) -> SprtChart:
    seen = 1 - events if found.falling else events
    steps = np.where(seen == 1, found.up, -found.down).tolist()
    at, statistic = 0, np.empty(len(steps))
    alerts: list[int] = []
    accepted: list[int] = []
    for case, step in enumerate(steps):
        at += step
        statistic[case] = found.log_ratio(at)
        if at >= high:
            alerts.append(case)
        elif at <= low:
            accepted.append(case)
        at = 0 if at >= high or at <= low else at
    limits = found.log_ratio(low), found.log_ratio(high)
    return SprtChart(found, statistic, *limits, tuple(alerts), tuple(accepted))


def characteristics(found: Weights, low: int, high: int, cases: int) -> dict[str, float]:
    """What these limits mean exactly: errors of one test, cases that it needs, any false alert by now.

    >>> real = characteristics(weights(0.01, 0.10), -96, 123, 100)
    >>> round(real["false_alert_exact"], 3), round(real["missed_exact"], 3)
    (0.022, 0.098)
    """
    start = -low - 1
    steps = {
        name: bernoulli(found.event_rate(rate), found.up, found.down)
        for name, rate in (("in_control", found.in_control), ("to_detect", found.to_detect))
    }
    needed = {
        f"cases_needed_{name}": average_run_length(sprt_moves(step, low, high), start)
        for name, step in steps.items()
    }
    still = restarting_moves(steps["in_control"], low, high)
    return {
        "false_alert_exact": reaches_high(steps["in_control"], low, high),
        "missed_exact": 1 - reaches_high(steps["to_detect"], low, high),
        "false_alert_spent": 1 - probability_of_no_end([still] * cases, start),
        **needed,
    }
