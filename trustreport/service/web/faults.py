"""One shape of error for everything: ``application/problem+json`` (RFC 9457)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic import Field as described

MEDIA = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Field:
    """A part of a request that cannot be taken: where it stands, and why."""

    place: str
    said: str


class Fault(Exception):
    """A request that is not done, and why. `more` stands beside the detail, in words of the API."""

    def __init__(
        self,
        status: int,
        title: str,
        detail: str = "",
        fields: Sequence[Field] = (),
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(title)
        self.status, self.title, self.detail, self.fields = status, title, detail, tuple(fields)
        self.headers, self.more = dict(headers or {}), more

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
            said["fields"] = [{"place": f.place, "said": f.said} for f in self.fields]
        return said


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
