"""The incidents and signals of a period for a PSUR: counts by seriousness and state, then every row."""

import csv
import datetime as dt
import io
from collections import Counter
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.guard import Reader, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.client import operations as op
from trustreport.service.client.records import PsurCount, PsurExport
from trustreport.service.core import Core
from trustreport.service.engine import cell
from trustreport.service.pages.filters import Day
from trustreport.service.storage.models import StoredDevice
from trustreport.service.storage.vigilance import VigilanceEntry
from trustreport.service.vigilance.entries import today
from trustreport.service.vigilance.fields import MODELS, NAMES, clock, event_day, kind_of
from trustreport.service.web.faults import Fault, Field
from trustreport.service.web.shapes import Name, serves
from trustreport.vocabulary.messages import say

router = APIRouter(prefix="/devices", tags=["incidents"])

OWN_COLUMNS = ("name", "kind", "period_status", "state", "deadline", "overdue", "late")
FACTS = dict.fromkeys(key for model in MODELS.values() for key in model.model_fields)
COLUMNS = (*OWN_COLUMNS, *(key for key in FACTS if key not in (*NAMES.values(), "kind", "status")))


@serves(router, op.PSUR)
def psur(device: Name, who: Reader, core: TheCore, since: Day = "", until: Day = "") -> PsurExport:
    """The incidents and signals of a period for a PSUR.

    Counted are those of the period (`new`: their day of the event, else of awareness or detection, lies in
    it), and those from before that were open at its beginning (`earlier`). The state is that on its last day.
    """
    return _exported(core, who, device, since, until)


@router.get("/{device}/psur.csv", response_class=Response)
def psur_csv(device: Name, who: Reader, core: TheCore, since: Day = "", until: Day = "") -> Response:
    """The same as CSV: the counts, an empty line, the rows."""
    made = _exported(core, who, device, since, until)
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\r\n")
    counted = [*PsurCount.model_fields]
    lines.writerow(counted)
    lines.writerows([cell(getattr(count, key)) for key in counted] for count in made.counts)
    lines.writerow([])
    lines.writerow(COLUMNS)
    lines.writerows([cell(row.get(key)) for key in COLUMNS] for row in made.rows)
    headers = {"Content-Disposition": 'attachment; filename="psur.csv"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def _exported(core: Core, who: Principal, device: str, since: str, until: str) -> PsurExport:
    first, last = _day(since, "since"), _day(until, "until")
    with core.store.write() as rows:
        row = who.row_of(rows, StoredDevice, device)
        found = _rows(rows, who, row.id, first, last)
        who.audit(rows, "list.export", "psur", device=row.id, since=since, until=until)
    keys = ("kind", "seriousness", "state")
    counted = Counter((*(one.get(key) or "" for key in keys), one["period_status"]) for one in found)
    groups = sorted({group[:3] for group in counted})
    return PsurExport(
        device=row.id,
        since=first,
        until=last,
        counts=[
            PsurCount(
                **dict(zip(keys, group, strict=True)),
                new=counted[(*group, "new")],
                earlier=counted[(*group, "earlier")],
            )
            for group in groups
        ],
        rows=found,
    )


def _rows(
    rows: Rows, who: Principal, device: str, first: dt.date | None, last: dt.date | None
) -> list[dict[str, Any]]:
    """The entries that were new in a period or open in it, in the order of their registration."""
    query = who.rows_of(VigilanceEntry).where(VigilanceEntry.device == device)
    at, found = today(rows), []
    for entry in rows.scalars(query.order_by(VigilanceEntry.id)):
        day, ended = event_day(entry), entry.facts.get("closed", "")
        is_new = first is None or (day is not None and day >= first)
        if last is not None and day is not None and day > last:
            continue
        if first is not None and not is_new and entry.closed and ended < first.isoformat():
            continue
        open_then = not entry.closed or (last is not None and ended > last.isoformat())
        timed = clock(entry, at)
        own = {
            "name": entry.name,
            "kind": kind_of(entry),
            "period_status": "new" if is_new else "earlier",
            "state": "open" if open_then else "closed",
            "deadline": timed.deadline and timed.deadline.isoformat(),
            "overdue": timed.overdue,
            "late": timed.late,
        }
        found.append({**own, **{key: entry.facts[key] for key in COLUMNS if key in entry.facts}})
    return found


def _day(text: str, name: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(text) if text else None
    except ValueError:
        wrong = [Field(name, f"found {text}, expected a date, as 2026-03-31")]
        raise Fault(422, "", wrong, title=say("pages.fault.not_as_expected.title")) from None
