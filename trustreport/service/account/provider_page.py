"""Signing in at the identity provider, anew for a signature, and connecting an account with it."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from sqlalchemy import select
from sqlalchemy.orm import Session as Rows

from trustreport.messages import say
from trustreport.service import provider as identities
from trustreport.service.access import accounts, pending
from trustreport.service.access import accounts as provider_accounts
from trustreport.service.access import principal as bond
from trustreport.service.access.guard import TheCore, anybody
from trustreport.service.access.principal import Principal
from trustreport.service.account import api
from trustreport.service.account.login import local
from trustreport.service.core import Core
from trustreport.service.pages.page_context import Sent, SentByAnyone, Visitor, attempt, see, text
from trustreport.service.pages.render import page
from trustreport.service.provider import Identity, Provider
from trustreport.service.storage.models import PendingStep, Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault

router = APIRouter()
FromProvider = Annotated[str, Query(max_length=4000)]


@router.post("/sign-in/provider")
def sign_in(request: Request, core: TheCore, form: SentByAnyone) -> Response:
    """Go to the provider to sign in."""
    wanted = text(form, "next")
    return attempt(
        lambda: _go(request, core, "sign-in", next=wanted),
        lambda fault: _refused(request, core, fault),
    )


@router.get("/sign-in/provider/callback", dependencies=[Depends(anybody)])
def come_back(
    request: Request,
    core: TheCore,
    state: FromProvider = "",
    code: FromProvider = "",
    iss: FromProvider = "",
    error: FromProvider = "",
) -> Response:
    """Come back from the provider: signed in, proved anew, or connected."""

    def submit() -> Response:
        provider = _provider(core)
        with core.store.write() as rows:
            step = pending.take(rows, request, "provider")
        if state != step.details["state"] or iss not in ("", provider.settings.issuer):
            raise Fault(
                403, say("pages.fault.not_begun_here.title"), say("pages.fault.not_begun_here.detail")
            )
        if error or not code:
            raise Fault(403, say("pages.fault.not_signed_in.title"), say("pages.fault.not_signed_in.detail"))
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

    return attempt(submit, lambda fault: _refused(request, core, fault))


@router.post("/account/provider/again")
def again(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Sign in at the provider once more, before something that others are asked their password for."""
    return attempt(
        lambda: _go(request, core, "again", who, next=text(form, "next")),
        lambda fault: page(request, "refused", fault=fault),
    )


@router.get("/account/provider")
def connection(request: Request, who: Visitor, core: TheCore) -> Response:
    """Whether one's account is connected with the provider."""
    return _connection(request, who, core)


@router.post("/account/provider")
def connect(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Go to the provider to connect one's account with the one there."""

    def submit() -> Response:
        _provider(core)
        api.confirm(core, who, text(form, "password"), request)
        return _go(request, core, "connect", who, next="/account/provider?done=connected")

    return attempt(submit, lambda fault: _connection(request, who, core, fault))


@router.post("/account/provider/removal")
def disconnect(request: Request, who: Visitor, core: TheCore, form: Sent) -> Response:
    """Sign in with the password alone from now on."""

    def submit() -> Response:
        _refuse_to_leave(core, who)
        api.confirm(core, who, text(form, "password"), request)
        with core.store.write() as rows:
            provider_accounts.unbind(rows, rows.get_one(User, who.user), who.user)
        return see("/account/provider?done=disconnected")

    return attempt(submit, lambda fault: _connection(request, who, core, fault))


def _go(
    request: Request,
    core: Core,
    act: str,
    who: Principal | None = None,
    *,
    next: str,  # noqa: A002
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
        user = provider_accounts.come_in(rows, provider.settings, identity, create=create)
        if user.roles:
            api.begin(core, rows, user, request, answer, how="provider")
    provider_accounts.refuse_without_role(user)


def _proved(core: Core, step: PendingStep, identity: Identity, request: Request) -> None:
    """Note in the session that began it that its user has signed in anew, or connect their account."""
    with core.store.write() as rows:
        session = rows.scalar(select(Session).where(Session.id == step.details["session"]))
        user = rows.get(User, step.user or "")
        at = now(rows)
        if session is None or user is None or session.user != user.id or session.expires_at < at:
            raise Fault(403, say("pages.fault.too_late.title"), say("pages.fault.too_late.your_session_here"))
        if step.details["act"] == "connect":
            _connect(rows, user, identity)
        elif (user.issuer, user.subject) != (identity.issuer, identity.subject):
            raise Fault(403, say("pages.fault.somebody_else.title"), say("pages.fault.somebody_else.detail"))
        else:
            session.proved_at = at
        api.renew(session, request)


def _connect(rows: Rows, user: User, identity: Identity) -> None:
    accounts.refuse_unconfirmed(user)
    provider_accounts.bind(rows, user, identity)


def _may_leave(user: User, core: Core) -> bool:
    """Whether somebody may disconnect by themselves: with a password, and roles not of their groups."""
    return bool(user.password) and not (core.settings.oidc_only or bond.has_roles_there(user, core.settings))


def _refuse_to_leave(core: Core, who: Principal) -> None:
    with core.store.read() as rows:
        own = rows.get_one(User, who.user)
    if not _may_leave(own, core):
        raise Fault(403, say("pages.fault.not_by_oneself.title"), say("pages.fault.not_by_oneself.detail"))


def _connection(request: Request, who: Principal, core: Core, fault: Fault | None = None) -> Response:
    with core.store.read() as rows:
        own = rows.get_one(User, who.user)
    name = core.provider.settings.name if core.provider else ""
    return page(
        request, "account_provider", own=own, provider=name, may_leave=_may_leave(own, core), fault=fault
    )


def _refused(request: Request, core: Core, fault: Fault) -> Response:
    core.metrics.refused.labels("login").inc()
    name = core.provider.settings.name if core.provider else ""
    return page(request, "sign_in", next="", provider=name, mails=core.settings.sends_mail, fault=fault)


def _provider(core: Core) -> Provider:
    if core.provider is None:
        raise Fault(404, say("pages.fault.not_found.title"), say("pages.fault.not_found.service_no"))
    return core.provider
