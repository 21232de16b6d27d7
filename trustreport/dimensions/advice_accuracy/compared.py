"""Candidates against each other on the cases of one data set: areas and net benefit."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.advice_accuracy.measured import ID, Judged, are_risks, both, thresholds
from trustreport.measures.cluster import Clusters
from trustreport.measures.net_benefit import net_benefit_difference
from trustreport.measures.roc.clustered import clustered_difference
from trustreport.measures.roc.difference import paired_difference, unpaired_difference
from trustreport.plan import Plan
from trustreport.results import Result, answers

# With more candidates than this each is compared with the first only.
ALL_PAIRS_UP_TO = 5


def pairs(cases: Sequence[Judged]) -> Iterator[tuple[Judged, Judged]]:
    """Candidates of one data set two by two, the later one compared with the earlier one."""
    by_set: dict[str, list[Judged]] = {}
    for case in cases:
        if "candidate" in case.scope:
            by_set.setdefault(case.dataset.name, []).append(case)
    for candidates in by_set.values():
        every = len(candidates) <= ALL_PAIRS_UP_TO
        for baseline, compared in combinations(candidates, 2):
            if every or baseline is candidates[0]:
                yield compared, baseline


def common(one: Judged, other: Judged) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which of the judged cases of either the other has judged too."""
    return other.known[one.known], one.known[other.known]


def difference_results(compared: Judged, baseline: Judged, plan: Plan) -> list[Result]:
    """AUC difference, paired and as if of two groups, and net benefit difference at each threshold."""
    level = plan.report.confidence_level
    scope: dict[str, Any] = {
        "dataset": compared.dataset.name,
        "candidates": [compared.scope["candidate"], baseline.scope["candidate"]],
    }
    if compared.suspicion is None or baseline.suspicion is None:
        return []
    ours, theirs = common(compared, baseline)
    truth, cluster = compared.truth[ours], None if compared.cluster is None else compared.cluster[ours]
    one, other = compared.suspicion[ours], baseline.suspicion[theirs]
    results = _areas(scope, truth, one, other, cluster, level)
    apart = unpaired_difference(
        compared.truth, compared.suspicion, baseline.truth, baseline.suspicion, level=level
    )
    here = {**scope, "analysis": "two_sample"}
    results += answers(f"{ID}.auc_difference", here, [apart], unit="difference")
    if are_risks(compared) and are_risks(baseline):
        for threshold in thresholds(plan):
            here = {**scope, "threshold": threshold}
            alone = net_benefit_difference(truth, one, other, threshold, level=level)
            in_clusters = None
            if cluster is not None:
                in_clusters = net_benefit_difference(
                    truth, one, other, threshold, cluster=cluster, level=level
                )
            results += both("net_benefit_difference", here, alone, in_clusters, "utility")
    return results


def _areas(
    scope: Mapping[str, Any],
    truth: NDArray[np.bool_],
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    cluster: Clusters | None,
    level: float,
) -> list[Result]:
    paired = paired_difference(truth, one, other, level=level)
    here = {**scope, "analysis": "paired"}
    if cluster is None:
        return answers(f"{ID}.auc_difference", here, [paired], leads="delong", unit="difference")
    found = clustered_difference(truth, one, other, cluster, level=level)
    there = {**scope, "analysis": "clustered"}
    lead = answers(f"{ID}.auc_difference", there, [found], leads=found.method, unit="difference")
    return [*lead, *answers(f"{ID}.auc_difference", here, [paired], unit="difference")]
