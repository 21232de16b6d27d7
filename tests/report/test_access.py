"""The HTML reports in a browser: axe-core finds no violation, nothing is fetched, nothing overflows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_questions import NAMES, listed

from trustreport.api import Assessed
from trustreport.exports import export
from trustreport.messages import catalogue
from trustreport.report.sheets import questions, sheet

pytestmark = pytest.mark.slow
COMPLETE = ("certification-dossier", "procurement-triage", "vigilance-audit")
WIDTHS = {"desktop": 1280, "phone": 390}
# What can differ between light and dark, and takes most of axe-core's time; other rules look at what has no
# colour. A page has the same colours on a desktop and, in the light, on a phone.
COLOUR = ["color-contrast", "link-in-text-block"]
RULES: dict[str, dict[str, Any]] = {
    "desktop": {},
    "phone": {"rules": {rule: {"enabled": False} for rule in COLOUR}},
    "phone-dark": {"runOnly": {"type": "rule", "values": COLOUR}},
}
# Further rows of a table have the colours of those before.
FEWER_ROWS = "document.querySelectorAll('tbody tr:nth-child(n + 25)').forEach(row => row.remove())"
# The forms that are pages, each of an example that fills it in.
FORMS = {"psur": "vigilance-audit", "pmcf": "vigilance-audit", "annex-iv": "certification-dossier"}
MOST_BYTES, MOST_NODES = 1_500_000, 20_000


@pytest.fixture(params=COMPLETE)
def report(request: pytest.FixtureRequest, example: Callable[[str], Path]) -> Path:
    """The HTML of each complete example."""
    return example(request.param) / "report.html"


@pytest.mark.parametrize("look", RULES)
def test_axe_finds_no_violation(browser: Any, report: Path, look: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    width, dark = WIDTHS[look.removesuffix("-dark")], look.endswith("dark")
    scheme = "dark" if dark else "light"
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    if dark:
        page.evaluate(FEWER_ROWS)
    found = Axe().run(page, options={"resultTypes": ["violations"], **RULES[look]}).response["violations"]
    page.close()
    assert not [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in found]


def test_axe_finds_no_violation_in_forms_and_the_question_list(
    browser: Any, assessed_example: Callable[[str], Assessed], tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    sheets = [tmp_path / "questions.html"]
    asked = questions.questions(listed(*NAMES), {}, "report.html", "A study", catalogue())
    sheets[0].write_text(sheet.render(asked, catalogue()), encoding="utf-8")
    for form, name in FORMS.items():
        sheets.append(tmp_path / f"{form}.html")
        sheets[-1].write_bytes(export(assessed_example(name), form, ".html"))
    axe, found = Axe(), {}
    page = browser.new_page(viewport={"width": 390, "height": 900})
    for file in sheets:
        page.goto(file.as_uri())
        for violation in axe.run(page).response["violations"]:
            found[file.name, violation["id"]] = [node["target"] for node in violation["nodes"]][:3]
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
    page.close()
    assert overflow <= 0
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
