"""ROC curves of the readers: what the figure of their scores shows."""

from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.decision_benefit.entries import ID
from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED, ReaderEndpoint
from trustreport.figures.curves import Points, thinned
from trustreport.figures.mean_curves import ArmCurves, ReaderCurve, ReaderRoc
from trustreport.measures.roc.curve import mean_curve, roc_curve
from trustreport.study.study import Floats, Readings
from trustreport.vocabulary.results import Result, leading

# Points of all curves of an arm together, and the fewest that a curve keeps.
ALL_POINTS, LEAST_POINTS = 1200, 20


def reader_roc(
    results: Sequence[Result], endpoints: Sequence[ReaderEndpoint], readings: Readings, arms: tuple[str, str]
) -> ReaderRoc | None:
    """The curves of both arms; None where there are no scores to draw one from."""
    found = {endpoint.name: endpoint for endpoint in endpoints}
    if "auc" not in found:
        return None
    truth = readings.cases.truth
    positive, rating = truth[truth >= 0] == 1, found["auc"].outcome
    drawn = []
    for a in (UNAIDED, AIDED):
        lines = [_curve(scores, positive) for scores in rating[a]]
        known = [line for line in lines if line is not None]
        area = leading(results, f"{ID}.arm_mean", endpoint="auc", arm=arms[a])
        if not known or area is None:
            return None
        most = max(ALL_POINTS // len(known), LEAST_POINTS)
        points: list[Points] = [() if line is None else thinned(*line, most) for line in lines]
        decisions = _decisions(found, a, len(lines))
        readers = tuple(map(ReaderCurve, readings.readers.labels, points, decisions))
        drawn.append(ArmCurves(arms[a], a == AIDED, readers, thinned(*mean_curve(known)), area.estimate))
    return ReaderRoc(tuple(drawn))


def _curve(scores: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, Floats] | None:
    """A reader's curve, where the reader rated cases of both classes."""
    rated = ~np.isnan(scores)
    if not (rated & positive).any() or not (rated & ~positive).any():
        return None
    curve = roc_curve(positive[rated], scores[rated]).corners()
    return curve.fpr, curve.tpr


def _decisions(
    found: dict[str, ReaderEndpoint], arm: int, n_readers: int
) -> list[tuple[float, float] | None]:
    """Where each reader's decisions lie: (1 - specificity, sensitivity)."""
    if not {"sensitivity", "specificity"} <= set(found):
        return [None] * n_readers
    pairs = zip(found["specificity"].by_reader[arm], found["sensitivity"].by_reader[arm])
    places = [(1 - specificity.value, sensitivity.value) for specificity, sensitivity in pairs]
    return [place if isfinite(sum(place)) else None for place in places]
