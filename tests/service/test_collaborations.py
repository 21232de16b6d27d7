"""Collaborations: sites are invited, upload signed summaries without an account, and are pooled."""

import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from acts import is_intact, log
from fastapi import FastAPI
from fastapi.testclient import TestClient
from five_sites import SITES, FiveSites, five_sites
from pages import HTML, Taken, get, post
from services import API, Client, only, stored, tasks_here, zipped

from trustreport.report.signatures.signing import read_signers
from trustreport.service import limited, mail
from trustreport.service.app import create_app
from trustreport.service.core import Core, open_core
from trustreport.service.editor import run as editor_run
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.record import retention
from trustreport.service.record.backup import backup, restore
from trustreport.service.settings import Settings
from trustreport.service.storage.collaboration import Mail
from trustreport.service.storage.models import (
    Job,
    Organisation,
    Removal,
    StoredReport,
    StoredStudy,
    User,
    Version,
)
from trustreport.service.storage.pooling import InvitedSite, SiteUpload, StoredCollaboration
from trustreport.vocabulary.version import __version__


@pytest.fixture(scope="module")
def five(tmp_path_factory: pytest.TempPathFactory) -> FiveSites:
    return five_sites(tmp_path_factory.mktemp("five"))


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks_here(monkeypatch)


@pytest.fixture
def study(light: Core, anna: Client, five: FiveSites) -> str:
    """A study with a lock and a manifest, and no data: of somebody who has no patients."""
    study = anna.study("Five hospitals")
    files = [("files", ("s.zip", zipped({"study.yaml": five.manifest, "criteria.lock.json": five.lock})))]
    version = anna.post(f"{API}/studies/{study}/versions", files=files).json()["id"]
    assert WorkerThread(light, "worker").once("check")
    assert anna.get(f"{API}/versions/{version}").json()["state"] == "invalid"  # its data are missing
    return study


@pytest.fixture
def collaboration(anna: Client, study: str) -> str:
    made = anna.post(f"{API}/studies/{study}/collaborations", json={"title": "Breast, five hospitals"})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


class Site:
    """A browser of a hospital without an account, with its link opened."""

    def __init__(self, app: FastAPI, link: str) -> None:
        self.http = TestClient(app, base_url="https://testserver", raise_server_exceptions=False)
        self.path = ""
        self.answer = self.opens(link)

    def opens(self, link: str) -> Any:
        answer = post(self.http, "/site", "/site", link=link)
        if answer.status_code == 303:
            self.path = answer.headers["location"]
        return answer

    def page(self) -> Taken:
        return get(self.http, self.path)

    def sends(self, data: bytes, key: str = "") -> Any:
        typed = {"key": key} if key else {}
        return post(self.http, self.path, f"{self.path}/file", [("files", ("a.site.json", data))], **typed)


def invite(anna: Client, collaboration: str, name: str, **more: Any) -> tuple[str, str]:
    """Invite a site; its row's name, and its link."""
    wanted = {"name": name, "email": f"data@{SITES.index(name)}.test", **more}
    made = anna.post(f"{API}/collaborations/{collaboration}/sites", json=wanted)
    assert made.status_code == 201, made.text
    return made.json()["site"]["id"], made.json()["link"]


def state(anna: Client, collaboration: str, site: str) -> str:
    found = anna.get(f"{API}/collaborations/{collaboration}/sites").json()["items"]
    return str(next(one["state"] for one in found if one["id"] == site))


def words_of(answer: Any) -> str:
    return Taken(answer.text).words


