"""Calibration curves, external performance, sample sizes: values drawn, nothing over anything else."""

from dataclasses import replace
from functools import cache
from itertools import combinations
from math import hypot, isnan, nan
from typing import Any

import numpy as np
import pytest
from drawn_studies import LONG, estimate
from hypothesis import given, settings
from hypothesis import strategies as st
from looked_at import lines, patches, texts
from matplotlib.colors import to_hex

from trustreport.figures import style
from trustreport.figures.calibration import CalibrationFigure, CalibrationPanel, Histogram
from trustreport.figures.external_performance import (
    HEIGHT,
    WIDTH,
    Axis,
    ExternalPerformance,
    SitePerformance,
    SitePoint,
)
from trustreport.figures.layout import DISC, label_places, spread_discs
from trustreport.figures.sites import (
    CUT,
    MOST_SITES,
    Correlated,
    Forest,
    ForestColumn,
    MetaValidation,
    SampleSizes,
    SizeRow,
)
from trustreport.measures.calibration.binned import calibration_curve
from trustreport.measures.calibration.bins import equal_width
from trustreport.measures.note import note
from trustreport.vocabulary.messages import Catalogue, catalogue

AXES = (
    Axis("Discrimination", "AUC", "AUC", 0.5, 1.0, (0.7, 0.8, 0.9)),
    Axis("Utility", "standardized net benefit at 0.5", "net benefit", 0.0, 1.0, (0.4, 0.6, 0.8)),
    Axis("Calibration", "Brier score, better to the right", "Brier", 0.35, 0.0, (0.25, 0.15, 0.08)),
)
SIMILARITY = (0.0001, 0.0001, 0.0002, 0.03, 0.3, 0.69, 0.9999, 0.001, 0.0001, 0.45, 0.0001, 0.0001)
NONE = estimate(nan, nan, nan, note=note("no_case_has_condition"))


def sites(n: int) -> tuple[SitePoint, ...]:
    draw = np.random.default_rng(3)
    found = []
    for i in range(n):
        at = SIMILARITY[i % 12]
        performances = []
        for axis in AXES:
            value = axis.worst + draw.uniform(0.3, 0.9) * (axis.best - axis.worst)
            shown = estimate(value, value - 0.07, value + 0.07)
            performances.append(SitePerformance(shown, float(draw.uniform(0.3, 2))))
        name = LONG if i == 3 else f"hospital {i}"
        found.append(SitePoint(name, estimate(at, max(0, at - 0.01), min(1, at + 0.01)), tuple(performances)))
    return tuple(found)


def missing() -> tuple[SitePoint, ...]:
    one, other, *_ = sites(2)
    none = SitePerformance(NONE, nan)
    return SitePoint("no net benefit", one.similarity, (one.performances[0], none, none)), SitePoint(
        "no similarity", NONE, other.performances
    )


def panels(n: int) -> tuple[CalibrationPanel, ...]:
    draw = np.random.default_rng(5)
    found = []
    for i in range(n):
        score = draw.random(150)
        truth = draw.random(150) < score**1.4
        held = equal_width(truth, score, 20)
        edges = tuple(k / 20 for k in range(21))
        histogram = Histogram(edges, tuple(held.events.tolist()), tuple((held.n - held.events).tolist()))
        slope = NONE if i == 2 else estimate(0.9, 0.7, 1.1)
        found.append(
            CalibrationPanel(
                LONG if i == 1 else f"hospital {i}",
                calibration_curve(truth, score),
                histogram,
                ((0.02, 0.01), (0.5, 0.4), (0.98, 0.97)),
                slope,
                estimate(1.1, 0.9, 1.3),
            )
        )
    return tuple(found)


def sizes(n: int) -> tuple[SizeRow, ...]:
    draw = np.random.default_rng(6)
    rows = []
    for i in range(n):
        needed = [estimate(float(draw.integers(50, 20_000)), nan, nan) for _ in range(4)]
        rows.append(SizeRow(LONG if i == 1 else f"hospital {i}", 300, (*needed, NONE)))
    return tuple(rows)


