"""Where errors concentrate: the group that errs most, crossed with everything else known of its cases.

A group (scanner, site, version, cases from some period on) whose error rate is higher than that of all other
cases may owe this to another characteristic that comes with it. So every other characteristic is asked the
same within: does the group err more than the others where both are found, and do the other groups that seem
to err more still do so among the cases outside it?
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isclose, isfinite, isnan
from typing import Any

import numpy as np

from trustreport.assessment.performance.cases import Mask
from trustreport.assessment.performance.keys import closed, public_cell
from trustreport.assessment.performance.measures import complement
from trustreport.assessment.performance.sites import (
    CLASSES,
    EVENTS,
    Comparison,
    Concentration,
    Contrast,
    CrossCell,
    Crossing,
    ErrorGroup,
    Event,
    Pool,
    PooledColumn,
)
from trustreport.measures.association import holm
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import note
from trustreport.measures.proportion import wilson
from trustreport.measures.subgroups import clustered_share_difference, share_difference
from trustreport.study.clusters import are_distinct
from trustreport.study.plan import Plan
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

NO_CASE = note("no_case_this_kind")
MOST_SUSPECTS = 6
PHASES = ("before", "from")


def concentrations(
    pool: Pool, dimension: str, plan: Plan, tested: Mapping[Comparison, Result] | None = None
) -> list[Concentration]:
    """Missed cases and false alarms, each where groups could be compared.

    Parameters
    ----------
    tested : comparisons that belong to another family of the report, with their adjusted p-values; None where
        that is not known
    """
    found = (Crossed(pool, event, dimension, plan, tested).found() for event in EVENTS)
    return [one for one in found if one.compared]


@dataclass(frozen=True, eq=False)
class Crossed:
    """One kind of error of a pool, counted in whatever groups."""

    pool: Pool
    event: Event
    dimension: str
    plan: Plan
    tested: Mapping[Comparison, Result] | None

    @cached_property
    def among(self) -> Mask:
        """The cases that can err in this way."""
        return self.pool.truth if self.event == "missed" else ~self.pool.truth

    @cached_property
    def wrong(self) -> Mask:
        """The cases that do."""
        return self.pool.truth != self.pool.decision

    @property
    def least(self) -> int:
        """Cases below which a rate is not given."""
        name = CLASSES[self.event]
        return int(self.plan.limit(f"P37_{name}"))

    @cached_property
    def shown(self) -> tuple[PooledColumn, ...]:
        """The characteristics of which a report shows every level: a public one none with a cell too small.

        Were a single level left out, what is left of the total would give it away.
        """
        least = public_cell(self.plan)

        def cells(c: PooledColumn) -> Iterator[int]:
            """Wrong and right decisions of each level, by class of the truth."""
            for i in range(len(c.levels)):
                of = c.codes == i
                for truth in (True, False):
                    wrong = int((of & (self.pool.truth == truth) & self.wrong).sum())
                    yield from (wrong, int((of & (self.pool.truth == truth)).sum()) - wrong)

        return tuple(c for c in self.pool.characteristics if not closed(cells(c), least))

    def counted(self, mask: Mask) -> tuple[int, int]:
        """Errors and cases."""
        of = mask & self.among
        return int((of & self.wrong).sum()), int(of.sum())

    def cell(self, mask: Mask, place: Place, parameters: Mapping[str, Any], *, by_site: bool) -> CrossCell:
        """The rate of some cases as an entry; clusters respected, sites only where they are not themselves
        what is compared."""
        k, n = self.counted(mask)
        e, level = self._rate(mask, k, n, by_site=by_site), self.plan.report.confidence_level
        if not n:
            e = undefined(0, NO_CASE, level=level, method=e.method)
        elif n < self.least:
            e = undefined(n, note("too_few_for_percentage", k=k, n=n), level=level, method=e.method)
        details = {"errors": k, **self._alone(mask, by_site=by_site)}
        return CrossCell(k, n, self._entry("crossed_rate", mask, place, parameters, e, details))

    def _rate(self, mask: Mask, k: int, n: int, *, by_site: bool) -> Estimate:
        level, cluster = self.plan.report.confidence_level, self._clusters(mask, by_site=by_site)
        if cluster is None or not n:
            return wilson(k, n, level)
        # A made-up table in which every case is positive: what is not its sensitivity is the share of errors.
        of = mask & self.among
        cells = cluster_cells(np.ones(n, bool), ~self.wrong[of], cluster[of])
        return complement(clustered("sensitivity", cells, level=level))

    def _clusters(self, mask: Mask, *, by_site: bool) -> Clusters | None:
        """Which cases belong together; None where among these none does."""
        cluster = self.pool.within_site if by_site else self.pool.cluster
        if cluster is None:
            return None
        own = cluster[mask & self.among]
        return None if are_distinct(own) else cluster

    def _alone(self, mask: Mask, *, by_site: bool) -> dict[str, Any]:
        """Says of clustered data that none of these cases belong together."""
        alone = self.pool.cluster is not None and self._clusters(mask, by_site=by_site) is None
        return {"each_case_a_cluster": True} if alone else {}

    def _entry(
        self,
        name: str,
        mask: Mask,
        place: Place,
        parameters: Mapping[str, Any],
        e: Estimate,
        details: Mapping[str, Any],
    ) -> Result:
        return Result(
            f"{self.dimension}.{name}",
            place,
            e,
            endpoint=EVENTS[self.event],
            parameters=parameters,
            primary=True,
            details=details,
            cases=self.pool.key(mask & self.among),
        )

    def place(self, mask: Mask, *groups: tuple[PooledColumn, str]) -> Place:
        """Where a number on some cases belongs: their sets, and what they share."""
        found: dict[str, Any] = {"datasets": self.pool.names(mask)}
        named = [f"{of.name}: {level}" for of, level in groups if of.kind == "group"]
        if named:
            found["subgroup"] = ", ".join(named)
        found |= {of.kind: level for of, level in groups if of.kind in ("site", "version")}
        return self.pool.place.narrowed(**found)

    def contrast(
        self, group: ErrorGroup, within: Mask | None = None, parameters: Mapping[str, Any] | None = None
    ) -> Contrast:
        """A group against all others, among some of the cases."""
        within = np.ones(len(self.pool), bool) if within is None else within
        more = dict(parameters or {})
        by_site = group.of.kind == "site"
        first, second = group.mask & within, group.rest & within
        here = () if group.of.kind == "period" else ((group.of, group.level),)
        cells = (
            self.cell(first, self.place(first, *here), merged(group.inside, more), by_site=by_site),
            self.cell(second, self.place(second), merged(group.outside, more), by_site=by_site),
        )
        e = self._difference(first, second, by_site=by_site)
        place, chosen = self.place(first | second, *here), merged(group.inside, {**more, "against": "rest"})
        alone = self._alone(first | second, by_site=by_site)
        result = self._entry("crossed_difference", first | second, place, chosen, e, alone)
        return Contrast(group, *cells, result)

    def _difference(self, first: Mask, second: Mask, *, by_site: bool) -> Estimate:
        level = self.plan.report.confidence_level
        cluster = self._clusters(first | second, by_site=by_site)
        if cluster is not None:
            one, other = first & self.among, second & self.among
            return clustered_share_difference(self.wrong, one, other, cluster, level=level)
        return share_difference(*self.counted(first), *self.counted(second), level=level)

    def found(self) -> Concentration:
        """The leading group, what it is crossed with, and what remains outside it."""
        every = list(self._compared())
        hidden = tuple(c for c in self.pool.characteristics if c not in self.shown)
        k, n = self.counted(np.ones(len(self.pool), bool))
        standing = [c for c in every if c.higher]
        tests = len({_pair(c.group) for c in every})
        if not standing:
            largest = max(every, key=lambda c: c.difference.value, default=None)
            if largest is not None and not largest.difference.value > 0:
                largest = None
            return Concentration(self.event, k, n, tests, None, largest, hidden=hidden)
        lead = max(standing, key=lambda c: c.difference.low)
        others = [c for c in standing if c.group.of is not lead.group.of]
        same = tuple(c.group for c in others if np.array_equal(c.group.mask, lead.group.mask))
        crossings, more = self._crossings(lead.group)
        suspects = [c.group for c in _strongest(others) if c.group not in same][:MOST_SUSPECTS]
        outside = self._adjusted([self.contrast(g, lead.group.rest, lead.group.outside) for g in suspects])
        hidden = (*hidden, *more)
        return Concentration(self.event, k, n, tests, lead, None, crossings, tuple(outside), same, hidden)

    def _compared(self) -> Iterator[Contrast]:
        """Every group that is large enough, with its adjusted p-value."""
        made = []
        for group in groups_of(self.shown):
            if min(self.counted(side)[1] for side in (group.mask, group.rest)) < self.least:
                continue
            one = self.contrast(group)
            if isfinite(one.difference.low) and not isnan(one.difference.p):
                made.append(one)
        yield from self._adjusted(made)

    def _adjusted(self, found: Sequence[Contrast]) -> Iterator[Contrast]:
        """The contrasts with their p-values adjusted after Holm; two that mirror each other are one test.

        A comparison has one adjusted p: one that the report tests in another family has that of this family,
        and one that may be tested there, as groups of a data set are that are declared, says none here.
        """
        tests: dict[Any, float] = {}
        for one in found:
            tests.setdefault(_pair(one.group), one.difference.p)
        adjusted = dict(zip(tests, holm(np.array(list(tests.values()))).tolist())) if tests else {}
        for one in found:
            more: dict[str, Any] = {"p_holm": adjusted[_pair(one.group)], "comparisons": len(tests)}
            there = (self.tested or {}).get(one.comparison)
            if there is not None and isclose(there.estimate.p, one.difference.p):
                more = {name: there.details[name] for name in ("family", "comparisons", "p_holm")}
            p = float(more["p_holm"])
            if self.tested is None and self.plan.subgroups and len(one.result.place.datasets) == 1:
                more = {}
            result = replace(one.result, details={**one.result.details, **more})
            yield replace(one, result=result, adjusted=p)

    def _crossings(self, lead: ErrorGroup) -> tuple[tuple[Crossing, ...], tuple[PooledColumn, ...]]:
        """The group by every other characteristic: those that come with it first, by the difference that
        remains."""
        others = [c for c in self.shown if c is not lead.of]
        phases = [_phases(c, lead) if c.kind == "period" else c for c in others]
        version = next((c for c in phases if c.kind == "version"), None)
        period = next((c for c in phases if c.kind == "period"), None)
        sets: list[tuple[PooledColumn, ...]] = [(c,) for c in phases]
        if version is not None and period is not None:
            # A version that came at about the same time can be separated from the time only by both together.
            sets = [(version, period), *(s for s in sets if s[0] not in (version, period))]
        found: list[Crossing] = []
        hidden: list[PooledColumn] = []
        for by in sets:
            made = self._crossing(lead, by)
            if closed(self._counts(made), public_cell(self.plan)):
                hidden += by
            else:
                found.append(made)
        return tuple(sorted(found, key=_size, reverse=True)), tuple(hidden)

    @staticmethod
    def _counts(made: Crossing) -> list[int]:
        cells = [cell for _, *pair in made.cells for cell in pair]
        return [count for cell in cells for count in (cell.k, cell.n - cell.k)]

    def _crossing(self, lead: ErrorGroup, by: tuple[PooledColumn, ...]) -> Crossing:
        cells: list[tuple[tuple[str, ...], CrossCell, CrossCell]] = []
        common, shared = [], np.zeros(len(self.pool), bool)
        by_site = any(c.kind == "site" for c in (lead.of, *by))
        for levels, mask in _combinations(by):
            if not (mask & self.among & (lead.mask | lead.rest)).any():
                continue
            at = [(c, level) for c, level in zip(by, levels) if c.kind != "period"]
            more = _parameters(by, levels)
            own = () if lead.of.kind == "period" else ((lead.of, lead.level),)
            first, second = mask & lead.mask, mask & lead.rest
            inside = self.place(first, *own, *at), merged(lead.inside, more)
            outside = self.place(second, *at), merged(lead.outside, more)
            one = self.cell(first, *inside, by_site=by_site)
            other = self.cell(second, *outside, by_site=by_site)
            cells.append((levels, one, other))
            if one.n and other.n:
                common.append(levels)
                shared |= mask
        alike = {"alike_in": [c.name for c in by]}
        contrast = self.contrast(lead, shared, alike) if common else None
        return Crossing(by, tuple(cells), contrast, tuple(common))


def groups_of(characteristics: Sequence[PooledColumn]) -> Iterator[ErrorGroup]:
    """Every group of a pool: a level of a characteristic, or all cases from a period on."""
    for c in characteristics:
        known = c.codes >= 0
        for i, level in enumerate(c.levels):
            if c.kind == "period":
                if i:
                    yield ErrorGroup(c, level, c.codes >= i, known & (c.codes < i))
            else:
                mask = c.codes == i
                other = c.levels[1 - i] if len(c.levels) == 2 else ""
                yield ErrorGroup(c, level, mask, known & ~mask, other)


def _pair(group: ErrorGroup) -> frozenset[bytes]:
    """What makes two contrasts one test: the same two groups, in either order."""
    return frozenset((group.mask.tobytes(), group.rest.tobytes()))


def _strongest(found: Sequence[Contrast]) -> list[Contrast]:
    """The contrasts by their difference; of the periods, which overlap, only the first of them."""
    ordered = sorted(found, key=lambda c: c.difference.value, reverse=True)
    periods = [c for c in ordered if c.group.of.kind == "period"]
    return [c for c in ordered if c not in periods[1:]]


def _phases(period: PooledColumn, lead: ErrorGroup) -> PooledColumn:
    """The periods in two: before the first one with a case of the group, and from then on.

    A group that was there from the beginning divides nothing: then the first period is one, the others two.
    """
    first = max(int(period.codes[lead.mask].min()), 1)
    codes = (period.codes >= first).astype(np.int64)
    return replace(period, levels=PHASES, codes=codes, start=period.levels[first])


def _combinations(by: Sequence[PooledColumn]) -> Iterator[tuple[tuple[str, ...], Mask]]:
    """Every combination of levels with its cases."""
    if not by:
        return
    first, *rest = by
    for i, level in enumerate(first.levels):
        mask = first.codes == i
        if not rest:
            yield (level,), mask
        for levels, other in _combinations(rest):
            yield (level, *levels), mask & other


def _parameters(by: Sequence[PooledColumn], levels: Sequence[str]) -> dict[str, Any]:
    """What the entry of a cell says of its levels."""
    found: dict[str, Any] = {}
    for c, level in zip(by, levels):
        found = merged(found, {level: c.start} if c.kind == "period" else {"groups": {c.name: level}})
    return found


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Two sets of parameters as one; groups of both together."""
    found = {**one, **other}
    for key in ("groups", "without"):
        if key in one and key in other:
            found[key] = {**one[key], **other[key]}
    return found


def _size(crossing: Crossing) -> tuple[bool, float]:
    apart = len(crossing.common) < len(crossing.cells)
    return apart, crossing.shared.difference.value if crossing.shared else 0.0