def test_five_hospitals_make_one_report(
    light: Core, app: FastAPI, anna: Client, study: str, five: FiveSites
) -> None:
    worker = WorkerThread(light, "worker")
    page = post(anna, f"/studies/{study}", f"/studies/{study}/collaborations", title="Breast").headers[
        "location"
    ]
    collaboration = page.rpartition("/")[2]
    for name in SITES:
        typed = {"name": name, "email": "data@hospital.test", "key": five.signers[name].public_pem}
        typed["key"] = "" if name == "East" else typed["key"]
        made = post(anna, page, f"{page}/sites", **typed)
        (link,) = re.findall(r"/site#([\w-]+)", made.text)
        assert link not in anna.get(page, headers=HTML).text
        site = Site(app, link)
        seen = site.page()
        assert {f"{site.path}/files/{f}" for f in ("study.yaml", "criteria.lock.json")} <= set(seen.links)
        taken = site.http.get(f"{site.path}/files/criteria.lock.json")
        assert (taken.content, taken.headers["content-disposition"][:10]) == (five.lock, "attachment")
        assert site.http.get(f"{site.path}/files/study.yaml").content == five.manifest
        assert site.http.get(f"{site.path}/files/data.csv", headers=HTML).status_code == 404
        done = site.sends(five.files[name], five.signers[name].public_pem if name == "East" else "")
        assert (done.status_code, done.headers["location"]) == (303, f"{site.path}?done=site_file"), done.text
        assert "160" in site.page().words
    # The key of one was not registered: it is shown, and its file is not used before it is accepted.
    shown = get(anna, page)
    assert five.signers["East"].name in shown.words
    assert "Pool 4 sites" in shown.words
    (accept,) = [f["action"] for f in shown.forms if f["action"].endswith("/acceptance")]
    assert post(anna, page, accept).status_code == 303
    assert "Pool 5 sites" in get(anna, page).words
    version = post(anna, page, f"{page}/pool", format=["html"]).headers["location"]
    files = anna.get(f"{API}{version}/files").json()["items"]
    assert {f["name"] for f in files} == {f"{name}.site.json" for name in SITES} | {"signers.pem"}
    assert worker.once("check")
    assert anna.get(f"{API}{version}").json()["state"] == "valid"
    assert worker.once("report")
    report = only(light, StoredReport)
    results = anna.get(f"{API}/reports/{report.id}/results").json()
    found = [r for r in results["results"] if r["id"] == "advice_accuracy.sensitivity" and r["primary"]]
    positives = sum(_cases(data, 1) for data in five.files.values())
    assert found[0]["n"] == positives
    assert results["provenance"]["trustreport"] == __version__
    # Whoever downloads the version pools it again with the command line.
    keys = read_signers(anna.get(f"{API}{version}/files/signers.pem").text)
    assert keys == {signer.public: name for name, signer in five.signers.items()}
    # The same files again are the same version, and its report.
    again = post(anna, page, f"{page}/pool", format=["html"]).headers["location"]
    assert again == version
    assert not worker.once("report")
    # A later file of a site is another version: the report of it says that the others were seen before.
    with light.store.read() as rows:
        north = rows.query(InvitedSite).filter_by(name="North").one().id
    renewed = anna.post(f"{API}/invited-sites/{north}/link").json()["link"]
    assert Site(app, renewed).sends(five.later).status_code == 303
    newer = post(anna, page, f"{page}/pool", format=["html"]).headers["location"]
    assert newer != version
    assert worker.once("check")
    assert worker.once("report")
    first, second = sorted(stored(light, StoredReport), key=lambda one: one.created_at)
    assert first.facts["look"]["data"] != second.facts["look"]["data"]
    assert second.version == newer.rpartition("/")[2]
    fired = anna.get(f"{API}/reports/{second.id}/results").json()["checks"]
    (look,) = [c for c in fired if c["check"] == "P68"]
    assert (look["status"], "one earlier look" in look["message"]) == ("fired", True)
    said = [details for _, subject, details in log(light, "collaboration.pool") if subject == collaboration]
    assert [len(details["sites"]) for details in said] == [5, 5, 5]
    assert is_intact(light)


def _cases(data: bytes, truth: int) -> int:
    """Cases of one class that an envelope holds, counted from its payload."""
    said = json.loads(b64decode(json.loads(data)["payload"]))["predicate"]
    return sum(p["n"] for one in said["datasets"] for p in one["patterns"] if p["truth"] == truth)


