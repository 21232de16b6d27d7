"""H-accuracy of every candidate, with the declared parameters or with those that the data give."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.advice_accuracy.compared import ALL_PAIRS_UP_TO
from trustreport.assessment.dimensions.advice_accuracy.entries import ID, are_risks
from trustreport.assessment.dimensions.advice_accuracy.raters import RatersOfCases, raters_of
from trustreport.assessment.performance.cases import ScoredCases, of_dataset, place_of_set
from trustreport.assessment.performance.keys import case_key, is_mature
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.h_accuracy import parameters as choose
from trustreport.measures.h_accuracy.measure import (
    METHOD,
    h_accuracy,
    h_accuracy_difference,
    risk_priority,
    two_class_scores,
)
from trustreport.measures.seeds import generator
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Complexity, HAccuracy, Plan
from trustreport.study.study import DEVELOPMENT_ROLES, Dataset, Floats, Scores, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

Mask = NDArray[np.bool_]
Kind = Literal["balanced", "confident", "prioritized", "practical", "combined"]
KINDS: tuple[Kind, ...] = ("balanced", "confident", "prioritized", "practical", "combined")
# Confidence thresholds at which Ha is always given beside the declared ones: of two classes, and of several.
USUAL_TAU, USUAL_TAU_OF_SEVERAL = (0.5, 0.6, 0.75, 0.8, 1.0), (0.51,)
# What is taken where nothing is declared: a tau that no rater gives, and the most complex part of the cases.
DEFAULT_TAU, DEFAULT_TAU_OF_SEVERAL = 0.75, 0.51
THIRD, HALF = 0.33, 0.5
NO_CONFIDENCE = "no rater stated a confidence for these cases"
NO_RATERS = "no rater judged these cases"
NO_COMPLEXITY = "some of the cases have no complexity"
NO_RELEVANCE = "some of the cases have no relevance"
NO_RISK = "neither a risk threshold nor an operating point between 0 and 1 is declared"
NO_SCORES = "the device gives no score that is a probability"
TWO_CLASSES = "a priority from a risk threshold needs two classes, both among the cases"
OFF_SCALE = "some of the complexities are outside the declared scale"
NO_SCALE = "complexities of several sources are averaged on a scale: declare it"
BELOW_CHANCE = "tau is below chance"
OTHER_CLASSES = "the priorities are not one for each class"


class _Lacking(Exception):
    """A parameter that these data do not give; the text says why."""


@dataclass(frozen=True, eq=False)
class Weighed:
    """The answers of a candidate to cases of known truth, with what weighs them, (n,) each.

    Parameters
    ----------
    rows : which cases of the data set
    scores : of each class, (n, n_classes); 1 for the class that was called where there are no probabilities
    called : the class that the device called by its threshold; None where the highest score decides
    sure : whether the scores are probabilities, so that a confidence can be asked for
    threshold : of the device, where it decides by one on the scores
    complexity : of the first choice that has one; `graded` the same before it was cut, `hard` who is complex
    results : the entries of all choices; `shown` those of which the report speaks, with their choices
    """

    dataset: Dataset
    place: Place
    rows: NDArray[np.intp]
    truth: NDArray[np.int64]
    scores: Floats
    called: NDArray[np.int64] | None
    sure: bool
    threshold: float | None
    cluster: Clusters | None
    raters: RatersOfCases | None
    cases: str
    complexity: Floats | None = None
    graded: Floats | None = None
    hard: Mask | None = None
    results: tuple[Result, ...] = ()
    shown: tuple[tuple[HAccuracy, Result], ...] = ()

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        return self.place.data_name

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.scores.shape[1]

    @property
    def binary(self) -> bool:
        """Whether there are two classes, and cases of both."""
        return self.n_classes == 2 and 0 < int(self.truth.sum()) < len(self.truth)

    @property
    def right(self) -> Mask:
        """Which answers are right."""
        if self.called is not None:
            return self.called == self.truth
        return self.scores[np.arange(len(self.truth)), self.truth] >= self.scores.max(axis=1)

    def part(self, of: Mask) -> "Weighed":
        """The same candidate on some of these cases, (n,)."""
        rows = self.rows[of]
        return replace(
            self,
            rows=rows,
            truth=self.truth[of],
            scores=self.scores[of],
            called=None if self.called is None else self.called[of],
            cluster=together(self.cluster, of),
            raters=None if self.raters is None else self.raters.among(np.flatnonzero(of)),
            cases=case_key(self.dataset.name, self.dataset.cases.labels, rows),
        )


@dataclass(frozen=True, eq=False)
class Chosen:
    """The parameters that a choice comes to on some cases; `parameters` are its entry's."""

    tau: float
    priority: list[float]
    complexity: Floats | None
    parameters: Mapping[str, Any]
    details: Mapping[str, Any]


def weighed(study: Study, plan: Plan) -> Iterator[Weighed]:
    """H-accuracy of every candidate of the data sets that declare it, or have what it needs."""
    for dataset in study.datasets:
        declared = next((d.h_accuracy for d in plan.datasets if d.dataset == dataset.name), ())
        for one in _answers(dataset, study, plan):
            choices = declared or usual_choices(one, plan)
            if choices:
                yield _with_results(one, choices, plan, declared=bool(declared))


