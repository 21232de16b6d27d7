"""The reference of the API; open like its document, since it holds nothing of anybody."""

from fastapi import APIRouter, Depends, Request, Response
from markupsafe import Markup

from trustreport.service.access.principal import COOKIE
from trustreport.service.pages.render import environment, page
from trustreport.service.reference import document
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import TheCore, admitted
from trustreport.service.webhooks.events import EVENTS

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
