"""Criteria of a study: fixed, amended, declared as fixed elsewhere, countersigned."""

import io
import json
from datetime import date
from hashlib import sha256
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Base64Bytes, Field
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import mail
from trustreport.service.access import accounts
from trustreport.service.access.guard import Author, Reader, Reviewer, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.account.api import confirm
from trustreport.service.bounds import refuse_upload
from trustreport.service.client import operations as op
from trustreport.service.client.records import CriteriaResponse, FixedResponse
from trustreport.service.core import Core
from trustreport.service.editor.run import carried_out, lay_out
from trustreport.service.intake import LOCK, MANIFESTS, UploadedFile, checked_names, new_version
from trustreport.service.jobs import queue
from trustreport.service.pages.blob_responses import send_blob
from trustreport.service.review.attestations import makers
from trustreport.service.roles import permissions
from trustreport.service.storage.blobs import Blob
from trustreport.service.storage.fixing import DOCUMENT, FixedCriteria, lock_of
from trustreport.service.storage.models import Organisation, StoredStudy, User, Version, VersionFile
from trustreport.service.storage.store import now
from trustreport.service.study.fixing import Fixing, fixing_of
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Line, Name, Password, RequestBody, Words, moment, serves
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["criteria"])
MOST_DOCUMENT = 5_000_000  # bytes


class FixRequest(RequestBody):
    """Fix the criteria of the newest version, or amend what was fixed before."""

    reason: Words = Field(default="", description="of an amendment; needed where the criteria differ")


class DeclaredElsewhere(RequestBody):
    """Criteria that were fixed elsewhere, and the document that shows it."""

    name: Line = Field(description="of the document's file, such as plan.pdf", examples=["plan.pdf"])
    content: Base64Bytes = Field(min_length=1, max_length=7_000_000, description="in base64")
    fixed_on: date
    data_opened_on: date = Field(description="not before they were fixed; may be to come")


class Countersigning(RequestBody):
    password: Password | None = Field(
        default=None,
        description="one's own, since a person countersigns; an account of the identity provider leaves it "
        "out and signs in there anew before",
    )


