"""Colours: enough contrast in the light and in the dark; bundled fonts hold the signs that a report uses."""

import re

import pytest
from fontTools.ttLib import TTFont

from trustreport.vocabulary.resources import folder

TEMPLATES = folder("templates")
SIGNS = "0123456789.,()%+−–·∞≥≤±×●■◇○□→αβκ\u2007\u2008\u2009äéñøßçłőșț"


def palette(sheet, after=""):
    css = (TEMPLATES / sheet).read_text(encoding="utf-8")
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", css[css.index(after) :]))


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    "colours", [palette("report.css"), palette("screen.css", "prefers-color-scheme")], ids=["light", "dark"]
)
@pytest.mark.parametrize("name", ["ink", "mute", "blue", "teal", "rust", "amber"])
def test_text_is_legible_on_paper_and_on_wash(colours, name):
    assert contrast(colours[name], colours["paper"]) >= 4.5
    assert contrast(colours[name], colours["wash"]) >= 4.5


@pytest.mark.parametrize("weight", ["Regular", "SemiBold"])
def test_the_bundled_fonts_have_the_signs_of_a_report(weight):
    font = TTFont(TEMPLATES / "assets" / "fonts" / f"Inter-{weight}.ttf")
    known = font.getBestCmap()
    assert [sign for sign in SIGNS if ord(sign) not in known] == []


def test_the_padding_is_as_wide_as_what_it_stands_for():
    font = TTFont(TEMPLATES / "assets" / "fonts" / "Inter-Regular.ttf")
    names, widths = font.getBestCmap(), font["hmtx"]
    tabular = {}
    for record in font["GSUB"].table.FeatureList.FeatureRecord:
        if record.FeatureTag == "tnum":
            for i in record.Feature.LookupListIndex:
                for table in font["GSUB"].table.LookupList.Lookup[i].SubTable:
                    tabular |= getattr(table, "ExtSubTable", table).mapping
    wide = {widths[tabular[names[ord(d)]]][0] for d in "0123456789"} | {widths[names[0x2007]][0]}
    assert len(wide) == 1
    assert widths[names[0x2008]][0] == widths[tabular[names[ord(".")]]][0]
