"""H-accuracy: the accuracies beside each other, candidates compared, and figures over each parameter."""

from collections.abc import Iterator, Sequence
from math import inf, isnan, nan
from typing import Any

from trustreport.assessment.dimensions.advice_accuracy.h_accuracy import HALF, KINDS, THIRD, ComparedPair
from trustreport.assessment.dimensions.advice_accuracy.h_choices import Weighed, kind_of
from trustreport.assessment.dimensions.advice_accuracy.h_figures import (
    figures_of_choices,
    figures_of_raters,
    least_accuracy,
)
from trustreport.assessment.dimensions.advice_accuracy.results import ID
from trustreport.assessment.finding import Column, Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts
from trustreport.figures.effect import ErrorRateRow, ErrorRates
from trustreport.figures.panels import MOST_PANELS
from trustreport.study.plan import HAccuracy, Plan
from trustreport.vocabulary.digits import as_declared
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

MOST_ROWS = 20  # of one chart, each with what was chosen below it
MOST_SAID = 2  # sets, and pairs, with a sentence of their own
MOST_CLASSES = 5  # with a column each
NEAR = 0.02  # a part of the cases that is asked for and one that is found, where equal ones go together
SYMBOLS = {
    "confident": "Ha(tau)",
    "prioritized": "Ha(p)",
    "practical": "Ha(d)",
    "combined": "Ha(tau,\N{NO-BREAK SPACE}p,\N{NO-BREAK SPACE}d)",
}
ALONE_SYMBOL = "Ha(d0)"  # the other cases do not count
# Several classes have the mean sensitivity for balanced accuracy.
ANCHORS = {"accuracy": ("accuracy", "class_accuracy"), "balanced": ("balanced_accuracy", "macro_sensitivity")}

text = Texts(ID)


def h_parts(
    weighed: Sequence[Weighed], pairs: Sequence[ComparedPair], results: Sequence[Result], plan: Plan
) -> Iterator[Part]:
    """One part for all data sets that have an H-accuracy."""
    some = [one for one in weighed if one.shown]
    if not some:
        return
    yield text.part(_items(some, pairs, results, plan), text("title_h"))


def _items(
    some: Sequence[Weighed], pairs: Sequence[ComparedPair], results: Sequence[Result], plan: Plan
) -> Iterator[Item]:
    # The report prints the first sentences only: the sets with the lowest accuracies speak.
    for pair in pairs[:MOST_SAID]:
        yield from _compared(pair)
    first = sorted(some, key=lambda one: min((r.estimate.value for _, r in _known(one)), default=inf))
    yield from (_lowest(one, results) for one in first[:MOST_SAID])
    for one in first[:MOST_SAID]:
        yield from _as_wished(one, results, plan)
    if pairs:
        differences = [(_difference(choice, r), r) for pair in pairs for choice, r in pair.shown]
        yield text.labelled("h_accuracy_differences", text("table_h_differences"), differences)
    yield from (_table(one, i) for i, one in enumerate(some[:MOST_PANELS], 1))
    alone = len(list(_together(some))) == 1
    yield from _charts(some if alone else first, results, plan)
    binary = [one for one in some if one.binary][:MOST_PANELS]
    if binary:
        yield from figures_of_choices(binary, plan)
    yield from figures_of_raters(some[:MOST_PANELS], results, plan)


def _anchor(one: Weighed, name: str, results: Sequence[Result]) -> Result | None:
    """The accuracy of the same candidate, regular or balanced, as the report has it elsewhere."""
    where = {"dataset": one.place.dataset, "candidate": one.place.candidate, "parameters": None}
    found = (leading(results, f"{ID}.{quantity}", **where) for quantity in ANCHORS[name])
    return next((r for r in found if r is not None), None)


def _known(one: Weighed) -> list[tuple[HAccuracy, Result]]:
    """The accuracies that could be computed, the lowest first."""
    known = [(choice, r) for choice, r in one.shown if not isnan(r.estimate.value)]
    return sorted(known, key=lambda pair: pair[1].estimate.value)


def _lowest(one: Weighed, results: Sequence[Result]) -> Message:
    """The accuracy, and the lowest of those that weigh more than right and wrong."""
    known = _known(one)
    if not known:
        return text("h_undefined", name=one.name, reason=one.shown[0][1].estimate.note)
    choice, lowest = known[0]
    e, accuracy = lowest.estimate, _anchor(one, "accuracy", results)
    key = "h_value" if accuracy is None or isnan(accuracy.estimate.value) else "h_beside"
    if isnan(e.low):
        key = "h_without_interval"
    beside = nan if accuracy is None else accuracy.estimate.value
    of = {"name": one.name, "kind": text(f"kind.{kind_of(choice)}"), "accuracy": beside}
    return text(key, e, chosen=_choice(choice, lowest), **of)


