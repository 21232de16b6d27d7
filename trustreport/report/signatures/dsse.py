"""Statements of in-toto in an envelope of DSSE, so that cosign and other verifiers check them.

References
----------
in-toto Attestation Framework, Statement v1; DSSE v1.0.2, protocol and envelope.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trustreport.report.signatures.signing import Signer

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:trustreport:report-statement:1"


@dataclass(frozen=True, slots=True)
class SignedEnvelope:
    """What an envelope carries: the bytes that were signed, what they say, and signatures by name of key."""

    payload: bytes
    statement: Mapping[str, Any]
    signatures: tuple[tuple[str, bytes], ...]

    @property
    def signed_bytes(self) -> bytes:
        """What the signatures are of."""
        return pre_authentication(PAYLOAD, self.payload)

    @property
    def subjects(self) -> dict[str, str]:
        """The files that the statement is on, each with its SHA-256."""
        return {one["name"]: one["digest"]["sha256"] for one in self.statement["subject"]}


def statement(subjects: Mapping[str, str], predicate: Mapping[str, Any]) -> bytes:
    """A statement of in-toto on files, as JSON.

    Parameters
    ----------
    subjects : SHA-256 of each file, in hexadecimal
    """
    said = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": subjects[name]}} for name in sorted(subjects)],
        "predicateType": PREDICATE,
        "predicate": predicate,
    }
    return json.dumps(said, sort_keys=True, ensure_ascii=False, allow_nan=False).encode()


def enveloped(payload: bytes, signer: "Signer") -> bytes:
    """An envelope with a statement and its signature, as JSON."""
    signature = signer.sign(pre_authentication(PAYLOAD, payload))
    said = {
        "payloadType": PAYLOAD,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": signer.name, "sig": signature}],
    }
    return json.dumps(said, indent=1).encode() + b"\n"


def opened(data: bytes) -> SignedEnvelope:
    """The envelope of a file; no signature is checked.

    Raises
    ------
    ValueError : it is no envelope, or carries no statement of in-toto on files
    """
    try:
        said = json.loads(data)
        payload = base64.b64decode(said["payload"], validate=True)
        signatures = tuple(
            (str(one.get("keyid", "")), base64.b64decode(one["sig"], validate=True))
            for one in said["signatures"]
        )
        envelope = SignedEnvelope(payload, json.loads(payload), signatures)
        whole = said["payloadType"] == PAYLOAD and envelope.statement["_type"] == STATEMENT
        named = bool(signatures) and bool(envelope.subjects)
        texts = all(isinstance(text, str) for pair in envelope.subjects.items() for text in pair)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, binascii.Error) as error:
        raise ValueError("it is no envelope of DSSE with a statement of in-toto") from error
    if not (whole and named and texts):
        raise ValueError("it is no envelope of DSSE with a statement of in-toto")
    return envelope


def pre_authentication(kind: str, payload: bytes) -> bytes:
    """What DSSE signs: type and payload, each with its length."""
    name = kind.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)
