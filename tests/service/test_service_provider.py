"""Signing in at an identity provider: a real one (npm's oidc-provider), and one that signs wrong answers."""

import base64
import hmac
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from identities import (
    CALLBACK,
    SECRET,
    FalseProvider,
    RealProvider,
    come_back,
    is_installed,
    onward,
    sign_in,
    through,
)
from joserfc import jwt
from joserfc.jwk import RSAKey
from pages import HTML, get, post
from services import API, PASSWORD, Client, new_core, only, stored, world

from trustreport.service.access.principal import COOKIE
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.provider import Provider, ProviderSettings, Request, provider_settings
from trustreport.service.report import page as reports
from trustreport.service.settings import Settings, Unsuitable
from trustreport.service.storage.models import Audit, User
from trustreport.service.web.faults import Fault

ROLES = """
- {group: readers, organisation: Hospital, roles: [viewer]}
- {group: approvers, organisation: Hospital, roles: [approver]}
- {group: elsewhere, organisation: Clinic, roles: [viewer]}
"""


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealProvider]:
    if not is_installed():
        pytest.skip("The identity provider is not installed (./run test installs it)")
    with RealProvider(tmp_path_factory.mktemp("provider")).running() as provider:
        yield provider


@dataclass
class House:
    """A service whose accounts come from the provider, and its first, local user."""

    core: Core
    app: FastAPI
    anna: Client

    def browser(self) -> Client:
        return Client.on(self.app)

    def actions(self, user: str) -> list[tuple[str, str]]:
        return [(e.actor, e.action) for e in stored(self.core, Audit, subject=user)]

    def user(self, email: str) -> User:
        return only(self.core, User, email=email)


def house(tmp_path: Path, issuer: str, **given: Any) -> House:
    wanted = {"oidc_roles": ROLES, **given}
    core = new_core(
        tmp_path / "data",
        public_url="https://testserver",
        oidc_issuer=issuer,
        oidc_client_id="trustreport",
        oidc_client_secret=SECRET,
        **wanted,
    )
    app = create_app(core)
    return House(core, app, Client.set_up(app, core))


@pytest.fixture
def ours(tmp_path: Path, real: RealProvider) -> Iterator[House]:
    made = house(tmp_path, real.issuer)
    yield made
    made.core.close()


def me(client: Client) -> dict[str, Any]:
    answer = client.get(f"{API}/session")
    assert answer.status_code == 200, answer.text
    client.headers["X-CSRF-Token"] = answer.json()["csrf"]
    return dict(answer.json())


def test_who_signs_in_there_has_the_roles_of_their_groups(ours: House, real: RealProvider) -> None:
    real.knows("eve", "readers", "choir")
    client, there = ours.browser(), real.browser()
    assert onward(sign_in(client, there, "eve", next="/devices?q=a")) == "/devices?q=a"
    eve = me(client)
    assert (eve["email"], eve["name"], eve["roles"]) == ("eve@hospital.test", "Eve", ["viewer"])
    assert "identity provider" in get(client, "/account").words
    assert ("provider", "user.add") in ours.actions(eve["user"])
    # The same person again, also under another address, is the same account.
    real.knows("eve", "readers", "approvers", email="new@hospital.test")
    other = ours.browser()
    sign_in(other, there, "eve")
    assert (me(other)["user"], me(other)["roles"]) == (eve["user"], ["approver", "viewer"])
    assert client.get(f"{API}/session").status_code == 401  # its roles were others
    # The group taken away takes the role, and every session; then there is no way in.
    token = other.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]}).json()["secret"]
    real.knows("eve", "choir")
    third = ours.browser()
    refused = sign_in(third, there, "eve")
    assert (refused.status_code, "No role here" in refused.text) == (403, True)
    assert COOKIE not in third.cookies
    assert other.get(f"{API}/session").status_code == 401
    robot = Client.on(ours.app)
    assert robot.get(f"{API}/studies", headers={"Authorization": f"Bearer {token}"}).status_code == 403
    assert ours.user("eve@hospital.test").roles == []
    assert ("provider", "user.change") in ours.actions(eve["user"])


