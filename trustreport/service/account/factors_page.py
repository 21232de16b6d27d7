"""One's own second factors: an app that shows codes, passkeys, recovery codes."""

from functools import partial
from typing import Any

from fastapi import APIRouter, Request, Response

from trustreport.service.access import passkeys, principal, second_factor
from trustreport.service.access.guard import TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.account import factors as api
from trustreport.service.core import Core
from trustreport.service.pages.page_context import (
    Given,
    Sent,
    Visitor,
    body_from,
    see,
    shown_again,
)
from trustreport.service.pages.render import page
from trustreport.service.storage.models import Organisation, User
from trustreport.service.web.shapes import Name

router = APIRouter(prefix="/account/second-factor")


@router.get("")
def overview(request: Request, who: Visitor, core: TheCore) -> Response:
    """Which second factors an account has."""
    with core.store.read() as rows:
        own = rows.get_one(User, who.user)
        return page(
            request,
            "second_factor",
            factors=second_factor.factors_of(rows, who.user),
            codes_left=second_factor.recovery_codes_left(rows, who.user),
            elsewhere=principal.is_bound(own) and not own.password,
            required=bool(core.settings.second_factor)
            or rows.get_one(Organisation, who.organisation).second_factor,
            has_name=bool(passkeys.relying_party(core.settings)),
        )


@router.get("/app")
def _app(
    request: Request,
    who: Visitor,
    made: Given[api.NewApp] = None,
    *,
    is_begun: Given[bool] = False,
) -> Response:
    """Set up an app that shows codes."""
    picture = second_factor.app_picture(made.address) if made else ""
    return page(request, "second_factor_app", made=made, picture=picture, is_begun=is_begun)


@router.post("/app")
@shown_again(_app)
def begin_app(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """The secret for the app, as a picture and as text, on this one page."""
    made = api.begin_app(body_from(form, api.Confirmation), who, core, request)
    return _app(request, who, made, is_begun=True)


@router.post("/app/confirmation")
@shown_again(partial(_app, is_begun=True))
def confirm_app(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Show that the app works."""
    return _added(request, api.confirm_app(body_from(form, api.AppCode), who, core))


@router.get("/passkey")
def passkey(request: Request, who: Visitor) -> Response:
    """Add a passkey."""
    return page(request, "second_factor_passkey")


@router.post("/passkey")
@shown_again(partial(page, template="second_factor_passkey"))
def add_passkey(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Add the passkey that the browser made."""
    ended = Response()
    added = api.add_passkey(body_from(form, api.PasskeyAnswer), who, core, request, ended)
    answer = _added(request, added)
    answer.raw_headers.extend(h for h in ended.raw_headers if h[0] == b"set-cookie")
    return answer


@router.get("/codes")
def _codes(request: Request, who: Visitor, core: TheCore) -> Response:
    """Ask for new recovery codes."""
    return page(request, "second_factor_codes", **_kinds(who, core))


@router.get("/{factor}")
def _factor_page(request: Request, who: Visitor, core: TheCore, factor: Name) -> Response:
    """One second factor: its name, and removing it."""
    with core.store.read() as rows:
        row = api.own_factor(rows, who, factor)
    return page(request, "second_factor_one", factor=row, **_kinds(who, core))


@router.post("/codes")
@shown_again(_codes)
def renew_codes(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """New recovery codes, on this one page."""
    made = api.renew_codes(body_from(form, api.FactorRemoval), who, core, request, Response())
    return page(request, "recovery_codes", codes=made.codes)


@router.post("/{factor}")
@shown_again(_factor_page)
def rename(factor: Name, request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Another name for it."""
    api.rename(factor, body_from(form, api.FactorName), who, core)
    return see("/account/second-factor?done=saved")


@router.post("/{factor}/removal")
@shown_again(_factor_page)
def remove(factor: Name, request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Remove it, with the password and a second factor."""
    api.remove(factor, body_from(form, api.FactorRemoval), who, core, request, Response())
    return see("/account/second-factor?done=factor")


def _added(request: Request, added: api.Added) -> Response:
    if added.recovery_codes:
        return page(request, "recovery_codes", codes=added.recovery_codes)
    return see("/account/second-factor?done=added")


def _kinds(who: Principal, core: Core) -> dict[str, Any]:
    """What an account can prove itself with, beside recovery codes."""
    with core.store.read() as rows:
        kinds = {factor.kind for factor in second_factor.factors_of(rows, who.user)}
    return {"has_passkey": "passkey" in kinds, "has_app": "totp" in kinds}
