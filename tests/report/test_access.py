"""The HTML reports in a browser: axe-core finds no violation, nothing is fetched, nothing overflows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_questions import NAMES, listed

from tests.browsing import COLOURS, ONE_ROW_OF_A_LOOK, STRUCTURE, violations
from trustreport.api import Assessed
from trustreport.report.exports import export
from trustreport.report.exports.sheets import question_sheet, sheet_page
from trustreport.vocabulary.messages import catalogue

pytestmark = pytest.mark.slow
COMPLETE = ("certification-dossier", "procurement-triage", "vigilance-audit")
WIDTHS = {"desktop": 1280, "phone": 390}
# Words without a hyphen, a slash or the like, whose letters do not all lie on one line.
BROKEN_WORDS = r"""
() => {
    const broken = new Set()
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
        const text = texts.currentNode
        if (text.parentElement.closest('svg, script, style, code')) { continue }
        for (const word of text.data.matchAll(/(?<!\S)[\p{L}'’]+[,.:;]?(?!\S)/gu)) {
            const range = document.createRange()
            range.setStart(text, word.index)
            range.setEnd(text, word.index + word[0].length)
            const lines = [...range.getClientRects()].filter(line => line.width > 0)
            if (new Set(lines.map(line => Math.round(line.top))).size > 1) { broken.add(word[0]) }
        }
    }
    return [...broken]
}
"""
# Labels of figures that go beyond the edge of their drawing: a pixel may be the room beside a digit.
CUT_LABELS = """
() => [...document.querySelectorAll('main .drawing > svg')].flatMap(drawing => {
    const edge = drawing.getBoundingClientRect()
    return [...drawing.querySelectorAll('text')].filter(label => {
        const { left, right, width } = label.getBoundingClientRect()
        return width && (left < edge.left - 1 || right > edge.right + 1)
    }).map(label => [drawing.closest('[id]').id, label.textContent])
})
"""
# Headings of the report under which nothing stands.
EMPTY_SECTIONS = """
() => [...document.querySelectorAll('main :is(section, .element):not(nav)')]
    .filter(one => one.children.length === 1 && /^H[2-4]$/.test(one.firstElementChild.tagName))
    .map(one => one.id)
"""
# Columns of tables in which no row has anything.
EMPTY_COLUMNS = """
() => [...document.querySelectorAll('main table:has(> thead):has(tbody > tr)')].flatMap(table => {
    const rows = [...table.tBodies].flatMap(body => [...body.rows])
    const empty = cell => cell && !cell.textContent.trim() && !cell.children.length
    return [...table.tHead.rows[0].cells].filter((_, i) => rows.every(row => empty(row.cells[i])))
        .map(head => [table.id, head.textContent])
})
"""
UNNAMED_ROWS = """
() => [...document.querySelectorAll('main tbody tr:not(.group-head)')]
    .filter(row => row.cells[0].tagName !== 'TH' || !row.cells[0].textContent.trim())
    .map(row => [row.closest('[id]').id, row.textContent.trim().slice(0, 40)])
"""
# The forms that are pages, each of an example that fills it in.
FORMS = {"psur": "vigilance-audit", "pmcf": "vigilance-audit", "annex-iv": "certification-dossier"}
MOST_BYTES, MOST_NODES = 1_500_000, 20_000


@pytest.fixture(params=COMPLETE)
def report(request: pytest.FixtureRequest, example: Callable[[str], Path]) -> Path:
    """The HTML of each complete example."""
    return example(request.param) / "report.html"


@pytest.mark.parametrize("name", [*COMPLETE, "factory", "measured-volumes", "pooled-accuracy"])
def test_axe_finds_no_violation(browser: Any, page_of: Callable[[str], Path], name: str) -> None:
    page = browser.new_page()
    page.goto(page_of(name).as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    found = []
    for width in WIDTHS.values():
        page.set_viewport_size({"width": width, "height": 900})
        found += [(width, *v) for v in violations(page, STRUCTURE)]
    page.evaluate(ONE_ROW_OF_A_LOOK)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        found += [(scheme, *v) for v in violations(page, COLOURS)]
    page.close()
    assert not found


def test_axe_finds_no_violation_in_forms_and_the_question_list(
    browser: Any, assessed_example: Callable[[str], Assessed], tmp_path: Path
) -> None:
    sheets = [tmp_path / "questions.html"]
    asked = question_sheet(listed(*NAMES), {}, "report.html", "A study", catalogue())
    sheets[0].write_text(sheet_page(asked, catalogue()), encoding="utf-8")
    for form, name in FORMS.items():
        sheets.append(tmp_path / f"{form}.html")
        sheets[-1].write_bytes(export(assessed_example(name), form, ".html"))
    found: dict[tuple[str, str], Any] = {}
    page = browser.new_page(viewport={"width": 390, "height": 900})
    for file in sheets:
        page.goto(file.as_uri())
        page.evaluate(ONE_ROW_OF_A_LOOK)
        found |= {(file.name, rule): places for rule, places in violations(page)}
        if (wide := page.evaluate("document.documentElement.scrollWidth - window.innerWidth")) > 0:
            found[file.name, "wider than its window"] = wide
    page.close()
    assert not found


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_the_page_is_light_fits_its_window_and_asks_for_nothing(
    browser: Any, report: Path, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(report.as_uri())
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    nodes = page.evaluate("document.querySelectorAll('*').length")
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    broken = page.evaluate(BROKEN_WORDS)
    cut, empty = page.evaluate(CUT_LABELS), page.evaluate(EMPTY_SECTIONS)
    columns, unnamed = page.evaluate(EMPTY_COLUMNS), page.evaluate(UNNAMED_ROWS)
    page.close()
    assert overflow <= 0
    assert broken == []
    assert (cut, empty, columns, unnamed) == ([], [], [], [])
    assert said == []  # the policy lets its style and script through
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]
    assert nodes < MOST_NODES
    assert report.stat().st_size < MOST_BYTES


def test_the_keyboard_reaches_content_tables_and_details(
    browser: Any, example: Callable[[str], Path]
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto((example("procurement-triage") / "report.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#answer"
    reached = set()
    for _ in range(200):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName + (document.activeElement.role || '')"))
    page.close()
    assert {"A", "BUTTON", "DIVregion", "SUMMARY"} <= reached
