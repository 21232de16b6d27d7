"""Two reports side by side."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select

from trustreport.service.pages.page_context import Reader
from trustreport.service.pages.render import page
from trustreport.service.pages.versions import From
from trustreport.service.routes import comparisons as api
from trustreport.service.routes.comparisons import ReportName
from trustreport.service.routes.pagination import PageRequest
from trustreport.service.storage.models import StoredReport, StoredStudy, Version
from trustreport.service.web.guard import TheCore

A_PAGE = 50
SHOWN_FIRST = ("verdict", "status", "severity", "value", "low", "high", "n", "p", "unit", "note", "message")
SHOWN_ALONE = ("verdict", "severity", "value", "message")  # of what only one report has
LEFT_OUT = ("details", "se", "df", "family", "checks")  # follow from what is shown, or fill a screen
EMPTY = ((None, ""), ("", None))

router = APIRouter()


@router.get("/comparison")
def comparison(
    request: Request,
    who: Reader,
    core: TheCore,
    old: ReportName,
    new: ReportName,
    start: From = 0,
    swap: Annotated[str, Query(max_length=5)] = "",
) -> Response:
    """What changed from one report to another; the older one stands left."""
    with core.store.read() as rows:
        sides = [who.one(rows, StoredReport, name) for name in (old, new)]
        if sides[0].id > sides[1].id and not swap:  # names of rows are in the order of their making
            sides.reverse()
        studies = [rows.get_one(StoredStudy, side.study) for side in sides]
        numbers = [
            rows.execute(select(Version.number).where(Version.id == side.version)).scalar_one()
            for side in sides
        ]
    found = api.comparison(
        sides[0].id, sides[1].id, who, core, PageRequest(limit=A_PAGE, after=str(start) if start else None)
    )
    return page(
        request,
        "comparison",
        old=sides[0],
        new=sides[1],
        studies=studies,
        numbers=numbers,
        found=found,
        inputs=_inputs(found.old.inputs, found.new.inputs),
        differences=[(d, _lines(d)) for d in found.items],
        start=start,
    )


def _inputs(old: dict[str, str], new: dict[str, str]) -> list[tuple[str, str]]:
    """Each file that was read, and whether both reports read the same."""
    return [
        (
            name,
            "same"
            if old.get(name) == new.get(name)
            else "changed"
            if name in old and name in new
            else "added"
            if name in new
            else "removed",
        )
        for name in sorted({*old, *new})
    ]


def _lines(found: api.DifferenceResponse) -> list[tuple[str, Any, Any, float | None]]:
    """Field, before, after and the change of a number; those first that a reader looks for."""
    old, new = found.old, found.new
    names = [n for n in SHOWN_FIRST if n in old or n in new]
    names += sorted({*old, *new} - {*names, *LEFT_OUT})
    names = names or sorted({*old, *new})
    lines = [(n, old.get(n), new.get(n), found.change.get(n)) for n in names]
    if found.what == "changed":
        return [line for line in lines if (line[1], line[2]) not in EMPTY]
    # What one report has alone is said in a few words, not field by field.
    return [line for line in lines if line[0] in SHOWN_ALONE and (line[1], line[2]) != (None, None)] or lines[
        :1
    ]
