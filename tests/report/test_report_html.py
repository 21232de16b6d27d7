"""The HTML: one file that loads nothing, says what a study says without running it, and reads well."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from fontTools.ttLib import TTFont
from made_up import CJK, HASH, HOSTILE, LONG, RTL, about

from trustreport.report import html
from trustreport.report.layout import figures
from trustreport.vocabulary.resources import folder

MOST_BYTES = 2_000_000


class Page(HTMLParser):
    """Tags with their attributes, headings in order, and all text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.headings, self.text, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_data(self, data):
        self.text.append(data)

    def every(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module", params=["simple", "several", "hostile", "empty"])
def page(request):
    one = request.getfixturevalue(request.param)
    text = html.render(one, **about(one))
    return Page(text), text


def test_one_file_that_loads_nothing(page):
    parsed, text = page
    assert len(text.encode()) < MOST_BYTES
    for _, attrs in parsed.tags:
        for name in ("src", "href", "data", "action", "srcset", "poster", "background"):
            assert attrs.get(name, "data:").startswith(("data:", "#")), attrs
    style = re.search(r"<style>(.*?)</style>", text, re.S)[1]
    assert all(url.startswith("data:") for url in re.findall(r"url\(([^)]*)\)", style))
    assert "@import" not in style
    assert not re.search(r"transition|animation|smooth", style)  # nothing moves by itself
    assert parsed.every("script") == [{}]
    assert not parsed.every("link")
    assert not parsed.every("iframe")


def test_the_policy_allows_this_style_and_script_and_no_other(page):
    parsed, text = page
    policy = next(attrs["content"] for attrs in parsed.every("meta") if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'")
    for name in ("style", "script"):
        (content,) = re.findall(rf"<{name}>(.*?)</{name}>", text, re.S)
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"; {name}-src 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert not any(
        "style" in attrs or any(name.startswith("on") for name in attrs) for _, attrs in parsed.tags
    )


def test_it_reads_well_without_eyes(page):
    parsed, _ = page
    assert parsed.every("html")[0]["lang"] == "en"
    assert len(parsed.every("main")) == 1
    assert parsed.headings[0] == 1
    assert parsed.headings.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in zip(parsed.headings, parsed.headings[1:]))
    assert all(attrs.get("alt") for attrs in parsed.every("img"))
    assert all(attrs.get("scope") in ("row", "col", "rowgroup") for attrs in parsed.every("th"))
    assert all(attrs.get("aria-label") for _, attrs in parsed.tags if attrs.get("role") == "region")
    ids = [attrs["id"] for _, attrs in parsed.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = [attrs["href"][1:] for attrs in parsed.every("a")]
    labels = [name for _, attrs in parsed.tags for name in attrs.get("aria-labelledby", "").split()]
    assert set(targets + labels) <= set(ids)
    skip = parsed.every("a")[0]
    assert skip["class"] == "skip"
    assert skip["href"] == "#answer"


def test_hostile_text_is_text(hostile):
    text = html.render(hostile, **about(hostile))
    parsed = Page(text)
    said = "".join(parsed.text)
    assert HOSTILE.split("{")[0] in said  # <script>alert(1)</script> as words
    assert "{{7*7}}" in said
    assert RTL in said
    assert CJK in said
    assert parsed.every("script") == [{}]  # that of the page
    assert not parsed.every("img")


def test_the_script_is_small_and_the_same_in_every_report(simple, hostile):
    scripts = {
        re.search(r"<script>(.*)</script>", html.render(one, **about(one)), re.S)[1]
        for one in (simple, hostile)
    }
    (script,) = scripts
    assert len(script.encode()) < 32_768
    for reaching_out in ("fetch", "XMLHttpRequest", "import", "eval", "innerHTML", "http"):
        assert not re.search(rf"\b{reaching_out}\b", script)


def test_a_figure_is_a_part_of_the_page_with_a_name_and_says_what_it_shows(several):
    text = html.render(several, **about(several))
    parsed = Page(text)
    drawings = [attrs for attrs in parsed.every("svg") if attrs.get("class") != "forest-row"]
    assert len(drawings) == len(several.figures) > 1
    ids = {attrs["id"] for _, attrs in parsed.tags if "id" in attrs}
    for attrs in drawings:
        assert attrs["role"] == "img"
        named = attrs["aria-labelledby"].split()
        assert len(named) == 2
        assert set(named) <= ids
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= ids


def test_the_same_report_has_the_same_bytes(several):
    once = html.render(several, **about(several))
    assert once == html.render(several, **{**about(several), "drawn": figures.draw_all(several)})


def test_what_is_not_declared_is_said_and_not_left_blank(empty):
    parsed = Page(html.render(empty, **about(empty)))
    said = " ".join("".join(parsed.text).split())
    assert said.count("NOT DECLARED") > 10
    assert "It cannot be said: no period can be compared with the baseline." in said


def test_long_names_are_whole_where_there_is_room(several):
    said = "".join(Page(html.render(several, **about(several))).text)
    assert LONG in said
    assert "X" * 120 in said


def test_the_report_names_its_results_its_status_and_its_notice(simple):
    said = "".join(Page(html.render(simple, **about(simple))).text)
    assert HASH in said
    assert HASH[:8] + " · draft, not signed" in said
    assert said.count("Illustration · not a real device") >= 2
    assert "trustreport build" in said


def test_checks_are_said_once_with_all_their_places(several):
    said = " ".join("".join(Page(html.render(several, **about(several))).text).split())
    assert f"Knee MRI, Spine CT, {LONG}, and {'X' * 120} · Clustering not declared" in said


def test_paper_follows_the_manifest(simple):
    plan = simple.plan.model_copy(update={"report": simple.plan.report.model_copy(update={"page": "Letter"})})
    from dataclasses import replace

    assert "size: letter" in html.render(replace(simple, plan=plan), **about(simple))
    assert "size: letter" not in html.render(simple, **about(simple))


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
