"""ROC and decision curves, measures chart: the values drawn, nothing over anything else, the same bytes."""

from functools import cache
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import pytest
from drawn_curves import (
    NOTHING,
    cases,
    chart,
    curve,
    decision_panels,
    group_rows,
    roc_line,
    roc_panels,
    some_readers,
)
from drawn_studies import estimate
from hypothesis import given
from hypothesis import strategies as st
from looked_at import lines as drawn
from looked_at import written

from trustreport.figures.curves import DecisionCurves, above, thinned
from trustreport.figures.measure_rows import MeasureCell, MeasureColumn, MeasureRow, MeasuresChart
from trustreport.figures.roc import DevicePoint, EqualYield, RocFigure, RocLine, RocPanel
from trustreport.figures.style import STROKES
from trustreport.measures.roc.curve import roc_curve
from trustreport.measures.utility.operating import best_point
from trustreport.vocabulary.digits import by_width
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.messages import say as message


@cache
def figure_of(name: str) -> Any:
    return curve(name).draw(catalogue("en"))


# ---------------------------------------------------------------- thinning


def test_a_curve_with_few_corners_is_drawn_exactly() -> None:
    truth, score = cases(900, 1.2)
    curve = roc_curve(truth, score)
    corners = curve.corners()
    assert len(corners.fpr) < 400 < len(curve.fpr)
    assert thinned(curve.fpr, curve.tpr) == tuple(zip(corners.fpr.tolist(), corners.tpr.tolist()))


def test_a_curve_with_many_corners_stays_within_a_hair() -> None:
    truth, score = cases(60_000, 1.0)
    curve = roc_curve(truth, score).corners()
    points = thinned(curve.fpr, curve.tpr)
    assert len(curve.fpr) > 10_000
    assert len(points) == 400
    assert set(points) <= set(zip(map(float, curve.fpr), map(float, curve.tpr)))
    x, y = zip(*points)
    off = np.abs(np.interp(curve.fpr, x, y) - curve.tpr)
    assert off[(curve.fpr > 0.02)].max() < 0.002


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=40), st.integers(2, 12))
def test_thinning_keeps_the_ends_and_invents_no_point(points: list[tuple[int, int]], most: int) -> None:
    x, y = zip(*points)
    found = thinned(x, y, most)
    assert (found[0], found[-1]) == (points[0], points[-1])
    assert len(found) <= max(most, 2)
    assert set(found) <= set(points)


def test_a_line_is_cut_where_it_crosses_a_height() -> None:
    line = ((0.0, 1.0), (1.0, -1.0), (2.0, -1.0), (3.0, 1.0))
    assert above(line, 0.0) == [((0.0, 1.0), (0.5, 0.0)), ((2.5, 0.0), (3.0, 1.0))]
    assert above(line, -2.0) == [line]
    assert above(line, 2.0) == []


# ---------------------------------------------------------------- what is drawn


def test_curve_operating_point_and_interval_stand_where_they_are(say: Catalogue) -> None:
    line = roc_line(150, 1.7)
    figure = RocFigure((RocPanel("", (line,)),)).draw(say)
    lines = drawn(figure)
    assert lines["curve-0-0"].get_xydata().tolist() == [list(p) for p in line.points]
    assert list(lines["point-0-0"].get_xydata()[0]) == pytest.approx([0.28, 0.81])
    assert list(lines["across-0-0"].get_xdata()) == pytest.approx([0.22, 0.34])
    assert list(lines["up-0-0"].get_ydata()) == [0.74, 0.87]
    said = [text.replace("\n", " ") for text in written(figure)]
    assert f"AUC {line.auc.value:.2f} (95% CI {line.auc.low:.2f} to {line.auc.high:.2f})" in said
    assert "sensitivity 81.0% (74.0 to 87.0)" in said


