"""Lists as CSV: read and sent some hundred rows at a time, and noted in the log before the first one.

Text that a spreadsheet would take for a formula begins with an apostrophe, as in results.csv.
"""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response, StreamingResponse
from sqlalchemy import Select, select
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.orm import Session as Rows

from trustreport.service.access.guard import Admin, Reader, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.core import Core
from trustreport.service.engine import cell
from trustreport.service.pages import filters
from trustreport.service.storage.models import (
    Attestation,
    Audit,
    Job,
    Schedule,
    StoredDevice,
    StoredReport,
    StoredStudy,
    Token,
    User,
)
from trustreport.service.web.shapes import moment

router = APIRouter(prefix="/exports", tags=["exports"])
AT_A_TIME = 500

Cells = Callable[[Rows, Sequence[Any]], Iterator[Sequence[Any]]]


# The columns of lists whose cells are values of a row: a word, or the word and the column of the table.
STUDIES = "study=id name created_by created_at"
DEVICES = "device=id trade_name manufacturer basic_udi_di created_at"
JOBS = (
    "job=id task study version state reason attempts report program=code "
    "created_by created_at started_at finished_at"
)
USERS = "user=id name email roles active created_at disabled_at"
TOKENS = "token=id user name permissions=scopes created_at expires_at used_at revoked_at"
ENTRIES = "number at actor action subject details previous hash"


@router.get("/studies.csv", response_class=Response)
def studies(who: Reader, core: TheCore, wanted: filters.Studies) -> Response:
    """Studies."""
    query = wanted.apply(who.rows_of(StoredStudy))
    return _send(core, who, "studies", wanted.given, query, StoredStudy.id, *_values(STUDIES))


@router.get("/reports.csv", response_class=Response)
def reports(who: Reader, core: TheCore, wanted: filters.Reports) -> Response:
    """Reports, with what was found and signed of each."""
    counted = ("pass", "fail", "inconclusive")
    header: tuple[str, ...] = (
        "report",
        "study",
        "version",
        "device",
        "kind",
        "title",
        "trade_name",
        "software_version",
    )
    header += ("period_start", "period_end", *counted, "blocking", "warnings", "notes", "signed")
    header += ("answer", "results_sha256", "program", "created_by", "created_at")

    def cells(rows: Rows, found: Sequence[StoredReport]) -> Iterator[Sequence[Any]]:
        signed = select(Attestation.report, Attestation.act).order_by(Attestation.id)
        acts: dict[str, list[str]] = {}
        for report, act in rows.execute(signed.where(Attestation.report.in_([r.id for r in found]))):
            acts.setdefault(report, []).append(act)
        for row in found:
            facts = row.facts
            told = [facts.get(name) for name in ("title", "trade_name", "software_version")]
            yield (
                *(row.id, row.study, row.version, row.device, row.kind, *told),
                *(facts.get("period_start"), facts.get("period_end")),
                *(facts.get("verdicts", {}).get(word, 0) for word in counted),
                *(facts.get("checks", {}).get(mark, 0) for mark in ("B", "W", "N")),
                acts.get(row.id, []),
                *(facts.get("answer", {}).get("sentence"), row.results_sha256, row.code),
                *(row.created_by, _moment(row.created_at)),
            )

    query = wanted.apply(who.rows_of(StoredReport), who, core.store.is_sqlite)
    return _send(core, who, "reports", wanted.given, query, StoredReport.id, header, cells)


@router.get("/devices.csv", response_class=Response)
def devices(who: Reader, core: TheCore, wanted: filters.Devices) -> Response:
    """Devices."""
    query = wanted.apply(who.rows_of(StoredDevice))
    return _send(core, who, "devices", wanted.given, query, StoredDevice.id, *_values(DEVICES))


@router.get("/jobs.csv", response_class=Response)
def jobs(who: Reader, core: TheCore, wanted: filters.Jobs) -> Response:
    """Jobs."""
    query = wanted.apply(who.rows_of(Job))
    return _send(core, who, "jobs", wanted.given, query, Job.id, *_values(JOBS))


@router.get("/schedules.csv", response_class=Response)
def schedules(who: Reader, core: TheCore) -> Response:
    """Periodic audits."""
    header = ("schedule", "study", "kind", "every_days", "next_at", "created_by", "created_at")

    def cells(rows: Rows, found: Sequence[Schedule]) -> Iterator[Sequence[Any]]:
        for row in found:
            times = (_moment(row.next_at), row.created_by, _moment(row.created_at))
            yield (row.id, row.study, row.wishes.get("kind"), row.every_days, *times)

    return _send(core, who, "schedules", {}, who.rows_of(Schedule), Schedule.id, header, cells)


@router.get("/users.csv", response_class=Response)
def users(who: Admin, core: TheCore, wanted: filters.Users) -> Response:
    """Users."""
    query = wanted.apply(who.rows_of(User))
    return _send(core, who, "users", wanted.given, query, User.id, *_values(USERS))


@router.get("/tokens.csv", response_class=Response)
def tokens(who: Admin, core: TheCore) -> Response:
    """API tokens of all users; never their secrets."""
    return _send(core, who, "tokens", {}, who.rows_of(Token), Token.id, *_values(TOKENS))


@router.get("/audit.csv", response_class=Response)
def audit_log(who: Admin, core: TheCore, wanted: filters.Entries) -> Response:
    """The audit log, the newest entry first, down to this export."""
    query = wanted.apply(select(Audit).where(Audit.chain == who.organisation))
    return _send(core, who, "audit", wanted.given, query, Audit.number, *_values(ENTRIES))


def _values(columns: str) -> tuple[list[str], Cells]:
    """The header and the cells of a list that shows values of its rows, times as ISO 8601."""
    pairs = [(word.partition("=")[0], word.rpartition("=")[2]) for word in columns.split()]

    def value(row: Any, name: str) -> Any:
        return _moment(getattr(row, name)) if name == "at" or name.endswith("_at") else getattr(row, name)

    def cells(rows: Rows, found: Sequence[Any]) -> Iterator[Sequence[Any]]:
        return ([value(row, name) for _, name in pairs] for row in found)

    return [word for word, _ in pairs], cells


def _send(
    core: Core,
    who: Principal,
    name: str,
    given: dict[str, str],
    query: Select[Any],
    by: InstrumentedAttribute[Any],
    header: Sequence[str],
    cells: Cells,
) -> Response:
    """A list as CSV, in the order of pages; who took it, and narrowed by what, is in the log."""
    with core.store.write() as rows:
        # What was searched for may be anybody's name.
        narrowed = {word: value for word, value in given.items() if word != "q"}
        who.audit(rows, "list.export", name, filters=narrowed, searched="q" in given)
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    blocks = _blocks(core, query, by, header, cells)
    return StreamingResponse(blocks, media_type="text/csv; charset=utf-8", headers=headers)


def _blocks(
    core: Core,
    query: Select[Any],
    by: InstrumentedAttribute[Any],
    header: Sequence[str],
    cells: Cells,
) -> Iterator[bytes]:
    """The text in blocks, each read in a transaction of its own: a slow reader holds none open."""
    yield _written([header])
    last: Any = None
    while True:
        part = query if last is None else query.where(by < last)
        with core.store.read() as rows:
            found = rows.scalars(part.order_by(by.desc()).limit(AT_A_TIME)).all()
            block = _written([cell(value) for value in line] for line in cells(rows, found))
        yield block
        if len(found) < AT_A_TIME:
            return
        last = getattr(found[-1], by.key)


def _written(lines: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(lines)
    return text.getvalue().encode()


def _moment(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else moment(milliseconds).isoformat()
