"""Files sent from the blobs: immutable, and sent with an ETag that says so."""

from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import FileResponse

from trustreport.service.core import Core
from trustreport.service.web.faults import Fault

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
    path = core.blobs.path(organisation, sha256)
    if not path.is_file():
        raise Fault(404, "Not found", "The file has been removed.")
    last = name.rsplit("/", 1)[-1]
    shown = "inline" if ours else "attachment"
    headers["Content-Disposition"] = f"{shown}; filename*=UTF-8''{quote(last, safe='')}"
    media = MEDIA.get(last.rsplit(".", 1)[-1].lower()) if ours else None
    return FileResponse(path, media_type=media or "application/octet-stream", headers=headers)
