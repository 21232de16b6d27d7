"""The language that a person chooses for pages; this browser keeps it."""

from fastapi import APIRouter, Response

from trustreport.service.languages import COOKIE, offered
from trustreport.service.pages.login import local
from trustreport.service.pages.page_context import SentByWhoever, see, text
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

YEAR = 365 * 24 * 3600  # seconds

router = APIRouter()


@router.post("/language")
def choose(form: SentByWhoever) -> Response:
    """Keep a language, and go on where one was."""
    wanted = text(form, "language")
    if wanted not in offered():
        listed = ", ".join(offered())
        detail = say("pages.language.unknown", languages=listed)
        raise Fault(422, say("pages.fault.not_as_expected.title"), detail)
    answer = see(local(text(form, "next")))
    answer.set_cookie(COOKIE, wanted, max_age=YEAR, secure=True, httponly=True, samesite="strict", path="/")
    return answer
