"""A published external validation: its table of sites as results, and what can be computed from it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite, isnan, nan
from typing import Any

from trustreport.assessment.dimensions.potential_robustness.axes import (
    UNLIKE,
    Precision,
    axis_label,
    measures_of,
    needed_by_error,
    panel_of,
    span,
    with_rule,
)
from trustreport.assessment.dimensions.potential_robustness.over_similarity import (
    column_of,
    correlation_table,
    scores_table,
)
from trustreport.assessment.dimensions.potential_robustness.scores import correlated
from trustreport.assessment.dimensions.potential_robustness.similar import band
from trustreport.assessment.dimensions.potential_robustness.sizes import BY_ERROR, width
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.performance.features import ID
from trustreport.figures import external_performance as diagram
from trustreport.figures.sites import Correlated, MetaValidation
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import note
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.sample_size import mss_auc
from trustreport.measures.sites.robustness import p_acceptability, p_performance, spr, wpr
from trustreport.study.plan import Plan, PublishedSite, PublishedSites, PublishedValue
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result, estimate_of

AS_PUBLISHED = "as_published"
NO_INTERVAL = note("none_was_published")
NOT_PRINTED = note("not_published")
FROM_COUNTS = note("from_published_counts")
FROM_INTERVALS = note("from_published_intervals")


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
    """Each published table of sites."""
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
        on_axes[site.site] = {name: _printed(name, site.of(name), n, one.level) for name in names}
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
    training = one.training.of(name) if one.training else None
    if training is None or one.training is None or not site.n or not isfinite(e.se):
        return None
    before = _error(training, one.level)
    of = (e.value, e.se**2, site.n, training.value, before**2, one.training.n)
    return replace(p_performance(*of, method="welch", level=one.level), note=FROM_INTERVALS)


def _against_split(one: PublishedSites, site: PublishedSite, name: str, e: Estimate) -> Estimate | None:
    worst = one.worst_split.of(name) if one.worst_split else None
    if worst is None or not isfinite(e.se):
        return None
    down = quantity(name).better == "down"
    chosen: dict[str, Any] = {"n": site.n or 0, "method": "wald_test", "level": one.level}
    found = p_acceptability(e.value, e.se**2, worst.value, lower_is_better=down, **chosen)
    return replace(found, note=FROM_INTERVALS)


# ---------------------------------------------------------------- what is said of it


def published_sites_part(found: ValidatedAsPublished, plan: Plan, number: int) -> Part:
    """A published table of sites with its diagrams, said to be as published."""
    one, names = found.of, measures_of(plan)
    places = [(site.site, site.similarity, Place(set=one.set, site=site.site)) for site in one.sites]
    return Part(
        title=say(f"{ID}.published.title", set=one.set),
        finding=(say(f"{ID}.published.said", n=len(one.sites)),),
        tables=(
            table(
                f"{ID}_performance_published_{number}",
                say(f"{ID}.published.table"),
                one.sites,
                [
                    (f"{ID}.column.site", "site"),
                    (f"{ID}.column.n", "n", "count"),
                    (f"{ID}.column.positive", "positives", "count"),
                    (f"{ID}.column.similarity", "similarity", "number"),
                    (f"{ID}.column.band", lambda site: say(f"figure.external.{band(site.similarity)}")),
                    *(
                        (
                            column_of(name),
                            lambda site, name=name: _cell(found.on_axes[site.site][name]),
                            "number",
                        )
                        for name in names
                    ),
                ],
            ),
            *scores_table(
                f"{ID}_scores_published_{number}",
                say(f"{ID}.published.table_scores"),
                places,
                found.results,
                names,
            ),
            *correlation_table(f"{ID}_correlation_published_{number}", found.correlations, plan),
        ),
        figures=tuple(_figures(found, plan, number)),
        place=Place(set=one.set),
    )


def _cell(e: Estimate) -> Estimate | float | Message:
    """A printed value, with its interval where there is one."""
    return say("table.empty") if isnan(e.value) else e.value if isnan(e.low) else e


def _figures(found: ValidatedAsPublished, plan: Plan, number: int) -> Iterator[Figure]:
    one, names = found.of, measures_of(plan)
    ends = {name: span(name, [found.on_axes[s.site][name].value for s in one.sites]) for name in names}
    axes = tuple(
        diagram.Axis(
            say(f"{ID}.panel.{panel_of(name, plan)}"),
            axis_label(name, one.threshold),
            say(f"{ID}.brief.{name}"),
            *ends[name],
        )
        for name in names
    )
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
    yield Figure(
        f"external_performance_published_{number}",
        diagram.ExternalPerformance(axes, points),
        with_rule(say(f"{ID}.published.figure", set=one.set), sets, plan),
        say(f"{ID}.figure.diagram_alt", n=len(points), k=unlike),
    )
    if any(isfinite(r.estimate.value) for r in found.correlations):
        measures = tuple(
            Correlated(
                say(f"{ID}.panel.{panel_of(name, plan)}"),
                say(f"{ID}.brief.{name}"),
                tuple(found.on_axes[site.site][name] for site in one.sites),
                r.estimate,
                *ends[name][:2],
            )
            for name, r in zip(names, found.correlations)
        )
        yield Figure(
            f"meta_validation_published_{number}",
            MetaValidation(
                tuple(site.site for site in one.sites), tuple(site.similarity for site in one.sites), measures
            ),
            say(f"{ID}.published.meta", set=one.set),
            say(f"{ID}.figure.meta_alt", n=len(one.sites)),
        )
