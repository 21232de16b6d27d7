"""Every page, beside the API and outside its document."""

from fastapi import APIRouter

from trustreport.service.pages import (
    account,
    admin,
    audit_log,
    collaboration,
    comparison,
    devices,
    editor,
    jobs,
    login,
    reports,
    shared,
    static,
    studies,
    uploads,
    versions,
)

router = APIRouter(include_in_schema=False)
for part in (
    static,
    login,
    account,
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
    audit_log,
    admin,
):
    router.include_router(part.router)
