"""Published figures: can they all come from one and the same table of counts?"""

from collections.abc import Iterable, Iterator
from math import nan
from typing import Any

from trustreport.assessment.finding import Part, PlainTable
from trustreport.assessment.infer import (
    Examined,
    cells_in_words,
    examine,
    in_words,
    range_in_words,
    sentences,
)
from trustreport.assessment.narrative.texts import Item, Texts, heading
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.reported.printed import METRICS, OF_ONE_CLASS, PrintedFigure
from trustreport.study.plan import Plan, Reported
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

ID = "reported"
EXACT, BOUNDS = "exact_search", "exact_bounds"

# More sets than this are told in one overview instead of a page each.
EACH_UP_TO = 4

CONTRADICTION = note("figures_contradict_each_other_no_table")
NOT_COUNTED = note("too_many_possible_tables_to_try")
SEVERAL = note("tables_that_fit_differ_range_not")
OUTER = note("outer_bounds_not_confidence_interval_too")
UNDEFINED = note("not_defined_0_0_in_any")

text = Texts(ID)


def examined(reported: Reported) -> Examined:
    """The figures of one set of the manifest, held against every table of counts."""
    return examine(
        reported.metrics,
        positives=reported.positives,
        negatives=reported.negatives,
        total=reported.total,
        rounding=reported.rounding,
    )


def printed(study: Study, plan: Plan) -> tuple[tuple[Part, ...], tuple[Result, ...], list[Message]]:
    """Every set: how many tables of counts fit, the range of each count and measure, what conflicts."""
    sets = [(one.set, examined(one)) for one in study.reported]
    level = plan.report.confidence_level
    if len(sets) <= EACH_UP_TO:
        parts = tuple(_part(name, one, i, alone=len(sets) == 1) for i, (name, one) in enumerate(sets, 1))
    else:
        parts = (text.part(_overview(sets)),)
    results = tuple(r for name, one in sets for r in results_of(name, one, level))
    not_shown = [text(f"rounding.{rounding}") for rounding in _roundings(sets)]
    not_shown += [text(f"not_shown.{what}") for what in ("fit", "averages", "sampling")]
    return parts, results, not_shown


def _roundings(sets: Iterable[tuple[str, Examined]]) -> list[str]:
    return sorted({one.rounding for _, one in sets})


def results_of(name: str, one: Examined, level: float) -> list[Result]:
    """The number of tables, the range of every count and measure, and the smallest conflict."""
    fit, n = one.fit, one.cases.total
    method = BOUNDS if fit.count is None else EXACT
    place = Place(set=name)
    count = nan if fit.count is None else float(fit.count)
    note = NOT_COUNTED if fit.count is None else CONTRADICTION if one.contradictory else NO_NOTE
    tables = Estimate(count, count, count, n, level, method, note)
    found = [Result(f"{ID}.consistent_matrices", place, tables, primary=True)]
    cells = dict(fit.cells)
    if one.cases.positives is None and fit.positives:
        cells["positives"] = fit.positives
    for cell, (low, high) in cells.items():
        note = NO_NOTE if low == high else OUTER if fit.count is None else SEVERAL
        value = float(low) if low == high else nan
        estimate = Estimate(value, float(low), float(high), n, level, method, note)
        found.append(_of_metric(place, cell, estimate))
    if fit.cells:
        own = OF_ONE_CLASS.get(one.cases.only, METRICS)
        found += [_range(metric, place, one, level, method) for metric in METRICS if metric in own]
    if one.contradictory:
        found.append(_conflict(place, one, level, method))
    return found


def _of_metric(place: Place, metric: str, e: Estimate) -> Result:
    chosen = {"metric": metric}
    return Result(f"{ID}.metric_range", place, e, endpoint=metric, parameters=chosen, primary=True)


