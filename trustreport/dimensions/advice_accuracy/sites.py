"""The sites inside a data set from elsewhere: the cases of each, measured like a set of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.advice_accuracy.clusters import clustering
from trustreport.dimensions.advice_accuracy.measured import Judged, counts_of
from trustreport.dimensions.small_cells import closed, public_cell, suppressed
from trustreport.plan import Plan
from trustreport.results import Result
from trustreport.study import Dataset

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
    """The judged cases of one site of a data set and candidate; `name` is that of the site.

    `closed`: a public report tells nothing of it.
    """

    name: str
    case: Judged
    closed: bool = False

    def told(self, results: Iterable[Result], plan: Plan) -> list[Result]:
        """Its results, without their numbers where it is closed."""
        if not self.closed:
            return list(results)
        least = public_cell(plan)
        return [replace(r, estimate=suppressed(r.estimate, least), details={}) for r in results]


def sites_in(case: Judged, plan: Plan, most: float | None = None) -> list[SiteOf]:
    """The sites that a set names, in the order of their names; empty where there are not two.

    So it is where there are more than `most`, which is the number of which every measure is told.

    Cases of which no site is known are in none. Cases belong together by what is declared, the site apart:
    within a site they all share it.
    """
    sites, dataset = case.dataset.cases.site, case.dataset
    if dataset.role not in ROLES or sites is None or "dataset" not in case.scope:
        return []  # what readers were shown is told of by task, not by site
    codes = np.asarray(sites.codes)
    counted = case.known | _silent(case)
    present = np.unique(codes[counted & (codes >= 0)])
    if not 2 <= len(present) <= (MOST_SITES if most is None else most):
        return []
    cluster = clustering(dataset, plan, apart="site").of_case
    cut = [_cut(case, sites.labels[int(one)], codes == one, cluster) for one in present]
    shut = _closed([one.case for one in cut], public_cell(plan))
    return [replace(one, closed=i in shut) for i, one in enumerate(cut)]


def _silent(case: Judged) -> NDArray[np.bool_]:
    """Cases of known truth without an output, where a rule counts them, (n_cases,)."""
    if case.undecided is None:
        return np.zeros(case.known.shape, bool)
    return case.silent


def _cut(case: Judged, name: str, of: NDArray[np.bool_], cluster: NDArray[np.int64] | None) -> SiteOf:
    """The part of a set that a mask over its cases names, as a set of its own would be judged."""
    known, silent = case.known & of, _silent(case) & of
    rows = of[case.known]
    own = None
    if cluster is not None and len(np.unique(cluster[of])) < np.count_nonzero(of):
        own = cluster
    undecided = case.undecided
    if undecided is not None:
        inside = of[_silent(case)]
        grouped = None if own is None else own[silent]
        kept = replace(undecided, truth=undecided.truth[inside], cluster=grouped)
        undecided = kept if inside.any() else None

    def rows_of(column: NDArray[Any] | None) -> NDArray[Any] | None:
        return None if column is None else column[rows]

    return SiteOf(
        name,
        replace(
            case,
            scope={**case.scope, "site": name},
            truth=case.truth[rows],
            score=rows_of(case.score),
            decision=rows_of(case.decision),
            known=known,
            cluster=None if own is None else own[known],
            undecided=undecided,
        ),
    )


def _closed(cases: Sequence[Judged], least: int) -> set[int]:
    """The sites of which a public report tells nothing: those with a cell too small.

    Where a single one would be left out, what is left of the set would tell of it: the smallest other goes
    too.
    """
    if not least:
        return set()
    shut = {i for i, case in enumerate(cases) if closed(_cells(case), least)}
    if len(shut) == 1:
        shut.add(min((i for i in range(len(cases)) if i not in shut), key=lambda i: len(cases[i].truth)))
    return shut


def _cells(case: Judged) -> tuple[int, ...]:
    counts, present = counts_of(case), int(case.truth.sum())
    if counts is None:
        return present, len(case.truth) - present
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
