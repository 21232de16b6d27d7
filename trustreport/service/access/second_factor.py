"""The second factor of a local account: who has one, who must, and whether one was proved."""

from collections.abc import Mapping
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Rows

from trustreport.messages import say
from trustreport.service import audit
from trustreport.service.access import codes as recovery
from trustreport.service.access import codes as totp
from trustreport.service.access import passkeys
from trustreport.service.access import secrets as sealing
from trustreport.service.core import Core
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Factor, Organisation, RecoveryCode, Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault

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
    if not proof.passkey and not recovery.is_one(proof.code):
        give_back = core.throttle.begin_login({f"codes {user.id}": 1}, seconds=HOUR)
    with core.store.write() as rows:
        rows.scalars(select(User.id).where(User.id == user.id).with_for_update()).one()  # one code, once
        kind = _kind_of(core, rows, user, proof)
        if kind == "recovery":
            audit.write(
                rows, user.organisation, user.id, "recovery.use", user.id, left=recovery.left(rows, user.id)
            )
        if not kind:
            audit.write(rows, user.organisation, user.id, "factor.refused", user.id)
    if not kind:
        core.metrics.refused.labels("login").inc()
        raise Fault(
            403,
            say("pages.fault.second_factor_is_wrong.title"),
            say(f"pages.fault.second_factor_is_wrong.{'passkey' if proof.passkey else 'code'}"),
        )
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
    if recovery.is_one(proof.code):
        return "recovery" if recovery.use(rows, user.id, proof.code) else ""
    for factor in factors_of(rows, user.id, "totp"):
        if takes_code(core, rows, factor, proof.code):
            return "totp"
    return ""


def takes_code(core: Core, rows: Rows, factor: Factor, code: str) -> bool:
    """Whether a code is one of an app's, not used before; it cannot be used again."""
    try:
        secret = sealing.unseal(core.signer, factor.secret, factor.user)
    except InvalidTag:  # made with another key: an administrator takes the factor away
        return False
    step = totp.used_step(secret, code, factor.counter)
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
