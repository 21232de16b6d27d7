"""Candidates side by side: areas, net benefit, what they are worth, who wins where."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.advice_accuracy.contests import METRICS, TWO_SAMPLE, Contest
from trustreport.assessment.dimensions.advice_accuracy.results import ID
from trustreport.assessment.dimensions.advice_accuracy.utility import TWO, name_of_utility, two_class
from trustreport.assessment.finding import Column, Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, failed_cases, heading, quantity_name
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
MOST_DRAWN = 6  # regions of a map that the eye can tell apart

text = Texts(ID)


def compared_parts(results: Sequence[Result], contests: Sequence[Contest], plan: Plan) -> Iterator[Part]:
    """Candidates compared, then what their decisions are worth under each utility."""
    differences = [r for r in results if r.name in DIFFERENCES]
    if differences:
        yield text.part(_compared(differences, results, plan), text("title_candidates"))
    drawn: set[Place] = set()
    for i, contest in enumerate(contests, 1):
        # The map is the same for every utility: each is a place on it.
        with_map = contest.place not in drawn and len(contest.candidates) <= MOST_DRAWN
        title = text("title_utility", utility=contest.utility, dataset=contest.name)
        yield text.part(_contest(contest, results, plan, i, with_map=with_map), title, contest.place)
        drawn.add(contest.place)


def _compared(differences: Sequence[Result], results: Sequence[Result], plan: Plan) -> Iterator[Item]:
    # Beside a comparison of the decisions the same areas stand there too, and lead or not among them.
    decided = {r.place.dataset for r in results if r.name == "sensitivity" and r.place.candidate}
    yield from _area_differences([r for r in differences if r.id == f"{ID}.auc_difference" and r.primary])
    unpaired = any(r.analysis == TWO_SAMPLE and r.primary for r in differences)
    yield text.estimates(
        "candidates_compared",
        text("table_candidates_counts" if unpaired else "table_candidates", failed=failed_cases(plan)),
        differences,
        _difference,
        lambda r: r.primary and not (r.name == "auc_difference" and r.place.dataset in decided),
    )


def _difference(r: Result) -> Message:
    compared, baseline = r.place.candidates or ("", "")
    names = {"compared": compared, "baseline": baseline, "dataset": r.place.data_name}
    if r.name == "auc_difference":
        return text(f"difference.auc_{r.analysis}", **names)
    if r.name == "net_benefit_difference":
        key = "net_benefit" if r.primary else "net_benefit_independent"
        return text(f"difference.{key}", threshold=r.place.threshold, **names)
    key = "utility" if r.primary else "utility_independent"
    if r.analysis == TWO_SAMPLE:
        key = "utility_two_sample"
    utility = name_of_utility(r.parameters["utility"])
    return text(f"difference.{key}", utility=utility, **names)


def _area_differences(differences: Sequence[Result]) -> Iterator[Message]:
    """Which areas differ beyond chance, pair by pair where there are few."""
    for r in differences[:3]:
        compared, baseline = r.place.candidates or ("", "")
        e = r.estimate
        if isnan(e.value) or isnan(e.low):
            yield text("pair_undefined", compared=compared, baseline=baseline, reason=e.note)
        else:
            key = "pair_apart" if e.low * e.high > 0 else "pair_close"
            yield text(key, e, compared=compared, baseline=baseline)
    if len(differences) > 1:
        yield text("pairs_unadjusted", n=len(differences))


def _contest(
    contest: Contest, results: Sequence[Result], plan: Plan, number: int, *, with_map: bool
) -> Iterator[Item]:
    yield from _sentences(contest, results)
    yield _ranking(contest, results, number)
    if contest.metrics:
        yield _metrics(contest, results, number)
    if with_map:
        yield from _map(contest, plan, number)


def _sentences(contest: Contest, results: Sequence[Result]) -> Iterator[Message]:
    winner, first = contest.winner, contest.ranking.first
    i = contest.ranking.order[0]
    best = _written(contest, results, "utility_yield", i, contest.ranking.yields[i])
    share = _written(contest, results, "utility_first", i, first[i])
    yield text("winner", winner=winner, value=best, share=share, n=len(contest.candidates))
    if contest.uncertain:
        yield text("holds", best=contest.best_holds, order=contest.order_holds)
    others = [name for name in contest.metrics if _prefers(contest, name) not in ("", winner)]
    wrong = [quantity_name(name) for name in others]
    if wrong:
        yield text("misranked", metrics=wrong, winner=winner, n=len(wrong))
    if len(contest.kept) == 1 and len(contest.candidates) > 1:
        yield text("dominates", winner=contest.kept[0])
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
    return text(key, winner=winner, value=value, threshold=threshold, widest=widest)


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
    columns = {"utility_yield": list(ranking.yields), "utility_first": list(ranking.first)}
    return text.table(
        f"utility_ranking_{number}",
        text(_kind(contest), n=contest.n),
        "candidate .rank:count .yield_here:number.3 .first:number.3 .dominated?",
        [
            (
                names[i],
                rank,
                *(_written(contest, results, name, i, values[i]) for name, values in columns.items()),
                names[i] not in contest.kept if contest.kept else None,
            )
            for rank, i in enumerate(ranking.order, 1)
        ],
    )


def _kind(contest: Contest) -> str:
    """The caption of the ranking: on the same cases, of published tables, or of several classes."""
    if not contest.kept:
        return "table_ranking_classes"
    return "table_ranking" if contest.paired else "table_ranking_counts"


def _metrics(contest: Contest, results: Sequence[Result], number: int) -> PlainTable:
    """Common metrics of candidates of two classes: whom each prefers, and whether the yield agrees."""

    def row(name: str) -> Iterator[Any]:
        """A metric: its value for each candidate, whom it prefers, and whether the yield agrees."""
        prefers = _prefers(contest, name)
        yield heading(name)
        yield from (_written(contest, results, name, i, x) for i, x in enumerate(contest.metrics[name]))
        yield prefers or None
        yield prefers == contest.winner if prefers else None
        yield text("form.linear" if MEASURES[name].is_linear else "form.never")

    return text.table(
        f"utility_metrics_{number}",
        text("table_metrics"),
        (
            "measure",
            *(Column(say("word.name", name=name), "number.3") for name in contest.candidates),
            ".prefers .agrees .linear",
        ),
        map(row, METRICS),
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
        text("axis.space_x"),
        text("axis.space_y"),
    )
    widest = max(range(len(contest.candidates)), key=lambda i: found.area[i])
    of: dict[str, Any] = {"name": contest.candidates[widest], "share": float(found.area[widest])}
    yield text.figure(f"utility_space_{number}", drawn, "space", **of)
