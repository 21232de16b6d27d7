"""Codes of an app (RFC 6238 with HMAC-SHA-256): six digits, good for 30 seconds, each of use once."""

import time
from hashlib import sha256
from hmac import compare_digest

import pyotp
import segno

STEP = 30
ISSUER = "trustreport"


def new_secret() -> str:
    """260 random bits in base 32."""
    return pyotp.random_base32(52)


def address(secret: str, email: str) -> str:
    """What an app reads: ``otpauth://totp/...``."""
    return _codes(secret).provisioning_uri(name=email, issuer_name=ISSUER)


def picture(uri: str) -> str:
    """A QR code as an address of the kind data:, for an image; dark on white in any colour scheme."""
    return str(segno.make(uri, error="m").svg_data_uri(scale=5, border=4, light="white", dark="black"))


def used_step(secret: str, code: str, last: int, at: float | None = None) -> int | None:
    """Which step a code belongs to; None where it is wrong, or not later than the last that was used."""
    digits = code.replace(" ", "")
    here = int(time.time() if at is None else at) // STEP
    is_right = compare_digest(_codes(secret).generate_otp(here).encode(), digits.encode())
    return here if is_right and here > last else None


def _codes(secret: str) -> pyotp.TOTP:
    return pyotp.TOTP(secret, digest=sha256, interval=STEP)
