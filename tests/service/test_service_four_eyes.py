"""A report has the signatures of several people, whoever has the links of whose accounts."""

import json
from typing import Any

import pytest
from fastapi import FastAPI
from pages import get, post
from services import API, PASSWORD, Client, world

from trustreport.service.core import Core
from trustreport.service.storage.models import Audit, StoredReport, User

NEW = "another horse battery"


def signed(client: Client, report: str, act: str = "approval", password: str = PASSWORD) -> Any:
    said = {"act": act, "meaning": "Complete.", "password": password}
    return client.post(f"{API}/reports/{report}/attestations", json=said)


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
    with light.store.read() as rows:
        said = [(e.actor, e.action) for e in rows.query(Audit).filter_by(subject=carl.me["user"])]
    assert (eve.me["user"], "user.confirm") in said


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
    with light.store.read() as rows:
        assert rows.get_one(User, carl.me["user"]).confirmed_by == eve.me["user"]


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
    assert signed(carl, report, first).status_code == 201
    assert signed(dora, report, second).status_code == 201
    assert signed(carl, report, "rejection").status_code == 201
