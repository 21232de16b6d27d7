"""Exports dropped in a folder or bucket: which is taken, the next period by itself, attempts that wait."""

import os
import time
from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from buckets import new_prefix
from dropped import Drop, in_bucket, in_folder
from services import API, Client, new_core, only, stored
from test_sql_tables import everything, milliseconds, on, scheduled, upload, work

from trustreport.api import read_study
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import queue, schedules
from trustreport.service.mail import compose
from trustreport.service.settings import DataConnection, Settings, Unsuitable
from trustreport.service.storage.collaboration import Mail
from trustreport.service.storage.models import Audit, Job, StoredReport, Version, VersionFile
from trustreport.study.interop.exports import ExportLimits, take_export
from trustreport.study.interop.sql import NotFetched

MANIFEST = """\
report: {kind: vigilance}
device: {trade_name: Example, basic_udi_di: none}
operating_point: {threshold: 0.5}
datasets:
  - {dataset: baseline, role: local, start_date: 2026-01-01, end_date: 2026-01-31}
  - {dataset: 2026-02, role: period, start_date: 2026-02-01, end_date: 2026-02-28}
tables:
  scores: {dataset: baseline, file: baseline.csv}
  # the night after the last day of a month
  scores_2: {kind: scores, dataset: 2026-02, newest: "exports/scores-*.csv", connection: ward}
vigilance: {baseline_dataset: baseline, period_start: 2026-02-01, period_end: 2026-02-28}
"""
AT_ONCE = ExportLimits(quiet=0)


def cases(month: int) -> str:
    """Ten cases of a month."""
    rows = [
        f"C{month}{i},{i % 2},{0.35 + 0.3 * (i % 2) + i / 100 - 0.3 * (i == 3):.2f},2026-0{month}-10"
        for i in range(10)
    ]
    return "\n".join(["case_id,truth,score,date", *rows, ""])


@pytest.fixture(params=["folder", "bucket"])
def ward(request: pytest.FixtureRequest, tmp_path: Path) -> Drop:
    """Where the exports of a ward arrive."""
    if request.param == "folder":
        return in_folder(tmp_path / "ward")
    return in_bucket(new_prefix(request.getfixturevalue("bucket_server")))


@pytest.fixture
def asked(tmp_path: Path, ward: Drop) -> Iterator[Core]:
    """An open core whose operator lets the first organisation read the exports of a ward."""
    one = DataConnection("ward", ward.address, ("Hospital",))
    more: dict[str, Any] = {"smtp_host": "localhost", "mail_from": "t@h.test", "export_quiet": 0}
    core = new_core(tmp_path / "data", connections=(one,), **more)
    yield core
    core.close()


@pytest.fixture
def author(asked: Core) -> Client:
    return Client.set_up(create_app(asked), asked)


def uploaded(core: Core, author: Client, manifest: str = MANIFEST) -> tuple[str, Version]:
    sent = {"study.yaml": manifest.encode(), "baseline.csv": cases(1).encode()}
    study, version = upload(author, sent)
    work(core)
    return study, only(core, Version, id=version)


def manifest_of(core: Core, version: str) -> str:
    file = only(core, VersionFile, version=version, name="study.yaml")
    return core.blobs.read(file.organisation, file.sha256).decode()


# ---------------------------------------------------------------- which export is taken


def test_the_newest_that_fits_is_taken_and_recorded(ward: Drop, tmp_path: Path) -> None:
    ward.put("exports/scores-1.csv", "old", changed=time.time() - 9000)
    if ward.bucket is not None:
        time.sleep(1.1)
    ward.put("exports/scores-2.csv", "new")
    ward.put("exports/.scores-3.csv", "hidden")
    ward.put("exports/deep/scores-4.csv", "deeper")
    ward.put("exports/other.csv", "other")
    found = take_export(ward.address, "exports/scores-*.csv", tmp_path / "x", limits=AT_ONCE)
    assert (tmp_path / "x").read_text() == "new"
    assert (found["file"], found["sha256"]) == ("exports/scores-2.csv", sha256(b"new").hexdigest())
    with pytest.raises(NotFetched, match="no new file") as refused:
        take_export(
            ward.address, "exports/scores-*.csv", tmp_path / "x", after=found["modified"], limits=AT_ONCE
        )
    assert refused.value.passing
    again = {"file": "exports/scores-1.csv", "limits": AT_ONCE}
    take_export(ward.address, "exports/scores-*.csv", tmp_path / "x", **again)
    assert (tmp_path / "x").read_text() == "old"


