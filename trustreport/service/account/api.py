"""An account: set up, signed in, its password, and where it is signed in."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit, mail
from trustreport.service.access import accounts, browsers, principal, second_factor, secrets
from trustreport.service.access.guard import Admin, Anyone, Person, TheCore, address_of, anybody, csrf_of
from trustreport.service.access.principal import COOKIE, Principal
from trustreport.service.access.second_factor import Proof
from trustreport.service.client.records import ResponseBody
from trustreport.service.core import Core
from trustreport.service.log import log
from trustreport.service.middleware import RENEWED
from trustreport.service.roles import Permission, Role
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Email, Line, Name, Page, Password, RequestBody, RequestedPage
from trustreport.vocabulary.messages import say

sessions_router = APIRouter(tags=["sessions"])


class SessionResponse(ResponseBody):
    """A session of one's own."""

    id: str
    created_at: datetime
    seen_at: datetime = Field(description="last use, to the minute")
    expires_at: datetime
    address: str = Field(description="where it was begun; of IPv6 the network")
    browser: str = Field(description="what it was begun with, in words")
    how: str = Field(description="password or provider")
    current: bool = Field(description="the one that asks")


@sessions_router.get("/sessions")
def sessions(who: Person, core: TheCore, turn: RequestedPage) -> Page[SessionResponse]:
    """One's own sessions that have not ended, the newest first."""
    with core.store.read() as rows:
        return turn.items(live_sessions(rows, who, core.settings), lambda session: session)


@sessions_router.delete("/sessions", status_code=204)
def end_other_sessions(who: Person, core: TheCore) -> None:
    """End all of one's sessions but this one."""
    with core.store.write() as rows:
        ended = principal.end_others(rows, who)
        who.audit(rows, "session.end", who.user, sessions=ended)


@sessions_router.delete("/sessions/{session}", status_code=204)
def end_session(session: Name, who: Person, core: TheCore, response: Response) -> None:
    """End one of one's own sessions."""
    with core.store.write() as rows:
        row = rows.scalar(select(Session).where(Session.user == who.user, Session.id == session))
        if row is None:
            raise Fault(404, say("pages.fault.not_found.there_no_session", session=repr(session)))
        rows.delete(row)
        who.audit(rows, "session.end", who.user, sessions=1)
        if row.id == who.session:
            forget_session(response)


@sessions_router.delete("/users/{user}/sessions", status_code=204)
def end_sessions_of(user: Name, who: Admin, core: TheCore) -> None:
    """End every session of a user; API tokens stay."""
    with core.store.write() as rows:
        row = who.row_of(rows, User, user)
        found = rows.scalars(select(Session).where(Session.user == row.id)).all()
        for session in found:
            rows.delete(session)
        who.audit(rows, "session.end", row.id, sessions=len(found))


def live_sessions(rows: Rows, who: Principal, settings: Settings) -> list[SessionResponse]:
    """The sessions of a user that have not ended, the newest first."""
    at = now(rows)
    query = select(Session).where(
        Session.user == who.user,
        Session.expires_at >= at,
        Session.seen_at >= at - settings.idle_minutes * principal.MINUTE,
    )
    return [
        SessionResponse.of_row(row, current=row.id == who.session)
        for row in rows.scalars(query.order_by(Session.created_at.desc()))
    ]


def forget_session(response: Response) -> None:
    """Let a browser drop a session that has ended, and what it has kept of it."""
    response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict", path="/")
    response.headers.update(principal.CLEARED)


router = APIRouter(tags=["account"])
Secret = Annotated[str, Field(min_length=1, max_length=100)]
Code = Annotated[str, Field(max_length=60)]
PROVED_SECONDS = 300  # during which a new sign-in at the provider confirms a sensitive action


class Setup(RequestBody):
    link: Secret
    organisation: Line = Field(examples=["Hospital"])
    email: Email
    name: Line = Field(examples=["Administrator"])
    password: Password


class Invitation(RequestBody):
    link: Secret
    password: Password


class Login(RequestBody):
    email: Email
    password: Password
    code: Code = Field(
        default="", description="of an app or for recovery, where the account has a second factor"
    )


class Reset(RequestBody):
    email: Email


class NewPassword(RequestBody):
    old: Password | None = Field(default=None, description="left out after a fresh sign-in at the provider")
    new: Password


class Me(ResponseBody):
    """Who asks."""

    user: str
    organisation: str
    email: str
    name: str
    roles: list[Role]
    permissions: list[Permission]
    operator: bool = Field(description="may found organisations")
    must_enrol: bool = Field(description="has no permissions until a second factor is set up")
    csrf: str = Field(description="send as X-CSRF-Token with what changes anything; empty for API tokens")


