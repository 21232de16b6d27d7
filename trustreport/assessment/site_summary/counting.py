"""The cases of a data set by truth and outcome, and by the columns that declared groups are made of."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.case_groups import CaseColumn, columns_of, divisions
from trustreport.assessment.performance.cases import outputs
from trustreport.assessment.performance.keys import is_mature
from trustreport.study.definitions import columns_of as columns_named
from trustreport.study.definitions import conditions, number
from trustreport.study.plan import Plan
from trustreport.study.pooled.site_file import GroupCounts, GroupLevel, Outcome, Pattern
from trustreport.study.study import Dataset, Study

OUTCOMES: tuple[Outcome, ...] = ("positive", "negative", "scored", "failed", "not run")
MOST_VALUES = 30  # a column with more values than this is divided no further than the declared groups need

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class CountedCases:
    """The cases of a data set whose truth counts, (n,): truth, and the pattern of outcomes of each.

    `patterns` are the distinct rows of truth and outcomes, which `code` indexes. `dropped`: the cases that no
    candidate was given are not among them, since they are few; no other number rests on them.
    """

    dataset: Dataset
    rows: NDArray[np.intp]
    truth: NDArray[np.bool_]
    patterns: tuple[Pattern, ...]
    code: Codes
    dropped: bool = False

    def groups(self, plan: Plan) -> tuple[GroupCounts, ...]:
        """The cases of each value of the columns that declared groups need, by pattern."""
        columns = columns_of(self.dataset.cases, self.dataset)
        return tuple(
            found
            for names in _together(plan, columns)
            if (found := self._by(tuple(_coarse(columns[name], plan) for name in names))) is not None
        )

    def groups_with(self, group: GroupCounts, hidden: Iterable[GroupLevel], plan: Plan) -> list[str]:
        """The declared groups that hold a case of some levels, by name."""
        columns = columns_of(self.dataset.cases, self.dataset)
        own = [_coarse(columns[name.casefold()], plan) for name in group.columns]
        inside = np.zeros(len(self.rows), bool)
        for level in hidden:
            match = self.truth == bool(level.truth)
            for (_, texts, codes), value in zip(own, level.values):
                wanted = -1 if value is None else texts.index(value)
                match &= codes[self.rows] == wanted
            inside |= match
        whole = np.zeros(len(self.dataset.cases), bool)
        whole[self.rows[inside]] = True
        every = divisions(plan, self.dataset.cases, self.dataset)
        return [one.name for d in every for one in d.groups if (one.mask & whole).any()]

    def _by(self, columns: Sequence[tuple[str, tuple[str | None, ...], Codes]]) -> GroupCounts | None:
        own = np.stack([codes[self.rows] for _, _, codes in columns], axis=1)
        values, at = np.unique(own, axis=0, return_inverse=True)
        if len(values) > MOST_VALUES:
            return None
        levels = []
        for truth in (0, 1):
            of_class = [i for i, one in enumerate(self.patterns) if one.truth == truth]
            for i, row in enumerate(values):
                cells = np.bincount(self.code[at.ravel() == i], minlength=len(self.patterns))[of_class]
                named = tuple(texts[code] if code >= 0 else None for (_, texts, _), code in zip(columns, row))
                levels.append(GroupLevel(truth=truth, values=named, n=tuple(map(int, cells))))
        return GroupCounts(columns=tuple(name for name, *_ in columns), levels=tuple(levels))


def counted_cases(dataset: Dataset, study: Study, plan: Plan, least: int) -> CountedCases:
    """The cases of a data set by truth and by what each candidate put out.

    Fewer than `least` cases of a class that no candidate was given are left out.
    """
    n = len(dataset.cases)
    rows = np.flatnonzero((dataset.cases.truth >= 0) & is_mature(dataset, study, plan))
    truth = dataset.cases.truth[rows] == 1
    columns = [truth.astype(np.int64)]
    for candidate, scores in dataset.scores.items():
        found = outputs(scores, n, plan, candidate)
        code = np.where(found.decision == 1, 0, np.where(found.decision == 0, 1, 2))
        code = np.where(found.failed, 3, code)
        columns.append(np.where(found.given, code, 4)[rows])
    table = np.stack(columns, axis=1)
    absent = (table[:, 1:] == OUTCOMES.index("not run")).all(axis=1)
    few = np.zeros(len(rows), bool)
    for k in (True, False):
        own = absent & (truth == k)
        few |= own if own.sum() < least else False
    rows, truth, table = rows[~few], truth[~few], table[~few]
    kinds, at, counts = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    patterns = tuple(
        Pattern(truth=int(kind[0]), outcomes=tuple(OUTCOMES[int(k)] for k in kind[1:]), n=int(count))
        for kind, count in zip(kinds, counts)
    )
    return CountedCases(dataset, rows, truth, patterns, at.ravel().astype(np.int64), bool(few.any()))


def _together(plan: Plan, columns: Mapping[str, CaseColumn]) -> Iterator[tuple[str, ...]]:
    """The columns of declared groups; those that one definition joins stay together."""
    joined: list[set[str]] = []
    for declared in plan.subgroups:
        said = conditions((declared.definition or "").strip())
        own = {c.column.casefold() for c in said} & set(columns) if said else set()
        own = own or set([name for name in columns_named(declared) if name in columns][:1])
        if own:
            meeting = [one for one in joined if one & own]
            joined = [one for one in joined if not one & own] + [own.union(*meeting)]
    yield from (tuple(sorted(one)) for one in joined)


# On which side of a bound the bound itself is, by how a group compares a number with it.
SIDES = {">=": "above", "<": "above", "<=": "below", ">": "below"}


def _coarse(column: CaseColumn, plan: Plan) -> tuple[str, tuple[str | None, ...], Codes]:
    """A column with a number in the place of all those that no declared group tells from it."""
    sides: dict[float, set[str]] = {}
    for bound, side in _bounds(column.name, plan):
        sides.setdefault(bound, set()).add(side)
    bounds = sorted(sides)
    if column.numbers is None or not bounds:
        return column.name, column.levels, column.codes
    below, above = (np.searchsorted(bounds, column.numbers, side) for side in ("left", "right"))
    code = below + above  # odd: on a bound, even: between two
    for i, bound in enumerate(bounds):
        if sides[bound] in ({"above"}, {"below"}):
            code[code == 2 * i + 1] += 1 if "above" in sides[bound] else -1
    inner = [(low + high) / 2 for low, high in pairwise(bounds)]
    between = [bounds[0] - 1, *inner, bounds[-1] + 1]
    texts = [f"{between[i // 2] if i % 2 == 0 else bounds[i // 2]:.12g}" for i in range(2 * len(bounds) + 1)]
    return column.name, tuple(texts), np.where(np.isnan(column.numbers), -1, code).astype(np.int64)


def _bounds(name: str, plan: Plan) -> Iterator[tuple[float, str]]:
    """The numbers with which declared groups compare a column, and the side on which each itself is."""
    for declared in plan.subgroups:
        if declared.breaks and name.casefold() in columns_named(declared):
            yield from ((bound, "above") for bound in declared.breaks)
        for condition in conditions((declared.definition or "").strip()):
            if condition.column.casefold() == name.casefold():
                parts = condition.value.split(",") if "in" in condition.op else [condition.value]
                side = SIDES.get(condition.op, "")
                yield from ((x, side) for part in parts if (x := number(part.strip())) is not None)
