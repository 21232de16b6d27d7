"""Signatures of webhooks, as the Standard Webhooks specification has them.

One module for both sides: the service signs, `trustreport.service.client.verify_webhook` compares.
"""

import base64
import binascii
import hmac
from hashlib import sha256

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"  # headers
PREFIX = "whsec_"  # of secrets, so that scanners of leaked secrets know one
VERSION = "v1"


def secret_text(key: bytes) -> str:
    """A key as its receiver keeps it."""
    return PREFIX + base64.b64encode(key).decode()


def sign(secret: str, name: str, at: int, body: bytes) -> str:
    """HMAC-SHA256 over the name of a delivery, the seconds since 1970 and the body, as the header has it.

    Raises
    ------
    ValueError : the secret is not one that a service gave
    """
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise ValueError(f"a secret of a webhook begins with {PREFIX} and is base64 after that") from None
    digest = hmac.new(key, f"{name}.{at}.".encode() + body, sha256).digest()
    return f"{VERSION},{base64.b64encode(digest).decode()}"