def test_a_group_elsewhere_gives_nothing_here(ours: House, real: RealProvider) -> None:
    for login, groups, reason in (
        ("nobody", (), "You have no account here"),
        ("both", ("readers", "elsewhere"), "several organisations"),
        ("far", ("elsewhere",), "does not exist in this service"),
    ):
        real.knows(login, *groups)
        refused = sign_in(ours.browser(), real.browser(), login)
        assert (refused.status_code, reason in refused.text) == (403, True), refused.text
    real.knows("liar", "readers", email_verified=False)
    assert "not verified" in sign_in(ours.browser(), real.browser(), "liar").text
    ours.anna.found("Clinic", "c@clinic.test")
    client = ours.browser()
    sign_in(client, real.browser(), "far")
    assert me(client)["organisation"] != ours.anna.me["organisation"]


def test_an_address_alone_binds_no_account(ours: House, real: RealProvider) -> None:
    real.knows("anna", "readers")  # with the address of the local account
    there = real.browser()
    refused = sign_in(ours.browser(), there, "anna")
    assert (refused.status_code, "connect it on the account page" in refused.text) == (403, True)
    assert ours.user("anna@hospital.test").subject is None
    wrong = post(ours.anna, "/account/provider", "/account/provider", password=PASSWORD[:-1])
    assert (wrong.status_code, "Password is wrong" in wrong.text) == (403, True)
    target = onward(post(ours.anna, "/account/provider", "/account/provider", password=PASSWORD))
    done = come_back(ours.anna, through(there, target, "anna")[0])
    assert onward(done) == "/account/provider?done=connected"
    assert ours.user("anna@hospital.test").subject == "anna"
    # Nobody else gets the same person.
    dora = ours.anna.invite("dora@hospital.test", "admin")
    target = onward(post(dora, "/account/provider", "/account/provider", password=PASSWORD))
    refused = come_back(dora, through(there, target, "anna")[0])
    assert (refused.status_code, "Bound already" in refused.text) == (409, True)
    # Her roles are now those of her groups, and nobody sets them here.
    path = f"{API}/users/{ours.anna.me['user']}"
    assert dora.patch(path, json={"roles": ["admin"]}).json()["title"] == "Not here"
    client = ours.browser()
    sign_in(client, there, "anna")
    assert me(client)["roles"] == ["viewer"]
    # She cannot leave with roles that her groups may not have tomorrow; an administrator can let her.
    typed = {"csrf": client.headers["X-CSRF-Token"], "password": PASSWORD}
    refused = client.post("/account/provider/removal", data=typed, headers=HTML)
    assert (refused.status_code, "Not by oneself" in refused.text) == (403, True)
    user = f"/admin/users/{ours.anna.me['user']}"
    assert post(dora, user, f"{user}/identity").status_code == 303
    assert ours.user("anna@hospital.test").subject is None
    assert client.get(f"{API}/session").status_code == 401
    local = Client.logged_in(ours.app, "anna@hospital.test")
    assert "took away your second factors, or" in get(local, "/account").words
    assert dora.delete(f"{path}/identity").status_code == 409


