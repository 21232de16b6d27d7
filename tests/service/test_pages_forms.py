"""Pages without a browser: forms are bound to their session, what users write is text, roles hold."""

import json
import re
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pages import HTML, READINGS, WRONG, Shown, Taken, get, page_routes, post, right, walk
from services import API, PASSWORD, Client, stored, world, zipped
from starlette.datastructures import FormData

from trustreport.service.access import accounts
from trustreport.service.access.principal import COOKIE
from trustreport.service.account.organisation import Retention
from trustreport.service.core import Core
from trustreport.service.device.api import NewSchedule
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.pages.page_context import body_from, typed
from trustreport.service.pages.render import FORM_COOKIE
from trustreport.service.storage.models import Audit
from trustreport.service.web.faults import Fault

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}{% raw %}"
POSTS = sorted({route.path for route in page_routes() if "POST" in route.methods})
ANYBODY = (
    "/setup",
    "/invitation",
    "/enter",
    "/sign-in",
    "/sign-in/second",
    "/sign-in/provider",
    "/forgotten",
    "/shared",
    "/site",
    "/language",
)
# Of accounts with a second factor or an identity provider, of audits, of a second device, and of several
# languages: tests of their own look at these.
ELSEWHERE = {
    "/versions/*/page-1",  # the form of a step, sent into the frame beside it
    "/removed/*/restoration",
    "/removed/*/deletion",
    "/sample",
    "/sample/removal",
    "/devices/*/same-as",  # of organisations with two devices
    "/account/second-factor/*",
    "/account/second-factor/*/removal",
    "/account/second-factor/app/confirmation",
    "/account/second-factor/codes",
    "/account/second-factor/passkey",
    "/account/provider",
    "/account/provider/again",
    "/account/provider/removal",
    "/admin/users/*/factors",
    "/admin/users/*/identity",
    "/sign-in/provider/callback",
    "/sign-in/second",
    "/language",
    "/versions/*/period",
    "/site/*/file",
}
PART = r"[0-9a-z]{26}|(?<=/guide/)\w+"  # of an address: a name, or a step
OF_SITES = "/site/{invited_site}/file"  # bound to the cookie of a link


def test_every_page_is_free_of_inline_code_and_binds_its_forms(shown: Shown) -> None:
    anna, names = shown.anna, shown.names
    pages = walk(anna)
    kinds = {re.sub(PART, "*", path.split("?")[0]) for path in pages}
    wanted = {route.path for route in page_routes() if "GET" in route.methods}
    addresses = {re.sub(r"\{\w+\}", "*", path) for path in wanted}
    assert addresses - kinds <= {
        "/search", "/setup",
        "/invitation", "/enter", "/sign-in", "/forgotten", "/static/*", "/reports/*/document",
        "/jobs/*",
        "/shared", "/planning/protocol.*",
        "/shared/*", "/shared/*/document", "/shared/*/zip", "/shared/*/files/{name:path}", *ELSEWHERE,
        "/site", "/site/*", "/site/*/files/*",
    }  # fmt: skip
    pages["/search?q=e"] = anna.get("/search?q=e", headers=HTML).text
    pages[f"/jobs/{names['queued']}"] = anna.get(f"/jobs/{names['queued']}", headers=HTML).text
    forms = set()
    for path, html in pages.items():
        page = Taken(html)
        csrf = anna.me["csrf"]
        for form in page.forms:
            if form["method"] == "post":
                assert form["fields"]["csrf"] == csrf, (path, form)
                forms.add(re.sub(PART, "*", form["action"]))
            else:
                assert "csrf" not in form["fields"], path
        for tag, given in page.tags:
            assert not [a for a in given if a.startswith("on") or a in ("style", "hx-on")], (path, tag, given)
            assert tag != "style", path
            assert tag != "script" or given["src"].startswith("/static/"), path
        ids = [given["id"] for _, given in page.tags if "id" in given]
        assert len(ids) == len(set(ids)), (path, [i for i in ids if ids.count(i) > 1])
    # Every form that there is was seen, but those of the login and of an empty study.
    assert {re.sub(r"\{\w+\}", "*", p) for p in POSTS} - forms - ELSEWHERE == {*ANYBODY} - ELSEWHERE


