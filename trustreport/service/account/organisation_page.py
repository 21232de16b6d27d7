"""For administrators: users, tokens of all, how long data are kept, and, for operators, organisations."""

from typing import Any

from fastapi import APIRouter, Request, Response

from trustreport.service.access import principal, second_factor
from trustreport.service.access.guard import TheCore
from trustreport.service.account import api as sessions
from trustreport.service.account import factors
from trustreport.service.account import organisation as organisations
from trustreport.service.core import Core
from trustreport.service.pages import filters
from trustreport.service.pages.page_context import (
    Admin,
    After,
    Given,
    Sent,
    body_from,
    listed,
    see,
    shown_again,
    text,
    user_names,
)
from trustreport.service.pages.render import page
from trustreport.service.roles import ROLES
from trustreport.service.storage.models import Token, User
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Name
from trustreport.vocabulary.messages import say

ALL_USERS = filters.UserFilter()

router = APIRouter(prefix="/admin")


@router.get("")
def begin(who: Admin) -> Response:
    """Users come first."""
    return see("/admin/users")


@router.get("/users")
def _users(
    request: Request,
    who: Admin,
    core: TheCore,
    after: After = "",
    wanted: filters.Users = ALL_USERS,
    *,
    invited: Given[organisations.Invited] = None,
) -> Response:
    """All users, and a form for a new one."""
    with core.store.read() as rows:
        found = listed(rows, wanted.apply(who.rows_of(User)), User.id, after)
    return page(
        request,
        "admin_users",
        users=found.items,
        wanted=wanted,
        roles=ROLES,
        after=after,
        next=found.next,
        invited=invited,
        link=_link(core, invited.invitation) if invited else "",
        hours=core.settings.link_hours,
    )


@router.get("/users/{user}")
def _user(
    request: Request,
    who: Admin,
    core: TheCore,
    user: Name,
    *,
    invited: Given[organisations.Invited] = None,
) -> Response:
    """One user."""
    with core.store.read() as rows:
        row = who.row_of(rows, User, user)
        count = len(second_factor.factors_of(rows, row.id))
    return page(
        request,
        "admin_user",
        user=row,
        factors=count,
        provider=core.provider.settings.name if core.provider else "",
        follows=principal.has_roles_there(row, core.settings),
        roles=ROLES,
        invited=invited,
        link=_link(core, invited.invitation) if invited else "",
        hours=core.settings.link_hours,
    )


@router.get("/organisation")
def _organisation(
    request: Request,
    who: Admin,
    core: TheCore,
    *,
    founded: Given[organisations.CreatedOrganisation] = None,
) -> Response:
    """The organisation, and how long it keeps its data."""
    return page(
        request,
        "admin_organisation",
        organisation=organisations.own(who, core),
        usage=organisations.usage(who, core),
        founded=founded,
        link=_link(core, founded.invitation) if founded else "",
        hours=core.settings.link_hours,
    )


@router.post("/users")
@shown_again(_users)
def add_user(request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """A new user; the link that lets them in is on this one page."""
    invited = organisations.add_user(body_from(form, organisations.NewUser), who, core)
    return _users(request, who, core, invited=invited)


@router.post("/users/{user}")
@shown_again(_user)
def change(user: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Another name or other roles."""
    kept: dict[str, Any] = {"roles": None} if user == who.user or "follows" in form else {}
    wanted = body_from(form, organisations.UserChange, name=text(form, "name"), **kept)
    organisations.change(user, wanted, who, core)
    return see(f"/admin/users/{user}?done=saved")


@router.post("/users/{user}/closing")
@shown_again(_user)
def close(user: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Close an account, or open it again."""
    organisations.change(user, organisations.UserChange(disabled=text(form, "closed") == "yes"), who, core)
    return see(f"/admin/users/{user}?done=saved")


@router.post("/users/{user}/invitation")
def invite(user: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """A new link, also for who forgot a password."""
    return _user(request, who, core, user, invited=organisations.invite(user, who, core))


@router.post("/users/{user}/erasure")
@shown_again(_user)
def erase(user: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Erase a person, once their address was typed."""
    if text(form, "email").strip().lower() != organisations.get_user(user, who, core).email:
        raise Fault(422, say("pages.fault.not_the_address.detail"))
    organisations.erase(user, who, core)
    return see(f"/admin/users/{user}?done=erased")


@router.post("/users/{user}/sessions")
def end_sessions(user: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """End every session of a user."""
    sessions.end_sessions_of(user, who, core)
    return see(f"/admin/users/{user}?done=user-sessions")


@router.post("/users/{user}/factors")
@shown_again(_user)
def take_away_factors(user: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Take away the second factors of somebody who has lost them."""
    factors.take_away(user, who, core)
    return see(f"/admin/users/{user}?done=factors")


@router.post("/users/{user}/identity")
@shown_again(_user)
def unbind(user: Name, request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Unbind an account from the identity provider."""
    organisations.unbind(user, who, core)
    return see(f"/admin/users/{user}?done=unbound")


@router.get("/tokens")
def all_tokens(request: Request, who: Admin, core: TheCore, after: After = "") -> Response:
    """Tokens of all users."""
    with core.store.read() as rows:
        found = listed(rows, who.rows_of(Token), Token.id, after)
        named = user_names(rows, who, {t.user for t in found.items})
    return page(request, "admin_tokens", tokens=found.items, people=named, after=after, next=found.next)


@router.post("/organisation/retention")
@shown_again(_organisation)
def retention(request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Keep data for so many days, or for ever."""
    organisations.set_retention(body_from(form, organisations.Retention), who, core)
    return see("/admin/organisation?done=saved")


@router.post("/organisation/second-factor")
def second_factor_required(request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Require a second factor, or no longer."""
    wanted = organisations.SecondFactor(required=text(form, "required") == "yes")
    organisations.require_second_factor(wanted, who, core)
    return see("/admin/organisation?done=saved")


@router.post("/organisation/countersignature")
def countersignature_required(request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Ask for a second person when criteria are fixed, or no longer."""
    wanted = organisations.Countersignature(required=text(form, "required") == "yes")
    organisations.require_countersignature(wanted, who, core)
    return see("/admin/organisation?done=saved")


@router.post("/organisations")
@shown_again(_organisation)
def found(request: Request, who: Admin, core: TheCore, form: Sent) -> Response:
    """Another organisation, with its first administrator."""
    founded = organisations.create(body_from(form, organisations.NewOrganisation), who, core)
    return _organisation(request, who, core, founded=founded)


def _link(core: Core, secret: str | None) -> str:
    """The address that an invitation is taken up at; empty where it went by mail."""
    return f"{core.settings.url}/invitation#{secret}" if secret else ""