def test_what_does_not_fit_is_refused_with_its_reason_and_not_kept(
    light: Core, app: FastAPI, anna: Client, collaboration: str, five: FiveSites
) -> None:
    north = five.signers["North"]
    name, link = invite(anna, collaboration, "North", key=north.public_pem)
    assert state(anna, collaboration, name) == "invited"
    site = Site(app, link)
    assert state(anna, collaboration, name) == "opened"
    forged = json.loads(five.files["North"])
    forged["payload"] = forged["payload"][:-8] + "AAAA" + forged["payload"][-4:]
    for data, reason, words in (
        (b"PK\x03\x04", "form", "It is not a file that trustreport site writes"),
        (b"[]", "form", "It is not a file that trustreport site writes"),
        (b"{" * 100_000, "form", "It is not a file that trustreport site writes"),
        (b'{"payload": 1}', "form", "It is not a file that trustreport site writes"),
        (five.unsigned, "unsigned", "It is not signed"),
        (five.files["South"], "key", "No signature in it is by the key of your site"),
        (five.other_lock, "lock", "the shared lock is"),
    ):
        refused = site.sends(data)
        assert (refused.status_code, words in words_of(refused)) == (422, True), (reason, refused.text[-900:])
        assert stored(light, SiteUpload) == []
        assert state(anna, collaboration, name) == "refused"
        assert log(light, "site.refuse")[-1][2] == {"reason": reason}
        assert words in get(anna, f"/collaborations/{collaboration}").words
    assert site.sends(json.dumps(forged).encode()).status_code == 422
    _other, link = invite(anna, collaboration, "South")
    wrong = Site(app, link).sends(five.files["North"], north.public_pem)
    assert "It is the file of “North”; this link is for “South”" in words_of(wrong)
    assert site.sends(five.files["North"]).status_code == 303
    assert state(anna, collaboration, name) == "accepted"
    again = site.sends(five.files["North"])
    assert (again.status_code, "Uploaded already" in again.text) == (409, True)
    later = site.sends(five.later)
    assert later.status_code == 303
    uploads = anna.get(f"{API}/invited-sites/{name}/uploads").json()["items"]
    assert [one["state"] for one in uploads] == ["accepted", "superseded"]
    assert len(log(light, "site.upload")) == 2
    assert log(light, "site.supersede")[0][2] == {"by": uploads[0]["id"]}
    # A refused file leaves what was accepted before.
    assert site.sends(five.other_lock).status_code == 422
    assert "The file that was accepted before remains." in get(anna, f"/collaborations/{collaboration}").words
    assert is_intact(light)


def test_a_key_that_nobody_registered_is_accepted_or_declined(
    light: Core, app: FastAPI, anna: Client, collaboration: str, five: FiveSites
) -> None:
    north = five.signers["North"]
    name, link = invite(anna, collaboration, "North")
    site = Site(app, link)
    for key in ("", "no key", five.signers["South"].public_pem):
        assert site.sends(five.files["North"], key).status_code == 422
    assert site.sends(five.files["North"], north.public_pem).status_code == 303
    (upload,) = anna.get(f"{API}/invited-sites/{name}/uploads").json()["items"]
    assert (upload["state"], upload["key"]) == ("uploaded", north.name)
    assert upload["facts"]["cases"] == {"external": 160}
    assert anna.post(f"{API}/collaborations/{collaboration}/pool", json={}).json()["title"] == "Too few sites"
    path = f"{API}/site-uploads/{upload['id']}"
    assert anna.post(f"{path}/refusal").json()["state"] == "declined"
    assert anna.post(f"{path}/acceptance").json()["title"] == "Nothing to decide"
    assert site.sends(five.files["North"], north.public_pem).status_code == 303
    (upload, _) = anna.get(f"{API}/invited-sites/{name}/uploads").json()["items"]
    assert anna.post(f"{API}/site-uploads/{upload['id']}/acceptance").json()["state"] == "accepted"
    assert only(light, InvitedSite).key
    # From now on it must be this key, and no other site may have it.
    taken = {"name": "South", "email": "s@s.test", "key": north.public_pem}
    refused = anna.post(f"{API}/collaborations/{collaboration}/sites", json=taken)
    assert (refused.status_code, refused.json()["title"]) == (409, "Key of another site")
    _, link = invite(anna, collaboration, "South")
    assert "Public key" in Site(app, link).page().words
    assert is_intact(light)


