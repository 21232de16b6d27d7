"""Potential robustness: sentences and tables over the sets of each candidate."""

from collections.abc import Iterator, Sequence
from math import inf, isfinite, isnan
from typing import Any

from trustreport.assessment.dimensions.potential_robustness.axes import AXES, UNLIKE, measures_of, width
from trustreport.assessment.dimensions.potential_robustness.plots import figures_of
from trustreport.assessment.dimensions.potential_robustness.results import (
    COMPARED_OVER_SITES,
    MISSING,
    ScoredSet,
    SetsOfCandidate,
    estimate,
    reached,
)
from trustreport.assessment.dimensions.potential_robustness.similar import band
from trustreport.assessment.finding import Column, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, form_of, heading, quantity_name
from trustreport.assessment.performance.cases import ScoredCases, of_dataset
from trustreport.assessment.performance.features import ID
from trustreport.assessment.performance.keys import public_cell
from trustreport.assessment.performance.measures import lead
from trustreport.assessment.performance.sites import MOST_SITES, sites_in
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.measures.similarity.notes import TEST_ONLY
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Study
from trustreport.vocabulary.digits import same_digits
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result

# Sets that have a sentence of their own.
SENTENCES = 3
# Similarity from which a set counts as alike, and p under which the energy distance distinguishes sets.
ALIKE, DIFFERENT = 0.6, 0.05
# Measures with a heading of their own, shorter than their name.
IN_SHORT = ("auc", "standardized_net_benefit")
# Of sites within a set: the measures of each table, and whether there is room for their intervals.
TABLES = {
    "advice": {"accuracy": True, "sensitivity": True, "specificity": True, "ppv": False, "npv": False},
    "scores": dict.fromkeys(("auc", "brier", "calibration_slope", "oe_ratio"), True),
}

text = Texts(ID)


def parts(
    results: Sequence[Result],
    compared: Sequence[Dataset],
    scored: Sequence[ScoredSet],
    study: Study,
    plan: Plan,
) -> Iterator[Part]:
    """A part for each candidate; how alike the sets are is in the first."""
    candidates = list(dict.fromkeys(one.case.place.candidate for one in scored)) or [None]
    of_versions = any(c.follows for c in plan.candidates)
    for number, candidate in enumerate(candidates, 1):
        own = [one for one in scored if one.case.place.candidate == candidate]
        # The name of a version alone, such as 1.0, would read as the number of a section.
        of_it = text("of_version", name=candidate) if of_versions else say("word.name", name=candidate)
        title = of_it if len(candidates) > 1 else None
        view = SetsOfCandidate(results, compared, own, candidate, plan, number)
        yield text.part(_items(view, study), title, Place(candidate=candidate))


def _items(view: SetsOfCandidate, study: Study) -> Iterator[Item]:
    of_sites = list(_cases_with_sites(view, study))
    yield from _sentences(view)
    yield from _remarks_on_sites(of_sites, view.plan)
    if view.number == 1:
        yield _similarity_table(view)
    if view.scored:
        yield from _tables(view)
    for i, case in enumerate(of_sites, 1):
        yield from _site_tables(case, f"{view.number}_{i}", view.plan)
    yield from figures_of(view)


def _sentences(view: SetsOfCandidate) -> Iterator[Message]:
    results, scored = view.results, view.scored
    sized = [one for one in scored if one.case.score is not None]  # else no area is known to size it by
    if sized:
        enough = [one for one in sized if reached(view.sized("auc", one)) >= 1]
        names = [one.case.dataset.name for one in enough]
        key = ("enough_all" if len(enough) == len(sized) else "enough") if enough else "enough_none"
        yield text(key, n=len(sized), k=len(enough), names=names, width=width("auc", view.plan))
    elif not scored:
        yield text("no_scores", n=len(view.compared))
    if len(scored) <= SENTENCES:
        for one in scored:
            area = same_digits(one.reached.auc, (other.reached.auc for other in scored))
            yield _of_set(one, area, _energy_p(view, one))
    else:
        yield from _of_many(view)
    if view.compared and not view.known:
        yield text("no_similarity", reason=estimate(results, "degree_of_correspondence").note)
    yield from _least(view)
    new = view.over("prediction_interval", "auc")
    if new is not None and isfinite(new.estimate.low):
        yield text("new_site", new, n=new.estimate.n)
    elif new is not None and new.estimate.n > 1:
        mean = view.over("pooled_performance", "auc")
        if mean is not None and isfinite(mean.estimate.low):
            yield text("new_site_unknown", mean, n=mean.estimate.n)


