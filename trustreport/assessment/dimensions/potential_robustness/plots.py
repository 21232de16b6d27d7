"""The figures of potential robustness: diagram, similarity, sites, meta-validation, sample sizes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan, nan

from trustreport.assessment.dimensions.potential_robustness.axes import (
    SIZES,
    UNLIKE,
    axis_label,
    measures_of,
    panel_of,
    span,
    width,
    with_rule,
)
from trustreport.assessment.dimensions.potential_robustness.results import (
    MISSING,
    SetsOfCandidate,
    Site,
    reached,
)
from trustreport.assessment.finding import Figure
from trustreport.assessment.narrative.texts import Texts
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
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.results import Result

# Drawn over sites: the measure, whether its axis is logarithmic, where a line stands, what is possible.
FOREST: dict[str, tuple[bool, float, float, float]] = {
    "auc": (False, nan, 0.0, 1.0),
    "standardized_net_benefit": (False, 0.0, nan, 1.0),
    "calibration_slope": (False, 1.0, nan, nan),
    "oe_ratio": (True, 1.0, nan, nan),
}

text = Texts(ID)


def figures_of(view: SetsOfCandidate) -> Iterator[Figure]:
    """All figures of one candidate; how alike the sets are is shown with the first."""
    if view.known:
        yield _diagram(view)
    if view.number == 1:
        yield from _similarity(view)
    yield from _forest(view)
    yield from _meta(view)
    yield from _sizes(view)


def _similarity(view: SetsOfCandidate) -> Iterator[Figure]:
    """How alike each set is: both p-values, and both sizes that do not grow with the number of cases."""
    rows = []
    for dataset in view.compared:
        degree = view.of_set("degree_of_correspondence", dataset.name)
        if isnan(degree.value):
            continue
        energy, effects = view.of_set("energy_distance", dataset.name), view.effects(dataset.name)
        cells = (
            _with_limits(degree),
            next((r.estimate for r in _at_fixed_size(view) if r.within(dataset=dataset.name)), MISSING),
            replace(energy, value=energy.p, low=nan, high=nan),
            *(effects.get(method, MISSING) for method in ("influence", "domain_classifier")),
        )
        rows.append(MeasureRow(dataset.name, tuple(map(MeasureCell, cells))))
    fixed = next((r.parameters["subsample"] for r in _at_fixed_size(view)), None)
    columns = (
        MeasureColumn(text("chart.similarity")),
        MeasureColumn(text("chart.fixed", n=fixed)),
        MeasureColumn(text("chart.energy_p")),
        MeasureColumn(text("chart.distance"), -1.0),  # about nothing it may be negative
        MeasureColumn(text("chart.classifier")),
    )
    for start in range(0, len(rows), MOST_ROWS):
        part = tuple(rows[start : start + MOST_ROWS])
        id = f"similarity_{start // MOST_ROWS + 1}"
        yield text.figure(id, MeasuresChart(columns, part), "similarity", n=len(part))


def _at_fixed_size(view: SetsOfCandidate) -> Iterator[Result]:
    """The degrees of correspondence at a fixed number of cases."""
    for r in view.results:
        if r.id == f"{ID}.degree_of_correspondence" and r.parameters.get("subsample"):
            yield r


def _forest(view: SetsOfCandidate) -> Iterator[Figure]:
    """Discrimination, utility and calibration site by site; from two sites on."""
    plan = view.plan
    sites = [site for one in view.scored if one.external for site in one.sites]
    if len(sites) < 2:
        return
    drawn = [name for name in FOREST if not all(isnan(site.estimate(name, plan).value) for site in sites)]
    for start in range(0, len(sites) if drawn else 0, MOST_OF_FOREST):
        some = sites[start : start + MOST_OF_FOREST]
        chart = Forest(tuple(site.label for site in some), tuple(_column(view, name, some) for name in drawn))
        key = "forest" if chart.expects else "forest_mean"
        caption = text(f"figure.{key}", n=len(sites))
        kind = "pooled_sites" if any(one.case.shared for one in view.scored) else "forest"
        id = f"{kind}_{view.number}_{start // MOST_OF_FOREST + 1}"
        yield text.figure(id, chart, key, caption, n=len(some))


def _column(view: SetsOfCandidate, metric: str, sites: Sequence[Site]) -> ForestColumn:
    ratio, null, least, most = FOREST[metric]
    mean, new = (view.over(name, metric) for name in ("pooled_performance", "prediction_interval"))
    return ForestColumn(
        text(f"chart.{metric}", threshold=view.plan.risk_threshold),
        tuple(site.shown(metric, view.plan) for site in sites),
        mean.estimate if mean else MISSING,
        new.estimate if new else MISSING,
        null,
        ratio,
        least,
        most,
    )


def _meta(view: SetsOfCandidate) -> Iterator[Figure]:
    """Performance against similarity, where a correlation can be computed."""
    drawn = [one for one in view.known if one.external]
    measures = []
    for name in measures_of(view.plan):
        correlation = view.over("similarity_performance_correlation", name)
        found = tuple(one.on_axes[name] for one in drawn)
        worst, best, _ = span(name, [e.value for e in found])
        of_sets = correlation.estimate if correlation else MISSING
        measures.append(Correlated(*panel_labels(name, view.plan), found, of_sets, worst, best))
    if any(not isnan(one.correlation.value) for one in measures):
        drawing = MetaValidation(
            tuple(one.case.dataset.name for one in drawn),
            tuple(one.similarity for one in drawn),
            tuple(measures),
        )
        yield text.figure(f"meta_validation_{view.number}", drawing, "meta", n=len(drawn))


def _sizes(view: SetsOfCandidate) -> Iterator[Figure]:
    plan = view.plan
    measures = tuple(
        text(f"size.{name}", width=width(name, plan), threshold=plan.risk_threshold) for name in SIZES
    )
    for start in range(0, len(view.scored), MOST_SIZES):
        rows = tuple(
            SizeRow(one.case.dataset.name, len(one.case), tuple(view.sized(name, one) for name in SIZES))
            for one in view.scored[start : start + MOST_SIZES]
        )
        enough = sum(reached(row.needed[0]) >= 1 for row in rows)
        id = f"sample_size_{view.number}_{start // MOST_SIZES + 1}"
        yield text.figure(id, SampleSizes(measures, rows), "sizes", n=len(rows), k=enough)


def _diagram(view: SetsOfCandidate) -> Figure:
    plan, drawn = view.plan, view.known
    sites = tuple(
        diagram.SitePoint(
            one.case.dataset.name,
            _with_limits(view.of_set("degree_of_correspondence", one.case.dataset.name)),
            tuple(
                diagram.SitePerformance(e, reached(view.sized_on_axis(name, one)))
                for name, e in one.on_axes.items()
            ),
        )
        for one in drawn
    )
    axes = tuple(
        axis_of(name, [one.on_axes[name].value for one in drawn], plan.risk_threshold, plan)
        for name in measures_of(plan)
    )
    unlike = sum(one.similarity < UNLIKE for one in drawn)
    sets = [(one.case.dataset.name, one.similarity, one.on_axes) for one in drawn if one.external]
    chart, caption = diagram.ExternalPerformance(axes, sites), with_rule(text("figure.diagram"), sets, plan)
    return text.figure(
        f"external_performance_{view.number}", chart, "diagram", caption, n=len(drawn), k=unlike
    )


def _with_limits(degree: Estimate) -> Estimate:
    """A degree of correspondence with the limits that the number of permutations leaves."""
    half = normal_quantile(degree.level) * float(degree.details.get("monte_carlo_se", 0.0))
    return replace(degree, low=max(0.0, degree.value - half), high=min(1.0, degree.value + half))


def axis_of(name: str, values: Sequence[float], threshold: float | None, plan: Plan) -> diagram.Axis:
    """The axis of a measure in the diagram, wide enough for the values."""
    panel, brief = panel_labels(name, plan)
    return diagram.Axis(panel, axis_label(name, threshold), brief, *span(name, values))


def panel_labels(name: str, plan: Plan) -> tuple[Message, Message]:
    """What a measure shows, and its short name."""
    return text(f"panel.{panel_of(name, plan)}"), text(f"brief.{name}")
