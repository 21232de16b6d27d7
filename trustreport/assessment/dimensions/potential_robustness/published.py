"""A published external validation: its table of sites as results, and what can be computed from it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan
from typing import Any

from trustreport.assessment.dimensions.potential_robustness.axes import (
    BY_ERROR,
    UNLIKE,
    Precision,
    measures_of,
    needed_by_error,
    panel_of,
    span,
    width,
    with_rule,
)
from trustreport.assessment.dimensions.potential_robustness.plots import axis_of, panel_labels
from trustreport.assessment.dimensions.potential_robustness.results import correlated
from trustreport.assessment.dimensions.potential_robustness.similar import band
from trustreport.assessment.dimensions.potential_robustness.words import (
    column_of,
    correlation_table,
    scores_table,
    text,
)
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts, as_cell, if_known
from trustreport.assessment.performance.features import ID
from trustreport.figures import external_performance as diagram
from trustreport.figures.sites import Correlated, MetaValidation
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import note
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.sample_size import mss_auc
from trustreport.measures.sites.robustness import p_acceptability, p_performance, spr, wpr
from trustreport.study.plan import Plan, PublishedSite, PublishedSites, PublishedValue
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result, estimate_of

AS_PUBLISHED = "as_published"
NO_INTERVAL = note("none_was_published")
NOT_PRINTED = note("not_published")
FROM_COUNTS = note("from_published_counts")
FROM_INTERVALS = note("from_published_intervals")

own = Texts(f"{ID}.published")


@dataclass(frozen=True)
class ValidatedAsPublished:
    """A published table of sites: what was printed on each axis, its minimum size, and all results."""

    of: PublishedSites
    on_axes: Mapping[str, Mapping[str, Estimate]]
    needed: Mapping[tuple[str, str], float]
    results: tuple[Result, ...]

    @property
    def correlations(self) -> list[Result]:
        """The correlation of each measure with similarity."""
        return [r for r in self.results if r.name == "similarity_performance_correlation"]


def published_sites(plan: Plan) -> list[ValidatedAsPublished]:
    return [_validated(one, plan) for one in plan.published_sites]


def _validated(one: PublishedSites, plan: Plan) -> ValidatedAsPublished:
    names = measures_of(plan)
    on_axes: dict[str, dict[str, Estimate]] = {}
    needed: dict[tuple[str, str], float] = {}
    results: list[Result] = []
    for site in one.sites:
        place, n = Place(set=one.set, site=site.site), site.n or 0
        alike = Estimate(
            site.similarity, nan, nan, n, one.level, AS_PUBLISHED, NO_INTERVAL, p=site.similarity
        )
        results.append(Result(f"{ID}.published_similarity", place, alike, primary=True))
        on_axes[site.site] = {name: _printed(name, site.value_of(name), n, one.level) for name in names}
        for name, e in on_axes[site.site].items():
            more: dict[str, Any] = {"endpoint": name, "parameters": {"metric": name}, "primary": True}
            results.append(Result(f"{ID}.published_performance", place, e, **more))
            size = _size(site, name, e, plan)
            if size is not None:
                needed[site.site, name] = size.value
                id = "mss_auc" if name == "auc" and size.method != BY_ERROR else "mss"
                results.append(Result(f"{ID}.{id}", place, size, **more))
        for name in names:
            results += _scores(one, site, name, on_axes[site.site][name], plan)
    similarity = [site.similarity for site in one.sites]
    for name in names:
        values = [on_axes[site.site][name].value for site in one.sites]
        found = correlated(similarity, values, plan)
        place, chosen = Place(set=one.set), {"metric": name}
        id = f"{ID}.similarity_performance_correlation"
        results.append(Result(id, place, found, endpoint=name, parameters=chosen, primary=True))
    return ValidatedAsPublished(one, on_axes, needed, tuple(results))


def _printed(name: str, shown: PublishedValue | None, n: int, level: float) -> Estimate:
    if shown is None:
        return Estimate(nan, nan, nan, n, level, AS_PUBLISHED, NOT_PRINTED)
    if shown.ci is None:
        return Estimate(shown.value, nan, nan, n, level, AS_PUBLISHED, NO_INTERVAL)
    e = Estimate(shown.value, *shown.ci, n, level, AS_PUBLISHED, se=_error(shown, level))
    return estimate_of(e, quantity(name))


def _error(shown: PublishedValue | None, level: float) -> float:
    """The standard error that a printed interval has, taken as symmetric; NaN without one."""
    if shown is None or shown.ci is None:
        return nan
    return (shown.ci[1] - shown.ci[0]) / (2 * normal_quantile(level))


def _size(site: PublishedSite, name: str, e: Estimate, plan: Plan) -> Estimate | None:
    """The minimum sample size: of the area by its formula, of what has an interval by its standard error."""
    if site.n is None or site.n == 0 or isnan(e.value):
        return None
    level = plan.report.confidence_level
    if name == "auc" and site.positives is not None:
        found = mss_auc(e.value, site.positives / site.n, width=width("auc", plan), n=site.n, level=level)
    else:
        of = Precision(e.value, e.se**2, site.n)
        size = needed_by_error(of, name, panel_of(name, plan), normal_quantile(level))
        found = Estimate(size, nan, nan, site.n, level, BY_ERROR, FROM_INTERVALS)
    if not found.value > 0:
        return None
    details = {**found.details, "reached": site.n / found.value}
    return replace(found, details=details, note=found.note or FROM_COUNTS)


def _scores(one: PublishedSites, site: PublishedSite, name: str, e: Estimate, plan: Plan) -> Iterator[Result]:
    """SPR and WPR by printed p-values, else by tests of what was printed with an interval."""
    level, n = plan.report.confidence_level, site.n or 0
    given = name == measures_of(plan)[0]
    tests = (
        ("p_performance", site.p_performance if given else None, _against_training(one, site, name, e)),
        ("p_acceptability", site.p_acceptability if given else None, _against_split(one, site, name, e)),
    )
    more: dict[str, Any] = {"endpoint": name, "parameters": {"metric": name}, "primary": True}
    place = Place(set=one.set, site=site.site)
    for (id, printed, computed), combine, index in zip(tests, (spr, wpr), ("spr", "wpr")):
        p = computed
        if printed is not None:
            p = Estimate(printed, nan, nan, n, level, AS_PUBLISHED, NO_INTERVAL, p=printed)
        if p is not None and not isnan(p.p):
            yield Result(f"{ID}.{id}", place, p, **more)
            yield Result(f"{ID}.{index}", place, combine(p.p, site.similarity, n=n, level=level), **more)


def _against_training(one: PublishedSites, site: PublishedSite, name: str, e: Estimate) -> Estimate | None:
    training = one.training.value_of(name) if one.training else None
    if training is None or one.training is None or not site.n or not isfinite(e.se):
        return None
    before = _error(training, one.level)
    of = (e.value, e.se**2, site.n, training.value, before**2, one.training.n)
    return replace(p_performance(*of, method="welch", level=one.level), note=FROM_INTERVALS)


def _against_split(one: PublishedSites, site: PublishedSite, name: str, e: Estimate) -> Estimate | None:
    worst = one.worst_split.value_of(name) if one.worst_split else None
    if worst is None or not isfinite(e.se):
        return None
    down = quantity(name).better == "down"
    chosen: dict[str, Any] = {"n": site.n or 0, "method": "wald_test", "level": one.level}
    found = p_acceptability(e.value, e.se**2, worst.value, lower_is_better=down, **chosen)
    return replace(found, note=FROM_INTERVALS)


def published_sites_part(found: ValidatedAsPublished, plan: Plan, number: int) -> Part:
    """A published table of sites with its diagrams, said to be as published."""
    title = own("title", set=found.of.set)
    return text.part(_items(found, plan, number), title, Place(set=found.of.set))


def _items(found: ValidatedAsPublished, plan: Plan, number: int) -> Iterator[Item]:
    one, names = found.of, measures_of(plan)
    places = [(site.site, site.similarity, Place(set=one.set, site=site.site)) for site in one.sites]
    yield own("said", n=len(one.sites))
    yield text.table(
        f"{ID}_performance_published_{number}",
        own("table"),
        ("site cases .positive:count .similarity:number .band", *map(column_of, names)),
        [
            (
                site.site,
                site.n,
                site.positives,
                site.similarity,
                say(f"figure.external.{band(site.similarity)}"),
                *(as_cell(if_known(found.on_axes[site.site][name])) for name in names),
            )
            for site in one.sites
        ],
    )
    id = f"{ID}_scores_published_{number}"
    yield from scores_table(id, own("table_scores"), places, found.results, names)
    yield from correlation_table(f"{ID}_correlation_published_{number}", found.correlations, plan)
    yield from _figures(found, plan, number)


def _figures(found: ValidatedAsPublished, plan: Plan, number: int) -> Iterator[Figure]:
    one, names = found.of, measures_of(plan)
    values = {name: [found.on_axes[site.site][name] for site in one.sites] for name in names}
    axes = [axis_of(name, [e.value for e in of], one.threshold, plan) for name, of in values.items()]
    points = tuple(
        diagram.SitePoint(
            site.site,
            Estimate(site.similarity, nan, nan, site.n or 0, note=NO_INTERVAL),
            tuple(
                diagram.SitePerformance(e, (site.n or nan) / found.needed.get((site.site, name), nan))
                for name, e in found.on_axes[site.site].items()
            ),
        )
        for site in one.sites
    )
    sets = [(site.site, site.similarity, found.on_axes[site.site]) for site in one.sites]
    unlike = sum(site.similarity < UNLIKE for site in one.sites)
    yield text.figure(
        f"external_performance_published_{number}",
        diagram.ExternalPerformance(tuple(axes), points),
        "diagram",
        with_rule(own("figure", set=one.set), sets, plan),
        n=len(points),
        k=unlike,
    )
    if any(isfinite(r.estimate.value) for r in found.correlations):
        measures = tuple(
            Correlated(
                *panel_labels(name, plan), tuple(of), r.estimate, *span(name, [e.value for e in of])[:2]
            )
            for (name, of), r in zip(values.items(), found.correlations)
        )
        drawing = MetaValidation(
            tuple(site.site for site in one.sites), tuple(site.similarity for site in one.sites), measures
        )
        caption = own("meta", set=one.set)
        id = f"meta_validation_published_{number}"
        yield text.figure(id, drawing, "meta", caption, n=len(one.sites))
