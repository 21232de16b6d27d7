"""Numbers that sites hand over as they are: of each site, the mean over sites, and a further site."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.potential_robustness.results import (
    NEW,
    TYPICAL,
    informative,
    variance,
    weighable,
)
from trustreport.assessment.dimensions.potential_robustness.words import text
from trustreport.assessment.finding import Part
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.performance.features import ID
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.sites.heterogeneity import heterogeneity
from trustreport.study.plan import Plan
from trustreport.study.pooled.pool import as_estimate
from trustreport.study.study import Study
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.place import place_of
from trustreport.vocabulary.results import Result

POPULATIONS = {TYPICAL: "typical", NEW: "new"}
LEFT_OUT = note("sites_without_variance_or_at_end")


@dataclass(frozen=True, slots=True)
class NumberOfSites:
    """One number of several sites, by site, and what is over them; `over` is empty where nothing can be."""

    by_site: dict[str, Result]
    over: tuple[Result, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        return (*self.by_site.values(), *self.over)


def numbers_of_sites(study: Study, plan: Plan) -> list[NumberOfSites]:
    """Every number that a site hands over as it is, with those of the other sites."""
    if study.pooled is None:
        return []
    found: dict[str, dict[str, Result]] = {}
    for file in study.pooled.files:
        for one in file.summary.results:
            place = place_of(one.scope)
            e = as_estimate(one.number).estimate(plan.report.confidence_level)
            more: dict[str, Any] = {"endpoint": one.endpoint, "parameters": one.parameters, "primary": True}
            result = Result(one.id, place.narrowed(site=file.summary.site), e, **more)
            key = json.dumps([one.id, one.scope, one.endpoint, one.parameters], sort_keys=True, default=str)
            found.setdefault(key, {})[file.summary.site] = result
    return [NumberOfSites(own, tuple(_over(own, plan))) for own in found.values()]


def _over(by_site: dict[str, Result], plan: Plan) -> Iterator[Result]:
    """The mean over sites and what to expect at a new one, by the variance of each site."""
    first = next(iter(by_site.values()))
    scale = "identity" if first.quantity.scale == "atanh" else first.quantity.scale
    name = first.quantity.id
    known = [r.estimate for r in by_site.values() if weighable(name, r.estimate)]
    if len(known) < 2 or first.dimension == ID:  # degrees of correspondence are p-values, which have no mean
        return
    columns = np.array([e.value for e in known]), np.array([variance(name, e) for e in known])
    model = informative(heterogeneity(*columns, scale=scale, level=plan.report.confidence_level))
    left_out = LEFT_OUT if len(known) < len(by_site) else NO_NOTE
    for population, e in ((TYPICAL, model.mean), (NEW, model.prediction_interval)):
        place = first.place.narrowed(site=None, population=population)
        said = replace(e, note=e.note + left_out)
        yield replace(first, place=place, estimate=said, details={})


def numbers_part(found: list[NumberOfSites]) -> Part:
    """The numbers of sites as a table each: sites first, then what is over them."""
    items: list[Any] = [text("handed_over", n=len(found))]
    for i, one in enumerate(found, 1):
        rows = [(say("word.name", name=site), r) for site, r in one.by_site.items()]
        rows += [(text(f"handed_over_{POPULATIONS[r.place.population or TYPICAL]}"), r) for r in one.over]
        shown = [(label, r) for label, r in rows if not isnan(r.estimate.value)]
        first = next(iter(one.by_site.values()))
        caption = text("table_handed_over", name=quantity_name(first.quantity.id), where=_where(first))
        items.append(
            text.labelled(f"handed_over_{i}", caption, shown, lambda r: r.place.population == TYPICAL)
        )
    return text.part(items, text("title_handed_over"))


def _where(r: Result) -> str:
    words = (r.place.dataset, r.place.task, r.place.subgroup, r.endpoint, r.place.arm, r.place.candidate)
    arms = " – ".join(r.place.arms or r.place.candidates or ())
    return ", ".join(word for word in (*words, arms) if word)
