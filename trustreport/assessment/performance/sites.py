"""Cases by site and by groups of a pool: sites apart, sites pooled, and how errors concentrate."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import Mask, ScoredCases
from trustreport.assessment.performance.keys import case_key, closed, joined_key, public_cell, suppressed
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate
from trustreport.study.clusters import are_distinct, clusters_of, clusters_over
from trustreport.study.plan import Plan
from trustreport.study.study import Coded, Dataset
from trustreport.vocabulary.place import Place
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
        places = {one: case.place.narrowed(site=name) for one, name in names.items()}
        parts = case.parts(np.asarray(sites.codes)[case.rows], places, apart=apart)
        if case.shared is not None:
            own = [case.shared.site(name) for name in names.values()]
            parts = [replace(part, shared=shared) for part, shared in zip(parts, own)]
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


ColumnKind = Literal["group", "site", "version", "period", "dataset"]
Codes = NDArray[np.int64]

MOST_LEVELS = 12  # a column with more names than this is no characteristic


@dataclass(frozen=True, eq=False)
class PooledColumn:
    """A column of the pooled cases: its names, and which one each case has, (n,); -1 where unknown.

    `start` is the period that parts two phases, where the periods are taken as such.
    """

    name: str
    kind: ColumnKind
    levels: tuple[str, ...]
    codes: Codes
    start: str = ""


@dataclass(frozen=True, eq=False)
class Pool:
    """The analysed cases of one candidate over several data sets, (n,) each.

    Parameters
    ----------
    truth, decision : as in `ScoredCases`; failed cases are decided by the rule
    of_set : which of `parts` a case is of
    cluster : which cases belong together; None where each is a cluster of its own
    within_site : the same with sites taken as they are, not as a sample of sites
    """

    place: Place
    parts: tuple[ScoredCases, ...]
    truth: Mask
    decision: Mask
    of_set: Codes
    cluster: Clusters | None
    within_site: Clusters | None
    characteristics: tuple[PooledColumn, ...]

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where the cases of each set begin, and where the last one ends."""
        return np.concatenate([[0], np.cumsum([len(part) for part in self.parts])])

    def names(self, of: Mask) -> tuple[str, ...]:
        """The data sets that hold some of the cases, (n,)."""
        held = set(np.unique(self.of_set[of]).tolist())
        return tuple(part.dataset.name for i, part in enumerate(self.parts) if i in held)

    def key(self, of: Mask) -> str:
        """Which cases these are (`trustreport.assessment.performance.keys`)."""
        keys = []
        for i, part in enumerate(self.parts):
            own = of[self.starts[i] : self.starts[i + 1]]
            if own.any():
                keys.append(case_key(part.dataset.name, part.dataset.cases.labels, part.rows[own]))
        return keys[0] if len(keys) == 1 else joined_key(keys)


def pooled(parts: Sequence[ScoredCases], plan: Plan, *, in_time: bool = False) -> Pool | None:
    """Several sets of one candidate as one; None without decisions.

    Parameters
    ----------
    in_time : whether the sets are periods, in their order
    """
    parts = tuple(part for part in parts if part.decision is not None and len(part))
    if not parts:
        return None
    of_set = np.repeat(np.arange(len(parts)), [len(part) for part in parts]).astype(np.int64)
    names = tuple(part.dataset.name for part in parts)
    place = Place(datasets=names, candidate=parts[0].place.candidate)
    return Pool(
        place,
        parts,
        np.concatenate([part.truth for part in parts]),
        np.concatenate([part.decision for part in parts if part.decision is not None]),
        of_set,
        _clusters(parts, plan),
        _clusters(parts, plan, within_site=True),
        tuple(_characteristics(parts, of_set, in_time=in_time)),
    )


def _clusters(parts: Sequence[ScoredCases], plan: Plan, *, within_site: bool = False) -> Clusters | None:
    """The clusters of the cases of all parts; None where every case is a cluster of its own."""
    codes = clusters_over([part.dataset for part in parts], plan, within_site=within_site)
    found = np.concatenate([code[part.rows] for code, part in zip(codes, parts)])
    return None if are_distinct(found) else found


def _characteristics(parts: Sequence[ScoredCases], of_set: Codes, *, in_time: bool) -> Iterator[PooledColumn]:
    """Every column with a few names, at least two of them here; the sets last, unless they are the sites."""
    # Sites that keep their rows say how many cases are in each group, not how many are in two of them.
    known = [part for part in parts if part.shared is None]
    names = dict.fromkeys(name for part in known for name in part.dataset.cases.groups)
    columns: list[tuple[str, ColumnKind, list[Coded | None]]] = [
        ("site", "site", [part.dataset.cases.site for part in parts]),
        *((name, "group", [part.dataset.cases.groups.get(name) for part in parts]) for name in names),
        ("version", "version", [part.dataset.scores[part.candidate].version for part in parts]),
    ]
    site: Codes | None = None
    for name, kind, found in columns:
        made = _joined_column(name, kind, parts, found)
        if made is not None:
            site = made.codes if kind == "site" else site
            yield made
    if len(parts) > 1 and not (site is not None and not in_time and _same_partition(site, of_set)):
        sets = tuple(part.dataset.name for part in parts)
        yield PooledColumn(*(("period", "period") if in_time else ("dataset", "dataset")), sets, of_set)