def test_no_form_is_taken_without_its_token(
    light: Core, anna: Client, anonymous: TestClient, subtests: pytest.Subtests
) -> None:
    absent = ("token", "factor", "session", "comment", "review_request", "share", "removed")
    names = {**world(light, anna), **dict.fromkeys(absent, "0" * 26), "step": "files"}
    anna.headers.pop("X-CSRF-Token")
    entries = len(stored(light, Audit))
    for path in (p for p in POSTS if p not in (*ANYBODY, OF_SITES)):
        with subtests.test(path):
            address = re.sub(r"\{(\w+)\}", lambda m: names[m[1]], path)
            for data in ({}, {"csrf": "0" * 64}, {"csrf": "\N{SNOWMAN}"}):
                answer = anna.post(address, data=data, headers=HTML, follow_redirects=False)
                assert (answer.status_code, "Not from this page" in answer.text) == (403, True), data
            sent = {"data": {"csrf": anna.me["csrf"]}, "follow_redirects": False}
            answer = anna.post(address, headers={**HTML, "Sec-Fetch-Site": "cross-site"}, **sent)
            assert (answer.status_code, "Not from another site" in answer.text) == (403, True)
            answer = anonymous.post(address, headers=HTML, **sent)
            assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
            assert len(stored(light, Audit)) == entries


@pytest.mark.parametrize("path", ANYBODY)
def test_forms_of_the_entrance_are_bound_to_the_browser(
    light: Core, app: FastAPI, anna: Client, anonymous: TestClient, path: str
) -> None:
    sent = {"email": "anna@hospital.test", "password": PASSWORD, "link": "x"}
    answer = anonymous.post(path, data=sent, headers=HTML, follow_redirects=False)
    assert (answer.status_code, COOKIE in answer.cookies) == (403, False)
    page = get(anonymous, "/sign-in")
    assert FORM_COOKIE in anonymous.cookies
    sent["csrf"] = page.form("/sign-in")["csrf"]
    other = TestClient(app, base_url="https://testserver")
    get(other, "/sign-in")
    answer = other.post(path, data=sent, headers=HTML, follow_redirects=False)
    assert (answer.status_code, "Not from this page" in answer.text) == (403, True)


def test_what_users_write_is_shown_as_text(light: Core, app: FastAPI, anna: Client) -> None:
    worker = WorkerThread(light, "worker")
    manifest = {
        "report": {"kind": "certification", "title": HOSTILE},
        "device": {"trade_name": HOSTILE, "manufacturer": HOSTILE, "software_version": HOSTILE},
        "counts": [
            {"set": HOSTILE, "arm": "unaided", "errors": 6, "correct": 24},
            {"set": HOSTILE, "arm": "aided", "errors": 4, "correct": 26},
        ],
    }
    upload = [("files", ("s.zip", zipped({"study.json": json.dumps(manifest)})))]
    version = post(anna, "/studies/new", "/studies", upload, name=HOSTILE).headers["location"]
    assert worker.once("check")
    page = get(anna, version)
    assert HOSTILE in page.words
    job = post(anna, version, f"{version}/jobs", format=["html"]).headers["location"]
    assert worker.once("report")
    (report,) = [link for link in get(anna, job).links if link.startswith("/reports/")]
    signed = post(anna, report, f"{report}/attestations", act="rejection", meaning=HOSTILE, password=PASSWORD)
    assert signed.status_code == 303, signed.text
    # A table whose cells, header and file name are hostile.
    named = {**READINGS, "tables": {"readings": {"file": "<b>r.csv"}}}
    table = WRONG.replace("R1,C1,unaided,2", f'R1,C1,"{HOSTILE.replace(chr(34), chr(34) * 2)}",2')
    bad = [("files", ("study.json", json.dumps(named))), ("files", ("<b>r.csv", table))]
    wrong = post(anna, "/studies/new", "/studies", bad, name="Wrong").headers["location"]
    assert worker.once("check")
    assert "<b>r.csv" in get(anna, wrong).words
    user = f"/admin/users/{anna.me['user']}"
    assert post(anna, user, user, name=HOSTILE).status_code == 303
    made = post(anna, "/account", "/account/tokens", name=HOSTILE, scope="read", days="9")
    assert HOSTILE in Taken(made.text).words
    founding = {"name": HOSTILE, "admin_name": HOSTILE, "admin_email": "a@other.test"}
    made = post(anna, "/admin/organisation", "/admin/organisations", **founding)
    assert HOSTILE in Taken(made.text).words
    # Refused forms come back with what was typed.
    for page_of, action in (("/admin/users", "/admin/users"), ("/account", "/account/tokens")):
        refused = post(anna, page_of, action, name=HOSTILE, email="x", days="x")
        assert refused.status_code == 422
        _is_harmless(refused.text, action)
    for search in ("/studies", "/reports", "/devices"):
        _is_harmless(anna.get(search, params={"q": HOSTILE}, headers=HTML).text, search)
    _is_harmless(anna.get("/audit", params={"subject": HOSTILE[:90]}, headers=HTML).text, "audit")
    stranger = TestClient(app, base_url="https://testserver")
    _is_harmless(stranger.get("/sign-in", params={"next": HOSTILE}, headers=HTML).text, "sign-in")
    _is_harmless(stranger.get("/invitation", params={"link": HOSTILE}, headers=HTML).text, "invitation")
    shown = 0
    for path, html in walk(anna).items():
        _is_harmless(html, path)
        shown += HOSTILE in Taken(html).words
    assert shown > 8