@serves(router, op.CRITERIA)
def criteria(study: Name, who: Reader, core: TheCore) -> CriteriaResponse:
    """What is fixed of a study, and which verdicts its newest version would be given."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredStudy, study)
        found = fixing_of(rows, row.id)
        state, opened = found.state, found.opened
        return CriteriaResponse(
            study=row.id,
            version=found.newest.id if found.newest else None,
            state=state.get("state"),
            late=state.get("late", False),
            criteria=state.get("criteria", []),
            withheld=state.get("withheld", []),
            data_opened=moment(opened.created_at) if opened else None,
            needs_second=rows.get_one(Organisation, who.organisation).countersigned,
            fixed=[FixedResponse.of_row(act) for act in found.acts],
        )


@serves(router, op.FIX_CRITERIA, name="fix")
def fix(study: Name, wanted: FixRequest, who: Author, core: TheCore) -> FixedResponse:
    """Fix the criteria of the newest version as `trustreport lock` does, before any data are there.

    Every later version has the lock. Where the organisation asks for a second person, it counts once that
    person has countersigned it.
    """
    seen, version, files = _seen(core, who, study)
    _refuse_late(seen)
    known = bool([act for act in seen.counting if act.kind != DOCUMENT])
    at = _instant(core)
    reason = wanted.reason.strip()
    task = {"task": "fix", "at": at, "reason": reason, "is_known": known}
    made = _carried_out(core, version, files, task)
    content = made["lock"].encode()
    kind = "amendment" if known else "lock"
    blob = core.blobs.put(who.organisation, io.BytesIO(content))
    return _stored(core, who, seen, kind, LOCK, blob, made, reason=reason)


@serves(router, op.DECLARE_CRITERIA)
def declare(study: Name, wanted: DeclaredElsewhere, who: Author, core: TheCore) -> FixedResponse:
    """Declare that the criteria were fixed elsewhere, with the document that shows it.

    Its SHA-256 and the two dates are entered into the manifest. The report says that nothing here bears them
    out, other than of a lock.
    """
    seen, version, files = _seen(core, who, study)
    (name,) = checked_names([wanted.name])
    content = wanted.content
    if len(content) > MOST_DOCUMENT:
        raise Fault(422, say("pages.fault.no_document.large", most=MOST_DOCUMENT // 1_000_000))
    if [act for act in seen.counting if act.kind != DOCUMENT]:
        raise Fault(409, say("pages.fault.fixed_already.lock"))
    today = moment(_now(core)).date()
    came = moment(seen.opened.created_at).date() if seen.opened else None
    if wanted.fixed_on > min(today, wanted.data_opened_on):
        raise Fault(422, say("pages.fault.dates_contradict.fixed"))
    if came is not None and wanted.data_opened_on > came:
        raise Fault(422, say("pages.fault.dates_contradict.opened", day=came.isoformat()))
    days = {"fixed_on": wanted.fixed_on.isoformat(), "data_opened_on": wanted.data_opened_on.isoformat()}
    document = {"title": name, "sha256": sha256(content).hexdigest(), **days}
    made = _carried_out(core, version, files, {"task": "fix", "document": document})
    refuse_upload(core, who, [io.BytesIO(content)])
    blob = core.blobs.put(who.organisation, io.BytesIO(content))
    return _stored(core, who, seen, DOCUMENT, name, blob, made, **days)


@router.get("/fixed-criteria/{fixing}")
def get_fixed(fixing: Name, who: Reader, core: TheCore) -> FixedResponse:
    """One act by which criteria were fixed."""
    with core.store.read() as rows:
        return FixedResponse.of_row(who.row_of(rows, FixedCriteria, fixing))


@router.get("/fixed-criteria/{fixing}/file", response_class=Response)
def fixed_file(fixing: Name, who: Reader, core: TheCore, request: Request) -> Response:
    """The lock, or the document that shows that criteria were fixed elsewhere."""
    with core.store.read() as rows:
        row = who.row_of(rows, FixedCriteria, fixing)
    return send_blob(core, request, who.organisation, row.sha256, row.name, ours=False)


@serves(router, op.COUNTERSIGN, name="countersign")
def countersign(
    fixing: Name, wanted: Countersigning, who: Reviewer, core: TheCore, request: Request
) -> FixedResponse:
    """Countersign what somebody else fixed: from then on it counts."""
    with core.store.read() as rows:
        who.row_of(rows, FixedCriteria, fixing)
    confirm(core, who, wanted.password, request)  # outside of the transaction: a hash takes long
    with core.store.read() as rows:
        row = who.row_of(rows, FixedCriteria, fixing)
        at = now(rows)
    blob = _with_second(core, row, at) if row.kind != DOCUMENT else Blob(row.sha256, row.size)
    with core.store.write() as rows:
        row = who.row_of(rows, FixedCriteria, fixing)
        rows.refresh(rows.get_one(StoredStudy, row.study), with_for_update=True)
        rows.refresh(row)
        seen = fixing_of(rows, row.study)
        accounts.refuse_unconfirmed(rows.get_one(User, who.user))
        if who.user in {row.created_by, *makers(rows, row.version)}:
            raise Fault(403, say("pages.fault.not_ones_own.somebody_else_countersigns"))
        if row.counts:
            raise Fault(409, say("pages.fault.fixed_already.countersigned"))
        if row.kind != DOCUMENT:
            _refuse_late(seen)
        if seen.waiting is None or seen.waiting.id != row.id:
            raise Fault(409, say("pages.fault.criteria_changed.detail"))
        row.countersigned_by, row.countersigned_at = who.user, at
        row.sha256, row.size = blob.sha256, blob.size
        who.audit(rows, "criteria.countersign", row.id, study=row.study, sha256=row.sha256)
        rows.flush()
        _apply(core, rows, who, row)
        return FixedResponse.of_row(row)


def _seen(core: Core, who: Principal, study: str) -> tuple[Fixing, Version, list[VersionFile]]:
    """What is fixed of a study, its newest version with the files that say so; refuses (409) without one."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredStudy, study)
        seen = fixing_of(rows, row.id)
        version = seen.newest
        if version is None or version.state == "checking":
            raise Fault(409, say("pages.fault.no_criteria.unreadable"))
        query = select(VersionFile).where(VersionFile.version == version.id)
        files = [f for f in rows.scalars(query) if f.name == LOCK or f.name in MANIFESTS]
    return seen, version, files


def _refuse_late(seen: Fixing) -> None:
    """Refuse (409) to fix anything once data are there: nobody could tell that it was not chosen on them."""
    if seen.opened is not None:
        at = moment(seen.opened.created_at).isoformat(" ", "minutes").replace("+00:00", " UTC")
        raise Fault(409, say("pages.fault.data_opened.detail", number=seen.opened.number, at=at))


