"""Potential robustness: sentences, tables and figures over the sets of each candidate."""

from collections.abc import Iterator, Sequence
from math import isfinite, isnan

from trustreport.assessment.dimensions.potential_robustness.axes import AXES, UNLIKE, measures_of
from trustreport.assessment.dimensions.potential_robustness.over_similarity import (
    column_of,
    correlation_table,
    scores_table,
)
from trustreport.assessment.dimensions.potential_robustness.plots import (
    MISSING,
    effects,
    estimate,
    figures_of,
    over,
    reached,
    sized,
)
from trustreport.assessment.dimensions.potential_robustness.scores import ScoredSet
from trustreport.assessment.dimensions.potential_robustness.similar import band
from trustreport.assessment.dimensions.potential_robustness.site_tables import (
    cases_with_sites,
    remarks_on_sites,
    site_tables,
)
from trustreport.assessment.dimensions.potential_robustness.sites import COMPARED_OVER_SITES
from trustreport.assessment.dimensions.potential_robustness.sizes import width
from trustreport.assessment.finding import EstimateTable, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import numbers, quantity_name
from trustreport.assessment.performance.features import ID
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.measures.similarity.notes import TEST_ONLY
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

# Sets that have a sentence of their own.
SENTENCES = 3
# Similarity from which a set counts as alike, and p under which the energy distance distinguishes sets.
ALIKE, DIFFERENT = 0.6, 0.05


def parts(
    results: Sequence[Result],
    compared: Sequence[Dataset],
    scored: Sequence[ScoredSet],
    study: Study,
    plan: Plan,
) -> tuple[Part, ...]:
    """A part for each candidate; how alike the sets are is in the first."""
    candidates = list(dict.fromkeys(one.case.place.candidate for one in scored)) or [None]
    found = []
    for number, candidate in enumerate(candidates, 1):
        own = [one for one in scored if one.case.place.candidate == candidate]
        tables = [*(_similarity_table(results, compared) if number == 1 else ())]
        tables += _tables(results, own, candidate, number, plan)
        of_sites = list(cases_with_sites(compared, candidate, study, plan))
        tables += site_tables(of_sites, number, plan)
        found.append(
            Part(
                finding=(
                    *_sentences(results, compared, own, candidate, plan),
                    *remarks_on_sites(of_sites, plan),
                ),
                title=say("word.name", name=candidate) if len(candidates) > 1 else None,
                tables=tuple(tables),
                figures=tuple(figures_of(results, compared, own, plan, number)),
                place=Place(candidate=candidate),
            )
        )
    return tuple(found)


# ---------------------------------------------------------------- sentences


def _sentences(
    results: Sequence[Result],
    compared: Sequence[Dataset],
    scored: Sequence[ScoredSet],
    candidate: str | None,
    plan: Plan,
) -> Iterator[Message]:
    if scored:
        enough = [one for one in scored if reached(sized(results, "auc", one)) >= 1]
        names = [one.case.dataset.name for one in enough]
        key = ("enough_all" if len(enough) == len(scored) else "enough") if enough else "enough_none"
        yield say(f"{ID}.{key}", n=len(scored), k=len(enough), names=names, width=width("auc", plan))
    if len(scored) <= SENTENCES:
        for one in scored:
            yield _of_set(one, _energy_p(results, one))
    else:
        yield from _of_many(results, scored)
    if not scored:
        yield say(f"{ID}.no_scores", n=len(compared))
    known = [one for one in scored if not isnan(one.similarity)]
    if compared and not known:
        yield say(f"{ID}.no_similarity", reason=estimate(results, "degree_of_correspondence").note)
    yield from _least(results, scored, candidate, plan)
    new = over(results, "prediction_interval", "auc", candidate)
    if new is not None and isfinite(new.estimate.low):
        e = new.estimate
        yield say(f"{ID}.new_site", n=e.n, **numbers(e))
    elif new is not None and new.estimate.n > 1:
        mean = over(results, "pooled_performance", "auc", candidate)
        if mean is not None and isfinite(mean.estimate.low):
            yield say(f"{ID}.new_site_unknown", n=mean.estimate.n, **numbers(mean.estimate))


