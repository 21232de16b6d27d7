"""Coming in: the first setup, invitations, sessions, one's own password."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import accounts, browsers, secrets
from trustreport.service.access import principal as known
from trustreport.service.access.principal import COOKIE, Principal
from trustreport.service.access.roles import Permission, Role
from trustreport.service.core import Core
from trustreport.service.mail import outbox
from trustreport.service.routes.pagination import Page, RequestedPage
from trustreport.service.routes.shapes import Email, Line, Password, RequestBody, ResponseBody, moment
from trustreport.service.storage.models import Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import Anyone, TheCore, address_of, anybody

router = APIRouter(tags=["account"])
Secret = Annotated[str, Field(min_length=1, max_length=100)]


class Setup(RequestBody):
    link: Secret
    organisation: Line
    email: Email
    name: Line
    password: Password


class Invitation(RequestBody):
    link: Secret
    password: Password


class Login(RequestBody):
    email: Email
    password: Password


class Reset(RequestBody):
    email: Email


class NewPassword(RequestBody):
    old: Password
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
    csrf: str = Field(description="send as X-CSRF-Token with what changes anything; empty for API tokens")


class SessionResponse(ResponseBody):
    """A session of one's own."""

    created_at: datetime
    seen_at: datetime = Field(description="last use, to the minute")
    expires_at: datetime
    current: bool = Field(description="the one that asks")


@router.post("/setup", status_code=201, dependencies=[Depends(anybody)])
def set_up(asked: Setup, core: TheCore, request: Request, response: Response) -> Me:
    """Make the first organisation and account, with the link that the first start printed."""
    with core.store.write() as rows:
        accounts.use_link(rows, asked.link, "setup")
        user = accounts.set_up(
            rows, asked.organisation, email=asked.email, name=asked.name, password=asked.password
        )
        return _log_in(core, rows, user, request, response)


@router.post("/invitations", status_code=201, dependencies=[Depends(anybody)])
def accept_invitation(asked: Invitation, core: TheCore, request: Request, response: Response) -> Me:
    """Choose a password, with the link of an invitation."""
    with core.store.write() as rows:
        link = accounts.use_link(rows, asked.link, "invitation")
        user = rows.get(User, link.user)
        if user is None or user.disabled_at is not None:
            raise Fault(403, "Link not valid", "This account is closed.")
        accounts.take_up(rows, user, link, asked.password)
        return _log_in(core, rows, user, request, response)


@router.post("/resets", status_code=202, dependencies=[Depends(anybody)])
def request_reset(asked: Reset, core: TheCore, request: Request) -> None:
    """Ask for a link to choose a new password, by mail; the answer does not show who has an account."""
    if not core.settings.sends_mail:
        raise Fault(404, "Not found", "This service sends no mail. Ask an administrator for a link.")
    core.throttle.seldom(f"reset of {asked.email}")
    core.throttle.seldom(f"reset from {address_of(request)}")
    with core.store.write() as rows:
        outbox.add_reset(rows, asked.email)


@router.post("/session", status_code=201, dependencies=[Depends(anybody)])
def log_in(asked: Login, core: TheCore, request: Request, response: Response) -> Me:
    """Log in; the session is a cookie, and always a new one."""
    return log_in_by_password(core, asked.email, asked.password, request, response)


def log_in_by_password(core: Core, email: str, password: str, request: Request, response: Response) -> Me:
    """Log in, or refuse in words and time that do not show whether there is such an account."""
    email = email.lower()
    with core.store.read() as rows:
        kept = rows.scalar(select(User).where(User.email == email))
        browser = request.cookies.get(browsers.COOKIE, "")
        counters = browsers.counters(rows, kept, email, browser, address_of(request))
    give_back = core.throttle.begin_login(counters)
    fine = secrets.is_password(password, kept.password if kept else None)
    if kept is None or not fine or kept.disabled_at is not None:
        core.metrics.refused.labels("login").inc()
        if kept is not None:
            with core.store.write() as rows:
                audit.write(rows, kept.organisation, kept.id, "login.refused", kept.id)
        raise Fault(401, "Not known", "Address or password is wrong.")
    give_back()
    renewed = secrets.hash_password(password) if secrets.is_outdated(kept.password) else ""
    with core.store.write() as rows:
        user = rows.get_one(User, kept.id)
        user.password = renewed or user.password
        return _log_in(core, rows, user, request, response)