def test_every_signature_asks_for_a_fresh_sign_in(
    ours: House, real: RealProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = reports.ReportOutcome((), (), 0, 0, ())
    monkeypatch.setattr(reports, "outcome_of", lambda *results: outcome)  # the row has none
    real.knows("carl", "approvers")
    report = world(ours.core, ours.anna)["report"]
    client, there = ours.browser(), real.browser()
    sign_in(client, there, "carl")
    me(client)
    page = f"/reports/{report}"
    signing = {"act": "rejection", "meaning": "Incomplete."}
    path = f"{API}/reports/{report}/attestations"
    for given in ({}, {"password": "anything"}):
        refused = client.post(path, json={**signing, **given})
        assert (refused.status_code, refused.json()["title"]) == (403, "Sign in again")
    assert f"{page}/attestations" not in [f["action"] for f in get(client, page).forms]
    target = onward(post(client, page, "/account/provider/again"))
    assert {"prompt=login", "max_age=0"} <= set(target.split("?")[1].split("&"))
    back, prompts = through(there, target, "carl")
    assert prompts[0] == "login"  # although the browser is signed in there
    assert onward(come_back(client, back)) == f"{page}#signatures"
    signed = post(client, page, f"{page}/attestations", **signing)
    assert (signed.status_code, signed.headers["location"]) == (303, f"{page}?done=signed#signatures")
    said = client.get(f"{API}/reports/{report}/attestations").json()["items"][0]["id"]
    account = json.loads(client.get(f"{API}/attestations/{said}/statement").content)["account"]
    assert (account["issuer"], account["subject"], account["link_by"]) == (real.issuer, "carl", "provider")
    # It was good for one signature.
    assert client.post(path, json=signing).json()["title"] == "Sign in again"
    # Somebody else's sign-in is good for none.
    real.knows("eve", "readers")
    target = onward(post(client, page, "/account/provider/again"))
    refused = come_back(client, through(real.browser(), target, "eve")[0])
    assert (refused.status_code, "Somebody else" in refused.text) == (403, True)
    assert client.post(path, json=signing).json()["title"] == "Sign in again"


def test_an_administrators_link_signs_for_no_account_of_the_provider(ours: House, real: RealProvider) -> None:
    real.knows("carl", "approvers")
    report = world(ours.core, ours.anna)["report"]
    client = ours.browser()
    sign_in(client, real.browser(), "carl")
    link = ours.anna.post(f"{API}/users/{me(client)['user']}/invitation").json()["invitation"]
    impostor = ours.anna.accept(link)
    refused = impostor.signs(report, "approval")
    assert (refused.status_code, refused.json()["title"]) == (403, "Not confirmed")


def test_state_and_browser_must_be_those_that_began(ours: House, real: RealProvider) -> None:
    real.knows("eve", "readers")
    client, there = ours.browser(), real.browser()
    target = onward(post(client, "/sign-in", "/sign-in/provider"))
    back = through(there, target, "eve")[0]
    stranger = ours.browser()
    refused = come_back(stranger, back)
    assert (refused.status_code, "Too late" in refused.text, COOKIE in stranger.cookies) == (403, True, False)
    refused = come_back(client, back.replace("state=", "state=x"))
    assert (refused.status_code, "Not begun here" in refused.text) == (403, True)
    assert come_back(client, back).status_code == 403  # a step is taken once
    target = onward(post(client, "/sign-in", "/sign-in/provider"))
    refused = come_back(
        client, f"{CALLBACK}?error=access_denied&state={target.split('state=')[1].split('&')[0]}"
    )
    assert (refused.status_code, "did not sign in" in refused.text) == (403, True)
    target = onward(post(client, "/sign-in", "/sign-in/provider"))
    back = through(there, target, "eve")[0]
    refused = come_back(client, back.replace("iss=http", "iss=https"))
    assert (refused.status_code, "Not begun here" in refused.text) == (403, True)


def test_passwords_can_be_switched_off_for_accounts_of_the_provider(
    tmp_path: Path, real: RealProvider
) -> None:
    made = house(tmp_path, real.issuer, oidc_roles="", oidc_only=1)
    real.knows("dora")
    dora = made.anna.invite("dora@hospital.test", "approver")
    target = onward(post(dora, "/account/provider", "/account/provider", password=PASSWORD))
    there = real.browser()
    come_back(dora, through(there, target, "dora")[0])
    refused = Client.on(made.app).post(
        f"{API}/session", json={"email": "dora@hospital.test", "password": PASSWORD}
    )
    assert (refused.status_code, refused.json()["title"]) == (403, "Not here")
    link = made.anna.post(f"{API}/users/{dora.me['user']}/invitation")
    assert (link.status_code, link.json()["title"]) == (409, "Not here")
    client = made.browser()
    sign_in(client, there, "dora")
    assert me(client)["roles"] == ["approver"]  # without a mapping they stay what they are here
    made.core.close()


def test_an_account_with_roles_of_its_own_may_leave_the_provider(tmp_path: Path, real: RealProvider) -> None:
    made = house(tmp_path, real.issuer, oidc_roles="")
    real.knows("anna")
    target = onward(post(made.anna, "/account/provider", "/account/provider", password=PASSWORD))
    come_back(made.anna, through(real.browser(), target, "anna")[0])
    credentials = {"email": "anna@hospital.test", "password": PASSWORD}
    assert made.browser().post(f"{API}/session", json=credentials).status_code == 201
    with made.core.store.write() as rows:  # nobody has vouched for her for long
        rows.query(User).filter_by(subject="anna").one().provider_at -= 31 * 86_400_000
    assert made.browser().post(f"{API}/session", json=credentials).json()["title"] == "Not here"
    # An account changes hands by no connection of its own.
    real.knows("eve")
    typed = {"csrf": made.anna.me["csrf"], "password": PASSWORD}
    target = onward(made.anna.post("/account/provider", data=typed, headers=HTML))
    refused = come_back(made.anna, through(real.browser(), target, "eve")[0])
    assert (refused.status_code, "bound to another account" in refused.text) == (409, True)
    done = post(made.anna, "/account/provider", "/account/provider/removal", password=PASSWORD)
    assert done.headers["location"] == "/account/provider?done=disconnected"
    assert made.browser().post(f"{API}/session", json=credentials).status_code == 201
    made.core.close()


def test_a_provider_that_is_away_leaves_the_local_way_in(tmp_path: Path) -> None:
    made = house(tmp_path, "http://127.0.0.1:9")
    client = made.browser()
    refused = post(client, "/sign-in", "/sign-in/provider")
    assert (refused.status_code, "does not answer" in refused.text) == (503, True)
    done = post(client, "/sign-in", "/sign-in", email="anna@hospital.test", password=PASSWORD)
    assert done.status_code == 303
    made.core.close()


def test_tokens_of_an_account_rest_when_nobody_vouches_for_it(ours: House, real: RealProvider) -> None:
    real.knows("eve", "readers")
    client, there = ours.browser(), real.browser()
    sign_in(client, there, "eve")
    me(client)
    secret = client.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]}).json()["secret"]
    robot = {"Authorization": f"Bearer {secret}"}
    assert ours.browser().get(f"{API}/studies", headers=robot).status_code == 200
    with ours.core.store.write() as rows:
        rows.query(User).filter_by(subject="eve").one().provider_at -= 31 * 86_400_000
    assert ours.browser().get(f"{API}/studies", headers=robot).status_code == 401
    sign_in(ours.browser(), there, "eve")
    assert ours.browser().get(f"{API}/studies", headers=robot).status_code == 200


