"""The declared groups of cases: their cases, what they are compared with, and which a public report closes.

A definition says it in terms of the columns of the cases: ``sex = F``, ``65 <= age < 80``,
``scanner in A, B``; `breaks` divide a column of numbers. Any other text is for readers, and the name of the
group is the name of a column: then each of its values is a group.
"""

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.keys import closed
from trustreport.measures.association import holm
from trustreport.measures.note import note
from trustreport.study.definitions import Condition, conditions, number
from trustreport.study.plan import Plan, Subgroup
from trustreport.study.study import Cases, Coded, Dataset
from trustreport.vocabulary.messages import Message, say

Mask = NDArray[np.bool_]

# A column with more values than this does not divide cases into groups by itself.
MOST_LEVELS = 12
REST = "rest"
PRESPECIFIED, EXPLORATORY = "prespecified", "exploratory"
TOO_FEW_TO_COMPARE = note("too_few_cases_in_group_or")
NOT_FIXED = note("exploratory_not_fixed_in_advance")


@dataclass(frozen=True, slots=True, eq=False)
class CaseColumn:
    """A column of the cases as names (`texts`, "" where empty) and, where all are numbers, as `numbers`."""

    name: str
    codes: NDArray[np.int64]
    levels: tuple[str, ...]
    numbers: NDArray[np.float64] | None

    @property
    def known(self) -> Mask:
        """Where the column holds something."""
        return self.codes >= 0

    @property
    def present(self) -> list[int]:
        """The levels that occur, in their order."""
        return sorted({int(c) for c in np.unique(self.codes) if c >= 0})


@dataclass(frozen=True, slots=True, eq=False)
class CaseGroup:
    """A group: its cases, and those that it is compared with (all False where there is nothing to do so)."""

    name: str
    declared: Subgroup
    mask: Mask
    against: Mask
    against_name: str = REST

    @property
    def exploratory(self) -> bool:
        """Whether the group was not fixed in advance."""
        return self.declared.prespecified is not True


@dataclass(frozen=True, slots=True, eq=False)
class Division:
    """What one attribute (or several that a definition combines) makes of the cases."""

    attribute: str
    groups: tuple[CaseGroup, ...]
    unknown: Mask
    absent: Message | None = None
    overlaps: tuple[tuple[str, str, int], ...] = field(default=())

    @property
    def disjoint(self) -> bool:
        """Whether there are several groups, and no case is in two of them."""
        return len(self.groups) > 1 and not self.overlaps

    @property
    def codes(self) -> NDArray[np.int64]:
        """The group of each case, -1 where in none; of groups that do not overlap."""
        codes = np.full(self.unknown.shape, -1)
        for i, group in enumerate(self.groups):
            codes[group.mask] = i
        return codes


def divisions(plan: Plan, cases: Cases, dataset: Dataset | None = None) -> list[Division]:
    """What the declared subgroups make of these cases; declarations of one attribute together."""
    columns = columns_of(cases, dataset)
    n = len(cases)
    by_attribute: dict[str, list[tuple[Subgroup, list[tuple[str, Mask]], Mask]]] = {}
    absent: dict[str, Message] = {}
    for declared in plan.subgroups:
        found = _resolve(declared, columns, n)
        if isinstance(found, Message):
            absent[declared.name] = found
        else:
            attribute, groups, unknown = found
            by_attribute.setdefault(attribute, []).append((declared, groups, unknown))
    made = [_division(attribute, found, n) for attribute, found in by_attribute.items()]
    nobody = np.ones(n, bool)
    return made + [Division(name, (), nobody, reason) for name, reason in absent.items()]


def columns_of(cases: Cases, dataset: Dataset | None = None) -> dict[str, CaseColumn]:
    """Every column of the cases that can divide them, by its name in lower case."""
    coded: dict[str, Coded] = dict(cases.groups)
    if cases.site is not None:
        coded.setdefault("site", cases.site)
    found = {name.casefold(): _named(name, column) for name, column in coded.items()}
    numbers: dict[str, NDArray[np.float64]] = {}
    if cases.complexity is not None:
        numbers["complexity"] = cases.complexity
    if dataset is not None and dataset.features is not None:
        for i, name in enumerate(dataset.feature_names):
            levels = dataset.feature_levels.get(name)
            values = dataset.features[:, i]
            if levels:
                codes = np.where(np.isnan(values), -1, values).astype(np.int64)
                found.setdefault(name.casefold(), CaseColumn(name, codes, levels, None))
            else:
                numbers.setdefault(name, values)
    for name, values in numbers.items():
        found.setdefault(name.casefold(), _numeric(name, values))
    return found


