"""Every route: the resources of the API under one prefix, and the pages beside it.

Pages are rendered here and ask the functions of the API and nothing else. They work without JavaScript;
with it, uploads show how far they are, and what is awaited comes by itself.
"""

from fastapi import APIRouter

from trustreport.service.account import api as account_api
from trustreport.service.account import (
    audit_log,
    factors,
    factors_page,
    login,
    organisation,
    organisation_page,
    provider_page,
    tokens,
)
from trustreport.service.account import page as account_page
from trustreport.service.device import api as device_api
from trustreport.service.device import page as device_page
from trustreport.service.jobs import job
from trustreport.service.pages import render
from trustreport.service.reference import page as reference_page
from trustreport.service.report import api as report_api
from trustreport.service.report import collaboration_page, comparison, shared_page
from trustreport.service.report import page as report_page
from trustreport.service.review import attestations, comments, requests, shares
from trustreport.service.study import api as study_api
from trustreport.service.study import page as study_page
from trustreport.service.tools import calculator, exports, planning
from trustreport.service.version import api as version_api
from trustreport.service.version import editor_page
from trustreport.service.version import page as version_page
from trustreport.service.web.faults import MEDIA, ProblemDetails
from trustreport.service.webhook import api as webhook_api
from trustreport.service.webhook import page as webhook_page

PREFIX = "/api/v1"
# The sections of the document, in the order of what a program does.
TAGS = {
    "studies": "What versions and reports belong to.",
    "versions": "The files of a study. A version never changes; changed files are a new version.",
    "jobs": "Checks of uploads, and reports that are being made.",
    "reports": "Reports, their results and files. None of them ever changes.",
    "attestations": "Reviews, approvals and rejections: signed statements about a report.",
    "comments": "What people write about versions and reports.",
    "review requests": "Who is asked to review a report, and by when.",
    "shares": "Links to one report for readers from outside.",
    "exports": "Lists as CSV.",
    "comparisons": "Two reports side by side.",
    "devices": "What was reported of a device over time.",
    "schedules": "Periodic audits: a report of the newest valid version, every so many days.",
    "webhooks": "Addresses that events are sent to, for administrators.",
    "audit": "The audit log of your organisation, for administrators.",
    "account": "Sessions and passwords of people.",
    "sessions": "Where an account is signed in.",
    "second factors": "Apps with codes, passkeys and recovery codes of an account.",
    "tokens": "API tokens: your own; an administrator sees and revokes those of all.",
    "users": "Users of your organisation, for administrators.",
    "organisations": "Your organisation, and how long it keeps its data.",
    "operations": "For whoever runs the service.",
}
REFUSALS = (400, 401, 403, 404, 405, 408, 409, 413, 415, 422, 429, 503, 507)

api = APIRouter(
    prefix=PREFIX,
    responses={
        status: {
            "description": "Refused",
            "content": {MEDIA: {"schema": {"$ref": f"#/components/schemas/{ProblemDetails.__name__}"}}},
        }
        for status in REFUSALS
    },
)
for resource in (
    account_api.router,
    factors.router,
    account_api.sessions_router,
    organisation.router,
    organisation.users_router,
    tokens.router,
    study_api.router,
    version_api.router,
    job.router,
    report_api.router,
    attestations.router,
    requests.router,
    comments.router,
    shares.router,
    comparison.router,
    device_api.router,
    device_api.schedules_router,
    webhook_api.router,
    audit_log.router,
    exports.router,
):
    api.include_router(resource)

PAGES = (
    render.router,
    login.router,
    provider_page.router,
    account_page.router,
    factors_page.router,
    version_page.uploads_router,
    study_page.router,
    version_page.router,
    editor_page.router,
    job.page_router,
    report_page.router,
    collaboration_page.router,
    shared_page.router,
    comparison.page_router,
    device_page.router,
    planning.router,
    calculator.router,
    audit_log.page_router,
    organisation_page.router,
    webhook_page.router,
    reference_page.router,
    login.language_router,
)
pages = APIRouter(include_in_schema=False)
for page in PAGES:
    pages.include_router(page)
