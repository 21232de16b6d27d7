"""Reviews that somebody was asked for, by name and with a date."""

from datetime import date, datetime

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import mail
from trustreport.service.access.guard import Reader, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.client.records import ResponseBody
from trustreport.service.core import Core
from trustreport.service.ids import PATTERN
from trustreport.service.review.attestations import preparers
from trustreport.service.roles import Permission, permissions
from trustreport.service.storage.collaboration import ReviewRequest
from trustreport.service.storage.models import StoredReport, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name, Page, RequestBody, RequestedPage
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["review requests"])
REQUESTS: frozenset[Permission] = frozenset({"write", "review", "manage"})


class NewReviewRequest(RequestBody):
    reviewer: str = Field(
        pattern=PATTERN, description="a user who may review and has not prepared the report"
    )
    due: date | None = Field(default=None, description="by when")


class ReviewRequestResponse(ResponseBody):
    """A review that a named person was asked for."""

    id: str
    report: str
    reviewer: str
    due: date | None
    created_by: str
    created_at: datetime
    ended_at: datetime | None = Field(description="when the reviewer signed, or it was withdrawn")


@router.get("/reports/{report}/review-requests")
def of_report(report: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[ReviewRequestResponse]:
    """Whose review of a report was requested."""
    with core.store.read() as rows:
        query = who.rows_of(ReviewRequest).where(
            ReviewRequest.report == who.row_of(rows, StoredReport, report).id
        )
        return turn.rows(rows, query, ReviewRequest.id, ReviewRequestResponse.of_row)


@router.post("/reports/{report}/review-requests", status_code=201)
def begin(report: Name, wanted: NewReviewRequest, who: Reader, core: TheCore) -> ReviewRequestResponse:
    """Request the review of a report; the reviewer gets a message where the service sends mail."""
    who.need_one_of(REQUESTS)
    with core.store.write() as rows:
        row = who.row_of(rows, StoredReport, report)
        return ReviewRequestResponse.of_row(_add(core, rows, who, row, wanted))


@router.get("/review-requests")
def own(who: Reader, core: TheCore, turn: RequestedPage) -> Page[ReviewRequestResponse]:
    """Reviews that one was asked for and has not given yet."""
    query = who.rows_of(ReviewRequest)
    query = query.where(ReviewRequest.reviewer == who.user, ReviewRequest.ended_at.is_(None))
    with core.store.read() as rows:
        return turn.rows(rows, query, ReviewRequest.id, ReviewRequestResponse.of_row)


@router.delete("/review-requests/{review_request}", status_code=204)
def withdraw(review_request: Name, who: Reader, core: TheCore) -> None:
    """Withdraw a request: its reviewer, who made it, or an administrator."""
    with core.store.write() as rows:
        row = who.row_of(rows, ReviewRequest, review_request)
        if who.user not in (row.created_by, row.reviewer) and "manage" not in who.may:
            raise Fault(403, say("pages.fault.not_allowed.its_reviewer_who_made"))
        if row.ended_at is None:
            row.ended_at = now(rows)
            who.audit(rows, "review.withdraw", row.id, report=row.report)


def possible_reviewers(rows: Rows, who: Principal, report: StoredReport) -> list[User]:
    """Who may be asked: open accounts that may review, of people who have not prepared the report."""
    prepared = preparers(rows, report)
    users = rows.scalars(who.rows_of(User).where(User.disabled_at.is_(None)).order_by(User.name)).all()
    return [u for u in users if "review" in permissions(u.roles) and u.id not in prepared]


def _add(
    core: Core, rows: Rows, who: Principal, report: StoredReport, wanted: NewReviewRequest
) -> ReviewRequest:
    reviewer = who.row_of(rows, User, wanted.reviewer)
    if reviewer.id not in {u.id for u in possible_reviewers(rows, who, report)}:
        raise Fault(409, say("pages.fault.not_a_reviewer.detail"))
    same = select(ReviewRequest.id).where(
        ReviewRequest.report == report.id,
        ReviewRequest.reviewer == reviewer.id,
        ReviewRequest.ended_at.is_(None),
    )
    if rows.scalar(same.limit(1)) is not None:
        raise Fault(409, say("pages.fault.requested_already.detail"))
    due = wanted.due.isoformat() if wanted.due else None
    row = who.new_row(rows, ReviewRequest, report=report.id, reviewer=reviewer.id, due=due)
    said = {"study": report.study, "report": report.id, "reviewer": reviewer.id, "due": due}
    who.audit(rows, "review.request", row.id, **said)
    mail.queue_mail(rows, core.settings, "review_requested", reviewer.id, report=report.id, due=due)
    return row
