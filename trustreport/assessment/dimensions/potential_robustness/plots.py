"""The figures of potential robustness: diagram, similarity, sites, meta-validation, sample sizes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import Any

from trustreport.assessment.dimensions.potential_robustness.axes import (
    SIZED_AS,
    UNLIKE,
    axis_label,
    measures_of,
    panel_of,
    span,
    with_rule,
)
from trustreport.assessment.dimensions.potential_robustness.scores import ScoredSet, found_in
from trustreport.assessment.dimensions.potential_robustness.sites import Site
from trustreport.assessment.dimensions.potential_robustness.sizes import WIDTHS, width
from trustreport.assessment.finding import Figure
from trustreport.assessment.performance.features import ID
from trustreport.figures import external_performance as diagram
from trustreport.figures.measure_rows import (
    MOST_ROWS,
    MeasureCell,
    MeasureColumn,
    MeasureRow,
    MeasuresChart,
)
from trustreport.figures.sites import MOST_SITES as MOST_OF_FOREST
from trustreport.figures.sites import (
    MOST_SIZES,
    Correlated,
    Forest,
    ForestColumn,
    MetaValidation,
    SampleSizes,
    SizeRow,
)
from trustreport.measures.estimate import Estimate
from trustreport.measures.proportion import normal_quantile
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.results import Result

MISSING = Estimate(nan, nan, nan, 0)
# Drawn over sites: the measure, whether its axis is logarithmic, where a line stands, what is possible.
FOREST: dict[str, tuple[bool, float, float, float]] = {
    "auc": (False, nan, 0.0, 1.0),
    "standardized_net_benefit": (False, 0.0, nan, 1.0),
    "calibration_slope": (False, 1.0, nan, nan),
    "oe_ratio": (True, 1.0, nan, nan),
}


def estimate(results: Sequence[Result], name: str, **scope: Any) -> Estimate:
    """The primary estimate of a quantity, apart from those of cut-down sets; else an undefined one."""
    return found_in(results, name, **scope) or MISSING


def reached(needed: Estimate) -> float:
    """The share of a minimum sample size that a set has."""
    return float(needed.details.get("reached", nan))


def sized(results: Sequence[Result], name: str, one: ScoredSet) -> Estimate:
    """The minimum sample size of a measure for a set."""
    return estimate(results, f"mss_{name}", **one.case.place.scope)


def sized_on_axis(results: Sequence[Result], name: str, one: ScoredSet) -> Estimate:
    """The minimum sample size of a measure of the diagram for a set."""
    if name in SIZED_AS:
        return sized(results, SIZED_AS[name], one)
    return estimate(results, "mss", endpoint=name, **one.case.place.scope)


def over(results: Sequence[Result], name: str, metric: str, candidate: str | None) -> Result | None:
    """A quantity over sets, of one measure and candidate."""
    for r in results:
        named = r.id == f"{ID}.{name}" and r.within(candidate=candidate)
        if named and r.endpoint == metric:
            return r
    return None


def effects(results: Sequence[Result], dataset: str) -> Mapping[str, Estimate]:
    """The sizes of the difference of a set from the training data, by method."""
    wanted = (r for r in results if r.id == f"{ID}.similarity_effect" and r.within(dataset=dataset))
    return {r.method: r.estimate for r in wanted}


def fixed_size(results: Sequence[Result], dataset: str) -> Estimate:
    """The degree of correspondence at a fixed number of cases."""
    for r in results:
        at_fixed = r.id == f"{ID}.degree_of_correspondence" and r.within(dataset=dataset)
        if at_fixed and "subsample" in r.parameters:
            return r.estimate
    return MISSING


def figures_of(
    results: Sequence[Result],
    compared: Sequence[Dataset],
    scored: Sequence[ScoredSet],
    plan: Plan,
    number: int,
) -> Iterator[Figure]:
    """All figures of one candidate; how alike the sets are is shown with the first."""
    drawn = [one for one in scored if not isnan(one.similarity)]
    if drawn:
        yield _diagram(results, drawn, plan, number)
    if number == 1:
        yield from _similarity(results, compared, plan)
    yield from _forest(results, scored, plan, number)
    yield from _meta(results, [one for one in drawn if one.external], plan, number)
    yield from _sizes(results, scored, plan, number)


def _similarity(results: Sequence[Result], compared: Sequence[Dataset], plan: Plan) -> Iterator[Figure]:
    """How alike each set is: both p-values, and both sizes that do not grow with the number of cases."""
    known = [
        d for d in compared if not isnan(estimate(results, "degree_of_correspondence", dataset=d.name).value)
    ]
    rows = []
    for dataset in known:
        degree = _with_limits(estimate(results, "degree_of_correspondence", dataset=dataset.name))
        energy = estimate(results, "energy_distance", dataset=dataset.name)
        by_method = effects(results, dataset.name)
        distance = by_method.get("influence", MISSING)
        p = replace(energy, value=energy.p, low=nan, high=nan)
        found = (degree, fixed_size(results, dataset.name), p, distance)
        cells = (*found, by_method.get("domain_classifier", MISSING))
        rows.append(MeasureRow(dataset.name, tuple(MeasureCell(e) for e in cells)))
    columns = (
        MeasureColumn(say(f"{ID}.chart.similarity")),
        MeasureColumn(say(f"{ID}.chart.fixed", n=_fixed_cases(results))),
        MeasureColumn(say(f"{ID}.chart.energy_p")),
        MeasureColumn(say(f"{ID}.chart.distance"), -1.0),  # about nothing it may be negative
        MeasureColumn(say(f"{ID}.chart.classifier")),
    )
    for start in range(0, len(rows), MOST_ROWS):
        part = tuple(rows[start : start + MOST_ROWS])
        yield Figure(
            f"similarity_{start // MOST_ROWS + 1}",
            MeasuresChart(columns, part),
            say(f"{ID}.figure.similarity"),
            say(f"{ID}.figure.similarity_alt", n=len(part)),
        )


def _fixed_cases(results: Sequence[Result]) -> int | None:
    sizes = (r.parameters.get("subsample") for r in results if r.id == f"{ID}.degree_of_correspondence")
    return next((size for size in sizes if size), None)


def _forest(
    results: Sequence[Result], scored: Sequence[ScoredSet], plan: Plan, number: int
) -> Iterator[Figure]:
    """Discrimination, utility and calibration site by site; from two sites on."""
    sets = [one for one in scored if one.external]
    sites = [site for one in sets for site in one.sites]
    if len(sites) < 2:
        return
    candidate = sets[0].case.place.candidate
    drawn = [name for name in FOREST if not all(isnan(site.estimate(name, plan).value) for site in sites)]
    for start in range(0, len(sites) if drawn else 0, MOST_OF_FOREST):
        some = sites[start : start + MOST_OF_FOREST]
        columns = tuple(_column(results, name, some, candidate, plan) for name in drawn)
        chart = Forest(tuple(site.label for site in some), columns)
        new = "" if chart.expects else "_mean"
        yield Figure(
            f"forest_{number}_{start // MOST_OF_FOREST + 1}",
            chart,
            say(f"{ID}.figure.forest{new}", n=len(sites)),
            say(f"{ID}.figure.forest{new}_alt", n=len(some)),
        )


def _column(
    results: Sequence[Result], metric: str, sites: Sequence[Site], candidate: str | None, plan: Plan
) -> ForestColumn:
    ratio, null, least, most = FOREST[metric]
    mean, new = (over(results, q, metric, candidate) for q in ("pooled_performance", "prediction_interval"))
    return ForestColumn(
        say(f"{ID}.chart.{metric}", threshold=plan.risk_threshold),
        tuple(site.shown(metric, plan) for site in sites),
        mean.estimate if mean else MISSING,
        new.estimate if new else MISSING,
        null,
        ratio,
        least,
        most,
    )


def _meta(results: Sequence[Result], drawn: Sequence[ScoredSet], plan: Plan, number: int) -> Iterator[Figure]:
    """Performance against similarity, where a correlation can be computed."""
    candidate = drawn[0].case.place.candidate if drawn else None
    measures = []
    for name in measures_of(plan):
        correlation = over(results, "similarity_performance_correlation", name, candidate)
        worst, best, _ = span(name, [one.on_axes[name].value for one in drawn])
        measures.append(
            Correlated(
                say(f"{ID}.panel.{panel_of(name, plan)}"),
                say(f"{ID}.brief.{name}"),
                tuple(one.on_axes[name] for one in drawn),
                correlation.estimate if correlation else MISSING,
                worst,
                best,
            )
        )
    if all(isnan(one.correlation.value) for one in measures):
        return
    yield Figure(
        f"meta_validation_{number}",
        MetaValidation(
            tuple(one.case.dataset.name for one in drawn),
            tuple(one.similarity for one in drawn),
            tuple(measures),
        ),
        say(f"{ID}.figure.meta"),
        say(f"{ID}.figure.meta_alt", n=len(drawn)),
    )


def _sizes(
    results: Sequence[Result], scored: Sequence[ScoredSet], plan: Plan, number: int
) -> Iterator[Figure]:
    for start in range(0, len(scored), MOST_SIZES):
        rows = tuple(
            SizeRow(
                one.case.dataset.name,
                len(one.case),
                tuple(sized(results, name, one) for name in WIDTHS),
            )
            for one in scored[start : start + MOST_SIZES]
        )
        measures = tuple(
            say(f"{ID}.size.{name}", width=width(name, plan), threshold=plan.risk_threshold)
            for name in WIDTHS
        )
        enough = sum(reached(row.needed[0]) >= 1 for row in rows)
        yield Figure(
            f"sample_size_{number}_{start // MOST_SIZES + 1}",
            SampleSizes(measures, rows),
            say(f"{ID}.figure.sizes"),
            say(f"{ID}.figure.sizes_alt", n=len(rows), k=enough),
        )


def _diagram(results: Sequence[Result], drawn: Sequence[ScoredSet], plan: Plan, number: int) -> Figure:
    sites = tuple(
        diagram.SitePoint(
            one.case.dataset.name,
            _with_limits(estimate(results, "degree_of_correspondence", dataset=one.case.dataset.name)),
            tuple(
                diagram.SitePerformance(e, reached(sized_on_axis(results, name, one)))
                for name, e in one.on_axes.items()
            ),
        )
        for one in drawn
    )
    axes = tuple(_axis(name, drawn, plan) for name in measures_of(plan))
    unlike = [one for one in drawn if one.similarity < UNLIKE]
    sets = [(one.case.dataset.name, one.similarity, one.on_axes) for one in drawn if one.external]
    return Figure(
        f"external_performance_{number}",
        diagram.ExternalPerformance(axes, sites),
        with_rule(say(f"{ID}.figure.diagram"), sets, plan),
        say(f"{ID}.figure.diagram_alt", n=len(drawn), k=len(unlike)),
    )


def _with_limits(degree: Estimate) -> Estimate:
    """A degree of correspondence with the limits that the number of permutations leaves."""
    half = normal_quantile(degree.level) * float(degree.details.get("monte_carlo_se", 0.0))
    return replace(degree, low=max(0.0, degree.value - half), high=min(1.0, degree.value + half))


def _axis(name: str, drawn: Sequence[ScoredSet], plan: Plan) -> diagram.Axis:
    worst, best, bands = span(name, [one.on_axes[name].value for one in drawn])
    return diagram.Axis(
        say(f"{ID}.panel.{panel_of(name, plan)}"),
        axis_label(name, plan.risk_threshold),
        say(f"{ID}.brief.{name}"),
        worst,
        best,
        bands,
    )
