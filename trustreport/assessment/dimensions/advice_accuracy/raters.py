"""What raters said of the cases of a data set: the source of tau, priority and complexity."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trustreport.study.study import Dataset, Floats, Ratings, Study


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
