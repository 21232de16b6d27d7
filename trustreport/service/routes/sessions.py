"""Sessions: one's own, and, for administrators, those of a user."""

from datetime import datetime

from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import principal as known
from trustreport.service.access.principal import COOKIE, Principal
from trustreport.service.routes.pagination import Name, Page, RequestedPage
from trustreport.service.routes.shapes import ResponseBody, moment
from trustreport.service.settings import Settings
from trustreport.service.storage.models import Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import Admin, Anyone, TheCore
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["sessions"])


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


@router.get("/sessions")
def sessions(who: Anyone, core: TheCore, turn: RequestedPage) -> Page[SessionResponse]:
    """One's own sessions that have not ended, the newest first."""
    in_a_session(who)
    with core.store.read() as rows:
        return turn.items(live_sessions(rows, who, core.settings), lambda session: session)


@router.delete("/sessions", status_code=204)
def end_other_sessions(who: Anyone, core: TheCore) -> None:
    """End all of one's sessions but this one."""
    in_a_session(who)
    with core.store.write() as rows:
        ended = known.end_others(rows, who)
        audit.write(rows, who.organisation, who.user, "session.end", who.user, sessions=ended)


@router.delete("/sessions/{session}", status_code=204)
def end_session(session: Name, who: Anyone, core: TheCore, response: Response) -> None:
    """End one of one's own sessions."""
    in_a_session(who)
    with core.store.write() as rows:
        row = rows.scalar(select(Session).where(Session.user == who.user, Session.id == session))
        if row is None:
            raise Fault(
                404,
                say("pages.fault.not_found.title"),
                say("pages.fault.not_found.there_no_session", session=repr(session)),
            )
        rows.delete(row)
        audit.write(rows, who.organisation, who.user, "session.end", who.user, sessions=1)
        if row.id == who.session:
            forget_session(response)


@router.delete("/users/{user}/sessions", status_code=204)
def end_sessions_of(user: Name, who: Admin, core: TheCore) -> None:
    """End every session of a user; API tokens stay."""
    with core.store.write() as rows:
        row = who.one(rows, User, user)
        found = rows.scalars(select(Session).where(Session.user == row.id)).all()
        for session in found:
            rows.delete(session)
        audit.write(rows, who.organisation, who.user, "session.end", row.id, sessions=len(found))


def live_sessions(rows: Rows, who: Principal, settings: Settings) -> list[SessionResponse]:
    """The sessions of a user that have not ended, the newest first."""
    at = now(rows)
    query = select(Session).where(
        Session.user == who.user,
        Session.expires_at >= at,
        Session.seen_at >= at - settings.idle_minutes * known.MINUTE,
    )
    return [
        SessionResponse(
            id=row.id,
            created_at=moment(row.created_at),
            seen_at=moment(row.seen_at),
            expires_at=moment(row.expires_at),
            address=row.address,
            browser=row.browser,
            how=row.how,
            current=row.id == who.session,
        )
        for row in rows.scalars(query.order_by(Session.created_at.desc()))
    ]


def in_a_session(who: Principal) -> None:
    """Refuse an API token: its holder is a program, and no person."""
    if who.via == "token":
        raise Fault(403, say("pages.fault.not_allowed.title"), say("pages.fault.not_allowed.seen"))


def forget_session(response: Response) -> None:
    """Let a browser drop a session that has ended, and what it has kept of it."""
    response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict", path="/")
    response.headers.update(known.CLEARED)
