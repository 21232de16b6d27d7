"""No request sends more than it may: its sender is known before the first byte, and every byte is counted."""

import asyncio
from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trustreport.service.access.principal import CLEARED, COOKIE
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

IDLE_SECONDS = 60
MOST_ANONYMOUS = 64_000  # bytes of a request without credentials: a password, a link


def not_known(*, ended: bool = False) -> Fault:
    """Why a request without valid credentials is refused.

    Parameters
    ----------
    ended : it came with a session that is none, so the browser is to drop what it has of it
    """
    headers = {"WWW-Authenticate": "Bearer", **(CLEARED if ended else {})}
    return Fault(
        401, say("pages.fault.not_known.title"), say("pages.fault.not_known.log_send"), headers=headers
    )


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
            fault = _too_large(most) if declared.isdigit() else Fault(400, "Bad length")
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
                stopped = Fault(
                    408,
                    say("pages.fault.too_slow.title"),
                    say("pages.fault.too_slow.detail", idle_seconds=IDLE_SECONDS),
                )
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
    return Fault(413, say("pages.fault.too_large.title"), say("pages.fault.too_large.detail", most=most))
