"""The register of looks: one line a use of the data, chained, whole or not there, printed and checked."""

import json
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.studies import LOCKABLE, TEST_SET
from trustreport.api import assess, lock_criteria, read_study, record_look, reproduce, write_report
from trustreport.commands.cli import main
from trustreport.report.answer.acceptance import fixed
from trustreport.study import lock
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.yaml").write_text(LOCKABLE)
    (tmp_path / "test.csv").write_text(TEST_SET)
    lock_criteria(tmp_path)
    return tmp_path


def look(folder: Path, **how: str):
    study, plan = read_study(folder)
    return record_look(folder, study, plan, **how), plan


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / lock.LOOKS).read_text().splitlines()]


def outcome(study, plan):
    return next(c for c in assess(study, plan).checks if c.check == "P68")


def test_a_look_has_data_lock_day_purpose_and_criteria_and_the_same_look_is_one_line(folder):
    study, plan = look(folder, purpose="submission")
    assert look(folder, purpose="submission")[0].looks == study.looks
    (line,) = lines(folder)
    assert line["data"] == {"test.csv": next(s.sha256 for s in study.sources if s.file == "test.csv")}
    assert line["lock"] == lock.read(study.lock).last.sha256
    assert (line["on"], line["purpose"], line["results"]) == ("2026-03-01", "submission", ["finds"])
    assert line["previous"] == ""
    assert outcome(study, plan).status == "clear"


def test_a_second_look_is_chained_fires_the_check_and_is_printed(folder):
    look(folder, on="2026-02-01", purpose="threshold")
    study, plan = look(folder, purpose="submission")
    first, second = lines(folder)
    assert second["previous"] == first["sha256"]
    found = outcome(study, plan)
    assert found.status == "fired"
    assert "one earlier look at these data: 2026-02-01 (threshold)" in EN(found.message)
    said = " ".join(fixed(assess(study, plan), EN)[0])
    assert "2 looks at these data: 2026-02-01, threshold (lock " in said


def test_a_lock_amended_between_two_looks_is_said(folder):
    look(folder, purpose="first")
    (folder / "study.yaml").write_text(LOCKABLE.replace("0.4", "0.3"))
    lock_criteria(folder, amend=True)
    study, plan = look(folder, purpose="second")
    assert "not the same at every look" in EN(outcome(study, plan).message)


def test_other_data_are_not_these_data(folder):
    look(folder, purpose="first")
    (folder / "test.csv").write_text(TEST_SET.replace("c1,", "d1,"))
    study, plan = look(folder, purpose="second")
    assert outcome(study, plan).status == "clear"


@pytest.mark.parametrize("harm", ["edited", "removed", "put in", "not json"])
def test_a_register_that_was_changed_is_refused(folder, harm):
    for purpose in ("one", "two", "three"):
        look(folder, purpose=purpose)
    file = folder / lock.LOOKS
    rows = file.read_text().splitlines(keepends=True)
    match harm:
        case "edited":
            rows[0] = rows[0].replace("one", "two")
        case "removed":
            del rows[1]
        case "put in":
            rows.insert(1, rows[2])
        case _:
            rows[1] = "{\n"
    file.write_text("".join(rows))
    with pytest.raises(StudyError, match=r"criteria\.looks\.jsonl"):
        read_study(folder)


def test_a_torn_last_line_is_no_look_and_the_next_one_takes_its_place(folder):
    look(folder, purpose="one")
    file = folder / lock.LOOKS
    whole = file.read_bytes()
    file.write_bytes(whole + whole[: len(whole) // 2])
    assert len(lock.read_looks(read_study(folder)[0].looks)) == 1
    look(folder, purpose="two")
    assert [line["purpose"] for line in lines(folder)] == ["one", "two"]
    assert file.read_bytes().startswith(whole)


def test_without_a_lock_nothing_is_written(tmp_path):
    (tmp_path / "study.yaml").write_text(LOCKABLE)
    (tmp_path / "test.csv").write_text(TEST_SET)
    study, _ = look(tmp_path)
    assert not study.looks
    assert not (tmp_path / lock.LOOKS).exists()


def test_build_enters_its_look_and_the_same_build_gives_the_same_results(folder):
    for out in ("a", "b"):
        how = ["--formats", "json", "--purpose", "audit", "--on", "2026-04-01"]
        made = CliRunner().invoke(main, ["build", str(folder), "-o", str(folder / out), *how])
        assert made.exit_code == 0, made.output
    assert [(line["on"], line["purpose"]) for line in lines(folder)] == [("2026-04-01", "audit")]
    assert (folder / "a/results.json").read_bytes() == (folder / "b/results.json").read_bytes()


def test_assess_enters_its_look_where_it_is_named_a_register_and_writes_nothing_else(folder):
    study, plan = read_study(folder)
    assess(study, plan)
    assert not (folder / lock.LOOKS).read_bytes()
    made = assess(study, plan, register=folder, on=date(2026, 4, 1), purpose="notebook")
    assert [(line["on"], line["purpose"]) for line in lines(folder)] == [("2026-04-01", "notebook")]
    assert next(c for c in made.checks if c.check == "P68").status == "clear"
    again = assess(study, plan, register=folder / "study.yaml", on="2026-04-02")
    assert [line["on"] for line in lines(folder)] == ["2026-04-01", "2026-04-02"]
    assert next(c for c in again.checks if c.check == "P68").status == "fired"


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"purpose": "notebook"}, ValueError, "name its folder as register"),
        ({"on": "2026-04-01"}, ValueError, "name its folder as register"),
        ({"register": ".", "on": "1 April"}, ValueError, 'found "1 April", expected a day as YYYY-MM-DD'),
        ({"register": "elsewhere"}, FileNotFoundError, "start one with lock_criteria"),
    ],
)
def test_a_look_that_cannot_be_entered_is_refused_before_anything_is_computed(folder, how, error, message):
    (folder / "elsewhere").mkdir()
    if "register" in how:
        how = {**how, "register": folder / how["register"]}
    study, plan = read_study(folder)
    with pytest.raises(error, match=message):
        assess(study, plan, **how)
    assert not (folder / lock.LOOKS).read_bytes()
    assert not list((folder / "elsewhere").iterdir())


def test_a_report_is_reproduced_after_later_looks_at_its_data(folder):
    study, plan = look(folder, on="2026-02-01", purpose="first")
    write_report(assess(study, plan), folder / "out", formats=["json"])
    look(folder, on="2026-03-01", purpose="second")
    assert {status.status for status in reproduce(folder / "out", folder)} == {"ok"}
