"""ROC curves of readers: what is drawn, how the arms differ, nothing over anything else, the same bytes."""

from dataclasses import replace
from io import BytesIO
from itertools import combinations
from math import nan
from typing import Any

import numpy as np
import pytest
from drawn_studies import LONG, estimate
from test_drawings import boxes, texts
from test_drawn_values import drawn, written

from tests.studies import plan, readings
from trustreport.dimensions.decision_benefit import DIMENSION
from trustreport.figures import style
from trustreport.figures.curves import thinned
from trustreport.figures.reader_roc import FEW, ArmCurves, ReaderCurve, ReaderRoc
from trustreport.finding import Figure
from trustreport.measures.roc.curve import mean_curve, roc_curve
from trustreport.messages import Catalogue, catalogue
from trustreport.study import Study

AREA = estimate(0.812, 0.761, 0.863)


def arm(n: int, aided: bool, name: str = "", *, decisions: bool = True, area: Any = AREA) -> ArmCurves:
    rng = np.random.default_rng(n + aided)
    truth = np.arange(60) % 2 == 0
    curves = [roc_curve(truth, np.round(rng.normal(truth * (1 + aided), 1), 1)).corners() for _ in range(n)]
    readers = tuple(
        ReaderCurve(f"R{k} {name}", thinned(c.fpr, c.tpr, 60), (0.2 + k / 200, 0.7) if decisions else None)
        for k, c in enumerate(curves)
    )
    mean = thinned(*mean_curve([(c.fpr, c.tpr) for c in curves]))
    return ArmCurves(name or ("with the aid" if aided else "without the aid"), aided, readers, mean, area)


NOTHING = ReaderCurve("cases of one class only", ())
DRAWINGS = {
    **{f"{n} readers": ReaderRoc((arm(n, False), arm(n, True))) for n in (1, 5, 20)},
    "long names": ReaderRoc((arm(3, False, LONG), arm(3, True, LONG))),
    "no decisions": ReaderRoc((arm(4, False, decisions=False), arm(4, True, decisions=False))),
    "one without a curve": ReaderRoc((arm(4, False), replace(arm(4, True), readers=(NOTHING,)))),
    "no interval": ReaderRoc(tuple(arm(2, a, area=estimate(0.8, nan, nan)) for a in (False, True))),
}


def lines_of(name: str) -> dict[str, Any]:
    return drawn(DRAWINGS[name].draw(catalogue("en")))


@pytest.mark.parametrize("name", DRAWINGS)
def test_no_text_lies_over_another_or_outside(name: str, say: Catalogue) -> None:
    figure = DRAWINGS[name].draw(say)
    with style.settings():
        found = boxes(figure)
    width, height = (side * 25.4 for side in figure.get_size_inches())
    assert width == pytest.approx(170)
    assert height <= style.PAGE_HEIGHT
    assert all(text.get_size() >= 7.0 for text in texts(figure))
    for text, box in found:
        assert box.x0 >= -0.5, text
        assert box.y0 >= -0.5, text
        assert box.x1 <= figure.bbox.x1 + 1.0, text
        assert box.y1 <= figure.bbox.y1 + 0.5, text
    for (a, one), (b, other) in combinations(found, 2):
        wide = min(one.x1, other.x1) - max(one.x0, other.x0)
        high = min(one.y1, other.y1) - max(one.y0, other.y0)
        assert wide < 0.5 or high < 0.8, (a, b)


def test_curves_means_and_decisions_stand_where_they_are() -> None:
    drawing, lines = DRAWINGS["5 readers"], lines_of("5 readers")
    for a, one in enumerate(drawing.arms):
        for k, reader in enumerate(one.readers):
            assert list(zip(*lines[f"curve-{a}-{k}"].get_data())) == list(reader.points)
            assert [d[0] for d in lines[f"point-{a}-{k}"].get_data()] == list(reader.decisions or ())
        assert list(zip(*lines[f"mean-{a}"].get_data())) == list(one.mean)


