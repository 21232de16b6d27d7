"""The reference of the API as a page, and pages that say why a request was refused."""

from http import HTTPStatus
from urllib.parse import quote

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from trustreport.service.access.guard import TheCore, admitted
from trustreport.service.access.principal import CLEARED, COOKIE
from trustreport.service.events import EVENTS
from trustreport.service.pages.render import environment, page
from trustreport.service.reference import document
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

ADDRESS = "/api/docs"

router = APIRouter()


def anyone(request: Request) -> None:
    """Counted like every request; whoever is signed in keeps the head of the page."""
    try:
        request.state.who = admitted(request, None, request.cookies.get(COOKIE))
    except Fault as fault:
        if fault.status != 401:
            raise


@router.get(ADDRESS, dependencies=[Depends(anyone)])
def api_docs(request: Request, core: TheCore) -> Response:
    """Every operation with its shapes and examples, made once from the document."""
    state = request.app.state
    if not hasattr(state, "reference"):
        found = document.read(request.app.openapi())
        template = environment("en").get_template("service/part_reference.html.j2")
        text = template.render(reference=found, url=core.settings.url, events=EVENTS)
        state.reference = Markup(text)  # noqa: S704 -- the template has escaped it
    return page(request, "api_docs", reference=state.reference)


def is_wanted(request: Request) -> bool:
    """Whether a browser asks for a page, so that an error is one too."""
    is_page = not request.url.path.startswith("/api/") or request.url.path == ADDRESS
    return is_page and "text/html" in request.headers.get("Accept", "")


def refused(request: Request, fault: Fault) -> Response:
    """The page of an error."""
    unknown = fault.status == 404 and fault.reason[1] == HTTPStatus.NOT_FOUND.phrase  # an address of no page
    if unknown or (fault.status == 422 and request.method == "GET"):  # a name or choice that no page has
        fault = Fault(404, say("pages.fault.not_found.there_no_such"))
    if fault.status != 401:
        return page(request, "refused", fault=fault)
    # Whoever was signed out comes back to where they were, unless they were about to change something.
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    back = f"?next={quote(wanted)}" if request.method == "GET" and wanted != "/" else ""
    cleared = {name: value for name, value in fault.headers.items() if name in CLEARED}
    if request.headers.get("HX-Request"):
        return Response(status_code=204, headers={"HX-Redirect": "/sign-in", **cleared})
    return RedirectResponse(f"/sign-in{back}", 303, headers=cleared)