def test_links_expire_are_renewed_and_revoked(
    light: Core, app: FastAPI, anna: Client, bob: Client, collaboration: str, five: FiveSites
) -> None:
    name, link = invite(anna, collaboration, "North", days=1)
    stranger = Site(app, "x" * 43)
    assert stranger.answer.status_code == 404
    site = Site(app, link)
    assert site.answer.headers["cache-control"] == "no-store"
    assert stranger.http.get(site.path, headers=HTML).status_code == 404
    assert bob.get(site.path, headers=HTML).status_code == 404  # an account is no link
    kept = only(light, InvitedSite).hash
    assert kept
    assert link.rpartition("#")[2] not in kept
    _other, second = invite(anna, collaboration, "South")
    there = Site(app, second)
    crossed = site.http.get(there.path, headers=HTML)
    assert crossed.status_code == 404  # of another site, whose cookie this browser does not have
    with light.store.write() as rows:
        rows.get_one(InvitedSite, name).expires_at = 1
    assert site.http.get(site.path, headers=HTML).status_code == 404
    assert state(anna, collaboration, name) == "expired"
    renewed = anna.post(f"{API}/invited-sites/{name}/link").json()["link"]
    assert Site(app, link).answer.status_code == 404  # the first one works no more
    again = Site(app, renewed)
    assert again.sends(five.files["North"], five.signers["North"].public_pem).status_code == 303
    assert anna.delete(f"{API}/invited-sites/{name}").status_code == 204
    assert again.http.get(again.path, headers=HTML).status_code == 404
    assert again.http.post(f"{again.path}/file", headers=HTML).status_code == 403
    assert state(anna, collaboration, name) == "revoked"
    assert anna.post(f"{API}/invited-sites/{name}/link").status_code == 409
    with light.store.write() as rows:
        rows.query(User).filter_by(id=anna.me["user"]).update({User.disabled_at: 1})
    assert there.http.get(there.path, headers=HTML).status_code == 404  # whoever invited has left
    assert is_intact(light)


def test_large_files_are_taken_from_sites_and_nobody_else(
    light: Core, app: FastAPI, anna: Client, collaboration: str, five: FiveSites
) -> None:
    _, link = invite(anna, collaboration, "North", key=five.signers["North"].public_pem)
    site = Site(app, link)
    padded = five.files["North"] + b" " * 200_000
    assert site.sends(padded).status_code == 303
    form = [("files", ("a.site.json", padded))]
    stranger = TestClient(app, base_url="https://testserver", raise_server_exceptions=False)
    for path in (f"{site.path}/file", f"/site/{'0' * 26}/file"):
        refused = stranger.post(path, files=form, headers=HTML, follow_redirects=False)
        assert (refused.status_code, refused.headers["location"]) == (303, "/sign-in")  # nothing was read
    for given in ({}, {"csrf": "0" * 64}):
        forged = site.http.post(f"{site.path}/file", data=given, files=form, headers=HTML)
        assert forged.status_code == 403
    elsewhere = {**HTML, "Sec-Fetch-Site": "cross-site"}
    assert site.http.post(f"{site.path}/file", files=form, headers=elsewhere).status_code == 403
    assert len(stored(light, SiteUpload)) == 1
    assert site.sends(b" " * 17_000_000).status_code == 413


def test_a_link_goes_by_mail_and_nowhere_else(
    light: Core, anna: Client, collaboration: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(light.settings), "sends_mail", property(lambda self: True))
    monkeypatch.setattr(mail, "_send", lambda settings, message: sent.append(message))
    object.__setattr__(light.settings, "mail_from", "t@hospital.test")
    sent: list[Any] = []
    name, link = invite(anna, collaboration, "North")
    assert link is None
    assert only(light, InvitedSite).hash is None
    assert mail.send_next(light)
    (message,) = sent
    assert message["To"] == '"North" <data@0.test>' or "data@0.test" in message["To"]
    (secret,) = re.findall(r"/site#([\w-]+)", message.get_content())
    assert only(light, Mail).address == ""
    assert Site(anna.app, secret).answer.status_code == 303
    assert log(light, "mail.sent")[0][1] == name
    invite(anna, collaboration, "South")
    with light.store.write() as rows:
        retention.remove(rows, rows.query(StoredStudy).one(), "x")
    assert mail.send_next(light)
    assert len(sent) == 1
    assert only(light, Mail, reason="the account is closed").failed_at


