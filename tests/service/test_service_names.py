"""Names that contradict each other, and jobs that end with a reason at once instead of with their workers."""

from typing import Any

import pytest
from services import API, MANIFEST, Client, world

from trustreport.service.core import Core
from trustreport.service.intake import BadName, checked_names, safe_name
from trustreport.service.jobs import worker_thread
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import VersionFile
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import catalogue


@pytest.mark.parametrize("names", [["a", "a/b"], ["x/y/z.csv", "x/y"], ["a/b", "q", "a"]])
def test_a_file_is_no_folder_of_others(anna: Client, names: list[str]) -> None:
    with pytest.raises(Fault) as caught:
        checked_names(names)
    assert "is also a folder" in str(caught.value.in_words(catalogue()).fields)
    study = anna.study()
    files = [("files", (name, b"x")) for name in names]
    refused = anna.post(f"{API}/studies/{study}/versions", files=files)
    assert refused.status_code == 422
    tables = {"manifest": MANIFEST, "tables": dict.fromkeys(names, "x")}
    assert anna.post(f"{API}/studies/{study}/versions/json", json=tables).status_code == 422
    assert checked_names(["a/b", "a.csv", "ab", "a/c"])


def test_a_correction_makes_no_contradiction(light: Core, anna: Client) -> None:
    from pages import post

    version = anna.version(anna.study(), MANIFEST, **{"a/b.csv": "x"})
    assert WorkerThread(light, "worker").once("check")
    with light.store.write() as rows:  # something to correct
        from trustreport.service.storage.models import Version

        row = rows.get_one(Version, version)
        row.state, row.problems = "invalid", [{"file": "a/b.csv", "found": "x"}]
    page = f"/versions/{version}"
    refused = post(anna, page, f"{page}/correction", [("files", ("a", "x"))])
    assert (refused.status_code, "is also a folder" in refused.text) == (422, True)


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200f", "\u061c"])
def test_a_name_reads_as_it_is(sign: str) -> None:
    """Signs that turn the direction of writing make vsc.exe of exe.csv."""
    with pytest.raises(BadName, match="direction"):
        safe_name(f"a{sign}vsc.exe")
    assert safe_name("\u05d0\u05d1.csv")


def ended(core: Core, client: Client, version: str) -> dict[str, Any]:
    job = client.post(f"{API}/versions/{version}/jobs", json={}).json()
    assert WorkerThread(core, "worker").once("report")
    return dict(client.get(f"{API}/jobs/{job['id']}").json())


def test_files_that_cannot_be_laid_out_end_the_job(light: Core, anna: Client) -> None:
    names = world(light, anna)
    with light.store.write() as rows:  # as an older version stored them
        file = rows.query(VersionFile).one()
        for name in ("a", "a/b"):
            given = {c.key: getattr(file, c.key) for c in VersionFile.__table__.columns}
            rows.add(VersionFile(**{**given, "name": name}))
    said = ended(light, anna, names["version"])
    assert (said["state"], said["attempts"]) == ("failed", 1)
    assert "Its files cannot be laid out" in said["reason"]
    assert not list((light.settings.data / "work").iterdir())


@pytest.mark.parametrize("where", ["run", "store_report"])
def test_a_fault_of_ours_ends_the_job_with_its_place(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    names = world(light, anna)

    def broken(*given: Any, **more: Any) -> Any:
        raise RuntimeError("of Mrs Marple")

    if where == "store_report":
        answer = {"facts": {}}
        outcome = worker_thread.ChildOutcome("answer", answer)
        monkeypatch.setattr(worker_thread, "run", lambda *given, **more: outcome)
    monkeypatch.setattr(worker_thread, where, broken)
    said = ended(light, anna, names["version"])
    assert (said["state"], said["attempts"]) == ("failed", 1)
    assert said["reason"].startswith("A fault of the program: RuntimeError at ")
    assert "Marple" not in said["reason"]


def test_a_database_that_goes_away_is_no_fault_of_the_job(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sqlalchemy.exc import OperationalError

    names = world(light, anna)

    def away(*given: Any) -> Any:
        raise OperationalError("", {}, Exception("gone"))

    job = anna.post(f"{API}/versions/{names['version']}/jobs", json={}).json()
    monkeypatch.setattr(worker_thread, "run", lambda *given, **more: worker_thread.ChildOutcome("failed"))
    monkeypatch.setattr(WorkerThread, "_settle", away)
    with pytest.raises(OperationalError):
        WorkerThread(light, "worker").once("report")
    assert anna.get(f"{API}/jobs/{job['id']}").json()["state"] == "running"  # another worker takes it over
