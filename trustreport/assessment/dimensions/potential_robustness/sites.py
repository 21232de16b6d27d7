"""Performance site by site: the sites of each external set, and each measure there with its variance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, nan

import numpy as np

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.keys import public_cell, suppressed
from trustreport.assessment.performance.measures import lead
from trustreport.assessment.performance.sites import sites_in
from trustreport.measures.estimate import Estimate
from trustreport.study.clusters import clusters_over
from trustreport.study.plan import Plan
from trustreport.vocabulary.quantities import quantity

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
