"""What has moved without looking at the truth: scores, features, groups. It says nothing of performance."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.vigilance.periods import (
    ID,
    Period,
    Timeline,
    mature_on,
    mix_columns,
    names_of,
)
from trustreport.assessment.dimensions.vigilance.results import NO_BASELINE, NO_CASES, NO_COLUMN
from trustreport.assessment.dimensions.vigilance.view import MonitoringView
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts
from trustreport.assessment.performance.features import NO_FEATURES, paired
from trustreport.figures import trend
from trustreport.measures.association import holm
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.monitoring.drift import energy, kolmogorov_smirnov, mix_change, psi
from trustreport.measures.note import note
from trustreport.measures.seeds import generator
from trustreport.measures.similarity.effect import domain_classifier, normalised_energy
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, results_for

NO_SCORE = note("no_score_known_in_one_two")
SCORE_METHODS = (kolmogorov_smirnov, psi, energy)
MOST_MIXES = 4  # columns of groups in one table

text = Texts(ID)


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
    for period in timeline.with_baseline:
        share = period.share(period.output == 1, period.output >= 0, level)
        yield Result(f"{ID}.called_share", period.place, share, primary=True, cases=period.key)


def _compared(now: Period, then: Period | None) -> dict[str, Any]:
    """What the entries of a period against the baseline have in common."""
    return {"place": now.place.narrowed(reference=then.name if then else None), "cases": now.key}


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


def drift(view: MonitoringView) -> Part:
    """Scores, features and groups against the baseline: no evidence of changed performance."""
    return text.part(_drift(view), text("title_drift"), view.place, "E38")


def _drift(view: MonitoringView) -> Iterator[Item]:
    periods = view.timeline.periods
    yield from _sentences(view)

    def row(period: Period) -> Iterator[Any]:
        """A period: the drift of its scores and of its features."""
        yield view.numbered(period)
        for e in (view.estimate("score_drift", period=period.name), _psi(view, period.name)):
            yield from (e.value, e.p)
        yield view.estimate("feature_drift", period=period.name).value

    yield text.table(
        f"vigilance_drift{view.suffix}",
        text("table.drift"),
        ".period .ks:number.3 .ks_p:p .psi:number.3 .psi_p:p .features:number.3",
        map(row, periods),
    )
    every = [*mix_columns(view.timeline, view.plan), "site"]
    watched = [c for c in every if view.find("mix_drift", parameters={"by": c})]
    for start in range(0, len(watched), MOST_MIXES):
        some = watched[start : start + MOST_MIXES]
        found = [
            [view.estimate("mix_drift", period=p.name, parameters={"by": c}) for c in some] for p in periods
        ]
        heads = [head for c in some for head in (text.column("mix", "percent", column=_column(c)), "p")]
        yield text.table(
            f"vigilance_mix{view.suffix}_{start // MOST_MIXES + 1}",
            text("table.mix"),
            (".period", *heads),
            [(view.numbered(p), *(x for e in of for x in (e.value, e.p))) for p, of in zip(periods, found)],
        )
    yield from _figures(view, watched)


def _sentences(view: MonitoringView) -> Iterator[Message]:
    timeline, last = view.timeline, view.timeline.last
    yield text("drift.label")
    if last is None or timeline.baseline is None or not len(timeline.baseline):
        yield text("drift.none_to_compare")
        return
    found = drifted(view.results, last.name, view.level)
    if not found:
        yield text("drift.nothing", period=last.name)
        return
    tested = (r.parameters.get("by") for r, _ in found)
    names = [text("drift.mix", column=_column(by)) if by else text("drift.scores") for by in tested]
    yield text("drift.moved", period=last.name, n=len(found), names=names)
    immature = int((~last.mature).sum())
    day = mature_on(last, view.plan)
    if immature and day is not None:
        yield text("drift_only", n=immature, n_labels=immature, date=day)
    else:
        yield text("drift.known")


def _column(name: Any) -> Message:
    return text("drift.site") if name == "site" else say("word.name", name=str(name).replace("_", " "))


def _psi(view: MonitoringView, period: str) -> Estimate:
    """The population stability index of a period, which stands beside the test that leads."""
    for r in view.results:
        if r.id == f"{ID}.score_drift" and r.method == "psi" and r.within(period=period):
            return r.estimate
    return Estimate(nan, nan, nan, 0)


def _figures(view: MonitoringView, watched: Sequence[str]) -> Iterator[Figure]:
    timeline, periods = view.timeline, view.timeline.periods
    stacks = []
    for column in watched[: trend.MOST_STACKS]:
        counted = [shares(p, column) for p in timeline.with_baseline]
        groups = sorted({name for counts in counted for name in counts})
        if 1 < len(groups) <= trend.MOST_PARTS:
            parts = tuple(trend.StackPart(g, tuple(counts.get(g, 0) for counts in counted)) for g in groups)
            stacks.append(trend.StackPanel(_column(column), parts, shares=True))
    if stacks:
        base = timeline.baseline is not None
        names = tuple(p.name for p in timeline.with_baseline)
        drawing = trend.Stacked(names, tuple(stacks), baseline=base, short=view.short(timeline.with_baseline))
        yield text.figure(f"vigilance_mix{view.suffix}", drawing, "mix", n=len(stacks))
    panels = []
    for name, quantity in (("called", "called_share"), ("features", "feature_drift")):
        found = tuple(view.estimate(quantity, period=p.name) for p in periods)
        if not all(isnan(e.value) for e in found):
            panels.append(trend.TrendPanel(text(f"figure.{name}"), found, percent=name == "called"))
    if panels:
        names = tuple(p.name for p in periods)
        moving = trend.Trend(names, tuple(panels), baseline=False, short=view.short(periods))
        yield text.figure(f"vigilance_drift{view.suffix}", moving, "drift", level=view.level, n=len(periods))
