"""Two reports side by side, as JSON and as a page."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select

from trustreport.service.access.guard import Reader, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.client import operations as op
from trustreport.service.client.records import ComparisonPage, DifferencePart, DifferenceResponse, Side
from trustreport.service.core import Core
from trustreport.service.engine import compare
from trustreport.service.ids import PATTERN
from trustreport.service.pages.page_context import Reader as PageReader
from trustreport.service.pages.render import page
from trustreport.service.storage.models import StoredReport, StoredStudy, Version
from trustreport.service.version.page import From
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import PageRequest, RequestedPage, serves
from trustreport.vocabulary.messages import say

router = APIRouter(prefix="/comparisons", tags=["comparisons"])
ReportName = Annotated[str, Query(pattern=PATTERN, description="name of a report")]


@serves(router, op.COMPARE)
def comparison(
    old: ReportName, new: ReportName, who: Reader, core: TheCore, turn: RequestedPage
) -> ComparisonPage:
    """What changed from one report to another."""
    with core.store.read() as rows:
        devices = {who.row_of(rows, StoredReport, name).device for name in (old, new)}
    before, after = _document(core, who, old), _document(core, who, new)
    found = compare(before, after).as_dict()
    parts: tuple[DifferencePart, ...] = ("verdicts", "numbers", "checks")
    differences = [
        DifferenceResponse(part=part, change=_change(d["old"], d["new"]), **d)
        for part in parts
        for d in found[part]
    ]
    page = turn.items(differences, lambda d: d)
    return ComparisonPage(
        items=page.items,
        next=page.next,
        same=found["same"],
        same_device=len(devices) == 1,
        old=_side(old, before),
        new=_side(new, after),
    )


def _change(old: dict[str, Any], new: dict[str, Any]) -> dict[str, float]:
    """By how much each number changed that is in both."""
    both = ((name, old[name], new[name]) for name in new if name in old)
    return {name: b - a for name, a, b in both if _is_number(a) and _is_number(b)}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _document(core: Core, who: Principal, name: str) -> dict[str, Any]:
    with core.store.read() as rows:
        report = who.row_of(rows, StoredReport, name)
    try:
        document: dict[str, Any] = json.loads(core.blobs.read(who.organisation, report.results_sha256))
    except FileNotFoundError:
        raise Fault(404, say("pages.fault.not_found.results_have_been")) from None
    return document


def _side(name: str, document: dict[str, Any]) -> Side:
    origin = document["provenance"]
    return Side(
        report=name,
        device=document["study"]["device"],
        kind=document["study"]["kind"],
        inputs={entry["file"]: entry["sha256"] for entry in origin["inputs"]},
        trustreport=origin["trustreport"],
        seed=origin["seed"],
    )


A_PAGE = 25
SHOWN_FIRST = ("verdict", "status", "severity", "value", "low", "high", "n", "p", "unit", "note", "message")
SHOWN_ALONE = ("verdict", "severity", "value", "message")  # of what only one report has
LEFT_OUT = ("details", "se", "df", "family", "checks")  # follow from what is shown, or fill a screen
WITH_VALUE = ("low", "high", "n")  # stand in the row of the value
EMPTY = ((None, ""), ("", None))

page_router = APIRouter()


@page_router.get("/comparison")
def comparison_page(
    request: Request,
    who: PageReader,
    core: TheCore,
    old: ReportName,
    new: ReportName,
    start: From = 0,
    swap: Annotated[str, Query(max_length=5)] = "",
) -> Response:
    """What changed from one report to another; the older one stands left."""
    with core.store.read() as rows:
        sides = [who.row_of(rows, StoredReport, name) for name in (old, new)]
        if sides[0].id > sides[1].id and not swap:  # names of rows are in the order of their making
            sides.reverse()
        studies = [rows.get_one(StoredStudy, side.study) for side in sides]
        numbers = [
            rows.execute(select(Version.number).where(Version.id == side.version)).scalar_one()
            for side in sides
        ]
    found = comparison(
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


def _lines(found: DifferenceResponse) -> list[tuple[str, Any, Any, float | None]]:
    """Field, before, after and the change of a number; those first that a reader looks for."""
    old, new = found.old, found.new
    names = [n for n in SHOWN_FIRST if n in old or n in new]
    names += sorted({*old, *new} - {*names, *LEFT_OUT})
    names = names or sorted({*old, *new})
    lines = [(n, old.get(n), new.get(n), found.change.get(n)) for n in names]
    if found.what == "changed":
        beside = WITH_VALUE if "value" in names else ()
        return [line for line in lines if line[0] not in beside and (line[1], line[2]) not in EMPTY]
    # What one report has alone is said in a few words, not field by field.
    return [line for line in lines if line[0] in SHOWN_ALONE and (line[1], line[2]) != (None, None)] or lines[
        :1
    ]