def _as_wished(one: Weighed, results: Sequence[Result], plan: Plan) -> Iterator[Message]:
    """Whether users would accept the accuracy, or the lowest H-accuracy where there is no regular one."""
    least, known = plan.utility.minimum_accuracy, _known(one)
    accuracy = _anchor(one, "accuracy", results)
    if least is None or (accuracy is None and not known):
        return
    asked = known[0][1].estimate if accuracy is None else accuracy.estimate
    if not isnan(asked.low):
        of = text(f"kind.{kind_of(known[0][0]) if accuracy is None else 'accuracy'}")
        side = "above" if asked.low > least else "below" if asked.high < least else "around"
        yield text(f"h_asked_{side}", name=one.name, of=of, least=as_declared(least))


def _label(choice: HAccuracy) -> Message:
    """The name of an accuracy with the symbol that the source has for it."""
    kind = kind_of(choice)
    name = say("word.heading", text=text(f"kind.{kind}"))
    if kind not in SYMBOLS:
        return name
    wanted = choice.complexity_from
    alone = kind == "practical" and wanted is not None and _is_cut(wanted) and wanted.rest == 0
    return text("kind_symbol", kind=name, symbol=ALONE_SYMBOL if alone else SYMBOLS[kind])


def _is_cut(wanted: Any) -> bool:
    return wanted.top is not None or wanted.above is not None


def _choice(choice: HAccuracy, result: Result, *, brief: bool = False) -> Message:
    """What was chosen, in words; `brief` without where it is from."""
    chosen, parts = result.parameters, []
    if choice.tau is not None and chosen["tau"] is not None:
        key = f"from_{chosen['tau_from']}" if "tau_from" in chosen and not brief else "given"
        parts.append(text(f"tau.{key}", tau=chosen["tau"], share=chosen.get("tau_share", nan)))
    if choice.priority is not None and chosen["priority"] is not None:
        key = f"from_{chosen['priority_from']}" if "priority_from" in chosen and not brief else "given"
        priority = [text("share", value=p) for p in chosen["priority"]]
        at = result.details.get("risk_threshold", nan)
        parts.append(text(f"priority.{key}", priority=priority, threshold=at))
    if choice.complexity or choice.complexity_from is not None:
        parts.append(_complexity(choice, result, brief=brief))
    return text("chosen", parts=parts) if parts else text("complexity.none")


def _complexity(choice: HAccuracy, result: Result, *, brief: bool) -> Message:
    wanted = choice.complexity_from
    if wanted is None:
        if not result.parameters["complexity"]:
            return text("complexity.none")
        return text("weight.by", of=text("complexity.column"))
    sources = [text(f"complexity.{source}") for source in wanted.source]
    of = sources[0] if len(sources) == 1 else text("complexity.several", sources=sources)
    if wanted.proficiency:
        of = text("complexity.proficiency", of=of)
    if _is_cut(wanted):
        which = _which(wanted.top, wanted.above, result.details.get("most_complex"))
        rest = text("weight.rest", weight=wanted.rest)
        if wanted.rest in (0, 0.5):
            rest = text(f"weight.{'none' if wanted.rest == 0 else 'half'}")
        of = text(f"weight.{'cut_brief' if brief else 'cut'}", of=of, which=which, rest=rest)
    else:
        of = text("weight.by", of=of)
    if wanted.relevance_weight is not None:
        of = text("complexity.relevance", of=of, share=wanted.relevance_weight)
    return of


def _which(top: float | None, above: float | None, found: float | None) -> Message:
    """Which cases are the complex ones; how many they are where that is not what was asked for."""
    if top is None:
        return text("weight.above", threshold=above)
    key = "third" if abs(top - THIRD) < 0.005 else "most_half" if top == HALF else "share"
    which = text(f"weight.{key}", share=top)
    if found is None or abs(found - top) <= NEAR:
        return which
    return text("weight.found", which=which, share=found)