def _named(name: str, column: Coded) -> CaseColumn:
    levels = tuple(column.labels)
    codes = np.asarray(column.codes, np.int64)
    values = [number(level) for level in levels]
    numeric = bool(values) and all(v is not None for v in values)
    numbers = np.append(np.array(values, float), np.nan)[codes] if numeric else None
    return CaseColumn(name, codes, levels, numbers)


def _numeric(name: str, values: NDArray[np.float64]) -> CaseColumn:
    distinct, codes = np.unique(values, return_inverse=True)
    codes = np.where(np.isnan(values), -1, codes).astype(np.int64)
    return CaseColumn(name, codes, tuple(f"{v:g}" for v in distinct if v == v), values)


Resolved = tuple[str, list[tuple[str, Mask]], Mask]


def _resolve(declared: Subgroup, columns: dict[str, CaseColumn], n: int) -> Resolved | Message:
    """Attribute, groups with their cases, and the cases of which it is not known; or why there are none."""
    text = (declared.definition or "").strip()
    said = conditions(text)
    if declared.breaks:
        return _by_breaks(declared, declared.breaks, columns)
    if said and all(c.column.casefold() in columns for c in said):
        return _by_conditions(declared, said, columns, n)
    for name in (text, declared.name):
        column = columns.get(name.strip().casefold())
        if column is not None:
            return _by_levels(column, n)
    if said:
        lacking = [c.column for c in said if c.column.casefold() not in columns]
        return say("subgroups.absent_columns", n=len(lacking), names=list(dict.fromkeys(lacking)))
    return say("subgroups.absent", name=declared.name)


def _by_conditions(
    declared: Subgroup, joined: Sequence[Condition], columns: dict[str, CaseColumn], n: int
) -> Resolved | Message:
    inside, unknown = np.ones(n, bool), np.zeros(n, bool)
    for name, op, value in joined:
        column = columns[name.casefold()]
        held = _holds(column, op, value)
        if held is None:
            return say("subgroups.absent_numbers", name=column.name)
        unknown |= ~column.known
        inside &= held
    names = dict.fromkeys(columns[name.casefold()].name for name, *_ in joined)
    return " and ".join(names), [(declared.name, inside & ~unknown)], unknown


def _holds(column: CaseColumn, op: str, value: str) -> Mask | None:
    """Where a column meets a condition; None where it cannot be compared."""
    if op in ("in", "not in", "=", "!="):
        wanted = [value] if op in ("=", "!=") else re.split(r"[,;]", value.strip("()[]{}"))
        names = {w.strip().strip("\"'").casefold() for w in wanted}
        numbers = {x for w in names if (x := number(w)) is not None}
        is_one = np.array(
            [
                level.casefold() in names or (column.numbers is not None and number(level) in numbers)
                for level in column.levels
            ]
            + [False],
            bool,
        )[column.codes]
        return is_one if op in ("=", "in") else column.known & ~is_one
    bound = number(value)
    if bound is None or column.numbers is None:
        return None
    compare: dict[str, Any] = {">=": np.greater_equal, "<=": np.less_equal, ">": np.greater, "<": np.less}
    return np.asarray(column.known & compare[op](column.numbers, bound))


def _by_breaks(
    declared: Subgroup, breaks: Sequence[float], columns: dict[str, CaseColumn]
) -> Resolved | Message:
    """A group below the first break, one between each two (the lower one in it), one from the last on."""
    names = ((declared.definition or "").strip(), declared.name.strip())
    column = next((columns[n.casefold()] for n in names if n.casefold() in columns), None)
    if column is None:
        return say("subgroups.absent", name=declared.name)
    if column.numbers is None:
        return say("subgroups.absent_numbers", name=column.name)
    ends = [f"{x:g}" for x in breaks]
    labels = [f"{column.name} < {ends[0]}"]
    labels += [f"{low} <= {column.name} < {high}" for low, high in pairwise(ends)]
    labels += [f"{column.name} >= {ends[-1]}"]
    at = np.where(column.known, np.digitize(column.numbers, breaks), -1)
    return column.name, [(label, at == i) for i, label in enumerate(labels)], ~column.known


