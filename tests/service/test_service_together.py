"""Comments, requested reviews, links to one report, and what is erased of people and files."""

import io
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from acts import approves, is_intact, log, world_to_see
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pages import HTML, get, post
from services import API, MANIFEST, Client, only, stored, world
from sqlalchemy import text

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.record import retention
from trustreport.service.report.shared_page import COOKIE as SHARE_COOKIE
from trustreport.service.report.shared_page import GONE
from trustreport.service.storage import FolderBlobs
from trustreport.service.storage.collaboration import Comment, Mail, ReviewRequest, StoredShare
from trustreport.service.storage.models import (
    Audit,
    Job,
    Removal,
    ReportFile,
    StoredReport,
    StoredStudy,
    User,
    Version,
    VersionFile,
)
from trustreport.service.storage.store import now
from trustreport.vocabulary.messages import catalogue

DAY = 86_400_000


@pytest.fixture
def names(light: Core, anna: Client) -> dict[str, str]:
    return world_to_see(light, anna)


# ------------------------------------------------------------------ comments


def test_a_comment_is_read_by_all_and_withdrawn_by_its_author(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    carl = anna.invite("carl@hospital.test", "reviewer")
    report, version = f"/reports/{names['report']}", f"/versions/{names['version']}"
    for page in (report, version):
        assert post(carl, page, f"{page}/comments", text="See <b>table 2</b>.").status_code == 303
        assert "See <b>table 2</b>." in get(anna, page).words
    (comment,) = anna.get(f"{API}{report}/comments").json()["items"]
    assert comment["created_by"] == carl.me["user"]
    assert comment["report"] == names["report"]
    refused = anna.invite("dora@hospital.test", "author").delete(f"{API}/comments/{comment['id']}")
    assert refused.status_code == 403
    withdraw = f"/comments/{comment['id']}/withdrawal"
    assert post(carl, report, withdraw).headers["location"] == f"{report}#comments"
    assert "table 2" not in anna.get(report, headers=HTML).text
    assert "Withdrawn" in get(anna, report).words
    (kept,) = anna.get(f"{API}{report}/comments").json()["items"]
    assert (kept["text"], kept["sha256"], bool(kept["withdrawn_at"])) == ("", comment["sha256"], True)
    said = [details for _, subject, details in log(light, "comment.add") if subject == comment["id"]]
    assert said[0]["sha256"] == comment["sha256"]
    assert "table" not in str(log(light, "comment.add"))
    assert log(light, "comment.withdraw") == [(carl.me["user"], comment["id"], {})]
    assert is_intact(light)


def test_an_administrator_withdraws_what_should_not_have_been_written(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    carl = anna.invite("carl@hospital.test", "reviewer")
    path = f"{API}/versions/{names['version']}/comments"
    comment = carl.post(path, json={"text": "Mrs Marple"}).json()["id"]
    assert anna.delete(f"{API}/comments/{comment}").status_code == 204
    assert "Marple" not in anna.get(path).text


def test_who_only_reads_writes_no_comments(anna: Client, names: dict[str, str]) -> None:
    reader = anna.invite("reader@hospital.test", "viewer")
    path = f"{API}/reports/{names['report']}"
    assert reader.post(f"{path}/comments", json={"text": "x"}).status_code == 403
    assert reader.post(f"{path}/shares", json={}).status_code == 403
    asked = {"reviewer": anna.me["user"]}
    assert reader.post(f"{path}/review-requests", json=asked).status_code == 403
    page = get(reader, f"/reports/{names['report']}")
    assert [f["action"] for f in page.forms if f["method"] == "post"] == ["/sign-out", "/language"]
    for wrong in ("", " \n ", "x" * 4001):
        assert anna.post(f"{path}/comments", json={"text": wrong}).status_code == 422


def test_a_comment_that_was_changed_in_the_database_shows(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    anna.post(f"{API}/reports/{names['report']}/comments", json={"text": "No."})
    assert is_intact(light)
    with light.store.write() as rows:
        rows.query(Comment).update({Comment.text: "Yes."})
    assert not is_intact(light)
    with light.store.write() as rows:
        rows.query(Comment).delete()
    assert not is_intact(light)


def test_comments_requests_and_links_go_with_their_study(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    carl = anna.invite("carl@hospital.test", "reviewer")
    path = f"{API}/reports/{names['report']}"
    assert anna.post(f"{path}/comments", json={"text": "x"}).status_code == 201
    assert anna.post(f"{path}/review-requests", json={"reviewer": carl.me["user"]}).status_code == 201
    assert anna.post(f"{path}/shares", json={}).status_code == 201
    with light.store.write() as rows:
        retention.remove(rows, rows.get_one(StoredStudy, names["study"]), "x")
    assert [len(stored(light, model)) for model in (Comment, ReviewRequest, StoredShare)] == [0, 0, 0]
    assert is_intact(light)


# ------------------------------------------------------------------ requested reviews


def test_a_review_is_requested_given_and_listed(light: Core, anna: Client, names: dict[str, str]) -> None:
    carl = anna.invite("carl@hospital.test", "reviewer")
    page = f"/reports/{names['report']}"
    typed = {"reviewer": carl.me["user"], "due": "2027-02-01"}
    asked = post(anna, page, f"{page}/review-requests", **typed)
    assert asked.status_code == 303
    again = post(anna, page, f"{page}/shares").text  # the form to ask has nobody left
    assert f"{page}/review-requests" not in again
    same = anna.post(f"{API}{page}/review-requests", json=typed)
    assert (same.status_code, same.json()["title"]) == (409, "Requested already")
    (mine,) = carl.get(f"{API}/review-requests").json()["items"]
    assert (mine["report"], mine["due"], mine["ended_at"]) == (names["report"], "2027-02-01", None)
    assert anna.get(f"{API}/review-requests").json()["items"] == []
    assert page in get(carl, "/reports?reviewer=me").links
    assert page not in get(anna, "/reports?reviewer=me").links
    assert approves(carl, names["report"], "review") == "signed"
    assert carl.get(f"{API}/review-requests").json()["items"] == []
    assert anna.get(f"{API}{page}/review-requests").json()["items"][0]["ended_at"]
    assert is_intact(light)


def test_nobody_is_asked_to_review_who_may_not(light: Core, anna: Client, names: dict[str, str]) -> None:
    path = f"{API}/reports/{names['report']}/review-requests"
    author = anna.invite("author@hospital.test", "author")
    closed = anna.invite("closed@hospital.test", "reviewer")
    anna.patch(f"{API}/users/{closed.me['user']}", json={"disabled": True})
    for reviewer in (anna.me["user"], author.me["user"], closed.me["user"]):  # she asked for the report
        refused = anna.post(path, json={"reviewer": reviewer})
        assert (refused.status_code, refused.json()["title"]) == (409, "Not a reviewer"), refused.text
    assert anna.post(path, json={"reviewer": "0" * 26}).status_code == 404
    assert anna.post(path, json={"reviewer": author.me["user"], "due": "soon"}).status_code == 422


def test_a_request_is_withdrawn_by_those_it_concerns(
    light: Core, anna: Client, names: dict[str, str]
) -> None:
    carl = anna.invite("carl@hospital.test", "reviewer")
    path = f"{API}/reports/{names['report']}/review-requests"
    asked = anna.post(path, json={"reviewer": carl.me["user"]}).json()["id"]
    other = anna.invite("eve@hospital.test", "reviewer")
    assert other.delete(f"{API}/review-requests/{asked}").status_code == 403
    done = post(carl, f"/reports/{names['report']}", f"/review-requests/{asked}/withdrawal")
    assert done.status_code == 303
    assert log(light, "review.withdraw") == [(carl.me["user"], asked, {"report": names["report"]})]


# ------------------------------------------------------------------ links to one report


def shared(client: Client, report: str, **given: Any) -> tuple[str, dict[str, Any]]:
    """The path of a new link to a report, and its row."""
    made = client.post(f"{API}/reports/{report}/shares", json=given)
    assert made.status_code == 201, made.text
    address, _, secret = made.json()["link"].partition("#")
    assert address.endswith("/shared")  # what a browser sends of it
    return secret, made.json()["share"]


def opened(stranger: TestClient, secret: str, status: int = 303) -> str:
    """Open a link as its page does; where that leads."""
    answer = post(stranger, "/shared", "/shared", link=secret)
    assert answer.status_code == status, answer.text
    return str(answer.headers.get("location", ""))


def test_a_link_shows_one_report_and_nothing_else(
    light: Core, app: FastAPI, anna: Client, names: dict[str, str], anonymous: TestClient
) -> None:
    secret, share = shared(anna, names["report"])
    path = opened(anonymous, secret)
    assert path == f"/shared/{share['id']}"
    page = get(anonymous, path)
    assert "Hospital" in page.words
    assert [form["action"] for form in page.forms] == ["/language"]
    inside = [link for link in page.links if link not in ("#content", "/")]
    assert inside
    assert all(link.startswith(f"{path}/") for link in inside)
    for address in (path, *inside):
        answer = anonymous.get(address)
        assert answer.status_code == 200, address
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-robots-tag"] == "noindex, nofollow, noarchive"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert ("meta", {"name": "robots", "content": "noindex, nofollow"}) in page.tags
    for elsewhere in (f"/reports/{names['report']}", f"/studies/{names['study']}", f"{API}/reports"):
        assert anonymous.get(elsewhere, headers=HTML, follow_redirects=False).status_code in (303, 401)
    assert anonymous.get(f"{path}/files/study.yaml").status_code == 404
    assert anonymous.post(path).status_code == 405
    row = only(light, StoredShare, id=share["id"])
    assert secret not in str(vars(row))
    assert (row.uses, bool(row.used_at)) == (2, True)
    assert [actor for actor, _, _ in log(light, "share.open")] == ["link"] * 2
    assert len(log(light, "share.take")) == len(inside)
    assert secret not in str(log(light, "share.add"))
    assert is_intact(light)


@pytest.mark.parametrize("how", ["expired", "revoked", "closed", "unknown", "removed"])
def test_a_link_that_works_no_more_is_as_absent_as_one_that_never_was(
    light: Core, app: FastAPI, anna: Client, anonymous: TestClient, how: str
) -> None:
    carl = anna.invite("carl@hospital.test", "author")
    names = world_to_see(light, carl)
    secret, share = shared(carl, names["report"])
    path = opened(anonymous, secret)
    if how == "expired":
        with light.store.write() as rows:
            rows.query(StoredShare).update({StoredShare.expires_at: 1})
    elif how == "revoked":
        done = post(anna, f"/reports/{names['report']}", f"/shares/{share['id']}/revocation")
        assert done.status_code == 303
    elif how == "closed":
        anna.patch(f"{API}/users/{carl.me['user']}", json={"disabled": True})
    elif how == "removed":
        assert anna.delete(f"{API}/studies/{names['study']}").status_code == 204
    else:
        secret = "x" * 43
        anonymous.cookies.clear()
    assert post(anonymous, "/shared", "/shared", link=secret).status_code == 404
    for address in (path, f"{path}/zip", f"{path}/document", f"{path}/files/results.json"):
        answer = anonymous.get(address)
        assert (answer.status_code, answer.json()["detail"]) == (404, catalogue()(GONE))
    assert log(light, "share.open") == []


def test_a_link_lives_as_long_as_the_settings_say(light: Core, anna: Client, names: dict[str, str]) -> None:
    _, share = shared(anna, names["report"])
    row = only(light, StoredShare, id=share["id"])
    assert row.expires_at - row.created_at == pytest.approx(14 * DAY, abs=1000)  # two looks at the clock
    refused = anna.post(f"{API}/reports/{names['report']}/shares", json={"days": 91})
    assert (refused.status_code, refused.json()["fields"][0]["said"]) == (
        422,
        "found 91, expected at most 90",
    )
    page = f"/reports/{names['report']}"
    made = post(anna, page, f"{page}/shares", days="90").text
    assert "/shared#" in made
    assert "/shared#" not in anna.get(page, headers=HTML).text  # shown once


def test_whoever_has_a_link_is_counted(light: Core, anna: Client, names: dict[str, str]) -> None:
    import dataclasses

    from trustreport.service.app import create_app
    from trustreport.service.web.limits import Throttle

    secret, share = shared(anna, names["report"])
    few = dataclasses.replace(light.settings, requests_a_minute=3)
    app = create_app(dataclasses.replace(light, settings=few, throttle=Throttle(few, light.store)))
    stranger = TestClient(app, base_url="https://testserver", raise_server_exceptions=False)
    headers = {"Cookie": f"{SHARE_COOKIE}{share['id']}={secret}"}
    path = f"/shared/{share['id']}"
    assert [stranger.get(path, headers=headers).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_a_restore_revokes_links(light: Core, anna: Client, names: dict[str, str], tmp_path: Any) -> None:
    from trustreport.service.core import open_core
    from trustreport.service.record.backup import backup, restore
    from trustreport.service.settings import Settings

    shared(anna, names["report"])
    backup(light.settings, tmp_path / "b.tar.gz")
    settings = Settings(tmp_path / "restored")
    assert all(not chain.faults for chain in restore(settings, tmp_path / "b.tar.gz"))
    again = open_core(settings)
    assert only(again, StoredShare).revoked_at
    again.close()


# ------------------------------------------------------------------ erasure of a person


def test_a_person_is_erased_and_what_they_signed_stays(
    light: Core, app: FastAPI, anna: Client, names: dict[str, str]
) -> None:
    carl = anna.invite("carl@hospital.test", "approver")
    path = f"{API}/reports/{names['report']}"
    comment = carl.post(f"{path}/comments", json={"text": "I, Carl, agree."}).json()["id"]
    assert approves(carl, names["report"]) == "signed"
    asked = {"reviewer": carl.me["user"]}
    assert anna.post(f"{path}/review-requests", json=asked).status_code == 201
    token = carl.post(f"{API}/tokens", json={"name": "Carl's", "scopes": ["read"]}).json()["secret"]
    user = f"/admin/users/{carl.me['user']}"
    assert post(anna, user, f"{user}/erasure", email="other@hospital.test").status_code == 422
    assert post(anna, user, f"{user}/erasure", email="Carl@hospital.test").status_code == 303
    assert anna.delete(f"{API}/users/{anna.me['user']}").status_code == 409
    for address in (user, f"/reports/{names['report']}", "/admin/users", "/audit", "/admin/tokens"):
        assert "carl" not in anna.get(address, headers=HTML).text.lower(), address
    assert carl.get(f"{API}/session").status_code == 401
    robot = Client.on(app)
    assert robot.get(f"{API}/studies", headers={"Authorization": f"Bearer {token}"}).status_code == 401
    assert (only(light, Comment, id=comment).text, len(stored(light, Mail))) == ("", 0)
    assert only(light, ReviewRequest).ended_at
    assert only(light, User, id=carl.me["user"]).roles == []
    (signed,) = anna.get(f"{path}/attestations").json()["items"]
    statement = anna.get(f"{API}/attestations/{signed['id']}/statement").json()
    assert statement["signer"]["email"] == "carl@hospital.test"
    assert is_intact(light)
    anna.invite("carl@hospital.test", "viewer")  # the address is free again


NAME = "Marple, Jane"


@pytest.fixture
def owner(core: Core) -> Client:
    return Client.set_up(create_app(core), core)


def names_the_patient(core: Core) -> list[Path]:
    return [path for _, _, path in core.blobs.paths() if NAME in path.read_text()]


def upload(core: Core, client: Client, *, minutes_ago: float = 60) -> str:
    study = client.study()
    version = client.version(study, MANIFEST, **{"readings.csv": NAME})
    with core.store.write() as rows:  # its check is over
        rows.query(Job).filter_by(version=version).update({Job.state: "failed"})
    for _, _, path in core.blobs.paths():
        at = path.stat().st_mtime - 60 * minutes_ago
        os.utime(path, (at, at))
    return study


def delete(owner: Client, study: str) -> None:
    """Remove a study, and do not wait until nobody can restore it any more."""
    assert owner.delete(f"{API}/studies/{study}").status_code == 204
    assert owner.delete(f"{API}/removed/{study}").status_code == 204


def test_files_go_when_a_worker_next_looks(core: Core, owner: Client) -> None:
    schedules.tend(core)  # today's retention has run
    study = upload(core, owner)
    assert len(names_the_patient(core)) == 1
    delete(owner, study)
    schedules.tend(core)
    assert names_the_patient(core) == []
    assert list(core.blobs.stored_blobs()) == []
    assert len(stored(core, Removal)) == 0
    gone = only(core, Audit, action="files.remove")
    assert (gone.actor, gone.details) == ("schedule", {"files": 2})
    assert gone.chain == owner.me["organisation"]


def test_what_retention_removes_goes_likewise(core: Core, owner: Client) -> None:
    schedules.tend(core)
    upload(core, owner)
    with core.store.write() as rows:
        for model in (StoredStudy, Version):
            rows.query(model).update({model.created_at: 1})
    owner.put(f"{API}/organisation/retention", json={"days": 1})
    assert len(owner.post(f"{API}/organisation/retention/run").json()["studies"]) == 1
    schedules.tend(core)
    assert names_the_patient(core) == []


def test_what_an_organisation_uses_and_what_goes_next(light: Core) -> None:
    owner = Client.set_up(create_app(light), light)
    path = f"{API}/organisation/usage"
    names = world(light, owner)
    used = owner.get(path).json()
    sizes = {f.sha256: f.size for model in (VersionFile, ReportFile) for f in stored(light, model)}
    assert used["stored_bytes"] == sum(sizes.values()) > 0
    assert (used["most_bytes"], used["most_waiting_jobs"]) == (200_000_000_000, 100)
    assert used["expiring"] == []  # without a policy nothing goes
    assert owner.invite("carl@hospital.test", "viewer").get(path).status_code == 403
    with light.store.write() as rows:
        at = now(rows)
        for model, days in ((StoredStudy, 90), (Version, 90), (StoredReport, 80)):
            rows.query(model).update({model.created_at: at - days * retention.DAY})
    owner.put(f"{API}/organisation/retention", json={"days": 120, "keep_signed": False})
    assert owner.get(path).json()["expiring"] == []  # in 40 days
    owner.put(f"{API}/organisation/retention", json={"days": 100, "keep_signed": False})
    (one,) = owner.get(path).json()["expiring"]
    assert one["study"] == names["study"]
    left = datetime.fromisoformat(one["on"]) - datetime.now(UTC)
    assert timedelta(days=19) < left < timedelta(days=21)  # counted from the report, the latest thing added
    page = owner.get("/admin/organisation", headers={"Accept": "text/html"}).text
    assert f"/studies/{names['study']}" in page
    assert "of 200 GB" in page
    assert owner.post(f"{API}/organisation/retention/run").json()["studies"] == []


def test_a_file_that_another_study_has_stays(core: Core, owner: Client) -> None:
    schedules.tend(core)
    study, _ = upload(core, owner), upload(core, owner)
    delete(owner, study)
    schedules.tend(core)
    assert len(names_the_patient(core)) == 1
    assert len(stored(core, Removal)) == 0


def test_a_young_file_waits_since_its_row_may_come(core: Core, owner: Client) -> None:
    schedules.tend(core)
    study = upload(core, owner, minutes_ago=0)
    delete(owner, study)
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
        rename(old, new)

    monkeypatch.setattr(os, "rename", slow)
    assert not blobs.remove("one", blob.sha256, older=60)
    assert path.read_bytes() == b"abc"
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [path]
    os.utime(path, (1, 1))
    assert blobs.remove("one", blob.sha256, older=60)
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_the_database_overwrites_what_is_removed(light: Core) -> None:
    """Problems quote cells of tables, which SQLite would leave in its free pages."""
    with light.store.read() as rows:
        assert rows.scalar(text("PRAGMA secure_delete")) == 1


def test_the_daily_sweep_still_finds_what_nobody_noted(core: Core) -> None:
    blob = core.blobs.put("one", io.BytesIO(b"abc"))
    os.utime(core.blobs.path("one", blob.sha256), (1, 1))
    assert retention.sweep(core.store, core.blobs) == 1