def test_what_is_not_there_or_too_large_or_still_written_is_refused(ward: Drop, tmp_path: Path) -> None:
    with pytest.raises(NotFetched, match="no file exports/s-") as absent:
        take_export(ward.address, "exports/s-*.csv", tmp_path / "x", limits=AT_ONCE)
    assert absent.value.passing
    ward.put("exports/s-1.csv", "x" * 100, changed=time.time())
    with pytest.raises(NotFetched, match="still being written") as written:
        take_export(ward.address, "exports/s-*.csv", tmp_path / "x", limits=ExportLimits(quiet=60))
    assert written.value.passing
    with pytest.raises(NotFetched, match="too large") as large:
        take_export(ward.address, "exports/s-*.csv", tmp_path / "x", limits=ExportLimits(99, quiet=0))
    assert not large.value.passing
    with pytest.raises(NotFetched, match="not there any more"):
        take_export(ward.address, "exports/s-*.csv", tmp_path / "x", file="exports/s-0.csv", limits=AT_ONCE)


def test_a_file_that_grows_while_it_is_read_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import obstore

    drop = in_folder(tmp_path / "ward")
    drop.put("s-1.csv", "half")
    read = obstore.get

    def grown(store: Any, name: str) -> Any:
        drop.put("s-1.csv", "half and more")
        return read(store, name)

    monkeypatch.setattr(obstore, "get", grown)
    with pytest.raises(NotFetched, match="changed while it was read") as refused:
        take_export(drop.address, "s-*.csv", tmp_path / "x", limits=AT_ONCE)
    assert refused.value.passing


@pytest.mark.parametrize("link", ["file", "folder", "pipe"])
def test_nothing_outside_of_the_folder_is_read(tmp_path: Path, link: str) -> None:
    drop = in_folder(tmp_path / "ward")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "s-1.csv").write_text("secret")
    if link == "file":
        (tmp_path / "ward" / "exports").mkdir()
        (tmp_path / "ward" / "exports" / "s-1.csv").symlink_to(tmp_path / "secret" / "s-1.csv")
    elif link == "folder":
        (tmp_path / "ward" / "exports").symlink_to(tmp_path / "secret")
    else:
        (tmp_path / "ward" / "exports").mkdir()
        os.mkfifo(tmp_path / "ward" / "exports" / "s-1.csv")
    for known in ("", "exports/s-1.csv"):
        with pytest.raises(NotFetched, match=r"leads out of|is no file"):
            take_export(drop.address, "exports/s-*.csv", tmp_path / "x", file=known, limits=AT_ONCE)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "pattern",
    ["../s-*.csv", "/etc/s-*.csv", "a/../s-*.csv", "a//s.csv", r"a\\s.csv", "C:/s.csv", "*/s.csv", "a/s-*"],
)
def test_a_pattern_stays_below_the_folder(tmp_path: Path, pattern: str) -> None:
    from trustreport.vocabulary.errors import StudyError

    (tmp_path / "study.yaml").write_text(MANIFEST.replace("exports/scores-*.csv", pattern))
    with pytest.raises(StudyError, match=r"newest.*expected (a path below|wildcards)"):
        read_study(tmp_path)


@pytest.mark.parametrize(
    "address",
    [
        "relative/folder",
        "postgresql://anna:s3cr3t@host/x",
        "s3://k:s3cr3t@b/p?other=1",
        "https://s3cr3t.test/x",
    ],
)
def test_another_address_is_refused_without_a_word_of_it(tmp_path: Path, address: str) -> None:
    with pytest.raises(NotFetched, match="no address of a folder or bucket") as refused:
        take_export(address, "s-*.csv", tmp_path / "x")
    assert "s3cr3t" not in f"{refused.value.found}{refused.value.mend}"


def test_a_bucket_that_does_not_answer_may_answer_later(tmp_path: Path) -> None:
    address = "s3://key:s3cr3t@reports/p?endpoint=http://127.0.0.1:1&http=1&region=us-east-1"
    with pytest.raises(NotFetched, match="cannot be read") as refused:
        take_export(address, "s-*.csv", tmp_path / "x")
    assert refused.value.passing
    assert "s3cr3t" not in str(refused.value)


def test_a_folder_with_the_data_of_the_service_is_no_source(tmp_path: Path) -> None:
    for address in (str(tmp_path), f"file://{tmp_path / 'data' / 'blobs'}"):
        with pytest.raises(Unsuitable, match="TRUSTREPORT_CONNECTION_WARD: expected a folder outside"):
            Settings(tmp_path / "data", connections=(DataConnection("ward", address),))


# ---------------------------------------------------------------- in the service


