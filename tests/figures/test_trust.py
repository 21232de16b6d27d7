"""The trust diagram: marks stand where the shares say, what lacks says why, nothing leaves the sheet."""

from dataclasses import replace
from math import isnan, nan
from typing import Any

import numpy as np
import pytest
from looked_at import boxes, lines

from tests.english import english
from trustreport.figures import style
from trustreport.figures.flow import TrustFlow
from trustreport.figures.trust import LEFTS, READERS_UP_TO, TOP, WIDE, TrustDiagram, TrustPoint
from trustreport.measures.estimate import Estimate
from trustreport.measures.reliance.notes import RIGHT_THEN_WRONG_ADVICE
from trustreport.vocabulary.messages import Catalogue

WHY = RIGHT_THEN_WRONG_ADVICE


def share(value: float, width: float = 0.1) -> Estimate:
    return Estimate(value, max(value - width, 0.0), min(value + width, 1.0), 40)


NOTHING = Estimate(nan, nan, nan, 0, note=WHY)
POOLED = TrustPoint("all readings", share(0.1), share(0.41), share(0.5), share(0.9), leads=True)


def readers(n: int) -> tuple[TrustPoint, ...]:
    draw = np.random.default_rng(3)
    return tuple(TrustPoint(f"R{i}", *(share(round(x, 2)) for x in draw.random(4))) for i in range(n))


DIAGRAMS = {
    f"trust-{n}{'-named' if named else ''}": TrustDiagram(
        (*readers(n), *(() if named and n else (POOLED,))), named=named
    )
    for n in (0, 1, 5, 40)
    for named in (False, True)
}


def texts(figure: Any) -> list[str]:
    return [text.get_text().replace("\u00a0", " ") for axes in figure.axes for text in axes.texts]


def test_marks_and_intervals_stand_where_the_shares_are(say: Catalogue) -> None:
    points = (*readers(5), POOLED)
    drawn = lines(TrustDiagram(points).draw(say))
    for i, p in enumerate(points):
        for panel, (x, y) in {"wrong": (p.rbod, p.rsr), "right": (p.rair, p.rbt)}.items():
            mark = drawn[f"mark-{panel}-{i}"]
            assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([x.value], [y.value])
            assert mark.get_marker() == ("D" if p.leads else "o")
            assert drawn[f"interval-x-{panel}-{i}"].get_linewidth() == pytest.approx(1.65 if p.leads else 0.5)
    many = lines(TrustDiagram((*readers(READERS_UP_TO + 1), POOLED)).draw(say))
    crossed = [name for name in many if name.startswith("interval-x-wrong")]
    assert crossed == [f"interval-x-wrong-{READERS_UP_TO + 1}"]  # of many readers the pooled one alone
    assert list(drawn["interval-x-wrong-5"].get_xdata()) == [POOLED.rbod.low, POOLED.rbod.high]
    assert list(drawn["interval-y-right-5"].get_ydata()) == [POOLED.rbt.low, POOLED.rbt.high]


def test_the_leading_shares_are_written_in_figures(say: Catalogue) -> None:
    written = texts(TrustDiagram((*readers(3), POOLED)).draw(say))
    assert "right before (RSR): 41% (31 to 51)" in written
    assert "a reader (3 of them); area: 80 readings each" in written
    assert "all readings, 95% CI" in written


def test_a_share_that_lacks_puts_the_mark_at_the_edge(say: Catalogue) -> None:
    point = replace(readers(1)[0], rbod=NOTHING)
    figure = TrustDiagram((point, POOLED)).draw(say)
    mark = lines(figure)["mark-wrong-0"]
    assert mark.get_xdata()[0] < 0
    assert mark.get_ydata()[0] == point.rsr.value
    assert any(text.startswith("at the edge") for text in texts(figure))
    assert not any(text.startswith("at the edge") for text in texts(TrustDiagram((POOLED,)).draw(say)))


def test_a_mark_at_the_edge_keeps_clear_of_the_numbers_of_the_axis(say: Catalogue) -> None:
    point = replace(readers(1)[0], rbod=NOTHING, rsr=replace(POOLED.rsr, value=0.5))
    figure = TrustDiagram((point, POOLED)).draw(say)
    with style.settings():
        numbers = [box for text, box in boxes(figure) if text == "50%"]
    mark = lines(figure)["mark-wrong-0"]
    x, y = mark.get_transform().transform(mark.get_xydata())[0]
    radius = mark.get_markersize() / 2 * figure.dpi / 72
    beside = [box.x1 for box in numbers if box.y0 < y < box.y1 and box.x1 < x]
    assert x - radius - max(beside) > 0.8 / 25.4 * figure.dpi


def test_an_empty_panel_says_why(say: Catalogue) -> None:
    point = replace(POOLED, rbod=NOTHING, rsr=NOTHING)
    figure = TrustDiagram((point,)).draw(say)
    assert english(WHY) in [text.replace("\n", " ") for text in texts(figure)]
    assert "mark-wrong-0" not in lines(figure)
    assert "mark-right-0" in lines(figure)