def test_roles_and_names_of_sites(
    light: Core, anna: Client, study: str, collaboration: str, five: FiveSites
) -> None:
    path = f"{API}/collaborations/{collaboration}"
    for name in ("", "a/b", 'a"b', "$(id)", ".hidden", "a:b", "a\u202eb", "x" * 101):
        wanted = {"name": name, "email": "a@a.test"}
        assert anna.post(f"{path}/sites", json=wanted).status_code == 422, name
    invite(anna, collaboration, "North")
    same = anna.post(f"{path}/sites", json={"name": "NORTH", "email": "a@a.test"})
    assert (same.status_code, same.json()["title"]) == (409, "Invited already")
    reader = anna.invite("reader@hospital.test", "viewer")
    assert reader.get(path).status_code == 200
    assert reader.post(f"{path}/sites", json={"name": "South", "email": "a@a.test"}).status_code == 403
    assert reader.post(f"{path}/pool", json={}).status_code == 403
    shown = get(reader, f"/collaborations/{collaboration}")
    assert [f["action"] for f in shown.forms if f["method"] == "post"] == ["/sign-out", "/language"]
    for manifest, lock, why in (
        (five.manifest.replace(b"0.55", b"0.45"), five.lock, "Lock and manifest differ"),
        (five.manifest, b"{}", "No lock"),
        (b"a: [", five.lock, "No lock"),
    ):
        files = [("files", ("study.yaml", manifest)), ("files", ("criteria.lock.json", lock))]
        assert anna.post(f"{API}/studies/{study}/versions", files=files).status_code == 202
        assert WorkerThread(light, "worker").once("check")
        made = anna.post(f"{API}/studies/{study}/collaborations", json={"title": "x"})
        assert (made.status_code, made.json()["title"]) == (409, why)
    bare = anna.study("No lock")
    made = anna.post(f"{API}/studies/{bare}/collaborations", json={"title": "x"})
    assert (made.status_code, made.json()["title"]) == (409, "No lock")


def test_a_file_is_read_in_the_limited_process(
    app: FastAPI, anna: Client, collaboration: str, five: FiveSites, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editor_run, "run", limited.run)
    _, link = invite(anna, collaboration, "North", key=five.signers["North"].public_pem)
    site = Site(app, link)
    refused = site.sends(five.files["South"])
    assert "No signature in it is by the key of your site" in words_of(refused)
    assert site.sends(five.files["North"]).status_code == 303


