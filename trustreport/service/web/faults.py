"""One shape of error for everything: ``application/problem+json`` (RFC 9457)."""

import errno
import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic import Field as described

from trustreport.service.storage.blobs import StorageAway
from trustreport.service.storage.store import AWAY
from trustreport.vocabulary.messages import Catalogue, Message, catalogue, say

MEDIA = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a request that cannot be taken: where it stands, and why."""

    place: str
    said: str | Message


@dataclass(frozen=True, slots=True)
class FaultText:
    """A fault as a page in one language says it."""

    status: int
    title: str
    detail: str
    fields: tuple[Field, ...]


class Fault(Exception):
    """A request that is not done, and why. `more` stands beside the detail, in words of the API.

    The API says it in English, a page in the language of who reads it. Without a title of its own a fault has
    that of its detail's group in the catalogue: ``pages.fault.busy.title`` for ``pages.fault.busy.job``.
    """

    def __init__(
        self,
        status: int,
        detail: str | Message = "",
        fields: Sequence[Field] = (),
        headers: Mapping[str, str] | None = None,
        *,
        title: str | Message = "",
        **more: Any,
    ) -> None:
        if isinstance(detail, Message) and not title:
            group = detail.key.split(".")[2]
            title = say(f"pages.fault.{group}.title")
        super().__init__(title)
        self.status, self.reason, self.fields = status, (title, detail), tuple(fields)
        self.headers, self.more = dict(headers or {}), more

    def __str__(self) -> str:
        return self.title

    def in_words(self, words: Catalogue) -> FaultText:
        """What a page says."""
        title, detail = (_text(text, words) for text in self.reason)
        fields = tuple(Field(field.place, _text(field.said, words)) for field in self.fields)
        return FaultText(self.status, title, detail, fields)

    @property
    def title(self) -> str:
        """What was not done, in a few words of English."""
        return _text(self.reason[0], catalogue())

    @property
    def detail(self) -> str:
        """Why it was not done, in English."""
        return _text(self.reason[1], catalogue())

    def body(self, request: str) -> dict[str, Any]:
        """What is sent; `request` is the name under which the log knows this request."""
        said = {
            "type": "about:blank",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "request": request,
            **self.more,
        }
        if self.fields:
            said["fields"] = [{"place": f.place, "said": _text(f.said, catalogue())} for f in self.fields]
        return said


def _text(text: str | Message, words: Catalogue) -> str:
    return words(text) if isinstance(text, Message) else text


class FieldResponse(BaseModel):
    """A part of a request that cannot be taken."""

    place: str
    said: str


class ProblemDetails(BaseModel):
    """Why a request was not done (RFC 9457)."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    request: str = described(description="name of this request in the log")
    fields: list[FieldResponse] = []


FULL = (errno.ENOSPC, errno.EDQUOT)
POSTGRES_FULL = "53100"  # disk_full
AGAIN_SECONDS = 10


def fault_of(error: BaseException) -> Fault | None:
    """How a request is refused for want of the database or the files (503) or of room (507), else None."""
    if isinstance(error, OSError) and error.errno in FULL:
        return disk_full()
    if isinstance(error, StorageAway):
        return Fault(
            503,
            say("pages.fault.storage_away.detail", reason=error.reason),
            headers={"Retry-After": str(AGAIN_SECONDS)},
        )
    if not isinstance(error, AWAY):
        return None
    cause = getattr(error, "orig", None)
    is_full = getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    if is_full or getattr(cause, "sqlstate", None) == POSTGRES_FULL:
        return disk_full()
    return Fault(503, say("pages.fault.database_away.detail"), headers={"Retry-After": str(AGAIN_SECONDS)})


def disk_full() -> Fault:
    """Why nothing can be stored."""
    return Fault(507, say("pages.fault.disk_full.detail"))


def has_room(folder: Path, least: int) -> bool:
    """Whether the disk of a folder has more bytes free than must stay so."""
    return shutil.disk_usage(folder).free >= least
