"""The raters of one task, laid out for the measures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.study.clusters import clustering
from trustreport.study.plan import Plan
from trustreport.study.study import Floats, Ratings
from trustreport.vocabulary.place import Place

MANY_LABELS = 100_000
MEASURED = "measured"  # the manifest's word for: judge the raters by the truth of the cases


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Raters and cases in the order of their names, so that the order of rows decides nothing.

    `codes` and `confidence` are (n_cases, n_raters), -1 and NaN where there is none. `classes` are in their
    order, by number where all are numbers (`ordered`); `ranks`: they are declared to be ordinal. `accuracy`
    (n_raters,) is what is stated, NaN where it is not, or None where nothing is; `same`: one number was
    stated for all. `truth` (n_cases,) holds codes where the manifest says that raters are to be judged by
    it. `cases` are the names of the rows, `cluster` (n_cases,) says which of them belong together; None
    where each is alone.
    """

    task: str
    place: Place
    raters: tuple[str, ...]
    classes: tuple[str, ...]
    ordered: bool
    ranks: bool
    codes: NDArray[np.int64]
    confidence: Floats | None
    accuracy: Floats | None
    same: bool
    truth: NDArray[np.int64] | None
    cases: Sequence[str]
    cluster: Clusters | None = None

    @property
    def n_categories(self) -> int:
        """Categories that raters could choose: at least two, even if all used one."""
        return max(2, len(self.classes))

    @property
    def rated_cases(self) -> set[str]:
        """The names of the cases that anybody labelled."""
        rated = (self.codes >= 0).sum(axis=1) > 0
        return {name for name, one in zip(self.cases, rated) if one}

    @property
    def many(self) -> bool:
        """Whether there are so many labels that fewer resamples do."""
        return int(np.count_nonzero(self.codes >= 0)) > MANY_LABELS


def panel_of(ratings: Ratings, plan: Plan, place: Place) -> Panel:
    """Lay out the annotations of one task."""
    names = tuple(sorted(ratings.raters))
    column = _ranks(ratings.raters, names)
    cases = sorted(ratings.cases.labels)
    row = _ranks(ratings.cases.labels, cases)
    classes, ordered = _in_order(ratings.classes)
    ranks = ordered and len(classes) > 2 and plan.reference_standard.label_scale == "ordinal"
    code = _ranks(ratings.classes, classes)
    shape = (len(row), len(names))
    cells = row[ratings.case], column[ratings.rater]
    codes = np.full(shape, -1)
    codes[cells] = np.where(ratings.label >= 0, code[ratings.label], -1)
    confidence = None
    if ratings.confidence is not None and not np.isnan(ratings.confidence).all():
        confidence = np.full(shape, np.nan)
        confidence[cells] = ratings.confidence
    stated: Any = plan.reference_standard.rater_accuracy
    truth = None
    accuracy = None
    # Labels by other names than the classes of the truth cannot be compared with it: no accuracy is given.
    if stated == MEASURED and set(classes) & set(ratings.cases.classes):
        truth = np.full(len(row), -1)
        truth[row] = _truth_codes(ratings, classes)
    elif isinstance(stated, Mapping):
        accuracy = np.array([float(stated.get(name, np.nan)) for name in names])
    elif stated not in (None, MEASURED):
        accuracy = np.full(len(names), float(stated))
    same = accuracy is not None and not isinstance(stated, Mapping)
    of_case = clustering(ratings.cases).of_case
    cluster = None
    if of_case is not None:
        cluster = np.empty(len(row), np.int64)
        cluster[row] = of_case
    return Panel(
        ratings.task,
        place,
        names,
        classes,
        ordered,
        ranks,
        codes,
        confidence,
        accuracy,
        same,
        truth,
        cases,
        cluster,
    )


def _ranks(names: Any, in_order: Any) -> NDArray[np.int64]:
    """The place in the order of each name."""
    place = {name: i for i, name in enumerate(in_order)}
    return np.array([place[name] for name in names], np.int64)


def _in_order(classes: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Classes by number if all are numbers, and whether they are."""
    try:
        return tuple(sorted(classes, key=float)), True
    except ValueError:
        return tuple(sorted(classes)), False


def _truth_codes(ratings: Ratings, classes: tuple[str, ...]) -> NDArray[np.int64]:
    """The truth of the cases in codes of the labels; -1 where there is none, or no rater used that class."""
    place = {name: i for i, name in enumerate(classes)}
    code = np.array([place.get(name, -2) for name in ratings.cases.classes] + [-1], np.int64)
    return code[ratings.cases.truth]
