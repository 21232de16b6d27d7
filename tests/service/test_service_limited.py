"""The limited process: whatever it tries, it ends, and we do not."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from services import API, Client, only, stored, world

from trustreport.service import limited
from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.limited import ChildOutcome, ResourceLimits
from trustreport.service.storage.models import Job, Version

pytestmark = pytest.mark.limited_process
CHILDREN = Path(__file__).parent / "children.py"
ROOMY = ResourceLimits(memory=2_000_000_000, cpu=20, wall=30, output=10_000_000)


@pytest.fixture(autouse=True)
def trying(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "CHILD", (str(CHILDREN),))


def run(
    task: str, work: Path, limits: ResourceLimits = ROOMY, should_continue: Any = lambda: True, **more: Any
) -> ChildOutcome:
    work.mkdir(exist_ok=True)
    told: list[tuple[str, float]] = []
    given = {"task": task, "closed": [str(work.parent)], **more}
    outcome = limited.run(
        given, work, limits, on_progress=lambda *said: told.append(said), should_continue=should_continue
    )
    assert not left_behind(work)
    return outcome


def left_behind(work: Path) -> list[str]:
    """Processes that still work in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(process / "cwd")) == work:
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    "task, limits, reason",
    [
        ("hog", ResourceLimits(500_000_000, 20, 30, 10**7), "more than the 500 MB of memory"),
        ("spin", ResourceLimits(2 * 10**9, 1, 60, 10**7), "more than 1 seconds of computing"),
        ("sleep", ResourceLimits(2 * 10**9, 20, 3, 10**7), "longer than 3 seconds"),
        ("fill", ResourceLimits(2 * 10**9, 20, 30, 5 * 10**6), "OSError at"),
        ("crash", ROOMY, "ValueError at __main__.crash"),
        ("leave", ROOMY, "without an answer"),
        ("die", ROOMY, "signal 11"),
    ],
)
def test_it_ends_with_a_reason(tmp_path: Path, task: str, limits: ResourceLimits, reason: str) -> None:
    outcome = run(task, tmp_path / "work", limits)
    said = outcome.reason or outcome.answer["failed"]
    assert reason in said
    assert "Marple" not in said


def test_it_stops_when_told(tmp_path: Path) -> None:
    began = time.monotonic()
    assert (
        run("sleep", tmp_path / "work", should_continue=lambda: time.monotonic() - began < 1).kind
        == "stopped"
    )
    assert time.monotonic() - began < 20


@pytest.fixture
def canary() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        yield server


def test_it_reaches_no_network_nor_do_its_programs(tmp_path: Path, canary: socket.socket) -> None:
    outcome = run("connect", tmp_path / "work", canary=canary.getsockname())
    assert outcome.answer["python"] is False
    ways = (["unshare", "-n", "true"], ["unshare", "-Un", "true"])
    if not any(subprocess.run(way, capture_output=True, check=False).returncode == 0 for way in ways):
        pytest.skip("the kernel permits no network namespace here, so programs keep theirs")
    assert outcome.answer["program"] is False
    with pytest.raises(TimeoutError):
        canary.accept()


def test_it_reads_and_writes_nothing_of_ours(tmp_path: Path) -> None:
    (tmp_path / "trustreport.db").write_text("rows")
    (tmp_path / "work").mkdir()
    paths = {
        "database": tmp_path / "trustreport.db",
        "elsewhere": tmp_path.parent / "trustreport-was-here",
        "own": tmp_path / "work" / "file",
    }
    paths["own"].write_text("own")
    outcome = run("touch", tmp_path / "work", paths={k: str(v) for k, v in paths.items()})
    assert outcome.answer == {
        "database rb": False,
        "database wb": False,
        "elsewhere rb": False,
        "elsewhere wb": False,
        "own rb": True,
        "own wb": True,
    }
    assert (tmp_path / "trustreport.db").read_text() == "rows"


def test_it_knows_none_of_our_secrets_and_its_prints_are_no_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUSTREPORT_DATABASE", "postgresql://me:secret@db/x")
    answer = run("chatter", tmp_path / "work").answer
    assert "forged" not in answer
    assert not [name for name in answer["environment"] if name.startswith("TRUSTREPORT")]
    assert answer["threads"] == 1


def test_what_it_leaves_is_kept_only_if_it_is_files(light: Core, anna: Client) -> None:
    names = world(light, anna)
    job = anna.post(f"{API}/versions/{names['version']}/jobs", json={}).json()["id"]
    assert WorkerThread(light, "worker").once("report")
    done = anna.get(f"{API}/jobs/{job}").json()
    assert done["state"] == "failed"
    assert "cannot be stored" in done["reason"]


def test_a_check_that_fails_makes_its_version_unreadable(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limited, "CHILD", ("-c", "import os; os._exit(9)"))
    version = anna.version(anna.study())
    assert WorkerThread(light, "worker").once("check")
    assert only(light, Version, id=version).state == "unreadable"
    (job,) = stored(light, Job)
    assert (job.state, job.reason) == ("failed", "It ended without an answer (status 9).")
    assert "status 9" in anna.get(f"{API}/versions/{version}/problems").text
    assert anna.get("/health").status_code == 200
