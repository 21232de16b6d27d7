"""Tables beside the main one: independent cases, parts of the ROC curve, utilities, what was left out."""

from collections.abc import Callable, Iterator
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.advice_accuracy.entries import ID, WITHOUT, ResultView
from trustreport.assessment.dimensions.advice_accuracy.utility import name_of_utility
from trustreport.assessment.finding import EstimateRow, EstimateTable, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import heading, quantity_name
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.weighted import partly_verified
from trustreport.study.plan import Plan
from trustreport.study.study import Clustering, Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

BOTH_WAYS = ("accuracy", "sensitivity", "specificity", "ppv", "npv", "auc", "average_precision")


def secondary_tables(view: ResultView, number: int) -> Iterator[EstimateTable | PlainTable]:
    """Each table for which a set has results."""
    clustered = tuple(_clustered_rows(view))
    if clustered:
        yield EstimateTable(f"clusters_{number}", say(f"{ID}.table_clusters"), clustered)
    corrected = tuple(_corrected_rows(view))
    if corrected:
        yield EstimateTable(f"verification_{number}", say(f"{ID}.table_verification"), corrected)
    weighed = tuple(_weighted_rows(view))
    if weighed:
        yield EstimateTable(f"weighted_{number}", say(f"{ID}.table_weighted"), weighed)
    left_out = tuple(
        EstimateRow(say(f"{ID}.left_out", name=_label(r)), r)
        for r in view.results
        if r.parameters == WITHOUT and r.primary
    )
    if left_out:
        yield EstimateTable(f"indeterminate_{number}", say(f"{ID}.table_indeterminate"), left_out)
    groups = [r for r in view.results if r.id == f"{ID}.auc_group" and r.primary]
    if groups:
        yield _deep(groups, number)
    worth = tuple(
        EstimateRow(_utility(r), r) for r in view.results if r.id == f"{ID}.utility_yield" and r.primary
    )
    if worth:
        yield EstimateTable(f"utility_{number}", say(f"{ID}.table_utility"), worth)
    points = [r for r in view.results if r.id == f"{ID}.optimal_threshold"]
    if points:
        yield _points(view, points, number)


def _label(result: Result) -> Message:
    return heading(result.name)


def _clustered_rows(view: ResultView) -> Iterator[EstimateRow]:
    for name in BOTH_WAYS:
        lead = view.lead(name)
        if lead is None or lead.analysis != "clustered":
            continue
        yield EstimateRow(say(f"{ID}.in_clusters", name=_label(lead)), lead, leads=True)
        for r in view.results:
            same = r.id == lead.id and r.place == lead.place and not r.parameters and not r.analysis
            if same and r.method in ("wilson", "delong", "logit_influence"):
                yield EstimateRow(say(f"{ID}.as_independent", name=_label(lead)), r)


def _corrected_rows(view: ResultView) -> Iterator[EstimateRow]:
    """Sensitivity and specificity of the verified cases, then as corrected for the others."""
    for name in ("sensitivity", "specificity"):
        lead = view.lead(name)
        own = [r for r in view.results if r.id == f"{ID}.corrected_{name}"]
        if own and lead:
            yield EstimateRow(say(f"{ID}.verified_alone", name=heading(name)), lead, leads=True)
        yield from (EstimateRow(heading(r.name), r) for r in own)


def _weighted_rows(view: ResultView) -> Iterator[EstimateRow]:
    """Each weighted measure; net benefit at each threshold."""
    for r in view.results:
        if r.name.startswith("weighted_") and r.name != "weighted_utility":
            label, at = heading(r.name), r.place.threshold
            yield EstimateRow(label if at is None else say(f"{ID}.at_threshold", name=label, threshold=at), r)


def _deep(groups: list[Result], number: int) -> PlainTable:
    """Parts of the ROC curve with both averages."""
    return table(
        f"auc_groups_{number}",
        say(f"{ID}.table_groups"),
        groups,
        [
            (f"{ID}.column.fpr", _fpr),
            (f"{ID}.column.area", "estimate.value", "number.3"),
            (f"{ID}.column.low", "estimate.low", "number.3"),
            (f"{ID}.column.high", "estimate.high", "number.3"),
            (f"{ID}.column.average_sensitivity", _detail("average_sensitivity"), "number.3"),
            (f"{ID}.column.average_specificity", _detail("average_specificity"), "number.3"),
        ],
    )


