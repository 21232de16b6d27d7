"""Detached Ed25519 signatures, and statements of in-toto in an envelope of DSSE.

The service signs statements with its key, and whoever has them verifies; cosign and others check envelopes.

References
----------
in-toto Attestation Framework, Statement v1; DSSE v1.0.2, protocol and envelope.
"""

import base64
import binascii
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

FILE = "signing.pem"
BEGIN, END = "-----BEGIN ", "-----END "
PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "urn:trustreport:report-statement:1"


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs with the key of this data folder."""

    key: Ed25519PrivateKey

    @classmethod
    def open(cls, folder: Path) -> "Signer":
        """The key of a folder, made where there is none; readable by its owner alone."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = folder / FILE
        if not file.exists():
            pem = Ed25519PrivateKey.generate().private_bytes(
                Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
            )
            new = folder / f".{FILE}.{secrets.token_hex(8)}"  # processes of two machines may have one number
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                out.write(pem)
                os.fsync(out.fileno())
            try:
                os.link(new, file)  # fails where another process was first: its key is the one
            except FileExistsError:
                pass
            finally:
                new.unlink()
        key = load_pem_private_key(file.read_bytes(), None)
        if not isinstance(key, Ed25519PrivateKey):
            raise TypeError(f"{file} holds no Ed25519 key")
        return cls(key)

    @classmethod
    def read(cls, file: Path) -> "Signer":
        """The key of a file in PEM, not encrypted.

        Raises
        ------
        ValueError : the file has no private Ed25519 key in PEM
        """
        try:
            key = load_pem_private_key(file.read_bytes(), None)
        except (TypeError, ValueError, UnsupportedAlgorithm) as error:
            key, reason = None, f" ({error})"
        else:
            reason = ""
        if not isinstance(key, Ed25519PrivateKey):
            fix = f"openssl genpkey -algorithm ed25519 -out {file.name}"
            raise ValueError(f"expected a private Ed25519 key in PEM, not encrypted{reason}; make one: {fix}")
        return cls(key)

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return raw(self.key.public_key())

    @property
    def name(self) -> str:
        """The key's name: the SHA-256 of the public key."""
        return name_of(self.public)

    @property
    def public_pem(self) -> str:
        """The public key as OpenSSL reads it."""
        return pem_of(self.public)

    def derived(self, purpose: str) -> bytes:
        """A secret of 32 bytes for one purpose, which shows nothing of the key."""
        own = self.key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
        return hmac.digest(own, purpose.encode(), sha256)

    def sign(self, text: bytes) -> str:
        """The signature in base64."""
        return base64.b64encode(self.key.sign(text)).decode()


def raw(key: Ed25519PublicKey) -> bytes:
    """A public key as its 32 bytes."""
    return key.public_bytes(Encoding.Raw, PublicFormat.Raw)


def pem_of(public: bytes) -> str:
    """A public key (32 bytes) as OpenSSL reads it."""
    key = Ed25519PublicKey.from_public_bytes(public)
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def name_of(public: bytes) -> str:
    """The name of a public key (32 bytes): its SHA-256."""
    return sha256(public).hexdigest()


def is_signed(public: bytes, text: bytes, signature: bytes) -> bool:
    """Whether a signature (64 bytes) is that of a text by a public key (32 bytes)."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


def read_signers(text: str) -> dict[bytes, str]:
    """The public keys (32 bytes) of a file of signers, each with what is said of it.

    Parameters
    ----------
    text : public Ed25519 keys in PEM, one after the other; the line before a key says whose it is

    Raises
    ------
    ValueError : no key at all, or one that cannot be read; says at which line
    """
    found: dict[bytes, str] = {}
    lines = text.splitlines()
    said, start = "", None
    for number, line in enumerate((*lines, ""), 1):
        if line.startswith(BEGIN):
            start = number
        elif line.startswith(END) and start:
            try:
                key = load_pem_public_key("\n".join(lines[start - 1 : number]).encode())
            except (ValueError, UnsupportedAlgorithm):
                key = None
            if not isinstance(key, Ed25519PublicKey):
                raise ValueError(f"line {start}: expected a public Ed25519 key in PEM")
            found[raw(key)] = said or f"key {name_of(raw(key))[:16]}"
            said, start = "", None
        elif start is None and line.strip():
            said = line.strip(" \t#")
    if start is not None:
        raise ValueError(f"line {start}: the key that begins here does not end")
    if not found:
        raise ValueError("it holds no key: expected public Ed25519 keys in PEM")
    return found


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


def files_statement(
    subjects: Mapping[str, str], predicate: Mapping[str, Any], kind: str = PREDICATE
) -> bytes:
    """A statement of in-toto on files, as JSON.

    Parameters
    ----------
    subjects : SHA-256 of each file, in hexadecimal
    kind : what is said of them, as a URI
    """
    said = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": subjects[name]}} for name in sorted(subjects)],
        "predicateType": kind,
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
        named = bool(signatures) and 0 < len(envelope.subjects) == len(envelope.statement["subject"])
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
