"""Items of OWASP ASVS 5.0.0 on passwords, sessions, links and codes, as docs/security.md names them."""

import inspect
import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from pages import HTML, post
from services import API, PASSWORD, Client, world
from zxcvbn import feedback, zxcvbn

from trustreport.service.access import second_factor, secrets
from trustreport.service.access.principal import COOKIE, MOST_SESSIONS
from trustreport.service.core import Core
from trustreport.service.storage.models import Factor, Session
from trustreport.vocabulary.messages import catalogue

TWICE = {"password": PASSWORD, "password_again": PASSWORD}


@pytest.mark.parametrize("weak", ["pfqwtd27121988", "badiman28200", "NICK1234-REM936", "ghjatccbjyfk"])
def test_v6_2_4_and_v6_2_12_what_leaked_most_often_is_refused(weak: str) -> None:
    """Also what looks random to the estimate of guesses; whichever letters are capital."""
    assert zxcvbn(weak.lower())["guesses"] >= secrets.GUESSES
    fault = secrets.weakness(weak)
    assert fault
    assert fault.key == "pages.fault.weak.leaked"


def test_every_warning_of_zxcvbn_has_words_of_our_own() -> None:
    source = re.sub(r"' \\\n\s*'", "", inspect.getsource(feedback))  # one text over two lines
    warnings = re.findall(r"""warning'?\s*[=:]\s*_\(\s*(['"])(.+?)\1\s*\)""", source)
    assert {text for _, text in warnings} == set(secrets.HINTS)
    assert all(f"pages.fault.weak.hint.{key}" in catalogue() for key in secrets.HINTS.values())


def test_v6_2_4_the_list_has_far_more_than_3000_that_the_length_allows() -> None:
    assert len(secrets.known()) > 40_000
    assert secrets.known() == tuple(sorted(set(secrets.known())))
    assert not secrets.is_common("wintersturm im tal")


def session_of(client: Client) -> str:
    """The secret of a browser's session."""
    return next(cookie.value or "" for cookie in client.cookies.jar if cookie.name == COOKIE)


def test_v7_2_4_a_password_that_is_typed_again_renews_the_session(
    light: Core, anna: Client, app: FastAPI
) -> None:
    before, csrf = session_of(anna), anna.me["csrf"]
    refused = anna.post(f"{API}/account/totp", json={"password": "x" * 12})
    assert (refused.status_code, session_of(anna)) == (403, before)
    assert anna.post(f"{API}/account/totp", json={"password": PASSWORD}).status_code == 201
    assert session_of(anna) != before
    assert anna.get(f"{API}/session").json()["csrf"] == csrf  # what is typed in other tabs can still be sent
    stolen = Client.on(app)
    assert stolen.get(f"{API}/session", headers={"Cookie": f"{COOKIE}={before}"}).status_code == 401
    # Also where what the password was for is then refused.
    before = session_of(anna)
    refused = anna.post(f"{API}/account/recovery-codes", json={"password": PASSWORD, "code": "000000"})
    assert refused.status_code == 409
    assert session_of(anna) == before  # not asked for
    with light.store.write() as rows:
        rows.query(Factor).one().confirmed = True
    refused = anna.post(f"{API}/account/recovery-codes", json={"password": PASSWORD, "code": "000000"})
    assert refused.status_code == 403
    assert session_of(anna) != before
    assert len(anna.get(f"{API}/sessions").json()["items"]) == 1


CLEARED = '"cache", "storage"'