# ---------------------------------------------------------------- answers


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


# ---------------------------------------------------------------- choices


def kind_of(choice: HAccuracy) -> Kind:
    """The name that the source gives to an H-accuracy with these parameters."""
    has: dict[Kind, bool] = {
        "confident": choice.tau is not None,
        "prioritized": choice.priority is not None,
        "practical": choice.complexity or choice.complexity_from is not None,
    }
    named = [kind for kind, there in has.items() if there]
    return "balanced" if not named else named[0] if len(named) == 1 else "combined"


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
    except _Lacking as lacking:
        level = plan.report.confidence_level
        estimate = undefined(len(one.truth), str(lacking), level=level, method=METHOD)
        return Chosen(0.0, [], None, _unresolved(choice), {"kind": kind_of(choice)}), estimate
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


def _unresolved(choice: HAccuracy) -> dict[str, Any]:
    """The parameters of an entry as far as the choice itself says them."""
    parameters: dict[str, Any] = {"tau": None, "priority": None, "complexity": _written(choice)}
    if isinstance(choice.tau, str):
        parameters["tau_from"] = choice.tau
        if choice.tau == "right_answers":
            parameters["tau_share"] = choice.tau_share
    if isinstance(choice.priority, str):
        parameters["priority_from"] = choice.priority
    return parameters


def resolved(one: Weighed, choice: HAccuracy, plan: Plan) -> Chosen:
    """The parameters of a choice for these cases.

    Raises
    ------
    _Lacking : the data do not give one of them
    """
    parameters = _unresolved(choice)
    details: dict[str, Any] = {"kind": kind_of(choice)}
    complexity = _complexity(one, choice)
    parameters["tau"] = tau = _tau(one, choice)
    priority, source = _priority(one, choice, plan)
    parameters["priority"] = priority
    if source:
        parameters["priority_from"] = source
    if choice.priority == "risk":
        details["risk_threshold"] = _risk_threshold(choice, plan)
    if tau < 1 / one.n_classes - 1e-12:
        raise _Lacking(BELOW_CHANCE)
    if tau > 1 / one.n_classes + 1e-12 and not one.sure:
        raise _Lacking(NO_SCORES)
    if len(priority) != one.n_classes:
        raise _Lacking(OTHER_CLASSES)
    if choice.complexity and choice.complexity_from is None and complexity is None:
        parameters["complexity"] = False
    wanted = choice.complexity_from
    if wanted is not None and complexity is not None and wanted.top is not None:
        details["most_complex"] = float((_cut(_graded(one, wanted), wanted) == 1).mean())
    return Chosen(tau, priority, complexity, parameters, details)


def _tau(one: Weighed, choice: HAccuracy) -> float:
    if choice.tau is None:
        return 1 / one.n_classes
    if not isinstance(choice.tau, str):
        return choice.tau
    if one.raters is None or one.raters.confidence is None:
        raise _Lacking(NO_CONFIDENCE)
    confidence, right = one.raters.confidence, one.raters.right
    if np.isnan(confidence).all() or not (right == 1).any():
        raise _Lacking(NO_CONFIDENCE)
    if choice.tau == "right_answers":
        return choose.tau_from_share(confidence, right, choice.tau_share)
    if choice.tau == "mean_confidence":
        return choose.tau_from_mean(confidence)
    return choose.tau_from_best_rater(confidence, right)


def _priority(one: Weighed, choice: HAccuracy, plan: Plan) -> tuple[list[float], str]:
    """The priority of each class, and the word for where it is from."""
    k, wanted = one.n_classes, choice.priority
    if wanted is None:
        return [1 / k] * k, ""
    if not isinstance(wanted, str):
        return list(wanted), ""
    if wanted == "raters":
        if one.raters is None:
            raise _Lacking(NO_RATERS)
        try:
            return choose.priority_from_raters(one.truth, one.raters.decision, k).tolist(), wanted
        except ValueError as error:
            raise _Lacking(NO_RATERS) from error
    if not len(one.truth):
        return [1 / k] * k, wanted
    share, expected = np.bincount(one.truth, minlength=k) / len(one.truth), plan.expected_prevalence
    elsewhere = expected is not None and k == 2
    if elsewhere and expected is not None:
        share = np.array([1 - expected, expected])
    if wanted == "risk":
        if k != 2 or not 0 < share[1] < 1:
            raise _Lacking(TWO_CLASSES)
        return list(risk_priority(_risk_threshold(choice, plan), float(share[1]))), wanted
    found = choose.priority_from_prevalence(share, rare_first=wanted == "rare_first").tolist()
    return found, f"{wanted}_expected" if elsewhere else wanted


def _risk_threshold(choice: HAccuracy, plan: Plan) -> float:
    """The risk at which the device is acted on: the choice's own, else that of the operating point."""
    at = plan.risk_threshold if choice.risk_threshold is None else choice.risk_threshold
    if at is None or not 0 < at < 1:
        raise _Lacking(NO_RISK)
    return at


