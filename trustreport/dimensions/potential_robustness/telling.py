"""How potential robustness is told: sentences, tables and figures over the sets of each candidate."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil, floor, isfinite, isnan
from typing import Any

from trustreport.dimensions.potential_robustness.pairs import ID
from trustreport.dimensions.potential_robustness.scores import METRIC_IDS, Scored, found_in
from trustreport.dimensions.potential_robustness.similar import band
from trustreport.dimensions.potential_robustness.sizes import WIDTHS, width
from trustreport.estimate import Estimate
from trustreport.figures import external_performance as diagram
from trustreport.figures.sample_size import MOST_SITES, SampleSizes, SizeRow
from trustreport.finding import Column, EstimateTable, Figure, Part, PlainTable, Row
from trustreport.measures.proportion import normal_quantile
from trustreport.messages import Message, say
from trustreport.plan import Plan
from trustreport.results import Result, leading
from trustreport.study import Dataset

# Sets that have a sentence of their own.
SENTENCES = 4
# The rule of the authors: acceptable in all three measures on a set that is at most this similar.
UNLIKE, ALIKE, DIFFERENT = 0.4, 0.6, 0.05
ACCEPTABLE = {"auc": 0.7, "net_benefit": 0.4, "brier": 0.25}
AXES = {
    "auc": (0.5, 1.0, (0.7, 0.8, 0.9)),
    "net_benefit": (0.0, 1.0, (0.4, 0.6, 0.8)),
    "brier": (0.35, 0.0, (0.25, 0.15, 0.08)),
}
MISSING = Estimate(float("nan"), float("nan"), float("nan"), 0)


def parts(
    results: Sequence[Result], compared: Sequence[Dataset], scored: Sequence[Scored], plan: Plan
) -> tuple[Part, ...]:
    """A part for each candidate; how alike the sets are stands in the first."""
    candidates = list(dict.fromkeys(one.case.scope.get("candidate") for one in scored)) or [None]
    found = []
    for number, candidate in enumerate(candidates, 1):
        own = [one for one in scored if one.case.scope.get("candidate") == candidate]
        tables = [*(_similarity_table(results, compared) if number == 1 else ())]
        tables += _tables(results, own, candidate, number)
        found.append(
            Part(
                finding=tuple(_sentences(results, compared, own, candidate, plan)),
                title=say("word.name", name=candidate) if len(candidates) > 1 else None,
                tables=tuple(tables),
                figures=tuple(_figures(results, own, plan, number)),
                scope={"candidate": candidate} if candidate else {},
            )
        )
    return tuple(found)


def _estimate(results: Sequence[Result], name: str, **scope: Any) -> Estimate:
    return found_in(results, name, **scope) or MISSING


def _sized(results: Sequence[Result], name: str, one: Scored) -> Estimate:
    """The minimum sample size of a measure for a set."""
    return _estimate(results, f"mss_{name}", **one.case.scope)


def _reached(needed: Estimate) -> float:
    return float(needed.details.get("reached", float("nan")))


# ---------------------------------------------------------------- sentences


def _sentences(
    results: Sequence[Result],
    compared: Sequence[Dataset],
    scored: Sequence[Scored],
    candidate: str | None,
    plan: Plan,
) -> Iterator[Message]:
    if scored:
        enough = [one for one in scored if _reached(_sized(results, "auc", one)) >= 1]
        names = [one.case.dataset.name for one in enough]
        key = "enough" if enough else "enough_none"
        yield say(f"{ID}.{key}", n=len(scored), k=len(enough), names=names, width=width("auc", plan))
    for one in scored[:SENTENCES]:
        yield _of_set(one, _estimate(results, "energy_distance", dataset=one.case.dataset.name).p)
    if not scored:
        yield say(f"{ID}.no_scores", n=len(compared))
    known = [one for one in scored if not isnan(one.similarity)]
    if known:
        yield _rule(known)
    elif compared:
        yield say(f"{ID}.no_similarity", reason=_estimate(results, "degree_of_correspondence").note)
    new = leading(results, f"{ID}.prediction_interval", candidate=candidate)
    if new is not None and isfinite(new.estimate.low):
        e = new.estimate
        yield say(f"{ID}.new_site", n=e.n, value=e.value, low=e.low, high=e.high, level=e.level)


def _of_set(one: Scored, energy_p: float) -> Message:
    """Performance on a set, and how alike it is by the index; what contradicts the index is said with it."""
    area, name = one.reached.auc, one.case.dataset.name
    if isnan(area.value):
        return say(f"{ID}.set_undefined", name=name, reason=area.note)
    if isnan(area.low):
        said = say(f"{ID}.set_no_interval", name=name, value=area.value, reason=area.note)
    else:
        values = {"value": area.value, "low": area.low, "high": area.high, "level": area.level}
        said = say(f"{ID}.set", name=name, **values)
    if isnan(one.similarity):
        return said
    alike = "alike" if one.similarity >= ALIKE else "unlike" if one.similarity < UNLIKE else "between"
    word = say(f"figure.external.{band(one.similarity)}")
    if alike == "alike" and energy_p < DIFFERENT:
        return say(f"{ID}.contradicted", first=said, similarity=one.similarity, band=word, p=energy_p)
    return say(f"{ID}.{alike}", first=said, similarity=one.similarity, band=word)


def _rule(known: Sequence[Scored]) -> Message:
    """The rule of the authors, as theirs, with what speaks against reading it alone."""
    fulfilled = [
        one.case.dataset.name
        for one in known
        if one.similarity < UNLIKE
        and one.reached.auc.value >= ACCEPTABLE["auc"]
        and one.reached.net_benefit.value >= ACCEPTABLE["net_benefit"]
        and one.reached.brier.value <= ACCEPTABLE["brier"]
    ]
    if fulfilled:
        return say(f"{ID}.rule", n=len(fulfilled), names=fulfilled)
    return say(f"{ID}.rule_none")


# ---------------------------------------------------------------- tables


def _similarity_table(results: Sequence[Result], compared: Sequence[Dataset]) -> Iterator[PlainTable]:
    columns = (
        Column(say(f"{ID}.column.set")),
        Column(say(f"{ID}.column.n"), "count"),
        Column(say(f"{ID}.column.similarity"), "p"),
        Column(say(f"{ID}.column.band")),
        Column(say(f"{ID}.column.null_sd"), "number.1"),
        Column(say(f"{ID}.column.energy_p"), "p"),
        Column(say(f"{ID}.column.effect"), "number"),
        Column(say(f"{ID}.column.classifier"), "number"),
    )
    rows = []
    for dataset in compared:
        scope = {"dataset": dataset.name}
        degree = _estimate(results, "degree_of_correspondence", **scope)
        named = band(degree.value) if not isnan(degree.value) else ""
        by_method = {
            r.method: r.estimate for r in results if r.id == f"{ID}.similarity_effect" and r.within(**scope)
        }
        rows.append(
            (
                dataset.name,
                len(dataset.cases),
                degree.value,
                say(f"figure.external.{named}") if named else say("table.not_estimable", note=degree.note),
                by_method.get("null_sd", MISSING).value,
                _estimate(results, "energy_distance", **scope).p,
                by_method.get("influence", MISSING),
                by_method.get("domain_classifier", MISSING).value,
            )
        )
    yield PlainTable(f"{ID}_similarity", say(f"{ID}.table_similarity"), columns, tuple(rows))


def _tables(
    results: Sequence[Result], scored: Sequence[Scored], candidate: str | None, number: int
) -> Iterator[EstimateTable | PlainTable]:
    if not scored:
        return
    columns = (
        Column(say(f"{ID}.column.set")),
        Column(say(f"{ID}.column.positive"), "count"),
        Column(say(f"{ID}.column.negative"), "count"),
        Column(say(f"{ID}.column.auc"), "number"),
        Column(say(f"{ID}.column.net_benefit"), "number"),
        Column(say(f"{ID}.column.brier"), "number"),
    )
    rows = tuple(
        (
            one.case.dataset.name,
            int(one.case.truth.sum()),
            int((~one.case.truth).sum()),
            one.reached.auc,
            one.reached.net_benefit,
            one.reached.brier,
        )
        for one in scored
    )
    yield PlainTable(f"{ID}_performance_{number}", say(f"{ID}.table_performance"), columns, rows)
    names = ("p_performance", "p_acceptability", "spr", "wpr")
    of_scores = (
        Column(say(f"{ID}.column.set")),
        Column(say(f"{ID}.column.n"), "count"),
        *(Column(say(f"{ID}.column.{name}"), "p" if name[1] == "_" else "number") for name in names[:2]),
        Column(say(f"{ID}.column.similarity"), "p"),
        *(Column(say(f"{ID}.column.{name}"), "number") for name in names[2:]),
    )
    values = []
    for one in scored:
        of = [_estimate(results, name, **one.case.scope).value for name in names]
        values.append((one.case.dataset.name, len(one.case.truth), *of[:2], one.similarity, *of[2:]))
    yield PlainTable(f"{ID}_scores_{number}", say(f"{ID}.table_scores"), of_scores, tuple(values))
    over = [
        Row(say(f"{ID}.label.{label}"), found, leads=label == "prediction_interval")
        for name, metric, label in OVER_SETS
        if (found := _over(results, name, metric, candidate))
    ]
    if over:
        yield EstimateTable(f"{ID}_over_{number}", say(f"{ID}.table_over"), tuple(over))


OVER_SETS = (
    ("pooled_performance", "auc", "pooled_performance"),
    ("prediction_interval", "auc", "prediction_interval"),
    ("heterogeneity", "auc", "heterogeneity"),
    *(
        ("similarity_performance_correlation", METRIC_IDS[name], f"correlation_{name}")
        for name in ("auc", "net_benefit", "brier")
    ),
)


def _over(results: Sequence[Result], name: str, metric: str, candidate: str | None) -> Result | None:
    for r in results:
        if (
            r.id == f"{ID}.{name}"
            and r.scope["parameters"]["metric"] == metric
            and r.within(candidate=candidate)
        ):
            return r
    return None


# ---------------------------------------------------------------- figures


def _figures(
    results: Sequence[Result], scored: Sequence[Scored], plan: Plan, number: int
) -> Iterator[Figure]:
    drawn = [one for one in scored if not isnan(one.similarity)]
    if drawn:
        yield _diagram(results, drawn, plan, number)
    for start in range(0, len(scored), MOST_SITES):
        rows = tuple(
            SizeRow(
                one.case.dataset.name,
                len(one.case.truth),
                tuple(_sized(results, name, one) for name in WIDTHS),
            )
            for one in scored[start : start + MOST_SITES]
        )
        measures = tuple(
            say(f"{ID}.size.{name}", width=width(name, plan), threshold=plan.operating_point.threshold)
            for name in WIDTHS
        )
        enough = sum(_reached(row.needed[0]) >= 1 for row in rows)
        yield Figure(
            f"sample_size_{number}_{start // MOST_SITES + 1}",
            SampleSizes(measures, rows),
            say(f"{ID}.figure.sizes"),
            say(f"{ID}.figure.sizes_alt", n=len(rows), k=enough),
        )


def _diagram(results: Sequence[Result], drawn: Sequence[Scored], plan: Plan, number: int) -> Figure:
    sites = tuple(
        diagram.Site(
            one.case.dataset.name,
            _with_limits(_estimate(results, "degree_of_correspondence", dataset=one.case.dataset.name)),
            tuple(
                diagram.Performance(getattr(one.reached, name), _reached(_sized(results, name, one)))
                for name in AXES
            ),
        )
        for one in drawn
    )
    axes = tuple(_axis(name, drawn, plan) for name in AXES)
    unlike = [one for one in drawn if one.similarity < UNLIKE]
    return Figure(
        f"external_performance_{number}",
        diagram.ExternalPerformance(axes, sites),
        say(f"{ID}.figure.diagram"),
        say(f"{ID}.figure.diagram_alt", n=len(drawn), k=len(unlike)),
    )


def _with_limits(degree: Estimate) -> Estimate:
    """A degree of correspondence with the limits that the number of permutations leaves."""
    half = normal_quantile(degree.level) * float(degree.details.get("monte_carlo_se", 0.0))
    return replace(degree, low=max(0.0, degree.value - half), high=min(1.0, degree.value + half))


def _axis(name: str, drawn: Sequence[Scored], plan: Plan) -> diagram.Axis:
    """The axis of a panel, further on the poor side where a value lies there."""
    worst, best, bands = AXES[name]
    values = [v for one in drawn if isfinite(v := getattr(one.reached, name).value)]
    if worst < best:
        worst = max(min([worst, *(floor(10 * v) / 10 for v in values)]), -1.0)
    else:
        worst = max([worst, *(ceil(20 * v) / 20 for v in values)])
    return diagram.Axis(
        say(f"{ID}.panel.{name}"),
        say(f"{ID}.axis.{name}", threshold=plan.operating_point.threshold),
        say(f"{ID}.brief.{name}"),
        worst,
        best,
        bands,
    )
