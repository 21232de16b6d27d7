"""Comments on versions and reports: written, read, withdrawn; never changed."""

from datetime import datetime
from hashlib import sha256

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.guard import Reader, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.client.records import ResponseBody
from trustreport.service.record.retention import erase_comment
from trustreport.service.roles import Permission
from trustreport.service.storage.collaboration import Comment
from trustreport.service.storage.models import StoredReport, Version
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name, Page, RequestBody, RequestedPage, Words
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["comments"])
COMMENTS: frozenset[Permission] = frozenset({"write", "review", "manage"})


class NewComment(RequestBody):
    text: Words = Field(min_length=1, pattern=r"\S", description="cannot be changed later, only withdrawn")


class CommentResponse(ResponseBody):
    """A comment on a version or report; its text is empty once it is withdrawn."""

    id: str
    version: str
    report: str | None
    text: str = Field(description="empty once it is withdrawn")
    sha256: str = Field(description="of the text as it was written")
    created_by: str
    created_at: datetime
    withdrawn_at: datetime | None


@router.get("/reports/{report}/comments")
def of_report(report: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[CommentResponse]:
    """The comments on a report, the newest first."""
    with core.store.read() as rows:
        query = who.rows_of(Comment).where(Comment.report == who.row_of(rows, StoredReport, report).id)
        return turn.rows(rows, query, Comment.id, CommentResponse.of_row)


@router.post("/reports/{report}/comments", status_code=201)
def on_report(report: Name, wanted: NewComment, who: Reader, core: TheCore) -> CommentResponse:
    """Comment on a report."""
    who.need_one_of(COMMENTS)
    with core.store.write() as rows:
        row = who.row_of(rows, StoredReport, report)
        version = rows.get_one(Version, row.version)
        return CommentResponse.of_row(_add(rows, who, version, row.id, wanted.text))


@router.get("/versions/{version}/comments")
def of_version(version: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[CommentResponse]:
    """The comments on a version, the newest first; those on its reports are with them."""
    with core.store.read() as rows:
        row = who.row_of(rows, Version, version)
        query = who.rows_of(Comment).where(Comment.version == row.id, Comment.report.is_(None))
        return turn.rows(rows, query, Comment.id, CommentResponse.of_row)


@router.post("/versions/{version}/comments", status_code=201)
def on_version(version: Name, wanted: NewComment, who: Reader, core: TheCore) -> CommentResponse:
    """Comment on a version."""
    who.need_one_of(COMMENTS)
    with core.store.write() as rows:
        return CommentResponse.of_row(_add(rows, who, who.row_of(rows, Version, version), None, wanted.text))


@router.delete("/comments/{comment}", status_code=204)
def withdraw(comment: Name, who: Reader, core: TheCore) -> None:
    """Withdraw a comment: one's own, or anybody's as an administrator. Its text is removed."""
    with core.store.write() as rows:
        row = who.row_of(rows, Comment, comment)
        if row.created_by != who.user and "manage" not in who.may:
            raise Fault(403, say("pages.fault.not_ones_own.comment_withdrawn"))
        if row.withdrawn_at is None:
            erase_comment(rows, row, who.user)


def _add(rows: Rows, who: Principal, version: Version, report: str | None, text: str) -> Comment:
    hashed = sha256(text.encode()).hexdigest()
    row = who.new_row(rows, Comment, version=version.id, report=report, text=text, sha256=hashed)
    said = {"study": version.study, "version": version.id, "report": report, "sha256": row.sha256}
    who.audit(rows, "comment.add", row.id, **said)
    return row
