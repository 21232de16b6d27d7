"""What a provider answers is checked: claims, signatures and times of tokens that a false one signs."""

import base64
import hmac
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from identities import CALLBACK, SECRET, FalseProvider
from joserfc import jwt
from joserfc.jwk import RSAKey

from trustreport.service.provider import Provider, ProviderSettings, Request
from trustreport.service.web.faults import Fault


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