@router.post("/setup", status_code=201, dependencies=[Depends(anybody)])
def set_up(asked: Setup, core: TheCore, request: Request, response: Response) -> Me:
    """Make the first organisation and account, with the link that the first start printed."""
    with core.store.write() as rows:
        accounts.use_link(rows, asked.link, "setup")
        user = accounts.set_up(
            rows, asked.organisation, email=asked.email, name=asked.name, password=asked.password
        )
        return begin(core, rows, user, request, response)


@router.post("/invitations", status_code=201, dependencies=[Depends(anybody)])
def accept_invitation(asked: Invitation, core: TheCore, request: Request, response: Response) -> Me:
    """Choose a password, with the link of an invitation.

    An account with a second factor has its new password then (401), and logs in with both.
    """
    with core.store.write() as rows:
        link = accounts.use_link(rows, asked.link, "invitation")
        user = rows.get(User, link.user)
        if user is None or user.disabled_at is not None:
            raise Fault(403, say("pages.fault.link_not_valid.account_closed"))
        if core.settings.oidc_only and principal.is_bound(user):
            raise Fault(403, say("pages.fault.link_not_valid.account_signs"))
        accounts.take_up(rows, user, link, asked.password)
        if not second_factor.has_one(rows, user.id):
            return begin(core, rows, user, request, response)
    raise Fault(401, say("pages.fault.second_factor_needed.password_saved"))


@router.post("/resets", status_code=202, dependencies=[Depends(anybody)])
def request_reset(asked: Reset, core: TheCore, request: Request) -> None:
    """Ask for a link to choose a new password, by mail; the answer does not show who has an account."""
    if not core.settings.sends_mail:
        raise Fault(404, say("pages.fault.not_found.service_sends_no"))
    core.throttle.seldom(f"reset of {asked.email}")
    core.throttle.seldom(f"reset from {address_of(request)}")
    with core.store.write() as rows:
        mail.add_reset(rows, asked.email)


@router.post("/session", status_code=201, dependencies=[Depends(anybody)])
def log_in(asked: Login, core: TheCore, request: Request, response: Response) -> Me:
    """Log in; the session is a cookie, and always a new one."""
    user, needs_factor = by_password(core, asked.email, asked.password, request)
    if needs_factor and not asked.code:
        raise Fault(401, say("pages.fault.second_factor_needed.send_code"))
    kind = second_factor.prove(core, user, Proof(asked.code)) if needs_factor else ""
    with core.store.write() as rows:
        return begin(core, rows, rows.get_one(User, user.id), request, response, factor=kind)


def by_password(core: Core, email: str, password: str, request: Request) -> tuple[User, bool]:
    """Whose address and password these are, and whether a second factor is needed.

    Refuses in words and time that do not show whether there is such an account.
    """
    email = email.lower()
    with core.store.read() as rows:
        kept = rows.scalar(select(User).where(User.email == email))
        browser = request.cookies.get(browsers.COOKIE, "")
        counted_at = address_of(request)
        counters = browsers.counters(rows, kept, email, browser, counted_at)
    give_back = core.throttle.begin_login(counters)
    fine = secrets.is_password(password, kept.password if kept else None)
    if kept is None or not fine or kept.disabled_at is not None:
        core.metrics.refused.labels("login").inc()
        if kept is not None:
            with core.store.write() as rows:
                audit.write(rows, kept.organisation, kept.id, "login.refused", kept.id)
        log().info("login.refused", how="password", user=kept.id if kept else "", address=counted_at)
        raise Fault(401, say("pages.fault.not_known.address_password"))
    give_back()
    renewed = secrets.hash_password(password) if secrets.is_outdated(kept.password) else ""
    if core.settings.oidc_only and principal.is_bound(kept):
        raise Fault(403, say("pages.fault.not_here.account_signs"))
    with core.store.write() as rows:
        user = rows.get_one(User, kept.id)
        if not principal.is_vouched_for(user, now(rows), core.settings):
            raise Fault(403, say("pages.fault.not_here.sign_at"))
        user.password = renewed or user.password
        return user, second_factor.has_one(rows, user.id)


