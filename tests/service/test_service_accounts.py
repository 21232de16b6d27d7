"""Who gets in, and what they may do."""

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from services import API, PASSWORD, Client, only, world

from trustreport.service.access.guard import CSRF_HEADER
from trustreport.service.access.principal import COOKIE
from trustreport.service.core import Core
from trustreport.service.server import setup_link
from trustreport.service.storage.models import Token


def test_the_setup_link_works_once(anonymous: TestClient, light: Core) -> None:
    old, link = setup_link(light), setup_link(light)
    asked = {"organisation": "H", "email": "a@h.test", "name": "A", "password": PASSWORD}

    def use(link: str) -> int:
        return anonymous.post(f"{API}/setup", json={**asked, "link": link.split("#")[1]}).status_code

    assert use("x#guess") == 403
    assert use(old) == 403  # a new start, a new link
    assert use(link) == 201
    assert use(link) == 403
    assert setup_link(light) == ""


def test_an_invitation_gives_a_password_and_works_once(app: FastAPI, anna: Client) -> None:
    made = anna.post(
        f"{API}/users", json={"email": "V@Hospital.test", "name": "V", "roles": ["viewer"]}
    ).json()
    assert made["user"]["email"] == "v@hospital.test"
    assert not made["user"]["active"]
    link = {"link": made["invitation"], "password": PASSWORD}
    anonymous = Client.on(app)
    assert anonymous.post(f"{API}/invitations", json={**link, "password": "short"}).status_code == 422
    assert anonymous.post(f"{API}/invitations", json=link).status_code == 201
    assert anonymous.post(f"{API}/invitations", json=link).status_code == 403
    assert Client.logged_in(app, "v@hospital.test").me["permissions"] == ["read"]


@pytest.mark.parametrize(
    "role, may",
    [
        ("viewer", {"read"}),
        ("author", {"read", "write"}),
        ("reviewer", {"read", "review"}),
        ("approver", {"read", "review", "approve"}),
        ("admin", {"read", "manage"}),
    ],
)
def test_a_role_may_what_it_may_and_no_more(light: Core, anna: Client, role: str, may: set[str]) -> None:
    names, other = world(light, anna), world(light, anna)  # nobody gives both to one
    user = anna.invite(f"{role}@h.test", role)
    signing = {"act": "approval", "meaning": "Approved", "password": PASSWORD}
    tried = {
        "read": user.get(f"{API}/studies"),
        "write": user.post(f"{API}/studies", json={"name": "S"}),
        "review": user.post(
            f"{API}/reports/{names['report']}/attestations", json={**signing, "act": "review"}
        ),
        "approve": user.post(f"{API}/reports/{other['report']}/attestations", json=signing),
        "manage": user.get(f"{API}/audit"),
    }
    assert {what for what, answer in tried.items() if answer.status_code < 400} == may
    assert {answer.status_code for what, answer in tried.items() if what not in may} <= {403}


def test_a_token_may_what_its_scopes_and_its_user_may(app: FastAPI, light: Core, anna: Client) -> None:
    author = anna.invite("author@h.test", "author")
    assert author.post(f"{API}/tokens", json={"name": "t", "scopes": ["manage"]}).status_code == 403
    made = author.post(f"{API}/tokens", json={"name": "t", "scopes": ["read", "write"], "days": 1}).json()
    kept = only(light, Token, id=made["token"]["id"])
    assert made["secret"] not in repr(vars(kept))

    robot = TestClient(
        app, base_url="https://testserver", headers={"Authorization": f"Bearer {made['secret']}"}
    )
    assert (
        robot.post(f"{API}/studies", json={"name": "S"}).status_code == 201
    )  # no CSRF token: no cookie either
    assert robot.get(f"{API}/session").json()["permissions"] == ["read", "write"]
    assert robot.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]}).status_code == 403

    anna.patch(f"{API}/users/{author.me['user']}", json={"roles": ["viewer"]})
    assert robot.post(f"{API}/studies", json={"name": "S"}).status_code == 403
    assert robot.get(f"{API}/studies").status_code == 200
    assert anna.delete(f"{API}/tokens/{made['token']['id']}").status_code == 204
    assert robot.get(f"{API}/studies").status_code == 401


