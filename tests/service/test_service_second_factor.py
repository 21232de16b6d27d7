"""Second factors of local accounts: codes of an app, passkeys, recovery codes, and administrators."""

import base64
import json
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import cbor2
import pyotp
import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fastapi import FastAPI
from pages import HTML, get, post
from services import API, PASSWORD, Client, new_core, only, stored, world
from webauthn.helpers import bytes_to_base64url

from trustreport.service.access import passkeys, second_factor, secrets
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Audit, Factor, RecoveryCode, Session

ANNA = {"email": "anna@hospital.test", "password": PASSWORD}
STEP = second_factor.STEP


class Clock:
    """The time of codes, moved by tests: a code is of use once."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def time(self) -> float:
        return self.at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(second_factor, "time", clock)
    return clock


class App:
    """The app on somebody's phone."""

    def __init__(self, secret: str, clock: Clock) -> None:
        self.totp, self.clock = pyotp.TOTP(secret, digest=sha256), clock

    def code(self, later: int = 1) -> str:
        """A code that was not shown yet."""
        self.clock.at += later * STEP
        return self.totp.at(int(self.clock.at))


def enrol(client: Client, clock: Clock) -> tuple[App, list[str]]:
    """Set up an app; it, and the recovery codes."""
    made = client.post(f"{API}/account/totp", json={"password": PASSWORD})
    assert made.status_code == 201, made.text
    app = App(made.json()["secret"], clock)
    done = client.post(f"{API}/account/totp/confirmation", json={"code": app.code()})
    assert done.status_code == 201, done.text
    return app, list(done.json()["recovery_codes"])


def log_in(app: FastAPI, code: str = "", **who: str) -> Any:
    given = {**ANNA, **who, **({"code": code} if code else {})}
    return Client.on(app).post(f"{API}/session", json=given)


def test_signing_in_takes_password_and_code_each_code_once(app: FastAPI, anna: Client, clock: Clock) -> None:
    phone, _ = enrol(anna, clock)
    without = log_in(app)
    assert (without.status_code, without.json()["title"]) == (401, "Second factor needed")
    code = phone.code()
    wrong = log_in(app, f"{(int(code) + 1) % 1_000_000:06}")
    assert (wrong.status_code, wrong.json()["title"]) == (403, "Second factor is wrong")
    assert log_in(app, code, password="x" * 12).json()["title"] == "Not known"
    assert log_in(app, f"{code[:3]} {code[3:]}").status_code == 201
    assert log_in(app, code).status_code == 403  # shoulder surfers come too late
    clock.at -= STEP
    assert log_in(app, phone.totp.at(int(clock.at))).status_code == 403  # so do those with an earlier one
    clock.at += STEP
    assert log_in(app, phone.code()).status_code == 201


def test_v6_5_5_a_code_is_good_for_30_seconds(app: FastAPI, anna: Client, clock: Clock) -> None:
    phone, _ = enrol(anna, clock)
    clock.at += STEP - clock.at % STEP
    for later, status in ((STEP, 403), (-1, 403), (STEP - 1, 201)):
        code = phone.code()
        clock.at += later
        assert log_in(app, code).status_code == status, later
        clock.at += STEP - clock.at % STEP


def test_v11_4_1_codes_are_of_sha_256(anna: Client, clock: Clock) -> None:
    made = anna.post(f"{API}/account/totp", json={"password": PASSWORD}).json()
    assert "algorithm=SHA256" in made["address"]
    assert len(base64.b32decode(made["secret"] + "=" * (-len(made["secret"]) % 8))) * 8 >= 256
    old = pyotp.TOTP(made["secret"]).at(int(clock.at))  # SHA-1, which most libraries take if nothing is said
    refused = anna.post(f"{API}/account/totp/confirmation", json={"code": old})
    assert (refused.status_code, "SHA-256" in refused.json()["detail"]) == (403, True)


def test_codes_are_throttled_over_an_hour(app: FastAPI, anna: Client, clock: Clock) -> None:
    phone, codes = enrol(anna, clock)
    tried = [log_in(app, "000000").status_code for _ in range(11)]
    assert tried == [403] * 10 + [429]
    right = log_in(app, phone.code())
    assert right.status_code == 429
    assert int(right.headers["Retry-After"]) > 600
    assert log_in(app, codes[0]).status_code == 201  # not guessed, so not counted


