"""Items of OWASP ASVS 5.0.0 on passwords, sessions, links and codes, as docs/security.md names them."""

import pytest
from fastapi import FastAPI
from services import API, PASSWORD, Client
from zxcvbn import zxcvbn

from trustreport.service.access import common, secrets
from trustreport.service.access.principal import COOKIE
from trustreport.service.core import Core
from trustreport.service.storage.models import Factor


@pytest.mark.parametrize("weak", ["pfqwtd27121988", "badiman28200", "NICK1234-REM936", "ghjatccbjyfk"])
def test_v6_2_4_and_v6_2_12_what_leaked_most_often_is_refused(weak: str) -> None:
    """Also what looks random to the estimate of guesses; whichever letters are capital."""
    assert zxcvbn(weak.lower())["guesses"] >= secrets.GUESSES
    assert "have leaked" in secrets.weakness(weak)


def test_v6_2_4_the_list_has_far_more_than_3000_that_the_length_allows() -> None:
    assert len(common.known()) > 40_000
    assert common.known() == tuple(sorted(set(common.known())))
    assert not common.is_common("wintersturm im tal")


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
