"""Declared utilities, and joint tables of decisions, against the data that they are for."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from trustreport.study.ingest.problems import (
    KeyPath,
    Problems,
    did_you_mean,
    listed,
    quoted,
)
from trustreport.study.plan import Confusion, Plan, UtilityMatrix
from trustreport.study.study import Dataset, Scores, Study

TWO = (2, 2)
SUM_ROUNDED = 0.02  # by which the sum of printed probabilities may differ from 1


def utilities_are_usable(plan: Plan, study: Study, problems: Problems) -> None:
    """Every utility of several classes or other decisions fits some data, and has a name of its own."""
    seen: dict[str, int] = {}
    for i, u in enumerate(plan.utility.matrices):
        if u.name in seen:
            found, mend = f"utility {quoted(u.name)} is declared twice", "Give each a name of its own."
            first = ("utility", "matrices", seen[u.name])
            problems.declared(("utility", "matrices", i, "name"), found, "", mend, before=first)
        seen.setdefault(u.name, i)
        if np.shape(u.matrix) != TWO:
            _fits(u, ("utility", "matrices", i), plan, study, problems)


def _fits(u: UtilityMatrix, path: KeyPath, plan: Plan, study: Study, problems: Problems) -> None:
    """A matrix that is not of two classes and decisions, against the classes and decisions that there are."""
    columns, decisions = len(u.matrix[0]), u.decisions or u.classes
    classes = [d.cases.classes for d in study.datasets] + [t.classes for t in plan.confusion_tables]

    def report(field: str, found: str, expected: str, mend: str) -> None:
        at: KeyPath = (*path, field)
        problems.declared(at, found, expected, mend)

    if u.classes is None and columns > TWO[1]:
        report(
            "classes", f"{columns} columns without names", "the class of each column", "Add classes: [...]."
        )
        return
    tables = [t for t in plan.confusion_tables if _same(t.classes, u.classes)]
    if any(_same(t.decisions or t.classes, decisions) for t in tables):
        return
    sets = [d for d in study.datasets if len(d.cases.classes) == columns and _classes_fit(d, u)]
    if any(_same(d.cases.classes, decisions) and _has_scores(d) for d in sets):
        return
    if u.decisions is not None and any(_are_probabilities(d, plan) for d in sets):
        return
    if tables:
        there = listed((t.decisions or t.classes for t in tables), 3)
        report("decisions", f"found {listed(decisions or ())}", f"the decisions of a table: {there}", "")
    elif sets and u.decisions is not None:
        report(
            "decisions",
            f"found {listed(u.decisions)}; data set {quoted(sets[0].name)} has no such decisions",
            "scores that are probabilities (their sum is 1), from which the decision of greatest expected "
            "utility follows",
            "Or give the cases by decision and class under confusion_tables.",
        )
    else:
        names = u.classes or ()
        known = sorted({name for some in classes for name in some})
        odd = next((name for name in names if name not in known), "")
        expected = f"classes of the data: {listed(known)}" if known else "data of these classes"
        mend = (did_you_mean(odd, known) if odd else "") or "Cases by decision and class: confusion_tables."
        report("classes", f"found {listed(names)}" if names else f"{columns} classes", expected, mend)


def _same(names: Sequence[str] | None, others: Sequence[str] | None) -> bool:
    return names is not None and others is not None and set(names) == set(others)


def _classes_fit(dataset: Dataset, u: UtilityMatrix) -> bool:
    """Whether the classes of a data set are those of a matrix; two need no names."""
    return _same(dataset.cases.classes, u.classes) or len(u.matrix[0]) == TWO[1]


def _has_scores(dataset: Dataset) -> bool:
    return any(s.class_scores is not None for s in dataset.scores.values())


def _are_probabilities(dataset: Dataset, plan: Plan) -> bool:
    """Whether every candidate's scores can be read as the probabilities of the classes."""
    if plan.operating_point.scores_are_probabilities is False:
        return False
    two = len(dataset.cases.classes) == TWO[1]
    return bool(dataset.scores) and all(
        _within_risks(given, plan.risk_range_of(candidate)) if two else _sum_to_one(given)
        for candidate, given in dataset.scores.items()
    )


def _within_risks(given: Scores, ends: tuple[float, float] | None) -> bool:
    score = given.score if given.class_scores is None else given.class_scores[:, 1]
    known = np.empty(0) if score is None else score[np.isfinite(score)]
    return bool(ends and len(known) and ends[0] <= known.min() and known.max() <= ends[1])


