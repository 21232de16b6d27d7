"""Entries of results.json on scored cases: the estimates of `measures`, placed."""

from collections.abc import Sequence
from typing import Any

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.measures import estimates
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

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
    """Estimates as entries, the first one primary; of clustered cases each says whether it respects them."""
    grouped = clustered and len(found) > 1
    return [
        Result(
            id, place, e, primary=i == 0,
            analysis=CLUSTERED if grouped and (i == 0 or "clusters" in e.details) else "", **more,
        )
        for i, e in enumerate(found)
    ]  # fmt: skip


def each_alone(case: ScoredCases, part: ScoredCases) -> dict[str, bool]:
    """That every case of a part is a cluster of its own, where cases of the whole are not."""
    return {"each_case_a_cluster": True} if case.cluster is not None and part.cluster is None else {}


def pair(alone: Estimate, in_clusters: Estimate | None) -> list[Estimate]:
    """The estimate that respects clusters, where there are any, before that of independent cases."""
    return [alone] if in_clusters is None else [in_clusters, alone]
