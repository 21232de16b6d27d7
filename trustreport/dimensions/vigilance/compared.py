"""Sites and readers against each other: funnel scores with over-dispersion allowed for."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trustreport.dimensions.vigilance.entries import DENOMINATORS, endpoints, stream
from trustreport.dimensions.vigilance.periods import ID, Timeline, names_of
from trustreport.dimensions.vigilance.readers_over_time import Reliances, by_reader
from trustreport.measures.monitoring.funnel import METHODS, Funnel, funnel
from trustreport.plan import Plan
from trustreport.results import Result

MOST_ENDPOINTS = 2
LEADS = "funnel_additive"


@dataclass(frozen=True, eq=False)
class Compared:
    """The units of one funnel: sites or readers, by one endpoint over all periods."""

    of: str
    endpoint: str
    names: tuple[str, ...]
    events: tuple[int, ...]
    found: Funnel

    @property
    def leads(self) -> str:
        """The method that leads: with over-dispersion where it can be judged."""
        return LEADS if self.found.phi == self.found.phi else METHODS[0]


def funnels(timeline: Timeline, reliances: Sequence[Reliances], plan: Plan) -> list[Compared]:
    """Funnels of the sites by the leading shares, and of the readers by their right decisions."""
    level, found = plan.report.confidence_level, []
    wanted = [e for e in endpoints(plan) if e in DENOMINATORS][:MOST_ENDPOINTS]
    for endpoint in wanted:
        tally = _by_site(timeline, endpoint)
        if len(tally) > 1:
            found.append(_made("site", endpoint, tally, level))
    readers = by_reader(reliances, timeline)
    if len(readers) > 1:
        found.append(_made("reader", "accuracy", readers, level))
    return found


def _made(of: str, endpoint: str, tally: dict[str, tuple[int, int]], level: float) -> Compared:
    names = tuple(sorted(tally))
    events, n = (tuple(tally[name][part] for name in names) for part in (0, 1))
    return Compared(of, endpoint, names, events, funnel(events, n, level=level))


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
            place = timeline.place.at(**{one.of: name})
            for method in METHODS:
                e = one.found.z[method][k]
                details = {"events": one.events[k], "share": one.events[k] / e.n if e.n else None}
                leads = method == one.leads
                results.append(
                    Result(f"{ID}.funnel_z", place, e, endpoint=one.endpoint, primary=leads, details=details)
                )
    return results
