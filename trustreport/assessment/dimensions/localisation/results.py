"""Every number of localisation: of candidates on a data set, and of readers in one or two arms."""

from collections.abc import Iterator
from functools import partial
from itertools import combinations
from typing import Any

from trustreport.assessment.performance.lesions import MarkedCases, rates_of
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.lesions.area import AREAS, Marked, lesion_area, lesion_area_difference
from trustreport.measures.lesions.froc import (
    CUSTOMARY,
    MeanOfReaders,
    ReaderMeasure,
    false_marks_per_case,
    found_share,
    froc_sensitivity,
    mean_of_readers,
)
from trustreport.measures.note import Note
from trustreport.measures.seeds import generator
from trustreport.study.plan import Plan
from trustreport.vocabulary.results import Result

ID, READERS_ID = "localisation", "reader_localisation"
# With more candidates than this each is compared with the first only.
ALL_PAIRS_UP_TO = 5
OF_READERS: tuple[ReaderMeasure, ...] = (*AREAS, "lesion_sensitivity", "false_marks_per_case")


def candidate_results(one: MarkedCases, plan: Plan) -> list[Result]:
    """Areas, sensitivity at fixed false marks, and the marks as they are, of each candidate."""
    level, rates, results = plan.report.confidence_level, rates_of(plan), list[Result]()
    for maker in range(len(one.makers)):
        marked, place = one.marked(0, maker), one.place_of(maker)
        entry = partial(Result, place=place, primary=True, cases=one.key)
        for name in AREAS:
            results.append(entry(f"{ID}.{name}", estimate=lesion_area(marked, name, level=level)))
        rng = generator(plan.similarity.seed, ID, "froc", str(maker))
        found = froc_sensitivity(marked, rates, rng=rng, level=level)
        for rate, e in zip(rates, found.at):
            at = {"false_marks_per_case": rate}
            results.append(entry(f"{ID}.froc_sensitivity", estimate=e, parameters=at))
        of_rates = {} if rates == CUSTOMARY else {"false_marks_per_case": list(rates)}
        results.append(entry(f"{ID}.froc_mean_sensitivity", estimate=found.mean, parameters=of_rates))
        results.append(entry(f"{ID}.lesion_sensitivity", estimate=found_share(marked, level=level)))
        results.append(
            entry(f"{ID}.false_marks_per_case", estimate=false_marks_per_case(marked, level=level))
        )
    return results


def difference_results(one: MarkedCases, plan: Plan) -> Iterator[Result]:
    """Differences of the areas of two candidates on the same cases, the later one minus the earlier one."""
    n = len(one.makers)
    for baseline, compared in combinations(range(n), 2):
        if n > ALL_PAIRS_UP_TO and baseline:
            continue
        place = one.place.narrowed(candidates=(one.makers[compared], one.makers[baseline]))
        pair = one.marked(0, compared), one.marked(0, baseline)
        for name in AREAS:
            e = lesion_area_difference(*pair, name, level=plan.report.confidence_level)
            yield Result(f"{ID}.{name}_difference", place, e, primary=True, cases=one.key)


def estimate_of_reader(marked: Marked, name: ReaderMeasure, level: float) -> Estimate:
    """A measure of one reader in one arm."""
    if name == "lesion_sensitivity":
        return found_share(marked, level=level)
    if name == "false_marks_per_case":
        return false_marks_per_case(marked, level=level)
    return lesion_area(marked, name, level=level)


def reader_results(one: MarkedCases, plan: Plan) -> list[Result]:
    """Each reader, the mean of each arm, and the change of the mean, by Obuchowski and Rockette."""
    level, results = plan.report.confidence_level, list[Result]()
    for name in OF_READERS:
        of: dict[str, Any] = {"endpoint": name, "cases": one.key}
        for j, reader in enumerate(one.makers):
            for a, arm in enumerate(one.arms):
                e = estimate_of_reader(one.marked(a, j), name, level)
                own = one.place.narrowed(reader=reader, arm=arm)
                results.append(Result(f"{READERS_ID}.reader_estimate", own, e, primary=True, **of))
        every = [[one.marked(a, j) for j in range(len(one.makers))] for a in range(len(one.arms))]
        for a, arm in enumerate(one.arms):
            means = mean_of_readers([every[a]], name)
            results += _entries("arm_mean", one.place.narrowed(arm=arm), means, level, **of)
        for pair in plan.contrasts:
            if set(pair) <= set(one.arms):
                arms = [every[one.arms.index(arm)] for arm in pair]
                change = mean_of_readers(arms, name)
                results += _entries("arm_difference", one.place.narrowed(arms=pair), change, level, **of)
    return results


def _entries(kind: str, place: Any, found: MeanOfReaders | Note, level: float, **of: Any) -> Iterator[Result]:
    """An entry of each analysis, the primary one first; one without a value where there is no fit."""
    if isinstance(found, Note):
        yield Result(f"{READERS_ID}.{kind}", place, undefined(0, found, level=level), primary=True, **of)
        return
    by_analysis = found.mean(level) if kind == "arm_mean" else found.difference(level)
    for i, (analysis, e) in enumerate(by_analysis.items()):
        yield Result(f"{READERS_ID}.{kind}", place, e, analysis=analysis, primary=i == 0, **of)
