"""Users of one's own organisation."""

from datetime import datetime

from fastapi import APIRouter
from pydantic import Field
from sqlalchemy import delete

from trustreport.service import audit
from trustreport.service.access import accounts, identity, provider_accounts
from trustreport.service.access.roles import Permission, Role
from trustreport.service.mail import outbox
from trustreport.service.record.erasure import erase_person
from trustreport.service.routes import filters
from trustreport.service.routes.pagination import Name, Page, RequestedPage
from trustreport.service.routes.shapes import Email, Line, RequestBody, ResponseBody, maybe, moment
from trustreport.service.storage.models import Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import Admin, Anyone, TheCore
from trustreport.vocabulary.messages import say

router = APIRouter(prefix="/users", tags=["users"])
CONFIRMS: frozenset[Permission] = frozenset({"review", "approve", "manage"})


class NewUser(RequestBody):
    email: Email
    name: Line
    roles: list[Role] = Field(min_length=1, max_length=5)


class UserChange(RequestBody):
    """What is left out stays."""

    name: Line | None = None
    roles: list[Role] | None = Field(default=None, max_length=5)
    disabled: bool | None = None


class UserResponse(ResponseBody):
    id: str
    email: str
    name: str
    roles: list[Role]
    active: bool = Field(description="has a password and is not disabled")
    created_at: datetime
    disabled_at: datetime | None


class Invited(ResponseBody):
    user: UserResponse
    invitation: str | None = Field(
        description="link with which the user chooses a password; shown this once; null where it goes by mail"
    )


@router.get("")
def users(who: Admin, core: TheCore, turn: RequestedPage, wanted: filters.Users) -> Page[UserResponse]:
    """All users."""
    with core.store.read() as rows:
        return turn.rows(rows, wanted.apply(who.all(User)), User.id, _to_response)


@router.post("", status_code=201)
def add(asked: NewUser, who: Admin, core: TheCore) -> Invited:
    """Add a user, who gets in by an invitation."""
    with core.store.write() as rows:
        accounts.refuse_unconfirmed(rows.get_one(User, who.user))
        user = accounts.add_user(
            rows, who.organisation, who.user, email=asked.email, name=asked.name, roles=list(set(asked.roles))
        )
        rows.flush()
        link = outbox.invite(rows, core.settings, user, who.user)
        return Invited(user=_to_response(user), invitation=link)


@router.get("/{user}")
def get_user(user: Name, who: Admin, core: TheCore) -> UserResponse:
    """One user."""
    with core.store.read() as rows:
        return _to_response(who.one(rows, User, user))


@router.patch("/{user}")
def change(user: Name, asked: UserChange, who: Admin, core: TheCore) -> UserResponse:
    """Rename a user, give other roles, close or reopen the account."""
    with core.store.write() as rows:
        row = who.one(rows, User, user)
        if row.id == who.user and (asked.disabled or asked.roles is not None):
            raise Fault(
                409, say("pages.fault.not_on_oneself.title"), say("pages.fault.not_on_oneself.detail")
            )
        if asked.name is not None:
            row.name = asked.name
        if asked.roles is not None and identity.has_roles_there(row, core.settings):
            raise Fault(409, say("pages.fault.not_here.title"), say("pages.fault.not_here.roles"))
        if asked.roles is not None:
            row.roles = sorted(set(asked.roles))
        if asked.disabled is not None:
            row.disabled_at = now(rows) if asked.disabled else None
        if asked.disabled or asked.roles is not None:
            rows.execute(delete(Session).where(Session.user == row.id))
        told = asked.model_dump(exclude_none=True, exclude={"name"})
        audit.write(rows, who.organisation, who.user, "user.change", row.id, **told)
        return _to_response(row)


@router.delete("/{user}", status_code=204)
def erase(user: Name, who: Admin, core: TheCore) -> None:
    """Erase a person: name, address, password and comments; the account is closed for good."""
    with core.store.write() as rows:
        row = who.one(rows, User, user)
        if row.id == who.user:
            raise Fault(
                409, say("pages.fault.not_on_oneself.title"), say("pages.fault.not_on_oneself.detail")
            )
        erase_person(rows, row, who.user)


@router.post("/{user}/invitation", status_code=201)
def invite(user: Name, who: Admin, core: TheCore) -> Invited:
    """A new invitation, also for who forgot a password; earlier ones work no more.

    An account whose password is replaced by it signs and invites nobody until somebody else confirms it.
    """
    with core.store.write() as rows:
        accounts.refuse_unconfirmed(rows.get_one(User, who.user))
        row = who.one(rows, User, user)
        if identity.is_bound(row) and core.settings.oidc_only:
            raise Fault(409, say("pages.fault.not_here.title"), say("pages.fault.not_here.account_signs"))
        audit.write(rows, who.organisation, who.user, "user.invite", row.id)
        link = outbox.invite(rows, core.settings, row, who.user)
        return Invited(user=_to_response(row), invitation=link)


@router.delete("/{user}/identity", status_code=204)
def unbind(user: Name, who: Admin, core: TheCore) -> None:
    """Unbind an account from the identity provider: its user gets in by an invitation again.

    Sessions end. The account signs and invites nobody until somebody else confirms it.
    """
    with core.store.write() as rows:
        row = who.one(rows, User, user)
        accounts.refuse_unconfirmed(rows.get_one(User, who.user))
        if row.id == who.user:
            raise Fault(
                409, say("pages.fault.not_on_oneself.title"), say("pages.fault.not_on_oneself.detail")
            )
        if not identity.is_bound(row):
            raise Fault(409, say("pages.fault.not_bound.title"), say("pages.fault.not_bound.detail"))
        accounts.mark_proof_removed(rows, row, who.user)
        rows.execute(delete(Session).where(Session.user == row.id))
        provider_accounts.unbind(rows, row, who.user)


@router.post("/{user}/confirmation", status_code=204)
def confirm_account(user: Name, who: Anyone, core: TheCore) -> None:
    """Confirm that the right person has an account whose password was reset; not by who made the link."""
    if who.via == "token" or not who.may & CONFIRMS:
        raise Fault(
            403, say("pages.fault.not_allowed.title"), say("pages.fault.not_allowed.reviewer_approver")
        )
    with core.store.write() as rows:
        row = who.one(rows, User, user)
        if not accounts.may_confirm(rows.get_one(User, who.user), row):
            raise Fault(
                403,
                say("pages.fault.not_allowed.title"),
                say("pages.fault.not_allowed.somebody_confirms_who_neither"),
            )
        if not accounts.is_unconfirmed(row):
            raise Fault(
                409, say("pages.fault.nothing_to_confirm.title"), say("pages.fault.nothing_to_confirm.detail")
            )
        row.confirmed_by = who.user
        audit.write(rows, who.organisation, who.user, "user.confirm", row.id, link_by=row.link_by)


def _to_response(row: User) -> UserResponse:
    return UserResponse(
        id=row.id,
        email=row.email,
        name=row.name,
        roles=row.roles,
        active=bool(row.password or row.subject) and row.disabled_at is None,
        created_at=moment(row.created_at),
        disabled_at=maybe(row.disabled_at),
    )