def test_recovery_codes_work_once_and_are_kept_as_hashes(
    light: Core, app: FastAPI, anna: Client, clock: Clock
) -> None:
    phone, codes = enrol(anna, clock)
    assert len(set(codes)) == second_factor.CODES
    assert log_in(app, codes[0].upper().replace("-", " ")).status_code == 201
    assert log_in(app, codes[0]).status_code == 403
    with light.store.read() as rows:
        kept = str([(r.hash, r.user) for r in rows.query(RecoveryCode)])
        assert second_factor.recovery_codes_left(rows, anna.me["user"]) == 9
    assert not [code for code in codes if code in kept or code.replace("-", "") in kept]
    both = {"password": PASSWORD, "code": phone.code()}
    new = anna.post(f"{API}/account/recovery-codes", json=both).json()["codes"]
    assert log_in(app, codes[1]).status_code == 403
    assert log_in(app, new[0]).status_code == 201
    # Those of another account are nobody's here.
    carl = anna.invite("carl@hospital.test", "viewer")
    enrol(carl, clock)
    assert log_in(app, new[1], email="carl@hospital.test").status_code == 403


def test_an_app_counts_once_a_code_was_confirmed(app: FastAPI, anna: Client, clock: Clock) -> None:
    assert anna.post(f"{API}/account/totp", json={"password": "x"}).status_code == 403
    made = anna.post(f"{API}/account/totp", json={"password": PASSWORD}).json()
    assert log_in(app).status_code == 201
    phone = App(made["secret"], clock)
    wrong = anna.post(f"{API}/account/totp/confirmation", json={"code": "12345"})
    assert (wrong.status_code, wrong.json()["title"]) == (403, "Code is wrong")
    code = phone.code()
    assert anna.post(f"{API}/account/totp/confirmation", json={"code": code}).status_code == 201
    assert log_in(app, code).status_code == 403  # used up by that
    assert anna.post(f"{API}/account/totp", json={"password": PASSWORD}).json()["title"] == "There is one"
    assert f"secret={made['secret']}" in made["address"]


def test_the_secret_of_an_app_is_not_in_the_database(light: Core, anna: Client, clock: Clock) -> None:
    phone, _ = enrol(anna, clock)
    row = only(light, Factor)
    assert phone.totp.secret not in row.secret
    assert secrets.unseal(light.signer, row.secret, anna.me["user"]) == phone.totp.secret
    with pytest.raises(InvalidTag):
        secrets.unseal(light.signer, row.secret, "somebody else")


def test_a_factor_of_another_key_is_wrong_and_breaks_nothing(
    light: Core, app: FastAPI, anna: Client, clock: Clock
) -> None:
    phone, codes = enrol(anna, clock)
    with light.store.write() as rows:
        rows.query(Factor).one().secret = secrets.seal(light.signer, phone.totp.secret, "somebody else")
    assert log_in(app, phone.code()).status_code == 403
    assert log_in(app, codes[0]).status_code == 201


def test_switching_off_takes_password_and_code(light: Core, app: FastAPI, anna: Client, clock: Clock) -> None:
    phone, _ = enrol(anna, clock)
    (factor,) = anna.get(f"{API}/account/factors").json()["items"]
    path = f"{API}/account/factors/{factor['id']}/removal"
    for given in (
        {"password": PASSWORD},
        {"password": PASSWORD, "code": "000000"},
        {"password": "x", "code": phone.code()},
    ):
        assert anna.post(path, json=given).status_code == 403
    assert log_in(app).status_code == 401
    assert anna.post(path, json={"password": PASSWORD, "code": phone.code()}).status_code == 204
    assert log_in(app).status_code == 201
    assert len(stored(light, RecoveryCode)) == 0
    actions = [e.action for e in stored(light, Audit, actor=anna.me["user"])]
    assert {"factor.add", "factor.refused", "factor.remove"} <= set(actions)