def forest(n: int) -> Forest:
    draw = np.random.default_rng(7)
    labels = tuple(LONG if i == 1 else f"hospital {i}" for i in range(n))
    columns = []
    for label, centre, ratio, null in (
        ("AUC", 0.8, False, nan),
        ("Standardized net benefit", 0.4, False, 0.0),
        ("Calibration slope", 0.9, False, 1.0),
        ("Observed / expected", 1.1, True, 1.0),
    ):
        values = centre + draw.normal(0, 0.05, n)
        of_site = [estimate(v, v - 0.08, v + 0.08) for v in values]
        of_site[0] = NONE if label == "Calibration slope" else estimate(centre, centre / 40, centre * 9)
        new = estimate(centre, centre / 5, centre * 3)
        mean = estimate(centre, centre - 0.03, centre + 0.03)
        columns.append(ForestColumn(label, tuple(of_site), mean, new, null, ratio))
    return Forest(labels, tuple(columns))


def forest_without_a_new_site(n: int) -> Forest:
    whole = forest(n)
    none = estimate(nan, nan, nan, n)
    return Forest(whole.labels, tuple(replace(column, new=none) for column in whole.columns))


def meta(n: int) -> MetaValidation:
    draw = np.random.default_rng(8)
    labels = tuple(LONG if i == 1 else f"hospital {i}" for i in range(n))
    similarity = (0.0001, 1.0, *draw.random(max(0, n - 2)))
    measures = []
    for label, low, high in (("AUC", 0.5, 1.0), ("net benefit", -0.2, 1.0), ("Brier", 0.35, 0.0)):
        values = [low + (high - low) * share for share in draw.uniform(0.3, 0.9, n)]
        shown = tuple(estimate(v, v - 0.04, v + 0.04) for v in values)
        known = replace(estimate(0.5, nan if n < 4 else -0.2, nan if n < 4 else 0.9, n), p=0.21)
        r = known if n > 2 else NONE
        measures.append(Correlated(label, label, shown, r, low, high))
    return MetaValidation(labels, tuple(map(float, similarity)), tuple(measures))


MEASURES = ("AUC, width 0.10", "net benefit at 0.5, 0.20", "Brier score, 0.05", "slope, 0.20", "O/E, 0.20")
VALIDATION: dict[str, Any] = {
    **{f"external-{n}": ExternalPerformance(AXES, sites(n)) for n in (1, 3, 8, 12, 30)},
    "external-missing": ExternalPerformance(AXES, missing()),
    "external-none": ExternalPerformance(AXES, missing()[1:]),
    **{f"calibration-{n}": CalibrationFigure(panels(n)) for n in (1, 2, 3, 4, 8, 12)},
    **{f"sizes-{n}": SampleSizes(MEASURES, sizes(n)) for n in (1, 3, 8, 12, 20)},
    **{f"forest-{n}": forest(n) for n in (2, 8, 12, MOST_SITES)},
    "forest-no-new-site": forest_without_a_new_site(3),
    **{f"meta-{n}": meta(n) for n in (2, 3, 8, 12)},
}


@cache
def figure_of(name: str) -> Any:
    return VALIDATION[name].draw(catalogue("en"))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 8, 12])
def test_panels_of_calibration_are_as_wide_as_high(n: int) -> None:
    figure = figure_of(f"calibration-{n}")
    width, height = figure.get_size_inches()
    boxes = [axes.get_position() for axes in figure.axes if axes.get_ylim() == (0, 1)]
    assert len(boxes) == n
    for box in boxes:
        assert box.width * width == pytest.approx(box.height * height, rel=1e-6)


def test_sites_stand_where_performance_and_similarity_say() -> None:
    figure, drawn = figure_of("external-3"), lines(figure_of("external-3"))
    assert len(figure.axes) == 4
    for i, site in enumerate(sites(3)):
        for p, shown in enumerate(site.performances):
            place = drawn.get(f"place-{p}-{i}", drawn[f"mark-{p}-{i}"])
            assert place.get_xdata()[0] == pytest.approx(shown.estimate.value, abs=0.02)
            assert list(drawn[f"similarity-{p}-{i}"].get_ydata()) == [
                site.similarity.low,
                site.similarity.high,
            ]
    span = drawn["interval-0-0"].get_xdata()
    assert list(span) == [sites(3)[0].performances[0].estimate.low, sites(3)[0].performances[0].estimate.high]