def _least(view: SetsOfCandidate) -> Iterator[Message]:
    """Against the best of several: at how many sites the bound is met, and the worst of them."""
    sites = [site for one in view.scored if one.external for site in one.sites if not site.closed]
    areas = [site.estimate("auc", view.plan) for site in sites] if len(sites) > 1 else []
    found = [e for e in areas if isfinite(e.value)]
    if len(found) < 2:
        return
    bound, declared = auc_bound(view.plan)
    worst = view.over("worst_site", "auc")
    assert worst is not None
    values = {"k": len(found), "n": sum(e.low >= bound for e in found), "bound": bound}
    key = "best_of_k" if isfinite(worst.estimate.low) else "best_of_k_no_interval"
    source = text(f"bound.{'declared' if declared else 'authors'}")
    yield text(key, worst, source=source, name=worst.details["site"], **values)


def auc_bound(plan: Plan) -> tuple[float, bool]:
    """What the AUC has to reach: declared by an endpoint, or acceptable to the authors of the diagram."""
    for endpoint in plan.endpoints:
        bound = endpoint.bound_or_margin
        if endpoint.measure in ("advice_accuracy.auc", "auc") and isinstance(bound, int | float):
            return float(bound), True
    return AXES["auc"][2][0], False


def _of_set(one: ScoredSet, area: Estimate, energy_p: float) -> Message:
    """Performance on a set, and how alike it is by the index; what contradicts the index is said with it."""
    name = one.case.dataset.name
    if isnan(area.value):
        return text("set_undefined", name=name, reason=area.note)
    if isnan(area.low):
        said = text("set_no_interval", name=name, value=area.value, reason=area.note)
    else:
        said = text("set", area, name=name)
    if isnan(one.similarity):
        return said
    alike = "alike" if one.similarity >= ALIKE else "unlike" if one.similarity < UNLIKE else "between"
    if alike == "alike" and energy_p < DIFFERENT:
        alike = "contradicted"
    word = say(f"figure.external.{band(one.similarity)}")
    return text(alike, first=said, similarity=one.similarity, band=word, p=energy_p)


def _energy_p(view: SetsOfCandidate, one: ScoredSet) -> float:
    return view.of_set("energy_distance", one.case.dataset.name).p


def _of_many(view: SetsOfCandidate) -> Iterator[Message]:
    """Many sets by how alike they are: which lie on which side of the index, and which it does not see."""
    known = view.known
    alike = [one for one in known if one.similarity >= ALIKE]
    unseen = [one for one in alike if _energy_p(view, one) < DIFFERENT]
    unlike = [one for one in known if one.similarity < UNLIKE]
    for side, group in (("many_unlike", unlike), ("many_alike", alike), ("many_unseen", unseen)):
        if group:
            yield text(side, n=len(group), k=len(known), names=[one.case.dataset.name for one in group])


def _remarks_on_sites(cases: Sequence[ScoredCases], plan: Plan) -> Iterator[Message]:
    """Which sites are not reported one by one, and which cases are in none."""
    for case in cases:
        name, sites = case.dataset.name, sites_in(case, plan, inf)
        if len(sites) > MOST_SITES:
            yield text("sites.many", name=name, n=len(sites))
            continue
        shut = [one.name for one in sites if one.closed]
        if shut:
            yield say("subgroups.suppressed", n=len(shut), names=shut, k=public_cell(plan))
        inside = sum(len(one.case) for one in sites)
        if sites and inside < len(case):
            yield text("sites.unnamed", name=name, n=len(case) - inside)


