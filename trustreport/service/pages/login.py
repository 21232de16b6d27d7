"""Coming in: the first start, an invitation, signing in and out."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse

from trustreport.service.access import accounts
from trustreport.service.access import principal as known
from trustreport.service.access.principal import COOKIE
from trustreport.service.pages.page_context import (
    LOCAL,
    Sent,
    SentByAnyone,
    Visitor,
    attempt,
    request_from_form,
    see,
    text,
    typed,
)
from trustreport.service.pages.render import page
from trustreport.service.routes import account as api
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import TheCore, anybody

OPEN = ("/setup", "/invitation", "/sign-in", "/forgotten")  # forms of those who are not signed in

router = APIRouter()
Secret = Annotated[str, Query(max_length=100)]
Next = Annotated[str, Query(max_length=2000)]


@router.get("/")
def begin(who: Visitor) -> Response:
    """Where one starts."""
    return see("/studies")


@router.get("/setup", dependencies=[Depends(anybody)])
def setup(request: Request, core: TheCore, link: Secret = "") -> Response:
    """The first start: an organisation and its first account."""
    with core.store.read() as rows:
        if accounts.any_account(rows):
            return see("/sign-in")
    return page(request, "setup", link=link)


@router.post("/setup")
def set_up(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Make them, and come in."""
    link = text(form, "link")

    def act() -> Response:
        _same_twice(text(form, "password"), text(form, "password_again"))
        names = ("link", "organisation", "email", "name", "password")
        wanted = request_from_form(api.Setup, **{name: text(form, name) for name in names})
        answer = RedirectResponse("/studies?done=setup", 303)
        api.set_up(wanted, core, request, answer)
        return answer

    return attempt(act, lambda fault: page(request, "setup", link=link, fault=fault, typed=typed(form)))


@router.get("/invitation", dependencies=[Depends(anybody)])
def invitation(request: Request, link: Secret = "") -> Response:
    """Somebody who was invited, or forgot a password."""
    return page(request, "invitation", link=link)


@router.post("/invitation")
def accept(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Choose a password, and come in."""
    link = text(form, "link")

    def act() -> Response:
        _same_twice(text(form, "password"), text(form, "password_again"))
        wanted = request_from_form(api.Invitation, link=link, password=text(form, "password"))
        answer = RedirectResponse("/studies", 303)
        api.accept_invitation(wanted, core, request, answer)
        return answer

    return attempt(act, lambda fault: page(request, "invitation", link=link, fault=fault))


@router.get("/sign-in", dependencies=[Depends(anybody)])
def sign_in(request: Request, core: TheCore, next: Next = "") -> Response:  # noqa: A002 -- name in the address
    """Sign in."""
    secret = request.cookies.get(COOKIE, "")
    with core.store.read() as rows:
        if secret and known.by_session(rows, secret, core.settings):
            return see(_local(next))
    return page(request, "sign_in", next=next, mails=core.settings.sends_mail)


@router.post("/sign-in")
def signed_in(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Come in, and go on to where one wanted to go."""

    def act() -> Response:
        try:
            wanted = request_from_form(api.Login, email=text(form, "email"), password=text(form, "password"))
        except Fault:  # an address that can be nobody's
            raise Fault(403, "Not known", "Address or password is wrong.") from None
        answer = RedirectResponse(_local(text(form, "next")), 303)
        try:
            api.log_in(wanted, core, request, answer)
        except Fault as fault:
            if fault.status == 401:
                raise Fault(403, fault.title, fault.detail) from None
            raise
        return answer

    return attempt(
        act,
        lambda fault: page(
            request,
            "sign_in",
            next=text(form, "next"),
            mails=core.settings.sends_mail,
            fault=fault,
            typed=typed(form),
        ),
    )


@router.get("/forgotten", dependencies=[Depends(anybody)])
def forgotten(request: Request, core: TheCore) -> Response:
    """A new password, by a link that comes by mail."""
    return page(request, "forgotten", mails=core.settings.sends_mail, asked=False)


@router.post("/forgotten")
def ask_reset(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Ask for the link."""

    def act() -> Response:
        api.request_reset(request_from_form(api.Reset, email=text(form, "email")), core, request)
        return page(request, "forgotten", mails=True, asked=True)

    def again(fault: Fault) -> Response:
        mails = core.settings.sends_mail
        return page(request, "forgotten", mails=mails, asked=False, fault=fault, typed=typed(form))

    return attempt(act, again)


@router.post("/sign-out")
def sign_out(request: Request, core: TheCore, who: Visitor, form: Sent) -> Response:
    """Leave."""
    answer = RedirectResponse("/sign-in?done=out", 303)
    api.log_out(who, core, request, answer)
    return answer


def _local(wanted: str) -> str:
    return wanted if LOCAL.fullmatch(wanted) else "/studies"


def _same_twice(password: str, again: str) -> None:
    if password != again:
        raise Fault(422, "Passwords differ", "Type the same password twice.")