def test_a_token_sees_and_changes_no_factor(app: FastAPI, anna: Client, clock: Clock) -> None:
    enrol(anna, clock)
    scopes = {"name": "t", "scopes": ["read", "manage"]}
    secret = anna.post(f"{API}/tokens", json=scopes).json()["secret"]
    robot = Client.on(app)
    robot.headers["Authorization"] = f"Bearer {secret}"
    assert robot.get(f"{API}/account/factors").status_code == 403
    for path in ("totp", "passkeys/options"):
        assert robot.post(f"{API}/account/{path}", json={"password": PASSWORD}).status_code == 403
    both = {"password": PASSWORD, "code": "000000"}
    assert robot.post(f"{API}/account/recovery-codes", json=both).status_code == 403


def test_an_administrator_who_takes_factors_away_cannot_sign_as_their_owner(
    light: Core, app: FastAPI, anna: Client, clock: Clock
) -> None:
    report = world(light, anna)["report"]
    carl = anna.invite("carl@hospital.test", "approver")
    eve = anna.invite("eve@hospital.test", "reviewer")
    enrol(carl, clock)
    user = f"{API}/users/{carl.me['user']}"
    assert anna.delete(f"{API}/users/{anna.me['user']}/factors").json()["title"] == "Not on oneself"
    assert eve.delete(f"{user}/factors").status_code == 403
    # A new password alone does not let its holder in: the second factor stays.
    link = anna.post(f"{user}/invitation").json()["invitation"]
    taken = Client.on(app).post(f"{API}/invitations", json={"link": link, "password": PASSWORD})
    assert (taken.status_code, taken.json()["title"]) == (401, "Second factor needed")
    assert log_in(app, email="carl@hospital.test").status_code == 401
    dora = anna.invite("dora@hospital.test", "admin")
    assert dora.delete(f"{user}/factors").status_code == 204
    assert carl.get(f"{API}/session").status_code == 401
    impostor = Client.logged_in(app, "carl@hospital.test")
    signing = {"act": "approval", "meaning": "Complete.", "password": PASSWORD}
    path = f"{API}/reports/{report}/attestations"
    assert impostor.post(path, json=signing).json()["title"] == "Not confirmed"
    assert "took away your second factors, or" in get(impostor, "/account").words
    for who in (anna, dora, impostor):  # who made the link, who took factors away, the account itself
        assert who.post(f"{user}/confirmation").status_code == 403
    assert eve.post(f"{user}/confirmation").status_code == 204
    assert impostor.post(path, json=signing).status_code == 201
    entry = only(light, Audit, action="factor.reset")
    assert (entry.actor, entry.subject, entry.details) == (dora.me["user"], carl.me["user"], {"factors": 1})
    assert dora.delete(f"{user}/factors").status_code == 409


def test_an_organisation_can_require_a_second_factor(
    app: FastAPI, anna: Client, bob: Client, clock: Clock
) -> None:
    path = f"{API}/organisation/second-factor"
    carl = anna.invite("carl@hospital.test", "author")
    secret = carl.post(f"{API}/tokens", json={"name": "t", "scopes": ["read"]}).json()["secret"]
    assert carl.put(path, json={"required": True}).status_code == 403
    assert anna.put(path, json={"required": True}).json()["second_factor"] is True
    for client in (anna, carl):
        refused = client.get(f"{API}/studies")
        assert (refused.status_code, refused.json()["title"]) == (403, "Second factor needed")
    assert anna.put(path, json={"required": False}).status_code == 403
    new = {"name": "x", "admin_email": "x@x.test", "admin_name": "x"}
    assert anna.post(f"{API}/organisations", json=new).status_code == 403
    assert anna.post(f"{API}/tokens", json={"name": "x", "scopes": ["read"]}).status_code in (403, 422)
    assert bob.get(f"{API}/studies").status_code == 200  # another organisation
    robot = {"Authorization": f"Bearer {secret}"}
    assert Client.on(app).get(f"{API}/studies", headers=robot).status_code == 200
    typed = {"email": "carl@hospital.test", "password": PASSWORD}
    browser = Client.on(app)
    done = post(browser, "/sign-in", "/sign-in", **typed)
    assert done.headers["location"] == "/account/second-factor"
    assert "required here" in get(browser, "/account/second-factor").words
    locked = browser.get("/studies", headers=HTML)
    assert (locked.status_code, 'href="/account/second-factor"' in locked.text) == (403, True)
    enrol(carl, clock)
    assert carl.get(f"{API}/studies").status_code == 200


