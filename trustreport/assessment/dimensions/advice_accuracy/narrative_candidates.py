"""Candidates side by side: areas, net benefit, what they are worth, who wins where."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.advice_accuracy.contests import METRICS, TWO_SAMPLE, Contest
from trustreport.assessment.dimensions.advice_accuracy.entries import ID
from trustreport.assessment.dimensions.advice_accuracy.utility import TWO, name_of_utility, two_class
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import failed_cases, heading, quantity_name
from trustreport.figures.field import MapPlace as Point
from trustreport.figures.field import RegionChart
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.utility.matrices import point_of, utility_map
from trustreport.study.plan import Plan
from trustreport.vocabulary.digits import Rounded
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result, leading

OF_UTILITY = ("utility_yield", "utility_first")  # results that name their utility
DIFFERENCES = ("auc_difference", "net_benefit_difference", "utility_difference")
# Rounding apart, metrics closer than this are equal.
CLOSE = 1e-12
STEPS = 201
MOST_DRAWN = 6  # regions of a map that can be view apart


def compared_parts(results: Sequence[Result], contests: Sequence[Contest], plan: Plan) -> Iterator[Part]:
    """Candidates compared, then what their decisions are worth under each utility."""
    differences = [r for r in results if r.name in DIFFERENCES]
    if differences:
        # Beside a comparison of the decisions the same areas stand there too, and lead or not among them.
        decided = {r.place.dataset for r in results if r.name == "sensitivity" and r.place.candidate}
        rows = tuple(
            EstimateRow(
                _difference(r),
                r,
                leads=r.primary and not (r.name == "auc_difference" and r.place.dataset in decided),
            )
            for r in differences
        )
        apart = [r for r in differences if r.id == f"{ID}.auc_difference" and r.primary]
        yield Part(
            tuple(_area_differences(apart)),
            title=say(f"{ID}.title_candidates"),
            tables=(_compared(rows, plan),),
        )
    drawn: set[Place] = set()
    for i, contest in enumerate(contests, 1):
        # The map is the same for every utility: each is a place on it.
        yield _contest(contest, results, plan, i, with_map=contest.place not in drawn)
        drawn.add(contest.place)


def _compared(rows: tuple[EstimateRow, ...], plan: Plan) -> EstimateTable:
    unpaired = any(row.result.analysis == TWO_SAMPLE and row.result.primary for row in rows)
    key = "table_candidates_counts" if unpaired else "table_candidates"
    caption = say(f"{ID}.{key}", failed=failed_cases(plan))
    return EstimateTable("candidates_compared", caption, rows)


def _difference(r: Result) -> Message:
    compared, baseline = r.place.candidates or ("", "")
    names = {"compared": compared, "baseline": baseline, "dataset": r.place.data_name}
    if r.name == "auc_difference":
        return say(f"{ID}.difference.auc_{r.analysis}", **names)
    if r.name == "net_benefit_difference":
        key = "net_benefit" if r.primary else "net_benefit_independent"
        return say(f"{ID}.difference.{key}", threshold=r.place.threshold, **names)
    key = "utility" if r.primary else "utility_independent"
    if r.analysis == TWO_SAMPLE:
        key = "utility_two_sample"
    utility = name_of_utility(r.parameters["utility"])
    return say(f"{ID}.difference.{key}", utility=utility, **names)


def _area_differences(differences: Sequence[Result]) -> Iterator[Message]:
    """Which areas differ beyond chance, pair by pair where there are few."""
    for r in differences[:3]:
        compared, baseline = r.place.candidates or ("", "")
        e = r.estimate
        values: dict[str, Any] = {"compared": compared, "baseline": baseline, "value": e.value}
        if isnan(e.value) or isnan(e.low):
            yield say(f"{ID}.pair_undefined", compared=compared, baseline=baseline, reason=e.note)
        else:
            key = "pair_apart" if e.low * e.high > 0 else "pair_close"
            yield say(f"{ID}.{key}", low=e.low, high=e.high, level=e.level, **values)
    if len(differences) > 1:
        yield say(f"{ID}.pairs_unadjusted", n=len(differences))


def _contest(contest: Contest, results: Sequence[Result], plan: Plan, number: int, *, with_map: bool) -> Part:
    title = say(f"{ID}.title_utility", utility=name_of_utility(contest.utility), dataset=contest.name)
    figure = tuple(_map(contest, plan, number)) if with_map and len(contest.candidates) <= MOST_DRAWN else ()
    return Part(
        tuple(_sentences(contest, results)),
        title=title,
        tables=(_ranking(contest, results, number), *_metrics(contest, results, number)),
        figures=figure,
        place=contest.place,
    )


def _sentences(contest: Contest, results: Sequence[Result]) -> Iterator[Message]:
    winner, first = contest.winner, contest.ranking.first
    i = contest.ranking.order[0]
    best = _written(contest, results, "utility_yield", i, contest.ranking.yields[i])
    share = _written(contest, results, "utility_first", i, first[i])
    yield say(f"{ID}.winner", winner=winner, value=best, share=share, n=len(contest.candidates))
    if contest.uncertain:
        yield say(f"{ID}.holds", best=contest.best_holds, order=contest.order_holds)
    others = [name for name in contest.metrics if _prefers(contest, name) not in ("", winner)]
    wrong = [quantity_name(name) for name in others]
    if wrong:
        yield say(f"{ID}.misranked", metrics=wrong, winner=winner, n=len(wrong))
    if len(contest.kept) == 1 and len(contest.candidates) > 1:
        yield say(f"{ID}.dominates", winner=contest.kept[0])
    best_of = _highest(contest, results)
    if best_of:
        yield best_of


def _highest(contest: Contest, results: Sequence[Result]) -> Message | None:
    """The candidate whose ROC curve is touched by the highest line of equal yield."""
    found = {}
    for candidate in contest.candidates:
        where: dict[str, Any] = {**contest.place.scope, "candidate": candidate}
        where["parameters"] = {"utility": contest.utility}
        best = leading(results, f"{ID}.optimal_yield", **where)
        at = leading(results, f"{ID}.optimal_threshold", **where)
        if best is None or at is None:
            return None
        found[candidate] = (best.estimate.value, at.estimate.value)
    winner = max(found, key=lambda name: found[name][0])
    areas = {
        c: a.estimate.value
        for c in contest.candidates
        if (a := leading(results, f"{ID}.auc", **contest.place.scope, candidate=c))
    }
    widest = max(areas, key=lambda name: areas[name]) if len(areas) == len(found) else winner
    key = "highest" if widest == winner else "highest_not_widest"
    value, threshold = found[winner]
    return say(f"{ID}.{key}", winner=winner, value=value, threshold=threshold, widest=widest)


def _prefers(contest: Contest, metric: str) -> str:
    """The candidate that a metric puts first; nothing where several tie or it is undefined."""
    values = contest.metrics[metric]
    if any(isnan(v) for v in values):
        return ""
    best = max(values)
    first = [name for name, v in zip(contest.candidates, values) if v >= best - CLOSE]
    return first[0] if len(first) == 1 else ""


def _written(contest: Contest, results: Sequence[Result], name: str, i: int, value: float) -> float:
    """A number of a candidate with the decimals of its result."""
    where: dict[str, Any] = {**contest.place.scope, "candidate": contest.candidates[i]}
    if name in OF_UTILITY:
        where["parameters"] = {"utility": contest.utility}
    found = leading(results, f"{ID}.{name}", **where)
    return float(value) if found is None else Rounded(found.estimate.value, found.places)


def _ranking(contest: Contest, results: Sequence[Result], number: int) -> PlainTable:
    names, ranking = contest.candidates, contest.ranking

    def written(name: str, i: int, values: Iterable[float]) -> float:
        return _written(contest, results, name, i, list(values)[i])

    return table(
        f"utility_ranking_{number}",
        say(f"{ID}.{_kind(contest)}", n=contest.n),
        enumerate(ranking.order, 1),
        [
            (f"{ID}.column.candidate", lambda row: names[row[1]]),
            (f"{ID}.column.rank", 0, "count"),
            (
                f"{ID}.column.yield_here",
                lambda row: written("utility_yield", row[1], ranking.yields),
                "number.3",
            ),
            (f"{ID}.column.first", lambda row: written("utility_first", row[1], ranking.first), "number.3"),
            (f"{ID}.column.dominated", lambda row: _yes_or_no(names[row[1]] not in contest.kept))
            if contest.kept
            else None,
        ],
    )


def _kind(contest: Contest) -> str:
    """The caption of the ranking: on the same cases, of published tables, or of several classes."""
    if not contest.kept:
        return "table_ranking_classes"
    return "table_ranking" if contest.paired else "table_ranking_counts"


def _yes_or_no(whether: bool) -> Message:
    return say("word.yes") if whether else say("word.no")


def _metrics(contest: Contest, results: Sequence[Result], number: int) -> Iterator[PlainTable]:
    """Common metrics of candidates of two classes: whom each prefers, and whether the yield agrees."""
    if not contest.metrics:
        return
    rows = [(name, _prefers(contest, name)) for name in METRICS]

    def value(i: int) -> Callable[[tuple[str, str]], float]:
        return lambda row: _written(contest, results, row[0], i, contest.metrics[row[0]][i])

    yield table(
        f"utility_metrics_{number}",
        say(f"{ID}.table_metrics"),
        rows,
        [
            (f"{ID}.column.measure", lambda row: heading(row[0])),
            *(
                (say("word.name", name=name), value(i), "number.3")
                for i, name in enumerate(contest.candidates)
            ),
            (f"{ID}.column.prefers", lambda row: row[1] or None),
            (f"{ID}.column.agrees", lambda row: _yes_or_no(row[1] == contest.winner) if row[1] else None),
            (
                f"{ID}.column.linear",
                lambda row: say(f"{ID}.form.{'linear' if MEASURES[row[0]].is_linear else 'never'}"),
            ),
        ],
    )


def _map(contest: Contest, plan: Plan, number: int) -> Iterator[Figure]:
    """The space of utilities, and where each candidate wins."""
    sizes = contest.cells.sum(axis=1)
    if contest.cells.shape[1:] != TWO or (sizes != sizes[0]).any() or not (sizes[0] > 0).all():
        return
    found = utility_map(contest.cells, steps=STEPS)
    names: dict[tuple[float, float], list[str]] = {}
    for u in two_class(plan):
        try:
            x, y = point_of(u.matrix)
        except ValueError:
            continue
        names.setdefault((round(x, 9), round(y, 9)), []).append(u.name)
    downwards = sorted(names.items(), key=lambda item: -item[0][1])  # so that lines to numbers do not cross
    places = [Point(x, y, "; ".join(same)) for (x, y), same in downwards]
    drawn = RegionChart(
        tuple(found.x.tolist()),
        tuple(found.y.tolist()),
        tuple(tuple(row) for row in found.best.tolist()),
        contest.candidates,
        tuple(found.area.tolist()),
        tuple(places),
        say(f"{ID}.axis.space_x"),
        say(f"{ID}.axis.space_y"),
    )
    widest = max(range(len(contest.candidates)), key=lambda i: found.area[i])
    yield Figure(
        f"utility_space_{number}",
        drawn,
        say(f"{ID}.figure.space"),
        say(f"{ID}.figure.space_alt", name=contest.candidates[widest], share=float(found.area[widest])),
    )
