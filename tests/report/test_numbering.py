"""Figures in the page: its colours, light and dark, ids of their own, marks that say their value."""

import re
from dataclasses import replace

import pytest

from trustreport.assessment.finding import Column, EstimateTable, Figure, PlainTable
from trustreport.figures import style
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.measures.estimate import Estimate
from trustreport.report.layout import figures
from trustreport.report.numbering import HUES, MOST_VALUES, PROPERTIES, Numbering, colour, inline
from trustreport.vocabulary.messages import catalogue, say
from trustreport.vocabulary.resources import folder

EN = catalogue("en")
NAME = 'A <b> & "C"'


def drawing(n: int = 2) -> EffectPlot:
    rows = tuple(EffectRow(NAME, Estimate(0.9 + i / 1000, 0.8, 1.1, 40 + i)) for i in range(n))
    return EffectPlot(rows, "odds ratio")


def figure(n: int = 2) -> Figure:
    text = say("word.name", name="shown")
    return Figure("effect", drawing(n), text, text)


def luminance(given: str) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [int(given[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def schemes() -> list[dict[str, str]]:
    """The properties of the page in the light and in the dark."""
    sheets = [(folder("templates") / name).read_text("utf-8") for name in ("report.css", "screen.css")]
    return [dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})\b", sheet)) for sheet in sheets]


def test_each_colour_has_its_property_in_the_light_and_another_value_in_the_dark() -> None:
    light, dark = schemes()
    assert {name: light[name] for name in PROPERTIES.values()} == {v: k for k, v in PROPERTIES.items()}
    for name in PROPERTIES.values():
        assert dark[name] != light[name]


@pytest.mark.parametrize("hue", [*HUES, style.MUTE])
def test_labels_and_marks_have_enough_contrast(hue: str) -> None:
    """4.5 to 1 for text, WCAG 2.2, 1.4.3."""
    for scheme in schemes():
        paper, ink = sorted(luminance(scheme[PROPERTIES[one]]) for one in (style.PAPER, hue))
        assert (ink + 0.05) / (paper + 0.05) >= 4.5


def test_a_colour_of_the_figures_follows_the_page() -> None:
    assert colour(style.TEAL) == "var(--teal)"
    assert colour("#1f5e9e") == "var(--blue)"  # blue, rounded on its way through matplotlib
    assert colour("#86a9cd") == "color-mix(in srgb,var(--blue) 53%,var(--paper))"
    assert colour("#00ff00") == "#00ff00"


def test_in_the_page_ids_are_its_own_and_no_colour_is_fixed() -> None:
    drawn = figures.drawn_here(figure(), EN).page
    shown = [inline(drawn, f"figure-{i}", f"Figure {i}", NAME) for i in (1, 2)]
    ids = re.findall(r' id="([^"]*)"', "".join(shown))
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\\(#([^)]*)\\)", shown[0])) <= set(ids)
    assert not re.findall(r"#[0-9a-f]{6}", shown[0])
    assert "font-family" not in shown[0]
    assert "<b>" not in shown[0]
    sheet = 'fill="var(--paper)"/>'
    assert not shown[0].partition("</desc>")[2].lstrip().partition("\n")[0].endswith(sheet)


def test_a_mark_says_what_it_is_of_its_value_and_of_how_many() -> None:
    page = figures.drawn_here(figure(), EN).page.decode()
    titles = re.findall("<g><title>(.*?)</title>\n<path", page)
    assert titles == [
        'A &lt;b&gt; &amp; "C": 0.90 (0.80 to 1.10), n\u00a0=\u00a040',
        'A &lt;b&gt; &amp; "C": 0.90 (0.80 to 1.10), n\u00a0=\u00a041',
    ]
    assert page.count("<g>") == page.count("</g>") == 2


def test_values_are_a_table_where_no_table_prints_them_and_they_are_few() -> None:
    def numbered(n: int, *tables: EstimateTable | PlainTable) -> tuple[bool, str]:
        shown = figure(n)
        found = Numbering("4", {"effect": b"<svg></svg>"}, EN).figure(shown, tables)
        return found.values is not None, found.elsewhere

    title = say("word.name", name="of all")
    printed = PlainTable("t", title, (Column(title),), tuple((row.estimate,) for row in drawing().rows))
    assert numbered(2) == (True, "")
    assert numbered(2, printed) == (False, "")
    assert numbered(3, printed) == (True, "")
    assert numbered(2, replace(printed, rows=printed.rows[:1])) == (True, "")
    assert numbered(MOST_VALUES)[0]
    assert numbered(MOST_VALUES + 1) == (
        False,
        f"The {MOST_VALUES + 1} values of this figure are in results.json, under figures, effect.",
    )
