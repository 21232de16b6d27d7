"""Secrets that must be read again (those of apps that show codes), encrypted with a key of the data folder.

The key is derived from the signing key, so a copy of the database alone does not show them.
"""

import base64
import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from trustreport.report.signatures.signing import Signer

NONCE = 12


def seal(signer: Signer, text: str, owner: str) -> str:
    """Encrypt a text; it opens for this owner alone."""
    nonce = os.urandom(NONCE)
    return base64.b64encode(nonce + _cipher(signer).encrypt(nonce, text.encode(), owner.encode())).decode()


def unseal(signer: Signer, kept: str, owner: str) -> str:
    """The text that was encrypted for an owner.

    Raises
    ------
    cryptography.exceptions.InvalidTag : it was encrypted for somebody else, with another key, or was changed
    """
    raw = base64.b64decode(kept)
    return _cipher(signer).decrypt(raw[:NONCE], raw[NONCE:], owner.encode()).decode()


def session_key(signer: Signer, session: str) -> bytes:
    """A secret of one session, the same as long as it lasts, whatever its cookie is."""
    return _derived(signer, f"trustreport session {session}")


def _cipher(signer: Signer) -> AESGCM:
    return AESGCM(_derived(signer, "trustreport second factors"))


def _derived(signer: Signer, purpose: str) -> bytes:
    return HKDF(SHA256(), 32, None, purpose.encode()).derive(signer.key.private_bytes_raw())
