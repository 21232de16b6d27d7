"""The HTML report in a browser: axe-core finds no violation, nothing is fetched, nothing overflows."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trustreport.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WIDTHS = {"desktop": 1280, "phone": 390}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HTML report of the example with most in it."""
    out = tmp_path_factory.mktemp("report")
    study = str(EXAMPLES / "knee-mri-readings")
    result = CliRunner().invoke(main, ["build", study, "-o", str(out), "--formats", "html,json"])
    assert result.exit_code == 0, result.stderr
    return out / "report.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_axe_finds_no_violation(browser: Any, report: Path, width: int, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto(report.as_uri())
    for closed in page.query_selector_all("details:not([open])"):
        closed.evaluate("node => node.open = true")
    found = Axe().run(page).response["violations"]
    page.close()
    assert not [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in found]


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_the_page_fits_its_window_and_asks_for_nothing(browser: Any, report: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    page.close()
    assert overflow <= 0
    assert [url for url in asked if not url.startswith("data:")] == [report.as_uri()]


def test_the_keyboard_reaches_content_tables_and_details(browser: Any, report: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(report.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#summary"
    reached = set()
    for _ in range(120):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName + (document.activeElement.role || '')"))
    page.close()
    assert {"A", "SUMMARY"} <= reached