def _by_levels(column: CaseColumn, n: int) -> Resolved | Message:
    present = column.present
    if len(present) > MOST_LEVELS:
        return say("subgroups.absent_levels", name=column.name, n=len(present))
    groups = [(f"{column.name}: {column.levels[i]}", column.codes == i) for i in present]
    return column.name, groups, ~column.known


def _division(
    attribute: str, found: Sequence[tuple[Subgroup, list[tuple[str, Mask]], Mask]], n: int
) -> Division:
    every = {name: mask for _, groups, _ in found for name, mask in groups}
    made: dict[str, CaseGroup] = {}
    for declared, groups, unknown in found:
        for name, mask in groups:
            reference = _reference(declared, attribute, every)
            if reference == name:
                against, called = np.zeros(n, bool), name
            elif reference is not None:
                against, called = every[reference] & ~mask, reference
            else:
                against, called = ~mask & ~unknown, REST
            made.setdefault(name, CaseGroup(name, declared, mask, against, called))
    kept = tuple(made.values())
    unknown = np.logical_and.reduce([u for *_, u in found])
    shared = tuple(
        (a.name, b.name, both)
        for i, a in enumerate(kept)
        for b in kept[i + 1 :]
        if (both := int(np.count_nonzero(a.mask & b.mask)))
    )
    return Division(attribute, kept, unknown, overlaps=shared)


def _reference(declared: Subgroup, attribute: str, every: dict[str, Mask]) -> str | None:
    """The group that is declared as the one to be compared with, by its name or its value."""
    if declared.reference is None:
        return None
    wanted = declared.reference.casefold()
    spelled = (wanted, f"{attribute}: {wanted}".casefold())
    return next((name for name in every if name.casefold() in spelled), None)


def closed_groups(
    division: Division, least: int, counts: Callable[[Mask], Sequence[int]], size: Callable[[Mask], int]
) -> set[str]:
    """The groups of which a public report shows nothing, by the counts of their cases.

    One with a cell too small, or whose complement has one, since both are beside the total. Where a single
    group would be left out, what is left of the total would give it away: the smallest other one goes too.
    """
    if not least:
        return set()
    known = ~division.unknown
    shut = {
        group.name
        for group in division.groups
        if closed((*counts(group.mask), *counts(known & ~group.mask)), least)
    }
    if len(shut) == 1 and len(division.groups) > 1:
        others = [g for g in division.groups if g.name not in shut]
        shut.add(min(others, key=lambda g: (size(g.mask), g.name)).name)
    return shut


def families(tests: Sequence[tuple[Hashable, bool, float]]) -> list[dict[str, Any]]:
    """Of each comparison its family, how many tests that has, and its p-value adjusted after Holm.

    What was fixed in advance is one family, everything else another. Two comparisons of one key (women
    against the rest, men against the rest) are one test, and count once. One that was planned is not tested
    again where somebody looked further.

    Parameters
    ----------
    tests : key of the test, whether it was planned, and its p-value (NaN where there is none)

    Examples
    --------
    >>> found = families([("a", True, 0.02), ("b", True, 0.04), ("b", False, 0.04), ("c", False, 0.03)])
    >>> [(one["comparisons"], one["p_holm"]) for one in found]
    [(2, 0.04), (2, 0.04), (2, 0.04), (1, 0.03)]
    """
    planned = {key for key, is_planned, _ in tests if is_planned}
    names = [PRESPECIFIED if key in planned else EXPLORATORY for key, *_ in tests]
    found: dict[str, dict[Hashable, float]] = {}
    for name, (key, _, p) in zip(names, tests):
        if not isnan(p):
            found.setdefault(name, {}).setdefault(key, p)
    adjusted = {
        (name, key): float(p)
        for name, own in found.items()
        for key, p in zip(own, holm(np.array(list(own.values()))))
    }
    return [
        {
            "family": name,
            "comparisons": len(found.get(name, ())),
            "p_holm": nan if isnan(p) else adjusted[name, key],
        }
        for name, (key, _, p) in zip(names, tests)
    ]
