"""Dependencies of routes: the core, the one who asks, and what they may do."""

import ipaddress
import re
from collections.abc import Callable
from hmac import compare_digest
from typing import Annotated

from fastapi import Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.security import APIKeyCookie, HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from starlette.types import Scope

from trustreport.service.access import browsers, principal, secrets
from trustreport.service.access.principal import COOKIE, Principal, not_known
from trustreport.service.core import Core
from trustreport.service.roles import Permission
from trustreport.service.storage.models import Session, Token
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

SAFE = ("GET", "HEAD", "OPTIONS")
CSRF_HEADER = "X-CSRF-Token"
NOTED_EVERY = 60_000  # how often "last used" is written, in milliseconds

bearer = HTTPBearer(auto_error=False, description="An API token")
cookie = APIKeyCookie(name=COOKIE, auto_error=False, description=f"A session; changes need {CSRF_HEADER}")


def core_of(request: Request) -> Core:
    """The core of the app that answers."""
    core: Core = request.app.state.core
    return core


def address_of(request: Request) -> str:
    """Where a request comes from; of IPv6 the network of 64 bits, all of which one sender may have.

    Each proxy adds the address that it saw to the right of X-Forwarded-For, so with `Settings.proxies`
    of them the sender's is that many from the right; all to the left of it is what the sender wrote.
    """
    proxies = core_of(request).settings.proxies
    peer = request.client.host if request.client else "?"
    if proxies:
        passed = ",".join(request.headers.getlist("X-Forwarded-For")).split(",")
        claimed = passed[-proxies].strip() if len(passed) >= proxies else ""
        return _network(claimed) or _network(peer) or peer
    return _network(peer) or peer


def _network(text: str) -> str:
    """An address, with or without a port, as it is counted; empty where it is none."""
    bare = re.sub(r"^\[(.*)\](:\d+)?$|^([\d.]+):\d+$", r"\1\3", text)
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))


def anybody(request: Request) -> None:
    """For routes without an account: counted by browser or address, and not from a page of another site."""
    count_anonymous(request)
    refuse_other_sites(request)


def count_anonymous(request: Request) -> None:
    """Count a request of nobody known, by its browser if somebody has logged in with it, else by address."""
    core = core_of(request)
    browser = request.cookies.get(browsers.COOKIE, "")
    with core.store.read() as rows:
        known_browser = browsers.is_known(rows, browser)
    whose = f"browser {secrets.fingerprint(browser)}" if known_browser else f"address {address_of(request)}"
    core.throttle.request(whose)


def refuse_other_sites(request: Request) -> None:
    """Browsers say where a request was made; one that changes something must come from our own pages."""
    made = request.headers.get("Sec-Fetch-Site", "none")
    if request.method not in SAFE and made not in ("same-origin", "none"):
        raise Fault(403, say("pages.fault.not_from_another_site.detail"))


def asker(
    request: Request,
    token: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    session: Annotated[str | None, Depends(cookie)],
) -> Principal:
    """Who asks; 401 where nobody is known, 403 where a page of another site may be behind it."""
    return _asker(request, token.credentials if token else None, session)


def asker_in_session(request: Request, session: Annotated[str | None, Depends(cookie)]) -> Principal:
    """Who asks, a person: the holder of an API token is a program. The document lists the cookie alone."""
    who = _asker(request, _token_of(request), session)
    if who.via == "token":
        raise Fault(403, say("pages.fault.not_allowed.in_a_session"))
    return who


def _asker(request: Request, token: str | None, session: str | None) -> Principal:
    who = admitted(request, token, session)
    if token is None and session and request.method not in SAFE:
        refuse_other_sites(request)
        sent = request.headers.get(CSRF_HEADER, "")
        if not compare_digest(sent.encode(), csrf_of(core_of(request), who).encode()):
            raise Fault(
                403, say("pages.fault.not_from_this_page.send_sessions_csrfheader", csrf_header=CSRF_HEADER)
            )
    return who


def csrf_of(core: Core, who: Principal) -> str:
    """What pages of a session send along; nothing for a token, which no browser sends by itself."""
    return secrets.csrf_token(secrets.session_key(core.signer, who.session)) if who.session else ""


def admitted(request: Request, token: str | None, session: str | None) -> Principal:
    """Who a token or a session stands for, counted and noted; 401 where nobody is known."""
    core = core_of(request)
    who = _owner(core, token, session)
    if who is None:
        count_anonymous(request)
        raise not_known(ended=bool(session))
    core.throttle.request(f"{who.via} {who.session or who.credential}")
    _note(core, who)
    request.state.user, request.state.organisation = who.user, who.organisation
    return who


async def is_known(core: Core, scope: Scope) -> bool:
    """Whether the token or session of a request is somebody's; its body is not looked at."""
    request = Request(scope)
    by_token = _token_of(request)
    session = request.cookies.get(COOKIE)
    if by_token is None and not session:
        return False
    return await run_in_threadpool(_owner, core, by_token, session) is not None


def _token_of(request: Request) -> str | None:
    scheme, token = get_authorization_scheme_param(request.headers.get("Authorization"))
    return token if scheme.lower() == "bearer" else None


def _owner(core: Core, token: str | None, session: str | None) -> Principal | None:
    """Whose a token is, or where there is none, whose a session is."""
    with core.store.read() as rows:
        if token is not None:
            return principal.by_token(rows, token, core.settings)
        return principal.by_session(rows, session, core.settings) if session else None


def needs(permission: Permission) -> Callable[[Principal], Principal]:
    """A dependency: who asks, if they may."""

    def allowed(who: Annotated[Principal, Depends(asker)]) -> Principal:
        who.need(permission)
        return who

    return allowed


def _note(core: Core, who: Principal) -> None:
    """Write when a session or token was last used, now and then."""
    with core.store.read() as rows:
        at = now(rows)
        if who.via == "session":
            session = rows.get(Session, who.credential)
            fresh = session is None or session.seen_at > at - NOTED_EVERY
        else:
            token = rows.get(Token, who.credential)
            fresh = token is None or (token.used_at or 0) > at - NOTED_EVERY
    if fresh:
        return
    with core.store.write() as rows:
        if who.via == "session" and (session := rows.get(Session, who.credential)):
            session.seen_at = at
        elif who.via == "token" and (token := rows.get(Token, who.credential)):
            token.used_at = at


TheCore = Annotated[Core, Depends(core_of)]
Anyone = Annotated[Principal, Depends(asker)]
Person = Annotated[Principal, Depends(asker_in_session)]
Reader = Annotated[Principal, Depends(needs("read"))]
Author = Annotated[Principal, Depends(needs("write"))]
Reviewer = Annotated[Principal, Depends(needs("review"))]
Admin = Annotated[Principal, Depends(needs("manage"))]
