"""Passkeys with the browser's virtual authenticator, the provider in a browser, and how these pages look."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from fastapi import FastAPI
from identities import RealProvider, is_installed
from pages import HTML, Taken, served
from running import free_port
from services import API, PASSWORD, Client, only
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

from trustreport.service.core import Core
from trustreport.service.storage.models import Audit, Factor, Session, User

SECRET = "a secret of the client"
DEVICE = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
PRESENT = {"isUserVerified": True, "automaticPresenceSimulation": True}


class House:
    """A service under a name, reached by a browser with an authenticator, and its first user."""

    def __init__(self, core: Core, app: FastAPI, url: str, page: Any) -> None:
        self.core, self.app, self.url, self.page = core, app, url, page
        self.anna = Client.set_up(app, core)
        self.faults: list[str] = []
        page.on("console", lambda m: self.faults.append(m.text) if "Security Policy" in m.text else None)
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.authenticator = page.context.new_cdp_session(page)
        self.authenticator.send("WebAuthn.enable")
        made = self.authenticator.send("WebAuthn.addVirtualAuthenticator", {"options": {**DEVICE, **PRESENT}})
        self.device = made["authenticatorId"]

    def go(self, path: str) -> None:
        self.page.goto(self.url + path)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def sign_in(self) -> None:
        self.page.context.clear_cookies()
        self.go("/sign-in")
        self.page.fill("[name=email]", "anna@hospital.test")
        self.page.fill("[name=password]", PASSWORD)
        self.press("Sign in")

    def add_passkey(self, name: str) -> None:
        self.go("/account/second-factor/passkey")
        self.page.fill("[name=name]", name)
        self.page.fill("[name=password]", PASSWORD)
        self.press("Add the passkey")

    def look(self, found: dict[str, Any]) -> None:
        """Note what axe-core says of the page that is open."""
        from axe_playwright_python.sync_playwright import Axe

        for violation in Axe().run(self.page).response["violations"]:
            found[self.page.url, violation["id"]] = [n["target"] for n in violation["nodes"]][:3]
        if self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") > 0:
            found[self.page.url, "wider than its window"] = True


@pytest.fixture
def house(tmp_path: Path, browser: Any) -> Iterator[House]:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    with served(tmp_path, workers=False, host="localhost") as (core, app, url):
        yield House(core, app, url, context.new_page())
        context.close()


def test_a_passkey_is_added_asked_for_and_removed(house: House) -> None:
    page, found = house.page, {}
    house.sign_in()
    page.wait_for_url("**/")
    house.go("/account/second-factor/passkey")
    house.look(found)
    house.add_passkey("This computer")
    page.get_by_text("They are shown only once").wait_for()
    house.look(found)
    kept = only(house.core, Factor)
    assert (kept.kind, kept.name) == ("passkey", "This computer")
    house.sign_in()
    page.wait_for_url("**/sign-in/second")
    house.look(found)
    house.press("Use a passkey")
    page.wait_for_url("**/")
    with house.core.store.read() as rows:
        used = rows.query(Factor).one()
        assert used.counter > kept.counter
        login = rows.query(Audit).filter_by(action="login").order_by(Audit.number.desc()).first()
    assert login.details == {"how": "password", "factor": "passkey"}
    # A copy of the passkey, which has signed less often than the service has seen, is refused.
    with house.core.store.write() as rows:
        rows.query(Factor).one().counter = used.counter + 50
    house.sign_in()
    house.press("Use a passkey")
    page.get_by_text("This passkey is not yours here.").wait_for()
    with house.core.store.write() as rows:
        rows.query(Factor).one().counter = used.counter
    house.sign_in()
    house.press("Use a passkey")
    page.wait_for_url("**/")
    # The same authenticator is not registered twice.
    house.add_passkey("Again")
    page.get_by_text("The browser gave no passkey").wait_for()
    house.go("/account/second-factor/codes")
    house.look(found)
    house.go("/account/second-factor")
    house.look(found)
    page.get_by_role("link", name="This computer").click()
    page.wait_for_url("**/account/second-factor/*")
    house.look(found)
    page.locator("[name=password]").fill(PASSWORD)
    house.press("Use a passkey")
    page.get_by_text("The second factor has been removed.").wait_for()
    house.sign_in()
    page.wait_for_url("**/")
    house.go("/account/second-factor/app")
    page.fill("[name=password]", PASSWORD)
    house.press("Continue")
    page.get_by_role("img").wait_for()
    assert page.evaluate("document.images[0].naturalWidth") > 100
    house.look(found)
    assert found == {}
    assert house.faults == []


def test_an_answer_for_another_site_or_question_is_no_passkey(house: House) -> None:
    """The answer of a real authenticator, with one thing changed at a time."""
    house.sign_in()
    house.page.wait_for_url("**/")
    house.add_passkey("This computer")
    house.page.get_by_text("They are shown only once").wait_for()
    house.sign_in()
    house.page.wait_for_url("**/sign-in/second")
    answers: list[str] = []

    def hold(route: Any) -> None:
        answers.append(route.request.post_data)
        route.abort()

    house.page.route("**/sign-in/second", hold)
    with house.page.expect_event("requestfailed"):
        house.press("Use a passkey")
    sent = dict(parse_qsl(answers[0], keep_blank_values=True))
    cookies = {c["name"]: c["value"] for c in house.page.context.cookies()}
    right = json.loads(sent["answer"])

    def tried(answer: Any) -> str:
        client = Client.on(house.app)
        for name, value in cookies.items():
            client.cookies.set(name, value)
        data = {**sent, "answer": json.dumps(answer)}
        got = client.post("/sign-in/second", data=data, headers=HTML, follow_redirects=False)
        return str(got.status_code if got.status_code != 303 else got.headers["location"])

    def changed(**client_data: str) -> Any:
        was = json.loads(base64url_to_bytes(right["response"]["clientDataJSON"]))
        raw = bytes_to_base64url(json.dumps({**was, **client_data}).encode())
        return {**right, "response": {**right["response"], "clientDataJSON": raw}}

    assert tried(changed(origin="https://evil.test")) == "403"
    assert tried(changed(challenge=bytes_to_base64url(b"x" * 64))) == "403"
    assert tried({**right, "id": "unknown"}) == "403"
    data = bytearray(base64url_to_bytes(right["response"]["authenticatorData"]))
    data[0] ^= 1  # the hash of another relying party
    assert (
        tried(
            {**right, "response": {**right["response"], "authenticatorData": bytes_to_base64url(bytes(data))}}
        )
        == "403"
    )
    assert tried(right) == "/"
    assert tried(right) == "/sign-in?done=late"  # a question is answered once


def test_passkeys_need_a_name(anna: Client) -> None:
    """The service of this test is reached as 127.0.0.1."""
    refused = anna.post(f"{API}/account/passkeys/options", json={"password": PASSWORD})
    assert (refused.status_code, refused.json()["title"]) == (409, "No passkeys here")
    assert "need a service with a name" in Taken(anna.get("/account/second-factor", headers=HTML).text).words


def test_a_browser_comes_in_by_the_provider_and_signs_in_again(tmp_path: Path, browser: Any) -> None:
    """Cookies that are kept from other sites' pages, and a policy for forms, are in the way of neither."""
    if not is_installed():
        pytest.skip("The identity provider is not installed (./run test installs it)")
    port = free_port()
    real = RealProvider(tmp_path, f"http://localhost:{port}/sign-in/provider/callback")
    roles = "- {group: readers, organisation: Hospital, roles: [approver]}"
    settings = {"oidc_issuer": real.issuer, "oidc_client_id": "trustreport", "oidc_client_secret": SECRET}
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    with (
        real.running(),
        served(tmp_path, workers=False, host="localhost", port=port, oidc_roles=roles, **settings) as running,
    ):
        house, found = House(*running, context.new_page()), {}
        page = house.page
        real.knows("eve", "readers")
        house.go("/sign-in?next=/account")
        house.look(found)
        house.press("Sign in with 127.0.0.1")
        page.fill("[name=login]", "eve")
        page.fill("[name=password]", "x")
        page.get_by_role("button").click()
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url("**/account")
        page.get_by_text("where you sign in").wait_for()
        house.look(found)
        house.go("/account/provider")
        house.look(found)
        csrf = page.locator("[name=csrf]").first.input_value()
        page.evaluate(
            """csrf => { const f = document.createElement("form"); f.method = "post";
            f.action = "/account/provider/again"; f.innerHTML = `<input name=csrf value=${csrf}>`
            + "<input name=next value=/reports>"; document.body.append(f); f.submit(); }""",
            csrf,
        )
        page.fill("[name=login]", "eve")
        page.fill("[name=password]", "x")
        page.get_by_role("button").click()
        page.wait_for_url("**/reports")
        eve = only(house.core, User, subject="eve")
        assert only(house.core, Session, user=eve.id).proved_at
        assert (found, house.faults) == ({}, [])
    context.close()