def test_the_service_can_require_a_second_factor(tmp_path: Path) -> None:
    core = new_core(tmp_path / "data", second_factor=1)
    anna = Client.set_up(create_app(core), core)
    assert anna.me["must_enrol"] is True
    assert anna.get(f"{API}/studies").status_code == 403
    core.close()


def test_the_pages_set_up_an_app_and_ask_for_its_codes(
    light: Core, app: FastAPI, anna: Client, clock: Clock
) -> None:
    page = "/account/second-factor/app"
    begun = post(anna, page, page, password=PASSWORD)
    assert begun.status_code == 200
    assert 'src="data:image/svg+xml' in begun.text
    secret = begun.text.split('tabindex="0">')[1].split("<")[0]
    phone = App(secret, clock)
    csrf = {"csrf": anna.me["csrf"]}
    wrong = anna.post(f"{page}/confirmation", data={**csrf, "code": "1"}, headers=HTML)
    assert (wrong.status_code, "Code is wrong" in wrong.text) == (403, True)
    done = anna.post(f"{page}/confirmation", data={**csrf, "code": phone.code()}, headers=HTML)
    assert done.text.count('<li><code class="code"') == second_factor.CODES
    browser = Client.on(app)
    led = post(browser, "/sign-in", "/sign-in", next="/devices", **ANNA)
    assert led.headers["location"] == "/sign-in/second"
    assert browser.get("/studies", headers=HTML, follow_redirects=False).status_code == 303
    wrong = post(browser, "/sign-in/second", "/sign-in/second", code="1")
    assert (wrong.status_code, "Second factor is wrong" in wrong.text) == (403, True)
    done = post(browser, "/sign-in/second", "/sign-in/second", code=phone.code())
    assert (done.status_code, done.headers["location"]) == (303, "/devices")
    get(browser, "/devices")
    again = browser.post("/sign-in/second", data={"csrf": ""}, headers=HTML, follow_redirects=False)
    assert again.status_code == 403
    assert browser.get("/sign-in/second", follow_redirects=False).headers["location"] == "/sign-in?done=late"
    # The other pages about it.
    (link,) = [x for x in get(anna, "/account/second-factor").links if len(x.split("/")[-1]) == 26]
    assert post(anna, link, link, name="Work phone").status_code == 303
    assert "Work phone" in get(anna, "/account").words
    codes = "/account/second-factor/codes"
    renewed = post(anna, codes, codes, password=PASSWORD, code=phone.code())
    assert renewed.text.count('<li><code class="code"') == second_factor.CODES
    wrong = post(anna, link, f"{link}/removal", password=PASSWORD, code="1")
    assert (wrong.status_code, "Second factor is wrong" in wrong.text) == (403, True)
    assert post(anna, link, f"{link}/removal", password=PASSWORD, code=phone.code()).status_code == 303
    assert "password alone" in get(anna, "/account").words


def test_five_wrong_tries_ask_for_the_password_again(app: FastAPI, anna: Client, clock: Clock) -> None:
    phone, _ = enrol(anna, clock)
    browser = Client.on(app)
    post(browser, "/sign-in", "/sign-in", **ANNA)
    for _ in range(5):
        assert post(browser, "/sign-in/second", "/sign-in/second", code="1").status_code == 403
    late = post(browser, "/sign-in/second", "/sign-in/second", code=phone.code())
    assert late.headers["location"] == "/sign-in?done=late"


