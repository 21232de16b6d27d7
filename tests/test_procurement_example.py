"""The example of a procurement review: the same when made again, complete, with verdicts of each kind."""

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from trustreport.assessment.assess import Assessment
from trustreport.commands.cli import main
from trustreport.study import lock

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "procurement-triage"


@pytest.fixture(scope="module")
def assessed(assessed_example: Callable[[str], Assessment]) -> Assessment:
    return assessed_example(EXAMPLE.name)


def test_made_again_the_tables_are_the_same_bytes(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLE / "make.py"))["write"](tmp_path)
    for name in ("cases.csv", "scores.csv"):
        assert (tmp_path / name).read_bytes() == (EXAMPLE / name).read_bytes(), name


def test_nothing_that_a_procurement_review_requires_is_undeclared(assessed: Assessment) -> None:
    assert assessed.not_declared == ()
    assert assessed.plan.study.simulated
    assert "no device" in (assessed.plan.report.notice or "")


def test_its_criteria_are_locked(assessed: Assessment) -> None:
    status = lock.lock_status(assessed.study, assessed.plan)
    assert (status.state, status.late) == ("locked", False)


def test_criteria_are_met_missed_and_left_open(assessed: Assessment) -> None:
    assert {v.criterion.endpoint: v.word for v in assessed.verdicts} == {
        "Alder sensitivity": "pass",
        "Alder specificity": "pass",
        "Birch sensitivity": "inconclusive",
        "Birch specificity": "pass",
        "Cedar sensitivity": "fail",
        "Cedar specificity": "pass",
        "Birch no worse than Alder": "inconclusive",
    }
    assert {v.family.name: v.family.met for v in assessed.verdicts if v.family} == {
        "Alder": True,
        "Birch": False,
        "Cedar": False,
    }


def test_failures_are_counted(assessed: Assessment) -> None:
    rows = (EXAMPLE / "scores.csv").read_text().splitlines()
    failed = {name: sum(f",{name},,,failed" in row for row in rows) for name in ("Alder", "Birch", "Cedar")}
    found = {
        r.scope["candidate"]: r.estimate.details["failed"]
        for r in assessed.results
        if r.id == "candidates.failure_rate" and "parameters" not in r.scope
    }
    assert found == failed
    assert min(failed.values()) > 0


@pytest.mark.parametrize(
    "asked, code, named",
    [
        ((), 0, []),
        (("--fail-on", "fail"), 3, ["Cedar sensitivity: fail"]),
        (("--fail-on", "not-tested,not-assessable"), 0, []),
        (
            ("--fail-on", "inconclusive"),
            3,
            ["Birch sensitivity: inconclusive", "Birch no worse than Alder: inconclusive"],
        ),
        (("--fail-on", "bad"), 2, []),
    ],
)
def test_the_exit_status_is_what_was_asked(
    tmp_path: Path, asked: tuple[str, ...], code: int, named: list[str]
) -> None:
    out = tmp_path / "out"
    told = CliRunner().invoke(main, ["build", str(EXAMPLE), "-o", str(out), "--formats", "json", *asked])
    assert told.exit_code == code
    assert (out / "results.json").is_file() == (code != 2)
    for line in named:
        assert line in told.stderr
