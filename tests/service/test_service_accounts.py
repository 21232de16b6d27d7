"""Who gets in and what they may do; guesses, sessions, and where a request comes from."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from pages import HTML, get, post
from services import API, PASSWORD, Client, new_core, only, stored, world

from trustreport.service.access import secrets
from trustreport.service.access.guard import CSRF_HEADER, address_of
from trustreport.service.access.principal import COOKIE
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.server import server_config, setup_link
from trustreport.service.storage.models import KnownBrowser, Token


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
    tried = {
        "read": user.get(f"{API}/studies"),
        "write": user.post(f"{API}/studies", json={"name": "S"}),
        "review": user.signs(names["report"]),
        "approve": user.signs(other["report"], "approval"),
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


LIMIT = 4
ANNA = "anna@hospital.test"
WRONG = "wrong, wrong, wrong"
HOME, NAT, ELSEWHERE = "203.0.113.1", "203.0.113.2", "203.0.113.3"


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Core]:
    """A service that lets few passwords be tried in a minute, behind one proxy."""
    core = new_core(tmp_path / "data", logins_a_minute=LIMIT, proxies=1)
    yield core
    core.close()


@pytest.fixture
def guarded(slow: Core) -> FastAPI:
    app = create_app(slow)
    Client.set_up(app, slow)
    return app


def tried(app: FastAPI, email: str, password: str, address: str, client: Client | None = None) -> int:
    asked = {"email": email, "password": password}
    client = client or Client.on(app)
    return client.post(f"{API}/session", json=asked, headers={"X-Forwarded-For": address}).status_code


def test_guesses_are_counted_before_they_are_tried(guarded: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """OWASP ASVS 5.0, V6.3.1: guesses sent at once are not more guesses than one after the other."""
    hashing = threading.Lock()
    at_once, most, done = 0, 0, 0
    verify = secrets._hasher.verify

    class Slow:
        def verify(self, *given: Any) -> bool:
            nonlocal at_once, most, done
            with hashing:
                at_once, done = at_once + 1, done + 1
                most = max(most, at_once)
            time.sleep(0.05)
            with hashing:
                at_once -= 1
            return bool(verify(*given))

    monkeypatch.setattr(secrets, "_hasher", Slow())
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: tried(guarded, ANNA, WRONG, HOME), range(20)))
    assert sorted(set(answers)) == [401, 429]
    assert (answers.count(401), done) == (LIMIT, LIMIT)
    # Other accounts, other addresses: no more hashes at once than there are slots.
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda i: tried(guarded, f"u{i}@h.test", WRONG, f"198.51.100.{i}"), range(12)))
    assert most <= secrets.HASHES


def test_too_many_hashes_at_once_are_refused_in_words(monkeypatch: pytest.MonkeyPatch, anna: Client) -> None:
    taken = [secrets._room.acquire(blocking=False) for _ in range(secrets.HASHES + secrets.WAITING)]
    try:
        answer = Client.on(anna.app).post(f"{API}/session", json={"email": ANNA, "password": WRONG})
    finally:
        for _ in taken:
            secrets._room.release()
    assert (answer.status_code, answer.json()["title"]) == (503, "Busy")
    assert int(answer.headers["retry-after"]) > 0


def test_successes_are_not_counted(guarded: FastAPI) -> None:
    assert {tried(guarded, ANNA, PASSWORD, HOME) for _ in range(3 * LIMIT)} == {201}


def test_an_owner_is_not_locked_out_by_guesses_from_elsewhere(guarded: FastAPI) -> None:
    known = Client.on(guarded)
    assert tried(guarded, ANNA, PASSWORD, HOME, known) == 201
    assert [tried(guarded, ANNA, WRONG, ELSEWHERE) for _ in range(LIMIT + 1)] == [401] * LIMIT + [429]
    assert tried(guarded, ANNA, PASSWORD, HOME) == 201  # a new browser at another address
    assert tried(guarded, ANNA, PASSWORD, ELSEWHERE) == 429  # where the guesses came from
    assert tried(guarded, ANNA, PASSWORD, ELSEWHERE, known) == 201
    # From ever new addresses, the account closes to browsers that it has never seen, and to no other.
    guesses = [tried(guarded, ANNA, WRONG, f"198.51.100.{i}") for i in range(11 * LIMIT)]
    assert guesses.count(401) < 10 * LIMIT
    assert tried(guarded, ANNA, PASSWORD, HOME) == 429
    assert tried(guarded, ANNA, PASSWORD, HOME, known) == 201


def test_a_known_browser_may_not_guess_either(guarded: FastAPI) -> None:
    known = Client.on(guarded)
    assert tried(guarded, ANNA, PASSWORD, HOME, known) == 201
    assert [tried(guarded, ANNA, WRONG, HOME, known) for _ in range(LIMIT + 1)] == [401] * LIMIT + [429]
    assert tried(guarded, "other@hospital.test", WRONG, HOME, known) == 401  # known to one account alone


def test_one_person_does_not_lock_out_everybody_behind_the_same_address(slow: Core, guarded: FastAPI) -> None:
    anna = Client.logged_in(guarded, ANNA)
    user = anna.invite("user@hospital.test", "viewer")
    for i in range(3 * LIMIT):
        assert tried(guarded, f"nobody{i}@hospital.test", WRONG, NAT) == 401
    assert tried(guarded, "user@hospital.test", PASSWORD, NAT) == 201
    for i in range(8 * LIMIT):  # somebody who goes on and on
        last = tried(guarded, f"someone{i}@hospital.test", WRONG, NAT)
    assert last == 429
    assert tried(guarded, "user@hospital.test", PASSWORD, NAT) == 429  # a browser that nobody knows
    assert tried(guarded, "user@hospital.test", PASSWORD, NAT, user) == 201
    with slow.store.write() as rows:  # a known browser is that for half a year
        rows.query(KnownBrowser).update({KnownBrowser.expires_at: 1})
    assert tried(guarded, "user@hospital.test", PASSWORD, NAT, user) == 429


def test_guesses_of_others_do_not_keep_one_from_signing(slow: Core, guarded: FastAPI) -> None:
    anna = Client.logged_in(guarded, ANNA)
    names = world(slow, anna)
    for i in range(11 * LIMIT):
        tried(guarded, ANNA, WRONG, f"198.51.100.{i}")
    signing = {"act": "rejection", "meaning": "No.", "password": PASSWORD}
    path = f"{API}/reports/{names['report']}/attestations"
    assert anna.post(path, json=signing).status_code == 201
    wrong = [anna.post(path, json={**signing, "password": WRONG}).status_code for _ in range(LIMIT + 1)]
    assert wrong == [403] * LIMIT + [429]


def test_a_flood_from_one_address_leaves_the_page_to_known_browsers(tmp_path: Path) -> None:
    core = new_core(tmp_path / "data", requests_a_minute=30, proxies=1)
    app = create_app(core)
    Client.set_up(app, core)
    known = Client.logged_in(app, ANNA)
    known.delete(f"{API}/session")
    from_nat = {"X-Forwarded-For": NAT, "Accept": "text/html"}
    stranger = Client.on(app)
    assert {stranger.get("/sign-in", headers=from_nat).status_code for _ in range(40)} == {200, 429}
    assert known.get("/sign-in", headers=from_nat).status_code == 200
    core.close()


def test_a_new_password_forgets_the_browsers(slow: Core, guarded: FastAPI) -> None:
    other = Client.logged_in(guarded, ANNA)
    anna = Client.logged_in(guarded, ANNA)
    new = "another horse battery"
    assert anna.post(f"{API}/account/password", json={"old": PASSWORD, "new": new}).status_code == 204
    assert len(stored(slow, KnownBrowser)) == 1
    assert other.get(f"{API}/session").status_code == 401


def test_v7_5_2_sessions_are_listed_and_the_others_ended(app: FastAPI, anna: Client, bob: Client) -> None:
    other, third = Client.logged_in(app, ANNA), Client.logged_in(app, ANNA)
    listed = anna.get(f"{API}/sessions").json()["items"]
    assert [s["current"] for s in listed].count(True) == 1
    assert len(listed) == 3
    shown = {"id", "created_at", "seen_at", "expires_at", "address", "browser", "how", "current"}
    assert all(set(s) == shown for s in listed)
    assert anna.delete(f"{API}/sessions").status_code == 204
    assert [c.get(f"{API}/session").status_code for c in (anna, other, third, bob)] == [200, 401, 401, 200]
    assert len(anna.get(f"{API}/sessions").json()["items"]) == 1
    actions = [e["action"] for e in anna.get(f"{API}/audit").json()["items"]]
    assert "session.end" in actions


def test_the_page_ends_the_others(app: FastAPI, anna: Client) -> None:
    other = Client.logged_in(app, ANNA)
    page = get(anna, "/account")
    assert "this one" in page.words
    done = post(anna, "/account", "/account/sessions/end")
    assert (done.status_code, done.headers["location"]) == (303, "/account?done=sessions")
    assert other.get("/account", headers=HTML, follow_redirects=False).status_code == 303
    assert "/account/sessions/end" not in [f["action"] for f in get(anna, "/account").forms]


def test_a_token_sees_no_sessions(app: FastAPI, anna: Client) -> None:
    secret = anna.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]}).json()["secret"]
    robot = TestClient(app, base_url="https://testserver", headers={"Authorization": f"Bearer {secret}"})
    for method in ("GET", "DELETE"):
        assert robot.request(method, f"{API}/sessions").status_code == 403
    assert anna.get(f"{API}/session").status_code == 200


def test_v14_3_2_browsers_keep_no_report(light: Core, anna: Client) -> None:
    names = world(light, anna)
    for path in (
        f"{API}/reports/{names['report']}/results",
        f"{API}/reports/{names['report']}/files/results.json",
        f"{API}/versions/{names['version']}/files/study.yaml",
    ):
        answer = anna.get(path)
        assert answer.headers["cache-control"] == "no-store"
        again = anna.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.headers["cache-control"]) == (304, "no-store")


def test_the_database_is_its_owners_alone(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "trustreport.db").touch(0o644)  # as older versions made it
    for folder in ("new", "old"):
        core = new_core(tmp_path / folder)
        anna = Client.set_up(create_app(core), core)
        anna.study()
        modes = {p.name: p.stat().st_mode & 0o777 for p in (tmp_path / folder).glob("trustreport.db*")}
        assert set(modes.values()) == {0o600}, modes
        core.close()


@pytest.mark.parametrize("url", ["", "https://reports.example.org"])
def test_over_plain_http_the_page_says_what_is_missing(tmp_path: Path, url: str) -> None:
    """Browsers send Secure cookies over HTTPS alone, so the form comes back without its cookie."""
    core = new_core(tmp_path / "data", public_url=url)
    app = create_app(core)
    Client.set_up(app, core)
    browser = TestClient(app, base_url="http://reports.local", raise_server_exceptions=False)
    page = get(browser, "/sign-in")
    browser.cookies.clear()  # what a browser does with it
    typed = {**page.form("/sign-in"), "email": ANNA, "password": PASSWORD}
    answer = browser.post("/sign-in", data=typed, headers=HTML, follow_redirects=False)
    assert answer.status_code == 403
    assert "HTTPS" in answer.text
    assert "expired" not in answer.text
    assert url in answer.text
    core.close()


def test_a_page_that_is_too_old_still_says_so(app: FastAPI, anna: Client) -> None:
    browser = Client.on(app)
    get(browser, "/sign-in")
    answer = browser.post("/sign-in", data={"csrf": "0" * 64, "email": ANNA}, headers=HTML)
    assert (answer.status_code, "has expired" in answer.text) == (403, True)


def seen(core: Core, client: str, *forwarded: str, proxies: int) -> str:
    app = create_app(replace(core, settings=replace(core.settings, proxies=proxies)))
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope = {"type": "http", "headers": headers, "client": (client, 1), "app": app}
    return address_of(Request(scope))


ADDRESSES: list[tuple[tuple[str, ...], int, str]] = [
    (("203.0.113.9",), 0, "192.0.2.1"),  # nobody is trusted
    (("203.0.113.9",), 1, "203.0.113.9"),
    (("1.1.1.1, 203.0.113.9",), 1, "203.0.113.9"),  # what the client wrote is to the left
    (("1.1.1.1", "203.0.113.9"), 1, "203.0.113.9"),  # two lines are one list
    (("1.1.1.1, 203.0.113.9, 198.51.100.1",), 2, "203.0.113.9"),
    (("203.0.113.9",), 2, "192.0.2.1"),  # it went round a proxy
    ((), 1, "192.0.2.1"),
    (("nonsense",), 1, "192.0.2.1"),
    (("203.0.113.9:4711",), 1, "203.0.113.9"),
    (("[2001:db8:1:2:3::4]:4711",), 1, "2001:db8:1:2::/64"),  # who has one address has all of its network
    (("2001:db8:1:2:ffff::1",), 1, "2001:db8:1:2::/64"),
    (("::ffff:203.0.113.9",), 1, "203.0.113.9"),
]


def test_the_address_is_counted_from_the_right(light: Core) -> None:
    for forwarded, proxies, address in ADDRESSES:
        assert seen(light, "192.0.2.1", *forwarded, proxies=proxies) == address, forwarded


def test_another_address_in_the_header_outruns_no_throttle(tmp_path: Path) -> None:
    """OWASP ASVS 5.0, V4.1.3: what a proxy says cannot be said by users."""
    core = new_core(tmp_path / "data", logins_a_minute=2, proxies=1)
    app = create_app(core)
    Client.set_up(app, core)
    guess = {"email": "anna@hospital.test", "password": "wrong, wrong, wrong"}
    statuses = [
        Client.on(app).post(
            f"{API}/session", json=guess, headers={"X-Forwarded-For": f"198.51.100.{i}, 203.0.113.9"}
        )
        for i in range(4)
    ]
    assert [answer.status_code for answer in statuses] == [401, 401, 429, 429]
    core.close()


def test_the_server_itself_believes_no_header(light: Core) -> None:
    assert not server_config(light, nullcontext).proxy_headers
