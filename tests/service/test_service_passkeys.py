"""What a passkey signed is of use for one site, one question and one count; the signatures here are right."""

import json
from hashlib import sha256
from pathlib import Path

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn.helpers import bytes_to_base64url

from trustreport.service.access import passkeys
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Factor

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