def test_a_mark_is_hollow_below_the_minimum_and_shapes_differ() -> None:
    drawn = lines(figure_of("external-12"))
    seen = set()
    for i, site in enumerate(sites(12)):
        for p, shown in enumerate(site.performances):
            mark = drawn[f"mark-{p}-{i}"]
            assert (mark.get_markerfacecolor() == style.PAPER) == (shown.reached < 1)
            assert mark.get_markeredgecolor() == style.SERIES[i % 5]  # its own colour, filled or hollow
            seen.add(shown.reached >= 1)
    assert len(seen) == 2
    shapes = {drawn[f"mark-0-{i}"].get_marker() for i in range(11)}
    assert len(shapes) == 11
    assert shapes == {drawn[f"mark-2-{i}"].get_marker() for i in range(11)}
    looks = {(style.series(i)["marker"], style.series(i)["mfc"]) for i in range(55)}
    assert len(looks) == 55


def test_a_mark_is_half_filled_where_the_minimum_is_not_known(say: Catalogue) -> None:
    one = sites(1)[0]
    unknown = tuple(SitePerformance(shown.estimate, nan) for shown in one.performances)
    figure = ExternalPerformance(AXES, (SitePoint("a", one.similarity, unknown),)).draw(say)
    assert lines(figure)["mark-0-0"].get_fillstyle() == "left"
    written = {t.get_text() for t in texts(figure)}
    assert "minimum not known" in written
    assert "minimum reached" not in written  # of no site is it known


def boxes_of(figure: Any, axes: Any) -> list[Any]:
    """The boxes of the texts within a panel, in pixels."""
    renderer = figure.canvas.get_renderer()
    return [t.get_window_extent(renderer) for t in axes.texts]


@pytest.mark.parametrize("n", [8, 20])
@pytest.mark.parametrize("worst", [0.0, -1.0])
def test_every_site_is_labelled_and_no_two_words_meet(n: int, worst: float, say: Catalogue) -> None:
    """Names at eight sites, names or numbers at twenty; with the words of the qualities."""
    rng = np.random.default_rng(n)
    utility = replace(AXES[1], worst=worst)
    points = []
    for i in range(n):
        similarity = rng.choice([0.001, 0.02, rng.uniform()])
        values = (rng.uniform(0.55, 0.95), rng.uniform(worst, 0.9), rng.uniform(0.1, 0.33))
        shown = tuple(SitePerformance(estimate(v, v - 0.02, v + 0.02), 1.0) for v in values)
        points.append(SitePoint(f"clinic {i}", estimate(similarity, similarity, similarity), shown))
    figure = ExternalPerformance((AXES[0], utility, AXES[2]), tuple(points)).draw(say)
    numbers = {str(k + 1) for k in range(n)}
    for panel in figure.axes[1:]:
        written = {t.get_text() for t in panel.texts}
        assert {f"clinic {i}" for i in range(n)} <= written or numbers <= written
        for a, b in combinations(boxes_of(figure, panel), 2):
            assert min(a.x1, b.x1) - max(a.x0, b.x0) < 1 or min(a.y1, b.y1) - max(a.y0, b.y0) < 2
    if numbers <= {t.get_text() for t in figure.axes[1].texts}:
        assert f"{n} clinic {n - 1}" in {t.get_text() for t in texts(figure)}  # in the key


def test_sites_carry_their_names_in_every_panel_or_all_their_numbers(say: Catalogue) -> None:
    short = tuple(replace(site, label=f"hospital {i}") for i, site in enumerate(sites(8)))
    for axes in ExternalPerformance(AXES, short).draw(say).axes[1:]:
        assert {f"hospital {i}" for i in range(8)} <= {t.get_text() for t in axes.texts}
    figure = figure_of("external-8")  # the name of one is longer than a panel is wide
    for axes in figure.axes[1:]:
        assert {str(k) for k in range(1, 9)} <= {t.get_text() for t in axes.texts}
    assert "7 hospital 6" in {t.get_text() for t in texts(figure)}


