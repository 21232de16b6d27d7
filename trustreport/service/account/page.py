"""One's own account: password and tokens."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData

from trustreport.messages import say
from trustreport.service.access import accounts, second_factor
from trustreport.service.access import principal as identity
from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.account import api, tokens
from trustreport.service.account import api as sessions
from trustreport.service.account import organisation as users
from trustreport.service.core import Core
from trustreport.service.pages.page_context import (
    Sent,
    Visitor,
    attempt,
    request_from_form,
    see,
    text,
    texts,
    typed,
    user_names,
)
from trustreport.service.pages.render import page
from trustreport.service.storage.models import Token, User
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name, PageRequest

router = APIRouter()


@router.get("/account")
def account(request: Request, who: Visitor, core: TheCore) -> Response:
    """Who one is here."""
    return _show(request, who, core)


@router.post("/account/password")
def password(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Another password."""

    def submit() -> Response:
        if text(form, "new_password") != text(form, "password_again"):
            raise Fault(
                422, say("pages.fault.passwords_differ.title"), say("pages.fault.passwords_differ.detail")
            )
        wanted = request_from_form(
            api.NewPassword, old=text(form, "password") or None, new=text(form, "new_password")
        )
        answer = RedirectResponse("/account?done=password", 303)
        api.change_password(wanted, who, core, request, answer)
        return answer

    return attempt(submit, lambda fault: _show(request, who, core, fault))


@router.post("/account/sessions/end")
def end_sessions(who: Visitor, core: TheCore, form: Sent) -> Response:
    """End all sessions but this one."""
    sessions.end_other_sessions(who, core)
    return see("/account?done=sessions")


@router.post("/sessions/{session}/end")
def end_session(session: Name, who: Visitor, core: TheCore, form: Sent) -> Response:
    """End one session."""
    answer = RedirectResponse("/account?done=session", 303)
    sessions.end_session(session, who, core, answer)
    return answer


@router.post("/account/tokens")
def make(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """A token; its secret is on this one page and nowhere else."""

    def submit() -> Response:
        wanted = request_from_form(
            tokens.NewToken, name=text(form, "name"), scopes=texts(form, "scope"), days=text(form, "days")
        )
        return _show(request, who, core, made=tokens.make(wanted, who, core))

    return attempt(submit, lambda fault: _show(request, who, core, fault, form))


@router.post("/users/{user}/confirmation")
def confirm_account(user: Name, request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Confirm that the right person has an account whose password was reset."""

    def submit() -> Response:
        users.confirm_account(user, who, core)
        return see("/account?done=confirmed")

    return attempt(submit, lambda fault: _show(request, who, core, fault))


@router.post("/tokens/{token}/revocation")
def revoke(token: Name, who: Visitor, core: TheCore, form: Sent) -> Response:
    """End a token, one's own or, for an administrator, anybody's."""
    tokens.revoke(token, who, core)
    return see("/admin/tokens?done=token" if text(form, "from") == "admin" else "/account?done=token")


def _show(
    request: Request,
    who: Principal,
    core: Core,
    fault: Fault | None = None,
    form: FormData | None = None,
    made: tokens.CreatedToken | None = None,
) -> Response:
    query = who.all(Token).where(Token.user == who.user)
    with core.store.read() as rows:
        own = rows.get_one(User, who.user)
        reset = rows.scalars(who.all(User).where(User.reset, User.confirmed_by.is_(None))).all()
        confirmable = [u for u in reset if accounts.may_confirm(own, u)] if who.may & users.CONFIRMS else []
        live = sessions.live_sessions(rows, who, core.settings)
        factors = second_factor.factors_of(rows, who.user)
        names = user_names(rows, who, {u for r in reset for u in (r.link_by, r.factors_reset_by) if u})
        mine = PageRequest(limit=100, after=None).rows(rows, query, Token.id, lambda t: t)
    return page(
        request,
        "account",
        tokens=mine.items,
        sessions=live,
        factors=factors,
        provider=core.provider.settings.name if core.provider else "",
        elsewhere=identity.is_proved_there(own, core.settings),
        made=made,
        own=own,
        is_unconfirmed=accounts.is_unconfirmed(own),
        confirmable=confirmable,
        people=names,
        most_days=core.settings.token_days,
        fault=fault,
        typed=typed(form) if form else None,
    )
