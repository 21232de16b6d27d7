"""A report has the signatures of several people, whoever has the links of whose accounts."""

import io
import json
from functools import partial
from typing import Any

import pytest
from acts import RESULTS, approves, log, world_to_see
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pages import get, post
from services import API, MANIFEST, PASSWORD, Client, at_once, only, stored, world

from trustreport.service.access import accounts
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.jobs import schedules
from trustreport.service.storage.models import (
    Attestation,
    Audit,
    Job,
    StoredReport,
    User,
    Version,
    VersionFile,
)

NEW = "another horse battery"
OUTSIDE = "The link to an account that signed this report was shown to a person who prepared it."


def signed(client: Client, report: str, act: str = "approval", password: str = PASSWORD) -> Any:
    return client.signs(report, act, "Complete.", password)


def reset(app: FastAPI, admin: Client, user: str) -> Client:
    """Whoever has the link that an administrator made, logged in as the user."""
    link = admin.post(f"{API}/users/{user}/invitation").json()["invitation"]
    client = Client.on(app)
    client._came_in(client.post(f"{API}/invitations", json={"link": link, "password": NEW}))
    return client


@pytest.fixture
def report(light: Core, anna: Client) -> str:
    return world(light, anna)["report"]


def test_an_administrator_cannot_sign_as_somebody_else(
    light: Core, app: FastAPI, anna: Client, report: str
) -> None:
    carl = anna.invite("carl@hospital.test", "approver")
    dora = anna.invite("dora@hospital.test", "viewer")
    eve = anna.invite("eve@hospital.test", "reviewer")
    impostor = reset(app, anna, carl.me["user"])
    for act in ("review", "approval", "rejection"):
        refused = signed(impostor, report, act, NEW)
        assert (refused.status_code, refused.json()["title"]) == (403, "Not confirmed"), refused.text
    path = f"{API}/users/{carl.me['user']}/confirmation"
    # Not the one with the link, the account itself, who was invited after the reset, or a viewer.
    fay = anna.invite("fay@hospital.test", "approver", "admin")
    for client in (anna, impostor, fay, dora):
        assert client.post(path).status_code == 403, client.me["email"]
    # An account that is not confirmed makes no links and confirms nobody.
    other = reset(app, anna, fay.me["user"])
    assert other.post(f"{API}/users/{eve.me['user']}/invitation").status_code == 403
    new = {"email": "g@h.test", "name": "G", "roles": ["approver"]}
    assert other.post(f"{API}/users", json=new).status_code == 403
    # Changing the password oneself changes nothing.
    changed = {"old": NEW, "new": PASSWORD}
    assert impostor.post(f"{API}/account/password", json=changed).status_code == 204
    impostor = Client.logged_in(app, "carl@hospital.test")
    assert signed(impostor, report).json()["title"] == "Not confirmed"
    assert eve.post(path).status_code == 204
    assert signed(impostor, report).status_code == 201
    assert eve.post(path).status_code == 409
    said = [(e.actor, e.action) for e in stored(light, Audit, subject=carl.me["user"])]
    assert (eve.me["user"], "user.confirm") in said


def test_an_invented_colleague_confirms_nobody_where_there_are_others(
    light: Core, app: FastAPI, anna: Client, report: str
) -> None:
    dora = anna.invite("dora@hospital.test", "admin")
    eve = dora.invite("eve@hospital.test", "reviewer")
    carl = anna.invite("carl@hospital.test", "approver")
    ghost = anna.invite("ghost@hospital.test", "approver")
    impostor = reset(app, anna, carl.me["user"])
    path = f"{API}/users/{carl.me['user']}/confirmation"
    assert ghost.post(path).status_code == 403
    assert f"/account/confirmations/{carl.me['user']}" not in get(ghost, "/account").links
    assert signed(impostor, report, "approval", NEW).status_code == 403
    assert eve.post(path).status_code == 204
    statement = signed(impostor, report, "approval", NEW).json()["id"]
    said = json.loads(anna.get(f"{API}/attestations/{statement}/statement").content)["account"]
    assert (said["confirmed_by"], said["confirmer_link_by"]) == (eve.me["user"], dora.me["user"])