# ---------------------------------------------------------------- complexity


def _complexity(one: Weighed, choice: HAccuracy) -> Floats | None:
    """Complexity of the cases as declared; None where none is wanted, or nobody gave one."""
    wanted = choice.complexity_from
    if wanted is None:
        if not choice.complexity:
            return None
        column = one.dataset.cases.complexity
        if column is None:
            if one.raters is None or one.raters.complexity is None:
                return None
            return _rated(one.raters, "raters", Complexity(source=("raters",)))
        if np.isnan(column[one.rows]).any() or (column[one.rows] < 0).any():
            raise _Lacking(NO_COMPLEXITY)
        return column[one.rows]
    found = _cut(_graded(one, wanted), wanted)
    if wanted.relevance_weight is not None:
        relevance = one.dataset.cases.numbers.get("relevance")
        own = None if relevance is None else relevance[one.rows]
        if own is None or np.isnan(own).any() or not own.max() > 0:
            raise _Lacking(NO_RELEVANCE)
        parts = np.stack([found, own / own.max()])
        found = choose.mixed(parts, np.array([1 - wanted.relevance_weight, wanted.relevance_weight]))
    return found


def _cut(graded: Floats, wanted: Complexity) -> Floats:
    """In two levels, where a part of the cases or a threshold is declared."""
    if wanted.top is not None:
        return choose.hardest(graded, wanted.top, rest=wanted.rest)
    if wanted.above is not None:
        return choose.two_levels(graded, wanted.above, rest=wanted.rest)
    return graded


def _complexity_of(one: Weighed, choice: HAccuracy) -> dict[str, Any]:
    """Complexity of the first choice that has one, before it was cut too, and which cases are complex.

    Where the choice has no cut, the more complex half is.
    """
    wanted = choice.complexity_from
    try:
        complexity = _complexity(one, choice)
        if complexity is None:
            return {}
        graded = complexity if wanted is None else _graded(one, wanted)
    except _Lacking:
        return {}
    cut = wanted if wanted is not None and (wanted.top or wanted.above is not None) else Complexity(top=HALF)
    hard = _cut(graded, cut) == 1
    return {"complexity": complexity, "graded": graded, "hard": hard}


def _graded(one: Weighed, wanted: Complexity) -> Floats:
    """Complexity before it is cut; a threshold `above` is on the scale of a single source."""
    parts = [_of_source(one, source, wanted) for source in wanted.source]
    if len(parts) == 1:
        return parts[0]
    if any(part.min() < 0 or part.max() > 1 for part in parts):
        raise _Lacking(NO_SCALE)
    return choose.mixed(np.stack(parts), np.full(len(parts), 1 / len(parts)))


def _of_source(one: Weighed, source: str, wanted: Complexity) -> Floats:
    if source == "column":
        column = one.dataset.cases.complexity
        if column is None or np.isnan(column[one.rows]).any():
            raise _Lacking(NO_COMPLEXITY)
        return _on_scale(column[one.rows], wanted)
    if one.raters is None:
        raise _Lacking(NO_RATERS)
    if source == "raters" and one.raters.complexity is None:
        raise _Lacking(NO_COMPLEXITY)
    if source == "confidence" and one.raters.confidence is None:
        raise _Lacking(NO_CONFIDENCE)
    found = _rated(one.raters, source, wanted)
    return _on_scale(found, wanted) if source == "raters" else found


def _rated(raters: RatersOfCases, source: str, wanted: Complexity) -> Floats:
    """Mean over the raters for each case; the better ones weigh more where it is wished."""
    weight = choose.proficiency(raters.right) if wanted.proficiency else None
    try:
        if source == "errors":
            return choose.complexity_from_errors(raters.right, proficiency=weight)
        if source == "confidence" and raters.confidence is not None:
            return choose.complexity_from_confidence(raters.confidence, proficiency=weight)
        assert raters.complexity is not None
        return choose.complexity_from_ratings(raters.complexity, proficiency=weight)
    except ValueError as error:
        raise _Lacking(NO_COMPLEXITY) from error


def _on_scale(graded: Floats, wanted: Complexity) -> Floats:
    """On [0, 1] where a scale is declared; not where a threshold is, which is on the scale itself."""
    if wanted.scale is None or (wanted.above is not None and len(wanted.source) == 1):
        return graded
    try:
        return choose.from_scale(graded, *wanted.scale)
    except ValueError as error:
        raise _Lacking(OFF_SCALE) from error


def _written(choice: HAccuracy) -> bool | dict[str, Any]:
    """The declared complexity as it stands in the scope."""
    wanted = choice.complexity_from
    if wanted is None:
        return choice.complexity
    said = wanted.model_dump(exclude_defaults=True, mode="json") or {"source": list(wanted.source)}
    if len(wanted.source) == 1 and "source" in said:
        said["source"] = wanted.source[0]
    return said


# ---------------------------------------------------------------- differences of candidates


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
        except _Lacking as lacking:
            estimate = undefined(len(ours.truth), str(lacking), level=level, method=METHOD)
            at = Chosen(0.0, [], None, _unresolved(choice), {"kind": kind_of(choice)})
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
