"""What H-accuracy is asked for, resolved on the cases and on what raters said of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.keys import case_key
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.h_accuracy import parameters as choose
from trustreport.measures.h_accuracy.measure import (
    risk_priority,
)
from trustreport.measures.note import Note, note
from trustreport.study.plan import Complexity, HAccuracy, Plan
from trustreport.study.study import Dataset, Floats, Ratings, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result


@dataclass(frozen=True, eq=False)
class RatersOfCases:
    """Labels and confidences of raters for the cases of a data set, (n_raters, n_cases), NaN where none.

    `decision` holds the class that a rater named, as the truth counts classes; `right` 1.0 or 0.0;
    `complexity` is how complex the rater found the case, on the raters' own scale.
    """

    names: tuple[str, ...]
    decision: Floats
    confidence: Floats | None
    complexity: Floats | None
    right: Floats

    def among(self, rows: NDArray[np.intp]) -> "RatersOfCases":
        """What they said of some cases of the data set."""

        def some(column: Floats | None) -> Floats | None:
            """The columns of these cases."""
            return None if column is None else column[:, rows]

        return RatersOfCases(
            self.names,
            self.decision[:, rows],
            some(self.confidence),
            some(self.complexity),
            self.right[:, rows],
        )


def raters_of(study: Study, dataset: Dataset) -> RatersOfCases | None:
    """The raters whose task goes by the name of the data set; with a single table of raters, those."""
    named = [r for r in study.raters if r.task == dataset.name]
    chosen = named or (list(study.raters) if len(study.raters) == 1 else [])
    return _laid_out(chosen[0], dataset) if chosen else None


def _laid_out(ratings: Ratings, dataset: Dataset) -> RatersOfCases | None:
    place = {name: i for i, name in enumerate(dataset.cases.labels)}
    column = np.array([place.get(name, -1) for name in ratings.cases.labels], np.int64)
    classes = {name: i for i, name in enumerate(dataset.cases.classes)}
    code = np.array([classes.get(name, -1) for name in ratings.classes] + [-1], np.int64)
    at, label = column[ratings.case], code[ratings.label]
    kept = (at >= 0) & (label >= 0)
    if not kept.any():
        return None
    shape = (len(ratings.raters), len(dataset.cases))
    where = ratings.rater[kept], at[kept]
    decision = np.full(shape, np.nan)
    decision[where] = label[kept]

    def laid_out(column: Floats | None) -> Floats | None:
        """A column of ratings as raters by cases; None where nobody gave any."""
        if column is None or np.isnan(column[kept]).all():
            return None
        found = np.full(shape, np.nan)
        found[where] = column[kept]
        return found

    truth = dataset.cases.truth
    judged = ~np.isnan(decision) & (truth >= 0)
    right = np.where(judged, decision == truth, np.nan)
    confidence, complexity = laid_out(ratings.confidence), laid_out(ratings.complexity)
    return RatersOfCases(tuple(ratings.raters), decision, confidence, complexity, right)


Mask = NDArray[np.bool_]
Kind = Literal["balanced", "confident", "prioritized", "practical", "combined"]
NO_CONFIDENCE = note("no_rater_stated_confidence_for_these")
NO_RATERS = note("no_rater_judged_these_cases")
NO_COMPLEXITY = note("some_cases_have_no_complexity")
NO_RELEVANCE = note("some_cases_have_no_relevance")
NO_RISK = note("neither_risk_threshold_nor_operating_point")
NO_SCORES = note("device_gives_no_score_that_probability")
TWO_CLASSES = note("priority_from_risk_threshold_needs_two")
OFF_SCALE = note("some_complexities_outside_declared_scale")
NO_SCALE = note("complexities_several_sources_averaged_on_scale")
BELOW_CHANCE = note("tau_below_chance")
OTHER_CLASSES = note("priorities_not_one_for_each_class")


class NotChosen(Exception):
    """A parameter that these data do not give; the note says why."""

    def __init__(self, note: Note) -> None:
        super().__init__(note)
        self.note = note


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


def kind_of(choice: HAccuracy) -> Kind:
    """The name that the source gives to an H-accuracy with these parameters."""
    has: dict[Kind, bool] = {
        "confident": choice.tau is not None,
        "prioritized": choice.priority is not None,
        "practical": choice.complexity or choice.complexity_from is not None,
    }
    named = [kind for kind, there in has.items() if there]
    return "balanced" if not named else named[0] if len(named) == 1 else "combined"


def unresolved(choice: HAccuracy) -> dict[str, Any]:
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
    NotChosen : the data do not give one of them
    """
    parameters = unresolved(choice)
    details: dict[str, Any] = {"kind": kind_of(choice)}
    complexity = complexity_of_cases(one, choice)
    parameters["tau"] = tau = _tau(one, choice)
    priority, source = _priority(one, choice, plan)
    parameters["priority"] = priority
    if source:
        parameters["priority_from"] = source
    if choice.priority == "risk":
        details["risk_threshold"] = _risk_threshold(choice, plan)
    if tau < 1 / one.n_classes - 1e-12:
        raise NotChosen(BELOW_CHANCE)
    if tau > 1 / one.n_classes + 1e-12 and not one.sure:
        raise NotChosen(NO_SCORES)
    if len(priority) != one.n_classes:
        raise NotChosen(OTHER_CLASSES)
    if choice.complexity and choice.complexity_from is None and complexity is None:
        parameters["complexity"] = False
    wanted = choice.complexity_from
    if wanted is not None and complexity is not None and wanted.top is not None:
        details["most_complex"] = float((cut_at(graded_cases(one, wanted), wanted) == 1).mean())
    return Chosen(tau, priority, complexity, parameters, details)


