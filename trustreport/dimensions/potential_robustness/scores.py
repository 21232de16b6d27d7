"""Robustness scores of each set, and what holds over sets: correlation with similarity, heterogeneity."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan
from typing import Any

import numpy as np

from trustreport.dimensions.potential_robustness.sites import (
    COMPARED_OVER_SITES,
    Site,
    each_patient_once,
    variance,
    weighable,
)
from trustreport.dimensions.potential_robustness.sizes import CandidatePerformance
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
from trustreport.performance.cases import ScoredCases
from trustreport.performance.entries import CLUSTERED
from trustreport.performance.features import ID
from trustreport.performance.keys import joined_key
from trustreport.performance.measures import estimates, without_interval
from trustreport.performance.worst import worst_of
from trustreport.place import Place
from trustreport.plan import Plan
from trustreport.quantities import quantity
from trustreport.results import Result

NO_TRAINING_SCORES = "the training set has no scores: nothing to compare performance with"
NO_SPLITS = "no internal splits are declared"
OTHER_SPLITS = "internal splits are declared of a measure other than auc"
LEFT_OUT = "sites without a variance, or at the end of the scale, are left out"
NO_CASES = "sites without cases of the class are left out"
ELSEWHERE = "{n} cases of patients who are at an earlier site too are left out: each patient counts once"
AT_END = "included at 0% or 100%: {names}"
# Fewer sets, or sites, than this give an interval that holds nearly every value there is.
LEAST_SETS, LEAST_SITES = 10, 4
FEW_SETS = "with {n} sets, fewer than 10, its sign could be due to chance"
FEW_SITES = "not informative with {n} sites: an interval for a new site needs at least 4"
FEW_FOR_SPREAD = "an interval of the spread is not informative with {n} sites: it needs at least 4"
TYPICAL, NEW = "typical site", "new site"
METRICS = ("auc", "net_benefit", "brier")
METRIC_IDS = {"auc": "auc", "net_benefit": "standardized_net_benefit", "brier": "brier"}


@dataclass(frozen=True, eq=False)
class ScoredSet:
    """A set with scores, its sites, how it performs, how alike it is to the training set (NaN: not known)."""

    case: ScoredCases
    sites: tuple[Site, ...]
    reached: CandidatePerformance
    similarity: float

    @property
    def external(self) -> bool:
        """Whether it comes from elsewhere."""
        return self.case.dataset.role == "external"


def training_area(cases: Sequence[ScoredCases], candidate: str | None) -> tuple[float, float, int]:
    """Area under the ROC curve of all training sets by one candidate, its variance, and their cases."""
    own = [c for c in cases if c.dataset.role == "training" and c.place.candidate == candidate]
    if not own:
        return nan, nan, 0
    truth, score = (np.concatenate([c.ranked[k] for c in own]) for k in (0, 1))
    area, spread, *_ = area_and_variance(truth, score)
    return area, spread, len(truth)


def score_results(one: ScoredSet, training: tuple[float, float, int], plan: Plan) -> list[Result]:
    """Strong and weak potential robustness, and the tests of performance that they are made of."""
    level, n = plan.report.confidence_level, len(one.case)
    # Its tests are DeLong's, or Obuchowski's: by the variance of the area, not by the larger of two.
    method = "delong" if one.case.cluster is None else "obuchowski_clustered"
    own = [e for e in estimates(one.case, "auc", level) if e.method == method]
    area, spread = (own[0].value, own[0].se ** 2) if own else (one.reached.auc.value, nan)
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
    found = {"p_performance": tested, "p_acceptability": accepted, "spr": strong, "wpr": weak}
    more: dict[str, Any] = {"endpoint": "auc", "parameters": {"metric": "auc"}, "cases": one.case.key}
    return [Result(f"{ID}.{name}", one.case.place, e, primary=True, **more) for name, e in found.items()]


def over_sets(scored: Sequence[ScoredSet], candidate: str | None, plan: Plan) -> list[Result]:
    """Over the external sets of one candidate: correlation with similarity, spread between sites."""
    level = plan.report.confidence_level
    sets = [one for one in scored if one.external]
    place = Place(datasets=tuple(one.case.dataset.name for one in sets), candidate=candidate)
    results = []
    for metric in METRICS:
        value = np.array([getattr(one.reached, metric).value for one in sets])
        similarity = np.array([one.similarity for one in sets])
        value = np.where(np.isfinite(value), value, nan)
        found = similarity_performance_correlation(similarity, value, level=level)
        if not isnan(found.value) and found.n < LEAST_SETS:
            found = undefined(found.n, FEW_SETS.format(n=found.n), level=level, method=found.method)
        found = replace(found, details={**found.details, "sets": float(len(sets))})
        name = METRIC_IDS[metric]
        id, chosen = f"{ID}.similarity_performance_correlation", {"metric": name}
        results.append(Result(id, place, found, endpoint=name, parameters=chosen, primary=True))
    sites = [site for one in sets for site in one.sites]
    results += _worst_site(sites, place, level)
    once = each_patient_once(sites, plan)
    for name in COMPARED_OVER_SITES:
        results += between_sites(name, sites, once, len(sets), place, plan)
    return results


def _worst_site(sites: Sequence[Site], place: Place, level: float) -> Iterator[Result]:
    """The external site with the smallest area, of those that a report shows."""
    shown = [(site.label, site.case) for site in sites if not site.closed]
    found = worst_of(shown, "auc", level)
    if found is not None:
        label, case, e = found
        more: dict[str, Any] = {
            "parameters": {"metric": "auc", "sites": int(e.details["of"])},
            "details": {"site": label},
        }
        yield Result(f"{ID}.worst_site", place, e, endpoint="auc", cases=case.key, primary=True, **more)


def between_sites(
    name: str, sites: Sequence[Site], once: Sequence[Site], n_sets: int, place: Place, plan: Plan
) -> list[Result]:
    """Each site's value where sets hold several, the mean over sites, their spread, and a new site.

    What is over sites is of `once`, the sites with each patient at one of them.
    """
    row = quantity(name)
    at = plan.operating_point.threshold if row.counts_decisions else None
    if name == "net_benefit":
        at = plan.risk_threshold
    place = place.at(threshold=at)
    several, twice = len(once) > 1, sum(len(site.case) for site in sites) - sum(len(s.case) for s in once)
    more: dict[str, Any] = {
        "endpoint": name,
        "parameters": {"metric": name, "scale": row.scale},
        "primary": True,
    }
    results = []
    if len(sites) > n_sets:
        for site in sites:
            there = site.case.place.at(
                site=site.label.removeprefix(f"{site.case.dataset.name}: "), threshold=at
            )
            e = site.shown(name, plan)
            results.append(Result(f"{ID}.site_performance", there, e, cases=site.case.key, **more))
    found, known, note = (_of_counts if is_share(name) else _weighed)(name, once if several else (), plan)
    found = _informative(found)
    left_out = len(sites) - known if several else 0
    note = "; ".join(filter(None, (note, ELSEWHERE.format(n=twice) if twice else "")))
    also = {"sites": float(known), "sites_without_interval": float(left_out)}
    cases = joined_key(site.case.key for site in once)
    # made of the variances of sites, which respect clusters
    analysis = CLUSTERED if any(site.case.cluster is not None for site in once) else ""
    named: tuple[tuple[str, str | None, Estimate], ...] = (
        ("heterogeneity", None, found.i2),
        ("between_site_variance", None, found.tau2),
        ("pooled_performance", TYPICAL, found.mean),
        ("prediction_interval", NEW, found.prediction_interval),
    )
    for id, population, e in named:
        said = replace(e, note="; ".join(filter(None, (e.note, note))), details={**e.details, **also})
        said = said if several else replace(said, n=len(sites))
        there = place.at(population=population)
        results.append(Result(f"{ID}.{id}", there, said, cases=cases, analysis=analysis, **more))
    return results


def _informative(found: Heterogeneity) -> Heterogeneity:
    """The same without what so few sites cannot show.

    Over three sites the interval for a new site rests on one degree of freedom (t = 12.7), that of I^2 runs
    over nearly all there is (.6 to .997). The mean keeps its interval, which covers.
    """
    n = found.mean.n
    if isnan(found.mean.value) or n >= LEAST_SITES:
        return found
    why = FEW_FOR_SPREAD.format(n=n)
    tau2, i2 = (without_interval(e, why) for e in (found.tau2, found.i2))
    new = found.prediction_interval
    if not isnan(new.value):
        new = undefined(n, FEW_SITES.format(n=n), level=new.level, method=new.method)
    return Heterogeneity(found.mean, tau2, i2, new)


def is_share(name: str) -> bool:
    """Whether a measure is a share of cases: over sites it is one model of their counts."""
    return quantity(name).clustered == "cluster_wilson"


def _weighed(name: str, sites: Sequence[Site], plan: Plan) -> tuple[Heterogeneity, int, str]:
    """From each site's value and variance: what is found, the number of sites that have both, a note."""
    of_site = [site.estimate(name, plan) for site in sites]
    known = [(e.value, variance(name, e)) for e in of_site if weighable(name, e)]
    columns = (np.array(column) for column in (zip(*known) if known else ((), ())))
    scale = quantity(name).scale
    assert scale != "atanh"
    found = heterogeneity(*columns, scale=scale, level=plan.report.confidence_level)
    return found, len(known), LEFT_OUT if len(known) < len(sites) else ""


