"""Detached Ed25519 signatures by the service's own key."""

import base64
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

FILE = "signing.pem"


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
            new = folder / f".{FILE}.{os.getpid()}"
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

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    @property
    def name(self) -> str:
        """The key's name: the SHA-256 of the public key."""
        return sha256(self.public).hexdigest()

    @property
    def public_pem(self) -> str:
        """The public key as OpenSSL reads it."""
        encoded = self.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return encoded.decode()

    def sign(self, text: bytes) -> str:
        """The signature in base64."""
        return base64.b64encode(self.key.sign(text)).decode()


def is_signed(public: bytes, text: bytes, signature: str) -> bool:
    """Whether a signature is that of a text by a public key (32 bytes)."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(base64.b64decode(signature, validate=True), text)
    except (InvalidSignature, ValueError):
        return False
    return True
