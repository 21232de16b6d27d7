"""No request sends more than it may: bytes are counted as they come."""

import asyncio
import json
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trustreport.service.web.faults import MEDIA, Fault

IDLE_SECONDS = 60


class BodyLimit:
    """Refuses a body that is too large (413) or does not come (408), before anything has parsed it."""

    def __init__(self, app: ASGIApp, most: Callable[[str, str], int]) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.most(scope["method"], scope["path"])
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > most:
            await _refuse(scope, send, _too_large(most) if declared.isdigit() else Fault(400, "Bad length"))
            return
        seen, complete, begun, refused = 0, False, False, None

        async def counted() -> Message:
            nonlocal seen, complete, refused
            if complete:  # what comes now is the end of the connection, however long the answer takes
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), IDLE_SECONDS)
            except TimeoutError:
                refused = Fault(408, "Too slow", f"Nothing came for {IDLE_SECONDS} seconds.")
                raise _Stop from None
            complete = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > most:
                refused = _too_large(most)
                raise _Stop
            return message

        async def tracked(message: Message) -> None:
            nonlocal begun
            if refused is not None:
                return  # what a handler made of the broken body
            begun = True
            await send(message)

        try:
            await self.app(scope, counted, tracked)
        except Exception:
            if refused is None:
                raise
        if refused is not None and not begun:
            await _refuse(scope, send, refused)


class _Stop(Exception):
    """The body ends here."""


def _too_large(most: int) -> Fault:
    return Fault(413, "Too large", f"A request of this kind may have {most} bytes.")


async def _refuse(scope: Scope, send: Send, fault: Fault) -> None:
    body = json.dumps(fault.body(scope.get("state", {}).get("request", ""))).encode()
    headers = [(b"content-type", MEDIA.encode()), (b"content-length", str(len(body)).encode())]
    headers.append((b"connection", b"close"))  # the rest of the body is not read
    await send({"type": "http.response.start", "status": fault.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
