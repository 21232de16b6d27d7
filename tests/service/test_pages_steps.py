"""The five steps in a browser: each on one screen, page 1 beside them without a button."""

from pathlib import Path
from typing import Any

import pytest
from pages import served
from services import API, PASSWORD, Client, stored, tasks_here

from trustreport.service.guide.steps import STEPS
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Draft

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZE = {"width": 1280, "height": 800}
STUDIES = {  # nine data sets with everything declared; the same tables alone; a reader study's tables alone
    "audit": ("vigilance-audit", ("scores.csv", "readings.csv", "study.yaml")),
    "tables": ("vigilance-audit", ("scores.csv", "readings.csv")),
    "reading": ("assisted-reading", ("cases.csv", "readings.csv")),
}
HEIGHT = "document.documentElement.scrollHeight"


def opened(browser: Any, url: str) -> Any:
    page = browser.new_context(viewport=SIZE).new_page()
    page.goto(f"{url}/sign-in")
    page.fill("[name=email]", "anna@hospital.test")
    page.fill("[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/")
    return page


def test_every_step_and_the_criteria_fit_on_one_screen(browser: Any, tmp_path: Path) -> None:
    heights: dict[tuple[str, str], int] = {}
    with served(tmp_path, workers=False) as (core, app, url), pytest.MonkeyPatch.context() as patch:
        tasks_here(patch)
        anna, worker = Client.set_up(app, core), WorkerThread(core, "worker")
        page = opened(browser, url)
        page.route("**/page-1", lambda route: route.abort())  # its frame has its size without it
        for name, (folder, files) in STUDIES.items():
            study = anna.study(name)
            sent = [("files", (file, (EXAMPLES / folder / file).read_bytes())) for file in files]
            version = anna.post(f"{API}/studies/{study}/versions", files=sent).json()["id"]
            assert worker.once("check")
            for step in STEPS:
                page.goto(f"{url}/versions/{version}/guide/{step}")
                heights[name, step] = page.evaluate(HEIGHT)
            page.goto(f"{url}/studies/{study}/criteria")
            heights[name, "page"] = page.evaluate(HEIGHT)
            page.goto(f"{url}/versions/{version}/guide/criteria")
            page.evaluate("for (const d of document.querySelectorAll('details')) { d.open = true; }")
            for box in page.locator("[name^='@add'], [name^='@watch']").all():
                box.check()
            with page.expect_navigation():
                page.get_by_role("button", name="Add what is ticked").click()
            page.locator(".criterion details").first.wait_for()
            heights[name, "declared"] = page.evaluate(HEIGHT)
    assert {where: height for where, height in heights.items() if height > SIZE["height"]} == {}


def test_page_one_follows_what_is_typed_and_keeps_nothing(browser: Any, tmp_path: Path) -> None:
    with served(tmp_path, workers=False) as (core, app, url), pytest.MonkeyPatch.context() as patch:
        tasks_here(patch)
        anna = Client.set_up(app, core)
        folder, files = STUDIES["reading"]
        sent = [("files", (file, (EXAMPLES / folder / file).read_bytes())) for file in files]
        version = anna.post(f"{API}/studies/{anna.study()}/versions", files=sent).json()["id"]
        assert WorkerThread(core, "worker").once("check")
        page = opened(browser, url)
        page.goto(f"{url}/versions/{version}/guide/files")
        first = page.frame_locator("[name=page-1]").locator("body")
        first.get_by_text("Does the evidence support").first.wait_for()
        page.fill("[name='/report/title']", "Typed a moment ago")
        first.get_by_text("Typed a moment ago").first.wait_for()
        assert stored(core, Draft) == []
        page.go_back()  # frames leave nothing in the way back
        page.wait_for_url(f"{url}/")
