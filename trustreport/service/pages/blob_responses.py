"""Files sent from the blobs: immutable, and sent with an ETag that says so."""

import re
from collections.abc import Iterator
from contextlib import closing
from typing import IO
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import FileResponse, StreamingResponse

from trustreport.service.core import Core
from trustreport.service.storage.blobs import BLOCK
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

MEDIA = {
    "html": "text/html; charset=utf-8",
    "pdf": "application/pdf",
    "json": "application/json",
    "svg": "image/svg+xml; charset=utf-8",
    "png": "image/png",
}
# A report is a page of its own: it runs nothing, loads nothing, and cannot act on this site.
SANDBOX = (
    "sandbox; default-src 'none'; base-uri 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
)
ALONE = f"{SANDBOX}; frame-ancestors 'none'"
ONE_RANGE = re.compile(r"bytes=(?P<first>\d{0,18})-(?P<last>\d{0,18})")


def send_blob(
    core: Core, request: Request, organisation: str, sha256: str, name: str, *, ours: bool
) -> Response:
    """A file, or 304 where the one who asks has it. `ours`: made here, so it may be shown, not only saved."""
    headers = {
        "ETag": f'"{sha256}"',
        "Cache-Control": "no-store",  # of browsers; a program that has the file may ask with its ETag
        "Content-Security-Policy": ALONE,
    }
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("If-None-Match", "").split(",")]
    if f'"{sha256}"' in known or known == ["*"]:
        return Response(status_code=304, headers=headers)
    removed = Fault(404, say("pages.fault.not_found.file_been"))
    path = core.blobs.local_path(organisation, sha256)
    if path is not None and not path.is_file():
        raise removed
    last = name.rsplit("/", 1)[-1]
    shown = "inline" if ours else "attachment"
    headers["Content-Disposition"] = f"{shown}; filename*=UTF-8''{quote(last, safe='')}"
    media = (MEDIA.get(last.rsplit(".", 1)[-1].lower()) if ours else None) or "application/octet-stream"
    if path is not None:
        return FileResponse(path, media_type=media, headers=headers)
    try:
        stream = core.blobs.open(organisation, sha256)
    except FileNotFoundError:
        raise removed from None
    return _streamed(request, stream, media, headers)


def _streamed(request: Request, stream: IO[bytes], media: str, headers: dict[str, str]) -> Response:
    """A file that is not on this disk, or the one part of it that is asked for (RFC 9110, 14)."""
    size = stream.seek(0, 2)
    start, end = 0, size
    if_range = request.headers.get("If-Range", headers["ETag"])
    found = ONE_RANGE.fullmatch(request.headers.get("Range", "")) if if_range == headers["ETag"] else None
    headers["Accept-Ranges"] = "bytes"
    if found and (found["first"] or found["last"]):
        if found["first"]:
            start, end = int(found["first"]), min(size, int(found["last"] or size) + 1)
        else:
            start = max(0, size - int(found["last"]))
        if start >= end:
            stream.close()
            return Response(status_code=416, headers=headers | {"Content-Range": f"bytes */{size}"})
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    headers["Content-Length"] = str(end - start)
    status = 206 if "Content-Range" in headers else 200
    return StreamingResponse(_blocks(stream, start, end), status, headers, media)


def _blocks(stream: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    with closing(stream):
        stream.seek(start)
        while start < end and (block := stream.read(min(BLOCK, end - start))):
            start += len(block)
            yield block
