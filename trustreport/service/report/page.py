"""Reports: the list, one to read, and signing it."""

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fastapi import APIRouter, Request, Response
from sqlalchemy import or_, select

from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import is_proved_there
from trustreport.service.account.api import is_fresh
from trustreport.service.pages import filters
from trustreport.service.pages.blob_responses import SANDBOX, send_blob
from trustreport.service.pages.page_context import (
    Admin,
    After,
    Given,
    Reader,
    Reviewer,
    Sent,
    body_from,
    listed,
    pairs,
    see,
    shown_again,
    signed_acts,
    user_names,
)
from trustreport.service.pages.render import page
from trustreport.service.report import api as report_api
from trustreport.service.review import attestations as api
from trustreport.service.review import comments, shares
from trustreport.service.review import requests as review_requests
from trustreport.service.review.attestations import preparers
from trustreport.service.review.threads import collaboration_of, thread_of_report
from trustreport.service.storage.blobs import Blobs
from trustreport.service.storage.collaboration import Comment, ReviewRequest, StoredShare
from trustreport.service.storage.models import (
    Attestation,
    Job,
    ReportFile,
    StoredReport,
    StoredStudy,
    User,
    Version,
)
from trustreport.service.version import page as versions
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say

DOCUMENT = "report.html"
LEADING = (
    *("report.pdf", DOCUMENT, "annex.pdf", "plain.pdf"),
    *("results.json", "results.xlsx", "results.csv"),
)
ORDER = {"B": 0, "W": 1, "N": 2}

router = APIRouter(prefix="/reports")


@dataclass(frozen=True, slots=True)
class ReportOutcome:
    """What results.json says that the page of a report repeats."""

    verdicts: tuple[dict[str, Any], ...]
    fired: tuple[dict[str, Any], ...]  # the worst first
    n_clear: int
    n_idle: int  # checks that could not run
    unanswered: tuple[dict[str, Any], ...]


@router.get("")
def reports(
    request: Request, who: Reader, core: TheCore, wanted: filters.Reports, after: After = ""
) -> Response:
    """All reports, the newest first; those of studies or devices whose name holds what is searched."""
    query = wanted.apply(who.rows_of(StoredReport), who, core.store.is_sqlite)
    with core.store.read() as rows:
        found = listed(rows, query, StoredReport.id, after)
        named = select(StoredStudy.id, StoredStudy.name).where(
            StoredStudy.id.in_({r.study for r in found.items})
        )
        return page(
            request,
            "reports",
            reports=found.items,
            studies=dict(pairs(rows, named)),
            signed=signed_acts(rows, [r.id for r in found.items]),
            wanted=wanted,
            after=after,
            next=found.next,
        )


@router.get("/{report}/document")
def document(report: Name, request: Request, who: Reader, core: TheCore) -> Response:
    """The report itself, for the frame in its page: it runs nothing and reaches nothing."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredReport, report)
        kept = rows.get(ReportFile, (row.id, DOCUMENT))
    if kept is None:
        raise Fault(404, say("pages.fault.not_found.report_was_made"))
    return in_its_frame(send_blob(core, request, who.organisation, kept.sha256, kept.name, ours=True))


def in_its_frame(answer: Response) -> Response:
    """A report for the frame of our own pages, and of no others."""
    answer.headers["Content-Security-Policy"] = f"{SANDBOX}; frame-ancestors 'self'"
    answer.headers["X-Frame-Options"] = "SAMEORIGIN"
    return answer


@router.get("/{report}")
def show(
    request: Request,
    who: Reader,
    core: TheCore,
    report: Name,
    *,
    made: Given[shares.CreatedShare] = None,
) -> Response:
    """The page of a report; `made` is a link to it, to be shown this once."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredReport, report)
        files = rows.scalars(
            select(ReportFile).where(ReportFile.report == row.id).order_by(ReportFile.name)
        ).all()
        signatures = rows.scalars(
            select(Attestation).where(Attestation.report == row.id).order_by(Attestation.id)
        ).all()
        same = StoredReport.study == row.study
        if row.device:
            same = or_(same, StoredReport.device == row.device)
        others = rows.execute(
            who.rows_of(StoredReport)
            .where(same, StoredReport.id != row.id)
            .order_by(StoredReport.id.desc())
            .limit(50)
            .with_only_columns(
                StoredReport.id, StoredReport.kind, StoredReport.facts, StoredReport.created_at
            )
        ).all()
        outcome = outcome_of(core.blobs, who.organisation, row.results_sha256)
        by_name = {f.name: f for f in files}
        prepared = preparers(rows, row)
        alone = {s.id: api.known_alone(core, s) for s in signatures if s.act != "rejection"}
        shown = {row.created_by, *(s.user for s in signatures), *prepared, *filter(None, alone.values())}
        people = user_names(rows, who, shown)
        return page(
            request,
            "report",
            report=row,
            study=rows.get_one(StoredStudy, row.study),
            version=rows.get_one(Version, row.version),
            job=rows.get_one(Job, row.job),
            leading=[by_name[name] for name in LEADING if name in by_name],
            files=[f for f in files if f.name not in LEADING],
            has_document=DOCUMENT in by_name,
            signatures=signatures,
            alone=alone,
            own=who.user in prepared,
            prepared=[people[user] for user in sorted(prepared)],
            elsewhere=is_proved_there(rows.get_one(User, who.user), core.settings),
            is_fresh=is_fresh(rows, who),
            provider=core.provider.settings.name if core.provider else "",
            signed=frozenset(s.act for s in signatures),
            others=others,
            outcome=outcome,
            people=people,
            thread=thread_of_report(rows, who, row.id),
            together=collaboration_of(rows, who, row),
            made=made,
            most_days=core.settings.share_days,
        )