def test_of_approvals_at_once_by_one_person_one_counts(core: Core) -> None:
    app = create_app(core)
    anna = Client.set_up(app, core)
    report = world(core, anna)["report"]
    anna.invite("carl@hospital.test", "approver")
    # A session each: a signature renews its own, and what comes with the old cookie is 401.
    windows = [Client.logged_in(app, "carl@hospital.test") for _ in range(6)]
    codes: list[int] = []
    at_once(*[partial(lambda one: codes.append(signed(one, report).status_code), one) for one in windows])
    assert sorted(codes) == [201, *[409] * 5]
    assert len(stored(core, Attestation, report=report)) == 1


def test_a_statement_says_how_its_signer_came_in(
    light: Core, app: FastAPI, anna: Client, report: str
) -> None:
    carl = anna.invite("carl@hospital.test", "approver")
    eve = anna.invite("eve@hospital.test", "reviewer")
    review = signed(carl, report, "rejection").json()["id"]
    said = json.loads(anna.get(f"{API}/attestations/{review}/statement").content)["account"]
    assert (said["link_by"], said["reset"], said["confirmed_by"]) == (anna.me["user"], False, None)
    carl = reset(app, anna, carl.me["user"])
    assert eve.post(f"{API}/users/{carl.me['user']}/confirmation").status_code == 204
    review = signed(carl, report, "rejection", NEW).json()["id"]
    said = json.loads(anna.get(f"{API}/attestations/{review}/statement").content)["account"]
    assert (said["link_by"], said["reset"], said["confirmed_by"]) == (
        anna.me["user"],
        True,
        eve.me["user"],
    )
    assert said["link_at"] > 1_700_000_000_000


def shared_page(app: FastAPI, client: Client, report: str) -> str:
    """What somebody from outside reads of a report."""
    link = client.post(f"{API}/reports/{report}/shares", json={}).json()["link"]
    stranger = TestClient(app, base_url="https://testserver")
    opened = post(stranger, "/shared", "/shared", link=link.partition("#")[2])
    return get(stranger, opened.headers["location"]).words


def test_an_account_that_only_its_maker_knows_is_named_beside_its_signature(
    light: Core, app: FastAPI, anna: Client
) -> None:
    """With one administrator and no mail server an invented colleague can sign; nobody can miss it."""
    report = world_to_see(light, anna)["report"]
    ghost = anna.invite("ghost@hospital.test", "approver")
    said = "The link to this account was shown to Anna, who prepared what is signed."
    assert signed(ghost, report).status_code == 201
    assert said in get(anna, f"/reports/{report}").words
    assert OUTSIDE in shared_page(app, anna, report)
    (signature,) = stored(light, Attestation)
    account = json.loads(light.blobs.read(signature.organisation, signature.sha256))["account"]
    assert (account["link_by"], account["link_shown"]) == (anna.me["user"], True)


def test_an_account_that_its_address_or_somebody_else_vouches_for_is_not(
    light: Core, app: FastAPI, anna: Client
) -> None:
    report = world_to_see(light, anna)["report"]
    said = "The link to this account was shown to"
    dora = anna.invite("dora@hospital.test", "admin")
    carl = dora.invite("carl@hospital.test", "approver")  # of whom Anna, who prepared it, had no link
    assert signed(carl, report).status_code == 201
    assert said not in get(anna, f"/reports/{report}").words
    assert OUTSIDE not in shared_page(app, anna, report)
    facts = {"link_by": "anna", "link_shown": True, "confirmed_by": None, "confirmer_link_by": None}
    known = [
        ({}, "anna"),
        ({"link_shown": False}, ""),  # it went by mail
        ({"link_by": "dora"}, ""),
        ({"issuer": "https://id.test"}, ""),
        ({"confirmed_by": "eve", "confirmer_link_by": "dora"}, ""),
        ({"confirmed_by": "ghost", "confirmer_link_by": "anna"}, "anna"),
    ]
    for more, alone in known:
        assert accounts.known_to_one_alone({**facts, **more}, {"anna"}) == alone, more


def test_an_invitation_that_nobody_took_up_is_no_reset(app: FastAPI, anna: Client, report: str) -> None:
    made = anna.post(f"{API}/users", json={"email": "c@h.test", "name": "C", "roles": ["approver"]}).json()
    carl = reset(app, anna, made["user"]["id"])
    assert signed(carl, report, password=NEW).status_code == 201


