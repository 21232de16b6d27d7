"""All resources under one prefix."""

from fastapi import APIRouter

from trustreport.service.routes import (
    account,
    attestations,
    audit_log,
    comparisons,
    devices,
    jobs,
    organisations,
    reports,
    schedules,
    studies,
    tokens,
    users,
    versions,
    webhooks,
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
    organisations,
    users,
    tokens,
    studies,
    versions,
    jobs,
    reports,
    attestations,
    comparisons,
    devices,
    schedules,
    webhooks,
    audit_log,
):
    api.include_router(resource.router)