def _now(core: Core) -> int:
    with core.store.read() as rows:
        return now(rows)


def _instant(core: Core) -> str:
    return moment(_now(core)).isoformat(timespec="seconds")


def _carried_out(
    core: Core, version: Version, files: list[VersionFile], task: dict[str, Any]
) -> dict[str, Any]:
    """What the limited process made of the criteria; refuses (409) as it does."""
    task = {**task, "closed": [str(core.settings.data)]}
    outcome = carried_out(core, task, lambda work: lay_out(core, version, files, work / "study"))
    made = outcome.answer
    if outcome.kind != "answer" or "failed" in made:
        raise Fault(409, say("pages.fault.no_criteria.unreadable"))
    if refused := made.get("refused"):
        raise Fault(409, say(f"pages.fault.no_criteria.{refused}"))
    return made


def _stored(
    core: Core,
    who: Principal,
    seen: Fixing,
    kind: str,
    name: str,
    blob: Blob,
    made: dict[str, Any],
    **more: str,
) -> FixedResponse:
    """Keep an act, unless the study changed since it was looked at; of two at once one is kept."""
    newest = seen.newest
    assert newest is not None
    with core.store.write() as rows:
        study = who.row_of(rows, StoredStudy, newest.study)
        rows.refresh(study, with_for_update=True)
        here = fixing_of(rows, study.id)
        last = [act.id for act in here.acts][-1:]
        if last != [act.id for act in seen.acts][-1:]:
            raise Fault(409, say("pages.fault.fixed_already.meanwhile"))
        if here.newest is None or here.newest.id != newest.id:
            raise Fault(409, say("pages.fault.criteria_changed.detail"))
        row = who.new_row(
            rows,
            FixedCriteria,
            study=study.id,
            version=newest.id,
            kind=kind,
            name=name,
            sha256=blob.sha256,
            size=blob.size,
            digest=made["digest"],
            criteria=made["criteria"],
            manifest=made["manifest"],
            needs_second=rows.get_one(Organisation, who.organisation).countersigned,
            **({"reason": ""} | more),
        )
        said = {"study": study.id, "version": newest.id, "kind": kind, "digest": row.digest}
        who.audit(rows, "criteria.fix", row.id, **said, sha256=row.sha256, criteria=len(row.criteria))
        if row.counts:
            _apply(core, rows, who, row)
        else:
            _ask_second(core, rows, who, row)
        return FixedResponse.of_row(row)


def _ask_second(core: Core, rows: Rows, who: Principal, row: FixedCriteria) -> None:
    """Tell those who may countersign that something waits for them."""
    who.audit(rows, "criteria.waiting", row.id, study=row.study, version=row.version)
    own = makers(rows, row.version) | {row.created_by}
    users = rows.scalars(who.rows_of(User).where(User.disabled_at.is_(None), User.id.not_in(own)))
    for user in users.all():
        if "review" in permissions(user.roles):
            mail.queue_mail(rows, core.settings, "criteria_waiting", user.id, study=row.study)


def _apply(core: Core, rows: Rows, who: Principal, row: FixedCriteria) -> None:
    """A new version with the lock, and with the manifest where that changed."""
    query = select(VersionFile).where(VersionFile.version == row.version)
    old = [UploadedFile(f.name, Blob(f.sha256, f.size), f.archive) for f in rows.scalars(query)]
    if row.manifest:
        blob = core.blobs.put(row.organisation, io.BytesIO(row.manifest.encode()))
        old = [UploadedFile("study.yaml", blob), *(f for f in old if f.name not in MANIFESTS)]
    if (lock := lock_of(rows, row.study)) is not None:
        old = [f for f in old if f.name != LOCK]
        old.append(UploadedFile(LOCK, Blob(lock.sha256, lock.size)))
    version = new_version(rows, who, row.study, old, based_on=row.version)
    queue.enqueue(rows, version, who.user, "check", {}, core.settings)


def _with_second(core: Core, row: FixedCriteria, at: int) -> Blob:
    """The lock with the time at which a second person agreed."""
    said = json.loads(core.blobs.read(row.organisation, row.sha256))
    said["locked"][-1]["countersigned_at"] = moment(at).isoformat(timespec="seconds")
    text = json.dumps(said, sort_keys=True, ensure_ascii=False, indent=1)
    return core.blobs.put(row.organisation, io.BytesIO(text.encode() + b"\n"))
