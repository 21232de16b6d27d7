"""The marks stand where the estimates say: read back from what was drawn."""

import ast
import re
from math import inf, isfinite, isnan, nan
from pathlib import Path
from typing import Any

import pytest
from drawn_studies import EXTREME_RATIOS, MEAN, MEAN_SLOPE, benefits, differences, estimate, rates, slopes
from looked_at import lines as drawn
from looked_at import plain, written

from trustreport.figures import numbers, style
from trustreport.figures.benefit import GLYPHS, BenefitDiagram, SlopePlot
from trustreport.figures.effect import EffectPlot, EffectRow, ErrorRateRow, ErrorRates
from trustreport.figures.flow import FlowFigure, Step
from trustreport.vocabulary.messages import Catalogue


def test_error_rates_stand_where_they_are_and_arms_differ_in_shape_and_colour(say: Catalogue) -> None:
    rows = rates(6)
    lines = drawn(ErrorRates(rows).draw(say))
    for i, row in enumerate(rows):
        e = row.estimate
        if isnan(e.value):
            assert f"mark-{i}" not in lines
            continue
        assert list(lines[f"mark-{i}"].get_xdata()) == [e.value]
        assert list(lines[f"interval-{i}"].get_xdata()) == [e.low, e.high]
        assert lines[f"mark-{i}"].get_marker() == ("o" if row.aided else "s")
        hollow = lines[f"mark-{i}"].get_markerfacecolor() == style.PAPER
        assert hollow != row.aided


@pytest.mark.parametrize("rows, start", [((0.23, 0.20, 0.26), 0.0), ((0.912, 0.910, 0.914), 0.9)])
def test_the_axis_of_error_rates_starts_at_zero_unless_that_hides_them(
    rows: tuple[float, float, float], start: float, say: Catalogue
) -> None:
    plot = ErrorRates((ErrorRateRow("a", estimate(*rows)),)).draw(say).axes[1]
    assert plot.get_xlim()[0] == pytest.approx(start, abs=0.02)
    assert (plot.get_xlim()[0] == 0) == (start == 0)


def test_the_leading_effect_is_a_teal_diamond_and_the_others_grey_discs(say: Catalogue) -> None:
    shown = [estimate(0.947, 0.8015, 1.1191), estimate(0.947, 0.83, 1.08)]
    rows = (EffectRow("Two groups", shown[0]), EffectRow("Readers and cases random", shown[1], leads=True))
    figure = EffectPlot(rows, "Odds ratio").draw(say)
    lines = drawn(figure)
    for i, e in enumerate(shown):
        assert list(lines[f"mark-{i}"].get_xdata()) == [e.value]
        assert list(lines[f"interval-{i}"].get_xdata()) == [e.low, e.high]
    assert (lines["mark-0"].get_marker(), lines["mark-1"].get_marker()) == ("o", "D")
    assert lines["interval-1"].get_color() == style.TEAL
    assert lines["interval-1"].get_linewidth() > lines["interval-0"].get_linewidth()
    assert set(lines["no-effect"].get_xdata()) == {1.0}
    assert {"0.95 (0.80 to 1.12)", "0.95 (0.83 to 1.08)"} <= set(written(figure))


@pytest.mark.parametrize("e", EXTREME_RATIOS, ids=str)
def test_what_leaves_the_axis_gets_an_arrow_and_what_is_undefined_a_reason(e: Any, say: Catalogue) -> None:
    others = tuple(EffectRow(f"row {i}", estimate(1.0 + i / 10, 0.8, 1.5)) for i in range(5))
    figure = EffectPlot((EffectRow("extreme", e), *others), "Odds ratio").draw(say)
    lines, (left, right) = drawn(figure), figure.axes[1].get_xlim()
    if isnan(e.value):
        assert not {"mark-0", "interval-0"} & set(lines)
        assert say(e.note) in written(figure)
        return
    inside = left <= e.value <= right
    assert ("value-beyond-0" in lines) != inside
    assert (lines["mark-0"].get_markerfacecolor() == style.FAINT) != inside
    if inside:
        assert list(lines["mark-0"].get_xdata()) == [e.value]
    if isfinite(e.low):
        assert ("low-beyond-0" in lines) == (e.low < left)
        assert ("high-beyond-0" in lines) == (e.high > right)
    else:
        assert "interval-0" not in lines


