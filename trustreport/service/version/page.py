"""Versions of a study, and uploads that make them."""

import io
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Annotated, Any, BinaryIO

from fastapi import APIRouter, Query, Request, Response
from sqlalchemy import select
from starlette.datastructures import FormData, UploadFile

from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.blank import SUFFIXES, blank
from trustreport.service.bounds import refuse_upload
from trustreport.service.core import Core
from trustreport.service.ids import ALPHABET, LENGTH
from trustreport.service.intake import UploadedFile, checked_names, new_version
from trustreport.service.jobs import queue
from trustreport.service.pages.page_context import (
    Author,
    Reader,
    Sent,
    body_from,
    see,
    shown_again,
    signed_acts,
    text,
    user_names,
)
from trustreport.service.pages.render import page, words_of
from trustreport.service.review.threads import thread_of_version
from trustreport.service.storage.blobs import Blob
from trustreport.service.storage.models import Job, StoredReport, StoredStudy, Version, VersionFile
from trustreport.service.storage.store import Store
from trustreport.service.study import api
from trustreport.service.study import page as studies
from trustreport.service.study.fixing import awaited, fixing_of, lacks_data_alone, withheld_lines
from trustreport.service.version import api as versions_api
from trustreport.service.version.declarations import missing
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name, ReportOptions
from trustreport.vocabulary.messages import say

PROBLEMS_A_PAGE = 100
# Also where the file is missing.
REPLACEABLE = (*SUFFIXES, ".json", ".yaml", ".yml")
MOST_PARTS = 50  # files that the form takes in place of others
From = Annotated[int, Query(ge=0, lt=1_000_000)]

router = APIRouter(prefix="/versions")


@router.get("/{version}")
def show_version(version: Name, request: Request, who: Reader, core: TheCore, start: From = 0) -> Response:
    """What was found; while it is being checked, its page asks again by itself."""
    if request.headers.get("HX-Request"):
        with core.store.read() as rows:
            state = who.row_of(rows, Version, version).state
        return Response(headers={} if state == "checking" else {"HX-Refresh": "true"}, status_code=200)
    return show(request, who, core, version, start=start)


def show(
    request: Request,
    who: Principal,
    core: Core,
    version: str,
    *,
    start: int = 0,
) -> Response:
    """The page of a version."""
    with core.store.read() as rows:
        row = who.row_of(rows, Version, version)
        study = rows.get_one(StoredStudy, row.study)
        files = rows.scalars(
            select(VersionFile).where(VersionFile.version == row.id).order_by(VersionFile.name)
        ).all()
        newest = rows.scalar(
            select(Version.id).where(Version.study == row.study).order_by(Version.number.desc()).limit(1)
        )
        reports = rows.scalars(
            select(StoredReport).where(StoredReport.version == row.id).order_by(StoredReport.id.desc())
        ).all()
        jobs = rows.scalars(
            select(Job)
            .where(Job.version == row.id, Job.task == "report", Job.state != "done")
            .order_by(Job.id.desc())
            .limit(10)
        ).all()
        unpacked = not any(f.archive for f in files)
        awaits = fixing_of(rows, row.study).opened is None and lacks_data_alone(row)
        return page(
            request,
            "version",
            version=row,
            study=study,
            files=files,
            unpacked=unpacked,
            has_next=unpacked and row.has_next,
            awaits=awaits and awaited(row.criteria, words_of(request)),
            faulty=[]
            if awaits or not unpacked
            else faulty(row.problems, {f.name for f in files})[:MOST_PARTS],
            proposal=row.facts.get("proposal", ""),
            missing=missing(row.facts.get("not_declared", ()), words_of(request)),
            problems=row.problems[start : start + PROBLEMS_A_PAGE],
            start=start,
            next=start + PROBLEMS_A_PAGE if start + PROBLEMS_A_PAGE < len(row.problems) else None,
            withheld=list(withheld_lines(row.criteria, words_of(request))),
            is_newest=newest == row.id,
            newest=newest,
            reports=reports,
            jobs=jobs,
            signed=signed_acts(rows, [r.id for r in reports]),
            people=user_names(rows, who, {row.created_by, *(r.created_by for r in reports)}),
            thread=thread_of_version(rows, who, row.id),
            most=core.settings.most_body,
        )


