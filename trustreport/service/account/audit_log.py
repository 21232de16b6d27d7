"""The audit log of an organisation, as JSON and as a page."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select

from trustreport.service.access.guard import Admin, TheCore
from trustreport.service.client import operations as op
from trustreport.service.client.records import AuditEntry, Verification
from trustreport.service.pages import filters
from trustreport.service.pages.page_context import Admin as PageAdmin
from trustreport.service.pages.page_context import After, user_names
from trustreport.service.pages.render import page
from trustreport.service.record.verification import verify_organisation
from trustreport.service.storage.models import Audit, User
from trustreport.service.web.shapes import Page, PageRequest, RequestedPage, serves

router = APIRouter(prefix="/audit", tags=["audit"])


@serves(router, op.AUDIT_LOG)
def entries(who: Admin, core: TheCore, turn: RequestedPage, wanted: filters.Entries) -> Page[AuditEntry]:
    """The log, the newest entry first; `subject` picks what concerns one study, report or user."""
    query = wanted.apply(select(Audit).where(Audit.chain == who.organisation))
    if turn.after and turn.after.isdecimal() and len(turn.after) < 18:
        query = query.where(Audit.number < int(turn.after))
    with core.store.read() as rows:
        found = list(rows.scalars(query.order_by(Audit.number.desc()).limit(turn.limit + 1)))
    more = len(found) > turn.limit
    found = found[: turn.limit]
    return Page(items=[_to_response(row) for row in found], next=str(found[-1].number) if more else None)


@serves(router, op.VERIFY_AUDIT_LOG)
def verification(who: Admin, core: TheCore) -> Verification:
    """Recompute every hash of the log, and compare with the other tables and with all that was signed."""
    with core.store.read() as rows:
        found = verify_organisation(core, rows, who.organisation)
    return Verification(entries=found.entries, head=found.head, faults=list(found.faults))


def _to_response(row: Audit) -> AuditEntry:
    return AuditEntry.of_row(row, milliseconds=row.at)


A_PAGE = 50
Choice = Annotated[str, Query(max_length=5)]

page_router = APIRouter()


@page_router.get("/audit")
def audit_log(
    request: Request,
    who: PageAdmin,
    core: TheCore,
    wanted: filters.Entries,
    after: After = "",
    verify: Choice = "",
) -> Response:
    """The entries, the newest first; `verify` recomputes all of them."""
    found = entries(who, core, PageRequest(limit=A_PAGE, after=after or None), wanted)
    verified = verification(who, core) if verify else None
    with core.store.read() as rows:
        actors = rows.scalars(who.rows_of(User).order_by(User.name)).all()
        named = user_names(rows, who, {e.actor for e in found.items} | {e.subject for e in found.items})
    return page(
        request,
        "audit",
        entries=found.items,
        next=found.next,
        after=after,
        wanted=wanted,
        actors=actors,
        people=named,
        verified=verified,
    )
