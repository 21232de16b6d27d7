"""Clusters of cases that two data sets share: patients seen in both periods count once in their change."""

from dataclasses import dataclass

import numpy as np

from trustreport.clusters import clusters_of, clusters_over
from trustreport.estimate import Estimate
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.monitoring import change
from trustreport.measures.monitoring.change import Floats
from trustreport.measures.score_measure import SCORES
from trustreport.performance.cases import ScoredCases
from trustreport.plan import Plan
from trustreport.study import Dataset


@dataclass(frozen=True, eq=False)
class Matched:
    """The clusters of two data sets, (n_cases,) each: the same number for the same cluster in both.

    `known` is False where a set has clusters by a key that the other set lacks, so that nobody knows which
    clusters are in both.
    """

    one: Clusters
    other: Clusters
    known: bool = True

    @property
    def any(self) -> bool:
        """Whether a cluster is in both sets."""
        return bool(np.intersect1d(self.one, self.other).size)


def matched(one: Dataset, other: Dataset, plan: Plan) -> Matched:
    """The clusters of two data sets, which are matched by their names in the keys that both have."""
    first, second = clusters_over((one, other), plan)
    ours, theirs = (set(clusters_of(dataset, plan).keys) for dataset in (one, other))
    return Matched(first, second, known=bool(ours & theirs) or not (ours or theirs))


def influence(case: ScoredCases, name: str, value: Estimate) -> Floats | None:
    """What each case adds to a quantity, (n,), up to a factor of the set; None where that is not known."""
    if name == "error_rate":
        name = "accuracy"
    if name == "failure_rate":
        return change.of_share(case.failed)
    if name in MEASURES:
        return None if case.decision is None else change.of_cells(name, case.truth, case.decision)
    if case.score is None or (name != "auc" and case.risk is None):
        return None
    found = np.zeros(len(case))
    by_errors = name in SCORES and SCORES[name].change in ("errors", "log_errors")
    if name == "auc":
        truth, score, _ = case.ranked
        found[case.scored | case.failed] = change.of_area(truth, score)
    elif by_errors:
        truth, score, _ = case.with_scores
        found[case.scored] = change.of_risk(name, truth, score)
    elif name in ("net_benefit", "standardized_net_benefit") and case.risk_threshold is not None:
        truth, score, _ = case.acted_on
        ratio = value.value if name == "standardized_net_benefit" else 0.0
        gain = change.of_net_benefit(truth, score >= case.risk_threshold, case.risk_threshold, ratio)
        found[case.scored | case.failed] = gain
    else:
        return None
    return found
