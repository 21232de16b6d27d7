"""Files in object storage: streamed, whole or absent, swept; what is away or refused is said in words."""

import io
import json
import shutil
import sys
import tarfile
import threading
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import obstore
import pytest
from acts import is_intact
from buckets import BUCKET, asked, names_in, new_prefix
from click.testing import CliRunner
from receivers import receiving
from services import API, MANIFEST, Client, new_core, stored, world, zipped

from trustreport.commands.cli import main
from trustreport.service.app import create_app
from trustreport.service.core import Core, open_core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.record import log_heads, retention
from trustreport.service.record.backup import BackupError, backup, restore
from trustreport.service.settings import Settings, Unsuitable
from trustreport.service.storage import bucket_blobs
from trustreport.service.storage.blobs import Damaged, StorageAway
from trustreport.service.storage.bucket_blobs import BucketBlobs
from trustreport.service.storage.locations import open_blobs
from trustreport.service.storage.models import Job

MB = 1_000_000
NOWHERE = {"files_endpoint": "http://127.0.0.1:1"}


@pytest.fixture
def place(bucket_server: str) -> dict[str, Any]:
    """A prefix of its own in the bucket, as settings."""
    return new_prefix(bucket_server)


@pytest.fixture
def blobs(tmp_path: Path, place: dict[str, Any]) -> Iterator[BucketBlobs]:
    made = open_blobs(Settings(tmp_path / "data", **place))
    assert isinstance(made, BucketBlobs)
    yield made
    made.close()


@pytest.fixture
def light(tmp_path: Path, place: dict[str, Any]) -> Iterator[Core]:
    """An open core on SQLite with its files in the bucket."""
    core = new_core(tmp_path / "data", **place)
    yield core
    core.close()


class Numbers(io.RawIOBase):
    """So many bytes, made as they are read."""

    def __init__(self, size: int) -> None:
        self.left = size

    def read(self, n: int = -1) -> bytes:
        n = min(n, self.left)
        self.left -= n
        return b"\x2a" * n


