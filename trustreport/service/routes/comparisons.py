"""Two reports side by side."""

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from trustreport.report.compare import compare
from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.ids import PATTERN
from trustreport.service.routes.pagination import Page, RequestedPage
from trustreport.service.routes.shapes import ResponseBody
from trustreport.service.storage.models import StoredReport
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import Reader, TheCore
from trustreport.vocabulary.messages import say

router = APIRouter(prefix="/comparisons", tags=["comparisons"])
ReportName = Annotated[str, Query(pattern=PATTERN, description="name of a report")]


class Side(ResponseBody):
    """What a report was made of."""

    report: str
    device: str
    kind: str
    inputs: dict[str, str]
    trustreport: str
    seed: int | None


class DifferenceResponse(ResponseBody):
    """A number, verdict or check that is not the same: `old` and `new` hold the fields that differ."""

    part: Literal["numbers", "verdicts", "checks"]
    what: Literal["changed", "added", "removed"]
    name: str
    where: dict[str, Any]
    old: dict[str, Any]
    new: dict[str, Any]
    change: dict[str, float] = Field(description="new less old, of each number that is in both")


class ComparisonPage(Page[DifferenceResponse]):
    """What differs, page by page, and how many numbers are the same."""

    old: Side
    new: Side
    same: int
    same_device: bool = Field(description="whether both are of one device, whatever its version")


@router.get("")
def comparison(
    old: ReportName, new: ReportName, who: Reader, core: TheCore, turn: RequestedPage
) -> ComparisonPage:
    """What changed from one report to another."""
    with core.store.read() as rows:
        devices = {who.one(rows, StoredReport, name).device for name in (old, new)}
    before, after = _document(core, who, old), _document(core, who, new)
    found = compare(before, after).as_dict()
    parts: tuple[Literal["numbers", "verdicts", "checks"], ...] = ("verdicts", "numbers", "checks")
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
        report = who.one(rows, StoredReport, name)
    try:
        document: dict[str, Any] = json.loads(core.blobs.read(who.organisation, report.results_sha256))
    except FileNotFoundError:
        raise Fault(
            404, say("pages.fault.not_found.title"), say("pages.fault.not_found.results_have_been")
        ) from None
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