def test_settings_that_contradict_are_refused_together(tmp_path: Path) -> None:
    given = Settings(
        tmp_path,
        oidc_issuer="http://sso.hospital.test",
        oidc_scopes="email",
        oidc_roles="- {group: a, organisation: b, roles: [king]}\n- nonsense",
    )
    with pytest.raises(Unsuitable) as caught:
        provider_settings(given)
    for part in ("OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_SCOPES", "entry 1", "entry 2"):
        assert part in str(caught.value)
    with pytest.raises(Unsuitable, match="OIDC_ISSUER is not"):
        provider_settings(Settings(tmp_path, oidc_client_id="x"))
    assert provider_settings(Settings(tmp_path)) is None


def test_without_a_provider_there_is_no_way_there(anna: Client) -> None:
    assert "/sign-in/provider" not in anna.get("/sign-in", headers=HTML).text
    client = Client.on(anna.app)
    get(client, "/sign-in")
    csrf = get(client, "/sign-in").form("/sign-in")["csrf"]
    assert client.post("/sign-in/provider", data={"csrf": csrf}, headers=HTML).status_code == 404


@pytest.fixture(scope="module")
def false() -> Iterator[FalseProvider]:
    with FalseProvider().running() as provider:
        yield provider


@pytest.fixture
def client(false: FalseProvider) -> Provider:
    false.metadata = {**false.metadata, "issuer": false.issuer}
    return Provider(
        ProviderSettings(false.issuer, "trustreport", SECRET, "openid", "groups", (), "x", CALLBACK)
    )


