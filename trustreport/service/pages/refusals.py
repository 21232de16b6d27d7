"""What a person sees where a page is refused: a page that says why, or the one to sign in."""

from http import HTTPStatus
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from trustreport.service.access.principal import CLEARED
from trustreport.service.pages.api_docs import ADDRESS
from trustreport.service.pages.render import page
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say


def is_wanted(request: Request) -> bool:
    """Whether a browser asks for a page, so that an error is one too."""
    is_page = not request.url.path.startswith("/api/") or request.url.path == ADDRESS
    return is_page and "text/html" in request.headers.get("Accept", "")


def refused(request: Request, fault: Fault) -> Response:
    """The page of an error."""
    unknown = fault.status == 404 and fault.reason[1] == HTTPStatus.NOT_FOUND.phrase  # an address of no page
    if unknown or (fault.status == 422 and request.method == "GET"):  # a name or choice that no page has
        fault = Fault(404, say("pages.fault.not_found.title"), say("pages.fault.not_found.there_no_such"))
    if fault.status != 401:
        return page(request, "refused", fault=fault)
    # Whoever was signed out comes back to where they were, unless they were about to change something.
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = f"?next={quote(wanted)}" if request.method == "GET" and wanted != "/" else ""
    cleared = {name: value for name, value in fault.headers.items() if name in CLEARED}
    if request.headers.get("HX-Request"):
        return Response(status_code=204, headers={"HX-Redirect": "/sign-in", **cleared})
    return RedirectResponse(f"/sign-in{back}", 303, headers=cleared)