def test_the_line_of_equal_yield_touches_the_curve_from_above(say: Catalogue) -> None:
    # Utilities [4 0; 0 1] of figure 8 of Dyrland et al., whose positive class is 0: slope .5 / (4 x .5).
    truth = np.arange(200) % 3 == 0
    curve = roc_curve(truth, np.sin(np.arange(200) * 1.7) + truth)
    best = best_point(curve, [[1, 0], [0, 4]], 0.5)
    assert best.slope == 0.25
    touching = EqualYield(
        "", message("word.name", name="patients"), best.slope, best.fpr, best.tpr, best.threshold
    )
    (x0, y0), (x1, y1) = touching.ends
    assert (y1 - y0) / (x1 - x0) == pytest.approx(0.25)
    assert y0 == pytest.approx(best.intercept)
    assert (curve.tpr <= y0 + 0.25 * (curve.fpr - x0) + 1e-12).all()
    line = RocLine.of_curve("", curve.fpr, curve.tpr, estimate(0.7, 0.6, 0.8))
    figure = RocFigure((RocPanel("", (line,), (), (touching,)),))
    shown = drawn(figure.draw(say))
    assert shown["equal-yield-0-0"].get_xydata().tolist() == [[x0, y0], [x1, y1]]
    assert shown["touch-0-0"].get_xydata()[0].tolist() == [best.fpr, best.tpr]
    assert sum(row["place"].startswith("line of equal yield") for row in figure.values(say)) == 3
    upright = EqualYield("", message("word.name", name="u"), inf, 0.2, 0.9, 0.5)
    assert upright.ends == ((0.2, 0.0), (0.2, 1.0))


def test_the_area_stands_in_each_of_several_panels(say: Catalogue) -> None:
    panels = roc_panels(5)
    said = written(RocFigure(panels).draw(say))
    for panel in panels:
        auc = panel.lines[0].auc
        places = by_width(auc.value, auc.low, auc.high)
        value, low, high = (f"{x:.{places}f}" for x in (auc.value, auc.low, auc.high))
        assert f"AUC {value} ({low} to {high})" in said


def test_readers_stand_where_they_decide_and_arms_differ_in_shape(say: Catalogue) -> None:
    readers = some_readers(4)
    figure = RocFigure((RocPanel("", (roc_line(80, 1.0),), readers),)).draw(say)
    lines = drawn(figure)
    for k, reader in enumerate(readers):
        place = [1 - reader.specificity.value, reader.sensitivity.value]
        assert list(lines[f"reader-0-{k}"].get_xydata()[0]) == place
        assert lines[f"reader-0-{k}"].get_marker() == ("o" if reader.aided else "s")
    assert "readers with the aid (4)" in written(figure)


def test_a_point_without_a_place_is_left_out_and_its_numbers_stay(say: Catalogue) -> None:
    line = RocLine("", ((0.0, 0.0), (1.0, 1.0)), NOTHING, DevicePoint(NOTHING, NOTHING))
    figure = RocFigure((RocPanel("", (line,)),))
    assert "point-0-0" not in drawn(figure.draw(say))
    assert not isfinite(figure.values(say)[-1]["value"])


def test_candidates_differ_without_colour() -> None:
    lines = drawn(figure_of("roc-3-candidates"))
    assert len({str(lines[f"curve-0-{k}"]._dash_pattern) for k in range(3)}) == 3
    kinds = {(str(how.get("ls")), how["lw"]) for how in STROKES}
    assert len(kinds) == len(STROKES)


def test_net_benefit_stands_where_it_is_and_what_is_far_below_zero_is_cut(say: Catalogue) -> None:
    panel = decision_panels(1)[0]
    figure = DecisionCurves((panel,)).draw(say)
    lines = drawn(figure)
    line = panel.lines[0]
    assert lines["curve-0-0"].get_xydata().tolist() == [[p.x, p.y] for p in line.points]
    for k, p in enumerate(line.marked):
        assert lines[f"declared-0-0-{k}"].get_xydata().tolist() == [[p.x, p.y]]
        assert list(lines[f"interval-0-0-{k}"].get_ydata()) == [p.low, p.high]
    assert set(lines["treat-none-0"].get_ydata()) == {0}
    least = figure.axes[1].get_ylim()[0]
    assert lines["treat-all-0"].get_ydata()[0] == panel.treat_all[0][1]
    assert lines["treat-all-0"].get_ydata()[-1] == pytest.approx(least)


