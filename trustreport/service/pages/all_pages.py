"""Every page, beside the API and outside its document."""

from fastapi import APIRouter

from trustreport.service.pages import (
    account,
    admin,
    api_docs,
    audit_log,
    comparison,
    devices,
    jobs,
    login,
    reports,
    static,
    studies,
    uploads,
    versions,
    webhooks,
)

router = APIRouter(include_in_schema=False)
for part in (
    static,
    login,
    account,
    uploads,
    studies,
    versions,
    jobs,
    reports,
    comparison,
    devices,
    audit_log,
    admin,
    webhooks,
    api_docs,
):
    router.include_router(part.router)
