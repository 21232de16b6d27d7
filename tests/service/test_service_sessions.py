"""One's own sessions, what browsers keep, and what plain HTTP says."""

from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pages import HTML, get, post
from services import API, PASSWORD, Client, new_core, world

from trustreport.service.app import create_app
from trustreport.service.core import Core

ANNA = "anna@hospital.test"


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
