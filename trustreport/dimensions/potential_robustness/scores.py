"""Robustness scores of each set, and what holds over sets: correlation with similarity, heterogeneity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np

from trustreport.dimensions.advice_accuracy.measured import Judged
from trustreport.dimensions.potential_robustness.pairs import ID
from trustreport.dimensions.potential_robustness.sites import (
    AT_THRESHOLD,
    MEASURES,
    SHARES,
    Site,
    variance,
    weighable,
)
from trustreport.dimensions.potential_robustness.sizes import Performance
from trustreport.estimate import Estimate, undefined
from trustreport.measures.binomial_normal import binomial_normal
from trustreport.measures.robustness import (
    Heterogeneity,
    heterogeneity,
    p_acceptability,
    p_performance,
    similarity_performance_correlation,
    spr,
    wpr,
)
from trustreport.measures.roc.auc import area_and_variance
from trustreport.plan import Plan
from trustreport.results import CUT, Result, Unit, answers, possible

NO_TRAINING_SCORES = "the training set has no scores: nothing to compare performance with"
NO_SPLITS = "no internal splits are declared"
OTHER_SPLITS = "internal splits are declared of a measure other than auc"
LEFT_OUT = "sites without a variance, or at the end of the scale, are left out"
NO_CASES = "sites without cases of the class are left out"
AT_END = "included at 0% or 100%: {names}"
INDEPENDENT = "cases of a site are taken as independent, although they come in clusters"
# Ends of what a measure can be, beyond those of a proportion.
POSSIBLE = {"standardized_net_benefit": (-inf, 1.0), "brier": (0.0, 1.0)}
METRICS = ("auc", "net_benefit", "brier")
METRIC_IDS = {"auc": "auc", "net_benefit": "standardized_net_benefit", "brier": "brier"}


@dataclass(frozen=True, eq=False)
class Scored:
    """A set with scores, its sites, how it performs, how alike it is to the training set (NaN: not known)."""

    case: Judged
    sites: tuple[Site, ...]
    reached: Performance
    similarity: float

    @property
    def external(self) -> bool:
        """Whether it comes from elsewhere."""
        return self.case.dataset.role == "external"


def training_area(cases: Sequence[Judged], candidate: str | None) -> tuple[float, float, int]:
    """Area under the ROC curve of all training sets by one candidate, its variance, and their cases."""
    own = [c for c in cases if c.dataset.role == "training" and c.scope.get("candidate") == candidate]
    if not own:
        return nan, nan, 0
    truth = np.concatenate([c.truth for c in own])
    area, spread, *_ = area_and_variance(
        truth, np.concatenate([c.suspicion for c in own if c.suspicion is not None])
    )
    return area, spread, len(truth)


def score_results(one: Scored, training: tuple[float, float, int], plan: Plan) -> list[Result]:
    """Strong and weak potential robustness, and the tests of performance that they are made of."""
    assert one.case.score is not None
    level, n = plan.report.confidence_level, len(one.case.truth)
    scope: dict[str, Any] = {**one.case.scope, "parameters": {"metric": "auc"}}
    area, spread = one.reached.auc.value, one.reached.auc.se**2
    internal, internal_spread, n_internal = training
    tested = p_performance(area, spread, n, internal, internal_spread, n_internal, level=level)
    if not n_internal:
        tested = undefined(n, NO_TRAINING_SCORES, level=level, method="delong")
    strong = spr(tested.p, one.similarity, n=n, level=level)
    if isnan(tested.p):
        strong = replace(strong, note=tested.note)
    splits = plan.internal_splits
    why = NO_SPLITS if splits is None or not splits.values else ""
    why = OTHER_SPLITS if splits and not why and splits.metric.lower() != "auc" else why
    if why or splits is None:
        accepted = undefined(n, why, level=level, method="delong")
    else:
        accepted = p_acceptability(area, spread, min(splits.values), n=n, level=level)
        accepted = replace(
            accepted,
            details={**accepted.details, "least": min(splits.values), "splits": float(len(splits.values))},
        )
    weak = wpr(accepted.p, one.similarity, n=n, level=level)
    weak = replace(weak, note=accepted.note if isnan(accepted.p) else weak.note)
    weak = replace(weak, details={**accepted.details, **weak.details})
    strong = replace(strong, details={**tested.details, **strong.details})
    found: tuple[tuple[str, Estimate, Unit], ...] = (
        ("p_performance", tested, "p"),
        ("p_acceptability", accepted, "p"),
        ("spr", strong, "score"),
        ("wpr", weak, "score"),
    )
    return [Result(f"{ID}.{name}", scope, estimate, unit, True) for name, estimate, unit in found]


def over_sets(scored: Sequence[Scored], scope: Mapping[str, Any], plan: Plan) -> list[Result]:
    """Over the external sets of one candidate: correlation with similarity, spread between sites."""
    level = plan.report.confidence_level
    sets = [one for one in scored if one.external]
    results = []
    for metric in METRICS:
        value = np.array([getattr(one.reached, metric).value for one in sets])
        similarity = np.array([one.similarity for one in sets])
        value = np.where(np.isfinite(value), value, nan)
        found = similarity_performance_correlation(similarity, value, level=level)
        found = replace(found, details={**found.details, "sets": float(len(sets))})
        here = {**scope, "parameters": {"metric": METRIC_IDS[metric]}}
        name = f"{ID}.similarity_performance_correlation"
        results += answers(name, here, [found], leads=found.method, unit="score")
    sites = [site for one in sets for site in one.sites]
    for metric in MEASURES:
        results += _between_sites(metric, sites, len(sets), scope, plan)
    return results


def _between_sites(
    metric: str, sites: Sequence[Site], n_sets: int, scope: Mapping[str, Any], plan: Plan
) -> list[Result]:
    """Each site's value where sets hold several, the mean over sites, their spread, and a new site."""
    measure = MEASURES[metric]
    threshold = plan.operating_point.threshold
    at = {"threshold": threshold} if metric in AT_THRESHOLD and threshold is not None else {}
    here = {**scope, **at, "parameters": {"metric": metric, "scale": measure.scale}}
    several = len(sites) > 1
    results = []
    if len(sites) > n_sets:
        for site in sites:
            name = site.label.removeprefix(f"{site.case.dataset.name}: ")
            there = {**here, "dataset": site.case.dataset.name, "site": name}
            one = possible(site.told(metric, plan), measure.unit)
            results.append(Result(f"{ID}.site_performance", there, one, measure.unit, True))
    found, known, note = (_of_counts if metric in SHARES else _weighed)(
        metric, sites if several else (), plan
    )
    left_out = len(sites) - known if several else 0
    also = {"sites": float(known), "sites_without_interval": float(left_out)}
    named: tuple[tuple[str, Estimate, Unit], ...] = (
        ("heterogeneity", found.i2, "proportion"),
        ("between_site_variance", found.tau2, "score"),
        ("pooled_performance", found.mean, measure.unit),
        ("prediction_interval", found.prediction_interval, measure.unit),
    )
    for name, e, unit in named:
        e = _within(e, *POSSIBLE.get(metric, (-inf, inf))) if unit == measure.unit else e
        said = replace(e, note="; ".join(filter(None, (e.note, note))), details={**e.details, **also})
        said = said if several else replace(said, n=len(sites))
        results.append(Result(f"{ID}.{name}", here, said, unit, True))
    return results