@router.post("/{version}/jobs")
@shown_again(show)
def request_report(version: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Request a report; one that there is already is shown."""
    wanted = body_from(form, ReportOptions)
    with core.store.write() as rows:
        row = who.row_of(rows, Version, version)
        if row.state != "valid":
            raise Fault(409, say("pages.fault.not_valid.detail"))
        job, _ = queue.enqueue(rows, row, who.user, "report", wanted.plain(), core.settings)
        return see(f"/reports/{job.report}" if job.report else f"/jobs/{job.id}")


def faulty(problems: list[dict[str, Any]], files: set[str]) -> list[tuple[str, int]]:
    """Each file that has problems, in their order, and how many; the folder as a whole is none to replace."""
    counted: dict[str, int] = {}
    for problem in problems:
        if problem["file"] in files or PurePosixPath(problem["file"]).suffix.lower() in REPLACEABLE:
            counted[problem["file"]] = counted.get(problem["file"], 0) + 1
    return list(counted.items())


NAME = f"[{ALPHABET}]{{{LENGTH}}}"
OF_STUDY, OF_VERSION = "versions|criteria/document", "correction|edit|period|guide/files"
UPLOADS = re.compile(rf"/studies|/studies/{NAME}/({OF_STUDY})|/versions/{NAME}/({OF_VERSION})")
NO_WISHES: Mapping[str, Any] = MappingProxyType({})

uploads_router = APIRouter()


def is_upload(path: str) -> bool:
    """Whether a form at this address may send files, which are larger than other requests."""
    return UPLOADS.fullmatch(path) is not None


@uploads_router.get("/studies/new")
def _new(
    request: Request,
    who: Author,
    core: TheCore,
) -> Response:
    """A name, and the files."""
    return page(request, "study_new", most=core.settings.most_body)


@uploads_router.post("/studies")
@shown_again(_new)
def begin(request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """A new study, with its first version where files came along."""
    wanted = body_from(form, api.StudyName)
    files = sent_files(form, "files")
    # Before there is a study without data.
    checked_names(file.filename or "" for file in files)
    refuse_upload(core, who, (file.file for file in files))
    study = api.begin(wanted, who, core)
    if text(form, "start") == "form" and not files:
        first = io.BytesIO(blank().encode())
        made = versions_api.store_version(core, who, study.id, [("study.yaml", first)])
        return see(f"/versions/{made.id}/guide/files")
    if not files:
        return see(f"/studies/{study.id}")
    return _stored(core, who, study.id, files)


@uploads_router.post("/studies/{study}/versions")
@shown_again(studies.show)
def upload(study: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """The files of a study: one zip, or the manifest and its tables."""
    files = sent_files(form, "files")
    if not files:
        raise Fault(422, say("pages.fault.no_file_came.choose_files"))
    return _stored(core, who, study, files)


def _stored(core: Core, who: Principal, study: str, files: Sequence[UploadFile]) -> Response:
    """Keep the files; tables alone lead to the steps that describe them, all else to what the check finds."""
    made = versions_api.store_files(core, who, study, files)
    only_tables = all((file.filename or "").lower().endswith(SUFFIXES) for file in files)
    return see(f"/versions/{made.id}/guide/files" if only_tables else f"/versions/{made.id}")


@uploads_router.post("/versions/{version}/correction")
@shown_again(show)
def correct(version: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Files in place of those of a version, whatever they are called on the sender's disk; all others stay.

    The form names each file in ``name-0`` and sends what replaces it as ``file-0``.
    """
    new = named_streams(form)
    if manifest := text(form, "manifest").strip():
        new.setdefault("study.yaml", io.BytesIO(manifest.encode() + b"\n"))
    if not new:
        raise Fault(422, say("pages.fault.no_file_came.choose_corrected_file"))
    return see(f"/versions/{replace_files(core, who, version, new)}")


def replace_files(
    core: Core,
    who: Principal,
    version: str,
    new: dict[str, BinaryIO],
    without: Collection[str] = (),
    wishes: Mapping[str, Any] = NO_WISHES,
) -> str:
    """The name of a new version: the files of an old one, some replaced and some left out.

    Parameters
    ----------
    wishes : of its check
    """
    study, all_old = _files_of(core.store, who, version)
    old = [f for f in all_old if f.name not in without]
    checked_names([*new, *(f.name for f in old if f.name not in new)])
    refuse_upload(core, who, new.values())
    handed = [UploadedFile(name, core.blobs.put(who.organisation, file)) for name, file in new.items()]
    handed += [UploadedFile(f.name, Blob(f.sha256, f.size)) for f in old if f.name not in new]
    if len(handed) > core.settings.most_files:
        raise Fault(422, say("pages.fault.too_many_files.detail", most_files=core.settings.most_files))
    with core.store.write() as rows:
        made = new_version(rows, who, study, handed, based_on=version)
        queue.enqueue(rows, made, who.user, "check", dict(wishes), core.settings)
        return made.id


def _files_of(store: Store, who: Principal, version: str) -> tuple[str, Sequence[VersionFile]]:
    with store.read() as rows:
        row = who.row_of(rows, Version, version)
        files = rows.scalars(select(VersionFile).where(VersionFile.version == row.id)).all()
    if any(file.archive for file in files):
        raise Fault(409, say("pages.fault.not_unpacked.detail"))
    return row.study, files


def named_streams(form: FormData) -> dict[str, BinaryIO]:
    """Files by their own names, those in the place of others by theirs; refuses bad and repeated names."""
    sent = {
        text(form, field.replace("file-", "name-")): file
        for field, file in form.items()
        if field.startswith("file-") and isinstance(file, UploadFile) and file.filename
    }
    more = sent_files(form, "files")
    names = checked_names([*sent, *(file.filename or "" for file in more)])
    return dict(zip(names, (file.file for file in [*sent.values(), *more]), strict=True))


def sent_files(form: FormData, name: str) -> list[UploadFile]:
    """The files of a field; one that was left empty sends a part without a name."""
    return [f for f in form.getlist(name) if isinstance(f, UploadFile) and f.filename]
