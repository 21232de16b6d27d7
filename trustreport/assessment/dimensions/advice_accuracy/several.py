"""Data sets of several classes: each class against the rest, all cases together, and means over classes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.advice_accuracy.results import ID
from trustreport.assessment.dimensions.advice_accuracy.utility import name_of_utility
from trustreport.assessment.finding import Column, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts
from trustreport.assessment.performance.cases import place_of_set
from trustreport.assessment.performance.keys import case_key, is_mature
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.several import (
    FEW_OF_RAREST,
    LEAST_OF_RAREST,
    Mean,
    among_highest,
    class_measure,
    mean_of_classes,
    right_share,
)
from trustreport.measures.estimate import Estimate
from trustreport.measures.roc.auc import auc_logit_larger
from trustreport.measures.roc.clustered import auc_logit_obuchowski
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Floats, Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

OF_CLASS = ("sensitivity", "specificity", "ppv", "npv")
MEANS: tuple[tuple[str, Mean, bool], ...] = (
    ("macro_sensitivity", "sensitivity", False),
    ("macro_ppv", "ppv", False),
    ("macro_f1", "f1", False),
    ("weighted_f1", "f1", True),
)
MOST_WORTH = 2  # utilities with a sentence of their own

text = Texts(f"{ID}.several")
SUM_ROUNDED = 0.02  # by which the sum of printed probabilities may differ from 1
TOP = (2, 3, 5)  # highest scores among which the class of a case is looked for


@dataclass(frozen=True, eq=False)
class Called:
    """The classes of the cases of data, and what a candidate called: -1 without output.

    `decisions` are what can be called: the classes, or others. A published table has no `scores`;
    `scored_risks` says whether scores may be probabilities.
    """

    place: Place
    classes: tuple[str, ...]
    truth: NDArray[np.int64]
    called: NDArray[np.int64]
    scores: Floats | None
    cluster: Clusters | None
    cases: str
    decisions: tuple[str, ...]
    scored_risks: bool = True

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        return self.place.data_name

    @property
    def calls_classes(self) -> bool:
        """Whether a decision is the name of a class, so that it can be right."""
        return self.decisions == self.classes

    @cached_property
    def probabilities(self) -> Floats | None:
        """The scores of each case brought to the sum 1, (n_cases, n_classes); None where they are none.

        They are probabilities if none is negative and their sum is 1 but for rounding.
        """
        if self.scores is None or not self.scored_risks:
            return None
        known = self.scores[~np.isnan(self.scores).any(axis=1)]
        sums = known.sum(axis=1)
        if not len(known) or (known < 0).any() or (np.abs(sums - 1) > SUM_ROUNDED).any():
            return None
        return self.scores / self.scores.sum(axis=1, keepdims=True)


def called_classes(study: Study, plan: Plan) -> Iterator[Called]:
    """Every candidate that gave scores of more than two classes; the highest score is what it calls."""
    for dataset in study.datasets:
        if len(dataset.cases.classes) > 2:
            yield from _of_dataset(dataset, study, plan)


def _of_dataset(dataset: Dataset, study: Study, plan: Plan) -> Iterator[Called]:
    known = (dataset.cases.truth >= 0) & is_mature(dataset, study, plan)
    cluster = clusters_of(dataset, plan).of_case
    for candidate, given in dataset.scores.items():
        if given.class_scores is None or not known.any():
            continue
        scores = given.class_scores[known]
        complete = ~np.isnan(scores).any(axis=1)
        highest = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=1)
        yield Called(
            place_of_set(dataset, candidate if len(dataset.scores) > 1 else None),
            dataset.cases.classes,
            dataset.cases.truth[known].astype(np.int64),
            np.where(complete, highest, -1),
            scores,
            None if cluster is None else cluster[known],
            case_key(dataset.name, dataset.cases.labels, np.flatnonzero(known)),
            dataset.cases.classes,
            plan.operating_point.scores_are_probabilities is not False,
        )


def tabulated_classes(plan: Plan) -> Iterator[Called]:
    """Every published table of several classes or decisions, case by case."""
    for one in plan.confusion_tables:
        cells = np.array(one.table, np.int64)
        called, truth = (np.repeat(axis.ravel(), cells.ravel()) for axis in np.indices(cells.shape))
        place, decisions = Place(set=one.set, candidate=one.candidate), one.decisions or one.classes
        if len(truth):
            yield Called(place, one.classes, truth, called, None, None, "", decisions)


def class_results(one: Called, plan: Plan) -> list[Result]:
    """Share right, means over classes, the highest scores, and every class against the rest.

    Nothing where what was called are no classes.
    """
    if not one.calls_classes:
        return []
    level, n = plan.report.confidence_level, len(one.classes)
    data = one.truth, one.called

    def entry(name: str, e: Estimate, *, primary: bool = True, **parameters: object) -> Result:
        """A result of all cases of this data set."""
        return Result(f"{ID}.{name}", one.place, e, parameters=parameters, primary=primary, cases=one.cases)

    results = [entry("class_accuracy", right_share(one.truth == one.called, one.cluster, level=level))]
    for name, of, weighted in MEANS:
        mean = mean_of_classes(of, *data, n, one.cluster, weighted=weighted, level=level)
        # That of the mean sensitivity covers from few cases of a class on.
        if of != "sensitivity" and not isnan(mean.low) and _of_rarest(one) < LEAST_OF_RAREST:
            mean = replace(mean, low=nan, high=nan, note=FEW_OF_RAREST)
        results.append(entry(name, mean, primary=not weighted))
    complete = one.called >= 0
    for k in TOP if one.scores is not None else ():
        if k < n:
            assert one.scores is not None
            right = complete & among_highest(one.truth, np.nan_to_num(one.scores), k)
            results.append(entry("top_k_accuracy", right_share(right, one.cluster, level=level), k=k))
    for i, name in enumerate(one.classes):
        for measure in OF_CLASS:
            e = class_measure(measure, *data, i, one.cluster, level=level)
            results.append(entry(f"class_{measure}", e, of_class=name))
        if one.scores is not None:
            results.append(entry("class_auc", _area(one, one.scores, i, level), of_class=name))
    return results


def _of_rarest(one: Called) -> int:
    """Cases, or clusters that hold one, of the class with the fewest."""
    own = np.arange(len(one.truth)) if one.cluster is None else one.cluster
    return min(len(np.unique(own[one.truth == k])) for k in range(len(one.classes)))


def _area(one: Called, scores: Floats, i: int, level: float) -> Estimate:
    """The area of the score of a class against all other classes, of cases with output."""
    complete = one.called >= 0
    truth, score = one.truth[complete] == i, scores[complete, i]
    if one.cluster is None:
        return auc_logit_larger(truth, score, level=level)
    return auc_logit_obuchowski(truth, score, one.cluster[complete], level=level)


def class_part(one: Called, results: list[Result], number: int) -> Part:
    """Sentences, the table of classes by calls, and the tables of each class and of each utility."""
    return text.part(_items(one, results, number), text("title", name=one.name), one.place)


def _items(one: Called, results: list[Result], number: int) -> Iterator[Item]:
    found = {r.name: r.estimate for r in results if not r.parameters}
    share, mean = found.get("class_accuracy"), found.get("macro_sensitivity")
    worth = [r for r in results if r.name == "utility_yield" and r.primary]
    for r in worth[:MOST_WORTH]:
        if not isnan(r.estimate.low):
            yield text("worth", r, name=one.name, utility=name_of_utility(r.parameters["utility"]))
    if share is not None:
        key = "decided_right" if one.scores is None else "right"
        yield text(key, share, name=one.name, n=len(one.truth), classes=len(one.classes))
    if mean is not None and mean.value == mean.value:
        yield text("mean", mean)
    own = [r for r in results if r.name == "class_sensitivity" and r.estimate.n]
    if own:
        least = min(own, key=lambda r: r.estimate.value)
        yield text("least", least, of_class=str(least.parameters["of_class"]))
    absent = int((one.called < 0).sum())
    if absent:
        yield text("without_output", n=absent)
    yield _calls(one, number, absent)
    if worth:
        caption = say(f"{ID}.table_utility")
        yield text.estimates(f"class_utility_{number}", caption, worth, _of_utility, lambda r: False)
    if share is not None:
        yield _each(one, results, number, share.level)
        yield text.estimates(
            f"class_means_{number}",
            text("table_together", name=one.name),
            [r for r in results if "of_class" not in r.parameters and "utility" not in r.parameters],
            _of_all,
            lambda r: r.name == "class_accuracy",
        )


def _of_utility(r: Result) -> Message:
    return say(f"{ID}.yield_of", name=name_of_utility(r.parameters["utility"]))


def _of_all(r: Result) -> Message:
    """What a number of all classes together is called."""
    return text("top", k=int(r.parameters["k"])) if "k" in r.parameters else say(f"quantity.{r.name}")


def _calls(one: Called, number: int, absent: int) -> PlainTable:
    """The classes of the cases by the classes called, or by the other decisions."""
    n = len(one.decisions)
    counts = np.zeros((len(one.classes), n + 1), np.int64)
    np.add.at(counts, (one.truth, np.where(one.called < 0, n, one.called)), 1)
    width = n + 1 if absent else n
    heads = [*(say("word.name", name=name) for name in one.decisions), text("none")][:width]
    return text.table(
        f"classes_{number}",
        text("table_decisions" if one.scores is None else "table_calls", name=one.name),
        (".true", *(Column(head, "count") for head in heads)),
        [(name, *counts[i, :width].tolist()) for i, name in enumerate(one.classes)],
    )


def _each(one: Called, results: list[Result], number: int, level: float) -> PlainTable:
    """A row for each class."""
    of: dict[tuple[str, str], Estimate] = {
        (str(r.parameters["of_class"]), r.name): r.estimate for r in results if "of_class" in r.parameters
    }
    measures = OF_CLASS if one.scores is None else (*OF_CLASS, "auc")
    counts = np.bincount(one.truth, minlength=len(one.classes)).tolist()
    return text.table(
        f"each_class_{number}",
        text("table_each", name=one.name, level=level),
        (".of_class cases", *(f"{measure}:number" for measure in measures)),
        [
            (name, counts[i], *(of[name, f"class_{measure}"] for measure in measures))
            for i, name in enumerate(one.classes)
        ],
    )
