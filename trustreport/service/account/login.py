"""Coming in: the first start, an invitation, signing in and out."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy.orm import Session as Rows
from starlette.datastructures import FormData

from trustreport.service.access import accounts, pending, principal, second_factor
from trustreport.service.access.guard import TheCore, anybody
from trustreport.service.access.principal import COOKIE
from trustreport.service.access.second_factor import Proof
from trustreport.service.account import api
from trustreport.service.account.factors import ask_passkey
from trustreport.service.core import Core
from trustreport.service.languages import COOKIE as LANGUAGE_COOKIE
from trustreport.service.languages import offered
from trustreport.service.pages.page_context import (
    LOCAL,
    Sent,
    SentByAnyone,
    SentByWhoever,
    Visitor,
    body_from,
    link_secret,
    see,
    shown_again,
    text,
)
from trustreport.service.pages.render import page
from trustreport.service.storage.models import User
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

TRIES = 5  # of the second factor, then the password is asked for again

router = APIRouter()
Next = Annotated[str, Query(max_length=2000)]


def _with_link(request: Request, template: str, form: FormData | None = None) -> Response:
    """A page for whoever has a link, whose secret it keeps."""
    return page(request, template, link=link_secret(form) if form else "")


@router.get("/setup", dependencies=[Depends(anybody)])
def setup(request: Request, core: TheCore) -> Response:
    """The first start: an organisation and its first account."""
    with core.store.read() as rows:
        if accounts.any_account(rows):
            return see("/sign-in")
    return _with_link(request, "setup")


@router.post("/setup")
@shown_again(partial(_with_link, template="setup"))
def set_up(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Make them, and come in."""
    _same_twice(text(form, "password"), text(form, "password_again"))
    answer = RedirectResponse("/?done=setup", 303)
    api.set_up(body_from(form, api.Setup, link=link_secret(form)), core, request, answer)
    return answer


@router.get("/invitation", dependencies=[Depends(anybody)])
def invitation(request: Request) -> Response:
    """Somebody who was invited, or forgot a password."""
    return _with_link(request, "invitation")