@pytest.mark.parametrize("name", ["5 readers", "20 readers"])
def test_arms_differ_without_colour_and_means_are_heavier(name: str) -> None:
    lines = lines_of(name)
    for kind in ("curve-{}-0", "mean-{}"):
        unaided, aided = (lines[kind.format(a)] for a in (0, 1))
        assert unaided.get_linestyle() == "--"
        assert aided.get_linestyle() == "-"
    assert lines["mean-1"].get_linewidth() > 2 * lines["curve-1-0"].get_linewidth()
    assert lines["mean-1"].get_color() == style.BLUE
    assert lines["point-0-0"].get_markerfacecolor() == style.PAPER
    assert lines["point-0-0"].get_marker() != lines["point-1-0"].get_marker()
    pale = lines["curve-1-0"].get_color() != style.BLUE
    assert pale == (len(DRAWINGS[name].arms[0].readers) > FEW)


def test_the_key_tells_the_areas_and_how_many_readers(say: Catalogue) -> None:
    said = " ".join(written(DRAWINGS["5 readers"].draw(say)))
    assert "mean of the readers, with the aid AUC 0.81 (95% CI 0.76 to 0.86)" in said
    assert "each of 5 readers, without the aid" in said
    assert "decisions of a reader, with the aid" in said
    bare = " ".join(written(DRAWINGS["no decisions"].draw(say)))
    assert "decisions" not in bare
    assert "AUC 0.800 (no interval)" in " ".join(written(DRAWINGS["no interval"].draw(say)))


def test_a_reader_without_both_classes_has_no_curve() -> None:
    lines = lines_of("one without a curve")
    assert "curve-1-0" not in lines
    assert "point-1-0" not in lines
    assert "curve-0-0" in lines


@pytest.mark.parametrize("name", DRAWINGS)
def test_values_are_plain_rows(name: str, say: Catalogue) -> None:
    rows = DRAWINGS[name].values(say)
    assert {row["place"] for row in rows} <= {"ROC curve", "decisions"}
    assert any(row["label"] == "mean of the readers" for row in rows)
    assert all(isinstance(v, (str, float)) for row in rows for v in row.values())


def test_a_second_drawing_gives_the_same_bytes(say: Catalogue) -> None:
    def svg() -> bytes:
        file = BytesIO()
        with style.settings():
            DRAWINGS["5 readers"].draw(say).savefig(file, format="svg", metadata={"Date": None})
        return file.getvalue()

    assert svg() == svg()


# ---------------------------------------------------------------- from a study


RNG = np.random.default_rng(8)
SCORES = RNG.normal(0, 1, (2, 6, 40)) + np.arange(40) % 2


def on_line(points: Any, at: list[float]) -> bool:
    """Whether a place lies on a line of level and upright parts."""
    low, high = np.array(points)[:-1], np.array(points)[1:]
    inside = (low <= np.array(at) + 1e-9) & (np.array(at) <= high + 1e-9)
    return bool(inside.all(axis=1).any())


def figure_of(study: Study) -> Figure | None:
    assert DIMENSION.answer is not None
    figures = [f for part in DIMENSION.answer(study, plan()).parts for f in part.figures]
    return next((figure for figure in figures if figure.id == "reader_roc_1"), None)


def test_studies_with_scores_have_the_figure_and_others_not(say: Catalogue) -> None:
    right = (SCORES > 0.5) == (np.arange(40) % 2 == 1)
    assert figure_of(readings(right)) is None
    figure = figure_of(readings(right, scores=SCORES))
    assert figure is not None
    assert say(figure.alt).startswith("ROC curves of 6 readers; mean area ")
    drawing = figure.drawing
    assert isinstance(drawing, ReaderRoc)
    assert [(one.label, one.aided) for one in drawing.arms] == [("unaided", False), ("aided", True)]
    for a, one in enumerate(drawing.arms):
        x, y = np.array(one.mean).T
        assert np.trapezoid(y, x) == pytest.approx(one.auc.value)
        for k, reader in enumerate(one.readers):
            called = SCORES[a, k] > 0.5
            shares = [called[np.arange(40) % 2 == c].mean() for c in (0, 1)]
            assert reader.decisions == pytest.approx(tuple(shares))
            assert on_line(reader.points, shares)


def test_a_reader_who_saw_one_class_is_left_out_and_gaps_do_no_harm() -> None:
    missing = RNG.random(SCORES.shape) < 0.2
    missing[1, 2, 1::2] = True
    figure = figure_of(readings(SCORES > 0, missing, scores=SCORES))
    assert figure is not None
    assert isinstance(figure.drawing, ReaderRoc)
    aided = figure.drawing.arms[1].readers
    assert [bool(reader.points) for reader in aided] == [True, True, False, True, True, True]
    assert aided[2].decisions is None