def _charts(some: Sequence[Weighed], results: Sequence[Result], plan: Plan) -> Iterator[Figure]:
    """Accuracy, balanced accuracy and every H-accuracy, of as many sets as one chart has room for."""
    for number, few in enumerate(_together(some), 1):
        rows: list[ErrorRateRow] = []
        noted: set[str] = set()
        for one in few:
            rows += _rows(one, results, noted, grouped=len(some) > 1)
        axes = (text("axis.accuracy"), text("axis.accuracy_of"))
        drawing = ErrorRates(tuple(rows), *axes, **least_accuracy(plan))
        names = [one.name for one in few]
        shown = {kind_of(choice) for one in few for choice, _ in one.shown}
        kinds = [text(f"gloss.{kind}") for kind in KINDS if kind in shown]
        caption = text("figure.h_chart", kinds=kinds, answers=_answers(few))
        counts = {"n": len(names), "rows": len(rows)}
        yield text.figure(f"h_accuracy_chart_{number}", drawing, "h_chart", caption, names=names, **counts)


def _together(some: Sequence[Weighed]) -> Iterator[list[Weighed]]:
    """The sets of each chart."""
    few: list[Weighed] = []
    for one in some:
        if few and sum(len(each.shown) + len(ANCHORS) for each in [*few, one]) > MOST_ROWS:
            yield few
            few = []
        few.append(one)
    yield few


def _answers(few: Sequence[Weighed]) -> Message:
    """Which answers the accuracies are of: the device's threshold, its decisions, or the highest score."""
    found = {(one.called is not None, one.threshold if one.called is not None else None) for one in few}
    if len(found) > 1:
        return text("answers.own")
    ((called, threshold),) = found
    if not called:
        return text("answers.highest")
    if threshold is None:
        return text("answers.recorded")
    return text("answers.threshold", threshold=as_declared(threshold, 1))


def _rows(
    one: Weighed, results: Sequence[Result], noted: set[str], *, grouped: bool
) -> Iterator[ErrorRateRow]:
    """The rows of one set; what was chosen is said where it was not said of a set before (`noted`)."""
    group = one.name if grouped else ""
    for name in ANCHORS:
        found = _anchor(one, name, results)
        if found is not None:
            label = say("word.heading", text=text(f"kind.{name}"))
            yield ErrorRateRow(label, found.estimate, True, name == "accuracy", group)
    for choice, r in one.shown:
        combined = kind_of(choice) == "combined"
        note = _choice(choice, r, brief=combined)
        new = str(note) not in noted
        noted.add(str(note))
        yield ErrorRateRow(_label(choice), r.estimate, True, combined, group, note if new else "")


def _table(one: Weighed, number: int) -> PlainTable:
    """Every H-accuracy of a candidate, in all and by class; those at the usual tau stand below the chosen."""
    of = {id(r): choice for choice, r in one.shown}
    names = one.dataset.cases.classes if one.n_classes <= MOST_CLASSES else ()
    heads = (
        text(f"column.class_{k}") if one.n_classes == 2 else say("word.name", name=name)
        for k, name in enumerate(names)
    )

    def row(r: Result) -> Iterator[Any]:
        """An H-accuracy: its name, what was chosen, value, interval, and its part of each class."""
        choice, e = of.get(id(r)), r.estimate
        yield text("kind_usual") if choice is None else _label(choice)
        yield text("tau.given", tau=r.parameters["tau"]) if choice is None else _choice(choice, r)
        yield from (e.value, e.low, e.high)
        yield from (e.details.get(f"class_{k}") for k in range(len(names)))

    return text.table(
        f"h_accuracy_{number}",
        text("table_h", name=one.name),
        (
            "accuracy:text .chosen .value:number.3 .low:number.3 .high:number.3",
            *(Column(head, "number.3") for head in heads),
        ),
        map(row, one.results),
    )


def _difference(choice: HAccuracy, r: Result) -> Message:
    compared, baseline = r.place.candidates or ("", "")
    pair = {"compared": compared, "baseline": baseline, "dataset": r.place.dataset}
    chosen = _choice(choice, r, brief=True)
    return text("difference.h_accuracy", kind=_label(choice), chosen=chosen, **pair)


def _compared(pair: ComparedPair) -> Iterator[Message]:
    """The largest difference between two candidates, and whether its interval excludes zero."""
    compared, baseline = pair.place.candidates or ("", "")
    known = [(choice, r) for choice, r in pair.shown if not isnan(r.estimate.low)]
    if not known:
        return
    apart = [(choice, r) for choice, r in known if r.estimate.low > 0 or r.estimate.high < 0]
    choice, r = max(apart or known, key=lambda found: abs(found[1].estimate.value))
    of = {"compared": compared, "baseline": baseline, "kind": text(f"kind.{kind_of(choice)}")}
    chosen = _choice(choice, r, brief=True)
    yield text("h_pair_apart" if apart else "h_pair_close", r, chosen=chosen, **of)
