"""What people said and asked of a version or a report, as their pages show it."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.principal import Principal
from trustreport.service.pages.page_context import user_names
from trustreport.service.review.comments import COMMENTS
from trustreport.service.review.requests import REQUESTS, possible_reviewers
from trustreport.service.review.shares import SHARES
from trustreport.service.storage.collaboration import Comment, ReviewRequest, StoredShare
from trustreport.service.storage.models import StoredReport, User
from trustreport.service.storage.store import now

SHOWN = 200


@dataclass(frozen=True, slots=True)
class Thread:
    """Comments, oldest first, with the names of who wrote them; and where a new one goes."""

    comments: tuple[Comment, ...]
    names: dict[str, str]
    action: str
    may_comment: bool


@dataclass(frozen=True, slots=True)
class Collaboration:
    """Reviews that were requested, who else may be asked, and links for readers from outside."""

    requests: tuple[ReviewRequest, ...]
    reviewers: tuple[User, ...]
    shares: tuple[StoredShare, ...]
    names: dict[str, str]
    at: int
    may_request: bool
    may_share: bool


def thread_of_report(rows: Rows, who: Principal, report: str) -> Thread:
    """The comments on a report."""
    return _thread(rows, who, f"/reports/{report}/comments", Comment.report == report)


def thread_of_version(rows: Rows, who: Principal, version: str) -> Thread:
    """The comments on a version; those on its reports are on their pages."""
    own = (Comment.version == version) & Comment.report.is_(None)
    return _thread(rows, who, f"/versions/{version}/comments", own)


def collaboration_of(rows: Rows, who: Principal, report: StoredReport) -> Collaboration:
    """Requests and links of a report."""
    requests = rows.scalars(
        who.rows_of(ReviewRequest).where(ReviewRequest.report == report.id).order_by(ReviewRequest.id)
    ).all()
    links = who.rows_of(StoredShare).where(StoredShare.report == report.id)
    shares = rows.scalars(links.order_by(StoredShare.id.desc())).all()
    involved = {r.reviewer for r in requests} | {r.created_by for r in requests}
    waiting = {r.reviewer for r in requests if r.ended_at is None}
    may_request = bool(who.may & REQUESTS)
    reviewers = possible_reviewers(rows, who, report) if may_request else []
    return Collaboration(
        requests=tuple(requests),
        reviewers=tuple(u for u in reviewers if u.id not in waiting),
        shares=tuple(shares),
        names=user_names(rows, who, involved | {s.created_by for s in shares}),
        at=now(rows),
        may_request=may_request,
        may_share=bool(who.may & SHARES),
    )


def _thread(rows: Rows, who: Principal, action: str, condition: ColumnElement[bool]) -> Thread:
    query = who.rows_of(Comment).where(condition)
    newest = rows.scalars(query.order_by(Comment.id.desc()).limit(SHOWN)).all()
    names = user_names(rows, who, {c.created_by for c in newest})
    return Thread(tuple(reversed(newest)), names, action, bool(who.may & COMMENTS))
