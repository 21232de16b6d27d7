"""Items of OWASP ASVS 5.0.0 as docs/security.md names them, the page itself, and requests drawn at random."""

import ast
import inspect
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from pages import HTML, post
from services import API, PASSWORD, Client, new_core, world
from zxcvbn import feedback, zxcvbn

from trustreport.service.access import second_factor, secrets
from trustreport.service.access.principal import COOKIE, MOST_SESSIONS
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.storage.models import Factor, ReportFile, Session
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
    assert (came.status_code, came.headers["location"]) == (303, "/")


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


# Without these the one who asks would lock themselves out.
SPARED = ("DELETE /api/v1/session", "POST /api/v1/account/password", "DELETE /api/v1/tokens/{token}")


def as_bytes(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


def test_no_request_breaks_the_service(app: FastAPI, light: Core, anna: Client) -> None:
    import schemathesis  # here, for it takes a second, and every process lists the tests
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import response_schema_conformance

    schemathesis.serializer("application/zip")(as_bytes)
    scopes = ["read", "write", "review", "approve", "manage"]
    made = anna.post(f"{API}/tokens", json={"name": "fuzz", "scopes": scopes}).json()
    headers = {"Authorization": f"Bearer {made['secret']}"}
    names = world(light, anna)
    tried = 0

    for found in schemathesis.openapi.from_asgi("/api/openapi.json", app).get_all_operations():
        operation = found.ok()
        if operation.label in SPARED:
            continue

        @settings(
            max_examples=6,
            database=None,
            derandomize=True,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            for name in case.path_parameters or {}:
                if name in names:  # the way in is known; the rest is drawn
                    case.path_parameters[name] = names[name]
            response = case.call(headers=headers, timeout=60)
            case.validate_response(response, checks=[not_a_server_error, response_schema_conformance])

        ask()
        tried += 1
    assert tried > 40


ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text("utf-8")
STATES = {"Not met": "not met", "Does not apply": "does not apply"}
# Number, level and state of each item; a line of what does not apply names several.
ROWS = [
    (number, "1" if star else "2", STATES.get(chapter.partition("\n")[0], "met"))
    for chapter in PAGE.split("\n## ")[1:]
    for line in re.findall(r"^(?:- |  )(.+)$", chapter, re.MULTILINE)
    for number, star in re.findall(r"(?:^|(?<=[.,] ))(\d+\.\d+\.\d+)(\*?)(?=,? )", line)
]


def by_number(numbers: list[str]) -> list[str]:
    return sorted(numbers, key=lambda number: [int(part) for part in number.split(".")])


# The numbers of ASVS 5.0.0, from its own list (OWASP/ASVS, 5.0/docs_en), by level.
LEVEL_1 = """
1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.5.1 2.1.1 2.2.1 2.2.2 2.3.1 3.2.1 3.2.2 3.3.1 3.4.1 3.4.2
3.5.1 3.5.2 3.5.3 4.1.1 4.4.1 5.2.1 5.2.2 5.3.1 5.3.2 6.1.1 6.2.1 6.2.2 6.2.3 6.2.4 6.2.5 6.2.6 6.2.7
6.2.8 6.3.1 6.3.2 6.4.1 6.4.2 7.2.1 7.2.2 7.2.3 7.2.4 7.4.1 7.4.2 8.1.1 8.2.1 8.2.2 8.3.1 9.1.1 9.1.2
9.1.3 9.2.1 10.4.1 10.4.2 10.4.3 10.4.4 10.4.5 11.3.1 11.3.2 11.4.1 12.1.1 12.2.1 12.2.2 13.4.1 14.2.1
14.3.1 15.1.1 15.2.1 15.3.1
""".split()
LEVEL_2 = """
1.1.1 1.1.2 1.2.6 1.2.7 1.2.8 1.2.9 1.3.3 1.3.4 1.3.5 1.3.6 1.3.7 1.3.8 1.3.9 1.3.10 1.3.11 1.4.1 1.4.2
1.4.3 1.5.2 2.1.2 2.1.3 2.2.3 2.3.2 2.3.3 2.3.4 2.4.1 3.3.2 3.3.3 3.3.4 3.4.3 3.4.4 3.4.5 3.4.6 3.5.4
3.5.5 3.7.1 3.7.2 4.1.2 4.1.3 4.2.1 4.3.1 4.3.2 4.4.2 4.4.3 4.4.4 5.1.1 5.2.3 5.4.1 5.4.2 5.4.3 6.1.2
6.1.3 6.2.9 6.2.10 6.2.11 6.2.12 6.3.3 6.3.4 6.4.3 6.4.4 6.5.1 6.5.2 6.5.3 6.5.4 6.5.5 6.6.1 6.6.2 6.6.3
6.8.1 6.8.2 6.8.3 6.8.4 7.1.1 7.1.2 7.1.3 7.3.1 7.3.2 7.4.3 7.4.4 7.4.5 7.5.1 7.5.2 7.6.1 7.6.2 8.1.2
8.2.3 8.4.1 9.2.2 9.2.3 9.2.4 10.1.1 10.1.2 10.2.1 10.2.2 10.3.1 10.3.2 10.3.3 10.3.4 10.4.6 10.4.7 10.4.8
10.4.9 10.4.10 10.4.11 10.5.1 10.5.2 10.5.3 10.5.4 10.5.5 10.6.1 10.6.2 10.7.1 10.7.2 10.7.3 11.1.1 11.1.2
11.2.1 11.2.2 11.2.3 11.3.3 11.4.2 11.4.3 11.4.4 11.5.1 11.6.1 12.1.2 12.1.3 12.3.1 12.3.2 12.3.3 12.3.4
13.1.1 13.2.1 13.2.2 13.2.3 13.2.4 13.2.5 13.3.1 13.3.2 13.4.2 13.4.3 13.4.4 13.4.5 14.1.1 14.1.2 14.2.2
14.2.3 14.2.4 14.3.2 14.3.3 15.1.2 15.1.3 15.2.2 15.2.3 15.3.2 15.3.3 15.3.4 15.3.5 15.3.6 15.3.7 16.1.1
16.2.1 16.2.2 16.2.3 16.2.4 16.2.5 16.3.1 16.3.2 16.3.3 16.3.4 16.4.1 16.4.2 16.4.3 16.5.1 16.5.2 16.5.3
17.1.1 17.2.1 17.2.2 17.2.3 17.2.4 17.3.1 17.3.2
""".split()


@cache
def names_in(file: str) -> frozenset[str]:
    """The functions of a file, by reading it."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, kinds))


def test_every_item_is_there_once_with_its_level_and_a_state() -> None:
    for level, numbers in (("1", LEVEL_1), ("2", LEVEL_2)):
        assert by_number([row[0] for row in ROWS if row[1] == level]) == by_number(numbers)
    assert len(ROWS) == len(LEVEL_1) + len(LEVEL_2) == 70 + 183


def test_every_test_and_file_that_is_named_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    assert len(named) > 100
    assert [f"{file}::{name}" for file, name in named if name not in names_in(file)] == []
    files = re.findall(r"`((?:trustreport|templates|packaging)/[^`]+)`", PAGE)
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_sums_are_those_of_the_items() -> None:
    count = Counter(row[1:] for row in ROWS)
    for level in "12":
        met, unmet, other = (count[level, state] for state in ("met", "not met", "does not apply"))
        assert f"Level {level}: {met} met, {unmet} not met, {other} do not apply." in PAGE


def test_an_item_that_is_met_is_in_its_chapter_with_what_shows_it() -> None:
    for chapter in PAGE.split("\n## V")[1:]:
        number = chapter.partition(" ")[0]
        for line in re.findall(r"^- (.+)$", chapter, re.MULTILINE):
            assert re.match(rf"{number}\.\d+\.\d+\*? .+[.:] .+", line), line


@pytest.mark.parametrize("url", ["https://reports.example.org", "http://localhost:8000"])
def test_v3_4_1_browsers_stay_with_https(tmp_path: Path, url: str) -> None:
    core = new_core(tmp_path / "data", public_url=url)
    browser = TestClient(create_app(core), base_url="https://testserver")
    for path in ("/health", "/nothing", "/sign-in", "/static/pages.css", f"{API}/studies"):
        sent = browser.get(path).headers.get("strict-transport-security", "")
        assert sent == ("max-age=31536000" if url.startswith("https:") else ""), path
    core.close()


def test_v3_4_2_no_other_origin_reads_an_answer(anonymous: TestClient) -> None:
    origin = {"Origin": "https://evil.test", "Access-Control-Request-Method": "POST"}
    for method in ("GET", "OPTIONS"):
        for path in ("/sign-in", "/health", f"{API}/session", "/api/openapi.json"):
            answer = anonymous.request(method, path, headers=origin)
            assert not [name for name in answer.headers if name.startswith("access-control-")], path


def test_v13_4_1_and_v13_4_3_no_folder_is_served(anonymous: TestClient) -> None:
    for path in ("/.git/config", "/.git/", "/static/", "/static/../.git/config", "/templates/"):
        assert anonymous.get(path).status_code == 404, path


def test_v13_4_4_trace_is_refused(anonymous: TestClient) -> None:
    for path in ("/", "/health", "/sign-in", f"{API}/studies"):
        assert anonymous.request("TRACE", path).status_code == 405, path


def test_v3_4_6_and_v4_1_1_files_of_a_report_stand_alone_and_name_their_characters(light: Core) -> None:
    anna = Client.set_up(create_app(light), light)
    names = world(light, anna)
    with light.store.write() as rows:
        file = rows.query(ReportFile).filter_by(report=names["report"]).first()
        assert file is not None
        file.name = "figures/roc.svg"
    answer = anna.get(f"{API}/reports/{names['report']}/files/figures/roc.svg")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/svg+xml; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    assert all(part in policy for part in ("sandbox", "base-uri 'none'", "frame-ancestors 'none'"))
