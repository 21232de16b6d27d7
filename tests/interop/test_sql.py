"""Tables from queries: the same report as from the file, nothing written, no address in any output."""

import datetime as dt
import json
import sqlite3
import sys
import traceback
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner

from trustreport.api import assess as assessed
from trustreport.api import read_study, write_report
from trustreport.commands.cli import main
from trustreport.study.interop import sql
from trustreport.study.interop.sql import NotFetched, QueryLimits, fetch
from trustreport.vocabulary.errors import StudyError

MANIFEST = """\
report: {kind: certification}
device: {trade_name: Example}
operating_point: {threshold: 0.5}
datasets:
  - {dataset: all, role: external}
tables:
  scores: SOURCE
"""
CSV = "case,truth,score\nC1,1,0.9\nC2,0,0.25\nC3,1,0.4\nC4,0,0.1\nC5,1,0.8\nC6,0,0.7\n"
QUERY = "{sql: 'select \"case\", truth, score from seen where day <= :until', url_env: DB_URL, parameters: P}"


@pytest.fixture
def database(tmp_path: Path) -> str:
    file = tmp_path / "registry.db"
    rows = [line.split(",") for line in CSV.splitlines()[1:]]
    with sqlite3.connect(file) as own:
        own.execute('create table seen ("case" text, truth int, score real, day text)')
        own.executemany("insert into seen values (?, ?, ?, '2026-01-31')", reversed(rows))
        own.execute("insert into seen values ('C7', 1, 0.99, '2026-02-01')")
    own.close()
    return f"sqlite:///{file}"


def study(folder: Path, source: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "study.yaml").write_text(MANIFEST.replace("SOURCE", source))
    (folder / "scores.csv").write_text(CSV)
    return folder


def asked(folder: Path, until: str = "2026-01-31") -> Path:
    return study(folder, QUERY.replace("P}", f"{{until: {until}}}}}"))


def rows(address: str, into: Path, query: str, **given: Any) -> str:
    fetch(query, given, address, into / "rows.csv")
    return (into / "rows.csv").read_text()


# ---------------------------------------------------------------- the data


