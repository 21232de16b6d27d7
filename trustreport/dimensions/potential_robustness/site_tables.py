"""The tables of sites within a set: the advice at each, and what its scores mean there."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from trustreport.dimensions.advice_accuracy.measured import Judged, counts_of, judged, lead_of
from trustreport.dimensions.advice_accuracy.sites import MOST_SITES, SiteOf, sites_in
from trustreport.dimensions.potential_robustness.pairs import ID
from trustreport.dimensions.potential_robustness.sites import MEASURES
from trustreport.dimensions.small_cells import public_cell
from trustreport.estimate import Estimate
from trustreport.finding import Column, PlainTable
from trustreport.messages import Message, say
from trustreport.plan import Plan
from trustreport.results import possible
from trustreport.study import Dataset, Study

# Measure, and whether there is room for its interval.
ADVICE = (
    ("accuracy", True),
    ("sensitivity", True),
    ("specificity", True),
    ("ppv", False),
    ("npv", False),
)
SCORES = (("auc", True), ("brier", True), ("calibration_slope", True), ("oe_ratio", True))
TABLES = {"advice": ADVICE, "scores": SCORES}
OF_DECISIONS = ("accuracy", "sensitivity", "specificity", "ppv", "npv")


def cases_with_sites(
    compared: Sequence[Dataset], candidate: str | None, study: Study, plan: Plan
) -> Iterator[Judged]:
    """What one candidate said of the sets that name sites."""
    for dataset in compared:
        for case in judged(dataset, study, plan) if dataset.cases.site is not None else ():
            if case.scope.get("candidate") == candidate:
                yield case


def said_of_sites(cases: Sequence[Judged], plan: Plan) -> Iterator[Message]:
    """Which sites are not told of one by one, and which cases are in none."""
    for case in cases:
        name, sites = case.dataset.name, sites_in(case, plan, float("inf"))
        if len(sites) > MOST_SITES:
            yield say(f"{ID}.sites.many", name=name, n=len(sites))
            continue
        shut = [one.name for one in sites if one.closed]
        if shut:
            yield say("subgroups.suppressed", n=len(shut), names=shut, k=public_cell(plan))
        inside = sum(len(one.case.truth) for one in sites)
        if sites and inside < len(case.truth):
            yield say(f"{ID}.sites.unnamed", name=name, n=len(case.truth) - inside)


def site_tables(cases: Sequence[Judged], number: int, plan: Plan) -> Iterator[PlainTable]:
    """A row a site, for each set that names several."""
    for i, case in enumerate(cases, 1):
        sites, first = sites_in(case, plan), True
        for name, wanted in TABLES.items():
            values = {measure: [_estimate(measure, one, plan) for one in sites] for measure, _ in wanted}
            shown = [(m, whole) for m, whole in wanted if any(_known(e) for e in values[m])]
            if not shown:
                continue
            columns = (
                Column(say(f"{ID}.column.site")),
                Column(say(f"{ID}.column.n"), "count"),
                *([Column(say(f"{ID}.column.positive"), "count")] if first else []),
                *(Column(say(f"{ID}.sites.{m}"), "number" if whole else "number.3") for m, whole in shown),
            )
            rows = tuple(
                _row(one, [_cell(values[m][k], whole=whole) for m, whole in shown], positives=first)
                for k, one in enumerate(sites)
            )
            caption = say(f"{ID}.table_sites_{name}", name=case.dataset.name)
            yield PlainTable(f"{ID}_sites_{name}_{number}_{i}", caption, columns, rows)
            first = False  # the second has no room for the positives


def _estimate(measure: str, one: SiteOf, plan: Plan) -> Estimate | None:
    if measure in OF_DECISIONS:
        return lead_of(measure, one.case, plan)
    known = MEASURES[measure]
    return possible(known.of(one.case, plan), known.unit) if one.case.score is not None else None


def _known(e: Estimate | None) -> bool:
    return e is not None and not isnan(e.value)


def _cell(e: Estimate | None, *, whole: bool) -> Any:
    """An estimate, its value where there is no room for more; nothing where there is none."""
    return None if e is None else e if whole else e.value


def _row(one: SiteOf, cells: list[Any], *, positives: bool) -> tuple[Any, ...]:
    """The site, its cases and positives, its measures; nothing but its name where it is closed."""
    counts = counts_of(one.case)
    n = (counts.n, counts.positives) if counts else (len(one.case.truth), int(one.case.truth.sum()))
    row = (one.name, *(n if positives else n[:1]), *cells)
    return (say(f"{ID}.sites.suppressed", name=one.name), *(None for _ in row[1:])) if one.closed else row
