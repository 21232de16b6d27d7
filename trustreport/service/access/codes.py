"""Codes of apps, and codes for recovery."""

import secrets as random
import time
from hashlib import sha256
from hmac import compare_digest

import pyotp
import segno
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access import secrets
from trustreport.service.ids import ALPHABET
from trustreport.service.storage.models import RecoveryCode
from trustreport.service.storage.store import now

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


CODES = 10
SIGNS, GROUP = 28, 7  # 140 bits, so a fast hash is enough


def renew(rows: Rows, user: str) -> list[str]:
    """New codes in place of all earlier ones; shown once, kept as hashes."""
    rows.execute(delete(RecoveryCode).where(RecoveryCode.user == user))
    codes = ["".join(random.choice(ALPHABET) for _ in range(SIGNS)) for _ in range(CODES)]
    rows.add_all(RecoveryCode(hash=_hash(user, code), user=user) for code in codes)
    return ["-".join(code[i : i + GROUP] for i in range(0, SIGNS, GROUP)) for code in codes]


def use(rows: Rows, user: str, code: str) -> bool:
    """Use a code up; whether it was one."""
    query = select(RecoveryCode).where(RecoveryCode.hash == _hash(user, code), RecoveryCode.used_at.is_(None))
    row = rows.scalar(query.with_for_update())
    if row is None:
        return False
    row.used_at = now(rows)
    return True


def is_one(code: str) -> bool:
    """Whether a text has the length of a recovery code, and so is none of an app."""
    return len(_plain(code)) == SIGNS


def left(rows: Rows, user: str) -> int:
    """How many codes an account has left."""
    query = select(func.count()).where(RecoveryCode.user == user, RecoveryCode.used_at.is_(None))
    return rows.scalar(query) or 0


def _plain(code: str) -> str:
    """What was typed, with the letters that are none of the alphabet read as the digits they look like."""
    bare = code.lower().replace("-", "").replace(" ", "")
    return bare.translate(str.maketrans("ilo", "110"))


def _hash(user: str, code: str) -> str:
    return secrets.fingerprint(f"{user} {_plain(code)}")