def _is_harmless(html: str, where: str) -> None:
    for tag, given in Taken(html).tags:
        assert tag not in ("img", "b") or not given.get("src") or given["src"] != "x", where
        assert not [a for a in given if a.startswith("on")], (where, tag)
        assert tag != "script" or given.get("src", "").startswith("/static/"), where
    assert "49" not in re.findall(r"onerror=alert\(1\)&gt;(\d+)", html), where


def test_a_wrong_file_is_corrected_in_place(light: Core, anna: Client) -> None:
    worker = WorkerThread(light, "worker")
    files = [("files", ("study.json", json.dumps(READINGS))), ("files", ("readings.csv", WRONG))]
    first = post(anna, "/studies/new", "/studies", files, name="Readings").headers["location"]
    assert "being checked" in get(anna, first).words
    assert worker.once("check")
    page = get(anna, first)
    assert [w in page.words for w in ("2 problems", "readings.csv", "truth", "decision")] == [True] * 4
    fields = page.form(f"{first}/correction")
    assert fields["name-0"] == "readings.csv"
    refused = post(anna, first, f"{first}/correction")
    assert (refused.status_code, "No file came" in refused.text) == (422, True)
    corrected = [("file-0", ("whatever it is called (2).csv", right()))]
    second = post(anna, first, f"{first}/correction", corrected).headers["location"]
    assert worker.once("check")
    page = get(anna, second)
    assert "No problems found in these files." in page.words
    kept = anna.get(f"{API}{second}/files").json()["items"]
    assert {f["name"] for f in kept} == {"study.json", "readings.csv"}
    assert "newer version available" in get(anna, first).words


def test_signing_in_leads_where_one_wanted_to_go(anna: Client, anonymous: TestClient) -> None:
    sent = anonymous.get("/admin/tokens?after=x", headers=HTML, follow_redirects=False)
    assert sent.headers["location"] == "/sign-in?next=/admin/tokens%3Fafter%3Dx"
    known = {"email": "anna@hospital.test", "password": PASSWORD}
    wrong = post(anonymous, "/sign-in", "/sign-in", email="anna@hospital.test", password="x" * 12)
    assert (wrong.status_code, "Address or password is wrong" in wrong.text) == (403, True)
    for wanted, led in (
        ("/devices?q=a", "/devices?q=a"),
        ("//evil.test/", "/"),
        ("/\\evil.test", "/"),
        ("https://evil.test/", "/"),
        ("/\tx", "/"),
        ("javascript:alert(1)", "/"),
    ):
        anonymous.cookies.clear()
        answer = post(anonymous, "/sign-in", "/sign-in", next=wanted, **known)
        assert (answer.status_code, answer.headers["location"]) == (303, led)


def test_a_setup_link_works_once(light: Core, anonymous: TestClient) -> None:
    with light.store.write() as rows:
        link = accounts.new_link(rows, "setup", light.settings)
    typed: dict[str, Any] = {"organisation": "H", "name": "A", "email": "a@h.test", "password": PASSWORD}
    page = "/setup"
    typed["link"] = f"https://testserver/setup#{link}"
    other = {**typed, "password_again": "other"}
    assert post(anonymous, page, "/setup", **other).status_code == 422
    short = post(anonymous, page, "/setup", **{**typed, "password": "short", "password_again": "short"})
    assert "12 to 256 characters" in short.text
    assert 'value="a@h.test"' in short.text
    assert "short" not in [given.get("value") for _, given in Taken(short.text).tags]
    done = post(anonymous, page, "/setup", **typed, password_again=PASSWORD)
    assert (done.status_code, done.headers["location"]) == (303, "/?done=setup")
    anonymous.cookies.clear()
    again = anonymous.get(page, headers=HTML, follow_redirects=False)
    assert again.headers["location"] == "/sign-in"


