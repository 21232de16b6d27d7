"""What every request passes: how large its body may be, and what each answer carries."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable

import structlog
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trustreport.service.access.guard import address_of
from trustreport.service.access.principal import COOKIE, not_known
from trustreport.service.log import log, place_of
from trustreport.service.web.faults import Fault, fault_of
from trustreport.service.web.telemetry import Metrics
from trustreport.vocabulary.messages import say

IDLE_SECONDS = 60
MOST_ANONYMOUS = 64_000  # bytes of a request without credentials: a password, a link


class BodyLimit:
    """Refuses a body before anything has parsed it: of nobody known (401), too large (413), too slow (408).

    Parameters
    ----------
    most : bytes that a request may have, by its method and path
    is_open : whether a path takes requests without credentials
    is_known : whether the credentials of a request are somebody's; asked before the first byte is taken
    admit : raises the fault for which a body of a known sender is refused, by its method and path
    answer : makes a page or a problem of a fault, whichever is wanted
    """

    def __init__(
        self,
        app: ASGIApp,
        most: Callable[[str, str], int],
        is_open: Callable[[str], bool],
        is_known: Callable[[Scope], Awaitable[bool]],
        admit: Callable[[str, str], None],
        answer: Callable[[Scope, Fault], Response],
    ) -> None:
        self.app, self.most, self.is_open, self.is_known = app, most, is_open, is_known
        self.admit, self.answer = admit, answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.most(scope["method"], scope["path"])
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > most:
            fault = _too_large(most) if declared.isdigit() else Fault(400, "", title="Bad length")
            await self._refuse(scope, receive, send, fault)
            return
        seen, complete, begun = 0, False, False
        allowed: int | None = None
        stopped: Exception | None = None

        async def counted() -> Message:
            nonlocal seen, complete, allowed, stopped
            if complete:  # what comes now is the end of the connection, however long the answer takes
                return await receive()
            try:
                if allowed is None:  # asked once, by whoever first wants the body
                    allowed = await self._allowed(scope, most)
                message = await asyncio.wait_for(receive(), IDLE_SECONDS)
                complete = not message.get("more_body", False)
                seen += len(message.get("body", b""))
                if seen > allowed:
                    raise _too_large(allowed)
            except TimeoutError:
                stopped = Fault(408, say("pages.fault.too_slow.detail", idle_seconds=IDLE_SECONDS))
            except Exception as error:
                stopped = error
            if stopped is not None:
                raise _Stop
            return message

        async def tracked(message: Message) -> None:
            nonlocal begun
            if stopped is not None:
                return  # what a handler made of the broken body
            begun = True
            await send(message)

        try:
            await self.app(scope, counted, tracked)
        except Exception:
            if stopped is None:
                raise
        if isinstance(stopped, Fault):
            if not begun:
                await self._refuse(scope, receive, send, stopped)
        elif stopped is not None:
            raise stopped

    async def _allowed(self, scope: Scope, most: int) -> int:
        """How many bytes the sender of a request may send; refuses who is not known where that is needed."""
        if await self.is_known(scope):
            self.admit(scope["method"], scope["path"])
            return most
        if not self.is_open(scope["path"]):
            raise not_known(ended=f"{COOKIE}=".encode() in dict(scope["headers"]).get(b"cookie", b""))
        return min(most, MOST_ANONYMOUS)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send, fault: Fault) -> None:
        answer = self.answer(scope, fault)
        answer.headers["Connection"] = "close"  # the rest of the body is not read
        await answer(scope, receive, send)


class _Stop(Exception):
    """The body ends here."""


def _too_large(most: int) -> Fault:
    return Fault(413, say("pages.fault.too_large.detail", most=most))


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
            fault = fault_of(caught) or Fault(500, say("pages.fault.a_fault_of_ours.detail", name=name))
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