def test_the_export_is_kept_with_the_version_and_named_in_the_report(
    asked: Core, author: Client, ward: Drop, tmp_path: Path
) -> None:
    ward.put("exports/scores-2026-02.csv", cases(2))
    _, version = uploaded(asked, author)
    assert (version.state, version.problems) == ("valid", [])
    said = manifest_of(asked, version.id)
    assert "# the night after the last day of a month" in said
    author.post(f"{API}/versions/{version.id}/jobs", json={"formats": ["json"]})
    ward.put("exports/scores-2026-02.csv", "overwritten")
    work(asked)
    report = only(asked, StoredReport)
    document = author.get(f"{API}/reports/{report.id}/files/results.json").json()
    (one,) = [one for one in document["provenance"]["inputs"] if "export" in one]
    assert one["sha256"] == sha256(cases(2).encode()).hexdigest()
    assert one["export"].pop("modified") in said
    assert one["export"] == {
        "newest": "exports/scores-*.csv", "file": "exports/scores-2026-02.csv", "source": "ward",
    }  # fmt: skip
    assert ward.address.encode() not in everything(asked)
    folder = tmp_path / "downloaded"
    for file in stored(asked, VersionFile, version=version.id):
        (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.name).write_bytes(asked.blobs.read(file.organisation, file.sha256))
    assert [len(d.cases.truth) for d in read_study(folder)[0].datasets] == [10, 10]


def test_only_the_organisations_named_read_them(tmp_path: Path, ward: Drop) -> None:
    ward.put("exports/scores-2026-02.csv", cases(2))
    core = new_core(tmp_path / "data", connections=(DataConnection("ward", ward.address, ("Hospital",)),))
    bob = Client.set_up(create_app(core), core).found("Other hospital", "bob@other.test")
    _, version = uploaded(core, bob)
    core.close()
    assert {p["found"] for p in version.problems} == {"no connection 'ward' that this organisation may use"}


def test_a_copy_that_is_not_what_was_taken_is_taken_again(asked: Core, author: Client, ward: Drop) -> None:
    ward.put("exports/scores-2026-02.csv", cases(2))
    _, version = uploaded(asked, author)
    said = manifest_of(asked, version.id)
    (copy,) = [f.name for f in stored(asked, VersionFile, version=version.id) if f.name[:8] == "queried/"]
    forged = {"study.yaml": said.encode(), "baseline.csv": cases(1).encode(), copy: b"forged"}
    _, other = upload(author, forged)
    work(asked)
    assert only(asked, Version, id=other).state == "valid"
    kept = only(asked, VersionFile, version=other, name=copy)
    assert kept.sha256 == sha256(cases(2).encode()).hexdigest()
    ward.put("exports/scores-2026-02.csv", cases(3))
    _, third = upload(author, forged)
    work(asked)
    (problem,) = only(asked, Version, id=third).problems
    assert "is not the file that was taken" in problem["found"]


@pytest.mark.limited_process
def test_the_limited_process_takes_exports_too(asked: Core, author: Client, ward: Drop) -> None:
    ward.put("exports/scores-2026-02.csv", cases(2))
    _, version = uploaded(asked, author)
    assert (version.state, version.problems) == ("valid", [])


def day(text: str) -> float:
    return milliseconds(text) / 1000