def _fpr(result: Result) -> Message:
    low, high = result.parameters["fpr"]
    return say(f"{ID}.fpr_range", low=low, high=high)


def _detail(name: str) -> Callable[[Result], float | None]:
    return lambda r: r.estimate.details.get(name)


def _utility(result: Result) -> Message:
    chosen = result.parameters
    name = name_of_utility(chosen["utility"])
    if "prevalence" in chosen:
        return say(f"{ID}.yield_at", name=name, prevalence=chosen["prevalence"])
    return say(f"{ID}.yield_of", name=name)


def _points(view: ResultView, points: list[Result], number: int) -> PlainTable:
    """The threshold that each utility calls for."""

    def best(r: Result) -> float:
        same = (o for o in view.results if o.id == f"{ID}.optimal_yield" and o.scope == r.scope)
        return next(same).estimate.value

    def declared(r: Result) -> float | None:
        found = view.estimate("utility_yield", parameters={"utility": r.parameters["utility"]})
        return found.value if found else None

    return table(
        f"operating_points_{number}",
        say(f"{ID}.table_points"),
        points,
        [
            (f"{ID}.column.utility", lambda r: name_of_utility(r.parameters["utility"])),
            (f"{ID}.column.slope", _detail("slope"), "number.3"),
            (f"{ID}.column.threshold", "estimate.value", "number.3"),
            (f"{ID}.column.sensitivity", _detail("sensitivity"), "number.3"),
            (f"{ID}.column.specificity", _detail("specificity"), "number.3"),
            (f"{ID}.column.yield_here", best, "number.3"),
            (f"{ID}.column.yield_declared", declared, "number.3"),
        ],
    )


def unverified(case: ScoredCases, study: Study, plan: Plan, results: list[Result]) -> Iterator[Message]:
    """Where verification depends on the decision: the corrected measures, and the bounds without them."""
    found = partly_verified(case, study, plan)
    if found is None or not found.depends_on_decision:
        return
    values: dict[str, Any] = {"unverified": found.counts.unverified, "n": len(found.truth)}
    for name in ("sensitivity", "specificity"):
        lead = leading(results, f"{ID}.corrected_{name}")
        assert lead is not None
        e = lead.estimate
        if isnan(e.value):
            yield say(f"{ID}.not_corrected", measure=heading(name), reason=e.note, **values)
        else:
            bounds = {"least": e.details["least"], "most": e.details["most"]}
            key = f"{ID}.corrected_{name}" + ("_without_interval" if isnan(e.low) else "")
            yield say(key, value=e.value, low=e.low, high=e.high, level=e.level, **bounds, **values)


def reweighed(results: list[Result]) -> Iterator[Message]:
    """The two rates for the population that the weights represent, and that nothing else is weighted."""
    found = [leading(results, f"{ID}.weighted_{name}") for name in ("sensitivity", "specificity", "auc")]
    known = [r for r in found if r is not None and not isnan(r.estimate.low)]
    if any(r is not None for r in found):
        measures = [
            say(f"{ID}.weighted_item", measure=quantity_name(r.name), estimate=_in_brackets(r)) for r in known
        ]
        yield say(f"{ID}.weighted" if known else f"{ID}.weighted_none", measures=measures)


def _in_brackets(r: Result) -> Message:
    e = r.estimate
    return say(f"{ID}.with_interval", value=e.value, low=e.low, high=e.high)


def remarks_on(case: ScoredCases, clusters: Clustering, results: list[Result]) -> Iterator[Message]:
    """That cases come in clusters, and how much wider that makes intervals; that some had no output."""
    if clusters.absent:
        yield say(f"{ID}.no_such_key", keys=list(clusters.absent), n=len(clusters.absent))
    if clusters.of_case is not None:
        leading = [r for r in results if r.primary and r.analysis == "clustered"]
        effects = {
            r.id.rpartition(".")[2]: r.estimate.details["design_effect"]
            for r in leading
            if not r.parameters and "design_effect" in r.estimate.details
        }
        some = next((name for name in ("sensitivity", "auc", "accuracy") if name in effects), None)
        values = {"keys": list(clusters.keys), "n": len(case)}
        if some:
            measure = heading(some)
            yield say(f"{ID}.clustered", measure=measure, ratio=effects[some] ** 0.5, **values)
        else:
            yield say(f"{ID}.clustered_only", **values)
    if case.n_failed and case.decision is not None:
        yield say(f"{ID}.undecided", n=case.n_failed, counted=say(f"{ID}.counted.{case.rule}"))