def test_pages_keep_to_roles_and_organisations(light: Core, app: FastAPI, anna: Client, bob: Client) -> None:
    names = world(light, anna)
    reader = anna.invite("reader@hospital.test", "viewer")
    for path in ("/studies/new", "/audit", "/admin/users", "/admin/organisation", "/admin/tokens"):
        assert reader.get(path, headers=HTML).status_code == 403, path
    page = get(reader, f"/studies/{names['study']}")
    assert [f["action"] for f in page.forms if f["method"] == "post"] == ["/sign-out", "/language"]
    assert "/audit" not in page.links
    for kind in ("study", "version", "job", "report", "device"):
        plural = {"study": "studies"}.get(kind, f"{kind}s")
        answer = bob.get(f"/{plural}/{names[kind]}", headers=HTML)
        assert (answer.status_code, "Not found" in answer.text) == (404, True), kind
    pair = {"old": names["report"], "new": names["report"]}
    assert bob.get("/comparison", params=pair, headers=HTML).status_code == 404
    assert bob.get(f"/reports/{names['report']}/document", headers=HTML).status_code == 404
    assert bob.get(f"/admin/users/{anna.me['user']}", headers=HTML).status_code == 404
    token = anna.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]}).json()["secret"]
    program = TestClient(app, base_url="https://testserver", follow_redirects=False)
    sent = program.get("/studies", headers={**HTML, "Authorization": f"Bearer {token}"})
    assert sent.status_code == 303  # pages know sessions only


def test_lists_are_searched_and_turned(light: Core, anna: Client) -> None:
    for i in range(30):
        anna.study(f"Series {i}")
    anna.study("50% _wild_ card")
    first = get(anna, "/studies")
    (older,) = [link for link in first.links if link.startswith("/studies?after=")]
    words = get(anna, older).words
    assert "Series 0" in words
    assert "Series 29" not in words
    assert "card" in get(anna, "/studies?q=50%25").words
    assert "Series" not in get(anna, "/studies?q=%25").words.replace("card", "").split("Studies", 3)[-1]
    assert "No study has" in get(anna, "/studies?q=S_ries").words


def test_answers_are_pages_for_browsers_and_problems_for_programs(anna: Client) -> None:
    page = anna.get("/nowhere", headers=HTML)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert anna.get("/nowhere").headers["content-type"] == "application/problem+json"
    assert anna.get(f"{API}/nowhere", headers=HTML).headers["content-type"] == "application/problem+json"
    style = anna.get("/static/pages.css")
    assert "immutable" in style.headers["cache-control"]
    assert anna.get("/static/../secret", headers=HTML).status_code == 404
    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


def test_the_report_in_its_frame_can_do_nothing(shown: Shown) -> None:
    anna, names = shown.anna, shown.names
    page = get(anna, f"/reports/{names['report1']}")
    (frame,) = [given for tag, given in page.tags if tag == "iframe"]
    assert frame["sandbox"] == ""
    report = anna.get(frame["src"])
    assert report.headers["x-frame-options"] == "SAMEORIGIN"
    assert report.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "approved" in page.words
    older, newer = names["report0"], names["report1"]
    sides = get(anna, f"/comparison?old={newer}&new={older}")
    sentence = anna.get(f"{API}/reports/{newer}").json()["facts"]["answer"]["sentence"]
    for where in (page, sides, get(anna, "/reports")):
        assert sentence in where.words
    assert sides.links.index(f"/reports/{older}") < sides.links.index(f"/reports/{newer}")
    assert "pragmatic_utility.error_rate" in sides.words
    device = get(anna, f"/devices/{names['device']}")
    assert "Next audit due on 2027-01-01" in device.words


