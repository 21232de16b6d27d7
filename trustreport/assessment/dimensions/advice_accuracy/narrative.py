"""Sentences and tables of advice accuracy: published tables and data sets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import isnan
from typing import Any

from trustreport.assessment.claims import ClaimCheck
from trustreport.assessment.dimensions.advice_accuracy.entries import (
    CELLS,
    ID,
    SCENARIO_MEASURES,
    SCENARIOS,
    ResultView,
)
from trustreport.assessment.dimensions.advice_accuracy.narrative_secondary import secondary_tables
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import Spec, table
from trustreport.assessment.narrative.texts import heading, quantity_name
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

SCORED = ("auc", "average_precision")
CURVES = ("net_benefit", "standardized_net_benefit", "weighted_utility")
# Parts of the four cells, and the share that they are together.
PARTS_OF_CELLS = ("indeterminate_positives", "indeterminate_negatives")
THIRD = (*PARTS_OF_CELLS, "indeterminate")
NAMED_UP_TO = 3  # declared figures that differ have a name each in the sentence
MOST_SHARES = 5  # columns that fit beside each other
OVERVIEW = ("prevalence", "sensitivity", "specificity", "ppv", "npv", "mcc")


def in_full(all_views: Sequence[ResultView], figures: Sequence[Figure] = ()) -> tuple[Part, ...]:
    """A few tables and data sets, each in full; what several have in common stands before them.

    Candidates have a table of their own, with a column each.
    """
    if len(all_views) < 2:
        return tuple(_part(view, 1, figures, alone=True) for view in all_views)
    tables = () if any(view.place.candidate for view in all_views) else (_table_of_sets(all_views),)
    together = Part(finding=tuple(_across(all_views)), tables=tables, figures=tuple(figures))
    return (together, *(_part(view, i) for i, view in enumerate(all_views, 1)))


def _part(view: ResultView, number: int, figures: Sequence[Figure] = (), *, alone: bool = False) -> Part:
    return Part(
        title=None if alone else say("word.name", name=view.label),
        finding=tuple(_sentences(view)),
        tables=tuple(_tables(view, number)),
        figures=tuple(figures),
        place=view.place,
    )


def overview(
    all_views: Sequence[ResultView], figures: Sequence[Figure] = (), undrawn: int = 0
) -> tuple[Part, ...]:
    """A row each for many tables and data sets; of `undrawn` sets there are no curves."""
    finding = (*_across(all_views), *_noted(all_views), *_not_plotted(undrawn))
    tables = (_table_of_sets(all_views), *_rules_of_sets(all_views))
    return (Part(finding, tables=tables, figures=tuple(figures)),)


def _table_of_sets(all_views: Sequence[ResultView]) -> PlainTable:
    """The main measures, a row for each table or data set."""
    names = (*OVERVIEW, "auc") if any(view.estimate("auc") for view in all_views) else OVERVIEW
    return table(
        "advice_accuracy_sets",
        say(f"{ID}.table_sets"),
        all_views,
        [
            (f"{ID}.column.set", "label"),
            (f"{ID}.column.n", _n_of, "count"),
            *((f"{ID}.heading.{name}", partial(_value, name=name), "number.3") for name in names),
        ],
    )


def _n_of(view: ResultView) -> int | None:
    return next((r.estimate.n for r in view.results if r.place == view.place), None)


def _not_plotted(n: int) -> Iterator[Message]:
    if n:
        yield say("undrawn", n=n)


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
            yield say(f"{ID}.undecided_sets", n=n, sets=len(of_sets), counted=Message(key))
            remarks = [remark for remark in remarks if remark not in of_sets]
    noted = {str(remark): remark for remark in remarks}
    ratios: dict[tuple[str, ...], list[float]] = {}
    for said in noted.values():
        if said.key == f"{ID}.clustered":
            ratios.setdefault(tuple(said.values["keys"]), []).append(said.values["ratio"])
        elif said.key != f"{ID}.clustered_only":
            yield said
    for keys, found in ratios.items():
        yield say(f"{ID}.clustered_sets", keys=list(keys), n=len(found), low=min(found), high=max(found))


def _across(all_views: Sequence[ResultView]) -> Iterator[Message]:
    """The range of the main measures over the sets that the model was not made with."""
    all_views = [view for view in all_views if not view.developed_on]
    # Decisions that are all alike have no rule beside them; their 0 and 1 would be the ends of every range.
    some = [view for view in all_views if view.estimate("accuracy", parameters=_rule("all_positive"))]
    pairs = [(_value(view, "sensitivity"), _value(view, "specificity")) for view in some]
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len(both) > 1:
        (low, high), (other_low, other_high) = ((min(rates), max(rates)) for rates in zip(*both))
        ends = {"low": low, "high": high, "other_low": other_low, "other_high": other_high}
        yield say(f"{ID}.across_rates", **ends)
    areas = [area for view in all_views if (area := _value(view, "auc")) is not None]
    if len(areas) > 1:
        yield say(f"{ID}.across_areas", n=len(areas), low=min(areas), high=max(areas))


def _rules_of_sets(all_views: Sequence[ResultView]) -> Iterator[PlainTable]:
    """Accuracy and F1 of each set beside those of rules that always give the same answer."""
    compared = [view for view in all_views if view.estimate("accuracy", parameters=_rule("all_positive"))]
    if not compared:
        return
    positive, negative = (_rule(scenario) for scenario in SCENARIOS)
    yield table(
        "advice_accuracy_rules",
        say(f"{ID}.table_rules_sets"),
        compared,
        [
            (f"{ID}.column.set", "name"),
            (f"{ID}.column.accuracy", lambda v: _value(v, "accuracy"), "number.3"),
            (
                f"{ID}.column.accuracy_positive",
                lambda v: _value(v, "accuracy", parameters=positive),
                "number.3",
            ),
            (
                f"{ID}.column.accuracy_negative",
                lambda v: _value(v, "accuracy", parameters=negative),
                "number.3",
            ),
            (f"{ID}.column.f1", lambda v: _value(v, "f1"), "number.3"),
            (f"{ID}.column.f1_positive", lambda v: _value(v, "f1", parameters=positive), "number.3"),
        ],
    )


def _rule(scenario: str) -> dict[str, str]:
    return {"scenario": scenario}


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
    unlike = table(
        "advice_accuracy_declared",
        say(f"{ID}.table_declared"),
        off,
        [
            (f"{ID}.column.set", _place_name),
            (f"{ID}.column.measure", "measure"),
            (f"{ID}.column.declared", "printed", "number"),
            (f"{ID}.column.recomputed", "recomputed", "number"),
        ],
    )
    if not off:
        sentence = say(f"{ID}.declared", n=len(found))
    elif len(off) <= NAMED_UP_TO:
        items = [one.item for one in off]
        sentence = say(f"{ID}.declared_off", n=len(found), off=len(off), items=items)
    else:
        sentence = say(f"{ID}.declared_many_off", n=len(found), off=len(off))
    return Part((sentence,), title=say(f"{ID}.title_declared"), tables=(unlike,) if off else ())


def _place_name(one: ClaimCheck) -> str:
    """The set or data set that a declared figure is of."""
    return one.place.set or one.place.dataset or ""


def _value(view: ResultView, name: str, **scope: Any) -> float | None:
    estimate = view.estimate(name, **scope)
    return None if estimate is None or isnan(estimate.value) else estimate.value


def _sentences(view: ResultView) -> Iterator[Message]:
    sensitivity, specificity = view.estimate("sensitivity"), view.estimate("specificity")
    cells = {name: view.estimate(name) for name in CELLS}
    if sensitivity and specificity:
        for name, e, right in (("sensitivity", sensitivity, "tp"), ("specificity", specificity, "tn")):
            count = cells[right]
            if isnan(e.value) or count is None:
                yield say(f"{ID}.undefined", measure=heading(name), reason=e.note)
            else:
                values = {"value": e.value, "low": e.low, "high": e.high, "level": e.level}
                yield say(f"{ID}.{name}", n=e.n, right=count.value, **values)
    area = view.estimate("auc")
    if area:
        if isnan(area.value):
            yield say(f"{ID}.undefined", measure=heading("auc"), reason=area.note)
        elif isnan(area.low):
            yield say(f"{ID}.auc_without_interval", value=area.value, reason=area.note)
        else:
            yield say(f"{ID}.auc", value=area.value, low=area.low, high=area.high, level=area.level)
    yield from view.remarks


def _tables(view: ResultView, number: int) -> Iterator[EstimateTable | PlainTable]:
    rows = [
        EstimateRow(_label(name), found, leads=name in ("sensitivity", "specificity"))
        for name in (*CELLS, *THIRD, *MEASURES, *SCORED)
        if (found := view.lead(name))
    ]
    if rows:
        yield EstimateTable(f"advice_accuracy_{number}", say(f"{ID}.table"), tuple(rows))
    yield from secondary_tables(view, number)
    if view.estimate("accuracy", parameters=_rule("all_positive")):
        yield _rules(view, number)
    shifted = [r for r in view.results if r.primary and _is_shifted(r)]
    if shifted:
        yield _at_prevalences(shifted, number)
    curves = [
        EstimateRow(say(f"{ID}.at_threshold", name=_strategy(r, name), threshold=r.place.threshold), r)
        for name in CURVES
        for r in view.results
        if r.id == f"{ID}.{name}" and r.primary and r.parameters.get("strategy") != "treat_none"
    ]
    if curves:
        yield EstimateTable(f"net_benefit_{number}", say(f"{ID}.table_net_benefit"), tuple(curves))


def _label(name: str) -> Message:
    """What a row is called; one that counts a part of the rows above says so."""
    return say(f"{ID}.of_these", measure=quantity_name(name)) if name in PARTS_OF_CELLS else heading(name)


def _is_shifted(result: Result) -> bool:
    return "prevalence" in result.parameters and "utility" not in result.parameters


def _rules(view: ResultView, number: int) -> PlainTable:
    """The decisions beside rules that always give the same answer."""

    def of(name: str) -> Callable[[str], float | None]:
        return lambda rule: _value(view, name, **({"parameters": _rule(rule)} if rule != "device" else {}))

    return table(
        f"advice_accuracy_rules_{number}",
        say(f"{ID}.table_rules"),
        ("device", *SCENARIOS),
        [
            (f"{ID}.column.rule", lambda rule: say(f"{ID}.rule.{rule}")),
            *((f"{ID}.heading.{name}", of(name), "number.3") for name in SCENARIO_MEASURES),
        ],
    )


def _strategy(result: Result, name: str) -> Message:
    """What a net benefit is of: the scores, or acting on everybody or nobody."""
    strategy = result.parameters.get("strategy")
    return say(f"{ID}.rule.{strategy}") if strategy else heading(name)


def _at_prevalences(shifted: Sequence[Result], number: int) -> PlainTable:
    """A row for each measure, a column for each prevalence; of many shares some, evenly spread."""
    shares = sorted({r.parameters["prevalence"] for r in shifted})
    if len(shares) > MOST_SHARES:
        shares = [shares[round(i * (len(shares) - 1) / (MOST_SHARES - 1))] for i in range(MOST_SHARES)]
    found = {(r.name, r.parameters["prevalence"]): r.estimate for r in shifted}

    def at(share: float) -> Spec[str]:
        head = say(f"{ID}.at_share", prevalence=share)
        return head, lambda name: _with_interval(found.get((name, share)))

    return table(
        f"advice_accuracy_prevalence_{number}",
        say(f"{ID}.table_prevalence", level=shifted[0].estimate.level),
        dict.fromkeys(r.name for r in shifted),
        [(f"{ID}.column.measure", heading), *map(at, shares)],
    )


def _with_interval(e: Estimate | None) -> Message | None:
    """An estimate with its interval, where it has one."""
    if e is None or isnan(e.value):
        return None
    form = "without_interval" if isnan(e.low) or isnan(e.high) else "with_interval"
    return say(f"{ID}.{form}", value=e.value, low=e.low, high=e.high)
