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
)
from trustreport.service.web.faults import MEDIA, ProblemDetails

PREFIX = "/api/v1"
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
    audit_log,
    exports,
):
    api.include_router(resource.router)