@router.post("/{report}/attestations")
@shown_again(show)
def sign(report: Name, request: Request, who: Reviewer, core: TheCore, form: Sent) -> Response:
    """Review, approve or reject it, with what that means."""
    api.sign(report, body_from(form, api.Signing), who, core, request)
    return see(f"/reports/{report}?done=signed#signatures")


@router.post("/{report}/removal")
@shown_again(show)
def remove(report: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Remove it; for 30 days it can be restored."""
    report_api.remove(report, who, core)
    return see("/removed?done=report_removed")


@lru_cache(maxsize=200)
def outcome_of(blobs: Blobs, organisation: str, results: str) -> ReportOutcome:
    """Verdicts and checks of a results.json, which never changes."""
    try:
        said = json.loads(blobs.read(organisation, results))
        checks = said["checks"]
        fired = sorted((c for c in checks if c["status"] == "fired"), key=lambda c: ORDER[c["severity"]])
        looked = {c["check"] for c in checks}
        clear = {c["check"] for c in checks if c["status"] == "clear"} - {c["check"] for c in fired}
        idle = looked - clear - {c["check"] for c in fired}
        return ReportOutcome(
            tuple(said["verdicts"]), tuple(fired), len(clear), len(idle), tuple(said["unanswered"])
        )
    except FileNotFoundError:
        raise Fault(404, say("pages.fault.not_found.results_have_been")) from None


collaboration_router = APIRouter()


@collaboration_router.post("/reports/{report}/comments")
@shown_again(show)
def comment_report(report: Name, request: Request, who: Reader, core: TheCore, form: Sent) -> Response:
    """Comment on a report."""
    made = comments.on_report(report, body_from(form, comments.NewComment), who, core)
    return see(f"/reports/{report}#comment-{made.id}")


@collaboration_router.post("/versions/{version}/comments")
@shown_again(versions.show)
def comment_version(version: Name, request: Request, who: Reader, core: TheCore, form: Sent) -> Response:
    """Comment on a version."""
    made = comments.on_version(version, body_from(form, comments.NewComment), who, core)
    return see(f"/versions/{version}#comment-{made.id}")


@collaboration_router.post("/comments/{comment}/withdrawal")
def withdraw_comment(comment: Name, who: Reader, core: TheCore, form: Sent) -> Response:
    """Withdraw a comment."""
    with core.store.read() as rows:
        row = who.row_of(rows, Comment, comment)
    comments.withdraw(comment, who, core)
    return see(f"/reports/{row.report}#comments" if row.report else f"/versions/{row.version}#comments")


@collaboration_router.post("/reports/{report}/review-requests")
@shown_again(show)
def request_review(report: Name, request: Request, who: Reader, core: TheCore, form: Sent) -> Response:
    """Ask a colleague to review a report."""
    review_requests.begin(report, body_from(form, review_requests.NewReviewRequest), who, core)
    return see(f"/reports/{report}?done=requested#requests")


@collaboration_router.post("/review-requests/{review_request}/withdrawal")
def withdraw_request(review_request: Name, who: Reader, core: TheCore, form: Sent) -> Response:
    """Withdraw a request."""
    with core.store.read() as rows:
        report = who.row_of(rows, ReviewRequest, review_request).report
    review_requests.withdraw(review_request, who, core)
    return see(f"/reports/{report}#requests")


@collaboration_router.post("/reports/{report}/shares")
@shown_again(show)
def share(report: Name, request: Request, who: Reader, core: TheCore, form: Sent) -> Response:
    """A link for readers from outside; it is on this one page and nowhere else."""
    made = shares.make(report, body_from(form, shares.NewShare), who, core)
    return show(request, who, core, report, made=made)


@collaboration_router.post("/shares/{share}/revocation")
def revoke(share: Name, who: Reader, core: TheCore, form: Sent) -> Response:
    """Revoke a link."""
    with core.store.read() as rows:
        report = who.row_of(rows, StoredShare, share).report
    shares.revoke(share, who, core)
    return see(f"/reports/{report}?done=unshared#shares")