def test_names_stand_over_nothing_or_are_left_to_the_key() -> None:
    marks = [(10.0, 10.0), (10.0, 14.0), (40.0, 30.0)]
    found = label_places(["one", "two", "a name far too long for the panel that it is in"], marks, 45.0, 60.0)
    assert found[0] is not None
    assert found[0][0] > 10.0  # to the right of its mark, where there is room
    assert found[1] is not None
    assert found[2] is None
    crossed = label_places(["one"], marks[:1], 45.0, 60.0, [(0.0, 45.0, 9.7, 10.3)])[0]
    assert crossed is not None
    assert crossed[1] != 10.0  # over the bar, not across it
    column = [(20.0, 3.0 * i) for i in range(1, 15)]
    assert all(place is not None for place in label_places(["site"] * 14, column, 45.0, 60.0))


@pytest.mark.parametrize("n", [3, 8, 12, 30])
def test_no_disc_covers_another(n: int) -> None:
    figure = figure_of(f"external-{n}")
    for p in range(3):
        places = []
        for i in range(n):
            x, y = (values[0] for values in lines(figure)[f"mark-{p}-{i}"].get_data())
            axes = figure.axes[p + 1]
            (x0, x1), (y0, y1) = axes.get_xlim(), axes.get_ylim()
            places.append(((x - x0) / (x1 - x0) * WIDTH, (y - y0) / (y1 - y0) * HEIGHT))
        for a, b in combinations(places, 2):
            assert hypot(a[0] - b[0], a[1] - b[1]) >= DISC


def test_fields_darken_toward_good_performance_on_dissimilar_data() -> None:
    drawn = patches(figure_of("external-3"))

    def light(q: int, d: int) -> float:
        return float(sum(drawn[f"field-0-{q}-{d}"].get_facecolor()[:3]))

    assert light(0, 0) > light(1, 0) > light(2, 0) > light(2, 1) > light(2, 2)
    assert light(0, 0) > light(0, 1) > light(0, 2)


def test_what_has_no_place_is_named_and_an_empty_panel_says_why() -> None:
    written = " ".join(t.get_text().replace("\n", " ") for t in texts(figure_of("external-missing")))
    assert "Not shown in every panel: no net benefit and no similarity." in written
    assert "no case has the condition" in written
    assert "mark-0-0" in lines(figure_of("external-missing"))
    assert not any(str(gid).startswith("mark") for gid in lines(figure_of("external-none")))


def test_an_interval_beyond_the_panel_ends_in_an_arrow_head(say: Catalogue) -> None:
    one = sites(1)[0]
    far = SitePerformance(estimate(0.55, 0.3, 0.7), 1.0)
    figure = ExternalPerformance(AXES, (SitePoint("a", one.similarity, (far, *one.performances[1:])),)).draw(
        say
    )
    assert lines(figure)["beyond-0-0"].get_marker() == "<"
    assert list(lines(figure)["interval-0-0"].get_xdata()) == [0.5, 0.7]


PLACES = st.lists(st.tuples(st.floats(0, WIDTH), st.floats(0, HEIGHT)), min_size=1, max_size=15)


@settings(max_examples=25)
@given(PLACES)
def test_discs_keep_apart_and_inside(places: list[tuple[float, float]]) -> None:
    found = spread_discs(places, WIDTH, HEIGHT)
    for a, b in combinations(found, 2):
        assert hypot(a[0] - b[0], a[1] - b[1]) >= DISC
    for x, y in found:
        assert DISC / 2 - 1e-9 <= x <= WIDTH - DISC / 2 + 1e-9
        assert 0 < y <= HEIGHT


def test_calibration_marks_and_intervals_stand_where_the_bins_are() -> None:
    drawn = lines(figure_of("calibration-2"))
    for i, panel in enumerate(panels(2)):
        for k, point in enumerate(panel.points):
            mark, interval = drawn[f"mark-{i}-{k}"], drawn[f"interval-{i}-{k}"]
            assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (point.mean_score, point.observed.value)
            assert list(interval.get_ydata()) == [point.observed.low, point.observed.high]
        assert list(drawn[f"as-said-{i}"].get_ydata()) == [0, 1]