def _least(
    results: Sequence[Result], scored: Sequence[ScoredSet], candidate: str | None, plan: Plan
) -> Iterator[Message]:
    """Against the best of several: at how many sites the bound is met, and the worst of them."""
    sites = [site for one in scored if one.external for site in one.sites if not site.closed]
    areas = [(site.label, site.estimate("auc", plan)) for site in sites] if len(sites) > 1 else []
    found = [(name, e) for name, e in areas if isfinite(e.value)]
    if len(found) < 2:
        return
    bound, declared = auc_bound(plan)
    met = sum(e.low >= bound for _, e in found)
    worst = over(results, "worst_site", "auc", candidate)
    assert worst is not None
    name, e = worst.details["site"], worst.estimate
    values = {"k": len(found), "n": met, "bound": bound, "name": name, "value": e.value}
    key = "best_of_k" if isfinite(e.low) else "best_of_k_no_interval"
    source = say(f"{ID}.bound.{'declared' if declared else 'authors'}")
    yield say(f"{ID}.{key}", source=source, low=e.low, high=e.high, **values)


def auc_bound(plan: Plan) -> tuple[float, bool]:
    """What the AUC has to reach: declared by an endpoint, or acceptable to the authors of the diagram."""
    for endpoint in plan.endpoints:
        bound = endpoint.bound_or_margin
        if endpoint.measure in ("advice_accuracy.auc", "auc") and isinstance(bound, int | float):
            return float(bound), True
    return AXES["auc"][2][0], False


def _of_set(one: ScoredSet, energy_p: float) -> Message:
    """Performance on a set, and how alike it is by the index; what contradicts the index is said with it."""
    area, name = one.reached.auc, one.case.dataset.name
    if isnan(area.value):
        return say(f"{ID}.set_undefined", name=name, reason=area.note)
    if isnan(area.low):
        said = say(f"{ID}.set_no_interval", name=name, value=area.value, reason=area.note)
    else:
        said = say(f"{ID}.set", name=name, **numbers(area))
    if isnan(one.similarity):
        return said
    alike = "alike" if one.similarity >= ALIKE else "unlike" if one.similarity < UNLIKE else "between"
    word = say(f"figure.external.{band(one.similarity)}")
    if alike == "alike" and energy_p < DIFFERENT:
        return say(f"{ID}.contradicted", first=said, similarity=one.similarity, band=word, p=energy_p)
    return say(f"{ID}.{alike}", first=said, similarity=one.similarity, band=word)


def _energy_p(results: Sequence[Result], one: ScoredSet) -> float:
    return estimate(results, "energy_distance", dataset=one.case.dataset.name).p


def _of_many(results: Sequence[Result], scored: Sequence[ScoredSet]) -> Iterator[Message]:
    """Many sets by how alike they are: which lie on which side of the index, and which it does not see."""
    known = [one for one in scored if not isnan(one.similarity)]
    for side, group in (
        ("many_unlike", [one for one in known if one.similarity < UNLIKE]),
        ("many_alike", [one for one in known if one.similarity >= ALIKE]),
    ):
        if group:
            names = [one.case.dataset.name for one in group]
            yield say(f"{ID}.{side}", n=len(group), k=len(known), names=names)
    unseen = [o for o in known if o.similarity >= ALIKE and _energy_p(results, o) < DIFFERENT]
    if unseen:
        yield say(f"{ID}.many_unseen", n=len(unseen), names=[one.case.dataset.name for one in unseen])


# ---------------------------------------------------------------- tables


