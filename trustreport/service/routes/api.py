"""All resources under one prefix."""

from fastapi import APIRouter

from trustreport.service.routes import (
    account,
    attestations,
    audit_log,
    comments,
    comparisons,
    devices,
    exports,
    factors,
    jobs,
    organisations,
    reports,
    review_requests,
    schedules,
    sessions,
    shares,
    studies,
    tokens,
    users,
    versions,
    webhooks,
)
from trustreport.service.web.faults import MEDIA, ProblemDetails

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
    account,
    factors,
    sessions,
    organisations,
    users,
    tokens,
    studies,
    versions,
    jobs,
    reports,
    attestations,
    review_requests,
    comments,
    shares,
    comparisons,
    devices,
    schedules,
    webhooks,
    audit_log,
    exports,
):
    api.include_router(resource.router)
