"""Envelopes of DSSE against securesystemslib, which this project did not write, in both directions."""

import base64
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

from trustreport.report.signatures.signing import (
    Signer,
    enveloped,
    files_statement,
    is_signed,
    opened,
    pre_authentication,
)

SUBJECTS = {"results.json": "ab" * 32, "a/b.pdf": "cd" * 32}


@pytest.fixture(scope="module")
def signer(tmp_path_factory: pytest.TempPathFactory) -> Signer:
    return Signer.open(tmp_path_factory.mktemp("key"))


def key_of(signer: Signer) -> SSlibKey:
    """The key as the other implementation has it."""
    return SSlibKey.from_crypto(signer.key.public_key(), keyid=signer.name)


def test_the_other_implementation_verifies_ours(signer: Signer) -> None:
    payload = files_statement(SUBJECTS, {"meaning": "approved – naïve"})
    envelope = Envelope.from_dict(json.loads(enveloped(payload, signer)))
    assert envelope.verify([key_of(signer)], 1).keys() == {signer.name}
    assert envelope.payload == payload
    assert envelope.payload_type == "application/vnd.in-toto+json"
    said = json.loads(payload)
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["subject"][0] == {"name": "a/b.pdf", "digest": {"sha256": "cd" * 32}}


def test_the_other_implementation_refuses_an_altered_one_and_another_key(
    signer: Signer, tmp_path: Path
) -> None:
    whole = enveloped(files_statement(SUBJECTS, {"meaning": "approved"}), signer)
    with pytest.raises(VerificationError):
        Envelope.from_dict(json.loads(whole)).verify([key_of(Signer.open(tmp_path))], 1)
    said = json.loads(whole)
    said["payload"] = base64.b64encode(files_statement(SUBJECTS, {"meaning": "rejected"})).decode()
    with pytest.raises(VerificationError):
        Envelope.from_dict(said).verify([key_of(signer)], 1)


def test_ours_verifies_that_of_the_other_implementation() -> None:
    other = CryptoSigner(Ed25519PrivateKey.generate())
    payload = files_statement(SUBJECTS, {"meaning": "approved"})
    envelope = Envelope(payload, "application/vnd.in-toto+json", {})
    envelope.sign(other)
    found = opened(json.dumps(envelope.to_dict()).encode())
    public = bytes.fromhex(other.public_key.keyval["public"]) if other.public_key.keytype == "raw" else None
    key = other._private_key.public_key().public_bytes_raw() if public is None else public
    ((_, signature),) = found.signatures
    assert is_signed(key, found.signed_bytes, signature)
    assert found.subjects == SUBJECTS


def test_what_is_signed_is_the_text_of_the_specification() -> None:
    # The example of the DSSE protocol
    assert (
        pre_authentication("http://example.com/HelloWorld", b"hello world")
        == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )


@pytest.mark.parametrize(
    "wrong", [b"", b"[]", b"{}", b'{"payload": "!", "payloadType": "x", "signatures": []}']
)
def test_what_is_no_envelope_is_refused(wrong: bytes) -> None:
    with pytest.raises(ValueError, match="no envelope of DSSE"):
        opened(wrong)


def test_an_envelope_of_something_else_or_without_signature_is_refused(signer: Signer) -> None:
    whole = json.loads(enveloped(files_statement(SUBJECTS, {}), signer))
    empty = enveloped(files_statement({}, {}), signer)
    for wrong in (whole | {"payloadType": "text/plain"}, whole | {"signatures": []}, json.loads(empty)):
        with pytest.raises(ValueError, match="no envelope of DSSE"):
            opened(json.dumps(wrong).encode())