def test_an_expired_token_is_nobody(app: FastAPI, light: Core, anna: Client) -> None:
    made = anna.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"], "days": 1}).json()
    with light.store.write() as rows:
        rows.get_one(Token, made["token"]["id"]).expires_at = 1
    robot = TestClient(app, headers={"Authorization": f"Bearer {made['secret']}"})
    assert robot.get(f"{API}/studies").status_code == 401


def test_a_disabled_user_is_out_at_once(app: FastAPI, anna: Client) -> None:
    user = anna.invite("u@h.test", "author")
    assert anna.patch(f"{API}/users/{user.me['user']}", json={"disabled": True}).json()["active"] is False
    assert user.get(f"{API}/studies").status_code == 401
    again = Client.on(app).post(f"{API}/session", json={"email": "u@h.test", "password": PASSWORD})
    assert again.status_code == 401
    assert anna.patch(f"{API}/users/{anna.me['user']}", json={"disabled": True}).status_code == 409


def test_a_new_password_ends_all_other_sessions(app: FastAPI, anna: Client) -> None:
    elsewhere = Client.logged_in(app, "anna@hospital.test")
    new = "another horse battery"
    wrong = anna.post(f"{API}/account/password", json={"old": "not it, sorry", "new": new})
    assert wrong.status_code == 403
    assert anna.post(f"{API}/account/password", json={"old": PASSWORD, "new": new}).status_code == 204
    assert elsewhere.get(f"{API}/session").status_code == 401
    assert anna.get(f"{API}/session").status_code == 200
    assert Client.logged_in(app, "anna@hospital.test", new).me["email"] == "anna@hospital.test"


def test_a_session_ends_with_logout_and_with_idleness(app: FastAPI, light: Core, anna: Client) -> None:
    from trustreport.service.storage.models import Session

    other = Client.logged_in(app, "anna@hospital.test")
    cookie = other.cookies[COOKIE]
    assert other.delete(f"{API}/session").status_code == 204
    stolen = TestClient(app, base_url="https://testserver", cookies={COOKIE: cookie})
    assert stolen.get(f"{API}/session").status_code == 401
    with light.store.write() as rows:
        rows.query(Session).update({Session.seen_at: Session.seen_at - 61 * 60_000})
    assert anna.get(f"{API}/session").status_code == 401


def test_only_an_operator_founds_organisations(anna: Client, bob: Client) -> None:
    asked = {"name": "Third", "admin_email": "c@c.test", "admin_name": "C"}
    assert bob.post(f"{API}/organisations", json=asked).status_code == 403
    assert anna.post(f"{API}/organisations", json={**asked, "name": "Other hospital"}).status_code == 409
    assert anna.get(f"{API}/organisation").json()["name"] == "Hospital"
    assert bob.get(f"{API}/organisation").json()["name"] == "Other hospital"


def test_what_accounts_do_is_on_record(anna: Client) -> None:
    anna.invite("u@h.test", "viewer")
    actions = [entry["action"] for entry in anna.get(f"{API}/audit").json()["items"]]
    assert actions == ["login", "user.password", "user.add", "login", "user.add", "organisation.found"]
    assert anna.get(f"{API}/audit/verification").json()["faults"] == []


def test_lists_come_in_pages(anna: Client) -> None:
    made = [anna.study(f"Study {i}") for i in range(5)]
    seen: list[str] = []
    after = None
    for _ in range(3):
        page = anna.get(f"{API}/studies", params={"limit": 2, **({"after": after} if after else {})}).json()
        seen += [item["id"] for item in page["items"]]
        after = page["next"]
    assert (sorted(seen), after) == (sorted(made), None)
    numbers = []
    after = None
    while True:
        page = anna.get(f"{API}/audit", params={"limit": 3, **({"after": after} if after else {})}).json()
        numbers += [entry["number"] for entry in page["items"]]
        if (after := page["next"]) is None:
            break
    assert numbers == list(range(len(numbers), 0, -1))


def test_sessions_need_their_token_to_change_anything(anna: Client) -> None:
    token = anna.headers.pop(CSRF_HEADER)
    assert anna.get(f"{API}/studies").status_code == 200
    assert anna.post(f"{API}/studies", json={"name": "S"}).status_code == 403
    wrong = {CSRF_HEADER: token[:-1] + ("0" if token[-1] != "0" else "1")}
    assert anna.post(f"{API}/studies", json={"name": "S"}, headers=wrong).status_code == 403
    assert anna.post(f"{API}/studies", json={"name": "S"}, headers={CSRF_HEADER: token}).status_code == 201
