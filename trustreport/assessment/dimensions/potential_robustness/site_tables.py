"""The tables of sites within a set: the advice at each, and what its scores mean there."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from trustreport.assessment.finding import PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.performance.cases import ScoredCases, of_dataset
from trustreport.assessment.performance.features import ID
from trustreport.assessment.performance.keys import public_cell
from trustreport.assessment.performance.measures import lead
from trustreport.assessment.performance.sites import MOST_SITES, SiteOf, sites_in
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Study
from trustreport.vocabulary.messages import Message, say

# Measure, and whether there is room for its interval.
OF_ADVICE = (
    ("accuracy", True),
    ("sensitivity", True),
    ("specificity", True),
    ("ppv", False),
    ("npv", False),
)
OF_SCORES = (("auc", True), ("brier", True), ("calibration_slope", True), ("oe_ratio", True))
TABLES = {"advice": OF_ADVICE, "scores": OF_SCORES}


def cases_with_sites(
    compared: Sequence[Dataset], candidate: str | None, study: Study, plan: Plan
) -> Iterator[ScoredCases]:
    """What one candidate said of the sets that name sites."""
    for dataset in compared:
        for case in of_dataset(dataset, study, plan) if dataset.cases.site is not None else ():
            if case.place.candidate == candidate:
                yield case


def remarks_on_sites(cases: Sequence[ScoredCases], plan: Plan) -> Iterator[Message]:
    """Which sites are not reported one by one, and which cases are in none."""
    for case in cases:
        name, sites = case.dataset.name, sites_in(case, plan, float("inf"))
        if len(sites) > MOST_SITES:
            yield say(f"{ID}.sites.many", name=name, n=len(sites))
            continue
        shut = [one.name for one in sites if one.closed]
        if shut:
            yield say("subgroups.suppressed", n=len(shut), names=shut, k=public_cell(plan))
        inside = sum(len(one.case) for one in sites)
        if sites and inside < len(case):
            yield say(f"{ID}.sites.unnamed", name=name, n=len(case) - inside)


def site_tables(cases: Sequence[ScoredCases], number: int, plan: Plan) -> Iterator[PlainTable]:
    """A row a site, for each set that names several."""
    level = plan.report.confidence_level
    for i, case in enumerate(cases, 1):
        sites, first = sites_in(case, plan), True
        for name, wanted in TABLES.items():
            there = case.decision is not None if name == "advice" else case.score is not None
            shown = [(m, whole) for m, whole in wanted if there and _known(m, sites, level)]
            if not shown:
                continue
            yield table(
                f"{ID}_sites_{name}_{number}_{i}",
                say(f"{ID}.table_sites_{name}", name=case.dataset.name),
                sites,
                [
                    (f"{ID}.column.site", _name),
                    (f"{ID}.column.n", lambda one: None if one.closed else len(one.case), "count"),
                    (f"{ID}.column.positive", _positives, "count") if first else None,
                    *(
                        (
                            f"{ID}.sites.{m}",
                            lambda one, m=m, whole=whole: _cell(m, one, level, whole=whole),
                            "number" if whole else "number.3",
                        )
                        for m, whole in shown
                    ),
                ],
            )
            first = False  # the second has no room for the positives


def _name(one: SiteOf) -> Message | str:
    return say(f"{ID}.sites.suppressed", name=one.name) if one.closed else one.name


def _known(name: str, sites: Sequence[SiteOf], level: float) -> bool:
    return any(not isnan(lead(one.case, name, level).value) for one in sites)


def _positives(one: SiteOf) -> int | None:
    return None if one.closed else int(one.case.truth.sum())


def _cell(name: str, one: SiteOf, level: float, *, whole: bool) -> Any:
    """An estimate, its value where there is no room for more; nothing where the site is closed."""
    if one.closed:
        return None
    e = lead(one.case, name, level)
    return e if whole else e.value