def begin(
    core: Core,
    rows: Rows,
    user: User,
    request: Request,
    response: Response,
    *,
    how: str = "password",
    factor: str = "",
) -> Me:
    """Begin a session of somebody who has proved who they are; its secret is in a cookie.

    Parameters
    ----------
    how : password or provider
    factor : the kind of the second factor that was proved
    """
    if user.disabled_at is not None:  # meanwhile
        raise Fault(401, say("pages.fault.not_known.address_password"))
    secret = principal.begin_session(
        rows,
        user,
        core.settings,
        replaces=request.cookies.get(COOKIE, ""),
        address=address_of(request)[:60],
        browser=browsers.in_words(request.headers.get("User-Agent", ""))[:60],
        how=how,
    )
    audit.write(rows, user.organisation, user.id, "login", user.id, how=how, factor=factor)
    browser = browsers.remember(rows, user, request.cookies.get(browsers.COOKIE, ""))
    rows.flush()
    who = principal.by_session(rows, secret, core.settings)
    if who is None:
        raise Fault(401, say("pages.fault.not_known.address_password"))
    # The prefix makes browsers demand Secure and the path /, and refuse a Domain.
    response.set_cookie(COOKIE, secret, secure=True, httponly=True, samesite="strict", path="/")
    response.set_cookie(
        browsers.COOKIE,
        browser,
        max_age=browsers.KNOWN_DAYS * 86_400,
        secure=True,
        httponly=True,
        samesite="strict",
        path="/",
    )
    return _me(core, who)


@router.get("/session")
def current_user(who: Anyone, core: TheCore) -> Me:
    """Who asks, and what they may do."""
    return _me(core, who)


@router.delete("/session", status_code=204)
def log_out(who: Person, core: TheCore, request: Request, response: Response) -> None:
    """End this session."""
    with core.store.write() as rows:
        principal.end_session(rows, request.cookies.get(COOKIE, ""))
        who.audit(rows, "logout", who.user)
    forget_session(response)


@router.post("/account/password", status_code=204)
def change_password(
    asked: NewPassword, who: Person, core: TheCore, request: Request, response: Response
) -> None:
    """Change one's own password; all other sessions end, and this one gets a new cookie."""
    verify(core, who, asked.old)  # the session ends with its password
    with core.store.write() as rows:
        user = rows.get_one(User, who.user)
        how = rows.get_one(Session, who.credential).how
        accounts.set_password(rows, user, asked.new, user.id)
        begin(core, rows, user, request, response, how=how)


def confirm(core: Core, who: Principal, password: str | None, request: Request) -> None:
    """Refuse whoever asks unless their password is right; their session then has a new cookie."""
    verify(core, who, password)
    with core.store.write() as rows:
        query = select(Session).where(Session.hash == who.credential, Session.user == who.user)
        session = rows.scalar(query.with_for_update())
        if session is not None:  # else it is a token, or another request was first
            renew(session, request)


def renew(session: Session, request: Request) -> None:
    """Give a session a new cookie, with whatever is answered."""
    cookie = f"{COOKIE}={principal.renew_session(session)}; HttpOnly; Path=/; SameSite=strict; Secure"
    setattr(request.state, RENEWED, cookie)


def verify(core: Core, who: Principal, password: str | None) -> None:
    """Refuse whoever asks unless their password is right; counted for their session or token alone.

    An account of the identity provider has signed in there anew instead, which is good for one act.
    """
    with core.store.read() as rows:
        user = rows.get_one(User, who.user)
    if principal.is_proved_there(user, core.settings):
        _use_fresh_sign_in(core, who)
        return
    give_back = core.throttle.begin_login({f"{who.via} {who.session or who.credential}": 1})
    if not secrets.is_password(password or "", user.password):
        raise Fault(403, say("pages.fault.password_is_wrong.detail"))
    give_back()


def is_fresh(rows: Rows, who: Principal) -> bool:
    """Whether a session has a fresh sign-in at the provider that was not used yet."""
    session = rows.scalar(select(Session).where(Session.id == who.session))
    return session is not None and (session.proved_at or 0) >= now(rows) - PROVED_SECONDS * 1000


def _use_fresh_sign_in(core: Core, who: Principal) -> None:
    with core.store.write() as rows:
        session = rows.scalar(select(Session).where(Session.id == who.session).with_for_update())
        if session is None or (session.proved_at or 0) < now(rows) - PROVED_SECONDS * 1000:
            raise Fault(403, say("pages.fault.sign_in_again.detail"))
        session.proved_at = None


def _me(core: Core, who: Principal) -> Me:
    return Me(
        user=who.user,
        organisation=who.organisation,
        email=who.email,
        name=who.name,
        roles=list(who.roles),
        permissions=sorted(who.may),
        operator=who.operator,
        must_enrol=who.must_enrol,
        csrf=csrf_of(core, who),
    )
