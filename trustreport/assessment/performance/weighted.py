"""Cases that stand for others: sampling weights, and truths verified in part."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import ScoredCases, outputs
from trustreport.assessment.performance.keys import case_key, is_mature
from trustreport.assessment.performance.measures import why_no_risk
from trustreport.measures.association import fisher_exact
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.confusion.partial_verification import (
    Name,
    PartlyVerified,
    begg_greenes,
    begg_greenes_logit,
)
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.weighted import (
    FEW_HEAVY,
    few_heavy,
    weighted_auc,
    weighted_mean,
    weighted_oe,
    weighted_share,
)
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import Binary, Floats, Study

WORD = "weight"
SOME_WITHOUT = note("cases_without_weight_left_out")


def weight_of(case: ScoredCases) -> Floats | None:
    """The declared weights of the cases, (n,), NaN where one lacks; None where no column is declared."""
    return case.number(WORD)


def of_decisions(case: ScoredCases, level: float) -> Iterator[tuple[str, Estimate]]:
    """Shares of the four cells with weights: nothing without weights or decisions."""
    weight, called, truth = weight_of(case), case.decision, case.truth
    if weight is None or called is None:
        return
    everybody = np.ones(len(case), bool)
    shares = {
        "sensitivity": (called, truth),
        "specificity": (~called, ~truth),
        "ppv": (truth, called),
        "npv": (~truth, ~called),
        "accuracy": (called == truth, everybody),
        "prevalence": (truth, everybody),
    }
    rests_on = {"sensitivity": (truth,), "specificity": (~truth,), "accuracy": (truth, ~truth)}
    for name, (right, of) in shares.items():
        e = weighted_share(right, of, np.nan_to_num(weight), cluster=case.cluster, level=level)
        yield name, _with_notes(e, weight, *rests_on.get(name, ()))


def of_ranks(case: ScoredCases, level: float) -> Iterator[tuple[str, Estimate]]:
    """The area under the ROC curve with weights."""
    weight = weight_of(case)
    if weight is None or case.score is None:
        return
    own = weight[case.scored | case.failed]
    truth, score, cluster = case.ranked
    e = weighted_auc(truth, score, np.nan_to_num(own), cluster=cluster, level=level)
    yield "auc", _with_notes(e, own, truth, ~truth)


def of_net_benefit(case: ScoredCases, threshold: float, level: float) -> Estimate | None:
    """Net benefit at a threshold with weights; None without weights or probabilities."""
    weight = weight_of(case)
    if weight is None or why_no_risk(case) or threshold >= 1:
        return None
    own = weight[case.scored | case.failed]
    truth, risk, cluster = case.acted_on
    gain = np.where(risk >= threshold, 1.0, 0.0) * np.where(truth, 1.0, -threshold / (1 - threshold))
    return _with_notes(weighted_mean(gain, np.nan_to_num(own), cluster=cluster, level=level), own)


def of_risks(case: ScoredCases, level: float) -> Iterator[tuple[str, Estimate]]:
    """Brier score, and observed over expected events, with weights."""
    weight = weight_of(case)
    if weight is None or why_no_risk(case) or not case.scored.any():
        return
    own = weight[case.scored]
    truth, risk, cluster = case.with_scores
    filled, everybody = np.nan_to_num(own), np.ones(len(truth), bool)
    loss = (risk - truth) ** 2
    found = {
        "brier": weighted_share(loss, everybody, filled, cluster=cluster, level=level),
        "oe_ratio": weighted_oe(truth, risk, filled, cluster=cluster, level=level),
    }
    yield from ((name, _with_notes(e, own, truth, ~truth)) for name, e in found.items())


def _with_notes(e: Estimate, weight: Floats, *classes: NDArray[np.bool_]) -> Estimate:
    """The estimate with what is to be known of its weights; without limits where they rest on a few cases."""
    note = SOME_WITHOUT if np.isnan(weight).any() else NO_NOTE
    if few_heavy(weight, *classes):
        e, note = replace(e, low=nan, high=nan), FEW_HEAVY + note
    return replace(e, note=e.note + note)


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
        return PartlyVerified.of_decisions(self.truth, self.decision)

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