def column_of(name: str) -> Column:
    """The column of a measure of the diagram."""
    header = text(f"column.{name}") if name in IN_SHORT else heading(name)
    return Column(header, form_of(endpoint_row(name)))


def _similarity_table(view: SetsOfCandidate) -> PlainTable:
    def row(d: Dataset) -> Iterator[Any]:
        """A data set: how alike it is to the training data, by each measure."""
        degree, effects = view.of_set("degree_of_correspondence", d.name), view.effects(d.name)
        yield from (d.name, len(d.cases), degree.value, named(degree))
        yield effects.get("null_sd", MISSING).value
        yield view.of_set("energy_distance", d.name).p
        yield effects.get("influence", MISSING)
        yield effects.get("domain_classifier", MISSING).value

    def named(e: Estimate) -> Message:
        """The band of a similarity, or why there is none."""
        if isnan(e.value):
            return say("table.not_estimable", note=e.note)
        return say(f"figure.external.{band(e.value)}")

    return text.table(
        f"{ID}_similarity",
        text("table_similarity", how=_how(view.results)),
        "data_set cases .similarity:p .band .null_sd:number.1 .energy_p:p .effect:number .classifier:number",
        map(row, view.compared),
    )


def _how(results: Sequence[Result]) -> Message | str:
    """How the sets were compared: scaling, distance, permutations, seed, what became of missing values."""
    found = [r for r in results if r.id == f"{ID}.degree_of_correspondence" and not isnan(r.estimate.value)]
    if not found:
        return ""
    chosen = found[0].parameters
    by_note: dict[Note, list[str]] = {}
    for r in found:
        for note in r.estimate.note:
            if note != TEST_ONLY and "subsample" not in r.parameters:
                by_note.setdefault(note, []).append(str(r.place.dataset))
    everywhere = len({r.place.dataset for r in found})
    notes = [
        text("note_everywhere", note=note)
        if len(sets) == everywhere
        else text("note_of", note=note, names=sets)
        for note, sets in by_note.items()
    ]
    how = text(
        "how",
        scaling=text(f"scaling.{chosen['standardise']}"),
        metric=text(f"metric.{chosen['metric']}"),
        permutations=chosen["permutations"],
        seed=chosen["seed"],
        error=max(r.estimate.details.get("monte_carlo_se", 0.0) for r in found),
    )
    return text("how_with_notes", how=how, notes=notes) if notes else how


def _tables(view: SetsOfCandidate) -> Iterator[PlainTable]:
    drawn, number = measures_of(view.plan), view.number
    yield text.table(
        f"{ID}_performance_{number}",
        text("table_performance", measures=[quantity_name(name) for name in drawn]),
        ("data_set .positive:count .negative:count", *map(column_of, drawn)),
        [
            (
                one.case.dataset.name,
                int(one.case.truth.sum()),
                int((~one.case.truth).sum()),
                *(one.on_axes[name] for name in drawn),
            )
            for one in view.scored
        ],
    )
    yield from scores_table(
        f"{ID}_scores_{number}",
        text("table_scores"),
        [(one.case.dataset.name, one.similarity, one.case.place) for one in view.scored],
        view.results,
        drawn,
    )
    rows = [row for metric in COMPARED_OVER_SITES if (row := _over_sites(view, metric))]
    if rows:
        yield text.table(
            f"{ID}_over_{number}",
            text("table_over"),
            "measure sites .mean:number .new .i2:number",
            rows,
        )
    found = [view.over("similarity_performance_correlation", name) for name in drawn]
    yield from correlation_table(f"{ID}_correlation_{number}", [r for r in found if r], view.plan)


