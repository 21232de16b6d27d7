"""FROC curves: what is drawn and said of it, nothing over anything else, the same bytes."""

from math import nan
from typing import Any

import pytest
from drawn_studies import LONG, estimate
from looked_at import lines as drawn
from looked_at import texts, written

from tests.marked import of_candidates, of_readers
from tests.studies import plan
from trustreport.assessment.dimensions.localisation import DIMENSION, READERS
from trustreport.assessment.performance.lesions import marked_cases
from trustreport.figures.mean_curves import FrocArm, FrocFigure, FrocLine
from trustreport.measures.lesions.froc import froc_curve
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Catalogue, catalogue

AREA = estimate(0.71, 0.62, 0.8)
POINTS = ((0.0, 0.0), (0.0, 0.4), (0.5, 0.7), (2.0, 0.9))
AT = ((0.125, estimate(0.47, 0.3, 0.6)), (1.0, estimate(0.77, 0.6, 0.9)))


def froc_figure(study: Study, dimension: Any = DIMENSION) -> FrocFigure:
    (part,) = dimension.answer(study, plan()).parts
    return part.figures[0].drawing


def arm(name: str, aided: bool, n: int) -> FrocArm:
    readers = tuple((f"{name} {k}", tuple((x, y - k / 90) for x, y in POINTS[1:])) for k in range(n))
    return FrocArm(name, aided, readers, POINTS, AREA)


DRAWINGS = {
    "one": FrocFigure((FrocLine("north", POINTS, AREA, AT),), (), 2.0),
    "several": FrocFigure(tuple(FrocLine(f"{k}", POINTS, AREA, AT) for k in range(7)), (), 2.0),
    "long names": FrocFigure(tuple(FrocLine(f"{LONG} {k}", POINTS, AREA) for k in range(2)), (), 2.0),
    "no area": FrocFigure((FrocLine("north", POINTS, estimate(nan, nan, nan), AT),), (), 2.0),
    "few false marks": FrocFigure((FrocLine("north", ((0.0, 0.0), (0.004, 0.9)), AREA),), (), 0.004),
    "readers": FrocFigure((), (arm("unaided", False, 5), arm("aided", True, 5)), 2.0),
    "one reader": FrocFigure((), (arm("unaided", False, 1),), 2.0),
}


def test_the_curve_is_that_of_the_marks() -> None:
    study = of_candidates()
    curve = froc_curve(next(marked_cases(study, plan())).marked(0, 0))
    made = froc_figure(study)
    x, y = drawn(made.draw(catalogue("en")))["curve-0"].get_data()
    for a, b in zip(x, y):
        assert any(
            abs(a - p) < 1e-9 and abs(b - q) < 1e-9 for p, q in zip(curve.false_marks, curve.sensitivity)
        ) or (a == pytest.approx(made.most))
    assert x[0] == y[0] == 0
    assert y[-1] == pytest.approx(curve.sensitivity_at(made.most))


def test_estimates_lie_on_the_curve_with_their_intervals() -> None:
    made = froc_figure(of_candidates())
    marks = drawn(made.draw(catalogue("en")))
    assert [x for x, _ in made.lines[0].at] == [0.125, 0.25, 0.5, 1]
    for k, (x, e) in enumerate(made.lines[0].at):
        point, interval = (marks[f"{name}-0-{k}"].get_data() for name in ("point", "interval"))
        assert [list(axis) for axis in point] == [pytest.approx([x]), pytest.approx([e.value])]
        assert [list(axis) for axis in interval] == [pytest.approx([x, x]), pytest.approx([e.low, e.high])]


def test_readers_have_a_line_each_and_a_mean_of_each_arm() -> None:
    made = froc_figure(of_readers(readers=3), READERS)
    marks = drawn(made.draw(catalogue("en")))
    assert [one.aided for one in made.arms] == [False, True]
    assert {"curve-0-0", "curve-0-1", "curve-0-2", "curve-1-2", "mean-0", "mean-1"} <= set(marks)
    shown = " ".join(written(made.draw(catalogue("en"))))
    assert "mean of the readers, aided" in shown
    assert "wAFROC area" in shown


def test_the_key_names_lines_with_their_areas(say: Catalogue) -> None:
    shown = " ".join(t.get_text().replace("\xa0", " ") for t in texts(DRAWINGS["one"].draw(say)))
    assert "wAFROC area 0.71 (95% CI 0.62 to 0.80)" in shown
    assert "false marks per case" in shown
    assert "lesions found" in shown


def test_values_are_those_that_are_drawn(say: Catalogue) -> None:
    rows = DRAWINGS["one"].values(say)
    assert [(r["false_marks"], r["value"]) for r in rows[:4]] == list(POINTS)
    assert rows[-1]["low"] == AT[1][1].low
    arms = DRAWINGS["readers"].values(say)
    assert {r["arm"] for r in arms} == {"unaided", "aided"}
    assert len(arms) == 2 * (5 * 3 + 4)
