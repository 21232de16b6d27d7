"""Which counts of a data set stay at its site, and the attack that nothing that leaves gives them back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trustreport.assessment.site_summary.counting import CountedCases
from trustreport.measures.disclosure.counts import Count
from trustreport.measures.disclosure.invert import recovered
from trustreport.study.plan import Plan
from trustreport.study.pooled.site_file import (
    CandidateScores,
    GroupCounts,
    GroupLevel,
    KeptAtSite,
    Pattern,
    SetCounts,
)

CLASS = {1: "positives", 0: "negatives"}
FEW = "few_cases"


@dataclass(frozen=True, slots=True)
class Kept:
    """What may leave of the counts of a data set, and what is withheld."""

    patterns: tuple[Pattern, ...]
    groups: tuple[GroupCounts, ...]
    withheld: tuple[KeptAtSite, ...]

    @property
    def withheld_cells(self) -> bool:
        """Whether the counts of decisions are withheld."""
        return any(one.what == "cells" for one in self.withheld)


def kept_counts(counted: CountedCases, groups: Sequence[GroupCounts], plan: Plan, least: int) -> Kept:
    """The counts that may leave: all cells or none, all cells of a group in a class or none.

    Where a group is withheld, so many others are, the smallest first, that what is left for all of them
    together is in no cell a few cases.
    """
    withheld = []
    patterns = list(counted.patterns)
    if counted.dropped:
        withheld.append(KeptAtSite(dataset="", what="number", name="not run", reason=FEW))
    if any(0 < one.n < least for one in patterns):
        withheld.append(KeptAtSite(dataset="", what="cells", reason=FEW))
        patterns = []
    kept = []
    for group in groups:
        levels, apart = [], []
        for truth in (0, 1):
            own_levels = [level for level in group.levels if level.truth == truth]
            known = any(one.truth == truth for one in patterns)
            shown, hidden = _shown(own_levels, least) if known else ([], own_levels)
            levels += shown
            apart += [level for level in hidden if sum(level.n)]
        kept.append(GroupCounts(columns=group.columns, levels=tuple(levels)))
        names = counted.groups_with(group, apart, plan) if apart else []
        withheld += [KeptAtSite(dataset="", what="group", name=name, reason=FEW) for name in names]
    unique = {(one.what, one.name): one for one in withheld}
    return Kept(tuple(patterns), tuple(kept), tuple(unique.values()))


def _shown(levels: Sequence[GroupLevel], least: int) -> tuple[list[GroupLevel], list[GroupLevel]]:
    hidden = [level for level in levels if any(0 < n < least for n in level.n)]
    shown = sorted((level for level in levels if level not in hidden), key=lambda level: sum(level.n))
    while hidden and shown:
        left = np.sum([level.n for level in hidden], axis=0)
        if not ((left > 0) & (left < least)).any() and len([h for h in hidden if sum(h.n)]) > 1:
            break
        hidden.append(shown.pop(0))
    return [level for level in levels if level in shown], hidden


def _called(group: GroupCounts, level: GroupLevel) -> str:
    return ", ".join(f"{name}: {value}" for name, value in zip(group.columns, level.values))


def recovered_counts(
    handed_over: SetCounts, counted: CountedCases, groups: Sequence[GroupCounts], least: int
) -> dict[str, int]:
    """Every small count that follows from what is handed over; empty where none does.

    The attacker knows which columns and outcomes there are, but no count that is not handed over.
    """
    found: dict[str, int] = {}
    for group in groups or (None,):
        wanted, published = _of_groups(handed_over, counted, group)
        found |= recovered(wanted, published, least)
    for place, (candidate, scores) in enumerate(handed_over.scores.items()):
        wanted, published = _of_groups(handed_over, counted, None)
        more = list(_of_totals(scores, counted, place))
        published |= {count.name: n for count, n in more}
        found |= recovered([*wanted, *(count for count, _ in more)], published, least)
        for truth in (1, 0):
            wanted, published = _of_cuts(scores, truth)
            if wanted:
                found |= {f"{candidate} {name}": n for name, n in recovered(wanted, published, least).items()}
    return found


def _of_groups(
    handed_over: SetCounts, counted: CountedCases, group: GroupCounts | None
) -> tuple[list[Count], dict[str, int]]:
    """Counts of patterns and of each group, those handed over with their values."""
    wanted, published = [], {}
    shown = {(one.truth, one.outcomes): one.n for one in handed_over.patterns}
    given = next((g for g in handed_over.groups if group and g.columns == group.columns), None)
    for truth in (1, 0):
        own = [one for one in counted.patterns if one.truth == truth]
        levels = [level for level in group.levels if level.truth == truth] if group else []
        known = {level.values: level.n for level in given.levels if level.truth == truth} if given else {}
        names = [_called(group, level) for level in levels] if group else ["all"]
        for i, pattern in enumerate(own):
            base = f"{CLASS[truth]} {'/'.join(pattern.outcomes)}"
            wanted.append(Count(base, frozenset(f"{base} {name}" for name in names)))
            if (truth, pattern.outcomes) in shown:
                published[base] = shown[truth, pattern.outcomes]
            for level, name in zip(levels, names):
                cell = f"{base}, {name}"
                wanted.append(Count(cell, frozenset({f"{base} {name}"})))
                if level.values in known:
                    published[cell] = known[level.values][i]
    return wanted, published


def _of_totals(scores: CandidateScores, counted: CountedCases, place: int) -> Iterator[tuple[Count, int]]:
    """What the numbers of cases of estimates and sums say of the patterns of one candidate."""

    def some(truths: tuple[int, ...], without: tuple[str, ...]) -> frozenset[str]:
        """The atoms of patterns of these classes and without these outcomes."""
        return frozenset(
            f"{CLASS[one.truth]} {'/'.join(one.outcomes)} all"
            for one in counted.patterns
            if one.truth in truths and one.outcomes[place] not in without
        )

    area = scores.estimates.get("auc")
    if area:
        for truth, word in CLASS.items():
            if word in area[0].details:
                yield Count(f"ranked {word}", some((truth,), ("not run",))), round(area[0].details[word])
    if scores.sums is not None:
        unused = ("not run", "failed")
        yield Count("with a score", some((0, 1), unused)), scores.sums.n
        yield Count("events with a score", some((1,), unused)), scores.sums.events


def _of_cuts(scores: CandidateScores, truth: int) -> tuple[list[Count], dict[str, int]]:
    """Counts of a class above each cut and in each bin, by the smallest intervals that they make."""
    bins = scores.positives if truth else scores.negatives
    acted = [
        (one.threshold, one.cells[0 if truth else 1], one.cells[2 if truth else 3]) for one in scores.acted
    ]
    cuts = sorted({end for one in bins for end in (one.low, one.high)} | {t for t, *_ in acted})
    if not cuts:
        return [], {}
    atoms = ["below", *(f"from {cut:g}" for cut in cuts)]
    published, wanted = {}, []
    for one in bins:
        inside = atoms[cuts.index(one.low) + 1 : cuts.index(one.high) + 1]
        wanted.append(Count(f"bin {one.low:g}", frozenset(inside)))
        published[f"bin {one.low:g}"] = one.n
    for threshold, above, below in acted:
        at = cuts.index(threshold) + 1
        for name, own, n in (("above", atoms[at:], above), ("below", atoms[:at], below)):
            wanted.append(Count(f"{name} {threshold:g}", frozenset(own)))
            published[f"{name} {threshold:g}"] = n
    return wanted, published


def small_counts(handed_over: SetCounts, least: int) -> Iterator[str]:
    """Counts of a few cases among those that are handed over, which there may be none of."""
    numbers: dict[str, int] = {f"{one.truth} {one.outcomes}": one.n for one in handed_over.patterns}
    for group in handed_over.groups:
        for level in group.levels:
            numbers |= {f"{level.truth} {level.values} {i}": n for i, n in enumerate(level.n)}
    for name, scores in handed_over.scores.items():
        numbers |= {f"{name} {one.low}": one.n for one in (*scores.positives, *scores.negatives)}
        for one in scores.acted:
            numbers |= {f"{name} {one.threshold} {i}": n for i, n in enumerate(one.cells)}
    yield from (name for name, n in numbers.items() if 0 < n < least)
