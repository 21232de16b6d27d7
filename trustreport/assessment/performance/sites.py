"""The sites inside a data set from elsewhere: the cases of each, measured like a set of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.small_cells import closed, public_cell, suppressed
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset
from trustreport.vocabulary.results import Result

# Sets that hold the cases of others.
ROLES = ("external", "local")
# A set with more sites than this has every measure of none: nobody reads a hundred numbers of each.
MOST_SITES = 200
# Intervals that need resampling: of sites with so many cases together as many resamples as of a set, with
# more a part of them, with more sites than this none. Then they cost no more than those of the set itself.
IN_FULL = 4_000
MOST_RESAMPLED = 100
RESAMPLES, FEWER = 1_000, 200


@dataclass(frozen=True, eq=False)
class SiteOf:
    """The analysed cases of one site of a data set and candidate; `name` is that of the site.

    `closed`: a public report shows nothing of it.
    """

    name: str
    case: ScoredCases
    closed: bool = False

    def shown(self, results: Iterable[Result], plan: Plan) -> list[Result]:
        """Its results, without their numbers where it is closed."""
        if not self.closed:
            return list(results)
        least = public_cell(plan)
        return [replace(r, estimate=suppressed(r.estimate, least), details={}) for r in results]


def sites_in(case: ScoredCases, plan: Plan, most: float = MOST_SITES) -> list[SiteOf]:
    """The sites that a set names, in the order of their names; empty where there are not two, or over `most`.

    Cases of which no site is known are in none. Cases belong together by what is declared, the site apart:
    within a site they all share it.
    """
    sites, dataset = case.dataset.cases.site, case.dataset
    if dataset.role not in ROLES or sites is None or case.place.dataset is None:
        return []  # what readers were shown is reported by task, not by site
    if "present" not in case.memo:
        codes = np.asarray(sites.codes)[case.rows]
        case.memo["present"] = np.unique(codes[codes >= 0])
    present = case.memo["present"]
    if not 2 <= len(present) <= most:
        return []
    made = ("sites", id(plan.datasets))
    if made not in case.memo:
        cluster = clusters_of(dataset, plan).within_site
        apart: Any = None if cluster is None else cluster[case.rows]
        if cluster is None and case.cluster is not None:
            apart = np.arange(len(case))
        names = {int(one): sites.labels[int(one)] for one in present}
        places = {one: case.place.at(site=name) for one, name in names.items()}
        parts = case.parts(np.asarray(sites.codes)[case.rows], places, apart=apart)
        case.memo[made] = [SiteOf(name, part) for name, part in zip(names.values(), parts)]
    cut: list[SiteOf] = case.memo[made]
    shut = _closed([one.case for one in cut], public_cell(plan))
    return [replace(one, closed=i in shut) for i, one in enumerate(cut)]


def _closed(cases: Sequence[ScoredCases], least: int) -> set[int]:
    """The sites of which a public report shows nothing: those with a cell too small.

    Where a single one would be left out, what is left of the set would give it away: the smallest other goes
    too.
    """
    if not least:
        return set()
    shut = {i for i, case in enumerate(cases) if closed(_cells(case), least)}
    if len(shut) == 1:
        shut.add(min((i for i in range(len(cases)) if i not in shut), key=lambda i: len(cases[i])))
    return shut


def _cells(case: ScoredCases) -> tuple[int, ...]:
    counts, present = case.counts, int(case.truth.sum())
    if counts is None:
        return present, len(case) - present
    return counts.tp, counts.fp, counts.fn, counts.tn, counts.positives, counts.negatives


def load(datasets: Iterable[Dataset]) -> tuple[int, int]:
    """How many sites there are to be measured, and how many cases they hold, by every candidate."""
    cases = sites = 0
    for dataset in datasets:
        column = dataset.cases.site
        if dataset.role in ROLES and column is not None:
            named = np.unique(column.codes[column.codes >= 0])
            several = 2 <= len(named) <= MOST_SITES
            cases += len(dataset.cases) * len(dataset.scores) * several
            sites += len(named) * len(dataset.scores) * several
    return sites, cases


def resamples(datasets: Iterable[Dataset]) -> int | None:
    """How often the cases of each site of these sets are drawn anew; None where there are too many sites."""
    sites, cases = load(datasets)
    if sites > MOST_RESAMPLED:
        return None
    return RESAMPLES if cases <= IN_FULL else FEWER