def test_v14_2_1_no_secret_is_in_an_address_that_is_sent(light: Core, anna: Client, app: FastAPI) -> None:
    """Those of links are after the #, which browsers keep to themselves; pages take them as forms alone."""
    made = anna.post(f"{API}/reports/{world(light, anna)['report']}/shares", json={}).json()["link"]
    carl = {"email": "c@h.test", "name": "Carl", "roles": ["viewer"]}
    invited = anna.post(f"{API}/users", json=carl).json()
    user = f"/admin/users/{invited['user']['id']}"
    link = post(anna, user, f"{user}/invitation").text
    (invitation,) = re.findall(r"http\S+/invitation\S+?(?=<)", link)
    for address, path in ((made, "/shared"), (invitation, "/invitation")):
        sent, _, secret = address.partition("#")
        assert (urlsplit(sent).path, urlsplit(sent).query, len(secret)) == (path, "", 43)
        stranger = Client.on(app)
        assert secret not in stranger.get(f"{path}?link={secret}", headers=HTML).text
        assert stranger.get(f"/shared/{secret}", headers=HTML).status_code == 404
    came = post(Client.on(app), "/invitation", "/invitation", link=invitation, **TWICE)
    assert (came.status_code, came.headers["location"]) == (303, "/studies")


def test_v14_3_1_a_session_that_ends_is_cleared_from_the_browser(
    light: Core, anna: Client, app: FastAPI
) -> None:
    other, third = (Client.logged_in(app, "anna@hospital.test") for _ in range(2))
    done = post(other, "/account", "/sign-out")
    assert (done.headers["location"], done.headers["clear-site-data"]) == ("/sign-in?done=out", CLEARED)
    assert third.delete(f"{API}/session").headers["clear-site-data"] == CLEARED
    with light.store.write() as rows:
        rows.query(Session).update({Session.expires_at: 1})
    expired = anna.get("/studies", headers=HTML, follow_redirects=False)
    assert (expired.status_code, expired.headers["clear-site-data"]) == (303, CLEARED)
    in_part = anna.get("/studies", headers={**HTML, "HX-Request": "true"})
    assert (in_part.headers["hx-redirect"], in_part.headers["clear-site-data"]) == ("/sign-in", CLEARED)
    for method, path in (("GET", f"{API}/studies"), ("POST", f"{API}/studies/x/versions/zip")):
        answer = anna.request(method, path, content=b"x" if method == "POST" else None)
        assert (answer.status_code, answer.headers["clear-site-data"]) == (401, CLEARED)
    assert "clear-site-data" not in Client.on(app).get(f"{API}/studies").headers


def test_v7_1_2_an_account_has_so_many_sessions(anna: Client, app: FastAPI) -> None:
    first = Client.logged_in(app, "anna@hospital.test")
    for _ in range(MOST_SESSIONS - 2):
        Client.logged_in(app, "anna@hospital.test")
    assert first.get(f"{API}/session").status_code == 200
    assert len(anna.get(f"{API}/sessions").json()["items"]) == MOST_SESSIONS
    newest = Client.logged_in(app, "anna@hospital.test")
    assert len(newest.get(f"{API}/sessions?limit=100").json()["items"]) == MOST_SESSIONS
    assert anna.get(f"{API}/session").status_code == 401  # begun first, and none was used since


def test_v16_2_1_and_v16_3_1_the_log_says_from_where_and_which_sign_ins_failed(
    light: Core, app: FastAPI, anna: Client, quiet_logs: list[dict[str, Any]]
) -> None:
    for email, user in (("anna@hospital.test", anna.me["user"]), ("nobody@nowhere.test", "")):
        quiet_logs.clear()
        answer = Client.on(app).post(f"{API}/session", json={"email": email, "password": "x" * 12})
        assert answer.status_code == 401
        refused, line = quiet_logs
        assert {k: refused[k] for k in ("event", "how", "user", "address")} == {
            "event": "login.refused", "how": "password", "user": user, "address": "testclient",
        }  # fmt: skip
        assert (line["event"], line["status"], line["address"]) == ("request", 401, "testclient")
        assert "nobody" not in str(quiet_logs)  # what is typed there may be a password


def test_v11_5_1_recovery_codes_have_128_bits_or_more(light: Core, anna: Client) -> None:
    with light.store.write() as rows:
        codes = second_factor.renew_recovery_codes(rows, anna.me["user"])
        assert all(len(code.replace("-", "")) * 5 >= 128 for code in codes)
        assert second_factor.is_recovery_code(codes[0])
        assert second_factor.use_recovery_code(rows, anna.me["user"], codes[0])
