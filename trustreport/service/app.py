"""The application: routes, layers and errors put together."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import Scope

import trustreport
from trustreport.messages import say
from trustreport.service.access.guard import is_known
from trustreport.service.account import login
from trustreport.service.core import Core
from trustreport.service.middleware import BodyLimit, Envelope
from trustreport.service.reference.document import anchor_of
from trustreport.service.reference.page import ADDRESS, is_wanted, refused
from trustreport.service.report import shared_page
from trustreport.service.routing import PREFIX, TAGS, api, pages
from trustreport.service.settings import Settings
from trustreport.service.tools import operations
from trustreport.service.version.page import is_upload
from trustreport.service.web import connections as tls
from trustreport.service.web.faults import MEDIA, Fault, Field, ProblemDetails, disk_full, has_room
from trustreport.service.web.traces import Traced

MOST_FIELDS = 50
MOST_FORM = 1_000_000  # bytes of a request that brings no study
# Whoever sends these has no account yet, or is not logged in.
OPEN = frozenset(
    {f"{PREFIX}{path}" for path in ("/setup", "/invitations", "/session", "/resets")} | {*login.OPEN}
)


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
        version=trustreport.__version__,
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
        is_open=lambda path: path in OPEN or path.startswith(shared_page.PREFIX),
        is_known=lambda scope: is_known(core, scope),
        admit=lambda method, path: _admit(core.settings, method, path),
        answer=_answer_scope,
    )
    app.add_middleware(
        Envelope,
        metrics=core.metrics,
        answer=_answer_scope,
        secure=core.settings.url.startswith("https:"),
        refuse=lambda scope: tls.unencrypted(core.settings, scope),
    )
    if core.traces:
        app.add_middleware(Traced, traces=core.traces, prefix=PREFIX)
    _complete_document(app)
    return app


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
    if _is_upload(method, path) and not has_room(settings.data, settings.least_free):
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
    return _answer(request, Fault(error.status_code, title, str(error.detail), headers=error.headers))


async def _invalid(request: Request, error: Exception) -> Response:
    """Every field that is wrong; what was sent is not echoed."""
    assert isinstance(error, RequestValidationError)
    fields = [
        Field(".".join(str(part)[:100] for part in e["loc"]), str(e["msg"])[:300]) for e in error.errors()
    ]
    fields = [Field(f.place.encode(errors="replace").decode(), f.said) for f in fields]
    return _answer(
        request,
        Fault(
            422,
            say("pages.fault.not_as_expected.title"),
            say("pages.fault.not_as_expected.n_parts_cannot_be", n=len(fields)),
            fields[:MOST_FIELDS],
        ),
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

    app.openapi = document  # type: ignore[method-assign]
