"""What every forest has: numbers on each axis, no effect, the better side, n; a unit has one scale."""

from dataclasses import replace

import pytest
from drawn_curves import group_rows, roc_panels
from drawn_studies import estimate
from looked_at import written

from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.figures.measure_rows import GroupRows, MeasureColumn
from trustreport.figures.roc import RocFigure
from trustreport.figures.sites import Forest, ForestColumn
from trustreport.figures.trend import ControlCharts, ControlPanel
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.quantities import endpoint_row


@pytest.fixture
def say() -> Catalogue:
    return catalogue("en")


def test_each_of_several_roc_panels_has_numbers_on_both_axes(say: Catalogue) -> None:
    drawing = RocFigure(roc_panels(6)).draw(say)
    panels = [axes for axes in drawing.axes if axes.get_label() != "sheet"]
    assert len(panels) == 6
    for axes in panels:
        for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
            assert [label.get_text() for label in labels] == ["0%", "50%", "100%"]
    assert written(drawing).count(say("figure.roc.y")) == 2  # beside each row


def of_unit(name: str) -> MeasureColumn:
    return MeasureColumn.of_unit(name, endpoint_row(name))


def test_groups_share_the_scale_of_a_unit_and_have_their_n_beside_them(say: Catalogue) -> None:
    shown = group_rows(3, 2, 2)
    columns = tuple(of_unit(name) for name in ("sensitivity", "specificity", "auc"))
    drawing = GroupRows(columns, shown.blocks, "all").draw(say)
    panels = [axes for axes in drawing.axes if axes.get_label() != "sheet"]
    assert len(panels) == 6
    for block in (panels[:3], panels[3:]):
        assert block[0].get_xlim() == block[1].get_xlim()
        ticks = [[label.get_text() for label in axes.get_xticklabels()] for axes in block]
        assert all(len(own) > 1 for own in ticks)
        assert all(label.endswith("%") for own in ticks[:2] for label in own)
        assert not any(label.endswith("%") for label in ticks[2])
    said = written(drawing)
    n = [e.n for block in shown.blocks for row in block.rows for own in row.groups for e in own if e]
    assert sum(said.count(str(k)) for k in set(n)) >= len(n)


def test_a_change_has_its_line_of_no_effect_and_its_better_side(say: Catalogue) -> None:
    change = MeasureColumn.of_unit("Change", endpoint_row("sensitivity").change())
    assert (change.null, change.scale, change.better) == (0.0, "points", "up")
    shown = group_rows(2, 2, measures=1)
    assert "better →" in written(GroupRows((change,), shown.blocks, "all").draw(say))
    fewer = replace(change, better="down")
    assert "← better" in written(GroupRows((fewer,), shown.blocks, "all").draw(say))


def test_effects_and_forests_say_of_how_many(say: Catalogue) -> None:
    e = replace(estimate(0.93, 0.9, 0.95), n=4321)
    assert "4,321" in written(EffectPlot((EffectRow("row", e),), "Change", "points").draw(say))
    column = ForestColumn("Sensitivity", (e, e), e, e, least=0.0, most=1.0, scale="percent")
    said = written(Forest(("one", "two"), (column,), of="study").draw(say))
    assert said.count("4,321") == 2
    assert any(text.startswith("93.0%") for text in said)
    assert "90.0 to 95.0%" in said


def test_a_control_chart_names_its_periods(say: Catalogue) -> None:
    path = tuple((float(i), 0.1 * i) for i in range(50))
    panel = ControlPanel("chart", path, 5.0, periods=(("Jan", 24.0), ("Feb", 49.0)))
    assert {"Jan", "Feb"} <= set(written(ControlCharts((panel,)).draw(say)))
