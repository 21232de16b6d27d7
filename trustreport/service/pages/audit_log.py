"""The audit log of one organisation, and whether it is what was written."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from trustreport.service.pages.names import user_names
from trustreport.service.pages.page_context import Admin
from trustreport.service.pages.render import page
from trustreport.service.pages.studies import After
from trustreport.service.routes import audit_log as api
from trustreport.service.routes import filters
from trustreport.service.routes.pagination import PageRequest
from trustreport.service.storage.models import User
from trustreport.service.web.guard import TheCore

A_PAGE = 50
Choice = Annotated[str, Query(max_length=5)]

router = APIRouter()


@router.get("/audit")
def audit_log(
    request: Request,
    who: Admin,
    core: TheCore,
    wanted: filters.Entries,
    after: After = "",
    verify: Choice = "",
) -> Response:
    """The entries, the newest first; `verify` recomputes all of them."""
    found = api.entries(who, core, PageRequest(limit=A_PAGE, after=after or None), wanted)
    verified = api.verification(who, core) if verify else None
    with core.store.read() as rows:
        actors = rows.scalars(who.all(User).order_by(User.name)).all()
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