def _log_in(core: Core, rows: Rows, user: User, request: Request, response: Response) -> Me:
    secret = known.begin_session(rows, user, core.settings, replaces=request.cookies.get(COOKIE, ""))
    audit.write(rows, user.organisation, user.id, "login", user.id)
    browser = browsers.remember(rows, user, request.cookies.get(browsers.COOKIE, ""))
    rows.flush()
    who = known.by_session(rows, secret, core.settings)
    if who is None:
        raise Fault(401, "Not known", "Address or password is wrong.")
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
    return _me(who, secrets.csrf_token(secret))


@router.get("/session")
def current_user(who: Anyone, request: Request) -> Me:
    """Who asks, and what they may do."""
    secret = request.cookies.get(COOKIE, "")
    return _me(who, secrets.csrf_token(secret) if who.via == "session" else "")


@router.delete("/session", status_code=204)
def log_out(who: Anyone, core: TheCore, request: Request, response: Response) -> None:
    """End this session."""
    if who.via == "token":
        raise Fault(409, "No session", "An API token has no session; revoke it under /tokens.")
    with core.store.write() as rows:
        known.end_session(rows, request.cookies.get(COOKIE, ""))
        audit.write(rows, who.organisation, who.user, "logout", who.user)
    response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict", path="/")


@router.get("/sessions")
def sessions(who: Anyone, core: TheCore, turn: RequestedPage) -> Page[SessionResponse]:
    """One's own sessions that have not ended, the newest first."""
    _in_a_session(who)
    with core.store.read() as rows:
        return turn.items(live_sessions(rows, who), lambda session: session)


@router.delete("/sessions", status_code=204)
def end_other_sessions(who: Anyone, core: TheCore) -> None:
    """End all of one's sessions but this one."""
    _in_a_session(who)
    with core.store.write() as rows:
        ended = known.end_others(rows, who)
        audit.write(rows, who.organisation, who.user, "session.end", who.user, sessions=ended)


def live_sessions(rows: Rows, who: Principal) -> list[SessionResponse]:
    """The sessions of a user that have not ended, the newest first."""
    query = select(Session).where(Session.user == who.user, Session.expires_at >= now(rows))
    return [
        SessionResponse(
            created_at=moment(row.created_at),
            seen_at=moment(row.seen_at),
            expires_at=moment(row.expires_at),
            current=row.hash == who.credential,
        )
        for row in rows.scalars(query.order_by(Session.created_at.desc()))
    ]


def _in_a_session(who: Principal) -> None:
    if who.via == "token":
        raise Fault(403, "Not allowed", "Sessions are seen and ended in a session.")


@router.post("/account/password", status_code=204)
def change_password(
    asked: NewPassword, who: Anyone, core: TheCore, request: Request, response: Response
) -> None:
    """Change one's own password; all other sessions end, and this one gets a new cookie."""
    if who.via == "token":
        raise Fault(403, "Not allowed", "A password is changed in a session.")
    confirm(core, who, asked.old)
    with core.store.write() as rows:
        user = rows.get_one(User, who.user)
        accounts.set_password(rows, user, asked.new, user.id)
        _log_in(core, rows, user, request, response)


def confirm(core: Core, who: Principal, password: str) -> None:
    """Refuse whoever asks unless their password is right; counted for their session or token alone."""
    give_back = core.throttle.begin_login({f"{who.via} {who.credential}": 1})
    with core.store.read() as rows:
        kept = rows.get_one(User, who.user).password
    if not secrets.is_password(password, kept):
        raise Fault(403, "Password is wrong", "Your own password is needed for this.")
    give_back()


def _me(who: Principal, csrf: str) -> Me:
    return Me(
        user=who.user,
        organisation=who.organisation,
        email=who.email,
        name=who.name,
        roles=list(who.roles),
        permissions=sorted(who.may),
        operator=who.operator,
        csrf=csrf,
    )
