"""The application: routes, layers and errors put together.

Pages ask the functions of the API and nothing else. They work without JavaScript; with it, uploads show
how far they are, and what is awaited comes by itself.
"""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import Scope

from trustreport.service.access.guard import anybody, is_known
from trustreport.service.account import api as account_api
from trustreport.service.account import (
    audit_log,
    factors,
    factors_page,
    login,
    organisation,
    organisation_page,
    tokens,
)
from trustreport.service.account import page as account_page
from trustreport.service.collaboration import api as collaboration_api
from trustreport.service.collaboration import page as collaboration_page
from trustreport.service.collaboration import site_page
from trustreport.service.core import Core
from trustreport.service.device import api as device_api
from trustreport.service.device import page as device_page
from trustreport.service.guide import page as guide_page
from trustreport.service.home import page as home_page
from trustreport.service.home import removed
from trustreport.service.jobs import job
from trustreport.service.lock import api as lock_api
from trustreport.service.lock import page as lock_page
from trustreport.service.middleware import BodyLimit, Envelope
from trustreport.service.pages import render
from trustreport.service.pages.page_context import whoever
from trustreport.service.reference import page as reference_page
from trustreport.service.reference.document import anchor_of
from trustreport.service.reference.page import ADDRESS, is_wanted, refused
from trustreport.service.report import api as report_api
from trustreport.service.report import comparison, shared_page
from trustreport.service.report import page as report_page
from trustreport.service.review import attestations, comments, requests, shares
from trustreport.service.settings import Settings
from trustreport.service.study import api as study_api
from trustreport.service.study import page as study_page
from trustreport.service.tools import calculator, exports, operations, planning
from trustreport.service.version import api as version_api
from trustreport.service.version import editor_page, period_page
from trustreport.service.version import page as version_page
from trustreport.service.version.page import is_upload
from trustreport.service.vigilance import api as vigilance_api
from trustreport.service.vigilance import page as vigilance_page
from trustreport.service.vigilance import psur
from trustreport.service.web import connections
from trustreport.service.web.faults import MEDIA, Fault, Field, ProblemDetails, disk_full, has_room
from trustreport.service.web.telemetry import Traced
from trustreport.service.webhook import api as webhook_api
from trustreport.service.webhook import page as webhook_page
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.version import __version__

