"""Preferences of readers between outputs: shares of pairs, the effect of the order, strengths of several."""

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.measurement.results import READERS
from trustreport.assessment.finding import Part
from trustreport.assessment.narrative.texts import Item, Texts, quantity_name, side_of
from trustreport.assessment.performance.keys import case_key
from trustreport.measures.measured.preference import over_readers_and_cases, strengths
from trustreport.study.clusters import clustering
from trustreport.study.plan import Plan
from trustreport.study.study import Preferences
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

text = Texts("measurement.preferences")
SHARE = (0.0, 1.0)


def results_of(one: Preferences, plan: Plan) -> Iterator[Result]:
    """Of each pair how often the one is preferred, how often what was shown first, and strengths."""
    order = [c.candidate for c in plan.candidates]
    by_plan = sorted(
        range(len(one.outputs)),
        key=lambda i: order.index(one.outputs[i]) if one.outputs[i] in order else len(order) + i,
    )
    place = Place(task=one.task)
    for i, j in combinations(by_plan, 2):
        of = ((one.first == i) & (one.second == j)) | ((one.first == j) & (one.second == i))
        if of.any():
            won = np.where(one.first == i, one.share, 1 - one.share)
            pair = place.narrowed(candidates=(one.outputs[i], one.outputs[j]))
            yield _entry(one, "preference_share", pair, of, _mean(won[of]), plan)
    every = np.ones(len(one.share), bool)
    yield _entry(one, "first_shown_share", place, every, _mean(one.share), plan)
    k = len(one.outputs)
    for i in by_plan if k > 2 else ():

        def strength(mask: NDArray[np.bool_], i: int = i) -> float:
            """The strength of output `i` among these choices."""
            return float(strengths(one.first[mask], one.second[mask], one.share[mask], k)[i])

        at = place.narrowed(candidate=one.outputs[i])
        yield _entry(one, "preference_strength", at, every, strength, plan, shares=False)


def _mean(won: NDArray[np.float64]) -> Callable[[NDArray[np.bool_]], float]:
    return lambda mask: float(won[mask].mean()) if mask.any() else float("nan")


def _entry(
    one: Preferences,
    quantity: str,
    place: Place,
    of: NDArray[np.bool_],
    statistic: Callable[[NDArray[np.bool_]], float],
    plan: Plan,
    *,
    shares: bool = True,
) -> Result:
    codes = clustering(one.cases).of_case
    e = over_readers_and_cases(
        statistic,
        one.reader[of],
        one.case[of],
        cluster=None if codes is None else codes[one.case[of]],
        level=plan.report.confidence_level,
        null=0.5 if shares else 0.0,
        bounds=SHARE if shares else (-np.inf, np.inf),
    )
    key = case_key(one.task, one.cases.labels, np.unique(one.case[of]))
    return Result(f"{READERS}.{quantity}", place, e, primary=True, cases=key)


def part_of(one: Preferences, results: list[Result], number: int) -> Part:
    """The choices of one task."""
    return text.part(_items(one, results, number), text("title"), Place(task=one.task))


def _items(one: Preferences, results: list[Result], number: int) -> Iterator[Item]:
    ties = int((one.share == 0.5).sum())
    yield text("counts", n=len(one.share), readers=len(one.readers), cases=len(one.cases), ties=ties)
    for r in results:
        if r.name == "preference_share":
            compared, baseline = r.place.candidates or ("", "")
            way = side_of(r.estimate, 0.5, "more", "less")
            yield text.of_estimate("pair", r, whole=f"pair_{way}", compared=compared, baseline=baseline)
        elif r.name == "first_shown_share" and side_of(r.estimate, 0.5) != "either":
            yield text("order", r)
    yield text.estimates(f"{READERS}_preferences_{number}", text("table"), results, _label)


def _label(r: Result) -> Message:
    name = quantity_name(r.name)
    if r.place.candidates:
        return text(
            "label_pair", measure=name, compared=r.place.candidates[0], baseline=r.place.candidates[1]
        )
    return (
        text("label_of", measure=name, where=r.place.candidate)
        if r.place.candidate
        else text("label", measure=name)
    )
