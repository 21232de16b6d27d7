"""Links with which people without an account read one report."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field as described

from trustreport.service.access import secrets
from trustreport.service.access.guard import Reader, TheCore
from trustreport.service.client.records import ResponseBody
from trustreport.service.roles import Permission
from trustreport.service.storage.collaboration import StoredShare
from trustreport.service.storage.models import StoredReport
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault, Field
from trustreport.service.web.shapes import Name, Page, RequestBody, RequestedPage
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["shares"])
SHARES: frozenset[Permission] = frozenset({"write", "approve", "manage"})
DAYS, DAY = 14, 86_400_000


class NewShare(RequestBody):
    days: int | None = described(
        default=None, ge=1, le=3650, description="how long it works; default: 14", examples=[14]
    )


class ShareResponse(ResponseBody):
    """A link to one report without its secret."""

    id: str
    report: str
    created_by: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    uses: int = described(description="how often its page was opened")
    used_at: datetime | None


class CreatedShare(ResponseBody):
    share: ShareResponse
    link: str = described(description="what to send; shown this once")


@router.get("/reports/{report}/shares")
def of_report(report: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[ShareResponse]:
    """The links to a report, also those that work no more."""
    with core.store.read() as rows:
        query = who.rows_of(StoredShare).where(
            StoredShare.report == who.row_of(rows, StoredReport, report).id
        )
        return turn.rows(rows, query, StoredShare.id, ShareResponse.of_row)


@router.post("/reports/{report}/shares", status_code=201)
def make(report: Name, wanted: NewShare, who: Reader, core: TheCore) -> CreatedShare:
    """A link to one report, for reading, until it expires or is revoked."""
    who.need_one_of(SHARES)
    most = core.settings.share_days
    days = min(DAYS, most) if wanted.days is None else wanted.days
    if days > most:
        raise Fault(
            422,
            say("pages.fault.too_long.link"),
            [Field("days", say("pages.fault.field.found_days_expected_at", days=days, most=most))],
        )
    secret = secrets.new_secret()
    with core.store.write() as rows:
        row = who.row_of(rows, StoredReport, report)
        expires_at = now(rows) + days * DAY
        share = who.new_row(
            rows, StoredShare, report=row.id, hash=secrets.fingerprint(secret), expires_at=expires_at, uses=0
        )
        said = {"study": row.study, "report": row.id, "days": days}
        who.audit(rows, "share.add", share.id, **said)
        return CreatedShare(share=ShareResponse.of_row(share), link=f"{core.settings.url}/shared#{secret}")


@router.delete("/shares/{share}", status_code=204)
def revoke(share: Name, who: Reader, core: TheCore) -> None:
    """Revoke a link: at once, and for good."""
    with core.store.write() as rows:
        row = who.row_of(rows, StoredShare, share)
        if who.user != row.created_by and not who.may & SHARES:
            raise Fault(403, say("pages.fault.not_allowed.whoever_made_it"))
        if row.revoked_at is None:
            row.revoked_at = now(rows)
            who.audit(rows, "share.revoke", row.id, report=row.report)
