"""The audit log: a chain that shows every change, on both databases, and what it is compared with."""

import contextlib
import json
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from services import API, Client, at_once, new_core, stored, world
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from trustreport.commands.cli import main
from trustreport.service import audit
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.record.verification import verify_all
from trustreport.service.storage.models import Audit, Schedule


def fill(core: Core, n: int = 5, chain: str = "one") -> None:
    for i in range(n):
        with core.store.write() as rows:
            audit.write(rows, chain, "anna", "test.act", f"s{i}", count=i, words="é 漢")


def faults(core: Core, **witnessed: dict[int, str]) -> list[str]:
    with core.store.read() as rows:
        return [fault for found in audit.verify(rows, witnessed) for fault in found.faults]


def test_a_chain_verifies(core: Core) -> None:
    fill(core)
    fill(core, 2, "two")
    with core.store.read() as rows:
        assert [(v.chain, v.entries, v.faults) for v in audit.verify(rows)] == [
            ("one", 5, ()),
            ("two", 2, ()),
        ]


@pytest.mark.parametrize("statement", ["UPDATE audit SET actor = 'eve'", "DELETE FROM audit"])
def test_the_database_refuses_to_change_the_log(core: Core, statement: str) -> None:
    fill(core)
    with pytest.raises(DBAPIError, match="append-only"), core.store.write() as rows:
        rows.execute(text(statement))
    assert not faults(core)


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_postgresql_refuses_to_truncate_the_log(core: Core) -> None:
    with pytest.raises(DBAPIError, match="append-only"), core.store.write() as rows:
        rows.execute(text("TRUNCATE audit"))


@pytest.mark.parametrize(
    "tampering, said",
    [
        ("UPDATE audit SET actor = 'eve' WHERE number = 3", "entry 3 was changed"),
        ("UPDATE audit SET details = '{}' WHERE number = 2", "entry 2 was changed"),
        ("DELETE FROM audit WHERE number = 3", "entry 3 is missing"),
        ("DELETE FROM audit WHERE number > 3", "the log ends with entry 3"),
    ],
)
def test_tampering_shows(core: Core, tampering: str, said: str) -> None:
    """Whoever owns the database can take the triggers away; the chain still tells."""
    fill(core)
    without_triggers(core, tampering)
    assert any(said in fault for fault in faults(core))


def test_a_log_cut_off_and_closed_again_contradicts_a_witness(core: Core) -> None:
    fill(core)
    with core.store.read() as rows:
        number, head = audit.head_of(rows, "one")
    without_triggers(
        core,
        "DELETE FROM audit WHERE number > 3",
        "UPDATE audit_heads SET number = 3, hash = (SELECT hash FROM audit WHERE number = 3)",
    )
    assert not faults(core)  # the chain alone cannot know
    assert faults(core, one={number: head}) == ["entry 5, which was witnessed, is missing"]


def without_triggers(core: Core, *statements: str) -> None:
    triggers = ("audit_no_update", "audit_no_delete") if core.store.is_sqlite else ("audit_no_change",)
    on = "" if core.store.is_sqlite else " ON audit"
    with core.store.write() as rows:
        for name in triggers:
            rows.execute(text(f"DROP TRIGGER {name}{on}"))
        for statement in statements:
            rows.execute(text(statement))


def test_what_is_rolled_back_leaves_no_entry(core: Core) -> None:
    fill(core, 1)
    with contextlib.suppress(ZeroDivisionError), core.store.write() as rows:
        audit.write(rows, "one", "anna", "test.act")
        raise ZeroDivisionError
    fill(core, 1)
    with core.store.read() as rows:
        assert [v.entries for v in audit.verify(rows)] == [2]


def test_writers_at_the_same_time_make_one_chain(core: Core) -> None:
    at_once(*[lambda: fill(core, 10)] * 4)
    with core.store.read() as rows:
        (found,) = audit.verify(rows)
    assert (found.entries, found.faults) == (40, ())


@pytest.fixture
def names(core: Core) -> dict[str, str]:
    """Two organisations with one of everything; names of the first one's rows."""
    anna = Client.set_up(create_app(core), core)
    found = world(core, anna) | {"organisation": anna.me["organisation"]}
    reviewer = anna.invite("r@h.test", "reviewer")
    assert reviewer.signs(found["report"]).status_code == 201
    anna.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]})
    world(core, anna.found("Other hospital", "bob@other.test"))
    return found


def faults_now(core: Core, heads: Path | None = None) -> list[str]:
    with core.store.read() as rows:
        return [fault for chain in verify_all(core, rows, heads) for fault in chain.faults]


def test_a_log_that_covers_everything_is_intact(core: Core, names: dict[str, str]) -> None:
    assert faults_now(core) == []
    schedules.run_daily(core)
    assert faults_now(core) == []


def set_back(core: Core, chain: str, n: int) -> None:
    """Cut the last entries of a chain off, and its head with them."""
    keep = len(stored(core, Audit, chain=chain)) - n
    of = f"chain = '{chain}' AND number"
    without_triggers(
        core,
        f"DELETE FROM audit WHERE {of} > {keep}",  # noqa: S608 -- of names made here
        f"UPDATE audit_heads SET number = {keep}, hash = "  # noqa: S608 -- as above
        f"(SELECT hash FROM audit WHERE {of} = {keep}) WHERE chain = '{chain}'",
    )