def test_one_very_long_interval_does_not_squeeze_the_others(say: Catalogue) -> None:
    rows = tuple(EffectRow(f"row {i}", estimate(0.9 + i / 50, 0.7, 1.3)) for i in range(8))
    plot = EffectPlot((*rows, EffectRow("long", estimate(1.1, 1e-4, 1e5))), "Odds ratio").draw(say).axes[1]
    left, right = plot.get_xlim()
    assert 0.1 < left < 0.7
    assert 1.3 < right < 10


def test_every_effect_is_on_the_axis_however_far_they_lie_apart(say: Catalogue) -> None:
    values = [10.0**k for k in range(-3, 7)]
    figure = EffectPlot(tuple(EffectRow(f"{v}", estimate(v, v / 2, v * 2)) for v in values), "OR").draw(say)
    lines, plot = drawn(figure), figure.axes[1]
    assert [lines[f"mark-{i}"].get_xdata()[0] for i in range(10)] == values
    labels = [label.get_text() for label in plot.get_xticklabels()]
    assert 3 <= len(labels) <= 8
    assert "1" in labels


def test_differences_stand_on_a_linear_axis_with_signs(say: Catalogue) -> None:
    rows = differences(9)
    figure = EffectPlot(rows, "Change", "points", benefit="right").draw(say)
    lines, plot = drawn(figure), figure.axes[1]
    assert plot.get_xscale() == "linear"
    assert set(lines["no-effect"].get_xdata()) == {0.0}
    for i, row in enumerate(rows):
        assert list(lines[f"mark-{i}"].get_xdata()) == [row.estimate.value]
    labels = [label.get_text() for label in plot.get_xticklabels()]
    assert "0" in labels
    assert any(label.startswith("+") for label in labels)
    assert not any("-" in label for label in labels)


@pytest.mark.parametrize(
    "shown, scale, text",
    [
        ((0.947, 0.8015, 1.1191), "ratio", "0.95 (0.80 to 1.12)"),
        ((0.0, 0.0, 0.8), "ratio", "0 (0 to 0.80)"),
        ((inf, 2.1, inf), "ratio", "∞ (2.10 to ∞)"),
        ((3.0, 1e-3, 1e6), "ratio", "3.000 (0.001 to 1,000,000.000)"),
        ((2.5e-6, 1e-7, 3.1e8), "ratio", "2.5 × 10⁻⁶ (1.0 × 10⁻⁷ to 3.1 × 10⁸)"),
        ((1.4, nan, nan), "ratio", "1.40 (no interval)"),
        ((nan, nan, nan), "ratio", "not estimable"),
        ((0.227, 0.207, 0.249), "percent", "22.7% (20.7 to 24.9)"),
        ((0.13, 0.05, 0.2), "percent", "13.0% (5.0 to 20.0)"),
        ((0.025, 0.004, 0.046), "points", "+2.5 (+0.4 to +4.6)"),
        ((-0.025, -0.06, 0.0), "points", "\N{MINUS SIGN}2.5 (\N{MINUS SIGN}6.0 to 0.0)"),
        ((2e-5, 1e-6, 1e-4), "percent", "0.0020% (0.0001 to 0.0100)"),
        ((0.0, 0.0, 0.0), "percent", "0.0% (0.0 to 0.0)"),
        ((-0.07, -0.13, 0.02), "points", "\N{MINUS SIGN}7.0 (\N{MINUS SIGN}13.0 to +2.0)"),
        ((0.03, -0.01, 0.07), "difference", "+0.030 (\N{MINUS SIGN}0.010 to +0.070)"),
    ],
)  # fmt: skip
def test_numbers_keep_what_their_interval_deserves(shown: Any, scale: Any, text: str, say: Catalogue) -> None:
    e = estimate(*shown)
    assert plain(numbers.estimate(say, e, scale)) == text


def test_readers_of_the_benefit_diagram_stand_where_they_are(say: Catalogue) -> None:
    rows = benefits(12, 3)
    figure = BenefitDiagram(rows, MEAN).draw(say)
    lines = drawn(figure)
    for i, row in enumerate(rows):
        assert lines[f"mark-{i}"].get_xydata().tolist() == [[row.baseline, row.benefit.value]]
        assert list(lines[f"interval-{i}"].get_ydata()) == [row.benefit.low, row.benefit.high]
        assert lines[f"mark-{i}"].get_marker() == GLYPHS[i % 3][0]
    assert set(lines["mean"].get_ydata()) == {MEAN.value}
    band = next(p for p in figure.axes[1].patches if p.get_gid() == "mean-interval")
    assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((MEAN.low, MEAN.high))
    assert "mean +2.5 points (95% CI +0.4 to +4.6)" in written(figure)


