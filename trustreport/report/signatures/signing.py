"""Detached Ed25519 signatures: the service signs statements with its key, and whoever has them verifies."""

import base64
import hmac
import os
import secrets
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

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
        encoded = self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return encoded.decode()

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