def _over_sites(view: SetsOfCandidate, metric: str) -> tuple[Any, ...]:
    """Mean, spread and a new site, by one measure; nothing where there is no mean."""
    mean, new, spread = (
        view.over(name, metric) for name in ("pooled_performance", "prediction_interval", "heterogeneity")
    )
    if mean is None or new is None or spread is None or isnan(mean.estimate.value):
        return ()
    e = new.estimate
    range_of = text("range", low=e.low, high=e.high) if isfinite(e.low) else text("too_few", n=e.n)
    label = text(f"chart.{metric}", threshold=view.plan.risk_threshold)
    return label, mean.estimate.n, mean.estimate, range_of, spread.estimate


def scores_table(
    id: str,
    caption: Message,
    sets: Sequence[tuple[str, float, Place]],
    results: Sequence[Result],
    measures: Sequence[str],
) -> Iterator[PlainTable]:
    """SPR and WPR with the p-values that they combine, a row for each measure and set that yields either."""
    rows = []
    for measure in measures:
        for name, similarity, place in sets:
            at = {"endpoint": measure, **place.scope}
            wanted = ("p_performance", "spr", "p_acceptability", "wpr")
            found = [estimate(results, of, **at).value for of in wanted]
            if not isnan(found[0]) or not isnan(found[2]):
                rows.append((column_of(measure).header, name, similarity, *found))
    if rows:
        columns = "measure data_set .similarity:p .p_performance:p .spr:p .p_acceptability:p .wpr:p"
        yield text.table(id, caption, columns, rows)


def correlation_table(id: str, found: Sequence[Result], plan: Plan) -> Iterator[PlainTable]:
    """The correlation of each measure with similarity, its p-value, and whether the sets are few."""
    known = [r for r in found if not isnan(r.estimate.value)]
    least = plan.limit("P44_sets")
    if known:
        yield text.table(
            id,
            text("table_correlation", n=int(least)),
            "measure .sets:count .correlation:number p .flag",
            [
                (
                    column_of(r.endpoint).header,
                    r.estimate.n,
                    r.estimate,
                    r.estimate.p,
                    text("few_sets") if r.estimate.n < least else None,
                )
                for r in known
            ],
        )


def _cases_with_sites(view: SetsOfCandidate, study: Study) -> Iterator[ScoredCases]:
    """What one candidate said of the sets that name sites."""
    for dataset in view.compared:
        for case in of_dataset(dataset, study, view.plan) if dataset.cases.site is not None else ():
            if case.place.candidate == view.candidate:
                yield case


def _site_tables(case: ScoredCases, number: str, plan: Plan) -> Iterator[PlainTable]:
    """A row a site, for a set that names several."""
    level, sites, first = plan.report.confidence_level, sites_in(case, plan), True
    for name, wanted in TABLES.items():
        there = case.decision is not None if name == "advice" else case.ranks
        found = {m: [lead(one.case, m, level) for one in sites] for m in (wanted if there else ())}
        shown = [m for m, of in found.items() if not all(isnan(e.value) for e in of)]
        if not shown:
            continue
        rows: list[list[Any]] = []
        for i, one in enumerate(sites):
            own = [found[m][i] if wanted[m] else found[m][i].value for m in shown]
            counts = [len(one.case), *([int(one.case.truth.sum())] if first else [])]
            cells = [None for _ in (*counts, *own)] if one.closed else [*counts, *own]
            label = text("sites.suppressed", name=one.name) if one.closed else one.name
            rows.append([label, *cells])
        heads = [Column(text(f"sites.{m}"), "number" if wanted[m] else "number.3") for m in shown]
        yield text.table(
            f"{ID}_sites_{name}_{number}",
            text(f"table_sites_{name}", name=case.dataset.name),
            ("site cases .positive:count" if first else "site cases", *heads),
            rows,
        )
        first = False  # the second has no room for the positives
