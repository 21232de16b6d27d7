"""What has moved without looking at the truth: scores, features, groups. It says nothing of performance."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trustreport.dimensions.potential_robustness.pairs import NO_FEATURES, paired
from trustreport.dimensions.vigilance.measured import NO_BASELINE, NO_CASES, NO_COLUMN
from trustreport.dimensions.vigilance.periods import ID, Period, Timeline, mix_columns, names_of
from trustreport.estimate import undefined
from trustreport.measures.monitoring.drift import energy, kolmogorov_smirnov, mix_change, psi
from trustreport.measures.multiplicity import holm
from trustreport.measures.proportion import wilson
from trustreport.measures.similarity.effect import domain_classifier, normalised_energy
from trustreport.plan import Plan
from trustreport.results import Result, answers
from trustreport.seeds import generator

NO_SCORE = "no score is known in one of the two sets"
SCORE_METHODS = (kolmogorov_smirnov, psi, energy)


def drift_results(timeline: Timeline, plan: Plan) -> list[Result]:
    """Scores, features and groups of each period against the baseline."""
    results: list[Result] = []
    columns = [*mix_columns(timeline, plan), "site"]
    for period in timeline.periods:
        base = timeline.baseline
        results += _scores(timeline, period, base, plan)
        results += _features(timeline, period, base, plan)
        for column in columns:
            results += _mix(timeline, period, base, column, plan)
    return results


def called_results(timeline: Timeline, plan: Plan) -> Iterator[Result]:
    """The share of outputs that call a case positive, which needs no truth."""
    level = plan.report.confidence_level
    for period in timeline.all:
        given = period.decision >= 0
        x, n = int((period.decision == 1).sum()), int(given.sum())
        scope = {**timeline.scope, "period": period.name}
        yield Result(f"{ID}.called_share", scope, wilson(x, n, level), "proportion", True)


def _scores(timeline: Timeline, now: Period, then: Period | None, plan: Plan) -> list[Result]:
    level = plan.report.confidence_level
    scope = {**timeline.scope, "period": now.name}
    values = [p.score[~np.isnan(p.score)] if p is not None else np.zeros(0) for p in (then, now)]
    if then is None or not len(now) or not all(v.size for v in values):
        why = NO_BASELINE if then is None else NO_SCORE if len(now) else NO_CASES
        none = undefined(len(values[1]), why, level=level, method="kolmogorov_smirnov")
        return [Result(f"{ID}.score_drift", scope, none, "score", True)]
    found = [method(*values, level=level) for method in SCORE_METHODS]
    return answers(f"{ID}.score_drift", scope, found, leads="kolmogorov_smirnov", unit="score")


def _features(timeline: Timeline, now: Period, then: Period | None, plan: Plan) -> list[Result]:
    """By effect sizes, without the permutation tests that potential robustness makes for other sets."""
    level = plan.report.confidence_level
    scope = {**timeline.scope, "period": now.name}
    if timeline.several and timeline.candidate:
        scope = {"candidate": timeline.candidate, "period": now.name}
    if now.dataset is None or then is None or then.dataset is None:
        why = NO_CASES if now.dataset is None else NO_BASELINE
        return [
            Result(
                f"{ID}.feature_drift",
                scope,
                undefined(len(now), why, level=level, method="influence"),
                "score",
                True,
            )
        ]
    pair = paired([then.dataset], now.dataset, plan)
    if pair.features is None:
        why = NO_FEATURES.replace("training set", "baseline") if pair.why == NO_FEATURES else pair.why
        none = undefined(len(now), why, level=level, method="influence")
        return [Result(f"{ID}.feature_drift", scope, none, "score", True)]
    rng = generator(plan.similarity.seed, ID, "domain_classifier", now.name)
    found = [
        replace(e, details={**pair.details, **e.details})
        for e in (
            normalised_energy(pair.features, level=level),
            domain_classifier(pair.features, rng, level=level),
        )
    ]
    return answers(f"{ID}.feature_drift", scope, found, leads="influence", unit="score")


def _mix(timeline: Timeline, now: Period, then: Period | None, column: str, plan: Plan) -> Iterator[Result]:
    level = plan.report.confidence_level
    scope: dict[str, Any] = {**timeline.scope, "period": now.name, "parameters": {"by": column}}
    if then is None or not len(now):
        if column != "site":
            why = NO_CASES if then is not None else NO_BASELINE
            none = undefined(len(now), why, level=level, method="chi_square")
            yield Result(f"{ID}.mix_drift", scope, none, "proportion", True)
        return
    tables = [shares(p, column) for p in (then, now)]
    if not all(tables):
        if column != "site":
            none = undefined(len(now), NO_COLUMN, level=level, method="chi_square")
            yield Result(f"{ID}.mix_drift", scope, none, "proportion", True)
        return
    names = sorted(set(tables[0]) | set(tables[1]))
    before, after = (np.array([table.get(name, 0) for name in names]) for table in tables)
    yield Result(f"{ID}.mix_drift", scope, mix_change(before, after, level=level), "proportion", True)


def shares(period: Period, column: str) -> dict[str, int]:
    """Cases of a period by the groups of a column."""
    counts: dict[str, int] = {}
    for name in names_of(period.column(column), len(period)):
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    return counts


def moved(results: Sequence[Result], period: str, level: float) -> list[tuple[Result, float]]:
    """The tests of a period that find a change after Holm over all tests of that period, with their p."""
    tested = [
        r
        for r in results
        if r.primary
        and r.id in (f"{ID}.score_drift", f"{ID}.mix_drift")
        and r.scope.get("period") == period
        and not np.isnan(r.estimate.p)
    ]
    adjusted = holm(np.array([r.estimate.p for r in tested])) if tested else np.zeros(0)
    return [(r, float(p)) for r, p in zip(tested, adjusted) if p < 1 - level]
