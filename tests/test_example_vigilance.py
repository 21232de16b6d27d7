"""The example of an audit: the same bytes again, and what was built into it is what the report finds."""

import csv
import hashlib
import runpy
from pathlib import Path

import pytest

from trustreport.api import read_study
from trustreport.assessment.dimensions.vigilance import answer
from trustreport.assessment.finding import Part
from trustreport.study.plan import undeclared
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import leading

FOLDER = Path(__file__).resolve().parent.parent / "examples" / "vigilance-audit"
MAKE = runpy.run_path(str(FOLDER / "make.py"))


EN = catalogue("en")


@pytest.fixture(scope="module")
def read():
    return read_study(FOLDER)


@pytest.fixture(scope="module")
def finding(read):
    return answer(*read)


def part(finding, element: str) -> Part:
    (found,) = (one for one in finding.parts if one.element == element)
    return found


def sentences(found: Part) -> str:
    return " ".join(EN(message) for message in found.finding)


def rows(found: Part, id: str) -> list[tuple[str, ...]]:
    (table,) = (t for t in found.tables if t.id == id)
    return [tuple(EN(c) if hasattr(c, "key") else str(c) for c in row) for row in table.rows]


def counted(keep) -> tuple[int, int]:
    """Missed, and positive cases, of the rows of the table: mature, a case without an output being missed."""
    missed = n = 0
    with (FOLDER / "scores.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            mature = row["dataset"] == "baseline" or row["date"] <= "2026-08-16"
            if mature and row["truth"] == "1" and keep(row):
                n += 1
                missed += row["score"] == "" or float(row["score"]) < 0.5
    return missed, n


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


def test_the_misses_are_those_of_the_new_scanner_and_not_of_the_version_or_the_sites(finding) -> None:
    """Counted anew from the table: scanner, version, and before or from June on."""
    new = {"scanner Y": True, "scanner X": False}

    def cell(scanner: str, version: str, *, june: bool) -> tuple[int, int]:
        return counted(
            lambda row: (
                (row["scanner"] == scanner)
                and row["version"] == version
                and (row["dataset"] != "baseline" and row["dataset"] >= "2026-06") is june
            )
        )

    assert cell("scanner Y", "3.2", june=True) == (43, 71)
    assert cell("scanner X", "3.2", june=True) == (10, 75)
    assert cell("scanner X", "3.2", june=False) == (4, 42)
    assert cell("scanner X", "3.1", june=False) == (39, 411)
    where = part(finding, "where")
    table = {row[:2]: row[2] for row in rows(where, "where_missed_1")}
    for scanner in new:
        for june, phase in ((True, "from 2026-06 on"), (False, "before 2026-06")):
            k, n = cell(scanner, "3.2", june=june)
            assert table.get((scanner, f"version 3.2, {phase}")) == (f"{k} of {n}" if n else None)
    said = sentences(where)
    assert "significantly more frequent on scanner Y: 43 of 71 positive cases were missed (61%)" in said
    assert "only at Berg, Cala, and Foss; with version 3.2; and from 2026-06 on" in said
    assert "no significant difference remains for" in said
    assert "version 3.2 (14 of 117 against 39 of 411" in said
    berg = "Berg (16 of 105 against 37 of 423; +6.5 points; 95% CI +0.1 to +14.9; adjusted p "
    assert berg in said, "an interval without 0 beside 'no significant difference' needs its reason"
    rates = [r for r in finding.results if r.id == "vigilance.crossed_rate"]
    assert len(rates) > 20
    (one,) = (r for r in rates if r.parameters == {"groups": {"scanner": "scanner Y"}})
    assert (one.details["errors"], one.estimate.n) == (43, 71)


def test_since_the_last_audit_new_open_and_worse(finding) -> None:
    since = part(finding, "since")
    said = sentences(since)
    assert "Sensitivity worsened to 67% in 2026-08, from 90.8% at the baseline" in said
    assert "No indicator shows a change between 2026-07 and 2026-08" in said
    standing = {what: how for how, what, _ in rows(since, "since_entries_1")}
    assert standing["complaint C-2 (not serious)"] == "new"
    assert standing["signal S-2: Sensitivity falls"] == "new"
    assert standing["alert for Sensitivity (CUSUM)"] == "new"  # known in August, of a case of June
    assert standing["incident I-2 (serious)"] == "open"
    assert not any("S-1" in what or "I-1" in what for what in standing)
    (drawn,) = since.figures
    marks = {
        EN(m.label) if hasattr(m.label, "key") else m.label: m
        for lane in drawn.drawing.tracks
        for m in lane.marks
    }
    assert marks["version 3.2"].day.isoformat() == "2026-05-11"
    assert marks["scanner Y"].day.isoformat() == "2026-06-01"
    assert {"S-1", "S-2", "I-2", "C-2", "Sensitivity, CUSUM"} <= set(marks)
    assert marks["Sensitivity, CUSUM"].day.isoformat() == "2026-08-06"
    assert next(p.name for p in drawn.drawing.periods) == "2026-01"
    assert drawn.drawing.to_detect == 0.8


def test_what_the_plan_asks_after_an_alert_is_due(finding) -> None:
    """The CUSUM leads: its case of 22 June is mature on 6 August; ten days on it is 16 August."""
    (status,) = (p for p in finding.parts if p.element == "due")
    due = {what: (day, owner, late) for day, what, owner, late in rows(status, "vigilance_due_1")}
    action = next(what for what in due if what.startswith("Review the missed fractures"))
    assert due[action] == ("2026-08-16", "Vigilance officer (fictional)", "overdue")
    assert due["Serious incident I-2: follow up and close"][1] == "no owner declared"
    said = sentences(part(finding, "E43"))
    late = "11 days after the alert for Sensitivity (CUSUM) could be known (2026-08-06)"
    assert f"S-2 was registered on 2026-08-17, {late}" in said
    assert "An action is proposed for S-2 and not yet recorded as taken" in said
    assert "No action" not in said


def test_an_open_signal_is_not_hidden_behind_over_dispersion(finding) -> None:
    said = sentences(part(finding, "E39"))
    assert "Sensitivity of 6 sites: Berg, Cala, and Foss beyond the 95% limits about 90.8%" in said
    assert "over-dispersion is not allowed for: while a signal on this indicator is open" in said
    assert "Specificity of 6 sites: all within" in said


def test_immature_truths_are_in_no_number_and_each_number_has_one_interval(finding) -> None:
    """22 of the 33 mature positive cases of August; the other truths of August are in no entry."""
    k, n = counted(lambda row: row["dataset"] == "2026-08")
    entries = [
        r
        for r in finding.results
        if r.primary and r.place.period == "2026-08" and r.endpoint == "sensitivity"
    ]
    (value,) = (r for r in entries if r.id == "vigilance.period_value")
    assert (n - k, value.estimate.n) == (22, 33)
    assert value.estimate.value == pytest.approx(22 / 33)
