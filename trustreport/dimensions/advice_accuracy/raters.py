"""What raters said of the cases of a data set: the source of tau, priority and complexity."""

from dataclasses import dataclass

import numpy as np

from trustreport.study import Dataset, Floats, Ratings, Study


@dataclass(frozen=True, eq=False)
class RatersOfCases:
    """Labels and confidences of raters for the cases of a data set, (n_raters, n_cases), NaN where none.

    `decision` holds the class that a rater named, as the truth counts classes; `right` 1.0 or 0.0.
    """

    decision: Floats
    confidence: Floats | None
    right: Floats


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
    confidence = None
    if ratings.confidence is not None and not np.isnan(ratings.confidence).all():
        confidence = np.full(shape, np.nan)
        confidence[where] = ratings.confidence[kept]
    truth = dataset.cases.truth
    judged = ~np.isnan(decision) & (truth >= 0)
    right = np.where(judged, decision == truth, np.nan)
    return RatersOfCases(decision, confidence, right)
