"""Second factors of an account: codes of apps, recovery codes, and the proof of any of them."""

import secrets as random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest

import pyotp
import segno
from cryptography.exceptions import InvalidTag
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import passkeys, secrets
from trustreport.service.core import Core
from trustreport.service.ids import ALPHABET
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Factor, Organisation, RecoveryCode, Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

STEP = 30
ISSUER = "trustreport"


def new_app_secret() -> str:
    """260 random bits in base 32."""
    return pyotp.random_base32(52)


def app_address(secret: str, email: str) -> str:
    """What an app reads: ``otpauth://totp/...``."""
    return _codes(secret).provisioning_uri(name=email, issuer_name=ISSUER)


def app_picture(uri: str) -> str:
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


def renew_recovery_codes(rows: Rows, user: str) -> list[str]:
    """New codes in place of all earlier ones; shown once, kept as hashes."""
    rows.execute(delete(RecoveryCode).where(RecoveryCode.user == user))
    codes = ["".join(random.choice(ALPHABET) for _ in range(SIGNS)) for _ in range(CODES)]
    rows.add_all(RecoveryCode(hash=_hash(user, code), user=user) for code in codes)
    return ["-".join(code[i : i + GROUP] for i in range(0, SIGNS, GROUP)) for code in codes]


def use_recovery_code(rows: Rows, user: str, code: str) -> bool:
    """Use a code up; whether it was one."""
    query = select(RecoveryCode).where(RecoveryCode.hash == _hash(user, code), RecoveryCode.used_at.is_(None))
    row = rows.scalar(query.with_for_update())
    if row is None:
        return False
    row.used_at = now(rows)
    return True


def is_recovery_code(code: str) -> bool:
    """Whether a text has the length of a recovery code, and so is none of an app."""
    return len(_plain(code)) == SIGNS


def recovery_codes_left(rows: Rows, user: str) -> int:
    """How many codes an account has left."""
    query = select(func.count()).where(RecoveryCode.user == user, RecoveryCode.used_at.is_(None))
    return rows.scalar(query) or 0


def _plain(code: str) -> str:
    """What was typed, with the letters that are none of the alphabet read as the digits they look like."""
    bare = code.lower().replace("-", "").replace(" ", "")
    return bare.translate(str.maketrans("ilo", "110"))


def _hash(user: str, code: str) -> str:
    return secrets.fingerprint(f"{user} {_plain(code)}")


HOUR = 3600
KINDS = {"totp": "an app", "passkey": "a passkey"}


@dataclass(frozen=True, slots=True)
class Proof:
    """What somebody shows: a code (of an app or for recovery), or what a passkey answered to a challenge."""

    code: str = ""
    passkey: str = ""
    challenge: str = ""


def factors_of(rows: Rows, user: str, kind: str | None = None) -> list[Factor]:
    """The second factors of an account that are in use, the oldest first."""
    query = select(Factor).where(Factor.user == user, Factor.confirmed)
    if kind is not None:
        query = query.where(Factor.kind == kind)
    return list(rows.scalars(query.order_by(Factor.id)))


def has_one(rows: Rows, user: str) -> bool:
    """Whether an account has a second factor."""
    return rows.scalar(select(Factor.id).where(Factor.user == user, Factor.confirmed).limit(1)) is not None


def must_enrol(rows: Rows, user: User, session: Session, settings: Settings) -> bool:
    """Whether a session may do nothing but set up a second factor; the provider asks for its own."""
    if session.how == "provider":
        return False
    required = settings.second_factor or rows.get_one(Organisation, user.organisation).second_factor
    return bool(required) and not has_one(rows, user.id)


def prove(core: Core, user: User, proof: Proof, *, counters: Mapping[str, int] | None = None) -> str:
    """Refuse whoever shows no second factor of an account; which kind it was.

    Codes of an app are counted, ten wrong ones in an hour; the other kinds cannot be guessed.
    """
    give_back = None
    if not proof.passkey and not is_recovery_code(proof.code):
        give_back = core.throttle.begin_login({f"codes {user.id}": 1}, seconds=HOUR)
    with core.store.write() as rows:
        rows.scalars(select(User.id).where(User.id == user.id).with_for_update()).one()  # one code, once
        kind = _kind_of(core, rows, user, proof)
        if kind == "recovery":
            audit.write(
                rows,
                user.organisation,
                user.id,
                "recovery.use",
                user.id,
                left=recovery_codes_left(rows, user.id),
            )
        if not kind:
            audit.write(rows, user.organisation, user.id, "factor.refused", user.id)
    if not kind:
        core.metrics.refused.labels("login").inc()
        raise Fault(403, say(f"pages.fault.second_factor_is_wrong.{'passkey' if proof.passkey else 'code'}"))
    if give_back is not None:
        give_back()
    return kind


def _kind_of(core: Core, rows: Rows, user: User, proof: Proof) -> str:
    """Which kind of factor was proved, and used up; empty where none was."""
    if proof.passkey:
        known = factors_of(rows, user.id, "passkey")
        found = passkeys.proved(core.settings, known, proof.passkey, proof.challenge)
        if found is None:
            return ""
        _use(rows, found[0], found[1])
        return "passkey"
    if is_recovery_code(proof.code):
        return "recovery" if use_recovery_code(rows, user.id, proof.code) else ""
    for factor in factors_of(rows, user.id, "totp"):
        if takes_code(core, rows, factor, proof.code):
            return "totp"
    return ""


def takes_code(core: Core, rows: Rows, factor: Factor, code: str) -> bool:
    """Whether a code is one of an app's, not used before; it cannot be used again."""
    try:
        secret = secrets.unseal(core.signer, factor.secret, factor.user)
    except InvalidTag:  # made with another key: an administrator takes the factor away
        return False
    step = used_step(secret, code, factor.counter)
    if step is None:
        return False
    _use(rows, factor, step)
    return True


def _use(rows: Rows, factor: Factor, counter: int) -> None:
    factor.counter, factor.used_at = counter, now(rows)


def take_all_away(rows: Rows, user: User) -> int:
    """Remove every second factor and recovery code of an account; how many factors there were."""
    found = rows.scalars(select(Factor).where(Factor.user == user.id)).all()
    for factor in found:
        rows.delete(factor)
    rows.execute(delete(RecoveryCode).where(RecoveryCode.user == user.id))
    return len(found)
