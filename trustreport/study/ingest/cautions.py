"""What was provided and is not used, or probably means something else: said before anything is computed."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.answerable import lacking
from trustreport.study.definitions import columns_of, conditions
from trustreport.study.identity.device_codes import doubtful_codes
from trustreport.study.ingest.cells import FEW_LEVELS
from trustreport.study.ingest.columns import MappedTable
from trustreport.study.ingest.contracts import CONTRACTS
from trustreport.study.ingest.published import TWO, indeterminate
from trustreport.study.ingest.rules import INLINE
from trustreport.study.plan import Indicator, Plan, UtilityMatrix
from trustreport.study.plausible import implausible
from trustreport.study.study import Dataset, Ratings, Readings, Scores, Study

Caution = tuple[str, Mapping[str, Any]]

MOST_NAMED = 8
MOST_UNUSED = 40  # columns that are named
FEW_MISSING = 0.05  # of the cases; fewer without a feature are left out without a word
FAR = 1.96  # standard errors between a declared rate and that of the baseline
FEWEST_RANKS = 3  # labels that are whole numbers
RATES = {"sensitivity": 1, "specificity": 0}
WEIGHT = "weight"
WEIGHTS = ("weight", "weights", "sampling_weight")


def cautions(plan: Plan, tables: Sequence[MappedTable], study: Study) -> Iterator[Caution]:
    """Doubts about a study that has been read, each a key of the catalogue with its values, and each once."""
    said: list[Caution] = []
    for one in _every(plan, tables, study):
        if one not in said:
            said.append(one)
            yield one


def _every(plan: Plan, tables: Sequence[MappedTable], study: Study) -> Iterator[Caution]:
    for table in tables:
        yield from _of_table(table, [t for t in tables if t.file == table.file and t is not table])
    for readings in study.readings:
        yield from _of_design(readings, plan)
        if WEIGHT in readings.cases.numbers:
            yield "weights_of_readings", {"task": readings.task}
    for ratings in study.raters:
        yield from _of_labels(ratings, plan)
    for dataset in study.datasets:
        if WEIGHT in dataset.cases.numbers:
            yield "weights_used", {"dataset": dataset.name}
        yield from _of_scores(dataset, plan)
        yield from _of_features(dataset)
        yield from _of_follow_up(dataset, plan)
    for one in study.localisations:
        if one.merged:
            names = [t.file for t in tables if t.kind == "marks"]
            yield "marks_merged", {"name": one.name or names[0], "n": one.merged}
    yield from implausible(study, plan)
    for key, code in doubtful_codes(plan):
        yield "device_code", {"key": key, "code": code}
    given = {word for t in tables for word in (t.kind, *t.headers)}
    yield from lacking(study, plan, given, published=any(getattr(plan, group) for group in INLINE))
    yield from _of_subgroups(plan, study)
    yield from _of_baseline(plan, study)
    yield from utility_cautions(plan, study)


def _of_table(table: MappedTable, others: Sequence[MappedTable]) -> Iterator[Caution]:
    file = table.file
    if table.guessed_encoding:
        yield "encoding_guessed", {"file": file, "encoding": table.guessed_encoding}
    if table.kind == "readings" and "initial_decision" in table.headers and table.has("arm"):
        yield "initial_decision_unused", {"file": file}
    used = int(table.used.sum())
    if used == 0:
        yield "table_unused", {"file": file, "kind": table.spec.kind}
    elif used < table.n_rows and table.kind != "cases":
        yield "rows_unused", {"file": file, "n": table.n_rows - used, "of": table.n_rows}
    unused = [h for h in _unused_columns(table) if all(h in _unused_columns(o) for o in others)]
    weights = [h for h in (*unused, *table.extra) if h.casefold() in WEIGHTS]
    if weights:
        yield "weights_unused", {"file": file, "names": weights, "name": weights[0]}
    rest = [h for h in unused if h not in weights]
    if rest:
        values = {"file": file, "n": len(rest), "names": rest[:MOST_UNUSED], "most": FEW_LEVELS}
        ignored = CONTRACTS[table.kind].extra in ("ignored", "divided")
        yield "columns_ignored" if ignored else "columns_not_groups", values


def _unused_columns(table: MappedTable) -> list[str]:
    """Headers of which nothing entered the study."""
    taken = {*table.headers.values(), *table.extra, *table.features}
    renamed = {v for v in table.spec.columns.values() if isinstance(v, str)}
    return [h for h in table.header if h and h not in taken and h not in renamed]


def _of_design(readings: Readings, plan: Plan) -> Iterator[Caution]:
    """Arms of which no reader read a case in both, though no design of that kind is declared."""
    if len(readings.arms) < 2 or plan.reading.design in ("parallel", "split-plot"):
        return
    n = len(readings.cases) + 1
    keys = readings.reader.astype(np.int64) * n + readings.case
    per_arm = [set(keys[readings.arm == a].tolist()) for a in range(len(readings.arms))]
    if all(per_arm) and not set.intersection(*per_arm):
        yield "design_looks_parallel", {"arms": list(readings.arms)}


def _of_labels(ratings: Ratings, plan: Plan) -> Iterator[Caution]:
    """Labels that are probably ranks, though no scale is declared."""
    whole = all(name.isdecimal() for name in ratings.classes)
    if plan.reference_standard.label_scale is None and whole and len(ratings.classes) >= FEWEST_RANKS:
        ranks = sorted(ratings.classes, key=int)[:MOST_NAMED]
        yield "labels_look_like_ranks", {"names": ranks}


def _of_scores(dataset: Dataset, plan: Plan) -> Iterator[Caution]:
    for candidate, scores in dataset.scores.items():
        values = {"dataset": dataset.name, "candidate": candidate}
        threshold = plan.threshold_of(candidate)
        if scores.score is None or threshold is None:
            continue
        given = scores.score[np.isfinite(scores.score)]
        if not len(given):
            continue
        low, high = float(given.min()), float(given.max())
        said = {**values, "low": f"{low:g}", "high": f"{high:g}", "threshold": f"{threshold:g}"}
        if high > 1 and 0 < threshold < 1:
            yield "threshold_of_another_scale", said
        elif scores.decision is None and not low <= threshold <= high:
            yield "threshold_beyond_scores", said


def _of_features(dataset: Dataset) -> Iterator[Caution]:
    """Features that lack in so many cases that similarity is measured on the others only."""
    if dataset.features is None or not len(dataset.features):
        return
    absent = np.isnan(dataset.features)
    share = float(absent.any(axis=1).mean())
    if share > FEW_MISSING:
        lacking = np.flatnonzero(absent.any(axis=0))
        names = [dataset.feature_names[i] for i in lacking]
        yield "features_missing", {"dataset": dataset.name, "share": share, "names": names[:MOST_NAMED]}


def _of_follow_up(dataset: Dataset, plan: Plan) -> Iterator[Caution]:
    """Subgroups, sites or periods of a data set with follow-up: no number is computed for them."""
    site = dataset.cases.site
    sites = site is not None and len(site.labels) > 1
    if dataset.cases.followed and (plan.subgroups or sites or dataset.role == "period"):
        yield "follow_up_whole", {"dataset": dataset.name}


def _of_subgroups(plan: Plan, study: Study) -> Iterator[Caution]:
    cases = [*(r.cases for r in study.readings), *(d.cases for d in study.datasets)]
    if not cases:
        return
    there = {"site", "complexity"} | {name.casefold() for one in cases for name in one.groups}
    there |= {name.casefold() for d in study.datasets for name in d.feature_names}
    for group in plan.subgroups:
        if there.isdisjoint(columns_of(group)):
            columns = [c.column for c in conditions(group.definition or "")] or [group.name]
            yield "subgroup_without_column", {"name": group.name, "names": list(dict.fromkeys(columns))}


def _of_baseline(plan: Plan, study: Study) -> Iterator[Caution]:
    """A rate declared to be in control that the baseline itself does not have."""
    declared = plan.vigilance
    if declared is None or declared.baseline_dataset is None:
        return
    dataset = next((d for d in study.datasets if d.name == declared.baseline_dataset), None)
    for candidate, scores in dataset.scores.items() if dataset is not None else ():
        for indicator in declared.indicators or ():
            found = _rate(indicator, dataset, scores, plan, candidate) if dataset else None
            if found is not None and indicator.in_control is not None:
                k, n, p = *found, indicator.in_control
                if n and abs(k / n - p) > FAR * max(p * (1 - p) / n, 1e-12) ** 0.5:
                    values = {"measure": indicator.measure, "declared": p, "found": k / n, "k": k, "n": n}
                    yield "baseline_not_in_control", {**values, "dataset": declared.baseline_dataset}


def _rate(
    indicator: Indicator, dataset: Dataset, scores: Scores, plan: Plan, candidate: str
) -> tuple[int, int] | None:
    """How many were called right, of how many, for the two rates that decisions alone give."""
    wanted = RATES.get(indicator.measure.rpartition(".")[2])
    called = _called(scores, plan, candidate)
    if wanted is None or called is None:
        return None
    own = (dataset.cases.truth == wanted) & (called >= 0)
    return int((called[own] == wanted).sum()), int(own.sum())


def _called(scores: Scores, plan: Plan, candidate: str) -> NDArray[Any] | None:
    if scores.decision is not None:
        return scores.decision
    threshold = plan.threshold_of(candidate)
    if scores.score is None or threshold is None:
        return None
    lower = plan.operating_point.score_direction == "lower_is_positive"
    above = scores.score <= threshold if lower else scores.score >= threshold
    return np.where(np.isfinite(scores.score), above, -1)


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
            absent, present = indeterminate(one)
            sizes = (one.tn + one.fp + absent, one.tp + one.fn + present)
            by_set.setdefault(one.set, set()).add(sizes)
    for table in plan.confusion_tables:
        if table.candidate is not None:
            by_set.setdefault(table.set, set()).add(tuple(np.sum(table.table, axis=0).tolist()))
    if plan.utility.matrices:
        yield from (("counts_of_other_cases", {"name": s}) for s, sizes in by_set.items() if len(sizes) > 1)
