"""Versions of a study: handed in as a zip, as files, or as JSON; checked at once, with every problem."""

import io
import tempfile
from collections.abc import Sequence
from typing import Annotated, Any, BinaryIO, cast

from fastapi import APIRouter, Path, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import Field, ValidationError
from sqlalchemy import select
from starlette.datastructures import UploadFile as SentFile

from trustreport.service.access.guard import Author, Reader, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.bounds import refuse_upload
from trustreport.service.client import operations as op
from trustreport.service.client.records import FileResponse, ProblemResponse, VersionResponse
from trustreport.service.core import Core
from trustreport.service.intake import UploadedFile, checked_names, new_version
from trustreport.service.jobs import queue
from trustreport.service.pages.blob_responses import send_blob
from trustreport.service.storage.models import StoredStudy, Version, VersionFile, canonical
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import (
    Name,
    Page,
    RequestBody,
    RequestedPage,
    ask_again,
    serves,
)
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["versions"])
ZIP = b"PK\x03\x04"
IN_MEMORY = 1_000_000


class AsJson(RequestBody):
    """A study as JSON: the manifest as an object, each table as the text of its file."""

    manifest: dict[str, Any] = Field(
        examples=[{"report": {"kind": "certification"}, "device": {"trade_name": "Example aid"}}]
    )
    tables: dict[str, Annotated[str, Field(max_length=10_000_000)]] = Field(default={}, max_length=100)


def _body(media: str, schema: dict[str, Any]) -> dict[str, Any]:
    """What the document says of a body that a route reads by itself, once it knows who sends it."""
    return {"requestBody": {"required": True, "content": {media: {"schema": schema}}}}


BYTES = {"type": "string", "format": "binary"}
AS_ZIP = _body("application/zip", BYTES)
AS_JSON = _body("application/json", AsJson.model_json_schema())
AS_FILES = _body(
    "multipart/form-data",
    {
        "type": "object",
        "required": ["files"],
        "properties": {"files": {"type": "array", "items": BYTES, "minItems": 1}},
    },
)


