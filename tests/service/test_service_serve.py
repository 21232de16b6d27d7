"""The commands that run the service."""

import json
import re
import signal
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from running import Api, Process, free_port
from services import API, PASSWORD

from trustreport.commands.cli import main
from trustreport.service import server
from trustreport.service.core import open_core
from trustreport.service.settings import Settings, Unsuitable

EVERYWHERE = "0.0.0.0"  # noqa: S104  # what it refuses


def test_a_first_start_prints_a_link_and_a_stop_is_graceful(tmp_path: Path) -> None:
    port = free_port()
    process = Process(tmp_path / "log", "serve", "--port", str(port), "--data", str(tmp_path / "data"))
    process.start()
    api = Api(port)
    try:
        api.wait_ready()
        link = re.search(r"http://127\.0\.0\.1:\d+/setup#(\S+)", (tmp_path / "log").read_text())
        assert link
        me = api.ask(
            "POST",
            f"{API}/setup",
            {
                "link": link[1],
                "organisation": "H",
                "email": "a@h.test",
                "name": "A",
                "password": PASSWORD,
            },
        )
        assert me["operator"]
        assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    finally:
        code = process.end(signal.SIGTERM)
    assert code == 0
    lines = (tmp_path / "log").read_text().splitlines()[1:]
    said = [json.loads(line) for line in lines]
    assert (said[0]["event"], said[-1]["event"]) == ("start", "stop")
    assert link[1] not in "".join(lines)


@pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.0.2.7"])
def test_without_accounts_it_listens_to_this_machine_only(tmp_path: Path, host: str) -> None:
    done = CliRunner().invoke(main, ["serve", "--host", host, "--data", str(tmp_path / "data")])
    assert done.exit_code == 2
    assert "Nobody has an account" in done.output


def test_a_container_gets_its_first_account_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "password").write_text(PASSWORD + "\n")
    monkeypatch.setenv("TRUSTREPORT_ADMIN_EMAIL", "Admin@Hospital.test")
    monkeypatch.setenv("TRUSTREPORT_ADMIN_PASSWORD_FILE", str(tmp_path / "password"))
    core = open_core(Settings(tmp_path / "data", host=EVERYWHERE))
    server.first_account(core)
    server.first_account(core)
    assert server.setup_link(core) == ""
    core.close()


def test_uploads_wait_on_the_data_volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in /tmp, which the packaging keeps in memory."""
    monkeypatch.setattr(tempfile, "tempdir", None)
    server.spool_on_the_data_volume(Settings(tmp_path))
    assert tempfile.gettempdir() == str(tmp_path / "tmp")
    assert (tmp_path / "tmp").stat().st_mode & 0o077 == 0


def test_wrong_settings_are_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUSTREPORT_LEASE", "soon")
    done = CliRunner().invoke(main, ["worker", "--data", str(tmp_path)])
    assert done.exit_code == 2
    assert "TRUSTREPORT_LEASE" in done.output
    with pytest.raises(Unsuitable):
        server.serve(Settings(tmp_path / "data", host=EVERYWHERE))
