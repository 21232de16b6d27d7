"""Files that are handed in: a new study, a new version, a corrected file."""

import io
import re
from collections.abc import Collection, Sequence
from typing import BinaryIO

from fastapi import APIRouter, Request, Response
from sqlalchemy import select
from starlette.datastructures import FormData, UploadFile

from trustreport.service.access.principal import Principal
from trustreport.service.bounds import refuse_upload
from trustreport.service.core import Core
from trustreport.service.editor.blank import SUFFIXES, blank
from trustreport.service.ids import ALPHABET, LENGTH
from trustreport.service.intake import UploadedFile, checked_names, new_version
from trustreport.service.jobs import queue
from trustreport.service.pages import studies, versions
from trustreport.service.pages.page_context import Author, Sent, attempt, request_from_form, see, text, typed
from trustreport.service.pages.render import page
from trustreport.service.routes import studies as api
from trustreport.service.routes import versions as versions_api
from trustreport.service.routes.pagination import Name
from trustreport.service.storage.blobs import Blob
from trustreport.service.storage.models import Version, VersionFile
from trustreport.service.storage.store import Store
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import TheCore
from trustreport.vocabulary.messages import say

NAME = f"[{ALPHABET}]{{{LENGTH}}}"
UPLOADS = re.compile(rf"/studies|/studies/{NAME}/versions|/versions/{NAME}/(correction|edit)")

router = APIRouter()


def is_upload(path: str) -> bool:
    """Whether a form at this address may send files, which are larger than other requests."""
    return UPLOADS.fullmatch(path) is not None


@router.get("/studies/new")
def new(request: Request, who: Author, core: TheCore) -> Response:
    """A name, and the files."""
    return page(request, "study_new", most=core.settings.most_body)


@router.post("/studies")
def begin(request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """A new study, with its first version where files came along."""

    def submit() -> Response:
        wanted = request_from_form(api.StudyName, name=text(form, "name"))
        files = sent_files(form, "files")
        # Before there is a study without data.
        checked_names(file.filename or "" for file in files)
        refuse_upload(core, who, (file.file for file in files))
        study = api.begin(wanted, who, core)
        if text(form, "start") == "form" and not files:
            first = io.BytesIO(blank().encode())
            made = versions_api.store_version(core, who, study.id, [("study.yaml", first)])
            return see(f"/versions/{made.id}/edit")
        if not files:
            return see(f"/studies/{study.id}")
        return _stored(core, who, study.id, files)

    return attempt(
        submit,
        lambda fault: page(
            request, "study_new", most=core.settings.most_body, fault=fault, typed=typed(form)
        ),
    )


@router.post("/studies/{study}/versions")
def upload(study: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """The files of a study: one zip, or the manifest and its tables."""

    def submit() -> Response:
        files = sent_files(form, "files")
        if not files:
            raise Fault(
                422, say("pages.fault.no_file_came.title"), say("pages.fault.no_file_came.choose_files")
            )
        return _stored(core, who, study, files)

    return attempt(submit, lambda fault: studies.show(request, who, core, study, fault=fault))


def _stored(core: Core, who: Principal, study: str, files: Sequence[UploadFile]) -> Response:
    """Keep the files; tables alone lead to the form of their manifest, all else to what the check finds."""
    made = versions_api.store_files(core, who, study, files)
    only_tables = all((file.filename or "").lower().endswith(SUFFIXES) for file in files)
    return see(f"/versions/{made.id}/edit" if only_tables else f"/versions/{made.id}")


@router.post("/versions/{version}/correction")
def correct(version: Name, request: Request, who: Author, core: TheCore, form: Sent) -> Response:
    """Files in place of those of a version, whatever they are called on the sender's disk; all others stay.

    The form names each file in ``name-0`` and sends what replaces it as ``file-0``.
    """

    def submit() -> Response:
        sent = {
            text(form, field.replace("file-", "name-")): file
            for field, file in form.items()
            if field.startswith("file-") and isinstance(file, UploadFile) and file.filename
        }
        more = sent_files(form, "files")
        names = checked_names([*sent, *(file.filename or "" for file in more)])
        new: dict[str, BinaryIO] = dict(zip(names, (file.file for file in [*sent.values(), *more])))
        if manifest := text(form, "manifest").strip():
            new.setdefault("study.yaml", io.BytesIO(manifest.encode() + b"\n"))
        if not new:
            raise Fault(
                422,
                say("pages.fault.no_file_came.title"),
                say("pages.fault.no_file_came.choose_corrected_file"),
            )
        return see(f"/versions/{replace_files(core, who, version, new)}")

    return attempt(submit, lambda fault: versions.show(request, who, core, version, fault=fault))


def replace_files(
    core: Core, who: Principal, version: str, new: dict[str, BinaryIO], without: Collection[str] = ()
) -> str:
    """The name of a new version: the files of an old one, some replaced and some left out."""
    study, all_old = _files_of(core.store, who, version)
    old = [f for f in all_old if f.name not in without]
    checked_names([*new, *(f.name for f in old if f.name not in new)])
    refuse_upload(core, who, new.values())
    handed = [UploadedFile(name, core.blobs.put(who.organisation, file)) for name, file in new.items()]
    handed += [UploadedFile(f.name, Blob(f.sha256, f.size)) for f in old if f.name not in new]
    if len(handed) > core.settings.most_files:
        raise Fault(
            422,
            say("pages.fault.too_many_files.title"),
            say("pages.fault.too_many_files.detail", most_files=core.settings.most_files),
        )
    with core.store.write() as rows:
        made = new_version(rows, who, study, handed, based_on=version)
        queue.enqueue(rows, made, who.user, "check", {}, core.settings)
        return made.id


def _files_of(store: Store, who: Principal, version: str) -> tuple[str, Sequence[VersionFile]]:
    with store.read() as rows:
        row = who.one(rows, Version, version)
        files = rows.scalars(select(VersionFile).where(VersionFile.version == row.id)).all()
    if any(file.archive for file in files):
        raise Fault(409, say("pages.fault.not_unpacked.title"), say("pages.fault.not_unpacked.detail"))
    return row.study, files


def named_streams(files: Sequence[UploadFile]) -> dict[str, BinaryIO]:
    """Files by their own names; refuses bad and repeated ones."""
    names = checked_names(file.filename or "" for file in files)
    return dict(zip(names, (file.file for file in files), strict=True))


def sent_files(form: FormData, name: str) -> list[UploadFile]:
    """The files of a field; one that was left empty sends a part without a name."""
    return [f for f in form.getlist(name) if isinstance(f, UploadFile) and f.filename]
