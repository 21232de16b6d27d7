"""Decision curves in numbers: treating everybody, nobody, or those whom a device calls, by threshold.

Columns have the names and meanings of the R package dcurves, so that its users find what they know.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any, Literal

import numpy as np

from trustreport import digits
from trustreport.estimate import Estimate
from trustreport.measures.interventions_avoided import interventions_avoided
from trustreport.measures.means import case_share
from trustreport.measures.net_benefit import snb_jackknife, snb_mover
from trustreport.performance.cases import ScoredCases
from trustreport.performance.entries import as_entries, pair
from trustreport.results import Result

ID = "advice_accuracy"
Strategy = Literal["all", "none", "device"]
PARAMETERS: dict[Strategy, dict[str, Any]] = {
    "all": {"strategy": "treat_all"},
    "none": {"strategy": "treat_none"},
    "device": {},
}


def decision_table_results(case: ScoredCases, thresholds: Sequence[float], level: float) -> list[Result]:
    """What the table needs beside net benefit: shares of positives, and the strategies that ask no device."""
    truth, score, cluster = case.acted_on
    results: list[Result] = []
    for threshold in thresholds:
        place = case.place.at(threshold=threshold)

        def add(name: str, strategy: Strategy, found: Sequence[Estimate], place: Any = place) -> None:
            more: dict[str, Any] = {"parameters": PARAMETERS[strategy], "cases": case.key}
            results.extend(as_entries(f"{ID}.{name}", place, found, clustered=cluster is not None, **more))

        called = score >= threshold
        known = {"prevalence": float(truth.mean()) if truth.size else nan}
        for name, event in (
            ("true_positive_share", called & truth),
            ("false_positive_share", called & ~truth),
        ):
            alone = case_share(event, level=level)
            grouped = None if cluster is None else case_share(event, cluster=cluster, level=level)
            both = [replace(e, details={**e.details, **known}) for e in pair(alone, grouped)]
            add(name, "device", both)
        if threshold >= 1:
            continue
        for strategy, decision in (("device", called), ("none", np.zeros_like(called))):
            alone = interventions_avoided(truth, decision, threshold, level=level)
            grouped = None
            if cluster is not None:
                grouped = interventions_avoided(truth, decision, threshold, cluster=cluster, level=level)
            add("net_interventions_avoided", "none" if strategy == "none" else "device", pair(alone, grouped))
        everybody = np.full(truth.size, np.inf)
        alone = snb_mover(truth, everybody, threshold, level=level)
        grouped = (
            None if cluster is None else snb_jackknife(truth, everybody, threshold, cluster, level=level)
        )
        add("standardized_net_benefit", "all", pair(alone, grouped))
    return results


@dataclass(frozen=True)
class DecisionRow:
    """A strategy at a threshold on the cases of a data set that a candidate was given."""

    dataset: str
    candidate: str
    strategy: Strategy
    threshold: float
    n: int
    pos_rate: float
    tp_rate: float
    fp_rate: float
    net_benefit: Estimate
    standardized_net_benefit: float
    net_interventions_avoided: float


def decision_rows(results: Iterable[Result]) -> Iterator[DecisionRow]:
    """The rows of every data set, threshold after threshold within everybody, nobody and each candidate.

    Of candidates of one data set that were given the same cases, everybody and nobody come once.
    """
    found: dict[tuple[str, str, str], dict[float, dict[tuple[str, Strategy], Result]]] = {}
    for r in results:
        place = r.place
        whole = place.site is None and place.subgroup is None and place.dataset is not None
        if r.dimension == ID and r.primary and whole and place.threshold is not None:
            strategy = next((s for s, p in PARAMETERS.items() if p == dict(r.parameters)), None)
            if strategy is not None:
                there = found.setdefault((str(place.dataset), place.candidate or "", r.cases), {})
                there.setdefault(place.threshold, {})[r.name, strategy] = r
    asked: set[tuple[str, str]] = set()
    for (dataset, candidate, cases), by_threshold in found.items():
        strategies: tuple[Strategy, ...] = ("device",)
        if (dataset, cases) not in asked:
            strategies = ("all", "none", "device")
            asked.add((dataset, cases))
        for strategy in strategies:
            for threshold, of in by_threshold.items():
                if ("true_positive_share", "device") in of:
                    yield _row(dataset, candidate, strategy, threshold, of)


def _row(
    dataset: str,
    candidate: str,
    strategy: Strategy,
    threshold: float,
    of: dict[tuple[str, Strategy], Result],
) -> DecisionRow:
    def value(name: str) -> float:
        r = of.get((name, strategy))
        return nan if r is None else r.estimate.value

    hits = of["true_positive_share", "device"].estimate
    share = float(hits.details.get("prevalence", nan))
    positives = round(share * hits.n) if hits.n else 0
    everybody = tuple(digits.share(k, hits.n) if hits.n else nan for k in (positives, hits.n - positives))
    rates: dict[Strategy, tuple[float, ...]] = {
        "all": everybody,
        "none": (0.0, 0.0),
        "device": (value("true_positive_share"), value("false_positive_share")),
    }
    benefit = of.get(("net_benefit", strategy))
    standardized = value("standardized_net_benefit")
    avoided = value("net_interventions_avoided")
    if strategy == "all":
        avoided = 0.0 if threshold else nan
    if strategy == "none" and share > 0:
        standardized = 0.0
    return DecisionRow(
        dataset,
        "" if strategy != "device" else candidate,
        strategy,
        threshold,
        hits.n,
        everybody[0],
        rates[strategy][0],
        rates[strategy][1],
        Estimate(nan, nan, nan, hits.n) if benefit is None else benefit.estimate,
        standardized,
        avoided,
    )