def _weighed(metric: str, sites: Sequence[Site], plan: Plan) -> tuple[Heterogeneity, int, str]:
    """From each site's value and variance: what is found, the number of sites that have both, a note."""
    of_site = [site.estimate(metric, plan) for site in sites]
    known = [(e.value, variance(metric, e)) for e in of_site if weighable(metric, e)]
    columns = (np.array(column) for column in (zip(*known) if known else ((), ())))
    found = heterogeneity(*columns, scale=MEASURES[metric].scale, level=plan.report.confidence_level)
    return found, len(known), LEFT_OUT if len(known) < len(sites) else ""


def _of_counts(metric: str, sites: Sequence[Site], plan: Plan) -> tuple[Heterogeneity, int, str]:
    """From each site's counts: what is found, the number of sites with cases, a note."""
    known = [(site, e) for site in sites if (e := site.estimate(metric, plan)).n and isfinite(e.value)]
    counts = np.array([(round(e.value * e.n), e.n) for _, e in known], float).reshape(-1, 2)
    found = binomial_normal(*counts.T, level=plan.report.confidence_level)
    at_end = [site.label for site, e in known if e.value in (0, 1) and not site.closed]
    notes = (
        NO_CASES if len(known) < len(sites) else "",
        AT_END.format(names=", ".join(at_end)) if at_end else "",
        INDEPENDENT if any(site.case.cluster is not None for site, _ in known) else "",
    )
    return found, len(known), "; ".join(filter(None, notes))


def _within(e: Estimate, least: float, most: float) -> Estimate:
    if not (e.low < least or e.high > most):
        return e
    note = "; ".join(filter(None, (e.note, CUT)))
    return replace(e, low=max(e.low, least), high=min(e.high, most), note=note)


def found_in(results: Sequence[Result], name: str, **scope: Any) -> Estimate | None:
    """The leading estimate of a quantity in a scope, whatever was chosen."""
    for r in results:
        wanted = r.id == f"{ID}.{name}" and r.primary and r.within(**scope)
        if wanted and "subsample" not in (r.scope.get("parameters") or {}):
            return r.estimate
    return None
