"""What `audit-log verify` holds the log against: the other tables, and heads that were written elsewhere."""

import json
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from services import API, PASSWORD, Client, world
from sqlalchemy import text
from test_service_audit import without_triggers

from trustreport.commands.cli import main
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.record.verification import verify_all
from trustreport.service.storage.models import Audit, Schedule


@pytest.fixture
def names(core: Core) -> dict[str, str]:
    """Two organisations with one of everything; names of the first one's rows."""
    anna = Client.set_up(create_app(core), core)
    found = world(core, anna) | {"organisation": anna.me["organisation"]}
    reviewer = anna.invite("r@h.test", "reviewer")
    signing = {"act": "review", "meaning": "Seen", "password": PASSWORD}
    assert reviewer.post(f"{API}/reports/{found['report']}/attestations", json=signing).status_code == 201
    anna.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]})
    world(core, anna.found("Other hospital", "bob@other.test"))
    return found


def faults(core: Core, heads: Path | None = None) -> list[str]:
    with core.store.read() as rows:
        return [fault for chain in verify_all(core, rows, heads) for fault in chain.faults]


def test_a_log_that_covers_everything_is_intact(core: Core, names: dict[str, str]) -> None:
    assert faults(core) == []
    schedules.run_daily(core)
    assert faults(core) == []


def set_back(core: Core, chain: str, n: int) -> None:
    """Cut the last entries of a chain off, and its head with them."""
    with core.store.read() as rows:
        keep = rows.query(Audit).filter_by(chain=chain).count() - n
    of = f"chain = '{chain}' AND number"
    without_triggers(
        core,
        f"DELETE FROM audit WHERE {of} > {keep}",  # noqa: S608
        f"UPDATE audit_heads SET number = {keep}, hash = "  # noqa: S608
        f"(SELECT hash FROM audit WHERE {of} = {keep}) WHERE chain = '{chain}'",
    )


FORGED = (
    "INSERT INTO studies SELECT 'forged', organisation, name, created_by, created_at FROM studies "
    "WHERE id = '{study}'"
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
    with core.store.read() as rows:
        keep = rows.query(Audit).filter_by(chain=names["organisation"]).count() - 1
    given = {**names, "zeros": "0" * 64, "ones": "1" * 64, "keep": keep}
    for said, statements in CHANGES.items():
        with suppress(_RollBack), core.store.write() as rows:
            for statement in statements:
                rows.execute(text(statement.format(**given)))
            found = [fault for chain in verify_all(core, rows) for fault in chain.faults]
            assert any(said.format(**given) in fault for fault in found), (said, found)
            raise _RollBack
    assert faults(core) == []


def test_heads_are_signed_and_written_every_day(core: Core, names: dict[str, str]) -> None:
    schedules.run_daily(core)
    (file,) = (core.settings.data / "heads").glob("*.json")
    said = json.loads(file.read_text())
    with core.store.read() as rows:
        entries = {(e.chain, e.number): (e.action, e.hash) for e in rows.query(Audit)}
    for chain, head in said["heads"].items():
        assert entries[chain, head["number"]][1] == head["hash"]
        following = entries.get((chain, head["number"] + 1), ("", ""))[0]
        assert following == ("log.heads" if chain == "service" else "")
    with core.store.write() as rows:
        rows.execute(text("DELETE FROM tokens"))
    set_back(core, names["organisation"], 1)  # what went with its row, and its head
    found = faults(core)
    assert any("which was witnessed, is missing" in fault for fault in found), found
    # Whoever changes the file has no key to sign it.
    said["heads"][names["organisation"]]["number"] -= 1
    file.write_text(json.dumps(said))
    assert f"{file.name} is not what was signed" in faults(core)
    file.unlink()
    assert any("heads" in fault and "signature without" in fault for fault in faults(core))


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
    from services import new_core

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