def _sum_to_one(given: Scores) -> bool:
    if given.class_scores is None:
        return False
    whole = given.class_scores[~np.isnan(given.class_scores).any(axis=1)]
    return bool(len(whole) and (whole >= 0).all() and (np.abs(whole.sum(axis=1) - 1) <= SUM_ROUNDED).all())


def joint_tables_agree(plan: Plan, study: Study, problems: Problems) -> None:
    """A joint table names two tables of its set, and has their counts as its margins.

    It has no place for indeterminate outputs: a table that counts some differs from it.
    """
    cells = {
        (one.set, one.candidate): np.array(
            [
                [one.tn, one.fn],
                [one.fp, one.tp],
                *([_third(one)] if any(_third(one)) else ()),
            ]
        )
        for one in study.confusion
    }
    cells |= {(one.set, one.candidate): np.array(one.table) for one in plan.confusion_tables}
    for i, one in enumerate(plan.joint_decisions):
        joint = np.array(one.by_truth)
        for axis, candidate in enumerate(one.candidates):
            own = cells.get((one.set, candidate))
            field = "by_truth"
            if own is None:
                field, found = (
                    "candidates",
                    f"no table of candidate {quoted(candidate)} in set {quoted(one.set)}",
                )
                known = sorted(str(c) for s, c in cells if s == one.set and c)
                expected = f"a candidate of the set: {listed(known)}" if known else "tables under confusion"
                mend = did_you_mean(candidate, known)
            else:
                # Counts by decision and class.
                margin = joint.sum(axis=2 - axis).T
                if margin.shape == own.shape and (margin == own).all():
                    continue
                found = f"the joint table gives candidate {quoted(candidate)} {margin.tolist()}"
                expected = f"its own table, decisions by class: {own.tolist()}"
                mend = "A table for each class: rows the first candidate's decisions, columns the second's."
            at: KeyPath = ("joint_decisions", i, field)
            problems.declared(at, found, expected, mend)


def _third(one: Confusion) -> tuple[int, int]:
    """Indeterminate outputs without and with the condition."""
    return one.indeterminate_negatives or 0, one.indeterminate_positives or 0


def utility_cautions(plan: Plan, study: Study) -> Iterator[tuple[str, dict[str, Any]]]:
    """Utilities that enter nothing, and tables of candidates whose yields the prevalence sets apart."""
    two = [u for u in plan.utility.matrices if np.shape(u.matrix) == TWO]
    decides = bool(study.confusion) or any(
        len(d.cases.classes) == TWO[1] and d.scores for d in study.datasets
    )
    if not decides and not any(r.decision is not None and len(r.arms) > 1 for r in study.readings):
        yield from (("utility_unused", {"name": u.name}) for u in two)
    groups: dict[object, list[UtilityMatrix]] = {}
    for u in plan.utility.matrices:
        groups.setdefault((frozenset(u.classes or ()), u.decisions, np.shape(u.matrix)), []).append(u)
    for some in groups.values():
        given = [u.probability for u in some if u.probability is not None]
        if given and len(some) > 1 and (len(given) < len(some) or abs(sum(given) - 1) >= 1e-6):
            yield "utility_probabilities", {"names": [u.name for u in some]}
    for d in study.datasets:
        names = [n for n in ("utility_00", "utility_01", "utility_10", "utility_11") if n in d.cases.numbers]
        lacking = any(np.isnan(d.cases.numbers[n]).any() for n in names)
        if names and (len(names) < np.prod(TWO) or lacking):
            yield "case_utilities_incomplete", {"dataset": d.name, "names": names}
    by_set: dict[str, set[tuple[int, ...]]] = {}
    for one in study.confusion:
        if one.candidate is not None:
            absent, present = _third(one)
            sizes = (one.tn + one.fp + absent, one.tp + one.fn + present)
            by_set.setdefault(one.set, set()).add(sizes)
    for table in plan.confusion_tables:
        if table.candidate is not None:
            by_set.setdefault(table.set, set()).add(tuple(np.sum(table.table, axis=0).tolist()))
    if plan.utility.matrices:
        yield from (("counts_of_other_cases", {"name": s}) for s, sizes in by_set.items() if len(sizes) > 1)