def test_the_histogram_counts_every_case() -> None:
    areas = patches(figure_of("calibration-1"))
    panel = panels(1)[0]
    for name, counts in (("present", panel.histogram.present), ("absent", panel.histogram.absent)):
        heights = [abs(areas[gid].get_xy()[:, 1]).max() for gid in areas if gid.startswith(f"{name}-0-")]
        assert sum(heights) == sum(counts)
    assert sum(panel.histogram.present) + sum(panel.histogram.absent) == 150


def test_a_forest_shows_sites_mean_and_new_site_where_they_are() -> None:
    shown, drawing = VALIDATION["forest-8"], figure_of("forest-8")
    square, bar = lines(drawing)["site-3-0"], lines(drawing)["interval-new-9-0"]
    assert square.get_xdata()[0] == shown.columns[0].sites[3].value
    low, high = drawing.axes[1].get_xlim()
    new = shown.columns[0].new
    assert tuple(bar.get_xdata()) == (max(new.low, low), min(new.high, high))
    diamond = patches(drawing)["mean-8-0"].get_xy()
    assert set(diamond[:, 0]) == {
        shown.columns[0].mean.low,
        shown.columns[0].mean.value,
        shown.columns[0].mean.high,
    }
    assert "beyond-site-0-0" in lines(drawing)  # the interval of the first site leaves the panel
    assert "site-0-2" not in lines(drawing)  # no slope there: nothing is drawn


def test_meta_validation_puts_similarity_across_and_good_performance_up() -> None:
    shown, drawing = VALIDATION["meta-3"], figure_of("meta-3")
    for p, measure in enumerate(shown.measures):
        assert drawing.axes[p + 1].get_ylim() == (measure.low, measure.high)
        for i in range(3):
            at = lines(drawing).get(f"place-{p}-{i}") or lines(drawing)[f"mark-{p}-{i}"]
            assert at.get_xdata()[0] == pytest.approx(shown.similarity[i])
            assert at.get_ydata()[0] == pytest.approx(measure.performances[i].value)


def test_bars_are_as_long_as_the_share_reached() -> None:
    drawn, areas = lines(figure_of("sizes-8")), patches(figure_of("sizes-8"))
    for i, row in enumerate(sizes(8)):
        for m, needed in enumerate(row.needed):
            if isnan(needed.value):
                assert f"bar-{i}-{m}" not in areas
                continue
            reached = row.n / needed.value
            bar = areas[f"bar-{i}-{m}"]
            assert bar.get_xy()[:, 0].max() == pytest.approx(min(reached, CUT))
            assert (f"beyond-{i}-{m}" in drawn) == (reached > CUT)
            pale = to_hex(bar.get_facecolor()) == style.FAINT
            assert pale == (reached < 1)
    assert {tuple(drawn[f"minimum-{i}-0"].get_xdata()) for i in range(8)} == {(1, 1)}


def test_the_mean_of_a_forest_that_leaves_the_panel_ends_in_arrow_heads(say: Catalogue) -> None:
    values = tuple(estimate(0.74, 0.70, 0.78) for _ in range(3))
    column = ForestColumn("AUC", values, estimate(0.74, 0.54, 0.87), estimate(0.74, 0.72, 0.76))
    drawn = lines(Forest(("a", "b", "c"), (column,)).draw(say))
    assert {gid for gid in drawn if str(gid).startswith("beyond")} == {"beyond-mean-3-0"}
    whole = ForestColumn("AUC", values, estimate(0.74, 0.72, 0.76), estimate(0.74, 0.72, 0.76))
    assert not any(
        str(gid).startswith("beyond") for gid in lines(Forest(("a", "b", "c"), (whole,)).draw(say))
    )


def test_without_an_interval_for_a_new_site_nothing_mentions_one(say: Catalogue) -> None:
    figure = figure_of("forest-no-new-site")
    written = " ".join(text.get_text() for text in texts(figure))
    assert "new site" not in written
    assert not any(str(gid).startswith("interval-new") for gid in lines(figure))
    assert say("figure.forest.site.new") not in {
        row["label"] for row in VALIDATION["forest-no-new-site"].values(say)
    }
    assert "new site" in " ".join(text.get_text() for text in texts(figure_of("forest-2")))
