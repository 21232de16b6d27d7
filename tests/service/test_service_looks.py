"""Reports on a locked test set that was used before say so, whichever version or study used it."""

from pathlib import Path
from typing import Any

import pytest
from services import API, Client, zipped

from trustreport.api import lock_criteria, read_study, record_look
from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.study.lock import FILE, LOOKS

MANIFEST = """\
report: {kind: certification, date: 2026-03-01}
device: {trade_name: Example}
operating_point: {threshold: 0.5}
endpoints:
  - {endpoint: finds, measure: sensitivity, hypothesis: performance goal, bound_or_margin: 0.4}
datasets: [{dataset: test, role: internal test, file: test.csv}]
"""
ROWS = "case,truth,score\n" + "".join(f"c{i},{i % 2},{(i * 7 % 10) / 10}\n" for i in range(40))


@pytest.fixture
def worker(light: Core) -> WorkerThread:
    return WorkerThread(light, "worker")


@pytest.fixture
def locked(tmp_path: Path) -> dict[str, bytes | str]:
    """The files of a study that was locked before it was uploaded, without the register beside the lock."""
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "study.yaml").write_text(MANIFEST)
    lock_criteria(folder)
    return {"study.yaml": MANIFEST, "test.csv": ROWS, FILE: (folder / FILE).read_bytes()}


def uploaded(client: Client, worker: WorkerThread, study: str, files: dict[str, bytes | str]) -> str:
    sent = [("files", ("study.zip", zipped(files)))]
    version = client.post(f"{API}/studies/{study}/versions", files=sent).json()["id"]
    assert worker.once("check")
    assert client.get(f"{API}/versions/{version}").json()["state"] == "valid"
    return str(version)


def reported(client: Client, worker: WorkerThread, version: str, **wishes: Any) -> dict[str, Any]:
    """What a report of a version says: its facts, and the check of the register."""
    asked = {"formats": ["json"], **wishes}
    job = client.post(f"{API}/versions/{version}/jobs", json=asked).json()
    assert worker.once("report")
    name = client.get(f"{API}/jobs/{job['id']}").json()["report"]
    results = client.get(f"{API}/reports/{name}/results").json()
    facts = client.get(f"{API}/reports/{name}").json()["facts"]
    checks = {c["check"]: c for c in results["checks"]}
    return {"facts": facts, "P68": checks["P68"]["status"], "message": checks["P68"]["message"]}


def test_a_second_version_on_the_same_locked_data_gets_the_check_and_names_the_first(
    anna: Client, worker: WorkerThread, locked: dict[str, bytes | str]
) -> None:
    study = anna.study("Chest")
    first = uploaded(anna, worker, study, locked)
    once = reported(anna, worker, first)
    assert once["P68"] == "clear"
    look = once["facts"]["look"]
    assert (look["purpose"], look["results"], list(look["data"])) == (
        "Chest, version 1",
        ["finds"],
        ["test.csv"],
    )

    note = {**locked, "study.yaml": MANIFEST.replace("Example", "Another")}
    second = reported(anna, worker, uploaded(anna, worker, study, note))
    assert second["P68"] == "fired"
    assert f"{look['on']} (Chest, version 1)" in second["message"]

    # The data are the same under another name and in another study.
    moved = {**locked, "study.yaml": MANIFEST.replace("test.csv", "moved.csv"), "moved.csv": ROWS}
    del moved["test.csv"]
    third = reported(anna, worker, uploaded(anna, worker, anna.study("Other"), moved))
    assert "2 earlier looks" in third["message"]

    # The first version once more, in another form: still the first look.
    again = reported(anna, worker, first, formats=["json", "csv"])
    assert (again["P68"], again["facts"]["look"]) == ("clear", look)


def test_another_organisation_learns_nothing_of_a_look(
    anna: Client, bob: Client, worker: WorkerThread, locked: dict[str, bytes | str]
) -> None:
    reported(anna, worker, uploaded(anna, worker, anna.study(), locked))
    assert reported(bob, worker, uploaded(bob, worker, bob.study(), locked))["P68"] == "clear"


def test_other_data_and_data_without_a_lock_are_no_looks_at_these(
    anna: Client, worker: WorkerThread, locked: dict[str, bytes | str]
) -> None:
    study = anna.study()
    open_ = {name: content for name, content in locked.items() if name != FILE}
    without = reported(anna, worker, uploaded(anna, worker, study, open_))
    assert "look" not in without["facts"]
    other = {**locked, "test.csv": ROWS.replace("c1,", "d1,")}
    assert reported(anna, worker, uploaded(anna, worker, study, other))["P68"] == "clear"
    assert reported(anna, worker, uploaded(anna, worker, study, locked))["P68"] == "clear"


def test_the_register_that_was_uploaded_comes_before_the_looks_of_the_service(
    anna: Client, worker: WorkerThread, locked: dict[str, bytes | str], tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    (folder / "test.csv").write_text(ROWS)
    record_look(folder, *read_study(folder), on="2026-02-01", purpose="at home")
    files = {**locked, LOOKS: (folder / LOOKS).read_bytes()}
    found = reported(anna, worker, uploaded(anna, worker, anna.study(), files))
    assert "one earlier look at these data: 2026-02-01 (at home)" in found["message"]