def test_the_pages_say_so_and_confirm(light: Core, app: FastAPI, anna: Client, report: str) -> None:
    carl = anna.invite("carl@hospital.test", "approver")
    eve = anna.invite("eve@hospital.test", "reviewer")
    carl = reset(app, anna, carl.me["user"])
    assert "password was reset" in get(carl, "/account").words
    assert "carl@hospital.test" not in get(anna, "/account").words  # she made the link
    done = post(eve, "/account", f"/users/{carl.me['user']}/confirmation")
    assert (done.status_code, done.headers["location"]) == (303, "/account?done=confirmed")
    assert "password was reset" not in get(carl, "/account").words
    assert only(light, User, id=carl.me["user"]).confirmed_by == eve.me["user"]


def test_confirming_needs_a_session_and_the_same_organisation(
    app: FastAPI, anna: Client, bob: Client
) -> None:
    carl = anna.invite("carl@hospital.test", "approver")
    reset(app, anna, carl.me["user"])
    path = f"{API}/users/{carl.me['user']}/confirmation"
    assert bob.post(path).status_code == 404
    eve = anna.invite("eve@hospital.test", "reviewer")
    token = eve.post(f"{API}/tokens", json={"name": "t", "scopes": ["review"]}).json()["secret"]
    robot = Client.on(app)
    assert robot.post(path, headers={"Authorization": f"Bearer {token}"}).status_code == 403


def test_who_prepared_the_data_does_not_approve(light: Core, app: FastAPI, anna: Client) -> None:
    """Also where a colleague asked for the report."""
    carl = anna.invite("carl@hospital.test", "author", "approver")
    names = world(light, carl)
    with light.store.write() as rows:
        rows.get_one(StoredReport, names["report"]).created_by = anna.me["user"]
    for act in ("review", "approval"):
        refused = signed(carl, names["report"], act)
        assert (refused.status_code, refused.json()["title"]) == (403, "Not one's own")
    assert signed(anna, names["report"], "approval").status_code == 403
    assert signed(carl, names["report"], "rejection").status_code == 201


@pytest.mark.parametrize("first, second", [("review", "approval"), ("approval", "review")])
def test_one_person_gives_either_review_or_approval(
    app: FastAPI, anna: Client, report: str, first: str, second: str
) -> None:
    carl = anna.invite("carl@hospital.test", "approver")
    dora = anna.invite("dora@hospital.test", "approver")
    assert signed(carl, report, first).status_code == 201
    refused = signed(carl, report, second)
    assert (refused.status_code, refused.json()["title"]) == (403, "Two people")
    again = signed(carl, report, first)
    assert (again.status_code, again.json()["title"]) == (409, "Signed already")
    assert signed(dora, report, second).status_code == 201
    assert signed(carl, report, "rejection").status_code == 201


def made_of(core: Core, version: str, made_by: Client, formats: Any = None) -> str:
    """A report of a version that somebody asked for, without computing it."""
    with core.store.write() as rows:
        row = rows.get_one(Version, version)
        row.state = "valid"
        for file in rows.query(VersionFile).filter_by(version=version):
            file.archive = False
    wanted = {"formats": formats or ["json"]}
    job = made_by.post(f"{API}/versions/{version}/jobs", json=wanted).json()
    blob = core.blobs.put(made_by.me["organisation"], io.BytesIO(RESULTS))
    with core.store.write() as rows:
        row = rows.get_one(Job, job["id"])
        report = StoredReport(
            id=new_id(),
            organisation=row.organisation,
            study=row.study,
            version=version,
            job=row.id,
            kind="certification",
            code="1",
            facts={},
            results_sha256=blob.sha256,
            created_by=row.created_by,
            created_at=row.created_at + 1000,
        )
        rows.add(report)
        row.state, row.report = "done", report.id
    return str(report.id)


@pytest.fixture
def carl(anna: Client) -> Client:
    return anna.invite("carl@hospital.test", "author", "approver")


def test_who_uploaded_the_data_does_not_approve(light: Core, anna: Client, carl: Client) -> None:
    version = carl.version(anna.study())
    assert approves(carl, made_of(light, version, anna)) == "Not one's own"


def test_who_uploaded_what_a_colleague_then_uploaded_does_not_approve(
    light: Core, anna: Client, carl: Client
) -> None:
    """The same file as another version, or in another study."""
    study = anna.study()
    carl.version(study, {"report": {}}, **{"readings.csv": "a,b\n1,2\n"})
    again = anna.version(study, MANIFEST, **{"readings.csv": "a,b\n1,2\n"})
    assert approves(carl, made_of(light, again, anna)) == "Not one's own"
    elsewhere = anna.version(anna.study(), MANIFEST, **{"other.csv": "a,b\n1,2\n"})
    assert approves(carl, made_of(light, elsewhere, anna)) == "Not one's own"
    other = anna.version(anna.study(), {**MANIFEST, "x": 1}, **{"readings.csv": "a,b\n3,4\n"})
    assert approves(carl, made_of(light, other, anna)) == "signed"


