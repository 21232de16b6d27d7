"""Lists come in pages: the newest first, each page naming where the next one begins."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Path, Query
from pydantic import BaseModel, Field
from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.orm import Session as Rows

from trustreport.service.ids import PATTERN

T = TypeVar("T")
R = TypeVar("R")

Name = Annotated[str, Path(pattern=PATTERN, description="name of a row, as lists give it")]


class Page(BaseModel, Generic[T]):
    """A part of a list."""

    items: list[T]
    next: str | None = Field(description="send it as `after` for the next page; null on the last one")


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
