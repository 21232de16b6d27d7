"""The next period of an audit in one command, and the demonstration."""

import csv
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trustreport.api import assess, read_study
from trustreport.commands.cli import main

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "vigilance-audit"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "audit"))


def september(folder: Path, name: str = "september.csv", *, without: str = "") -> Path:
    """The cases of August once more, a month later; `without` leaves a column out."""
    with (EXAMPLE / "scores.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == "2026-08"]
    file = folder / name
    with file.open("w", newline="") as out:
        made = csv.DictWriter(out, [key for key in rows[0] if key != without], extrasaction="ignore")
        made.writeheader()
        for row in rows:
            date = row["date"].replace("2026-08", "2026-09").replace("2026-09-31", "2026-09-30")
            made.writerow(row | {"dataset": "2026-09", "case": f"N{row['case']}", "date": date})
    return file


@pytest.mark.parametrize("without", ["", "dataset"])
def test_the_next_period_is_entered_and_everything_else_kept(
    audit: Path, tmp_path: Path, without: str
) -> None:
    before = (audit / "study.yaml").read_text().splitlines()
    done = run("next", audit, "--data", september(tmp_path, without=without), "--until", "2026-09-30")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("2026-09: 2026-09-01 to 2026-09-30, from september.csv")
    after = (audit / "study.yaml").read_text().splitlines()
    changed = [line for line in before if line not in after]
    assert [line.split(":")[0].strip() for line in changed] == [
        "date", "period_start", "period_end", "period_index", "data_cut",
    ]  # fmt: skip
    study, plan = read_study(audit)
    assert plan.vigilance is not None
    assert str(plan.vigilance.data_cut) == "2026-10-30"  # 30 days after its end, as before
    assert plan.vigilance.period_index == 9
    old = read_study(EXAMPLE)[1]
    assert (plan.signals, plan.incidents) == (old.signals, old.incidents)
    periods = {r.place.period for r in assess(study, plan).results if r.id == "vigilance.period_value"}
    assert "2026-09" in periods


def test_a_second_table_gets_a_name_of_its_own(audit: Path, tmp_path: Path) -> None:
    run("next", audit, "--data", september(tmp_path), "--until", "2026-09-30")
    other = september(tmp_path, "october.csv")
    other.write_text(other.read_text().replace("N2026", "O2026").replace("2026-09", "2026-10"))
    done = run("next", audit, "--data", other, "--until", "2026-10-31")
    assert done.exit_code == 0, done.stderr
    assert {"scores", "scores_2", "scores_3"} <= set(read_study(audit)[1].tables)


@pytest.mark.parametrize(
    ("file", "until", "message"),
    [
        ("case,truth,score\nx,1,0.5\n", "2026-09-30", "has not the columns of"),
        (None, "2026-08-20", "would end on 2026-08-20, before it begins"),
        ("bad", "2026-09-30", "expected"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    audit: Path, tmp_path: Path, file: str | None, until: str, message: str
) -> None:
    table = september(tmp_path)
    if file == "bad":
        table.write_text(table.read_text().replace(",done,", ",done,bad", 1))
    elif file is not None:
        table.write_text(file)
    before = {f.name: f.read_bytes() for f in audit.iterdir()}
    done = run("next", audit, "--data", table, "--until", until)
    assert done.exit_code == 1
    assert message in done.stderr
    assert {f.name: f.read_bytes() for f in audit.iterdir()} == before


def test_a_demonstration_is_a_study_and_its_report(tmp_path: Path) -> None:
    done = run("demo", tmp_path / "d", "--kind", "procurement", "--no-open")
    assert done.exit_code == 0, done.stderr
    folder = tmp_path / "d" / "procurement"
    assert {"report.html", "report.pdf", "results.json"} <= {f.name for f in folder.iterdir()}
    assert run("check", folder / "study").exit_code == 0
    assert "is there already" in run("demo", tmp_path / "d", "--kind", "procurement", "--no-open").stderr


def test_without_a_command_the_next_steps_are_said() -> None:
    done = run()
    assert done.exit_code == 0
    assert [line.split()[1] for line in done.stdout.splitlines()[:3]] == ["demo", "init", "build"]
