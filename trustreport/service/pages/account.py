"""One's own account: password and tokens."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import FormData

from trustreport.service.access.principal import Principal
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
)
from trustreport.service.pages.render import page
from trustreport.service.routes import account as api
from trustreport.service.routes import tokens
from trustreport.service.routes.pagination import Name, PageRequest
from trustreport.service.storage.models import Token
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import TheCore

router = APIRouter()


@router.get("/account")
def account(request: Request, who: Visitor, core: TheCore) -> Response:
    """Who one is here."""
    return _show(request, who, core)


@router.post("/account/password")
def password(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Another password."""

    def act() -> Response:
        if text(form, "new_password") != text(form, "password_again"):
            raise Fault(422, "Passwords differ", "Type the same password twice.")
        wanted = request_from_form(
            api.NewPassword, old=text(form, "password"), new=text(form, "new_password")
        )
        answer = RedirectResponse("/account?done=password", 303)
        api.change_password(wanted, who, core, request, answer)
        return answer

    return attempt(act, lambda fault: _show(request, who, core, fault))


@router.post("/account/tokens")
def make(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """A token; its secret is on this one page and nowhere else."""

    def act() -> Response:
        wanted = request_from_form(
            tokens.NewToken, name=text(form, "name"), scopes=texts(form, "scope"), days=text(form, "days")
        )
        return _show(request, who, core, made=tokens.make(wanted, who, core))

    return attempt(act, lambda fault: _show(request, who, core, fault, form))


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
        mine = PageRequest(limit=100, after=None).rows(rows, query, Token.id, lambda t: t)
    return page(
        request,
        "account",
        tokens=mine.items,
        made=made,
        most_days=core.settings.token_days,
        fault=fault,
        typed=typed(form) if form else None,
    )