def test_sessions_say_where_they_are_and_end_one_by_one(light: Core, app: FastAPI, anna: Client) -> None:
    agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0"
    other = Client.on(app)
    other.headers["User-Agent"] = agent
    other._came_in(other.post(f"{API}/session", json=ANNA))
    listed = anna.get(f"{API}/sessions").json()["items"]
    (theirs,) = [s for s in listed if not s["current"]]
    assert (theirs["browser"], theirs["address"]) == ("Firefox on Windows", "testclient")
    assert "Firefox on Windows" in get(anna, "/account").words
    carl = anna.invite("carl@hospital.test", "viewer")
    assert carl.delete(f"{API}/sessions/{theirs['id']}").status_code == 404
    done = post(anna, "/account", f"/sessions/{theirs['id']}/end")
    assert (done.status_code, done.headers["location"]) == (303, "/account?done=session")
    assert other.get(f"{API}/session").status_code == 401
    assert anna.get(f"{API}/session").status_code == 200
    # An administrator ends those of a user.
    user = f"/admin/users/{carl.me['user']}"
    assert post(anna, user, f"{user}/sessions").status_code == 303
    assert carl.get(f"{API}/session").status_code == 401
    entry = only(light, Audit, action="session.end", subject=carl.me["user"])
    assert (entry.actor, entry.details) == (anna.me["user"], {"sessions": 1})
    assert len(stored(light, Session, user=carl.me["user"])) == 0


def test_the_clock_of_codes_is_the_machines_own() -> None:
    secret = second_factor.new_app_secret()
    code = pyotp.TOTP(secret, digest=sha256)
    here = int(time.time())
    tried = [
        second_factor.used_step(secret, code.at(at), 0) for at in (here, here + STEP)
    ]  # it may go on meanwhile
    assert {here // STEP, here // STEP + 1} & set(tried)


def test_one_code_lets_one_of_several_at_once_in(core: Core, clock: Clock) -> None:
    """Also on PostgreSQL, where transactions do not wait for each other by themselves."""
    app = create_app(core)
    anna = Client.set_up(app, core)
    phone, codes = enrol(anna, clock)
    for code in (phone.code(), codes[0]):
        with ThreadPoolExecutor(6) as pool:
            got = list(pool.map(lambda _: log_in(app, code).status_code, range(6)))  # noqa: B023 -- over within the round
        assert sorted(got) == [201, *[403] * 5]


KEY = ec.generate_private_key(ec.SECP256R1())
NUMBERS = KEY.public_key().public_numbers()
COSE = {1: 2, 3: -7, -1: 1, -2: NUMBERS.x.to_bytes(32, "big"), -3: NUMBERS.y.to_bytes(32, "big")}
CHALLENGE = bytes_to_base64url(b"c" * 64)


def signed(origin: str, challenge: str, site: str, count: int) -> str:
    """What a browser sends of an authenticator that signed all this."""
    client = json.dumps({"type": "webauthn.get", "challenge": challenge, "origin": origin}).encode()
    data = sha256(site.encode()).digest() + b"\x05" + count.to_bytes(4, "big")
    signature = KEY.sign(data + sha256(client).digest(), ec.ECDSA(SHA256()))
    parts = {"clientDataJSON": client, "authenticatorData": data, "signature": signature}
    name = bytes_to_base64url(b"id")
    response = {part: bytes_to_base64url(raw) for part, raw in parts.items()}
    return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})


@pytest.mark.parametrize(
    "changed, is_taken",
    [
        ({}, True),
        ({"origin": "https://evil.test"}, False),
        ({"challenge": bytes_to_base64url(b"d" * 64)}, False),
        ({"site": "evil.test"}, False),
        ({"count": 7}, False),
    ],
    ids=str,
)
def test_a_right_signature_of_something_else_proves_nothing(
    tmp_path: Path, changed: dict[str, str], is_taken: bool
) -> None:
    settings = Settings(tmp_path, public_url="https://reports.test")
    right = {"origin": "https://reports.test", "challenge": CHALLENGE, "site": "reports.test", "count": 8}
    key = bytes_to_base64url(cbor2.dumps(COSE))
    factor = Factor(kind="passkey", secret=key, credential=bytes_to_base64url(b"id"), counter=7)
    found = passkeys.proved(settings, [factor], signed(**{**right, **changed}), CHALLENGE)
    assert found == ((factor, 8) if is_taken else None)