def test_what_a_proportion_allows_is_washed_above_and_below_zero(say: Catalogue) -> None:
    plot = BenefitDiagram(benefits(5, 1), MEAN).draw(say).axes[1]
    regions = {
        p.get_gid(): p.get_xy()[:3].tolist() for p in plot.patches if p.get_gid() in ("benefit", "detriment")
    }
    assert regions == {"benefit": [[0, 0], [1, 0], [0, 1]], "detriment": [[0, 0], [1, 0], [1, -1]]}


def test_readers_in_one_place_are_counted_and_none_is_moved(say: Catalogue) -> None:
    row = benefits(1, 1)[0]
    figure = BenefitDiagram((row,) * 4 + benefits(6, 1)[1:]).draw(say)
    assert "×4" in written(figure)
    assert [drawn(figure)[f"mark-{i}"].get_xdata()[0] for i in range(4)] == [row.baseline] * 4


def test_more_strata_than_shapes_share_the_cross_and_say_so(say: Catalogue) -> None:
    figure = BenefitDiagram(benefits(12, 12)).draw(say)
    assert [drawn(figure)[f"mark-{i}"].get_marker() for i in (10, 11)] == ["x", "x"]
    assert "all other strata (2)" in written(figure)


def test_slopes_run_from_unaided_to_aided_and_ways_differ_without_colour(say: Catalogue) -> None:
    rows = slopes(12)
    lines = drawn(SlopePlot(rows, MEAN_SLOPE).draw(say))
    widths: dict[int, set[float]] = {}
    for i, row in enumerate(rows):
        assert list(lines[f"line-{i}"].get_ydata()) == [row.unaided.value, row.aided.value]
        change = row.aided.value - row.unaided.value
        widths.setdefault((change > 0) - (change < 0), set()).add(lines[f"line-{i}"].get_linewidth())
    assert set(widths) == {-1, 0, 1}
    assert all(len(kinds) == 1 for kinds in widths.values())
    assert len(set().union(*widths.values())) == 3
    assert list(lines["mean"].get_ydata()) == [MEAN_SLOPE.unaided.value, MEAN_SLOPE.aided.value]


def test_the_flow_shows_every_count_with_its_thousands(say: Catalogue) -> None:
    flow = FlowFigure((Step("Rows", 1234567, (("empty", 12),)),), (Step("unaided", 570, (("missing", 0),)),))
    assert {"1,234,567", "12", "570", "0", "Rows", "empty", "unaided", "missing"} <= set(
        written(flow.draw(say))
    )
    assert [(row["place"], row["value"]) for row in flow.values(say)] == [
        ("step", 1234567),
        ("beside step", 12),
        ("arm", 570),
        ("beside arm", 0),
    ]


def test_every_value_of_a_figure_has_a_name_in_the_catalogue(say: Catalogue) -> None:
    for file in Path(style.__file__).parent.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        methods = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name == "values")
        keys = (
            key
            for one in methods
            for made in ast.walk(one)
            if isinstance(made, ast.Dict)
            for key in made.keys
        )
        for key in keys:
            if isinstance(key, ast.Constant):
                assert f"figure.value.{re.sub('_(low|high|n)$', '', key.value)}" in say, (
                    file.name,
                    key.value,
                )


def test_values_are_the_estimates_unrounded(say: Catalogue) -> None:
    rows = differences(3)
    shown = EffectPlot(rows, "Change", "points").values(say)
    assert [(r["value"], r["low"], r["high"], r["n"]) for r in shown] == [
        (row.estimate.value, row.estimate.low, row.estimate.high, row.estimate.n) for row in rows
    ]


@pytest.mark.parametrize("margin", [-0.05, (0.05, -0.05), -0.002, (-0.002, 0.003), -0.3])
def test_a_margin_is_drawn_and_labelled(margin: Any, say: Catalogue) -> None:
    drawing = EffectPlot(differences(4), "Change", "points", benefit="right", margin=margin)
    figure = drawing.draw(say)
    lines, (left, right) = drawn(figure), figure.axes[1].get_xlim()
    for i, at in enumerate(drawing.margins):
        line = lines[f"margin-{i}"]
        assert set(line.get_xdata()) == {at}
        assert left < at < right
        assert line.get_linestyle() == "--"
    labels = [text for text in written(figure) if text.startswith("margin")]
    assert len(labels) == len(drawing.margins) == len(margin if isinstance(margin, tuple) else (margin,))
    row = drawing.values(say)[0]
    assert [v for name, v in row.items() if name.startswith("margin")] == list(drawing.margins)
    assert "margin" not in EffectPlot(differences(4), "Change", "points").values(say)[0]