def _range(metric: str, place: Place, one: Examined, level: float, method: str) -> Result:
    n, found = one.cases.total, one.fit.metrics.get(metric)
    if found is None:
        estimate = Estimate(nan, nan, nan, n, level, method, UNDEFINED)
    else:
        said = NO_NOTE if found.unique else OUTER if one.fit.count is None else SEVERAL
        if found.undefined:
            said += note("not_defined_0_0_in_tables", n=found.undefined)
        value = found.low if found.unique else nan
        estimate = Estimate(value, found.low, found.high, n, level, method, said)
    return _of_metric(place, metric, estimate)


def _conflict(place: Place, one: Examined, level: float, method: str) -> Result:
    """How many figures the smallest conflict holds; which ones stands in the details."""
    size = len(one.conflicts[0]) if one.cases.adds_up and one.conflicts else len(one.given)
    details = {
        "figures": _printed(one.conflicts[0]) if one.cases.adds_up and one.conflicts else dict(one.given),
        "others": [_printed(subset) for subset in one.conflicts[1:]],
        "without_any_one_of": _printed(one.culprits),
    }
    estimate = Estimate(size, size, size, one.cases.total, level, method)
    return Result(f"{ID}.conflict", place, estimate, primary=True, details=details)


def _printed(figures: Iterable[PrintedFigure]) -> list[list[str]]:
    return [[figure.metric, figure.text] for figure in figures]


def _part(name: str, one: Examined, number: int, *, alone: bool) -> Part:
    tables = (_table(one, number),) if one.fit.cells else ()
    title = None if alone else say("word.name", name=name)
    return text.part((*sentences(one), *tables), title, Place(set=name))


def _table(one: Examined, number: int) -> PlainTable:
    """The range of every count and measure, beside what was printed of it."""
    fit = one.fit
    texts: dict[str, str] = {}
    for figure in one.figures:
        texts[figure.metric] = ", ".join(filter(None, (texts.get(figure.metric), figure.text.strip())))
    some = any(found.undefined for found in fit.metrics.values())
    rows: list[tuple[Any, ...]] = []
    for cell, ends in fit.cells.items():
        low, high = (text("count", value=end) for end in ends)
        rows.append((heading(cell), texts.get(cell), low, high, 0 if some else None))
    for metric, found in fit.metrics.items():
        low, high = (text("number", value=end) for end in (found.low, found.high))
        undefined = found.undefined if some else None
        rows.append((heading(metric), texts.get(metric), low, high, undefined))
    return text.table(
        f"reported_{number}",
        text("table_bounds") if fit.count is None else text("table", n=fit.count),
        ".quantity .printed:number .low:number .high:number .undefined:count?",
        rows,
    )


def _overview(sets: list[tuple[str, Examined]]) -> Iterator[Item]:
    """Many sets: how many fit, and a row each."""
    counts = [one.fit.count for _, one in sets]
    conflict, untried = counts.count(0), counts.count(None)
    yield text("overview", n=conflict, all=len(sets), fit=len(sets) - conflict - untried)
    if untried:
        yield text("overview_untried", n=untried)
    yield text.table(
        "reported_sets",
        text("table_sets"),
        "set .printed .tables:count .follows",
        [(name, _listed(one), one.fit.count, _follows(one)) for name, one in sets],
    )


def _listed(one: Examined) -> Message:
    return text("listed", items=[in_words(figure) for figure in one.figures])


def _follows(one: Examined) -> Message | None:
    """The most telling consequence in a few words: the table, the conflict, or the range of MCC."""
    if not one.cases.adds_up:
        return next(iter(sentences(one)))
    if one.contradictory:
        items = [in_words(figure) for figure in (one.conflicts[0] if one.conflicts else one.figures)]
        return text("not_alone" if len(items) == 1 else "conflicting", items=items)
    if one.fit.count == 1:
        return cells_in_words(one.fit)
    return range_in_words("mcc", one.fit) if "mcc" in one.fit.metrics else None
