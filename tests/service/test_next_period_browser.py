"""From three monthly exports and their report to the report of the next month, in a browser."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import served
from services import API, PASSWORD, Client, stored
from test_pages_flow import WINDOWS, Visit

from trustreport.service.core import Core
from trustreport.service.storage.models import Job, StoredReport, Version

SCORES = Path(__file__).resolve().parents[2] / "examples" / "vigilance-audit" / "scores.csv"
COLUMNS = ("case", "date", "site", "truth", "score", "version")
MOST_CLICKS = 12


def export(month: str) -> str:
    """The cases of a month, without a column that names it."""
    with SCORES.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == month]
    out = io.StringIO()
    made = csv.DictWriter(out, COLUMNS, extrasaction="ignore")
    made.writeheader()
    made.writerows(rows)
    return out.getvalue()


@pytest.fixture
def service(tmp_path: Path) -> Iterator[tuple[Core, str]]:
    """A service with a device whose first three months are in a report."""
    months = [f"2026-0{i}" for i in (1, 2, 3)]
    manifest = {
        "report": {"kind": "vigilance", "title": "Audit by months"},
        "device": {"trade_name": "Fracture aid", "manufacturer": "Nowhere", "software_version": "3.2"},
        "operating_point": {"threshold": 0.5},
        "datasets": [{"dataset": f"cases-{m}", "role": "period", "file": f"cases-{m}.csv"} for m in months],
    }
    with served(tmp_path, workers=True) as (core, app, url):
        anna = Client.set_up(app, core)
        files = {"study.json": json.dumps(manifest), **{f"cases-{m}.csv": export(m) for m in months}}
        study = anna.study("Audit by months")
        sent = [("files", (name, text)) for name, text in files.items()]
        version = anna.post(f"{API}/studies/{study}/versions", files=sent).json()["id"]
        robot = anna.robot()
        robot.wait_for_check(version)
        robot.wait_for_report(robot.request_report(version, formats=["json"]).id)
        yield core, url


@pytest.mark.parametrize("kind", WINDOWS)
def test_the_next_month_takes_few_clicks(browser: Any, service: tuple[Core, str], kind: str) -> None:
    core, url = service
    anna = Visit(browser, WINDOWS[kind])
    page, clicks = anna.page, 0

    def click(role: str, name: str) -> None:
        nonlocal clicks
        clicks += 1
        page.wait_for_load_state("load")
        page.get_by_role(role, name=name, exact=True).first.click()

    page.goto(f"{url}/sign-in")
    anna.fill(email="anna@hospital.test", password=PASSWORD)
    click("button", "Sign in")
    click("link", "Devices")
    click("link", "Fracture aid")
    anna.fits()
    click("link", "Add the next period")
    anna.shows("since", "2026-04-01")
    anna.shows("until", "2026-04-30")
    anna.fits()
    clicks += 2  # opens the list of files, and takes one
    anna.brings("files", ("cases-2026-04.csv", export("2026-04")), kind)
    click("button", "Check the new period")
    anna.reads("The new period is cases-2026-04.")
    anna.fits()
    click("button", "Build the report")
    page.wait_for_url("**/reports/*")
    assert clicks <= MOST_CLICKS
    assert anna.faults == []
    assert [version.number for version in stored(core, Version)] == [1, 2]
    assert len(stored(core, Job, task="report")) == 2
    assert "2026-04-30" in {report.facts["period_end"] for report in stored(core, StoredReport)}