def test_an_upload_and_a_download_have_little_in_memory(blobs: BucketBlobs, tmp_path: Path) -> None:
    tracemalloc.start()
    blob = blobs.put("one", Numbers(40 * MB))
    blobs.copy("one", blob.sha256, tmp_path / "copy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert blob.size == (tmp_path / "copy").stat().st_size == 40 * MB
    assert peak < 20 * MB
    assert "<Upload>" not in asked(blobs._store.config["endpoint"], "GET", f"{BUCKET}?uploads")  # no parts
    with blobs.open("one", blob.sha256) as stream:
        assert stream.seek(-5, io.SEEK_END) == 40 * MB - 5
        assert stream.read() == b"\x2a" * 5


@pytest.mark.parametrize("over", [False, True], ids=["which goes on", "which is over when it is looked for"])
def test_whoever_stores_what_is_being_removed_has_it(
    blobs: BucketBlobs, tmp_path: Path, place: dict[str, Any], monkeypatch: pytest.MonkeyPatch, over: bool
) -> None:
    other = open_blobs(Settings(tmp_path / "other", **place))
    blob = blobs.put("one", io.BytesIO(b"abc"))
    sent, removed, remove = threading.Event(), threading.Event(), obstore.delete
    send = other._send

    def noted(*given: Any) -> Any:
        try:
            return send(*given)
        finally:
            sent.set()
            assert not over or removed.wait(10)

    monkeypatch.setattr(other, "_send", noted)
    upload = threading.Thread(target=other.put, args=("one", io.BytesIO(b"abc")))

    def slow(store: Any, name: str) -> None:
        if not upload.ident:  # the object is about to go: somebody stores the same just now
            upload.start()
            assert sent.wait(10)
        remove(store, name)

    monkeypatch.setattr(bucket_blobs.obstore, "delete", slow)
    assert blobs.remove("one", blob.sha256, older=-1)
    removed.set()
    upload.join(10)
    assert blobs.read("one", blob.sha256) == b"abc"
    assert names_in(place) == [f"one/{blob.sha256[:2]}/{blob.sha256}"]
    other.close()


def test_a_removal_that_broke_off_hinders_nobody_for_long(
    blobs: BucketBlobs, place: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = blobs.put("one", io.BytesIO(b"abc"))
    obstore.put(blobs._store, f"one/removing/{blob.sha256}/left", b"")
    monkeypatch.setattr(bucket_blobs, "MARK_SECONDS", 0)  # such a mark is old
    assert blobs.put("one", io.BytesIO(b"abc")) == blob
    monkeypatch.setattr(bucket_blobs, "DECIDED_SECONDS", -1)  # this one took too long to look
    assert not blobs.remove("one", blob.sha256, older=-1)
    assert blobs.sweep({("one", blob.sha256)}, older=60) == []
    assert f"one/removing/{blob.sha256}/left" in names_in(place)
    assert blobs.sweep({("one", blob.sha256)}, older=-1) == []
    assert names_in(place) == [f"one/{blob.sha256[:2]}/{blob.sha256}", "ready"]


def test_what_was_changed_in_the_bucket_is_found(blobs: BucketBlobs, tmp_path: Path) -> None:
    blob = blobs.put("one", io.BytesIO(b"abc"))
    obstore.put(blobs._store, f"one/{blob.sha256[:2]}/{blob.sha256}", b"abd")
    with pytest.raises(Damaged, match="not what was kept"):
        blobs.copy("one", blob.sha256, tmp_path / "copy")


def test_a_worker_of_another_machine_checks_what_was_uploaded(
    light: Core, tmp_path: Path, place: dict[str, Any]
) -> None:
    anna = Client.set_up(create_app(light), light)
    study, archive = anna.study(), zipped({"study.json": json.dumps(MANIFEST), "notes.txt": "N"})
    path = f"{API}/studies/{study}/versions"
    version = anna.post(path, files=[("files", ("s.zip", archive))]).json()["id"]
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(light.settings.data / "keys", elsewhere / "keys")
    other = open_core(Settings(elsewhere, database=light.settings.address, **place))
    assert WorkerThread(other, "worker").once("check")
    other.close()
    assert anna.get(f"{API}/versions/{version}").json()["state"] == "valid"
    assert anna.get(f"{API}/versions/{version}/files/notes.txt").content == b"N"
    assert not (light.settings.data / "blobs").exists()
    assert [p for p in elsewhere.rglob("*") if p.is_file()] == [elsewhere / "keys" / "signing.pem"]
    assert retention.sweep(light.store, light.blobs, older=60) == 0  # the zip is young
    assert retention.sweep(light.store, light.blobs, older=-1) == 1
    assert len(list(light.blobs.stored_blobs())) == 2


def test_each_machine_verifies_the_heads_that_it_keeps(
    light: Core, tmp_path: Path, place: dict[str, Any]
) -> None:
    world(light, Client.set_up(create_app(light), light))
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(light.settings.data / "keys", elsewhere / "keys")
    other = open_core(Settings(elsewhere, database=light.settings.address, **place))
    log_heads.write_daily(other, "worker")
    (heads,) = (elsewhere / "heads").glob("*.json")
    assert [is_intact(core) for core in (light, other)] == [True, True]
    heads.unlink()
    assert [is_intact(core) for core in (light, other)] == [True, False]
    other.close()


def test_a_file_is_sent_whole_in_part_and_in_a_zip(light: Core) -> None:
    anna = Client.set_up(create_app(light), light)
    names = world(light, anna)
    path = f"{API}/reports/{names['report']}/files/results.json"
    whole = anna.get(path)
    n = len(whole.content)
    assert (whole.status_code, whole.json()) == (200, {"secret of": anna.me["organisation"]})
    assert (whole.headers["content-length"], whole.headers["accept-ranges"]) == (str(n), "bytes")
    for given, part in {"0-3": slice(0, 4), "5-": slice(5, None), "-6": slice(-6, None)}.items():
        answer = anna.get(path, headers={"Range": f"bytes={given}"})
        assert (answer.status_code, answer.content) == (206, whole.content[part])
    assert answer.headers["content-range"] == f"bytes {n - 6}-{n - 1}/{n}"
    past = anna.get(path, headers={"Range": f"bytes={n}-"})
    assert (past.status_code, past.headers["content-range"]) == (416, f"bytes */{n}")
    changed = {"Range": "bytes=0-3", "If-Range": '"other"'}
    for headers in ({"Range": "lines=1-2"}, {"Range": "bytes=-"}, changed):
        assert anna.get(path, headers=headers).content == whole.content
    assert anna.get(path, headers={"If-None-Match": whole.headers["etag"]}).status_code == 304
    assert whole.content in anna.get(f"{API}/reports/{names['report']}/zip").content
    for organisation, sha256 in light.blobs.stored_blobs():
        light.blobs.remove(organisation, sha256, older=-1)
    assert anna.get(path).status_code == anna.get(f"{API}/reports/{names['report']}/zip").status_code == 404


def test_storage_that_does_not_answer_is_said_in_words_and_costs_no_attempt(
    light: Core, tmp_path: Path
) -> None:
    anna = Client.set_up(create_app(light), light)
    study = anna.study()
    anna.version(study)
    gone = replace(light, blobs=open_blobs(replace(light.settings, **NOWHERE)))
    away = Client.on(create_app(gone))
    away.cookies.update(anna.cookies)
    away.headers.update(anna.headers)
    ready = away.get("/ready")
    assert (ready.status_code, ready.json()["storage"], ready.json()["database"]) == (503, False, True)
    assert ready.json()["problems"] == [bucket_blobs.SILENT]
    answer = away.post(f"{API}/studies/{study}/versions/json", json={"manifest": MANIFEST})
    assert (answer.status_code, answer.json()["title"]) == (503, "Storage away")
    assert bucket_blobs.SILENT in answer.json()["detail"]
    assert int(answer.headers["retry-after"]) > 0
    with pytest.raises(StorageAway):
        WorkerThread(gone, "worker").once("check")
    gone.blobs.close()
    (job,) = stored(light, Job)
    assert (job.state, job.attempts) == ("queued", 0)
    assert not list((light.settings.data / "work").iterdir())
    assert anna.get("/ready").json()["problems"] == []


def test_a_service_does_not_start_without_its_bucket(tmp_path: Path, place: dict[str, Any]) -> None:
    def refusal(**changed: Any) -> str:
        with pytest.raises(Unsuitable) as error:
            new_core(tmp_path / "data", **place | changed)
        return str(error.value)

    missing = refusal(files="s3://no-such-bucket/x")
    assert missing.startswith(bucket_blobs.NO_BUCKET)
    assert "Make the bucket of s3://no-such-bucket/x" in missing
    with receiving() as server:
        server.status, server.body = 403, b"<Error><Code>InvalidAccessKeyId</Code></Error>"
        refused = refusal(files_endpoint=f"http://127.0.0.1:{server.port}")
    assert refused.startswith(bucket_blobs.REFUSED)
    silent = refusal(**NOWHERE)
    assert silent.startswith(bucket_blobs.SILENT)
    assert "127.0.0.1:1" in silent
    assert "a secret" not in missing + silent
    assert "TRUSTREPORT_FILES_HTTP=1" in refusal(files_http=0)
    core = new_core(tmp_path / "data", **place)
    core.close()
    shutil.rmtree(tmp_path / "data" / "keys")
    assert "another signing key" in refusal()


def test_the_endpoint_of_the_environment_is_used_and_http_refused(
    tmp_path: Path, place: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", place["files_endpoint"])
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "of the environment")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "likewise")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")  # of the library, not of ours
    bare = Settings(tmp_path / "data", files=place["files"])
    with pytest.raises(Unsuitable, match="not encrypted"):
        open_blobs(bare)
    blobs = open_blobs(replace(bare, files_http=1))
    assert blobs.put("one", io.BytesIO(b"")).size == 0
    assert [blobs.read(*name) for name in blobs.stored_blobs()] == [b""]
    blobs.close()


def test_files_of_the_data_folder_are_not_left_behind(tmp_path: Path, place: dict[str, Any]) -> None:
    core = new_core(tmp_path / "data")
    core.blobs.put("one", io.BytesIO(b"abc"))
    core.close()
    with pytest.raises(Unsuitable, match="Move them by backup and restore"):
        new_core(tmp_path / "data", **place)
    assert names_in(place) == []


@pytest.mark.parametrize(
    "given, said",
    [
        ({"files": "https://bucket"}, "expected s3://bucket"),
        ({"files": "s3://bucket/../x"}, "expected s3://bucket"),
        ({"files": "s3://bucket", "files_key": "k"}, "expected both"),
        ({"files": "s3://bucket", "most_body": 6 * 10**9, "job_output": 6 * 10**9}, "MOST_BODY.*JOB_OUTPUT"),
    ],
)
def test_settings_of_a_bucket_that_cannot_be_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(Unsuitable, match=said):
        Settings(Path("data"), **given)


def test_the_package_is_asked_for_where_a_bucket_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, bucket_blobs.__name__, None)
    assert open_blobs(Settings(tmp_path)).place == str(tmp_path / "blobs")
    with pytest.raises(Unsuitable, match=r"pip install 'trustreport\[service,s3\]'"):
        open_blobs(Settings(tmp_path, files="s3://bucket"))


