"""An account as pages: names, password, sessions, tokens, and its binding to an identity provider."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.service import provider as identities
from trustreport.service.access import accounts, pending, principal, second_factor
from trustreport.service.access.guard import TheCore, anybody
from trustreport.service.access.principal import Principal
from trustreport.service.account import api, organisation, tokens
from trustreport.service.account.login import local, sign_in_page
from trustreport.service.core import Core
from trustreport.service.pages.page_context import (
    Given,
    Sent,
    SentByAnyone,
    Visitor,
    body_from,
    listed,
    see,
    shown_again,
    text,
    user_names,
)
from trustreport.service.pages.render import page
from trustreport.service.provider import Identity, Provider
from trustreport.service.storage.models import PendingStep, Session, Token, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say

router = APIRouter()
provider_router = APIRouter()


@router.post("/account/sessions/end")
def end_sessions(who: Visitor, core: TheCore, form: Sent) -> Response:
    """End all sessions but this one."""
    api.end_other_sessions(who, core)
    return see("/account?done=sessions")


@router.post("/sessions/{session}/end")
def end_session(session: Name, who: Visitor, core: TheCore, form: Sent) -> Response:
    """End one session."""
    answer = RedirectResponse("/account?done=session", 303)
    api.end_session(session, who, core, answer)
    return answer


@router.get("/account")
def _show(
    request: Request,
    who: Visitor,
    core: TheCore,
    made: Given[tokens.CreatedToken] = None,
) -> Response:
    """Who one is here."""
    query = who.rows_of(Token).where(Token.user == who.user)
    with core.store.read() as rows:
        own = rows.get_one(User, who.user)
        reset = rows.scalars(who.rows_of(User).where(User.reset, User.confirmed_by.is_(None))).all()
        confirmable = (
            [u for u in reset if accounts.may_confirm(rows, own, u)] if who.may & accounts.CONFIRMS else []
        )
        live = api.live_sessions(rows, who, core.settings)
        factors = second_factor.factors_of(rows, who.user)
        names = user_names(rows, who, {u for r in reset for u in (r.link_by, r.factors_reset_by) if u})
        mine = listed(rows, query, Token.id, limit=100)
    return page(
        request,
        "account",
        tokens=mine.items,
        sessions=live,
        factors=factors,
        provider=core.provider.settings.name if core.provider else "",
        elsewhere=principal.is_proved_there(own, core.settings),
        made=made,
        own=own,
        is_unconfirmed=accounts.is_unconfirmed(own),
        confirmable=confirmable,
        people=names,
        most_days=core.settings.token_days,
    )


@router.post("/account/password")
@shown_again(_show)
def password(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Another password."""
    if text(form, "new_password") != text(form, "password_again"):
        raise Fault(422, say("pages.fault.passwords_differ.detail"))
    old, new = text(form, "password") or None, text(form, "new_password")
    wanted = body_from(form, api.NewPassword, old=old, new=new)
    answer = RedirectResponse("/account?done=password", 303)
    api.change_password(wanted, who, core, request, answer)
    return answer


def _refused(request: Request, core: Core) -> Response:
    core.metrics.refused.labels("login").inc()
    return sign_in_page(request, core)


@provider_router.get("/account/provider")
def _connection(request: Request, who: Visitor, core: TheCore) -> Response:
    """Whether one's account is connected with the provider."""
    with core.store.read() as rows:
        own = rows.get_one(User, who.user)
    name = core.provider.settings.name if core.provider else ""
    return page(request, "account_provider", own=own, provider=name, may_leave=_may_leave(own, core))


