"""Rows and blobs: settings of the database; files by content."""

import io
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from services import DURABLE, new_core
from sqlalchemy import inspect, text

from trustreport.service.ids import new_id
from trustreport.service.settings import Settings, Unsuitable, from_environment
from trustreport.service.storage import Blobs, store
from trustreport.service.storage.locations import open_blobs


def test_a_start_waits_while_another_process_sets_up_its_sqlite(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # for a change of mode SQLite does not wait by itself
    end = threading.Timer(0.3, other.rollback)
    end.start()
    engine = store.connect(f"sqlite:///{tmp_path / 'a.db'}")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    engine.dispose()
    end.join()
    other.close()


def test_sqlite_writes_ahead_and_keeps_references_and_what_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PRAGMAS", DURABLE)
    core = new_core(tmp_path / "data")
    with core.store.read() as rows:
        assert rows.scalar(text("PRAGMA journal_mode")) == "wal"
        assert rows.scalar(text("PRAGMA synchronous")) == 2  # full: a power cut takes nothing
        assert rows.scalar(text("PRAGMA foreign_keys")) == 1
    assert "organisations" in inspect(core.store.engine).get_table_names()
    core.close()


def test_names_are_ordered_and_differ() -> None:
    names = [new_id()]
    time.sleep(0.002)
    names += [new_id() for _ in range(100)]
    assert len(set(names)) == 101
    assert min(names) == names[0]
    assert {len(n) for n in names} == {26}


@pytest.fixture
def blobs(tmp_path: Path, files: dict[str, Any]) -> Iterator[Blobs]:
    """An empty place for files: a folder, or a bucket."""
    made = open_blobs(Settings(tmp_path / "data", **files))
    yield made
    made.close()


def test_equal_content_is_kept_once_but_apart_for_each_organisation(blobs: Blobs) -> None:
    first = blobs.put("one", io.BytesIO(b"abc"))
    assert blobs.put("one", io.BytesIO(b"abc")) == first
    assert first.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-4
    assert blobs.size("two", first.sha256) is None
    with pytest.raises(FileNotFoundError):
        blobs.read("two", first.sha256)
    assert list(blobs.stored_blobs()) == [("one", first.sha256)]


def test_what_is_kept_is_read_whole_in_part_and_copied(blobs: Blobs, tmp_path: Path) -> None:
    for content in (b"", b"abcdef"):
        blob = blobs.put("one", io.BytesIO(content))
        assert (blob.size, blobs.size("one", blob.sha256)) == (len(content), len(content))
        assert blobs.read("one", blob.sha256) == content
        with blobs.open("one", blob.sha256) as stream:
            assert stream.seek(0, io.SEEK_END) == len(content)
            assert (stream.seek(2), stream.read(3), stream.read()) == (2, content[2:5], content[5:])
        blobs.copy("one", blob.sha256, tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == content


def test_an_upload_that_breaks_off_leaves_nothing(blobs: Blobs, tmp_path: Path) -> None:
    class Broken(io.BytesIO):
        def read(self, n: int | None = -1) -> bytes:
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        blobs.put("one", Broken())
    assert list(blobs.stored_blobs()) == []
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_the_sweep_spares_what_is_wanted_or_young(blobs: Blobs) -> None:
    wanted, other = (blobs.put("one", io.BytesIO(content)) for content in (b"wanted", b"other"))
    assert blobs.sweep({("one", wanted.sha256)}, older=60) == []  # the other one is young
    assert not blobs.remove("one", other.sha256, older=60)
    assert blobs.sweep({("one", wanted.sha256)}, older=-1) == [("one", other.sha256)]
    assert list(blobs.stored_blobs()) == [("one", wanted.sha256)]
    assert blobs.remove("one", other.sha256, older=60)  # it is gone already


@pytest.mark.parametrize(
    "organisation, sha", [("../one", "0" * 64), ("one", "../../etc/passwd"), ("one", "0" * 63)]
)
def test_a_blob_has_no_other_name(blobs: Blobs, organisation: str, sha: str) -> None:
    with pytest.raises(ValueError, match="no name of a blob"):
        blobs.open(organisation, sha)


def test_settings_come_from_the_environment_unless_given(tmp_path: Path) -> None:
    environment = {
        "TRUSTREPORT_DATABASE": "postgres://me@db/reports",
        "TRUSTREPORT_JOB_MEMORY": "2e9",
        "TRUSTREPORT_PORT": "9000",
    }
    settings = from_environment(tmp_path, environment, port=9001, host=None)
    assert settings.address == "postgresql+psycopg://me@db/reports"
    assert (settings.job_memory, settings.port, settings.host) == (2_000_000_000, 9001, "127.0.0.1")
    with pytest.raises(Unsuitable, match="TRUSTREPORT_PORT"):
        from_environment(tmp_path, {"TRUSTREPORT_PORT": "-1"})
