"""The next period of an audit in one command, and the demonstration."""

import csv
import json
import os
import shutil
import sqlite3
from datetime import datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from trustreport.api import assess, read_study
from trustreport.commands.cli import main
from trustreport.study.lock import lock_status
from trustreport.study.next_period import enter_events

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


def test_scores_and_readings_are_entered_together(audit: Path, tmp_path: Path) -> None:
    with (EXAMPLE / "readings.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    readings = tmp_path / "september_readings.csv"
    with readings.open("w", newline="") as out:
        made = csv.DictWriter(out, rows[0])
        made.writeheader()
        made.writerows(row | {"case": f"N{row['case']}"} for row in rows[-40:])
    done = run("next", audit, "--data", september(tmp_path), "--data", readings, "--until", "2026-09-30")
    assert done.exit_code == 0, done.stderr
    tables = read_study(audit)[1].tables
    assert (tables["scores_2"].file, tables["readings_2"].file) == ("september.csv", readings.name)


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


QUERY = "select * from seen where date between :since and :until"
BASELINE = "{sql: 'select * from seen where date < :until', url_env: DB_URL, parameters: {until: 2026-08-01}}"


@pytest.fixture
def registry(audit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The audit with its scores in a database that goes on until September."""
    with (EXAMPLE / "scores.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    with september(tmp_path).open(newline="") as file:
        rows += list(csv.reader(file))[1:]
    with sqlite3.connect(tmp_path / "registry.db") as database:
        columns, marks = ", ".join(f"[{name}]" for name in header), ", ".join("?" * len(header))
        database.execute(f"create table seen ({columns})")
        database.executemany(f"insert into seen values ({marks})", rows)  # noqa: S608 -- of marks alone
    database.close()
    monkeypatch.setenv("DB_URL", f"sqlite:///{tmp_path / 'registry.db'}")
    days = "{since: 2026-08-01, until: 2026-08-31}"
    last = f"{{kind: scores, dataset: 2026-08, sql: {QUERY!r}, url_env: DB_URL, parameters: {days}}}"
    text = (audit / "study.yaml").read_text()
    text = "\n".join(line for line in text.splitlines() if "sha256:" not in line)
    text = text.replace("  scores: {file: scores.csv}", f"  scores: {BASELINE}\n  scores_2: {last}")
    (audit / "study.yaml").write_text(text)
    (audit / "scores.csv").unlink()
    return audit


def test_a_period_from_a_query_fetches_itself(registry: Path) -> None:
    assert run("lock", registry).exit_code == 0
    done = run("next", registry, "--until", "2026-09-30")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("2026-09: 2026-09-01 to 2026-09-30, from scores_3")
    study, plan = read_study(registry)
    added = plan.tables["scores_3"]
    assert added.parameters == {"since": "2026-09-01", "until": "2026-09-30"}
    assert (added.sql, added.url_env, added.dataset) == (QUERY, "DB_URL", "2026-09")
    sizes = {d.name: len(d.cases.truth) for d in study.datasets}
    assert sizes["2026-09"] == sizes["2026-08"] > 0
    assert lock_status(study, plan).state == "locked"  # a later period, read as the one that was locked
    again = run("next", registry, "--until", "2026-10-31")
    assert again.exit_code == 1  # the database has no rows of October
    assert "no rows below the header" in again.stderr
    assert "scores_4" not in read_study(registry)[1].tables


@pytest.mark.parametrize("change", [{"since": "2026-09-10"}, {"sql": f"{QUERY} and score < '0.9'"}])
def test_a_period_that_asks_otherwise_than_was_locked_is_a_change(
    registry: Path, change: dict[str, str]
) -> None:
    run("lock", registry)
    run("next", registry, "--until", "2026-09-30")
    text = (registry / "study.yaml").read_text()
    head, mark, added = text.partition("scores_3:")
    for key, value in change.items():
        old = {"since": "since: 2026-09-01", "sql": QUERY}[key]
        added = added.replace(old, f"since: {value}" if key == "since" else value.replace("'", "''"))
    (registry / "study.yaml").write_text(head + mark + added)
    status = lock_status(*read_study(registry))
    assert [c.field for c in status.changes] == ["tables.scores_3"]


@pytest.fixture
def ward(audit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The audit with August read from an export in a folder, named by a variable; the folder."""
    exports = tmp_path / "ward" / "nightly"
    exports.mkdir(parents=True)
    with (EXAMPLE / "scores.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    august = [row for row in rows if row[header.index("dataset")] == "2026-08"]
    for name, own in (
        ("ward/nightly/s-08.csv", august),
        ("audit/scores.csv", [r for r in rows if r not in august]),
    ):
        with (tmp_path / name).open("w", newline="") as out:
            csv.writer(out).writerows([header, *own])
    drop(exports / "s-08.csv", "2026-09-01")
    monkeypatch.setenv("WARD", str(tmp_path / "ward"))
    taken = "{file: nightly/s-08.csv, modified: 2026-09-01T00:00:00Z}"
    source = f"newest: nightly/s-*.csv, url_env: WARD, taken: {taken}"
    text = (audit / "study.yaml").read_text()
    text = "\n".join(line for line in text.splitlines() if "sha256:" not in line)
    own = f"  scores: {{file: scores.csv}}\n  scores_2: {{kind: scores, dataset: 2026-08, {source}}}"
    (audit / "study.yaml").write_text(text.replace("  scores: {file: scores.csv}", own))
    return exports


def drop(file: Path, day: str) -> None:
    """Let a file have changed at the beginning of a day, in UTC."""
    at = datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
    os.utime(file, (at, at))


def test_a_period_from_exports_takes_the_newest(audit: Path, ward: Path, tmp_path: Path) -> None:
    assert run("lock", audit).exit_code == 0
    before = (audit / "study.yaml").read_text()
    none = run("next", audit, "--until", "2026-09-30")
    assert none.exit_code == 1
    assert "no new file nightly/s-*.csv: the newest, nightly/s-08.csv, is of 2026-09-01" in none.stderr
    september(ward, "s-09.csv")
    drop(ward / "s-09.csv", "2026-09-29")
    assert "one that changed" not in run("next", audit, "--until", "2026-09-30").stdout
    assert (audit / "study.yaml").read_text() == before  # an export before the last day has not all of it
    drop(ward / "s-09.csv", "2026-10-01")
    done = run("next", audit, "--until", "2026-09-30")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("2026-09: 2026-09-01 to 2026-09-30, from scores_3")
    (ward / "s-09.csv").unlink()  # the copy is read
    study, plan = read_study(audit)
    added = plan.tables["scores_3"]
    assert added.taken is not None
    assert (added.taken.file, added.taken.modified) == ("nightly/s-09.csv", "2026-10-01T00:00:00Z")
    (source,) = [s for s in study.sources if s.export and s.export.file == "nightly/s-09.csv"]
    assert source.sha256 == added.taken.sha256
    assert lock_status(study, plan).state == "locked"
    (copy,) = (audit / "queried").iterdir()
    copy.write_text(copy.read_text() + "\n")
    assert "is not the file that was taken" in run("check", audit).stderr


def test_a_report_says_which_export_was_read(audit: Path, ward: Path, tmp_path: Path) -> None:
    done = run("build", audit, "-o", tmp_path / "out", "--formats", "html,json")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "out" / "report.html").read_text().replace("<wbr>", "")
    assert "Exports in folders and buckets" in page
    assert "nightly/s-08.csv" in page
    assert str(ward.parent) not in page


def test_without_files_and_queries_there_is_no_next_period(audit: Path) -> None:
    done = run("next", audit, "--until", "2026-09-30")
    assert done.exit_code == 1
    assert "name its files by --data" in done.stderr


def test_a_file_that_is_there_already_leaves_no_copy_of_the_others(audit: Path, tmp_path: Path) -> None:
    taken = september(tmp_path, "readings.csv")
    before = {f.name: f.read_bytes() for f in audit.iterdir()}
    done = run("next", audit, "--data", september(tmp_path), "--data", taken, "--until", "2026-09-30")
    assert done.exit_code == 1
    assert "readings.csv is there already" in done.stderr
    assert {f.name: f.read_bytes() for f in audit.iterdir()} == before


@pytest.mark.parametrize("text", ["report: [\n", "report: {kind: vigilance}\n"])
def test_a_manifest_that_is_none_is_refused_with_its_problems(audit: Path, tmp_path: Path, text: str) -> None:
    (audit / "study.yaml").write_text(text)
    done = run("next", audit, "--data", september(tmp_path), "--until", "2026-09-30")
    assert done.exit_code == 1
    assert "study.yaml" in done.stderr
    assert (audit / "study.yaml").read_text() == text


def test_events_of_a_register_replace_those_of_their_name_and_others_stay(audit: Path) -> None:
    before = (audit / "study.yaml").read_text().splitlines()
    closed = {"incident": "I-2", "seriousness": "serious", "status": "closed"}
    same = {"incident": "C-1", "kind": "complaint", "description": "Fictional: slow answer in the evening"}
    same |= {"event_date": "2026-04-02", "awareness_date": "2026-04-02", "report_date": "2026-04-03"}
    same |= {"seriousness": "not serious", "causality": "none", "reported_to": "manufacturer"}
    new = {"incident": "I-4", "event_date": "2026-09-02", "imdrf_codes": ["A0502"]}
    register = {"incidents": [closed, same | {"status": "closed"}, new]}
    enter_events(audit / "study.yaml", register | {"signals": [{"signal": "S-3", "owner": "QM"}]})
    after = (audit / "study.yaml").read_text().splitlines()
    assert [line.split(",")[0] for line in before if line not in after] == ["  - {incident: I-2"]
    assert "    event_date: 2026-09-02" in after  # a date, not a text
    plan = read_study(audit)[1]
    assert [i.incident for i in plan.incidents] == ["I-1", "C-1", "I-2", "I-3", "C-2", "I-4"]
    assert [i.is_closed for i in plan.incidents] == [True, True, True, False, False, False]
    assert [(s.signal, s.owner) for s in plan.signals][2:] == [("S-3", "QM")]


def test_events_of_a_register_are_entered_where_the_manifest_has_none(tmp_path: Path) -> None:
    manifest = tmp_path / "study.yaml"
    manifest.write_text("report: {kind: vigilance}\nincidents:\n")
    enter_events(manifest, {"incidents": [{"incident": "I-1"}], "signals": []})
    assert manifest.read_text().splitlines()[1:] == ["incidents:", "  - incident: I-1", "    kind: incident"]


def test_events_of_a_register_are_entered_into_json(tmp_path: Path) -> None:
    manifest = tmp_path / "study.json"
    manifest.write_text('{"report": {"kind": "vigilance"}, "signals": [{"signal_id": "S-1", "owner": "QM"}]}')
    row = {"signal": "S-1", "detected": "2026-09-02", "alternative_explanations": ["New scanner"]}
    enter_events(manifest, {"signals": [row]})
    assert json.loads(manifest.read_text())["signals"] == [row]
