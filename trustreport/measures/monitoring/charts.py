"""Sequential charts: the cumulative sum and the sequential probability ratio test."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log, nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.monitoring.run_length import (
    average_run_length,
    bernoulli,
    per_look,
    probability_of_no_end,
    reaches_high,
    restarting_moves,
    sprt_moves,
)
from trustreport.measures.monitoring.standardisation import Weights, weights, why_not
from trustreport.measures.note import NO_NOTE

METHOD = "cusum_markov"
MOST_STATES = 20_000


@dataclass(frozen=True, slots=True)
class CusumDesign:
    """A chart before any case: scores, limit in steps, and what the limit means.

    `planned` counts the looks for which the budget is meant, `false_alert` is the chance of an alert within
    them at the rate in control (at most `budget`); `arl_in_control` and `arl_to_detect` are looks until an
    alert on average, NaN where looks hold different numbers of cases.
    """

    weights: Weights
    limit: int
    budget: float
    planned: int
    false_alert: float
    arl_in_control: float
    arl_to_detect: float


@dataclass(frozen=True, slots=True)
class CusumChart:
    """A chart after all looks: its statistic (n_looks,) in natural logarithms, the looks with an alert.

    After an alert it starts again from 0. `spent` is the chance of at least one false alert by the last look
    at the rate in control.
    """

    design: CusumDesign
    statistic: NDArray[np.float64]
    alerts: tuple[int, ...]
    spent: float

    @property
    def limit(self) -> float:
        """The control limit in natural logarithms."""
        return self.design.weights.log_ratio(self.design.limit)


def false_alert(found: Weights, limit: int, sizes: Sequence[int]) -> float:
    """The chance of at least one alert over looks at so many cases each, at the rate in control.

    Examples
    --------
    A limit that one event reaches: the chance of any event in 5 cases.
    """
    rate = found.event_rate(found.in_control)
    return 1 - probability_of_no_end(per_look(sizes, rate, found.up, found.down, limit))


def design(in_control: float, to_detect: float, *, budget: float, sizes: Sequence[int]) -> CusumDesign:
    """The lowest control limit that keeps a false-alert budget.

    With p0 the rate in control and p1 the rate to detect::

        S = max(0, S + ln(p1 / p0)) after an event, max(0, S - ln((1 - p0) / (1 - p1))) after none
        alert where S >= h;   h the least with P(alert within the planned looks; p0) <= budget

    A look at n cases adds the scores of all of them before it is compared with 0 and h. The probabilities are
    exact: the scores are whole multiples of a step (`weights`), so the chart is a Markov chain.

    Parameters
    ----------
    in_control, to_detect : float in (0, 1)
        Share of cases with the event; the second may be the lower one.
    budget : float in (0, 1)
        Highest chance of at least one alert over all planned looks while the rate is `in_control`.
    sizes : sequence of int
        Cases of each planned look; 1 for each where every case is a look.

    Raises
    ------
    ValueError : rates or a budget that give no chart, in the words of `why_not`

    References
    ----------
    Page (1954), Biometrika 41, 100-115. Reynolds, Stoumbos (1999), J. Qual. Technol. 31, 87-108.
    Steiner, Cook, Farewell, Treasure (2000), Biostatistics 1, 441-452.
    Brook, Evans (1972), Biometrika 59, 539-549 (run lengths).
    """
    if not 0 < budget < 1:
        raise ValueError(f"budget must lie in (0, 1), got {budget:g}.")
    found = weights(in_control, to_detect)

    def exceeds(limit: int) -> bool:
        return false_alert(found, limit, sizes) > budget

    below, above = 0, max(found.up, 1)
    while exceeds(above):
        below, above = above, 2 * above
        if above > MOST_STATES:
            raise ValueError(f"No limit keeps the budget of {budget:g} over {len(sizes)} looks.")
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if exceeds(middle) else (below, middle)
    lengths = [nan, nan]
    if len(set(sizes)) == 1:
        for i, rate in enumerate((found.in_control, found.to_detect)):
            moves = per_look(sizes[:1], found.event_rate(rate), found.up, found.down, above)
            lengths[i] = average_run_length(moves[0])
    return CusumDesign(found, above, budget, len(sizes), false_alert(found, above, sizes), *lengths)


def chart(designed: CusumDesign, events: NDArray[np.int64], sizes: NDArray[np.int64]) -> CusumChart:
    """The chart of what was seen.

    Parameters
    ----------
    events, sizes : int array, shape (n_looks,)
        Counted events and cases of each look, in the order of time; 0 or 1 and 1 where a case is a look.
    """
    found = designed.weights
    seen = sizes - events if found.falling else events
    steps = seen * found.up - (sizes - seen) * found.down
    at, statistic, alerts = 0, np.empty(len(steps)), []
    for look, step in enumerate(steps.tolist()):
        at = max(0, at + step)
        statistic[look] = found.log_ratio(at)
        if at >= designed.limit:
            alerts.append(look)
            at = 0
    spent = false_alert(found, designed.limit, sizes.tolist()) if len(sizes) else 0.0
    return CusumChart(designed, statistic, tuple(alerts), spent)


def cusum(
    events: NDArray[np.int64],
    sizes: NDArray[np.int64],
    in_control: float,
    to_detect: float,
    *,
    budget: float,
    planned: Sequence[int] = (),
    level: float = 0.95,
) -> tuple[Estimate, CusumChart | None]:
    """Has the evidence for a changed rate crossed the limit that the budget sets? See `design` and `chart`.

    Returns
    -------
    Estimate
        The statistic after the last look, in natural logarithms; `n` counts cases. `details` hold limit,
        alerts, the look and case of the first (0: none), false-alert probability planned and spent, average
        run lengths. NaN with a note where the rates or the budget give no chart.
    CusumChart or None
    """
    check_level(level)
    n = int(sizes.sum())
    why = why_not(in_control, to_detect) or (NO_NOTE if 0 < budget < 1 else notes.BUDGET_AT_END)
    if why or not n:
        return undefined(n, why or notes.NO_LOOK, level=level, method=METHOD), None
    designed = design(in_control, to_detect, budget=budget, sizes=planned or sizes.tolist())
    found = chart(designed, events, sizes)
    first = found.alerts[0] if found.alerts else -1
    details = {
        "limit": found.limit,
        "alerts": float(len(found.alerts)),
        "first_alert_look": float(first + 1),
        "first_alert_case": float(sizes[: first + 1].sum()),
        "highest": float(found.statistic.max()),
        "events": float(events.sum()),
        "in_control": in_control,
        "to_detect": to_detect,
        "tuned_to_detect": designed.weights.tuned,
        "false_alert_budget": budget,
        "false_alert_planned": designed.false_alert,
        "false_alert_spent": found.spent,
        "arl_in_control": designed.arl_in_control,
        "arl_to_detect": designed.arl_to_detect,
        "planned_looks": float(designed.planned),
    }
    details = {name: value for name, value in details.items() if not np.isnan(value)}
    last = float(found.statistic[-1])
    return Estimate(last, nan, nan, n, level, METHOD, notes.STATISTIC, details=details), found


def planned_looks(sizes: Sequence[int], cases: int) -> list[int]:
    """Looks until so many cases are seen: those that were, then more of the usual size.

    >>> planned_looks([10, 12], 40)
    [10, 12, 11, 11]
    """
    found = list(sizes)
    usual = max(1, round(sum(sizes) / len(sizes))) if sizes else 1
    return found + [usual] * max(0, ceil((cases - sum(found)) / usual))


SPRT_METHOD = "sprt_wald"


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
    why = why or (
        NO_NOTE if 0 < budget < 1 and 0 < missed < 1 and budget + missed < 1 else notes.BUDGET_AT_END
    )
    n = len(events)
    if why or not n:
        return undefined(n, why or notes.NO_LOOK, level=level, method=SPRT_METHOD), None
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
    return Estimate(last, nan, nan, n, level, SPRT_METHOD, notes.STATISTIC, details=details), run


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