def _similarity_table(results: Sequence[Result], compared: Sequence[Dataset]) -> Iterator[PlainTable]:
    def degree(d: Dataset) -> Estimate:
        return estimate(results, "degree_of_correspondence", dataset=d.name)

    def effect(d: Dataset, method: str) -> Estimate:
        return effects(results, d.name).get(method, MISSING)

    def named(d: Dataset) -> Message:
        e = degree(d)
        if isnan(e.value):
            return say("table.not_estimable", note=e.note)
        return say(f"figure.external.{band(e.value)}")

    yield table(
        f"{ID}_similarity",
        say(f"{ID}.table_similarity", how=_how(results, compared)),
        compared,
        [
            (f"{ID}.column.set", "name"),
            (f"{ID}.column.n", lambda d: len(d.cases), "count"),
            (f"{ID}.column.similarity", lambda d: degree(d).value, "p"),
            (f"{ID}.column.band", named),
            (f"{ID}.column.null_sd", lambda d: effect(d, "null_sd").value, "number.1"),
            (
                f"{ID}.column.energy_p",
                lambda d: estimate(results, "energy_distance", dataset=d.name).p,
                "p",
            ),
            (f"{ID}.column.effect", lambda d: effect(d, "influence"), "number"),
            (f"{ID}.column.classifier", lambda d: effect(d, "domain_classifier").value, "number"),
        ],
    )


def _how(results: Sequence[Result], compared: Sequence[Dataset]) -> Message | str:
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
        say(f"{ID}.note_everywhere", note=note)
        if len(sets) == everywhere
        else say(f"{ID}.note_of", note=note, names=sets)
        for note, sets in by_note.items()
    ]
    how = say(
        f"{ID}.how",
        scaling=say(f"{ID}.scaling.{chosen['standardise']}"),
        metric=say(f"{ID}.metric.{chosen['metric']}"),
        permutations=chosen["permutations"],
        seed=chosen["seed"],
        error=max(r.estimate.details.get("monte_carlo_se", 0.0) for r in found),
    )
    return say(f"{ID}.how_with_notes", how=how, notes=notes) if notes else how


def _tables(
    results: Sequence[Result], scored: Sequence[ScoredSet], candidate: str | None, number: int, plan: Plan
) -> Iterator[EstimateTable | PlainTable]:
    if not scored:
        return

    drawn = measures_of(plan)
    yield table(
        f"{ID}_performance_{number}",
        say(f"{ID}.table_performance", measures=[quantity_name(name) for name in drawn]),
        scored,
        [
            (f"{ID}.column.set", "case.dataset.name"),
            (f"{ID}.column.positive", lambda one: int(one.case.truth.sum()), "count"),
            (f"{ID}.column.negative", lambda one: int((~one.case.truth).sum()), "count"),
            *((column_of(name), lambda one, name=name: one.on_axes[name], "number") for name in drawn),
        ],
    )
    yield from scores_table(
        f"{ID}_scores_{number}",
        say(f"{ID}.table_scores"),
        [(one.case.dataset.name, one.similarity, one.case.place) for one in scored],
        results,
        drawn,
    )
    yield from _over_sites(results, candidate, number, plan)
    found = [over(results, "similarity_performance_correlation", name, candidate) for name in drawn]
    yield from correlation_table(f"{ID}_correlation_{number}", [r for r in found if r is not None], plan)


def _over_sites(
    results: Sequence[Result], candidate: str | None, number: int, plan: Plan
) -> Iterator[PlainTable]:
    """Mean, spread and a new site, a row a measure."""
    rows = []
    for metric in COMPARED_OVER_SITES:
        mean, new, spread = (
            over(results, name, metric, candidate)
            for name in ("pooled_performance", "prediction_interval", "heterogeneity")
        )
        if mean is None or new is None or spread is None or isnan(mean.estimate.value):
            continue
        e = new.estimate
        found = isfinite(e.low)
        range_of = say(f"{ID}.range", low=e.low, high=e.high) if found else say(f"{ID}.too_few", n=e.n)
        label = say(f"{ID}.chart.{metric}", threshold=plan.risk_threshold)
        rows.append((label, mean.estimate.n, mean.estimate, range_of, spread.estimate))
    if rows:
        yield table(
            f"{ID}_over_{number}",
            say(f"{ID}.table_over"),
            rows,
            [
                (f"{ID}.column.measure", 0),
                (f"{ID}.column.sites", 1, "count"),
                (f"{ID}.column.mean", 2, "number"),
                (f"{ID}.column.new", 3),
                (f"{ID}.column.i2", 4, "number"),
            ],
        )