def _joined_column(
    name: str, kind: ColumnKind, parts: Sequence[ScoredCases], columns: Sequence[Coded | None]
) -> PooledColumn | None:
    """A column over all sets, by the names of its levels."""
    levels: dict[str, int] = {}
    codes = []
    for part, column in zip(parts, columns):
        if column is None:
            codes.append(np.full(len(part), -1, np.int64))
            continue
        own = column.codes[part.rows]
        if len(np.unique(own)) > MOST_LEVELS + 1:
            return None
        here = {
            int(c): levels.setdefault(column.labels[int(c)], len(levels)) for c in np.unique(own) if c >= 0
        }
        level = np.full(len(column.labels) + 1, -1, np.int64)  # the last is of -1
        level[list(here)] = list(here.values())
        codes.append(level[own])
    if not 2 <= len(levels) <= MOST_LEVELS:
        return None
    order = sorted(levels)
    to = np.array([*(order.index(level) for level in levels), -1])
    return PooledColumn(name, kind, tuple(order), to[np.concatenate(codes)])


def _same_partition(one: Codes, other: Codes) -> bool:
    """Whether two columns divide the cases alike, whatever their names."""
    pairs: Any = np.unique(np.stack([one, other], axis=1), axis=0)
    return len(pairs) == len(np.unique(one)) == len(np.unique(other))


Event = Literal["missed", "alarms"]
# What makes two comparisons of shares of errors one: the candidate, the rate, and both groups of cases.
Comparison = tuple[str, str, frozenset[str]]
EVENTS: Mapping[Event, str] = {"missed": "false_negative_rate", "alarms": "false_positive_rate"}
CLASSES: Mapping[Event, str] = {"missed": "positives", "alarms": "negatives"}


@dataclass(frozen=True, eq=False)
class ErrorGroup:
    """Some cases by one characteristic, and all others of which it is known, (n,) each.

    Of periods a group is all cases from one on, and the others are those before it. `other` is the name of
    the only other level, where there is one.
    """

    of: PooledColumn
    level: str
    mask: Mask
    rest: Mask
    other: str = ""

    @property
    def inside(self) -> dict[str, Any]:
        """What a result of the group says it is of."""
        return {"from": self.level} if self.of.kind == "period" else {"groups": {self.of.name: self.level}}

    @property
    def outside(self) -> dict[str, Any]:
        """What a result of the others says it is of."""
        return {"before": self.level} if self.of.kind == "period" else {"without": {self.of.name: self.level}}


@dataclass(frozen=True, eq=False)
class CrossCell:
    """`k` errors in `n` cases with their rate, and the entry that says so."""

    k: int
    n: int
    result: Result

    @property
    def rate(self) -> Estimate:
        return self.result.estimate


@dataclass(frozen=True, eq=False)
class Contrast:
    """The error rate of some cases against that of others.

    `adjusted` is the p-value after adjustment, over the family of the comparison; NaN where it is of none.
    """

    group: ErrorGroup
    first: CrossCell
    second: CrossCell
    result: Result
    adjusted: float = np.nan

    @property
    def comparison(self) -> Comparison:
        """What makes another comparison the same as this one."""
        groups = frozenset((self.first.result.cases, self.second.result.cases))
        return self.result.place.candidate or "", self.result.endpoint, groups

    @property
    def difference(self) -> Estimate:
        """First rate minus second rate."""
        return self.result.estimate

    @property
    def higher(self) -> bool:
        """Whether the rate is higher by the whole interval and, where it was adjusted, the p-value."""
        p = self.adjusted
        return self.difference.low > 0 and (isnan(p) or p <= 1 - self.difference.level)

    @property
    def says_adjusted(self) -> bool:
        """Whether its entry holds the p-value after adjustment."""
        return "p_holm" in self.result.details

    @property
    def results(self) -> tuple[Result, ...]:
        return self.first.result, self.second.result, self.result


@dataclass(frozen=True, eq=False)
class Crossing:
    """The leading group crossed with other characteristics: the cells of each combination of their levels.

    `cells` are (levels, in the group, outside it); `shared` compares the two where both are found, None where
    they are found nowhere together.
    """

    by: tuple[PooledColumn, ...]
    cells: tuple[tuple[tuple[str, ...], CrossCell, CrossCell], ...]
    shared: Contrast | None
    common: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Concentration:
    """What was found of one kind of error.

    `lead` is the group that errs more than all other cases after adjustment, by the most certain difference;
    None where no group does. `largest` is then the largest difference that was seen. `outside` compares each
    other group that seemed to err more with its others among the cases outside the leading group; `same` are
    those groups that are the very same cases. `hidden`: the characteristics of which a public report
    shows nothing.
    """

    event: Event
    k: int
    n: int
    compared: int
    lead: Contrast | None
    largest: Contrast | None
    crossings: tuple[Crossing, ...] = ()
    outside: tuple[Contrast, ...] = ()
    same: tuple[ErrorGroup, ...] = ()
    hidden: tuple[PooledColumn, ...] = ()

    @property
    def results(self) -> list[Result]:
        leading = self.lead or self.largest
        found = list(leading.results) if leading else []
        for crossing in self.crossings:
            found += [cell.result for _, *pair in crossing.cells for cell in pair]
            found += crossing.shared.results if crossing.shared else ()
        found += [r for one in self.outside for r in one.results]
        return list({_scope(r): r for r in found}.values())


def _scope(r: Result) -> str:
    return json.dumps([r.id, r.scope], sort_keys=True, default=str)
