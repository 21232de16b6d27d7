"""Forms of what people do together: comments, requested reviews, links to one report."""

from fastapi import APIRouter, Request, Response

from trustreport.service.access.guard import TheCore
from trustreport.service.pages.page_context import Reader, Sent, attempt, request_from_form, see, text, typed
from trustreport.service.report import page as reports
from trustreport.service.review import comments, shares
from trustreport.service.review import requests as review_requests
from trustreport.service.storage.collaboration import Comment, ReviewRequest, StoredShare
from trustreport.service.version import page as versions
from trustreport.service.web.shapes import Name

router = APIRouter()


@router.post("/reports/{report}/comments")
def comment_report(report: Name, request: Request, who: Reader, core: TheCore, form: Sent) -> Response:
    """Comment on a report."""

    def submit() -> Response:
        wanted = request_from_form(comments.NewComment, text=text(form, "text"))
        made = comments.on_report(report, wanted, who, core)
        return see(f"/reports/{report}#comment-{made.id}")

    return attempt(
        submit, lambda fault: reports.show(request, who, core, report, fault=fault, sent=typed(form))
    )


@router.post("/versions/{version}/comments")
def comment_version(version: Name, request: Request, who: Reader, core: TheCore, form: Sent) -> Response:
    """Comment on a version."""

    def submit() -> Response:
        wanted = request_from_form(comments.NewComment, text=text(form, "text"))
        made = comments.on_version(version, wanted, who, core)
        return see(f"/versions/{version}#comment-{made.id}")

    return attempt(
        submit, lambda fault: versions.show(request, who, core, version, fault=fault, sent=typed(form))
    )


@router.post("/comments/{comment}/withdrawal")
def withdraw_comment(comment: Name, who: Reader, core: TheCore, form: Sent) -> Response:
    """Withdraw a comment."""
    with core.store.read() as rows:
        row = who.one(rows, Comment, comment)
    comments.withdraw(comment, who, core)
    return see(f"/reports/{row.report}#comments" if row.report else f"/versions/{row.version}#comments")


@router.post("/reports/{report}/review-requests")
def request_review(report: Name, request: Request, who: Reader, core: TheCore, form: Sent) -> Response:
    """Ask a colleague to review a report."""

    def submit() -> Response:
        wanted = request_from_form(
            review_requests.NewReviewRequest, reviewer=text(form, "reviewer"), due=text(form, "due") or None
        )
        review_requests.begin(report, wanted, who, core)
        return see(f"/reports/{report}?done=requested#requests")

    return attempt(
        submit, lambda fault: reports.show(request, who, core, report, fault=fault, sent=typed(form))
    )


@router.post("/review-requests/{review_request}/withdrawal")
def withdraw_request(review_request: Name, who: Reader, core: TheCore, form: Sent) -> Response:
    """Withdraw a request."""
    with core.store.read() as rows:
        report = who.one(rows, ReviewRequest, review_request).report
    review_requests.withdraw(review_request, who, core)
    return see(f"/reports/{report}#requests")


@router.post("/reports/{report}/shares")
def share(report: Name, request: Request, who: Reader, core: TheCore, form: Sent) -> Response:
    """A link for readers from outside; it is on this one page and nowhere else."""

    def submit() -> Response:
        wanted = request_from_form(shares.NewShare, days=text(form, "days") or None)
        made = shares.make(report, wanted, who, core)
        return reports.show(request, who, core, report, made=made)

    return attempt(
        submit, lambda fault: reports.show(request, who, core, report, fault=fault, sent=typed(form))
    )


@router.post("/shares/{share}/revocation")
def revoke(share: Name, who: Reader, core: TheCore, form: Sent) -> Response:
    """Revoke a link."""
    with core.store.read() as rows:
        report = who.one(rows, StoredShare, share).report
    shares.revoke(share, who, core)
    return see(f"/reports/{report}?done=unshared#shares")
