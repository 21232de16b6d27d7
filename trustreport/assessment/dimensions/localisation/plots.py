"""The FROC figure of a data set or task."""

from collections.abc import Iterator, Sequence

import numpy as np

from trustreport.assessment.dimensions.localisation.results import ID, READERS_ID
from trustreport.assessment.finding import Figure
from trustreport.assessment.narrative.texts import Texts
from trustreport.assessment.performance.lesions import MarkedCases, rates_of
from trustreport.figures.curves import MOST_POINTS, Points, thinned
from trustreport.figures.mean_curves import AIR, FrocArm, FrocFigure, FrocLine
from trustreport.measures.lesions.froc import FrocCurve, froc_curve
from trustreport.study.plan import Plan
from trustreport.vocabulary.results import Result

FEWER_POINTS = 120
STEPS = 201  # of the mean curve of readers

text = Texts(ID)


def froc_figures(one: MarkedCases, results: Sequence[Result], plan: Plan, number: int) -> Iterator[Figure]:
    """Curves of all candidates, or of the readers in each arm; nothing without a lesion."""
    if not one.with_lesion:
        return
    shown = [[froc_curve(one.marked(a, j)) for j in range(len(one.makers))] for a in range(len(one.arms))]
    last = max(float(c.false_marks[-1]) for arm in shown for c in arm)
    rates = rates_of(plan)
    # Beyond the highest rate of interest a curve is cut; where fewer false marks were made it ends before.
    most = AIR * (min(last, max(rates)) or rates[0])
    readers = _arms(one, shown, results, plan, most) if one.by_readers else ()
    lines = () if one.by_readers else _lines(one, shown[0], results, most)
    names = list(one.makers) if len(one.makers) > 1 else []
    yield text.figure(
        f"reader_froc_{number}" if one.by_readers else f"froc_{number}",
        FrocFigure(lines, readers, most),
        "readers" if one.by_readers else "candidates",
        n=len(one.makers),
        names=names,
        name=one.of.name,
        arms=list(one.arms),
    )


def _lines(
    one: MarkedCases, shown: Sequence[FrocCurve], results: Sequence[Result], most: float
) -> tuple[FrocLine, ...]:
    points = MOST_POINTS if len(shown) == 1 else FEWER_POINTS
    made = []
    for j, curve in enumerate(shown):
        own = [r for r in results if r.place == one.place_of(j)]
        area = next(r.estimate for r in own if r.name == "wafroc_auc")
        at = [
            (float(r.parameters["false_marks_per_case"]), r.estimate)
            for r in own
            if r.name == "froc_sensitivity"
        ]
        label = one.makers[j] if len(shown) > 1 else one.place.data_name
        drawn = tuple((x, e) for x, e in at if x <= most)
        made.append(FrocLine(label, _cut(curve, most, points), area, drawn))
    return tuple(made)


def _cut(curve: FrocCurve, most: float, points: int) -> Points:
    """The curve up to `most` false marks a case, flat from its last point on."""
    x, y = curve.false_marks, curve.sensitivity
    inside = x <= most
    ends = np.append(x[inside], most), np.append(y[inside], curve.sensitivity_at(most))
    return thinned(*ends, points)


def _arms(
    one: MarkedCases, shown: Sequence[Sequence[FrocCurve]], results: Sequence[Result], plan: Plan, most: float
) -> tuple[FrocArm, ...]:
    aided = {arm for arm, _ in plan.contrasts}
    grid = np.linspace(0, most, STEPS)
    made = []
    for a, arm in enumerate(one.arms):
        wanted = {"arm": arm, "endpoint": "wafroc_auc"}
        area = next(
            r.estimate
            for r in results
            if r.id == f"{READERS_ID}.arm_mean" and r.primary and r.within(**wanted)
        )
        readers = tuple(
            (reader, _cut(curve, most, FEWER_POINTS)) for reader, curve in zip(one.makers, shown[a])
        )
        mean = np.mean([[curve.sensitivity_at(x) for x in grid] for curve in shown[a]], axis=0)
        made.append(FrocArm(arm, arm in aided, readers, thinned(grid, mean), area))
    return tuple(sorted(made, key=lambda one: one.aided))