def test_a_schedule_takes_the_next_export_and_reports_it(
    asked: Core, author: Client, ward: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    ward.put("exports/scores-2026-02.csv", cases(2), changed=day("2026-03-01"))
    study, first = uploaded(asked, author)
    assert first.state == "valid", first.problems
    scheduled(asked, author, study, "2026-04-01")
    if ward.bucket is not None:
        time.sleep(1.1)
    ward.put("exports/scores-2026-03.csv", cases(3), changed=day("2026-04-01"))
    on(monkeypatch, "2026-04-01")
    schedules.tend(asked)
    work(asked)
    second = only(asked, Version, number=2)
    assert (second.state, second.problems, second.based_on) == ("valid", [], first.id)
    assert second.facts["period_end"] == "2026-03-31"
    document = author.get(f"{API}/reports/{only(asked, StoredReport).id}/files/results.json").json()
    exports = [one["export"]["file"] for one in document["provenance"]["inputs"] if "export" in one]
    assert exports == ["exports/scores-2026-02.csv", "exports/scores-2026-03.csv"]
    copies = [f.sha256 for f in stored(asked, VersionFile, version=second.id) if f.name[:8] == "queried/"]
    assert set(copies) == {sha256(cases(month).encode()).hexdigest() for month in (2, 3)}


# ---------------------------------------------------------------- what is not there yet


def waits(core: Core) -> Job:
    return only(core, Job, task="check", state="queued")


def later(core: Core, monkeypatch: pytest.MonkeyPatch, minutes: float) -> None:
    """Let the time of the queue be so many minutes after the job was made."""
    at = waits(core).created_at + round(minutes * 60_000)
    monkeypatch.setattr(queue, "now", lambda rows: at)


@pytest.fixture
def due(asked: Core, author: Client, ward: Drop, monkeypatch: pytest.MonkeyPatch) -> Core:
    """A schedule that is due, without a new export."""
    ward.put("exports/scores-2026-02.csv", cases(2), changed=day("2026-03-01"))
    study, _ = uploaded(asked, author)
    scheduled(asked, author, study, "2026-04-01")
    on(monkeypatch, "2026-04-01")
    schedules.tend(asked)
    work(asked)
    return asked


def test_a_period_whose_export_comes_late_is_tried_again(
    due: Core, author: Client, ward: Drop, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = waits(due)
    assert (job.step, job.attempts) == ("wait", 0)
    assert "They are tried again by themselves" in author.get(f"/jobs/{job.id}").text
    if ward.bucket is not None:
        time.sleep(1.1)
    ward.put("exports/scores-2026-03.csv", cases(3), changed=day("2026-04-01"))
    work(due)
    assert waits(due).id == job.id  # its pause is not over
    later(due, monkeypatch, 2.1)
    work(due)
    second = only(due, Version, number=2)
    assert (second.state, second.problems) == ("valid", [])
    assert only(due, StoredReport).version == second.id
    assert "period_failed" not in [m.kind for m in stored(due, Mail)]


def test_pauses_grow_and_at_last_people_are_told(due: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    study = only(due, Version, number=2)
    pauses = []
    while [j for j in stored(due, Job) if j.state == "queued"]:
        job = waits(due)
        pauses.append((job.lease_until - job.created_at) / 60_000)
        at = job.lease_until
        monkeypatch.setattr(queue, "now", lambda rows, at=at: at)
        assert "period_failed" not in [m.kind for m in stored(due, Mail)]
        work(due)
    assert len(pauses) == 9
    assert pauses[0] == pytest.approx(1, abs=0.5)
    assert all(after == pytest.approx(2 * before) for before, after in pairwise(pauses))
    assert pauses[-1] <= 360
    version = only(due, Version, id=study.id)
    assert version.state == "invalid"
    (problem,) = version.problems
    assert problem["found"].startswith(
        "no new file exports/scores-*.csv: the newest, exports/scores-2026-02.csv"
    )
    assert problem["column"] == "tables.scores_3.newest"
    with due.store.write() as rows:
        (sent,) = [compose(rows, due.settings, m) for m in rows.query(Mail).filter_by(kind="period_failed")]
    assert sent is not None
    assert "also after several attempts" in " ".join(sent.get_content().split())
    actions = [a.action for a in stored(due, Audit)]
    assert actions.count("job.postpone") == 9
    assert {"version.invalid", "period.failed"} <= set(actions)  # which webhooks send
    assert actions.count("period.waiting") == 1
    assert [m.kind for m in stored(due, Mail)].count("period_waiting") == 1


def test_a_database_that_is_away_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from test_sql_tables import fill, manifest, opened

    file = tmp_path / "registry.db"
    fill(f"sqlite:///{file}")
    core = opened(tmp_path / "data", f"sqlite:///{file}", "*", smtp_host="localhost", mail_from="t@h.test")
    author = Client.set_up(create_app(core), core)
    study, _ = upload(author, {"study.yaml": manifest()})
    work(core)
    scheduled(core, author, study, "2026-04-01")
    on(monkeypatch, "2026-04-01")
    file.rename(tmp_path / "away.db")
    schedules.tend(core)
    work(core)
    later(core, monkeypatch, 2.1)
    (tmp_path / "away.db").rename(file)
    work(core)
    second = only(core, Version, number=2)
    core.close()
    assert (second.state, second.problems) == ("valid", [])


def test_a_check_that_somebody_asked_for_says_at_once_what_is_not_there(asked: Core, author: Client) -> None:
    _, version = uploaded(asked, author)
    assert version.state == "invalid"
    assert version.problems[0]["found"] == "no file exports/scores-*.csv is there"
    assert not [j for j in stored(asked, Job) if j.state == "queued"]


def test_a_job_that_waits_can_be_cancelled(due: Core, author: Client) -> None:
    job = waits(due)
    assert author.post(f"{API}/jobs/{job.id}/cancel").status_code < 300
    assert only(due, Job, id=job.id).state == "cancelled"