def test_a_query_gives_the_numbers_of_its_rows_as_a_file(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DB_URL", database)
    folders = asked(tmp_path / "a"), study(tmp_path / "b", "{file: scores.csv}")
    queried, filed = map(read_study, folders)
    one, other = (assessed(*found).results for found in (queried, filed))
    assert [str(r.estimate) for r in one] == [str(r.estimate) for r in other]
    source = queried[0].sources[1]
    # The table in `database` lies the other way round: without `order by` rows are sorted.
    assert source.sha256 == sha256(CSV.encode()).hexdigest() == filed[0].sources[1].sha256
    assert source.query is not None
    assert (source.query.database, source.query.parameters) == ("DB_URL", {"until": "2026-01-31"})


def test_a_data_set_may_be_a_query(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_URL", database)
    folder = study(tmp_path / "a", "")
    text = MANIFEST.partition("datasets:")[0]
    text += (
        "datasets:\n  - {dataset: clinic A/B, role: external, sql: 'select * from seen', url_env: DB_URL}\n"
    )
    (folder / "study.yaml").write_text(text)
    found, _ = read_study(folder)
    assert found.datasets[0].name == "clinic A/B"
    assert found.sources[1].file.startswith("queried/clinic-A-B-")
    assert not (folder / "queried").exists()


def test_verify_says_whether_the_rows_changed(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DB_URL", database)
    folder, out = asked(tmp_path / "a"), tmp_path / "out"
    write_report(assessed(*read_study(folder)), out, formats=("json",))
    document = json.loads((out / "results.json").read_text())
    assert document["provenance"]["inputs"][1]["query"]["sql"].startswith("select")
    same = CliRunner().invoke(main, ["verify", str(out), "--study", str(folder)])
    assert same.exit_code == 0, same.output
    with sqlite3.connect(database.removeprefix("sqlite:///")) as own:
        own.execute("update seen set score = 0.35 where \"case\" = 'C3'")
    own.close()
    other = CliRunner().invoke(main, ["verify", str(out), "--study", str(folder)])
    assert other.exit_code == 1
    assert "is not the file that the report was made from" in other.output


def test_cells_are_written_alike_for_every_database() -> None:
    berlin = dt.timezone(dt.timedelta(hours=2))
    cells = {
        None: "", True: "1", 7: "7", 0.1: "0.1", Decimal("1E+2"): "100", "007": "007",
        dt.date(2026, 3, 2): "2026-03-02",
        dt.datetime(2026, 3, 2, 1, 5, tzinfo=berlin): "2026-03-01T23:05:00+00:00",
        dt.timedelta(minutes=1): "60.0", UUID(int=1): "00000000-0000-0000-0000-000000000001",
    }  # fmt: skip
    assert [sql._cell(value, "x") for value in cells] == list(cells.values())
    with pytest.raises(NotFetched, match="lists or bytes"):
        sql._cell(b"x", "x")


def test_rows_stand_as_the_query_orders_them(tmp_path: Path, database: str) -> None:
    query = 'select "case" from seen where score > :least'
    assert rows(database, tmp_path, query, least=0.75).split() == ["case", "C1", "C5", "C7"]
    ordered = rows(database, tmp_path, f"{query} order by 1 desc;", least=0.75)
    assert ordered.split() == ["case", "C7", "C5", "C1"]


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("query", "given", "message"),
    [
        ("delete from seen", {}, "no single query"),
        ("select 1; select 2", {}, "no single query"),
        ("pragma query_only = off", {}, "no single query"),
        ("select * from seen where day = :day", {}, "names :day without a value"),
        ("select * from seen", {"day": 1}, "does not name :day"),
        ("select scor from seen", {}, "no such column: scor"),
        ("with x as (select 1) insert into seen select 'C8', 1, 1, '' from x", {}, "refused the query"),
        ("select file from pragma_database_list", {}, "refused the query"),
        ("select zeroblob(3) as image", {}, "lists or bytes"),
    ],
)
def test_what_is_no_single_reading_query_is_refused(
    tmp_path: Path, database: str, query: str, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(NotFetched, match=message):
        fetch(query, given, database, tmp_path / "rows.csv")
    assert rows(database, tmp_path, "select count(*) as n from seen") == "n\n7\n"


def test_time_and_rows_are_limited(tmp_path: Path, database: str) -> None:
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select WHAT from n"
    with pytest.raises(NotFetched, match=r"longer than 0\.2 seconds"):
        fetch(endless.replace("WHAT", "count(*)"), {}, database, tmp_path / "r", QueryLimits(seconds=0.2))
    with pytest.raises(NotFetched, match="more than 1,000 rows"):
        fetch(endless.replace("WHAT", "i"), {}, database, tmp_path / "r", QueryLimits(rows=1000))


def test_a_missing_library_is_named_with_the_line_that_installs_it(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sqlalchemy", None)
    with pytest.raises(NotFetched) as raised:
        fetch("select 1", {}, database, tmp_path / "r")
    assert "pip install 'trustreport[sql]'" in raised.value.mend


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("{sql: select 1}", "url_env or connection"),
        ("{sql: drop table x, url_env: DB_URL}", "begins with select or with"),
        ("{file: scores.csv, sql: select 1, url_env: DB_URL}", "file, sql or newest, one of them"),
        ("{sql: select 1, url_env: DB_URL, delimiter: ';'}", "which are of files"),
        ("{file: scores.csv, parameters: {until: 1}}", "beside parameters"),
        ("{kind: scores}", "file, or sql"),
        ("{sql: select 1, connection: registry}", "TRUSTREPORT_CONNECTION_REGISTRY is not set"),
    ],
)
def test_the_manifest_says_where_a_table_comes_from(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(StudyError, match=message):
        read_study(study(tmp_path / "a", source))


# ---------------------------------------------------------------- what stays secret


def everything(folder: Path) -> bytes:
    """The content of every file in a folder."""
    return b"\n".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())


ADDRESSES = (
    "nonsense",
    "nosuch+driver://anna:PW@db.hospital.test/registry",
    "mssql+nodriver://anna:PW@db.hospital.test/registry",
    "postgresql://anna:PW@127.0.0.1:1/registry",
    "postgresql://anna:PW@127.0.0.1:notaport/registry",
    "postgresql://anna:PW@/registry?host=/nowhere&nosuchoption=PW",
    "postgresql://anna:PW@db.hospital.invalid/registry",
    "sqlite:////nowhere/PW.db",
    "sqlite:////etc/passwd?key=PW",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_message_repeats_an_address(tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_URL", address.replace("PW", "s3cr3t"))
    done = CliRunner().invoke(main, ["check", str(asked(tmp_path / "a"))])
    assert done.exit_code != 0
    assert "column tables.scores.sql" in done.output
    for part in ("s3cr3t", "anna", "hospital", "127.0.0.1", "nonsense"):
        assert part not in done.output


def test_a_traceback_holds_no_address(tmp_path: Path) -> None:
    secret = "s3cr" + "3t"  # tracebacks quote the lines of this file
    with pytest.raises(NotFetched) as raised:
        fetch("select 1", {}, f"postgresql://anna:{secret}@127.0.0.1:1/x", tmp_path / "r")
    assert secret not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize("key", ["url_env", "connection"])
def test_an_address_in_the_manifest_is_refused_unread(tmp_path: Path, key: str) -> None:
    folder = study(tmp_path / "a", f"{{sql: select 1, {key}: 'postgresql://anna:s3cr3t@host/x'}}")
    done = CliRunner().invoke(main, ["check", str(folder)])
    assert done.exit_code != 0
    assert f"tables.scores.{key}" in done.output
    assert "s3cr3t" not in done.output
    assert "anna" not in done.output


def test_what_a_database_says_is_cut_where_it_holds_a_part_of_the_address() -> None:
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import OperationalError

    url = make_url("postgresql://anna:s3cr%2Ft@host/x")
    said = OperationalError("", {}, Exception("password s3cr/t of role is wrong"), hide_parameters=True)
    assert sql._reason(said, url) == " (OperationalError)"
    said = OperationalError("", {}, Exception("no such column: scor"), hide_parameters=True)
    assert sql._reason(said, url) == ": no such column: scor"


def test_no_output_holds_the_address(tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "s3cr3t"
    folder.mkdir()
    Path(database.removeprefix("sqlite:///")).rename(folder / "registry.db")
    monkeypatch.setenv("DB_URL", f"sqlite:///{folder / 'registry.db'}")
    own, out = asked(tmp_path / "a"), tmp_path / "out"
    formats = ["--formats", "html,json,xlsx,csv,annex"]
    done = CliRunner().invoke(main, ["build", str(own), "-o", str(out), *formats])
    assert done.exit_code == 0, done.output
    assert b"s3cr3t" not in everything(out) + everything(own)
    assert b"DB_URL" in everything(out)
