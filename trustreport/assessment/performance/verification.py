"""Cases of a data set with a decision of which some have no truth: what is said of all of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import ScoredCases, outputs
from trustreport.assessment.performance.follow_up import is_mature
from trustreport.assessment.performance.keys import case_key
from trustreport.measures.association import fisher_exact
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.confusion.partial_verification import (
    Name,
    PartlyVerified,
    begg_greenes,
    begg_greenes_logit,
)
from trustreport.measures.estimate import Estimate
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import Binary, Study

MEASURES: tuple[Name, ...] = ("sensitivity", "specificity")


@dataclass(frozen=True, eq=False)
class DecidedCases:
    """The cases of a data set that a candidate decided, (n,) each: truth 1, 0 or -1 where it is not known."""

    truth: Binary
    decision: NDArray[np.bool_]
    cluster: Clusters | None
    key: str
    alpha: float

    @property
    def counts(self) -> PartlyVerified:
        """The four cells, and how many others there are."""
        return PartlyVerified.of(self.truth, self.decision)

    @property
    def depends_on_decision(self) -> bool:
        """Whether cases decided one way were verified more often than the others, by Fisher's exact test."""
        x = self.counts
        verified = x.tp + x.fp, x.fn + x.tn
        if not x.called_positive or not x.called_negative:
            return False
        return fisher_exact(verified[0], x.called_positive, verified[1], x.called_negative).p <= self.alpha

    def corrected(self, name: Name, level: float) -> list[Estimate]:
        """The estimates of Begg and Greenes, the primary one first: that of clusters where there are any."""
        alone = [
            begg_greenes(name, self.counts, level=level),
            begg_greenes_logit(name, self.truth, self.decision, level=level),
        ]
        if self.cluster is None:
            return alone
        return [
            begg_greenes_logit(name, self.truth, self.decision, cluster=self.cluster, level=level),
            *alone,
        ]


def partly_verified(case: ScoredCases, study: Study, plan: Plan) -> DecidedCases | None:
    """The decided cases of a data set, where some have no truth and are old enough to have one.

    Cases without a usable output are left out. None where every such case has a truth, or none a decision.
    """
    dataset = case.dataset
    found = outputs(dataset.scores[case.candidate], len(dataset.cases), plan, case.candidate)
    decided = found.present & (found.decision >= 0) & is_mature(dataset, study, plan)
    truth = dataset.cases.truth
    if not (decided & (truth < 0)).any():
        return None
    cluster = clusters_of(dataset, plan).of_case
    rows = np.flatnonzero(decided)
    return DecidedCases(
        truth[rows],
        found.decision[rows] == 1,
        None if cluster is None else together(cluster, decided),
        case_key(dataset.name, dataset.cases.labels, rows),
        plan.limit("P13_alpha"),
    )