def test_who_wrote_the_manifest_does_not_approve(light: Core, anna: Client, carl: Client) -> None:
    study = anna.study()
    carl.version(study, MANIFEST, **{"readings.csv": "wrong"})
    version = anna.version(study, MANIFEST, **{"readings.csv": "right"})
    assert approves(carl, made_of(light, version, anna)) == "Not one's own"


def test_who_made_what_a_colleague_corrected_does_not_approve(
    light: Core, anna: Client, carl: Client
) -> None:
    """Also where no file is the same any more, and over several corrections."""
    version = carl.version(anna.study(), MANIFEST)
    for n in range(2):
        with light.store.write() as rows:
            row = rows.get_one(Version, version)
            row.state, row.problems = "invalid", [{"file": "study.json", "found": "x"}]
        page = f"/versions/{version}"
        sent = [("file-0", ("study.json", json.dumps({**MANIFEST, "n": n})))]
        answer = post(anna, page, f"{page}/correction", sent)
        assert answer.status_code == 303, answer.text
        version = answer.headers["location"].rpartition("/")[2]
    report = made_of(light, version, anna)
    assert approves(carl, report) == "Not one's own"
    dora = anna.invite("dora@hospital.test", "approver")
    assert approves(dora, report) == "signed"
    statement = json.loads(
        dora.get(
            f"{API}/attestations/{dora.get(f'{API}/reports/{report}/attestations').json()['items'][0]['id']}/statement"
        ).content
    )
    assert statement["prepared_by"] == sorted((anna.me["user"], carl.me["user"]))


@pytest.mark.parametrize("by", ["api", "page"])
def test_who_asked_for_a_report_after_a_colleague_does_not_approve(
    light: Core, anna: Client, carl: Client, by: str
) -> None:
    """The second to press the button gets the report of the first, and has asked for it too."""
    version = anna.version(anna.study())
    report = made_of(light, version, anna)
    if by == "api":
        assert carl.post(f"{API}/versions/{version}/jobs", json={"formats": ["json"]}).status_code == 200
    else:
        page = f"/versions/{version}"
        assert post(carl, page, f"{page}/jobs", format=["json"]).status_code == 303
    assert approves(carl, report) == "Not one's own"
    asked = [actor for actor, subject, _ in log(light, "job.ask") if subject == job_of(anna, report)]
    assert asked == [anna.me["user"], carl.me["user"]]
    assert named_preparers(anna, report) == {"Anna", "carl@hospital.test"}


def job_of(client: Client, report: str) -> str:
    return str(client.get(f"{API}/reports/{report}").json()["job"])


def named_preparers(client: Client, report: str) -> set[str]:
    words = get(client, f"/reports/{report}").words
    return {name for name in ("Anna", "carl@hospital.test") if name in words.split("Prepared by")[1]}


def test_who_asked_for_an_attempt_that_failed_does_not_approve(
    light: Core, anna: Client, carl: Client
) -> None:
    version = anna.version(anna.study())
    with light.store.write() as rows:
        rows.get_one(Version, version).state = "valid"
    job = carl.post(f"{API}/versions/{version}/jobs", json={"formats": ["json"]}).json()["id"]
    assert carl.post(f"{API}/jobs/{job}/cancel").json()["state"] == "cancelled"
    assert approves(carl, made_of(light, version, anna)) == "Not one's own"


def test_who_scheduled_an_audit_does_not_approve_it(light: Core, anna: Client, carl: Client) -> None:
    study = anna.study()
    version = anna.version(study)
    with light.store.write() as rows:
        rows.get_one(Version, version).state = "valid"
    assert carl.post(f"{API}/schedules", json={"study": study, "every_days": 1}).status_code == 201
    schedules.tend(light)
    wishes = only(light, Job, task="report").wishes
    report = made_of(light, version, anna, wishes["formats"])
    assert only(light, StoredReport, id=report).created_by == carl.me["user"]
    assert approves(carl, report) == "Not one's own"
