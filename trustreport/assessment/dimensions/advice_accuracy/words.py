"""Sentences and tables of advice accuracy: published tables and data sets, and what stands beside each."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from trustreport.assessment.claims import ClaimCheck
from trustreport.assessment.dimensions.advice_accuracy.results import (
    CELLS,
    ID,
    SCENARIO_MEASURES,
    SCENARIOS,
    WITHOUT,
    ResultView,
)
from trustreport.assessment.dimensions.advice_accuracy.utility import name_of_utility
from trustreport.assessment.finding import Column, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, form_of, heading, if_known, quantity_name
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.weighted import partly_verified
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.study.study import Clustering, Study
from trustreport.vocabulary.digits import Rounded, places_in
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result, leading

SCORED = ("auc", "average_precision")
CURVES = ("net_benefit", "standardized_net_benefit", "weighted_utility")
# Parts of the four cells, and the share that they are together.
PARTS_OF_CELLS = ("indeterminate_positives", "indeterminate_negatives")
THIRD = (*PARTS_OF_CELLS, "indeterminate")
NAMED_UP_TO = 3  # declared figures that differ have a name each in the sentence
MOST_SHARES = 5  # columns that fit beside each other
COUNTS = ("tp", "fn", "fp", "tn")
OVERVIEW = ("sensitivity", "specificity", "ppv", "npv")
BOTH_WAYS = ("accuracy", "sensitivity", "specificity", "ppv", "npv", "auc", "average_precision")
# Where a set has several analyses: those that take its cases as independent.
INDEPENDENT = ("wilson", "delong", "logit_influence")

# How keys of sentences begin that correct for a truth with errors, or for one that is known of some cases.
CORRECTIONS = (f"{ID}.label_", f"{ID}.corrected_", f"{ID}.not_corrected")


text = Texts(ID)


def in_full(all_views: Sequence[ResultView], figures: Sequence[Figure] = ()) -> tuple[Part, ...]:
    """A few tables and data sets, each in full; what several have in common stands before them.

    Candidates have a table of their own, with a column each.
    """
    if len(all_views) < 2:
        return tuple(_part(view, 1, figures, alone=True) for view in all_views)
    tables = () if any(view.place.candidate for view in all_views) else (_table_of_sets(all_views),)
    together = text.part((*_across(all_views), *tables, *figures))
    return (together, *(_part(view, i) for i, view in enumerate(all_views, 1)))


def _part(view: ResultView, number: int, figures: Sequence[Figure] = (), *, alone: bool = False) -> Part:
    title = None if alone else say("word.name", name=view.label)
    return text.part((*_sentences(view), *_tables(view, number), *figures), title, view.place)


def overview(
    all_views: Sequence[ResultView], figures: Sequence[Figure] = (), undrawn: int = 0
) -> tuple[Part, ...]:
    """A row each for many tables and data sets; of `undrawn` sets there are no curves."""
    finding = [*_across(all_views), *_noted(all_views), *([say("undrawn", n=undrawn)] if undrawn else [])]
    tables = (_table_of_sets(all_views), *_rules_of_sets(all_views))
    return (text.part((*finding, *tables, *figures)),)


def _table_of_sets(all_views: Sequence[ResultView]) -> PlainTable:
    """The four cells and the main measures with their intervals, a row for each table or data set."""
    names = (*OVERVIEW, "auc") if any(view.estimate("auc") for view in all_views) else OVERVIEW
    return text.table(
        "advice_accuracy_sets",
        text("table_sets"),
        (
            "data_set",
            *(Column(text(f"heading.{name}"), "count") for name in COUNTS),
            *_headings(names),
        ),
        [
            (
                view.label,
                *(None if (k := _value(view, cell)) is None else round(k) for cell in COUNTS),
                *(if_known(view.estimate(name)) for name in names),
            )
            for view in sorted(all_views, key=lambda view: view.developed_on)  # last, as in the figures
        ],
    )


def _headings(names: Sequence[str]) -> list[Column]:
    """Columns of estimates: shares of cases as per cent, other measures as they are."""
    return [Column(text(f"heading.{name}"), form_of(quantity(name))) for name in names]


def _noted(all_views: Sequence[ResultView]) -> Iterator[Message]:
    """What is to be known of single sets, once for all: cases without output summed, clusters as a range."""
    remarks = [remark for view in all_views for remark in view.remarks]
    undecided: dict[str, list[Message]] = {}
    for remark in remarks:
        if remark.key == f"{ID}.undecided":
            undecided.setdefault(remark.values["counted"].key, []).append(remark)
    for key, of_sets in undecided.items():
        if len(of_sets) > 1:
            n = sum(remark.values["n"] for remark in of_sets)
            yield text("undecided_sets", n=n, sets=len(of_sets), counted=Message(key))
            remarks = [remark for remark in remarks if remark not in of_sets]
    noted = {str(remark): remark for remark in remarks}
    ratios: dict[tuple[str, ...], list[float]] = {}
    for said in noted.values():
        if said.key == f"{ID}.clustered":
            ratios.setdefault(tuple(said.values["keys"]), []).append(said.values["ratio"])
        elif said.key != f"{ID}.clustered_only":
            yield said
    for keys, found in ratios.items():
        yield text("clustered_sets", keys=list(keys), n=len(found), low=min(found), high=max(found))


def _across(all_views: Sequence[ResultView]) -> Iterator[Message]:
    """The range of the main measures over the sets that the model was not made with."""
    all_views = [view for view in all_views if not view.developed_on]
    # Decisions that are all alike have no rule beside them; their 0 and 1 would be the ends of every range.
    some = [view for view in all_views if view.estimate("accuracy", parameters=_rule("all_positive"))]
    pairs = [(view.place, _value(view, "sensitivity"), _value(view, "specificity")) for view in some]
    both = {place: (a, b) for place, a, b in pairs if a is not None and b is not None}
    if len(both) > 1:
        (low, high), (other_low, other_high) = (_ends(rates) for rates in zip(*both.values()))
        sets = _sets(both)
        n = sets if sets > 1 else len(both)
        if low < high and other_low < other_high:
            ends = {"low": low, "high": high, "other_low": other_low, "other_high": other_high}
            yield text("across_rates" if sets > 1 else "across_rates_candidates", n=n, **ends)
    areas = {view.place: area for view in all_views if (area := _value(view, "auc")) is not None}
    if len(areas) > 1:
        sets = _sets(areas)
        low, high = _ends(areas.values())
        n = sets if sets > 1 else len(areas)
        if low < high:
            yield text("across_areas" if sets > 1 else "across_areas_candidates", n=n, low=low, high=high)


def _ends(values: Iterable[float]) -> tuple[float, float]:
    """The least and the greatest as they are written, both with the decimals of the one that has more."""
    low, high = min(values := list(values)), max(values)
    places = max((places_in(low) or 0, places_in(high) or 0))
    return Rounded(round(low, places), places), Rounded(round(high, places), places)


def _sets(places: Iterable[Place]) -> int:
    """How many sets of data there are; one where a range is over its candidates."""
    return len({(at.set, at.dataset) for at in places})


def _rules_of_sets(all_views: Sequence[ResultView]) -> Iterator[PlainTable]:
    """Accuracy and F1 of each set beside those of rules that always give the same answer."""
    compared = [view for view in all_views if view.estimate("accuracy", parameters=_rule("all_positive"))]
    if compared:
        columns = (("accuracy", "device"), *(("accuracy", rule) for rule in SCENARIOS))
        columns = (*columns, ("f1", "device"), ("f1", SCENARIOS[0]), ("mcc", "device"))
        yield text.table(
            "advice_accuracy_rules",
            text("table_rules_sets"),
            "data_set accuracy .accuracy_positive:percent .accuracy_negative:percent"
            " f1 .f1_positive:percent mcc:number",
            [(view.name, *(_by_rule(view, *column) for column in columns)) for view in compared],
        )


def _rule(scenario: str) -> dict[str, str]:
    return {"scenario": scenario}


def _by_rule(view: ResultView, name: str, rule: str) -> Estimate | None:
    """A measure of the decisions, or of a rule that always gives the same answer."""
    return if_known(view.estimate(name, **({} if rule == "device" else {"parameters": _rule(rule)})))


def with_declared(parts: tuple[Part, ...], found: Sequence[ClaimCheck]) -> tuple[Part, ...]:
    """What was declared beside what the data give, as a last part; of several sets it is said first."""
    if not found:
        return parts
    last = _declared(found)
    if last.tables and parts and not parts[0].place.data:
        first = replace(parts[0], finding=(*last.finding, *parts[0].finding))
        return (first, *parts[1:], replace(last, finding=()))
    return (*parts, last)


def _declared(found: Sequence[ClaimCheck]) -> Part:
    """How many declared figures agree with the data, and a row for each that does not."""
    off = [one for one in found if not one.agrees]
    items: list[Item] = []
    if not off:
        items.append(text("declared", n=len(found)))
    elif len(off) <= NAMED_UP_TO:
        items.append(text("declared_off", n=len(found), off=len(off), items=[one.item for one in off]))
    else:
        items.append(text("declared_many_off", n=len(found), off=len(off)))
    if off:
        unlike = text.table(
            "advice_accuracy_declared",
            text("table_declared"),
            "data_set measure .declared:number .recomputed:number",
            [(_place_name(one), one.measure, one.printed, one.recomputed) for one in off],
        )
        items.append(unlike)
    return text.part(items, text("title_declared"))


def _place_name(one: ClaimCheck) -> str:
    """The set or data set that a declared figure is of."""
    return one.place.set or one.place.dataset or ""


def _value(view: ResultView, name: str, **scope: Any) -> float | None:
    estimate = view.estimate(name, **scope)
    return None if estimate is None or isnan(estimate.value) else estimate.value


def _sentences(view: ResultView) -> Iterator[Message]:
    """What is corrected for the truth first, then what was counted, and what is to be known of both."""
    corrected = [one for one in view.remarks if one.key.startswith(CORRECTIONS)]
    verified = any(not one.key.startswith(CORRECTIONS[0]) for one in corrected)
    against = "label_" if view.labels_err else "verified_" if verified else ""
    yield from corrected
    sensitivity, specificity = view.estimate("sensitivity"), view.estimate("specificity")
    cells = {name: view.estimate(name) for name in CELLS}
    if sensitivity and specificity:
        for name, e, right in (("sensitivity", sensitivity, "tp"), ("specificity", specificity, "tn")):
            count = cells[right]
            if isnan(e.value) or count is None:
                yield text("undefined", measure=heading(name), reason=e.note)
            else:
                yield text(f"{against}{name}", e, n=e.n, right=count.value)
    area = view.estimate("auc")
    if area:
        if isnan(area.value):
            yield text("undefined", measure=heading("auc"), reason=area.note)
        elif isnan(area.low):
            yield text(f"{against}auc_without_interval", value=area.value, reason=area.note)
        else:
            yield text(f"{against}auc", area)
    yield from (one for one in view.remarks if one not in corrected)


def _tables(view: ResultView, number: int) -> Iterator[EstimateTable | PlainTable]:
    rows = [
        (_label(name), found) for name in (*CELLS, *THIRD, *MEASURES, *SCORED) if (found := view.lead(name))
    ]
    if rows:
        leads = ("sensitivity", "specificity")
        caption = text("label_table" if view.labels_err else "table")
        yield text.labelled(f"advice_accuracy_{number}", caption, rows, lambda r: r.name in leads)
    yield from _secondary_tables(view, number)
    if view.estimate("accuracy", parameters=_rule("all_positive")):
        yield text.table(
            f"advice_accuracy_rules_{number}",
            text("table_rules"),
            (".rule", *_headings(SCENARIO_MEASURES)),
            [
                (text(f"rule.{rule}"), *(_by_rule(view, name, rule) for name in SCENARIO_MEASURES))
                for rule in ("device", *SCENARIOS)
            ],
        )
    shifted = [r for r in view.results if r.primary and _is_shifted(r)]
    if shifted:
        yield _at_prevalences(shifted, number)
    curves = [
        (text("at_threshold", name=_strategy(r, name), threshold=r.place.threshold), r)
        for name in CURVES
        for r in view.results
        if r.id == f"{ID}.{name}" and r.primary and r.parameters.get("strategy") != "treat_none"
    ]
    if curves:
        yield text.labelled(f"net_benefit_{number}", text("table_net_benefit"), curves)


def _label(name: str) -> Message:
    """What a row is called; one that counts a part of the rows above says so."""
    return text("of_these", measure=quantity_name(name)) if name in PARTS_OF_CELLS else heading(name)


def _is_shifted(result: Result) -> bool:
    return "prevalence" in result.parameters and "utility" not in result.parameters


def _strategy(result: Result, name: str) -> Message:
    """What a net benefit is of: the scores, or acting on everybody or nobody."""
    strategy = result.parameters.get("strategy")
    return text(f"rule.{strategy}") if strategy else heading(name)


def _at_prevalences(shifted: Sequence[Result], number: int) -> PlainTable:
    """A row for each measure, a column for each prevalence; of many shares some, evenly spread."""
    shares = sorted({r.parameters["prevalence"] for r in shifted})
    if len(shares) > MOST_SHARES:
        shares = [shares[round(i * (len(shares) - 1) / (MOST_SHARES - 1))] for i in range(MOST_SHARES)]
    found = {(r.name, r.parameters["prevalence"]): r for r in shifted}
    return text.table(
        f"advice_accuracy_prevalence_{number}",
        text("table_prevalence", level=shifted[0].estimate.level),
        ("measure", *(Column(text("at_share", prevalence=share), "number") for share in shares)),
        [
            (heading(name), *(found.get((name, share)) for share in shares))
            for name in dict.fromkeys(r.name for r in shifted)
        ],
    )


def in_sentence(r: Result) -> Message | None:
    """A result within a sentence, a proportion as a percentage."""
    if r.written != "proportion":
        return _with_interval(r.estimate)
    return text("percent_with_interval", value=r.estimate.value, low=r.estimate.low, high=r.estimate.high)


def _with_interval(e: Estimate | None) -> Message | None:
    """An estimate with its interval, where it has one."""
    if e is None or isnan(e.value):
        return None
    form = "without_interval" if isnan(e.low) or isnan(e.high) else "with_interval"
    return text(form, value=e.value, low=e.low, high=e.high)


def _secondary_tables(view: ResultView, number: int) -> Iterator[EstimateTable | PlainTable]:
    """Each table for which a set has results."""

    def value_of(quantity: str) -> list[Result]:
        return [r for r in view.results if r.id == f"{ID}.{quantity}" and r.primary]

    left_out = (r for r in view.results if r.parameters == WITHOUT and r.primary)
    tables: dict[str, Iterable[tuple[Message, Result]]] = {
        "clusters": _clustered_rows(view),
        "verification": _corrected_rows(view),
        "weighted": _weighted_rows(view),
        "indeterminate": ((text("left_out", name=heading(r.name)), r) for r in left_out),
    }
    for key, found in tables.items():
        rows = list(found)
        if rows:
            leads = [view.lead(name) for name in BOTH_WAYS] if key in ("clusters", "verification") else []
            yield text.labelled(f"{key}_{number}", text(f"table_{key}"), rows, leads.__contains__)
    if groups := value_of("auc_group"):
        yield _deep(groups, number)
    if worth := value_of("utility_yield"):
        yield text.estimates(f"utility_{number}", text("table_utility"), worth, _utility, lambda r: False)
    points = [r for r in view.results if r.id == f"{ID}.optimal_threshold"]
    if points:
        yield _points(view, points, number)


def _clustered_rows(view: ResultView) -> Iterator[tuple[Message, Result]]:
    for name in BOTH_WAYS:
        lead = view.lead(name)
        if lead is None or lead.analysis != "clustered":
            continue
        yield text("in_clusters", name=heading(name)), lead
        for r in view.results:
            same = r.id == lead.id and r.place == lead.place and not r.parameters and not r.analysis
            if same and r.method in INDEPENDENT:
                yield text("as_independent", name=heading(name)), r


def _corrected_rows(view: ResultView) -> Iterator[tuple[Message, Result]]:
    """Sensitivity and specificity of the verified cases, then as corrected for the others."""
    for name in ("sensitivity", "specificity"):
        lead = view.lead(name)
        own = [r for r in view.results if r.id == f"{ID}.corrected_{name}"]
        if own and lead:
            yield text("verified_alone", name=heading(name)), lead
        yield from ((heading(r.name), r) for r in own)


def _weighted_rows(view: ResultView) -> Iterator[tuple[Message, Result]]:
    """Each weighted measure; net benefit at each threshold."""
    for r in view.results:
        if r.name.startswith("weighted_") and r.name != "weighted_utility":
            label, at = heading(r.name), r.place.threshold
            yield (label if at is None else text("at_threshold", name=label, threshold=at)), r


def _deep(groups: Sequence[Result], number: int) -> PlainTable:
    """Parts of the ROC curve with both averages."""

    def row(r: Result) -> Iterator[Any]:
        """A range of false positive rates: its area, interval, and both averages."""
        low, high = r.parameters["fpr"]
        yield text("fpr_range", low=low, high=high)
        yield from (r.estimate.value, r.estimate.low, r.estimate.high)
        yield from map(r.estimate.details.get, ("average_sensitivity", "average_specificity"))

    return text.table(
        f"auc_groups_{number}",
        text("table_groups"),
        ".fpr .area:number.3 .low:number.3 .high:number.3 .average_sensitivity:percent"
        " .average_specificity:percent",
        map(row, groups),
    )


def _utility(result: Result) -> Message:
    chosen = result.parameters
    name = name_of_utility(chosen["utility"])
    if "prevalence" in chosen:
        return text("yield_at", name=name, prevalence=chosen["prevalence"])
    return text("yield_of", name=name)


def _points(view: ResultView, points: Sequence[Result], number: int) -> PlainTable:
    """The threshold that each utility calls for."""

    def row(r: Result) -> Iterator[Any]:
        """A utility: the best threshold, the rates there, its yield and that of the decisions."""
        chosen = {"utility": r.parameters["utility"]}
        best = next(o for o in view.results if o.id == f"{ID}.optimal_yield" and o.scope == r.scope)
        declared = view.estimate("utility_yield", parameters=chosen)
        yield from (name_of_utility(chosen["utility"]), r.estimate.details.get("slope"), r.estimate.value)
        yield from map(r.estimate.details.get, ("sensitivity", "specificity"))
        yield from (best.estimate.value, declared.value if declared else None)

    return text.table(
        f"operating_points_{number}",
        text("table_points"),
        ".utility .slope:number.3 .threshold:number.3 sensitivity specificity"
        " .yield_here:number.3 .yield_declared:number.3",
        map(row, points),
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
            yield text("not_corrected", measure=heading(name), reason=e.note, **values)
        else:
            bounds = {"least": e.details["least"], "most": e.details["most"]}
            key = f"corrected_{name}_without_interval" if isnan(e.low) else f"corrected_{name}"
            yield text(key, e, **bounds, **values)


def reweighed(results: list[Result]) -> Iterator[Message]:
    """The two rates for the population that the weights represent, and that nothing else is weighted."""
    found = [leading(results, f"{ID}.weighted_{name}") for name in ("sensitivity", "specificity", "auc")]
    known = [r for r in found if r is not None and not isnan(r.estimate.low)]
    if any(r is not None for r in found):
        measures = [
            text("weighted_item", measure=quantity_name(r.name), estimate=in_sentence(r)) for r in known
        ]
        yield text("weighted" if known else "weighted_none", measures=measures)


def remarks_on(case: ScoredCases, clusters: Clustering, results: list[Result]) -> Iterator[Message]:
    """That cases come in clusters, and how much wider that makes intervals; that some had no output."""
    if clusters.absent:
        yield text("no_such_key", keys=list(clusters.absent), n=len(clusters.absent))
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
            yield text("clustered", measure=measure, ratio=effects[some] ** 0.5, **values)
        else:
            yield text("clustered_only", **values)
    if case.n_failed and case.decision is not None:
        yield text("undecided", n=case.n_failed, counted=text(f"counted.{case.rule}"))
