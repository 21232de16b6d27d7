"""The requests of the client: one item, a list page by page, a wait, files that are written whole."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, TypeVar

import httpx2

from trustreport.service.client.errors import ServiceError
from trustreport.service.client.operations import Operation
from trustreport.service.client.records import FileResponse, Page
from trustreport.service.client.transport import Transport, retry_after

R = TypeVar("R")
G = TypeVar("G", bound=Page[Any])
A_PAGE = 200
POLL_SECONDS = 1.0  # where the service does not say when to ask again


class ServiceRequests:
    """What every method of the client asks by."""

    _transport: Transport

    def _send(
        self, operation: Operation[Any], more: Mapping[str, Any] = MappingProxyType({}), /, **names: str
    ) -> httpx2.Response:
        """What an operation answers; `names` are those of rows, `more` is for httpx2."""
        address, repeatable = operation.address(**names), operation.repeatable
        return self._transport.request(operation.method, address, idempotent=repeatable, **more)

    def _ask(self, operation: Operation[R], sent: Mapping[str, Any] | None = None, /, **names: str) -> R:
        """The answer of an operation to what is sent: the query of a GET, else JSON."""
        kind = "params" if operation.method == "GET" else "json"
        return operation.read(self._send(operation, {} if sent is None else {kind: sent}, **names).json())

    def _parts(self, operation: Operation[G], asked: Mapping[str, Any], /, **names: str) -> Iterator[G]:
        """The pages of a list as they are wanted."""
        given = {name: value for name, value in asked.items() if value is not None} | {"limit": A_PAGE}
        while True:
            page = self._ask(operation, given, **names)
            yield page
            if not page.next:
                return
            given["after"] = page.next

    def _pages(
        self, operation: Operation[Page[R]], asked: Mapping[str, Any] = MappingProxyType({}), /, **names: str
    ) -> Iterator[R]:
        """All items of a list, page by page as they are wanted."""
        return (item for page in self._parts(operation, asked, **names) for item in page.items)

    def _waited(
        self,
        operation: Operation[R],
        is_done: Callable[[R], bool],
        timeout: float,
        on_progress: Callable[[R], None],
        **names: str,
    ) -> R:
        """An answer once it is done; asked for as often as the service says."""
        end = time.monotonic() + timeout
        while True:
            response = self._send(operation, **names)
            found = operation.read(response.json())
            on_progress(found)
            if is_done(found):
                return found
            wait = retry_after(response) or POLL_SECONDS
            if time.monotonic() + wait > end:
                raise TimeoutError(f"{operation.address(**names)} is not done after {timeout:g} seconds.")
            self._transport.sleep(wait)

    def _download(
        self,
        files: Operation[Page[FileResponse]],
        one: Operation[Any],
        folder: Path,
        wanted: Iterable[str] | None,
        **names: str,
    ) -> list[Path]:
        known = {file.name: file.sha256 for file in self._pages(files, **names)}
        wanted = list(known) if wanted is None else list(wanted)
        if missing := sorted(set(wanted) - set(known)):
            listed = ", ".join(sorted(known))
            raise ServiceError(404, "Not found", f"There is no {', '.join(missing)}; there is {listed}.")
        return [self._save(one.address(name=name, **names), name, known[name], folder) for name in wanted]

    def _save(self, path: str, name: str, digest: str, folder: Path) -> Path:
        parts = PurePosixPath(name).parts
        if PurePosixPath(name).is_absolute() or ".." in parts:
            raise ServiceError(0, "Not saved", f"{name!r} leads out of the folder.")
        target = folder.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        hashed = sha256()
        new = target.with_name(f".{target.name}.part")
        try:
            with self._transport.stream(path) as response, new.open("wb") as out:
                for block in response.iter_bytes():
                    hashed.update(block)
                    out.write(block)
            if hashed.hexdigest() != digest:
                raise ServiceError(
                    0, "Not saved", f"{name} is not what the service made: its SHA-256 differs."
                )
            new.replace(target)
        finally:
            new.unlink(missing_ok=True)
        return target
