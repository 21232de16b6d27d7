"""One shape of error for everything: ``application/problem+json`` (RFC 9457)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic import Field as described

from trustreport.vocabulary.messages import Catalogue, Message, catalogue

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

    The API says it in English, a page in the language of who reads it.
    """

    def __init__(
        self,
        status: int,
        title: str | Message,
        detail: str | Message = "",
        fields: Sequence[Field] = (),
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
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
