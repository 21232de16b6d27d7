"""The requests of the client: one item, a list page by page, a wait, files that are written whole."""

import time
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import quote

from trustreport.service.client import records
from trustreport.service.client.errors import ServiceError
from trustreport.service.client.transport import Transport, retry_after

R = TypeVar("R", bound=records.ResponseBody)
API = "/api/v1"
A_PAGE = 200
POLL_SECONDS = 1.0  # where the service does not say when to ask again


class ServiceRequests:
    """What every method of the client asks by."""

    _transport: Transport

    def _get(self, model: type[R], path: str) -> R:
        return model.model_validate(self._transport.request("GET", f"{API}{path}").json())

    def _made(self, model: type[R], path: str, **more: Any) -> R:
        return model.model_validate(self._transport.request("POST", path, **more).json())

    def _pages(self, model: type[R], path: str, **asked: str | None) -> Iterator[R]:
        """All items of a list, page by page as they are wanted."""
        given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
        given["limit"] = A_PAGE
        while True:
            page = self._transport.request("GET", f"{API}{path}", params=given).json()
            yield from (model.model_validate(item) for item in page["items"])
            if not page["next"]:
                return
            given["after"] = page["next"]

    def _waited(
        self,
        model: type[R],
        path: str,
        is_done: Callable[[R], bool],
        timeout: float,
        on_progress: Callable[[R], None],
    ) -> R:
        """What is at a path once it is done; asked for as often as the service says."""
        end = time.monotonic() + timeout
        while True:
            response = self._transport.request("GET", f"{API}{path}")
            found = model.model_validate(response.json())
            on_progress(found)
            if is_done(found):
                return found
            wait = retry_after(response) or POLL_SECONDS
            if time.monotonic() + wait > end:
                raise TimeoutError(f"{path} is not done after {timeout:g} seconds.")
            self._transport.sleep(wait)

    def _download(self, path: str, folder: Path, names: Iterable[str] | None) -> list[Path]:
        known = {file.name: file.sha256 for file in self._pages(records.FileResponse, path)}
        wanted = list(known) if names is None else list(names)
        if missing := sorted(set(wanted) - set(known)):
            listed = ", ".join(sorted(known))
            raise ServiceError(404, "Not found", f"There is no {', '.join(missing)}; there is {listed}.")
        return [self._save(f"{API}{path}/{quote(name)}", name, known[name], folder) for name in wanted]

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