def test_few_readers_have_names_and_of_many_those_in_one_place_are_counted(say: Catalogue) -> None:
    one, *_ = many = readers(READERS_UP_TO + 1)
    shown = texts(TrustDiagram((one, replace(one, label="other"), POOLED)).draw(say))
    assert shown.count("R0 and other") == 2
    assert texts(TrustDiagram((*many, replace(one, label="other"), POOLED)).draw(say)).count("×2") >= 2


def test_no_name_of_a_reader_lies_on_the_lines_of_its_mark(say: Catalogue) -> None:
    with style.settings():
        figure = TrustDiagram((*readers(5), POOLED)).draw(say)
        figure.draw_without_rendering()
        drawn, named = lines(figure), 0
        for axes in figure.axes:
            for text in axes.texts:
                if (label := text.get_text())[:1] != "R" or not label[1:].isdigit():
                    continue
                named += 1
                box = text.get_window_extent()
                for panel in LEFTS:
                    line = drawn[f"interval-x-{panel}-{label[1:]}"]
                    if line.axes is axes:
                        (low, y), (high, _) = line.get_transform().transform(line.get_xydata())
                        assert not (box.y0 < y < box.y1 and low < box.x1 and box.x0 < high), label
    assert named >= 5


def test_sets_have_their_names_beside_them(say: Catalogue) -> None:
    points = readers(6)
    written = texts(TrustDiagram(points, named=True).draw(say))
    assert all(written.count(p.label) == 2 for p in points)
    long = tuple(replace(p, label=f"{p.label} of a long name that does not fit") for p in points)
    assert any(text.endswith("…") for text in texts(TrustDiagram(long, named=True).draw(say)))


def test_values_hold_every_share_with_its_denominator(say: Catalogue) -> None:
    point = replace(readers(1)[0], rbod=NOTHING)
    rows = TrustDiagram((point, POOLED)).values(say)
    assert [(row["label"], row["advice"]) for row in rows] == [
        ("R0", "advice wrong"),
        ("all readings", "advice wrong"),
        ("R0", "advice right"),
        ("all readings", "advice right"),
    ]
    assert isnan(rows[0]["wrong_before"])
    assert (rows[0]["right_before"], rows[0]["right_before_n"]) == (point.rsr.value, 40)
    assert rows[3]["right_before_low"] == POOLED.rbt.low


def test_the_panels_fit_side_by_side() -> None:
    assert LEFTS["wrong"] + WIDE < LEFTS["right"] - 10
    assert LEFTS["right"] + WIDE < style.TEXT_WIDTH
    assert TOP > 5


COUNTS = {"101": 49, "100": 39, "001": 13, "000": 33, "111": 459, "110": 12, "011": 94, "010": 0}


def test_the_flow_shows_what_became_of_every_decision(say: Catalogue) -> None:
    flow = TrustFlow(COUNTS)
    figure = TrustDiagram((POOLED,), flow=flow).draw(say)
    written = texts(figure)
    for text in (
        "88 decisions were right before",
        "49 stayed right",
        "39 turned wrong",
        "46 decisions were wrong before",
        "13 turned right",
        "33 stayed wrong",
        "471 decisions were right before",
        "94 turned right",
        "0 stayed wrong",
    ):
        assert text in written
    bars = {p.get_gid(): p.get_xy()[:, 0] for axes in figure.axes for p in axes.patches if p.get_gid()}
    kept = bars["flow-wrong-right-right"]
    assert (kept.max() - kept.min()) / WIDE == pytest.approx(49 / 88)
    assert "flow-right-wrong-wrong" not in bars
    rows = [row for row in TrustDiagram((POOLED,), flow=flow).values(say) if "right_after" in row]
    assert [(row["right_after"], row["wrong_after"]) for row in rows] == [
        (49, 39),
        (13, 33),
        (459, 12),
        (94, 0),
    ]


def test_of_separate_readings_no_decision_is_said_to_have_turned(say: Catalogue) -> None:
    written = texts(TrustDiagram((POOLED,), flow=TrustFlow(COUNTS, separate=True)).draw(say))
    assert "88 readings were right without the aid" in written
    assert "39 wrong with it" in written
    assert not any("turned" in text or "before" in text or "afterwards" in text for text in written)


def test_marks_are_as_large_as_the_readings_behind_them(say: Catalogue) -> None:
    one, other = readers(2)
    few = replace(one, rbod=replace(one.rbod, n=5), rsr=replace(one.rsr, n=5))
    drawn = lines(TrustDiagram((few, other, POOLED)).draw(say))
    area = [drawn[f"mark-wrong-{i}"].get_markersize() ** 2 for i in range(2)]
    assert area[0] / area[1] == pytest.approx(10 / 80)


@pytest.mark.parametrize("n", [1, 12])
def test_quadrants_have_their_names_inside(n: int, say: Catalogue) -> None:
    with style.settings():
        figure = TrustDiagram((*readers(n), POOLED), flow=TrustFlow(COUNTS)).draw(say)
        for axes in figure.axes[1:]:
            frame = axes.get_window_extent()
            assert len(axes.texts) >= 4
            for text in axes.texts[:4]:
                box = text.get_window_extent()
                assert frame.x0 <= box.x0 < box.x1 <= frame.x1
                assert frame.y0 <= box.y0 < box.y1 <= frame.y1