def test_a_backup_goes_from_bucket_to_folder_and_back(
    light: Core, tmp_path: Path, place: dict[str, Any], bucket_server: str
) -> None:
    world(light, Client.set_up(create_app(light), light))
    archive, there = tmp_path / "b.tar.gz", new_prefix(bucket_server)
    assert backup(light.settings, archive)["blobs"] == 1
    folder = Settings(tmp_path / "folder")
    restore(folder, archive)
    again = tmp_path / "again.tar.gz"
    backup(folder, again)
    words = ["restore", str(again), "--data", str(tmp_path / "bucket"), "--files", there["files"]]
    variables = {f"TRUSTREPORT_{name.upper()}": str(value) for name, value in there.items()}
    done = CliRunner().invoke(main, words, env=variables)
    assert "intact" in done.output, done.output
    core = open_core(Settings(tmp_path / "bucket", **there))
    assert list(core.blobs.stored_blobs()) == list(light.blobs.stored_blobs())
    core.close()
    with pytest.raises(BackupError, match="holds files already"):
        restore(Settings(tmp_path / "third", **there), again)
    for organisation, sha256 in light.blobs.stored_blobs():
        light.blobs.remove(organisation, sha256, older=-1)
    with pytest.raises(BackupError, match=f"is gone from {place['files']}"):
        backup(light.settings, tmp_path / "c.tar.gz")


def test_a_restore_that_fails_leaves_nothing_in_the_bucket(
    light: Core, tmp_path: Path, bucket_server: str
) -> None:
    world(light, Client.set_up(create_app(light), light))
    backup(light.settings, tmp_path / "whole")
    with tarfile.open(tmp_path / "whole") as whole, tarfile.open(tmp_path / "part", "w:gz") as part:
        for member in whole.getmembers():
            if not member.name.startswith("keys/"):  # read after the files
                part.addfile(member, whole.extractfile(member))
    there = new_prefix(bucket_server)
    with pytest.raises(BackupError, match="cannot be restored"):
        restore(Settings(tmp_path / "other", **there), tmp_path / "part")
    assert names_in(there) == ["ready"]
