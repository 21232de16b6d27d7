"""H-accuracy of every candidate with each declared choice of tau, priority and complexity."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.clusters import clusters_of
from trustreport.dimensions.advice_accuracy.entries import ID
from trustreport.dimensions.advice_accuracy.raters import RatersOfCases, raters_of
from trustreport.estimate import Estimate, undefined
from trustreport.measures.cluster import Clusters
from trustreport.measures.h_accuracy import parameters as choose
from trustreport.measures.h_accuracy.measure import METHOD, h_accuracy, two_class_scores
from trustreport.performance.cases import place_of_set
from trustreport.performance.follow_up import is_mature
from trustreport.performance.keys import case_key
from trustreport.place import Place
from trustreport.plan import Complexity, HAccuracy, Plan
from trustreport.results import Result
from trustreport.seeds import generator
from trustreport.study import Dataset, Floats, Scores, Study

# Confidence thresholds at which Ha is always given beside the declared ones.
USUAL_TAU = (0.5, 0.6, 0.75, 0.8, 1.0)
NO_CONFIDENCE = "no rater stated a confidence for these cases"
NO_RATERS = "no rater judged these cases"
NO_COMPLEXITY = "some of the cases have no complexity"
NO_RELEVANCE = "some of the cases have no relevance"
OFF_SCALE = "some of the complexities are outside the declared scale"
BELOW_CHANCE = "tau is below chance"
OTHER_CLASSES = "the priorities are not one for each class"


class _Lacking(Exception):
    """A parameter that these data do not give; the text says why."""


@dataclass(frozen=True, eq=False)
class Confident:
    """Scores of all classes by one candidate for cases of known truth, with what weighs them.

    `complexity` is that of the first declared choice which has one, `graded` the same before it was cut into
    levels; `results` are the entries of all choices.
    """

    place: Place
    truth: NDArray[np.int64]
    scores: Floats
    complexity: Floats | None
    graded: Floats | None
    cluster: Clusters | None
    raters: RatersOfCases | None
    results: tuple[Result, ...]
    cases: str

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        return self.place.data_name

    @property
    def binary(self) -> bool:
        """Whether there are two classes, and cases of both."""
        return self.scores.shape[1] == 2 and 0 < int(self.truth.sum()) < len(self.truth)


def confident(study: Study, plan: Plan) -> Iterator[Confident]:
    """H-accuracy of every candidate of every data set for which a choice of parameters is declared."""
    for dataset in study.datasets:
        declared = next((d.h_accuracy for d in plan.datasets if d.dataset == dataset.name), ())
        if declared:
            yield from _of_dataset(dataset, declared, study, plan)


def _of_dataset(
    dataset: Dataset, declared: tuple[HAccuracy, ...], study: Study, plan: Plan
) -> Iterator[Confident]:
    raters = raters_of(study, dataset)
    cluster = clusters_of(dataset, plan).of_case
    for candidate, scores in dataset.scores.items():
        of_classes = class_scores(scores)
        if of_classes is None:
            continue
        place = place_of_set(dataset, candidate if len(dataset.scores) > 1 else None)
        known = (dataset.cases.truth >= 0) & is_mature(dataset, study, plan)
        known &= ~np.isnan(of_classes).any(axis=1)
        one = Confident(
            place,
            dataset.cases.truth[known].astype(np.int64),
            of_classes[known],
            None,
            None,
            None if cluster is None else cluster[known],
            _among(raters, known),
            (),
            case_key(dataset.name, dataset.cases.labels, np.flatnonzero(known)),
        )
        results: list[Result] = []
        complexity = graded = None
        for choice in declared:
            usual = not any(r.estimate.value == r.estimate.value for r in results)
            found, given = _chosen(one, dataset, known, choice, plan, usual=usual)
            if complexity is None and given is not None:
                complexity, graded = given, _before_cut(one, dataset, known, choice)
            results += [r for r in found if all(r.scope != other.scope for other in results)]
        yield replace(one, complexity=complexity, graded=graded, results=tuple(results))


def _among(raters: RatersOfCases | None, known: NDArray[np.bool_]) -> RatersOfCases | None:
    if raters is None:
        return None
    confidence = None if raters.confidence is None else raters.confidence[:, known]
    return RatersOfCases(raters.decision[:, known], confidence, raters.right[:, known])


def class_scores(scores: Scores) -> Floats | None:
    """Scores of all classes, negative class first; from one score they are it and what it leaves."""
    if scores.class_scores is not None:
        return scores.class_scores
    if scores.score is None or np.isnan(scores.score).all():
        return None
    if np.nanmin(scores.score) < 0 or np.nanmax(scores.score) > 1:
        return None
    return two_class_scores(scores.score)


def _chosen(
    one: Confident,
    dataset: Dataset,
    known: NDArray[np.bool_],
    choice: HAccuracy,
    plan: Plan,
    *,
    usual: bool,
) -> tuple[list[Result], Floats | None]:
    """Ha with a declared choice; `usual`: also at the usual thresholds; the complexity found for it."""
    n_classes = one.scores.shape[1]
    parameters: dict[str, Any] = {
        "tau": None,
        "priority": None,
        "complexity": _written(choice),
    }
    if isinstance(choice.tau, str):
        parameters["tau_from"] = choice.tau
        if choice.tau == "right_answers":
            parameters["tau_share"] = choice.tau_share
    if isinstance(choice.priority, str):
        parameters["priority_from"] = choice.priority
    complexity = None
    try:
        complexity = _complexity(one, dataset, known, choice)
        parameters["tau"] = tau = _tau(one, choice, n_classes)
        parameters["priority"] = priority = _priority(one, choice, n_classes)
        if tau < 1 / n_classes - 1e-12:
            raise _Lacking(BELOW_CHANCE)
        if len(priority) != n_classes:
            raise _Lacking(OTHER_CLASSES)
    except _Lacking as lacking:
        estimate = undefined(len(one.truth), str(lacking), level=plan.report.confidence_level, method=METHOD)
        return _entry(one, parameters, estimate), complexity
    if choice.complexity and choice.complexity_from is None and complexity is None:
        parameters["complexity"] = False
    results = _entry(one, parameters, _measured(one, tau, priority, complexity, parameters, plan))
    if one.binary and usual:
        for other in USUAL_TAU:
            there = {**parameters, "tau": other}
            there = {key: value for key, value in there.items() if not key.startswith("tau_")}
            if other != tau:
                results += _entry(one, there, _measured(one, other, priority, complexity, there, plan))
    return results, complexity


def _entry(one: Confident, parameters: dict[str, Any], estimate: Estimate) -> list[Result]:
    id = f"{ID}.h_accuracy"
    return [Result(id, one.place, estimate, parameters=parameters, primary=True, cases=one.cases)]


def _measured(
    one: Confident,
    tau: float,
    priority: list[float],
    complexity: Floats | None,
    parameters: Mapping[str, Any],
    plan: Plan,
) -> Estimate:
    return h_accuracy(
        one.truth,
        one.scores,
        rng=generator(plan.similarity.seed, ID, "h_accuracy", str(one.place.scope), str(parameters)),
        tau=tau,
        priority=priority,
        complexity=complexity,
        cluster=one.cluster,
        level=plan.report.confidence_level,
    )


def _tau(one: Confident, choice: HAccuracy, n_classes: int) -> float:
    if choice.tau is None:
        return 1 / n_classes
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


def _priority(one: Confident, choice: HAccuracy, n_classes: int) -> list[float]:
    if choice.priority is None:
        return [1 / n_classes] * n_classes
    if not isinstance(choice.priority, str):
        return list(choice.priority)
    if choice.priority == "raters":
        if one.raters is None:
            raise _Lacking(NO_RATERS)
        try:
            return choose.priority_from_raters(one.truth, one.raters.decision, n_classes).tolist()
        except ValueError as error:
            raise _Lacking(NO_RATERS) from error
    share = np.bincount(one.truth, minlength=n_classes) / max(len(one.truth), 1)
    if not len(one.truth):
        return [1 / n_classes] * n_classes
    rare = choice.priority == "rare_first"
    return choose.priority_from_prevalence(share, rare_first=rare).tolist()


def _complexity(
    one: Confident, dataset: Dataset, known: NDArray[np.bool_], choice: HAccuracy
) -> Floats | None:
    """Complexity of the judged cases as declared; None where none is wanted, or no column holds one."""
    wanted = choice.complexity_from
    if wanted is None:
        if not choice.complexity:
            return None
        column = dataset.cases.complexity
        if column is not None and (np.isnan(column[known]).any() or (column[known] < 0).any()):
            raise _Lacking(NO_COMPLEXITY)
        return None if column is None else column[known]
    found = _graded(one, dataset, known, wanted)
    if wanted.top is not None:
        found = choose.hardest(found, wanted.top, rest=wanted.rest)
    elif wanted.above is not None:
        found = choose.two_levels(found, wanted.above, rest=wanted.rest)
    if wanted.relevance_weight is not None:
        relevance = dataset.cases.numbers.get("relevance")
        if relevance is None or np.isnan(relevance[known]).any() or not relevance[known].max() > 0:
            raise _Lacking(NO_RELEVANCE)
        parts = np.stack([found, relevance[known] / relevance[known].max()])
        found = choose.mixed(parts, np.array([1 - wanted.relevance_weight, wanted.relevance_weight]))
    return found


def _before_cut(
    one: Confident, dataset: Dataset, known: NDArray[np.bool_], choice: HAccuracy
) -> Floats | None:
    """Complexity as it was before it was cut into levels or mixed with relevance."""
    whole = None
    if choice.complexity_from is not None:
        plain = {"top": None, "above": None, "relevance_weight": None}
        whole = choice.complexity_from.model_copy(update=plain)
    return _complexity(one, dataset, known, choice.model_copy(update={"complexity_from": whole}))


def _graded(one: Confident, dataset: Dataset, known: NDArray[np.bool_], wanted: Complexity) -> Floats:
    """Complexity before it is cut; a threshold `above` is on the scale of the column."""
    if wanted.source == "column":
        column = dataset.cases.complexity
        if column is None or np.isnan(column[known]).any():
            raise _Lacking(NO_COMPLEXITY)
        if wanted.scale is None or wanted.above is not None:
            return column[known]
        try:
            return choose.from_scale(column[known], *wanted.scale)
        except ValueError as error:
            raise _Lacking(OFF_SCALE) from error
    if one.raters is None:
        raise _Lacking(NO_RATERS)
    try:
        if wanted.source == "errors":
            return choose.complexity_from_errors(one.raters.right)
        if one.raters.confidence is None:
            raise _Lacking(NO_CONFIDENCE)
        return choose.complexity_from_confidence(one.raters.confidence)
    except ValueError as error:
        raise _Lacking(NO_COMPLEXITY) from error


def _written(choice: HAccuracy) -> bool | dict[str, Any]:
    """The declared complexity as it stands in the scope."""
    wanted = choice.complexity_from
    if wanted is None:
        return choice.complexity
    return wanted.model_dump(exclude_defaults=True, mode="json") or {"source": wanted.source}
