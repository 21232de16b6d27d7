"""Sites and readers against each other: funnel scores with over-dispersion allowed for."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from trustreport.assessment.dimensions.vigilance.charts import Charted
from trustreport.assessment.dimensions.vigilance.events import is_open, named
from trustreport.assessment.dimensions.vigilance.periods import ID, Timeline, names_of
from trustreport.assessment.dimensions.vigilance.readers_over_time import Reliances, by_reader
from trustreport.assessment.dimensions.vigilance.results import endpoints, of_right, stream
from trustreport.measures.monitoring.rates import METHODS, Funnel, funnel
from trustreport.study.plan import Plan
from trustreport.vocabulary.results import Result

MOST_ENDPOINTS = 2
NAIVE, LEADS = METHODS[0], "funnel_additive"
INNER = 1.959964  # of a z-score, the limits that hold 95% of units in control
LEAST_OTHERS = 3  # units of which over-dispersion can be judged


@dataclass(frozen=True, eq=False)
class Compared:
    """The units of one funnel: sites or readers, by one endpoint over all periods.

    `without` says why the limits make no allowance for over-dispersion: a signal or an alert is open
    ("signal"), or there is none but that of the units beyond the limits themselves ("caused"). With a signal
    the target is the rate at the baseline, where there is one (`at_baseline`).
    """

    of: str
    endpoint: str
    names: tuple[str, ...]
    events: tuple[int, ...]
    found: Funnel
    without: Literal["", "signal", "caused"] = ""
    at_baseline: bool = False

    @property
    def leads(self) -> str:
        """The method that leads: with over-dispersion where it can be judged and hides nothing."""
        return LEADS if self.found.phi == self.found.phi and not self.without else NAIVE

    @property
    def beyond(self) -> list[str]:
        """The units outside the limits."""
        return [name for name, e in zip(self.names, self.found.z[self.leads]) if abs(e.value) > INNER]


def funnels(
    timeline: Timeline, reliances: Sequence[Reliances], charts: Sequence[Charted], plan: Plan
) -> list[Compared]:
    """Funnels of the sites by the leading shares, and of the readers by their right decisions."""
    level, found = plan.report.confidence_level, []
    wanted = [e for e in endpoints(plan) if of_right(e)][:MOST_ENDPOINTS]
    for endpoint in wanted:
        tally = _by_site(timeline, endpoint)
        if len(tally) > 1:
            open_ = in_question(endpoint, charts, plan)
            target = _at_baseline(timeline, endpoint) if open_ else None
            found.append(_made("site", endpoint, tally, level, signal=open_, target=target))
    readers = by_reader(reliances, timeline)
    if len(readers) > 1:
        found.append(_made("reader", "accuracy", readers, level))
    return found


def in_question(endpoint: str, charts: Sequence[Charted], plan: Plan) -> bool:
    """Whether a signal on an indicator is open, or an alert of it without a signal that was closed."""
    signals = named(plan.signals, endpoint)
    alert = any(c.endpoint == endpoint and c.alert is not None for c in charts)
    return any(map(is_open, signals)) or (alert and not signals)


def _at_baseline(timeline: Timeline, endpoint: str) -> float | None:
    """The rate at the baseline; None where there is none, or where it leaves no room on one side."""
    if timeline.baseline is None or not timeline.declared_baseline or not len(timeline.baseline):
        return None
    counted, event = stream(timeline.baseline, endpoint)
    share = float(event[counted].mean()) if counted.any() else 0.0
    return share if 0 < share < 1 else None


def _made(
    of: str,
    endpoint: str,
    tally: dict[str, tuple[int, int]],
    level: float,
    *,
    signal: bool = False,
    target: float | None = None,
) -> Compared:
    names = tuple(sorted(tally))
    events, n = (tuple(tally[name][part] for name in names) for part in (0, 1))
    found = funnel(events, n, target=target, level=level)
    without: Literal["", "signal", "caused"] = "signal" if signal else ""
    if not signal and found.phi > 1 and _caused(events, n, found, level):
        without = "caused"
    return Compared(of, endpoint, names, events, found, without, target is not None)


def _caused(events: Sequence[int], n: Sequence[int], found: Funnel, level: float) -> bool:
    """Whether over-dispersion is that of the units beyond the plain limits: none is left without them."""
    inside = [k for k, e in enumerate(found.z[NAIVE]) if abs(e.value) <= INNER]
    if len(inside) == len(events) or len(inside) < LEAST_OTHERS:
        return False
    others = funnel([events[k] for k in inside], [n[k] for k in inside], level=level)
    return others.phi <= 1


def _by_site(timeline: Timeline, endpoint: str) -> dict[str, tuple[int, int]]:
    counts: dict[str, list[int]] = {}
    for period in timeline.periods:
        site = period.column("site")
        if site is None:
            continue
        counted, event = stream(period, endpoint)
        names = names_of(site, len(period))
        for i in np.flatnonzero(counted):
            if names[i] is not None:
                cell = counts.setdefault(names[i], [0, 0])
                cell[0] += bool(event[i])
                cell[1] += 1
    return {name: (x, n) for name, (x, n) in counts.items()}


def funnel_results(every: Sequence[Compared], timeline: Timeline) -> list[Result]:
    """A z-score for each unit and method."""
    results = []
    for one in every:
        for k, name in enumerate(one.names):
            place = timeline.place.narrowed(**{one.of: name})
            for method in METHODS:
                e = one.found.z[method][k]
                details = {"events": one.events[k], "share": one.events[k] / e.n if e.n else None}
                leads = method == one.leads
                results.append(
                    Result(f"{ID}.funnel_z", place, e, endpoint=one.endpoint, primary=leads, details=details)
                )
    return results
