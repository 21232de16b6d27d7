"""The actual accuracy behind a measured one: of stated pairs, and of advice on cases that raters labelled."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

from trustreport.assessment.dimensions.source_reliability.results import NAME, Panel
from trustreport.assessment.finding import Figure, Part, PlainTable
from trustreport.assessment.narrative.advice import advised
from trustreport.assessment.narrative.texts import Item, Texts
from trustreport.assessment.performance.measures import lead
from trustreport.figures.reliability import (
    CONCORDANCES,
    NAMED_UP_TO,
    NomogramFigure,
    NomogramLine,
    NomogramPoint,
)
from trustreport.measures.estimate import Estimate
from trustreport.measures.label_accuracy import (
    NO_SAMPLING_ERROR,
    NOMOGRAM,
    ActualAccuracy,
    actual_accuracy,
    least_reliability,
    nomogram_accuracy,
)
from trustreport.study.plan import Nomogram, Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import Result, estimate_of, results_for

# Sets that have a sentence each; more of them share one.
EACH_UP_TO = 4
NARROW = 0.01  # bounds of the actual accuracy that are nearer than this are one number
# Accuracies that one may want to show, and for how many measured ones the table says what that takes.
WANTED, MOST_MEASURED = (0.7, 0.8, 0.85, 0.9, 0.95), 5
# Round measured accuracies that the nomogram has lines for, how many lines it has at most, and how far a
# round one must be from that of a study.
ROUND, MOST_LINES, APART = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0), 12, 0.02

text = Texts(NAME)


@dataclass(frozen=True, slots=True)
class MeasuredAccuracy:
    """A measured accuracy, and what is behind it for each way to know how many labels are right.

    `labels` and `actual` are in one order, the primary way first; `concordance` is rho.
    """

    name: Message | str
    measured: Estimate
    concordance: float
    labels: tuple[Estimate, ...]
    actual: tuple[ActualAccuracy, ...]
    results: tuple[Result, ...]


def of_stated(sets: Iterable[Nomogram], level: float) -> Iterator[MeasuredAccuracy]:
    """Label accuracy, actual accuracy and its bounds for each stated pair."""
    for stated in sets:
        rho = Estimate(stated.weighted_concordance, nan, nan, 0, level, note=NO_SAMPLING_ERROR)
        label, place = nomogram_accuracy(rho), Place(set=stated.set)
        of_label = results_for(f"{NAME}.label_accuracy", place, [label], leads=label.method)
        measured = Estimate(stated.accuracy, nan, nan, 0, level)
        yield _accuracies(stated.set, place, measured, rho.value, [label], of_label)


def of_advice(
    panel: Panel, results: Sequence[Result], study: Study, plan: Plan
) -> Iterator[MeasuredAccuracy]:
    """Every set of advice on cases that these raters labelled, all of them; two classes only."""
    labels = [r for r in results if r.name == "label_accuracy" and not isnan(r.estimate.value)]
    if panel.n_categories != 2 or not labels:
        return
    ways = [r.estimate for r in sorted(labels, key=lambda r: not r.primary)]
    rho = next(r.estimate.value for r in results if r.name == "weighted_concordance")
    for name, case in advised(study, plan):
        names = case.dataset.cases.labels
        labelled = not names.counted and set(names) <= panel.rated_cases
        if labelled and case.decision is not None and len(case):
            measured = lead(case, "accuracy", panel.level)
            yield _accuracies(name, case.place.narrowed(panel=panel.place.panel), measured, rho, ways, [])


def _accuracies(
    name: Message | str,
    place: Place,
    measured: Estimate,
    concordance: float,
    labels: Sequence[Estimate],
    results: list[Result],
) -> MeasuredAccuracy:
    labels = [estimate_of(label, quantity("label_accuracy")) for label in labels]
    actual = [_written(actual_accuracy(measured, label, level=measured.level)) for label in labels]
    for id, estimates in (
        ("actual_accuracy", [a.value for a in actual]),
        ("actual_accuracy_low_bound", [a.low_bound for a in actual]),
        ("actual_accuracy_high_bound", [a.high_bound for a in actual]),
    ):
        results = results + results_for(f"{NAME}.{id}", place, estimates, leads=labels[0].method)
    return MeasuredAccuracy(name, measured, concordance, tuple(labels), tuple(actual), tuple(results))


def _written(actual: ActualAccuracy) -> ActualAccuracy:
    """With the decimals that its results are written with."""
    row = quantity("actual_accuracy")
    value, low, high = (estimate_of(e, row) for e in (actual.value, actual.low_bound, actual.high_bound))
    return replace(actual, value=value, low_bound=low, high_bound=high)


def sets_part(sets: Sequence[MeasuredAccuracy], *, alone: bool) -> Part:
    """All stated sets together: a sentence each or one for all, one table, one nomogram."""
    return text.part(_of_sets(sets), None if alone else text("stated"))


def _of_sets(sets: Sequence[MeasuredAccuracy]) -> Iterator[Item]:
    if len(sets) <= EACH_UP_TO:
        for one in sets:
            actual, more = one.actual[0], {"concordance": one.concordance, "label": one.labels[0]}
            bounds = {"low": actual.low_bound, "high": actual.high_bound}
            yield text("set", set=one.name, measured=one.measured, value=actual.value, **more, **bounds)
    else:
        values = [one.actual[0].value.value for one in sets]
        labels = [one.labels[0].value for one in sets]
        of_labels = {"label_low": min(labels), "label_high": max(labels)}
        yield text("sets", n=len(sets), low=min(values), high=max(values), **of_labels)
    yield text("assumption", n=len(sets))
    yield from tables(sets, "sets")
    points = tuple(_points(sets))
    caption = text("figure.nomogram_named" if len(points) <= NAMED_UP_TO else "figure.nomogram_sets")
    yield text.figure("nomogram_sets", _nomogram(points), "nomogram_sets", caption, n=len(points))


def sentences_of_advice(advice: Sequence[MeasuredAccuracy]) -> Iterator[Message]:
    """What a measured accuracy means where the labels are right as often as the primary way has it."""
    for one in advice[:EACH_UP_TO]:
        actual = one.actual[0]
        least, most = actual.low_bound, actual.high_bound
        key = "advice" if most.value - least.value >= NARROW else "advice_narrow"
        yield text(key, set=one.name, measured=one.measured, value=actual.value, least=least, most=most)


def tables(sets: Sequence[MeasuredAccuracy], name: str) -> Iterator[PlainTable]:
    """What each measured accuracy means, by each way to know the labels; what wanted ones would take."""
    if not sets:
        return
    several = len(sets) > 1
    yield text.table(
        f"source_reliability_behind_{name}",
        text("table_sets"),
        ".set? .measured:percent weighted_concordance .by .label:percent .actual:percent .low:percent"
        " .high:percent",
        [
            (
                one.name if several else None,
                one.measured.value,
                one.concordance,
                text(f"by.{label.method}"),
                label.value,
                *(e.value for e in (actual.value, actual.low_bound, actual.high_bound)),
            )
            for one in sets
            for label, actual in zip(one.labels, one.actual)
        ],
    )
    shown = [one for one in sets if one.measured.value > 0.5]
    if shown and len(sets) <= MOST_MEASURED:
        yield text.table(
            f"source_reliability_least_{name}",
            text("table_least"),
            [
                ".set? .measured:percent",
                *(text.column("wanted", "number", wanted=wanted) for wanted in WANTED),
            ],
            [
                (one.name if several else None, one.measured.value, *_concordances_for(one.measured.value))
                for one in shown
            ],
        )


def _concordances_for(measured: float) -> Iterator[float]:
    """The weighted concordance that each accuracy wanted would take."""
    return (least_reliability(measured, wanted).weighted_concordance.value for wanted in WANTED)


def nomogram_of_raters(
    results: Sequence[Result], rho: Estimate, advice: Sequence[MeasuredAccuracy], number: int
) -> Figure:
    """The nomogram with the reliability of these raters marked; it is one of two classes."""
    label = next(r.estimate for r in results if r.name == "label_accuracy" and r.method == NOMOGRAM)
    points = tuple(_points(advice))
    caption = text("figure.nomogram_bounds" if 0 < len(points) <= NAMED_UP_TO else "figure.nomogram")
    drawing = replace(_nomogram(points), concordance=rho, label=label)
    return text.figure(
        f"nomogram_{number}", drawing, "nomogram", caption, concordance=rho.value, label=label.value
    )


def _points(sets: Sequence[MeasuredAccuracy]) -> Iterator[NomogramPoint]:
    """Measured accuracies on the nomogram: by the labels that it takes for right."""
    for one in sets:
        for label, actual in zip(one.labels, one.actual):
            if label.method == NOMOGRAM:
                yield NomogramPoint(
                    one.name,
                    one.concordance,
                    label.value,
                    one.measured.value,
                    actual.value.value,
                    actual.low_bound.value,
                    actual.high_bound.value,
                    None if isnan(actual.value.low) else (actual.value.low, actual.value.high),
                )


def _nomogram(points: tuple[NomogramPoint, ...]) -> NomogramFigure:
    """The points on lines of the measured accuracies, and of round ones away from them.

    A line says what its accuracy means on labels that are right half of the time to always.
    """
    own = {point.measured for point in points}
    measured: Iterable[float] = ROUND
    if len(own) <= MOST_LINES - len(ROUND):
        measured = sorted({*own, *(x for x in ROUND if all(abs(x - y) >= APART for y in own))})
    lines = (
        NomogramLine(x, tuple((a, actual_accuracy(x, a).value.value) for a in (0.5, 0.75, 1.0)))
        for x in measured
    )
    ticks = ((c, nomogram_accuracy(Estimate(c, nan, nan, 0)).value) for c in CONCORDANCES)
    return NomogramFigure(tuple(lines), tuple(ticks), points)
