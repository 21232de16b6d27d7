"""The declared groups of a set of cases: their cases, what they are compared with, and which are too small.

A definition says it in terms of the columns of the cases: ``sex = F``, ``65 <= age < 80``,
``scanner in A, B``; `breaks` divide a column of numbers. Any other text is for readers, and the name of the
group is the name of a column: then each of its values is a group.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.narrative.texts import lead_estimate
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.keys import closed, public_cell
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import Note, note
from trustreport.study.definitions import Condition, conditions, number
from trustreport.study.plan import Plan, Subgroup
from trustreport.study.study import Cases, Coded, Dataset
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result, leading

Mask = NDArray[np.bool_]

NAME, BENEFIT = "subgroups", "decision_benefit"
VALUE, DIFFERENCE = f"{NAME}.group_performance", f"{NAME}.subgroup_difference"
CHANGE = f"{BENEFIT}.arm_difference"
MAIN = ("sensitivity", "specificity", "auc")

# A column with more values than this does not divide cases into groups by itself.
MOST_LEVELS = 12
REST = "rest"
# Cases of a class below which an interval is wide enough to be warned of.
FEW = 30
BOTH = ("positives", "negatives")
TOO_FEW_TO_COMPARE = note("too_few_cases_in_group_or")


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


@dataclass(frozen=True, eq=False)
class Measured:
    """One group with its results, those of the comparison among them; closed: a public report shows none."""

    group: CaseGroup
    results: tuple[Result, ...]
    positives: int
    negatives: int
    closed: bool = False

    @property
    def name(self) -> str:
        """What the group is called."""
        return self.group.name

    @property
    def counts(self) -> tuple[int | None, int | None]:
        """Its cases, and those with the condition; None where a public report shows none."""
        return (None, None) if self.closed else (self.positives + self.negatives, self.positives)

    def value(self, endpoint: str) -> Estimate | None:
        """A measure of the group; of readers, their change."""
        found = lead_estimate(self.results, CHANGE, endpoint=endpoint)
        return found or lead_estimate(self.results, VALUE, endpoint=endpoint)

    def comparison(self, endpoint: str) -> Result | None:
        """The difference between the group and those that it is compared with."""
        return leading(self.results, DIFFERENCE, endpoint=endpoint)


Groups = Mapping[str, tuple[Measured, ...]]


@dataclass(frozen=True, eq=False)
class GroupedCases:
    """A data set and candidate (`case`), or a task and contrast of readers, with its groups by attribute.

    `overall` has the main measures of all cases, `unknown` how many have no value of an attribute. `further`
    are results over all groups: every group of an attribute against the others, how far apart they are in
    both rates, and the worst of all groups by measure.
    """

    name: Message | str
    place: Place
    level: float
    divisions: tuple[Division, ...]
    groups: Groups
    overall: Mapping[str, Estimate]
    unknown: Mapping[str, Result]
    n: int
    positives: int
    further: tuple[Result, ...] = ()
    case: ScoredCases | None = None

    @property
    def every(self) -> list[Measured]:
        """The groups of all attributes."""
        return [one for found in self.groups.values() for one in found]

    @property
    def of_readers(self) -> bool:
        """Whether these are cases that readers read with and without the aid."""
        return self.case is None

    @property
    def results(self) -> list[Result]:
        """Every entry, in the order reported."""
        return [*(r for one in self.every for r in one.results), *self.further, *self.unknown.values()]

    @property
    def comparisons(self) -> list[tuple[Measured, Result]]:
        """Every comparison of these groups."""
        return [(one, r) for one in self.every for r in one.results if r.id == DIFFERENCE]

    def about(self, id: str) -> list[Result]:
        """What is known over all groups of one question."""
        return [r for r in self.further if r.id == id]


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


# ---------------------------------------------------------------- definitions

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


# ---------------------------------------------------------------- what a group is compared with


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


# ---------------------------------------------------------------- groups too small for a percentage


@dataclass(frozen=True, slots=True)
class Least:
    """The least numbers of a group that are asked for; `cell` of any cell in a public report, else 0."""

    positives: int
    negatives: int
    cell: int = 0

    @classmethod
    def of_group(cls, plan: Plan, group: CaseGroup) -> "Least":
        """What the group declares, else the limits of the manifest, else the customary ones."""
        declared = (group.declared.min_positives, group.declared.min_negatives)
        positives, negatives = (
            int(plan.limit(f"P37_{name}")) if own is None else own for name, own in zip(BOTH, declared)
        )
        return cls(positives, negatives, public_cell(plan))

    def short(self, endpoint: str, positives: int, negatives: int) -> bool:
        """Whether a group has too few of a class for an endpoint."""
        have = {"positives": positives, "negatives": negatives}
        return any(have[c] < getattr(self, c) for c in classes_of(endpoint))


def classes_of(endpoint: str) -> tuple[str, ...]:
    """The classes of which an endpoint needs enough cases: both, but where one alone is its denominator."""
    if endpoint == "prevalence":
        return ()
    needs = endpoint_row(endpoint).needs
    return needs if len(needs) == 1 and needs[0] in BOTH else BOTH


def without_value(e: Estimate, note: Note) -> Estimate:
    """The same entry without its number, and why."""
    return undefined(e.n, note, level=e.level, method=e.method)


def with_few(e: Estimate, endpoint: str, positives: int, negatives: int) -> Estimate:
    """The estimate with the remark that a class is small, where it is."""
    have = {"positives": positives, "negatives": negatives}
    few = [c for c in classes_of(endpoint) if have[c] < FEW]
    if not few or e.value != e.value:
        return e
    if len(few) > 1:
        return with_note(
            e, note=note("few_positives_and_negatives", positives=positives, negatives=negatives)
        )
    if "positives" in few:
        return with_note(e, note=note("few_positives", n=positives))
    return with_note(e, note=note("few_negatives", n=negatives))


def with_note(e: Estimate, *, note: Note) -> Estimate:
    """The estimate with one more remark."""
    return replace(e, note=e.note + note)


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