def _tau(one: Weighed, choice: HAccuracy) -> float:
    if choice.tau is None:
        return 1 / one.n_classes
    if not isinstance(choice.tau, str):
        return choice.tau
    if one.raters is None or one.raters.confidence is None:
        raise NotChosen(NO_CONFIDENCE)
    confidence, right = one.raters.confidence, one.raters.right
    if np.isnan(confidence).all() or not (right == 1).any():
        raise NotChosen(NO_CONFIDENCE)
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
            raise NotChosen(NO_RATERS)
        try:
            return choose.priority_from_raters(one.truth, one.raters.decision, k).tolist(), wanted
        except ValueError as error:
            raise NotChosen(NO_RATERS) from error
    if not len(one.truth):
        return [1 / k] * k, wanted
    share, expected = np.bincount(one.truth, minlength=k) / len(one.truth), plan.expected_prevalence
    elsewhere = expected is not None and k == 2
    if elsewhere and expected is not None:
        share = np.array([1 - expected, expected])
    if wanted == "risk":
        if k != 2 or not 0 < share[1] < 1:
            raise NotChosen(TWO_CLASSES)
        return list(risk_priority(_risk_threshold(choice, plan), float(share[1]))), wanted
    found = choose.priority_from_prevalence(share, rare_first=wanted == "rare_first").tolist()
    return found, f"{wanted}_expected" if elsewhere else wanted


def _risk_threshold(choice: HAccuracy, plan: Plan) -> float:
    """The risk at which the device is acted on: the choice's own, else that of the operating point."""
    at = plan.risk_threshold if choice.risk_threshold is None else choice.risk_threshold
    if at is None or not 0 < at < 1:
        raise NotChosen(NO_RISK)
    return at


def complexity_of_cases(one: Weighed, choice: HAccuracy) -> Floats | None:
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
            raise NotChosen(NO_COMPLEXITY)
        return column[one.rows]
    found = cut_at(graded_cases(one, wanted), wanted)
    if wanted.relevance_weight is not None:
        relevance = one.dataset.cases.numbers.get("relevance")
        own = None if relevance is None else relevance[one.rows]
        if own is None or np.isnan(own).any() or not own.max() > 0:
            raise NotChosen(NO_RELEVANCE)
        parts = np.stack([found, own / own.max()])
        found = choose.mixed(parts, np.array([1 - wanted.relevance_weight, wanted.relevance_weight]))
    return found


def cut_at(graded: Floats, wanted: Complexity) -> Floats:
    """In two levels, where a part of the cases or a threshold is declared."""
    if wanted.top is not None:
        return choose.hardest(graded, wanted.top, rest=wanted.rest)
    if wanted.above is not None:
        return choose.two_levels(graded, wanted.above, rest=wanted.rest)
    return graded


def graded_cases(one: Weighed, wanted: Complexity) -> Floats:
    """Complexity before it is cut; a threshold `above` is on the scale of a single source."""
    parts = [_of_source(one, source, wanted) for source in wanted.source]
    if len(parts) == 1:
        return parts[0]
    if any(part.min() < 0 or part.max() > 1 for part in parts):
        raise NotChosen(NO_SCALE)
    return choose.mixed(np.stack(parts), np.full(len(parts), 1 / len(parts)))


def _of_source(one: Weighed, source: str, wanted: Complexity) -> Floats:
    if source == "column":
        column = one.dataset.cases.complexity
        if column is None or np.isnan(column[one.rows]).any():
            raise NotChosen(NO_COMPLEXITY)
        return _on_scale(column[one.rows], wanted)
    if one.raters is None:
        raise NotChosen(NO_RATERS)
    if source == "raters" and one.raters.complexity is None:
        raise NotChosen(NO_COMPLEXITY)
    if source == "confidence" and one.raters.confidence is None:
        raise NotChosen(NO_CONFIDENCE)
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
        raise NotChosen(NO_COMPLEXITY) from error


def _on_scale(graded: Floats, wanted: Complexity) -> Floats:
    """On [0, 1] where a scale is declared; not where a threshold is, which is on the scale itself."""
    if wanted.scale is None or (wanted.above is not None and len(wanted.source) == 1):
        return graded
    try:
        return choose.from_scale(graded, *wanted.scale)
    except ValueError as error:
        raise NotChosen(OFF_SCALE) from error


def _written(choice: HAccuracy) -> bool | dict[str, Any]:
    """The declared complexity as it stands in the scope."""
    wanted = choice.complexity_from
    if wanted is None:
        return choice.complexity
    said = wanted.model_dump(exclude_defaults=True, mode="json") or {"source": list(wanted.source)}
    if len(wanted.source) == 1 and "source" in said:
        said["source"] = wanted.source[0]
    return said