def test_files_that_do_not_fit_together_are_problems_of_the_version(
    light: Core,
    app: FastAPI,
    anna: Client,
    collaboration: str,
    five: FiveSites,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    north, south = five.signers["North"], five.signers["South"]
    _, link = invite(anna, collaboration, "North", key=north.public_pem)
    assert Site(app, link).sends(five.files["North"]).status_code == 303
    _, link = invite(anna, collaboration, "South", key=south.public_pem)
    assert Site(app, link).sends(five.older).status_code == 303
    monkeypatch.setattr(type(light.settings), "sends_mail", property(lambda self: True))
    object.__setattr__(light.settings, "mail_from", "t@hospital.test")
    version = anna.post(f"{API}/collaborations/{collaboration}/pool", json={}).json()["id"]
    assert WorkerThread(light, "worker").once("check")
    assert anna.get(f"{API}/versions/{version}").json()["state"] == "invalid"
    with light.store.write() as rows:
        message = mail.compose(rows, light.settings, rows.query(Mail).filter_by(kind="pool_failed").one())
    assert message is not None
    assert f"/versions/{version}" in message.get_content()
    (problem,) = anna.get(f"{API}/versions/{version}/problems").json()["items"]
    assert "used trustreport 0.0.1" in problem["found"]
    assert stored(light, Job, task="report") == []


def test_a_restored_copy_has_no_open_links_and_new_files_postpone_removal(
    light: Core, app: FastAPI, anna: Client, collaboration: str, five: FiveSites, tmp_path: Path
) -> None:
    name, link = invite(anna, collaboration, "North", key=five.signers["North"].public_pem)
    assert Site(app, link).sends(five.files["North"]).status_code == 303
    backup(light.settings, tmp_path / "b.tar.gz")
    settings = Settings(tmp_path / "restored", requests_a_minute=1_000_000)
    assert all(not chain.faults for chain in restore(settings, tmp_path / "b.tar.gz"))
    again = open_core(settings)
    kept = only(again, SiteUpload)
    assert again.blobs.read(kept.organisation, kept.sha256) == five.files["North"]
    copy = create_app(again)
    assert Site(copy, link).answer.status_code == 404
    there = Client.logged_in(copy, "anna@hospital.test")
    renewed = there.post(f"{API}/invited-sites/{name}/link").json()["link"]
    assert Site(copy, renewed).answer.status_code == 303
    again.close()
    day = 86_400_000
    with light.store.write() as rows:
        organisation = rows.query(Organisation).one()
        organisation.retention = {"days": 10}
        at = rows.query(SiteUpload).one().created_at
        for model in (StoredStudy, Version, StoredCollaboration):
            rows.query(model).update({model.created_at: at - 20 * day})
        until = at + 9 * day
        assert retention.expiries(rows, organisation.id, until=until) == []
        ((_, over),) = retention.expiries(rows, organisation.id, until=at + 11 * day)
        assert over == at + 10 * day


def test_either_database_keeps_and_removes_all_of_it(core: Core, five: FiveSites) -> None:
    app = create_app(core)
    anna = Client.set_up(app, core)
    study = anna.study("Five hospitals")
    files = [("files", ("study.yaml", five.manifest)), ("files", ("criteria.lock.json", five.lock))]
    assert anna.post(f"{API}/studies/{study}/versions", files=files).status_code == 202
    worker = WorkerThread(core, "worker")
    assert worker.once("check")
    made = anna.post(f"{API}/studies/{study}/collaborations", json={"title": "x"}).json()["id"]
    for name in ("North", "South"):
        _, link = invite(anna, made, name, key=five.signers[name].public_pem)
        assert Site(app, link).sends(five.files[name]).status_code == 303
    _, link = invite(anna, made, "East")
    site = Site(app, link)
    assert site.sends(five.files["East"], five.signers["East"].public_pem).status_code == 303
    assert anna.post(f"{API}/collaborations/{made}/pool", json={"formats": ["json"]}).status_code == 202
    assert worker.once("check")
    assert worker.once("report")
    assert is_intact(core)
    with core.store.write() as rows:
        retention.remove(rows, rows.query(StoredStudy).one(), "x")
    for model in (StoredCollaboration, InvitedSite, SiteUpload, StoredReport):
        assert stored(core, model) == []
    assert site.http.get(site.path, headers=HTML).status_code == 404
    assert is_intact(core)


def test_all_of_it_goes_with_its_study(
    light: Core, app: FastAPI, anna: Client, collaboration: str, five: FiveSites
) -> None:
    _, link = invite(anna, collaboration, "North", key=five.signers["North"].public_pem)
    assert Site(app, link).sends(five.files["North"]).status_code == 303
    sha256 = only(light, SiteUpload).sha256
    retention.sweep(light.store, light.blobs, older=0)
    assert light.blobs.path(anna.me["organisation"], sha256).is_file()  # the row names the file
    with light.store.write() as rows:
        retention.remove(rows, rows.query(StoredStudy).one(), "x")
    for model in (StoredCollaboration, InvitedSite, SiteUpload):
        assert stored(light, model) == []
    assert sha256 in {one.sha256 for one in stored(light, Removal)}
    assert is_intact(light)