@router.post("/account/tokens")
@shown_again(_show)
def make(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """A token; its secret is on this one page and nowhere else."""
    return _show(request, who, core, made=tokens.make(body_from(form, tokens.NewToken), who, core))


@router.post("/users/{user}/confirmation")
@shown_again(_show)
def confirm_account(user: Name, request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Confirm that the right person has an account whose password was reset."""
    organisation.confirm_account(user, who, core)
    return see("/account?done=confirmed")


@router.post("/tokens/{token}/revocation")
def revoke(token: Name, who: Visitor, core: TheCore, form: Sent) -> Response:
    """End a token, one's own or, for an administrator, anybody's."""
    tokens.revoke(token, who, core)
    return see("/admin/tokens?done=token" if text(form, "from") == "admin" else "/account?done=token")


FromProvider = Annotated[str, Query(max_length=4000)]


@provider_router.post("/sign-in/provider")
@shown_again(_refused)
def sign_in(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Go to the provider to sign in."""
    return _go(request, core, "sign-in", next=text(form, "next"))


@provider_router.get("/sign-in/provider/callback", dependencies=[Depends(anybody)])
@shown_again(_refused)
def come_back(
    request: Request,
    core: TheCore,
    state: FromProvider = "",
    code: FromProvider = "",
    iss: FromProvider = "",
    error: FromProvider = "",
) -> Response:
    """Come back from the provider: signed in, proved anew, or connected."""
    provider = _provider(core)
    with core.store.write() as rows:
        step = pending.take(rows, request, "provider")
    if state != step.details["state"] or iss not in ("", provider.settings.issuer):
        raise Fault(403, say("pages.fault.not_begun_here.detail"))
    if error or not code:
        raise Fault(403, say("pages.fault.not_signed_in.detail"))
    sent = identities.Request(**{name: step.details[name] for name in ("state", "nonce", "verifier")})
    is_fresh = step.details["act"] != "sign-in"
    identity = provider.identity(sent, code, since=step.details["begun"] if is_fresh else None)
    answer = page(request, "onward", target=local(step.details["next"]), provider="")
    if is_fresh:
        _proved(core, step, identity, request)
    else:
        _come_in(core, provider, identity, request, answer)
    pending.forget(answer)
    return answer


@provider_router.post("/account/provider/again")
@shown_again(partial(page, template="refused"))
def prove_anew(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Sign in at the provider once more, before something that others are asked their password for."""
    return _go(request, core, "again", who, next=text(form, "next"))


@provider_router.post("/account/provider")
@shown_again(_connection)
def connect(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Go to the provider to connect one's account with the one there."""
    _provider(core)
    api.confirm(core, who, text(form, "password"), request)
    return _go(request, core, "connect", who, next="/account/provider?done=connected")


@provider_router.post("/account/provider/removal")
@shown_again(_connection)
def disconnect(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Sign in with the password alone from now on."""
    _refuse_to_leave(core, who)
    api.confirm(core, who, text(form, "password"), request)
    with core.store.write() as rows:
        accounts.unbind(rows, rows.get_one(User, who.user), who.user)
    return see("/account/provider?done=disconnected")


def _go(
    request: Request,
    core: Core,
    act: str,
    who: Principal | None = None,
    *,
    next: str,  # noqa: A002 -- name in the address
) -> Response:
    """A page that leads to the provider. (A form may not: the policy of our pages ends its way here.)"""
    provider = _provider(core)
    sent = identities.Request.new()
    target = provider.address(sent, fresh=who is not None)
    answer = page(request, "onward", target=target, provider=provider.settings.name)
    with core.store.write() as rows:
        begun = now(rows) // 1000
        given: dict[str, Any] = {"state": sent.state, "nonce": sent.nonce, "verifier": sent.verifier}
        given |= {"act": act, "next": next, "begun": begun, "session": who.session if who else ""}
        pending.begin(rows, answer, "provider", who.user if who else None, **given)
    return answer


def _come_in(core: Core, provider: Provider, identity: Identity, request: Request, answer: Response) -> None:
    with core.store.write() as rows:
        create = bool(core.settings.oidc_create)
        user = accounts.come_in(rows, provider.settings, identity, create=create)
        if user.roles:
            api.begin(core, rows, user, request, answer, how="provider")
    accounts.refuse_without_role(user)


def _proved(core: Core, step: PendingStep, identity: Identity, request: Request) -> None:
    """Note in the session that began it that its user has signed in anew, or connect their account."""
    with core.store.write() as rows:
        session = rows.scalar(select(Session).where(Session.id == step.details["session"]))
        user = rows.get(User, step.user or "")
        at = now(rows)
        if session is None or user is None or session.user != user.id or session.expires_at < at:
            raise Fault(403, say("pages.fault.too_late.your_session_here"))
        if step.details["act"] == "connect":
            _connect(rows, user, identity)
        elif (user.issuer, user.subject) != (identity.issuer, identity.subject):
            raise Fault(403, say("pages.fault.somebody_else.detail"))
        else:
            session.proved_at = at
        api.renew(session, request)


def _connect(rows: Rows, user: User, identity: Identity) -> None:
    accounts.refuse_unconfirmed(user)
    accounts.bind(rows, user, identity)


def _may_leave(user: User, core: Core) -> bool:
    """Whether somebody may disconnect by themselves: with a password, and roles not of their groups."""
    return bool(user.password) and not (
        core.settings.oidc_only or principal.has_roles_there(user, core.settings)
    )


def _refuse_to_leave(core: Core, who: Principal) -> None:
    with core.store.read() as rows:
        own = rows.get_one(User, who.user)
    if not _may_leave(own, core):
        raise Fault(403, say("pages.fault.not_by_oneself.detail"))


def _provider(core: Core) -> Provider:
    if core.provider is None:
        raise Fault(404, say("pages.fault.not_found.service_no"))
    return core.provider