PREFIX = "/api/v1"
# The sections of the document, in the order of what a program does.
TAGS = {
    "studies": "What versions and reports belong to.",
    "versions": "The files of a study. A version never changes; changed files are a new version.",
    "criteria": "What is fixed of a study before its data are there.",
    "jobs": "Checks of uploads, and reports that are being made.",
    "reports": "Reports, their results and files. None of them ever changes.",
    "attestations": "Reviews, approvals and rejections: signed statements about a report.",
    "comments": "What people write about versions and reports.",
    "review requests": "Who is asked to review a report, and by when.",
    "shares": "Links to one report for readers from outside.",
    "collaborations": "Evidence of several sites without a row of a patient: invitations, uploads, the pool.",
    "exports": "Lists as CSV.",
    "comparisons": "Two reports side by side.",
    "devices": "What was reported of a device over time.",
    "incidents": "Incidents and signals of devices: what the next report and a PSUR have of them.",
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
RESOURCES = (
    account_api.router,
    factors.router,
    account_api.sessions_router,
    organisation.router,
    organisation.users_router,
    tokens.router,
    study_api.router,
    removed.router,
    version_api.router,
    lock_api.router,
    job.router,
    report_api.router,
    attestations.router,
    requests.router,
    comments.router,
    shares.router,
    collaboration_api.router,
    comparison.router,
    device_api.router,
    vigilance_api.router,
    psur.router,
    device_api.schedules_router,
    webhook_api.router,
    audit_log.router,
    exports.router,
)
for resource in RESOURCES:
    api.include_router(resource)

PAGES = (
    render.router,
    login.router,
    home_page.router,
    account_page.provider_router,
    account_page.router,
    factors_page.router,
    version_page.uploads_router,
    study_page.router,
    removed.page_router,
    version_page.router,
    editor_page.router,
    lock_page.router,
    guide_page.router,
    period_page.router,
    job.page_router,
    report_page.router,
    report_page.collaboration_router,
    shared_page.router,
    collaboration_page.router,
    site_page.router,
    comparison.page_router,
    device_page.router,
    vigilance_page.router,
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


MOST_FIELDS = 50
MOST_FORM = 1_000_000  # bytes of a request that brings no study


def create_app(
    core: Core, worker_context: Callable[[], AbstractContextManager[Any]] = nullcontext
) -> FastAPI:
    """The application on an open core; `worker_context` (a worker) runs as long as it does."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with worker_context():
            yield

    app = FastAPI(
        title="trustreport",
        version=__version__,
        description="Reports on the trustworthiness of medical AI. Errors are application/problem+json.",
        openapi_url="/api/openapi.json",
        openapi_tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        docs_url=None,  # `reference.page` is ours: theirs load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.core = core
    app.router.routes.extend(_routes())
    app.add_exception_handler(Fault, _fault)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_middleware(
        BodyLimit,
        most=most_bytes(core.settings),
        is_open=_is_open,
        is_known=lambda scope: _is_known(core, scope),
        admit=lambda method, path: _admit(core.settings, method, path),
        answer=_answer_scope,
    )
    app.add_middleware(
        Envelope,
        metrics=core.metrics,
        answer=_answer_scope,
        secure=core.settings.url.startswith("https:"),
        refuse=lambda scope: connections.unencrypted(core.settings, scope),
    )
    if core.traces:
        app.add_middleware(Traced, traces=core.traces, prefix=PREFIX)
    _complete_document(app)
    return app


def _is_open(path: str) -> bool:
    """Whether a path takes requests of strangers; the file of a site comes from its own browser alone."""
    if site_page.is_site_upload("POST", path):
        return False
    return any(path.startswith(start) and found.match(path[len(start) :]) for start, found in _open_paths())


@cache
def _open_paths() -> list[tuple[str, re.Pattern[str]]]:
    parts = [*((PREFIX, part) for part in RESOURCES), *(("", part) for part in PAGES)]
    routes = [(start, one) for start, part in parts for one in part.routes if isinstance(one, APIRoute)]
    return [(start, one.path_regex) for start, one in routes if _takes_strangers(one.dependant)]


def _takes_strangers(needed: Dependant) -> bool:
    is_open = needed.call in (anybody, whoever)
    return is_open or any(_takes_strangers(one) for one in needed.dependencies)


async def _is_known(core: Core, scope: Scope) -> bool:
    """Whether a request is of somebody with an account, or brings the file of an invited site."""
    return await is_known(core, scope) or await site_page.is_invited(core, scope)


@cache
def _routes() -> list[BaseRoute]:
    """All routes; what FastAPI makes of them, at the first request, serves every application of a process."""
    router = APIRouter()
    for part in (api, operations.router, pages):
        router.include_router(part)
    return router.routes


def most_bytes(settings: Settings) -> Callable[[str, str], int]:
    """How many bytes a request may have, by its method and path."""

    def most(method: str, path: str) -> int:
        if site_page.is_site_upload(method, path):
            return min(settings.most_body, site_page.MOST_BODY)
        if not _is_upload(method, path):
            return min(settings.most_json, MOST_FORM)
        return settings.most_json if path.endswith("/versions/json") else settings.most_body

    return most


def _is_upload(method: str, path: str) -> bool:
    """Whether a request may bring files."""
    parts = path.removeprefix(PREFIX).split("/")
    by_api = parts[1:2] == ["studies"] and parts[3:4] == ["versions"]
    return method == "POST" and (by_api or is_upload(path))


def _admit(settings: Settings, method: str, path: str) -> None:
    """Refuse files (507) where the disk is nearly full: what is left is for what goes on already."""
    brings_files = _is_upload(method, path) or site_page.is_site_upload(method, path)
    if brings_files and not has_room(settings.data, settings.least_free):
        raise disk_full()


def _answer_scope(scope: Scope, fault: Fault) -> Response:
    return _answer(Request(scope), fault)


def _answer(request: Request, fault: Fault) -> Response:
    if is_wanted(request):  # an address that no page has
        return refused(request, fault)
    body = fault.body(getattr(request.state, "request", ""))
    return JSONResponse(body, fault.status, headers=fault.headers, media_type=MEDIA)


async def _fault(request: Request, error: Exception) -> Response:
    assert isinstance(error, Fault)
    if error.status == 429:
        request.app.state.core.metrics.refused.labels("rate").inc()
    return _answer(request, error)


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    titles = {404: say("pages.fault.not_found.title"), 405: say("pages.fault.no_method.title")}
    title = titles.get(error.status_code, say("pages.refused.other"))
    return _answer(request, Fault(error.status_code, str(error.detail), headers=error.headers, title=title))


async def _invalid(request: Request, error: Exception) -> Response:
    """Every field that is wrong; what was sent is not echoed."""
    assert isinstance(error, RequestValidationError)
    fields = [
        Field(".".join(str(part)[:100] for part in e["loc"]), str(e["msg"])[:300]) for e in error.errors()
    ]
    fields = [Field(f.place.encode(errors="replace").decode(), f.said) for f in fields]
    return _answer(
        request,
        Fault(422, say("pages.fault.not_as_expected.n_parts_cannot_be", n=len(fields)), fields[:MOST_FIELDS]),
    )


def _complete_document(app: FastAPI) -> None:
    """The document names the shape of errors that `routes` refers to, and where the page has an operation."""
    make = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = make()
            schemas = made["components"]["schemas"]
            shape = ProblemDetails.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas |= shape.pop("$defs", {})
            schemas["ProblemDetails"] = shape
            made["externalDocs"] = {"url": ADDRESS, "description": "The same as a page"}
            for path, methods in made["paths"].items():
                for method, operation in methods.items():
                    where = f"{ADDRESS}#{anchor_of(method, path)}"
                    operation["externalDocs"] = {"url": where}
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # the way to extend it that FastAPI documents
