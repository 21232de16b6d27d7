"""Requests to a service: sent again where that is safe, refusals as one exception."""

import contextlib
import json
import random
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from trustreport.service.client.errors import ServiceError
from trustreport.vocabulary.version import __version__

IDEMPOTENT = ("GET", "HEAD", "PUT", "DELETE")
LATER = (429, 502, 503, 504)  # refusals that may be gone when the request is sent again
LONGEST_WAIT = 120.0  # seconds that the service may ask for and is waited for
_random = random.SystemRandom()


class Transport:
    """Sends requests with the token, and reads what the service says of its refusals."""

    def __init__(
        self, http: httpx2.Client, token: str, retries: int, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.http, self.retries, self.sleep = http, retries, sleep
        self.headers = {
            "Authorization": f"Bearer {token}",
            "User-Agent": f"trustreport-client/{__version__}",
        }

    def request(
        self, method: str, path: str, *, idempotent: bool | None = None, **more: Any
    ) -> httpx2.Response:
        """An answer that is no refusal.

        Parameters
        ----------
        idempotent : whether sending it twice does no more than once; by the method where None. Others are
            never sent again.

        Raises
        ------
        ServiceError : it was refused, or nobody answered
        """
        return self._answered(method, path, idempotent=idempotent, whole=True, **more)

    @contextlib.contextmanager
    def stream(self, path: str) -> Iterator[httpx2.Response]:
        """What a GET answers, its body still to be read."""
        response = self._answered("GET", path, idempotent=True, whole=False)
        try:
            yield response
        except httpx2.TransportError as error:
            raise _no_answer(error) from error
        finally:
            response.close()

    def _answered(
        self, method: str, path: str, *, idempotent: bool | None, whole: bool, **more: Any
    ) -> httpx2.Response:
        left = self.retries if idempotent or (idempotent is None and method in IDEMPOTENT) else 0
        while True:
            try:
                return self._send(method, path, whole=whole, **more)
            except ServiceError as error:
                wait = error.retry_after
                if wait is None:
                    wait = 2.0 ** (self.retries - left) * _random.uniform(0.5, 1.0)
                if left <= 0 or error.status not in (0, *LATER) or wait > LONGEST_WAIT:
                    raise
            left -= 1
            self.sleep(wait)

    def _send(self, method: str, path: str, *, whole: bool, **more: Any) -> httpx2.Response:
        """One attempt."""
        headers = {**more.get("headers", {}), **self.headers}
        try:
            request = self.http.build_request(method, path, **more | {"headers": headers})
            response = self.http.send(request, stream=True, follow_redirects=False)
            if whole or not response.is_success:
                with contextlib.closing(response):
                    response.read()
        except httpx2.TransportError as error:
            raise _no_answer(error) from error
        if response.is_success:
            return response
        raise ServiceError.of_response(
            response.status_code, _problem(response), response.reason_phrase, retry_after(response)
        )


def _no_answer(error: Exception) -> ServiceError:
    return ServiceError(0, "No answer", f"{type(error).__name__}: {error}")


def retry_after(response: httpx2.Response) -> float | None:
    """The seconds of the header ``Retry-After``, which may also be a date."""
    text = response.headers.get("Retry-After", "")
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None


def _problem(response: httpx2.Response) -> dict[str, Any] | None:
    try:
        body = json.loads(response.content)
    except ValueError:
        return None
    return body if isinstance(body, dict) and "title" in body else None
