"""Style, script and faces of the pages, from the package; nothing is loaded from elsewhere."""

from functools import cache
from hashlib import sha256

from fastapi import APIRouter, Request, Response

from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.resources import folder

MEDIA = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "woff2": "font/woff2"}
# The pages wear the report's own style, then what is theirs.
PARTS = {
    "pages.css": ("report.css", "screen.css", "service/static/pages.css"),
    "pages.js": ("service/static/pages.js",),
    "editor.js": ("service/static/editor.js",),
    "passkeys.js": ("service/static/passkeys.js",),
    "htmx.js": ("service/static/htmx.min.js",),
    "Inter-Regular.woff2": ("assets/fonts/Inter-Regular.woff2",),
    "Inter-SemiBold.woff2": ("assets/fonts/Inter-SemiBold.woff2",),
}
YEAR = 31_536_000

router = APIRouter()


@router.get("/static/{name}")
def static(name: str, request: Request) -> Response:
    """A file of the package. Its address names its content, so a browser asks once."""
    if name not in PARTS:
        raise Fault(404, say("pages.fault.not_found.title"), say("pages.fault.not_found.there_no_such_2"))
    return Response(
        content(name),
        media_type=MEDIA[name.rsplit(".", 1)[-1]],
        headers={"Cache-Control": f"public, max-age={YEAR}, immutable"},
    )


@cache
def content(name: str) -> bytes:
    """What a file holds."""
    return b"\n".join((folder("templates") / part).read_bytes() for part in PARTS[name])


@cache
def address(name: str) -> str:
    """Where a file is found: another address for other content."""
    return f"/static/{name}?v={sha256(content(name)).hexdigest()[:12]}"
