"""The one who asks: from a session's cookie or an API token."""

from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import second_factor, secrets
from trustreport.service.ids import new_id
from trustreport.service.roles import Permission, permissions
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Audit, Session, Token, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

DAY = 86_400_000


def is_bound(user: User) -> bool:
    """Whether an account is bound to somebody at a provider."""
    return user.subject is not None


def is_vouched_for(user: User, at: int, settings: Settings) -> bool:
    """Whether its user has signed in there lately; else they may have been taken out of every group."""
    return not is_bound(user) or (user.provider_at or 0) >= at - settings.oidc_days * DAY


def is_proved_there(user: User, settings: Settings) -> bool:
    """Whether an account proves who uses it at the provider, for want of a password that counts here."""
    return is_bound(user) and (not user.password or bool(settings.oidc_only))


def has_roles_there(user: User, settings: Settings) -> bool:
    """Whether the roles of an account are those of its groups at the provider."""
    return is_bound(user) and bool(settings.oidc_roles)


COOKIE = "__Host-trustreport"
MINUTE = 60_000
MOST_SESSIONS = 20  # of one account; a further one ends that which was used longest ago
CLEARED = {"Clear-Site-Data": '"cache", "storage"'}  # what browsers drop once a session has ended
PREFIX = "tr_"  # of API tokens, so that scanners of leaked secrets know one

T = TypeVar("T", bound=Any)


def not_known(*, ended: bool = False) -> Fault:
    """Why a request without valid credentials is refused.

    Parameters
    ----------
    ended : it came with a session that is none, so the browser is to drop what it has of it
    """
    headers = {"WWW-Authenticate": "Bearer", **(CLEARED if ended else {})}
    return Fault(401, say("pages.fault.not_known.log_send"), headers=headers)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, for which organisation, and what they may do."""

    user: str
    organisation: str
    email: str
    name: str
    roles: tuple[str, ...]
    may: frozenset[Permission]
    operator: bool
    via: Literal["session", "token"]
    credential: str  # hash of the session, or name of the token's row
    session: str = ""  # name of the session, which stays when its cookie is renewed
    must_enrol: bool = False  # may do nothing until a second factor is set up

    def need(self, permission: Permission) -> None:
        """Refuse who may not."""
        if self.must_enrol:
            raise Fault(403, say("pages.fault.second_factor_needed.your_organisation_requires"))
        if permission not in self.may:
            raise Fault(403, say("pages.fault.not_allowed.needs_permission", permission=repr(permission)))

    def need_one_of(self, permissions: frozenset[Permission]) -> None:
        """Refuse who has none of these."""
        if not self.may & permissions:
            needed = ", ".join(sorted(permissions))
            raise Fault(403, say("pages.fault.not_allowed.needs_one", needed=needed))

    def audit(self, rows: Rows, action: str, subject: str = "", **details: Any) -> Audit:
        """Log what the person or program that asks has done, in the chain of their organisation."""
        return audit.write(rows, self.organisation, self.user, action, subject, **details)

    def new_row(self, rows: Rows, model: type[T], **values: Any) -> T:
        """Add a row to this organisation, made now by whoever asks, under a new name."""
        own = {"id": new_id(), "organisation": self.organisation, "created_by": self.user}
        row: T = model(**own, created_at=now(rows), **values)
        rows.add(row)
        rows.flush()
        return row

    def rows_of(self, model: type[T]) -> Select[T]:
        """The rows of this organisation. Every query of a route begins here or with `row_of`."""
        return select(model).where(model.organisation == self.organisation)

    def row_of(self, rows: Rows, model: type[T], name: str) -> T:
        """A row of this organisation; another organisation's is as absent as one that never was."""
        row = rows.scalar(self.rows_of(model).where(model.id == name))
        if row is None:
            raise Fault(
                404,
                say(
                    "pages.fault.not_found.row",
                    what=say(f"pages.fault.thing.{model.__name__.removeprefix('Stored').lower()}"),
                    name=repr(name),
                ),
            )
        return row


def begin_session(rows: Rows, user: User, settings: Settings, *, replaces: str = "", **seen: str) -> str:
    """A new session; returns the secret for its cookie. The session that the browser came with ends.

    Parameters
    ----------
    seen : address, browser and how somebody came in, for the list of sessions
    """
    if replaces:
        end_session(rows, replaces)
    secret, at = secrets.new_secret(), now(rows)
    rows.execute(delete(Session).where(Session.expires_at < at))
    own = select(Session).where(Session.user == user.id).order_by(Session.seen_at.desc(), Session.id.desc())
    for oldest in rows.scalars(own.offset(MOST_SESSIONS - 1)).all():
        rows.delete(oldest)
    rows.add(
        Session(
            hash=secrets.fingerprint(secret),
            user=user.id,
            created_at=at,
            seen_at=at,
            expires_at=at + round(settings.session_hours * 60 * MINUTE),
            **seen,
        )
    )
    return secret


def end_session(rows: Rows, secret: str) -> None:
    """Forget a session."""
    rows.execute(delete(Session).where(Session.hash == secrets.fingerprint(secret)))


def renew_session(session: Session) -> str:
    """A new secret for the cookie of a session whose user has proved anew who they are; voids the old one."""
    secret = secrets.new_secret()
    session.hash = secrets.fingerprint(secret)
    return secret


def end_others(rows: Rows, who: Principal) -> int:
    """End every session of a user but the one that asks; how many."""
    others = select(Session).where(Session.user == who.user, Session.id != who.session)
    found = rows.scalars(others).all()
    for session in found:
        rows.delete(session)
    return len(found)


def by_session(rows: Rows, secret: str, settings: Settings) -> Principal | None:
    """Who a session's cookie stands for; None where it is unknown, expired or was idle too long."""
    kept = rows.get(Session, secrets.fingerprint(secret))
    at = now(rows)
    if kept is None or kept.expires_at < at or kept.seen_at < at - settings.idle_minutes * MINUTE:
        return None
    user = rows.get(User, kept.user)
    if user is None:
        return None
    locked = second_factor.must_enrol(rows, user, kept, settings)
    return _principal(user, "session", kept.hash, None, session=kept.id, must_enrol=locked)


def by_token(rows: Rows, secret: str, settings: Settings) -> Principal | None:
    """Who an API token stands for; None where it is unknown, expired or revoked.

    That of an account of the identity provider rests where its user has not signed in there for long: they
    may have been taken out of every group.
    """
    kept = rows.scalar(select(Token).where(Token.hash == secrets.fingerprint(secret)))
    if kept is None or kept.revoked_at is not None or kept.expires_at < now(rows):
        return None
    user = rows.get(User, kept.user)
    if user is None or not is_vouched_for(user, now(rows), settings):
        return None
    return _principal(user, "token", kept.id, kept.scopes)


def _principal(
    user: User,
    via: Literal["session", "token"],
    credential: str,
    scopes: list[Any] | None,
    *,
    session: str = "",
    must_enrol: bool = False,
) -> Principal | None:
    if user.disabled_at is not None:
        return None
    may = permissions(() if must_enrol else user.roles)
    return Principal(
        user=user.id,
        organisation=user.organisation,
        email=user.email,
        name=user.name,
        roles=tuple(user.roles),
        may=may if scopes is None else may & frozenset(scopes),
        operator=user.operator and via == "session" and not must_enrol,
        via=via,
        credential=credential,
        session=session,
        must_enrol=must_enrol,
    )
