"""Each measure site by site, the robustness scores of each set, and what holds over sets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.potential_robustness.axes import (
    NO_TEST,
    SIZED_AS,
    CandidatePerformance,
    Precision,
    measures_of,
    own_precision,
    precision,
)
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.features import ID
from trustreport.assessment.performance.keys import joined_key, public_cell, suppressed
from trustreport.assessment.performance.measures import CLUSTERED, lead, without_interval, worst_of
from trustreport.assessment.performance.sites import sites_in
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.sites.binomial_normal import binomial_normal
from trustreport.measures.sites.heterogeneity import Heterogeneity, heterogeneity
from trustreport.measures.sites.robustness import (
    p_acceptability,
    p_performance,
    similarity_performance_correlation,
    spr,
    wpr,
)
from trustreport.study.clusters import clusters_over
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result

# What is compared over sites, on the scale that its row of quantities gives.
COMPARED_OVER_SITES = (
    *("auc", "sensitivity", "specificity"),
    *("standardized_net_benefit", "brier", "calibration_slope", "oe_ratio"),
)
NOTHING = Estimate(nan, nan, nan, 0)


@dataclass(frozen=True, eq=False)
class Site:
    """The cases of one site; `label` is its name, that of the set where the set names no sites.

    `closed`: a public report shows nothing of it by itself.
    """

    label: str
    case: ScoredCases
    closed: bool = False

    def estimate(self, name: str, plan: Plan) -> Estimate:
        """A measure at this site."""
        return lead(self.case, name, plan.report.confidence_level)

    def shown(self, name: str, plan: Plan) -> Estimate:
        """The same as a report shows it."""
        e = self.estimate(name, plan)
        return suppressed(e, public_cell(plan)) if self.closed else e


def sites_of(case: ScoredCases, plan: Plan) -> list[Site]:
    """The sites of a set; the set itself where it names none or one, or not the site of every case."""
    sites, name = case.dataset.cases.site, case.dataset.name
    whole = sites is None or bool((sites.codes[case.rows] < 0).any())
    cut = [] if whole else [one for one in sites_in(case, plan, inf) if len(one.case)]
    if len(cut) < 2 and case.shared is None:
        return [Site(name, case)]
    return [Site(f"{name}: {one.name}", one.case, one.closed) for one in cut] + _without_cells(case, name)


def _without_cells(case: ScoredCases, name: str) -> list[Site]:
    """The sites that hand over numbers of scores, but not the counts that their cases are made of."""
    shared, sites = case.shared, case.dataset.cases.site
    if shared is None or sites is None:
        return []
    nobody, found = np.zeros(len(case), bool), []
    for one in sorted(set(shared.sites) - set(sites.labels)):
        there = case.part(nobody, case.place.narrowed(site=one))
        found.append(Site(f"{name}: {one}", replace(there, shared=shared.site(one))))
    return found


def each_patient_once(sites: Sequence[Site], plan: Plan) -> list[Site]:
    """The sites with every patient at the first of them that has a case of his; sites without cases go."""
    datasets = {site.case.dataset.name: site.case.dataset for site in sites}
    codes = dict(zip(datasets, clusters_over(list(datasets.values()), plan, within_site=True)))
    least = min((int(code.min()) for code in codes.values() if len(code)), default=0)
    most = max((int(code.max()) for code in codes.values() if len(code)), default=0)
    seen, found = np.zeros(most - least + 1, bool), []
    for site in sites:
        own = codes[site.case.dataset.name][site.case.rows] - least
        again = seen[own]
        seen[own] = True
        if not again.any():
            found.append(site)
        elif not again.all():
            found.append(replace(site, case=site.case.part(~again)))
    return found


def variance(name: str, e: Estimate) -> float:
    """The variance of a measure at a site, in its own unit; NaN where it has none."""
    return (e.value * e.se) ** 2 if quantity(name).scale == "log" else e.se**2


def weighable(name: str, e: Estimate) -> bool:
    """Whether a site can be weighed: it has a value inside the scale, and a variance."""
    row = quantity(name)
    low, high = (row.low, row.high) if row.scale != "identity" else (-inf, inf)
    return isfinite(e.value) and low < e.value < high and variance(name, e) > 0


NO_TRAINING_SCORES = note("training_set_has_no_scores_nothing")
NO_SPLITS = note("no_internal_splits_declared")
OTHER_SPLITS = note("no_internal_splits_declared_this_measure")
LEFT_OUT = note("sites_without_variance_or_at_end")
NO_CASES = note("sites_without_cases_class_left_out")
# Fewer sites than this give an interval that holds nearly every value there is.
LEAST_SITES = 4
TYPICAL, NEW = "typical site", "new site"
MISSING = Estimate(nan, nan, nan, 0)


@dataclass(frozen=True, eq=False)
class ScoredSet:
    """A set with scores, its sites, how it performs, how alike it is to the training set (NaN: not known).

    `on_axes` holds the measures of the external performance diagram, in its order.
    """

    case: ScoredCases
    sites: tuple[Site, ...]
    reached: CandidatePerformance
    on_axes: Mapping[str, Estimate]
    similarity: float

    @property
    def external(self) -> bool:
        """Whether it comes from elsewhere."""
        return self.case.dataset.role == "external"


def in_training(cases: Sequence[ScoredCases], candidate: str | None, plan: Plan) -> dict[str, Precision]:
    """Each measure of the diagram over all training sets by one candidate."""
    own = [c for c in cases if c.dataset.role == "training" and c.place.candidate == candidate]
    return {name: precision(own, name, plan) for name in measures_of(plan)}


def score_results(one: ScoredSet, training: Mapping[str, Precision], plan: Plan) -> list[Result]:
    """Strong and weak potential robustness by each measure, and the tests that they are made of."""
    return [r for name in training for r in _of_measure(one, name, training[name], plan)]


def _of_measure(one: ScoredSet, name: str, training: Precision, plan: Plan) -> Iterator[Result]:
    level, n = plan.report.confidence_level, len(one.case)
    test, at_least = ("delong", "delong") if name == "auc" else ("welch", "wald_test")
    here = own_precision(one.case, name, plan)
    why = (
        one.on_axes[name].note
        if isnan(one.on_axes[name].value)
        else NO_TEST
        if name in ("gici", "ece")
        else NO_NOTE
    )
    without = why or (NO_NOTE if training.n else NO_TRAINING_SCORES)
    if without:
        tested = undefined(n, without, level=level, method=test)
    else:
        of = (here.value, here.variance, n, training.value, training.variance, training.n)
        tested = p_performance(*of, method=test, level=level)
    strong = spr(tested.p, one.similarity, n=n, level=level)
    if isnan(tested.p):
        strong = replace(strong, note=tested.note)
    splits = plan.internal_splits
    values = splits.values_of(name) if splits else ()
    why = why or (NO_SPLITS if splits is None else NO_NOTE if values else OTHER_SPLITS)
    if why:
        accepted = undefined(n, why, level=level, method=at_least)
    else:
        down = quantity(name).better == "down"
        least = max(values) if down else min(values)
        chosen: dict[str, Any] = {"n": n, "method": at_least, "level": level}
        accepted = p_acceptability(here.value, here.variance, least, lower_is_better=down, **chosen)
        also = {"least": least, "splits": float(len(values))}
        accepted = replace(accepted, details={**accepted.details, **also})
    weak = wpr(accepted.p, one.similarity, n=n, level=level)
    weak = replace(weak, note=accepted.note if isnan(accepted.p) else weak.note)
    weak = replace(weak, details={**accepted.details, **weak.details})
    strong = replace(strong, details={**tested.details, **strong.details})
    found = {"p_performance": tested, "p_acceptability": accepted, "spr": strong, "wpr": weak}
    more: dict[str, Any] = {"endpoint": name, "parameters": {"metric": name}, "cases": one.case.key}
    for id, e in found.items():
        yield Result(f"{ID}.{id}", one.case.place, e, primary=True, **more)


def over_sets(scored: Sequence[ScoredSet], candidate: str | None, plan: Plan) -> list[Result]:
    """Over the external sets of one candidate: correlation with similarity, spread between sites."""
    level = plan.report.confidence_level
    sets = [one for one in scored if one.external]
    place = Place(datasets=tuple(one.case.dataset.name for one in sets), candidate=candidate)
    results = []
    similarity = [one.similarity for one in sets]
    for name in measures_of(plan):
        found = correlated(similarity, [one.on_axes[name].value for one in sets], plan)
        id, chosen = f"{ID}.similarity_performance_correlation", {"metric": name}
        results.append(Result(id, place, found, endpoint=name, parameters=chosen, primary=True))
    sites = [site for one in sets for site in one.sites]
    results += _worst_site(sites, place, level)
    once = each_patient_once(sites, plan)
    for name in COMPARED_OVER_SITES:
        results += between_sites(name, sites, once, len(sets), place, plan)
    return results


def correlated(similarity: Sequence[float], values: Sequence[float], plan: Plan) -> Estimate:
    """The correlation of similarity and performance over sets, with a note where they are few."""
    value = np.array([v if isfinite(v) else nan for v in values], np.float64)
    alike = np.array(similarity, np.float64)
    found = similarity_performance_correlation(alike, value, level=plan.report.confidence_level)
    least = int(plan.limit("P44_sets"))
    few = (
        note("few_sets_with_fewer_than_sign", n=found.n, least=least)
        if isfinite(found.value) and found.n < least
        else NO_NOTE
    )
    said = found.note + few
    return replace(found, note=said, details={**found.details, "sets": float(len(values))})


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
    place = place.narrowed(threshold=at)
    several, twice = len(once) > 1, sum(len(site.case) for site in sites) - sum(len(s.case) for s in once)
    more: dict[str, Any] = {
        "endpoint": name,
        "parameters": {"metric": name, "scale": row.scale},
        "primary": True,
    }
    results = []
    if len(sites) > n_sets:
        for site in sites:
            there = site.case.place.narrowed(
                site=site.label.removeprefix(f"{site.case.dataset.name}: "), threshold=at
            )
            e = site.shown(name, plan)
            results.append(Result(f"{ID}.site_performance", there, e, cases=site.case.key, **more))
    found, known, about = (_of_counts if is_share(name) else _weighed)(name, once if several else (), plan)
    found = informative(found)
    left_out = len(sites) - known if several else 0
    if twice:
        about += note("cases_patients_who_at_earlier_site", n=twice)
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
        said = replace(e, note=e.note + about, details={**e.details, **also})
        said = said if several else replace(said, n=len(sites))
        there = place.narrowed(population=population)
        results.append(Result(f"{ID}.{id}", there, said, cases=cases, analysis=analysis, **more))
    return results


def informative(found: Heterogeneity) -> Heterogeneity:
    """The same without what so few sites cannot show.

    Over three sites the interval for a new site rests on one degree of freedom (t = 12.7), that of I^2 runs
    over nearly all there is (.6 to .997). The mean keeps its interval, which covers.
    """
    n = found.mean.n
    if isnan(found.mean.value) or n >= LEAST_SITES:
        return found
    why = note("interval_spread_not_informative_with_sites", n=n)
    tau2, i2 = (without_interval(e, why) for e in (found.tau2, found.i2))
    new = found.prediction_interval
    if not isnan(new.value):
        new = undefined(
            n, note("not_informative_with_sites_interval_for", n=n), level=new.level, method=new.method
        )
    return Heterogeneity(found.mean, tau2, i2, new)


def is_share(name: str) -> bool:
    """Whether a measure is a share of cases: over sites it is one model of their counts."""
    return quantity(name).clustered == "cluster_wilson"


def _weighed(name: str, sites: Sequence[Site], plan: Plan) -> tuple[Heterogeneity, int, Note]:
    """From each site's value and variance: what is found, the number of sites that have both, a note."""
    of_site = [site.estimate(name, plan) for site in sites]
    known = [(e.value, variance(name, e)) for e in of_site if weighable(name, e)]
    columns = (np.array(column) for column in (zip(*known) if known else ((), ())))
    scale = quantity(name).scale
    assert scale != "atanh"
    found = heterogeneity(*columns, scale=scale, level=plan.report.confidence_level)
    return found, len(known), LEFT_OUT if len(known) < len(sites) else NO_NOTE


