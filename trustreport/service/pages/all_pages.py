"""Every page, beside the API and outside its document."""

from fastapi import APIRouter

from trustreport.service.pages import (
    account,
    admin,
    api_docs,
    audit_log,
    calculator,
    collaboration,
    comparison,
    devices,
    editor,
    jobs,
    language,
    login,
    planning,
    provider,
    reports,
    second_factor,
    shared,
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
    provider,
    account,
    second_factor,
    uploads,
    studies,
    versions,
    editor,
    jobs,
    reports,
    collaboration,
    shared,
    comparison,
    devices,
    planning,
    calculator,
    audit_log,
    admin,
    webhooks,
    api_docs,
    language,
):
    router.include_router(part.router)