def test_every_other_form_does_what_it_says(light: Core, app: FastAPI, anna: Client) -> None:
    names = world(light, anna)
    study, device = f"/studies/{names['study']}", f"/devices/{names['device']}"

    def done(page: str, action: str, **typed: Any) -> str:
        answer = post(anna, page, action, **typed)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    assert "A better name" in get(anna, done(study, f"{study}/name", name="A better name")).words
    wanted = {"study": names["study"], "every_days": "30", "first": "2027-03-01", "format": ["html"]}
    page = get(anna, done(device, f"{device}/schedules", **wanted))
    assert "2027-03-01 00:00 UTC" in page.words
    assert "The audit has been scheduled." in page.words
    wrong = post(anna, device, f"{device}/schedules", **{**wanted, "every_days": "0", "first": "soon"})
    assert [w in wrong.text for w in ("Interval in days</bdi>", "First due</bdi>")] == [True, True]
    (end,) = [f["action"] for f in page.forms if names["schedule"] in f["action"]]
    done(device, end)
    assert names["schedule"] not in anna.get(device, headers=HTML).text

    organisation = "/admin/organisation"
    assert (
        "Saved."
        in get(anna, done(organisation, f"{organisation}/retention", days="400", keep_signed="")).words
    )
    kept = anna.get(f"{API}/organisation").json()["retention"]
    assert kept == {"days": 400, "keep_signed": False}

    reader = anna.invite("reader@hospital.test", "viewer")
    user = f"/admin/users/{reader.me['user']}"
    done(user, user, name="Renamed", role=["author", "viewer"])
    said = anna.get(f"{API}/users/{reader.me['user']}").json()
    assert (said["name"], said["roles"]) == ("Renamed", ["author", "viewer"])
    again = post(anna, user, f"{user}/invitation").text
    (link,) = re.findall(r"/invitation#([\w-]+)", again)
    assert anna.accept(link).me["name"] == "Renamed"
    assert "closed" in get(anna, done(user, f"{user}/closing")).words
    assert "active" in get(anna, done(user, f"{user}/closing")).words

    post(anna, "/account", "/account/tokens", name="Nightly", scope="read", days="9")
    (token,) = anna.get(f"{API}/tokens").json()["items"]
    done("/admin/tokens", f"/tokens/{token['id']}/revocation")
    assert anna.get(f"{API}/tokens/{token['id']}").json()["revoked_at"]

    job = done(f"/versions/{names['version']}", f"/versions/{names['version']}/jobs", format=["html"])
    assert "Waiting for a worker" in get(anna, job).words
    assert "Cancelled on request." in get(anna, done(job, f"{job}/cancellation")).words

    refused = post(anna, study, f"{study}/removal", name="another")
    assert (refused.status_code, "Not the name" in refused.text) == (422, True)
    assert done(study, f"{study}/removal", name="A better name") == "/removed?done=removed"
    assert anna.get(study, headers=HTML).status_code == 404

    new = "correct horse staple"
    typed = {"password": new, "new_password": new, "password_again": new}
    assert post(anna, "/account", "/account/password", **typed).status_code == 403
    done("/account", "/account/password", **{**typed, "password": PASSWORD})
    assert Client.logged_in(app, "anna@hospital.test", new).me["name"] == "Anna"


def test_a_form_is_read_as_the_request_of_the_api() -> None:
    sent = [("study", "0" * 26), ("every_days", "90"), ("format", "html"), ("format", "pdf"), ("first", "")]
    one = body_from(FormData([*sent, ("csrf", "x")]), NewSchedule)
    assert (one.every_days, one.formats, one.first, one.next_period) == (90, ["html", "pdf"], None, False)
    assert body_from(FormData([*sent, ("next_period", "yes")]), NewSchedule).next_period
    assert body_from(FormData(sent), NewSchedule, formats=["json"]).formats == ["json"]
    kept, not_kept = (body_from(FormData(given), Retention) for given in ([("keep_signed", "yes")], []))
    assert (kept.keep_signed, not_kept.keep_signed, kept.days) == (True, False, None)
    with pytest.raises(Fault) as refused:
        body_from(FormData([("study", ""), ("every_days", "often")]), NewSchedule)
    assert [field.place for field in refused.value.fields] == ["formats", "study", "every_days"]


def test_what_was_typed_is_shown_again_but_no_secret() -> None:
    secrets = [(name, "123456") for name in ("password", "new_password", "code", "answer", "csrf")]
    assert typed(FormData([*secrets, ("name", "Laptop")])) == {"name": "Laptop"}
