"""The HTML reports in a browser: axe-core finds no violation, nothing is fetched, nothing overflows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trustreport.api import Assessed
from trustreport.exports import export

pytestmark = pytest.mark.slow
COMPLETE = ("certification-dossier", "procurement-triage", "vigilance-audit")
WIDTHS = {"desktop": 1280, "phone": 390}
# What can differ between light and dark: the rest of axe-core's rules look at what has no colour.
OF_COLOUR = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
# The forms that are pages, each of an example that fills it in.
FORMS = {"psur": "vigilance-audit", "pmcf": "vigilance-audit", "annex-iv": "certification-dossier"}
MOST_BYTES, MOST_NODES = 1_500_000, 20_000


@pytest.fixture(params=COMPLETE)
def report(request: pytest.FixtureRequest, example: Callable[[str], Path]) -> Path:
    """The HTML of each complete example."""
    return example(request.param) / "report.html"


@pytest.mark.parametrize(
    "width, scheme", [(1280, "light"), (390, "light"), (390, "dark")], ids=["desktop", "phone", "phone-dark"]
)
def test_axe_finds_no_violation(browser: Any, report: Path, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    rules = {"runOnly": OF_COLOUR} if scheme == "dark" else {}
    found = Axe().run(page, options={"resultTypes": ["violations"], **rules}).response["violations"]
    page.close()
    assert not [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in found]


def test_axe_finds_no_violation_in_forms_and_the_question_list(
    browser: Any,
    example: Callable[[str], Path],
    assessed_example: Callable[[str], Assessed],
    tmp_path: Path,
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    sheets = [example("certification-dossier") / "questions.html"]
    for form, name in FORMS.items():
        sheets.append(tmp_path / f"{form}.html")
        sheets[-1].write_bytes(export(assessed_example(name), form, ".html"))
    axe, found = Axe(), {}
    page = browser.new_page(viewport={"width": 390, "height": 900})
    for sheet in sheets:
        page.goto(sheet.as_uri())
        for violation in axe.run(page).response["violations"]:
            found[sheet.name, violation["id"]] = [node["target"] for node in violation["nodes"]][:3]
        if (wide := page.evaluate("document.documentElement.scrollWidth - window.innerWidth")) > 0:
            found[sheet.name, "wider than its window"] = wide
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