@router.post("/invitation")
@shown_again(partial(_with_link, template="invitation"))
def accept(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Choose a password, and come in."""
    _same_twice(text(form, "password"), text(form, "password_again"))
    wanted = body_from(form, api.Invitation, link=link_secret(form))
    answer = RedirectResponse("/", 303)
    try:
        api.accept_invitation(wanted, core, request, answer)
    except Fault as fault:
        if fault.status != 401:
            raise
        return see("/sign-in?done=chosen")
    return answer


@router.get("/enter", dependencies=[Depends(anybody)])
def enter(request: Request, core: TheCore) -> Response:
    """The one person who uses a service on their own machine."""
    return _with_link(request, "enter") if core.settings.single else see("/sign-in")


@router.post("/enter")
@shown_again(partial(_with_link, template="enter"))
def entered(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Come in by the link that the start printed."""
    if not core.settings.single:
        raise Fault(403, say("pages.fault.link_not_valid.link_unknown"))
    answer = RedirectResponse("/", 303)
    with core.store.write() as rows:
        link = accounts.use_link(rows, link_secret(form), "enter")
        _begin(core, rows, str(link.user), request, answer)
    return answer


def sign_in_page(request: Request, core: Core, form: FormData | None = None, wanted: str = "") -> Response:
    """The page on which one signs in; `wanted` is where one goes then."""
    name = core.provider.settings.name if core.provider else ""
    wanted = text(form, "next") if form else wanted
    mails = core.settings.sends_mail
    return page(request, "sign_in", next=wanted, provider=name, mails=mails)


@router.get("/sign-in", dependencies=[Depends(anybody)])
def sign_in(request: Request, core: TheCore, next: Next = "") -> Response:  # noqa: A002 -- name in the address
    """Sign in."""
    secret = request.cookies.get(COOKIE, "")
    with core.store.read() as rows:
        if secret and principal.by_session(rows, secret, core.settings):
            return see(local(next))
    return sign_in_page(request, core, wanted=next)


@router.post("/sign-in")
@shown_again(sign_in_page)
def signed_in(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Come in, and go on to where one wanted to go."""
    try:
        wanted = body_from(form, api.Login)
    except Fault:  # an address that can be nobody's
        raise Fault(403, say("pages.fault.not_known.address_password")) from None
    try:
        user, needs_factor = api.by_password(core, wanted.email, wanted.password, request)
    except Fault as fault:
        if fault.status == 401:
            raise Fault(403, fault.reason[1], title=fault.reason[0]) from None
        raise
    answer = RedirectResponse("/sign-in/second" if needs_factor else local(text(form, "next")), 303)
    with core.store.write() as rows:
        if needs_factor:
            ask_passkey(core, rows, answer, "second", user.id, next=text(form, "next"))
        else:
            _begin(core, rows, user.id, request, answer)
    return answer


@router.get("/forgotten", dependencies=[Depends(anybody)])
def _forgotten(request: Request, core: TheCore) -> Response:
    """A new password, by a link that comes by mail."""
    mails = core.settings.sends_mail
    return page(request, "forgotten", mails=mails, asked=False)


@router.post("/forgotten")
@shown_again(_forgotten)
def ask_reset(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Ask for the link."""
    api.request_reset(body_from(form, api.Reset), core, request)
    return page(request, "forgotten", mails=True, asked=True)


@router.get("/sign-in/second", dependencies=[Depends(anybody)])
def _second(request: Request, core: TheCore) -> Response:
    """The second factor, of somebody whose password was right."""
    with core.store.read() as rows:
        step = pending.find(rows, request, "second")
        if step is None:
            return see("/sign-in?done=late")
        kinds = {factor.kind for factor in second_factor.factors_of(rows, step.user or "")}
    return page(request, "sign_in_second", kinds=kinds, options=step.details["options"])


@router.post("/sign-in/second")
@shown_again(_second)
def second_shown(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Come in with it."""
    with core.store.write() as rows:
        step = pending.find(rows, request, "second")
        if step is None:
            return see("/sign-in?done=late")
        tries = step.details.get("tries", 0) + 1
        step.details = {**step.details, "tries": tries}
        user = rows.get_one(User, step.user)
    if tries > TRIES:
        return see("/sign-in?done=late")
    proof = Proof(text(form, "code"), text(form, "answer"), step.details["challenge"])
    kind = second_factor.prove(core, user, proof)
    answer = RedirectResponse(local(step.details["next"]), 303)
    with core.store.write() as rows:
        pending.take(rows, request, "second")
        _begin(core, rows, user.id, request, answer, factor=kind)
    pending.forget(answer)
    return answer


@router.post("/sign-out")
def sign_out(request: Request, core: TheCore, who: Visitor, form: Sent) -> Response:
    """Leave."""
    answer = RedirectResponse("/sign-in?done=out", 303)
    api.log_out(who, core, request, answer)
    return answer


def _begin(
    core: Core, rows: Rows, user: str, request: Request, answer: RedirectResponse, factor: str = ""
) -> None:
    """Begin a session; whoever must set up a second factor is led there first."""
    me = api.begin(core, rows, rows.get_one(User, user), request, answer, factor=factor)
    if me.must_enrol:
        answer.headers["location"] = "/account/second-factor"


def local(wanted: str) -> str:
    """An address of this service that somebody wanted to go to; where one begins for any other."""
    return wanted if LOCAL.fullmatch(wanted) else "/"


def _same_twice(password: str, again: str) -> None:
    if password != again:
        raise Fault(422, say("pages.fault.passwords_differ.detail"))


YEAR = 365 * 24 * 3600  # seconds

language_router = APIRouter()


@language_router.post("/language")
def choose(form: SentByWhoever) -> Response:
    """Keep a language, and go on where one was."""
    wanted = text(form, "language")
    if wanted not in offered():
        listed = ", ".join(offered())
        detail = say("pages.language.unknown", languages=listed)
        raise Fault(422, detail, title=say("pages.fault.not_as_expected.title"))
    answer = see(local(text(form, "next")))
    answer.set_cookie(
        LANGUAGE_COOKIE, wanted, max_age=YEAR, secure=True, httponly=True, samesite="strict", path="/"
    )
    return answer