def test_limits_of_several_candidates_stand_side_by_side(say: Catalogue) -> None:
    panel = decision_panels(1, 3)[0]
    figure = DecisionCurves((panel,)).draw(say)
    lines = drawn(figure)
    places = [float(lines[f"declared-0-{k}-0"].get_xdata()[0]) for k in range(3)]
    assert places == sorted(set(places))
    assert places[1] == pytest.approx(0.1)
    assert not [c for c in figure.axes[1].collections if str(c.get_gid()).startswith("band")]


def test_measures_stand_where_they_are_and_what_is_undefined_says_so(say: Catalogue) -> None:
    shown = chart(12)
    figure = shown.draw(say)
    lines = drawn(figure)
    for i, row in enumerate(shown.rows):
        for k, cell in enumerate(row.cells):
            if cell is None or not isfinite(cell.estimate.value):
                assert f"mark-{i}-{k}" not in lines
                continue
            e = cell.estimate
            assert list(lines[f"mark-{i}-{k}"].get_xdata()) == [e.value]
            assert list(lines[f"interval-{i}-{k}"].get_xdata()) == [e.low, e.high]
            if isfinite(cell.reference):
                assert set(lines[f"reference-{i}-{k}"].get_xdata()) == {cell.reference}
    undefined = [c for row in shown.rows for c in row.cells if c and not isfinite(c.estimate.value)]
    assert written(figure).count("not defined") == len(undefined) > 0


def test_limits_beyond_the_axis_end_at_its_edge(say: Catalogue) -> None:
    row = MeasureRow("a", (MeasureCell(estimate(0.99, 0.9, 1.02)), MeasureCell(estimate(0.5, nan, nan))))
    figure = MeasuresChart((MeasureColumn("x"), MeasureColumn("y")), (row,)).draw(say)
    lines = drawn(figure)
    low, high = lines["interval-0-0"].get_xdata()
    assert (low, high) == (0.9, lines["interval-0-0"].axes.get_xlim()[1])
    assert 1.0 < high < 1.01
    assert "interval-0-1" not in lines


def test_groups_of_sets_stand_where_they_are_and_differ_in_shape(say: Catalogue) -> None:
    shown = group_rows(3, 2, 4)
    lines = drawn(shown.draw(say))
    for b, block in enumerate(shown.blocks):
        for i, row in enumerate(block.rows):
            for c, whole in enumerate(row.overall):
                assert whole is not None
                assert set(lines[f"overall-{b}-{i}-{c}"].get_xdata()) == {whole.value}
                for g, found in enumerate(row.groups):
                    e = found[c]
                    if e is None:
                        assert f"mark-{b}-{i}-{c}-{g}" not in lines
                        continue
                    assert list(lines[f"mark-{b}-{i}-{c}-{g}"].get_xdata()) == [e.value]
                    assert list(lines[f"interval-{b}-{i}-{c}-{g}"].get_xdata()) == [e.low, e.high]
    shapes = [lines[f"mark-1-0-0-{g}"].get_marker() for g in range(4)]
    assert len(set(shapes)) == 4
    assert len(shown.values(say)) == 3 * (2 + 4) * 3 - 2 * 3  # a set lacks a group in either block


def test_axes_of_measures_fit_their_values(say: Catalogue) -> None:
    rows = tuple(
        MeasureRow(f"set {i}", (MeasureCell(estimate(v, v - 0.03, v + 0.02)),))
        for i, v in enumerate((0.85, 0.9))
    )
    lines = drawn(MeasuresChart((MeasureColumn("Sensitivity"),), rows).draw(say))
    low, high = lines["mark-0-0"].axes.get_xlim()
    assert 0.8 < low < 0.82
    assert 0.92 < high < 0.94
