"""Entries of results.json on scored cases: the estimates of `trustreport.performance.measures`, placed."""

from collections.abc import Sequence
from typing import Any

from trustreport.estimate import Estimate
from trustreport.performance.cases import ScoredCases
from trustreport.performance.measures import estimates
from trustreport.place import Place
from trustreport.results import Result

CLUSTERED = "clustered"


def entries(id: str, case: ScoredCases, name: str, level: float, **more: Any) -> list[Result]:
    """Every estimate of a quantity as an entry; `more`: ``prevalence`` or ``threshold``, and its fields."""
    chosen = {key: more.pop(key) for key in ("prevalence", "threshold") if key in more}
    place = more.pop("place", case.place)
    if "threshold" in chosen:
        place = place.at(threshold=chosen["threshold"])
    if "prevalence" in chosen:
        more["parameters"] = {**more.get("parameters", {}), "prevalence": chosen["prevalence"]}
    found = estimates(case, name, level, **chosen)
    return as_entries(id, place, found, clustered=case.cluster is not None, cases=case.key, **more)


def as_entries(
    id: str, place: Place, found: Sequence[Estimate], *, clustered: bool, **more: Any
) -> list[Result]:
    """Estimates as entries, the first one primary; of clustered cases it says so beside independent ones."""
    grouped = clustered and len(found) > 1
    lead = Result(id, place, found[0], analysis=CLUSTERED if grouped else "", primary=True, **more)
    return [lead, *(Result(id, place, e, **more) for e in found[1:])]


def pair(alone: Estimate, in_clusters: Estimate | None) -> list[Estimate]:
    """The estimate that respects clusters, where there are any, before that of independent cases."""
    return [alone] if in_clusters is None else [in_clusters, alone]
