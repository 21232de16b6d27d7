"""Two reports side by side."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from trustreport.service import compare
from trustreport.service.access.who import Who
from trustreport.service.core import Core
from trustreport.service.ids import PATTERN
from trustreport.service.routes.pages_of import Page, Turned
from trustreport.service.routes.shapes import Said
from trustreport.service.storage.models import Report
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import Reader, TheCore

router = APIRouter(prefix="/comparisons", tags=["comparisons"])
ReportName = Annotated[str, Query(pattern=PATTERN, description="name of a report")]


class Side(Said):
    """What a report was made of."""

    report: str
    device: str
    kind: str
    inputs: dict[str, str]
    trustreport: str
    seed: int | None


class ChangeSaid(Said):
    """A result or check that is not the same in both."""

    part: Literal["results", "checks"]
    change: Literal["changed", "added", "gone"]
    id: str
    scope: dict[str, Any]
    method: str
    primary: bool
    old: dict[str, Any] | None
    new: dict[str, Any] | None


class Comparison(Page[ChangeSaid]):
    """What changed, page by page."""

    old: Side
    new: Side


@router.get("")
def comparison(old: ReportName, new: ReportName, who: Reader, core: TheCore, turn: Turned) -> Comparison:
    """What changed from one report to another."""
    before, after = _document(core, who, old), _document(core, who, new)
    page = turn.items(compare.compare(before, after), ChangeSaid.model_validate)
    return Comparison(
        items=page.items,
        next=page.next,
        old=Side(report=old, **compare.about(before)),
        new=Side(report=new, **compare.about(after)),
    )


def _document(core: Core, who: Who, name: str) -> dict[str, Any]:
    with core.store.read() as rows:
        report = who.one(rows, Report, name)
    path = core.blobs.path(who.organisation, report.results_sha256)
    if not path.is_file():
        raise Fault(404, "Not found", "The results are no longer kept.")
    return compare.read(path.read_bytes())
