"""Published figures: how many tables of counts they can come from, the ranges, and what conflicts."""

from collections.abc import Iterable
from math import nan

from trustreport.assessment.infer import (
    Examined,
    examine,
)
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.reported.printed import METRICS, OF_ONE_CLASS, PrintedFigure
from trustreport.study.plan import Reported
from trustreport.study.study import Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

ID = "reported"
EXACT, BOUNDS = "exact_search", "exact_bounds"
CONTRADICTION = note("figures_contradict_each_other_no_table")
NOT_COUNTED = note("too_many_possible_tables_to_try")
SEVERAL = note("tables_that_fit_differ_range_not")
OUTER = note("outer_bounds_not_confidence_interval_too")
UNDEFINED = note("not_defined_0_0_in_any")


def examined(reported: Reported) -> Examined:
    """The figures of one set of the manifest, compared with every table of counts."""
    return examine(
        reported.metrics,
        positives=reported.positives,
        negatives=reported.negatives,
        total=reported.total,
        rounding=reported.rounding,
    )


def examined_sets(study: Study) -> list[tuple[str, Examined]]:
    """Every set whose figures were printed."""
    return [(one.set, examined(one)) for one in study.reported]


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
