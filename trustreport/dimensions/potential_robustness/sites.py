"""Performance site by site: the sites of each external set, and each measure there with its variance."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, isfinite, nan

import numpy as np

from trustreport.dimensions.advice_accuracy.measured import FEW_OF_A_CLASS, Judged
from trustreport.dimensions.advice_accuracy.sites import sites_in
from trustreport.dimensions.advice_value.measured import why_no_risk
from trustreport.dimensions.small_cells import public_cell, suppressed
from trustreport.estimate import Estimate, undefined
from trustreport.measures.calibration.brier import brier
from trustreport.measures.calibration.logistic import calibration_slope
from trustreport.measures.calibration.oe import oe_ratio
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.shares import sensitivity, specificity
from trustreport.measures.net_benefit import standardized_net_benefit
from trustreport.measures.robustness import Scale
from trustreport.measures.roc.auc import delong, logit_delong
from trustreport.measures.roc.clustered import clustered_auc
from trustreport.plan import Plan
from trustreport.results import Unit

NO_THRESHOLD = "no operating point is declared"
NO_DECISION = "no decisions, and no operating point that would make them"
NOTHING = Estimate(nan, nan, nan, 0)


@dataclass(frozen=True, eq=False)
class Site:
    """The judged cases of one site; `label` is its name, that of the set where the set names no sites.

    `closed`: a public report tells nothing of it by itself.
    """

    label: str
    case: Judged
    closed: bool = False
    _seen: dict[str, Estimate] = field(default_factory=dict)

    def estimate(self, measure: str, plan: Plan) -> Estimate:
        """A measure of `MEASURES` at this site, computed once."""
        if measure not in self._seen:
            self._seen[measure] = MEASURES[measure].of(self.case, plan)
        return self._seen[measure]

    def told(self, measure: str, plan: Plan) -> Estimate:
        """The same as a report tells it."""
        e = self.estimate(measure, plan)
        return suppressed(e, public_cell(plan)) if self.closed else e


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure that is compared over sites, the scale on which sites are taken as normal, and its unit."""

    scale: Scale
    unit: Unit
    of: Callable[[Judged, Plan], Estimate]


def area(case: Judged, plan: Plan) -> Estimate:
    """Area under the ROC curve, as the accuracy of the advice leads with it."""
    level, truth, score = plan.report.confidence_level, case.truth, case.suspicion
    assert score is not None
    if case.cluster is not None:
        return clustered_auc(truth, score, case.cluster, level=level)
    few = min(int(truth.sum()), int((~truth).sum())) < FEW_OF_A_CLASS
    return (logit_delong if few else delong)(truth, score, level=level)


def net_benefit(case: Judged, plan: Plan) -> Estimate:
    """Standardised net benefit at the operating point."""
    threshold, level = plan.operating_point.threshold, plan.report.confidence_level
    why = why_no_risk(case, plan) or (NO_THRESHOLD if threshold is None else "")
    if why or threshold is None:
        return undefined(len(case.truth), why, level=level, method="ratio_delta")
    assert case.score is not None
    return standardized_net_benefit(case.truth, case.score, threshold, cluster=case.cluster, level=level)


def _of_risks(measure: Callable[..., Estimate], method: str) -> Callable[[Judged, Plan], Estimate]:
    def of(case: Judged, plan: Plan) -> Estimate:
        level, why = plan.report.confidence_level, why_no_risk(case, plan)
        if why:
            return undefined(len(case.truth), why, level=level, method=method)
        return measure(case.truth, case.score, level=level)

    return of


def _of_decisions(measure: Callable[..., Estimate]) -> Callable[[Judged, Plan], Estimate]:
    def of(case: Judged, plan: Plan) -> Estimate:
        level, decision = plan.report.confidence_level, case.decision
        if decision is None:
            return undefined(len(case.truth), NO_DECISION, level=level, method="wilson")
        tn, fp, fn, tp = (int(n) for n in np.bincount(2 * case.truth + decision, minlength=4))
        return measure(ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn), level=level)

    return of


MEASURES: dict[str, Measure] = {
    "auc": Measure("logit", "proportion", area),
    "sensitivity": Measure("logit", "proportion", _of_decisions(sensitivity)),
    "specificity": Measure("logit", "proportion", _of_decisions(specificity)),
    "standardized_net_benefit": Measure("identity", "utility", net_benefit),
    "brier": Measure("identity", "score", _of_risks(brier, "wald")),
    "calibration_slope": Measure("identity", "ratio", _of_risks(calibration_slope, "wald")),
    "oe_ratio": Measure("log", "ratio", _of_risks(oe_ratio, "log_wald")),
}
# Measured at the operating point.
AT_THRESHOLD = ("sensitivity", "specificity", "standardized_net_benefit")
# Shares of cases: over sites in one model of their counts.
SHARES = ("sensitivity", "specificity")


def sites_of(case: Judged, plan: Plan) -> list[Site]:
    """The sites of a set; the set itself where it names none or one, or not the site of every case."""
    sites, name = case.dataset.cases.site, case.dataset.name
    whole = sites is None or bool((sites.codes[case.known] < 0).any())
    cut = [] if whole else [one for one in sites_in(case, plan, inf) if one.case.truth.size]
    if len(cut) < 2:
        return [Site(name, case)]
    return [Site(f"{name}: {one.name}", one.case, one.closed) for one in cut]


def variance(name: str, e: Estimate) -> float:
    """The variance of a measure at a site, in its own unit; NaN where it has none."""
    return (e.value * e.se) ** 2 if name == "oe_ratio" else e.se**2


def weighable(name: str, e: Estimate) -> bool:
    """Whether a site can be weighed: it has a value inside the scale, and a variance."""
    low, high = {"logit": (0.0, 1.0), "log": (0.0, float("inf"))}.get(
        MEASURES[name].scale, (-float("inf"), float("inf"))
    )
    return isfinite(e.value) and low < e.value < high and variance(name, e) > 0
