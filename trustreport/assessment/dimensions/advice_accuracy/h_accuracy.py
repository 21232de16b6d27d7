"""H-accuracy of every candidate, with the declared parameters or with those that the data give."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.advice_accuracy.h_choices import (
    Chosen,
    Kind,
    NotChosen,
    RatersOfCases,
    Weighed,
    complexity_of_cases,
    cut_at,
    graded_cases,
    kind_of,
    raters_of,
    resolved,
    unresolved,
)
from trustreport.assessment.dimensions.advice_accuracy.results import ALL_PAIRS_UP_TO, ID, are_risks
from trustreport.assessment.performance.cases import ScoredCases, of_dataset, place_of_set
from trustreport.assessment.performance.keys import case_key, is_mature
from trustreport.measures.cluster import together
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.h_accuracy.measure import (
    METHOD,
    h_accuracy,
    h_accuracy_difference,
    two_class_scores,
)
from trustreport.measures.seeds import generator
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Complexity, HAccuracy, Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Dataset, Floats, Scores, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

KINDS: tuple[Kind, ...] = ("balanced", "confident", "prioritized", "practical", "combined")
# Confidence thresholds at which Ha is always given beside the declared ones: of two classes, and of several.
USUAL_TAU, USUAL_TAU_OF_SEVERAL = (0.5, 0.6, 0.75, 0.8, 1.0), (0.51,)
# What is taken where nothing is declared: a tau that no rater gives, and the most complex part of the cases.
DEFAULT_TAU, DEFAULT_TAU_OF_SEVERAL = 0.75, 0.51
THIRD, HALF = 0.33, 0.5


def weighed(study: Study, plan: Plan) -> Iterator[Weighed]:
    """H-accuracy of every candidate of the data sets that declare it, or have what it needs."""
    for dataset in study.datasets:
        declared = next((d.h_accuracy for d in plan.datasets if d.dataset == dataset.name), ())
        for one in _answers(dataset, study, plan):
            choices = declared or usual_choices(one, plan)
            if choices:
                yield _with_results(one, choices, plan, declared=bool(declared))


def _answers(dataset: Dataset, study: Study, plan: Plan) -> Iterator[Weighed]:
    raters = raters_of(study, dataset)
    if len(dataset.cases.classes) == 2:
        for case in of_dataset(dataset, study, plan):
            one = _of_two_classes(case, raters)
            if one is not None:
                yield one
    elif len(dataset.cases.classes) > 2:
        yield from _of_several_classes(dataset, raters, study, plan)


def _of_two_classes(case: ScoredCases, raters: RatersOfCases | None) -> Weighed | None:
    """Failed cases are decided as the rule says, with no confidence in either class."""
    scores = class_scores(case.dataset.scores[case.candidate]) if are_risks(case) else None
    if scores is not None:
        scores = scores[case.rows]
        scores = np.where(np.isnan(scores) | case.failed[:, None], 0.5, scores)
    elif are_risks(case) and case.risk is not None:
        risk = np.where(np.isnan(case.risk) | case.failed, 0.5, case.risk)
        scores = two_class_scores(risk)
    called = None if case.decision is None else case.decision.astype(np.int64)
    sure = scores is not None
    if scores is None:
        if called is None:
            return None
        scores = two_class_scores(called.astype(np.float64))
    return Weighed(
        case.dataset,
        case.place,
        case.rows,
        case.truth.astype(np.int64),
        scores,
        called,
        sure,
        case.threshold if case.by_threshold else None,
        case.cluster,
        None if raters is None else raters.among(case.rows),
        case.key,
    )


def class_scores(scores: Scores) -> Floats | None:
    """Scores of both classes that were given as probabilities, negative class first; None without them."""
    given = scores.class_scores
    if given is None or given.shape[1] != 2 or np.nanmin(given) < 0 or np.nanmax(given) > 1:
        return None
    return given


def _of_several_classes(
    dataset: Dataset, raters: RatersOfCases | None, study: Study, plan: Plan
) -> Iterator[Weighed]:
    cluster = clusters_of(dataset, plan).of_case
    for candidate, given in dataset.scores.items():
        if given.class_scores is None:
            continue
        place = place_of_set(dataset, candidate if len(dataset.scores) > 1 else None)
        known = (dataset.cases.truth >= 0) & is_mature(dataset, study, plan)
        known &= ~np.isnan(given.class_scores).any(axis=1)
        rows = np.flatnonzero(known)
        scores = given.class_scores[rows]
        if scores.size and (scores.min() < 0 or scores.max() > 1):
            continue
        yield Weighed(
            dataset,
            place,
            rows,
            dataset.cases.truth[rows].astype(np.int64),
            scores,
            None,
            True,
            None,
            together(cluster, known),
            None if raters is None else raters.among(rows),
            case_key(dataset.name, dataset.cases.labels, rows),
        )


def usual_choices(one: Weighed, plan: Plan) -> tuple[HAccuracy, ...]:
    """What is taken where nothing is declared but the cases have a complexity, or raters judged them.

    Tau is what four in five of the raters' right answers reach; priorities are those that the raters' own
    accuracy implies, else the expected prevalence. The most complex third weighs twice, then the most complex
    half alone. Cases that the device was made with have none.
    """
    raters, column = one.raters, one.dataset.cases.complexity
    if raters is not None and np.isnan(raters.decision).all():
        raters = None
    graded = column is not None and not np.isnan(column[one.rows]).any()
    if (raters is None and not graded) or one.dataset.role in DEVELOPMENT_ROLES or not len(one.rows):
        return ()
    tau: Any = None
    if raters is not None and raters.confidence is not None:
        tau = "right_answers"
    elif one.sure:
        tau = DEFAULT_TAU if one.n_classes == 2 else DEFAULT_TAU_OF_SEVERAL
    priority: Any = None
    if raters is not None:
        priority = "raters"
    elif plan.expected_prevalence is not None and one.n_classes == 2:
        priority = "prevalence"
    source = "column" if graded else "raters" if raters and raters.complexity is not None else "confidence"
    if source == "confidence" and (raters is None or raters.confidence is None):
        source = "errors"
    third, half = (
        Complexity.model_validate({"source": source, "top": top, "rest": rest})
        for top, rest in ((THIRD, 0.5), (HALF, 0.0))
    )
    wanted = [
        {"tau": tau},
        {"priority": priority},
        {"complexity_from": third},
        {"complexity_from": half},
        {"tau": tau if one.sure else None, "priority": priority, "complexity_from": third},
    ]
    choices = (HAccuracy.model_validate({k: v for k, v in w.items() if v is not None}) for w in wanted)
    return tuple(choice for choice in choices if kind_of(choice) != "balanced")


def _with_results(one: Weighed, choices: Sequence[HAccuracy], plan: Plan, *, declared: bool) -> Weighed:
    """The entries of each choice; of those that nobody declared, what these cases yield."""
    results: dict[str, Result] = {}
    shown: list[tuple[HAccuracy, Result]] = []
    first: Chosen | None = None
    complexity: dict[str, Any] = {}
    for choice in choices:
        at, estimate = _chosen(one, choice, plan)
        complexity = complexity or _complexity_of(one, choice)
        entry = _entry(one, at, estimate)
        known = not isnan(estimate.value)
        if str(entry.scope) not in results and (declared or known):
            results[str(entry.scope)] = entry
            shown.append((choice, entry))
        first = first or (at if known else None)
    for at in _at_usual_taus(one, first) if declared and first is not None else ():
        if not any(_numbers(r.parameters) == _numbers(at.parameters) for r in results.values()):
            entry = _entry(one, at, _measured(one, at, plan))
            results[str(entry.scope)] = entry
    return replace(one, results=tuple(results.values()), shown=tuple(shown), **complexity)


def _numbers(parameters: Mapping[str, Any]) -> tuple[Any, ...]:
    """What an H-accuracy depends on, wherever it is from."""
    return tuple(parameters[name] for name in ("tau", "priority", "complexity"))


def _at_usual_taus(one: Weighed, first: Chosen) -> Iterator[Chosen]:
    """The first declared choice at the usual confidences, where the scores are any."""
    taus = USUAL_TAU if one.binary else USUAL_TAU_OF_SEVERAL if one.n_classes > 2 else ()
    there = {key: value for key, value in first.parameters.items() if not key.startswith("tau_")}
    for tau in taus if one.sure else ():
        yield replace(first, tau=tau, parameters={**there, "tau": tau})


def _entry(one: Weighed, at: Chosen, estimate: Estimate) -> Result:
    id = f"{ID}.h_accuracy"
    return Result(
        id,
        one.place,
        estimate,
        parameters=at.parameters,
        primary=True,
        cases=one.cases,
        details=at.details,
    )


def _chosen(one: Weighed, choice: HAccuracy, plan: Plan) -> tuple[Chosen, Estimate]:
    """What a choice comes to on these cases, and the H-accuracy with it; undefined with its reason."""
    try:
        at = resolved(one, choice, plan)
    except NotChosen as lacking:
        level = plan.report.confidence_level
        estimate = undefined(len(one.truth), lacking.note, level=level, method=METHOD)
        return Chosen(0.0, [], None, unresolved(choice), {"kind": kind_of(choice)}), estimate
    return at, _measured(one, at, plan)


def _measured(one: Weighed, at: Chosen, plan: Plan) -> Estimate:
    return h_accuracy(
        one.truth,
        one.scores,
        rng=generator(plan.similarity.seed, ID, "h_accuracy", str(one.place.scope), str(at.parameters)),
        tau=at.tau,
        priority=at.priority,
        complexity=at.complexity,
        called=one.called,
        cluster=one.cluster,
        level=plan.report.confidence_level,
    )


def _complexity_of(one: Weighed, choice: HAccuracy) -> dict[str, Any]:
    """Complexity of the first choice that has one, before it was cut too, and which cases are complex.

    Where the choice has no cut, the more complex half is.
    """
    wanted = choice.complexity_from
    try:
        complexity = complexity_of_cases(one, choice)
        if complexity is None:
            return {}
        graded = complexity if wanted is None else graded_cases(one, wanted)
    except NotChosen:
        return {}
    cut = wanted if wanted is not None and (wanted.top or wanted.above is not None) else Complexity(top=HALF)
    hard = cut_at(graded, cut) == 1
    return {"complexity": complexity, "graded": graded, "hard": hard}


@dataclass(frozen=True, eq=False)
class ComparedPair:
    """The differences of two candidates of a data set, one for each choice, with their choices."""

    place: Place
    shown: tuple[tuple[HAccuracy, Result], ...]


def candidates_compared(some: Sequence[Weighed], plan: Plan) -> Iterator[ComparedPair]:
    """Candidates of each data set two by two on the cases of both, the later one minus the earlier one."""
    of: dict[str, list[Weighed]] = {}
    for one in some:
        of.setdefault(one.dataset.name, []).append(one)
    for candidates in of.values():
        every = len(candidates) <= ALL_PAIRS_UP_TO
        for baseline, later in combinations(candidates, 2):
            if every or baseline is candidates[0]:
                yield _difference(later, baseline, plan)


def _difference(later: Weighed, baseline: Weighed, plan: Plan) -> ComparedPair:
    names = (str(later.place.candidate), str(baseline.place.candidate))
    place = Place(dataset=later.dataset.name, candidates=names)
    ours, theirs = (
        one.part(np.isin(one.rows, other.rows)) for one, other in ((later, baseline), (baseline, later))
    )
    level, found = plan.report.confidence_level, []
    for choice, _ in later.shown:
        if kind_of(choice) == "balanced":
            continue
        try:
            at = resolved(ours, choice, plan)
            resolved(theirs, choice, plan)
        except NotChosen as lacking:
            estimate = undefined(len(ours.truth), lacking.note, level=level, method=METHOD)
            at = Chosen(0.0, [], None, unresolved(choice), {"kind": kind_of(choice)})
        else:
            estimate = h_accuracy_difference(
                ours.truth,
                ours.scores,
                theirs.scores,
                rng=generator(plan.similarity.seed, ID, "h_difference", str(place.scope), str(at.parameters)),
                tau=at.tau,
                priority=at.priority,
                complexity=at.complexity,
                called=ours.called,
                other_called=theirs.called,
                cluster=ours.cluster,
                level=level,
            )
        entry = Result(
            f"{ID}.h_accuracy_difference",
            place,
            estimate,
            analysis="paired",
            parameters=at.parameters,
            primary=True,
            cases=ours.cases,
            details=at.details,
        )
        found.append((choice, entry))
    return ComparedPair(place, tuple(found))
