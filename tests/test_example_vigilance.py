"""The example of an audit: the same bytes again, and what was built into it is what the report finds."""

import hashlib
import runpy
from pathlib import Path

import pytest

from trustreport.api import read_study
from trustreport.dimensions.vigilance import answer
from trustreport.plan import undeclared
from trustreport.results import leading

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "vigilance-audit"
MAKE = runpy.run_path(str(FOLDER / "make.py"))


@pytest.fixture(scope="module")
def read():
    return read_study(FOLDER)


def test_made_again_the_tables_are_the_same_bytes(tmp_path: Path, read) -> None:
    MAKE["write"](tmp_path)
    for name in ("scores.csv", "readings.csv"):
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name
    stated = {d.sha256 for d in read[1].datasets}
    assert stated == {hashlib.sha256((FOLDER / "scores.csv").read_bytes()).hexdigest()}


def test_it_says_that_nothing_of_it_is_real_and_declares_all(read) -> None:
    _, plan = read
    assert plan.study.simulated
    assert plan.report.notice.startswith("Fictional device, simulated data")
    assert "fictional" in plan.device.manufacturer
    assert list(undeclared(plan, "vigilance")) == []
    assert all("Fictional" in i.description for i in plan.incidents)


def test_the_drift_of_the_sixth_period_is_found_there(read) -> None:
    study, plan = read
    found = answer(study, plan).results
    chart = leading(found, "vigilance.cusum", endpoint="sensitivity")
    assert chart.details["first_alert_period"] == "2026-06"
    for period, beyond in (("2026-05", False), ("2026-06", True), ("2026-07", True)):
        changes = [
            r.estimate
            for r in found
            if r.id == "vigilance.period_change"
            and r.within(period=period, endpoint="sensitivity")
            and r.scope["parameters"]["against"] == "baseline"
        ]
        assert (changes[0].high < 0) is beyond, period
    assert leading(found, "vigilance.cusum", endpoint="specificity").estimate.details["alerts"] == 0
