"""What is removed goes from the disk within minutes, and nothing else does."""

import io
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from services import API, MANIFEST, Client, only, stored, world

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.record import retention
from trustreport.service.storage import FolderBlobs
from trustreport.service.storage.models import (
    Audit,
    Removal,
    ReportFile,
    StoredReport,
    StoredStudy,
    Version,
    VersionFile,
)
from trustreport.service.storage.store import now

NAME = "Marple, Jane"


@pytest.fixture
def anna(core: Core) -> Client:
    return Client.set_up(create_app(core), core)


def names_the_patient(core: Core) -> list[Path]:
    return [path for _, _, path in core.blobs.paths() if NAME in path.read_text()]


def upload(core: Core, client: Client, *, minutes_ago: float = 60) -> str:
    study = client.study()
    version = client.version(study, MANIFEST, **{"readings.csv": NAME})
    with core.store.write() as rows:  # its check is over
        from trustreport.service.storage.models import Job

        rows.query(Job).filter_by(version=version).update({Job.state: "failed"})
    for _, _, path in core.blobs.paths():
        at = path.stat().st_mtime - 60 * minutes_ago
        os.utime(path, (at, at))
    return study


def test_files_go_when_a_worker_next_looks(core: Core, anna: Client) -> None:
    schedules.tend(core)  # today's retention has run
    study = upload(core, anna)
    assert len(names_the_patient(core)) == 1
    assert anna.delete(f"{API}/studies/{study}").status_code == 204
    schedules.tend(core)
    assert names_the_patient(core) == []
    assert list(core.blobs.stored_blobs()) == []
    assert len(stored(core, Removal)) == 0
    gone = only(core, Audit, action="files.remove")
    assert (gone.actor, gone.details) == ("schedule", {"files": 2})
    assert gone.chain == anna.me["organisation"]


def test_what_retention_removes_goes_likewise(core: Core, anna: Client) -> None:
    schedules.tend(core)
    upload(core, anna)
    with core.store.write() as rows:
        for model in (StoredStudy, Version):
            rows.query(model).update({model.created_at: 1})
    anna.put(f"{API}/organisation/retention", json={"days": 1})
    assert len(anna.post(f"{API}/organisation/retention/run").json()["studies"]) == 1
    schedules.tend(core)
    assert names_the_patient(core) == []


def test_what_an_organisation_uses_and_what_goes_next(light: Core) -> None:
    anna = Client.set_up(create_app(light), light)
    path = f"{API}/organisation/usage"
    names = world(light, anna)
    used = anna.get(path).json()
    sizes = {f.sha256: f.size for model in (VersionFile, ReportFile) for f in stored(light, model)}
    assert used["stored_bytes"] == sum(sizes.values()) > 0
    assert (used["most_bytes"], used["most_waiting_jobs"]) == (200_000_000_000, 100)
    assert used["expiring"] == []  # without a policy nothing goes
    assert anna.invite("carl@hospital.test", "viewer").get(path).status_code == 403
    with light.store.write() as rows:
        at = now(rows)
        for model, days in ((StoredStudy, 90), (Version, 90), (StoredReport, 80)):
            rows.query(model).update({model.created_at: at - days * retention.DAY})
    anna.put(f"{API}/organisation/retention", json={"days": 120, "keep_signed": False})
    assert anna.get(path).json()["expiring"] == []  # in 40 days
    anna.put(f"{API}/organisation/retention", json={"days": 100, "keep_signed": False})
    (one,) = anna.get(path).json()["expiring"]
    assert one["study"] == names["study"]
    left = datetime.fromisoformat(one["on"]) - datetime.now(UTC)
    assert timedelta(days=19) < left < timedelta(days=21)  # counted from the report, the latest thing added
    page = anna.get("/admin/organisation", headers={"Accept": "text/html"}).text
    assert f"/studies/{names['study']}" in page
    assert "of 200 GB" in page
    assert anna.post(f"{API}/organisation/retention/run").json()["studies"] == []


def test_a_file_that_another_study_has_stays(core: Core, anna: Client) -> None:
    schedules.tend(core)
    study, _ = upload(core, anna), upload(core, anna)
    assert anna.delete(f"{API}/studies/{study}").status_code == 204
    schedules.tend(core)
    assert len(names_the_patient(core)) == 1
    assert len(stored(core, Removal)) == 0


def test_a_young_file_waits_since_its_row_may_come(core: Core, anna: Client) -> None:
    schedules.tend(core)
    study = upload(core, anna, minutes_ago=0)
    assert anna.delete(f"{API}/studies/{study}").status_code == 204
    schedules.tend(core)
    (path,) = names_the_patient(core)
    assert len(stored(core, Removal)) == 2
    for _, _, file in core.blobs.paths():
        os.utime(file, (1, 1))
    schedules.tend(core)
    assert not path.exists()


def test_a_file_that_is_stored_anew_while_it_is_removed_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blobs = FolderBlobs(tmp_path)
    blob = blobs.put("one", io.BytesIO(b"abc"))
    path = blobs.path("one", blob.sha256)
    os.utime(path, (1, 1))
    rename = os.rename

    def slow(old: object, new: object) -> None:
        monkeypatch.setattr(os, "rename", rename)
        blobs.put("one", io.BytesIO(b"abc"))  # somebody uploads the same just now
        rename(old, new)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "rename", slow)
    assert not blobs.remove("one", blob.sha256, older=60)
    assert path.read_bytes() == b"abc"
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]
    os.utime(path, (1, 1))
    assert blobs.remove("one", blob.sha256, older=60)
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_the_database_overwrites_what_is_removed(light: Core) -> None:
    """Problems quote cells of tables, which SQLite would leave in its free pages."""
    from sqlalchemy import text

    with light.store.read() as rows:
        assert rows.scalar(text("PRAGMA secure_delete")) == 1


def test_the_daily_sweep_still_finds_what_nobody_noted(core: Core) -> None:
    blob = core.blobs.put("one", io.BytesIO(b"abc"))
    os.utime(core.blobs.path("one", blob.sha256), (1, 1))
    assert retention.sweep(core.store, core.blobs) == 1