def test_the_right_token_is_taken(false: FalseProvider, client: Provider) -> None:
    sent = Request.new()
    false.fill(sent.nonce)
    got = client.identity(sent, "code")
    assert (got.issuer, got.subject, got.email, got.groups) == (false.issuer, "s1", "x@h.test", ("g",))
    false.fill(sent.nonce, groups=None, realm_access={"roles": ["deep"]})
    nested = Provider(replace(client.settings, groups_claim="realm_access.roles"))
    assert nested.identity(sent, "code").groups == ("deep",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "somebody else"},
        {"aud": "somebody else", "azp": "trustreport"},
        {"aud": ["trustreport", "somebody else"]},  # without azp
        {"azp": "somebody else"},
        {"iss": "https://evil.test"},
        {"exp": 1_700_000_000},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"iat": 9_999_999_999},
    ],
    ids=str,
)
def test_a_token_with_a_wrong_claim_is_refused(
    false: FalseProvider, client: Provider, wrong: dict[str, Any]
) -> None:
    sent = Request.new()
    false.fill(sent.nonce, **wrong)
    with pytest.raises(Fault) as caught:
        client.identity(sent, "code")
    assert (caught.value.status, caught.value.title) == (502, "Not taken")


def plain(head: dict[str, str]) -> str:
    """The head of a token."""
    return base64.urlsafe_b64encode(json.dumps(head).encode()).decode().rstrip("=")


@pytest.mark.parametrize("how", ["another key", "no key", "the client's secret", "the public key", "changed"])
def test_a_token_with_a_wrong_signature_is_refused(false: FalseProvider, client: Provider, how: str) -> None:
    sent = Request.new()
    false.fill(sent.nonce)
    if how == "another key":
        false.token = jwt.encode({"alg": "RS256", "kid": "one"}, false.claims, RSAKey.generate_key(2048))
    elif how == "no key":
        false.token = f"{plain({'alg': 'none'})}.{false.token.split('.')[1]}."
    elif how == "changed":
        head, body, signature = false.token.split(".")
        false.fill(sent.nonce, sub="another")
        false.token = f"{head}.{false.token.split('.')[1]}.{signature}"
    else:
        key = SECRET.encode() if how == "the client's secret" else false.key.as_pem(private=False)
        body = false.token.split(".")[1]
        signed = f"{plain({'alg': 'HS256'})}.{body}"
        digest = hmac.digest(key, signed.encode(), "sha256")
        false.token = f"{signed}.{base64.urlsafe_b64encode(digest).decode().rstrip('=')}"
    with pytest.raises(Fault) as caught:
        client.identity(sent, "code")
    assert caught.value.status == 502


def test_what_is_older_than_asked_for_is_not_fresh(false: FalseProvider, client: Provider) -> None:
    sent, at = Request.new(), int(time.time())
    for wrong in (at - 600, None):
        false.fill(sent.nonce, auth_time=wrong)
        with pytest.raises(Fault, match="Not signed in anew"):
            client.identity(sent, "code", since=at)
    false.fill(sent.nonce)
    assert client.identity(sent, "code", since=at).subject == "s1"


def test_userinfo_is_of_the_same_person(false: FalseProvider, client: Provider) -> None:
    sent = Request.new()
    false.metadata = {**false.metadata, "userinfo_endpoint": f"{false.issuer}/me"}
    false.fill(sent.nonce, groups=None)
    false.userinfo = {"sub": "s1", "groups": ["more"], "email": "other@h.test"}
    got = client.identity(sent, "code")
    assert (got.groups, got.email) == (("more",), "x@h.test")
    false.userinfo["sub"] = "s2"
    with pytest.raises(Fault, match="Not taken"):
        client.identity(sent, "code")
    del false.metadata["userinfo_endpoint"]


def test_a_provider_that_says_it_is_another_is_refused(false: FalseProvider, client: Provider) -> None:
    false.metadata = {**false.metadata, "issuer": "https://evil.test"}
    with pytest.raises(Fault, match="Not taken"):
        client.address(Request.new())


def test_a_new_key_of_the_provider_is_fetched(false: FalseProvider, client: Provider) -> None:
    sent = Request.new()
    false.fill(sent.nonce)
    assert client.identity(sent, "code").subject == "s1"
    false.key = RSAKey.generate_key(2048, {"kid": "one"})
    false.fill(sent.nonce)
    assert client.identity(sent, "code").subject == "s1"