@serves(router, op.VERSIONS)
def versions(study: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[VersionResponse]:
    """All versions of a study."""
    with core.store.read() as rows:
        row = who.row_of(rows, StoredStudy, study)
        return turn.rows(rows, who.rows_of(Version).where(Version.study == row.id), Version.id, to_response)


@serves(router, op.UPLOAD, openapi_extra=AS_FILES)  # type: ignore[arg-type]  # a coroutine of it
async def upload_files(study: Name, who: Author, core: TheCore, request: Request) -> VersionResponse:
    """Upload the files of a study: the manifest and its tables, or one zip with all of them."""
    most = core.settings.most_files
    async with request.form(max_files=most + 1, max_fields=most) as form:
        files = [file for file in form.getlist("files") if isinstance(file, SentFile)]
        if not files:
            missing = {"type": "missing", "loc": ("body", "files"), "msg": "Field required"}
            raise RequestValidationError([missing])
        return await run_in_threadpool(store_files, core, who, study, files)


def store_files(core: Core, who: Principal, study: str, files: Sequence[SentFile]) -> VersionResponse:
    """Keep files as a form sent them."""
    if len(files) > core.settings.most_files:
        raise Fault(422, say("pages.fault.too_many_files.detail", most_files=core.settings.most_files))
    names = checked_names(file.filename or "" for file in files)
    if len(files) == 1 and _begins_as_zip(files[0].file) and not names[0].lower().endswith(".xlsx"):
        return store_version(core, who, study, [(names[0], files[0].file)], archive=True)
    return store_version(core, who, study, [(n, f.file) for n, f in zip(names, files, strict=True)])


@serves(router, op.UPLOAD_ZIP, openapi_extra=AS_ZIP)  # type: ignore[arg-type]  # likewise
async def upload_zip(study: Name, who: Author, core: TheCore, request: Request) -> VersionResponse:
    """Upload a zip of the study folder as the body of the request."""
    with tempfile.SpooledTemporaryFile(IN_MEMORY) as spool:
        async for block in request.stream():
            await run_in_threadpool(spool.write, block)
        spool.seek(0)
        stream = cast(BinaryIO, spool)
        if not _begins_as_zip(stream):
            raise Fault(415, "The body of this request is the zip of a study folder.", title="Not a zip")
        return await run_in_threadpool(store_version, core, who, study, [("study.zip", stream)], archive=True)


@router.post("/studies/{study}/versions/json", status_code=202, openapi_extra=AS_JSON)
async def upload_json(study: Name, who: Author, core: TheCore, request: Request) -> VersionResponse:
    """Upload a study as JSON."""
    # Parsed in a thread: megabytes of JSON would hold up every other request.
    return await run_in_threadpool(_store_json, core, who, study, await request.body())


def _store_json(core: Core, who: Principal, study: str, body: bytes) -> VersionResponse:
    try:
        asked = AsJson.model_validate_json(body)
    except ValidationError as error:
        raise RequestValidationError(
            [{**e, "loc": ("body", *e["loc"])} for e in error.errors(include_input=False)]
        ) from None
    names = checked_names(asked.tables)
    try:
        texts = [canonical(asked.manifest).encode(), *(text.encode() for text in asked.tables.values())]
    except ValueError:
        raise Fault(
            422, "The texts hold half a character, or a number is not finite.", title="Not JSON"
        ) from None
    if "study.json" in names:
        raise Fault(422, say("pages.fault.name_taken.studyjson_manifest"))
    streams = [io.BytesIO(text) for text in texts]
    return store_version(core, who, study, list(zip(["study.json", *names], streams, strict=True)))


@serves(router, op.VERSION)
def get_version(version: Name, who: Reader, core: TheCore, response: Response) -> VersionResponse:
    """One version, and whether its check is through; until then `Retry-After` says when to ask again."""
    with core.store.read() as rows:
        row = who.row_of(rows, Version, version)
        if row.state == "checking":
            response.headers["Retry-After"] = ask_again(now(rows) - row.created_at)
        return to_response(row)


@serves(router, op.PROBLEMS)
def problems(version: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[ProblemResponse]:
    """Every problem that the check found, by file and row."""
    with core.store.read() as rows:
        found = who.row_of(rows, Version, version).problems
    return turn.items(found, ProblemResponse.model_validate)


@serves(router, op.VERSION_FILES)
def files(version: Name, who: Reader, core: TheCore, turn: RequestedPage) -> Page[FileResponse]:
    """The files of a version."""
    with core.store.read() as rows:
        row = who.row_of(rows, Version, version)
        query = select(VersionFile).where(VersionFile.version == row.id)
        return turn.rows(rows, query, VersionFile.name, FileResponse.of_row)


@serves(router, op.VERSION_FILE)
def file(
    version: Name, name: Annotated[str, Path(max_length=250)], who: Reader, core: TheCore, request: Request
) -> Response:
    """A file as it was uploaded."""
    with core.store.read() as rows:
        row = who.row_of(rows, Version, version)
        kept = None if "\x00" in name else rows.get(VersionFile, (row.id, name))
    if kept is None:
        raise Fault(404, say("pages.fault.not_found.version_no"))
    return send_blob(core, request, who.organisation, kept.sha256, kept.name, ours=False)


def store_version(
    core: Core, who: Principal, study: str, streams: list[tuple[str, BinaryIO]], *, archive: bool = False
) -> VersionResponse:
    """Keep what was handed in, and ask for its check."""
    with core.store.read() as rows:
        who.row_of(rows, StoredStudy, study)  # before anything is written
    refuse_upload(core, who, (stream for _, stream in streams))
    handed = [UploadedFile(name, core.blobs.put(who.organisation, s), archive) for name, s in streams]
    with core.store.write() as rows:
        version = new_version(rows, who, study, handed)
        queue.enqueue(rows, version, who.user, "check", {}, core.settings)
        return to_response(version)


def to_response(row: Version) -> VersionResponse:
    """A version as the API says it."""
    return VersionResponse.of_row(row, problems=len(row.problems))


def _begins_as_zip(stream: BinaryIO) -> bool:
    start = stream.read(len(ZIP))
    stream.seek(0)
    return start == ZIP
