"""What has moved without looking at the truth: scores, features, groups. It says nothing of performance."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.vigilance.entries import NO_BASELINE, NO_CASES, NO_COLUMN
from trustreport.assessment.dimensions.vigilance.periods import ID, Period, Timeline, mix_columns, names_of
from trustreport.assessment.performance.features import NO_FEATURES, paired
from trustreport.measures.association import holm
from trustreport.measures.estimate import undefined
from trustreport.measures.monitoring.drift import energy, kolmogorov_smirnov, mix_change, psi
from trustreport.measures.note import note
from trustreport.measures.seeds import generator
from trustreport.measures.similarity.effect import domain_classifier, normalised_energy
from trustreport.study.plan import Plan
from trustreport.vocabulary.results import Result, results_for

NO_SCORE = note("no_score_known_in_one_two")
SCORE_METHODS = (kolmogorov_smirnov, psi, energy)


def drift_results(timeline: Timeline, plan: Plan) -> list[Result]:
    """Scores, features and groups of each period against the baseline."""
    results: list[Result] = []
    columns = [*mix_columns(timeline, plan), "site"]
    for period in timeline.periods:
        base = timeline.baseline
        results += _scores(period, base, plan)
        results += _features(period, base, plan)
        for column in columns:
            results += _mix(period, base, column, plan)
    return results


def called_results(timeline: Timeline, plan: Plan) -> Iterator[Result]:
    """The share of outputs that call a case positive, which needs no truth."""
    level = plan.report.confidence_level
    for period in timeline.all:
        share = period.share(period.output == 1, period.output >= 0, level)
        yield Result(f"{ID}.called_share", period.place, share, primary=True, cases=period.key)


def _compared(now: Period, then: Period | None) -> dict[str, Any]:
    """What the entries of a period against the baseline have in common."""
    return {"place": now.place.at(reference=then.name if then else None), "cases": now.key}


def _scores(now: Period, then: Period | None, plan: Plan) -> list[Result]:
    id, level = f"{ID}.score_drift", plan.report.confidence_level
    values = [p.score[~np.isnan(p.score)] if p is not None else np.zeros(0) for p in (then, now)]
    if then is None or not len(now) or not all(v.size for v in values):
        why = NO_BASELINE if then is None else NO_SCORE if len(now) else NO_CASES
        none = undefined(len(values[1]), why, level=level, method="kolmogorov_smirnov")
        return [Result(id, estimate=none, primary=True, **_compared(now, then))]
    found = [method(*values, level=level) for method in SCORE_METHODS]
    return results_for(id, estimates=found, leads="kolmogorov_smirnov", **_compared(now, then))


def _features(now: Period, then: Period | None, plan: Plan) -> list[Result]:
    """By effect sizes, without the permutation tests that potential robustness makes for other sets."""
    id, level = f"{ID}.feature_drift", plan.report.confidence_level
    if now.dataset is None or then is None or then.dataset is None:
        why = NO_CASES if now.dataset is None else NO_BASELINE
        none = undefined(len(now), why, level=level, method="influence")
        return [Result(id, estimate=none, primary=True, **_compared(now, then))]
    pair = paired([then.dataset], now.dataset, plan)
    if pair.features is None:
        why = note("features_baseline_or_this_set") if pair.why == NO_FEATURES else pair.why
        none = undefined(len(now), why, level=level, method="influence")
        return [Result(id, estimate=none, primary=True, **_compared(now, then))]
    rng = generator(plan.similarity.seed, ID, "domain_classifier", now.name)
    found = [
        replace(e, details={**pair.details, **e.details})
        for e in (
            normalised_energy(pair.features, level=level),
            domain_classifier(pair.features, rng, level=level),
        )
    ]
    return results_for(id, estimates=found, leads="influence", **_compared(now, then))


def _mix(now: Period, then: Period | None, column: str, plan: Plan) -> Iterator[Result]:
    level = plan.report.confidence_level
    tables = [shares(p, column) for p in (then, now) if p is not None]
    if then is not None and len(now) and all(tables):
        names = sorted(set(tables[0]) | set(tables[1]))
        before, after = (np.array([table.get(name, 0) for name in names]) for table in tables)
        found = mix_change(before, after, level=level)
    elif column == "site":
        return
    else:
        why = NO_BASELINE if then is None else NO_COLUMN if len(now) else NO_CASES
        found = undefined(len(now), why, level=level, method="chi_square")
    yield Result(
        f"{ID}.mix_drift", estimate=found, parameters={"by": column}, primary=True, **_compared(now, then)
    )


def shares(period: Period, column: str) -> dict[str, int]:
    """Cases of a period by the groups of a column."""
    counts: dict[str, int] = {}
    for name in names_of(period.column(column), len(period)):
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    return counts


def drifted(results: Sequence[Result], period: str, level: float) -> list[tuple[Result, float]]:
    """The tests of a period that find a change after Holm over all tests of that period, with their p."""
    tested = [
        r
        for r in results
        if r.primary
        and r.id in (f"{ID}.score_drift", f"{ID}.mix_drift")
        and r.place.period == period
        and not np.isnan(r.estimate.p)
    ]
    adjusted = holm(np.array([r.estimate.p for r in tested])) if tested else np.zeros(0)
    return [(r, float(p)) for r, p in zip(tested, adjusted) if p < 1 - level]