FORGED = (
    "INSERT INTO studies (id, organisation, name, sample, created_by, created_at) "
    "SELECT 'forged', organisation, name, sample, created_by, created_at FROM studies WHERE id = '{study}'"
)
CUT_OFF = "DELETE FROM audit WHERE chain = '{organisation}' AND number > {keep}"
SET_BACK = (
    "UPDATE audit_heads SET number = {keep}, hash = (SELECT hash FROM audit WHERE "
    "chain = '{organisation}' AND number = {keep}) WHERE chain = '{organisation}'"
)
CHANGES = {
    "token ": (CUT_OFF, SET_BACK),  # its entry was the last
    "the log of this organisation is missing": (
        "DELETE FROM audit WHERE chain = '{organisation}'",
        "DELETE FROM audit_heads WHERE chain = '{organisation}'",
    ),
    "the log of the service is missing": ("DELETE FROM audit", "DELETE FROM audit_heads"),
    "report {report} has results": ("UPDATE reports SET results_sha256 = '{zeros}' WHERE id = '{report}'",),
    "is not the one in the log (report.review)": ("UPDATE attestations SET sha256 = '{zeros}'",),
    "version {version} has files": ("UPDATE versions SET digest = '{ones}' WHERE id = '{version}'",),
    "has roles that are not the ones in the log": ("UPDATE users SET roles = '[\"admin\"]'",),
    "schedule {schedule} is gone without": ("DELETE FROM schedules WHERE id = '{schedule}'",),
    "webhook {webhook} has an address": ("UPDATE webhooks SET url = 'https://elsewhere.test'",),
    "attestation ": ("DELETE FROM attestations",),
    "study forged is not in the log (study.add)": (FORGED,),
}


class _RollBack(Exception):
    pass


def test_what_contradicts_the_other_tables_shows(core: Core, names: dict[str, str]) -> None:
    without_triggers(core)
    keep = len(stored(core, Audit, chain=names["organisation"])) - 1
    given = {**names, "zeros": "0" * 64, "ones": "1" * 64, "keep": keep}
    for said, statements in CHANGES.items():
        with suppress(_RollBack), core.store.write() as rows:
            for statement in statements:
                rows.execute(text(statement.format(**given)))
            found = [fault for chain in verify_all(core, rows) for fault in chain.faults]
            assert any(said.format(**given) in fault for fault in found), (said, found)
            raise _RollBack
    assert faults_now(core) == []


def test_heads_are_signed_and_written_every_day(core: Core, names: dict[str, str]) -> None:
    schedules.run_daily(core)
    (file,) = (core.settings.data / "heads").glob("*.json")
    said = json.loads(file.read_text())
    entries = {(e.chain, e.number): (e.action, e.hash) for e in stored(core, Audit)}
    for chain, head in said["heads"].items():
        assert entries[chain, head["number"]][1] == head["hash"]
        following = entries.get((chain, head["number"] + 1), ("", ""))[0]
        assert following == ("log.heads" if chain == "service" else "")
    with core.store.write() as rows:
        rows.execute(text("DELETE FROM tokens"))
    set_back(core, names["organisation"], 1)  # what went with its row, and its head
    found = faults_now(core)
    assert any("which was witnessed, is missing" in fault for fault in found), found
    # Whoever changes the file has no key to sign it.
    said["heads"][names["organisation"]]["number"] -= 1
    file.write_text(json.dumps(said))
    assert f"{file.name} is not what was signed" in faults_now(core)
    file.unlink()
    assert any("heads" in fault and "signature without" in fault for fault in faults_now(core))


def test_the_command_reads_and_writes_heads(light: Core, tmp_path: Path) -> None:
    anna = Client.set_up(create_app(light), light)
    data = ["--data", str(light.settings.data)]
    run, noted = CliRunner().invoke, tmp_path / "noted.json"
    done = run(main, ["audit-log", "verify", *data, "--write-heads", str(noted)])
    assert (done.exit_code, done.output.count("intact")) == (0, 2), done.output
    anna.study()
    done = run(main, ["audit-log", "verify", *data, "--heads", str(noted)])
    assert (done.exit_code, done.output.count("intact")) == (0, 2), done.output
    with light.store.write() as rows:
        rows.execute(text("DELETE FROM studies"))
    set_back(light, anna.me["organisation"], 2)
    done = run(main, ["audit-log", "verify", *data])
    assert done.exit_code == 0, done.output  # nothing here knows
    done = run(main, ["audit-log", "verify", *data, "--heads", str(noted)])
    assert (done.exit_code, "which was witnessed, is missing" in done.output) == (1, True), done.output
    noted.write_text("{}")
    done = run(main, ["audit-log", "verify", *data, "--heads", str(noted)])
    assert (done.exit_code, "heads" in done.output) == (1, True)


def test_an_empty_log_is_no_intact_one(tmp_path: Path) -> None:
    core = new_core(tmp_path / "data")
    core.close()
    done = CliRunner().invoke(main, ["audit-log", "verify", "--data", str(tmp_path / "data")])
    assert (done.exit_code, "empty" in done.output) == (1, True)


def test_the_page_and_the_api_verify_alike(light: Core) -> None:
    anna = Client.set_up(create_app(light), light)
    names = world(light, anna)
    assert anna.get(f"{API}/audit/verification").json()["faults"] == []
    with light.store.write() as rows:
        rows.query(Schedule).filter_by(id=names["schedule"]).delete()
    (fault,) = anna.get(f"{API}/audit/verification").json()["faults"]
    assert names["schedule"] in fault
