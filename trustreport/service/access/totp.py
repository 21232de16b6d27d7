"""Codes of an app (RFC 6238): six digits, a new one every 30 seconds, each of use once."""

import time
from hmac import compare_digest

import pyotp
import segno

STEP = 30
WINDOW = 1  # codes before and after that of now, for clocks that differ
ISSUER = "trustreport"


def new_secret() -> str:
    """160 random bits in base 32."""
    return pyotp.random_base32()


def address(secret: str, email: str) -> str:
    """What an app reads: ``otpauth://totp/...``."""
    return pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=ISSUER)


def picture(uri: str) -> str:
    """A QR code as an address of the kind data:, for an image; dark on white in any colour scheme."""
    return str(segno.make(uri, error="m").svg_data_uri(scale=5, border=4, light="white", dark="black"))


def used_step(secret: str, code: str, last: int, at: float | None = None) -> int | None:
    """Which step a code belongs to; None where it is wrong, or not later than the last that was used."""
    digits = code.replace(" ", "")
    here = int(time.time() if at is None else at) // STEP
    generate = pyotp.TOTP(secret).generate_otp
    steps = range(here - WINDOW, here + WINDOW + 1)
    fitting = [step for step in steps if compare_digest(generate(step).encode(), digits.encode())]
    return next((step for step in fitting if step > last), None)