def _of_counts(name: str, sites: Sequence[Site], plan: Plan) -> tuple[Heterogeneity, int, Note]:
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
    said = NO_CASES if len(known) < len(sites) else NO_NOTE
    if at_end:
        said += note("included_at_0_or_100", names=", ".join(at_end))
    return found, len(known), said


def _effective(e: Estimate) -> float:
    """The cases of a share that tell as much as independent ones; each cluster one where nothing varies."""
    if "clusters" not in e.details:
        return float(e.n)
    return min(e.n / e.details.get("design_effect", e.n / e.details["clusters"]), float(e.n))


def estimate(results: Sequence[Result], name: str, **scope: Any) -> Estimate:
    """The primary estimate of a quantity, apart from those of cut-down sets; else an undefined one."""
    for r in results:
        wanted = r.id == f"{ID}.{name}" and r.primary and r.within(**scope)
        if wanted and "subsample" not in r.parameters:
            return r.estimate
    return MISSING


def reached(needed: Estimate) -> float:
    """The share of a minimum sample size that a set has."""
    return float(needed.details.get("reached", nan))


@dataclass(frozen=True, eq=False)
class SetsOfCandidate:
    """What was found of one candidate over the sets; `number` ends the ids of its tables and figures."""

    results: Sequence[Result]
    compared: Sequence[Dataset]
    scored: Sequence[ScoredSet]
    candidate: str | None
    plan: Plan
    number: int

    @property
    def known(self) -> list[ScoredSet]:
        """The sets of which it is known how alike they are to the training data."""
        return [one for one in self.scored if not isnan(one.similarity)]

    def of_set(self, name: str, dataset: str) -> Estimate:
        """A quantity of how alike a set is."""
        return estimate(self.results, name, dataset=dataset)

    def sized(self, name: str, one: ScoredSet) -> Estimate:
        """The minimum sample size of a measure for a set."""
        return estimate(self.results, f"mss_{name}", **one.case.place.scope)

    def sized_on_axis(self, name: str, one: ScoredSet) -> Estimate:
        """The minimum sample size of a measure of the diagram for a set."""
        if name in SIZED_AS:
            return self.sized(SIZED_AS[name], one)
        return estimate(self.results, "mss", endpoint=name, **one.case.place.scope)

    def over(self, name: str, metric: str) -> Result | None:
        """A quantity over sets, of one measure."""
        for r in self.results:
            named = r.id == f"{ID}.{name}" and r.within(candidate=self.candidate)
            if named and r.endpoint == metric:
                return r
        return None

    def effects(self, dataset: str) -> Mapping[str, Estimate]:
        """The sizes of the difference of a set from the training data, by method."""
        wanted = (r for r in self.results if r.id == f"{ID}.similarity_effect" and r.within(dataset=dataset))
        return {r.method: r.estimate for r in wanted}
