"""Parts of requests and answers that several resources share."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.orm import Session as Rows

from trustreport.service.client.operations import Operation
from trustreport.service.client.records import Page as Page
from trustreport.service.ids import PATTERN

Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$"),
]
Email = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        to_lower=True,
        max_length=254,
        pattern=r"^[^\s@<>\"',;:\x00-\x1f\x7f]{1,64}@[A-Za-z0-9.-]{1,189}$",
    ),
    Field(examples=["reader@hospital.example"]),
]


T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


def serves(
    router: APIRouter, operation: Operation[R], **more: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a route of a router of an operation; the function answers with what the operation declares."""
    return router.api_route(
        operation.path.removeprefix(router.prefix),
        methods=[operation.method],
        status_code=operation.status,
        response_model=operation.answer,
        **({} if operation.answer else {"response_class": Response}) | more,
    )


def no_nul(text: str) -> str:
    """Refuse what PostgreSQL cannot keep."""
    if "\x00" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError("no NUL and no half of a character")
    return text


Words = Annotated[str, StringConstraints(max_length=4000), AfterValidator(no_nul)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=256)]
Kind = Literal["certification", "procurement", "vigilance"]
Format = Literal["html", "pdf", "annex", "json", "xlsx", "csv", "plain"]


class RequestBody(BaseModel):
    """A request: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")


def moment(milliseconds: int) -> datetime:
    """A time as JSON says it (ISO 8601, UTC)."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def maybe(milliseconds: int | None) -> datetime | None:
    """A time that may not have come."""
    return None if milliseconds is None else moment(milliseconds)


def ask_again(waited: int) -> str:
    """Seconds after which to ask again for what is not done after so many milliseconds: 1 to 10."""
    return str(min(10, max(1, waited // 10_000)))


class ReportOptions(RequestBody):
    """What a report is to be."""

    kind: Kind | None = Field(default=None, description="in place of the manifest's")
    formats: list[Format] = Field(default=["html", "pdf", "json"], min_length=1, max_length=6)
    release: Literal["internal", "public"] | None = Field(
        default=None, description="in place of the manifest's"
    )
    seed: int | None = Field(default=None, ge=0, lt=2**63, description="of what is drawn at random")

    def plain(self) -> dict[str, Any]:
        """The wishes in one spelling, so that equal ones are the same job; a PDF comes with its annex."""
        formats = sorted({*self.formats, "json"} | ({"annex"} if "pdf" in self.formats else set()))
        return {"kind": self.kind, "formats": formats, "release": self.release, "seed": self.seed}


Name = Annotated[str, Path(pattern=PATTERN, description="name of a row, as lists give it")]


class PageRequest(BaseModel):
    """Which page of a list is requested."""

    limit: int
    after: str | None

    def rows(
        self, rows: Rows, query: Select[R], by: InstrumentedAttribute[str], show: Callable[[R], T]
    ) -> Page[T]:
        """A page of rows, ordered by a column of unique names, the newest first."""
        if self.after:
            query = query.where(by < self.after)
        found = list(rows.scalars(query.order_by(by.desc()).limit(self.limit + 1)))
        more = len(found) > self.limit
        found = found[: self.limit]
        last: Any = getattr(found[-1], by.key) if more else None
        return Page(items=[show(row) for row in found], next=last)

    def items(self, all_items: Sequence[R], show: Callable[[R], T]) -> Page[T]:
        """A page of what is in memory, in its own order."""
        start = int(self.after) if self.after and self.after.isdecimal() and len(self.after) < 12 else 0
        end = start + self.limit
        return Page(
            items=[show(i) for i in all_items[start:end]], next=str(end) if end < len(all_items) else None
        )


def page_request(
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str | None, Query(max_length=300)] = None,
) -> PageRequest:
    """Which page: at most `limit` items, those that stand behind `after`."""
    return PageRequest(limit=limit, after=after)


RequestedPage = Annotated[PageRequest, Depends(page_request)]
