"""The outermost layer: each request gets a name, a line in the log, its numbers and the headers of safety."""

import secrets
import time
from collections.abc import Callable

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import address_of
from trustreport.service.web.log import log, place_of
from trustreport.service.web.metrics import Metrics
from trustreport.service.web.unavailable import fault_of
from trustreport.vocabulary.messages import say

RENEWED = "renewed"  # name in the state of a request: a cookie to set, whatever its answer is
QUIET = ("/health", "/ready", "/metrics")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "Cache-Control": "no-store",
}


Answer = Callable[[Scope, Fault], Response]


class Envelope:
    """Wraps every request.

    Parameters
    ----------
    answer : makes a page or a problem of a fault, whichever is wanted
    secure : whether browsers are to come by HTTPS alone
    refuse : the fault for which a request is not even looked at, if there is one
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        answer: Answer,
        *,
        secure: bool,
        refuse: Callable[[Scope], Fault | None],
    ) -> None:
        self.app, self.metrics, self.answer, self.secure, self.refuse = app, metrics, answer, secure, refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        name = secrets.token_hex(8)
        scope.setdefault("state", {})["request"] = name
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request=name)
        start, status, begun = time.perf_counter(), 500, False

        async def dressed(message: Message) -> None:
            nonlocal status, begun
            if message["type"] == "http.response.start":
                status, begun = message["status"], True
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = name
                for header, value in HEADERS.items():
                    headers.setdefault(header, value)
                if renewed := scope["state"].get(RENEWED):
                    headers.append("Set-Cookie", renewed)
                if self.secure:
                    headers.setdefault("Strict-Transport-Security", "max-age=31536000")
            await send(message)

        error: BaseException | None = None
        try:
            if refused := self.refuse(scope):
                await self.answer(scope, refused)(scope, receive, dressed)
            else:
                await self.app(scope, receive, dressed)
        except Exception as caught:  # the log knows the place, the answer only the request's name
            error = caught
            fault = fault_of(caught) or Fault(
                500,
                say("pages.fault.a_fault_of_ours.title"),
                say("pages.fault.a_fault_of_ours.detail", name=name),
            )
            status = fault.status
            if not begun:
                await self.answer(scope, fault)(scope, receive, dressed)
        finally:
            seconds = time.perf_counter() - start
            # The route's pattern: a path may hold names of files.
            route = getattr(scope.get("route"), "path", "(none)")
            method = scope["method"] if scope["method"].isalpha() and len(scope["method"]) < 9 else "?"
            self.metrics.requests.labels(method, route, status).inc()
            self.metrics.seconds.labels(method, route).observe(seconds)
            if route not in QUIET:
                state = scope["state"]
                log().info(
                    "request",
                    method=method,
                    route=route,
                    status=status,
                    seconds=round(seconds, 4),
                    address=address_of(Request(scope)),
                    user=state.get("user", ""),
                    organisation=state.get("organisation", ""),
                    **({"error": place_of(error)} if error else {}),
                )