def _of_counts(name: str, sites: Sequence[Site], plan: Plan) -> tuple[Heterogeneity, int, str]:
    """From each site's counts: what is found, the number of sites with cases, a note.

    Where cases of a site come in clusters, as many cases as would tell as much if each were alone (Rao and
    Scott 1992).
    """
    known = [(site, e) for site in sites if (e := site.estimate(name, plan)).n and isfinite(e.value)]
    sizes = [_effective(e) for _, e in known]
    shares = np.array([e.value for _, e in known], np.float64)
    counts = np.array(sizes, np.float64)
    found = binomial_normal(shares * counts, counts, level=plan.report.confidence_level)
    at_end = [site.label for site, e in known if e.value in (0, 1) and not site.closed]
    notes = (
        NO_CASES if len(known) < len(sites) else "",
        AT_END.format(names=", ".join(at_end)) if at_end else "",
    )
    return found, len(known), "; ".join(filter(None, notes))


def _effective(e: Estimate) -> float:
    """The cases of a share that tell as much as independent ones; each cluster one where nothing varies."""
    if "clusters" not in e.details:
        return float(e.n)
    return min(e.n / e.details.get("design_effect", e.n / e.details["clusters"]), float(e.n))


def found_in(results: Sequence[Result], name: str, **scope: Any) -> Estimate | None:
    """The primary estimate of a quantity in a scope, whatever was chosen."""
    for r in results:
        wanted = r.id == f"{ID}.{name}" and r.primary and r.within(**scope)
        if wanted and "subsample" not in r.parameters:
            return r.estimate
    return None
