"""Measurements at each site, in each declared group and in each period, and what differs between them.

Differences between groups are adjusted after Holm as those of accuracy are (`case_groups.families`), within a
measurement and condition; those of periods with their baseline within a measurement.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.measurement.results import (
    MeasuredValues,
    change_over_readers,
    endpoints,
    mean_over_readers,
)
from trustreport.assessment.performance.case_groups import (
    NOT_FIXED,
    TOO_FEW_TO_COMPARE,
    CaseGroup,
    Division,
    Mask,
    closed_groups,
    divisions,
    families,
)
from trustreport.assessment.performance.keys import joined_key, public_cell, suppressed
from trustreport.assessment.performance.reader_endpoints import difference_of_changes
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.means import case_mean, case_share
from trustreport.measures.measured.measurement import mean_absolute_error
from trustreport.measures.measured.two_groups import difference_of_means
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.note import note
from trustreport.measures.repeatability import repeated
from trustreport.measures.subgroups import clustered_share_difference, share_difference
from trustreport.study.plan import Subgroup
from trustreport.study.study import Floats
from trustreport.vocabulary.results import Result

LEAST = 10  # cases of a site, a group or a period with numbers of its own
TOO_FEW = note("part_has_fewer_cases_than", least=LEAST)
GREATEST = 2.0  # all readers gain everything in one group and lose everything in the other
Rows = NDArray[np.intp]
Test = tuple[Any, bool, Result]  # what makes two comparisons one test, whether it was planned, the comparison
Side = tuple[Floats, Clusters | None]  # what the cases of a part are worth, and which of them belong together


def completed(every: Sequence[MeasuredValues]) -> list[MeasuredValues]:
    """The measurements with the results of their periods, sites and groups behind their own."""
    since = _since(every)
    return [
        replace(one, results=(*one.results, *since.get(i, ()), *_of_sites(one), *_of_groups(one)))
        for i, one in enumerate(every)
    ]


def _of_part(one: MeasuredValues, mask: Mask, *, shut: bool, **where: str) -> Iterator[Result]:
    """Every mean over the cases of a site or group, and of readers its change between conditions."""
    for quantity, grid in endpoints(one):
        for c in range(len(one.values.conditions)):
            rows = _rows(grid[[c]], mask)
            if len(rows) >= LEAST:
                e = _mean(one, quantity, grid, c, rows)
            elif "site" in where:
                continue
            else:
                e = undefined(len(rows), TOO_FEW, level=one.level)
            yield one.entry(quantity, one.place_of(c, **where), _shown(one, e, shut=shut), rows)
        for compared, baseline in one.pairs() if one.values.readers is not None else ():
            rows = _rows(grid[[compared, baseline]], mask)
            if len(rows) >= LEAST:
                e = change_over_readers(one, quantity, grid, compared, baseline, rows)
                place = one.pair(compared, baseline).narrowed(**where)
                yield one.entry(f"{quantity}_difference", place, _shown(one, e, shut=shut), rows)


def _mean(one: MeasuredValues, quantity: str, grid: Floats, c: int, rows: Rows) -> Estimate:
    """The quantity over some of the cases, by the method of the whole."""
    if one.values.readers is not None:
        return mean_over_readers(one, quantity, grid, c, rows)
    value, how = grid[c, 0, rows], one.how(rows)
    if quantity == "bias":
        return repeated("repeat_bias", value, **how)
    if quantity == "mean_absolute_error":
        return mean_absolute_error(value, **how)
    if quantity == "acceptable_share":
        return case_share(value > 0, **how)
    return case_mean(value, tested=True, **how)


def _rows(grid: Floats, mask: Mask) -> Rows:
    """The cases of a mask with a value in any of these conditions."""
    return np.flatnonzero(mask & (~np.isnan(grid)).any(axis=(0, 1)))


def _shown(one: MeasuredValues, e: Estimate, *, shut: bool) -> Estimate:
    return suppressed(e, public_cell(one.plan)) if shut else e


def _shut(one: MeasuredValues, division: Division) -> set[str]:
    """The groups, or sites, of which a public report shows nothing."""
    known = np.asarray((~np.isnan(one.values.value)).any(axis=(0, 1)))
    shares = [grid for quantity, grid in endpoints(one) if quantity == "acceptable_share"]
    of_devices = shares[0][:, 0] if shares and one.values.readers is None else ()

    def size(mask: Mask) -> int:
        """The number of cases behind a mask."""
        return int((known & mask).sum())

    def counts(mask: Mask) -> tuple[int, ...]:
        """The cases; of devices also those with and without an acceptable value, in each condition."""
        cells = [int((good[mask] == x).sum()) for good in of_devices for x in (0, 1)]
        return size(mask), *cells

    return closed_groups(division, public_cell(one.plan), counts, size)


def _of_sites(one: MeasuredValues) -> Iterator[Result]:
    site = one.values.cases.site
    if site is None or len(site.labels) < 2:
        return
    declared, nobody = Subgroup(name="site"), np.zeros(len(site.codes), bool)
    each = [CaseGroup(name, declared, site.codes == i, nobody) for i, name in enumerate(site.labels)]
    shut = _shut(one, Division("site", tuple(each), site.codes < 0))
    for group in each:
        yield from _of_part(one, group.mask, shut=group.name in shut, site=group.name)


def groups_of(one: MeasuredValues) -> list[Division]:
    """The declared groups of the cases of a measurement."""
    return divisions(one.plan, one.values.cases)


def _of_groups(one: MeasuredValues) -> Iterator[Result]:
    tests: list[Test] = []
    for division in groups_of(one):
        shut = _shut(one, division)
        for group in division.groups:
            yield from _of_part(one, group.mask, shut=group.name in shut, subgroup=group.name)
            if group.against.any():
                tests += _differences(one, group, shut=group.name in shut)
    for where in dict.fromkeys(r.place.narrowed(subgroup=None) for *_, r in tests):
        yield from _adjusted([test for test in tests if test[2].place.narrowed(subgroup=None) == where])


def _differences(one: MeasuredValues, group: CaseGroup, *, shut: bool) -> Iterator[Test]:
    """A group less those that it is compared with: of devices the mean, of readers its change."""
    sides = frozenset((group.mask.tobytes(), group.against.tobytes()))
    for quantity, grid in endpoints(one):
        pairs = one.pairs() if one.values.readers is not None else []
        alone = range(len(one.values.conditions)) if one.values.readers is None else ()
        compared = [(one.pair(*pair), grid[list(pair)]) for pair in pairs]
        for where, part in compared + [(one.place_of(c), grid[[c]]) for c in alone]:
            rows = first, second = _rows(part, group.mask), _rows(part, group.against)
            if min(map(len, rows)) < LEAST:
                e = undefined(sum(map(len, rows)), TOO_FEW_TO_COMPARE, level=one.level)
            elif pairs:
                e = _difference_of_changes(one, quantity, part, first, second)
            else:
                own, rest = ((part[0, 0, of], one.how(of)["cluster"]) for of in rows)
                e = _difference_of_parts(quantity, own, rest, one.level)
            e = _shown(one, e, shut=shut)
            e = replace(e, note=e.note + NOT_FIXED) if group.exploratory else e
            place, cases = where.narrowed(subgroup=group.name), np.union1d(first, second)
            r = one.entry(f"{quantity}_difference", place, e, cases, against=group.against_name)
            r = replace(r, details={**r.details, "prespecified": not group.exploratory})
            yield (quantity, sides), not group.exploratory, r


def _adjusted(tests: Sequence[Test]) -> Iterator[Result]:
    """Comparisons with what is known of their families."""
    found = families([(key, planned, r.estimate.p) for key, planned, r in tests])
    for (*_, r), more in zip(tests, found):
        yield replace(r, details={**r.details, **more})


def _difference_of_changes(
    one: MeasuredValues, quantity: str, part: Floats, first: Rows, second: Rows
) -> Estimate:
    """The change of readers in a group less that in the others, from both conditions (2, n_readers, n)."""
    cluster = one.how(np.concatenate([first, second]))["cluster"]
    e = difference_of_changes(part[:, :, first], part[:, :, second], cluster, one.level)
    return difference_in_range(e, GREATEST) if quantity == "acceptable_share" else e


def _difference_of_parts(quantity: str, first: Side, second: Side, level: float) -> Estimate:
    """A mean of devices over the cases of one part less that over another.

    Clusters have one number in all tables; a case of which none is known is one of its own.
    """
    cluster = None
    if first[1] is not None or second[1] is not None:
        n, m = len(first[0]), len(second[0])
        own, rest = -1 - np.arange(n), -1 - n - np.arange(m)
        cluster = own if first[1] is None else first[1], rest if second[1] is None else second[1]
    if quantity != "acceptable_share":
        return difference_of_means(first[0], second[0], cluster=cluster, level=level)
    good = np.concatenate([first[0], second[0]]) > 0
    is_first = np.arange(len(good)) < len(first[0])
    if cluster is not None:
        return clustered_share_difference(good, is_first, ~is_first, np.concatenate(cluster), level=level)
    x1, x2 = int(good[is_first].sum()), int(good[~is_first].sum())
    return share_difference(x1, len(first[0]), x2, len(second[0]), level=level)


def _since(every: Sequence[MeasuredValues]) -> dict[int, list[Result]]:
    """Each period of devices less its baseline, by the place of the period among the measurements."""
    found: dict[int, list[Result]] = {}
    for name in dict.fromkeys(one.values.measurement for one in every):
        same = [i for i, one in enumerate(every) if one.values.measurement == name and not one.values.readers]
        baseline = _baseline([every[i] for i in same])
        if baseline is None:
            continue
        later = [i for i in same if every[i].place.period and every[i] is not baseline]
        tests = [(i, test) for i in later for test in _changes(every[i], baseline)]
        for (i, _), r in zip(tests, _adjusted([test for _, test in tests])):
            found.setdefault(i, []).append(replace(r, details={**r.details, "family": "periods"}))
    return found


def _baseline(every: Sequence[MeasuredValues]) -> MeasuredValues | None:
    """What periods are compared with: the declared data set, else the first period; None without one."""
    plan = every[0].plan if every else None
    if plan is None:
        return None
    periods = [d for d in plan.datasets if d.role == "period"]
    if all(d.start_date for d in periods):
        periods.sort(key=lambda d: str(d.start_date))
    declared = plan.vigilance.baseline_dataset if plan.vigilance else None
    held = {one.values.dataset: one for one in every}
    names = [declared] if declared else [d.dataset for d in periods]
    return next((held[name] for name in names if name in held), None)


def _changes(one: MeasuredValues, baseline: MeasuredValues) -> Iterator[Test]:
    before: dict[str, Floats] = dict(endpoints(baseline))
    known = baseline.values.conditions
    for quantity, grid in endpoints(one):
        for c, condition in enumerate(one.values.conditions):
            if quantity not in before or condition not in known:
                continue
            value, then = grid[c, 0], before[quantity][known.index(condition), 0]
            rows, rows_then = (np.flatnonzero(~np.isnan(x)) for x in (value, then))
            if min(len(rows), len(rows_then)) < LEAST:
                e = undefined(len(rows) + len(rows_then), TOO_FEW_TO_COMPARE, level=one.level)
            else:
                own = value[rows], one.how(rows)["cluster"]
                e = _difference_of_parts(
                    quantity, own, (then[rows_then], baseline.how(rows_then)["cluster"]), one.level
                )
            place = one.place_of(c, reference=baseline.values.dataset)
            cases = joined_key([one.key(rows), baseline.key(rows_then)])
            r = one.entry(f"{quantity}_difference", place, e, cases=cases)
            yield (place, quantity), True, r
